#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Exit statuses are those of the help: each status that a program's help names comes of a command below, and no command
ends with one that its help does not name. Output that takes nothing is status 3 of every program."""
import json
import os
import pathlib
import re
import resource
import subprocess
import tempfile
import unittest

import weft
from weft import WEFT

SMALL = """name: small
fabric: {nics: 8, nics_per_t0: 4, t1_count: 2}
traffic: {kind: permutation, bytes: 100kB}
"""
MISSES = SMALL + "expect: [{measure: goodput, formula: one_way, tolerance: 0%, bound: at_least}]\n"
BOUND = "name: p\nchecks: [{name: c, metric: goodput.total_bps, bound: at least %s, source: s}]\n"
LOG = "".join(':::MLLOG {"key": "tracked_stats", "value": {"train_step_time": 3.%d, "reduced_train_loss": 7}, "metadata": {"step": %d}}\n'
              % (1 + step % 2, step) for step in range(1, 9))
# What another test shows: a generator that is gone, several processes, frames that DPDK loses, a step without an end.
ELSEWHERE = {("sim", 4), ("emu", 4), ("gpu", 4), ("gpu", 5), ("bench", 5), ("scaling", 5), ("validate", 1)}


def statuses(program):
    """Those that the help names."""
    text = weft.run("help", program, check=True).stdout
    section = re.search(r"^EXIT STATUS\n(.*?)(?=^[A-Z]|\Z)", text, re.S | re.M)[1]
    return {int(number) for number in re.findall(r"^ {4}(\d) ", section, re.M)}


class Exits(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.room = tempfile.TemporaryDirectory()
        cls.folder = pathlib.Path(cls.room.name)
        for name, text in (("small", SMALL), ("misses", MISSES), ("met", BOUND % "1b/s"), ("high", BOUND % "900Tb/s")):
            (cls.folder / f"{name}.yaml").write_text(text, encoding="utf-8")
        (cls.folder / "log.txt").write_text(LOG, encoding="utf-8")
        for name, words in (("out", []), ("other", ["--set", "traffic.bytes=200kB"]), ("cut", ["--set", "limits.time=5us"])):
            weft.run("sim", cls.at("small.yaml"), "--quiet", *words, "--out", cls.at(name), text=False)

    @classmethod
    def tearDownClass(cls):
        cls.room.cleanup()

    @classmethod
    def at(cls, name):
        return str(cls.folder / name)

    def table(self):
        """program: {status: words}"""
        small, misses, at = self.at("small.yaml"), self.at("misses.yaml"), self.at
        cut = ["--set", "limits.time=5us"]
        return {
            "sim": {0: [small], 1: [misses], 2: ["nothing"], 5: [small, *cut]},
            "emu": {0: [small, "--ports", "memory"], 1: [misses, "--ports", "memory"], 2: ["nothing"], 5: [small, "--ports", "memory", *cut]},
            "coll": {0: ["all_reduce", "-b", "64K"], 1: None, 2: ["nothing"], 5: ["all_reduce", "-b", "64K", *cut]},
            "compare": {0: [at("out"), at("out")], 1: [at("out"), at("other"), "--within", "0"], 2: [at("out"), at("nothing")],
                        5: [at("out"), at("cut")]},
            "verdict": {0: [at("out"), "--profile", at("met.yaml")], 1: [at("out"), "--profile", at("high.yaml")], 2: [at("nothing")],
                        5: [at("cut"), "--profile", at("met.yaml")]},
            "report": {0: [at("out"), "--quiet"], 1: [at("out"), "--quiet", "--profile", at("high.yaml")], 2: [at("nothing")],
                       5: [at("cut"), "--quiet", "--profile", at("met.yaml")]},
            "topology": {0: [small], 2: ["nothing"]},
            "plan": {0: ["llama-small"], 2: ["nothing"]},
            "mllog": {0: [at("log.txt")], 1: None, 2: [at("small.yaml")]},
            "goodput": {0: ["azure-gb200-llama405b"], 2: ["nothing"]},
            "scaling": {0: ["azure-gb200-llama405b", "--racks", "112,128"], 2: ["nothing"]},
            "trace": {0: None, 2: [at("nothing")]},
            "validate": {0: ["--only", "coll"], 2: ["--only", "nothing"]},
            "validate-fabric": {0: [small, "--quick", "--only", "one-packet", "--out", at("book")],
                                1: [small, "--quick", "--only", "permutation-1", "--fault", "{kind: loss, at: all, probability: 5%}",
                                    "--out", at("failed")],
                                2: ["nothing", "--out", at("none")],
                                5: [small, "--quick", "--only", "one-packet", "--fault", "{kind: link_down, at: {nic: 0, plane: 0}}",
                                    "--out", at("stalled")]},
            "gpu": {0: None, 2: ["--play", at("nothing")]},
            "bench": {0: ["sim", "--scenario", small, "--repeat", "1"], 2: ["nothing"]},
        }

    def test_each_status_of_the_help_comes_of_a_command(self):
        for program, rows in self.table().items():
            named = statuses(program)
            told_elsewhere = {status for status in named if (program, status) in ELSEWHERE}
            with self.subTest(program=program):
                self.assertEqual(named, set(rows) | {3} | told_elsewhere)
            for status, words in rows.items():
                if words is None:
                    continue
                with self.subTest(program=program, status=status):
                    run = weft.run(program, *words)
                    self.assertEqual(run.returncode, status, f"{words}: {run.stdout[-300:]} {run.stderr}")

    @unittest.skipIf(os.environ.get("WEFT_SANITIZE"), "a sanitizer wants more addresses than the limit leaves")
    def test_memory_that_the_system_does_not_give_is_of_the_environment(self):
        """What the scenario's own limit is too little for is wrong input."""
        small = self.at("small.yaml")
        for words in (["sim", small], ["coll", "all_reduce", "-b", "64K"], ["sim", small, "--seeds", "2"], ["topology", small]):
            run = weft.run(*words, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30)))
            self.assertEqual(run.returncode, 3, f"{words}: {run.stderr}")
            self.assertRegex(run.stderr, "not enough memory|cannot reserve")
        run = weft.run("sim", small, "--set", "limits.memory=1MiB")
        self.assertEqual(run.returncode, 2, run.stderr)

    @unittest.skipIf(os.environ.get("WEFT_SANITIZE"), "a sanitizer wants more addresses than the limit leaves")
    def test_too_little_memory_is_of_the_environment_wherever_it_ends(self):
        """Neither damage of what is read nor a bug, and no draft is left. Below what the loader needs no program begins."""
        out, small = self.folder / "read", self.at("small.yaml")
        self.assertEqual(weft.run("sim", small, "--out", out).returncode, 0)
        calls = (["report", out], ["verdict", out, "--profile", "incast"], ["compare", out, out], ["sim", small, "--set", "limits.memory=16MiB"],
                 ["sim", small, "--set", "limits.memory=16MiB", "--seeds", "2", "--force", "--out", self.folder / "seeds"])
        for words in calls:
            ends = set()
            for kib in range(8000, 40000, 500):
                run = weft.run(*words, preexec_fn=lambda limit=kib << 10: resource.setrlimit(resource.RLIMIT_AS, (limit, limit)))
                if run.returncode == 127 or "shared libraries" in run.stderr or run.returncode == -11:
                    continue
                ends.add(run.returncode)
                self.assertIn(run.returncode, (0, 1, 3, 5), f"{words}: {run.stderr}")
                if run.returncode == 3:
                    self.assertRegex(run.stderr, "not enough memory|cannot reserve|Cannot allocate memory", words)  # the last of a file, which it names
                self.assertEqual([path.name for path in (*self.folder.glob(".*"), *out.glob(".*"))], [], f"{words} {kib}")
            self.assertLessEqual({3}, ends, words)

    def test_a_bad_variant_is_told_before_the_first_one_runs(self):
        variants = SMALL + "variants:\n  - {name: a, set: traffic.bytes=30kB}\n"
        for more, place in (('  - {name: b, set: "traffic.bytes=30kB fabric.planes=x"}\n', "6:54"), ("  - {name: b, set: fabric.planes=x}\n", "6:34"),
                            ("  - name: b\n    set: 'traffic.bites=1kB'\n", "7:11"), ("  - {name: b, set: traffic.kind=matrix}\n", "6:20")):
            path = self.folder / "variants.yaml"
            path.write_text(variants + more, encoding="utf-8")
            run = weft.run("sim", path)
            self.assertEqual((run.returncode, run.stdout), (2, ""), run)
            self.assertRegex(run.stderr, f"^weft sim: {re.escape(str(path))}:{place}: variants\\[\\].set: ")

    def test_files_of_a_variant_are_refused_at_its_place(self):
        files = (("traffic.kind=trace", 20, "this scenario runs a workload file"), ("seed=2 traffic.kind=trace", 27, "this scenario runs a workload file"),
                 ("seed=2 traffic.kind=matrix traffic.matrix=none.cm", 47, "none.cm: cannot be read"),
                 ("traffic.kind=trace traffic.trace=none.et", 39, "none.et: "), ("seed=3 traffic.kind=model traffic.model=none.yaml", 60, "traffic.model: none.yaml: "),
                 ("traffic.kind=trace traffic.trace=bad.goal", 39, "bad.goal:1: "))
        (self.folder / "bad.goal").write_text("what is this\n", encoding="utf-8")
        path = self.folder / "files.yaml"
        for words, column, why in files:
            path.write_text(SMALL + f"variants:\n  - {{name: a, set: traffic.bytes=30kB}}\n  - {{name: b, set: {words}}}\n", encoding="utf-8")
            for more in (["--variant", "b"], []):
                run = weft.run("sim", path, *more)
                self.assertEqual(run.returncode, 2, run)
                self.assertIn(f"{path}:6:{column}: variants[].set: ", run.stderr)
                self.assertIn(why, run.stderr)

    def test_variants_that_ran_are_shown_where_a_later_one_is_refused(self):
        path = self.folder / "variants.yaml"
        path.write_text(SMALL + "variants:\n  - {name: a, set: traffic.bytes=30kB}\n  - {name: b, set: limits.memory=1MiB}\n", encoding="utf-8")
        run = weft.run("sim", path)
        self.assertEqual(run.returncode, 2, run)
        self.assertIn("variants.yaml:6:20: variants[].set: the world does not fit into 1 MiB: raise limits.memory", run.stderr)
        self.assertRegex(run.stdout, r"variants side by side[^$]*\n  a  ")
        told = weft.run("sim", path, "--json").stdout
        self.assertEqual([one["name"] for one in json.loads(told)["variants"]], ["a"])

    def test_output_that_takes_nothing_is_an_error_of_the_environment(self):
        with open("/dev/full", "w", encoding="utf-8") as full:
            for program in self.table():
                with self.subTest(program=program):
                    run = subprocess.run([WEFT, program, "--help"], stdout=full, stderr=subprocess.PIPE, timeout=600, check=False)
                    self.assertEqual(run.returncode, 3, run.stderr)


if __name__ == "__main__":
    unittest.main()
