#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Several processes under mpirun run one world: the result is that of one process, refusals are told once, and a process that
dies or is asked to stop ends all of them. Four processes on two cores are slow, but right."""
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import time
import unittest

import weft
from weft import SKIPPED, WEFT

MPI = pathlib.Path(WEFT).parent / "weft-sim-mpi"
DONE, BAD_INPUT, LOST, NOT_VALID = 0, 2, 4, 5
RIGHTS = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}  # a container is root
LONG = ["link-down", "--set", "traffic.bytes=2GiB", "--set", "limits.time=1000s"]  # minutes, if nobody stops it
RANDOM = """name: random-faults
seed: 5
fabric: {nics: 32, nics_per_t0: 8, t1_count: 4, planes: 2, link_rate: 100Gb/s}
transport: {evs: 32, rto: 80us}
traffic: {kind: permutation, bytes: 300kB}
watch: {bin: 5us, bins: 40, nics: true, bypasses: 200, racks: true, delays: true, gaps: true, links: true}
faults:
  - {kind: loss, at: all, probability: 1%}
  - {kind: duplicate, at: all, probability: 2%}
  - {kind: reorder, at: {plane: 1}, probability: 5%, delay: 20us}
  - {kind: link_down, at: {t0: 1, plane: 0, up: 1}, from: 3us, until: 30us}
  - {kind: link_down, at: {nic: 7, plane: 1}}
  - {kind: stall, at: {host: 3}, from: 2us, until: 9us, queue: 6}
"""
OPERATIONS = """name: operations
fabric: {nics: 32, nics_per_t0: 8, t1_count: 4, planes: 2, link_rate: 100Gb/s}
transport: {evs: 32, rto: 80us}
traffic: {kind: collective, collective: all_reduce, algorithm: tree, bytes: 256KiB}
watch: {links: true, delays: true, operations: true}
faults: [{kind: loss, at: all, probability: 0.5%}, {kind: slow, at: {nic: 5, plane: 1}, rate: 25%}]
"""
JOBS = """name: jobs
fabric: {nics: 32, nics_per_t0: 8, t1_count: 2, planes: 2, link_rate: 100Gb/s}
transport: {evs: 32}
traffic: {kind: jobs}
jobs:
  - {name: rings, kind: ring, collective: all_reduce, bytes: 1MB, ranks: 8, placement: spread}
  - {name: tree, kind: collective, collective: all_reduce, algorithm: tree, bytes: 512KiB, ranks: 16, placement: random, start: 5us}
"""
REROUTE = """name: reroute
fabric: {nics: 32, nics_per_t0: 8, t1_count: 4, bundle: 2, planes: 2, link_rate: 100Gb/s, reroute_local: 5us, reroute_remote: 13us}
transport: {kind: rc, qps_per_connection: 4, rto: 80us}
cc: {algorithm: fixed}
traffic: {kind: permutation, bytes: 600kB}
faults:
  - {kind: link_down, at: {t1: 1, plane: 0}, from: 3us, until: 40us}
  - {kind: flap, at: {t0: 2, plane: 1, up: 3}, from: 4us, until: 60us, down: 8us, up: 7us}
"""
FLOWS = """name: flows
fabric: {nics: 32, nics_per_t0: 8, t1_count: 4, planes: 2, link_rate: 100Gb/s}
transport: {evs: 32, rto: 80us}
watch: {evs: true, links: true}
traffic:
  kind: flows
  flows: [{from: 0, to: 31, bytes: 900kB, evs: [3]}, {from: 17, to: 2, bytes: 1MB, evs: [0, 6, 31]}, {from: 9, to: 25, bytes: 1MB}]
faults: [{kind: loss, at: all, probability: 1%}]
"""
PAUSES = """name: pauses
fabric: {nics: 32, nics_per_t0: 8, t1_count: 4, planes: 2, link_rate: 100Gb/s}
queue: {pfc: true, ecn: false, bytes: 30kB}
cc: {algorithm: fixed}
transport: {kind: rc}
traffic: {kind: incast, senders: 12, bytes: 100kB}
"""


def words_of(count, words):
    return ["mpirun", "--oversubscribe", "-n", str(count), WEFT, "sim", *map(str, words)]


def mpirun(count, *words):
    return subprocess.run(words_of(count, words), capture_output=True, text=True, timeout=600, check=False,
                          env={**os.environ, **RIGHTS})


def own(text):
    """What weft says, without what mpirun says around it."""
    return [line for line in text.splitlines() if line.startswith("weft")]


class Ranks(weft.InFolder):
    @staticmethod
    def lasting(result):
        return {name: part for name, part in result.items() if name not in ("speed", "command", "weft")}

    def result(self, folder):
        return json.loads((self.folder / folder / "result.json").read_text(encoding="utf-8"))

    def hold(self, *words, counts=(1, 2, 3, 4)):
        """The same files from one process without mpirun and from so many with it."""
        alone = weft.run("sim", *words, "--out", self.folder / "alone")
        self.assertIn(alone.returncode, (DONE, NOT_VALID), alone.stderr)
        should = self.result("alone")
        for count in counts:
            with self.subTest(words=words, count=count):
                name = f"n{count}"
                run = mpirun(count, *words, "--out", self.folder / name)
                self.assertEqual(run.returncode, alone.returncode, run.stderr)
                self.assertEqual(own(run.stderr), own(alone.stderr))
                self.assertEqual(self.lasting(self.result(name)), self.lasting(should))
                self.assertEqual(self.result(name)["speed"]["ranks"], count)
                files = sorted(path.name for path in (self.folder / "alone").iterdir())
                self.assertEqual(files, sorted(path.name for path in (self.folder / name).iterdir()))
                for file in files:
                    if file not in ("result.json", "manifest.json"):
                        self.assertEqual((self.folder / name / file).read_bytes(), (self.folder / "alone" / file).read_bytes())
        shutil.rmtree(self.folder / "alone")
        for count in counts:
            shutil.rmtree(self.folder / f"n{count}")

    def test_shipped_scenarios(self):
        self.hold("perm128-400g", "--set", "traffic.bytes=300kB")
        for number, name in enumerate(("two-planes", "link-down", "loss", "ring-barrier", "rail-8x4", "drill-grey-links")):
            self.hold(name, counts=(2 + number % 2,))
        self.hold("two-racks", "--set", "watch.messages=9", "--set", "watch.delays=true", counts=(2,))

    def test_a_world_with_all_kinds_of_faults(self):
        path = self.folder / "random.yaml"
        path.write_text(RANDOM, encoding="utf-8")
        self.hold(path)

    def test_routes_that_change(self):
        path = self.folder / "reroute.yaml"
        path.write_text(REROUTE, encoding="utf-8")
        self.hold(path, counts=(2, 3))
        self.hold(path, "--set", "fabric.spray=adaptive", counts=(2,))

    def test_a_program_of_operations(self):
        path = self.folder / "operations.yaml"
        path.write_text(OPERATIONS, encoding="utf-8")
        self.hold(path, counts=(2, 3))

    def test_what_flows_sent_by_each_entropy_value(self):
        path = self.folder / "flows.yaml"
        path.write_text(FLOWS, encoding="utf-8")
        self.hold(path, counts=(2, 3))

    def test_jobs_side_by_side(self):
        path = self.folder / "jobs.yaml"
        path.write_text(JOBS, encoding="utf-8")
        self.hold(path, counts=(2, 3))

    def test_shorter_windows(self):
        for window in ("500ns", "143ns"):
            self.hold("perm128-400g", "--set", "traffic.bytes=100kB", "--set", f"limits.window={window}", counts=(2,))

    def test_an_end_on_the_way(self):
        self.hold("perm128-400g", "--set", "limits.time=30.3us", counts=(2, 4))

    def test_a_refusal_is_told_once(self):
        for words in (["no-such-scenario"], ["two-planes", "--frobnicate"], ["two-planes", "--set", "fabric.nics=-1"]):
            self.refused(words)
        self.assertEqual(sorted(path.name for path in self.folder.iterdir()), [])

    def refused(self, words, *reasons):
        with self.subTest(words=words):
            run = mpirun(2, *words)
            self.assertEqual(run.returncode, BAD_INPUT, run.stderr)
            self.assertEqual(run.stdout, "")
            self.assertEqual(len(own(run.stderr)), 1, run.stderr)
            for reason in reasons:
                self.assertIn(reason, run.stderr)

    def test_what_needs_one_process_is_refused_with_what_to_do(self):
        for words, what, instead in (
                (["two-planes", "--pcap", self.folder / "a.pcapng"], "--pcap", "without mpirun"),
                (["two-planes", "--log", self.folder / "a.txt"], "--log", "without mpirun"),
                (["two-planes", "--seeds", "3"], "a study", "--jobs"),
                (["azure-gb200-llama405b", "--fidelity", "model"], "--fidelity", "leave out mpirun"),
                (["compare-ring"], "variants", "--variant names one"),
                (["ring-barrier", "--export", "goal", "--out", self.folder / "out"], "--export", "leave out mpirun")):
            self.refused(words, what, instead)
        self.assertEqual(sorted(path.name for path in self.folder.iterdir()), [])

    def test_every_number_of_processes_runs_or_is_refused(self):
        alone = self.digest(mpirun(1, "two-planes", "--json"))
        # all from 1 to 40: unit/engine/engine_ranks.c and drive/all_shards.c
        for count in (5, 16):  # more than the world has hosts, too
            self.assertEqual(self.digest(mpirun(count, "two-planes", "--json")), alone)
        for count in (17, 40):
            with self.subTest(count=count):
                run = mpirun(count, "two-planes", "--out", self.folder / "out")
                self.assertEqual((run.returncode, run.stdout), (BAD_INPUT, ""), run.stderr)
                self.assertEqual(run.stderr.count(f"{count} processes were started; at most 16 run one world"), 1, run.stderr)
        self.assertEqual(sorted(path.name for path in self.folder.iterdir()), [])

    def digest(self, run):
        self.assertEqual(run.returncode, DONE, run.stderr)
        return json.loads(run.stdout)["run"]["digest"]

    def test_steady_states_are_jumped_over_by_all(self):
        words = ["ring-barrier", "--fast-forward", "steady", "--set", "traffic.form=pipelined", "--set", "fast_forward.block=2",
                 "--set", "fast_forward.tolerance=7%"]
        self.hold(*words, counts=(2,))
        run = mpirun(3, *words, "-v")
        self.assertEqual(run.returncode, DONE, run.stderr)
        self.assertIn("skipped: 1 jump", run.stdout)

    def test_pauses_of_pfc(self):
        path = self.folder / "pauses.yaml"
        path.write_text(PAUSES, encoding="utf-8")
        self.hold(path, counts=(2, 3))

    def test_emu_is_refused(self):
        words = words_of(2, ["two-planes"])
        words[words.index("sim")] = "emu"
        run = subprocess.run(words, capture_output=True, text=True, timeout=600, check=False, env={**os.environ, **RIGHTS})
        self.assertEqual((run.returncode, len(own(run.stderr))), (BAD_INPUT, 1), run.stderr)
        self.assertIn("one process", run.stderr)

    def test_ranks_that_built_other_worlds_say_so(self):
        script = f'exec "{WEFT}" sim two-planes --quiet --seed $((OMPI_COMM_WORLD_RANK + 1))'
        run = subprocess.run(["mpirun", "--oversubscribe", "-n", "2", "bash", "-c", script], capture_output=True, text=True,
                             timeout=600, check=False, env={**os.environ, **RIGHTS})
        self.assertEqual(run.returncode, BAD_INPUT, run.stderr)
        self.assertEqual(len(own(run.stderr)), 1, run.stderr)
        self.assertIn("another world", run.stderr)

    def test_a_rank_alone_that_refuses_ends_all(self):
        script = f'[ $OMPI_COMM_WORLD_RANK = 0 ] && name=two-planes || name=none; exec "{WEFT}" sim $name --out {self.folder}/out'
        run = subprocess.run(["mpirun", "--oversubscribe", "-n", "3", "bash", "-c", script], capture_output=True, text=True,
                             timeout=600, check=False, env={**os.environ, **RIGHTS})
        self.assertEqual((run.returncode, len(own(run.stderr))), (BAD_INPUT, 1), run.stderr)
        self.assertFalse((self.folder / "out").exists())

    def long(self, *options):
        """Starts a long run, with options of mpirun; returns it and the process ids of its two ranks once they are under way."""
        words = words_of(2, [*LONG, "--out", self.folder / "out"])
        run = subprocess.Popen([words[0], *options, *words[1:]], stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, text=True, env={**os.environ, **RIGHTS})
        deadline = time.monotonic() + 90
        ranks = []
        while not (len(ranks) == 2 and all(map(self.is_under_way, ranks))) and time.monotonic() < deadline:
            time.sleep(0.05)
            ranks = self.ranks()
        self.assertEqual(len(ranks), 2)
        self.assertTrue(all(map(self.is_under_way, ranks)))
        return run, ranks

    def ranks(self):
        """The process ids of the ranks of this test."""
        found = []
        for path in pathlib.Path("/proc").iterdir():
            try:
                if path.name.isdigit() and os.readlink(path / "exe") == str(MPI) and \
                        str(self.folder).encode() in (path / "cmdline").read_bytes():
                    found.append(int(path.name))
            except OSError:
                pass
        return sorted(found)

    @staticmethod
    def is_under_way(pid):
        """It catches SIGTERM, and has had the processor for longer than it takes to build this world: a clock on the wall says
        nothing on a machine that others keep busy."""
        try:
            caught = re.search(r"SigCgt:\s*(\w+)", pathlib.Path(f"/proc/{pid}/status").read_text(encoding="utf-8"))
            words = pathlib.Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
        except OSError:
            return False
        spent = (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")
        return bool(int(caught[1], 16) >> (signal.SIGTERM - 1) & 1) and spent > 0.5

    @staticmethod
    def is_running(pid):
        """A process that nobody has waited for yet has ended all the same."""
        try:
            return pathlib.Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0] != "Z"
        except OSError:
            return False

    def gone(self, pids):
        deadline = time.monotonic() + 5
        while any(map(self.is_running, pids)) and time.monotonic() < deadline:
            time.sleep(0.05)
        return not any(map(self.is_running, pids))

    def test_the_death_of_one_ends_all(self):
        run, ranks = self.long()
        os.kill(ranks[1], signal.SIGKILL)
        killed = time.monotonic()
        said = run.communicate(timeout=600)[1]
        spent = time.monotonic() - killed
        print(f"after SIGKILL of one rank all ended in {spent:.2f} s, status {run.returncode}")
        self.assertNotEqual(run.returncode, DONE)
        self.assertIn("signal 9", said)
        self.assertLess(spent, 10)
        self.assertTrue(self.gone(ranks))

    def test_a_rank_that_is_asked_to_stop_stops_all_with_what_there_is(self):
        run, ranks = self.long()
        os.kill(ranks[1], signal.SIGTERM)
        said = run.communicate(timeout=600)[1]
        self.assertEqual(run.returncode, NOT_VALID, said)
        self.assertEqual(own(said), ["weft sim: interrupted"])
        result = self.result("out")
        self.assertTrue(result["run"]["partial"])
        self.assertTrue(result["conservation"]["holds"])
        self.assertGreater(result["transport"]["data_packets"], 0)

    def given_up(self):
        run, ranks = self.long()
        os.kill(ranks[1], signal.SIGSTOP)
        time.sleep(0.2)
        os.kill(ranks[0], signal.SIGTERM)
        asked = time.monotonic()
        said = run.communicate(timeout=600)[1]
        return run, ranks, asked, said

    def test_a_rank_that_does_not_answer_is_given_up(self):
        run, ranks, asked, said = self.given_up()
        if run.returncode == -signal.SIGSEGV and "orte" in said:
            print("once more: Open MPI's mpirun itself crashed while it told of MPI_Abort, as 4.1 does now and then")
            shutil.rmtree(self.folder / "out", ignore_errors=True)
            run, ranks, asked, said = self.given_up()
        self.assertEqual(run.returncode, LOST, said)
        self.assertEqual(own(said), ["weft: rank 0 was asked to stop, and another rank does not answer"])
        self.assertLess(time.monotonic() - asked, 10)
        self.assertTrue(self.gone(ranks))

    def test_the_launcher_may_be_asked_too(self):
        run, ranks = self.long("--mca", "odls_base_sigkill_timeout", "4")  # after a second it kills, which is short on a busy machine
        asked = time.monotonic()
        run.send_signal(signal.SIGTERM)
        said = run.communicate(timeout=600)[1]
        print(f"after SIGTERM of mpirun all ended in {time.monotonic() - asked:.2f} s")
        self.assertNotEqual(run.returncode, DONE, said)
        self.assertTrue(self.result("out")["run"]["partial"])
        self.assertTrue(self.gone(ranks))


if __name__ == "__main__":
    if not MPI.exists() or shutil.which("mpirun") is None:
        print("skipped: this build has no MPI, or there is no mpirun (openmpi-bin)")
        sys.exit(SKIPPED)
    unittest.main()
