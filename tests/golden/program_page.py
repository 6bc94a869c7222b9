#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a page says first, held against the result beside it: the verdict by its rule, three figures and their share of the best,
the picture with the links of cables.csv and how busy they were, what failed first; a fabric of 8,192 NICs stays small; colours of
words, of numbers on maps and of links can be told from their ground."""
import collections
import csv
import html
import json
import pathlib
import re
import tempfile

import page_laws
import remanifest
import weft
from weft import SOURCE, brightness, check, contrast

LOSSY = "{kind: loss, at: {t0: 2, up: 1, plane: 0}, probability: 2%}"
CONTRAST_TEXT, CONTRAST_SHAPE = 4.5, 3.0 # WCAG 2.1, level AA
PICTURE_LINES_MAX = 400


def made(folder, name, *words):
    """A run, its result, and its page without the library of charts."""
    out = folder / name
    weft.run("sim", *words, "--quiet", "--out", out, check=False)
    status, _, errors = weft.outcome("report", out, "--quiet", "--plain")
    check(status in (weft.DONE, weft.NOT_VALID), f"{name} has a page {errors}")
    return out, json.loads((out / "result.json").read_text()), (out / "report.html").read_text()


def words_of(page, pattern):
    found = re.search(pattern, page, re.S)
    return html.unescape(re.sub(r"<[^>]*>", "", found.group(1))).strip() if found else None


def badge(page):
    return words_of(page, r'class="badge [a-z]+"><span[^>]*>[^<]*</span><span>(.*?)</span>')


def shares(page):
    return [float(share) for share in re.findall(r'class="gauge"[^>]*><i style="width:([0-9.]+)%', page)]


# ---------------------------------------------------------------- the story

def check_lossy(folder):
    out, result, page = made(folder, "lossy", "rail-8x4", "--set", "watch.links=true", "--set", "watch.bin=20us", "--fault", LOSSY)
    culprit = result["culprits"]["list"][0]
    head = page[page.index("<main"):page.index("<section")]
    check(badge(page) == "DEGRADED" and "One lossy link" in words_of(page, r'class="headline">(.*?)</h2>'), "a lossy link is in the headline")
    check(words_of(page, r'id="culprit">(.*?)</b>') == culprit["name"] and html.escape(culprit["evidence"]) in head, f"with its place: {culprit['name']}")
    ideal, share, of, rate = best_of(result)
    across = max(result["messages"], key=lambda one: one["count"])
    even = across["p50_ns"] / across["p99_ns"] * 100
    got = shares(page)
    check(len(got) == 3 and all(abs(a - b) <= 0.06 for a, b in zip(got, (share, rate, even))), f"three figures, {got} % of the best")
    check(f"% of {of}<" in head and ideal in head, f"the {of}, and the ideal of the time")
    check(f"{share:.0f} % of its ideal" in words_of(page, r'class="headline">(.*?)</h2>'), "the headline has the first of them")
    items = re.findall(r'<li><span class="when">(.*?)</span><span><b>(.*?)</b>(.*?)</li>', page, re.S)
    since = culprit["since_ps"] / 1e6
    check(culprit["name"] in html.unescape(items[0][1]) and abs(float(items[0][0].split()[0]) - since) < 1e-3 * since and "Look at" in items[0][2],
          f"it failed first, at {items[0][0]}, with a place to look")
    dropped = sum(one["switches"] + one["hosts"] + one["cables"] for one in result["drops"])
    check(any(f"{dropped} packets dropped: random loss" in item[1] for item in items), "then what was dropped, and why")
    check(head.index('id="verdict"') < head.index('id="figures"') < head.index('id="fabric"') < head.index('id="first"') < head.index('id="chart-goodput"'),
          "verdict, figures, picture, what failed, charts: in this order")
    check(page.count('<details class="part"') == page.count("<section") > 5 and "<details open" not in page, "all else is folded")
    check_picture(out, result, page)
    check_laws(out / "report.html", page)


def check_laws(path, page):
    """This page can be read, and one that cannot is found."""
    found = page_laws.broken(path, ("verdict", "figures", "culprit"))
    check(found == [], f"can be read on a wide and a narrow screen {'; '.join(found[:5])}")
    spoils = {"grey that is too light": ("--soft: #515d6b", "--soft: #c7c0ca", "light: header/p.about"),
              "a badge like its ground": ("background: var(--tint);", "background: var(--word);", "badge"),
              "black on black in a map": (".c3 { background: var(--l3); color: var(--n3); }", ".c3 { background: #000000; color: #000000; }", "div.c3.cell"),
              "a colour of an element": ("</main>", '<p style="color:#161e27">x</p></main>', "a colour of its own")}
    for what, (old, new, word) in spoils.items():
        found = page_laws.faint(page.replace(old, new, 1))
        check(any(word in one for one in found), f"found: {what}: {'; '.join(found[:2])}")


def best_of(result):
    """What the page says is the best, in words, and the shares of it that time and goodput have: of the whole, where the result has that."""
    headline = result.get("headline", {})
    goodput = result["goodput"]["per_nic_bps"]
    if headline.get("ideal_share") is not None:
        return "the least that the same messages can take", headline["ideal_share"] * 100, "payload rate", goodput / headline["payload_rate_bps"] * 100
    return "its busiest line", result["collectives"][0]["busbw_share"] * 100, "line rate", goodput / result["network"]["nic_rate_bps"] * 100


def check_rest(folder):
    _, result, page = made(folder, "fine", "incast", "--set", "watch.links=true", "--set", "watch.bin=20us")
    check(badge(page) == "AS EXPECTED" and result["culprits"]["list"] == [] and "Nothing stands out" in page, "an incast is as expected")
    check("None, all the time: Data packets lost on cables." in page and 'id="chart-losses"' not in page, "a chart of zeros is a sentence")
    _, result, page = made(folder, "even", "moe-small-3-fidelities")
    check(result["planes"]["max_to_mean"] < 1.0005 and "planes were even." in page and "even within" not in page, "planes that are alike are even, without a number")
    _, _, page = made(folder, "stopped", "incast", "--set", "limits.time=50us")
    check(badge(page) == "PARTIAL RESULT", "one that was stopped is partial")
    _, _, page = made(folder, "dead", "incast", "--set", "watch.links=true", "--fault", "{kind: link_down, at: {nic: 18}}")
    check(badge(page) == "STALLED" or badge(page) == "PARTIAL RESULT", f"a receiver that is gone: {badge(page)}")
    _, _, page = made(folder, "blind", "incast")
    check("watch.links=true" in page[:page.index("<section")] and "<svg class=\"broad\" viewBox" in page, "without counted links it says how to get them")
    check_judged(folder)
    _, _, page = made(folder, "slow", "ring-barrier", "--set", "watch.links=true", "--fault", "{kind: slow, at: {nic: 5, plane: 0}, rate: 30%}")
    check(badge(page) == "DEGRADED" and "slow" in words_of(page, r'class="headline">(.*?)</h2>'), "a slow line is found")


def check_judged(folder):
    """What a profile asks is said as a figure, and where to look in words."""
    out, result, _ = made(folder, "judged", "rail-8x4", "--set", "watch.links=true", "--fault", LOSSY)
    weft.run("report", out, "--quiet", "--plain", "--profile", "operator-default")
    page = (out / "report.html").read_text()
    rows = [re.sub(r"<[^>]*>", " ", row) for row in re.findall(r"<li>(.*?)</li>", page[page.index('id="first"'):page.index("<section")], re.S)]
    least = f"at least {result['network']['nic_rate_bps'] * 0.9 / 1e9:.1f} Gb/s asked"
    check(any(least in row for row in rows) and not any("_bps" in row or "label=" in row for row in rows), f"{least}, and no name of a field: {rows}")


# ---------------------------------------------------------------- the picture

def picture_of(page):
    part = page[page.index('id="fabric"'):page.index('id="first"')]
    return [svg for svg in re.findall(r"<svg.*?</svg>", part, re.S)]


def check_picture(out, result, page):
    """Each link between switches of both planes, coloured by its busier direction."""
    busy, rows = {}, list(csv.DictReader(open(out / "cables.csv", encoding="utf-8")))
    for up, down in zip(rows[::2], rows[1::2]):
        found = re.fullmatch(r"(t0 \d+) up \d+ plane (\d+) > (t1 \d+)", up["cable"])
        if found is not None:
            most = max(int(one["bytes"]) * 8 / int(one["rate_bps"]) for one in (up, down))
            busy[found.group(2), f"{found.group(1)} – {found.group(3)}"] = most / (result["goodput"]["traffic_ps"] * 1e-12) * 100
    drawings = picture_of(page)
    check(len(drawings) == 4 and [svg.startswith('<svg class="broad"') for svg in drawings] == [True, False] * 2, "two planes, wide and narrow")
    for svg in drawings:
        plane = re.search(r'aria-label="plane (\d+)', svg).group(1)
        titles = dict(re.findall(r"<title>(t0 \d+ – t1 \d+): (\d+) % busy</title>", svg))
        wanted = {name: share for (of, name), share in busy.items() if of == plane}
        check(titles.keys() == wanted.keys() and len(wanted) == 32 and all(abs(int(titles[name]) - wanted[name]) <= 0.51 for name in wanted),
              f"plane {plane}: {len(titles)} links between switches are as busy as cables.csv has them")
        hot = re.findall(r'class="hot"[^>]*><title>(.*?):', svg)
        check(hot == (["t0 2 – t1 1"] if plane == "0" else []), f"plane {plane}: marked {hot}")
        shades = collections.Counter(shade for shade, share in re.findall(r'class="k(\d)"[^>]*><title>[^<]*?(\d+) % busy', svg) if int(share) not in range(19, 100, 20)
                                     and int(share) not in range(0, 101, 20) and int(shade) != 1 + int(share) // 20)
        check(not shades, f"plane {plane}: shades are by load {shades}")


def check_large(folder):
    big = folder / "big.yaml"
    big.write_text("name: big\nfabric: {nics: 8192, nics_per_host: 8, planes: 8, link_rate: 100Gb/s, nics_per_t0: 64, t1_count: 64}\n"
                   "transport: {kind: mrc}\ntraffic: {kind: permutation, bytes: 64KiB}\nwatch: {links: true}\n")
    out, result, page = made(folder, "big", big, "--fault", "{kind: loss, at: {t0: 77, up: 5, plane: 3}, probability: 20%}")
    drawings = picture_of(page)
    lines = [svg.count("<line") for svg in drawings]
    check(result["network"]["nics"] == 8192 and len(page) < 500_000, f"a page of 8,192 NICs has {len(page)} bytes")
    check(len(drawings) == 2 and 'aria-label="plane 3' in drawings[0] and all(100 < count <= PICTURE_LINES_MAX for count in lines), f"one plane is drawn, in {lines} lines")
    said = re.search(r"Not drawn: 7 planes that look alike; the busiest link of each was (?:between ([\d.]+) and )?([\d.]+) % busy\.<", page)
    check(said and (said[1] is None or float(said[1]) < float(said[2])), f"a range has two ends that differ, else it is one figure: {said and said[0]}")
    check("Not drawn: 7 planes that look alike" in page and ">t0 77<" in drawings[0] and ">t1 5<" in drawings[0], "what stands out has boxes of its own, and the other planes are told")
    check(all(re.findall(r'class="hot"[^>]*><title>(.*?):', svg) == ["t0 77 – t1 5"] for svg in drawings), "the lossy link is marked")
    links = [int(count) for count in re.findall(r"<title>[^<]*: (\d+) links", drawings[0])] + [1] * len(re.findall(r"<title>[^<]*: \d+ % busy", drawings[0]))
    check(sum(links) == result["network"]["links"] / 8, f"its lines stand for {sum(links)} links")


def check_hostile(folder):
    """Lines of cables.csv that nobody wrote so: a page all the same, or none, but no crash."""
    lines = (folder / "lossy" / "cables.csv").read_text().splitlines()
    up, down = "{} up 0 plane 0 > {},trunk_up,0,1,1,1,0,1", "{} > {} up 0 plane 0,trunk_down,0,1,1,1,0,1"
    pairs = [("t0 4294967295", "t1 4294967295"), ("t7 0", "t0 0"), ("t99 1", "t1 1"), ("4000000000.4000000000.4000000000", "1.1"), ("a" * 200, "b" * 200), ("nic 99999999", "t0 0"), ("", "")]
    more = [line for low, high in pairs for line in (up.format(low, high), down.format(high, low))]
    kinds = {"strange names": [lines[0], *more], "many tiers": [lines[0], *(line for tier in range(7) for at in range(40) for line in
                             (up.format(f"t{tier} {at}", f"t{tier + 1} {at}"), down.format(f"t{tier + 1} {at}", f"t{tier} {at}")))],
             "planes": [line.replace(",0,", ",4294967295,", 1) for line in lines], "half a line": [lines[0], lines[1][:40]], "no lines": [], "both": lines + more}
    for what, text in kinds.items():
        spoilt = folder / what.replace(" ", "-")
        spoilt.mkdir()
        (spoilt / "cables.csv").write_text("\n".join(text) + "\n")
        remanifest.put(spoilt, "result.json", (folder / "lossy" / "result.json").read_text())
        status, _, errors = weft.outcome("report", spoilt, "--quiet", "--plain")
        page = (spoilt / "report.html").read_text() if status == 0 else ""
        check(status == 0 and not re.search(r'="-?(?:nan|inf)', page), f"{what}: exit {status} {errors}")


def check_forms(folder):
    _, _, page = made(folder, "torus", "torus-4x4x4", "--set", "watch.links=true")
    svg = picture_of(page)[0]
    check(svg.count('class="box"') + svg.count('class="hotbox"') == 64 and "0.0.0 – 1.0.0" in svg, "a torus is a grid of 64 routers")
    graph = folder / "graph.yaml"
    graph.write_text((SOURCE / "apps" / "scenarios" / "dumbbell.yaml").read_text())
    _, _, page = made(folder, "dumbbell", graph, "--set", "watch.links=true")
    check(picture_of(page)[0].count("<rect") >= 4, "a dumbbell has its two switches")


# ---------------------------------------------------------------- colours

def faint(style):
    """What cannot be told from its ground, in each scheme of a screen."""
    schemes = [dict(re.findall(r"--([a-z0-9]+): (#[0-9a-f]{6})", scheme)) for scheme in re.findall(r":root \{(.*?)\}", style, re.S)[:2]]
    pairs = [(word, ground, CONTRAST_TEXT) for word in ("fore", "soft", "good", "bad", "warn", "link") for ground in ("back",)]
    pairs += [(word, "ground", CONTRAST_TEXT) for word in ("fore", "soft")]
    pairs += [(state, state + "back", CONTRAST_TEXT) for state in ("good", "bad", "warn")]
    pairs += [(f"n{i}", f"l{i}", CONTRAST_TEXT) for i in range(6)]
    pairs += [(state + "fill", "back", CONTRAST_SHAPE) for state in ("good", "bad", "warn")] + [("ghost", "back", CONTRAST_SHAPE)]
    found = [f"{number}: {a} on {b}" for number, of in enumerate(schemes) for a, b, least in pairs if contrast(of[a], of[b]) < least]
    for number, of in enumerate(schemes):
        shades = [brightness(of[f"l{i}"]) for i in range(6)]
        found += [] if shades in (sorted(shades), sorted(shades, reverse=True)) else [f"{number}: shades do not go one way"]
    return found


def check_colours():
    style = (SOURCE / "lib" / "page" / "assets" / "page.css").read_text()
    check(faint(style) == [], f"colours can be told from their ground {faint(style)}")
    check(faint(style.replace("--n5: #ffffff", "--n5: #000000", 1)) == ["0: n5 on l5"], "black on black is found")


with tempfile.TemporaryDirectory() as place:
    check_colours()
    check_lossy(pathlib.Path(place))
    check_rest(pathlib.Path(place))
    check_large(pathlib.Path(place))
    check_hostile(pathlib.Path(place))
    check_forms(pathlib.Path(place))
raise SystemExit(f"{check.failed} failed" if check.failed else 0)
