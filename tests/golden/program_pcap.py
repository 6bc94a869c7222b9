#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""weft pcap analyze: the ten lines of a capture whose cause is known; counts of each stream of the given captures, as other
programs counted them; captures of weft's own with a known fault; files that are no captures. Without the given captures their
part is left out and said so."""
import csv
import gzip
import json
import os
import pathlib
import pty
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import time

import weft
from weft import SHARED, SOURCE, WEFT, check

DATA = pathlib.Path(SHARED, "data")
ROCE = DATA / "captures" / "given" / "roce"

BEHIND = """\
loss BEHIND the capture point, repaired by go-back-N; certain
1,200 frames in 443 ms, none cut, ICRC good in all; RoCEv2 RC, one connection, QP 0x13, 10.77.0.1 > 10.77.0.2
9 writes of 64 KiB begun, 6 acknowledged after 28.5 to 225 ms, median 54 ms
11 NAKs (PSN sequence error); all 11 PSNs had passed here 0.2 to 2.8 ms before the NAK
no hole before the tap, nothing out of order, nothing doubled (no PSN twice with one IP identification)
653 of 1,181 data packets (55 % of their bytes) were retransmitted; 528 are new
at least 11 losses: what is lost while the receiver discards leaves no trace
NAK to repeat: 2.1 to 18.2 ms 8 times; 73 to 84 ms twice, after silence of 49 to 58 ms: a timer; 1 open
not it: no ECT, no CE, no CNP, no pause
look at: the receiver's NIC, and between it and the tap
"""
# Of weft's own captures: the first line, and what another line has.
OWN = {
    "clean-write": ("no fault found", "1 write of 1.3 KiB begun, 1 acknowledged"),
    "headers-only": ("no fault found", "8 cut"),
    "ipv4": ("no fault found", "198.18.0.1 > 198.18.0.2"),
    "reorder": ("no fault found", "4 packets were overtaken"),
    "srv6": ("no fault found", "3 writes of 2.0 KiB begun, 2 acknowledged"),
    "trim-last-hop": ("packets trimmed BEFORE", "11 NACKs; 11 trimmed packets passed here"),
    "trim-on-the-way": ("packets trimmed BEFORE", "9 NACKs; 9 trimmed packets passed here"),
    "loss-timer": ("loss BEHIND", "20 packets carry the mark of a repeat"),
    "backup-path": ("loss BEHIND", "at least 9 losses"),
    "rocev2-clean-write": ("no fault found", "no NAK, no RNR; 1 ACK"),
    "rocev2-cnp": ("no fault found", "63 CE of 72 packets that can be marked (87.5 %), 3 CNPs"),
    "rocev2-go-back-n": ("loss BETWEEN", "2 NAKs"),
}


def analyze(*words, given=None):
    done = weft.run("pcap", "analyze", *words, text=False, input=given)
    return done.returncode, done.stdout.decode(), done.stderr.decode()


# ---------------------------------------------------------------- the given captures


def rows_expected():
    """(file, rows) of the reference: one row a stream: key, packets, first, last, lowest, highest, again, holes, opcodes."""
    name, rows = None, []
    for line in (DATA / "REFERENCE.md").read_text().splitlines():
        if line.startswith("### "):
            if name and rows:
                yield name, rows
            name, rows = line[4:].strip(), []
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if line.startswith("|") and " -> " in line and cells[0] != "src -> dst" and len(cells) == 9:
            rows.append(cells)
    if name and rows:
        yield name, rows


STREAM = re.compile(
    r"^ *\d+  (\S+) > (\S+?), QP 0x([0-9a-f]+)[^\n]*\n *(\d+) packets, \d+ B; PSN (\d+) to (\d+), from (\d+) up to (\d+);([^\n]*)\n"
    r" *data \d+, seen again (\d+) \(\d+ doubled\), holes ([^,]+),", re.M)


def rows_found(path):
    status, out, _ = analyze("--table", path)
    found = {}
    for row in STREAM.findall(out):
        found.setdefault((row[0], row[1], int(row[2], 16)), []).append(row[3:])
    return status, found


def differences(row, found):
    source, target = row[0].split(" -> ")
    key = (source, target, int(row[1], 16))
    if key not in found:  # the reference has the IP addresses inside of IPoIB, or none; here are those of the GRH, if there is one
        key = next((other for other in found if other[2] == key[2] and found[other][0][0] == row[2] and found[other][0][1] == row[3]), key)
    if key not in found:
        return [f"{key} is not there"]
    packets, first, last, low, high, opcodes, again, holes = found[key][0]
    lowest, highest = row[5].split("..")
    told = {"packets": (row[2], packets), "first PSN": (row[3], first), "last PSN": (row[4], last), "lowest": (lowest, low),
            "highest": (highest, high), "opcodes": (set(row[8].split()), set(opcodes.split()))}
    if row[6] != "-":
        told["seen again"] = (row[6], again)
    if row[7] != "-" and holes != "not counted (READ requests)":
        told["holes"] = (row[7], holes)
    return [f"{key}: {what} {has}, not {wanted}" for what, (wanted, has) in told.items() if wanted != has]


def check_reference():
    for name, rows in rows_expected():
        if "/roce/" not in name:
            continue
        status, found = rows_found(DATA / name)
        wrong = [text for row in rows for text in differences(row, found)]
        check(status == 0 and not wrong, f"{pathlib.Path(name).name}: {len(rows)} streams as the reference has them")
        for text in wrong:
            print("    " + text)


def check_causes():
    check(analyze(ROCE / "rxe_write_rxdrop_after_tap_first1200.pcap") == (0, BEHIND, ""), "a loss behind the tap is told in ten lines")
    _, out, _ = analyze(ROCE / "rxe_write_dup3_rtx.pcap")
    check("43 doubled by the network" in out and "149 of 1,472" in out, "copies of the network are told from repeats")
    _, out, _ = analyze(ROCE / "rxe_write_spurious_timeouts.pcap")
    check("\n378 of 1,018 data" in out and "no packet lost" in out and "nothing doubled" in out, "time-outs without a loss")
    _, out, _ = analyze(ROCE / "rxe_write_loss2_first1500.pcap")
    check(out.startswith("loss BEFORE") and "\n580 of 1,277 data" in out and "nothing out of order" in out and "BEHIND" not in out,
          "loss before the tap, and none behind it")
    _, out, _ = analyze(ROCE / "rxe_send_rnr_snap128.pcap")
    check(out.startswith("receiver not ready") and "also:" not in out, "what is repeated for an RNR is no time-out")
    _, out, _ = analyze(ROCE / "rxe_read_clean_nsec.pcap")
    check("\n12 reads of 64 KiB begun, 12 acknowledged" in out, "READs end with their last response")
    data = (ROCE / "rxe_write_rxdrop_after_tap_first1200.pcap").read_bytes()
    check(analyze("-", given=data)[1] == BEHIND, "the standard input is as good as a file")
    _, out, _ = analyze("-", given=of_frames(frames_of("rxe_write_rxdrop_after_tap_first1200.pcap")[:64]))
    check("\n1 NAK (PSN sequence error); its PSN had passed here 479 us before" in out and "NAK to repeat: 5.4 ms once\n" in out, f"of one alone: {out}")
    status, out, _ = analyze("-", given=data[:-7])
    check(status == 0 and "1,199 frames in" in out and "1,199 frames before it are good" in out, "a file that is cut: to its last frame")
    _, out, _ = analyze(ROCE / "rxe_rping_cm.pcap")
    check(out.startswith("no fault found: "), "PSNs between two responses are those of other requests")


def check_needless():
    """Of the time-outs of one capture, by the packets themselves: the answer behind the repeat acknowledges what had not been repeated by then, or
    identifications that the receiver left out tell of answers that were lost on their way here, or the repeat was acknowledged before it began."""
    path = ROCE / "rxe_write_loss2_first1500.pcap"
    data, at, packets = path.read_bytes(), 24, []
    while at < len(data):
        captured = struct.unpack_from("<I", data, at + 8)[0]
        ip, bth = data[at + 30:], data[at + 58:]
        packets.append((bth[0] == 0x11, int.from_bytes(bth[9:12], "big"), int.from_bytes(ip[4:6], "big")))
        at += 16 + captured
    told = [row for row in json.loads(analyze(path, "--json")[1])["repairs"] if row["cause"] == "needless_timeout"]
    for row in told:
        begin = row["repeat_packet"] - 1
        before = [packet for packet in packets[:begin] if packet[0]][-1]
        end = next(i for i in range(begin, len(packets)) if packets[i][0])
        again = max(psn for is_answer, psn, _ in packets[begin:end] if not is_answer)
        _, acked, identification = packets[end]
        holds = acked > again or (identification - before[2]) % 65536 > 1 or before[1] >= row["psn"]
        check(holds, f"time-out without need at packet {begin + 1}: {acked - row['psn']} and {again - row['psn']} PSNs on")
    check(len(told) == 7, f"time-outs without need: {len(told)}")  # the eighth repeats what a NAK, which was lost, had asked for


def check_kept():
    """No capture of Linux's own RoCE, whatever the network did to it, breaks a rule of the protocol or changes a class."""
    for path in sorted(ROCE.iterdir()):
        told = json.loads(analyze(path, "--json")[1])
        broken = [row["rule"] for row in told["rules"] if row["packets"]]
        check(not broken and not told["dscp_changes"], f"{path.name}: no rule broken, no class changed {broken}")


# Each damaged or strange file: a status of 0 or 2, and a reason where nothing was read.
def check_hostile():
    bad = []
    files = [path for kind in ("malformed", "robust", "other", "roce") for path in sorted((DATA / "captures" / "given" / kind).iterdir())]
    for path in files:
        status, _, error = analyze("--table", path)
        if status not in (0, 2) or (status == 2 and str(path) not in error):
            bad.append(f"{path.name}: {status} {error.strip()[-120:]}")
    check(not bad and files, f"{len(files)} captures, damaged ones too, are read or refused by name")
    print("\n".join(bad))


# ---------------------------------------------------------------- weft's own


def check_own():
    for name, (first, other) in OWN.items():
        status, out, _ = analyze(SOURCE / "pcaps" / f"{name}.pcapng")
        check(status == 0 and out.startswith(first) and other in out, f"{name}: {first}")


CAUSES = {"loss BEHIND": "loss_behind", "loss BEFORE": "loss_before", "loss BETWEEN": "loss_before", "packets trimmed BEFORE": "trim_before", "no fault found": None}


def check_programs():
    """JSON and CSV have what the ten lines say."""
    for name, (first, _) in OWN.items():
        path = SOURCE / "pcaps" / f"{name}.pcapng"
        status, text, _ = analyze(path, "--json")
        told = json.loads(text) if status == 0 else {}
        check(status == 0 and told["schema"] == 2 and told["finding"]["cause"] == CAUSES[first], f"{name}: JSON names {told.get('finding')}")
        again = re.search(r"(none|[\d,]+) of ([\d,]+) data packets", analyze(path)[1])
        sums = [sum(stream[key] for stream in told["streams"]) for key in ("again", "data")]
        words = [0 if word == "none" else int(word.replace(",", "")) for word in again.groups()] if again else sums
        check(sums == words, f"{name}: {sums} of JSON are {words}")
        for rows, words in (("streams", ()), *((one, ("--rows", one)) for one in ("connections", "dscp", "priorities", "repairs", "bursts", "dscp_changes", "rules"))):
            listed = rows_of(analyze(path, "--csv", *words)[1], told[rows])
            check(listed == told[rows], f"{name}: CSV has the {len(listed)} {rows} of JSON")
        check_connections(name, told)
    cut = analyze(SOURCE / "pcaps" / "rocev2-go-back-n.pcapng", "--json")[1]
    repairs = json.loads(cut)["repairs"]
    check(any(one["cause"] == "loss_before" and one["repeat_ns"] for one in repairs), f"repairs have causes and times: {repairs[:1]}")


def rows_of(text, like):
    """Rows of a CSV with values as JSON has them: what was not seen is empty."""
    rows = list(csv.DictReader(text.splitlines()))
    words = {key for row in like for key, value in row.items() if isinstance(value, str)}
    return [{key: None if value == "" and key not in words else value if key in words else json.loads(value) for key, value in row.items()} for row in rows]


def check_connections(name, told):
    """Each stream with data, with the answers of the stream that goes back."""
    data = [stream for stream in told["streams"] if stream["data"] > 0]
    rows = told["connections"]
    check([row["data"] for row in rows] == [stream["data"] for stream in data], f"{name}: connections are the streams with data")
    for row in rows:
        back = [stream for stream in told["streams"] if (stream["source"], stream["target"], stream["qpn"], stream["place"])
                == (row["target"], row["source"], row["answers_qpn"], row["place"])]
        keys = ("acks", "naks", "rnrs", "sacks", "nacks", "cnps")
        check([row[key] for key in keys] == ([back[0][key] for key in keys] if back else [None] * len(keys)), f"{name}: {row} and {back}")


def check_refusals():
    with tempfile.TemporaryDirectory() as folder:
        empty, text = pathlib.Path(folder, "empty"), pathlib.Path(folder, "text")
        empty.write_bytes(b"")
        text.write_text("this is no capture, but it is long enough to have a head\n")
        for path in (empty, text, folder, pathlib.Path(folder, "absent")):
            status, out, error = analyze(path)
            check(status == 2 and out == "" and str(path) in error, f"refused: {error.strip()}")
    for words in ([], ["--table"], ["--tabel", "x"], ["x", "--table", "--table"], ["x", "--json", "--csv"], ["x", "--table", "--json"],
                  ["x", "--rows", "dscp"], ["x", "--csv", "--rows", "queues"]):
        check(analyze(*words)[0] == 2, f"refused: analyze {' '.join(words)}")


def block_of(kind, body, claimed=None):
    length = len(body) + 12
    return struct.pack("<II", kind, length if claimed is None else claimed) + body + struct.pack("<I", length)


def check_malformed():
    """What cannot be as a file claims is told with its place, and all before it is read; 2 only where nothing could be."""
    section, frame = block_of(0x0A0D0D0A, struct.pack("<IHHq", 0x1A2B3C4D, 1, 0, -1)), bytes(60)
    one = block_of(1, struct.pack("<HHI", 1, 0, 0xFFFFFFFF))
    good, beyond = (block_of(6, struct.pack("<IIIII", 0, 0, 5, captured, 60) + frame) for captured in (60, 4000))
    heads, place = section + one, len(section + one)
    for unit in (20, 64, 0xC0, 0xFF):
        clock = block_of(1, struct.pack("<HHIHHB3xHH", 1, 0, 0, 9, 1, unit, 0, 0))
        status, out, _ = analyze("-", given=section + clock + good + good)
        check(status == 0 and f"2 stamps that no clock makes, the first at byte {len(section + clock)}" in out, f"a unit {unit} that no clock has: {out!r}")
    status, _, error = analyze("-", given=capture_of(frame)[:30])
    check(status == 2 and "standard input: it ends in the head of a record that begins at byte 24" in error, f"nothing but a head: {error!r}")
    status, out, _ = analyze("-", given=section + block_of(1, struct.pack("<HHI", 4242, 0, 0)) + good * 2)
    check(status == 0 and "no RDMA in 2 frames. What there is: 2 of an unknown link type\n" in out, f"a link type that nobody has: {out!r}")
    packet = struct.pack("<IIII", 0, 0, 0xFFFFFFFF, 60)
    for what, given, read, told in (
            ("a snap length of 2^32 - 1", heads + good * 3, 3, ""),
            ("the same of pcap", struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 0xFFFFFFFF, 1) + struct.pack("<IIII", 0, 0, 60, 60) + frame, 1, ""),
            ("captured beyond the block", heads + good + beyond + good, 2, f"1 frame left out, the first at byte {place + len(good)}: lengths beyond the block"),
            ("captured beyond all", capture_of(frame) + packet + frame, 1, "the record at byte 100 claims 4294967295 captured bytes, which none has; 1 frame before"),
            ("a section that ends early", heads + good + section[:20], 1, f"it ends in the block that begins at byte {place + len(good)}, after 20 bytes"),
            ("a frame that ends early", heads + good + good[:-9], 1, f"it ends in the block that begins at byte {place + len(good)}, after {len(good) - 9} bytes"),
            ("a block of no length", heads + good + block_of(6, frame, 0), 1, f"the block at byte {place + len(good)} claims 0 bytes"),
            ("a section of a length that is not its own", block_of(0x0A0D0D0A, struct.pack("<IHHq", 0x1A2B3C4D, 1, 0, 99)) + one + good, 1,
             "standard input: 1 section is not as long as it says, the first at byte 0: read on block by block"),
            ("a section cut at the end of a block", block_of(0x0A0D0D0A, struct.pack("<IHHq", 0x1A2B3C4D, 1, 0, place + 400)) + one + good * 2, 2,
             "1 section is not as long as it says, the first at byte 0"),
            ("an option beyond its block", heads + block_of(6, struct.pack("<IIIII", 0, 0, 5, 60, 60) + frame + struct.pack("<HHI", 1, 400, 0)) + good, 2,
             f"1 block with options beyond the end or of a wrong length, or too short, the first at byte {place}: the rest of it is left out"),
            ("a section of another version", heads + good + block_of(0x0A0D0D0A, struct.pack("<IHHq", 0x1A2B3C4D, 3, 0, -1)), 1,
             f"the section at byte {place + len(good)} is of version 3: 1 is the one that is known; 1 frame before it is good")):
        status, out, error = analyze("-", given=given)
        check(status == 0 and f" in {read} frame" in out and (told in out if told else "byte" not in out) and error == "", f"{what}: {out!r} {error}")
    _, out, _ = analyze("-", given=heads + good + good[:-9])
    check("\nstandard input: it ends in the block" in out and "1 frame before it is good\n" in out, f"whose end it is, and how many are good: {out!r}")
    status, out, _ = analyze("-", given=heads)
    check(status == 0 and out.startswith("no frame in the capture: its filter let none pass, or none came by\n"), f"a capture of nothing: {out!r}")
    status, out, error = analyze("-", given=section + good)
    check(status == 2 and out == "" and f"none of its frames can be read, the first at byte {len(section)}: lengths beyond" in error, f"no interface: {error!r}")
    status, out, error = analyze("no-such-file", "-", "--csv", given=heads + good)
    check(status == 0 and out.startswith("index,") and error == "weft pcap: no-such-file: No such file or directory\n", f"a table is told of, too: {error!r}")
    erf = struct.pack("<QBBHHH", 1 << 32, 2, 4, 78, 0, 60) + bytes(2) + frame
    for what, given, told in (("an ERF file", erf * 3, "an ERF file has no head"), ("a pipe that ends at once", b"", "it is empty"),
                              ("a pipe that ends in the head", section[:10], "after 10 bytes")):
        status, out, error = analyze("-", given=given)
        check(status == 2 and out == "" and told in error, f"{what}: {error.strip()}")


def capture_of(*frames):
    """A pcap of these frames, a microsecond apart."""
    data = struct.pack("<IHHiIII", 0xa1b2c3d4, 2, 4, 0, 0, 65535, 1)
    return data + b"".join(struct.pack("<IIII", 0, at, len(frame), len(frame)) + frame for at, frame in enumerate(frames))


def check_not_followed():
    """UET alone and pause frames alone: what there is, and no word of faults."""
    macs = bytes.fromhex("020000000001020000000002")
    udp = struct.pack(">HHHH", 50000, 4793, 8 + 16, 0) + bytes([2 << 3]) + bytes(15)
    ip = struct.pack(">BBHHHBBH4s4s", 0x45, 0, 20 + len(udp), 1, 0, 64, 17, 0, bytes((198, 18, 0, 1)), bytes((198, 18, 0, 2)))
    status, out, _ = analyze("-", given=capture_of(*[macs + b"\x08\x00" + ip + udp] * 3))
    check(status == 0 and out.startswith("UET in 3 of 3 frames, and no other RDMA") and "no fault" not in out, f"UET is counted, and nothing concluded: {out!r}")
    check(re.search(r"^packet types: \S+ 3$", out, re.M), "its packet types are counted")
    pfc = bytes.fromhex("0180c2000001020000000002") + struct.pack(">HHH8H", 0x8808, 0x0101, 1 << 3, 0, 0, 0, 65535, 0, 0, 0, 0) + bytes(26)
    status, out, _ = analyze("-", given=capture_of(pfc, pfc, pfc[:24] + bytes(36)))
    check(status == 0 and "pause frames: 2 pauses, 1 end one; priority 3: 2;" in out, f"pause frames are told by priority: {out!r}")


def check_packed():
    """What gzip packed is read as if it were not: in several members, from a pipe, up to where it ends or is damaged."""
    path = SOURCE / "pcaps" / "trim-last-hop.pcapng"
    whole = path.read_bytes()
    plain, packed = analyze(path)[1], gzip.compress(whole)
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder, "packed.pcapng.gz")
        file.write_bytes(packed)
        check(analyze(file) == (0, plain, ""), "a packed file is read")
        page = pathlib.Path(folder, "commented.pcapng")
        check(analyze(file, "--annotate", page)[0] == 0 and page.stat().st_size > len(whole), "and once more for its comments")
    half = len(whole) // 2
    for what, given in (("two members", gzip.compress(whole[:half]) + gzip.compress(whole[half:])), ("padding behind it", packed + bytes(512))):
        check(analyze("-", given=given) == (0, plain, ""), f"packed, {what}: read")
    status, out, _ = analyze("-", given=packed[:len(packed) // 2])
    check(status == 0 and "what gzip packed ends early" in out, f"packed and cut: {out.splitlines()[-1:]}")
    for at in (-6, len(packed) // 2):
        damaged = bytearray(packed)
        damaged[at] ^= 0xFF
        status, out, _ = analyze("-", given=bytes(damaged))
        told = "what gzip packed is damaged" if at == -6 else "frames before it are good"
        check(status == 0 and told in out, f"packed and damaged at {at}: {out.splitlines()[-1:]}")
    for given in (packed[:2], packed[:12], gzip.compress(b""), gzip.compress(b"no capture, but long enough for a head")):
        status, out, error = analyze("-", given=given)
        check(status == 2 and out == "" and "standard input" in error, f"packed, nothing to read: {error.strip()}")


def check_bar():
    """Of a pipe that goes on, a terminal is told how far it is read; the bar goes, and nothing is left of it on the standard output."""
    whole = (SOURCE / "pcaps" / "reorder.pcapng").read_bytes()
    blocks, at = [], 0
    while at < len(whole):
        length = int.from_bytes(whole[at + 4:at + 8], "little")
        blocks.append(whole[at:at + length])
        at += length
    frames = b"".join(block for block in blocks if block[:4] == bytes([6, 0, 0, 0]))
    terminal, end = pty.openpty()
    shown = b""
    with subprocess.Popen([WEFT, "pcap", "analyze", "-"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=end) as run:
        run.stdin.write(b"".join(block for block in blocks if block[:4] != bytes([6, 0, 0, 0])))
        os.set_blocking(terminal, False)
        end_at = time.monotonic() + 60
        while b"frames" not in shown and time.monotonic() < end_at:
            run.stdin.write(40 * frames)
            run.stdin.flush()
            try:
                shown += os.read(terminal, 65536)
            except BlockingIOError:
                pass
        run.stdin.close()
        out = run.stdout.read()
    try:
        shown += os.read(terminal, 65536)
    except (BlockingIOError, OSError):
        pass
    check(b"read, " in shown and shown.endswith(b"\r\x1b[K"), f"a bar on a terminal: {shown[:80]}")
    check(b"\x1b" not in out and b" frames in " in out, "and none on the standard output")


def frames_of(name):
    """(ns, length, bytes) of a given capture in microseconds of this machine's order."""
    data, at, frames = (ROCE / name).read_bytes(), 24, []
    unit = 1 if data[:4] == bytes.fromhex("4d3cb2a1") else 1000
    while at < len(data):
        seconds, part, captured, length = struct.unpack_from("<4I", data, at)
        frames.append((seconds * 10**9 + part * unit, length, data[at + 16:at + 16 + captured]))
        at += 16 + captured
    return frames


def of_frames(frames):
    head = struct.pack("<IHHiIII", 0xa1b23c4d, 2, 4, 0, 0, 65535, 1)
    return head + b"".join(struct.pack("<4I", ns // 10**9, ns % 10**9, len(data), length) + data for ns, length, data in frames)


SENDS = {"F": 0x00, "M": 0x01, "L": 0x02}


def at_once(text):
    """A capture of SENDs of RC over IPv6, cut behind their headers, all with one stamp: F10 M11 L12, A12 and N11 are answers."""
    records = []
    for word in text.split():
        psn, is_answer = int(word[1:]), word[0] in "AN"
        behind = struct.pack(">I", (0x60 if word[0] == "N" else 0x1f) << 24 | 1) if is_answer else b""
        bth = struct.pack(">BBHII", SENDS.get(word[0], 0x11), 0x40, 0xffff, 0x11 + is_answer, (word[0] == "L") << 31 | psn) + behind
        length, hosts = len(bth) + 8 + 4 + (0 if is_answer else 256), [bytes.fromhex("fd00") + bytes(13) + bytes([host]) for host in (1, 2)]
        udp = struct.pack(">HHHH", 50000, 4791, length, 0)
        ip = struct.pack(">IHBB", 6 << 28, length, 17, 64) + b"".join(hosts[::-1] if is_answer else hosts)
        frame = bytes.fromhex("02000000000102000000000286dd") + ip + udp + bth
        records.append(struct.pack("<IIII", 1, 0, len(frame), 54 + length) + frame)
    return struct.pack("<IHHiIII", 0xa1b2c3d4, 2, 4, 0, 0, 65535, 1) + b"".join(records)


def check_lost_or_late():
    """What may have been lost is not counted as a copy, or as out of order alone."""
    text = "F0 M1 M2 M3 M4 M5 M6 M7 M8 L9 A9 F10 M12 M13 N11 M14 M11 M11 M12 M13 L14 A14"
    status, out, error = analyze("-", given=at_once(text))
    check(status == 0 and "1 lost or out of order, nothing else doubled" in out and "doubled or out" not in out, f"lost or overtaken: {out or error}")


def check_mutilated():
    """A cause that a part of the capture alone, or a capture that is not what it looks like, would seem to show is not told, or less certain."""
    behind, needless = frames_of("rxe_write_rxdrop_after_tap_first1200.pcap"), frames_of("rxe_write_spurious_timeouts.pcap")
    reads, label = frames_of("rxe_read_clean_nsec.pcap"), frames_of("rxe_write_v6_linklocal.pcap")
    merged = sorted(behind + [(ns + 3_000_000, length, data) for ns, length, data in behind], key=lambda frame: frame[0])
    swapped = list(behind)
    for i in range(0, len(swapped) - 1, 2):
        swapped[i:i + 2] = swapped[i:i + 2][::-1]
    one_way, two_captures, order = "as far as one direction tells; likely", "of two captures in one file", "is not in the order of its stamps"
    cases = {
        "loss behind, one way": ([one for one in behind if one[2][26:30] == behind[0][2][26:30]], one_way, "BEFORE"),
        "answers alone": ([one for one in behind if one[2][26:30] != behind[0][2][26:30]], "answers alone passed here: 11 ask for", "no fault"),
        "no loss, one way": ([one for one in needless if one[2][26:30] == needless[0][2][26:30]], one_way, "BEFORE"),
        "READs cut before their length": ([(ns, length, data[:64]) for ns, length, data in reads], "no fault found", "loss"),
        "responses that the capture lacks": ([one for i, one in enumerate(reads) if i % 20 != 11], "; possible", "certain"),
        "two captures, clocks 3 ms apart": (merged, two_captures, "by the network"),
        "not in order": (swapped, order, "reordering"),
        "cut within UDP": ([(ns, length, data[:54]) for ns, length, data in label], "nothing can be said: 340 of 340 frames", "no RDMA"),
        "cut within the BTH": ([(ns, length, data[:64]) for ns, length, data in label], "nothing can be said: 340 of 340 frames", "no RDMA"),
    }
    for name, (frames, has, lacks) in cases.items():
        status, out, error = analyze("-", given=of_frames(frames))
        first = out.splitlines()[0] if out else error
        check(status == 0 and has in first and lacks not in first, f"{name}: {first}")
        told = [word for word in ("no packet lost", "nothing out of order", "passed here in its turn", "writes begun") if word in out]
        check(name != "answers alone" or not told and "11 NAKs (PSN sequence error); what they ask for does not pass here\n" in out, f"{name}: {out}")


def check_parts(folder):
    """Files in another order than that of time, and two captures of one time, are no parts of one event: nothing is told of them but that."""
    frames = frames_of("rxe_write_rxdrop_after_tap_first1200.pcap")
    parts = [pathlib.Path(folder, f"part{i}.pcap") for i in range(3)]
    for part, some in zip(parts, (frames[:500], frames[500:], frames)):
        part.write_bytes(of_frames(some))
    for names, is_good in (((0, 1), True), ((1, 0), False), ((2, 0), False), ((0, 0), False)):
        status, out, error = analyze(*(parts[i] for i in names))
        first = out.splitlines()[0] if out else error
        check(status == 0 and ("in the order of time" not in first) == is_good, f"parts {names}: {first}")
        check(is_good or "mergecap" in out and " lost" not in first, f"parts {names}: {out}")
    other = pathlib.Path(folder, "other.pcap")
    reads, now = frames_of("rxe_read_clean_nsec.pcap"), frames[0][0]
    other.write_bytes(of_frames([(ns - reads[0][0] + now, length, data) for ns, length, data in reads]))
    status, out, _ = analyze(parts[2], other)
    check(status == 0 and out.startswith(BEHIND.splitlines()[0].split(";")[0]), f"two connections of one time: {out}")
    status, out, _ = analyze("--json", *parts[1::-1])
    check(status == 0 and json.loads(out)["trust"]["state"] == "files", f"parts as JSON: {out[:200]}")


def check_unread():
    """A frame of the file that could not be read is no loss: of the loss behind the tap nothing changes but that it is told."""
    section, one = block_of(0x0A0D0D0A, struct.pack("<IHHq", 0x1A2B3C4D, 1, 0, -1)), block_of(1, struct.pack("<HHIHHB3xHH", 1, 0, 0, 9, 1, 9, 0, 0))
    for odd in (40, 700):
        packed = section + one
        for at, (ns, length, data) in enumerate(frames_of("rxe_write_rxdrop_after_tap_first1200.pcap")):
            claimed = len(data) + (4000 if at == odd else 0)
            packed += block_of(6, struct.pack("<IIIII", 0, ns >> 32, ns & 0xFFFFFFFF, claimed, length) + data + bytes(-len(data) % 4))
        status, out, error = analyze("-", given=packed)
        check(status == 0 and out.splitlines()[0] == BEHIND.splitlines()[0] and "BEFORE" not in out and "1 frame left out, the first at byte" in out
              and "\nno hole before the tap, 1 frame not read (no loss: the file has it), " in out, f"frame {odd + 1} could not be read: {out!r} {error}")


def check_mirrored():
    """What a switch mirrors to another host (ERSPAN) is unpacked: the same finding, and of frames that it sliced that they are cut."""
    frames, gre = frames_of("rxe_write_rxdrop_after_tap_first1200.pcap"), bytes.fromhex("100088be00000001") + bytes.fromhex("1007000100000000")
    for slice_bytes, told in ((None, "1,200 frames in 443 ms, none cut, ICRC good in all"), (128, "1,200 frames in 443 ms, 1,181 cut, ICRC good in all 19")):
        packed = []
        for at, _, data in frames:
            inside = gre + data[:slice_bytes]
            around = struct.pack(">BBHHHBBH4s4s", 0x45, 0, 20 + len(inside), 0, 0, 250, 47, 0, bytes((192, 0, 2, 1)), bytes((192, 0, 2, 2)))
            frame = bytes.fromhex("0200000000990200000000980800") + around + inside
            packed.append((at, len(frame), frame))
        status, out, _ = analyze("-", given=of_frames(packed))
        check(status == 0 and out.split("; ")[0] == BEHIND.split("; ")[0] and told in out, f"frames of a mirror session, of {slice_bytes or 'all'} bytes: {out!r}")
        check("10.77.0.1 > 10.77.0.2" in out and "11 NAKs" in out and "653 of 1,181 data packets" in out, "the connection is the one inside")


def check_points():
    """Losses between two capture points of one file are named as that, and what each saw; where other packets pass each they are not."""
    rest = "transport: {kind: rc, payload: 1024B}\ncc: {algorithm: fixed}\nfabric: {nics: 8, nics_per_t0: 4, t1_count: 2, planes: 1}\n"
    one = "{from: 0, to: 4, bytes: 1MiB}"
    cases = {
        "around": (one, "4, end: far", "4", ["loss BETWEEN the capture points nic 0 and nic 4, ", "nic 0: loss BEHIND", "nic 4: loss BEFORE", "path from nic 0 to nic 4", "after 192 to 197 us, median 194 us"]),
        "both before": (one, "4", "4", ["loss BEHIND", "; at 2 capture points\n"]),
        "others": (one + ", {from: 1, to: 5, bytes: 1MiB}", "5, end: far", "4", ["nic 0: loss BEHIND", "; at 2 capture points\n"]),
        "no fault": (one, "4", "", ["no fault found", "2 capture points, and what passes several counts at each: nic 0: no fault; nic 4: no fault\n"]),
    }
    for name, (flows, second, lossy, wanted) in cases.items():
        with tempfile.TemporaryDirectory() as room:
            text, capture = pathlib.Path(room, "two.yaml"), pathlib.Path(room, "two.pcapng")
            faults = f"faults: [{{kind: loss, at: {{nic: {lossy}}}, probability: 1%}}]\n" if lossy else ""
            text.write_text(f"name: two\n{rest}traffic: {{kind: flows, flows: [{flows}]}}\n{faults}"
                            f"taps: [{{at: {{nic: 0}}}}, {{at: {{nic: {second}}}}}]\n".replace("nic: 5, end: far}}", "nic: 5}, end: far}")
                            .replace("nic: 4, end: far}}", "nic: 4}, end: far}"), encoding="utf-8")
            run = weft.run("sim", text, "--pcap", capture)
            status, out, error = analyze(capture)
            check(run.returncode == 0 and status == 0 and all(one in out for one in wanted) and ("BETWEEN" in out) == (name == "around"),
                  f"{name}: {run.stderr}{out}{error}")


def check_lean():
    """An analysis waits for no library that only scenarios, keys or ports need; without the program that has these, that is told."""
    own = pathlib.Path(WEFT).parent / "weft-pcap"
    loaded = subprocess.run([own], env={**os.environ, "LD_TRACE_LOADED_OBJECTS": "1"}, capture_output=True, text=True, check=False).stdout
    more = [name for name in ("libcrypto", "libprotobuf", "librte_", "libsqlite", "libmpi") if name in loaded]
    check(more == [] and "libc." in loaded, f"weft-pcap is linked with {more}: {loaded}")
    with tempfile.TemporaryDirectory() as room:
        alone = shutil.copy(own, room)
        for verb in ("gen", "replay", "anonymize"):
            done = subprocess.run([alone, verb, "incast", "-o", pathlib.Path(room, "out")], capture_output=True, text=True, check=False)
            told = "weft-pcap-whole, which does this, does not lie beside weft-pcap"
            check(done.returncode == 3 and told in done.stderr, f"{verb} alone: {done.returncode} {done.stderr}")


check_own()
check_points()
check_lean()
check_packed()
check_bar()
check_not_followed()
check_lost_or_late()
check_programs()
check_refusals()
check_malformed()
if ROCE.is_dir():
    check_causes()
    check_needless()
    check_kept()
    check_reference()
    check_hostile()
    check_mutilated()
    with tempfile.TemporaryDirectory() as folder:
        check_parts(folder)
    check_unread()
    check_mirrored()
else:
    print(f"{ROCE} is not here: the given captures are left out")
sys.exit(1 if check.failed else 0)
