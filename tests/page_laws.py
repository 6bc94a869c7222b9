# SPDX-License-Identifier: Apache-2.0
"""What holds for every page that weft writes: it is smaller than 5 MB; words can be told from what they stand on, light, dark and on
paper, worked out from the page's own rules; and, where there is a browser, verdict, figures and culprit are on the first screen, three
screens come before what is folded, and on a screen of 390 pixels nothing is cut off."""
import html.parser
import os
import pathlib
import re
import shutil
import subprocess
import tempfile

from weft import contrast

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
PAGE_BYTES_MAX, WIDTH = 5_000_000, 1440
SCREENS = {1440: 900, 390: 844} # widths of screens, and how high they are
SCREENS_BEFORE_DETAILS = 3      # of the wide one
LETTER_MIN = 9                  # pixels of a line of letters in a drawing
CONTRAST_MIN = 4.5              # of text on its ground: WCAG 2.1, level AA
VOID = {"meta", "link", "br", "hr", "img", "input", "wbr", "col"}
SILENT = {"head", "script", "style", "title", "desc"}


# ---------------------------------------------------------------- colours, from the rules

def blocks_of(text):
    """(head, body) of each rule; of @media its body is rules."""
    at = 0
    while (begin := text.find("{", at)) >= 0:
        head, depth, end = text[at:begin].strip(), 1, begin + 1
        while depth > 0:
            depth += {"{": 1, "}": -1}.get(text[end], 0)
            end += 1
        yield head, text[begin + 1:end - 1]
        at = end


def declared(body):
    return dict((part.strip() for part in one.split(":", 1)) for one in body.split(";") if ":" in one)


def steps_of(selector):
    """[(combinator, tag, ids and classes)], the last first; None: a part of an element, or a state of it."""
    if re.search(r"[:+~\[]", selector.replace(":root", "html")):
        return None
    words, steps, way = selector.replace(":root", "html").replace(">", " > ").split(), [], " "
    for word in words:
        if word == ">":
            way = ">"
            continue
        tag, *marks = re.findall(r"^[a-z0-9*]*|[.#][\w-]+", word)
        steps.append((way, "" if tag == "*" else tag, set(marks)))
        way = " "
    return steps[::-1]


class Rules:
    """Of a page's style: what gives an element its colours on a screen that is light or dark, and on paper."""

    def __init__(self, style):
        self.roots, self.rules = {"light": {}, "dark": {}, "paper": {}}, []
        for head, body in blocks_of(re.sub(r"/\*.*?\*/", "", style, flags=re.S)):
            look = "dark" if "dark" in head else "paper" if head == "@media print" else None
            if head == ":root":
                for root in self.roots.values():
                    root.update(declared(body))
            elif look:
                self.roots[look].update(declared(dict(blocks_of(body))[":root"]))
            elif not head.startswith("@"):
                self.add(head, declared(body))

    def add(self, head, own):
        own = {name: value for name, value in own.items() if name in ("color", "fill", "background") or name.startswith("--")}
        for selector in head.split(",") if own else ():
            steps = steps_of(selector.strip())
            if steps:
                ids = sum(mark[0] == "#" for _, _, marks in steps for mark in marks)
                weight = (ids, sum(len(marks) for _, _, marks in steps) - ids, sum(bool(tag) for _, tag, _ in steps), len(self.rules))
                self.rules.append((weight, steps, own))
        self.rules.sort(key=lambda rule: rule[0])

    def of(self, path):
        """What the rules say of the last element of a path of (tag, marks)."""
        own = {}
        for _, steps, more in self.rules:
            if matches(steps, path):
                own.update(more)
        return own


def matches(steps, path):
    (way, tag, marks), rest = steps[0], steps[1:]
    if tag not in ("", path[-1][0]) or not marks <= path[-1][1]:
        return False
    if not rest:
        return True
    ends = [len(path) - 1] if way == ">" else range(len(path) - 1, 0, -1)
    return any(matches(rest, path[:end]) for end in ends if end > 0)


def value_of(word, names):
    """#rrggbb behind var(--name); None: no colour."""
    while (found := re.fullmatch(r"var\((--[\w-]+)\)", word)):
        word = names.get(found[1], "")
    return word if re.fullmatch("#[0-9a-f]{6}", word) else None


class Words(html.parser.HTMLParser):
    """Each text of a page with its colour and its ground, of one look."""

    def __init__(self, text, look):
        super().__init__()
        style = text.partition("<style>")[2].partition("</style>")[0]
        self.rules, self.look, self.cache, self.path, self.shown, self.pairs = Rules(style), look, {}, [], [], {}
        self.feed(text.partition("</head>")[2])

    def handle_startendtag(self, tag, attrs):
        pass # a shape, without text

    def handle_starttag(self, tag, attrs):
        if tag in VOID:
            return
        of = dict(attrs)
        self.path.append((tag, frozenset({"." + name for name in (of.get("class") or "").split()} | ({"#" + of["id"]} if "id" in of else set()))))
        key = tuple(self.path)
        own = self.cache.setdefault(key, self.rules.of([("html", frozenset()), *key]))
        names, fore, fill, back = self.shown[-1] if self.shown else (self.rules.roots[self.look], None, None, None)
        names = {**names, **{name: value for name, value in own.items() if name.startswith("--")}}
        ground = value_of(own.get("background", ""), names)
        self.shown.append((names, value_of(own.get("color", ""), names) or fore, value_of(own.get("fill", ""), names) or fill, ground or back))

    def handle_endtag(self, tag):
        while self.path and self.path.pop()[0] != tag:
            self.shown.pop()
        if self.shown:
            self.shown.pop()

    def handle_data(self, data):
        if data.strip() == "" or not self.path or any(tag in SILENT for tag, _ in self.path):
            return
        _, fore, fill, back = self.shown[-1]
        drawn = any(tag == "svg" for tag, _ in self.path)
        self.pairs.setdefault((fill if drawn else fore, back), f"{'/'.join(tag + ''.join(sorted(marks)) for tag, marks in self.path[-2:])}: {data.strip()[:20]}")


def faint(text):
    """Words of a page that cannot be told from what they stand on, of each look."""
    found = []
    for look in ("light", "dark", "paper"):
        pairs = Words(text, look).pairs
        found += [f"{look}: {where} ({fore} on {back})" for (fore, back), where in pairs.items()
                  if fore is None or back is None or contrast(fore, back) < CONTRAST_MIN]
    body = text.partition("</head>")[2].partition("<script")[0]
    found += [f"a colour of its own: {one}" for one in re.findall(r'\s(?:fill|stroke|style|color)="[^"]*(?:#|rgb|color)[^"]*"', body)][:3]
    return found


# ---------------------------------------------------------------- the browser

def with_probe(page):
    """A copy of a page that says how large its drawings are."""
    text, _, rest = page.read_text().rpartition("</body>")
    page.with_name("probed.html").write_text(text + PROBE + rest)
    return page.with_name("probed.html")


def browse(profile, page, *words):
    """Opens a page in a browser of its own; what it prints."""
    call = [CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--no-first-run", "--disable-background-networking",
            "--disable-component-update", "--disable-sync", f"--user-data-dir={profile}", "--virtual-time-budget=5000", *map(str, words),
            page.as_uri()]
    return subprocess.run(call, capture_output=True, text=True, timeout=120, check=True).stdout


# Put behind a page's own scripts: how high it is, and of each drawing that is shown, how large.
PROBE = """<script>
const root = document.documentElement, place_of = (what, side) => Math.round(document.querySelector(what)?.getBoundingClientRect()[side] ?? 0);
root.dataset.height = root.scrollHeight;
for (const name of ["verdict", "figures", "culprit", "fabric", "first"]) root.dataset[name] = place_of("#" + name, "bottom");
root.dataset.folded = place_of("main > section", "top");
document.querySelectorAll("details").forEach((one) => { one.open = true; });
const cut = (one) => { const box = one.getBoundingClientRect(); return box.width > 0 && (box.right > root.clientWidth + 1 || box.left < -1); };
root.dataset.cut = [...document.querySelectorAll("body *")].filter((one) => !one.closest(".wide, .skip, script, style, .live") && cut(one))
  .map((one) => one.tagName + "." + (one.className.baseVal ?? one.className) + "#" + one.id).slice(0, 5).join(" ");
root.dataset.over = root.scrollWidth - root.clientWidth;
root.dataset.small = [...document.querySelectorAll("main svg.narrow text")].map((one) => one.getBoundingClientRect().height).filter((one) => one > 0)
  .reduce((least, one) => Math.min(least, one), 99);
root.dataset.hidden = [...document.querySelectorAll(".heat .cell")].filter((one) => parseFloat(getComputedStyle(one).fontSize) > 0 && one.scrollWidth > one.clientWidth + 1).length;
for (const figure of document.querySelectorAll("figure")) {
  const shown = [...figure.querySelectorAll("svg")].map((one) => one.getBoundingClientRect()).filter((one) => one.width > 0);
  const sizes = [...figure.querySelectorAll("svg path, svg rect, svg polyline, svg line")].map((one) => one.getBoundingClientRect());
  const lines = [...figure.querySelectorAll("svg text")].filter((one) => one.getBoundingClientRect().width > 0);
  figure.dataset.fills = [...new Set(lines.map((one) => getComputedStyle(one).fill))].join("|");
  const cells = [...figure.querySelectorAll(".heat .cell:not(.none)")].map((one) => one.getBoundingClientRect()).filter((one) => one.width > 0);
  const map = figure.querySelector(".frame")?.getBoundingClientRect();
  figure.dataset.svgs = map ? 1 : shown.length;
  figure.dataset.size = map ? map.width * map.height : shown.reduce((most, one) => Math.max(most, one.width * one.height), 0);
  figure.dataset.shapes = map ? cells.length : sizes.filter((one) => one.width + one.height > 0).length;
}
</script>
</body>"""


def state_of(profile, page, width):
    """What a page says of itself on a screen of that width."""
    shown = browse(profile, with_probe(page), "--dump-dom", f"--window-size={width},{SCREENS[width]}")
    return dict(re.findall(r'(data-[a-z]+)="([^"]*)"', re.search(r"<html[^>]*>", shown)[0]))


def misplaced(state, width, wanted):
    """What is not where a reader looks for it, or cut off."""
    high = SCREENS[width]
    for name in wanted:
        if not 0 < int(state["data-" + name]) <= high:
            yield f"{name} ends at {state['data-' + name]} of {high} pixels"
    if width == WIDTH and not 0 < int(state["data-folded"]) <= SCREENS_BEFORE_DETAILS * high:
        yield f"what is folded begins at {state['data-folded']}"
    if int(state["data-over"]) > 0 or state["data-cut"] != "":
        yield f"it is {state['data-over']} pixels too wide: {state['data-cut']}"
    if float(state["data-small"]) < LETTER_MIN:
        yield f"letters of {state['data-small']} pixels"
    if int(state["data-hidden"]) > 0:
        yield f"{state['data-hidden']} numbers do not fit into their cells"


# ---------------------------------------------------------------- a page

def broken(page, wanted=("verdict", "figures")):
    """Everything that a page breaks, each in words. `wanted` is on the first screen."""
    text = page.read_text(encoding="utf-8")
    size = len(text.encode())
    found = faint(text) + ([f"it has {size} bytes"] if size >= PAGE_BYTES_MAX else [])
    if CHROMIUM is None or os.environ.get("WEFT_SANITIZE"):
        return found
    with tempfile.TemporaryDirectory() as folder:
        copy = pathlib.Path(shutil.copy(page, folder))
        for width in SCREENS:
            found += [f"{width} pixels wide: {one}" for one in misplaced(state_of(pathlib.Path(folder, "profile"), copy, width), width, wanted)]
    return found
