#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Where an input of lines is wrong, the refusal names the line: in each kind of file, also below blank lines and comments, with
CR LF at the ends of lines, behind a byte order mark, and in a last line that does not end."""
import pathlib
import re
import subprocess
import tempfile
import unittest

import weft
from weft import BAD_INPUT

FABRIC = "fabric: {nics: 4, planes: 1, nics_per_t0: 2, t1_count: 2, link_rate: 100Gb/s}\n"
SCENARIO = """name: small
fabric:
  nics: 4
  planes: 1
  nics_per_t0: 2
  t1_count: 2
traffic:
  kind: flows
  flows:
    - {from: 0, to: 3, bytes: 10kB}
    - from: 1
      to: 2
      bytes: 10kB
faults:
  - kind: loss
    at: all
    probability: 1%
variants:
  - {name: a, set: seed=2}
  - name: b
    set: seed=3
"""
PROFILE = """name: mine
description: a profile
checks:
  - name: all
    metric: flows.count
    bound: at least 1
    source: this test
  - {name: more, metric: flows.count, bound: at least 1, source: this test}
"""
SIMAI = """HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: 2 ep: 1 pp: 1 vpp: 1 ga: 1 all_gpus: 16
3
gather\t-1\t1\tNONE\t0\t1\tNONE\t0\t1\tALLGATHER\t1048576\t100
reduce\t-1\t1\tNONE\t0\t1\tNONE\t0\t1\tREDUCESCATTER\t2097152\t100
layer\t-1\t10\tALLREDUCE\t4096\t1\tNONE\t0\t5\tNONE\t0\t100
"""
CSV = """[rank0 ~ rank3]
comm_type,comm_group,comm_group_size,msg_size
CommType.all_reduce,CommGroup.tp_group,2,64
CommType.all_reduce,CommGroup.tp_group,2,64
"""
GOAL = "num_ranks 2\nrank 0 {\nl1: send 6000b to 1\nl2: calc 5\nl2 requires l1\n}\nrank 1 {\nl1: recv 6000b from 0\n}\n"
LOG = "".join(':::MLLOG {"key": "tracked_stats", "value": {"train_step_time": 3.%d, "reduced_train_loss": 7}, "metadata": {"step": %d}}\n'
              % (step, step) for step in range(1, 8))
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
JSON = '{"nodes": [\n{"id": 2,\n "name": "a"}\n]}\n'
YAML_HEAD, LINES_HEAD = "# x\n\n \n# y\n", "# x\n\n\t\n"  # what may stand above

# words of the command, a good text, what may stand above it; rows of: line, what stands there instead, and the line that is
# told, where it is another. @ is the file, % a file of the same name that ends with .yaml.
SYNTAX = [(2, "fabric: ]"), (10, '    - {from: "0, to: 3}'), (13, "      bytes: '10kB"), (6, "\tt1_count: 2"),
          (21, "    set: {seed=3", 21)]
BAD_SCENARIO = [(3, "  nics: x"), (5, "  nics_per_t1: 3"), (5, "  nics_per_t0: 3"), (4, "  nics: 5"), (6, "  # \x01")]
TABLE = {
    "a scenario": (("sim", "%"), SCENARIO, YAML_HEAD, BAD_SCENARIO + SYNTAX + [
        (10, "    - {from: 0, to: 9, bytes: 10kB}"), (12, "      to: 77"), (13, "      bytes: 10kX"), (15, "  - kind: lots"),
        (16, "    at: {nic: 99}"), (17, "    probability: 300%"), (18, "traffic:"), (20, "  - name: a"), (21, "---"),
        (21, "    set: sed=3"), (21, "    set: queue.bytes=x"), (19, "  - {name: a, set: seed=x}")]),
    "a scenario of a variant": (("sim", "%", "--variant", "b"), SCENARIO, YAML_HEAD, [(21, "    set: sed=3")]),
    "a scenario of emu": (("emu", "%", "--ports", "none"), SCENARIO, YAML_HEAD, BAD_SCENARIO),
    "a scenario of coll": (("coll", "all_reduce", "-b", "64K", "-e", "64K", "--scenario", "%"), SCENARIO, YAML_HEAD, BAD_SCENARIO),
    "a scenario of topology": (("topology", "%"), SCENARIO, YAML_HEAD, BAD_SCENARIO),
    "a scenario of goodput": (("goodput", "%"), SCENARIO, YAML_HEAD, BAD_SCENARIO),
    "a scenario of scaling": (("scaling", "%", "--racks", "8,16"), SCENARIO, YAML_HEAD, BAD_SCENARIO),
    "a scenario of bench": (("bench", "sim", "--repeat", "1", "--scenario", "%"), SCENARIO, YAML_HEAD, BAD_SCENARIO),
    "a scenario of validate-fabric": (("validate-fabric", "%", "--quick", "--out", "book"), SCENARIO, YAML_HEAD,
                                      BAD_SCENARIO + SYNTAX),
    "a profile": (("verdict", "result", "--profile", "%"), PROFILE, YAML_HEAD, [
        (1, "nme: mine"), (2, "description: [a]"), (2, "name: other"), (2, "description: \udcff"), (3, "chcks:"),
        (4, "  - nam: all"), (5, "    metric: [x]"), (5, "    bound: at least 1\n", 7), (6, "    bound: at lest 1"),
        (6, '    bound: "at least 1'), (6, "    required: maybe"), (6, "    required: true\n    required: false", 7),
        (7, "    source: th\x01s"), (7, "    sorce: x"),
        (8, "  - {metric: flows.count,\n     name: all, bound: at least 1, source: this test}", 9),
        (8, "  - {name: more, metric: flows.count, bound: at least 1}"), (8, "  - {name: more, metric: flows.count"), (8, "---\nname: b", 8)]),
    "a trace of SimAI": (("trace", "@"), SIMAI, "", [
        (1, "HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: 2 ep: 1 pp: 1 vpp: 1 ga: x all_gpus: 16"), (2, "x"), (2, "4", 5),
        (3, "gather\t-1\t1"), (4, "reduce\t-1\t1\tNONE\t0\t1\tNONE\t0\t1\tBOGUS\t2097152\t100"),
        (5, "layer\t-1\tx\tALLREDUCE\t4096\t1\tNONE\t0\t5\tNONE\t0\t100")]),
    "a CSV of AICB": (("trace", "@"), CSV, "", [
        (1, "[rank0 ~ rankx]"), (2, "comm_type,comm_group"), (3, "CommType.bogus,CommGroup.tp_group,2,64"),
        (4, "CommType.all_reduce,CommGroup.tp_group,x,64"), (4, "CommType.all_reduce,CommGroup.tp_group,2"),
        (4, "CommType.all_reduce,CommGroup.tp_group,2,-4"), (4, 'CommType.all_reduce,"CommGroup.tp_group,2,4')]),
    "a JSON of PyTorch": (("trace", "@"), JSON, "\n \n", [(3, ' "name": }'), (2, '{"id" 2,'), (4, "]]}")]),
    "a trace in GOAL": (("trace", "@"), GOAL, "// x\n\n/* a\n b */\n", [
        (1, "num_ranks x"), (3, "l1: send 6000b to 9"), (4, "l2: calc x"), (5, "l2 requires l9"), (7, "rank 5 {"), (9, "} /* x\n\n", 9)]),
    "a goal": (("sim", "g.yaml"), GOAL, "// x\n\n/* a\n b */ // c\n", [
        (2, "rank 0"), (3, "l1: snd 6000b to 1"), (4, "l1: calc 5"), (4, "/* l2: calc 5"), (5, "l2 requires l9"),
        (8, "l1: recv 7b from 0"), (3, "l1: calc \udcff")]),
    "a goal of a job": (("sim", "j.yaml"), GOAL, "// x\n\n", [(4, "l2: calc x"), (8, "l1: recv 6000b from 7")]),
    "a matrix": (("sim", "m.yaml"), "Nodes 4\nConnections 2\n0->3 start 0 size 5000\n1->2 start 0 size 5000\n", LINES_HEAD, [
        (1, "Nodes x"), (3, "0->9 start 0 size 5000"), (4, "1->2 start 0"), (4, "1->2 start x size 5000"), (4, "1=>2 start 0 size 5000")]),
    "a topology": (("sim", "t.yaml"), TREE, LINES_HEAD, [
        (1, "Nodes x"), (2, "Tiers 9"), (4, "Tier 5"), (5, "Downlink_speed_Gbps"), (11, "Radix_Down x"), (12, "Bogus 3"), (12, "", 9)]),
    "a list of jitter": (("sim", "azure-gb200-llama405b", "--fidelity", "model", "--jitter", "list:@"), "1\n1.01\n0.99\n1.02\n", LINES_HEAD, [
        (1, "x"), (2, "0"), (3, "1 2"), (4, "-1"), (4, "99999"), (2, "\x01")]),
    "a log": (("mllog", "@"), LOG, "any text\n\n{\n", [
        (1, ":::MLLOG {"), (2, ':::MLLOG {"key": "tracked_stats", "value": {"train_step_time": -3}}'), (3, ':::MLLOG {"value": 3}'),
        (5, ":::MLLOG [3]"), (7, ':::MLLOG {"key": "global_batch_size", "value": "x"}'), (6, 'x\ry :::MLLOG {"key": "\udcff"}')]),
    "a result beside a log": (("mllog", "log", "--result", "@"), '{"step":\n {"step_ps": 3}\n}\n', "\n \n", [(2, ' {"step_ps" 3}')]),
    "a measured result": (("sim", "azure-gb200-llama405b", "--fidelity", "model", "--measured", "@"), '{"collectives":\n [\n ]}\n', "\n", [(2, " ]")]),
    "a record": (("gpu", "--play", "@", "--play", "other/rank-0.record"), None, "", [
        (1, "weft-record 3"), (2, "rank 1"), (2, "rank 1 ranks 4 buckets 4 steps 7 parts 46 slice_bytes 131072 element_bytes 2 seed 1"), (3, "gate x"), (5, "fill 0 0"), (9, "bogus"), (6, "")]),
}
LEFT_OUT = ("a log",)  # what is damaged is told, and the rest is read
CRLF_IS_WRONG = ("a record",)  # a file that only programs write


class Lines(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        room = tempfile.TemporaryDirectory()
        cls.addClassCleanup(room.cleanup)
        cls.folder = pathlib.Path(room.name)
        traffic = {"g": f"{FABRIC}traffic: {{kind: goal, file: input}}", "m": f"{FABRIC}traffic: {{kind: matrix, matrix: input}}",
                   "j": f"{FABRIC}traffic: {{kind: jobs}}\njobs: [{{name: a, kind: goal, ranks: 2, file: input}}]",
                   "t": "fabric: {topology: file, file: input, nics: 4, link_rate: 100Gb/s}\ntraffic: {kind: permutation, bytes: 10kB}",
                   "small": f"{FABRIC}traffic: {{kind: permutation, bytes: 10kB}}"}
        for name, text in traffic.items():
            (cls.folder / f"{name}.yaml").write_text(f"name: {name}\n{text}\n", encoding="utf-8")
        (cls.folder / "log").write_text(LOG, encoding="utf-8")
        for words in (("small.yaml", "--out", "result"), ("gradients", "--record-rank", "1", "--out", "record"),
                      ("gradients", "--record-rank", "0", "--out", "other")):
            run = cls.weft("sim", *words)
            assert run.returncode == 0, run.stderr
        cls.record = (cls.folder / "record" / "rank-1.record").read_text(encoding="utf-8")

    @classmethod
    def weft(cls, *words):
        return weft.run(*words, text=False, cwd=cls.folder, stdin=subprocess.DEVNULL)

    def told(self, words, text, is_left_out=False):
        """The line that a refusal of this text names, or a warning, and the words."""
        data = text.encode("utf-8", "surrogateescape")
        for name in ("input", "input.yaml"):
            (self.folder / name).write_bytes(data)
        run = self.weft(*(word.replace("@", "input").replace("%", "input.yaml") for word in words))
        said = run.stderr.decode("utf-8")
        self.assertEqual(said.count("\n"), 1, said)
        self.assertEqual(run.returncode, 0 if is_left_out else BAD_INPUT, said)
        self.assertEqual(run.stdout != b"", is_left_out)
        place = re.match(r"weft [a-z-]+: (?:warning: )?(?:\./)?input(?:\.yaml)?:(\d+):", said)
        return int(place[1]) if place else None, said

    def test_each_refusal_names_its_line(self):
        for what, (words, good, above, rows) in TABLE.items():
            good = good or self.record
            for index, (number, new, *other) in enumerate(rows):
                lines = good.splitlines()
                lines[number - 1] = new
                line = other[0] if other else number
                text = "\n".join(lines) + "\n"
                below = line + above.count("\n")
                forms = {"as it is": (line, text)}
                if index in (0, len(rows) - 1):
                    forms |= {"without a last end": (line, text.rstrip("\n")), "behind a mark": (line, "\ufeff" + text),
                              "below others": (below, above + text)}
                if what not in CRLF_IS_WRONG:
                    forms["with CR LF"] = (below, (above + text).replace("\n", "\r\n"))
                for form, (should, changed) in forms.items():
                    with self.subTest(what=what, line=number, new=new, form=form):
                        is_line, said = self.told(words, changed, what in LEFT_OUT)
                        self.assertEqual(is_line, should, said)

    def refused(self, words, says):
        run = self.weft(*words)
        self.assertEqual((run.returncode, run.stdout.decode(), run.stderr.decode()), (BAD_INPUT, "", says))

    def test_lines_of_one_input_are_not_told_of_another(self):
        record, model = "record/rank-1.record", ("sim", "azure-gb200-llama405b", "--fidelity", "model")
        self.refused(("gpu", "--play", record, "--play", "none"), "weft gpu: none: cannot be read: No such file or directory\n")
        self.refused(("gpu", "--play", record, "--play", record), "weft gpu: rank 1 is given twice\n")
        known = "a schedule knows only faults that hold for the whole step: link_down and slow, of a nic, a plane or all"
        for number, fault in enumerate(("{kind: loss, at: all, probability: 1%}", "{kind: link_down, at: {nic: 0, plane: 0}, from: 1us}")):
            before = ("--fault", "{kind: link_down, at: {nic: 0, plane: 1}}") * number
            self.refused((*model, *before, "--fault", fault), f"weft sim: --fault:{number + 1}: {known}\n")

    def test_blank_lines_are_no_chakra(self):
        """They look like the length of a message and its first field."""
        said = self.told(("trace", "@"), "\n\n" + CSV)[1]
        self.assertIn("not a trace of a known format", said)


if __name__ == "__main__":
    unittest.main()
