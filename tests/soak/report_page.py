#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""report.html as a browser shows it, in headless Chromium: every chart is drawn with all its data, nothing is asked for outside
the file (a page that does so is found), dark and light are what the system says, it prints, and it is smaller than 5 MB.

  report_page.py            checks
  report_page.py --write    and puts the pictures of docs/pictures there
"""
import html.parser
import json
import os
import pathlib
import shutil
import struct
import subprocess
import sys
import tempfile
import urllib.parse
import zlib

WEFT, SOURCE = os.environ["WEFT"], pathlib.Path(os.environ["WEFT_SOURCE"])
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
PAGE_BYTES_MAX, PICTURE_BYTES_MAX = 5_000_000, 200_000
LIGHT, DARK = (255, 255, 255), (13, 17, 23) # --back of apps/report/page.css
BROWSER = ("google.com", "googleapis.com", "gstatic.com") # whom the browser asks of its own, whatever it shows
RUNS = {
    "incast": ["incast", "--set", "watch.bin=10us", "--set", "watch.links=true", "--fault", "{kind: loss, at: {nic: 3, plane: 0}, probability: 5%, from: 100us, until: 300us}"],
    "ring": ["ring-barrier", "--set", "watch.bin=10us", "--fault", "{kind: slow, at: {nic: 5, plane: 0}, rate: 50%, from: 100us, until: 250us}"],
    "jobs": ["jobs-two-rings", "--variant", "across"],
}
failed = 0


def check(holds, what):
    global failed
    failed += 0 if holds else 1
    print(("ok: " if holds else "FAILED: ") + what, flush=True)


def browse(profile, page, *words):
    """Opens a page in a browser of its own; what it prints."""
    call = [CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--no-first-run", "--disable-background-networking",
            "--disable-component-update", "--disable-sync", f"--user-data-dir={profile}", "--virtual-time-budget=5000", *map(str, words),
            page.as_uri()]
    return subprocess.run(call, capture_output=True, text=True, timeout=120, check=True).stdout


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
    """Of a page after its scripts ran: attributes of <html> and of charts, and elements below each live drawing."""

    def __init__(self, text):
        super().__init__()
        self.state, self.charts, self.now, self.depth = {}, {}, None, 0
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        of = dict(attributes)
        if tag == "html":
            self.state = of
        if tag == "figure":
            self.now = self.charts[of["id"]] = {"of": of, "live": 0, "plain": 0, "in_live": False}
        if self.now is None:
            return
        if tag == "div" and "live" in of.get("class", "").split():
            self.now["in_live"] = True
        if tag == "svg" and of.get("role") == "img" and "viewBox".lower() in of and not of.get("xmlns"):
            self.now["in_live"] = False # the page's own drawing stands behind the live one
        if tag in ("path", "rect", "polyline"):
            self.now["live" if self.now["in_live"] else "plain"] += 1

    def handle_endtag(self, tag):
        if tag == "figure":
            self.now = None


def corner(path):
    """Colour of the first pixel of a PNG: its line has nothing before it, so whatever its filter adds is zero."""
    data = path.read_bytes()
    at, packed = 8, b""
    while at < len(data):
        length, kind = struct.unpack(">I4s", data[at:at + 8])
        packed += data[at + 8:at + 8 + length] if kind == b"IDAT" else b""
        at += 12 + length
    return tuple(zlib.decompress(packed)[1:4])


def check_page(profile, name, page):
    charts = {"chart-" + chart["id"]: chart for chart in data_of(page)}
    drawn = Drawn(browse(profile, page, "--dump-dom"))
    check(len(page.read_bytes()) < PAGE_BYTES_MAX, f"{name}: {len(page.read_bytes())} bytes")
    check(drawn.state.get("data-charts") == "live" and drawn.charts.keys() == charts.keys(), f"{name}: {len(charts)} charts came to their end")
    for chart, of in drawn.charts.items():
        points = sum(len(series["points"]) for series in charts[chart].get("series", [])) + \
            len(charts[chart].get("cells", [])) + len(charts[chart].get("spans", []))
        check(points > 0 and int(of["of"].get("data-drawn", 0)) == points, f"{name}: {chart} has its {points} figures")
        check(of["live"] > 0 and of["plain"] > 0, f"{name}: {chart} is drawn: {of['live']} shapes, {of['plain']} on paper")


def data_of(page):
    text = page.read_text()
    return json.loads(text.partition('id="charts">')[2].partition("</script>")[0])


def check_requests(profile, folder, page):
    found = asked(profile, page, folder / "net.json")
    check(found == set(), f"nothing is asked for outside the file {found or ''}")
    leaky = folder / "leaky.html"
    text = page.read_text().replace('http-equiv="Content-Security-Policy"', 'name="none"')
    leaky.write_text(text.replace("<main", '<img src="http://198.18.0.1/dot.png" alt=""><main', 1))
    check("http://198.18.0.1/dot.png" in asked(profile, leaky, folder / "leaky.json"), "a page that asks for a picture is found")
    guarded = folder / "guarded.html"
    guarded.write_text(page.read_text().replace("<main", '<img src="http://198.18.0.1/dot.png" alt=""><main', 1))
    found = asked(profile, guarded, folder / "guarded.json")
    check(found == set(), f"the page's own policy forbids it {found or ''}")


def check_looks(profile, folder, page):
    looks = {"light": (LIGHT, "1"), "dark": (DARK, "0")}
    for name, (colour, scheme) in looks.items():
        picture = folder / f"report-{name}.png"
        browse(profile, page, f"--screenshot={picture}", f"--blink-settings=preferredColorScheme={scheme}", "--window-size=1000,1500")
        check(corner(picture) == colour, f"{name}: its ground is {corner(picture)}")
        check(picture.stat().st_size < PICTURE_BYTES_MAX, f"{name}: a picture of {picture.stat().st_size} bytes")
        if "--write" in sys.argv:
            (SOURCE / "docs" / "pictures").mkdir(exist_ok=True)
            shutil.copy(picture, SOURCE / "docs" / "pictures" / picture.name)
    paper = folder / "report.pdf"
    browse(profile, page, f"--print-to-pdf={paper}", "--no-pdf-header-footer")
    pages = paper.read_bytes().count(b"/Type /Page\n") + paper.read_bytes().count(b"/Type /Page ") + paper.read_bytes().count(b"/Type /Page/")
    check(2 <= pages <= 40 and paper.stat().st_size > 20_000, f"it prints on {pages} pages")


def main():
    if CHROMIUM is None:
        print("skipped: there is no Chromium here (chromium)")
        return 77
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        profile = folder / "profile"
        for run, words in RUNS.items():
            subprocess.run([WEFT, "sim", *words, "--quiet", "--out", folder / run], capture_output=True, check=True, timeout=120)
            subprocess.run([WEFT, "report", folder / run, "--quiet", "--profile", "operator-default"], timeout=60, check=False)
            if "<script>" not in (folder / run / "report.html").read_text():
                print("skipped: this build has no Apache ECharts")
                return 77
            check_page(profile, run, folder / run / "report.html")
        check_requests(profile, folder, folder / "incast" / "report.html")
        check_looks(profile, folder, folder / "incast" / "report.html")
    print(f"{failed} failed")
    return 1 if failed else 0


sys.exit(main())
