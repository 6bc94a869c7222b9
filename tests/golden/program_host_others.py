#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""weft host on interfaces that the kernel keeps, and others use too: what it counts, and what Linux makes of what it tells.

A program in the other namespace sends frames of each kind, whole and made up, into a pair that runs; the kernel there asks by
neighbour discovery for the addresses of the host, and gets an answer. Needs DPDK, root and veth.
"""
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import unittest

from weft import SKIPPED, WEFT

PLANES = 2
COPIES = 40  # of each frame
FUZZED = 4000
MORE = 5000  # packets of the pair: several windows

# What is sent, by the name under which it is counted. The kernels say ARP, ND, ICMP and TCP of their own.
KINDS = {
    "ARP": "ffffffffffff0299999999990806000108000604000102999999999a0a0000010000000000000a000002",
    "ND": "333300000002029999999999" + "86dd6000000000083aff" + "fe80" + "00" * 13 + "01" + "ff02" + "00" * 13 + "02" + "8500000000000000",
    "LLDP": "0180c200000e02999999999988cc0207040299999999990403020065060200780000",
    "DHCP": "ffffffffffff02999999999908004500001c000000004011000000000000ffffffff0044004300080000",
    "RoCE of others": "029999999999029999999998080045000030000000004011000" + "00a0000010a000002" + "c00012b7001c0000" + "04" + "00" * 19,
    "other EtherTypes": "02999999999902999999999822f000010203",
}

SENDER = """
import json, random, socket, struct, sys
interface, kinds, copies, fuzzed = sys.argv[1], json.loads(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4])
port = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
port.bind((interface, 0))
dice = random.Random(7)
kept = 0
def is_kept(frame):
    # DPDK asks the kernel to put the fragments of IPv4 together first, so a part alone never comes; and it takes a VLAN's tag away
    kind, start, total, _, bits = struct.unpack_from(">HBxHHH", frame, 12)
    return kind in (0x8100, 0x88a8) or kind == 0x0800 and start >> 4 == 4 and bits & 0x3fff != 0
sys.stdin.read()  # until it is time
for _ in range(copies):
    for text in kinds.values():
        port.send(bytes.fromhex(text).ljust(60, b"\\0"))
for _ in range(fuzzed):
    frame = bytearray(bytes.fromhex(dice.choice(list(kinds.values()))).ljust(60, b"\\0") + dice.randbytes(dice.randrange(800)))
    for _ in range(dice.randrange(1, 8)):
        frame[dice.randrange(len(frame))] = dice.randrange(256)
    kept += is_kept(frame)
    port.send(bytes(frame))
print(kept)
"""

# A datagram to somebody: who that is has to be asked for. Then there is time for an answer.
ASKER = """
import socket, sys, time
asked = sys.argv[1]
socket.socket(socket.AF_INET6 if ":" in asked else socket.AF_INET, socket.SOCK_DGRAM).sendto(b"?", (asked, 9))
time.sleep(0.5)
"""


def run(*words):
    return subprocess.run(words, capture_output=True, text=True, timeout=60, check=False)


def has_all():
    name = f"weft-try-{os.getpid()}"
    if not shutil.which("ip") or run("ip", "netns", "add", name).returncode:
        return False
    made = run("ip", "-n", name, "link", "add", "va", "type", "veth", "peer", "name", "vb")
    run("ip", "netns", "del", name)
    return made.returncode == 0 and "without DPDK" not in run(WEFT, "host", "--probe", "memif:try").stderr


class Others(unittest.TestCase):
    def setUp(self):
        self.names = [f"weft-other-{end}-{os.getpid()}" for end in "ab"]
        for name in self.names:
            self.ip("netns", "add", name)
        for plane in range(PLANES):
            self.ip("-n", self.names[0], "link", "add", f"va{plane}", "type", "veth", "peer", "name", f"vb{plane}", "netns", self.names[1])
            for name, end in zip(self.names, "ab"):
                self.ip("-n", name, "link", "set", f"v{end}{plane}", "mtu", "9000", "up")
        for index, (name, end) in enumerate(zip(self.names, "ab")):
            self.ip("-n", name, "addr", "add", f"198.18.0.{index + 1}/24", "dev", f"v{end}0")

    def tearDown(self):
        for name in self.names:
            run("ip", "netns", "del", name)

    def ip(self, *words):
        subprocess.run(["ip", *words], check=True, capture_output=True, timeout=60)

    def inside(self, index, *words):
        return run("ip", "netns", "exec", self.names[index], *words)

    def start(self, index, *words):
        meet = ["--listen" if index == 0 else "--to", "198.18.0.1:7000"]
        ports = [word for plane in range(PLANES) for word in ("--port", f"v{'ab'[index]}{plane}")]
        return subprocess.Popen(["ip", "netns", "exec", self.names[index], WEFT, "host", *meet, *ports, "--timeout", "20", *words],
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def pair(self, *words):
        """Both ends, and a caller that sends long enough for what a test does meanwhile."""
        processes = [self.start(0, "--json", *words), self.start(1, "-b", "64K", "-e", "64K", "-n", "12000", *words)]
        while "so: cc.base_rtt" not in (line := processes[1].stdout.readline()):
            self.assertTrue(line, processes[1])
        return processes

    def end(self, processes):
        try:
            ended = [(*process.communicate(timeout=200), process.returncode) for process in processes]
        finally:
            for process in processes:
                process.kill()
        self.assertEqual([status for _, _, status in ended], [0, 0], ended)
        return json.loads(ended[0][0])["loop"]

    def sender(self, copies, fuzzed):
        """A program that sends from the interface of the caller's first plane when its input ends: it is there before the pair."""
        return subprocess.Popen(["ip", "netns", "exec", self.names[1], sys.executable, "-c", SENDER, "vb0", json.dumps(KINDS), str(copies), str(fuzzed)],
                                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def figures(self, index):
        """Of the interface of a plane of the caller: frames sent, and dropped on the way to the host's interface."""
        name = f"vb{index}"
        link = json.loads(self.inside(1, "ip", "-s", "-j", "link", "show", name).stdout)[0]["stats64"]["tx"]
        return link["packets"], link["dropped"]

    def go_on(self, caller):
        """The window is small: so many packets leave only if the host reads, and it read all that came before them, in order."""
        before = self.figures(0)[0]
        while self.figures(0)[0] < before + MORE:
            self.assertIsNone(caller.poll(), "the pair was done before all that was sent was read")

    def test_frames_of_others_are_counted_and_no_more(self):
        sender = self.sender(COPIES, FUZZED)
        processes = self.pair()
        dropped_before = self.figures(0)[1]
        kept, said = sender.communicate("", timeout=60)
        self.go_on(processes[1])
        dropped = self.figures(0)[1] - dropped_before
        loop = self.end(processes)
        self.assertEqual(sender.returncode, 0, said)
        self.assertLess(int(kept), FUZZED // 100)
        self.assertEqual(loop["payload_bytes_wrong"], 0)
        self.assertGreaterEqual(loop["payload_bytes_good"], 12000 << 16)
        for kind in KINDS:
            self.assertGreaterEqual(loop["others"].get(kind, 0), COPIES, (kind, loop))
        turned_away = sum(loop["others"].values()) + sum(loop["bad_frames"].values()) + loop["frames_strange"] + loop["neighbours_heard"]
        # A loop without the core leaves its ring to fill, and a kernel without it its backlog: what that dropped is counted there.
        # And what the kernel keeps to itself comes to nobody.
        self.assertGreaterEqual(turned_away + loop["frames_dropped"] + dropped, COPIES * len(KINDS) + FUZZED - int(kept))

    def test_what_a_full_ring_drops_is_counted(self):
        """A host that stands still for a while: its ring holds 1024 frames, and the kernel drops what comes then."""
        copies = 500
        sender = self.sender(copies, 0)
        processes = self.pair("--telemetry")
        dropped_before = self.figures(0)[1]
        processes[0].send_signal(signal.SIGSTOP)
        _, said = sender.communicate("", timeout=60)
        processes[0].send_signal(signal.SIGCONT)
        self.go_on(processes[1])
        dropped = self.figures(0)[1] - dropped_before
        top = run(WEFT, "top", str(processes[0].pid), "--once", "--interval", "0.1")
        shown = re.search(r", dropped by full ports (\d+)$", top.stdout, re.M)
        loop = self.end(processes)
        self.assertEqual(sender.returncode, 0, said)
        self.assertIsNotNone(shown, top)
        self.assertTrue(copies * len(KINDS) - 1024 <= dropped + int(shown.group(1)) <= dropped + loop["frames_dropped"], (shown, loop))
        turned_away = sum(loop["others"].values()) + sum(loop["bad_frames"].values()) + loop["neighbours_heard"]
        self.assertGreaterEqual(loop["frames_dropped"] + dropped, copies * len(KINDS) - 1024)
        self.assertGreaterEqual(turned_away + loop["frames_dropped"] + dropped, copies * len(KINDS))

    def test_a_link_that_goes_and_comes_back(self):
        """The kernel takes the second plane's interface down for a while: the NICs at both ends know, and use the other plane."""
        processes = self.pair("--telemetry")
        self.ip("-n", self.names[1], "link", "set", "vb1", "down")
        self.go_on(processes[1])
        top = run(WEFT, "top", str(processes[0].pid), "--once", "--interval", "0.1")
        self.ip("-n", self.names[1], "link", "set", "vb1", "up")
        self.go_on(processes[1])
        loop = self.end(processes)
        self.assertRegex(top.stdout, r"(?m)^\s*1 .* down$")
        self.assertEqual((loop["links_lost"], loop["links_back"], loop["payload_bytes_wrong"]), (1, 1, 0))
        self.assertGreaterEqual(loop["payload_bytes_good"], 12000 << 16)

    def test_a_kernel_that_asks_is_told(self):
        """Linux on the link of the second plane asks for host 0 of either IP version, and enters what it is told."""
        for version, asked, own in ((6, "fd77:6566:7400:1::1", "fd77:6566:7400:1::99/64"), (4, "198.18.64.1", "198.18.65.7/18")):
            with self.subTest(ip=version):
                processes = self.pair("--set", f"wire.ip={version}")
                try:
                    mac = json.loads(run("ip", "-n", self.names[0], "-j", "link", "show", "va1").stdout)[0]["address"]
                    self.ip("-n", self.names[1], "addr", "add", own, "dev", "vb1", *(["nodad"] if version == 6 else []))
                    for _ in range(20):  # a loop that gets no core answers later
                        self.inside(1, sys.executable, "-c", ASKER, asked)
                        entry = json.loads(run("ip", "-n", self.names[1], "-j", "neigh", "show", asked, "dev", "vb1").stdout or "[]")
                        if any("lladdr" in one for one in entry):
                            break
                finally:
                    loop = self.end(processes)
                self.assertEqual([one.get("lladdr") for one in entry], [mac], entry)
                self.assertGreater(loop["neighbours_learnt"], 0)
                self.assertEqual(loop["payload_bytes_wrong"], 0)


if __name__ == "__main__":
    if not has_all():
        print("needs DPDK, root and veth: skipped")
        sys.exit(SKIPPED)
    unittest.main()
