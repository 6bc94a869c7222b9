#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""weft pcap analyze --page: a page that parses and asks for nothing elsewhere, in the look of reports, with the ten lines and one repair of the
cause that comes first, for a wide and a narrow screen: the packets that --json names are there in their order, what asks is marked, and the
cross is on the side of the capture point where the loss was. Names of files are text, no name of a field is shown, and inputs stay."""
import json
import pathlib
import re
import sys
import tempfile
import xml.etree.ElementTree as tree

import page_laws
import weft
from weft import SOURCE, check

PCAPS = SOURCE / "pcaps"
TAPS = {"broad": 545, "narrow": 176}
SCENARIO = """name: lost
fabric: {{nics: 8, nics_per_t0: 4, t1_count: 2, link_rate: 25Gb/s}}
transport: {{kind: rc, payload: 1024B}}
cc: {{algorithm: dcqcn}}
traffic: {{kind: flows, flows: [{{from: 0, to: 4, bytes: 512KiB}}]}}
faults: [{{kind: loss, at: {{nic: {0}}}, probability: 1%}}]
taps: [{{at: {{nic: {1}}}}}]
"""


def page_of(capture, folder):
    out = folder / "page.html"
    status, said, error = weft.outcome("pcap", "analyze", capture, "--page", out, "--force")
    if status != 0:
        raise RuntimeError(error)
    root = tree.parse(out).getroot()
    links = [value for element in root.iter() for name, value in element.attrib.items() if name in ("src", "href") and value != "data:,"]
    check(not links and "url(http" not in out.read_text(), f"{capture.name}: nothing is asked for elsewhere")
    lines = [element.text for element in root.find(".//*[@id='verdict']/div")]
    check(lines == said.splitlines(), f"{capture.name}: the ten lines")
    good = root.find(".//*[@id='verdict']").get("class") == "card verdict good"
    check(good == said.startswith("no fault found"), f"{capture.name}: its look is that of what was found")
    names = re.findall(r"\b[a-z]+_[a-z_]+\b", "".join(root.find("body/main").itertext()))
    check(not names, f"{capture.name}: names of fields are no words: {names[:3]}")
    style = root.find("head/style").text
    check("prefers-color-scheme: dark" in style and root.find("head/meta[@name='viewport']") is not None, f"{capture.name}: dark and narrow screens")
    broken = page_laws.broken(out, ("verdict",))
    check(broken == [], f"{capture.name}: can be read on a wide and a narrow screen {'; '.join(broken[:5])}")
    return root


def at(element, name):
    return float(element.get(name))


def check_ladder(name, capture, folder, side=None):
    """`side` of the tap on which a cross is wanted: -1 before it, 1 behind it."""
    root, told = page_of(capture, folder), json.loads(weft.outcome("pcap", "analyze", capture, "--json")[1])
    wanted = [one for one in told["repairs"] if one["repeat_packet"] and one["cause"] == told["finding"]["cause"]]
    if not wanted:
        wanted = [one for one in told["repairs"] if one["repeat_packet"]]
    if not wanted:
        check(root.find(".//svg") is None and "No repair was seen" in "".join(root.itertext()), f"{name}: no repair")
        return
    for screen, tap in TAPS.items():
        check_drawn(f"{name}, {screen}", root.find(f".//svg[@class='{screen}']"), tap, told, wanted[0], side)


def check_drawn(name, svg, tap, told, repair, side):
    rows = {at(text, "y") - 4: int(text.text.split()[-1]) for text in svg.iter("text") if text.get("text-anchor") == "start"}
    numbers = [rows[y] for y in sorted(rows)]
    check(numbers == sorted(set(numbers)) and 5 <= len(numbers) <= 40, f"{name}: {len(numbers)} packets in their order")
    names = {number for number in (0 if repair["timer"] else repair["packet"], repair["repeat_packet"]) if number}
    check(names <= set(numbers), f"{name}: packets {sorted(names)} are there")
    times = {at(text, "y") - 4: text.text for text in svg.iter("text") if text.get("text-anchor") == "end"}
    check(set(times) == set(rows), f"{name}: each packet has a time")
    lines = [line for line in svg.iter("line") if line.get("class").startswith("rung")]
    by_number = {rows[at(line, "y1")]: (line.get("class"), at(line, "x1")) for line in lines if at(line, "y1") in rows}
    look, begin = by_number[repair["repeat_packet"]]
    check(look == "rung again" and begin < tap, f"{name}: the repeat goes to the receiver")
    is_mrc = told["streams"][repair["stream"]]["transport"] == "MRC"
    if not repair["timer"] and repair["packet"] and not is_mrc:
        look, begin = by_number[repair["packet"]]
        check(look == "rung asks" and begin > tap, f"{name}: what asks comes from the receiver")
    crosses = [line for line in svg.iter("line") if line.get("class") == "cross lost"]
    sides = {1 if at(line, "x1") > tap else -1 for line in crosses}
    check(side is None or (sides == {side} and len(crosses) == 2), f"{name}: a cross on side {sides}")
    width = float(svg.get("viewBox").split()[2])
    check(all(0 <= at(line, x) <= width for line in svg.iter("line") for x in ("x1", "x2")), f"{name}: all is inside")


def check_sides(folder):
    for name, at, tap, side in (("behind", 4, 0, 1), ("before", 0, 4, -1)):
        text, capture = folder / f"{name}.yaml", folder / f"{name}.pcapng"
        text.write_text(SCENARIO.format(at, tap), encoding="utf-8")
        status, _, error = weft.outcome("sim", text, "--pcap", capture)
        check(status == 0, f"{name}: weft sim {error}")
        check_ladder(f"loss {name}", capture, folder, side)


def check_names(folder):
    odd = folder / "a <b> & c.pcapng"
    odd.write_bytes((PCAPS / "rocev2-cnp.pcapng").read_bytes())
    root = page_of(odd, folder)
    check(root.find("body/header/p").text == str(odd), "a name with angles is text")
    for words in ([odd, "--page", odd, "--force"], ["-", "--page", folder / "x"]):
        status, out, error = weft.outcome("pcap", "analyze", *words)
        check(status == 2 and out == "" and error.count("\n") == 1, f"refused: {error.strip()[:100]}")
    check(odd.read_bytes() == (PCAPS / "rocev2-cnp.pcapng").read_bytes(), "inputs are as they were")


with tempfile.TemporaryDirectory() as room:
    for own in ("rocev2-go-back-n", "trim-last-hop", "loss-timer", "clean-write", "backup-path"):
        check_ladder(own, PCAPS / f"{own}.pcapng", pathlib.Path(room))
    check_sides(pathlib.Path(room))
    check_names(pathlib.Path(room))
sys.exit(1 if check.failed else 0)
