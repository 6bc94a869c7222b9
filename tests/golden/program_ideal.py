#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The least time of programs and of several jobs: what a closed form says of two ranks, and never above what any run takes."""
import json
import pathlib
import tempfile
import unittest

from weft import run

RUNS = [("exchange",), ("gradients",), ("jobs-mixed",), ("jobs-two-rings", "--variant", "across"), ("jobs-two-rings", "--variant", "across", "--seed", "3"),
        ("exchange", "--set", "transport.kind=rc", "--set", "cc.algorithm=dcqcn"), ("jobs-mixed", "--seed", "7"),
        ("exchange", "--set", "fabric.link_rate=400Gb/s"), ("moe-small-3-fidelities",), ("llama-small-3-fidelities",)]
GOAL = """num_ranks 5
rank 0 {
c: calc 5000
s: send 1000000b to 4
s requires c
}
rank 1 {
}
rank 2 {
}
rank 3 {
}
rank 4 {
r: recv 1000000b from 0
d: calc 7000
d requires r
}
"""

STAGES = """[ pp_stage0: [rank0, rank1] ]
comm_type,comm_group,comm_group_size,msg_size,stage,dst,src,additional,_elapsed_time,algbw,busbw,count
CommType.all_reduce,CommGroup.dp_group,2,1048576,init.model_setup,None,None,,None,None,None,1
CommType.isend,CommGroup.pp_group,,8388608,forward_step,2,None,,None,None,None,1
[ pp_stage1: [rank2, rank3] ]
comm_type,comm_group,comm_group_size,msg_size,stage,dst,src,additional,_elapsed_time,algbw,busbw,count
CommType.all_reduce,CommGroup.dp_group,2,1048576,init.model_setup,None,None,,None,None,None,1
CommType.irecv,CommGroup.pp_group,,8388608,forward_step,None,0,,None,None,None,1
"""

INSIDE = """fabric: {nics: 4, nics_per_host: 2, nics_per_t0: 2, t1_count: 1}
scaleup: {rate: 450GB/s}
traffic: {kind: flows, flows: [{from: 0, to: 1, bytes: 1MB}]}
"""


class Ideal(unittest.TestCase):
    def headline(self, *words):
        done = run("sim", *words, "--json")
        self.assertIn(done.returncode, (0, 1), (words, done.stderr))
        return json.loads(done.stdout)

    def test_never_above_a_run(self):
        found = 0
        for words in RUNS:
            result = self.headline(*words)
            of = result["headline"]
            if of["ideal_ps"] is None:
                self.assertTrue(of["ideal_ps_reason"], words)
                continue
            found += 1
            self.assertGreater(of["ideal_ps"], 0.1 * of["time_ps"], words)
            self.assertLessEqual(of["ideal_ps"], of["time_ps"], words)
        self.assertGreaterEqual(found, 7)

    def test_each_job_has_its_own(self):
        """Of two rings that cross each other's trunks: what each could take alone, and the same where it alone runs."""
        result = self.headline("jobs-two-rings", "--variant", "across")
        for job in result["jobs"]:
            self.assertTrue(0.5 * job["alone_ps"] < job["ideal_ps"] <= job["alone_ps"] <= job["time_ps"], job)
            only = self.headline("jobs-two-rings", "--variant", "across", "--set", "traffic.only=" + job["name"])["jobs"][0]
            self.assertEqual(only["ideal_ps"], job["ideal_ps"])
        mixed = {job["name"]: job for job in self.headline("jobs-mixed")["jobs"]}
        self.assertTrue(all(job["ideal_ps"] and job["ideal_ps"] <= job["alone_ps"] for job in mixed.values()), mixed)

    def test_sends_of_a_trace_with_collectives(self):
        """A stage sends 8 MiB to the next one, after an all-reduce of 1 MiB: never less than both."""
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "stages.csv")
            path.write_text(STAGES, encoding="utf-8")
            result = self.headline("--trace", str(path))
        of = result["headline"]
        self.assertGreater(of["ideal_ps"], 8388608 * 8 / result["network"]["nic_rate_bps"] * 1e12)
        self.assertLessEqual(of["ideal_ps"], of["time_ps"])

    def test_flows_inside_a_host_go_by_its_nics(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "inside.yaml")
            path.write_text(INSIDE, encoding="utf-8")
            of = self.headline(str(path))["headline"]
        self.assertTrue(0.9 * of["time_ps"] < of["ideal_ps"] <= of["time_ps"], of)

    def test_ends_with_the_last_acknowledgement(self):
        """What few messages take is nearly all latency: a flow, chains, rings and trees end where the last sender has its ACK."""
        traffics = ["kind: flows, flows: [{from: 0, to: 2, bytes: 64B}]", "kind: ring, bytes: 1MB", "kind: ring, bytes: 6B, collective: all_gather",
                    *(f"kind: collective, collective: {kind}, bytes: 48B" for kind in ("broadcast", "reduce", "send_receive", "all_reduce")),
                    "kind: collective, collective: all_reduce, algorithm: ring, bytes: 48B"]
        for nics, below in ((3, 1), (4, 2)):
            for traffic in traffics:
                with tempfile.TemporaryDirectory() as folder:
                    path = pathlib.Path(folder, "small.yaml")
                    path.write_text(f"fabric: {{nics: {nics}, nics_per_t0: {below}, t1_count: 2, planes: 1, link_rate: 400Gb/s}}\n"
                                    f"traffic: {{{traffic}}}\n", encoding="utf-8")
                    of = self.headline(str(path))["headline"]
                self.assertTrue(0.97 * of["time_ps"] < of["ideal_ps"] <= of["time_ps"], (nics, traffic, of["time_ps"], of["ideal_ps"]))

    def test_time_of_jobs_is_until_the_last_of_them(self):
        result = self.headline("jobs-mixed")
        self.assertGreaterEqual(result["headline"]["time_ps"], max(job["time_ps"] for job in result["jobs"]))

    def test_two_ranks(self):
        """5 us, a message of a megabyte over two planes of 100 Gb/s with the headers of its packets, and 7 us."""
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "two.goal")
            path.write_text(GOAL, encoding="utf-8")
            result = self.headline("exchange", "--set", f"traffic.file={path}")
        of, network = result["headline"], result["network"]
        packets = -(-1000000 // result["scenario"]["payload_bytes"])
        payload = 12e6 + 1e6 * 8 / network["nic_rate_bps"] * 1e12
        self.assertGreater(of["ideal_ps"], payload)
        self.assertLess(of["ideal_ps"], payload + packets * 200 * 8 / network["nic_rate_bps"] * 1e12 + network["base_rtt_ps"])
        self.assertLessEqual(of["ideal_ps"], of["time_ps"])
        self.assertLess(of["time_ps"], 1.2 * of["ideal_ps"])


if __name__ == "__main__":
    unittest.main()
