#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""weft report on results that weft wrote: text and page say what result.json says, charts have the figures of the
histograms and of the series, what could not be measured is there with its reason, the page asks for nothing outside
itself, and exit statuses are those of the verdict. What is no result is refused, and nothing is written."""
import html.parser
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

WEFT = os.environ["WEFT"]
PAGE_BYTES_MAX = 5_000_000
failed = 0
SMALL = """name: small
fabric: {nics: 8, planes: 2, link_rate: 100Gb/s, nics_per_t0: 4, t1_count: 4}
traffic: {kind: permutation, bytes: 1MiB}
watch: {bin: 10us}
inputs:
  - {origin: assumed, text: "a <b>bold</b> word & a \\"quote\\""}
"""


def weft(*words):
    done = subprocess.run([WEFT, *map(str, words)], capture_output=True, text=True, timeout=120)
    return done.returncode, done.stdout, done.stderr


def check(holds, what):
    global failed
    failed += 0 if holds else 1
    print(("ok: " if holds else "FAILED: ") + what)


class Page(html.parser.HTMLParser):
    """What a page is made of: its references, texts, charts and sections. Elements must be closed as they were opened."""

    VOID = {"meta", "link", "br"}

    def __init__(self, text):
        super().__init__()
        self.open, self.links, self.ids, self.figures, self.words, self.scripts, self.svgs = [], [], [], {}, [], [], 0
        self.is_nested = True
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attributes):
        of = dict(attributes)
        self.links += [of[key] for key in ("src", "href", "action", "data", "poster", "srcset") if of.get(key) is not None]
        self.ids += [of["id"]] if "id" in of else []
        if tag == "figure":
            self.figures[of["id"]] = int(of["data-points"])
        if tag == "script":
            self.scripts.append("")
        self.svgs += tag == "svg"
        if tag not in self.VOID and not self.get_starttag_text().endswith("/>"):
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.handle_starttag(tag, attributes)

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.is_nested = False

    def handle_data(self, data):
        if self.open and self.open[-1] == "script":
            self.scripts[-1] += data
        elif self.open and self.open[-1] != "style":
            self.words.append(data)


def tail_points(path):
    """(value, share that is longer) of each line of a histogram's file but the last level."""
    rows = [line.split() for line in path.read_text().splitlines() if re.match(r" *[0-9]", line)]
    return [(float(row[0]), 1 - float(row[1])) for row in rows if float(row[1]) < 1]


def reasons(value, path=""):
    if isinstance(value, list):
        return set().union(*(reasons(each, path + "[]") for each in value), set())
    if not isinstance(value, dict):
        return set()
    found = set()
    for key, each in value.items():
        name = f"{path}.{key}".lstrip(".")
        found |= {(name[:-len("_reason")], each)} if key.endswith("_reason") else reasons(each, name)
    return found


def check_page(folder, page, result, is_plain):
    text = page.read_text()
    got = Page(text)
    words = "\n".join(got.words)
    check(got.is_nested and got.open == [], "elements are closed as they were opened")
    check(len(text) < (200_000 if is_plain else PAGE_BYTES_MAX), f"{len(text)} bytes")
    check(all(link.startswith("#") or link == "data:," for link in got.links), f"no reference leaves the page: {set(got.links)}")
    check("default-src 'none'" in text and "connect-src" not in text, "its policy forbids requests")
    check({link[1:] for link in got.links if link.startswith("#")} <= set(got.ids), "references lead somewhere")
    check(len(got.ids) == len(set(got.ids)), "names are unique")
    check('a <b>bold</b> word & a "quote"' in words, "texts of a scenario stay texts")
    for figure in (result["run"]["digest"], result["command"], result["scenario"]["name"]):
        check(figure in words, f"{figure!r} is there")
    charts = {chart["id"]: chart for chart in json.loads(got.scripts[0])}
    check(set(got.figures) == {"chart-" + name for name in charts} and got.svgs == len(charts), f"each chart is drawn: {sorted(charts)}")
    check(all(count > 0 for count in got.figures.values()), f"each chart has figures: {got.figures}")
    for series in charts["tails"]["series"]:
        expected = tail_points(folder / (series["name"] + ".hdr"))
        drawn = series["points"]
        check(len(drawn) == len(expected) > 0 and all(abs(a - b) <= 1e-8 * b for pair in zip(drawn, expected) for a, b in zip(*pair)),
              f"{series['name']}: the {len(expected)} points of its histogram")
    bins, per_nic = result["series"]["payload_bytes"], result["goodput"]["nics_receiving"]
    rates = [count * 8 / (result["series"]["bin_ps"] * 1e-3) / per_nic for count in bins]
    drawn = [point[1] for point in charts["goodput"]["series"][0]["points"][::2]]
    check(len(drawn) == len(rates) and all(abs(a - b) <= 1e-8 * max(b, 1) for a, b in zip(drawn, rates)), "goodput is that of the series")
    for name, reason in reasons(result):
        check(name in words and reason in words, f"{name} is unavailable: {reason}")
    return got


def check_text(text, result):
    check(max(map(len, text.splitlines())) <= 100, "text is at most 100 columns wide")
    for name, reason in reasons(result):
        check(any(name in line and reason in line for line in text.splitlines()), f"text: {name} is unavailable: {reason}")
    share = f"{result['congestion']['marked_share'] * 100:.3f} %"
    check(re.search(r"ECN marking ratio +" + re.escape(share), text) is not None, f"text: marking ratio {share}")
    check(result["command"].split()[0] in text and result["run"]["digest"] in text, "text: command and digest")


def check_verdicts(folder, result):
    for profile, words in (("operator-default", ()), ("strict", ()), ("strict", ("--no-page",))):
        status, said, _ = weft("verdict", folder, "--profile", profile)
        got, text, errors = weft("report", folder, "--profile", profile, *words)
        check(got == status and errors == "", f"{profile}: status {got}, that of weft verdict is {status}")
        word = {0: "PASS", 1: "FAIL", 5: "NOT VALID"}[status]
        check(f"Verdict {word}, held against {profile}" in text, f"{profile}: {word}")
        check(("Page: " in text) == (not words), "--no-page writes none")
    (folder / "partial").mkdir()
    partial = dict(result, run=dict(result["run"], partial=True, end="time limit"))
    (folder / "partial" / "result.json").write_text(json.dumps(partial))
    status, text, _ = weft("report", folder / "partial")
    page = (folder / "partial" / "report.html").read_text()
    check(status == 0 and "PARTIAL RESULT" in text and ">PARTIAL RESULT<" in page, "a partial result is reported as one")
    check("Tails of latency: unavailable: there is no histogram" in page, "no histogram, no tails: said")


def check_refusals(folder):
    empty = folder / "empty"
    empty.mkdir()
    (folder / "text.json").write_text("no JSON")
    (folder / "other.json").write_text('{"schema": 1}')
    (folder / "late.json").write_text('{"schema": 99, "weft": "weft", "run": {}}')
    cases = [([], "no folder given"), ([empty], "no result.json"), ([folder / "none"], "No such file"), ([folder / "text.json"], "is no JSON"),
             ([folder / "other.json"], "no result.json of weft"), ([folder / "late.json"], "version"), ([empty, empty], "one result at a time"),
             ([empty, "--no-page", "--plain"], "--no-page"), ([empty, "--colour"], "unknown option"),
             ([folder / "other.json", "--profile", "nobody"], "nobody")]
    before = sorted(folder.rglob("*"))
    for words, reason in cases:
        status, text, errors = weft("report", *words)
        check(status == 2 and text == "" and reason in errors and errors.count("\n") == 1, f"refused: {errors.strip()}")
    check(sorted(folder.rglob("*")) == before, "what is refused writes nothing")


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name, "out")
        scenario = pathlib.Path(name, "small.yaml")
        scenario.write_text(SMALL)
        fault = "{kind: loss, at: {nic: 3, plane: 0}, probability: 2%, from: 20us, until: 60us}"
        check(weft("sim", scenario, "--out", folder, "--fault", fault)[0] == 0, "a run")
        result = json.loads((folder / "result.json").read_text())
        status, text, errors = weft("report", folder)
        check(status == 0 and errors == "", f"status {status} {errors}")
        check_text(text, result)
        full = check_page(folder, folder / "report.html", result, False)
        print("charts: " + ("Apache ECharts" if len(full.scripts) > 1 else "SVG only: this build has no npm"))
        check(weft("report", folder, "--plain", "--quiet", "--out", folder / "plain.html") == (0, "", ""), "--quiet says nothing")
        plain = check_page(folder, folder / "plain.html", result, True)
        check(len(plain.scripts) == 1, "--plain has data and no script")
        again = (folder / "report.html").read_bytes()
        weft("report", folder, "--quiet")
        check((folder / "report.html").read_bytes() == again, "the same result, the same page")
        check_verdicts(folder, result)
        weft("sim", scenario, "--out", folder)
        check(not (folder / "report.html").exists(), "the next run takes the page of the last one away")
        check_refusals(pathlib.Path(name))
    print(f"{failed} failed")
    return 1 if failed else 0


sys.exit(main())
