#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What weft host tells while it runs: DPDK's telemetry under /weft/..., read here as its socket gives it, and weft top, which shows it."""
import json
import os
import pathlib
import re
import socket
import time
import unittest

import weft
from weft import BAD_INPUT, DONE, ENVIRONMENT

ANSWER_MAX = 16384  # bytes, of DPDK
EVS, QPS_EACH = 512, 32
HOME = pathlib.Path("/run" if os.getuid() == 0 else os.environ.get("XDG_RUNTIME_DIR", "/tmp")) / "dpdk"


class Live(unittest.TestCase):
    count = 0

    def setUp(self):
        self.processes = []

    def tearDown(self):
        for process in self.processes:
            process.terminate()
        for process in self.processes:
            process.communicate(timeout=60)
            self.assertFalse((HOME / f"weft-{process.pid}").exists())

    def pair(self, caller=(), listener=(), both=()):
        """A caller and a listener that go on for longer than any test looks."""
        Live.count += 1
        name = f"live-{os.getpid()}-{Live.count}"
        for words in (["--to", name, "-b", "2M", "-e", "2M", "-n", "100000", *caller], ["--listen", name, *listener]):
            self.processes.append(weft.start("host", *words, *both))
        caller, listener = self.processes[-2:]
        while "so: cc.base_rtt" not in (line := caller.stdout.readline()):
            self.assertTrue(line, caller.args)
        time.sleep(0.5)
        return caller, listener

    def join(self, pid):
        port = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        port.settimeout(20)
        port.connect(str(HOME / f"weft-{pid}" / "dpdk_telemetry.v2"))
        self.addCleanup(port.close)
        self.assertIn("max_output_len", json.loads(port.recv(4096)))
        return port

    def ask(self, port, command):
        port.send(command.encode())
        said = port.recv(1 << 20)
        self.assertLess(len(said), ANSWER_MAX, command)
        (answer,) = json.loads(said).values()
        return answer

    def top(self, *words):
        return weft.run("top", *words, timeout=60)

    def test_a_run_and_its_planes(self):
        caller, _ = self.pair(["--telemetry"])
        port = self.join(caller.pid)
        before = self.ask(port, "/weft/run")
        time.sleep(0.5)
        planes = self.ask(port, "/weft/planes")
        after = self.ask(port, "/weft/run")
        self.assertEqual((after["scenario"], after["host"], after["hosts"], after["payload_bytes_wrong"]), ("pair", 1, 2, 0))
        for name in ("at_ns", "work_done", "messages", "data_packets", "data_bytes", "frames_sent", "frames_received"):
            self.assertGreater(after[name], before[name], name)
        self.assertEqual((planes["total"], planes["is_down"]), (2, [0, 0]))
        self.assertTrue(before["data_bytes"] <= sum(planes["data_bytes"]) <= after["data_bytes"], (before, planes, after))
        quantiles = [after[f"message_{part}_ns"] for part in ("p50", "p99", "p999")]
        self.assertEqual(quantiles, sorted(quantiles))
        self.assertGreater(quantiles[0], 0)

    def test_answers_come_in_pages(self):
        sets = ["--set", f"transport.evs={EVS}", "--set", f"transport.qps_per_connection={QPS_EACH}", "--set", "limits.memory=2GiB"]
        caller, _ = self.pair(["--telemetry"], both=sets)
        port = self.join(caller.pid)
        rows, total = [], 1
        while len(rows) < total:
            page = self.ask(port, f"/weft/qps,{len(rows)}")
            self.assertEqual(page["first"], len(rows))
            total = page["total"]
            self.assertGreater(len(page["qpn"]), 0)
            rows += zip(page["qpn"], page["remote_nic"], page["evs_good"], page["evs_bad"], page["window_bytes"])
        self.assertGreater(total, 48)  # more than a page
        self.assertEqual([row[0] for row in rows], list(range(total)))
        self.assertTrue(all(remote == 0 and good + bad == EVS and window > 0 for _, remote, good, bad, window in rows), rows)
        evs, total = [], 1
        while len(evs) < total:
            page = self.ask(port, f"/weft/evs,{QPS_EACH - 1},{len(evs)}")
            self.assertEqual((page["qp"], page["first"]), (QPS_EACH - 1, len(evs)))
            total = page["total"]
            self.assertTrue(all(state in (0, 1, 2) for state in page["state"]))
            self.assertGreater(len(page["ev"]), 0)
            evs += page["ev"]
        self.assertEqual((total, len(set(evs))), (EVS, EVS))
        self.assertEqual(self.ask(port, "/weft/evs,9999,0")["ev"], [])
        self.assertEqual(self.ask(port, "/weft/qps,9999")["qpn"], [])

    def test_top_shows_the_only_host_and_asks_which_of_two(self):
        self.assertEqual(self.top("--once").returncode, ENVIRONMENT)
        caller, listener = self.pair(["--telemetry"])
        shown = self.top("--once", "--interval", "0.5")
        self.assertEqual(shown.returncode, DONE, shown.stderr)
        self.assertRegex(shown.stdout, r"^pair, host 1 of 2: [\d.]+ s, work \d+ of \d+\n")
        sent = float(re.search(r", ([\d.]+) Gb/s sent; 0 wrong bytes", shown.stdout).group(1))
        planes = [float(rate) for rate in re.findall(r"^ +[01] +([\d.]+) +\d+  up$", shown.stdout, re.M)]
        self.assertEqual(len(planes), 2)
        self.assertGreater(sent, 0)
        self.assertAlmostEqual(sum(planes) / sent, 1, delta=0.5)  # their looks are not at the same moment
        self.assertRegex(shown.stdout, r"\n +1 +0 +0 +\d+ +\d+ +\d+ +16 +0\n")
        self.assertEqual(self.top("--once", "--interval", "0.1", caller.pid).returncode, DONE)
        self.assertEqual(self.top("--once", listener.pid).returncode, ENVIRONMENT)  # which was not told to answer
        self.pair(["--telemetry"])
        for _ in range(100):  # its socket is there some time after it
            said = self.top("--once", "--interval", "0.1").stderr
            if said != "":
                break
        self.assertIn("several weft hosts run here", said)

    def test_top_ends_with_the_run(self):
        caller, _ = self.pair(["--telemetry"])
        with weft.start("top", "--interval", "0.2") as process:
            self.assertIn("pair, host 1 of 2", process.stdout.readline())
            caller.terminate()
            _, err = process.communicate(timeout=60)
            self.assertEqual((process.returncode, err), (DONE, ""))

    def test_what_makes_no_sense(self):
        for words, says in ((["--interval", "0"], "--interval is a number from 0.1"), (["a", "b"], "unexpected argument"), (["--wrong"], "unknown option")):
            run = self.top(*words)
            self.assertEqual((run.returncode, run.stdout), (BAD_INPUT, ""))
            self.assertIn(says, run.stderr)
        run = self.top("/nowhere")
        self.assertEqual((run.returncode, run.stdout, run.stderr.count("\n")), (ENVIRONMENT, "", 1))


if __name__ == "__main__":
    weft.skip_without_dpdk()
    unittest.main()
