#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""weft pcap analyze of traffic by time: eight senders to one NIC meet at its tap, as the scenario says, with RoCE and MRC; senders that do not meet are no
incast; one stamp for each burst, or coarse ones, withhold what is finer, and why. And of classes: one that is rewritten along the way, in the bytes of a
capture, is told with its packets, and between two captures. And of rules of the protocols: each byte that is changed in a capture of headers breaks
one, which is told with its packet."""
import csv
import json
import pathlib
import struct
import sys
import tempfile

import weft
from weft import check

PACKET = 6
FABRIC = "fabric: {nics: 9, nics_per_t0: 9, t1_count: 0, planes: 1, link_rate: 100Gb/s}\n"


def ran(*words):
    done = weft.run(*words)
    if done.returncode != 0:
        print(" ".join(map(str, words)), done.returncode, done.stderr)
    return done.stdout


def captured(folder, name, flows, kind, tap=0, wire="wire: {ip: 4, identification: sent}\n", more=""):
    """A capture at one NIC of these flows, and the log of what passed."""
    text, path, log = folder / f"{name}.yaml", folder / f"{name}.pcapng", folder / f"{name}.csv"
    rows = ", ".join(f"{{from: {a}, to: {b}, bytes: {size}B, start: {start}us}}" for a, b, size, start in flows)
    control = "cc: {algorithm: dcqcn}\n" if kind == "rc" else ""
    text.write_text(f"name: {name}\nseed: 3\n{FABRIC}transport: {{kind: {kind}}}\n{control}{wire}"
                    f"traffic: {{kind: flows, flows: [{rows}]}}\ntaps: [{{at: {{nic: {tap}}}}}]\n{more}", encoding="utf-8")
    ran("sim", text, "--quiet", "--pcap", path, "--log", log, "--force")
    return path, log


def told(path):
    return json.loads(ran("pcap", "analyze", path, "--json"))


def bins(report, target, bin_ns):
    return next(row for row in report["bursts"] if row["target"] == target and row["bin_ns"] == bin_ns)


def blocks(data):
    at = 0
    while at < len(data):
        length = int.from_bytes(data[at + 4:at + 8], "little")
        yield data[at:at + length]
        at += length


def stamp_of(block):
    return int.from_bytes(block[12:16], "little") << 32 | int.from_bytes(block[16:20], "little")


def packets(path):
    """(stamp, frame) of each packet."""
    for block in blocks(path.read_bytes()):
        if int.from_bytes(block[:4], "little") == PACKET:
            yield stamp_of(block), block[28:28 + int.from_bytes(block[20:24], "little")]


def rewritten(path, to, change):
    """The capture with each packet block as `change` (of its number and itself) has it."""
    number, out = 0, b""
    for block in blocks(path.read_bytes()):
        if int.from_bytes(block[:4], "little") == PACKET:
            number += 1
            block = change(number, block)
        out += block
    to.write_bytes(out)
    return to


def at_stamp(block, stamp):
    return block[:12] + (stamp >> 32).to_bytes(4, "little") + (stamp & 0xFFFFFFFF).to_bytes(4, "little") + block[20:]


# ---------------------------------------------------------------- incast


def check_against_frames(path, report, target):
    """Peaks and senders of the three widths, counted from the frames of the capture anew."""
    address = bytes(map(int, target.split(".")))
    for bin_ns in (1000, 10000, 100000):
        sizes, senders, numbers = {}, {}, {}
        for number, (stamp, frame) in enumerate(packets(path), 1):
            if frame[30:34] != address:
                continue
            at, payload = stamp // bin_ns, frame[42] & 0x1F in range(0x06, 0x0C)  # a WRITE, trimmed or not
            sizes[at] = sizes.get(at, 0) + len(frame)
            numbers.setdefault(at, number)
            if payload:
                senders.setdefault(at, set()).add(frame[26:30])
        row = bins(report, target, bin_ns)
        peak = max(sizes.values())
        first = min(at for at, size in sizes.items() if size == peak)
        most = max(len(found) for found in senders.values())
        where = min(at for at, found in senders.items() if len(found) == most)
        check(abs(row["peak_bps"] - peak * 8e9 / bin_ns) < 1 and row["peak_first_packet"] == numbers[first], f"{path.name}: {bin_ns} ns: peak of {peak} B")
        check(row["senders_max"] == most and row["senders_first_packet"] == numbers[where], f"{path.name}: {bin_ns} ns: {most} senders meet")


def check_incast(folder):
    for kind in ("rc", "mrc"):
        path, _ = captured(folder, f"incast-{kind}", [(nic, 0, 262144, 1) for nic in range(1, 9)], kind)
        report, said = told(path), ran("pcap", "analyze", path)
        check(bins(report, "198.18.0.1", 10000)["senders_max"] == 8, f"{kind}: eight senders meet within 10 us")
        check("\nincast: 8 senders to 198.18.0.1 within 10 us (packets " in said, f"{kind}: which is said: {said.splitlines()[-3:]}")
        check_against_frames(path, report, "198.18.0.1")
        check(all(row["senders_max"] in (0, 1) for row in report["bursts"] if row["target"] != "198.18.0.1"), f"{kind}: nowhere else")
        alone, _ = captured(folder, f"one-by-one-{kind}", [(nic, 0, 262144, nic * 400) for nic in range(1, 9)], kind)
        check("incast" not in ran("pcap", "analyze", alone) and bins(told(alone), "198.18.0.1", 10000)["senders_max"] == 1,
              f"{kind}: one after the other is no incast")
    ring, _ = captured(folder, "ring", [(nic, (nic + 1) % 9, 262144, 1) for nic in range(9)], "mrc")
    check("incast" not in ran("pcap", "analyze", ring), "a ring has no incast")
    return path


def check_planes(folder):
    """Frames over eight cables of one NIC may have one stamp; those of one cable have it where a NIC stamps bursts, and that is told."""
    path, _ = captured(folder, "planes", [(1, 0, 1 << 20, 1)], "mrc")
    scenario = folder / "planes.yaml"
    scenario.write_text(scenario.read_text(encoding="utf-8").replace("planes: 1", "planes: 8"), encoding="utf-8")
    ran("sim", scenario, "--quiet", "--pcap", path, "--force")
    report, said = told(path), ran("pcap", "analyze", path)
    check(report["trust"]["same_stamp"] * 4 > report["totals"]["frames"] and "between bursts" not in said, f"eight planes have {report['trust']['same_stamp']} equal stamps")
    stamps = [stamp for stamp, _ in packets(path)]
    burst = rewritten(path, folder / "burst.pcapng", lambda number, block: at_stamp(block, stamps[(number - 1) // 64 * 64]))
    check(" have the stamp of the one before on their cable, as of bursts: times below are between bursts\n" in ran("pcap", "analyze",
                                                                                                                    burst), "bursts are told")


def check_withheld(folder, path):
    bursts = rewritten(path, folder / "bursts.pcapng", lambda _, block: at_stamp(block, stamp_of(block) - stamp_of(block) % 7013))
    rows = [row for row in told(bursts)["bursts"] if row["target"] == "198.18.0.1"]
    check([row["withheld"] is None for row in rows] == [False, False, True], f"bursts that share stamps 7 us apart: {[row['withheld'] for row in rows]}")
    check(all(row["peak_bps"] is None and row["senders_max"] is None for row in rows if row["withheld"]), "nothing is told of what is withheld")
    said = ran("pcap", "analyze", bursts, "--table")
    check("bins of 1 us are withheld: bursts share their stamps" in said, "and why, in the table")
    coarse = rewritten(path, folder / "coarse.pcapng", lambda _, block: at_stamp(block, stamp_of(block) // 1000000 * 1000000))
    rows = [row for row in told(coarse)["bursts"] if row["target"] == "198.18.0.1"]
    check(all(row["withheld"] == "stamps are coarser" for row in rows) and "incast" not in ran("pcap", "analyze", coarse),
          "stamps of milliseconds tell nothing")
    page = folder / "page.html"
    ran("pcap", "analyze", path, "--page", page)
    check("<h2>Traffic by time</h2>" in page.read_text(encoding="utf-8") and "8 senders at a time" in page.read_text(encoding="utf-8"), "the page has it")
    rows = list(csv.DictReader(ran("pcap", "analyze", path, "--csv", "--rows", "bursts").splitlines()))
    check(len(rows) == 27 and {row["bin_ns"] for row in rows} == {"1000", "10000", "100000"}, f"{len(rows)} rows of CSV")


# ---------------------------------------------------------------- classes


def with_dscp(block, dscp):
    """IPv4: the DSCP, and the sum of the header."""
    frame = bytearray(block)
    ip = 28 + 14
    frame[ip + 1] = dscp << 2 | frame[ip + 1] & 3
    frame[ip + 10:ip + 12] = b"\0\0"
    total = sum(struct.unpack(">10H", bytes(frame[ip:ip + 20])))
    total = (total & 0xFFFF) + (total >> 16)
    total = (total & 0xFFFF) + (total >> 16)
    frame[ip + 10:ip + 12] = (0xFFFF - total).to_bytes(2, "big")
    return bytes(frame)


def check_classes(folder):
    for kind in ("rc", "mrc"):
        path, _ = captured(folder, f"classes-{kind}", [(0, 4, 262144, 1)], kind)
        check(told(path)["dscp_changes"] == [] and "class changed" not in ran("pcap", "analyze", path), f"{kind}: no class changes")
        frames = [frame for _, frame in packets(path)]
        data = [number for number, frame in enumerate(frames, 1) if len(frame) > 200]
        answers = [number for number, frame in enumerate(frames, 1) if len(frame) <= 200]
        begin, end = data[len(data) // 2], data[len(data) // 2 + 7]
        last = answers[-1]

        def change(number, block, begin=begin, end=end, last=last):
            is_data = int.from_bytes(block[20:24], "little") > 200
            return with_dscp(block, 33) if (is_data and begin <= number < end) or number == last else block
        planted = rewritten(path, folder / f"planted-{kind}.pcapng", change)
        rows = told(planted)["dscp_changes"]
        found = [(row["kind"], row["packet"], row["packet_before"]) for row in rows if row["kind"] == "data"]
        before = data[data.index(begin) - 1], data[data.index(end) - 1]
        check(found == [("data", begin, before[0]), ("data", end, before[1])], f"{kind}: {found} of packets {begin} to {end}")
        of_answers = [row for row in rows if row["kind"] != "data"]
        check([(row["packet"], row["to_dscp"]) for row in of_answers] in ([(last, 33)], []) and (of_answers or kind == "mrc"), f"{kind}: answers: {of_answers}")
        said = ran("pcap", "analyze", planted)
        check(f"at packet {rows[0]['packet']} (the one before: {rows[0]['packet_before']})" in said, f"{kind}: it is said: {rows[0]}")
        check_two_ends(folder, path, kind, rows[0]["from_dscp"])


def check_two_ends(folder, first, kind, dscp):
    """The same run at the other end, where five data packets came with another class."""
    second, _ = captured(folder, f"second-{kind}", [(0, 4, 262144, 1)], kind, tap=4)
    psns = [frame[51:54] for _, frame in packets(first) if len(frame) > 200]
    chosen = psns[20:25]

    def change(_, block):
        return with_dscp(block, 33) if len(block) > 300 and block[28 + 51:28 + 54] in chosen else block
    between = ran("pcap", "diff", first, rewritten(second, folder / f"other-{kind}.pcapng", change))
    number = next(number for number, (_, frame) in enumerate(packets(first), 1) if len(frame) > 200 and frame[51:54] == chosen[0])
    wanted = f"    5 got another DSCP\n    the first of these is packet {number} of A: DSCP {dscp} to 33\n"
    check(wanted in between, f"{kind}: between two captures: {wanted.splitlines()[-1].strip()}")
    check("another DSCP" not in ran("pcap", "diff", first, second), f"{kind}: and none where none is")


# ---------------------------------------------------------------- rules

BTH, RETH = 42, 54  # of a frame of IPv4; MRC has its METH between
PLANTS = [  # of which transport, which data packet or (negative) answer, what of it is changed, the rule
    ("rc", -2, lambda f: put(f, BTH + 9, 3, 0x10000), "ack_of_unsent"),
    ("rc", -3, lambda f: put(f, RETH + 1, 3, 9), "msn_going_back"),
    ("rc", 5, lambda f: put(f, BTH, 1, 0x0A), "first_without_last"),
    ("rc", 5, lambda f: put(f, BTH, 1, 0x01), "opcode_order"),
    ("rc", 0, lambda f: put(f, RETH + 12, 4, 1000), "length_of_message"),
    ("rc", 0, lambda f: put(f, RETH + 12, 4, 0x90000000), "length_above_2gib"),
    ("rc", 5, lambda f: put(f, BTH + 1, 1, 0x20), "padding"),
    ("rc", 5, lambda f: put(f, BTH, 1, 0x64), "transport_of_qp"),
    ("rc", 5, lambda f: put(f, BTH, 1, 0x1E), "opcode_reserved"),
    ("rc", 5, lambda f: put(f, BTH + 1, 1, 0x05), "version_of_bth"),
    ("rc", -2, lambda f: put(f, RETH, 1, 0x7F), "syndrome_reserved"),
    ("mrc", 5, lambda f: put(f, BTH, 1, 0xC8), "middle_without_first"),
    ("mrc", 5, lambda f: put(f, BTH + 14, 2, 77), "msn_of_packets"),
    ("mrc", -2, lambda f: put(f, BTH + 12 + 4, 4, 0x12345), "ev_unknown"),
    ("mrc", -2, lambda f: put(f, BTH + 12 + 13, 3, 0x8000), "ack_of_unsent"),
]


def put(frame, at, count, value):
    return frame[:at] + value.to_bytes(count, "big") + frame[at + count:]


def planted_in(block, change):
    """The frame as `change` has it, less the last byte of its ICRC."""
    captured = int.from_bytes(block[20:24], "little")
    return block[:20] + (captured - 1).to_bytes(4, "little") + block[24:28] + change(block[28:])


def check_rules(folder):
    """Without an ICRC, so that what is changed counts as sent; what a changed opcode breaks beside is of the same packet or the next one."""
    for kind in ("rc", "mrc"):
        path, _ = captured(folder, f"rules-{kind}", [(0, 4, 40960, 1), (0, 4, 40960, 60), (0, 4, 40960, 120)], kind, more="capture: {snap: 128B}\n")
        check(all(row["packets"] == 0 for row in told(path)["rules"]), f"{kind}: no rule is broken")
        numbers = {True: [], False: []}
        for number, block in enumerate((block for block in blocks(path.read_bytes()) if int.from_bytes(block[:4], "little") == PACKET), 1):
            opcode = block[28 + BTH] & 0x1F
            if opcode in range(0x06, 0x0C) or opcode in (0x11, 0x1C):
                numbers[opcode < 0x0C].append((number, block[28 + BTH]))
        for transport, which, change, rule in PLANTS:
            if transport != kind:
                continue
            listed = [number for number, opcode in numbers[which >= 0] if opcode in (0x06, 0x07, 0x08, 0xC6, 0xC7, 0xC8, 0x11, 0xDC)]
            chosen = listed[which]
            planted = rewritten(path, folder / "rule.pcapng", lambda number, block: planted_in(block, change) if number == chosen else block)
            broken = {row["rule"]: row["first_packet"] for row in told(planted)["rules"] if row["packets"]}
            check(rule in broken and chosen <= broken[rule] <= chosen + 40, f"{kind}: {rule} at packet {chosen}: {broken}")
            said = [line for line in ran("pcap", "analyze", planted).splitlines() if line.startswith("rules of the protocol broken: ")]
            check(len(said) == 1 and f"{rule} " in said[0], f"{kind}: {rule} is said")


def main():
    with tempfile.TemporaryDirectory() as room:
        folder = pathlib.Path(room)
        check_withheld(folder, check_incast(folder))
        check_planes(folder)
        check_classes(folder)
        check_rules(folder)
    return check.failed > 0


if __name__ == "__main__":
    sys.exit(main())
