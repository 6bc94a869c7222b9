#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How runs of weft host end that do not come to their end: a peer that takes everything and answers nothing, or whose frames are all
lost; one of eight that is killed, and a second start under the same name; an interrupt while a peer is stuck."""
import os
import pathlib
import signal
import time
import unittest

import weft
from weft import DONE, NOT_VALID, PEER_LOST

FLOW = """name: hole
fabric: {nics: 2, planes: 1, nics_per_t0: 2, t1_count: 1, link_rate: 5Gb/s}
transport: {evs: 16, rto: 50ms, rto_linear: 3, rto_doublings: 2}
traffic: {kind: flows, flows: [{from: 0, to: 1, bytes: 4000MB}]}
faults: [{kind: loss, at: {nic: 1, plane: 0}, way: %s, probability: 100%%, from: 1s}]
limits: {time: 600s}
"""
RING = """name: ring
fabric: {nics: 8, planes: 1, nics_per_t0: 8, t1_count: 1, link_rate: 10Gb/s}
transport: {evs: 16}
traffic: {kind: ring, collective: all_reduce, bytes: %s, channels: 1}
limits: {time: 600s}
"""


def left_behind(pids):
    found = [name for name in os.listdir("/dev/shm") if "weft" in name or "memif" in name]
    folders = [pathlib.Path("/run/dpdk"), pathlib.Path("/tmp")]
    return found + [str(path) for folder in folders if folder.is_dir() for pid in pids for path in folder.glob(f"*weft-{pid}*")]


class Ends(weft.InFolder):
    count = 0

    def setUp(self):
        super().setUp()
        self.path = self.folder / "scenario.yaml"
        Ends.count += 1
        self.name = f"ends-{os.getpid()}-{Ends.count}"

    def start_hosts(self, hosts, text):
        self.path.write_text(text, encoding="utf-8")
        processes = [self.start("host", self.path, "--rank", rank, "--ranks", hosts, "--meet", self.name, "--timeout", 60) for rank in range(hosts)]
        while "so: cc.base_rtt" not in (line := processes[0].stdout.readline()):
            self.assertTrue(line, "no traffic began")
        return processes

    def test_a_black_hole_in_each_direction(self):
        for way in ("down", "up"):  # to the receiver; of what it answers
            with self.subTest(way=way):
                self.name += way
                ended = [(*process.communicate(timeout=60), process.returncode) for process in self.start_hosts(2, FLOW % way)]
                self.assertEqual([status for _, _, status in ended], [PEER_LOST] * 2, ended)
                self.assertIn("QP went to ERROR", ended[0][1])
                self.assertIn("PARTIAL RESULT, of host 0 alone: QP failed", ended[0][0])
                self.assertIn("PARTIAL RESULT, of host 1 alone", ended[1][0])
                self.assertNotIn(" 0 were taken by faults", ended[1][0])

    def test_a_fault_begins_with_the_traffic(self):
        """Not while round trips are measured, however long that takes."""
        for process in self.start_hosts(2, FLOW.replace("1s}", "0s}") % "down"):
            out, err = process.communicate(timeout=60)
            self.assertEqual(process.returncode, PEER_LOST, err)
            self.assertIn("PARTIAL RESULT", out)

    def test_one_of_eight_is_killed_and_all_start_again(self):
        processes = self.start_hosts(8, RING % "16GiB")
        time.sleep(1)
        processes[5].kill()
        begun = time.monotonic()
        while any(process.poll() is None for process in processes):
            time.sleep(0.005)
        took = time.monotonic() - begun
        print(f"the others ended {took * 1e3:.0f} ms after one was killed")
        self.assertLess(took, 1)
        for rank, process in enumerate(processes):
            out, err = process.communicate()
            if rank != 5:
                self.assertEqual(process.returncode, PEER_LOST, err)
                self.assertIn("host 5 is gone", err)
                self.assertIn(f"PARTIAL RESULT, of host {rank} alone", out)
        self.assertEqual(left_behind(process.pid for process in processes), [])
        for process in self.start_hosts(8, RING % "1MiB"):
            _, err = process.communicate(timeout=100)
            self.assertEqual(process.returncode, DONE, err)

    def test_an_interrupt_while_a_peer_is_stuck(self):
        for sign in (signal.SIGTERM, signal.SIGINT):
            with self.subTest(signal=sign):
                self.name += str(int(sign))
                sender, receiver = self.start_hosts(2, FLOW.replace("faults:", "# ") % "up")
                time.sleep(0.5)
                receiver.send_signal(signal.SIGSTOP)
                time.sleep(0.2)  # its ports are full now
                begun = time.monotonic()
                sender.send_signal(sign)
                out, err = sender.communicate(timeout=30)
                took = time.monotonic() - begun
                receiver.send_signal(signal.SIGCONT)
                print(f"a partial result {took * 1e3:.0f} ms after the signal")
                self.assertEqual(sender.returncode, NOT_VALID, err)
                self.assertIn("PARTIAL RESULT, of host 0 alone", out)
                self.assertLess(took, 0.5)
                self.assertEqual(receiver.wait(timeout=30), PEER_LOST)


if __name__ == "__main__":
    weft.skip_without_dpdk()
    unittest.main()
