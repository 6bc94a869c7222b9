#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""weft pcap diff: two taps of one run agree with what the simulator counted between them, whichever is named first; a clock that
is set off and drifts is found within the error that is told; copies, losses and damage that are made in the second file are
counted; captures of two events are compared by their figures."""
import json
import pathlib
import re
import sys
import tempfile

import weft
from weft import SOURCE, check

SCENARIO = """\
# SPDX-License-Identifier: Apache-2.0
name: two-ends
seed: {seed}
fabric: {{nics: 8, planes: 1, link_rate: 100Gb/s, nics_per_t0: 4, t1_count: 2}}
{transport}
traffic:
  kind: flows
  flows:
    - {{from: 0, to: 4, bytes: 4MiB}}
    - {{from: 4, to: 0, bytes: 2MiB, start: 20us}}
taps:
  - {{at: {{nic: {nic}}}}}
"""
FAULTS = """\
faults:
  - {{kind: loss, at: {{t0: 0, up: 0, plane: 0}}, probability: {loss}}}
  - {{kind: loss, at: {{t0: 0, up: 1, plane: 0}}, probability: {loss}}}
"""
RC = "transport: {kind: rc}\ncc: {algorithm: dcqcn}"


def ran(*words):
    done = weft.run(*words, text=False)
    return done.returncode, done.stdout.decode(), done.stderr.decode()


def captures(folder, seed, transport, loss):
    """Both ends of one run, and what the simulator counted."""
    paths = []
    for nic in (0, 4):
        text = folder / f"nic{nic}.yaml"
        text.write_text(SCENARIO.format(seed=seed, transport=transport, nic=nic) + (FAULTS.format(loss=loss) if loss else ""))
        paths.append(folder / f"nic{nic}.pcapng")
        _, _, error = ran("sim", text, "--quiet", "--force", "--pcap", paths[-1], "--out", folder / "result")
        if error:
            print(error)
    return *paths, json.loads((folder / "result" / "result.json").read_text())


def blocks(data):
    """(offset, whole length) of each packet block."""
    at = 0
    while at < len(data):
        length = int.from_bytes(data[at + 4:at + 8], "little")
        if data[at:at + 4] == b"\6\0\0\0":
            yield at, length
        at += length


def with_clock(path, out, offset_ns, drift_ppm):
    """The capture by a clock that is set off, and drifts from its first packet on."""
    data = bytearray(path.read_bytes())
    first = None
    for at, _ in blocks(data):
        stamp = int.from_bytes(data[at + 12:at + 16], "little") << 32 | int.from_bytes(data[at + 16:at + 20], "little")
        first = stamp if first is None else first
        stamp += offset_ns + round((stamp - first) * drift_ppm * 1e-6)
        data[at + 12:at + 16] = (stamp >> 32).to_bytes(4, "little")
        data[at + 16:at + 20] = (stamp & 0xffffffff).to_bytes(4, "little")
    out.write_bytes(data)
    return out


def number(text):
    return int(text.replace(",", ""))


def told(out):
    """{way: (entered, lost)}, offset and error in ns, drift in ppm."""
    ways = {way: (number(entered), number(lost)) for way, entered, lost in
            re.findall(r"^  (. to .): ([\d,]+) packets entered, ([\d,]+) lost", out, re.M)}
    units = {"ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9}
    clock = re.search(r"clock of B less that of A: (-?)([\d.,]+) (\w+), \+- ([\d.,]+) (\w+)", out)
    drift = re.search(r"drifts by (-?[\d.]+) ppm", out)
    offset = (-1 if clock[1] else 1) * float(clock[2].replace(",", "")) * units[clock[3]] if clock else None
    return ways, offset, float(clock[4]) * units[clock[5]] if clock else None, float(drift[1]) if drift else 0


def check_truth(folder):
    for seed, transport, loss in ((1, RC, 0.005), (2, RC, 0.02), (3, "", 0.005), (4, "", 0.02), (5, RC, 0)):
        a, b, result = captures(folder, seed, transport, loss)
        ways, offset, error, _ = told(ran("pcap", "diff", a, b)[1])
        dropped = result["conservation"]["dropped"]
        lost = sum(way[1] for way in ways.values())
        check(lost == dropped, f"seed {seed}: {dropped} packets were dropped, {lost} of {sum(way[0] for way in ways.values())} lost between")
        check(offset is not None and abs(offset) <= error < 5000, f"the clocks are one: {offset} ns, +- {error} ns")
        turned = told(ran("pcap", "diff", b, a)[1])[0]
        check((turned["A to B"], turned["B to A"]) == (ways["B to A"], ways["A to B"]), "the other way round it says the same")


def check_clocks(folder):
    a, b, _ = captures(folder, 7, RC, 0.002)
    plain = told(ran("pcap", "diff", a, b)[1])
    for offset_ns, drift_ppm in ((5_000_000, 0), (-3_000_000, 0), (2_000_000_000, 0), (40_000, 20_000), (-70_000, -15_000)):
        out = ran("pcap", "diff", a, with_clock(b, folder / "off.pcapng", offset_ns, drift_ppm))[1]
        ways, offset, error, drift = told(out)
        printed = 0.06 * abs(offset_ns)  # of three figures, or one behind the point
        check(ways == plain[0] and abs(offset - offset_ns) <= error + printed, f"off by {offset_ns} ns and {drift_ppm} ppm: {offset} +- {error} ns, {drift} ppm")
        check(abs(drift - drift_ppm) <= 0.1 * abs(drift_ppm) and error < 5000, "and its drift")


# In the second file: some packets are left out, some are there twice, one is damaged.
def check_made(folder):
    a, b, _ = captures(folder, 9, RC, 0)
    plain = told(ran("pcap", "diff", a, b)[1])
    data, out, places = b.read_bytes(), bytearray(), list(blocks(b.read_bytes()))
    end, left, twice = 0, {300, 301, 700}, {400, 800, 801, 802}
    for index, (at, length) in enumerate(places):
        out += data[end:at]
        block = bytearray(data[at:at + length])
        if index == 500:
            captured = int.from_bytes(block[20:24], "little")
            block[28 + captured - 1] ^= 1
        out += b"" if index in left else block * (2 if index in twice else 1)
        end = at + length
    made = folder / "made.pcapng"
    made.write_bytes(out + data[end:])
    text = ran("pcap", "diff", a, made)[1]
    ways = told(text)[0]
    lost, doubled = sum(way[1] for way in ways.values()), sum(map(number, re.findall(r"([\d,]+) came out doubled", text)))
    missed = sum(map(number, re.findall(r"([\d,]+) came out that did not enter", text)))
    check(sum(way[1] for way in plain[0].values()) == 0 and lost + missed + doubled == 3 + 4,
          f"3 are left out and 4 doubled: {lost} lost, {missed} not seen entering, {doubled} came out doubled")
    check(text.count("1 were damaged") <= 1 and ("damaged" in text or "bad ICRCs" in text), "one is damaged")
    for index, (at, _) in enumerate(places):
        if index % 2:
            data = data[:at + 16] + ((int.from_bytes(data[at + 16:at + 20], "little") + 1_000_000) & 0xffffffff).to_bytes(4, "little") + data[at + 20:]
    made.write_bytes(data)
    check("no two clocks explain" in ran("pcap", "diff", a, made)[1], "times that no clocks explain: two events")


def check_events():
    pcaps = SOURCE / "pcaps"
    status, out, _ = ran("pcap", "diff", pcaps / "rocev2-clean-write.pcapng", pcaps / "rocev2-go-back-n.pcapng")
    check(status == 0 and "no fault found" in out and "B (" in out and "loss BEFORE the capture point" in out, "two events: their causes and figures")
    check("No packet is in both" in ran("pcap", "diff", pcaps / "clean-write.pcapng", pcaps / "rocev2-go-back-n.pcapng")[1], "none is in both")
    check(re.search(r"^  NAKs +0 +2 +new$", out, re.M) is not None, "a figure of each")
    status, out, _ = ran("pcap", "diff", pcaps / "ipv4.pcapng", pcaps / "ipv4.pcapng")
    check(status == 0 and "the same in both: 30 figures of 30" in out and " 0 lost" in out, "a capture does not differ from itself")
    for words in ([], [pcaps / "ipv4.pcapng"], [pcaps / "ipv4.pcapng", "-"], [pcaps / "ipv4.pcapng", "absent"], ["a", "b", "c"]):
        status, out, error = ran("pcap", "diff", *words)
        check(status == 2 and out == "" and error.count("\n") == 1, f"refused: {error.strip()[-100:]}")


with tempfile.TemporaryDirectory() as name:
    check_truth(pathlib.Path(name))
    check_clocks(pathlib.Path(name))
    check_made(pathlib.Path(name))
    check_events()
sys.exit(1 if check.failed else 0)
