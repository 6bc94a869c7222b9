#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""No output option of any program destroys a file: not one that the call reads, under whatever name, with --force or without;
and what is there already only with --force. What is refused leaves everything as it was."""
import os
import pathlib
import re
import shutil
import stat
import subprocess
import tempfile
import threading
import unittest

import weft
from weft import BAD_INPUT, DONE, MISSED, SOURCE, WEFT

SCENARIO = """name: small
fabric: {nics: 8, planes: 2, nics_per_t0: 4, t1_count: 2}
traffic: {kind: permutation, bytes: 20kB}
"""
PROFILE = """name: mine
checks: [{name: run complete, metric: run.end, bound: is done, source: own}]
"""
GOAL = "num_ranks 8\n" + "".join(f"rank {rank} {{\nl1: send 10b to {(rank + 1) % 8} tag 1\nl2: recv 10b from {(rank - 1) % 8} tag 1\n}}\n"
                                  for rank in range(8))
EMU = ["--ports", "memory", "--dilation", "none"]

# program, its words, the option that names a file to write, the files it reads
WRITERS = [
    ("sim", ["{scenario}"], "--pcap", ["scenario"]),
    ("sim", ["{scenario}"], "--log", ["scenario"]),
    ("sim", ["{traced}", "--trace", "{goal}"], "--log", ["goal"]),
    ("sim", ["{scenario}", "--pcap", "{folder}/other.pcapng"], "--log", ["scenario"]),
    ("emu", ["{scenario}", *EMU], "--pcap", ["scenario"]),
    ("emu", ["{scenario}", *EMU], "--log", ["scenario"]),
    ("topology", ["{scenario}"], "--svg", ["scenario"]),
    ("goodput", ["{model}", "--runs", "2", "--days", "1"], "--svg", ["model"]),
    ("scaling", ["{model}", "--racks", "16,32"], "--svg", ["model"]),
    ("verdict", ["{result}", "--profile", "{profile}"], "--junit", ["profile", "result", "histogram", "manifest"]),
    ("bench", ["sim", "--scenario", "{scenario}", "--repeat", "1"], "--json", ["scenario"]),
    ("pcap", ["analyze", "{capture}"], "--annotate", ["capture"]),
    ("pcap", ["analyze", "{capture}"], "--page", ["capture"]),
    ("pcap", ["analyze", "{capture}"], "--trace", ["capture"]),
    ("pcap", ["analyze", "{capture}", "--profile", "{profile_of_captures}"], "--trace", ["profile_of_captures"]),
    ("validate-fabric", ["{scenario}", "--quick", "--only", "pair-near", "--out", "{folder}/book"], "--junit", ["scenario"]),
]
# Options with a file or folder that a program only reads, and those that write a folder: tests/drive/program_kept.py.
OTHERS = {"--against", "--trace", "--measured", "--compare", "--result", "--profile", "--data", "--play", "--link", "--gpu", "--out", "--study",
          "--before", "--after"}
ELSEWHERE = {("host", "--pcap"), ("topology", "--import"), ("plan", "--import")}  # needs another process: program_host.py; reads a file of another tool


class Outputs(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.room = tempfile.TemporaryDirectory()
        cls.made = pathlib.Path(cls.room.name) / "made"
        cls.made.mkdir()
        (cls.made / "scenario.yaml").write_text(SCENARIO, encoding="utf-8")
        (cls.made / "traced.yaml").write_text(re.sub("traffic.*", "traffic: {kind: trace}", SCENARIO), encoding="utf-8")
        (cls.made / "profile.yaml").write_text(PROFILE, encoding="utf-8")
        (cls.made / "job.goal").write_text(GOAL, encoding="utf-8")
        source = SOURCE
        shutil.copy(source / "pcaps" / "clean-write.pcapng", cls.made / "capture.pcapng")
        shutil.copy(source / "apps" / "profiles" / "capture.yaml", cls.made / "captures.yaml")
        models = SOURCE / "apps" / "scenarios" / "azure-gb200-llama405b.yaml"
        shutil.copy(models, cls.made / "model.yaml")
        subprocess.run([WEFT, "sim", cls.made / "scenario.yaml", "--out", cls.made / "run"], stdout=subprocess.DEVNULL, timeout=600,
                       check=True)

    @classmethod
    def tearDownClass(cls):
        cls.room.cleanup()

    def setUp(self):
        self.own = tempfile.TemporaryDirectory()
        self.folder = pathlib.Path(self.own.name) / "room"
        shutil.copytree(self.made, self.folder)
        self.names = {"folder": self.folder, "scenario": self.folder / "scenario.yaml", "profile": self.folder / "profile.yaml",
                      "traced": self.folder / "traced.yaml", "goal": self.folder / "job.goal", "capture": self.folder / "capture.pcapng",
                      "profile_of_captures": self.folder / "captures.yaml", "model": self.folder / "model.yaml",
                      "result": self.folder / "run" / "result.json", "histogram": next((self.folder / "run").glob("*.hdr")),
                      "manifest": self.folder / "run" / "manifest.json"}

    def tearDown(self):
        self.own.cleanup()

    def weft(self, program, words, option, path, *more):
        words = [word.format(**self.names) for word in words]
        return weft.run(program, *words, option, path, *more)

    def state(self):
        """Every file with its content."""
        return {path: path.read_bytes() for path in sorted(self.folder.rglob("*")) if path.is_file()}

    def assert_refused(self, run, path, why):
        self.assertEqual((run.returncode, run.stdout), (BAD_INPUT, ""), run)
        self.assertRegex(run.stderr, f"^weft [a-z-]+: {re.escape(str(path))}: {why}\n$")

    def each(self, check):
        for program, words, option, reads in WRITERS:
            with self.subTest(program=program, option=option, reads=reads):
                check(program, words, option, reads)
                shutil.rmtree(self.folder / "book", ignore_errors=True)
                for name in ("other.pcapng", "hard", "soft", "far"):
                    (self.folder / name).unlink(missing_ok=True)

    def test_what_is_read_is_never_written(self):
        def check(program, words, option, reads):
            for name in reads:
                target = self.names[name]
                hard, soft, far = (self.folder / kind for kind in ("hard", "soft", "far"))
                os.link(target, hard)
                soft.symlink_to(target)
                far.symlink_to(soft)
                before = self.state()
                for path in (target, hard, soft, far, target.parent / "." / ".." / target.parent.name / target.name):
                    for force in ([], ["--force"]):
                        run = self.weft(program, words, option, path, *force)
                        self.assert_refused(run, path, "was read: the file that is read is not written")
                        self.assertEqual(self.state(), before)
                for path in (hard, soft, far):
                    path.unlink()

        self.each(check)

    def test_what_is_there_stays_without_force(self):
        def check(program, words, option, _reads):
            there, link = self.folder / "there", self.folder / "link"
            there.write_text("a year of work", encoding="utf-8")
            link.symlink_to(there)
            before = self.state()
            for path in (there, link):
                self.assert_refused(self.weft(program, words, option, path), path, "is there already; --force replaces it")
                self.assertEqual(self.state(), before)
            there.unlink()
            self.assert_refused(self.weft(program, words, option, link), link, "is a link that leads nowhere")
            self.assertFalse(there.exists())
            link.unlink()

        self.each(check)

    def test_force_replaces_it_and_nothing_else(self):
        def check(program, words, option, _reads):
            there = self.folder / "there"
            there.write_text("of yesterday", encoding="utf-8")
            before = self.state()
            run = self.weft(program, words, option, there, "--force")
            self.assertIn(run.returncode, (DONE, MISSED), run)
            self.assertNotIn(b"yesterday", there.read_bytes())
            self.assertGreater(there.stat().st_size, 20)
            after = self.state()
            self.assertEqual([path for path in before if path != there and after.get(path) != before[path]], [])
            there.unlink()

        self.each(check)

    def test_a_folder_and_a_folder_that_is_not_there_are_refused(self):
        def check(program, words, option, _reads):
            before = self.state()
            for path, why in ((self.folder / "run", "Is a directory"), (self.folder / "none" / "x", "No such file or directory")):
                run = self.weft(program, words, option, path)
                self.assertEqual((run.returncode, run.stdout), (BAD_INPUT, ""), run)
                self.assertIn(why, run.stderr)
                self.assertIn(str(path), run.stderr)
                self.assertEqual(self.state(), before)

        self.each(check)

    def test_a_pipe_gets_what_is_written(self):
        def check(program, words, option, _reads):
            pipe = self.folder / "pipe"
            os.mkfifo(pipe)
            got = []
            reader = threading.Thread(target=lambda: got.append(pipe.read_bytes()))
            reader.start()
            run = self.weft(program, words, option, pipe)
            reader.join(timeout=600)
            self.assertIn(run.returncode, (DONE, MISSED), run)
            self.assertGreater(len(got[0]), 20)
            self.assertTrue(stat.S_ISFIFO(pipe.stat().st_mode))
            pipe.unlink()

        self.each(check)

    def test_a_pipe_that_nobody_reads_is_refused_at_once(self):
        def check(program, words, option, _reads):
            pipe = self.folder / "pipe"
            os.mkfifo(pipe)
            words = [word.format(**self.names) for word in words]
            run = weft.run(program, *words, option, pipe)
            self.assertEqual(run.returncode, BAD_INPUT, run)
            self.assertIn(f"{pipe}: is a pipe without a reader: start that first", run.stderr)
            pipe.unlink()

        self.each(check)

    def test_two_outputs_are_two_files(self):
        for force in ([], ["--force"]):
            one, other = self.folder / "one", self.folder / "./one"
            run = self.weft("sim", ["{scenario}", "--pcap", str(one)], "--log", other, *force)
            self.assert_refused(run, other, "is written already by this call")
            self.assertFalse(one.exists())

    def test_force_without_an_output_is_refused(self):
        def check(program, words, option, _reads):
            if program == "validate-fabric":  # its --out is one
                return
            words = [word.format(**self.names) for word in words if "other.pcapng" not in word and word != "--pcap"]
            run = weft.run(program, *words, "--force")
            self.assertEqual((run.returncode, run.stdout), (BAD_INPUT, ""), run)
            self.assertIn("--force needs ", run.stderr)
            self.assertIn(option, run.stderr)

        self.each(check)

    def test_the_report_renews_its_own_files_and_replaces_others_only_with_force(self):
        run = [WEFT, "report", self.folder / "run", "--quiet"]
        for _ in range(2):
            self.assertEqual(subprocess.run(run, timeout=600, check=False).returncode, DONE)
        pages = self.folder / "pages"
        pages.mkdir()
        page = pages / "result.csv"
        page.write_text("mine", encoding="utf-8")
        before = self.state()
        again = subprocess.run([*run, "--out", pages], capture_output=True, text=True, timeout=600, check=False)
        self.assert_refused(again, page, "is there already; --force replaces it")
        self.assertEqual(self.state(), before)
        self.assertEqual(subprocess.run([*run, "--out", pages, "--force"], timeout=600, check=False).returncode, DONE)
        self.assertNotEqual(page.read_text(encoding="utf-8"), "mine")
        (pages / "report.html").unlink()
        os.link(self.names["result"], pages / "report.html")
        before = self.state()
        other = subprocess.run([*run, "--out", pages, "--force"], capture_output=True, text=True, timeout=600, check=False)
        self.assert_refused(other, pages / "report.html", "was read: the file that is read is not written")
        self.assertEqual(self.state(), before)

    def test_the_report_writes_over_no_result_in_its_own_folder(self):
        page = self.folder / "run" / "report.html"
        os.link(self.names["result"], page)
        before = self.state()
        run = weft.run("report", self.folder / "run")
        self.assertEqual(run.returncode, BAD_INPUT)
        self.assertIn(f"{page}: was read: the file that is read is not written", run.stderr)
        self.assertEqual(self.state(), before)

    def test_the_report_follows_no_link_out_of_its_folder(self):
        mine = self.folder / "mine.html"
        mine.write_text("mine", encoding="utf-8")
        for target in (mine, self.folder / "not-there"):
            page = self.folder / "run" / "report.html"
            page.symlink_to(target)
            before = self.state()
            run = weft.run("report", self.folder / "run", "--quiet")
            self.assertEqual(run.returncode, BAD_INPUT)
            self.assertIn(f"{page}: is a link", run.stderr)
            self.assertEqual(self.state(), before)
            self.assertFalse((self.folder / "not-there").exists())
            page.unlink()

    def test_the_report_of_a_file_without_its_folder_replaces_nothing(self):
        loose = self.folder / "loose"
        loose.mkdir()
        shutil.copy(self.names["result"], loose / "other.json")
        (loose / "report.html").write_text("mine", encoding="utf-8")
        before = self.state()
        words = [WEFT, "report", loose / "other.json", "--no-manifest"]
        run = subprocess.run(words, capture_output=True, text=True, timeout=600, check=False)
        self.assert_refused(run, loose / "report.html", "is there already; --force replaces it")
        self.assertEqual(self.state(), before)
        self.assertEqual(subprocess.run([*words, "--quiet", "--force"], timeout=600, check=False).returncode, DONE)
        self.assertNotEqual((loose / "report.html").read_text(encoding="utf-8"), "mine")

    def test_every_option_that_names_a_file_is_in_the_table(self):
        known = {(program, option) for program, _, option, _ in WRITERS}
        listed = weft.run("--help", check=True).stdout
        programs = [program for program in re.findall(r"^    ([a-z-]+) ", listed, re.MULTILINE)
                    if (pathlib.Path(WEFT).parent / f"weft-{program}").exists()]
        self.assertGreater(len(programs), 15)
        for program in programs:
            text = weft.run(program, "--help", check=True).stdout
            for option in re.findall(r"^    (--[a-z-]+) (?:FILE|DIR|FOLDER|PROFILE|OUT)\b", text, re.MULTILINE):
                self.assertTrue(option in OTHERS or (program, option) in ELSEWHERE or (program, option) in known, f"{program} {option}")


if __name__ == "__main__":
    unittest.main()
