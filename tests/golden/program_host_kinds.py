#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""weft host with each kind of traffic that a scenario may have, over two hosts and more: messages and bytes are those of weft sim. Those
of a ring, a matrix, GOAL, a trace and jobs have files of their own beside this one."""
import json
import re
import unittest

import program_host_matrix
import weft
from weft import BAD_INPUT, DONE, SOURCE

SCENARIO = """name: kinds
fabric: {nics: %u, nics_per_host: %u, planes: 3, nics_per_t0: %u, t1_count: 2, link_rate: 25Gb/s}
%stransport: {evs: 24, payload: 2048B}
traffic: {%s}
limits: {time: 600s}
"""
SCALEUP = "scaleup: {rate: 100GB/s}\n"
JOB = """name: own
model: {layers: 2, hidden: 256, heads: 4, ffn: 512, vocab: 1000}
cut: {tp: 1, dp: 4}
step: {micro_batches: 2, sequence: 64}
times: {forward: 2ms, backward: 4ms}
"""
ELSEWHERE = {"ring", "matrix", "goal", "trace", "jobs"}
KINDS = {  # of hosts with one NIC each
    "flows": (2, "flows: [{from: 0, to: 1, bytes: 77777B}, {from: 1, to: 0, bytes: 300kB, start: 2ms}]"),
    "permutation": (3, "bytes: 123kB"),
    "incast": (4, "senders: 3, bytes: 100kB"),
    "outcast": (3, "receivers: 2, bytes: 100kB"),
    "all_to_all": (3, "bytes: 50001B"),
    "tornado": (4, "bytes: 100kB"),
    "butterfly": (4, "bytes: 100kB"),
    "collective": (3, "collective: all_gather, bytes: 333KiB"),
    "model": (4, "model: ./own.yaml"),
    "gradients": (3, "bytes: 600kB, buckets: 2, backward: 1ms"),
}


class Kinds(program_host_matrix.Hosts):
    def scenario(self, hosts, traffic, per_host=1, scaleup=""):
        self.write("own.yaml", JOB)
        return self.write("kinds.yaml", SCENARIO % (hosts * per_host, per_host, hosts * per_host, scaleup, traffic))

    def test_none_is_left_out(self):
        with open(f"{SOURCE}/docs/scenario.md", encoding="utf-8") as file:
            row = re.search(r"^\| `traffic\.kind` \| word \| `required` \| (.*)\. \|$", file.read(), re.M).group(1)
        self.assertEqual(set(re.sub(r" \([^)]*\)", "", row).split(", ")), ELSEWHERE | set(KINDS))

    def test_each(self):
        for kind, (hosts, keys) in KINDS.items():
            with self.subTest(kind=kind):
                total = self.both(hosts, self.scenario(hosts, f"kind: {kind}, {keys}"))
                self.assertGreater(total["payload_bytes_good"], 0)

    def test_what_no_packets_stand_for_is_said(self):
        """Replicas share a host, stages lie in two: packets run what replicas tell each other, so none leaves a host."""
        path = self.scenario(2, "kind: model, model: ./own.yaml", 2, SCALEUP)
        self.write("own.yaml", JOB.replace("tp: 1, dp: 4", "pp: 2, dp: 2"))
        self.assertEqual(self.both(2, path)["messages_sent"], 0)
        says = "not in this run: messages of pp between hosts; weft plan has them\n"
        self.assertIn(says, weft.run("sim", path, check=True).stdout)
        for is_json in (False, True):
            process, other = self.start_hosts(2, [path] * 2, is_json=is_json)
            out, err = process.communicate(timeout=120)
            other.communicate(timeout=120)
            self.assertEqual(process.returncode, DONE, err)
            if is_json:
                self.assertEqual(json.loads(out)["not_run"], ["pp"])
            else:
                self.assertIn("nothing left the hosts: all that was sent stayed inside them\n" + says, out)

    def test_collectives_of_hosts_with_two_nics(self):
        for algorithm in ("ring", "double_tree", "halving_doubling", "hierarchical"):
            with self.subTest(algorithm=algorithm):
                keys = f"kind: collective, collective: all_reduce, algorithm: {algorithm}, bytes: 111KiB"
                self.assertGreater(self.both(2, self.scenario(2, keys, 2, SCALEUP))["payload_bytes_good"], 0)

    def test_what_is_refused_says_where(self):
        for keys, per_host, says in (
                ("kind: collective, collective: all_to_all, messages: made, bytes: 1MiB", 1, "traffic.messages: a host has to know all messages"),
                ("kind: model, model: ./own.yaml", 2, "kinds.yaml: GPU 0 and GPU 1 of one host talk, and nothing joins them")):
            for process in self.start_hosts(2, [self.scenario(2, keys, per_host)] * 2):
                out, err = process.communicate(timeout=120)
                self.assertEqual((process.returncode, out), (BAD_INPUT, ""), err)
                self.assertIn(says, err)


if __name__ == "__main__":
    weft.skip_without_dpdk()
    unittest.main()
