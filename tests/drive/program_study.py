#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""weft sim --seeds, --sweep: each run is the run that its seed and keys give alone, however many run at once; what changes
nothing is called flat; what is wrong is refused with nothing written; what is interrupted leaves what there is."""
import csv
import json
import signal
import statistics
import unittest

import weft
from weft import BAD_INPUT, DONE, MISSED, NOT_VALID, wait_for_work

SMALL = """name: small
fabric: {nics: 8, planes: 2, nics_per_t0: 4, t1_count: 2}
traffic: {kind: permutation, bytes: 100kB}
"""
TWO = SMALL + """variants:
  - {name: rotate}
  - {name: single, set: transport.path=single}
expect:
  - {measure: ratio, run: single, to: rotate, formula: equal, bound: at_most, tolerance: 0%}
"""
LOSING = SMALL + "faults: [{kind: link_down, at: {nic: 3, plane: 0}, from: 1us}, {kind: link_down, at: {nic: 3, plane: 1}, from: 1us}]\n"


class Study(weft.InFolder):
    def setUp(self):
        super().setUp()
        self.out = self.folder / "out"

    def file(self, text):
        path = self.folder / "input.yaml"
        path.write_text(text, encoding="utf-8")
        return path

    def weft(self, text, *words, status=DONE):
        run = weft.run("sim", self.file(text), *words)
        self.assertEqual(run.returncode, status, run.stderr)
        return run

    def study(self, text, *words, status=DONE):
        return json.loads(self.weft(text, "--json", *words, status=status).stdout)

    def test_each_run_is_the_run_that_its_seed_gives_alone(self):
        study = self.study(SMALL, "--seed", 5, "--seeds", 3)
        self.assertEqual([run["seed"] for run in study["runs"]], ["5", "6", "7"])
        for run in study["runs"]:
            alone = json.loads(self.weft(SMALL, "--json", "--seed", run["seed"]).stdout)
            self.assertEqual(run["digest"], alone["run"]["digest"])
            self.assertAlmostEqual(run["figures"]["goodput_bps"], alone["goodput"]["per_nic_bps"], delta=1)
            self.assertAlmostEqual(run["figures"]["done_s"] * 1e12, alone["run"]["last_completion_ps"], delta=1)
        values = [run["figures"]["done_s"] for run in study["runs"]]
        figure = next(figure for figure in study["figures"] if figure["name"] == "done_s")["points"][0]
        self.assertAlmostEqual(figure["mean"], statistics.mean(values), delta=1e-13)
        self.assertAlmostEqual(figure["sd"], statistics.stdev(values), delta=1e-13)
        half = 4.30265273 * statistics.stdev(values) / 3 ** 0.5
        self.assertAlmostEqual(figure["high"] - figure["mean"], half, delta=1e-13)

    def test_several_at_once_come_to_the_same(self):
        losing = TWO.replace("at_most", "at_least")
        alone = self.weft(losing, "--seeds", 4, status=MISSED)
        self.assertIn("MISSED", alone.stdout)
        for jobs in (2, 7):
            run = self.weft(losing, "--seeds", 4, "--jobs", jobs, status=MISSED)
            self.assertEqual((run.stdout, run.stderr), (alone.stdout, alone.stderr))

    def test_variants_are_compared_and_expectations_hold_for_each_seed(self):
        study = self.study(TWO, "--seeds", 4, "--set", "traffic.bytes=1MB", "--jobs", 2)
        self.assertEqual([point["name"] for point in study["points"]], ["rotate", "single"])
        goodput = study["figures"][0]
        self.assertEqual(goodput["name"], "goodput_bps")
        self.assertEqual(goodput["points"][1]["from_first"]["verdict"], "differs")
        self.assertLess(goodput["points"][1]["from_first"]["high"], 0)
        self.assertEqual((study["expect"][0]["runs"], study["expect"][0]["inside"]), (4, 4))

    def test_one_variant_alone_is_one_point(self):
        study = self.study(TWO, "--seeds", 2, "--variant", "single")
        digest = json.loads(self.weft(TWO, "--variant", "single", "--json").stdout)["run"]["digest"]
        self.assertEqual((len(study["points"]), study["runs"][0]["digest"]), (1, digest))

    def test_a_key_without_effect_is_flat(self):
        words = ["--sweep", "transport.path_retry=3ms,5ms", "--sweep", "traffic.bytes=100kB,200kB"]
        study = self.study(SMALL, *words)
        self.assertEqual([sweep["effect"] for sweep in study["sweeps"]], ["nothing", "changes"])
        self.assertEqual([point["values"] for point in study["points"]],
                         [{"transport.path_retry": retry, "traffic.bytes": size} for retry in ("3ms", "5ms")
                          for size in ("100kB", "200kB")])
        table = self.weft(SMALL, *words).stdout
        self.assertIn("transport.path_retry, 3ms to 5ms: flat: key has no effect on any figure in this range", table)
        self.assertIn("traffic.bytes, 100kB to 200kB: changes figures", table)
        self.assertEqual([line for line in table.split("\n") if len(line) > 100 and ": flat: " not in line], [])
        alone = json.loads(self.weft(SMALL, "--json", "--set", "transport.path_retry=5ms", "--set",
                                     "traffic.bytes=200kB").stdout)
        self.assertEqual(study["runs"][3]["digest"], alone["run"]["digest"])

    def test_files_hold_what_is_printed(self):
        printed = self.study(TWO, "--seeds", 3, "--sweep", "traffic.bytes=1MB,2MB", "--out", self.out)
        self.assertEqual(json.loads((self.out / "study.json").read_text(encoding="utf-8")), printed)
        with open(self.out / "runs.csv", newline="", encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
        self.assertEqual(len(rows), 12)
        for row, run in zip(rows, printed["runs"]):
            self.assertEqual((row["seed"], row["digest"]), (run["seed"], run["digest"]))
            self.assertEqual(float(row["done_s"]), run["figures"]["done_s"])
        with open(self.out / "study.csv", newline="", encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
        self.assertEqual(len(rows), 4 * (len(printed["figures"]) + len(printed["missing"])))
        missing = {one["name"]: one["reason"] for one in printed["missing"]}
        self.assertEqual(missing["busbw_bps"], "no collective, not all ended, or a stated error above 10 %")
        for row in rows:
            self.assertEqual(row["reason"], missing.get(row["figure"], ""))
            self.assertEqual(row["mean"] == "", row["figure"] in missing)
        self.assertEqual((rows[3]["variant"], rows[3]["traffic.bytes"], rows[3]["runs"]), ("single", "2MB", "3"))
        self.assertEqual(sorted(path.name for path in self.out.iterdir()), ["manifest.json", "runs.csv", "study.csv", "study.json"])
        again = self.weft(TWO, "--seeds", 2, "--set", "traffic.bytes=1MB", "--out", self.out, "--force")  # an earlier study is replaced
        self.assertEqual(again.stderr, "")

    def test_what_is_wrong_is_refused_before_anything_runs(self):
        for words, says in (
                (["--seeds", "1"], "--seeds is a whole number from 2 to 10000, not '1'"),
                (["--seeds", "x"], "not 'x'"),
                (["--seeds", "3", "--jobs", "0"], "--jobs is a whole number from 1 to 64"),
                (["--jobs", "2"], "--jobs needs --seeds or --sweep"),
                (["--sweep", "traffic.bytes"], "two values"),
                (["--sweep", "traffic.bytes=1MB"], "two values"),
                (["--sweep", "traffic.bytes=1MB,1MB"], "given twice"),
                (["--sweep", "traffic.bytes=1MB,,2MB"], "empty"),
                (["--sweep", "traffic.bytes=1MB,2MB", "--sweep", "traffic.bytes=3MB,4MB"], "swept twice"),
                (["--sweep", "traffic.bytes=1MB,2"], "--sweep: traffic.bytes: `2` has no unit"),
                (["--sweep", "traffic.byte=1MB,2MB"], "did you mean traffic.bytes"),
                (["--sweep", "transport.path=rotate,single"], "is set twice"),
                (["--sweep", "seed=1,2", "--seeds", "2"], "are the same"),
                (["--seeds", "2", "--pcap", self.folder / "a.pcapng"], "are of one"),
                (["--sweep", "limits.memory=1MiB,1GiB"], "raise limits.memory (run: rotate limits.memory=1MiB, seed 1)"),
                (["--seeds", "2", "--set", "limits.memory=1MiB", "--jobs", "1"], "(run: rotate, seed 1)")):
            variants = TWO.replace("{name: rotate}", "{name: rotate, set: transport.path=rotate}")
            run = self.weft(variants, *words, "--out", self.out, status=BAD_INPUT)
            self.assertIn(says, run.stderr)
            self.assertEqual((run.stdout, run.stderr.count("\n")), ("", 1))
            self.assertFalse(self.out.exists(), words)

    def test_values_that_do_not_go_together_are_left_out(self):
        lows, highs = ["--sweep", "queue.ecn_low=60kB,10kB,30kB"], ["--sweep", "queue.ecn_high=20kB,40kB"]
        words = [*lows, *highs, "--seeds", 2]
        study = self.study(SMALL, *words)
        kept = [("10kB", "20kB"), ("10kB", "40kB"), ("30kB", "40kB")]
        self.assertEqual([tuple(point["values"].values()) for point in study["points"]], kept)
        self.assertEqual([(run["point"], run["end"]) for run in study["runs"]], [(point, "done") for point in range(3) for _ in "12"])
        why = "queue.ecn_low=60kB queue.ecn_high=20kB: queue.ecn_low: 60000 B is above queue.ecn_high, 20000 B"
        self.assertEqual((study["left_out"], study["partial"]), ({"points": 3, "first": why}, False))
        said = self.weft(SMALL, *words[:-2], "--jobs", 2)
        self.assertIn(f"3 points, seed 1\n  points: queue.ecn_low queue.ecn_high\n  left out: 3 more points, whose values do not go together: {why}\n", said.stdout)
        grid = [line.split() for line in said.stdout.partition("across")[2].split("\n")[2:5]]
        self.assertEqual([len(row) for row in grid], [1, 3, 2])
        for (low, high), run in zip(kept, study["runs"][::2]):  # each is the run that its values give alone
            alone = json.loads(self.weft(SMALL, "--json", "--set", f"queue.ecn_low={low}", "--set", f"queue.ecn_high={high}").stdout)
            self.assertEqual(run["digest"], alone["run"]["digest"])
        run = self.weft(TWO, *lows, *highs)  # with variants, too
        self.assertIn("6 points", run.stdout)
        self.assertIn("left out: 6 more points, whose values do not go together: rotate queue.ecn_low=60kB", run.stdout)
        run = self.weft(SMALL, "--sweep", "queue.ecn_low=60kB,50kB", *highs, status=BAD_INPUT)
        self.assertEqual((run.stdout, run.stderr.count("\n")), ("", 1))
        self.assertIn("60000 B is above queue.ecn_high, 20000 B", run.stderr)
        run = self.weft(SMALL, "--sweep", "queue.ecn_low=10kB,60", *highs, status=BAD_INPUT)  # no value at all
        self.assertIn("--sweep: queue.ecn_low: `60` has no unit", run.stderr)

    def test_values_that_only_a_world_refuses_are_left_out(self):
        delays, windows = ["--sweep", "fabric.nic_delay=500ns,4us"], ["--sweep", "limits.window=2us,400ns"]
        why = "fabric.nic_delay=500ns limits.window=2us: limits.window: a window of 2000000 ps is longer than the shortest delay"
        for jobs in (1, 2):
            study = self.study(SMALL, "--set", "fabric.trunk_delay=4us", *delays, *windows, "--seeds", 2, "--jobs", jobs)
            self.assertEqual([tuple(point["values"].values()) for point in study["points"]], [("500ns", "400ns"), ("4us", "2us"), ("4us", "400ns")])
            self.assertEqual([(run["point"], run["end"]) for run in study["runs"]], [(point, "done") for point in range(3) for _ in "12"])
            self.assertEqual((study["left_out"]["points"], study["partial"]), (1, False))
            self.assertTrue(study["left_out"]["first"].startswith(why), study["left_out"]["first"])
        run = self.weft(SMALL, "--set", "fabric.trunk_delay=4us", *delays, *windows)
        self.assertIn(f"left out: 1 more point, whose values do not go together: {why}", run.stdout)
        self.assertNotIn("refused", run.stdout)
        run = self.weft(SMALL, "--sweep", "fabric.nic_delay=500ns,4us", "--sweep", "limits.window=8us,9us", "--out", self.out, status=BAD_INPUT)
        self.assertEqual((run.stdout, run.stderr.count("\n")), ("", 1))
        self.assertIn("(run: fabric.nic_delay=500ns limits.window=8us, seed 1)", run.stderr)
        self.assertFalse(self.out.exists())

    def test_a_point_that_is_refused_costs_no_other(self):
        for jobs in (1, 3):  # with 3 it is the first that ends
            run = self.weft(SMALL, "--sweep", "limits.memory=1GiB,1MiB,2GiB", "--jobs", jobs, "--out", self.out, "--force", status=BAD_INPUT)
            self.assertIn("raise limits.memory (run: limits.memory=1MiB, seed 1)", run.stderr)
            study = json.loads((self.out / "study.json").read_text(encoding="utf-8"))
            self.assertEqual([one["end"] for one in study["runs"]], ["done", "refused", "done"])
            self.assertIn("1MiB, seed 1: refused", run.stdout)

    def test_a_folder_with_another_result_is_refused(self):
        self.weft(SMALL, "--out", self.out)
        run = self.weft(SMALL, "--seeds", 2, "--out", self.out, status=BAD_INPUT)
        self.assertIn("holds a result already; --force replaces it", run.stderr)
        self.assertEqual(list(self.out.glob("study*")), [])

    def test_runs_without_end_are_counted_and_in_no_figure(self):
        run = self.weft(LOSING, "--seeds", 2, "--set", "limits.time=50us", status=NOT_VALID)
        self.assertIn("INCOMPLETE: 2 of 2 runs", run.stdout)
        self.assertIn("seed 2: time limit", run.stdout)
        self.assertEqual(run.stderr, "weft sim: 2 of 2 runs did not finish\n")
        self.assertNotIn("Goodput", run.stdout)

    def stop(self, jobs):
        words = ["--set", "traffic.bytes=2MB", "--seeds", "5000", "--jobs", str(jobs), "--out", self.out, "--force"]
        with weft.start("sim", self.file(SMALL), *words) as run:
            wait_for_work(run, 1)
            run.send_signal(signal.SIGINT)
            printed, said = run.communicate(timeout=600)
        self.assertEqual((run.returncode, said), (NOT_VALID, "weft sim: interrupted\n"))
        self.assertIn("PARTIAL RESULT: ", printed)
        study = json.loads((self.out / "study.json").read_text(encoding="utf-8"))
        self.assertTrue(study["partial"])
        self.assertGreater(len(study["runs"]), 2)
        self.assertLess(len(study["runs"]), 5000)
        self.assertTrue(all(run["end"] == "done" for run in study["runs"]))

    def test_a_signal_leaves_the_runs_that_are_done(self):
        for jobs in (1, 3):
            self.stop(jobs)


if __name__ == "__main__":
    unittest.main()
