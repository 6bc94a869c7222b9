#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Scenarios that the search of weft tune does not see: what is said of them is what the rows say, and nothing is chosen by them;
a setting that is worse there is told so first; who is killed, cut in parts or run by several jobs comes to the same; hold-outs
that can say nothing are refused, with no file left. Without SQLite: skipped."""
import json
import math
import random
import shutil
import signal
import sqlite3
import statistics
import subprocess
import time

import program_tune
import weft
from program_tune import BAD_INPUT, DONE, KNOBS, ROCE, SMALL, WEFT

T9 = 2.262157  # Student's t for 9 degrees of freedom, 95 %
FRESH = 1 << 32
SEEDS = ["--fresh-seeds", "10", "--race-seeds", "5"]
HOLD = ["--holdout", "other.yaml", "--holdout", "small.yaml+mixed"]
# Good for the incast, and bad for the permutation: the lower end of the target, against a default far above it.
LOW = ["--knob", "cc.target_delay=0.1rtt..0.25rtt", "--set", "cc.target_delay=200us", "--budget", "900", "--fresh-seeds", "40", "--race-seeds", "5"]


class Holdout(program_tune.Room):
    def setUp(self):
        super().setUp()
        (self.folder / "other.yaml").write_text(SMALL.replace("incast, senders: 12, bytes: 200kB", "permutation, bytes: 1MiB"), encoding="utf-8")

    def show(self, study):
        return json.loads(self.weft("show", study, "--json").stdout)

    def times(self, study, scenario, setting):
        with sqlite3.connect(self.folder / study) as store:
            return [value for value, in store.execute("SELECT done_s FROM runs WHERE scenario = ? AND setting = ? AND seed >= ? ORDER BY seed",
                                                      (scenario, setting, FRESH))]

    def test_what_is_said_is_what_the_rows_say(self):
        study = self.tune(*KNOBS, *HOLD, *SEEDS, "--set", "cc.target_delay=200us", "--budget", 500)
        self.assertEqual(([one["scenario"] for one in study["holdouts"]], study["verdict"]), (["other.yaml", "small.yaml+mixed"], "better"))
        self.assertEqual(len(self.rows("small.tune")), study["runs"])
        for one in study["holdouts"]:
            of_default = self.times("small.tune", one["scenario"], "default")
            self.assertEqual([each["setting"] for each in one["finalists"]], [each["setting"] for each in study["finalists"]])
            for each in one["finalists"]:
                costs = [math.log(a / b) for a, b in zip(self.times("small.tune", one["scenario"], each["setting"]), of_default, strict=True)]
                half = T9 * statistics.stdev(costs) / math.sqrt(10)
                self.assertEqual((len(costs), each["seeds"]), (10, 10))
                for key, value in (("ratio", 0), ("low", -half), ("high", half)):
                    self.assertAlmostEqual(each[key], math.exp(statistics.mean(costs) + value), places=5)
            best = [one["finalists"][0], *([one["rounded"]] if "rounded" in one else [])]
            self.assertEqual(one["worse"], any(each["low"] > 1 for each in best))
        with sqlite3.connect(self.folder / "small.tune") as store:
            seen = store.execute("SELECT DISTINCT scenario, setting FROM runs WHERE scenario <> 'small.yaml' AND seed < ?", (FRESH,)).fetchall()
            first, = store.execute("SELECT count(*) FROM runs WHERE scenario <> 'small.yaml' AND seed < ?", (FRESH,)).fetchone()
        self.assertLessEqual(len(seen), 8)  # the default and three points of each: no candidate
        alone = self.tune(*KNOBS, *SEEDS, "--set", "cc.target_delay=200us", "--budget", 500 - 2 * 70 - first, "--study", "alone.tune")
        for key in ("candidates", "finalists", "recommended", "best_seen", "rounded"):  # nothing is chosen by them
            self.assertEqual(alone.get(key), study.get(key), key)
        self.assertNotIn("holdouts", alone)

    def test_worse_on_what_the_search_did_not_see_is_said_first(self):
        study = self.tune(*LOW, "--holdout", "other.yaml")
        told = "worse on other.yaml, which the search did not see: "
        best = study["holdouts"][0]["finalists"][0]
        self.assertEqual((study["verdict"], study["holdouts"][0]["worse"]), ("better", True))
        self.assertGreater(best["low"], 1)
        shown = self.weft("show", "small.tune").stdout
        self.assertTrue(shown.startswith(f"{told}{best['ratio']:.4f} ({best['low']:.4f} to {best['high']:.4f}) of the default"), shown)
        risks = next(line for line in shown.splitlines() if "It risks:" in line)
        self.assertIn("; worse on other.yaml, which the search did not see", risks)
        self.assertIn("On other.yaml, which the search did not see, on 40 fresh seeds", shown)
        self.assertNotIn("Nothing but the suite was tried", shown)
        lines = self.weft("best", "small.tune").stdout.splitlines()
        self.assertEqual(lines[0], study["recommended"])
        self.assertTrue(lines[1].startswith(told), lines)
        self.assertIn(f"# {told}", self.weft("export", "small.tune", "--as", "mrc").stdout)
        self.weft("report", "small.tune")
        page = (self.folder / "small.html").read_text(encoding="utf-8")
        self.assertLess(page.index(told), page.index("It buys"))
        self.assertIn("On other.yaml, which the search did not see", page)
        document = json.loads(self.weft("report", "small.tune", "--json").stdout)
        self.assertTrue(document["alerts"][0].startswith(told))
        self.assertEqual(document["holdouts"], study["holdouts"])

    def test_a_constraint_that_breaks_there_is_named(self):
        study = self.tune(*LOW, "--limit", "done_s<=1.1x", "--holdout", "other.yaml")
        self.assertEqual((study["verdict"], study["holdouts"][0]["worse"], study["holdouts"][0]["finalists"][0]["binding"]),
                         ("better", True, "done_s<=1.1x"))
        first = self.weft("show", "small.tune").stdout.splitlines()[0]
        self.assertIn("worse on other.yaml, which the search did not see: ", first)
        self.assertIn("and breaks done_s<=1.1x, by ", first)

    def test_without_one_the_words_say_so(self):
        self.tune(*LOW)
        self.assertIn("Nothing but the suite was tried (--holdout).", self.weft("show", "small.tune").stdout)
        self.assertIn("# nothing but the suite was tried\n", self.weft("export", "small.tune", "--as", "mrc").stdout)

    def test_killed_and_with_jobs_it_is_the_same(self):
        words = ["small.yaml", *KNOBS, *HOLD, *SEEDS, "--budget", "500"]
        whole = json.loads(self.weft(*words, "--study", "whole.tune", "--json").stdout)
        self.assertEqual(json.loads(self.weft(*words, "--study", "jobs.tune", "--json", "--jobs", 4).stdout), whole)
        self.assertEqual(self.rows("jobs.tune"), self.rows("whole.tune"))
        dice, words, rows = random.Random(2), [*words, "--study", "killed.tune"], 0
        for _ in range(6):
            target = rows + dice.randrange(0, whole["runs"] // 5)
            running = subprocess.Popen([WEFT, "tune", *words], cwd=self.folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            while running.poll() is None and self.count("killed.tune") < target:
                time.sleep(0.001)
            running.send_signal(signal.SIGKILL)
            running.wait()
            rows = self.count("killed.tune")
            if self.is_study("killed.tune"):
                words = ["resume", "killed.tune"]
        self.assertEqual(json.loads(self.weft(*words, "--json").stdout), whole)
        self.assertEqual(self.rows("killed.tune"), self.rows("whole.tune"))
        with sqlite3.connect(self.folder / "killed.tune") as store:  # those of the hold-outs alone
            store.execute("DELETE FROM runs WHERE scenario = 'other.yaml' AND seed >= ?", (FRESH + 5,))
        self.assertIn("NOT AT ITS END", self.weft("show", "killed.tune", status=program_tune.NOT_VALID).stdout)
        self.assertEqual(json.loads(self.weft("resume", "killed.tune", "--json").stdout), whole)
        self.assertEqual(self.rows("killed.tune"), self.rows("whole.tune"))

    def test_parts_come_to_what_one_process_comes_to(self):
        words = [*KNOBS, *HOLD, *SEEDS, "--budget", "500", "--parts", "2"]
        whole = self.tune(*words, "--study", "whole.tune")
        for part in (1, 2):
            self.weft("small.yaml", *words, "--part", part)
        self.weft("merge", "all.tune", "small.1.tune", "small.2.tune")
        self.assertEqual(json.loads(self.weft("resume", "all.tune", "--json").stdout), whole)
        self.assertEqual(self.rows("all.tune"), self.rows("whole.tune"))
        shutil.copy(self.folder / "small.1.tune", self.folder / "first.tune")
        (self.folder / "small.2.tune").unlink()
        self.weft("small.yaml", *KNOBS, *HOLD[:2], *SEEDS, "--budget", "500", "--parts", "2", "--part", 2)
        self.assertIn("its command is another", self.weft("merge", "both.tune", "first.tune", "small.2.tune", status=BAD_INPUT).stderr)

    def test_what_can_say_nothing_is_refused(self):
        (self.folder / "copy.yaml").write_text(SMALL, encoding="utf-8")
        (self.folder / "roce.yaml").write_text(ROCE, encoding="utf-8")
        (self.folder / "tiny.yaml").write_text(SMALL.replace("incast, senders: 12, bytes: 200kB", "permutation, bytes: 2kB"), encoding="utf-8")
        (self.folder / "broken.yaml").write_text("name: broken\nfabric: {nics: 16, wires: 3}\n", encoding="utf-8")
        files = sorted(path.name for path in self.folder.iterdir())
        for words, said in ((["small.yaml"], "the search sees this one, so it is not a hold-out: 'small.yaml'"),
                            (["copy.yaml"], "the search sees this one, so it is not a hold-out: 'copy.yaml'"),
                            (["other.yaml", "--holdout", "./other.yaml"], "this hold-out is given twice: './other.yaml'"),
                            (["tiny.yaml"], "tiny.yaml: the knobs change the aim in no run of this hold-out"),
                            (["roce.yaml"], "hold-out roce.yaml with cc.target_delay=0.1rtt: cc.target_delay has no effect here"),
                            (["roce.yaml", "--set", "transport.path=reps"],
                             "hold-out roce.yaml with transport.path=reps: transport.path has no effect here; it needs transport.kind mrc"),
                            (["broken.yaml"], "hold-out broken.yaml:2:"),
                            (["nowhere"], "no scenario 'nowhere'"), (["other.yaml+failure"], "nothing is called `+failure`"),
                            (["other.yaml", "--budget", "150"], "is too small")):
            run = self.weft("small.yaml", "--knob", "cc.target_delay=0.1rtt..6rtt", *SEEDS, "--holdout", *words, "--study", "wrong.tune", status=BAD_INPUT)
            self.assertIn(said, run.stderr)
            self.assertEqual(sorted(path.name for path in self.folder.iterdir()), files, words)
        for words, said in (([*KNOBS], "roce.yaml with cc.target_delay=0.1rtt"), (["--knob", "queue.bytes=30kB..200kB", "--set", "cc.qa_gate=3"],
                                                                                 "roce.yaml with cc.qa_gate=3: cc.qa_gate has no effect here")):
            self.assertIn(f"weft tune: {said}", self.weft("small.yaml", "roce.yaml", *words, status=BAD_INPUT).stderr)
        self.tune("--knob", "cc.target_delay=0.1rtt..6rtt", *SEEDS, "--holdout", "other.yaml", "--budget", 300)
        self.assertIn("its own settings", self.weft("resume", "small.tune", "--holdout", "small.yaml+mixed", status=BAD_INPUT).stderr)
        self.assertIn("there already", self.weft("small.yaml", *KNOBS, "--holdout", "small.yaml+mixed", status=BAD_INPUT).stderr)
        (self.folder / "other.yaml").write_text(SMALL.replace("incast, senders: 12, bytes: 200kB", "permutation, bytes: 2MiB"), encoding="utf-8")
        self.assertIn("has changed", self.weft("resume", "small.tune", status=BAD_INPUT).stderr)
        self.weft("show", "small.tune", status=DONE)  # a reader needs the study alone


if __name__ == "__main__":
    weft.skip_when_sanitized()
    program_tune.main()
