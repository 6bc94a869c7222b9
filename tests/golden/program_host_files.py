#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""weft host with traces whose groups lie across hosts, with jobs that stand in files, and with a topology that does: what arrives is
what weft sim says, and hosts whose files differ do not begin."""
import unittest

import program_host_matrix
import weft
from program_host_matrix import SCENARIO
from program_trace_members import ELEMENTS, all_reduce, chakra
from weft import BAD_INPUT

NEAR, FAR = {"0": [0, 1], "1": [2, 3]}, {"0": [0, 2], "1": [1, 3]}
GOAL = "num_ranks 2\nrank 0 {\na: send 30000b to 1\nb: recv %ub from 1\nb requires a\n}\nrank 1 {\na: recv 30000b from 0\nb: send %ub to 0\nb requires a\n}\n"
JOBS = """jobs:
  - {name: text, kind: goal, file: own.goal, ranks: 2, placement: list, nics: 0 3}
  - {name: nodes, kind: trace, file: trace, ranks: 2, placement: list, nics: 1 2, repeats: 2}
  - {name: ring, kind: ring, bytes: 100kB, ranks: 4, placement: list, nics: 4-7}
"""
TREE = "Nodes 4\nTiers 2\nPodsize 4\nTier 0\nDownlink_speed_Gbps 10\nRadix_Down 2\nRadix_Up 2\nDownlink_Latency_ns 500\n" \
       "Tier 1\nDownlink_speed_Gbps 10\nRadix_Down 2\nDownlink_Latency_ns %u\n"


class Files(program_host_matrix.Hosts):
    def trace(self, groups, name="trace", ranks=4):
        """Each rank's group is where it is in `groups`, which are lists of ranks by name."""
        own = {rank: [group for group, members in groups.items() if rank in members] for rank in range(ranks)}
        return chakra(self.folder, name, {rank: [all_reduce(at, pg_name=group) for at, group in enumerate(own[rank])] for rank in own}, groups)

    def differ(self, hosts, write):
        """Hosts that have what `write` writes of 0, and of 1 at the last of them, do not begin."""
        top, paths = self.folder, []
        for kind in range(2):
            self.folder = top / f"host {kind}"
            self.folder.mkdir()
            paths.append(write(kind))
        self.folder = top
        for process in self.start_hosts(hosts, [paths[0]] * (hosts - 1) + [paths[1]]):
            out, err = process.communicate(timeout=120)
            self.assertEqual((process.returncode, out), (BAD_INPUT, ""), err)
            self.assertIn("has another scenario", err)

    def test_groups_of_a_trace_lie_across_hosts(self):
        def write(kind):
            self.trace((FAR, NEAR)[kind])
            return self.write("t.yaml", SCENARIO % (4, 4, "kind: trace, trace: trace"))

        total = self.both(4, write(0))
        self.assertGreater(total["payload_bytes_good"], 4 * 4 * ELEMENTS)
        self.differ(4, write)

    def test_jobs_in_files(self):
        def write(kind):
            self.trace({"0": [0, 1]}, ranks=2)
            self.write("own.goal", GOAL % ((9000 + kind,) * 2))
            return self.write("j.yaml", SCENARIO % (8, 8, "kind: jobs") + JOBS)

        self.both(8, write(0))
        self.differ(8, write)

    def test_what_a_job_names_and_is_not_there(self):
        path = self.write("j.yaml", SCENARIO % (8, 8, "kind: jobs") + JOBS)
        run = weft.run("host", path, "--rank", "0", "--ranks", "8", "--meet", "nobody", timeout=60)
        self.assertEqual((run.returncode, run.stdout), (BAD_INPUT, ""), run.stderr)
        self.assertIn("own.goal: cannot be read", run.stderr)

    def test_a_topology_in_a_file(self):
        def write(kind):
            self.write("tree.topo", TREE % (500 + kind))
            return self.write("f.yaml", "fabric: {topology: file, file: tree.topo, nics: 4, planes: 1, link_rate: 10Gb/s}\ntransport: {evs: 16}\n"
                              "traffic: {kind: all_to_all, bytes: 20kB}\nlimits: {time: 600s}\n")

        self.both(4, write(0))
        self.differ(4, write)


if __name__ == "__main__":
    weft.skip_without_dpdk()
    unittest.main()
