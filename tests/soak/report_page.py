#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""report.html as a browser shows it, in headless Chromium: all sections are there, every chart is drawn with all its data, in
shapes that have a size, nothing is asked for outside the file, every table and chart has a name and can be reached by keys, dark
and light are what the system says and can be read, it prints, and it is smaller than 5 MB; the first screen has verdict, figures
and culprit, three screens come before what is folded, and on a screen of 390 pixels nothing is cut off. Each of these checks is
tried on a page that was spoilt for it, and has to find that.

  report_page.py            checks
  report_page.py --write    and puts the pictures of docs/pictures there
"""
import collections
import html.parser
import json
import pathlib
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import urllib.parse
import zlib

import weft
from page_laws import CHROMIUM, CONTRAST_MIN, PAGE_BYTES_MAX, SCREENS, WIDTH, browse, faint, misplaced, state_of, with_probe
from weft import SKIPPED, SOURCE, WEFT, check, contrast

PICTURE_BYTES_MAX, HEIGHT_MAX = 400_000, 16_000
LIGHT, DARK = (246, 247, 249), (14, 20, 27) # --ground of lib/page/assets/page.css
CARDS = {"light": (255, 255, 255), "dark": (22, 30, 39)} # --back: what words stand on
BROWSER = ("google.com", "googleapis.com", "gstatic.com") # whom the browser asks of its own, whatever it shows
OUTSIDE = "http://198.18.0.1/dot.png"
SECTIONS = ["summary", "culprits", "latency", "load", "time", "inputs", "unavailable", "counters", "again"]
RUNS = { # what weft sim does, and the charts that its page has to have
    "incast": (["incast", "--set", "watch.bin=10us", "--set", "watch.links=true", "--set", "watch.racks=true", "--fault", "{kind: loss, at: {nic: 3, plane: 0}, probability: 5%, from: 100us, until: 300us}"],
               ["tails", "depth-tails", "racks", "racks-p99", "planes", "links", "switches", "depths", "goodput", "arrivals", "queues"]),
    "ring": (["ring-barrier", "--set", "watch.delays=true", "--set", "watch.bin=10us", "--set", "watch.links=true", "--set", "watch.racks=true", "--fault", "{kind: slow, at: {nic: 5, plane: 0}, rate: 50%, from: 100us, until: 250us}"],
             ["tails", "delays", "ev-tails", "depth-tails", "racks", "racks-p99", "planes", "links", "switches", "depths", "step", "goodput", "arrivals", "queues", "incasts"]),
    "jobs": (["jobs-two-rings", "--variant", "across"], ["tails", "planes", "step", "jobs"]),
}
PICTURED = "ring"
# What README.md shows: the page of its first run, down to what failed first.
FIRST_RUN = ["rail-8x4", "--set", "watch.links=true", "--fault", "{kind: loss, at: {t0: 2, up: 1, plane: 0}, probability: 2%}"]
# Pages of many runs: what weft does, sections, and the charts that there are; None: those of the figures.
BOOK_SECTIONS = ["summary", "device", "settings", "host", *("section-" + name for name in "baseline mrc congestion balance collectives step convergence soak".split()),
                 "coverage", "anomalies", "repeatability", "comparability", "again"]
WITH_FLOWS = "baseline mrc congestion balance convergence soak".split() # sections that draw when flows were done
LOSSY = "{kind: loss, at: {t0: 0, up: 1, plane: 1}, probability: 1%}"
BOOKS = {"book": [], "book-lossy": ["--fault", LOSSY]}
STUDIES = {"seeds": ["incast", "--seeds", "3", "--sweep", "queue.bytes=64KiB,128KiB"], "points": ["incast", "--sweep", "queue.bytes=32KiB,64KiB,128KiB"]}

TUNE = ["incast", "--knob", "cc.target_delay=0.1rtt..4rtt", "--knob", "cc.qa_gate=0..6", "--budget", "220", "--quiet"]
TUNE_SECTIONS = ["summary", "knobs", "curves", "settings", "pareto", "search", "again"]
TUNE_CHARTS = ["finalists", "curve-cc.target_delay", "curve-cc.qa_gate", "parallel", "so-far"]


# ---------------------------------------------------------------- the browser

def asked(profile, page, log):
    """Everything that the browser was asked to get while it showed the page."""
    browse(profile, page, "--dump-dom", f"--log-net-log={log}", "--net-log-capture-mode=IncludeSensitive")
    text = log.read_text()
    try:
        events = json.loads(text)["events"]
    except json.JSONDecodeError: # the browser ended before the last line was
        events = json.loads(text.rstrip().rstrip(",") + "]}")["events"]
    urls = {event["params"]["url"] for event in events if isinstance(event.get("params"), dict) and "url" in event["params"]}
    outside = {url for url in urls if not url.startswith(("file:", "data:", "blob:", "chrome:", "chrome-untrusted:", "about:"))}
    check(not any(host in page.read_text() for host in BROWSER), f"{page.name} does not name whom the browser asks")
    return {url for url in outside if not (urllib.parse.urlsplit(url).hostname or "").endswith(BROWSER)}


class Drawn(html.parser.HTMLParser):
    """Of a page after its scripts ran: attributes of <html>, of sections, charts and tables' frames."""

    def __init__(self, text):
        super().__init__()
        self.state, self.charts, self.sections, self.frames, self.links, self.in_section = {}, {}, {}, [], [], None
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        of = dict(attributes)
        if tag == "html":
            self.state = of
        if tag == "section":
            self.in_section = of["id"]
            self.sections[of["id"]] = {"of": of, "words": ""}
        if tag == "figure":
            self.charts[of["id"]] = {"of": of, "names": 0}
        if of.get("role") == "img" and self.charts:
            last = list(self.charts)[-1]
            self.charts[last]["names"] += bool(of.get("aria-label") or of.get("aria-labelledby"))
        if tag == "div" and of.get("class") == "wide":
            self.frames.append(of)
        if tag == "a":
            self.links.append(of.get("href", ""))

    def handle_endtag(self, tag):
        if tag == "section":
            self.in_section = None

    def handle_data(self, data):
        if self.in_section is not None:
            self.sections[self.in_section]["words"] += data


# ---------------------------------------------------------------- what can be wrong with a page

def refuse_constant(word):
    raise ValueError(f"{word} is no figure")


def data_of(text):
    return json.loads(text.partition('id="charts">')[2].partition("</script>")[0], parse_constant=refuse_constant)


def points_of(chart):
    return sum(len(series["points"]) for series in chart.get("series", [])) + len(chart.get("cells", [])) + len(chart.get("spans", []))


def faults_of_charts(charts, wanted, drawn, is_live):
    if set(charts) != set(wanted):
        yield f"charts are {sorted(charts)} in place of {sorted(wanted)}"
    if drawn.charts.keys() != {"chart-" + name for name in charts}:
        yield f"of the charts these are drawn: {sorted(drawn.charts)}"
    for name, chart in charts.items():
        got = drawn.charts.get("chart-" + name)
        if points_of(chart) == 0:
            yield f"{name} has no figures"
        if got is None:
            continue
        of = got["of"]
        if is_live and int(of.get("data-drawn", 0)) != points_of(chart):
            yield f"{name} has {points_of(chart)} figures and shows {of.get('data-drawn')}"
        is_map = chart["kind"] == "heat"
        least = points_of(chart) if is_map else 2
        if int(of.get("data-svgs", 0)) != 1 or float(of.get("data-size", 0)) < (5_000 if is_map else 20_000) or int(of.get("data-shapes", 0)) < least:
            yield f"{name} is not to be seen: {of.get('data-svgs')} drawings, {of.get('data-size')} pixels, {of.get('data-shapes')} shapes"
        if got["names"] < (3 if is_live and not is_map else 1):
            yield f"{name} has no name for those who do not see it"


def faults_of_access(drawn):
    if "#main" not in drawn.links:
        yield "no way past the list of sections"
    if any(frame.get("tabindex") != "0" for frame in drawn.frames):
        yield "a table that keys do not scroll"
    for name, section in drawn.sections.items():
        if section["of"].get("aria-labelledby") is None:
            yield f"section {name} has no name"


def faults_of(profile, page, wanted, sections=SECTIONS, is_live=True):
    """Everything that is wrong with a page, each in words."""
    text = page.read_text()
    if len(text.encode()) >= PAGE_BYTES_MAX:
        yield f"it has {len(text.encode())} bytes"
    for link in re.findall(r'<[a-z]+ [^>]*(?:src|href|action|data)="([^"]*)"', text.partition("<script")[0]):
        if not (link.startswith(("#", "cases/")) or link == "data:,"):
            yield f"it refers to {link}"
    if re.search(r'(?:="|[ ,>:-])(?:nan|NaN|inf|Infinity)(?=[",;.<) ])', text.partition("<script>")[0]):
        yield "a figure that is none (nan, inf)"
    try:
        charts = {chart["id"]: chart for chart in data_of(text)}
    except ValueError as error:
        yield f"its data cannot be read: {error}"
        return
    drawn = Drawn(browse(profile, with_probe(page), "--dump-dom"))
    if list(drawn.sections) != sections:
        yield f"sections are {list(drawn.sections)}"
    for name, section in drawn.sections.items():
        if len(section["words"].split()) < 6:
            yield f"section {name} says nothing"
    if is_live and drawn.state.get("data-charts") != "live":
        yield "its script did not come to its end"
    yield from faults_of_charts(charts, wanted, drawn, is_live)
    yield from faults_of_access(drawn)


# How a good page becomes a bad one, and a word of the fault that is found.
SPOILS = {
    "a chart without figures": (lambda text: re.sub(r'("id":"goodput".*?"points":)\[\[.*?\]\]', r"\1[]", text, count=1), "goodput has no figures"),
    "a chart that is gone from the data": (lambda text: re.sub(r',\{"id":"planes".*?\}(?=,\{"id":"links")', "", text, count=1), "charts are"),
    "a chart without a place": (lambda text: text.replace('id="chart-tails"', 'id="chart-other"'), "did not come to its end"),
    "a drawing that is hidden": (lambda text: text.replace("</style>", "#chart-links { display: none }</style>"), "links is not to be seen"),
    "a section that is gone": (lambda text: re.sub(r'<section id="culprits".*?</section>', "", text, flags=re.S), "sections are"),
    "a section that is empty": (lambda text: re.sub(r'(<section id="latency"[^>]*><details[^>]*><summary><h2[^>]*>)Latency.*?</section>', r"\1</h2></summary></details></section>", text, flags=re.S), "section latency says nothing"),
    "a picture of elsewhere": (lambda text: text.replace("<main", f'<img src="{OUTSIDE}" alt=""><main', 1), "it refers to " + OUTSIDE),
    "a figure that is no number, in the data": (lambda text: re.sub(r'("points":\[\[[0-9.]+,)[0-9.e-]+', r"\1NaN", text, count=1), "NaN"),
    "a figure that is no number, in a drawing": (lambda text: re.sub(r'(<rect class="f0"[^>]* y=")[0-9.]+', r"\1nan", text, count=1), "(nan, inf)"),
    "a figure that is no number, in a table": (lambda text: re.sub(r'<td class="n">[0-9.]+ Gb/s', "<td>nan Gb/s", text, count=1), "(nan, inf)"),
    "a script that breaks": (lambda text: text.replace('"use strict";', '"use strict"; nothing();', 1), "did not come to its end"),
    "a page that is too large": (lambda text: text + f"<!-- {'x' * PAGE_BYTES_MAX} -->", "bytes"),
    "a chart without a name": (lambda text: text.replace('aria-labelledby="name-tails"', ""), "tails has no name"),
    "a table that keys do not reach": (lambda text: text.replace('<div class="wide" tabindex="0">', '<div class="wide">', 1), "keys do not scroll"),
}


def check_spoils(profile, folder, page, wanted):
    for what, (spoil, word) in SPOILS.items():
        spoilt = folder / "spoilt.html"
        text = spoil(page.read_text())
        spoilt.write_text(text)
        found = list(faults_of(profile, spoilt, wanted))
        check(text != page.read_text() and any(word in fault for fault in found), f"found: {what}: {'; '.join(found)[:160]}")


def check_requests(profile, folder, page):
    found = asked(profile, page, folder / "net.json")
    check(found == set(), f"nothing is asked for outside the file {found or ''}")
    leaky = folder / "leaky.html"
    text = page.read_text().replace('http-equiv="Content-Security-Policy"', 'name="none"')
    leaky.write_text(text.replace("<main", f'<img src="{OUTSIDE}" alt=""><main', 1))
    check(OUTSIDE in asked(profile, leaky, folder / "leaky.json"), "a page that asks for a picture is found")
    guarded = folder / "guarded.html"
    guarded.write_text(page.read_text().replace("<main", f'<img src="{OUTSIDE}" alt=""><main', 1))
    found = asked(profile, guarded, folder / "guarded.json")
    check(found == set(), f"the page's own policy forbids it {found or ''}")


# ---------------------------------------------------------------- looks

def faint_charts(profile, page, scheme, ground):
    """Charts whose words cannot be told from their ground; those of maps stand on their cells, whose colours program_page holds."""
    heats = {"chart-" + chart["id"] for chart in data_of(page.read_text()) if chart["kind"] == "heat"}
    drawn = Drawn(browse(profile, with_probe(page), "--dump-dom", f"--blink-settings=preferredColorScheme={scheme}"))
    found = []
    for name, chart in drawn.charts.items():
        if name in heats:
            continue
        fills = [tuple(map(int, re.findall(r"[0-9]+", fill)[:3])) for fill in chart["of"]["data-fills"].split("|")]
        colours = ["#%02x%02x%02x" % fill for fill in fills]
        if not (colours and all(contrast(colour, "#%02x%02x%02x" % ground) >= CONTRAST_MIN for colour in colours)):
            found.append(f"{name} {colours}")
    return found


def check_words_of_charts(profile, folder, page):
    for look, ground, scheme in (("light", CARDS["light"], "1"), ("dark", CARDS["dark"], "0")):
        found = faint_charts(profile, page, scheme, ground)
        check(found == [], f"{look}: words of charts can be read {found}")
    spoilt = folder / "faint.html"
    spoilt.write_text(page.read_text().replace('hideOverlap: true, color: colour("soft")', 'hideOverlap: true', 1))
    check(faint_charts(profile, spoilt, "0", CARDS["dark"]) != [], "dark: words that are too dark are found")


def check_contrast(text):
    check(text.count(":root {") == 3 and faint(text) == [], f"light, dark and paper can be read {faint(text)}")


def corner(path):
    """Size of a PNG, and the colour of its first pixel: its line has nothing before it, so whatever its filter adds is zero."""
    data = path.read_bytes()
    at, packed, size = 8, b"", struct.unpack(">II", data[16:24])
    while at < len(data):
        length, kind = struct.unpack(">I4s", data[at:at + 8])
        packed += data[at + 8:at + 8 + length] if kind == b"IDAT" else b""
        at += 12 + length
    return size, tuple(zlib.decompressobj().decompress(packed, 4)[1:4])


def rows_of(data):
    """Lines of pixels of a PNG that Chromium writes: 8 bits a channel, not interlaced."""
    at, packed, (width, height, depth, kind) = 8, b"", struct.unpack(">IIBB", data[16:26])
    assert depth == 8 and kind in (2, 6)
    while at < len(data):
        length, name = struct.unpack(">I4s", data[at:at + 8])
        packed += data[at + 8:at + 8 + length] if name == b"IDAT" else b""
        at += 12 + length
    raw, step = zlib.decompress(packed), 3 if kind == 2 else 4
    before, span = bytearray(width * step), width * step
    for number in range(height):
        way, line = raw[number * (span + 1)], bytearray(raw[number * (span + 1) + 1:(number + 1) * (span + 1)])
        if way == 2:
            line = bytearray((a + b) & 255 for a, b in zip(line, before))
        elif way != 0:
            for i in range(span):
                left, up = line[i - step] if i >= step else 0, before[i]
                corner_ = before[i - step] if i >= step else 0
                near = min((abs(up - corner_), 0, left), (abs(left - corner_), 1, up), (abs(left + up - 2 * corner_), 2, corner_))[2]
                line[i] = (line[i] + (left if way == 1 else (left + up) // 2 if way == 3 else near)) & 255
        before = line
        yield [tuple(value & 0xf8 for value in line[i:i + 3]) for i in range(0, span, step)]


def shrink(path, first=0, end=None):
    """A picture with 256 colours at most: a page has few, but for the edges of its letters. Of its rows, those from first on, before end."""
    rows = list(rows_of(path.read_bytes()))[first:end]
    often = collections.Counter(colour for row in rows for colour in row)
    colours = [colour for colour, _ in often.most_common(256)]
    place = {colour: index for index, colour in enumerate(colours)}
    for colour in often:
        if colour not in place:
            place[colour] = min(range(len(colours)), key=lambda index: sum((a - b) ** 2 for a, b in zip(colours[index], colour)))
    packed = zlib.compress(b"".join(b"\0" + bytes(place[colour] for colour in row) for row in rows), 9)
    chunks = ((b"IHDR", struct.pack(">IIBBBBB", len(rows[0]), len(rows), 8, 3, 0, 0, 0)),
              (b"PLTE", b"".join(bytes(value | value >> 5 for value in colour) for colour in colours)), (b"IDAT", packed), (b"IEND", b""))
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + b"".join(struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
                                                     for name, data in chunks))


def check_screens(profile, folder, pages):
    """Each page on a wide and a narrow screen, and that a page that is wrong is found."""
    for page, has_culprit in pages:
        for width in SCREENS:
            found = list(misplaced(state_of(profile, page, width), width, ("verdict", "figures", "culprit") if has_culprit else ("verdict", "figures")))
            check(found == [], f"{page.parent.name}, {width} pixels wide: nothing is cut off, and what counts is on the first screen {'; '.join(found)}")
    page = pages[0][0]
    spoils = {
        "what is too wide": ("</style>", ".tiles { width: 900px }</style>", "too wide"),
        "a verdict that is far down": ("</style>", ".verdict { margin-top: 2000px }</style>", "verdict ends at"),
        "numbers that do not fit": ("</style>", ".heat .cell { font-size: 60px !important }</style>", "do not fit"),
        "letters that are too small": ("</style>", "svg text { font-size: 4px !important }</style>", "letters of"),
    }
    for what, (old, new, word) in spoils.items():
        spoilt = folder / "spoilt.html"
        spoilt.write_text(page.read_text().replace(old, new, 1))
        found = list(misplaced(state_of(profile, spoilt, 390), 390, ("verdict",)))
        check(any(word in fault for fault in found), f"found: {what}: {'; '.join(found)[:160]}")


def check_looks(profile, folder, page, name):
    """Pictures of a page down to what is folded, wide and narrow, light and dark."""
    for width in SCREENS:
        state = state_of(profile, page, width)
        height, end = int(state["data-height"]), int(state["data-folded"])
        check(800 < end < height < HEIGHT_MAX, f"{name}, {width}: the page is {height} pixels high, its story {end}")
        for look, colour, scheme in (("light", LIGHT, "1"), ("dark", DARK, "0")):
            picture = folder / f"{name}-{width}-{look}.png"
            browse(profile, page, f"--screenshot={picture}", f"--blink-settings=preferredColorScheme={scheme}", f"--window-size={width},{height}")
            size, ground = corner(picture)
            check(ground == colour and size == (width, height), f"{name}, {width}, {look}: {size}, its ground is {ground}")
            if "--write" in sys.argv:
                shrink(picture, 0, end)
                check(picture.stat().st_size < PICTURE_BYTES_MAX, f"{name}, {look}: a picture of {picture.stat().st_size} bytes")
                shutil.copy(picture, SOURCE / "docs" / "pictures" / picture.name)


def check_first_run(profile, folder):
    """The picture at the head of README.md."""
    page, picture = make(folder, "first", FIRST_RUN)[0], folder / "readme.png"
    end = int(state_of(profile, page, WIDTH)["data-first"])
    check(0 < end < WIDTH, f"the first run: what failed first ends at {end}")
    browse(profile, page, f"--screenshot={picture}", "--blink-settings=preferredColorScheme=1", f"--window-size={WIDTH},{end + 20}")
    if "--write" in sys.argv:
        shrink(picture)
        check(picture.stat().st_size < PICTURE_BYTES_MAX, f"the first run: a picture of {picture.stat().st_size} bytes")
        shutil.copy(picture, SOURCE / "docs" / "pictures" / picture.name)
    return page


def check_paper(profile, folder, page):
    paper = folder / "report.pdf"
    browse(profile, page, f"--print-to-pdf={paper}", "--no-pdf-header-footer")
    pages = sum(paper.read_bytes().count(b"/Type /Page" + end) for end in (b"\n", b" ", b"/"))
    check(2 <= pages <= 40 and paper.stat().st_size > 20_000, f"it prints on {pages} pages")


# ---------------------------------------------------------------- whole

def make(folder, run, words):
    weft.run("sim", *words, "--quiet", "--out", folder / run, text=False, check=True)
    subprocess.run([WEFT, "report", folder / run, "--quiet", "--profile", "operator-default"], timeout=60, check=False)
    plain = folder / (run + "-plain")
    plain.mkdir()
    subprocess.run([WEFT, "report", folder / run, "--quiet", "--plain", "--out", plain], timeout=60, check=True)
    return folder / run / "report.html", plain / "report.html"


def check_many(profile, folder):
    """Pages of books and of studies, and pictures of a book that failed."""
    for name, words in BOOKS.items():
        out = folder / name
        weft.run("validate-fabric", "two-racks", "--quick", "--jobs", "2", "--out", out, *words, text=False)
        found = list(faults_of(profile, out / "report.html", ["goodput", "busbw", "fct", *("cdf-" + name for name in WITH_FLOWS)], BOOK_SECTIONS))
        check(found == [], f"{name}: {(out / 'report.html').stat().st_size} bytes {'; '.join(found)}")
    for name, words in STUDIES.items():
        out = folder / name
        weft.run("sim", *words, "--out", out, text=False, check=True)
        subprocess.run([WEFT, "report", out, "--quiet"], timeout=60, check=True)
        drawn = [one["name"] for one in json.loads((out / "study.json").read_text())["figures"] if any(point["mean"] for point in one["points"])]
        found = list(faults_of(profile, out / "report.html", ["figure-" + one for one in drawn], ["summary", "figures", "unavailable", "runs", "again"]))
        check(found == [] and len(drawn) > 8, f"study of {name}: {len(drawn)} charts {'; '.join(found)}")
    check_looks(profile, folder, folder / "book-lossy" / "report.html", "book")
    check_tune(profile, folder)


def check_tune(profile, folder):
    """The page of a search for settings, whose title is its story."""
    study, page = folder / "small.tune", folder / "tune" / "report.html"
    page.parent.mkdir()
    weft.run("tune", *TUNE, "--study", study, text=False)
    weft.run("tune", "report", study, "--out", page, text=False, check=True)
    found = list(faults_of(profile, page, TUNE_CHARTS, TUNE_SECTIONS))
    check(found == [], f"tune: {page.stat().st_size} bytes {'; '.join(found)}")
    check_contrast(page.read_text())
    for look, ground, scheme in (("light", CARDS["light"], "1"), ("dark", CARDS["dark"], "0")):
        faint_ones = faint_charts(profile, page, scheme, ground)
        check(faint_ones == [], f"tune, {look}: words of charts can be read {faint_ones}")


def main():
    if CHROMIUM is None:
        print("skipped: there is no Chromium here (chromium)")
        return SKIPPED
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        profile = folder / "profile"
        for run, (words, charts) in RUNS.items():
            page, plain = make(folder, run, words)
            if "<script>" not in page.read_text():
                print("skipped: this build has no Apache ECharts")
                return SKIPPED
            for kind, path, is_live in (("Apache ECharts", page, True), ("SVG", plain, False)):
                found = list(faults_of(profile, path, charts, is_live=is_live))
                check(found == [], f"{run}, {kind}: {path.stat().st_size} bytes, {len(charts)} charts {'; '.join(found)}")
        page = folder / PICTURED / "report.html"
        check_spoils(profile, folder, page, RUNS[PICTURED][1])
        check_requests(profile, folder, page)
        check_contrast(page.read_text())
        check_words_of_charts(profile, folder, page)
        first = check_first_run(profile, folder)
        check_looks(profile, folder, page, "report")
        check_paper(profile, folder, page)
        check_many(profile, folder)
        check_screens(profile, folder, [(page, True), (folder / (PICTURED + "-plain") / "report.html", True), (first, True), (folder / "incast-plain" / "report.html", False),
                                        (folder / "jobs-plain" / "report.html", False), (folder / "book-lossy" / "report.html", True), (folder / "book" / "report.html", False),
                                        *((folder / name / "report.html", False) for name in (*STUDIES, "tune"))])
    print(f"{check.failed} failed")
    return 1 if check.failed else 0


sys.exit(main())
