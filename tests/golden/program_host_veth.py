#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""weft host as a ring of eight namespaces: the interfaces of each are ends of veths, which a bridge for each plane joins.

What the ring sends and completes is what it does in virtual time, every byte compared; with losses, and with one plane cut, too.
Frames go to addresses for tests alone. The test makes and removes what it needs. Needs DPDK, root, veth and bridges."""
import ipaddress
import itertools
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time
import unittest

import weft
from weft import DONE, WEFT, has_dpdk, has_namespaces

HOSTS, PLANES = 8, 2
GRANT_BYTES = 64  # of a ring's credit, which nobody waits for at the end
LOSS = "faults: [{kind: loss, at: all, probability: 1%}]\n"
RING = f"""name: ring
fabric: {{nics: {HOSTS}, planes: {PLANES}, nics_per_t0: {HOSTS}, t1_count: 1, link_rate: 10Gb/s}}
transport: {{evs: 16}}
traffic: {{kind: ring, collective: all_reduce, bytes: %s, channels: 1}}
limits: {{time: 600s}}
"""
# Prints where UDP frames to the ports of MRC and RoCEv2 went, from and to, until its input ends.
WATCHER = """
import ipaddress, socket, sys, threading
at = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
at.settimeout(0.2)
over = threading.Event()
threading.Thread(target=lambda: (sys.stdin.read(), over.set()), daemon=True).start()
print("ready", flush=True)
seen = set()
while not over.is_set():
    try:
        frame = at.recv(128)
    except TimeoutError:
        continue
    kind, udp, first, size = (frame[23], 34, 26, 4) if frame[12:14] == b"\\x08\\0" else (frame[20], 54, 22, 16)
    if kind == 17 and frame[udp + 2:udp + 4] in (b"\\x12\\xb7", b"\\x13\\x6b"):
        seen.add(tuple(str(ipaddress.ip_address(frame[begin:begin + size])) for begin in (first, first + size)))
for one in sorted(seen):
    print(*one)
"""


def ip(*words):
    done = subprocess.run(["ip", *words], capture_output=True, text=True, timeout=60, check=False)
    if done.returncode:
        raise AssertionError(f"ip {' '.join(words)}: {done.stderr}")
    return done.stdout


class Rings(unittest.TestCase):
    def setUp(self):
        self.bridges = self.namespace("bridges")
        made = subprocess.run(["ip", "-n", self.bridges, "link", "add", "try", "type", "bridge"], capture_output=True, text=True, check=False)
        if made.returncode:
            self.skipTest(f"no bridges here: {made.stderr}")
        self.hosts = [self.namespace(str(host)) for host in range(HOSTS)]
        for plane in range(PLANES):
            ip("-n", self.bridges, "link", "add", f"plane{plane}", "mtu", "9000", "type", "bridge")
            for host, name in enumerate(self.hosts):
                ip("-n", name, "link", "add", f"veth{plane}", "mtu", "9000", "type", "veth",
                   "peer", "name", f"port{host}-{plane}", "mtu", "9000", "netns", self.bridges)
                ip("-n", self.bridges, "link", "set", f"port{host}-{plane}", "master", f"plane{plane}", "up")
                ip("-n", name, "link", "set", f"veth{plane}", "up")
            ip("-n", self.bridges, "link", "set", f"plane{plane}", "up")
        for host, name in enumerate(self.hosts):  # the hosts meet over TCP
            ip("-n", name, "addr", "add", f"198.18.0.{host + 1}/24", "dev", "veth0")

    def namespace(self, what):
        name = f"weft-ring-{what}-{os.getpid()}"
        ip("netns", "add", name)
        self.addCleanup(subprocess.run, ["ip", "netns", "del", name], check=False)
        return name

    def start(self, host, scenario):
        words = ["ip", "netns", "exec", self.hosts[host], WEFT, "host", scenario, "--rank", host, "--ranks", HOSTS, "--meet", "198.18.0.1:7000"]
        words += [word for plane in range(PLANES) for word in ("--port", f"veth{plane}")]
        process = subprocess.Popen([*map(str, words), "--timeout", "60", "--json"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.addCleanup(process.communicate)
        self.addCleanup(process.kill)
        return process

    def ring(self, more="", size="2MiB", during=None):
        """What all hosts of a ring came to, and what the ring does in virtual time; `during` is called once host 0 will send."""
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "ring.yaml"
            path.write_text(RING % size + more, encoding="utf-8")
            processes = [self.start(host, path) for host in reversed(range(HOSTS))]  # who calls comes first
            if during:
                during(processes[-1])
            ended = [(*process.communicate(timeout=200), process.returncode) for process in reversed(processes)]
            run = weft.run("sim", path, "--json", check=True)
        self.assertEqual([status for _, _, status in ended], [DONE] * HOSTS, ended)
        self.assertEqual([out for out, _, _ in ended[1:]], [""] * (HOSTS - 1))
        document, virtual = json.loads(ended[0][0]), json.loads(run.stdout)["transport"]
        total = document["all"]
        self.assertEqual(total["payload_bytes_wrong"], 0)
        missing = virtual["payload_bytes_placed"] - total["payload_bytes_good"]
        self.assertIn(missing, [GRANT_BYTES * ranks for ranks in range(HOSTS + 1)])  # the last credits may be on their way
        self.assertEqual(total["messages_received"], virtual["messages_received"])
        self.assertEqual((total["work_done"], total["work_total"]), (HOSTS, HOSTS))
        for host, plane in itertools.product(range(HOSTS), range(PLANES)):  # as the kernel counts what each sent
            self.assertGreater(self.sent_bytes(host, plane), virtual["payload_bytes_placed"] / HOSTS / PLANES / 4)
        print(f"{HOSTS} hosts over veth: {total['resent']} of {total['data_packets']} packets sent again", flush=True)
        return total, virtual

    def test_a_ring_sends_and_completes_what_it_does_in_virtual_time(self):
        total, virtual = self.ring()
        self.assertEqual(total["payload_bytes_good"], virtual["payload_bytes_placed"])
        self.assertEqual(total["data_packets"], virtual["data_received"] + total["resent"])
        self.assertEqual(total["frames_faulted"], 0)

    def test_a_ring_with_losses_ends_with_every_byte(self):
        total, _ = self.ring(LOSS)
        self.assertGreater(total["resent"], 0)
        share = total["frames_faulted"] / total["data_packets"]  # at both ends, and of SACKs, too
        self.assertAlmostEqual(share, 0.03, delta=0.02)

    def sent_bytes(self, host, plane):
        (link,) = json.loads(ip("-n", self.hosts[host], "-j", "-s", "link", "show", f"veth{plane}"))
        return link["stats64"]["tx"]["bytes"]

    def sent_bytes_least(self, plane):
        """Of the host that sent least by this plane: what its bridge received from it."""
        links = json.loads(ip("-n", self.bridges, "-j", "-s", "link", "show", "master", f"plane{plane}"))
        self.assertEqual(len(links), HOSTS)
        return min(link["stats64"]["rx"]["bytes"] for link in links)

    def test_a_ring_outlives_one_of_its_two_planes(self):
        size, kept = 64 << 20, []

        def cut(first):
            """Plane 1 of all, once each host has sent a quarter of its share by it: hosts are up to a few steps apart."""
            until = time.monotonic() + 60
            while self.sent_bytes_least(1) < size / 4 and time.monotonic() < until:
                time.sleep(0.01)
            self.assertIsNone(first.poll())
            for host in range(HOSTS):
                ip("-n", self.bridges, "link", "set", f"port{host}-1", "down")
            kept.extend(self.sent_bytes(host, 0) for host in range(HOSTS))

        total, virtual = self.ring("", "64MiB", cut)
        self.assertGreater(total["resent"], 0)
        unsent = virtual["data_received"] + total["resent"] - total["data_packets"]  # of the last credits, a packet each
        self.assertIn(unsent * GRANT_BYTES, range(virtual["payload_bytes_placed"] - total["payload_bytes_good"] + 1))
        for host in range(HOSTS):  # what was left went by plane 0
            self.assertGreater(self.sent_bytes(host, 0) - kept[host], size / 4)

    def test_frames_go_to_addresses_for_tests_alone(self):
        for version, network in ((4, "198.18.0.0/15"), (6, "fc00::/7")):
            with self.subTest(version=version):
                words = ["ip", "netns", "exec", self.bridges, sys.executable, "-c", WATCHER]
                with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as watcher:
                    self.assertEqual(watcher.stdout.readline(), "ready\n")
                    self.ring(f"wire: {{ip: {version}}}\n", "256KiB")
                    ways = [line.split() for line in watcher.communicate()[0].splitlines()]
                self.assertEqual(len(ways), 2 * HOSTS * PLANES, ways)  # each to its neighbours, in each plane
                for address in itertools.chain(*ways):
                    self.assertIn(ipaddress.ip_address(address), ipaddress.ip_network(network))


if __name__ == "__main__":
    if not has_dpdk():
        weft.skip("built without DPDK: skipped")
    if not has_namespaces():
        weft.skip("needs root and veth: skipped")
    unittest.main()
