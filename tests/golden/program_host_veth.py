#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""weft host as a ring of three namespaces: the interfaces of each are ends of veths, which a bridge for each plane joins.

What the ring sends and completes is what it does in virtual time, every byte compared; with losses, too. The test makes and
removes what it needs. Needs DPDK, root, veth and bridges."""
import itertools
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

import weft
from weft import DONE, WEFT, has_dpdk, has_namespaces

HOSTS, PLANES = 3, 2
GRANT_BYTES = 64  # of a ring's credit, which nobody waits for at the end
LOSS = "faults: [{kind: loss, at: all, probability: 1%}]\n"
RING = f"""name: ring
fabric: {{nics: {HOSTS}, planes: {PLANES}, nics_per_t0: {HOSTS}, t1_count: 1, link_rate: 10Gb/s}}
transport: {{evs: 16}}
traffic: {{kind: ring, collective: all_reduce, bytes: 2MiB, channels: 1}}
limits: {{time: 600s}}
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

    def ring(self, more=""):
        """What all hosts of a ring came to, and what the ring does in virtual time."""
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "ring.yaml"
            path.write_text(RING + more, encoding="utf-8")
            processes = [self.start(host, path) for host in reversed(range(HOSTS))]  # who calls comes first
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
        for name, plane in itertools.product(self.hosts, range(PLANES)):  # as the kernel counts what each sent
            (link,) = json.loads(ip("-n", name, "-j", "-s", "link", "show", f"veth{plane}"))
            self.assertGreater(link["stats64"]["tx"]["bytes"], virtual["payload_bytes_placed"] / HOSTS / PLANES / 2, link)
        print(f"{HOSTS} hosts over veth: {total['resent']} of {total['data_packets']} packets sent again", flush=True)
        return total, virtual

    def test_a_ring_sends_and_completes_what_it_does_in_virtual_time(self):
        total, virtual = self.ring()
        self.assertEqual(total["payload_bytes_good"], virtual["payload_bytes_placed"])
        self.assertEqual(total["data_packets"], virtual["data_packets"] + total["resent"])
        self.assertEqual(total["frames_faulted"], 0)

    def test_a_ring_with_losses_ends_with_every_byte(self):
        total, _ = self.ring(LOSS)
        self.assertGreater(total["resent"], 0)
        share = total["frames_faulted"] / total["data_packets"]  # at both ends, and of SACKs, too
        self.assertAlmostEqual(share, 0.03, delta=0.02)


if __name__ == "__main__":
    if not has_dpdk():
        weft.skip("built without DPDK: skipped")
    if not has_namespaces():
        weft.skip("needs root and veth: skipped")
    unittest.main()
