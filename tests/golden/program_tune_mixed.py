#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Mixed traffic, traffic.beside and +mixed of weft tune, beside traffic of each kind: each NIC sends so much more and all of it is
placed, in any windows; the study has the runs of weft sim; what jobs count is theirs alone; what steps, samples and lists do not
say of it is refused. Without SQLite: skipped."""
import json
import re
import sqlite3
import unittest

import program_tune
import weft
from program_tune import BAD_INPUT

NICS, BESIDE = 16, ["--set", "traffic.beside=30kB"]
FABRIC = "fabric: {nics: 16, planes: 2, nics_per_t0: 8, t1_count: 4}\n"
HOSTS = "fabric: {nics: 16, nics_per_host: 2, planes: 2, nics_per_t0: 8, t1_count: 4}\nscaleup: {rate: 450GB/s}\n"
GOAL = "num_ranks 2\nrank 0 {\nl1: send 60000b to 1\nl2: calc 5\nl2 requires l1\n}\nrank 1 {\nl1: recv 60000b from 0\n}\n"
SIMAI = """HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: 2 ep: 1 pp: 1 vpp: 1 ga: 1 all_gpus: 16
3
gather\t-1\t1\tNONE\t0\t1\tNONE\t0\t1\tALLGATHER\t1048576\t100
reduce\t-1\t1\tNONE\t0\t1\tNONE\t0\t1\tREDUCESCATTER\t2097152\t100
layer\t-1\t10\tALLREDUCE\t4096\t1\tNONE\t0\t5\tNONE\t0\t100
"""
MATRIX = "Nodes 16\nConnections 3\nTriggers 1\n0->12 id 1 start 0 size 409600 recv_done_trigger 1\n5->1 id 2 trigger 1 size 409600\n" \
         "9->3 id 3 start 5 size 409600\ntrigger id 1 oneshot\n"
JOBS = HOSTS + """traffic: {kind: jobs}
jobs:
  - {name: rings, kind: ring, collective: all_reduce, bytes: 1MB, ranks: 8, per_host: 1}
  - {name: pairs, kind: collective, collective: all_to_all, bytes: 1MB, ranks: 4, per_host: 1, placement: random, repeats: 2}
"""
# Each with the messages that are flows of its own.
KINDS = {"permutation": (FABRIC + "traffic: {kind: permutation, bytes: 200kB}\n", 16),
         "incast": (FABRIC + "traffic: {kind: incast, senders: 5, bytes: 200kB}\n", 5),
         "outcast": (FABRIC + "traffic: {kind: outcast, receivers: 5, bytes: 200kB}\n", 5),
         "tornado": (FABRIC + "traffic: {kind: tornado, bytes: 200kB}\n", 16),
         "all_to_all": (FABRIC + "traffic: {kind: all_to_all, bytes: 20kB}\n", 240),
         "butterfly": (FABRIC + "traffic: {kind: butterfly, bytes: 200kB}\n", 64),
         "flows": (FABRIC + "traffic: {kind: flows, flows: [{from: 0, to: 12, bytes: 1MB, evs: 4}, {from: 5, to: 1, bytes: 1MB, start: 9us}]}\n", 2),
         "matrix": (FABRIC + "traffic: {kind: matrix, matrix: triggers.cm}\n", 3),
         "goal": (FABRIC + "traffic: {kind: goal, file: pair.goal}\n", 0),
         "ring": (FABRIC + "traffic: {kind: ring, collective: all_reduce, bytes: 1MiB}\n", 0),
         "collective": (FABRIC + "traffic: {kind: collective, collective: all_reduce, bytes: 1MiB}\n", 0),
         "model": (HOSTS + "traffic: {kind: model, model: llama-small}\n", 0),
         "trace": (HOSTS + "traffic: {kind: trace, trace: simai.txt}\n", 0),
         "gradients": (FABRIC + "traffic: {kind: gradients, bytes: 256KiB, buckets: 2, slices: 2, element: 2B, steps: 2, forward: 20us, backward: 40us, update: 20us}\n", 0),
         "jobs": (JOBS, 0)}


class Mixed(program_tune.Room):
    def setUp(self):
        super().setUp()
        for name, text in (("pair.goal", GOAL), ("simai.txt", SIMAI), ("triggers.cm", MATRIX)):
            (self.folder / name).write_text(text, encoding="utf-8")
        for kind, (text, _) in KINDS.items():
            (self.folder / f"{kind}.yaml").write_text(f"name: {kind}\n{text}limits: {{time: 1s}}\n", encoding="utf-8")

    def run_of(self, kind, *words):
        return json.loads(self.sim(f"{kind}.yaml", "--json", "--seed", "1", *words))

    def test_every_kind(self):
        said = self.sim("incast.yaml", "--set", "traffic.kind=none", status=BAD_INPUT)
        self.assertEqual(set(re.findall(r"\w+", said.split("it may be:", 1)[1])), set(KINDS))
        for kind, (_, flows) in KINDS.items():
            with self.subTest(kind):
                alone, mixed = self.run_of(kind), self.run_of(kind, *BESIDE)
                windows = self.run_of(kind, *BESIDE, "--set", "limits.window=71ns")
                self.assertEqual(windows["run"]["digest"], mixed["run"]["digest"])
                self.assertEqual((mixed["flows"]["count"], (alone["flows"] or {"count": 0})["count"]), (flows + NICS, flows))
                self.assertEqual(mixed["goodput"]["payload_bytes"] - alone["goodput"]["payload_bytes"], NICS * 30000)
                self.assertEqual((mixed["goodput"]["nics_sending"], mixed["goodput"]["nics_receiving"]), (NICS, NICS))
                self.assertEqual(len(mixed["collectives"] or []), len(alone["collectives"] or []))

    def test_the_study_has_the_runs_of_weft_sim(self):
        suite = [f"{kind}.yaml+mixed" for kind in KINDS]
        for first in range(0, len(suite), 8):  # no more go together
            part = suite[first:first + 8]
            self.weft(*part, "--aim", "done_s", *program_tune.KNOBS, "--race-seeds", "3", "--fresh-seeds", "2", "--budget", "900", "--study", f"{first}.tune", status=None)
            with sqlite3.connect(self.folder / f"{first}.tune") as store:
                rows = dict(store.execute("SELECT scenario, digest FROM runs WHERE setting = 'default' AND seed = 1"))
                facts = dict(store.execute("SELECT name, value FROM facts WHERE name LIKE 'fabric.%'"))
            for i, name in enumerate(part):
                bdp_bytes = float(facts[f"fabric.{i}"].split()[1])
                alone = self.run_of(name.removesuffix(".yaml+mixed"), "--set", f"traffic.beside={4 * bdp_bytes:.0f}B")
                self.assertEqual(alone["run"]["digest"], rows[name], name)

    def test_what_jobs_send_is_theirs_alone(self):
        """Where nothing is lost, a job sends over the fabric what it sends without the messages beside."""
        lossless = ["--set", "queue.pfc=true", "--set", "queue.bytes=20MB"]
        alone, mixed = ({job["name"]: job["fabric_bytes"] for job in self.run_of("jobs", *lossless, *more)["jobs"]} for more in ([], BESIDE))
        self.assertEqual(mixed, alone)

    def test_what_is_late_beside(self):
        """A straggler has computations to be late with, whatever runs beside them."""
        late = ["--fault", "{kind: straggler, at: {host: 0}, rate: 50%}"]
        times = [self.run_of("gradients", *BESIDE, *more)["run"]["last_completion_ps"] for more in ([], late)]
        self.assertGreater(times[1], times[0])

    def test_what_does_not_go_with_it(self):
        for kind, words, said in (("ring", ["--fast-forward", "steady"], "does not go with traffic.beside"),
                                  ("ring", ["--sample", "steps=3"], "a sample leaves out what traffic.beside would meet"),
                                  ("model", ["--sample", "steps=3"], "a sample leaves out what traffic.beside would meet"),
                                  ("model", ["--fidelity", "model"], "--fidelity does not go with traffic.beside"),
                                  ("goal", ["--export", "goal", "--out", "out"], "messages of traffic.beside are in no list"),
                                  ("collective", ["--set", "traffic.messages=made"], "traffic.beside has no effect here; it needs traffic.messages stored")):
            self.assertIn(said, self.sim(f"{kind}.yaml", *BESIDE, *words, status=BAD_INPUT))


if __name__ == "__main__":
    weft.skip_when_sanitized()
    program_tune.skip_without_sqlite()
    unittest.main()
