#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Verbs of weft tune that read studies or join them: parts of a search come to what one process comes to; a study that is
under way is shown as far as it is, also beside its writer and where nothing may be written; the Pareto set is what the rows
say; two studies are held against each other on seeds that both met. Without SQLite: skipped."""
import json
import math
import os
import shutil
import signal
import sqlite3
import subprocess
import time

import program_tune
from program_tune import BAD_INPUT, BUDGET, DONE, ENVIRONMENT, KNOBS, NOT_VALID, ROCE, SMALL, WEFT
import weft

NOBODY = 65534
PARTS = [*KNOBS, "--budget", "240", "--fresh-seeds", "8", "--race-seeds", "4", "--parts", "3"]


class Verbs(program_tune.Room):
    def json_of(self, *words, status=DONE):
        return json.loads(self.weft(*words, "--json", status=status).stdout)

    def test_parts_come_to_what_one_process_comes_to(self):
        self.join_parts(PARTS)

    def test_parts_that_search_in_rounds(self):
        """Each part has settings of a second round, on twice the seeds of the first."""
        self.join_parts([*KNOBS, "--budget", "1500", "--fresh-seeds", "8", "--race-seeds", "4", "--parts", "3", "--search-seeds", "2"])
        for part in (1, 2, 3):
            seeds = {}
            for _, setting, seed, _ in self.rows(f"small.{part}.tune"):
                seeds[setting] = seeds.get(setting, 0) + (seed < 2 ** 32)
            counts = [count for setting, count in seeds.items() if setting != "default"]
            self.assertIn(2, counts)
            self.assertGreaterEqual(sum(count >= 4 for count in counts), 8)

    def test_parts_of_a_search_for_a_front_that_starts_from_what_was_screened(self):
        """No part knows of what another found, so that each is done elsewhere as it is done here."""
        knobs = ["--knob", "cc.target_delay=0.1rtt..6rtt", "--knob", "cc.qa_gate=0..6", "--knob", "queue.bytes=30kB..400kB"]
        self.join_parts([*knobs, "--aim", "done_s", "--aim", "queue_bytes_max", "--front", "--screen", "2", "--budget", "600", "--fresh-seeds", "8",
                         "--race-seeds", "4", "--parts", "3"])
        front = self.json_of("pareto", "all.tune", status=None)["front"]
        self.assertEqual(front, self.json_of("pareto", "whole.tune", status=None)["front"])
        self.assertGreater(len(front), 2)

    def join_parts(self, words):
        whole = self.tune(*words, "--study", "whole.tune", status=None)
        for part in (1, 2, 3):
            said = self.weft("small.yaml", *words, "--part", part).stdout
            self.assertIn(f"part {part} of 3", said)
            self.assertNotIn("Next:", said)  # which is merge, once all are there
        files = [f"small.{part}.tune" for part in (1, 2, 3)]
        self.weft("merge", "all.tune", *files)
        rows = {row for part in files for row in self.rows(part)}
        self.assertEqual(self.rows("all.tune"), sorted(rows))
        self.weft("merge", "all.tune", *files) # a second time: nothing is there twice
        self.assertEqual(self.rows("all.tune"), sorted(rows))
        self.assertEqual(self.json_of("resume", "all.tune", status=None), whole)
        self.assertEqual(self.rows("all.tune"), self.rows("whole.tune")) # the parts ran what one process would, no more

    def test_what_is_no_part_is_refused_by_name(self):
        self.weft("small.yaml", *PARTS, "--part", 1)
        self.weft("small.yaml", *PARTS, "--part", 2, "--seed", 7)
        (self.folder / "foreign.tune").write_text("something else\n", encoding="utf-8")
        before = sorted(path.name for path in self.folder.iterdir() if path.suffix == ".tune")
        for words, said in ((["small.1.tune", "small.2.tune"], "small.2.tune: this is not part"),
                            (["small.1.tune", "foreign.tune"], "foreign.tune: this is not a study"),
                            (["small.1.tune", "nowhere.tune"], "nowhere.tune")):
            self.assertIn(said, self.weft("merge", "all.tune", *words, status=BAD_INPUT).stderr)
            self.assertEqual(sorted(path.name for path in self.folder.iterdir() if path.suffix == ".tune"), before)
        shutil.copy(self.folder / "small.1.tune", self.folder / "spoilt.tune")
        with sqlite3.connect(self.folder / "spoilt.tune") as store:
            store.execute("UPDATE runs SET digest = '0123456789abcdef' WHERE seed = (SELECT max(seed) FROM runs)")
        self.assertIn("spoilt.tune: a run of this part came to something else",
                      self.weft("merge", "all.tune", "small.1.tune", "spoilt.tune", status=BAD_INPUT).stderr)
        self.assertFalse((self.folder / "all.tune").exists())
        for words, said in ((["small.yaml", *KNOBS, "--part", "1", "--parts", "0"], "--parts"),
                            (["small.yaml", *PARTS, "--part", "4"], "--part counts from 1"),
                            (["merge", "all.tune"], "the parts"), (["ab", "small.1.tune"], "two studies"),
                            (["show", "small.1.tune", "--part", "1"], "its own settings")):
            self.assertIn(said, self.weft(*words, status=BAD_INPUT).stderr)

    def test_a_study_under_way_is_shown_as_far_as_it_is(self):
        writer = subprocess.Popen([WEFT, "tune", "small.yaml", *KNOBS, "--budget", "900", "--study", "way.tune"],
                                  cwd=self.folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        shown = None
        for _ in range(400):
            time.sleep(0.02)
            run = weft.run("tune", "show", "way.tune", "--json", cwd=self.folder)
            if run.returncode == NOT_VALID and json.loads(run.stdout)["different"] > 0:
                shown = json.loads(run.stdout)
                break
        os.kill(writer.pid, signal.SIGKILL)
        writer.wait()
        self.assertEqual(shown["verdict"], "unfinished")
        self.assertEqual(shown["finalists"], [])
        self.assertIsNone(shown["recommended"])
        self.assertIn("NOT AT ITS END", self.weft("show", "way.tune", status=NOT_VALID).stdout)
        self.assertIn("not at its end", self.weft("best", "way.tune", status=NOT_VALID).stderr)
        self.json_of("pareto", "way.tune", "--aim", "done_s", "--aim", "fairness", status=NOT_VALID)

    def test_the_pareto_set_is_what_the_rows_say(self):
        self.tune("--knob", "cc.target_delay=0.1rtt..6rtt", "--knob", "queue.bytes=50kB..400kB", *BUDGET)
        front = self.json_of("pareto", "small.tune", "--aim", "done_s", "--aim", "queue_bytes_max")
        with sqlite3.connect(f"file:{self.folder / 'small.tune'}?mode=ro", uri=True) as store:
            rows = store.execute("SELECT setting, seed, done_s, queue_bytes_max, rtx_timeout, complete FROM runs").fetchall()
        fresh = {setting for setting, seed, *_ in rows if seed >= 1 << 32}
        first = {(setting, seed): figures for setting, seed, *figures in rows}
        points = {}
        for setting in {row[0] for row in rows}:
            seeds = [seed for name, seed in first if name == setting and (seed >= 1 << 32) == (setting in fresh)]
            if all(first[setting, seed][2:] == [0, 1] for seed in seeds):
                points[setting] = [math.fsum(first[setting, seed][i] for seed in seeds) /
                                   math.fsum(first["default", seed][i] for seed in seeds) for i in (0, 1)]
        self.assertEqual(len(points), front["compared"])
        best = {setting for setting, point in points.items() if not any(
            other[0] <= point[0] and other[1] <= point[1] and other != point and (name in fresh or setting not in fresh)
            for name, other in points.items())}
        self.assertEqual({one["setting"] or "default" for one in front["front"]}, best)
        for one in front["front"]:
            for value, own in zip(one["values"], points[one["setting"] or "default"]):
                self.assertAlmostEqual(value, own, places=9)
        self.assertGreater(len(best), 1)
        self.assertIn("give two or more", self.weft("pareto", "small.tune", status=BAD_INPUT).stderr)
        self.assertIn("there is no figure", self.weft("pareto", "small.tune", "--aim", "speed", status=BAD_INPUT).stderr)
        self.assertIn("no such figure", self.weft("pareto", "small.tune", "--aim", "done_s", "--aim", "nic_paused_s",
                                                  status=BAD_INPUT).stderr)

    def test_a_search_for_a_front_has_what_stands_for_it_on_fresh_seeds(self):
        knobs = ["--knob", "cc.target_delay=0.1rtt..6rtt", "--knob", "queue.bytes=30kB..400kB"]
        words = [*knobs, "--aim", "done_s", "--aim", "queue_bytes_max", "--budget", 400, "--fresh-seeds", 10, "--race-seeds", 5]
        study = self.tune(*words, "--front", "--study", "one.tune", status=None)
        self.assertEqual(self.tune(*words, "--front", "--study", "two.tune", "--jobs", 4, status=None), study)
        self.assertEqual(self.rows("one.tune"), self.rows("two.tune"))
        with sqlite3.connect(f"file:{self.folder / 'one.tune'}?mode=ro", uri=True) as store:
            rows = store.execute("SELECT setting, seed, done_s, queue_bytes_max FROM runs WHERE seed < 4294967296").fetchall()
        default = {seed: figures for setting, seed, *figures in rows if setting == "default"}
        logs = {}
        for setting, seed, *figures in rows:
            logs.setdefault(setting, []).append([math.log(own / of) for own, of in zip(figures, default[seed])])
        most = max(len(one) for setting, one in logs.items() if setting != "default")
        points = {setting: [sum(column) / len(one) for column in zip(*one)] for setting, one in logs.items() if setting != "default" and len(one) == most}
        front = {setting for setting, point in points.items() if not any(all(a <= b for a, b in zip(other, point)) and other != point for other in points.values())}
        chosen = {one["setting"] for one in study["finalists"]}
        self.assertLessEqual(chosen, front)
        self.assertEqual(len(chosen), min(5, len(front)))
        self.assertRegex(self.weft("show", "one.tune").stdout, "It buys [0-9.]+ % of done_s and queue_bytes_max on the mean, at least")
        for aim in (0, 1):  # both ends are among them
            self.assertIn(min(front, key=lambda setting: points[setting][aim]), chosen)
        self.assertIn("beaten by no other in all of these at once", self.weft("show", "one.tune", status=None).stdout)
        fresh = [one["fresh"] for one in self.json_of("pareto", "one.tune", status=None)["front"]]
        self.assertTrue(fresh[0])
        self.assertEqual(fresh, sorted(fresh, reverse=True))
        self.assertIn("two or more of --aim", self.weft("small.yaml", *knobs, "--front", "--aim", "done_s", "--study", "wrong.tune", status=BAD_INPUT).stderr)
        self.assertFalse((self.folder / "wrong.tune").exists())

    def test_a_figure_that_may_be_0_is_an_aim(self):
        """An outcast leaves queues empty for some seeds: that is good, no run that failed, and a tenth of what the other has. A
        space's words may be a list; settings with the same figures are one line."""
        (self.folder / "pod.yaml").write_text(SMALL.replace("incast, senders: 12, bytes: 200kB", "outcast, receivers: 12, bytes: 200kB"), encoding="utf-8")
        (self.folder / "mine.yaml").write_text("name: mine\nknobs:\n  - {key: cc.target_delay, range: 0.2rtt..4rtt, scale: log}\n"
                                               "  - {key: transport.path, words: [rotate, reps]}\n", encoding="utf-8")
        study = json.loads(self.weft("--json", "pod.yaml", "--space", "mine.yaml", "--aim", "queue_bytes_max", *BUDGET[2:], "--budget", 200, status=None).stdout)
        with sqlite3.connect(f"file:{self.folder / 'pod.tune'}?mode=ro", uri=True) as store:
            rows = {row[:2]: row[2] for row in store.execute("SELECT setting, seed, queue_bytes_max FROM runs WHERE seed >= 4294967296")}
        self.assertIn(0, rows.values())
        for one in study["finalists"]:
            pairs = [(figure, rows["default", seed]) for (setting, seed), figure in rows.items() if setting == one["setting"]]
            logs = [math.log((figure or 0.1 * of) / (of or 0.1 * figure)) if figure or of else 0 for figure, of in pairs]
            self.assertAlmostEqual(one["fresh"]["ratio"], math.exp(sum(logs) / len(logs)), places=9)
        shown = self.weft("pareto", "pod.tune", "--aim", "done_s", "--aim", "queue_bytes_max", status=None).stdout
        count = int(shown.split()[0])
        lines = [line for line in shown.splitlines() if "rtt" in line or line.endswith(" the default") and "of the default" not in line]
        self.assertEqual(count, len(lines) + sum(int(line.split()[0]) for line in shown.splitlines() if line.endswith("more with the same figures")))
        for text, said in (("words: [rotate, [a]]", "mine.yaml:4:34: not a short list of words: `words`"), ("range: [1, 2]", "mine.yaml:4:34: not one word: `range`"),
                           ("words: \"a,b\", words: \"c,d\"", "given twice: `words`"), ("word: a", "a knob has key, range or words, scale, above and when, not `word`")):
            (self.folder / "mine.yaml").write_text(f"name: mine\nknobs:\n\n  - {{key: transport.path, {text}}}\n", encoding="utf-8")
            self.assertIn(said, self.weft("pod.yaml", "--space", "mine.yaml", "--study", "wrong.tune", status=BAD_INPUT).stderr)

    def test_two_studies_are_held_against_each_other(self):
        (self.folder / "deep.yaml").write_text(SMALL.replace("200kB", "400kB"), encoding="utf-8")
        self.tune(*KNOBS, *BUDGET, "--study", "a.tune")
        self.weft("deep.yaml", *KNOBS, *BUDGET, "--study", "b.tune")
        row, = self.json_of("ab", "a.tune", "b.tune")["rows"]
        values = {}
        for study in "ab":
            best = self.weft("best", f"{study}.tune").stdout.strip()
            with sqlite3.connect(f"file:{self.folder / study}.tune?mode=ro", uri=True) as store:
                for name, setting in (("default", "default"), ("tuned", best)):
                    values[study, name] = [value for value, in store.execute(
                        "SELECT done_s FROM runs WHERE setting = ? AND seed >= 4294967296 ORDER BY seed", (setting,))]
                    self.assertEqual(len(values[study, name]), 10)
                    self.assertAlmostEqual(row[f"{study}_{name}"], sum(values[study, name]) / 10, places=12)
        logs = [math.log(b / a) for a, b in zip(values["a", "tuned"], values["b", "tuned"])]
        self.assertAlmostEqual(row["ratio"], math.exp(sum(logs) / 10), places=9)
        self.assertTrue(row["low"] < row["ratio"] < row["high"])
        self.assertGreater(row["ratio"], 1.5) # twice the bytes
        self.weft("small.yaml", *KNOBS, *BUDGET, "--seed", 5, "--study", "c.tune")
        self.assertIn("other fresh seeds", self.weft("ab", "a.tune", "c.tune", status=BAD_INPUT).stderr)
        self.weft("small.yaml", *KNOBS, *BUDGET, "--aim", "fct_p99_s", "--study", "d.tune")
        self.assertIn("same --aim", self.weft("ab", "a.tune", "d.tune", status=BAD_INPUT).stderr)

    def test_screening_names_what_matters_and_leaves_flat_knobs(self):
        (self.folder / "small.yaml").write_text(ROCE, encoding="utf-8")
        study = self.tune("--space", "dcqcn", "--set", "cc.rate_timer=1500us", "--limit", "nic_paused_s<=1x", "--budget", 900,
                          "--screen", 6, "--fresh-seeds", 10, "--jobs", 2)
        knobs = {one["knob"]: one for one in study["knobs"]}
        self.assertEqual(max(knobs, key=lambda key: knobs[key]["share"]), "cc.rate_timer")
        self.assertFalse(knobs["cc.rate_timer"]["flat"])
        flat = {key for key, one in knobs.items() if one["flat"]}
        self.assertGreater(len(flat), 1)
        for key in flat:
            self.assertLess(knobs[key]["high"], 0.1)
            self.assertNotIn(key + "=", study["recommended"])
        self.assertEqual(study["verdict"], "better")
        self.assertLess(study["finalists"][0]["fresh"]["high"], 0.8)
        self.assertIn("FLAT", self.weft("show", "small.tune").stdout)
        self.assertEqual(self.tune("--space", "dcqcn", "--budget", 400, "--fresh-seeds", 5, "--screen", 0, "--study", "no.tune",
                                   status=None)["knobs"], [])
        self.assertIn("--budget 400 is too small",
                      self.weft("small.yaml", "--space", "dcqcn", "--budget", 400, "--screen", 30, "--study", "many.tune",
                                status=BAD_INPUT).stderr)
        self.assertFalse((self.folder / "many.tune").exists())

    def read_back(self, study, best, form, keys):
        """What is exported for `form` says what it rounds, and reads back as what was recommended."""
        text = self.weft("export", study, "--as", form).stdout
        (self.folder / "exported").write_text(text, encoding="utf-8")
        asked = dict(one.split("=") for one in best["sets"][0]["set"])
        read = dict(line.split("=") for line in self.weft("import", "exported", "--as", form).stdout.split())
        rounded = dict(line.split(" # rounded: ")[1].split(", asked ")[0].split("=") for line in text.splitlines() if "# rounded" in line)
        self.assertEqual(set(read), keys, text)
        self.assertEqual(read, {key: rounded.get(key, asked[key]) for key in keys}, text)
        for key in set(asked) - keys:
            self.assertIn(f"{key}={asked[key]}", text)
        self.assertIn(f"{best['fresh']['ratio']:.4f} of the default", text)
        lines = text.splitlines()
        (self.folder / "spoilt").write_text("\n".join([*lines, "rpg_time_reset=many"]), encoding="utf-8")
        self.assertIn(f"spoilt:{len(lines) + 1}: this is not a line of {form}",
                      self.weft("import", "spoilt", "--as", form, status=BAD_INPUT).stderr)
        return read, rounded

    def test_exports_read_back_as_what_is_recommended(self):
        (self.folder / "small.yaml").write_text(SMALL + "cc: {target_delay: 60us}\n", encoding="utf-8")
        study = self.tune("--knob", "cc.target_delay=0.1rtt..6rtt", "--knob", "cc.fi_scale=0.05a..0.5a", "--knob",
                          "cc.quick_adapt=true,false", "--knob", "queue.bytes=50kB..400kB", *BUDGET)
        keys = {"cc.target_delay", "cc.fi_scale", "cc.quick_adapt"}
        self.read_back("small.tune", study["finalists"][0], "mrc", keys)
        (self.folder / "small.yaml").write_text(ROCE, encoding="utf-8")
        study = self.tune("--space", "dcqcn", "--knob", "transport.qps_per_connection=1..4", "--set", "cc.rate_timer=1500us",
                          "--limit", "nic_paused_s<=1x", "--budget", 500, "--fresh-seeds", 10, "--screen", 0, "--study", "roce.tune")
        best, marks = study["finalists"][0], {"queue.ecn_low", "queue.ecn_high", "queue.ecn_share"}
        self.assertEqual(study["verdict"], "better")
        sets, rounded = self.read_back("roce.tune", best, "dcqcn", {
            "cc.gain", "cc.alpha_timer", "cc.rate_timer", "cc.recovery_rounds", "cc.rate_ai", "cc.rate_hai"})
        self.assertLess(abs(float(sets["cc.gain"]) * 1024 - round(float(sets["cc.gain"]) * 1024)), 1e-6)
        self.assertLessEqual(set(rounded), {"cc.gain", "cc.rate_ai", "cc.rate_hai", "cc.alpha_timer", "cc.rate_timer"})
        for form in ("sonic", "cumulus"):
            self.read_back("roce.tune", best, form, marks)
        self.read_back("roce.tune", best, "nccl", {"transport.qps_per_connection"})
        run = weft.run("sim", "small.yaml", "--quiet", *(word for one in sets.items() for word in ("--set", "=".join(one))), cwd=self.folder)
        self.assertEqual(run.returncode, DONE, run.stderr)
        for words, said in ((["--as", "junos"], "--as is mrc, dcqcn"), ([], "--as says for what"),
                            (["--as", "dcqcn", "--for", "nowhere"], "no scenario"), (["--as", "mrc"], "no knob of this study")):
            self.assertIn(said, self.weft("export", "roce.tune", *words, status=BAD_INPUT).stderr)

    def test_what_rounding_costs_is_measured(self):
        (self.folder / "small.yaml").write_text(SMALL + "cc: {target_delay: 60us}\n", encoding="utf-8")
        study = self.tune("--knob", "cc.target_delay=0.1rtt..6rtt", "--knob", "queue.bytes=50kB..400kB", "--limit",
                          "queue_bytes_max<=300kB", *BUDGET)
        best, rounded = study["finalists"][0], study["rounded"]
        text, asked = self.weft("show", "small.tune").stdout, best["sets"][0]["set"]
        taken = [one for one in rounded["tried"] if one["taken"]]
        self.assertEqual(rounded["digits"], taken[0]["digits"] if taken else "as found")
        self.assertEqual(rounded["sets"], taken[0]["sets"] if taken else best["sets"])
        for one, digits, name, word in zip(rounded["tried"], ("round", "two"), ("rounded", "two digits of"), ("Rounding costs", "Two digits cost")):
            self.assertEqual(one["digits"], digits)
            self.check_rounding(one, best, name)
            says = f"{word} {(one['cost'] - 1) * 100:+.2f} % ({(one['low'] - 1) * 100:+.2f} to {(one['high'] - 1) * 100:+.2f} %)"
            self.assertIn(says, text)
            self.assertIn("# " + says, self.weft("export", "small.tune", "--as", "mrc", "--rounded").stdout)
        worse = sum(b > a for (b,), (a,) in zip(*(self.fresh_times(name) for name in (best["setting"], "default"))))
        how = {"round": "rounded", "two": "to two digits", "as found": "as found"}[rounded["digits"]]
        for part in (f"Set, {how}: " + " ".join(rounded["sets"][0]["set"]), f"It buys {(1 - best['fresh']['ratio']) * 100:.1f} % of done_s",
                     f"It risks: worse than the default on {worse} of 10 seeds", "queue_bytes_max<=300kB is kept with", "What is flat is not known"):
            self.assertIn(part, text)
        self.assertNotEqual(rounded["tried"][0]["sets"][0]["set"], asked)
        (self.folder / "exported").write_text(self.weft("export", "small.tune", "--as", "mrc", "--rounded").stdout, encoding="utf-8")
        self.assertEqual(self.weft("import", "exported", "--as", "mrc").stdout.split(), [one for one in rounded["sets"][0]["set"] if "target_delay" in one])

    def check_rounding(self, one, best, name):
        """One way to round: its numbers, its cost on the fresh seeds, and whether it is taken."""
        sets, = (one["set"] for one in one["sets"])
        asked = dict(word.split("=") for word in best["sets"][0]["set"])
        for key, value in (word.split("=") for word in sets):
            digits = "".join(filter(str.isdigit, value)).rstrip("0")
            self.assertTrue(len(digits) <= 2 if one["digits"] == "two" else digits in ("1", "15", "2", "25", "3", "4", "5", "6", "8"), value)
            self.assertLess(abs(math.log(self.plain(value) / self.plain(asked[key]))), math.log(1.06 if one["digits"] == "two" else 1.23), (value, asked))
        with sqlite3.connect(f"file:{self.folder / 'small.tune'}?mode=ro", uri=True) as store:
            as_is, round_ = (store.execute("SELECT seed, done_s, digest FROM runs WHERE setting = ? AND seed >= 4294967296 ORDER BY seed",
                                           (setting,)).fetchall() for setting in (best["setting"], f"{name} {best['setting']}"))
        self.assertEqual((len(round_), [row[0] for row in as_is]), (10, [row[0] for row in round_]))
        logs = [math.log(b[1] / a[1]) for a, b in zip(as_is, round_)]
        self.assertAlmostEqual(one["cost"], math.exp(sum(logs) / 10), places=9)
        self.assertTrue(one["low"] < one["cost"] < one["high"])
        self.assertAlmostEqual(one["share"], math.log(one["cost"]) / -math.log(best["fresh"]["ratio"]), places=9)
        self.assertEqual(one["taken"], one["share"] <= 0.25 and one["fresh"]["violation"] == 0)
        alone = weft.run("sim", "small.yaml", "--json", "--seed", round_[3][0], *(word for set_ in sets for word in ("--set", set_)),
                         check=True, cwd=self.folder).stdout
        self.assertEqual(json.loads(alone)["run"]["digest"], round_[3][2])

    def test_rounding_that_breaks_a_constraint_is_not_taken(self):
        """The one round number of the range lies above the bound."""
        study = self.tune("--knob", "queue.bytes=132kB..152kB", "--set", "cc.target_delay=60us", "--limit", "queue_bytes_max<=146kB", *BUDGET)
        first = study["rounded"]["tried"][0]
        self.assertEqual((study["verdict"], first["sets"][0]["set"], first["taken"]), ("better", ["queue.bytes=150kB"], False))
        self.assertEqual(first["fresh"]["binding"], "queue_bytes_max<=146kB")
        self.assertNotEqual(study["rounded"]["digits"], "round")
        self.assertIn("breaks queue_bytes_max<=146kB", self.weft("show", "small.tune").stdout)

    @staticmethod
    def plain(value):
        number = value.rstrip("abcdefghijklmnopqrstuvwxyzBKMG/")
        return float(number) * {"ns": 1, "us": 1000, "B": 1, "kB": 1000}[value[len(number):]]

    def fresh_times(self, setting):
        with sqlite3.connect(f"file:{self.folder / 'small.tune'}?mode=ro", uri=True) as store:
            return store.execute("SELECT done_s FROM runs WHERE setting = ? AND seed >= 4294967296 ORDER BY seed", (setting,)).fetchall()

    def test_a_study_that_may_not_be_written_is_read(self):
        self.tune(*KNOBS, *BUDGET)
        whole = self.weft("show", "small.tune").stdout
        for beside in ("small.tune-wal", "small.tune-shm"):
            (self.folder / beside).unlink(missing_ok=True)
        os.chmod(self.folder / "small.tune", 0o444)
        os.chmod(self.folder, 0o555)
        try:
            who = {"user": NOBODY, "group": NOBODY, "extra_groups": []} if os.getuid() == 0 else {}
            if weft.run("tune", "--version", text=False, **who).returncode != DONE:
                self.skipTest("nobody may not start this program")
            shown = weft.run("tune", "show", "small.tune", cwd=self.folder, **who)
            self.assertEqual((shown.returncode, shown.stdout), (DONE, whole), shown.stderr)
            gone_on = weft.run("tune", "resume", "small.tune", cwd=self.folder, **who)
            self.assertEqual(gone_on.returncode, ENVIRONMENT, gone_on.stderr)
            self.assertIn("small.tune", gone_on.stderr)
        finally:
            os.chmod(self.folder, 0o755)


if __name__ == "__main__":
    program_tune.main()
