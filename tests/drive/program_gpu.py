#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A run and the generators of its gradients, as processes of their own: data and sums are right, what is released is sent
then, who is killed is missed within a second, and what cannot be is refused."""
import contextlib
import json
import mmap
import os
import pathlib
import signal
import struct
import subprocess
import time
import unittest

import weft
from weft import BAD_INPUT, ENVIRONMENT, NOT_VALID, PEER_LOST, SOURCE

SECOND_S = 1.0
SMALL = ["gradients", "--ports", "memory", "--set", "traffic.buckets=2", "--set", "traffic.bytes=32KiB"]
# a step is (20 + 40) us * 2 + 20 us without communication
LONG = [*SMALL, "--set", "traffic.steps=400"]


class Generators(weft.InMemory):
    def setUp(self):
        super().setUp()
        self.link = str(self.folder / "link")

    def emu(self, *words):
        return self.start("emu", *words, "--gpu", self.link)

    def gpu(self, *words):
        return self.start("gpu", "--link", self.link, *words)

    def end(self, process, status=0, within_s=60):
        out, err = process.communicate(timeout=within_s)
        self.assertEqual(process.returncode, status, (out[-300:], err))
        return out, err

    def run_whole(self, *words, ranks=("all",)):
        emu = self.emu(*SMALL, "--dilation", 300, "--json", *words)
        generators = [self.gpu("--json", "--ranks", of) for of in ranks]
        told = [json.loads(self.end(one)[0]) for one in generators]
        result = json.loads(self.end(emu)[0])
        self.assertFalse(os.path.exists(self.link))
        return result, [rank for one in told for rank in one["ranks"]]

    def check_whole(self, result, told, ranks=4, steps=2, slices=2 * 2, element=2):
        gpu, elements = result["gpu"], 2 * 32768 // element
        self.assertEqual(sorted(rank["rank"] for rank in told), list(range(ranks)))
        for rank in told:
            self.assertEqual(rank["elements_wrong"], 0)
            self.assertEqual(rank["releases"], steps * slices)
            # what landed of its block from the others, and all sums
            self.assertEqual(rank["elements_checked"], steps * (elements * (ranks - 1) // ranks + elements))
        self.assertEqual((gpu["elements_wrong"], gpu["ranks"], gpu["device"], gpu["peers"]), (0, ranks, "CPU", "live"))
        self.assertEqual(gpu["elements_checked"], sum(rank["elements_checked"] for rank in told))
        self.assertEqual(gpu["releases"], ranks * steps * slices)
        self.assertEqual(result["ports"]["payload_bytes_good"], steps * 2 * 2 * 32768 * (ranks - 1))
        silent_ps = steps * ((20 + 40) * 2 + 20) * 10**6
        # nothing goes before its time, and the time that is missing is exposed
        self.assertGreater(result["run"]["last_completion_ps"], silent_ps)
        self.assertGreater(gpu["exposed_host_ps"], 0)
        self.assertGreater(gpu["exposed_model_ps"], 0)
        self.assertGreaterEqual(min(rank["run_ns"] for rank in told), silent_ps * 300 // 1000)

    def test_sums_are_right_and_the_schedule_is_kept(self):
        result, told = self.run_whole()
        self.check_whole(result, told)
        # late by what the machine does to others, and no more: a bucket's backward pass is 12 ms here
        late_ns = result["pace"]["lateness"]["p99_ns"] if "lateness" in result["pace"] else 0
        self.assertLess(result["gpu"]["release_late_p50_ns"], 12_000_000 + 10 * late_ns)
        self.assertGreaterEqual(result["gpu"]["heard_p50_ps"], 0)

    def test_three_views_lie_on_one_time_line(self):
        """Steps hold computations, and these hold waits, which come to what is told of exposed communication."""
        out = self.folder / "out"
        result, _ = self.run_whole("--out", out)
        trace = json.loads((out / "trace.json").read_text(encoding="utf-8"))
        events, tracks, waits = trace["traceEvents"], {}, {}
        views = {event["pid"]: event["args"]["name"] for event in events if event["name"] == "process_name"}
        for event in events:
            if event.get("cat") == "generators":
                tracks.setdefault((views[event["pid"]], event["tid"]), []).append(event)
        device, host, model = "generators, by the device", "generators, as hosts saw them", "generators, by the model"
        self.assertEqual(set(tracks), {(view, tid) for view in (device, host, model) for tid in range(1, 9)})
        for (view, tid), spans in tracks.items():
            held = []  # ends, the outermost first
            for span in spans:
                begin, end = round(span["ts"] * 1e6), round((span["ts"] + span["dur"]) * 1e6)
                while held and (held[-1] < begin or held[-1] == begin < end):
                    held.pop()
                self.assertTrue(not held or end <= held[-1], (view, tid, span, held))
                held.append(end)
            names = [span["name"].split(" ")[0] for span in spans]
            self.assertEqual(names.count("reduce"), 8 if tid % 2 == 0 else 0)
            self.assertEqual((names.count("gate"), names.count("fill"), names.count("update")), (0, 0, 0) if tid % 2 == 0 else (6, 8, 2))
            waits[view, tid] = sum(round(span["dur"] * 1e6) for span in spans if span["name"] == "wait")
        exposed = {view: max(waits[view, tid] for tid in range(1, 9, 2)) for view in (device, host, model)}
        self.assertAlmostEqual(exposed[host], result["gpu"]["exposed_host_ps"], delta=100)
        self.assertAlmostEqual(exposed[model], result["gpu"]["exposed_model_ps"], delta=100)
        self.assertGreater(exposed[device], 0)
        self.assertEqual(trace["otherData"]["generators"], {"left out": 0})

    def test_data_that_are_damaged_are_found(self):
        """Somebody writes where rank 1's gradients and sums lie: both ends say that the result is not valid."""
        emu = self.emu(*SMALL, "--set", "traffic.steps=60", "--dilation", 100, "--json")
        generator = self.gpu()
        with open(self.wait_until_it_runs(emu, 0), "r+b") as file, mmap.mmap(file.fileno(), 0) as link:
            buffers, buffer_bytes, stretch = struct.unpack_from("<3Q", link, 64)  # of struct gpu_link_header
            begin = time.monotonic()
            while emu.poll() is None and time.monotonic() - begin < 20:
                for at in range(0, 3 * stretch, 509):
                    link[buffers + buffer_bytes + at] ^= 0x10
                time.sleep(0.002)
        out, err = self.end(emu, NOT_VALID)
        self.assertGreater(json.loads(out)["gpu"]["elements_wrong"], 0)
        self.assertEqual(err, "weft emu: elements are wrong: generators found what was not made or summed\n")
        self.assertRegex(self.end(generator, NOT_VALID)[1], r"weft gpu: \d+ elements are not what was made or summed\n")

    def test_the_devices_own_memory_is_refused_with_a_reason(self):
        out, err = self.end(self.gpu("--payload", "device"), ENVIRONMENT)
        self.assertEqual((out, err), ("", "weft gpu: --payload device: the CPU's generator has no memory of a device\n"))

    def test_ranks_of_two_processes_begin_steps_together(self):
        result, told = self.run_whole("--gpu-barrier", ranks=("0-1", "2-3"))
        self.check_whole(result, told)
        self.assertEqual(result["gpu"]["barrier_ps"], max(rank["barrier_ns"] for rank in told) * 1000000 // 300000)
        self.assertGreater(result["gpu"]["barrier_ps"], 0)
        self.assertEqual((result["gpu"]["payload"], result["gpu"]["clock_offset_ns"]), ("host memory", 0))
        self.assertGreater(result["gpu"]["clock_zero_ns"], 0)
        self.assertIn("--gpu-barrier needs --gpu", self.end(self.start("emu", "gradients", "--gpu-barrier"), BAD_INPUT)[1])

    def test_several_generators_share_a_run(self):
        self.check_whole(*self.run_whole("--set", "traffic.element=4B", ranks=("0,2-3", "1")), element=4)

    def test_a_run_that_is_killed_is_missed(self):
        emu, generator = self.emu(*LONG, "--dilation", 100), self.gpu()
        self.wait_until_it_runs(emu)
        emu.kill()
        self.says_soon(generator, f"weft gpu: {self.link}: the run is gone: its process has ended\n")
        self.end(generator, PEER_LOST)
        self.whole_again()

    def test_a_generator_that_is_killed_is_missed(self):
        emu, first, second = self.emu(*LONG, "--dilation", 100, "--json"), self.gpu("--ranks", "0-2"), self.gpu("--ranks", "3")
        self.wait_until_it_runs(emu)
        second.kill()
        self.says_soon(emu, "weft emu: the generator of rank 3 is gone: its process has ended\n")
        result = json.loads(self.end(emu, PEER_LOST)[0])
        self.assertTrue(result["run"]["partial"])
        self.assertEqual(result["run"]["end"], "peer lost")
        self.assertIsNone(result["gpu"]["releases"])
        self.assertIn("has failed", self.end(first, PEER_LOST)[1])

    def says_soon(self, process, line):
        begin = time.monotonic()
        self.assertEqual(process.stderr.readline(), line)
        self.assertLess(time.monotonic() - begin, SECOND_S)

    def test_who_stops_is_told_of(self):
        emu, generator = self.emu(*LONG, "--dilation", 100), self.gpu()
        self.wait_until_it_runs(emu)
        generator.send_signal(signal.SIGINT)
        self.assertEqual(self.end(generator, NOT_VALID)[1], "weft gpu: interrupted\n")
        self.assertIn("the generator of rank 0 is gone", self.end(emu, PEER_LOST)[1])

    def wait_until_it_runs(self, emu, more_s=0.5):
        """Until both have done something for a while. Where the link can be opened: its name is gone then."""
        for _ in range(2000):
            for fd in list(pathlib.Path(f"/proc/{emu.pid}/fd").iterdir()):
                with contextlib.suppress(FileNotFoundError):  # the run may close it in between
                    if os.readlink(fd) == f"{self.link} (deleted)":
                        time.sleep(more_s)
                        return fd
            time.sleep(0.01)
        self.fail("the run did not begin")

    def whole_again(self):
        """A run that is killed leaves nothing behind, and the next one is whole."""
        self.assertEqual([name for name in os.listdir(self.folder) if name != "out"], [])
        self.check_whole(*self.run_whole())

    def test_what_a_run_left_behind_is_in_nobodys_way(self):
        """Killed while it waited: whoever joined it takes the file away, and without anybody the next run does."""
        emu, generator = self.emu(*LONG, "--dilation", 100), self.gpu("--ranks", "0-2")
        self.wait_until_claimed(generator)
        emu.kill()
        self.says_soon(generator, f"weft gpu: {self.link}: the run is gone: its process has ended\n")
        self.end(generator, PEER_LOST)
        self.whole_again()
        emu = self.emu(*LONG, "--dilation", 100)
        size_bytes = 0
        while size_bytes < 65536:
            time.sleep(0.01)
            with contextlib.suppress(FileNotFoundError):
                size_bytes = os.path.getsize(self.link)
        emu.kill()
        emu.wait()
        self.check_whole(*self.run_whole())

    def wait_until_claimed(self, generator):
        """Until it holds its locks: the system shows those of ranks beside each other as one, behind the run's."""
        for _ in range(2000):
            with open("/proc/locks", encoding="utf-8") as locks:
                inode = -1
                with contextlib.suppress(FileNotFoundError):
                    inode = os.stat(self.link).st_ino
                if sum(f":{inode} " in line for line in locks) >= 2:
                    return
            self.assertIsNone(generator.poll())
            time.sleep(0.01)
        self.fail("no rank was taken")

    def test_nobody_waits_for_ever(self):
        out, err = self.end(self.emu(*SMALL, "--dilation", 1, "--gpu-timeout", 1, "--out", self.folder / "out"), PEER_LOST)
        self.assertEqual((out, err), ("", f"weft emu: {self.link}: 4 of 4 ranks have no generator (weft gpu), and --gpu-timeout, 1 s, is over\n"))
        self.assertEqual(os.listdir(self.folder), [])
        out, err = self.end(self.gpu("--timeout", 1), ENVIRONMENT)
        self.assertEqual((out, err), ("", f"weft gpu: {self.link}: no run offers this link\n"))

    def test_what_cannot_be_is_refused(self):
        for words, says in (
            ([*SMALL, "--ports", "none"], "given twice"),
            (["gradients", "--ports", "none"], "--gpu needs frames that carry its data"),
            ([*SMALL, "--dilation", "none"], "--gpu needs a clock"),
            (["two-racks", "--ports", "memory"], "it needs traffic.kind gradients"),
            (["gradients", "--ports", "memory", "--set", "traffic.bytes=1001B"], "traffic.bytes: a bucket of 1001 bytes"),
            (["gradients", "--ports", "memory", "--set", "traffic.element=8B"], "traffic.element: gradients are numbers of"),
            ([*SMALL, "--dilation", "1", "--fault", "{kind: straggler, at: {host: 0}, rate: 50%}"], "--gpu cannot run faults of kind stall or straggler"),
        ):
            out, err = self.end(self.emu(*words), BAD_INPUT)
            self.assertEqual(out, "")
            self.assertIn(says, err)
            self.assertFalse(os.path.exists(self.link))
        for words, says in (
            (["--ranks", "3-1"], "--ranks is all, or numbers"), (["--ranks", "4"], "there is no rank 4: the run has 4"),
            (["--ranks", "1,1"], "rank 1 is given twice"), (["--device", "gpu"], "--device is none or a number"),
            (["--payload", "nic"], "--payload is host or device"), (["--timeout", "0"], "--timeout is a whole number from 1 to 86400"), (["--probe"], "has no effect with --probe"),
        ):
            emu = self.emu(*SMALL, "--dilation", 1)
            self.assertIn(says, self.end(self.gpu(*words), BAD_INPUT)[1])
            emu.kill()
            emu.communicate()

    def record(self, *words, status=0):
        folder = self.folder / "out"
        out, err = self.end(self.start("sim", *SMALL[:1], *SMALL[3:], "--record-rank", "1", "--out", folder, *words), status)
        return folder / "rank-1.record", out, err

    def test_a_rank_is_played_again_from_a_record(self):
        path, _, _ = self.record()
        lines = path.read_text(encoding="utf-8").split("\n")
        self.assertEqual(lines[1], "rank 1 ranks 4 buckets 2 steps 2 parts 24 slice_bytes 16384 element_bytes 2 seed 1")
        parts = [line.split() for line in lines[2:-1]]
        self.assertEqual(len(parts), 2 * (2 + 2 * 4 + 1) + 2)
        waits = [int(part[5]) for part in parts]
        self.assertEqual([part[0] for part, wait in zip(parts, waits) if wait > 0 and part[0] == "fill"], [])
        self.assertTrue(all(wait > 1000 for part, wait in zip(parts, waits) if part[0] == "reduce"))
        told = json.loads(self.end(self.start("gpu", "--play", path, "--json"))[0])
        rank = told["ranks"][0]
        self.assertEqual((told["peers"], rank["rank"], rank["elements_wrong"]), ("played back", 1, 0))
        self.assertEqual(rank["releases"], 2 * 4)
        self.assertEqual(rank["elements_checked"], 2 * (32768 * 3 // 4 + 32768))
        # what was recorded is waited for: sums beside, the rest in a row
        row_ns = sum(int(part[4]) + int(part[5]) for part in parts if part[0] != "reduce")
        self.assertGreaterEqual(rank["run_ns"], row_ns)
        for name, at, text in (("first", 0, "weft-record 1"), ("second", 1, "rank 4 ranks 4"), ("part", 5, "fill 9 9 9 9 9"),
                               ("twice", 3, lines[2]), ("no sum", 5, lines[4]), ("swapped", 14, lines[15]), ("end", -2, "")):
            broken = self.folder / name
            broken.write_text("\n".join(lines[:at] + [text] + lines[at:][1:]), encoding="utf-8")
            out, err = self.end(self.start("gpu", "--play", broken), BAD_INPUT)
            self.assertEqual((out, err.startswith(f"weft gpu: {broken}:")), ("", True), err)

    def test_live_ranks_and_played_ones_share_a_run(self):
        """Ranks 1 and 2 are here and send each other what they made; 0 and 3 are patterns."""
        folder, paths = self.folder / "two", []
        for rank in (1, 2):
            out = folder / str(rank)
            self.end(self.start("sim", *SMALL[:1], *SMALL[3:], "--record-rank", rank, "--out", out))
            paths.append(out / f"rank-{rank}.record")
        both = ["gpu", "--play", paths[0], "--play", paths[1], "--barrier", "--json"]
        told = json.loads(self.end(self.start(*both))[0])
        self.assertEqual((told["peers"], told["live_ranks"], told["played_ranks"]), ("live and played back", [1, 2], 2))
        self.assertTrue(told["has_barrier"])
        for rank in told["ranks"]:
            self.assertEqual((rank["elements_wrong"], rank["releases"]), (0, 2 * 4))
            self.assertEqual(rank["elements_checked"], 2 * (32768 * 3 // 4 + 32768))
            self.assertGreater(rank["barrier_ns"], 0)
            self.assertLessEqual(rank["step_min_ns"], rank["step_mean_ns"])
            self.assertGreaterEqual(rank["step_min_ns"], (20 + 40) * 2000 + 20000)
        self.assertIn("do not do the same", self.end(self.start(*both[:3], "--play", self.record("--set", "traffic.steps=1")[0]), BAD_INPUT)[1])
        self.assertIn("rank 1 is given twice", self.end(self.start(*both[:3], "--play", paths[0]), BAD_INPUT)[1])
        self.assertIn("--scale needs --play", self.end(self.start("gpu", "--link", self.link, "--scale", "2"), BAD_INPUT)[1])

    def test_what_computing_is_can_be_work(self):
        path, _, _ = self.record("--set", "traffic.forward=10ms")
        for load, does in (("spin", None), ("copy", "load_bytes"), ("matrix", "load_flops")):
            rank = json.loads(self.end(self.start("gpu", "--play", path, "--load", load, "--json"))[0])["ranks"][0]
            self.assertEqual(rank["elements_wrong"], 0)
            for key in ("load_bytes", "load_flops"):
                self.assertEqual(rank[key] > 0, key == does, (load, rank))
            self.assertGreaterEqual(rank["step_min_ns"], 2 * 10_000_000)
        self.assertIn("--load is spin, copy or matrix", self.end(self.start("gpu", "--play", path, "--load", "gemm"), BAD_INPUT)[1])

    def test_a_rank_of_a_large_job_takes_its_step(self):
        """Every forward, backward, gate and slice of rank 0 of 8,192, at real time; its buckets are smaller, its times are not."""
        out = self.folder / "large"
        job = ["sim", "azure-gb200-llama405b", "--fidelity", "model", "--json", "--force", "--out", out, "--record-rank"]
        step_ns = json.loads(self.end(self.start(*job, 0))[0])["cases"][0]["step_ps"] // 1000
        lines = (out / "rank-0.record").read_text(encoding="utf-8").split("\n")[2:-1]
        kept = pathlib.Path(SOURCE, "tests/gpu/azure-rank-0.txt")
        self.assertEqual((out / "rank-0.record").read_bytes(), kept.read_bytes(), "tests/gpu/run plays another step than weft sim records")
        parts = [line.split() for line in lines]
        row = [part for part in parts if part[0] != "reduce"]
        self.assertEqual(sum(int(part[4]) + int(part[5]) for part in row if part[1] == "0"), step_ns)
        # 64 forwards and as many backwards, the last of each cell in slices; 405e9 / 126 layers, a quarter of it
        slices = sum(part[0] == "fill" for part in parts)
        self.assertEqual(slices, 190)
        self.assertEqual(sum(int(part[4]) for part in row if part[0] in ("gate", "compute", "fill")), round((7.5 * 8 * (5.3 + 9.75)) * 1e6))
        told = json.loads(self.end(self.start("gpu", "--play", out / "rank-0.record", "--scale", 16384, "--json"))[0])
        rank = told["ranks"][0]
        self.assertEqual((told["peers"], told["live_ranks"], told["played_ranks"], told["scale_by"]), ("played back", [0], 255, 16384))
        self.assertEqual(told["step_bytes"], slices * 2**27 // 16384)
        self.assertEqual((rank["elements_wrong"], rank["releases"]), (0, slices))
        self.assertEqual(rank["elements_checked"], told["step_bytes"] // 2 * (255 + 256) // 256)
        self.assertGreaterEqual(rank["step_min_ns"], step_ns)
        self.assertGreater(rank["compute_wait_ns"], 0)
        for words, says in (([9999], "it has 8192"), (["0", "--jitter", "1"], "without --jitter"),
                            (["0", "--slow", "gpu3:5"], "without --slow gpuN")):
            self.assertIn(says, self.end(self.start(*job, *words, "--force"), BAD_INPUT)[1])

    def test_what_has_no_record_is_refused(self):
        for words, says in ((["two-racks", "--record-rank", "0", "--out", str(self.folder)], "it needs traffic.kind gradients"),
                            (["gradients", "--record-rank", "4", "--out", str(self.folder)], "has no such rank"),
                            (["gradients", "--record-rank", "x", "--out", str(self.folder)], "has no such rank"),
                            (["gradients", "--record-rank", "0"], "the folder of --out")):
            out, err = self.end(self.start("sim", *words), BAD_INPUT)
            self.assertEqual((out, says in err), ("", True), err)

    def test_all_checks_of_a_device_run_on_the_cpu(self):
        """What tests/gpu/run does with a device, in small."""
        out = self.folder / "gpu.json"
        done = subprocess.run([os.environ["WEFT_SOURCE"] + "/tests/gpu/run", "none", out, "50"], capture_output=True, text=True,
                              timeout=600, check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        told = json.loads(out.read_text(encoding="utf-8"))
        self.assertEqual((told["device"], told["failed"]), ("CPU", 0))
        self.assertGreaterEqual(told["passed"], 16)
        self.assertEqual([check["value"] for check in told["checks"] if check["check"] == "  step by the model"], [1271.200447])

    def test_a_check_that_takes_too_long_says_where_it_stands(self):
        """Each has 10 ms here. What is known until then stays written."""
        out = self.folder / "gpu.json"
        done = subprocess.run([os.environ["WEFT_SOURCE"] + "/tests/gpu/run", "none", out, "50"], capture_output=True, text=True, timeout=600, check=False,
                              env={**os.environ, "CC": os.environ.get("CC", "gcc") + " -DSTART_LIMIT_NS=10000000 -DLIMIT_TIMES=0"})
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        for says in ("sound data are found sound: not over within 0.01 s", "the run (waits|runs), rank 0 is", "first computation open: gate, step 0",
                     "check: interrupted"):
            self.assertRegex(done.stderr, says)
        self.assertIn("FAILED\n", done.stdout)
        self.assertGreater(json.loads(out.read_text(encoding="utf-8"))["failed"], 5)

    def test_without_a_device_its_checks_leave_nothing(self):
        """A driver that is not there, as seen from the program that tests/gpu/run builds; nvcc need not be here for that."""
        if weft.run("gpu", "--probe", check=True).stdout.count("\n  --device "):
            self.skipTest("there is a device")
        out, err = self.end(self.start("gpu", "--link", self.link, "--device", "0"), ENVIRONMENT)
        self.assertEqual(out, "")
        self.assertRegex(err, "built without CUDA|there is no CUDA device 0: no driver")

    def test_the_model_computes_without_generators(self):
        sim = json.loads(self.end(self.start("sim", "gradients", "--json"))[0])
        emu = json.loads(self.end(self.start("emu", "gradients", "--ports", "memory", "--dilation", "none", "--json"))[0])
        self.assertEqual(sim["run"]["digest"], emu["run"]["digest"])
        self.assertNotIn("gpu", sim)
        self.assertEqual(sim["program"]["messages"], 2 * 2 * 4 * 2 * 4 * 3)  # steps, kinds, buckets, slices, pairs


if __name__ == "__main__":
    unittest.main()
