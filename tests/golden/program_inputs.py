#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Each file that a program reads, in one table, and what holds for all of them: what is no plain file is refused at once, a
byte order mark changes nothing, UTF-16 is refused as that, and the file that a refusal names is the file at fault."""
import json
import os
import pathlib
import re
import socket
import subprocess
import tempfile
import unittest

import weft
from weft import BAD_INPUT

AT_ONCE_S = 60  # what waits, waits for ever
TREE = """Nodes 4
Tiers 2
Podsize 4
Tier 0
Downlink_speed_Gbps 100
Radix_Down 2
Radix_Up 1
Downlink_Latency_ns 1000
Tier 1
Downlink_speed_Gbps 100
Radix_Down 2
Downlink_Latency_ns 1000
"""
FABRIC = "fabric: {nics: 4, planes: 1, nics_per_t0: 2, t1_count: 2, link_rate: 100Gb/s}\n"
SCENARIO = f"name: small\n{FABRIC}traffic: {{kind: permutation, bytes: 10kB}}\n"
MATRIX = "Nodes 4\nConnections 1\n0->3 start 0 size 5000\n"
GOAL = "num_ranks 2\nrank 0 {\nl1: send 6000b to 1\n}\nrank 1 {\nl1: recv 6000b from 0\n}\n"
LOG = "".join(':::MLLOG {"key": "tracked_stats", "value": {"train_step_time": 3.%d, "reduced_train_loss": 7}, "metadata": {"step": %d}}\n'
              % (step, step) for step in range(1, 8))
PROFILE = """name: mine
checks:
  - {name: all, metric: flows.count, bound: "at least 1", source: "this test"}
"""


def ran(*words):
    return weft.run(*words, text=False, stdin=subprocess.DEVNULL, timeout=AT_ONCE_S)


def naming(traffic, fabric=FABRIC):
    """A scenario whose traffic, or fabric, stands in another file: @ in it."""
    return f"name: small\n{fabric}{traffic}\n"


class Inputs(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.room = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.room.cleanup)
        cls.folder = pathlib.Path(cls.room.name)
        cls.at = cls.folder / "input"
        cls.result = cls.folder / "result"
        cls.record = cls.folder / "record"
        small = cls.written("small.yaml", SCENARIO)
        for words in (("sim", small, "--out", cls.result), ("sim", "gradients", "--record-rank", "1", "--out", cls.record),
                      ("sim", "gradients", "--record-rank", "0", "--out", cls.folder / "other")):
            run = ran(*words)
            assert run.returncode == 0, run.stderr
        cls.good = cls.table(small)
        cls.places = (cls.at, cls.folder / "input.yaml", cls.folder / "data" / "summary.csv")

    @classmethod
    def written(cls, name, text):
        path = cls.folder / name
        path.write_text(text.replace("@", str(cls.at)), encoding="utf-8")
        return path

    @classmethod
    def table(cls, small):
        """What is read: the words, with the file's place, and a text that is accepted there, or None where that takes long or a
        result has to be whole."""
        at = cls.at
        scenario = cls.written("as.yaml", SCENARIO).read_text(encoding="utf-8")
        named = cls.folder / "input.yaml"
        model = ("sim", "azure-gb200-llama405b", "--fidelity", "model")
        goal_job = "traffic: {kind: jobs}\njobs: [{name: a, kind: goal, ranks: 2, file: @}]"
        tree = cls.written("t.yaml", naming("traffic: {kind: permutation, bytes: 10kB}",
                                            "fabric: {topology: file, file: @, nics: 4, link_rate: 100Gb/s}\n"))
        data = cls.folder / "data"
        data.mkdir()
        (data / "runs.csv").write_text("row,seed,command\nmade,1,./htsim_uec -tm matrices/perm_128_2MB_s1.cm -topo topologies/fat_tree_128_1os.topo"
                                          " -linkspeed 100000 -sender_cc_only -paths 128 -load_balancing_algo oblivious -seed 1 -end 4000\n", encoding="utf-8")
        return {
            "a scenario": (("sim", named), scenario),
            "a scenario of emu": (("emu", named, "--ports", "none", "--dilation", "none", "--quiet"), scenario),
            "a scenario of coll": (("coll", "all_reduce", "-b", "64K", "-e", "64K", "--scenario", named), scenario),
            "a scenario of topology": (("topology", named), scenario),
            "a scenario of bench": (("bench", "sim", "--repeat", "1", "--scenario", named), None),
            "a scenario of goodput": (("goodput", named), None),
            "a scenario of scaling": (("scaling", named, "--racks", "8,16"), None),
            "a scenario of validate-fabric": (("validate-fabric", named, "--out", cls.folder / "book"), None),
            "a topology": (("sim", tree), TREE),
            "a topology of topology": (("topology", tree), TREE),
            "a matrix": (("sim", cls.written("m.yaml", naming("traffic: {kind: matrix, matrix: @}"))), MATRIX),
            "a goal": (("sim", cls.written("g.yaml", naming("traffic: {kind: goal, file: @}"))), GOAL),
            "a goal of a job": (("sim", cls.written("j.yaml", naming(goal_job))), GOAL),
            "a trace": (("trace", at), GOAL),
            "a trace that is run": (("sim", "--trace", at), GOAL),
            "a measured result": ((*model, "--measured", at), None),
            "a list of jitter": ((*model, "--jitter", f"list:{at}"), "1\n1.01\n0.99\n"),
            "a log": (("mllog", at), LOG),
            "a result beside a log": (("mllog", cls.written("log", LOG), "--result", at), None),
            "a result": (("verdict", at, "--no-manifest", "--profile", "goes-on"), None),
            "a profile": (("verdict", cls.result, "--profile", named), PROFILE),
            "a baseline": (("verdict", cls.result, "--no-manifest", "--profile", "superbench", "--baseline", at), None),
            "a result to compare": (("compare", at, cls.result, "--no-manifest"), None),
            "another to compare": (("compare", cls.result, at, "--no-manifest"), None),
            "a result to report": (("report", at, "--no-files", "--no-manifest"), None),
            "a profile to report": (("report", cls.result, "--no-files", "--profile", named), PROFILE),
            "a record": (("gpu", "--play", at, "--play", cls.folder / "other" / "rank-0.record"),
                         (cls.record / "rank-1.record").read_text(encoding="utf-8")),
            "figures of bench": (("bench", "sim", "--repeat", "1", "--scenario", small, "--compare", at), None),
            "figures of htsim": (("validate", "--only", "htsim", "--data", data), None),
        }

    def put(self, make):
        """Puts an input in all the places where a row of the table looks for it."""
        for place in self.places:
            if place.is_dir():
                place.rmdir()
            place.unlink(missing_ok=True)
            make(place)

    def refused(self, words, *says):
        run = ran(*words)
        text = run.stderr.decode()
        self.assertEqual((run.returncode, run.stdout), (BAD_INPUT, b""), text)
        self.assertEqual(text.count("\n"), 1, text)
        for word in says:
            self.assertIn(word, text)
        return text

    def test_good_files_are_accepted_with_a_byte_order_mark_too(self):
        for what, (words, text) in self.good.items():
            if text is None:
                continue
            with self.subTest(what=what):
                self.put(lambda place, text=text: place.write_text(text, encoding="utf-8"))
                plain = ran(*words)
                self.assertEqual((plain.returncode, plain.stderr), (0, b""), plain.stderr)
                self.put(lambda place, text=text: place.write_text(text, encoding="utf-8-sig"))
                marked = ran(*words)
                self.assertEqual((marked.returncode, marked.stderr), (0, b""), marked.stderr)
                
                if what != "a record":  # that shows times of this machine
                    self.assertEqual(*(re.sub(rb"(?m)^.*\b(CPU|MiB|wall|Mpps)\b.*$", b"", run.stdout) for run in (plain, marked)))

    def test_a_scenario_may_be_json(self):
        """What programs write: words and values with a unit in quotes. The ending says that it is a file."""
        text = '{"fabric": {"nics": 4, "planes": 1, "nics_per_t0": 2, "t1_count": 2, "link_rate": "100Gb/s"}, "traffic": {"kind": "permutation", "bytes": "10kB"}}'
        digests = []
        for name, written in ("small.json", text), ("small.yml", SCENARIO):
            (self.folder / name).write_text(written, encoding="utf-8")
            run = weft.run("sim", name, "--json", cwd=self.folder, check=True)
            digests.append(json.loads(run.stdout)["run"]["digest"])
        self.assertEqual(*digests)
        (self.folder / "small.json").write_text(text.replace("}}", '}, "queue": {"pfc": "true"}}'), encoding="utf-8")
        self.refused(["sim", str(self.folder / "small.json")], "`true` is not a flag; write true or false without quotes")

    def test_utf_16_is_refused_as_that(self):
        for what, (words, text) in self.good.items():
            for order in "utf-16-le", "utf-16-be":
                with self.subTest(what=what, order=order):
                    self.put(lambda place, text=text, order=order: place.write_text("\ufeff" + (text or "{}"), encoding=order))
                    self.refused(words, "UTF-16", f"{self.folder}/")

    def test_what_is_no_file_is_refused_at_once(self):
        def make_socket(place):
            with socket.socket(socket.AF_UNIX) as end:
                end.bind(str(place))

        takes_folders = "a trace", "a trace that is run", "a result", "a baseline", "a result to compare", "another to compare", \
            "a result to report"
        for what, (words, _) in self.good.items():
            for kind, make in (("a pipe", os.mkfifo), ("a socket", make_socket), ("a folder", os.mkdir),
                               ("a device", lambda place: place.symlink_to("/dev/zero"))):
                with self.subTest(what=what, kind=kind):
                    self.put(make)
                    if kind != "a folder" or what not in takes_folders:
                        self.refused(words, f"this is {kind}", f"{self.folder}/")

    def test_the_file_of_a_refusal_is_the_one_at_fault(self):
        """What is wrong stands in a file of its own beside the one that names it."""
        for what, (words, _) in self.good.items():
            for wrong in b"nonsense \x01 [\n", b"":
                with self.subTest(what=what, wrong=wrong):
                    self.put(lambda place, wrong=wrong: place.write_bytes(wrong))
                    text = self.refused(words)
                    self.assertTrue(any(f"{place}:" in text for place in self.places), text)


if __name__ == "__main__":
    unittest.main()
