#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Bad input through the real program. Whatever is wrong, one thing happens: the exit status says which kind it was, one
line on stderr says where and why, nothing is printed, and the output folder is not made.

The broken scenarios and what each must be told stand in one table, in tests/unit/scenario/scenario_broken.c.
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import weft
from weft import BAD_INPUT, ENVIRONMENT, SHARED, SOURCE, WEFT

REAL_TRACE = pathlib.Path(SHARED, "data", "traces", "given", "simai", "workload_analytical.txt")
CONFINED = ["setpriv", "--bounding-set=-dac_override,-dac_read_search", "--"]  # modes bind root too

GOOD = """name: good
fabric: {nics: 8, planes: 2, nics_per_t0: 4, t1_count: 2}
traffic: {kind: permutation, bytes: 100kB}
"""
TRACE = """HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: 2 ep: 1 pp: 1 vpp: 1 ga: 1 all_gpus: 16 \
checkpoints: 0 checkpoint_initiates: 0 pp_comm 0
3
gather\t-1\t1\tNONE\t0\t1\tNONE\t0\t1\tALLGATHER\t1048576\t100
reduce\t-1\t1\tNONE\t0\t1\tNONE\t0\t1\tREDUCESCATTER\t2097152\t100
layer\t-1\t10\tALLREDUCE\t4096\t1\tNONE\t0\t5\tNONE\t0\t100
"""
SMALL_FABRIC = ["--set", "fabric.nics_per_t0=8", "--set", "fabric.t1_count=4"]


class Refusals:
    def __init__(self, folder):
        self.folder = folder
        self.out = folder / "out"
        self.done = self.failed = 0

    def file(self, text, name="input.yaml"):
        path = self.folder / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    def complain(self, what, run, reason):
        self.failed += 1
        print(f"not ok: {what}: {reason}\n  exit {run.returncode}\n  stdout {run.stdout[:200]!r}\n  stderr {run.stderr!r}")

    def refused(self, what, words, says, status=BAD_INPUT, out=None, before=()):
        """weft sim WORDS must be refused with a line that has all of `says`. `out` is the folder given to --out; False: none."""
        self.done += 1
        out = self.out if out is None else out
        more = [] if out is False else ["--out", str(out)]
        existed = os.path.lexists(out) if more else True
        run = subprocess.run([*before, WEFT, "sim", *map(str, words), *more], capture_output=True, text=True, timeout=600,
                             errors="backslashreplace")
        says = [says] if isinstance(says, str) else says
        if run.returncode != status:
            self.complain(what, run, f"expected exit {status}")
        elif run.stdout or run.stderr.count("\n") != 1 or not run.stderr.endswith("\n"):
            self.complain(what, run, "expected one line on stderr and nothing else")
        elif not run.stderr.startswith("weft sim: ") or not all(text in run.stderr for text in says):
            self.complain(what, run, f"expected {says}")
        elif not existed and os.path.lexists(out):
            self.complain(what, run, "the output folder was made")
            os.rmdir(out)

    def accepted(self, what, words):
        """The control: what the refused input differs from is accepted."""
        self.done += 1
        run = weft.run("sim", *words)
        if run.returncode != 0 or run.stderr:
            self.complain(what, run, "expected to be accepted")


def files(check):
    good = check.file(GOOD, "good.yaml")
    check.accepted("the good scenario", [good])
    missing = check.folder / "missing.yaml"
    check.refused("a missing file", [missing], [f"{missing}: ", "No such file"])
    check.refused("a folder", [f"{check.folder}/"], "this is a folder")
    check.refused("a name that is not shipped", ["nonsense"], ["'nonsense'", "azure-gb200-llama405b", "--list has all"])
    check.refused("an empty name", [""], "no scenario")
    check.refused("a name beyond any length", ["n" * 5000], "no scenario")
    check.refused("a file too large", [check.file(b"#" * ((1 << 20) + 1))], "input.yaml: the file has 1048577 bytes, and at most 1048576 are read")
    trace = check.file(b"", "trace.csv")
    os.truncate(trace, 1 << 31)
    check.refused("a trace of 2 GiB, of which no byte is read", ["--trace", trace], f"{trace}: the file has 2147483648 bytes, and at most 268435456 are read")
    trace.unlink()
    check.refused("no UTF-8", [check.file(b"seed: 1\nname: \xff\n")], "input.yaml:2:7: ")
    check.refused("a NUL", [check.file(b"name: a\0b\n")], "input.yaml:1:8: ")
    check.refused("nothing", [check.file("")], "input.yaml:1:1: ")
    if os.geteuid() == 0:
        good.chmod(0)
        check.refused("a file one may not read", [good], "Permission denied", status=ENVIRONMENT, before=CONFINED)
        good.chmod(0o644)
    else:
        good.chmod(0)
        check.refused("a file one may not read", [good], "Permission denied", status=ENVIRONMENT)
        good.chmod(0o644)


def broken_scenarios(check):
    table = (SOURCE / "tests/unit/scenario/scenario_broken.c").read_text(encoding="utf-8")
    rows = re.findall(r'\{"(\d+-[^"]+\.yaml)",\s*(\d+),\s*(\d+),\s*"([^"]*)"\}', table)
    paths = sorted((SOURCE / "tests/golden/broken").glob("*.yaml"), key=lambda path: int(path.name.split("-")[0]))
    if [row[0] for row in rows] != [path.name for path in paths]:
        sys.exit("not ok: tests/golden/broken and its table in tests/unit/scenario/scenario_broken.c do not agree")
    for (name, line, column, reason), path in zip(rows, paths):
        check.refused(name, [path], [f"{path}:{line}:{column}: ", reason])


def options(check):
    good = check.file(GOOD, "good.yaml")
    for what, words, says in (
        ("an unknown option", [good, "--bogus"], "--bogus"),
        *((f"an option of weft emu, {word}", [good, word, "3"], f"unknown option {word}") for word in
          ("--ports", "--dilation", "--lanes", "--eal", "--gpu", "--gpu-timeout")),
        ("an unknown letter", [good, "-x"], "unknown option"),
        ("a second scenario", [good, "two-planes"], "'two-planes'"),
        ("a seed that is no number", [good, "--seed", "x"], "--seed is a whole number, not 'x'"),
        ("a negative seed", [good, "--seed", "-1"], "seed"),
        ("an empty seed", [good, "--seed", ""], "seed"),
        ("a seed beyond 64 bits", [good, "--seed", "18446744073709551616"], "seed"),
        ("two seeds", [good, "--seed", "1", "--seed", "2"], "--seed"),
        ("a seed twice", [good, "--seed", "1", "--set", "seed=2"], "--set:2:1: "),
        ("an assignment without a value", [good, "--set", "fabric.planes"], "--set:1:1: "),
        ("an assignment of nothing", [good, "--set", ""], "--set:1:1: "),
        ("an unknown key", [good, "--set", "fabric.plains=4"], ["--set:1:1: ", "fabric.planes"]),
        ("a unit that is none", [good, "--set", "seed=2", "--set", "fabric.planes=4Gb"], "--set:2:15: "),
        ("a value too small", [good, "--set", "fabric.planes=0"], "--set:1:15: "),
        ("a key without effect", [good, "--set", "traffic.senders=4"], "--set:1:1: "),
        ("a list", [good, "--set", "faults=none"], "--set:1:1: "),
        ("a fault that is no fault", [good, "--fault", "kind=loss"], "--fault:1:1: "),
        ("a second fault of an unknown kind", [good, "--fault", "{kind: link_down, at: all}", "--fault", "{kind: lots, at: all}"],
         ["--fault:2:8: ", "link_down"]),
        ("a fault at a port that flaps too fast", [good, "--fault", "{kind: flap, at: all, down: 1ns, up: 1ns}"],
         ["--fault:1: ", "transport.port_status"]),
        ("too many faults", [good] + ["--fault", "{kind: link_down, at: all}"] * 1025, "too many --fault"),
        ("too many assignments", [good] + ["--set", "seed=1"] * 1000, "too many --set"),
        ("--json with --quiet", [good, "--json", "--quiet"], ["--json", "--quiet"]),
        ("--footprint with --quiet", [good, "--footprint", "--quiet"], ["--footprint", "--quiet"]),
        ("--footprint with --out", [good, "--footprint"], ["--footprint", "--out"]),
        ("--out twice", [good, "--out", check.folder / "other"], "--out"),
        ("a sample that is none", [good, "--sample", "bogus"], "--sample:1:1: "),
        ("a sample of a word", ["ring-barrier", "--sample", "groups=x"], "--sample:1:8: "),
        ("steps left out twice", ["ring-barrier", "--sample", "steps=4", "--fast-forward", "steady"], ["--sample steps=4", "leaves out steps, too"]),
        ("a sample of flows", [good, "--sample", "groups=1"], ["--sample", "no effect"]),
        ("a trace of more ranks than NICs", [good, "--trace", check.file(TRACE, "trace.txt")], "set fabric.nics=16"),
    ):
        check.refused(what, words, says)
    for option in ("--seed", "--set", "--sample", "--trace", "--out"):
        check.refused(f"{option} without a value", [good, option], f"{option} needs a value", out=False)
    check.refused("--out with an empty name", [good, "--out", ""], "--out", out=False)
    for words in (["--list-keys", "two-racks"], ["two-racks", "--list"], ["--list", "--quiet"]):
        check.refused("a list of one scenario", words, "goes alone; unexpected argument '", out=False)
    check.refused("no scenario", [], "weft sim: no scenario; try `weft sim incast` (--help lists the options)")


def worlds(check):
    large = check.file("name: large\nfabric: {nics: 100000, nics_per_t0: 500, t1_count: 200}\n"
                       "traffic: {kind: permutation, bytes: 1MB}\nlimits: {memory: 1MiB}\n")
    check.refused("a world beyond its memory", [large], "limits.memory")
    check.refused("a world a little beyond", ["perm128-400g", "--set", "limits.memory=1MiB"], "limits.memory")
    check.refused("T0 switches without T1", [check.file(GOOD.replace("t1_count: 2", "t1_count: 0"))], "input.yaml:2:56: ")
    check.refused("T0 switches that are not filled", [check.file(GOOD.replace("nics: 8", "nics: 9"))], "input.yaml:2:")
    check.refused("a switch of too many ports",
                  [check.file("fabric: {nics: 20000, nics_per_t0: 10000, t1_count: 2}\ntraffic: {kind: permutation, bytes: 1MB}\n")],
                  "ports")
    far = [check.file(GOOD), "--set", "fabric.nic_delay=20us", "--set", "fabric.trunk_delay=20us", "--set"]
    check.refused("a timer that rings before any answer", [*far, "transport.rto=20us"], "no answer can be back")
    check.accepted("a timer that rings too early", [*far, "transport.rto=21us"])
    inside = ["--trace", check.file(TRACE, "trace.txt"), *SMALL_FABRIC, "--set", "fabric.nics_per_host=4"]
    check.accepted("GPUs of one host that are joined", inside)
    check.refused("GPUs of one host that nothing joins", [*inside, "--set", "scaleup.rate=none"],
                  ["NIC 0 and NIC 1 of one host", "give scaleup.rate"])


def faults(check):
    lead = GOOD + "faults:\n"
    for what, place in (
        ("a NIC", "{nic: 8, plane: 0}"), ("a NIC's plane", "{nic: 0, plane: 2}"), ("a T0", "{t0: 2, up: 0, plane: 0}"),
        ("a T0's port", "{t0: 0, up: 2, plane: 0}"), ("a T0's plane", "{t0: 0, up: 0, plane: 2}"), ("a plane", "{plane: 2}"),
    ):
        path = check.file(lead + f"  - {{kind: link_down, at: {place}, from: 1us, until: 2us}}\n")
        check.refused(f"{what} that does not exist", [path], "input.yaml:5:")
    path = check.file(lead + "  - {kind: loss, at: all, probability: 1%}\n" * 3 + "  - {kind: loss, at: {plane: 7}, probability: 1%}\n")
    check.refused("the fourth fault", [path], "input.yaml:8:")
    check.accepted("1,024 faults", [check.file(lead + "  - {kind: loss, at: all, probability: 0.001%}\n" * 1024)])
    check.refused("1,025 faults", [check.file(lead + "  - {kind: loss, at: all, probability: 0.001%}\n" * 1025)], ["input.yaml:1029:", "1024"])


def taps(check):
    lead = GOOD + "taps:\n"
    for what, place in (
        ("a NIC", "{nic: 8, plane: 0}"), ("a T0", "{t0: 2, up: 0, plane: 0}"), ("a T0's port", "{t0: 0, up: 2, plane: 0}"),
        ("a plane", "{plane: 2}"),
    ):
        check.refused(f"a tap at {what} that does not exist", [check.file(lead + f"  - {{at: {place}}}\n")], "input.yaml:5:")
    check.accepted("taps without a capture", [check.file(lead + "  - {at: all, direction: up}\n  - {at: {plane: 1}}\n")])
    check.accepted("64 taps", [check.file(lead + "  - {at: all}\n" * 64)])
    check.refused("65 taps", [check.file(lead + "  - {at: all}\n" * 65)], ["input.yaml:69:", "64"])
    check.refused("taps on the command line", [check.file(GOOD), "--set", "taps=all"], "--set:1:1: ")


def damages(text):
    """(what, damaged text, line that must be told) of a trace."""
    lines = text.split("\n")

    def with_line(number, new):
        return "\n".join(lines[:number - 1] + [new] + lines[number:])

    middle = len(lines) // 2 + 1
    row = lines[middle - 1].split("\t")
    yield "an empty trace", "", None
    yield "a trace of one line", lines[0] + "\n", 1
    yield "a truncated line", with_line(middle, "\t".join(row)[:len("\t".join(row)) // 2]), middle
    yield "a column too few", with_line(middle, "\t".join(row[:-1])), middle
    yield "a column too many", with_line(middle, "\t".join(row + ["1"])), middle
    yield "a word for a number", with_line(middle, "\t".join(row[:2] + ["many"] + row[3:])), middle
    yield "a negative size", with_line(middle, "\t".join(row[:4] + ["-5"] + row[5:])), middle
    yield "a size beyond 64 bits", with_line(middle, "\t".join(row[:4] + ["9" * 25] + row[5:])), middle
    yield "an unknown collective", with_line(middle, "\t".join(row[:3] + ["SHUFFLE"] + row[4:])), middle
    yield "a NUL", with_line(middle, row[0] + "\0" + "\t".join(row[1:])), middle
    yield "a layer too few", with_line(2, str(int(lines[1]) + 1)), None
    yield "a layer too many", with_line(2, str(int(lines[1]) - 1)), None
    yield "no layers", with_line(2, "0"), None
    yield "a count that is a word", with_line(2, "several"), 2
    yield "a head without GPUs", with_line(1, lines[0].replace("all_gpus:", "all_cpus:")), 1
    yield "zero GPUs", with_line(1, re.sub(r"all_gpus: \d+", "all_gpus: 0", lines[0])), 1
    yield "a head that is something else", with_line(1, "name: two-planes"), 1
    yield "text cut off", text[:len(text) - len(lines[-2]) // 2 - 1], None


def traces(check):
    missing = check.folder / "missing.txt"
    check.refused("a missing trace", ["--trace", missing], [f"{missing}: ", "No such file"])
    (check.folder / "no-trace").mkdir()
    check.refused("an empty folder as trace", ["--trace", check.folder / "no-trace"], "no file in the folder")
    check.refused("an empty name of a trace", ["--trace", ""], "--trace")
    check.accepted("a small trace", ["--trace", check.file(TRACE, "trace.txt"), *SMALL_FABRIC])
    texts = [("small", TRACE)]
    if REAL_TRACE.exists():
        texts.append(("real", REAL_TRACE.read_text(encoding="utf-8")))
    else:
        print("the real trace is not here: its part is left out")
    for name, text in texts:
        for what, damaged, line in damages(text):
            path = check.file(damaged, "trace.txt")
            says = f"trace.txt:{line}:" if line else "trace.txt:"
            check.refused(f"{what} ({name})", ["--trace", path, *SMALL_FABRIC], says)
            path = check.file(GOOD.replace("nics: 8", "nics: 16").replace(
                "{kind: permutation, bytes: 100kB}", f"{{kind: trace, trace: {path}}}"))
            if name == "small":
                check.refused(f"{what} (named by a scenario)", [path], says)


def folders(check):
    good = check.file(GOOD, "good.yaml")
    full = check.folder / "full"
    full.mkdir()
    (full / "notes.txt").write_text("mine", encoding="utf-8")
    check.refused("a folder with other files", [good], [f"{full}: ", "holds other files"], out=full)
    if [path.name for path in full.iterdir()] != ["notes.txt"]:
        check.failed += 1
        print("not ok: a refused folder was written into")
    check.refused("a file for a folder", [good], "Not a directory", status=ENVIRONMENT, out=good)
    check.refused("a folder below a file", [good], "Not a directory", status=ENVIRONMENT, out=good / "out")
    before = CONFINED if os.geteuid() == 0 else ()
    closed = check.folder / "closed"
    closed.mkdir(mode=0o555)
    check.refused("a folder in a closed one", [good], "Permission denied", status=ENVIRONMENT, out=closed / "out", before=before)
    check.refused("a closed folder", [good], "Permission denied", status=ENVIRONMENT, out=closed, before=before)


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        folder.chmod(0o755)
        check = Refusals(folder)
        for part in (files, broken_scenarios, options, worlds, faults, taps, traces, folders):
            part(check)
        print(f"{check.done} inputs, {check.failed} wrong")
    sys.exit(1 if check.failed else 0)


if __name__ == "__main__":
    main()
