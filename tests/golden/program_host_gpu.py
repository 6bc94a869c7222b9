#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""weft host --gpu: gradients that generators make leave through the ports of each host, and what comes is right."""
import json
import os
import subprocess
import time
import unittest

import weft
from weft import BAD_INPUT, DONE, PEER_LOST, SOURCE, WEFT, has_dpdk, has_namespaces

BUCKET, BUCKETS, SLICES, STEPS, ELEMENT, RANKS, PLANES = 32768, 2, 2, 3, 2, 4, 2
SETS = [word for key, value in (("traffic.buckets", BUCKETS), ("traffic.bytes", f"{BUCKET}B"), ("transport.rto", "300ms"), ("transport.hole_age", "30ms"))
        for word in ("--set", f"{key}={value}")]


@unittest.skipUnless(has_dpdk(), "built without DPDK")
class Generators(weft.InMemory):
    count = 0

    def setUp(self):
        super().setUp()
        Generators.count += 1
        self.name = f"host-gpu-{os.getpid()}-{Generators.count}"
        self.spaces = []  # of hosts whose ports are interfaces

    def link(self, rank):
        return self.folder / f"link-{rank}"

    def host(self, rank, ranks, *words, gpu=True):
        link = ["--gpu", self.link(rank)] if gpu else []
        words = ["host", "gradients", "--rank", rank, "--ranks", ranks, "--meet", self.name, "--json", *SETS, *link, *words]
        if not self.spaces:
            return self.start(*words)
        ports = [word for plane in range(PLANES) for word in ("--port", f"v{plane}")]
        self.started.append(subprocess.Popen([*map(str, ["ip", "netns", "exec", self.spaces[rank], WEFT, *words, *ports])], stdout=subprocess.PIPE,
                                             stderr=subprocess.PIPE, text=True))
        return self.started[-1]

    def gpu(self, rank):
        return self.start("gpu", "--link", self.link(rank), "--json")

    def end(self, process, status=DONE):
        out, err = process.communicate(timeout=100)
        self.assertEqual(process.returncode, status, (out[-300:], err))
        return out, err

    def run_whole(self, hosts, *words, ranks=RANKS):
        sets = ["--set", f"traffic.steps={STEPS}", *words]
        generators = [self.gpu(rank) for rank in range(hosts)]
        processes = [self.host(rank, hosts, *sets) for rank in range(hosts)]
        told = [rank for one in generators for rank in json.loads(self.end(one)[0])["ranks"]]
        result = json.loads([self.end(one)[0] for one in processes][0])
        elements = BUCKETS * BUCKET // ELEMENT
        each = STEPS * (elements * (ranks - 1) // ranks + elements)
        self.assertEqual([(rank["elements_wrong"], rank["elements_checked"], rank["releases"]) for rank in told],
                         [(0, each, STEPS * BUCKETS * SLICES)] * ranks)
        total, gpu = result["all"], result["gpu"]
        self.assertEqual((total["generated_elements"], total["generated_wrong"]), (each * ranks, 0))
        self.assertEqual((gpu["ranks"], gpu["releases"]), (ranks // hosts, ranks // hosts * STEPS * BUCKETS * SLICES))
        self.assertEqual(total["work_done"], total["work_total"])
        # memif and af_packet read payload where the generator has it: each packet of host 0 is one that nothing copied
        self.assertEqual(gpu["frames_in_place"], result["hosts"][0]["data_packets"])
        self.assertEqual(list(self.folder.iterdir()), [])
        return result

    def test_sums_are_right(self):
        result = self.run_whole(RANKS)
        self.assertEqual(result["all"]["payload_bytes_good"], STEPS * BUCKETS * 2 * BUCKET * (RANKS - 1))
        self.assertGreaterEqual(result["all"]["end_ps"], STEPS * ((20 + 40) * BUCKETS + 20) * 10**6)  # nothing goes before its time

    def ip(self, *words):
        subprocess.run(["ip", *words], check=True, capture_output=True, timeout=60)

    @unittest.skipUnless(has_namespaces(), "needs root and veth")
    def test_sums_are_right_over_interfaces(self):
        """Two hosts in namespaces of their own, a cable for each plane, and TCP over the first one."""
        self.spaces, self.name = [f"weft-gpu-{end}-{os.getpid()}" for end in "ab"], "198.18.0.1:7000"
        for name in self.spaces:
            self.ip("netns", "add", name)
            self.addCleanup(subprocess.run, ["ip", "netns", "del", name], check=False)
        for plane in range(PLANES):
            self.ip("-n", self.spaces[0], "link", "add", f"v{plane}", "type", "veth", "peer", "name", f"v{plane}", "netns", self.spaces[1])
            for name in self.spaces:
                self.ip("-n", name, "link", "set", f"v{plane}", "mtu", "9000", "up")
        for index, name in enumerate(self.spaces):
            self.ip("-n", name, "addr", "add", f"198.18.0.{index + 1}/24", "dev", "v0")
        result = self.run_whole(2, "--set", "fabric.nics=2", ranks=2)
        self.assertEqual((result["all"]["payload_bytes_good"], result["all"]["payload_bytes_wrong"]), (STEPS * BUCKETS * 2 * BUCKET, 0))

    def test_two_ranks_of_a_host_share_its_link(self):
        result = self.run_whole(2, "--set", "fabric.nics_per_host=2", "--set", "scaleup.rate=400Gb/s")
        self.assertLess(result["all"]["payload_bytes_good"], STEPS * BUCKETS * 2 * BUCKET * (RANKS - 1))  # the rest stays inside hosts

    def test_losses_are_sent_again_from_the_link(self):
        path = self.folder / "lossy.yaml"
        path.write_text((SOURCE / "apps/scenarios/gradients.yaml").read_text(encoding="utf-8")
                        + "faults: [{kind: loss, at: all, probability: 2%}]\n", encoding="utf-8")
        sets = [*SETS, "--set", f"traffic.steps={STEPS}"]
        generators = [self.gpu(rank) for rank in range(RANKS)]
        hosts = [self.start("host", path, "--rank", rank, "--ranks", RANKS, "--meet", self.name, "--json", *sets, "--gpu", self.link(rank))
                 for rank in range(RANKS)]
        for one in generators:
            self.end(one)
        total = json.loads([self.end(one)[0] for one in hosts][0])["all"]
        self.assertGreater(total["resent"], 0)
        self.assertEqual(total["generated_wrong"], 0)

    def wait_for_link(self, host, is_there):
        while self.link(2).exists() != is_there:
            self.assertIsNone(host.poll(), host)
            time.sleep(0.01)

    def test_a_generator_that_is_killed_is_missed(self):
        hosts = [self.host(rank, RANKS, "--set", "traffic.steps=4000") for rank in range(RANKS)]
        for rank in (0, 1, 3):
            self.gpu(rank)
        self.wait_for_link(hosts[2], True)
        killed = self.gpu(2)
        self.wait_for_link(hosts[2], False)  # its name goes when the generator is there
        killed.kill()
        _, said = self.end(hosts[2], PEER_LOST)
        self.assertIn("the generator of rank 2 is gone: its process has ended", said)
        for rank in (0, 1, 3):
            self.end(hosts[rank], PEER_LOST)

    def test_a_generator_that_does_not_come(self):
        hosts = [self.host(rank, RANKS, "--timeout", "2") for rank in range(RANKS)]
        for rank in range(1, RANKS):
            self.gpu(rank)
        _, said = self.end(hosts[0], PEER_LOST)
        self.assertIn("1 of 1 ranks have no generator (weft gpu), and --timeout, 2 s, is over", said)
        for rank in range(1, RANKS):
            self.end(hosts[rank], PEER_LOST)

    def test_all_or_none(self):
        hosts = [self.host(rank, RANKS, gpu=rank != 3) for rank in range(RANKS)]
        said = [self.end(one, BAD_INPUT)[1] for one in hosts]
        self.assertIn("--gpu where others have none", said[0])

    def test_words(self):
        for words, says in ((["--listen", "x"], "only ranks of a scenario take '--gpu'"),
                            (["two-planes", "--rank", "0", "--ranks", "8", "--meet", "x"], "--gpu has no effect here; it needs traffic.kind gradients")):
            _, said = self.end(self.start("host", *words, "--gpu", self.link(0)), BAD_INPUT)
            self.assertIn(says, said)
            self.assertFalse(self.link(0).exists())


if __name__ == "__main__":
    unittest.main()
