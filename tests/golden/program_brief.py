#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The short form of weft sim: at most 25 lines of 100 columns, of ten shipped scenarios; each figure of it is that of result.json,
rounded; colours on a terminal alone, and none with NO_COLOR; a run that stalls says over which link and how much is done."""
import json
import os
import pathlib
import pty
import re
import subprocess
import tempfile
import unittest

import shipped
from weft import NOT_VALID, WEFT, is_sanitized, run

SCENARIOS = [("two-racks",), ("rail-8x4",), ("incast",), ("perm128-400g",), ("dumbbell",), ("exchange",), ("gradients",), ("drill-t1-down",),
             ("jobs-two-rings", "--variant", "across"), ("ring-barrier",), ("torus-4x4x4",), ("rail-8x4", "--set", "traffic.channels=4"),
             ("incast", "--set", "transport.kind=rc", "--set", "cc.algorithm=dcqcn", "--set", "fabric.spray=round_robin")]
TRUNK = "{kind: link_down, at: {t0: 2, up: 1, plane: 1}, from: 50us}"
RING = """name: ring
fabric: {topology: graph, nics: 4, link_rate: 100Gb/s, nodes: [{name: a, nics: 1}, {name: b, nics: 1}, {name: c, nics: 1}, {name: d, nics: 1}],
         links: [{from: a, to: b}, {from: b, to: c}, {from: c, to: d}, {from: d, to: a}]}
queue: {pfc: true, ecn: false, bytes: 50kB}
cc: {algorithm: fixed}
transport: {kind: rc, rto: 100ms}
traffic: {kind: flows, flows: [{from: 0, to: 2, bytes: 2MB}, {from: 1, to: 3, bytes: 2MB}, {from: 2, to: 0, bytes: 2MB}, {from: 3, to: 1, bytes: 2MB}]}
limits: {time: 5ms}
"""
STALLS = ["rail-8x4", "--set", "transport.kind=rc", "--set", "cc.algorithm=dcqcn", "--fault", TRUNK]
FLOWS = "name: flows\ndescription: pairs\nfabric: {nics: 8, nics_per_t0: 4, t1_count: 4}\ntraffic: {kind: permutation, bytes: 64kB}\n"
UNITS = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1, "Gb/s": 1e9, "Tb/s": 1e12, "Mb/s": 1e6, "GB/s": 1e9, "%": 0.01, "B": 1, "kB": 1e3, "MB": 1e6, "": 1}
NUMBER = r"([\d,.]+)(?: (%|[numk]?s|[kMGT]?b/s|GB/s|[kM]?B)(?= |$))?"

# What stands in a row behind these words: path in result.json, and its unit there.
LONG = {"clos-131072", "google-tpu-v5p-6144", "meta-24k-roce", "compare-ring", "drill-ring-loss-0.1", "drill-ring-loss-1", "drill-ring-roce"}
WHOLE = {"time": r"\d", "goodput": r"\d", "latency": "p50", "network": ""}  # rows of which FIGURES has every number, unless they are a reason
FIGURES = {
    "time": [(r"", "headline.time_ps", 1e-12), ("ideal ", "headline.ideal_ps", 1e-12), (r"ideal [\d.]+ \w+ +", "headline.ideal_share", 1),
             ("algbw ", "headline.algbw_bytes_per_s", 1), ("busbw ", "headline.busbw_bytes_per_s", 1)],
    "goodput": [("", "goodput.per_nic_bps", 1), ("of ", "headline.payload_rate_bps", 1),
                (r"of [\d.]+ \S+ +", "headline.payload_rate_share", 1), (r" % +", "goodput.nics_receiving", 1), (r" % +[\d,]+ of ", "network.nics", 1)],
    "latency": [("p50 ", "headline.latency_p50_ns", 1e-9), ("p99 ", "headline.latency_p99_ns", 1e-9),
                ("max ", "headline.latency_max_ns", 1e-9), (r".*s {2,}", "headline.messages", 1)],
    "network": [("marked ", "congestion.marked_share", 1), ("trimmed ", "congestion.trimmed_share", 1), ("dropped ", "headline.dropped", 1),
                ("timeouts ", "congestion.retransmitted_by.timeout", 1), ("retransmitted ", "congestion.retransmitted_share", 1)],
    "busiest": [(r"> .*   ", "links.most_loaded.share", 1)],
    "deepest": [(r"> .*   (?=.* in the)", "links.deepest.bytes", 1), ("as deep at ", "links.deepest.queues", 1)],
}


def at(result, path):
    for key in path.split("."):
        result = result[key]
    return result


def value(match):
    digits = match[1].rstrip(".,")
    number = float(digits.replace(",", ""))
    places = len(digits.partition(".")[2]) if "." in digits else 0
    return number * UNITS[match[2] or ""], 0.5001 * 10 ** -places * UNITS[match[2] or ""]


def rows(text):
    found = {}
    for line in text.splitlines():
        match = re.match(r"  ([a-z]+) +(.*)$", line)
        if match:
            found.setdefault(match[1], match[2])
    return found


class Brief(unittest.TestCase):
    def sim(self, *words, status=(0, 1)):
        with tempfile.TemporaryDirectory() as folder:
            done = run("sim", *words, "--out", pathlib.Path(folder, "out"))
            self.assertIn(done.returncode, status, done.stderr)
            result = json.loads(pathlib.Path(folder, "out", "result.json").read_text(encoding="utf-8"))
        return done, result

    def test_links_that_are_not_to_be_watched_are_not(self):
        done, result = self.sim("incast", "--set", "watch.links=false")
        self.assertIsNone(result["links"])
        self.assertNotIn("busiest", rows(done.stdout))
        self.assertEqual(result["run"]["digest"], self.sim("incast")[1]["run"]["digest"])

    def holds(self, words, row, text, result):
        """How many figures of a row were found, each as result.json has it."""
        count = 0
        for before, path, unit in FIGURES.get(row, []):
            match = re.search(before + NUMBER, text) if before else re.match(NUMBER, text)
            if not match:
                continue
            printed, off = value(match)
            exact = at(result, path) * unit
            self.assertLessEqual(abs(printed - exact), max(off, 0.006 * abs(exact)), f"{words}: {row}: {text}: {path} {exact}")
            count += 1
        return count

    def test_is_short_and_as_in_result_json(self):
        count = 0
        for words in SCENARIOS:
            done, result = self.sim(*words)
            lines = done.stdout.splitlines()
            self.assertLessEqual(len(lines), 25, words)
            self.assertLessEqual(max(map(len, lines)), 100, (words, done.stdout))
            self.assertNotIn("\033", done.stdout)
            self.assertRegex(lines[0], rf"^{words[0]}  .*seed \d+  DONE$|^{words[0]} ")
            found = rows(done.stdout)
            self.assertIn(f"digest {result['run']['digest']} ", done.stdout)
            self.assertIn("weft report ", found["next"])
            here = sum(self.holds(words, row, text, result) for row, text in found.items())
            self.assertGreater(here, 9, (words, done.stdout))
            count += here
        self.assertGreater(count, 13 * len(SCENARIOS))

    def accounts_for(self, name, *words):
        """What no path of result.json accounts for has no number left. Returns what was printed."""
        done, result = self.sim(name, *words, status=(0, 1, NOT_VALID))
        lines = done.stdout.splitlines()
        self.assertLessEqual(len(lines), 25, name)
        self.assertLessEqual(max(map(len, lines)), 100, (name, done.stdout))
        for row, text in rows(done.stdout).items():
            self.holds([name], row, text, result)
            if re.match(WHOLE.get(row, "$"), text):
                left = list(text)
                for before, _, _ in FIGURES[row]:
                    match = re.search(before + NUMBER, text) if before else re.match(NUMBER, text)
                    if match:
                        left[match.start(1):match.end(1)] = "-" * (match.end(1) - match.start(1))
                self.assertNotRegex(re.sub(r"\bp\d+", "", "".join(left)), r"\d", (name, row, done.stdout))
        return done.stdout

    def test_no_figure_is_of_the_short_form_alone(self):
        """Of all shipped scenarios that take under a second of CPU (a quarter of them under sanitizers);
        tests/soak/short_form.py has them all, as large as they are."""
        for name in shipped.names()[::4 if is_sanitized() else 1]:
            if name not in LONG:
                self.accounts_for(name, *shipped.WORDS.get(name, []))

    def test_time_is_when_traffic_ended(self):
        """Not the last timer; and what a collective takes, beside the least that it can."""
        for words in SCENARIOS[:8]:
            result = self.sim(*words)[1]["headline"]
            if result["ideal_ps"] is not None:
                self.assertLessEqual(result["ideal_ps"], result["time_ps"], words)
                self.assertAlmostEqual(result["ideal_share"], result["ideal_ps"] / result["time_ps"], 9)
        incast = self.sim("incast")[1]
        packets = 32 * 1048576 // 4096
        self.assertGreater(incast["headline"]["ideal_ps"], packets * (4096 + 162) * 8 / 400e9 * 1e12 * 0.999)
        self.assertLess(incast["headline"]["ideal_ps"], packets * (4096 + 162) * 8 / 400e9 * 1e12 + 2 * incast["network"]["base_rtt_ps"])

    def test_no_quantile_of_few(self):
        done, result = self.sim("exchange")
        self.assertIsNone(result["headline"]["latency_p99_ns"])
        self.assertNotIn("p99", done.stdout)
        self.assertIn("p99", self.sim("rail-8x4")[0].stdout)

    def test_what_stays_inside_hosts_has_no_goodput(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "inside.goal")
            path.write_text("num_ranks 2\nrank 0 {\ns: send 1000000b to 1\n}\nrank 1 {\nr: recv 1000000b from 0\n}\n", encoding="utf-8")
            text = run("sim", "trace-nodes", "--trace", path, "--set", "fabric.nics_per_host=2", "--set", "scaleup.rate=450GB/s").stdout
        self.assertIn("goodput   none: all that was sent stayed inside hosts", text)
        self.assertIn("culprit   none: no link carried a packet", text)

    def test_idle_nics_are_said(self):
        self.assertIn("! 16 of 32 NICs received nothing: 4 channels, 8 NICs per host; traffic.channels=8 would use all",
                      self.sim("rail-8x4", "--set", "traffic.channels=4")[0].stdout)
        self.assertNotIn("!", self.sim("rail-8x4")[0].stdout)

    def test_a_fault_without_effect_is_said(self):
        """One channel leaves all rails but one idle; a NIC's fault has a way up that its traffic takes."""
        def said(*words, **place):
            fault = json.dumps({"kind": "loss", "probability": "2%", **place})
            return re.findall(r"! (faults.*)", self.sim("rail-8x4", *words, "--fault", fault)[0].stdout)

        trunk = {"t0": 2, "up": 1, "plane": 0}
        self.assertEqual(said("--set", "traffic.channels=1", at=trunk), ["faults[0], loss at t0 2 up 1 plane 0, has no effect: no packet is sent there"])
        self.assertEqual(said(at=trunk, **{"from": "1s"}), ["faults[0], loss at t0 2 up 1 plane 0, has no effect: it begins after the traffic ended"])
        self.assertEqual(said("--sample", "steps=15", at=trunk, **{"from": "1s"}),
                         ["faults[0], loss at t0 2 up 1 plane 0, has no effect: it begins after what the sample runs"])
        self.assertEqual(said(at=trunk), [])
        self.assertEqual(said(at={"nic": 3}), [])

    def test_each_form_names_the_culprit(self):
        words = ("rail-8x4", "--fault", "{kind: loss, at: {t0: 2, up: 1, plane: 0}, probability: 2%}")
        first = json.loads(run("sim", *words, "--json").stdout)["culprits"]["list"][0]
        self.assertEqual((first["name"], first["finding"]), ("t0 2 up 1 plane 0 - t1 1", "lossy"))
        for more in ((), ("-v",)):
            self.assertRegex(" ".join(run("sim", *words, *more).stdout.split()), r"t0 2 up 1 plane 0 - t1 1 \(lossy\):? lost or damaged 2.003 %")

    def test_stall_explains_itself(self):
        done, result = self.sim(*STALLS, status=(NOT_VALID,))
        failed = result["transport"]["qps_failed"] - result["transport"]["qps_failed_remote"]
        said = re.search(r"! (\d+) connections gave up after (\d+) tries over (.*) \(down\); (\d+) % done", done.stdout)
        self.assertTrue(said, done.stdout)
        self.assertEqual(int(said[1]), failed)
        self.assertEqual(said[3], result["culprits"]["list"][0]["name"])
        self.assertTrue(50 < int(said[4]) < 100, said[4])
        self.assertIn("STALLED", done.stdout.splitlines()[0])
        self.assertIn(f"stalled: {failed} connections gave up", done.stderr)
        self.assertNotIn("goodput", done.stdout)
        long = run("sim", *STALLS, "-v")
        self.assertIn("PARTIAL RESULT", long.stdout)

    def test_a_dead_fabric_says_that_nothing_arrived(self):
        done = self.sim("two-racks", "--fault", "{kind: link_down, at: all}", status=(NOT_VALID,))[0]
        self.assertRegex(done.stdout, r"! \d+ connections gave up after \d+ tries; no packet has arrived anywhere; 0 % done")
        done = self.sim("two-racks", "--fault", "{kind: link_down, at: {nic: 3}}", status=(NOT_VALID,))[0]
        self.assertRegex(done.stdout, r"gave up after \d+ tries over nic 3 \(down\); \d+ % done")

    def test_a_limit_says_how_much_is_done(self):
        done, result = self.sim("perm128-400g", "--set", "limits.time=40us", status=(NOT_VALID,))
        said = re.search(r"! PARTIAL RESULT: a limit was reached, (\d+) % done: raise limits.time", done.stdout)
        sent = 128 * 2_000_000
        self.assertTrue(said, done.stdout)
        self.assertTrue(5 < int(said[1]) < 95 and abs(int(said[1]) / 100 - result["goodput"]["payload_bytes"] / sent) < 0.02,
                        (said[0], result["goodput"]["payload_bytes"] / sent))

    def test_connections_that_never_give_up_are_no_matter_of_time(self):
        """The timer of NCCL's plugin has no last try; with two doublings it has, after the limit. The stated time is that of the end."""
        plugin = ("rail-8x4", "--set", "preset=mrc-nccl-plugin", "--fault", "{kind: link_down, at: {nic: 5}, from: 50us}")
        for more, then in ((), "never give up; transport.rto_doublings=0 would end them after 7.516 s"), \
                (("transport.rto_doublings=2",), "give up after 11.86 s: raise limits.time"):
            done, result = self.sim(*plugin, *(word for each in more for word in ("--set", each)), status=(NOT_VALID,))
            said = f"limits.time (10.00 s) was reached, 82 % done: {result['transport']['qps_trying']} connections hear nothing over nic 5 (down) and {then}"
            self.assertIn(f"! PARTIAL RESULT: {said}", " ".join(done.stdout.split()))
            self.assertEqual(done.stderr, f"weft sim: {said}\n")
            self.assertNotRegex(done.stdout, "(?m)^  (goodput|busiest)") # of ten seconds in which nothing came
            self.assertEqual((result["transport"]["qps_trying"], result["transport"]["qps_failed"]), (4, 0))
        self.assertIn("connections hear nothing", run("sim", *plugin, "-v").stdout)
        done, result = self.sim(*plugin, "--set", "transport.rto_doublings=0", status=(NOT_VALID,))
        self.assertIn("! 4 connections gave up after 7 tries over nic 5 (down); 82 % done", done.stdout)
        self.assertAlmostEqual(result["run"]["virtual_time_ps"] / 1e12, 7.516, delta=0.1)
        rc = ("--set", "transport.kind=rc", "--set", "cc.algorithm=dcqcn", "--set", "transport.rto_doublings=25", "--set", "limits.time=1s")
        done, result = self.sim("rail-8x4", *rc, *plugin[3:], status=(NOT_VALID,))
        self.assertIn(f"{result['transport']['qps_trying']} connections hear nothing over nic 5 (down)", " ".join(done.stdout.split()))
        self.assertGreater(result["transport"]["qps_trying"], 0)

    def test_a_deadlock_is_named(self):
        """Four switches in a ring, each port paused by the next one."""
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder, "ring.yaml")
            file.write_text(RING, encoding="utf-8")
            done, result = self.sim(file, "--seed", "1", status=(NOT_VALID,))
        said = re.search(r"! DEADLOCK: (\d+) ports that PFC paused wait for each other for good: (.*); (\d+) % done", " ".join(done.stdout.split()))
        self.assertTrue(said, done.stdout)
        self.assertEqual((int(said[1]), said[2].split(", ")), (4, result["pfc"]["deadlock"]["cables"]))
        self.assertLess(int(said[3]), 50)

    def test_several_culprits_are_named(self):
        faults = [word for t0, up, plane in ((2, 1, 0), (3, 1, 0), (4, 2, 1))
                  for word in ("--fault", f"{{kind: loss, at: {{t0: {t0}, up: {up}, plane: {plane}}}, probability: 2%}}")]
        done, result = self.sim("rail-8x4", *faults)
        names = [one["name"] for one in result["culprits"]["list"]]
        self.assertEqual(len(names), 3)
        for name in names:
            self.assertIn(f"{name} (lossy)", " ".join(done.stdout.split()))

    def test_a_report_says_the_same(self):
        """weft report prints the rows of weft sim, of the files alone; with -v all tables; of a study its story."""
        with tempfile.TemporaryDirectory() as folder:
            for words in SCENARIOS:
                out = pathlib.Path(folder, "-".join(words[:1]) + str(len(words)))
                said = run("sim", *words, "--out", out).stdout.splitlines()
                shown = run("report", out).stdout
                self.assertLessEqual(len(shown.splitlines()), 28, shown)
                kept = [line for line in said if line and not line.startswith(("  next ", "  paced", "            weft sim"))]
                self.assertEqual([line for line in shown.splitlines() if line][:len(kept)], kept)
                self.assertIn("  verdict  ", shown)
                self.assertIn("What could not be measured", run("report", out, "-v").stdout)
            study = pathlib.Path(folder, "study")
            run("sim", "incast", "--seeds", 3, "--sweep", "queue.bytes=64KiB,256KiB", "--out", study)
            shown, page = run("report", study).stdout, (study / "report.html").read_text(encoding="utf-8")
            best = max(range(2), key=lambda i: json.loads((study / "study.json").read_text())["figures"][0]["points"][i]["mean"])
            self.assertRegex(" ".join(shown.split()), rf"verdict COMPLETE: .*{['64KiB', '256KiB'][best]}")
            self.assertEqual(len(re.findall('class="card tile', page)), 3)
            self.assertIn("What to do next", page)

    def test_all_with_v(self):
        text = run("sim", "two-racks", "-v").stdout
        self.assertGreater(len(text.splitlines()), 40)
        for part in ("What ran", "Congestion", "trims in the core", "Assumptions", "Reproduce with: weft sim"):
            self.assertIn(part, text)

    def test_what_is_next_can_be_typed(self):
        """A shell takes it as it stands, whatever the names of fabric and folder are."""
        with tempfile.TemporaryDirectory() as folder:
            pathlib.Path(folder, "it's $1.yaml").write_text(FLOWS.replace("name: flows", "name: it's"), encoding="utf-8")
            for typed in (["sim", "it's $1.yaml"], ["sim", "it's $1.yaml", "--out", "a 'b'"], ["report", "a 'b'"]):
                shown = run(*typed, cwd=folder).stdout
                steps = re.findall(r"weft [^\n]*?(?=   |$)", re.split(r"\n  next +", shown)[1].split("\n  digest")[0], re.M)
                self.assertTrue(steps, shown)
                for step in steps:
                    done = subprocess.run(["sh", "-c", step.replace("weft ", '"$WEFT" ', 1)], cwd=folder, capture_output=True, text=True, check=False)
                    self.assertEqual(done.returncode, 0, (step, done.stderr))
            self.assertEqual(sorted(os.listdir(folder)), ["a 'b'", "it's $1.yaml", "o-it's"])

    def terminal(self, *words, **more):
        leader, follower = pty.openpty()
        with subprocess.Popen([WEFT, "sim", *(words or ["two-racks"])], stdout=follower, stderr=subprocess.DEVNULL,
                              env={**os.environ, "TERM": "xterm", **more}) as process:
            os.close(follower)
            text = b""
            while True:
                try:
                    part = os.read(leader, 65536)
                except OSError:
                    break
                text += part
                if not part:
                    break
            process.wait()
        os.close(leader)
        return text.decode()

    def test_colour_on_a_terminal(self):
        self.assertIn("\033[1;32mDONE\033[0m", self.terminal(NO_COLOR=""))
        self.assertNotIn("\033", self.terminal(NO_COLOR="1"))
        self.assertNotIn("\033", self.terminal(NO_COLOR="", TERM="dumb"))

    def test_of_a_culprit_the_place_alone_is_coloured(self):
        text = self.terminal("rail-8x4", "--fault", "{kind: loss, at: {t0: 2, up: 1, plane: 0}, probability: 2%}", NO_COLOR="")
        line = next(line for line in text.splitlines() if "culprit" in line)
        self.assertRegex(line, r"culprit\033\[0m +\033\[1;33m[^\033]+\033\[0m \([a-z ]+\): [^\033]+$")


if __name__ == "__main__":
    unittest.main()
