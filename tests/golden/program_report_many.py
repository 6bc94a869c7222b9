#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""weft report on what goes beyond one run's figures: a study's page has each figure, run and expectation of study.json in
units that people read, and says what no run has; a step's collectives and several jobs are time lines on the page of a run."""
import html
import json
import re
import shlex

import page_laws
import weft
from weft import check, check_parts

STUDY = """name: small
fabric: {nics: 8, planes: 2, link_rate: 100Gb/s, nics_per_t0: 4, t1_count: 4}
traffic: {kind: permutation, bytes: 256KiB}
watch: {bin: 1us}
expect:
  - {measure: goodput, formula: one_way, bound: at_least, name: half, from: 5us, until: 15us, tolerance: 50%}
  - {measure: lost, formula: loss_on_way, loss: 1%, bound: at_most, name: after the end, from: 30us, until: 31us, tolerance: 5%}
"""
INCAST = """name: many to one
fabric: {nics: 16, planes: 2, nics_per_t0: 8, t1_count: 4}
traffic: {kind: incast, senders: 12, bytes: 200kB}
"""


def ran(*words, status=0):
    done = weft.run(*words)
    check(done.returncode == status, f"weft {words[0]} ends with {status}" + (f": {done.stderr}" if done.returncode != status else ""))
    return done.stdout


def figures_of(page):
    """Points of each drawing, by its name."""
    return {name: int(points) for name, points in re.findall(r'<figure[^>]* id="chart-([^"]*)"[^>]*data-points="(\d+)"', page)}


def rate(value):
    """As number_rate() writes it."""
    for name, size in (("Tb/s", 1e12), ("Gb/s", 1e9), ("Mb/s", 1e6)):
        if value >= size:
            digits = 4 - len(str(int(value / size)))
            return f"{value / size:.{digits}f} {name}"
    raise ValueError(value)


def check_study(folder):
    (folder / "small.yaml").write_text(STUDY)
    out = folder / "study"
    said = ran("sim", folder / "small.yaml", "--seeds", 3, "--sweep", "queue.ecn=true,false", "--out", out, status=1)
    study = json.loads((out / "study.json").read_text())
    shown = ran("report", out, "--plain", "-v")
    page = (out / "report.html").read_text()
    drawn = {"figure-" + one["name"]: len(one["points"]) for one in study["figures"] if any(point["mean"] for point in one["points"])}
    check(figures_of(page) == drawn and len(drawn) > 8, f"{len(drawn)} drawings, one for each figure that is not zero")
    goodput = next(one for one in study["figures"] if one["name"] == "goodput_bps")
    for point, of in zip(study["points"], goodput["points"]):
        row = next(line for line in shown.split("Goodput per receiving NIC")[1].splitlines() if line.startswith("  " + point["name"]))
        wanted = [str(of["runs"]), *(rate(of[key]) for key in ("mean", "low", "high", "min", "max"))]
        check(row.split("  ")[2:] and all(word in row for word in wanted), f"{point['name']}: {' '.join(wanted)}")
    check_intervals(study, page)
    half, after = study["expect"]
    check((half["runs"], half["inside"], after["inside"], after["measured"]) == (6, 6, 0, None), "one expectation is met, the other has no packets to measure")
    wanted = rate(half["measured"])
    check(all(rate(half[key]) in text for key in ("measured", "expected") for text in (shown, said)), f"the expectation in its unit: {wanted}")
    check("unavailable: " + after["measured_reason"] in shown and after["measured_reason"] in page, f"the other: {after['measured_reason']}")
    names = [one["name"] for one in study["figures"]] + [one["name"] for one in study["missing"]]
    check("busbw_bps" in names and len(set(names)) == len(names), f"{len(names)} figures, each measured or missing")
    for one in study["missing"]:
        check(one["title"] in shown and one["reason"] in page, f"missing: {one['title']}: {one['reason']}")
    check(all(run["digest"] in page for run in study["runs"]) and len(study["runs"]) == 6, "the page has six runs")


def check_first(folder):
    """What the page of a study says first is said as on every page."""
    (folder / "many to one's.yaml").write_text(INCAST)
    out = folder / "many to one"
    ran("sim", folder / "many to one's.yaml", "--seeds=3", "--sweep", "queue.bytes=50kB,100kB", "--out", out, "--quiet")
    ran("report", out, "--plain", "--quiet")
    study, page = json.loads((out / "study.json").read_text()), (out / "report.html").read_text()
    check_titles(study, page)
    check_zeros(study, page)
    found = page_laws.broken(out / "report.html")
    check(found == [], f"can be read on a wide and a narrow screen {'; '.join(found[:5])}")
    check_rounded(study, page)
    check_command(folder, page)


def check_titles(study, page):
    titles = [one["title"] for one in study["figures"] + study["missing"]]
    check(all(title[0].isupper() for title in titles), f"{len(titles)} titles begin with a capital: {[title for title in titles if title[0].islower()]}")
    tiles = re.findall(r'<p class="label">(.*?)</p>', page)
    check(len(tiles) == 3 and set(tiles) < set(titles), f"and so do the figures that the page begins with: {tiles}")


def check_zeros(study, page):
    """What is 0 in all runs has a place in a sentence and no table."""
    zeros = [one["title"] for one in study["figures"] if all(point["min"] == point["max"] == 0 for point in one["points"])]
    said = re.search(r"<p[^>]*>0 in all runs: (.*?)\.</p>", page)
    check(len(zeros) > 4 and said is not None and html.unescape(said[1]).split("; ") == zeros, f"{len(zeros)} figures are 0 in all runs {said and said[1]}")
    captions = re.findall(r"<caption>(.*?)</caption>", page)
    others = [one["title"] for one in study["figures"] if one["title"] not in zeros]
    check(set(others) <= set(map(html.unescape, captions)) and not set(zeros) & set(captions), f"{len(others)} have tables")


def check_rounded(study, page):
    """At most four digits of a factor, one decimal of a share."""
    cells = re.findall(r"<(?:td|th)[^>]*>([^<]*)</t[dh]>|class=\"value\">([\d.]+) <small>([^<]*)", page)
    texts = [cell or f"{value} {unit}" for cell, value, unit in cells]
    long = [text for text in texts if re.fullmatch(r"-?\d+\.\d{5,}|\d{2,}\.\d{2,} %|[1-9]\.\d{2,} %", text)]
    check(len(texts) > 100 and not long, f"no figure has more digits than one reads: {long[:5]}")
    share = next(one for one in study["figures"] if one["name"] == "marked_share")["points"][0]["mean"]
    check(share > 0.01 and f"<td class=\"n\">{share * 100:.1f} %</td>" in page, f"{share} of packets marked is {share * 100:.1f} %")


def check_command(folder, page):
    """The next step is a command that runs."""
    steps = [shlex.split(html.unescape(step)) for step in re.findall(r"<b>Run</b> (weft sim .*?)</span>", page)]
    check(len(steps) == 1 and steps[0][-4:] == ["--seeds", "20", "--out", "seeds-20"], f"more seeds: {steps}")
    done = weft.run(*steps[0][1:], "--quiet", cwd=folder)
    study = json.loads((folder / "seeds-20" / "study.json").read_text())
    check(done.returncode == 0 and study["seeds"] == 20 and len(study["points"]) == 2, f"which runs 2 points with 20 seeds {done.stderr}")


def check_intervals(study, page):
    """Drawn intervals have a mark at their mean, and end at 0 where no run is below, and at 1 where a share could be no more."""
    charts = {chart["id"]: chart for chart in json.loads(page.partition('id="charts">')[2].partition("</script>")[0])}
    scales, clamped = {"bits per second": 1e-9, "seconds": 1e6, "bytes": 1e-3, "share": 100}, 0
    for figure in study["figures"]:
        chart = charts.get("figure-" + figure["name"])
        for span, point in zip(chart["spans"] if chart else [], [point for point in figure["points"] if point["mean"] is not None]):
            is_share, scale = figure["unit"] == "share" or figure["name"].endswith("jain"), scales.get(figure["unit"], 1)
            ends = [min(1, end) if is_share else end for end in (max(0, end) if point["min"] >= 0 else end for end in (point["low"], point["high"]))]
            clamped += ends != [point["low"], point["high"]]
            check(all(abs(a - b * scale) <= 1e-6 * max(1, abs(a)) for a, b in zip(span[1:3] + span[5:], [*ends, point["mean"]])), f"{figure['name']}: its interval, {span[1:3]}, and its mean")
    check(clamped > 0 and page.count('class="mark"') > 10, f"{clamped} intervals end where there is nothing more")


def check_single(folder):
    """One seed has no interval, and says why."""
    out = folder / "points"
    ran("sim", folder / "small.yaml", "--sweep", "queue.ecn=true,false", "--out", out, "--quiet", status=1)
    study = json.loads((out / "study.json").read_text())
    first, second = study["figures"][0]["points"]
    check(first["low"] is None and first["low_reason"] == "one run has no spread", "one run: no interval, and why")
    check(second["from_first"]["chance"] is None and second["from_first"]["chance_reason"] == "one pair of runs has no spread", "no chance, and why")
    ran("report", out, "--plain", "--quiet")
    check("unavailable: one run has no spread" in (out / "report.html").read_text(), "the page says so, too")


def check_time_lines(folder):
    for name, words, chart, key in (("jobs", ["jobs-two-rings", "--variant", "across"], "jobs", "jobs"),
                                    ("step", ["moe-small-3-fidelities"], "step", "collectives")):
        out = folder / name
        ran("sim", *words, "--out", out, "--quiet")
        ran("report", out, "--plain", "--quiet")
        result = json.loads((out / "result.json").read_text())
        points = figures_of((out / "report.html").read_text())
        check(points.get(chart) == len(result[key]) > 1, f"{name}: a time line of {len(result[key])}")


def done_of(lines):
    """Completion time of each point of the table, in us."""
    found = (re.match(r"  (\S+(?: \S+)?)  .*?([\d.]+) (us|ms) .* [0-9a-f]{16}$", line) for line in lines)
    return {one[1]: float(one[2]) * (1000 if one[3] == "ms" else 1) for one in found if one}


def check_best():
    """A sweep says which point is done first, how sure that is, and draws one key or two."""
    said = ran("sim", "incast", "--sweep", "cc.target_delay=2us,5us,20us", "--sweep", "queue.bytes=40kB,80kB")
    times = done_of(said.splitlines())
    first = min(times, key=times.get)
    label = "cc.target_delay={} queue.bytes={}".format(*first.split())
    longer = 100 * (max(times.values()) / times[first] - 1)
    told = re.search(r"Done first: (.*), [\d.]+ us; the last takes ([\d.]+) % longer", said)
    check(len(times) == 6 and told and told[1] == label and abs(float(told[2]) - longer) < 0.15, f"first is {label}, {longer:.2f} % before the last: {told and told[0]}")
    check("of one seed: how much of that is chance is not known" in said, "one seed proves nothing")
    grid = {row[0]: [float(word) for word in row[1:]] for row in (line.split() for line in said.split("across:")[1].splitlines()[2:5])}
    wanted = {value: [100 * (times[f"{value} {size}"] / times[first] - 1) for size in ("40kB", "80kB")] for value in ("2us", "5us", "20us")}
    check(all(abs(a - b) < 0.15 for value in wanted for a, b in zip(grid[value], wanted[value])), f"the grid: {grid}")
    said = ran("sim", "incast", "--sweep", "cc.target_delay=2us,5us,20us", "--seeds", 3, "--quiet")
    check(re.search(r"not later beyond chance: \d of the other 2 points", said) and said.count("####") >= 3, "with seeds it says how many are as good")
    said = ran("sim", "incast", "--sweep", "cc.target_delay=2us,20us", "--seeds", 3, "--quiet")
    check(re.search(r"^the other point is (not )?later beyond chance$", said, re.M), "of two points there is one other")
    grid = ["sim", "incast", "--sweep", "cc.target_delay=2us,5us,10us,20us", "--sweep", "queue.bytes=40kB,80kB", "--seeds", 3]
    said = ran(*grid)
    lines = said.splitlines()
    done = next(one for one in json.loads(ran(*grid, "--json"))["figures"] if one["name"] == "done_s")
    rows = [line.split() for line in lines if re.match(r"  \d+us [48]0kB ", line)]
    widest = max(len(line) for line in lines if re.match(r"  \d+us ", line))
    check(len(lines) <= 40 and widest <= 100, f"eight points with seeds fit a screen: {len(lines)} lines, a table of {widest} columns")
    check([row[4] for row in rows] == [f"{1e6 * point['mean']:.1f}" for point in done["points"]], "each with its mean")
    said = ran("sim", "incast", "--sweep", "transport.mpr=64,256,4096")
    check("is an end of its values" in said or "All points are done at the same time" in said or "mpr=256" in said.split("Done first")[1], "an end of the values is told")
    said = ran("sim", "two-racks", "--sweep", "queue.bytes=1MiB,2MiB", "--set", "traffic.bytes=64KiB")
    check("All points are done at the same time, " in said and "Done first" not in said and "0.00 % longer" not in said, "none is first where all are")
    check("Done first" not in ran("sim", "incast", "--seeds", 2), "nothing to choose from without a sweep")


def main(folder):
    check_study(folder)
    check_first(folder)
    check_single(folder)
    check_time_lines(folder)
    check_best()


if __name__ == "__main__":
    check_parts(main)
