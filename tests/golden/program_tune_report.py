#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""weft tune report: what its document says is what the rows of the study say, curves with their intervals on paired seeds, the
Pareto set, how soon the search was near; its page draws all of that inside its frames and in the words of `show`; making it
changes nothing in the study but rows of curves, which are made once. Without SQLite: skipped."""
import html
import json
import math
import os
import re
import signal
import sqlite3
import statistics
import subprocess
import time

import page_laws
import program_tune
from program_tune import BAD_INPUT, BUDGET, DONE, NOT_VALID, SMALL, WEFT
import weft

WORDS = ["--knob", "cc.target_delay=0.1rtt..6rtt", "--knob", "queue.bytes=50kB..400kB", "--knob", "transport.path=rotate,reps",
         "--limit", "queue_bytes_max<=300kB", *BUDGET[2:], "--budget", "200"]
T9 = 2.262157  # Student's t for 9 degrees of freedom, 95 %
FRESH = 1 << 32


class Report(program_tune.Room):
    def report(self, *words, status=DONE):
        return json.loads(self.weft("report", "small.tune", "--json", *words, status=status).stdout)

    def store(self):
        return sqlite3.connect(f"file:{self.folder / 'small.tune'}?mode=ro", uri=True)

    def times(self, setting):
        with self.store() as store:
            return [value for value, in store.execute("SELECT done_s FROM runs WHERE setting = ? AND seed >= ? ORDER BY seed", (setting, FRESH))]

    def test_curves_are_what_the_rows_say(self):
        study = self.tune(*WORDS)
        rows = self.rows("small.tune")
        document = self.report("--curves", 5)
        more = self.rows("small.tune")
        self.assertEqual(self.report("--curves", 5), document)
        self.assertEqual(self.rows("small.tune"), more)  # none is made twice
        self.assertLess(set(rows), set(more))
        self.assertEqual(json.loads(self.weft("show", "small.tune", "--json").stdout), study)
        best = study["finalists"][0]["setting"]
        curves = document["curves"]
        self.assertEqual((curves["alone"], curves["seeds"], curves["from"]), (True, 10, best))
        self.assertEqual([len(knob["points"]) for knob in curves["knobs"]], [5, 5, 2])
        values = dict(word.split("=") for word in best.split())
        checked = 0
        for knob in curves["knobs"]:
            for point in knob["points"]:
                setting = " ".join(f"{key}={point['value'] if key == knob['knob'] else value}" for key, value in values.items())
                logs = [math.log(own / other) for own, other in zip(self.times(setting), self.times("default"))]
                self.assertEqual(len(logs), 10, setting)
                if point["breaks"] is not None:
                    continue
                half = T9 * statistics.stdev(logs) / math.sqrt(10)
                for key, value in (("ratio", 0), ("low", -half), ("high", half)):
                    self.assertAlmostEqual(point[key], math.exp(statistics.mean(logs) + value), places=5)
                checked += 1
        self.assertGreater(checked, 6)

    def test_the_search_is_what_the_rows_say(self):
        study = self.tune(*WORDS)
        document = self.report()
        for key in study:
            self.assertEqual(document[key], study[key], key)
        ratios = [one["ratio"] for one in document["settings"] if one["ratio"] is not None]
        search, best = document["search"], min(ratios)
        self.assertEqual((search["settings"], search["kept_constraints"]), (study["different"], len(ratios)))
        self.assertEqual(search["within_2_percent"], sum(ratio <= best * 1.02 for ratio in ratios))
        self.assertEqual(search["best_so_far"][-1][1], best)
        order = [one["setting"] for one in sorted(study["candidates"], key=lambda one: one["number"])]
        self.assertEqual(order, [one["setting"] for one in document["settings"]])
        for target in search["runs_to"]:
            # three runs each, behind the default's five
            near = next(i for i, one in enumerate(document["settings"]) if (one["ratio"] or 9) <= best * (1 + target["within"]))
            self.assertEqual(target["runs"], 5 + 3 * (near + 1))
        kept = {one["setting"]: one["search"]["ratio"] for one in study["candidates"] if one["search"]["violation"] == 0}
        self.assertFalse(document["curves"]["alone"])
        for knob in document["curves"]["knobs"]:
            self.assertEqual(sum(point["count"] for point in knob["points"]), len(kept))
            mean = sum(point["count"] * math.log(point["ratio"]) for point in knob["points"]) / len(kept)
            self.assertAlmostEqual(mean, statistics.mean(map(math.log, kept.values())), places=9)
            self.assertEqual([point["x"] for point in knob["points"]], sorted(point["x"] for point in knob["points"]))
        front = json.loads(self.weft("pareto", "small.tune", "--aim", "done_s", "--aim", "queue_bytes_max", "--json").stdout)
        self.assertEqual(document["pareto"]["points"][:document["pareto"]["unbeaten"]], front["front"])
        self.assertEqual(len(document["pareto"]["points"]), front["compared"])

    def test_the_page_draws_all_of_it(self):
        (self.folder / "small.yaml").write_text(SMALL + "cc: {target_delay: 60us}\n", encoding="utf-8")
        self.assertEqual(self.tune(*WORDS)["verdict"], "better")
        self.assertEqual(self.weft("report", "small.tune", "--curves", 5).stdout, "small.html\n")
        page = (self.folder / "small.html").read_text(encoding="utf-8")
        self.assertEqual(page_laws.broken(self.folder / "small.html"), [])
        self.assertLess(page.index('id="verdict"'), page.index('id="summary"'))
        self.assertGreaterEqual(page.count('class="card tile'), 2)
        self.assertIn("What to do next", page)
        tiles = {label: (value, note) for label, value, note in
                 re.findall(r'<p class="label">(.*?)</p><p class="value">(.*?) <small>.*?<p class="note">(.*?)</p>', page, re.S)}
        runs, counts = tiles["Runs"], self.report("--curves", 5)
        self.assertEqual(int(runs[0].replace(",", "")), counts["runs"])
        self.assertIn(f"{counts['search']['runs']} in the search, with {counts['search']['settings']} settings", runs[1])
        self.assertIn(f" {counts['runs']} runs, ", page)
        self.assertRegex(tiles["Aim of the best over that of the default"][0], r"^0\.\d{1,4}$")
        self.assertIsNone(re.search(r"<td[^>]*>-?\d+\.\d{5,}</td>", page))
        page, document = (self.folder / "small.html").read_text(encoding="utf-8"), self.report("--curves", 5)
        charts = json.loads(page.partition('id="charts">')[2].partition("</script>")[0])
        names = {chart["id"]: chart for chart in charts}
        self.assertEqual(list(names), ["finalists", "curve-cc.target_delay", "curve-queue.bytes", "curve-transport.path", "parallel", "pareto", "so-far"])
        self.assertEqual(sum(len(one["points"]) for one in names["parallel"]["series"]), len(document["settings"]))
        self.assertEqual(sum(len(one["points"]) for one in names["pareto"]["series"]), document["pareto"]["compared"])
        curve = [point for point in document["curves"]["knobs"][0]["points"] if point["ratio"] is not None]
        for drawn, point in zip(names["curve-cc.target_delay"]["series"][0]["points"], curve, strict=True):
            for value, key in zip(drawn, ("x", "ratio", "low", "high")):
                self.assertAlmostEqual(value, point[key], places=7)
        for name, drawing in re.findall(r'<figure class="chart" id="chart-([^"]*)".*?(<svg.*?</svg>)', page, re.S):
            width, height = map(float, re.search(r'viewBox="0 0 ([\d.]+) ([\d.]+)"', drawing).groups())
            places = [tuple(map(float, pair)) for pair in re.findall(r'c?x="([-\d.]+)" c?y="([-\d.]+)"', drawing)]
            places += [tuple(map(float, pair.split(","))) for line in re.findall(r'points="([^"]*)"', drawing) for pair in line.split()]
            self.assertGreater(len(places), 4, name)
            self.assertTrue(all(0 <= x <= width and 0 <= y <= height for x, y in places), name)
        # each chart is drawn wide and narrow
        self.assertEqual(page.count("<circle"), 2 * sum(len(one["points"]) for name in names.values() if name["kind"] == "points" for one in name["series"]))
        words = html.unescape(page)
        said = self.weft("show", "small.tune").stdout.partition("In words\n")[2].splitlines()
        self.assertGreater(len(said), 3)
        for line in said:
            self.assertTrue(line.strip() in words, line)
        for part in ("weft tune --knob=cc.target_delay=0.1rtt..6rtt", "'--limit=queue_bytes_max<=300kB'", " small.yaml"):
            self.assertTrue(part in words, part)
        self.assertIsNone(re.search(r"\bnan\b|\binf\b", re.sub(r"<script.*?</script>", "", page, flags=re.S)))

    def test_what_cannot_be_reported_is_told(self):
        self.tune(*WORDS)
        self.weft("report", "small.tune", "--quiet")
        self.assertIn("small.html", self.weft("report", "small.tune", status=BAD_INPUT).stderr)
        self.weft("report", "small.tune", "--force")
        self.weft("report", "small.tune", "--out", "other.html")
        self.assertTrue((self.folder / "other.html").read_text() == (self.folder / "small.html").read_text())
        for words, said in ((["report", "small.tune", "--curves", 1], "--curves"), (["show", "small.tune", "--curves", 5], "go with report"),
                            (["report", "small.tune", "--json", "--out", "a.html"], "--json"), (["report", "nowhere.tune"], "nowhere.tune")):
            self.assertIn(said, self.weft(*words, status=BAD_INPUT).stderr)
        self.assertFalse((self.folder / "a.html").exists())

    def test_a_study_under_way_has_a_page_but_no_curves(self):
        writer = subprocess.Popen([WEFT, "tune", "small.yaml", *WORDS[:6], "--budget", "20000", "--study", "way.tune"], cwd=self.folder,
                                  stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        found = None
        for _ in range(3000):
            time.sleep(0.02)
            run = weft.run("tune", "report", "way.tune", "--json", cwd=self.folder)
            if run.returncode == NOT_VALID and json.loads(run.stdout)["different"] > 0:
                found = json.loads(run.stdout)
                break
        os.kill(writer.pid, signal.SIGKILL)
        writer.wait()
        self.assertEqual(found["verdict"], "unfinished")
        self.weft("report", "way.tune", status=NOT_VALID)
        self.assertTrue("NOT AT ITS END" in (self.folder / "way.html").read_text())
        self.assertIn("not at its end", self.weft("report", "way.tune", "--curves", 5, "--force", status=NOT_VALID).stderr)


if __name__ == "__main__":
    program_tune.main()
