#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""weft verdict on results that weft wrote: every shipped profile can be read and names figures that exist; a healthy run
passes, one with a lossy cable, a partial one and one without the figure do not; JUnit XML and JSON say the same as the
table; what is no profile or no result is refused."""
import functools
import json
import pathlib
import xml.etree.ElementTree as xml

import junit_form
import remanifest
import weft
from weft import SOURCE, check, check_parts

PROFILES = pathlib.Path(SOURCE, "apps", "profiles")
SMALL = """name: small
fabric: {nics: 8, planes: 2, link_rate: 100Gb/s, nics_per_t0: 4, t1_count: 4}
traffic: {kind: permutation, bytes: 32MiB}
watch: {bin: 10us}
"""
refused = functools.partial(weft.refused, "verdict")


def run(folder, name, *words):
    scenario = folder / "small.yaml"
    scenario.write_text(SMALL)
    weft.outcome("sim", scenario, "--out", folder / name, *words)
    return folder / name


def verdict(result, profile, *words):
    return weft.outcome("verdict", result, "--profile", profile, *words)


def states(result, profile):
    status, text, errors = verdict(result, profile, "--json")
    check(errors == "", f"{profile}: no word on stderr: {errors}")
    got = json.loads(text)
    counts = {state: sum(one["state"] == state for one in got["checks"])
              for state in ("met", "missed", "unavailable", "skipped")}
    check(all(got[state] == count for state, count in counts.items()), f"{profile}: counts are those of the checks")
    check(status == {"pass": 0, "fail": 1, "not_valid": 5}[got["verdict"]], f"{profile}: {got['verdict']}, status {status}")
    return got, {one["name"]: one for one in got["checks"]}


def check_shipped(healthy):
    status, text, _ = weft.outcome("verdict", "--list")
    names = [line.split()[0] for line in text.splitlines() if not line.startswith(" ")]
    check(all(len(line) <= 80 for line in text.splitlines()), "--list is at most 80 columns wide")
    check(status == 0 and sorted(names) == sorted(path.stem for path in PROFILES.glob("*.yaml")), f"--list has all {len(names)}")
    optional = {"expect", "ports", "wall", "pfc", "bypass", "flows", "collectives", "culprits", "delays", "trust", "files", "figures"}  # not of every run
    for name in names:
        for one in states(healthy, name)[0]["checks"]:
            if one["state"] in ("unavailable", "skipped"):
                check(one["metric"].split(".")[0] in optional | {"drops"} or one["metric"] == "messages" or one["bound"].endswith("of baseline"),
                      f"{name}: {one['name']}: {one['measured_reason']}")
            check(one["source"] != "", f"{name}: {one['name']} has a source")


def check_runs(folder, healthy):
    got, checks = states(healthy, "pairwise")
    check(got["verdict"] == "pass" and checks["goodput of a NIC"]["limit"] == 0.93 * 200e9, "a healthy permutation passes")
    lossy = run(folder, "lossy", "--fault", "{kind: loss, at: all, probability: 1%}")
    got, checks = states(lossy, "strict")
    check(got["verdict"] == "fail" and checks["nothing retransmitted"]["state"] == "missed" and
          checks["no drops on cables"]["measured"] > 0, "a lossy cable fails strict")
    partial = run(folder, "partial", "--set", "limits.time=500us")
    got, _ = states(partial, "pairwise")
    check(got["verdict"] == "not_valid" and got["partial"], "a partial run is not valid")
    got, checks = states(healthy, "incast-lossless")
    check(got["verdict"] == "not_valid" and checks["no deadlock"]["state"] == "unavailable" and
          checks["no deadlock"]["measured_reason"] == "the result has no pfc", "without PFC nothing is said of pauses")
    for name, words, state, status in (("marks-right", ("--set", "watch.links=true"), "met", 0),
                                       ("marks-wrong", ("--set", "watch.links=true", "--fault", "{kind: ecn, at: {t0: 0, plane: 0}, low: 4KiB, high: 8KiB}"), "missed", 1),
                                       ("marks-unknown", ("--set", "watch.links=false"), "unavailable", 5)):
        out = run(folder, name, *words)
        one = states(out, "ecn-accuracy")[1]["marks as they are set"]
        check(one["state"] == state and verdict(out, "ecn-accuracy")[0] == status, f"{name}: {one['state']} {one.get('measured_reason')}")
    check(one["measured_reason"] == "not measured: watch.links is false", "what is not there says why")
    status, text, _ = verdict(healthy / "result.json", "pairwise")
    check(status == 0 and text.splitlines()[-1].startswith("PASS: "), "a file as well as its folder")
    check_several_nics(folder)
    check_junit(folder, lossy)


def check_several_nics(folder):
    """Where the channels of a host leave by several NICs, one NIC's rate is no bound: half a fabric would pass."""
    for name, words, wanted in (("whole", (), "met"), ("half", ("--set", "fabric.trunk_rate=50Gb/s"), "missed")):
        weft.outcome("sim", "two-racks", "--out", folder / name, *words)
        for profile in ("collectives", "operator-default"):
            one = states(folder / name, profile)[1]["bus bandwidth of its lines"]
            check(one["state"] == wanted, f"{name} trunks: busbw held against {profile}: {one['state']}, {one['measured']:.3f}")
        rate = json.loads((folder / name / "result.json").read_text())["collectives"][0]["busbw_bytes_per_s"] * 8
        check(rate > 1.5 * 400e9, f"{name} trunks: more than one NIC of 400 Gb/s carries: {rate / 1e9:.0f}")


def check_junit(folder, result):
    path = folder / "junit.xml"
    _, checks = states(result, "incast-lossless")
    verdict(result, "incast-lossless", "--junit", path)
    bad = junit_form.faults(xml.parse(path).getroot())
    check(not bad, f"verdict: JUnit as its schemas have it {bad}")
    suite = xml.parse(path).getroot().find("testsuite")
    cases = suite.findall("testcase")
    check(int(suite.get("tests")) == len(cases) == len(checks) + 1, f"JUnit: {len(cases)} cases")
    for tag, counted, state in (("failure", "failures", "missed"), ("error", "errors", "unavailable"),
                                ("skipped", "skipped", "skipped")):
        names = {case.get("name") for case in cases if case.find(tag) is not None}
        check(names == {name for name, one in checks.items() if one["state"] == state}, f"JUnit: each {state} check is a {tag}")
        check(int(suite.get(counted)) == len(names), f"JUnit: {counted} counted")


def check_refusals(folder, healthy):
    bad = folder / "bad.yaml"
    bad.write_text("name: bad\nchecks:\n  - {name: a, metric: b, bound: soon, source: c}\n")
    (folder / "empty").mkdir()
    text = remanifest.put(folder / "text", "result.json", "no JSON\n")
    weft.outcome("validate-fabric", "two-planes", "--quick", "--only", "one-packet", "--out", folder / "book")
    refused("a list of one profile", ["--list", "strict"], "--list goes alone; unexpected argument 'strict'")
    refused("no result", ["--profile", "strict"], "weft verdict: no result given (--help lists the options)")
    refused("no profile", [healthy], "--profile")
    refused("a book", [folder / "book", "--profile", "strict"], "this is a book")
    weft.outcome("sim", folder / "small.yaml", "--seeds", "2", "--out", folder / "study")
    for profile in ("operator-default", "steady"):
        refused(f"a study held against {profile}", [folder / "study", "--profile", profile], "study.json: this is a study of many runs")
    of_study = folder / "of-study.yaml"
    of_study.write_text("name: s\nchecks:\n  - {name: a, metric: figures.points.mine, bound: at least 1, source: c}\n")
    check(weft.outcome("verdict", folder / "study", "--profile", of_study)[0] == 5, "a profile of studies is held against one, whatever is missing")
    refused("two results", [healthy, healthy, "--profile", "strict"], "unexpected argument")
    refused("a profile twice", [healthy, "--profile", "strict", "--profile", "strict"], "given twice")
    refused("an unknown option", [healthy, "--fast"], "unknown option")
    refused("an unknown profile", [healthy, "--profile", "kind"], "no profile 'kind'")
    refused("no bound", [healthy, "--profile", bad], f"{bad}:3:33: `soon` is not a bound")
    refused("no such file", [folder / "none", "--profile", "strict"], "none: cannot be read")
    refused("a folder without a result", [folder / "empty", "--profile", "strict"], "no result.json")
    refused("no JSON", [text, "--profile", "strict"], "result.json:1:")
    refused("a profile as result", [bad, "--profile", "strict"], "manifest.json: is missing")
    refused("a profile as result, unchecked", [bad, "--profile", "strict", "--no-manifest"], "bad.yaml:1:")
    refused("JUnit into a folder", [healthy, "--profile", "strict", "--junit", folder], "cannot write")


def main(folder):
    healthy = run(folder, "healthy")
    check_shipped(healthy)
    check_runs(folder, healthy)
    check_refusals(folder, healthy)


if __name__ == "__main__":
    check_parts(main)
