#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Combinations that run and hide what they seem to show are warned about in whatever way they are run."""
import json
import os
import subprocess
import tempfile
import unittest

WEFT = os.environ["WEFT"]
FABRIC = ("name: small\nfabric: {nics: 8, nics_per_t0: 4, t1_count: 2, planes: 2, spray: adaptive}\n"
          "traffic: {kind: permutation, bytes: 20kB}\n")


def call(*words):
    return subprocess.run([WEFT, *words], capture_output=True, text=True, timeout=120)


class AsAsked(unittest.TestCase):
    def scenario(self, folder, more=""):
        path = os.path.join(folder, "small.yaml")
        with open(path, "w", encoding="utf-8") as to:
            to.write(FABRIC + more)
        return path

    def test_a_study_names_the_warnings_of_each_point(self):
        with tempfile.TemporaryDirectory() as folder:
            path, sweep = self.scenario(folder), ("--sweep", "transport.path=mrc,reps,rotate,single")
            study = json.loads(call("sim", path, *sweep, "--json").stdout)
            warned = {point["name"]: point.get("warnings", []) for point in study["points"]}
            self.assertEqual(warned, {"transport.path=mrc": [], "transport.path=reps": ["path-unused"],
                                      "transport.path=rotate": ["path-unused"], "transport.path=single": []})
            digests = [run["digest"] for run in study["runs"]]
            self.assertEqual(digests[1], digests[2])  # they are one
            self.assertNotIn(digests[3], digests[:3])
            self.assertIn("\nWARNING path-unused: reps, rotate\n", call("sim", path, *sweep).stdout)
            seeds = call("sim", path, "--set", "transport.path=reps", "--seeds", "2", "--out", folder + "/out")
            self.assertIn("\nWARNING path-unused\n", seeds.stdout)
            call("report", folder + "/out")
            with open(folder + "/out/report.html", encoding="utf-8") as page:
                self.assertIn("Warning: all: path-unused", page.read())

    def test_variants_side_by_side_name_their_warnings(self):
        with tempfile.TemporaryDirectory() as folder:
            path = self.scenario(folder, "variants:\n  - {name: own}\n  - {name: other, set: transport.path=reps}\n")
            self.assertIn("\nWARNING path-unused: other\n", call("sim", path).stdout)
            sides = json.loads(call("sim", path, "--json").stdout)["variants"]
            self.assertEqual([side.get("warnings", []) for side in sides], [[], ["path-unused"]])


if __name__ == "__main__":
    unittest.main()
