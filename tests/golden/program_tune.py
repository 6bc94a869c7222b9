#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""weft tune: the same study with one and with eight jobs; killed ten times and gone on with; read while it is written; what
it recommends holds in runs of weft sim; what is wrong is refused by name, with no file left. Without SQLite: skipped."""
import fcntl
import json
import math
import random
import re
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
import unittest

import weft
from weft import BAD_INPUT, DONE, ENVIRONMENT, MISSED, NOT_VALID, SKIPPED, WEFT

SMALL = """name: small
fabric: {nics: 16, planes: 2, nics_per_t0: 8, t1_count: 4}
traffic: {kind: incast, senders: 12, bytes: 200kB}
"""
ROCE = """name: roce
fabric: {nics: 32, planes: 1, link_rate: 400Gb/s, nics_per_t0: 16, t1_count: 16}
queue: {bytes: 1MB, pfc: true, pfc_xoff: 200kB, ecn_last_hop: true}
transport: {kind: rc}
cc: {algorithm: dcqcn}
traffic: {kind: incast, senders: 24, bytes: 1MiB}
"""
KNOBS = ["--knob", "cc.target_delay=0.1rtt..6rtt", "--knob", "cc.qa_gate=0..6"]
LONGER = ["--budget", "500", "--fresh-seeds", "10", "--race-seeds", "5"]
BUDGET = ["--budget", "150", "--fresh-seeds", "10", "--race-seeds", "5"]


class Room(weft.InFolder):
    """A folder with a small scenario."""

    def setUp(self):
        super().setUp()
        (self.folder / "small.yaml").write_text(SMALL, encoding="utf-8")

    def weft(self, *words, status=DONE):
        run = weft.run("tune", *words, cwd=self.folder)
        if status is None:
            self.assertIn(run.returncode, (DONE, MISSED), f"{words}: {run.stderr}")
        else:
            self.assertEqual(run.returncode, status, f"{words}: {run.stderr}")
        return run

    def sim(self, *words, status=DONE):
        run = weft.run("sim", *words, cwd=self.folder)
        self.assertEqual(run.returncode, status, f"{words}: {run.stderr}")
        return run.stderr if status else run.stdout

    def tune(self, *words, status=DONE):
        return json.loads(self.weft("--json", "small.yaml", *words, status=status).stdout)

    def rows(self, study):
        with sqlite3.connect(f"file:{self.folder / study}?mode=ro", uri=True) as store:
            self.assertEqual(store.execute("PRAGMA integrity_check").fetchone(), ("ok",))
            return sorted(store.execute("SELECT scenario, setting, seed, digest FROM runs"))

    def count(self, study):
        """Rows that a reader sees; 0 where there is no study yet."""
        try:
            with sqlite3.connect(f"file:{self.folder / study}?mode=ro", uri=True) as store:
                return store.execute("SELECT count(*) FROM runs").fetchone()[0]
        except sqlite3.OperationalError:
            return 0

    def is_study(self, study):
        try:
            with sqlite3.connect(f"file:{self.folder / study}?mode=ro", uri=True) as store:
                return store.execute("SELECT count(*) FROM sqlite_master").fetchone()[0] > 0
        except sqlite3.OperationalError:  # its maker was killed while it made the file
            return False


class Tune(Room):
    def test_jobs_change_nothing(self):
        one = self.tune(*KNOBS, *BUDGET, "--study", "one.tune")
        eight = self.tune(*KNOBS, *BUDGET, "--study", "eight.tune", "--jobs", 8)
        self.assertEqual(one, eight)
        self.assertEqual(self.rows("one.tune"), self.rows("eight.tune"))
        self.assertEqual(len(self.rows("one.tune")), one["runs"])
        self.assertLessEqual(one["runs"], 150)

    def test_what_is_killed_goes_on_to_the_same(self):
        """Ten times killed, each at another count of rows; none of those that were there is gone."""
        whole = self.tune(*KNOBS, *LONGER, "--study", "whole.tune")
        dice, words, halves, rows = random.Random(1), ["small.yaml", *KNOBS, *LONGER, "--study", "killed.tune"], 0, 0
        for kill in range(10):
            target = rows + dice.randrange(0, whole["runs"] // 10)
            running = subprocess.Popen([WEFT, "tune", *words, *(["--jobs", "2"] if kill % 2 else [])], cwd=self.folder, stdout=subprocess.DEVNULL,
                                       stderr=subprocess.DEVNULL)
            while running.poll() is None and self.count("killed.tune") < target:
                time.sleep(0.001)
            running.send_signal(signal.SIGKILL)
            running.wait()
            before, rows = rows, self.count("killed.tune")
            self.assertGreaterEqual(rows, before)
            halves += before < rows < whole["runs"]
            if self.is_study("killed.tune"):
                words = ["resume", "killed.tune"]
        self.assertGreater(halves, 3)
        killed = json.loads(self.weft(*words, "--json").stdout)
        self.assertEqual(killed, whole)
        self.assertEqual(self.rows("killed.tune"), self.rows("whole.tune"))

    def test_readers_disturb_no_writer(self):
        """Twenty at once, again and again as long as the writer runs: each reads a sound study, and the writer loses nothing."""
        whole = self.tune(*KNOBS, *LONGER, "--study", "whole.tune")
        words = ["small.yaml", *KNOBS, *LONGER, "--study", "read.tune"]
        writer = subprocess.Popen([WEFT, "tune", *words], cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        while not self.is_study("read.tune"):
            time.sleep(0.001)
        ended = []
        while not ended or writer.poll() is None:
            readers = [subprocess.Popen([WEFT, "tune", verb, "read.tune"], cwd=self.folder, stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE) for verb in ("show", "best") * 10]
            for reader in readers:
                _, said = reader.communicate(timeout=600)
                ended.append(reader.returncode)
                self.assertIn(reader.returncode, (DONE, BAD_INPUT, NOT_VALID), said)
                self.assertNotIn(b"lock", said)
        _, said = writer.communicate(timeout=600)
        self.assertEqual(writer.returncode, DONE, said)
        self.assertGreater(ended.count(NOT_VALID) + ended.count(BAD_INPUT), 0)  # read under way
        self.assertEqual(self.rows("read.tune"), self.rows("whole.tune"))
        self.assertEqual(json.loads(self.weft("show", "read.tune", "--json").stdout), whole)

    def test_two_processes_write_no_row_twice(self):
        whole = self.tune(*KNOBS, *LONGER, "--study", "whole.tune")
        words = ["small.yaml", *KNOBS, *LONGER, "--study", "both.tune"]
        first, second = (subprocess.Popen([WEFT, "tune", *words], cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
                         for _ in range(2))
        said = [process.communicate(timeout=600)[1] for process in (first, second)]
        self.assertEqual(sorted(process.returncode in (BAD_INPUT, ENVIRONMENT) for process in (first, second)), [False, True], said)
        self.assertEqual(self.rows("both.tune"), self.rows("whole.tune"))
        with sqlite3.connect(self.folder / "both.tune") as store:  # half of it is gone: four go on with it at once
            store.execute("DELETE FROM runs WHERE seed % 2 = 1")
        going = [subprocess.Popen([WEFT, "tune", "resume", "both.tune", "--quiet"], cwd=self.folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
                 for _ in range(4)]
        ended = [(process.communicate(timeout=600)[1], process.returncode) for process in going]
        for said, status in ended:  # who came too early is told who writes
            self.assertTrue(status == DONE or (status == ENVIRONMENT and b"another process writes this study" in said), said)
        self.assertIn(DONE, [status for _, status in ended])
        self.assertEqual(self.rows("both.tune"), self.rows("whole.tune"))
        self.assertEqual(json.loads(self.weft("show", "both.tune", "--json").stdout), whole)
        with open(self.folder / "both.tune", "rb") as held:
            fcntl.flock(held, fcntl.LOCK_EX)
            self.assertIn("another process writes this study", self.weft("resume", "both.tune", status=ENVIRONMENT).stderr)
            self.weft("show", "both.tune")

    def test_what_is_recommended_holds_in_runs_of_weft_sim(self):
        (self.folder / "small.yaml").write_text(SMALL + "cc: {target_delay: 60us}\n", encoding="utf-8")
        study = self.tune("--knob", "cc.target_delay=0.1rtt..6rtt", "--knob", "queue.bytes=50kB..400kB", *BUDGET)
        self.assertEqual(study["verdict"], "better")
        best = study["finalists"][0]
        self.assertEqual(best["setting"], study["recommended"])
        self.assertLess(best["fresh"]["high"], 1)
        ratio, seeds = 1, range(70001, 70009)
        sets = [word for one in best["sets"][0]["set"] for word in ("--set", one)]
        for seed in seeds:
            times = [json.loads(weft.run("sim", self.folder / "small.yaml", "--json", "--seed", seed, *more,
                                         check=True).stdout)["run"]["last_completion_ps"]
                     for more in ([], sets)]
            ratio *= (times[1] / times[0]) ** (1 / len(seeds))
        self.assertLess(ratio, 1)
        self.assertAlmostEqual(ratio, best["fresh"]["ratio"], delta=0.05)
        text = self.weft("show", "small.tune").stdout
        self.assertNotIn("Next:", text)
        self.assertIn("recommended", text)
        self.assertIn("best seen", text)
        self.assertIn("fresh seeds", text)
        self.assertEqual(self.weft("best", "small.tune").stdout.strip(), study["recommended"])

    def test_constraints_bind_by_name(self):
        study = self.tune(*KNOBS, *BUDGET, "--limit", "queue_bytes_max<=1kB", status=MISSED)
        self.assertEqual(study["verdict"], "infeasible")
        breaches = [one["fresh"]["violation"] for one in study["finalists"]]
        self.assertEqual(breaches, sorted(breaches))
        self.assertIn("queue_bytes_max<=1kB binds", self.weft("show", "small.tune", status=MISSED).stdout)
        self.assertIn("no setting meets all constraints", self.weft("best", "small.tune", status=MISSED).stderr)

    def test_runs_that_end_early_change_no_recommendation(self):
        """Of timeouts, packets sent again, time paused and time taken: with and without early ends the study is the same."""
        lossy = SMALL + "queue: {trim: false, bytes: 1MB}\ncc: {target_delay: 60us}\n"
        queues = ["--knob", "cc.target_delay=0.1rtt..6rtt", "--knob", "queue.bytes=20kB..1MB"]
        timer = ["--knob", "cc.rate_timer=15us..3ms", "--knob", "queue.ecn=true,false", "--set", "cc.rate_timer=1500us", "--search-seeds", 2]
        alone = ["--knob", "cc.target_delay=0.1rtt..20rtt", "--knob", "queue.bytes=20kB..1MB", "--search-seeds", 1, "--engine", "random"]
        for text, words, figure, verdict in (
                (lossy, [*queues, "--limit", "queue_bytes_max<=800kB"], "rtx_timeout", "better"),
                (SMALL, [*queues, "--limit", "rtx_nack<=20"], "rtx_nack", "better"),
                (SMALL, [*alone, "--limit", "goodput_bps>=1x"], "goodput_bps", "better"),
                (SMALL, [*alone, "--limit", "goodput_bps>=700Gb/s"], "goodput_bps", "infeasible"),
                (SMALL, [*alone, "--limit", "fairness>=1.01x"], "fairness", "better"),
                (ROCE, [*timer, "--limit", "nic_paused_s<=0.2x"], "nic_paused_s", "infeasible"),
                (ROCE, [*timer, "--limit", "done_s<=0.1x"], "done_s", "infeasible")):
            (self.folder / "small.yaml").write_text(text, encoding="utf-8")
            early = self.tune(*words, *BUDGET[2:], "--budget", 170, "--study", "early.tune", status=None)
            whole = self.tune(*words, *BUDGET[2:], "--budget", 170, "--study", "whole.tune", "--whole-runs", status=None)
            ended = early.pop("ended_early")
            self.assertEqual((early["verdict"], whole.pop("ended_early"), early), (verdict, 0, whole))
            rows, whole_rows = ({row[:3]: row[3:] for row in self.ended(study)} for study in ("early.tune", "whole.tune"))
            short = [key for key in rows if not rows[key][0]]
            self.assertEqual((len(short), rows.keys()), (ended, whole_rows.keys()))
            self.assertGreater(sum(rows[key][1] == f"ended early: {figure} at {rows[key][3]:g}" for key in short), 5, words)
            for key in rows:  # a breach in both, with what it had come to; what ran to its end is the same run
                self.assertEqual(rows[key][2:], whole_rows[key][2:] if key not in short else whole_rows[key][2:-1] + rows[key][-1:])
                self.assertEqual(rows[key][2] > 0, key in short)
            self.assertIn(f"{ended} runs ended early", self.weft("show", "early.tune", status=None).stdout)
            best, seed = early["finalists"][0], max(key[2] for key in whole_rows)
            sets = [word for one in best["sets"][0]["set"] for word in ("--set", one)]  # a run that was looked at is the run itself
            alone = weft.run("sim", self.folder / "small.yaml", "--json", "--seed", seed, *sets, check=True).stdout
            self.assertEqual(json.loads(alone)["run"]["digest"], whole_rows["small.yaml", best["setting"], seed][-1])
            for study in ("early.tune", "whole.tune"):
                (self.folder / study).unlink()

    def test_a_default_that_breaks_a_constraint_is_not_left(self):
        """What meets all is set, though it is no faster; the default is not recommended."""
        study = self.tune("--knob", "queue.bytes=20kB..60kB", *BUDGET, "--limit", "queue_bytes_max<=100kB", "--limit", "done_s<=2x")
        best = study["finalists"][0]
        self.assertEqual((study["verdict"], study["recommended"], study["default_breaks"]),
                         ("better", best["setting"], "queue_bytes_max<=100kB"))
        self.assertGreater(best["fresh"]["high"], 1)
        shown = self.weft("show", "small.tune").stdout
        self.assertIn("Set, as the default breaks queue_bytes_max<=100kB (the aim comes to", shown)
        self.assertIn("It meets queue_bytes_max<=100kB, which the default breaks.", shown)
        self.weft("report", "small.tune")
        headline = re.search(r'class="headline">([^<]*)', (self.folder / "small.html").read_text(encoding="utf-8"))[1]
        self.assertTrue(headline.startswith("Set, as the default breaks queue_bytes_max"), headline)
        self.assertNotIn("default_breaks", self.tune(*KNOBS, *BUDGET, "--study", "other.tune"))

    def test_a_default_that_ends_on_some_seeds_alone(self):
        """It is no reason to stop: ratios are of the seeds on which it ended, who failed has none, and to end where it did not
        by chance is not better."""
        (self.folder / "small.yaml").write_text(SMALL + "limits: {time: 121us}\n", encoding="utf-8")
        study = self.tune(*KNOBS, "--budget", 300, "--seed", 100)
        with sqlite3.connect(f"file:{self.folder / 'small.tune'}?mode=ro", uri=True) as store:
            ended = {(setting, seed): done_s for setting, seed, done_s in store.execute("SELECT setting, seed, done_s FROM runs WHERE seed >= 4294967296")}
        of_default = {seed: done_s for (setting, seed), done_s in ended.items() if setting == "default"}
        failed = sum(done_s is None for done_s in of_default.values())
        self.assertEqual((study["verdict"], study["default_failed"], study["default_breaks"].split(":")[0]), ("not better", failed, "completion"))
        self.assertIn(failed, range(1, 6))
        for one in study["finalists"]:
            own = {seed: ended[one["setting"], seed] for seed in of_default}
            missing, fresh = sum(value is None for value in own.values()), one["fresh"]
            self.assertEqual((fresh["failed"], fresh["ratio"] is None, fresh["violation"] > 0), (missing, missing > 0, missing > 0))
            if not missing:
                logs = [math.log(own[seed] / value) for seed, value in of_default.items() if value is not None]
                self.assertAlmostEqual(fresh["ratio"], math.exp(sum(logs) / len(logs)), places=9)
        shown = self.weft("show", "small.tune").stdout
        self.assertIn(f"The default did not come to its end on {failed} of them: ratios are of the others.", shown)
        self.assertIn("It breaks completion: a run did not come to its end; the first one above does not, no more than chance would have it", shown)
        self.assertIn("the default breaks completion", self.weft("best", "small.tune").stderr)
        (self.folder / "small.yaml").write_text(SMALL + "limits: {time: 110us}\n", encoding="utf-8")
        study = self.tune("--knob", "traffic.bytes=100kB..200kB", *KNOBS[:2], "--budget", 300, "--race-seeds", 10, "--fresh-seeds", 9, "--study", "rare.tune")
        best = study["finalists"][0]["fresh"]
        self.assertEqual((study["verdict"], study["default_failed"], best["failed"], best["low"]), ("better", 8, 0, None))
        self.assertIn("The default came to its end on no seed of the best seen: it has no ratio.", self.weft("show", "rare.tune").stdout)
        self.assertIn(f"done_s: {best['ratio']:.4f} of the default on 1 fresh seeds of", self.weft("export", "rare.tune", "--as", "mrc").stdout)
        self.weft("report", "rare.tune")
        self.assertIn("unavailable: the default finished on none of these seeds", (self.folder / "rare.html").read_text(encoding="utf-8"))
        (self.folder / "small.yaml").write_text(SMALL + "limits: {time: 50us}\n", encoding="utf-8")
        self.assertIn("small.yaml: the run of the default did not come to its end: time limit, on 6 of 6 seeds",
                      self.weft("small.yaml", *KNOBS, "--study", "never.tune", status=BAD_INPUT).stderr)
        self.assertFalse((self.folder / "never.tune").exists())

    def test_members_that_are_made_of_a_scenario(self):
        """Each is the run that its words give alone, and the worst of all is what a candidate costs."""
        names = ["base_rtt_low", "base_rtt_high", "plane_down", "plane_slow", "loss", "mixed"]
        words = ["small.yaml", *[f"small.yaml+{name}" for name in names], *KNOBS, "--timeouts", "--budget", "600", "--fresh-seeds", "5", "--race-seeds", "3"]
        self.weft(*words, "--over", "worst", status=None)
        with sqlite3.connect(self.folder / "small.tune") as store:
            rtt_ps, bdp_bytes = map(float, store.execute("SELECT value FROM facts WHERE name = 'fabric.1'").fetchone()[0].split()[:2])
            rows = dict(store.execute("SELECT scenario, digest FROM runs WHERE setting = 'default' AND seed = 1"))
        given = {"base_rtt_low": ["--set", f"cc.base_rtt={0.7 * rtt_ps / 1000:.0f}ns"], "base_rtt_high": ["--set", f"cc.base_rtt={1.3 * rtt_ps / 1000:.0f}ns"],
                 "plane_down": ["--fault", f"{{kind: link_down, at: {{plane: 0}}, from: {4 * rtt_ps / 1000:.0f}ns}}"],
                 "plane_slow": ["--fault", "{kind: slow, at: {plane: 0}, rate: 50%}"], "loss": ["--fault", "{kind: loss, at: all, probability: 0.1%}"],
                 "mixed": ["--set", f"traffic.beside={4 * bdp_bytes:.0f}B"]}
        self.assertEqual((len(set(rows.values())), len(rows)), (7, 7))
        for name, more in given.items():
            alone = weft.run("sim", self.folder / "small.yaml", "--json", "--seed", "1", *more, check=True).stdout
            self.assertEqual(json.loads(alone)["run"]["digest"], rows[f"small.yaml+{name}"], name)
        self.assertEqual([self.over(words, rows, over, taken) for over, taken in (("mean", 7), ("worst", 1), ("cvar", 2))], [5] * 3)
        (self.folder / "made.yaml").write_text(SMALL.replace("incast, senders: 12, bytes: 200kB", "collective, collective: all_reduce, bytes: 1MiB, messages: made"), encoding="utf-8")
        for words, said in ((["made.yaml+mixed", *KNOBS], "traffic.beside has no effect here"), (["small.yaml+failur", *KNOBS], "nothing is called `+failur`; behind a scenario may stand: +base_rtt_low"),
                            (["small.yaml+base_rtt_low", "--knob", "cc.base_rtt=0.5rtt..2rtt"], "cc.base_rtt is set twice")):
            self.assertIn(said, self.weft(*words, "--study", "wrong.tune", status=BAD_INPUT).stderr)
            self.assertFalse((self.folder / "wrong.tune").exists())
        self.assertIn("small.yaml+plane_down: the run of the default did not come to its end",
                      self.weft("small.yaml+plane_down", *KNOBS, "--set", "fabric.planes=1", "--study", "wrong.tune", status=BAD_INPUT).stderr)

    def over(self, words, scenarios, over, taken):
        """What a suite's best comes to is the mean of so many of its worst scenarios, seed by seed: how many seeds."""
        best = json.loads(self.weft("--json", *words, "--over", over, "--study", f"{over}.tune", status=None).stdout)["finalists"][0]
        with sqlite3.connect(self.folder / f"{over}.tune") as store:
            times = {row[:3]: row[3] for row in store.execute("SELECT scenario, setting, seed, done_s FROM runs WHERE seed >= 4294967296")}
        fresh = sorted({seed for _, setting, seed in times if setting == best["setting"]})
        logs = [sorted((math.log(times[scenario, best["setting"], seed] / times[scenario, "default", seed]) for scenario in scenarios), reverse=True) for seed in fresh]
        self.assertAlmostEqual(best["fresh"]["ratio"], math.exp(sum(sum(row[:taken]) / taken for row in logs) / len(fresh)), places=9)
        return len(fresh)

    def ended(self, study):
        with sqlite3.connect(f"file:{self.folder / study}?mode=ro", uri=True) as store:
            return store.execute("SELECT scenario, setting, seed, complete, ended, passed, passed_value, passed_s, digest FROM runs").fetchall()

    def test_the_trap_of_completion_time_alone(self):
        """DCQCN over PFC with a rate timer of 1,500 us: the fastest controller is none, and told as such. With pauses
        bounded a setting is found that beats the default on fresh seeds, and none is no answer any more."""
        (self.folder / "small.yaml").write_text(ROCE, encoding="utf-8")
        words = ["--space", "dcqcn", "--set", "cc.rate_timer=1500us", "--budget", "700", "--fresh-seeds", "10", "--jobs", 2]
        free = self.tune(*words, "--study", "free.tune")
        self.assertTrue(free["off_is_best"])
        self.assertIn("it is off that is best here", self.weft("show", "free.tune").stdout)
        self.a_sliver_is_no_reason_for_a_controller()
        bound = self.tune(*words, "--limit", "nic_paused_s<=1x", "--study", "bound.tune")
        self.assertEqual(bound["verdict"], "better")
        self.assertFalse(bound["off_is_best"])
        self.assertEqual(bound["off"]["binding"], "nic_paused_s<=1x")
        self.assertLess(bound["finalists"][0]["fresh"]["high"], 0.8)
        for one in bound["candidates"]: # no impossible pair was proposed
            values = dict(word.split("=") for word in one["setting"].split())
            self.assertLess(float(values["queue.ecn_low"][:-7]), float(values["queue.ecn_high"][:-7]), one["setting"])

    def a_sliver_is_no_reason_for_a_controller(self):
        """The best is the run without the controller on most seeds, and surely less than 1 % faster on all: told, too."""
        words = [word for one in ("transport.kind=rc", "queue.pfc=true", "queue.bytes=1MB", "queue.pfc_xoff=200kB", "queue.ecn_last_hop=true",
                                  "cc.algorithm=dcqcn") for word in ("--set", one)]
        shown = self.weft("incast", *words, "--space", "dcqcn", "--budget", 600, "--jobs", 2).stdout
        cost, same = re.search(r"Off comes to ([0-9.]+) of the first one, seed by seed .*; on ([0-9]+) of 20 seeds both are the same", shown).groups()
        with sqlite3.connect(f"file:{self.folder / 'incast.tune'}?mode=ro", uri=True) as store:
            off, best = ([time for time, in store.execute("SELECT done_s FROM runs WHERE setting = ? AND seed >= 4294967296 ORDER BY seed", (setting,))]
                         for setting in ("without the controller", self.weft("best", "incast.tune").stdout.strip()))
        self.assertEqual(int(same), sum(a == b for a, b in zip(off, best)))
        self.assertGreater(int(same), 10)
        self.assertAlmostEqual(float(cost), math.exp(sum(math.log(a / b) for a, b in zip(off, best)) / 20), places=4)
        off = json.loads(self.weft("show", "incast.tune", "--json").stdout)["off"]
        self.assertEqual((f"{off['cost']:.4f}", off["same"]), (cost, int(same)))
        self.assertGreater(float(cost), 1)
        self.assertIn("it is off that is best here", shown)

    def test_shipped_spaces_fit_the_scenarios_they_are_for(self):
        for space, text in (("nscc", SMALL), ("switch", SMALL), ("evs", SMALL), ("dcqcn", ROCE)):
            (self.folder / "small.yaml").write_text(text, encoding="utf-8")
            self.tune("--space", space, *BUDGET, "--jobs", 2, "--study", f"{space}.tune",
                      status=None) # whatever comes of so few runs
            self.assertNotIn("refused", {row[0] for row in self.ends(f"{space}.tune")}, space)

    def ends(self, study):
        with sqlite3.connect(f"file:{self.folder / study}?mode=ro", uri=True) as store:
            return store.execute("SELECT DISTINCT substr(ended, 1, 7) FROM runs").fetchall()

    def test_a_constant_is_told(self):
        study = self.tune("--knob", "transport.wimm=64..96", *BUDGET, status=MISSED)
        self.assertEqual(study["verdict"], "constant")
        self.assertIn("Nothing to tune", self.weft("show", "small.tune", status=MISSED).stdout)
        said = self.weft("small.yaml", "--knob", "transport.wimm=64..96", *BUDGET, "--study", "next.tune", status=MISSED).stdout
        self.assertIn("\nNext: weft tune report next.tune\n", said)

    def test_what_is_wrong_is_refused_by_name(self):
        for words, said in (
                (["--knob", "cc.qa_gat=0..6"], "did you mean `cc.qa_gate`"),
                (["--knob", "cc.target_delay=1..4"], "has no unit"),
                (["--knob", "cc.target_delay=1rt..4rt"], "these are: ps, ns, us, ms, s; or a ratio: rtt\n"),
                (["--knob", "cc.fi=1rtt..4rtt"], "or a ratio: bdp, mtu, mtua, portbdp"),
                (["--knob", "cc.target_delay=4us..4us"], "empty range"),
                (["--knob", "cc.target_delay=1us..4rtt"], "same unit"),
                (["--knob", "cc.rate_timer=10us..1ms"], "cc.rate_timer has no effect here"),
                (["--knob", "transport.path=rotate,around"], "around"),
                (["--knob", "cc.qa_gate=0..6", "--knob", "cc.qa_gate=1..2"], "given twice"),
                (["--knob", "seed=1..5"], "all settings meet the same seeds"),
                ([*KNOBS, "--limit", "done_s<=0.9x", "--limit", "done_s>=1.1x"], "done_s>=1.1x: no value meets it and done_s<=0.9x"),
                ([*KNOBS, "--limit", "done_s>=3us", "--limit", "done_s<=2us"], "done_s<=2us: no value meets it and done_s>=3us"),
                (["--knob", "queue.ecn_high=1kB..9kB:above=queue.ecn_low"], "wants a knob given before"),
                (["--knob", "cc.qa_gate=0..6:when=cc.quick_adapt=true"], "wants a knob given before"),
                (["--knob", "cc.gamma=0.1..1:lag"], "may stand log, linear"),
                ([*KNOBS, "--aim", "collective_s"], "collective_s cannot be an aim: the run of the default has no such figure"),
                ([*KNOBS, "--limit", "nic_paused_s<=1x"], "nic_paused_s<=1x cannot be held"),
                ([*KNOBS, "--aim", "done_s", "--aim", "done_s:2"], "done_s:2: this aim is given twice"),
                ([*KNOBS, "--engine", "bobyqa"], "there is no engine 'bobyqa'; there are: cmaes crs2 direct sbplx random"),
                (["--space", "nowhere"], "nowhere"),
                ([*KNOBS, "--off", "cc.algorithm=none"], "--off"),
                ([*KNOBS, "--aim", "speed"], "there is no figure `speed`"),
                ([*KNOBS, "--aim", "rtx_timeout"], "cannot be an aim"),
                ([*KNOBS, "--limit", "done_s<=5"], "a bound is a number with the unit"),
                ([*KNOBS, "--budget", "20"], "is too small"),
                ([], "nothing to tune")):
            run = self.weft("small.yaml", *words, status=BAD_INPUT)
            self.assertIn(said, run.stderr)
            self.assertEqual(sorted(path.name for path in self.folder.iterdir()), ["small.yaml"], words)

    def test_studies_that_are_none(self):
        (self.folder / "foreign.tune").write_text("something else\n", encoding="utf-8")
        with sqlite3.connect(self.folder / "other.tune") as store:
            store.execute("CREATE TABLE other(a)")
        for study in ("foreign.tune", "other.tune"):
            for words in (["resume", study], ["show", study], ["small.yaml", *KNOBS, "--study", study]):
                self.assertIn("not a study of weft tune", self.weft(*words, status=BAD_INPUT).stderr)
        self.assertEqual((self.folder / "foreign.tune").read_text(encoding="utf-8"), "something else\n")
        self.weft("show", "nowhere.tune", status=BAD_INPUT)

    def test_a_study_of_another_scenario_or_commit_is_not_gone_on_with(self):
        self.tune(*KNOBS, *BUDGET)
        self.assertIn("there already", self.weft("small.yaml", *KNOBS, *BUDGET, status=BAD_INPUT).stderr)
        (self.folder / "small.yaml").write_text(SMALL.replace("200kB", "201kB"), encoding="utf-8")
        self.assertIn("has changed", self.weft("resume", "small.tune", status=BAD_INPUT).stderr)
        with sqlite3.connect(self.folder / "small.tune") as store:
            store.execute("UPDATE facts SET value = 'weft 0.0.0 (other)' WHERE name = 'version'")
        self.assertIn("weft 0.0.0 (other)", self.weft("resume", "small.tune", status=BAD_INPUT).stderr)

    def test_a_study_of_another_commit_is_read_and_said_to_be(self):
        self.tune(*KNOBS, *BUDGET, "--set", "cc.target_delay=200us", "--aim", "done_s", "--aim", "queue_bytes_max:0.1")
        verbs = [["show"], ["show", "--json"], ["best"], ["pareto"], ["pareto", "--json"], ["export", "--as", "mrc"], ["report", "--json"],
                 ["report", "--force"], ["ab", "small.tune"], ["ab", "small.tune", "--json"]]
        own = [self.weft(verb[0], "small.tune", *verb[1:]) for verb in verbs]
        with sqlite3.connect(self.folder / "small.tune") as store:
            store.execute("UPDATE facts SET value = 'weft 0.0.0 (other)' WHERE name = 'version'")
        for verb, before in zip(verbs, own, strict=True):
            run = self.weft(verb[0], "small.tune", *verb[1:])
            self.assertEqual(before.stderr, "")
            self.assertRegex(run.stderr, r"^(weft tune: small\.tune: this study is of weft 0\.0\.0 \(other\), read by weft .*\n){%d}$" % (1 + (verb[0] == "ab")))
            if "--json" in verb:
                keys = {"a_other_version", "b_other_version"} if verb[0] == "ab" else {"other_version"}
                added = json.loads(run.stdout)
                self.assertEqual({added.pop(key) for key in keys}, {"weft 0.0.0 (other)"})
                added["weft"] = json.loads(before.stdout).get("weft")
                self.assertEqual(added, {"weft": None, **json.loads(before.stdout)})
            elif verb[0] != "export":  # whose first comment has the version
                self.assertEqual(run.stdout, before.stdout)
        self.assertIn("The runs are of weft 0.0.0 (other), this page is not.", (self.folder / "small.html").read_text(encoding="utf-8"))

    def test_a_full_disk_is_told(self):
        run = subprocess.run(["bash", "-c", f"ulimit -f 40; exec {WEFT} tune small.yaml {' '.join(KNOBS + BUDGET)}"],
                             capture_output=True, text=True, timeout=600, check=False, cwd=self.folder)
        self.assertEqual(run.returncode, ENVIRONMENT, run.stderr)
        self.assertIn("small.tune", run.stderr)
        self.assertEqual(self.weft("resume", "small.tune", "--json").returncode, DONE)


def skip_without_sqlite():
    with tempfile.TemporaryDirectory() as empty:
        probe = weft.run("tune", "show", f"{empty}/none")
    if "has no SQLite" in probe.stderr:
        print("this build has no SQLite: skipped")
        sys.exit(SKIPPED)


def main():
    skip_without_sqlite()
    unittest.main()


if __name__ == "__main__":
    main()
