#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How a run of the real program can end, and what it leaves then: limits, signals, a workload that cannot complete, an
output that takes nothing; and that a run is the same each time."""
import json
import os
import pathlib
import pty
import re
import signal
import subprocess
import time
import unittest

import weft
from weft import DONE, ENVIRONMENT, NOT_VALID, WEFT, wait_for_work

LONG = ["link-down", "--set", "traffic.bytes=2GiB", "--set", "limits.time=1000s"]  # minutes, if nobody stops it
SHORT_S = 1.0  # a run that is asked to stop ends within this time
STALLING = """name: stalling
fabric: {nics: 8, nics_per_t0: 4, t1_count: 2}
traffic: {kind: permutation, bytes: 100kB}
faults: [{kind: link_down, at: {nic: 3, plane: 0}, from: 1us}]
"""


def ran(*words, **more):
    return weft.run("sim", *words, **more)


def wait_until_taken(run, number):
    """Until the program has taken the signal: of two that wait at once a system delivers one."""
    status = pathlib.Path(f"/proc/{run.pid}/status")
    while run.poll() is None and int(re.search(r"ShdPnd:\s*(\w+)", status.read_text(encoding="ascii"))[1], 16) >> (number - 1) & 1:
        time.sleep(0.001)


class Ends(weft.InFolder):
    def setUp(self):
        super().setUp()
        self.out = self.folder / "out"

    def result(self, folder=None):
        return json.loads(((folder or self.out) / "result.json").read_text(encoding="utf-8"))

    def assert_partial(self, end, limit=None):
        """What is left is marked: in the JSON and in every histogram; nothing half-written lies around."""
        run = self.result()["run"]
        self.assertTrue(run["partial"])
        self.assertIn(end, run["end"])
        self.assertEqual(run["limit_option"], limit)
        for path in self.out.iterdir():
            self.assertIn(path.suffix, (".json", ".hdr", ".csv"))
            if path.suffix == ".hdr":
                self.assertIn("PARTIAL RESULT", path.read_text(encoding="utf-8"))
        self.assertTrue(self.result()["conservation"]["holds"])

    def test_a_second_interrupt_ends_what_is_still_built(self):
        """A world of 131,072 NICs takes seconds to build, and nobody looks at signals meanwhile."""
        run = subprocess.Popen([WEFT, "sim", "clos-131072", "--out", self.out], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        wait_for_work(run, 0.2)
        run.send_signal(signal.SIGINT)
        wait_until_taken(run, signal.SIGINT)
        run.send_signal(signal.SIGINT)
        run.communicate(timeout=60)
        self.assertEqual(run.returncode, -signal.SIGINT)
        self.assertFalse(self.out.exists())

    def test_a_pool_that_runs_dry_names_its_option(self):
        run = ran("perm128-400g", "--set", "limits.packets=300", "--out", self.out)
        self.assertEqual((run.returncode, run.stderr), (NOT_VALID, "weft sim: a limit was hit: raise limits.packets\n"))
        self.assertIn("PARTIAL RESULT", run.stdout)
        self.assertIn("limits.packets", run.stdout)
        self.assert_partial("limit", "limits.packets")

    def test_the_limit_of_hops_names_itself(self):
        run = ran("perm128-400g", "--set", "limits.hops=100000", "--out", self.out)
        self.assertEqual((run.returncode, run.stderr), (NOT_VALID, "weft sim: a limit was hit: raise limits.hops\n"))
        self.assert_partial("limit", "limits.hops")
        self.assertTrue(100_000 <= self.result()["speed"]["hops"] < 150_000, self.result()["speed"]["hops"])  # a window more
        run = ran("incast", "--set", "limits.hops=100000000", "--out", self.folder / "within")
        self.assertEqual(run.returncode, 0, run.stderr)
        hops = json.loads((self.folder / "within" / "result.json").read_text(encoding="utf-8"))["speed"]["hops"]
        run = ran("incast", "--set", f"limits.hops={hops - 1}", "--out", self.folder / "last")  # behind the last completion
        self.assertEqual((run.returncode, run.stderr), (0, ""))

    def test_the_time_limit_names_itself(self):
        run = ran("perm128-400g", "--set", "limits.time=30us", "--out", self.out)
        self.assertEqual((run.returncode, run.stderr), (NOT_VALID, "weft sim: a limit was hit: raise limits.time\n"))
        self.assertIn("PARTIAL RESULT", run.stdout)
        self.assert_partial("time", "limits.time")
        self.assertEqual(self.result()["run"]["virtual_time_ps"], 30_000_000)
        self.assertGreater(self.result()["transport"]["data_packets"], 0)

    def test_a_deadlock_is_told_as_one_and_not_as_want_of_time(self):
        path = self.folder / "ring.yaml"
        nodes = ", ".join(f"{{name: {name}, nics: 1}}" for name in "abcd")
        links = ", ".join(f"{{from: {a}, to: {b}}}" for a, b in ("ab", "bc", "cd", "da"))
        flows = ", ".join(f"{{from: {nic}, to: {(nic + 2) % 4}, bytes: 2MB}}" for nic in range(4))
        path.write_text(f"fabric: {{topology: graph, nics: 4, nodes: [{nodes}], links: [{links}]}}\n"
                        "queue: {pfc: true, ecn: false, bytes: 50kB}\ncc: {algorithm: fixed}\ntransport: {kind: rc, rto: 100ms}\n"
                        f"traffic: {{kind: flows, flows: [{flows}]}}\nlimits: {{time: 5ms}}\n", encoding="utf-8")
        seen = set()
        for seed in range(1, 41):  # two of sixteen ways around stand still
            run = ran(path, "--set", f"seed={seed}", "--json")
            result = json.loads(run.stdout)
            if run.returncode == 0:
                continue
            seen.add(seed)
            self.assertEqual((run.returncode, result["run"]["end"], result["run"]["limit_option"]), (NOT_VALID, "time limit", None))
            self.assertIn("deadlock", run.stderr)
            self.assertNotIn("limits.time", run.stderr)
        self.assertTrue(seen)

    def test_a_time_limit_within_a_window_ends_the_run(self):
        run = ran("perm128-400g", "--set", "limits.time=30.3us", "--out", self.out)
        self.assertEqual(run.returncode, NOT_VALID)
        self.assertEqual(self.result()["run"]["virtual_time_ps"], 30_300_000)

    def test_a_workload_that_cannot_complete_is_stalled(self):
        path = self.folder / "stalling.yaml"
        path.write_text(STALLING, encoding="utf-8")
        run = ran(path, "--out", self.out)
        self.assertEqual(run.returncode, NOT_VALID)
        self.assertIn("STALLED", run.stdout)
        self.assertIn("stalled", run.stderr)
        self.assertEqual(run.stderr.count("\n"), 1)
        self.assert_partial("stalled")
        self.assertEqual(self.result()["flows"]["count"], 6)  # all but the two of the lost NIC
        self.assertGreater(self.result()["transport"]["qps_failed"], 0)

    def stop(self, what):
        """Stops a long run in its midst; returns the seconds it took to end."""
        with weft.start("sim", *LONG, "--force", "--out", self.out) as run:
            deadline = time.monotonic() + 60
            while not (self.folder / ".out.weft-part").exists() and time.monotonic() < deadline:  # made when the run is about to begin
                time.sleep(0.01)
            wait_for_work(run, 0.4)
            asked = time.monotonic()
            run.send_signal(what)
            printed, said = run.communicate(timeout=600)
            spent = time.monotonic() - asked
        self.assertEqual((run.returncode, said), (NOT_VALID, "weft sim: interrupted\n"))
        self.assertIn("PARTIAL RESULT", printed)
        self.assert_partial("interrupted")
        self.assertGreater(self.result()["transport"]["data_packets"], 0)
        return spent

    def test_a_signal_ends_a_run_soon_with_what_there_is(self):
        for what in (signal.SIGINT, signal.SIGTERM):
            times = []
            while not times or (min(times) > SHORT_S and len(times) < 3):  # a loaded machine may be late once
                times.append(self.stop(what))
            print(f"{what.name}: ended after {min(times):.3f} s")
            self.assertLess(min(times), SHORT_S)

    def on_terminal(self, words, stop_after_s=None):
        """Runs with stderr on a pseudo-terminal; returns the exit status and what was shown there."""
        try:
            ours, theirs = pty.openpty()
        except OSError as why:  # a container may have none
            self.skipTest(f"no terminal here: {why}")
        with subprocess.Popen([WEFT, "sim", *words], stdout=subprocess.DEVNULL, stderr=theirs) as run:
            os.close(theirs)
            if stop_after_s is not None:
                wait_for_work(run, stop_after_s)
                run.send_signal(signal.SIGINT)
            shown = b""
            try:
                while more := os.read(ours, 65536):
                    shown += more
            except OSError:  # the other end is closed
                pass
        os.close(ours)
        return run.returncode, shown.decode()

    def test_a_terminal_shows_progress_and_is_left_clean(self):
        status, shown = self.on_terminal(["link-down"])
        self.assertEqual(status, DONE)
        self.assertRegex(shown, r"\r\[#*\.*\] +\d+ %  [\d.]+ ms simulated  [\d.]+ M packets/s")
        self.assertTrue(shown.endswith("\r\033[K"), shown[-80:])
        self.assertNotIn("\n", shown)

    def test_the_progress_bar_is_gone_before_the_reason(self):
        status, shown = self.on_terminal(LONG, stop_after_s=1.5)
        self.assertEqual(status, NOT_VALID)
        self.assertTrue(shown.endswith("\r\033[Kweft sim: interrupted\r\n"), shown[-80:])

    def test_quiet_shows_no_progress(self):
        self.assertEqual(self.on_terminal(["link-down", "--quiet"]), (DONE, ""))

    def test_a_pipe_gets_no_progress(self):
        run = ran("link-down")
        self.assertEqual((run.returncode, run.stderr), (DONE, ""))
        self.assertNotIn("\r", run.stdout)
        self.assertNotIn("\033", run.stdout)

    def test_an_output_that_takes_nothing_is_an_error(self):
        asked = ["two-planes"], ["two-planes", "--json"], ["two-planes", "--quiet"], ["two-planes", "--footprint"], \
            ["--list"], ["--list-keys"], ["--help"], ["--version"]
        for words in asked:
            for how in (">/dev/full", ">&-"):
                with self.subTest(words=words, how=how):
                    run = subprocess.run(["bash", "-c", f'"$@" {how}', "bash", WEFT, "sim", *words], capture_output=True,
                                         text=True, timeout=600, check=False)
                    self.assertEqual(run.returncode, ENVIRONMENT)
                    self.assertEqual(run.stderr.count("\n"), 1, run.stderr)

    def test_the_files_are_whole_when_the_table_cannot_be_printed(self):
        with open("/dev/full", "w", encoding="utf-8") as full:
            run = subprocess.run([WEFT, "sim", "two-planes", "--out", self.out], stdout=full, stderr=subprocess.PIPE,
                                 timeout=600, check=False)
        self.assertEqual(run.returncode, ENVIRONMENT)
        self.assertFalse(self.result()["run"]["partial"])

    @staticmethod
    def lasting(result):
        return {name: part for name, part in result.items() if name not in ("speed", "command", "weft")}

    def test_a_run_is_the_same_each_time(self):
        words = ["perm128-400g", "--set", "traffic.bytes=300kB"]
        for folder in ("a", "b"):
            self.assertEqual(ran(*words, "--out", self.folder / folder).returncode, DONE)
        first, second = self.result(self.folder / "a"), self.result(self.folder / "b")
        self.assertEqual(self.lasting(first), self.lasting(second))
        names = sorted(path.name for path in (self.folder / "a").iterdir())
        self.assertEqual(names, sorted(path.name for path in (self.folder / "b").iterdir()))
        self.assertIn("flow.hdr", names)
        for name in names:
            if name.endswith(".hdr"):
                self.assertEqual((self.folder / "a" / name).read_bytes(), (self.folder / "b" / name).read_bytes(), name)
        printed = json.loads(ran(*words, "--json", "--set", "watch.links=true").stdout)  # as the short form sets it
        self.assertEqual(self.lasting(printed), self.lasting(first))

    def test_the_text_is_the_same_but_for_times_and_command(self):
        keys = "speed", "command", "weft"
        texts = []
        for folder in ("a", "b"):
            ran("two-planes", "--out", self.folder / folder)
            lines, part = [], ""
            for line in (self.folder / folder / "result.json").read_text(encoding="utf-8").splitlines():
                if line.startswith('  "'):
                    part = line.split('"')[1]
                if part not in keys:
                    lines.append(line)
            texts.append("\n".join(lines))
        self.assertEqual(texts[0], texts[1])
        self.assertGreater(texts[0].count("\n"), 150)

    def test_another_seed_is_another_run(self):
        digests = [json.loads(ran("perm128-400g", "--set", "traffic.bytes=50kB", "--json", "--seed", seed).stdout)["run"]["digest"]
                   for seed in (1, 2, 3)]
        self.assertEqual(len(set(digests)), 3)

    def test_a_second_result_replaces_the_first(self):
        for seed in (1, 2):
            self.assertEqual(ran("perm128-400g", "--set", "traffic.bytes=50kB", "--seed", seed, "--out", self.out, "--force").returncode, DONE)
        self.assertEqual(self.result()["scenario"]["seed"], "2")


if __name__ == "__main__":
    unittest.main()
