#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Names of others are shown, not obeyed: no character that moves a cursor, changes a colour or turns the direction of writing gets
out of any program as it is, on a terminal or in a file; no cell of CSV is a formula, and no name is markup in Markdown."""
import csv
import json
import os
import pathlib
import pty
import re
import shutil
import subprocess
import tempfile
import unittest
import uuid

import weft
from weft import WEFT

BIDI = "\u202egpj\u2066\u200f\u061c\ufeff\u0085\u009b31m\u2028"
NAME = json.dumps(BIDI)  # as YAML writes it, too
HIDDEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]")
ESCAPE = "\x1b[31m\x1b]0;title\x07\r"
SCENARIO = f"""name: {NAME}
description: {NAME}
fabric: {{nics: 4, planes: 1, nics_per_t0: 2, t1_count: 2, link_rate: 100Gb/s}}
traffic: {{kind: permutation, bytes: 10kB}}
"""
VARIANTS = SCENARIO + f"""variants:
  - {{name: {json.dumps("=cmd" + BIDI)}, set: traffic.bytes=10kB}}
  - {{name: '+1+cmd', set: traffic.bytes=20kB}}
  - {{name: '@sum', set: traffic.bytes=30kB}}
  - {{name: '-2', set: traffic.bytes=40kB}}
"""
PROFILE = f"""name: {NAME}
checks:
  - {{name: {NAME}, metric: flows.count, bound: "at least 1", source: {NAME}}}
  - {{name: far, metric: flows.count, bound: "at least 100", source: none}}
"""
LOG = ':::MLLOG {"key": "submission_platform", "value": %s}\n' % json.dumps(ESCAPE + BIDI) + "".join(
    ':::MLLOG {"key": "tracked_stats", "value": {"train_step_time": 3.%d, "reduced_train_loss": 7}, "metadata": {"step": %d}}\n'
    % (step, step) for step in range(1, 8))


def is_number(text):
    try:
        return bool(float(text)) or True
    except ValueError:
        return False


class Shown(unittest.TestCase):
    def setUp(self):
        # no name of tempfile's own: one with `_` at its end is markup, and its path stands in what is compared here
        self.folder = pathlib.Path(tempfile.gettempdir()) / f"shown{uuid.uuid4().hex}"
        self.folder.mkdir(mode=0o700)
        self.addCleanup(shutil.rmtree, self.folder)

    def file(self, name, text):
        path = self.folder / name
        path.write_text(text, encoding="utf-8")
        return path

    def assert_harmless(self, data, what):
        text = data.decode("utf-8") if isinstance(data, bytes) else data  # what is no UTF-8 fails here
        found = HIDDEN.search(text.replace("\n", ""))
        self.assertIsNone(found, f"{what}: {text[max(0, found.start() - 60):found.start() + 30]!r}" if found else "")
        return text

    def weft(self, *words, status=0):
        run = weft.run(*words, text=False)
        self.assertEqual(run.returncode, status, (words, run.stderr))
        return self.assert_harmless(run.stdout, words) + self.assert_harmless(run.stderr, words)

    def assert_files(self, folder, *names):
        for name in names:
            self.assertTrue((folder / name).is_file(), name)
        for path in folder.rglob("*"):
            if path.is_file():
                text = path.read_text(encoding="utf-8")
                if path.name == "report.html":  # the library of charts is not ours to judge
                    text = re.sub(r"(?s)<script>.*?</script>", "", text)
                self.assert_harmless(text, path)
            if path.suffix == ".csv":
                with open(path, newline="", encoding="utf-8") as file:
                    for cell in (cell for line in csv.reader(file) for cell in line):
                        self.assertFalse(cell[:1] in ("=", "+", "-", "@", "\t") and not is_number(cell), (path, cell))

    def test_a_result_in_all_its_forms(self):
        scenario, profile = self.file("hostile.yaml", SCENARIO), self.file("profile.yaml", PROFILE)
        one, two = self.folder / "one", self.folder / "two"
        self.assertIn("[U+202E]gpj[U+2066]", self.weft("sim", scenario, "--out", one))
        self.weft("sim", scenario, "--seed", "3", "--out", two)
        self.weft("sim", scenario, "--json")
        self.assertEqual(json.loads((one / "result.json").read_text(encoding="utf-8"))["scenario"]["name"], BIDI)
        self.assertIn("[U+202E]", self.weft("report", one))
        self.assert_files(one, "result.json", "report.html", "metrics.txt", "result.csv")
        self.assertIn("[U+202E]", (one / "metrics.txt").read_text(encoding="utf-8"))
        self.weft("report", two, "--profile", profile, status=1)
        self.weft("compare", one, two, "--all")
        self.weft("compare", one, two, "--json")
        judged = self.folder / "judged"
        judged.mkdir()
        self.assertIn("[U+202E]", self.weft("verdict", one, "--profile", profile, "--junit", judged / "junit.xml", status=1))
        self.weft("verdict", one, "--profile", profile, "--json", status=1)
        self.weft("topology", scenario, "--svg", judged / "fabric.svg")
        self.assert_files(judged, "junit.xml", "fabric.svg")
        self.assertIn("[U+202E]", (judged / "fabric.svg").read_text(encoding="utf-8"))

    def test_a_study_and_its_tables(self):
        out = self.folder / "study"
        self.weft("sim", self.file("variants.yaml", VARIANTS), "--seeds", "2", "--out", out)
        self.weft("report", out)
        self.assert_files(out, "study.json", "study.csv", "runs.csv", "report.html")
        with open(out / "runs.csv", newline="", encoding="utf-8") as file:
            names = [line["variant"] for line in csv.DictReader(file)]
        self.assertEqual({"'+1+cmd", "'@sum", "-2"}, set(names) - {names[0]})
        self.assertTrue(names[0].startswith("'=cmd[U+202E]"), names[0])

    def test_a_book(self):
        out = self.folder / "book"
        self.weft("validate-fabric", self.file("hostile.yaml", SCENARIO), "--quick", "--only", "pair-near", "--set", "seed=2", "--out", out)
        for name in ("report.md", "report.html", "book.json"):
            text = (out / name).read_text(encoding="utf-8")
            self.assert_harmless(re.sub(r"(?s)<script>.*?</script>", "", text), name)

    def test_names_break_no_table_of_markdown(self):
        """Rows have as many cells as their head, and what is markup in a name stands there as itself."""
        markup = "a|b`c*d*[e](f)<g>&h~i"
        shown = "a\\|b\\`c\\*d\\*\\[e\\](f)\\<g\\>\\&h\\~i"
        out = self.folder / f"{markup}-book"
        # why a case is not asked names its scenario, which is in this folder
        scenario = self.file(f"{markup}.yaml", SCENARIO + "faults: [{kind: straggler, at: {host: 0}, rate: 50%}]\n")
        self.weft("validate-fabric", scenario, "--quick", "--only", "pair-near", "--set", f"description={markup} k_l _m_",
                  "--fault", "{kind: loss, at: all, probability: 0.001%} # " + markup, "--out", out, status=5)
        report = (out / "report.md").read_text(encoding="utf-8")
        for line in (f"# Validation of a fabric: {shown}", f"| scenario | {self.folder}/{shown}.yaml |",
                     f"| set | description={shown} k_l \\_m\\_ |",
                     f"| fault | {{kind: loss, at: all, probability: 0.001%}} # {shown} |"):
            self.assertIn(line, report.splitlines())
        self.assertEqual(report.count(f"{self.folder}/{shown}-book/cases/pair-near/scenario.yaml:"), 2)
        cells = None
        for line in report.splitlines():
            count = len(re.findall(r"(?<!\\)(?:\\\\)*\|", line))
            if not line.startswith("|"):
                self.assertEqual(count, 0, line)
            elif cells is not None:
                self.assertEqual(count, cells, line)
            cells = count if line.startswith("|") else None

    def test_logs_and_traces_of_others(self):
        self.weft("mllog", self.file("log", LOG))
        self.weft("mllog", self.folder / "log", "--json")
        for text in (f"{ESCAPE}{BIDI}", f'{{"schema": "{BIDI}"}}', f"num_ranks 2\nrank 0 {{\n{BIDI}: send 1b to 1\n}}\n"):
            self.weft("trace", self.file("trace", text), status=2)
            self.weft("sim", "--trace", self.folder / "trace", status=2)

    def test_words_of_the_command_line_and_names_of_files(self):
        for word in (ESCAPE, BIDI, "a\nweft sim: done", b"\xff\x9b31m", "\u00e9\u4e16"):
            for words in ((word,), ("help", word), ("sim", word), ("sim", "two-planes", word), ("sim", "two-planes", "--set", word),
                          ("sim", "two-planes", "--fault", word), ("sim", "two-planes", "--seed", word), ("verdict", word),
                          ("report", word), ("compare", word, word), ("trace", word), ("mllog", word), ("plan", word),
                          ("goodput", word), ("scaling", word), ("coll", word), ("bench", word), ("gpu", word), ("validate", word),
                          ("validate-fabric", word, "--out", self.folder / "book"), ("topology", word),
                          ("verdict", self.folder, "--profile", word)):
                with self.subTest(words=words):
                    run = weft.run(*words, text=False)
                    self.assertNotEqual(run.returncode, 0)
                    self.assert_harmless(run.stdout + run.stderr, words)
                    if len(words) > 1 and words[0] != "help":
                        self.assertEqual(run.stderr.count(b"\n"), 1, run.stderr)

    def test_letters_of_all_languages_stay(self):
        name = "\u00e9\u00df \u4e16\u754c \u05d0\u05d1 \U0001f600"
        shown = self.weft("sim", self.file("plain.yaml", SCENARIO.replace(NAME, json.dumps(name, ensure_ascii=False))))
        self.assertIn(name, shown)

    def test_a_terminal_gets_no_more(self):
        try:
            ours, theirs = pty.openpty()
        except OSError as why:  # a container may have none
            self.skipTest(f"no terminal here: {why}")
        with subprocess.Popen([WEFT, "sim", self.file("hostile.yaml", SCENARIO)], stdout=theirs, stderr=theirs):
            os.close(theirs)
            shown = b""
            try:
                while more := os.read(ours, 65536):
                    shown += more
            except OSError:  # the other end is closed
                pass
        os.close(ours)
        text = re.sub(rb"(\r\[[^\r]*)*\r\x1b\[K", b"", shown).replace(b"\r\n", b"\n")  # the bar
        text = re.sub(rb"\x1b\[(0|1|2|36|1;3[123])m", b"", text)  # colours of the short form
        self.assertIn("[U+202E]", self.assert_harmless(text, "a terminal"))


if __name__ == "__main__":
    unittest.main()
