#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""weft pcap analyze --page: a page that parses and asks for nothing elsewhere, with the ten lines and one repair of the cause that comes first:
the packets that --json names are there in their order, what asks is marked, and the cross is on the side of the capture point where the
loss was. Names of files are text, and inputs stay."""
import json
import pathlib
import re
import sys
import tempfile
import xml.etree.ElementTree as tree

import weft
from weft import SOURCE, check

PCAPS = SOURCE / "pcaps"
SVG, TAP = "{http://www.w3.org/2000/svg}", 400
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
    links = [value for element in root.iter() for name, value in element.attrib.items() if name in ("src", "href")]
    check(not links and "url(http" not in out.read_text(), f"{capture.name}: nothing is asked for elsewhere")
    check("".join(root.find("body/pre").itertext()) == said, f"{capture.name}: the ten lines")
    return root


def check_ladder(name, capture, folder, side=None):
    """`side` of the tap on which a cross is wanted: -1 before it, 1 behind it."""
    root, told = page_of(capture, folder), json.loads(weft.outcome("pcap", "analyze", capture, "--json")[1])
    wanted = [one for one in told["repairs"] if one["repeat_packet"] and one["cause"] == told["finding"]["cause"]]
    if not wanted:
        wanted = [one for one in told["repairs"] if one["repeat_packet"]]
    svg = root.find(f".//{SVG}svg")
    if not wanted:
        return check(svg is None and "No repair was seen" in "".join(root.itertext()), f"{name}: no repair")
    repair = wanted[0]
    rows = {int(text.get("y")) - 4: int(text.text.split()[1]) for text in svg.iter(f"{SVG}text") if text.get("class") == "number"}
    numbers = [rows[y] for y in sorted(rows)]
    check(numbers == sorted(set(numbers)) and 5 <= len(numbers) <= 40, f"{name}: {len(numbers)} packets in their order")
    names = {number for number in (0 if repair["timer"] else repair["packet"], repair["repeat_packet"]) if number}
    check(names <= set(numbers), f"{name}: packets {sorted(names)} are there")
    times = {int(text.get("y")) - 4: text.text for text in svg.iter(f"{SVG}text") if text.get("class") == "time"}
    check(set(times) == set(rows), f"{name}: each packet has a time")
    arrows = {}
    for path in svg.iter(f"{SVG}path"):
        where = re.match(r"M(\d+) (\d+)H(\d+)$", path.get("d"))
        if where and path.get("class") in ("nak", "again", "first"):
            arrows[int(where.group(2))] = (path.get("class"), int(where.group(1)), int(where.group(3)))
    by_number = {rows[y]: arrow for y, arrow in arrows.items() if y in rows}
    check(by_number[repair["repeat_packet"]][0] == "again" and by_number[repair["repeat_packet"]][1] < TAP, f"{name}: the repeat goes to the receiver")
    is_mrc = told["streams"][repair["stream"]]["transport"] == "MRC"
    if not repair["timer"] and repair["packet"] and not is_mrc:
        check(by_number[repair["packet"]][0] == "nak" and by_number[repair["packet"]][1] > TAP, f"{name}: what asks comes from the receiver")
    crosses = [int(re.match(r"M(\d+)", path.get("d")).group(1)) for path in svg.iter(f"{SVG}path") if path.get("class") == "lost" and "H" not in path.get("d")]
    sides = {1 if x > TAP else -1 for x in crosses}
    check(side is None or (sides == {side} and len(crosses) == 1), f"{name}: crosses at {crosses}")
    return None


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
    check(root.find("body/p").text == str(odd), "a name with angles is text")
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
