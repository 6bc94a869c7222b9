#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""weft report on results that weft wrote: text and page say what result.json says, charts have the figures of the
histograms and of the series, what could not be measured is there with its reason, the page asks for nothing outside
itself, metrics and tables have every figure and are read by others' programs, and exit statuses are those of the verdict. What is no result is refused, and nothing is written."""
import csv
import html.parser
import json
import math
import re
import shutil
import subprocess

import remanifest
import weft
from weft import check, check_parts

PAGE_BYTES_MAX = 5_000_000
SMALL = """name: small
fabric: {nics: 8, planes: 2, link_rate: 100Gb/s, nics_per_t0: 4, t1_count: 4}
traffic: {kind: permutation, bytes: 1MiB}
watch: {bin: 10us}
inputs:
  - {origin: assumed, text: "a <b>bold</b> word & a \\"quote\\""}
"""


class Page(html.parser.HTMLParser):
    """What a page is made of: its references, texts, charts and sections. Elements must be closed as they were opened."""

    VOID = {"meta", "link", "br"}

    def __init__(self, text):
        super().__init__()
        self.open, self.links, self.ids, self.figures, self.words, self.scripts, self.svgs = [], [], [], {}, [], [], {"broad": 0, "narrow": 0}
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
        if tag == "svg" and "figure" in self.open:
            self.svgs[of["class"]] += 1
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
    drawings = sum(chart["kind"] != "heat" for chart in charts.values()) # a map is a grid of cells
    check(set(got.figures) == {"chart-" + name for name in charts} and set(got.svgs.values()) == {drawings}, f"each chart is drawn: {sorted(charts)}")
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


def check_links(folder, scenario):
    """With watch.links: who is to blame, and the load of links by plane."""
    fault = "{kind: slow, at: {nic: 3, plane: 0}, rate: 30%}"
    check(weft.outcome("sim", scenario, "--out", folder, "--set", "watch.links=true", "--set", "watch.racks=true", "--set",
                       "watch.delays=true", "--set", "watch.gaps=true", "--set",
               "traffic.bytes=4MiB", "--fault", fault)[0] == 0, "a run")
    result = json.loads((folder / "result.json").read_text())
    status, text, errors = weft.outcome("report", folder, "-v")
    first = result["culprits"]["list"][0]
    place = text.find("Culprits, the likeliest first")
    check(status == 0 and re.search(re.escape(first["name"]) + " +" + first["finding"], text[place:]) is not None and place > 0,
          f"text: look at {first['name']} ({first['finding']})")
    pairs = result["delays"]["pairs"][:min(16, math.ceil(result["delays"]["pairs_talked"] / 8))]
    share = sum(3 in (pair["from_nic"], pair["to_nic"]) for pair in pairs) / len(pairs)
    check(abs(first["tail_share"] - share) < 1e-9 and first["tail_share"] > first["pairs_share"] > 0,
          f"it has {first['tail_share']:.3f} of the worst pairs and {first['pairs_share']:.3f} of all")
    check(3 in (pairs[0]["from_nic"], pairs[0]["to_nic"]), "the slowest message is to or from it")
    check_watched_histograms(folder, result)
    page = Page((folder / "report.html").read_text())
    check(first["evidence"] in page.words, "page: its evidence")
    shares = text[text.find("Their shares of the slowest"):].splitlines()[:6]
    check(any(first["name"] in line and f"{first['tail_share'] * 100:.1f}"[:3] in line and "unavailable: the traffic has no steps" in line
              for line in shares) and "Their shares of the slowest" in page.words, f"text: its shares: {shares}")
    slowest = result["culprits"]["slowest"]
    check(len(slowest) > 0 and "Where the slowest were" in page.words and all(each["name"] in page.words for each in slowest),
          f"page: where the slowest were: {slowest}")
    chart = [chart for chart in json.loads(page.scripts[0]) if chart["id"] == "links"][0]
    got = {(chart["rows"][row], chart["labels"][column]): value for column, row, value in chart["cells"]}
    wanted = {(one["group"], f"plane {one['plane']}"): one["data_bytes_max"] / 1e6 for one in result["links"]["planes"]}
    check(got.keys() == wanted.keys() and len(got) == 8 and all(abs(got[key] - wanted[key]) < 1e-6 for key in got),
          f"page: load of {len(got)} groups of links and planes")
    switches = [one for one in result["links"]["switches"]]
    check(sum(one["data_bytes"] for one in switches) == sum(one["data_bytes"] for one in result["links"]["groups"] if one["group"] != "nic_up"),
          f"the {len(switches)} switches put on their cables what cables of switches carry")
    charts = {chart["id"]: chart for chart in json.loads(page.scripts[0])}
    for name, key, unit in (("switches", "data_bytes_max", 1e6), ("depths", "queue_bytes_max", 1e3)):
        chart = charts[name]
        got = {(chart["rows"][row], chart["labels"][column]): value for column, row, value in chart["cells"]}
        wanted = {(one["switch"], f"plane {one['plane']}"): one[key] / unit for one in switches}
        check(got.keys() == wanted.keys() and len(got) == 12 and all(abs(got[at] - wanted[at]) < 1e-6 for at in got), f"page: {name} of {len(got)} switches")
    for name, names in (("delays", ("one_way_[sa]*", "round_trip_p*")), ("ev-tails", ("*_ev_*",)), ("depth-tails", ("depth_*",))):
        drawn = {series["name"]: series["points"] for series in charts[name]["series"]}
        files = {path.stem: tail_points(path) for one in names for path in folder.glob(one + ".hdr")}
        check(drawn.keys() == files.keys() and len(files) > 1 and all(
            len(drawn[of]) == len(files[of]) and all(abs(a - b) <= 1e-8 * b for pair in zip(drawn[of], files[of]) for a, b in zip(*pair)) for of in files),
            f"page: {name} has the points of {sorted(files)}")
    deep = result["links"]["depth_series"]
    drawn = {series["name"]: series["points"] for series in charts["queues"]["series"]}
    wanted = {one["cable"]: [[at * deep["bin_ps"] / 1e6, most / 1e3] for at, most in enumerate(one["most_bytes"])] for one in deep["ports"]}
    check(drawn.keys() == wanted.keys() and len(wanted) == 8 and all(
        len(drawn[of][::2]) == len(wanted[of]) and all(abs(a - b) < 1e-6 for pair in zip(drawn[of][::2], wanted[of]) for a, b in zip(*pair)) for of in wanted)
        and max(most for line in wanted.values() for _, most in line) > 0, f"page: queues over time of {len(drawn)} ports")
    racks = result["racks"]
    of_messages = [one for one in result["messages"] if one["count"] > 0]
    check(sum(pair["count"] for pair in racks["pairs"]) == sum(one["count"] for one in of_messages) and
          max(pair["max_ns"] for pair in racks["pairs"]) == max(one["max_ns"] for one in of_messages), f"{len(racks['pairs'])} pairs of racks have all messages")
    got = {(cell[1], cell[0]): cell[2] for cell in charts["racks"]["cells"]}
    check(got == {(pair["from"], pair["to"]): pair["p50_ns"] / 1000 for pair in racks["pairs"]} and len(got) >= 8, "page: their medians")
    for group in result["links"]["groups"]:
        planes = [one for one in result["links"]["planes"] if one["group"] == group["group"]]
        check(sum(one["data_bytes"] for one in planes) == group["data_bytes"] and sum(one["cables"] for one in planes) == group["cables"],
              f"{group['group']}: planes add up")


def check_text(text, result):
    check(max(map(len, text.splitlines())) <= 100, "text is at most 100 columns wide")
    for name, reason in reasons(result):
        check(any(name in line and reason in line for line in text.splitlines()), f"text: {name} is unavailable: {reason}")
    share = f"{result['congestion']['marked_share'] * 100:.3f} %"
    check(re.search(r"ECN marking ratio +" + re.escape(share), text) is not None, f"text: marking ratio {share}")
    check(result["command"].split()[0] in text and result["run"]["digest"] in text, "text: command and digest")


# ---------------------------------------------------------------- readers of our own

def leaves(value, path="", labels=()):
    """(path, labels, value, reason) of each leaf, as docs/result.md lists them."""
    for key, each in value.items():
        name = f"{path}.{key}".lstrip(".")
        if key.endswith("_reason") or (labels and path.endswith("[]") and isinstance(each, str)):
            continue
        if isinstance(each, dict):
            yield from leaves(each, name, labels)
        elif isinstance(each, list):
            for index, element in enumerate(each):
                if isinstance(element, dict):
                    words = [(k, v) for k, v in element.items() if isinstance(v, str) and not k.endswith("_reason")]
                    yield from leaves(element, name + "[]", (*labels, *words, ("index", str(index))))
        else:
            yield name, labels, each, value.get(key + "_reason", "not of this run")


def number(value):
    return float(value)


SAMPLE = re.compile(r'([a-z_][a-z0-9_]*)(?:\{(.*)\})? (\S+)')
LABEL = re.compile(r'([a-z_][a-z0-9_]*)="((?:[^"\\]|\\.)*)"(?:,|$)')


def read_metrics(text):
    """OpenMetrics text of gauges as {(name, labels): value}; what is not in its form is refused."""
    lines, samples, family, families = text.split("\n"), {}, None, set()
    assert lines[-2:] == ["# EOF", ""], "ends with # EOF"
    for line in lines[:-2]:
        if line.startswith("# TYPE "):
            family, kind = line.split()[2:]
            assert family not in families and kind == "gauge", line
            families.add(family)
        elif not line.startswith("# HELP " + family + " "):
            name, labels, value = SAMPLE.fullmatch(line).groups()
            assert name == family, line
            pairs = LABEL.findall(labels or "")
            assert LABEL.sub("", labels or "") == "" and len(dict(pairs)) == len(pairs), line
            key = (name, frozenset((k, re.sub(r"\\(.)", lambda m: "\n" if m[1] == "n" else m[1], v)) for k, v in pairs))
            assert key not in samples, line
            samples[key] = number(value)
    return samples


BASE = {"ps": ("seconds", 1e-12), "ns": ("seconds", 1e-9), "us": ("seconds", 1e-6), "ms": ("seconds", 1e-3), "s": ("seconds", 1),
        "bps": ("bytes_per_second", 1 / 8)}
LAST = {"count": "number", "total": "all", "sum": "whole", "bucket": "part"}


def metric_of(path):
    """Its name in base units, and the factor that makes them."""
    names, factor, words = ["weft"], 1, re.sub(r"[^a-z0-9_.]", "", path.lower()).replace(".", "_").split("_")
    for at, word in enumerate(words):
        if word in BASE:
            factor *= BASE[word][1]
            word = "second" if names[-1] == "per" else BASE[word][0]
        elif at == len(words) - 1:
            word = LAST.get(word, word)
        names.append(word)
    return "_".join(name for name in names if name), factor


def check_with_promtool(text):
    promtool = shutil.which("promtool")
    if promtool is None:
        print("left out: metrics.txt is not checked by promtool (prometheus)")
        return
    done = subprocess.run([promtool, "check", "metrics"], input=text, capture_output=True, text=True, check=False)
    check((done.returncode, done.stdout + done.stderr) == (0, ""), f"promtool has nothing to say {(done.stdout + done.stderr)[-300:]}")


def check_help(result, text):
    """The field, and the words that the table of figures has of it (docs/result.md)."""
    help_of = dict(re.findall(r"# HELP (\S+) (.*)", text))
    fields = {path: help_of[metric_of(path)[0]] for path, _, value, _ in leaves(result) if value is not None and not isinstance(value, str)}
    check(all(path in words for path, words in fields.items()), "# HELP has the field of each")
    check(fields["congestion.marked_share"] == "ECN marking ratio: of the data packets sent (congestion.marked_share)", "with its name and meaning")
    said = [path for path, words in fields.items() if words != path]
    sections = {path.partition(".")[0] for path in said}
    check(len(said) > 40 and {"goodput", "headline", "congestion", "transport"} <= sections, f"# HELP explains {len(said)} figures, of {sections}")


def check_metrics(folder, result):
    text = (folder / "metrics.txt").read_text()
    got, wanted = read_metrics(text), {}
    run = [("scenario", result["scenario"]["name"]), ("digest", result["run"]["digest"])]
    for path, labels, value, reason in leaves(result):
        labels = (*run, *labels)
        name, factor = metric_of(path)
        if value is None:
            wanted[("weft_unavailable", frozenset((*labels, ("metric", name), ("reason", reason))))] = 1
        elif isinstance(value, str):
            wanted[(name + "_info", frozenset((*labels, ("value", value))))] = 1
        else:
            wanted[(name, frozenset(labels))] = value * factor
    close = got.keys() == wanted.keys() and all(abs(got[key] - wanted[key]) <= 1e-11 * abs(wanted[key]) for key in got)
    check(close and len(got) > 150, f"metrics.txt: the {len(wanted)} figures of the result, none else {set(got) ^ set(wanted)}")
    check_help(result, text)
    check_with_promtool(text)
    reader = "import sys; from prometheus_client.openmetrics.parser import text_string_to_metric_families as read\n" \
             "print(sum(len(family.samples) for family in read(sys.stdin.read())))"
    done = subprocess.run(["/usr/bin/python3", "-c", reader], input=text, capture_output=True, text=True)
    if "No module named" in done.stderr:
        print("left out: OpenMetrics is not read by Prometheus' own parser (python3-prometheus-client)")
    else:
        check(done.stdout.strip() == str(len(wanted)), f"Prometheus' own parser reads {done.stdout.strip()} samples {done.stderr[-200:]}")


def check_csv(folder, result):
    with open(folder / "result.csv", newline="") as file:
        head, *lines = csv.reader(file)
    check(head == ["field", "where", "value", "unit", "reason"] and {len(line) for line in lines} == {5}, "result.csv has five columns")
    wanted = list(leaves(result))
    check([line[0] for line in lines] == [path for path, *_ in wanted], f"result.csv: the {len(wanted)} leaves, in order")
    for line, (path, labels, value, reason) in zip(lines, wanted):
        place = line[1] == " ".join(f"{k}={v}" for k, v in labels)
        if value is None:
            fine = place and line[2:] == ["", "", "unavailable: " + reason]
        elif isinstance(value, str):
            fine = place and line[2:] == [value, "", ""]
        else:
            fine = place and abs(number(line[2]) - value) <= 1e-11 * abs(value) and line[4] == ""
        if not fine:
            check(False, f"result.csv: {line} is {value}")


def check_gnuplot(folder, result):
    if shutil.which("gnuplot") is None:
        print("left out: CSV is not read by gnuplot (gnuplot-nox)")
        return
    script = 'set datafile separator ","; set datafile columnheaders; stats "series.csv" using 3 nooutput; print sprintf("%.0f", STATS_sum); ' \
             'stats "series.csv" using (column("data_packets")) nooutput; print sprintf("%.0f", STATS_sum); set datafile separator whitespace; ' \
             'unset datafile columnheaders; stats "flow.hdr" using 1:2 nooutput; print sprintf("%.3f", STATS_max_x)'
    done = subprocess.run(["gnuplot", "-e", script], cwd=folder, capture_output=True, text=True)
    series = result["series"]
    wanted = [f"{sum(series['payload_bytes'])}", f"{sum(series['data_packets'])}", f"{result['flows']['max_ns'] / 1000:.3f}"]
    check(done.stderr.split() == wanted, f"gnuplot reads {done.stderr.split()}, written was {wanted}")


def check_histograms(folder, result):
    """An HdrHistogram's percentile distribution: levels and values rise, counts are the least that reach their level."""
    found = 0
    for row in [*result["messages"], dict(result["flows"], pair=None)]:
        path = folder / (f"message_{row['pair']}.hdr" if row["pair"] else "flow.hdr")
        check(path.exists() == (row["count"] > 0), f"{path.name}: there if there are values")
        if not path.exists():
            continue
        found += 1
        lines = path.read_text().splitlines()
        rows = [list(map(float, line.split())) for line in lines if re.match(r" *[0-9]", line)]
        values, levels, counts = ([line[at] for line in rows] for at in range(3))
        rising = all(list(of) == sorted(of) for of in (values, levels, counts))
        check(rising and levels[0] == 0 and levels[-1] == 1, f"{path.name}: {len(rows)} levels rise from 0 to 1")
        check(counts[-1] == row["count"] and all(count >= math.ceil(level * row["count"] - 1e-6) for level, count in zip(levels, counts)),
              f"{path.name}: counts reach their levels")
        check(all(abs(line[3] * (1 - line[1]) - 1) < 0.01 for line in rows[:-1]), f"{path.name}: 1 / (1 - level)")
        half = values[levels.index(0.5)] * 1000
        check(round(half) == row["p50_ns"] and round(values[-1] * 1000) == row["max_ns"], f"{path.name}: median and longest are those of the result")
        summary = dict(re.findall(r"(Mean|Max|Total count) += +([0-9.]+)", path.read_text()))
        check(int(float(summary["Mean"]) * 1000 + 0.5) in (row["mean_ns"], row["mean_ns"] + 1) and float(summary["Total count"]) == row["count"],
              f"{path.name}: mean and count are those of the result")
    check(found >= 2, f"{found} histograms")


def around(rows, rank):
    """Values between which the one of this rank is: that of the last level below it, and that of the first that reaches it."""
    below = [value for value, _, count in rows if count < rank]
    return (below[-1] if below else -1), next(value for value, _, count in rows if count >= rank)


def check_watched_histograms(folder, result):
    """Delays of packets, order, incast and depths: each file has the values that result.json has the quantiles of."""
    delays, wanted = result["delays"], {}
    for row in delays["rows"]: # one way by plane has no file
        name = {"one_way pair": "one_way_", "round_trip plane": "round_trip_plane_"}.get(f"{row['what']} {row['by']}")
        wanted |= {} if name is None else {name + row["which"]: (row, "ns", 1000)}
    for what in ("one_way", "round_trip"): # and of EVs the four slowest have one
        evs = [row for row in delays["rows"] if (row["what"], row["by"]) == (what, "ev")]
        evs.sort(key=lambda row: (-row["max_ns"], int(row["which"])))
        wanted |= {f"{what}_ev_slowest_{i + 1}": (row, "ns", 1000) for i, row in enumerate(evs[:4])}
        rest = [row for row in delays["evs_rest"] if row["what"] == what]
        packets = sum(row["count"] for row in delays["rows"] if (row["what"], row["by"]) == (what, "plane"))
        told, known = sum(row["evs"] for row in rest) + 16, delays["paths"]
        # an EV of which no round trip was taken is in none
        check(len(evs) == 16 and (told == known["used"] if what == "one_way" else known["evs"] - 4 <= told <= known["evs"]) and
              sum(row["count"] for row in evs + rest) == packets, f"{what}: {packets} packets, by plane and by EV")
    wanted |= {"order": (delays["order"], "packets", 1), "incast": (delays["incast"], "connections", 1)}
    wanted |= {f"packet_gap_{row['pair']}": (row, "ns", 1000) for row in delays["gaps"]["pairs"]}
    wanted |= {f"depth_{row['group']}": (row, "bytes", 1) for row in result["links"]["depths"]}
    files = {path.stem for path in folder.glob("*.hdr") if not path.name.startswith(("message_", "flow"))}
    check(files == {name for name, (row, _, _) in wanted.items() if row["count"] > 0} and len(files) > 5, f"histograms of {sorted(files)}")
    for name in sorted(files):
        row, unit, scale = wanted[name]
        text = (folder / f"{name}.hdr").read_text()
        rows = [(round(float(at) * scale), float(level), int(count)) for at, level, count in re.findall(r"^ *([0-9.]+) +([0-9.]+) +([0-9]+)", text, re.M)]
        bad = []
        for key, level in (("p50", 0.5), ("p95", 0.95), ("p99", 0.99), ("p999", 0.999)):
            least, most = around(rows, max(1, math.ceil(level * row["count"] - 1e-6)))
            bad += [] if least < row[f"{key}_{unit}"] <= most else [f"{key} {row[f'{key}_{unit}']} is not in {least} to {most}"]
        check(not bad, f"{name}.hdr: quantiles are those of the result {bad}")
        check("_ev_" not in name or text.rstrip().endswith(f"#[EV number {row.get('which')}]"), f"{name}.hdr: its EV")
        summary = dict(re.findall(r"(Mean|Max|Total count) += +([0-9.]+)", text))
        mean = round(float(summary["Mean"]) * scale, 6)
        check(rows[-1] == (row[f"max_{unit}"], 1, row["count"]) and int(float(summary["Total count"])) == row["count"] and
              -1 <= row[f"mean_{unit}"] - mean <= 1 and row[f"min_{unit}"] <= rows[0][0], f"{name}.hdr: least, mean, most and count, too")


def check_verdicts(folder, result):
    for profile, words in (("operator-default", ()), ("strict", ()), ("strict", ("--no-files",))):
        status, said, _ = weft.outcome("verdict", folder, "--profile", profile)
        got, text, errors = weft.outcome("report", folder, "--profile", profile, "-v", *words)
        check(got == status and errors == "", f"{profile}: status {got}, that of weft verdict is {status}")
        word = {0: "PASS", 1: "FAIL", 5: "NOT VALID"}[status]
        check(f"Verdict {word}, held against {profile}" in text, f"{profile}: {word}")
        row = r"^ *(?:met|missed) +(goodput of a NIC|retransmitted) +(\S+ \S+)"
        told = re.findall(row, said, re.M | re.I)
        check(told and re.findall(row, text, re.M | re.I) == told, f"{profile}: figures as weft verdict has them: {told}")
        check(("\nFiles\n" in text) == (not words), "--no-files writes none")
    partial = dict(result, run=dict(result["run"], partial=True, end="time limit"))
    remanifest.put(folder / "partial", "result.json", partial)
    status, text, _ = weft.outcome("report", folder / "partial", "-v")
    page = (folder / "partial" / "report.html").read_text()
    check(status == 0 and "PARTIAL RESULT" in text and ">PARTIAL RESULT<" in page, "a partial result is reported as one")
    check("Tails of latency: unavailable: there is no histogram" in page, "no histogram, no tails: said")


def check_share(folder):
    """Without an ideal, goodput is held against what a NIC can receive: its payload rate."""
    weft.outcome("sim", "incast", "--out", folder / "ideal", "--quiet")
    result = json.loads((folder / "ideal" / "result.json").read_text())
    result["headline"].update(ideal_ps=None, ideal_ps_reason="no bound", ideal_share=None, ideal_share_reason="no bound")
    (folder / "unbound").mkdir()
    (folder / "unbound" / "result.json").write_text(json.dumps(result))
    said = weft.outcome("report", "--no-manifest", folder / "unbound" / "result.json", "--plain", "--quiet")
    page = (folder / "unbound" / "report.html").read_text()
    share = round(100 * result["headline"]["payload_rate_share"])
    check(said[0] == 0 and f"reached {share} % of the payload rate of its NICs" in page, f"without an ideal, {share} % of the payload rate")


def check_refusals(folder):
    empty = folder / "empty"
    empty.mkdir()
    text, other, late = (remanifest.put(folder / name, "result.json", data) for name, data in (
        ("text", "no JSON"), ("other", {"schema": 1}), ("late", {"schema": 99, "weft": "weft", "run": {}, "scenario": {}})))
    (folder / "lone.json").write_text("{}")
    cases = [([], "no folder given"), ([empty], "no result.json"), ([folder / "none"], "No such file"), ([text], "result.json:1: "), ([folder / "lone.json"], "manifest.json: is missing"),
             ([other], "not a result of weft"), ([late], "version 99"), ([empty, empty], "unexpected argument"),
             ([empty, "--no-files", "--plain"], "--no-files"), ([empty, "--colour"], "unknown option"),
             ([other, "--profile", "nobody"], "not a result of weft")]
    ran = weft.outcome("report", folder / "unbound" / "result.json", "--no-manifest", "--out", folder / "new", "--quiet")
    check(ran[0] == 0 and (folder / "new" / "report.html").exists(), f"--out makes its folder: {ran[2].strip()}")
    before = sorted(folder.rglob("*"))
    for words, reason in cases:
        status, text, errors = weft.outcome("report", *words)
        check(status == 2 and text == "" and reason in errors and errors.count("\n") == 1, f"refused: {errors.strip()}")
    check(sorted(folder.rglob("*")) == before, "what is refused writes nothing")


def main(room):
    folder, scenario = room / "out", room / "small.yaml"
    scenario.write_text(SMALL)
    fault = "{kind: loss, at: {nic: 3, plane: 0}, probability: 2%, from: 20us, until: 60us}"
    check(weft.outcome("sim", scenario, "--out", folder, "--fault", fault)[0] == 0, "a run")
    result = json.loads((folder / "result.json").read_text())
    status, text, errors = weft.outcome("report", folder, "-v")
    check(status == 0 and errors == "", f"status {status} {errors}")
    check_text(text, result)
    full = check_page(folder, folder / "report.html", result, False)
    print("charts: " + ("Apache ECharts" if len(full.scripts) > 1 else "SVG only: this build has no npm"))
    plain_folder = room / "plain"
    plain_folder.mkdir()
    check(weft.outcome("report", folder, "--plain", "--quiet", "--out", plain_folder) == (0, "", ""), "--quiet says nothing")
    plain = check_page(folder, plain_folder / "report.html", result, True)
    check(len(plain.scripts) == 1, "--plain has data and no script")
    again = (folder / "report.html").read_bytes()
    weft.outcome("report", folder, "--quiet")
    check((folder / "report.html").read_bytes() == again, "the same result, the same page")
    check_metrics(folder, result)
    check_csv(folder, result)
    check_gnuplot(folder, result)
    check_histograms(folder, result)
    check_verdicts(folder, result)
    shutil.rmtree(folder / "partial")
    weft.outcome("sim", scenario, "--out", folder, "--force")
    left = {path.name for path in folder.iterdir()} & {"report.html", "metrics.txt", "result.csv"}
    check(not left, f"the next run takes the report of the last one away {left}")
    check_links(room / "links", scenario)
    check_share(room)
    check_refusals(room)


check_parts(main)
