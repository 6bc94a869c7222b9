#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Results that were spoilt, in a table: none passes a verdict, a comparison or a report. Each is refused with status 2 and the name
of the file at fault. Files are spoilt behind the manifest's back; and with a manifest made anew, where fields and figures must give it
away. What was not spoilt passes."""
import json
import os
import shutil

import remanifest
import weft
from weft import check, check_parts

SMALL = """name: small
fabric: {topology: leaf-spine, nics: 16, link_rate: 100Gb/s, nics_per_t0: 4, t1_count: 4}
traffic: {kind: permutation, bytes: 256KiB}
watch: {bin: 10us, delays: true, links: true}
expect: [{measure: retransmitted, formula: loss_on_way, loss: 50%, bound: at_most, name: repeats, tolerance: 0%}]
"""
PROFILE = "name: p\nchecks: [{name: run complete, metric: run.end, bound: is done, source: s}]\n"
STUDIED = "name: p\nchecks: [{name: some, metric: seeds, bound: at least 1, source: s}]\n"


# ------------------------------------------------------------------------------------------------ ways to spoil files

def cut(name, part=0.5):
    def spoil(folder, _):
        path = folder / name
        os.truncate(path, int(path.stat().st_size * part))
    return spoil


def append(name, text="\n"):
    return lambda folder, _: (folder / name).open("a").write(text)


def swap_text(name, old, new):
    def spoil(folder, _):
        text = (folder / name).read_text()
        assert old in text, (name, old)
        (folder / name).write_text(text.replace(old, new, 1))
    return spoil


def write(name, data):
    return lambda folder, _: (folder / name).write_bytes(data)


def lose(name):
    return lambda folder, _: (folder / name).unlink()


def from_other(name, other_name=None):
    return lambda folder, other: shutil.copy(other / (other_name or name), folder / name)


def link(name):
    def spoil(folder, _):
        (folder / name).rename(folder / "kept")
        (folder / name).symlink_to("kept")
    return spoil


def exchange(one, two):
    def spoil(folder, _):
        a, b = (folder / one).read_bytes(), (folder / two).read_bytes()
        (folder / one).write_bytes(b)
        (folder / two).write_bytes(a)
    return spoil


def replace(name, make):
    def spoil(folder, _):
        (folder / name).unlink()
        make(folder / name)
    return spoil


def rows(change):
    """A manifest whose rows were changed."""
    def spoil(folder, _):
        path = folder / "manifest.json"
        manifest = json.loads(path.read_text())
        change(manifest)
        path.write_text(json.dumps(manifest))
    return spoil


def with_its_row(name):
    """A file and its row in the manifest, of another run."""
    def spoil(folder, other):
        shutil.copy(other / name, folder / name)
        row = next(row for row in json.loads((other / "manifest.json").read_text())["files"] if row["name"] == name)
        rows(lambda m: m.update(files=[row if one["name"] == name else one for one in m["files"]]))(folder, other)
    return spoil


def without(name):
    return rows(lambda manifest: manifest.update(files=[row for row in manifest["files"] if row["name"] != name]))


# What, how, and the file that is named. The manifest is as the run left it.
FILES = [
    ("result cut", cut("result.json"), "result.json"),
    ("result empty", cut("result.json", 0), "result.json"),
    ("result with a line more", append("result.json"), "result.json"),
    ("result with another digit", swap_text("result.json", '"end": "done"', '"end": "dome"'), "result.json"),
    ("result of another run", from_other("result.json"), "result.json"),
    ("result behind a link", link("result.json"), "result.json"),
    ("histogram cut", cut("flow.hdr"), "flow.hdr"),
    ("histogram empty", cut("flow.hdr", 0), "flow.hdr"),
    ("histogram gone", lose("flow.hdr"), "flow.hdr"),
    ("histogram behind a link", link("flow.hdr"), "flow.hdr"),
    ("histogram of another run", from_other("flow.hdr"), "flow.hdr"),
    ("histograms swapped", exchange("message_same_t0.hdr", "message_across_t1.hdr"), "message_across_t1.hdr"),
    ("histogram twice", from_other("extra.hdr", "flow.hdr"), "extra.hdr"),
    ("histogram that is a folder", replace("flow.hdr", lambda path: path.mkdir()), "flow.hdr"),
    ("histogram that is a pipe", replace("flow.hdr", os.mkfifo), "flow.hdr"),
    ("histogram that is a link to nowhere", replace("flow.hdr", lambda path: path.symlink_to("nowhere")), "flow.hdr"),
    ("series changed", swap_text("series.csv", "0", "1"), "series.csv"),
    ("series gone", lose("series.csv"), "series.csv"),
    ("time line gone", lose("trace.json"), "trace.json"),
    ("a study beside it", write("study.json", b"{}"), "study.json"),
    ("a histogram and its row of another run", with_its_row("flow.hdr"), "flow.hdr"),
    ("the result and its row of another run", with_its_row("result.json"), "result.json"),
    ("the time line and its row of another run", with_its_row("trace.json"), "trace.json"),
    ("a row of the capture less", without("trace.json"), "trace.json"),
    ("a row without its seal", rows(lambda m: m["files"][0].pop("seal")), "cables.csv"),
    ("manifest of other inputs", rows(lambda m: m["inputs"][0].update(bytes=1)), "manifest.json"),
    ("manifest gone", lose("manifest.json"), "manifest.json"),
    ("manifest cut", cut("manifest.json"), "manifest.json"),
    ("manifest empty", cut("manifest.json", 0), "manifest.json"),
    ("manifest of another run", from_other("manifest.json"), None),
    ("manifest behind a link", link("manifest.json"), "manifest.json"),
    ("manifest that is a folder", replace("manifest.json", lambda path: path.mkdir()), "manifest.json"),
    ("manifest of another version", rows(lambda m: m.update(schema=2)), "manifest.json"),
    ("manifest of another kind", rows(lambda m: m.update(kind="book")), "manifest.json"),
    ("manifest with a field more", rows(lambda m: m.update(more=1)), "manifest.json"),
    ("manifest without the result", without("result.json"), "result.json"),
    ("manifest without a histogram", without("flow.hdr"), "flow.hdr"),
    ("manifest with a row twice", rows(lambda m: m["files"].insert(0, m["files"][0])), "manifest.json"),
    ("manifest that leads out", rows(lambda m: m["files"][0].update(name="../x")), "manifest.json"),
    ("manifest with a wrong length", rows(lambda m: m["files"][0].update(bytes=1)), None),
    ("manifest with half a digest", rows(lambda m: m["files"][0].update(sha256="00")), "manifest.json"),
]


# ------------------------------------------------------------------------------------------------ ways to spoil fields

def fields(change, name="result.json"):
    def spoil(folder, _):
        path = folder / name
        result = json.loads(path.read_text())
        change(result)
        path.write_text(json.dumps(result))
    return spoil


def run_ends(end, partial):
    def change(result):
        result["run"].update(end=end, partial=partial)
        if partial is None:
            del result["run"]["partial"]
    return fields(change)


def first_message(change):
    return fields(lambda result: change(next(row for row in result["messages"] if row["count"] > 0)))


# The manifest is made anew: fields and figures must give it away.
FIELDS = [
    ("interrupted, and the flag is gone", run_ends("interrupted", None), "result.json"),
    ("interrupted, and the flag says no", run_ends("interrupted", False), "result.json"),
    ("stalled, and the flag says no", run_ends("stalled", False), "result.json"),
    ("an end that nobody knows", run_ends("finished", False), "result.json"),
    ("done, and the flag says partial", run_ends("done", True), "result.json"),
    ("an end that is a number", run_ends(1, False), "result.json"),
    ("a flag that is a text", run_ends("done", "false"), "result.json"),
    ("no end", fields(lambda r: r["run"].pop("end")), "result.json"),
    ("no run", fields(lambda r: r.pop("run")), "result.json"),
    ("a run that is a list", fields(lambda r: r.update(run=[])), "result.json"),
    ("no version", fields(lambda r: r.pop("schema")), "result.json"),
    ("a later version", fields(lambda r: r.update(schema=99)), "result.json"),
    ("a version in a text", fields(lambda r: r.update(schema="1")), "result.json"),
    ("no program", fields(lambda r: r.pop("weft")), "result.json"),
    ("a section gone", fields(lambda r: r.pop("transport")), "result.json"),
    ("a figure gone", fields(lambda r: r["congestion"].pop("marked")), "result.json"),
    ("a figure too many", fields(lambda r: r["goodput"].update(surprise=1)), "result.json"),
    ("a figure that is null", fields(lambda r: r["transport"].update(data_packets=None)), "result.json"),
    ("a figure that is a text", fields(lambda r: r["run"].update(virtual_time_ps="1 ms")), "result.json"),
    ("a row without its figure", first_message(lambda row: row.pop("p99_ns")), "result.json"),
    ("a list that is an object", fields(lambda r: r.update(drops={})), "result.json"),
    ("less than nothing", fields(lambda r: r["transport"].update(qps_failed=-1)), "result.json"),
    ("goodput doubled", fields(lambda r: r["goodput"].update(per_nic_bps=2 * r["goodput"]["per_nic_bps"])), "result.json"),
    ("all goodput doubled", fields(lambda r: r["goodput"].update(per_nic_bps=2 * r["goodput"]["per_nic_bps"], total_bps=2 * r["goodput"]["total_bps"])), "result.json"),
    ("more delivered than sent", fields(lambda r: r["conservation"].update(delivered=r["conservation"]["delivered"] + 1)), "result.json"),
    ("a law that is said to fail", fields(lambda r: r["conservation"].update(holds=False)), "result.json"),
    ("drops that nobody counted", fields(lambda r: r["drops"].append({"reason": "no_route", "switches": 1, "hosts": 0, "cables": 0})), "result.json"),
    ("a share without packets", fields(lambda r: r["congestion"].update(marked_share=0.9)), "result.json"),
    ("repeats that nothing asked for", fields(lambda r: r["congestion"].update(retransmitted=7)), "result.json"),
    ("marks that no switch made", fields(lambda r: r["switches"].update(marked=r["switches"]["marked"] + 1)), "result.json"),
    ("a percentile above the longest", first_message(lambda row: row.update(p99_ns=row["max_ns"] + 1)), "result.json"),
    ("percentiles out of order", first_message(lambda row: row.update(p50_ns=row["p95_ns"] + 1)), "result.json"),
    ("a mean below the shortest", first_message(lambda row: row.update(mean_ns=row["min_ns"] - 1)), "result.json"),
    ("flows slower than the slowest", fields(lambda r: r["flows"].update(p999_ns=r["flows"]["max_ns"] * 2)), "result.json"),
    ("planes more even than even", fields(lambda r: r["planes"].update(jain=1.5)), "result.json"),
    ("a plane too many", fields(lambda r: r["planes"]["each"].append(dict(r["planes"]["each"][0]))), "result.json"),
    ("a series of fewer bins", fields(lambda r: r["series"]["payload_bytes"].pop()), "result.json"),
    ("a completion behind the end", fields(lambda r: r["run"].update(last_completion_ps=r["run"]["virtual_time_ps"] + 1)), "result.json"),
    ("an expectation that is not met", fields(lambda r: r["expect"][0].update(measured=2)), "result.json"),
    ("an expectation without a figure", fields(lambda r: r["expect"][0].update(measured=None)), "result.json"),
    ("more overtaken than came", fields(lambda r: r["delays"]["order"].update(overtaken=r["delays"]["order"]["count"] + 1)), "result.json"),
    ("a name twice", swap_text("result.json", '"schema": 2,', '"schema": 2, "schema": 2,'), "result.json"),
    ("not a number", swap_text("result.json", '"schema": 2,', '"schema": NaN,'), "result.json"),
    ("a number beyond all", swap_text("result.json", '"schema": 2,', '"schema": 1e999,'), "result.json"),
    ("text behind it", append("result.json", "{}"), "result.json"),
    ("no JSON", write("result.json", b"result\n"), "result.json"),
    ("nothing", write("result.json", b""), "result.json"),
    ("a NUL", write("result.json", b"{\0}"), "result.json"),
    ("no UTF-8", write("result.json", b'{"weft": "\xff"}'), "result.json"),
    ("a list", write("result.json", b"[]"), "result.json"),
    ("very deep", write("result.json", b"[" * 100000), "result.json"),
    ("an empty object", write("result.json", b"{}"), "result.json"),
]
# Of histograms, which reports alone have from their files. The manifest is made anew.
HISTOGRAMS = [
    ("a histogram cut", cut("flow.hdr"), "flow.hdr"),
    ("a histogram emptied", cut("flow.hdr", 0), "flow.hdr"),
    ("a histogram of another run", from_other("flow.hdr"), "flow.hdr"),
    ("histograms swapped", exchange("message_same_t0.hdr", "message_across_t1.hdr"), ".hdr"),
    ("another's histogram", exchange("flow.hdr", "message_same_t0.hdr"), ".hdr"),
    ("a histogram that falls", swap_text("flow.hdr", "0.500000000000", "0.050000000000"), "flow.hdr"),
    ("a histogram of a partial run", swap_text("flow.hdr", "; complete;", "; PARTIAL RESULT;"), "flow.hdr"),
    ("a histogram with another total", swap_text("flow.hdr", "Total count    =           16", "Total count    =           17"), "flow.hdr"),
    ("fewer flows than the histogram has", fields(lambda r: r["flows"].update(count=1)), "flow.hdr"),
    ("a histogram of zeros", write("flow.hdr", bytes(100)), "flow.hdr"),
]


def study(change):
    return fields(change, "study.json")


STUDIES = [
    ("runs without figures", study(lambda s: [run.update(figures={}) for run in s["runs"]]), "study.json"),
    ("a run without a figure", study(lambda s: s["runs"][0]["figures"].pop("goodput_bps")), "study.json"),
    ("no runs", study(lambda s: s.update(runs=[])), "study.json"),
    ("a run gone", study(lambda s: s["runs"].pop()), "study.json"),
    ("a run twice", study(lambda s: s["runs"].__setitem__(1, s["runs"][0])), "study.json"),
    ("a run of no seed", study(lambda s: s["runs"][0].update(seed="999")), "study.json"),
    ("a run of no point", study(lambda s: s["runs"][0].update(point=9)), "study.json"),
    ("a run that stalled", study(lambda s: s["runs"][0].update(end="stalled")), "study.json"),
    ("partial for nothing", study(lambda s: s.update(partial=True)), "study.json"),
    ("another mean", study(lambda s: s["figures"][0]["points"][0].update(mean=1)), "study.json"),
    ("another figure of a run", study(lambda s: s["runs"][0]["figures"].update(goodput_bps=1)), "study.json"),
    ("points swapped", study(lambda s: s["figures"][0]["points"].reverse()), "study.json"),
    ("a point too many", study(lambda s: s["figures"][0]["points"].append(s["figures"][0]["points"][0])), "study.json"),
    ("more complete than runs", study(lambda s: s["points"][0].update(complete=9)), "study.json"),
    ("a figure without points", study(lambda s: s["figures"][0].update(points=[])), "study.json"),
    ("a later version of studies", study(lambda s: s.update(schema=99)), "study.json"),
]


def book(change):
    return fields(change, "book.json")


def first_case(**values):
    return book(lambda b: b["cases"][0].update(values))


BOOKS = [
    ("a case that fails in a book that passes", first_case(state="fail"), "book.json"),
    ("an open case in a whole book", first_case(state="open"), "book.json"),
    ("a case that is not valid in a book that passes", first_case(state="not_valid"), "book.json"),
    ("a book that fails without a case", book(lambda b: b.update(verdict="fail")), "book.json"),
    ("a book that passes without cases", book(lambda b: b.update(cases=[])), "book.json"),
    ("a case without a state", book(lambda b: b["cases"][0].pop("state")), "book.json"),
    ("a case without a digest", first_case(digest=""), "book.json"),
    ("a later version of books", book(lambda b: b.update(schema=99)), "book.json"),
]


# ------------------------------------------------------------------------------------------------ the table

def refused(what, program, words, folder, file):
    status, out, errors = weft.outcome(program, *words)
    named = str(folder / file) if file and not file.startswith(".") else file or str(folder)
    holds = status == 2 and errors.startswith(f"weft {program}: ") and errors.count("\n") == 1 and named in errors.split(": ")[1] and out == ""
    check(holds, f"{program}: {what}: {errors.strip() or out[-200:]} [{status}]")


def readers(folder, good, profile, only_report):
    report = ("report", [folder, "--no-files"])
    if only_report:
        return [report]
    verdict = ["--profile", profile]
    return [report, ("verdict", [folder, *verdict]), ("compare", [folder, good]), ("compare", [good, folder])]


def spoil_all(table, place, good, other, profile, remade, only_report=False):
    before = check.failed
    for number, (what, spoil, file) in enumerate(table):
        folder = place / f"{good.name}-{remade}-{only_report}-{number}"
        shutil.copytree(good, folder, symlinks=True)
        spoil(folder, other)
        if remade:
            remanifest.make(folder)
        for program, words in readers(folder, good, profile, only_report):
            refused(what, program, words, folder, file)
        if table is FILES:
            refused(what + ", as baseline", "verdict", [good, "--profile", place / "beside.yaml", "--baseline", folder], folder, file)
    print(f"{len(table)} ways, {check.failed - before} failed")


def check_good(place, run, other, many, bound):
    """Nothing is refused that was not spoilt: as it is, moved, with a manifest made anew, with the inputs gone."""
    (place / "small.yaml").unlink()
    for name, remade in (("moved", False), ("remade", True)):
        folder = place / name
        shutil.copytree(run, folder)
        if remade:
            remanifest.make(folder)
        check(weft.outcome("verdict", folder, "--profile", place / "p.yaml")[0] == 0 and weft.outcome("compare", folder, run, "--within",
                                                                                                      0)[0] == 0 and
              weft.outcome("report", folder, "--quiet")[0] == 0, f"{name}: passes")
        check(weft.outcome("verdict", folder, "--profile", place / "p.yaml")[0] == 0, f"{name}: and with the page beside it")
    check(weft.outcome("compare", many, many, "--within", 0)[0] == 0 and weft.outcome("report", many, "--quiet")[0] == 0, "a study passes")
    check([weft.outcome("report", bound, "--quiet")[0] for _ in range(2)] == [0, 0], "a book passes, and again with its page made anew")
    lone = place / "lone.json"
    shutil.copy(run / "result.json", lone)
    refused("a file alone", "verdict", [lone, "--profile", place / "p.yaml"], place, "manifest.json")
    check(weft.outcome("verdict", lone, "--profile", place / "p.yaml", "--no-manifest")[0] == 0, "a file alone, with --no-manifest")
    check(weft.outcome("compare", lone, run, "--no-manifest")[0] == 0, "and compared")
    lone.write_text(lone.read_text().replace('"partial": false', '"partial": true'))
    check(weft.outcome("verdict", lone, "--profile", place / "p.yaml", "--no-manifest")[0] == 2, "its fields are checked all the same")
    check(weft.outcome("verdict", other, "--profile", place / "p.yaml")[0] == 5, "a partial run is not valid")


def main(place):
    for file, text in (("small.yaml", SMALL), ("p.yaml", PROFILE), ("s.yaml", STUDIED),
                       ("beside.yaml", PROFILE.replace("run.end, bound: is done", "goodput.total_bps, bound: at least 90 % of baseline"))):
        (place / file).write_text(text)
    run, other, many, bound = (place / part for part in ("run", "other", "many", "book"))
    for words in (["sim", place / "small.yaml", "--out", run], ["sim", place / "small.yaml", "--out", other, "--set", "limits.time=30us"],
                  ["sim", place / "small.yaml", "--out", many, "--seeds", 2, "--sweep", "queue.bytes=64KiB,128KiB"],
                  ["validate-fabric", "two-planes", "--quick", "--only", "baseline", "--out", bound]):
        status, _, errors = weft.outcome(*words)
        check(status in (0, 5), f"{words[0]} ran: {errors.strip()}")
    for part in (run, other):  # a figure of flows that the other has not
        check((part / "result.json").exists(), f"{part.name} is there")
    if not (other / "flow.hdr").exists():
        shutil.copy(other / next(path.name for path in sorted(other.glob("*.hdr"))), other / "flow.hdr")
        remanifest.make(other)
    check_good(place, run, other, many, bound)
    spoil_all(FILES, place, run, other, place / "p.yaml", False)
    spoil_all(FIELDS, place, run, other, place / "p.yaml", True)
    spoil_all(HISTOGRAMS, place, run, other, place / "p.yaml", True, True)
    spoil_all(STUDIES, place, many, other, place / "s.yaml", True)
    spoil_all(BOOKS, place, bound, other, None, True, True)
    print(f"{sum(map(len, (FILES, FIELDS, HISTOGRAMS, STUDIES, BOOKS)))} ways to spoil a result, {check.failed} failed")


if __name__ == "__main__":
    check_parts(main)
