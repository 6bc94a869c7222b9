#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What is asked for is what runs, or a program says by name what does not: options given twice, sizes that are not met, and
combinations that hide what they seem to show, in whatever way they are run."""
import json
import os
import re
import tempfile
import unittest

import weft

PROGRAMS = "sim emu coll goodput gpu compare mllog plan report scaling topology trace validate validate-fabric verdict bench".split()
MANY = {"--set", "--fault", "--tap", "--sweep", "--play", "--require", "--rate", "--config"}  # each adds to those before
VALUES = ("1", "2", "auto", "1M", "int8", "sum", "ring", "goal", "chakra", "simai", "1%", "90s", "steady", "llama-3", "nvrx-in-job", "100MB", "1:2")
FABRIC = ("name: small\nfabric: {nics: 8, nics_per_t0: 4, t1_count: 2, planes: 2, spray: adaptive}\n"
          "traffic: {kind: permutation, bytes: 20kB}\n")


def call(*words):
    return weft.run(*words)


def options(program):
    """Those of its help that take a value."""
    text = call(program, "--help").stdout.partition("\nOPTIONS\n")[2].partition("\nEXIT STATUS\n")[0]
    lines = re.findall(r"^    (-.*)$", text, re.M)
    return sorted({name for line in lines for name in re.findall(r"(--[a-z-]+) ['\"A-Z0]", line)} - MANY)


class AsAsked(unittest.TestCase):
    def test_an_option_that_is_given_twice_is_refused(self):
        silent, count = [], 0
        for program in PROGRAMS:
            for option in options(program):
                ends = [call(program, option, value, option, value) for value in VALUES[:1]]
                if "given twice" not in ends[0].stderr:
                    ends += [call(program, option, value, option, value) for value in VALUES[1:]]
                count += 1
                if not any(end.returncode == 2 and "given twice" in end.stderr for end in ends):
                    silent.append(f"{program} {option}: {ends[0].stderr.strip()}")
        self.assertGreater(count, 80)
        self.assertEqual(silent, [])

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

    def test_collectives_name_them_once(self):
        with tempfile.TemporaryDirectory() as folder:
            words = ("coll", "all_reduce", "--scenario", self.scenario(folder), "-b", "4K", "-e", "8K", "-f", "2", "--set")
            self.assertEqual(call(*words, "transport.path=reps").stderr.count("warning: path-unused"), 1)
            self.assertEqual(call(*words, "transport.path=mrc").stderr, "")

    def test_a_last_size_that_is_not_met_is_told(self):
        for step in (("-f", "2"), ("-i", "1500")):
            end = call("coll", "all_reduce", "-b", "1000", "-e", "5K", *step)
            self.assertEqual(end.returncode, 0)
            self.assertIn("weft coll: warning: -e 5120 is not reached: ", end.stderr)
            self.assertIn("the last one is 4000\n", end.stderr)
        self.assertEqual(call("coll", "all_reduce", "-b", "1K", "-e", "4K", "-f", "2").stderr, "")

    def test_a_seed_beyond_what_is_read_is_refused(self):
        for seed in ("99999999999999999999999", str(2 ** 63)):
            end = call("coll", "all_reduce", "-b", "1K", "--seed", seed)
            self.assertEqual(end.returncode, 2)
            self.assertIn("--seed is a whole number from 0 to ", end.stderr)


if __name__ == "__main__":
    unittest.main()
