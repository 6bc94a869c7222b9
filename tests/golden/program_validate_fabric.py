#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""weft validate-fabric: a healthy fabric passes every case, each fault turns its section red, what was stopped on the way
goes on where it was and comes to the same, and the report has the same facts in all of its forms."""
import html
import json
import math
import os
import pathlib
import pty
import re
import signal
import shutil
import subprocess
import sys
import time
import xml.etree.ElementTree as xml

import junit_form
import page_laws
import weft
from weft import WEFT, check, check_parts

SMALL = """name: pod
fabric: {nics: 16, planes: 2, link_rate: 100Gb/s, nics_per_t0: 4, t1_count: 4}
transport: {evs: 64}
traffic: {kind: permutation, bytes: 1MB}
expect: [{measure: goodput, formula: one_way, tolerance: 1%}]
"""


def validate(scenario, out, *words):
    return weft.outcome("validate-fabric", scenario, "--out", out, *words)


def book(out):
    return json.loads((out / "book.json").read_text())


def states(out, key="cases"):
    return {one["name"]: one["state"] for one in book(out)[key]}


def check_grid(got, page):
    """The grid at its head: each case in its category, with its state by look and sign, and why it was not asked; how many were met."""
    looks = {"pass": "met", "fail": "missed", "not_valid": "unavailable", "not_asked": "skipped", "left_out": "skipped", "open": "skipped"}
    rows = re.findall(r'<div class="category"><h3>(.*?)</h3>(.*?)</div>', page, re.S)
    found = {html.unescape(title): [(look, html.unescape(name), why and html.unescape(why)) for look, name, why in
                                    re.findall(r'class="chip ([a-z]+)"[^>]*><span[^>]*>[^<]*</span> ([^ <]+)(?: <small>(.*?)</small>)?</span>', row)] for title, row in rows}
    wanted = {one["title"]: [(looks[case["state"]], case["name"], case["reason"] if case["state"] in ("not_asked", "left_out") else "open" if case["state"] == "open" else "")
                             for case in got["cases"] if case["section"] == one["name"]] for one in got["sections"]}
    check(found == wanted, f"page: a grid of {sum(map(len, found.values()))} cases {'' if found == wanted else [found, wanted]}")
    met = sum(case["state"] == "pass" for case in got["cases"])
    asked = sum(case["state"] not in ("not_asked", "left_out") for case in got["cases"])
    out_of = len(got["cases"]) - asked
    words = f"{out_of} of {len(got['cases'])} cases {'was not asked; why stands beside it' if out_of == 1 else 'were not asked; why stands beside them'}."
    check(words in page and " of payload rate" in page and "line rate" not in page, f"page: {words}")
    check(f">{met} of {asked} cases met" in page and page.index('id="figures"') < page.index('id="cases"') < page.index("<section"), f"page: {met} of {asked} in its headline")


def check_page(out, got, word, red):
    """`word` is in the verdict. The page has what book.json has: the verdict, each section and case, in red what failed, and links that lead somewhere."""
    page = (out / "report.html").read_text().partition("<script")[0]
    check(got["verdict_text"].startswith(word) and f'<span>{got["verdict_text"]}</span></p>' in page, f"page: {got['verdict_text']}")
    check_grid(got, page)
    broken = page_laws.broken(out / "report.html")
    check(broken == [], f"page: can be read on a wide and a narrow screen {'; '.join(broken[:5])}")
    for one in got["sections"]:
        part = page.partition(f'<section id="section-{one["name"]}"')[2].partition("</section>")[0]
        cases = [case for case in got["cases"] if case["section"] == one["name"]]
        check(all(f">{case['name']}<" in part for case in cases) and part.partition("</table>")[0].count("<tr>") == len(cases) + 1 and
              (part.count('class="missed"') > 0) == (one["name"] in red), f"page: section {one['name']} has its {len(cases)} cases, red: {one['name'] in red}")
    links = re.findall(r'<a href="(?!#)([^"]*)"', page)
    check(len(links) == sum("folder" in case for case in got["cases"]) and all((out / link).is_dir() for link in links), f"page: {len(links)} links to cases")
    check(not re.search(r">nan|nan<|[^a-z]nan[^a-z]", page), "page: no figure is none")
    check(got["command"].startswith("weft validate-fabric ") and html.escape(got["command"], quote=True).replace("&#x27;", "&#39;") in page, "page: the command: " + got["command"])


def measured(got, case):
    return {one["name"]: one["value"] for one in next(each for each in got["cases"] if each["name"] == case)["measures"]}


def check_measures(out, got, report):
    """What sections have beside is what the results say, in book.json, on both pages; the draft's conditions stand there."""
    by_name = {one["name"]: one for one in got["cases"]}
    for case, name, way in (("pair-far", "P99", ("flows", "p99_ns")), ("spray", "JFI of planes", ("planes", "jain")),
                            ("trim-repair", "trims", ("transport", "trims_received")), ("retire-restore", "EVs taken back", ("transport", "paths_reinstated")),
                            ("incast-8", "deepest queue", ("congestion", "queue_bytes_max")), ("trunk-down", "dead path left P50", ("bypass", "paths", "p50_ps"))):
        value = json.loads((out / by_name[case]["folder"] / "run" / "result.json").read_text())
        for part in way:
            value = value[part]
        scale = {"ns": 1e-9, "ps": 1e-12}.get(way[-1].rpartition("_")[2], 1)
        check(math.isclose(measured(got, case)[name], value * scale, rel_tol=1e-9), f"{case}: {name} is {measured(got, case)[name]:.6g}")
        check(f" {name}" in report, f"report.md has {name}")
    drops = json.loads((out / by_name["trunk-down"]["folder"] / "run" / "result.json").read_text())["drops"]
    check(measured(got, "trunk-down")["lost on cables"] == sum(one["cables"] for one in drops) > 0, "what a dead trunk lost is the sum over reasons")
    check({"goodput before", "meanwhile", "after"} <= set(measured(got, "trunk-down")) and "pauses" not in measured(got, "incast-8"),
          "before, meanwhile, after; and no figure that there is not")
    step = by_name["step"]
    check(1 < step["jct_ratio"] < 1.15 and -0.15 < step["overlap_fraction"] < 0 and step["collective"]["algorithm"] == "ring" and
          by_name["tail"]["collective"] is None, f"a job over its roofline: {step['jct_ratio']:.4f}, overlap {step['overlap_fraction']:.4f}")
    check(0 < by_name["sustained"]["variation"] < 0.05 and by_name["sustained"]["samples"] > 8 and by_name["step"]["variation"] is None,
          f"a soak holds: {by_name['sustained']['samples']} samples, CV {by_name['sustained']['variation']:.2%}")
    check(all(word in got["settings"]["tester"] for word in ("Barriers", "schedule", "gradients", "Stragglers")), "the tester says what the draft asks of it")
    check("topology A" in got["device"]["topology"] and got["settings"]["ecn_high_bytes"] > got["settings"]["ecn_low_bytes"] > 0, "topology and thresholds")
    page = (out / "report.html").read_text()
    check(all(f"cdf-{section}" in page for section in ("baseline", "mrc", "congestion", "balance", "convergence", "soak")) and "reorder distance P99" in page,
          "the page has the distributions and the measures")


def check_healthy(folder, scenario):
    out, junit = folder / "healthy", folder / "healthy.xml"
    status, text, errors = validate(scenario, out, "--quick", "--jobs", "2", "--junit", junit)
    got = book(out)
    check(status == 0 and errors == "" and got["verdict"] == "pass" and not got["partial"], f"healthy: {status} {errors}{text[-300:]}")
    asked = [one for one in got["cases"] if one["state"] == "pass"]
    check(len(asked) >= 28 and {one["state"] for one in got["cases"]} == {"pass", "not_asked"}, f"healthy: {len(asked)} cases pass")
    check(all(one["reason"] for one in got["cases"] if one["state"] == "not_asked"), "what is not asked has a reason")
    check(all(one["state"] == "pass" for one in got["sections"]) and len(got["sections"]) == 8, "all sections pass")
    by_name = {one["name"]: one for one in asked}
    check(all(by_name[name]["folder"] == "cases/permutation-1" and by_name[name]["digest"] == by_name["permutation-1"]["digest"] and
              not (out / "cases" / name).exists() for name in ("spray", "tail")), "what has the same traffic has one run")
    rates = {one["name"]: one.get("busbw_bps") for one in asked}
    check(rates["all-reduce-1MB"] < rates["all-reduce-8MB"] < rates["all-reduce-64MB"] < 200e9, "bus bandwidth grows with the buffer")
    check(f"  busbw {rates['all-reduce'] / 8e9:.4g} GB/s  " in text, "the terminal has it in the unit of nccl-tests")
    check(all(180e9 < rates[name] < 200e9 for name in ("all-reduce", "all-gather", "reduce-scatter", "all-to-all")),
          "bus bandwidth is just below the rate of a NIC")
    root = xml.parse(junit).getroot()
    bad = junit_form.faults(root)
    check(not bad, f"healthy: JUnit as its schemas have it {bad}")
    check([case.get("name") for case in root.iter("testcase")] == [one["name"] for one in got["cases"]] and not root.findall(".//failure"),
          "JUnit has the same cases")
    check("look at" not in text and all(one.get("culprit") is None for one in got["cases"]), "nobody stands out")
    report = (out / "report.md").read_text()
    check(all(f"| [{one['name']}]({one['folder']}) |" in report if "folder" in one else f"| {one['name']} |" in report for one in got["cases"]) and f"**{got['verdict_text']}**" in report, "report.md has them, too")
    check(all(f"## {title}" in report for title in ("Device under test", "Test configuration", "Host configuration", "Anomalies", "Repeatability",
                                                    "Comparability")), "report.md has the draft's sections")
    titles = [html.unescape(title) for title in re.findall(r'<h2 id="title-[^"]*">(.*?)</h2>', (out / "report.html").read_text())]
    check(re.findall(r"^## (.*)$", report, re.M) == titles, f"report.md has the {len(titles)} sections of the page, in their order")
    check_page(out, got, "PASS", [])
    check_measures(out, got, report)
    emulated = folder / "emulated"
    status, _, errors = validate(scenario, emulated, "--quick", "--with", "emu", "--only", "one-packet")
    one, ran = book(emulated)["cases"][0], json.loads((emulated / "cases" / "one-packet" / "run" / "result.json").read_text())
    check(status == 0 and one["digest"] == {case["name"]: case["digest"] for case in asked}["one-packet"] and ran["ports"]["frames_sent"] > 0,
          f"with frames a case has the same digest: {status} {one['digest']} {errors}")
    status, text, errors = validate(scenario, folder / "rings", "--quick", "--with", "emu", "--ports", "4", "--only", "one-packet")
    through = book(folder / "rings")["cases"][0]
    check((status == 5 and "without DPDK" in through["reason"]) or (status == 0 and through["digest"] == one["digest"] and "--ports 4" in text + book(folder / "rings")["command"]),
          f"through ports of DPDK, too: {status} {through['state']} {through['reason']} {errors}")
    again = weft.outcome("sim", out / "cases" / "pair-far" / "scenario.yaml", "--json")
    digests = {one["name"]: one["digest"] for one in asked}
    check(json.loads(again[1])["run"]["digest"] == digests["pair-far"], "a case runs again by itself")
    return digests


def check_reasons(got):
    """What a case has not is null, with its reason."""
    silent = [f"{one['name']}: {key}" for one in got["cases"] for key, value in one.items()
              if value is None and key not in ("profile", "reason", "culprit") and not one.get(key + "_reason")]
    given = [one for one in got["cases"] if one.get("busbw_bps_reason")]
    check(silent == [] and len(given) > 10, f"figures without a reason: {silent}")


def check_kept(folder, scenario):
    """The second call runs nothing; another option runs it all."""
    out = folder / "healthy"
    before = (out / "book.json").read_text()
    status, text, _ = validate(scenario, out, "--quick")
    lines = [line for line in text.splitlines() if " PASS " in line]
    check(status == 0 and lines and all("(kept)" in line for line in lines), "the second call keeps all cases")
    check((out / "book.json").read_text() == before, "and writes the same book")
    status, text, errors = validate(scenario, out, "--quick", "--only", "one-packet", "--set", "transport.evs=32", "--force")
    check(status == 0 and "(kept)" not in text and states(out) == {"one-packet": "pass"}, f"with another setting a case runs again: {status} {text}{errors}")
    said = re.match(r"1 of 1 cases, (\d+) packet-hops: less than a second of processor time\n", text)
    check(said and 1 <= int(said[1]) <= 100, f"hops of one packet are counted whole: {text.splitlines()[0]}")
    run = out / "cases" / "one-packet" / "run"
    (run / "result.json").unlink()
    (run / "torn.hdr").write_text("half of")
    status, text, errors = validate(scenario, out, "--quick", "--only", "one-packet", "--set", "transport.evs=32")
    check(status == 0 and "(kept)" not in text and not (run / "torn.hdr").exists(), f"and so does one that was killed as it wrote: {status} {text}{errors}")
    with open(run / "result.json", "a") as file:  # a byte more than the run wrote
        file.write(" ")
    status, text, errors = validate(scenario, out, "--quick", "--only", "one-packet", "--set", "transport.evs=32")
    check(status == 0 and "(kept)" not in text, f"and so does one whose manifest does not hold: {status} {text}{errors}")
    status, text, errors = validate(scenario, out, "--quick", "--only", "one-packet", "--set", "transport.evs=32")
    check(status == 0 and "(kept)" in text, f"which is kept from then on: {status} {text}{errors}")
    validate(scenario, out, "--quick", "--only", "baseline", "--force")
    digest = next(one["digest"] for one in book(out)["cases"] if one["name"] == "one-packet")
    shutil.rmtree(run)
    shutil.copytree(out / "cases" / "pair-near" / "run", run)  # a run of another case
    status, text, errors = validate(scenario, out, "--quick", "--only", "baseline")
    kept = [line for line in text.splitlines() if "(kept)" in line]
    check(status == 0 and len(kept) == len(book(out)["cases"]) - 1 and not any("one-packet" in line for line in kept) and digest == next(one["digest"] for one in book(out)["cases"] if one["name"] == "one-packet"),
          f"a run of another case is not taken for its own: {status} {text}{errors}")


def check_faults(folder, scenario):
    """Each fault is seen where it hurts, and not where it does not."""
    for name, fault, red, green in (
            ("lossy", "{kind: loss, at: {t0: 0, up: 1, plane: 1}, probability: 1%}", "baseline", ()),
            ("port", "{kind: link_down, at: {nic: 3, plane: 1}}", "baseline", ()),
            ("straggler", "{kind: straggler, at: {host: 3}, rate: 50%}", "step", ("baseline", "mrc"))):
        out = folder / name
        sections = [red, *green]
        for section in sections:
            status, text, errors = validate(scenario, out, "--quick", "--jobs", "2", "--only", section, "--fault", fault, "--force")
            got = {one["name"]: one["state"] for one in book(out)["sections"]}
            check(got[section] == ("fail" if section == red else "not_asked") and errors == "",
                  f"{name}: section {section} is {got[section]}, status {status}: {errors}")
            check(status == (1 if section == red else 5), f"{name}: section {section}: status {status}")
    # Settings are found by who stands out, and by that alone.
    for name, fault, culprit in (("marks", "{kind: ecn, at: {t0: 2, plane: 1}, low: 4KiB, high: 8KiB}", "t0 2 plane 1 (ecn)"),
                                 ("values", "{kind: evs, at: {host: 5}, evs: 2}", "host 5 (few_paths)")):
        status, text, errors = validate(scenario, folder / name, "--quick", "--jobs", "2", "--only", "balance", "--fault", fault)
        report = (folder / name / "report.md").read_text()
        check(status == 1 and f"look at: {culprit}" in text and f"| {culprit}: " in report.split("## Anomalies")[1], f"{name}: {culprit} is named: {status} {text}{errors}")
    check_page(folder / "lossy", book(folder / "lossy"), "FAIL", ["baseline"])
    report = (folder / "lossy" / "report.md").read_text()
    check("| t0 0 up 1 plane 1 - t1 1 (lossy)" in report.split("## Anomalies")[1], "the lossy cable is named")
    check("| **FAIL** |" in report and "no drops on cables" in report.split("## Anomalies")[1], "the report says what was missed")
    check_missed_in_words(folder / "lossy", report)


def check_missed_in_words(out, report):
    """Of a bound its name, what was measured, and what it must be; on the page the same reason beside the figure of that case."""
    failed = [one for one in book(out)["cases"] if one["state"] == "fail"]
    reasons = [one["reason"] for one in failed]
    check(len(failed) == 5 and all(re.match(r"no drops on cables: [1-9]\d*, must be 0; nobody stands out: 1, must be 0$", one) for one in reasons), f"what a case missed: {reasons}")
    check(all(one in report for one in reasons), "report.md has each reason")
    page = html.unescape((out / "report.html").read_text())
    notes = re.findall(r"payload rate 192\.4 Gb/s; case (\S+) missed: (no drops on cables: \d+, must be 0)<", page)
    check(notes != [] and all(next(one["reason"] for one in failed if one["name"] == name).startswith(why + ";") for name, why in notes),
          f"the page's figures say what their case missed: {notes}")


def check_windows_in_words(reason):
    """Of a window its goodput, the least that is allowed, and what was expected: the one below the next."""
    found = re.findall(r"(before|meanwhile|after): ([\d.]+) Gb/s, at least ([\d.]+) of ([\d.]+)", reason)
    check([name for name, *_ in found] == ["before", "after"] and all(float(got) < float(least) < float(of) == 192.4 for _, got, least, of in found) and
          re.search(r"; dead paths are left: [\d.]+ us, at most 600 % of network\.base_rtt_ps \([\d.]+ us\); transport\.path is rotate", reason),
          f"what a drill missed: {reason}")


def check_others(folder, scenario):
    """The report of another call stays, but with --force."""
    own = ["--quick", "--only", "one-packet"]
    validate(scenario, folder / "other", *own)
    before = (folder / "other" / "book.json").read_bytes()
    for name, words, why in ((scenario, ["--quick", "--only", "pair-near"], "it has more cases"), ("incast", own, "its scenario is another one"),
                             (scenario, own[1:], "its --with or --quick is another one"),
                             (scenario, [*own, "--set", "seed=4"], "its --set or --fault is another one")):
        status, out, errors = validate(name, folder / "other", *words)
        check(status == 2 and out == "" and f"holds the report of another call ({why}); --force replaces it" in errors, f"another's book: {errors.strip()}")
    check((folder / "other" / "book.json").read_bytes() == before, "and it is as it was")
    check(validate(scenario, folder / "other", *own)[0] == 0, "the same call goes on")
    check(validate("incast", folder / "other", *own, "--force")[0] == 0, "--force replaces it")
    check(book(folder / "other")["name"] == "incast", "by the new one")


def check_why(folder, scenario):
    """What a scenario sets against a case is said where the case fails; what it cannot be asked is not asked."""
    for name, setting, case, state, says in (
            ("rotate", "transport.path=rotate", "trunk-down", "fail", "transport.path is rotate: no EV is ever held bad"),
            ("rotate", "transport.path=rotate", "retire-restore", "not_asked", "transport.path is not mrc"),
            ("holes", "transport.hole_age=off", "trunk-down", "fail", "transport.hole_age is off"),
            ("deep", "queue.bytes=32MiB", "trim-repair", "not_asked", "fit into a port's queue"),
            ("fixed", "cc.algorithm=fixed", "incast-8", "fail", "cc.algorithm is fixed: senders do not slow down"),
            ("few packets", "queue.bytes=32KiB", "marks", "not_asked", "the thresholds are too near to each other"),
            ("one-to-two", "fabric.t1_count=2", "tail", "not_asked", "the fabric carries 50 % of what NICs send")):
        _, _, errors = validate(scenario, folder / f"why-{name}", "--quick", "--only", case, "--set", setting, "--force")
        one = book(folder / f"why-{name}")["cases"][0]
        check(one["state"] == state and errors == "" and says in one["reason"], f"{setting}, {case}: {one['state']}: {one['reason']}")
        if (name, case) == ("rotate", "trunk-down"):
            check_windows_in_words(one["reason"])
    _, _, errors = validate("rail-8x4", folder / "why-rail", "--quick", "--only", "permutation-1", "--set", "transport.skip_time=turn")
    one = book(folder / "why-rail")["cases"][0]
    check(one["state"] == "fail" and "transport.evs is 256, 5.2 times the packets of a round trip" in one["reason"] and errors == "",
          f"rail-8x4: {one['state']}: {one['reason']}")
    validate("uec", folder / "why-uec", "--quick", "--only", "incast-64")
    one = book(folder / "why-uec")["cases"][0]
    check(one["state"] == "fail" and "receivers had no room for" in one["reason"] and "a NACK is 110 B on the line, a trimmed header 94 B" in one["reason"] and
          "64 windows that come at once" in one["reason"], f"uec, incast-64: {one['reason']}")
    status, _, errors = validate(scenario, folder / "why-never", "--quick", "--only", "permutation-1", "--set", "fabric.planes=1",
                                 "--fault", "{kind: link_down, at: {nic: 3, plane: 0}}")
    one = book(folder / "why-never")["cases"][0]
    check(status == 1 and one["state"] == "fail" and "given up after" in one["reason"] and errors == "", f"what never ends is given up: {status}: {one['reason']}")
    status, text, _ = validate(scenario, folder / "why-never", "--quick", "--only", "permutation-1", "--set", "fabric.planes=1",
                               "--fault", "{kind: link_down, at: {nic: 3, plane: 0}}")
    check(status == 1 and "(kept)" in text, "and its end is kept")
    status, _, errors = validate("azure-gb200-llama405b-112", folder / "why-large", "--quick", "--only", "permutation-2")
    one = book(folder / "why-large")["cases"][0]
    check(status == 5 and one["state"] == "left_out" and "14 million packets" in one["reason"], f"a second permutation of many: {one['reason']}")
    faulty = folder / "faulty.yaml"
    faulty.write_text(SMALL + "faults: [{kind: loss, at: {nic: 1, plane: 0}, probability: 1%}]\n")
    validate(faulty, folder / "why-faulty", "--quick", "--only", "twins")
    one = book(folder / "why-faulty")["cases"][0]
    check(one["state"] == "fail" and "the scenario breaks 1 thing itself" in one["reason"], f"faults of the scenario: {one['reason']}")


RAIL = "name: rail\nfabric: {topology: rail, nics: 32, planes: 2, nics_per_host: 8, t1_count: 2}\ntransport: {evs: 64}\n"
TORUS = "name: torus\nfabric: {topology: torus, nics: 512, nics_per_t0: 1, torus_x: 8, torus_y: 8, torus_z: 8}\ntransport: {evs: 16}\n"
LISTED = """name: listed
fabric:
  topology: graph
  nics: 8
  planes: 2
  nodes: [{name: west, nics: 4}, {name: east, nics: 4}, {name: north}, {name: south}]
  links: [{from: west, to: north}, {from: west, to: south}, {from: east, to: north}, {from: east, to: south}]
transport: {evs: 64}
"""
TRAFFIC = "traffic: {kind: permutation, bytes: 1MB}\n"


def check_carried(folder):
    """Permutations are held to what the fabric carries, and cables fail by their names, whatever the switches are called."""
    for name, text, cable in (("rail", RAIL, "{t0: 0, up: 0, plane: 0}"), ("listed", LISTED, "{link: west-north, plane: 0}")):
        scenario, out = folder / f"{name}.yaml", folder / f"carried-{name}"
        scenario.write_text(text + TRAFFIC)
        states_of = {}
        for section in ("baseline", "convergence", "mrc"):
            _, _, errors = validate(scenario, out, "--quick", "--jobs", "2", "--only", section, "--force")
            states_of |= states(out)
        got, asked = book(out), {key: value for key, value in states_of.items() if value != "not_asked"}
        drills = {"trunk-down", "t1-down", "t0-down", "port-down", "plane-down", "retire-restore", "port-status"}
        wanted = {"pair-near", "pair-far", "permutation-1", "permutation-2", "permutation-3", "twins"} | drills
        check(errors == "" and wanted <= asked.keys() and set(asked.values()) == {"pass"}, f"{name}, two to one: {asked}")
        check(got["device"]["share_above_t0"] == 0.5 and got["device"]["t0_count"] == (8 if name == "rail" else 2), f"{name}: {got['device']}")
        written = (out / "cases" / "trunk-down" / "scenario.yaml").read_text().replace('"', "")
        check(cable in written, f"{name}: {cable} dies")
    half = json.loads((folder / "carried-rail" / "cases" / "permutation-1" / "run" / "result.json").read_text())["expect"][0]
    check(0.9 * 0.5 * half["expected"] <= half["measured"] < 0.5 * half["expected"], f"a permutation over rails two to one has half of its lines: {half}")


def check_budget(folder):
    """A torus that carries a fifth of what its NICs send is asked for that: hops, counted, stay within the book's and near the estimate."""
    scenario, out = folder / "torus.yaml", folder / "budget"
    scenario.write_text(TORUS + TRAFFIC)
    status, text, errors = validate(scenario, out, "--quick", "--jobs", "2", "--only", "baseline")
    got = book(out)
    ran = [one for one in got["cases"] if one["state"] in ("pass", "fail")]
    check(errors == "" and len(ran) >= 4 and "million packet-hops: about" in text.splitlines()[0], f"a torus is asked: {status} {text.splitlines()[0]}")
    check(all(one["hops"] <= one["estimate"]["hops_given_up"] and one["estimate"]["hops"] <= got["hops_max"] for one in ran), "hops are within the budget")
    check({one["name"]: one["state"] for one in ran}["permutation-1"] == "pass", f"and its permutation is held to what it carries: {states(out)}")
    _, _, errors = validate(scenario, out, "--quick", "--only", "permutation-1", "--set", "limits.memory=64MiB", "--force")
    one = book(out)["cases"][0]
    check(one["state"] == "left_out" and "left out: it takes about" in one["reason"] and "limits.memory" in one["reason"], f"memory is told before: {one}")


def check_estimate(got):
    """Estimates are near to what was counted: of each case that sends little again, and of all together."""
    ran = [one for one in got["cases"] if one["state"] == "pass" and one["folder"] == f"cases/{one['name']}" and one["name"] != "one-packet"]
    off = {one["name"]: one["hops"] / one["estimate"]["hops"] for one in ran if one["retransmitted_share"] < 0.05}
    check(len(off) > 15 and all(0.5 < each < 2 for each in off.values()), f"estimates of hops: {off}")
    whole = sum(one["hops"] for one in ran) / sum(one["estimate"]["hops"] for one in ran)
    check(0.67 < whole < 1.5, f"and of the book: {whole:.3f}")


def check_given_up(folder):
    """A case that takes many times what its traffic does ends by its hops, and says so."""
    scenario, out = folder / "doubled.yaml", folder / "given-up"
    scenario.write_text(SMALL)
    status, _, errors = validate(scenario, out, "--quick", "--only", "all-reduce-64MB", "--set", "limits.packets=4000000",
                                 "--fault", "{kind: duplicate, at: all, probability: 70%}")
    one = book(out)["cases"][0]
    check(status == 1 and errors == "" and one["state"] == "fail" and "it was given up after" in one["reason"] and "packet-hops" in one["reason"] and
          one["hops"] < 1.1 * one["estimate"]["hops_given_up"], f"given up: {status} {one['reason']}")


def check_coverage(folder, scenario, got):
    """PASS alone says that each case has a verdict; --require says what must."""
    skipped = [one["name"] for one in got["cases"] if one["state"] in ("not_asked", "left_out")]
    ran = len(got["cases"]) - len(skipped)
    words = f"PASS, coverage {ran} of {len(got['cases'])}"
    check(skipped and got["verdict_text"] == words and got["coverage"]["cases"] == ran and got["coverage"]["of"] == len(got["cases"]), words)
    out = folder / "healthy"
    for require, status, missed in (("all", 5, ["all"]), (str(ran), 0, []), (str(ran + 1), 5, [str(ran + 1)]), ("50%", 0, []), ("99%", 5, ["99%"]),
                                    ("permutation-1,mrc", 5, ["mrc"]), ("balance,twins", 0, []), (skipped[0], 5, [skipped[0]])):
        ended, text, errors = validate(scenario, out, "--quick", "--require", require)
        now = book(out)
        last = text.splitlines()[-2]
        check(ended == status and errors == "" and now["coverage"]["missed"] == missed and now["coverage"]["required"] == require.split(",") and
              last.startswith(("NOT VALID, coverage " if missed else words) + ("" if missed else ":")) and
              all(f"below --require {word}" in last and f"below --require {word}" in (out / "report.html").read_text() for word in missed),
              f"--require {require}: {ended}: {last}")
    validate(scenario, out, "--quick")  # as it was
    ended, text, _ = validate(scenario, folder / "part", "--quick", "--only", "balance", "--require", "all")
    check(ended == 0 and text.splitlines()[-2].startswith("PASS: "), f"all of a part: {text.splitlines()[-2]}")
    for require in ("0", "99", "101%", "nosuch", "-1", ","):
        ended, text, errors = validate(scenario, folder / "never", "--quick", "--require", require)
        check(ended == 2 and text == "" and "--require" in errors and not (folder / "never").exists(), f"--require {require}: {ended} {errors.strip()}")


def check_shipped(folder):
    """The shipped fabric: a report and a verdict within three minutes; with a fault its section is red."""
    begin = time.monotonic()
    status, text, errors = validate("two-racks", folder / "shipped", "--quick", "--jobs", "2")
    spent, got = time.monotonic() - begin, book(folder / "shipped")
    check(status == 0 and errors == "" and got["verdict"] == "pass" and spent < 180, f"two-racks passes in {spent:.1f} s: {status} {text[-300:]}{errors}")
    check("<html" in (folder / "shipped" / "report.html").read_text(), "and has a page")
    fault = "{kind: loss, at: {t0: 0, up: 1, plane: 1}, probability: 1%}"
    status, _, errors = validate("two-racks", folder / "shipped-lossy", "--quick", "--jobs", "2", "--only", "baseline", "--fault", fault)
    got = {one["name"]: one["state"] for one in book(folder / "shipped-lossy")["sections"]}
    check(status == 1 and got["baseline"] == "fail" and errors == "", f"and fails with a lossy cable: {status} {got}")
    status, text, errors = validate("two-racks", folder / "shipped-soak", "--only", "soak")
    check(status == 0 and errors == "" and states(folder / "shipped-soak") == {"sustained": "pass", "flaps": "pass"}, f"a whole soak: {status} {text}{errors}")


def check_bar(folder, scenario):
    """On a terminal there is a bar, into a pipe there is none."""
    ours, theirs = pty.openpty()
    words = [WEFT, "validate-fabric", scenario, "--out", folder / "bar", "--quick", "--only", "collectives"]
    status = subprocess.run(list(map(str, words)), stdout=subprocess.PIPE, stderr=theirs, timeout=600, check=False).returncode
    os.close(theirs)
    drawn = os.read(ours, 1 << 16).decode()
    steps = re.findall(r"\[([#.]{30})\] (\d+) of 8", drawn)
    check(status == 0 and [int(through) for _, through in steps] == list(range(8)) and all(cells.count("#") == int(through) * 30 // 8 for cells, through in steps)
          and "s left  all-gather" in drawn and drawn.endswith("\r\x1b[K"), f"the bar: {drawn!r}")
    left = [int(seconds) for seconds in re.findall(r"about (\d+) s left", drawn)]
    check(len(left) == 8 and max(left) < 600, f"it knows how long the rest takes: {left}")


def check_stopped(folder, scenario, digests):
    """Stopped by SIGTERM, and once more killed at once: a whole partial report each time; the third call ends it."""
    out = folder / "stopped"
    for number, how in enumerate((signal.SIGTERM, signal.SIGKILL)):
        run = weft.start("validate-fabric", scenario, "--out", out, "--quick")
        lines = [run.stdout.readline() for _ in range(3 + 3 * number)]
        run.send_signal(how)
        asked = time.monotonic()
        said = run.communicate(timeout=600)
        spent = time.monotonic() - asked
        got = book(out)
        check(got["partial"] and "open" in states(out).values(), f"after {how.name} the book is partial")
        check("PARTIAL RESULT" in (out / "report.html").read_text(), "and so is its page")
        if how == signal.SIGTERM:
            check(run.returncode == 5 and "interrupted" in said[1], f"SIGTERM: status {run.returncode}: {said[1]}")
            check(spent < 5, f"SIGTERM: it ended {spent:.2f} s later")
        else:
            check("(kept)" in lines[1], "the call after it goes on where it was")
    status, text, _ = validate(scenario, out, "--quick", "--jobs", "2")
    got = book(out)
    check(status == 0 and not got["partial"] and "(kept)" in text, "the third call ends it")
    check({one["name"]: one["digest"] for one in got["cases"] if one["state"] == "pass"} == digests, "with the same digests")


def process(pid):
    """The name of a process and its state, "" and "X" when there is none."""
    try:
        name, _, rest = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")
    except OSError:
        return "", "X"
    return name.partition("(")[2], rest.split()[0]


def alive(pid):
    return process(pid)[1] not in "ZX"


def check_killed(folder, scenario):
    """A book that is killed at once takes its case with it: one that is held, so that it cannot end by itself."""
    book_run = subprocess.Popen([WEFT, "validate-fabric", scenario, "--out", folder / "killed", "--quick"], stdout=subprocess.DEVNULL)
    held, until = [], time.monotonic() + 60
    while not held and time.monotonic() < until:
        for pid in map(int, pathlib.Path(f"/proc/{book_run.pid}/task/{book_run.pid}/children").read_text().split()):
            if process(pid)[0] == "weft-sim":
                os.kill(pid, signal.SIGSTOP)
                held = [pid] if alive(pid) else []
    book_run.kill()
    book_run.wait()
    until = time.monotonic() + 10
    while any(map(alive, held)) and time.monotonic() < until:
        time.sleep(0.01)
    left = [pid for pid in held if alive(pid)]
    check(len(held) == 1 and not left, f"a killed book leaves no case behind: held {held}, left {left}")
    for pid in left:
        os.kill(pid, signal.SIGKILL)


def check_refusals(folder, scenario):
    out = folder / "refused"
    foreign = folder / "foreign"
    foreign.mkdir()
    (foreign / "mine").write_text("x")
    broken = folder / "broken.yaml"
    broken.write_text("fabric: [")
    for what, words, says in (
            ("no scenario", [], "no scenario given"),
            ("no folder", [scenario], "--out"),
            ("an empty word", [scenario, "--out", ""], "an empty value"),
            ("two scenarios", [scenario, scenario, "--out", out], "unexpected argument"),
            ("no such scenario", ["nosuch", "--out", out], "nosuch"),
            ("no such section", [scenario, "--out", out, "--only", "nosuch"], "'nosuch'"),
            ("another driver", [scenario, "--out", out, "--with", "host"], "sim or emu"),
            ("no number", [scenario, "--out", out, "--jobs", "0"], "--jobs"),
            ("ports of nothing", [scenario, "--out", out, "--ports", "ring"], "--ports"),
            ("a bad setting", [scenario, "--out", out, "--set", "fabric.nosuch=1"], "--set:1:"),
            ("a bad fault", [scenario, "--out", out, "--fault", "{kind: loss, at: {nic: 99, plane: 0}, probability: 1%}"], "99"),
            ("a folder of others", [scenario, "--out", foreign], "foreign"),
            ("no YAML", [broken, "--out", out], "broken.yaml:")):
        status, text, errors = weft.outcome("validate-fabric", *words)
        check(status == 2 and text == "" and errors.count("\n") == 1 and says in errors, f"{what}: {status} {errors.strip()}")
    check(not out.exists(), "nothing was written")


def check_list():
    """--list has every case, with what it asks; those of a quick book, in its order."""
    status, text, _ = weft.outcome("validate-fabric", "--list")
    check(all(len(line) <= 80 for line in text.splitlines()), "--list is at most 80 columns wide")
    lines = [re.match(r"(\w+) +([\w-]+) +\S.*$", line) for line in re.sub(r"\n +", " ", text).splitlines()]
    check(status == 0 and all(lines) and len(lines) > 30, f"--list: {len(lines)} cases")
    return [line.groups() for line in lines if not line.string.endswith("(not with --quick)")]


def main(folder):
    scenario = folder / "pod.yaml"
    scenario.write_text(SMALL)
    check_refusals(folder, scenario)
    if weft.is_sanitized():
        status, _, errors = validate(scenario, folder / "part", "--quick", "--only", "mrc", "--junit", folder / "part.xml")
        check(status == 0, f"one section, under sanitisers: {status} {errors}")
        sys.exit(check.failed > 0)
    digests = check_healthy(folder, scenario)
    check_reasons(book(folder / "healthy"))
    of_book = [(case["section"], case["name"]) for case in book(folder / "healthy")["cases"]]
    check(check_list() == of_book, "--list has the cases of the book, and more of a whole one")
    check_estimate(book(folder / "healthy"))
    check_coverage(folder, scenario, book(folder / "healthy"))
    check_kept(folder, scenario)
    check_faults(folder, scenario)
    check_others(folder, scenario)
    check_why(folder, scenario)
    check_carried(folder)
    check_budget(folder)
    check_given_up(folder)
    check_shipped(folder)
    check_bar(folder, scenario)
    check_stopped(folder, scenario, digests)
    check_killed(folder, scenario)


check_parts(main)
