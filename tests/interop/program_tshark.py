#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Captures in the eyes of others. Scenarios run under weft sim and under weft emu, each writing a capture and a log: the
files of all drivers are equal byte for byte, and what tshark and capinfos read in the capture is, frame by frame and field
by field, what the log says by the rules of docs/wire.md. The comparison itself is tried on damaged captures.

Needs tshark with its dissector of InfiniBand, which reads the BTH; without it the test is skipped.
"""
import csv
import os
import pathlib
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import zlib

import weft
from weft import SKIPPED

BASE_S = 1767225600  # 2026-01-01 00:00:00 UTC
PAYLOAD = 4096  # transport.payload of all cases
ETH, UDP, BTH, ICRC = 14, 8, 12, 4
SACK, NACK, ACK = 0xDC, 0xDD, 0xD1
REQUEST, RESPONSE = 0xD8, 0xD9  # of endpoints
PROBE = 0xDE
LARGE = {0xC6: 28 - 4, 0xC7: 28 - 4, 0xC8: 28 - 4, 0xCA: 28 - 4, 0xC9: 28, 0xCB: 28, SACK: 36, NACK: 20, ACK: 4,
         REQUEST: 16, RESPONSE: 36, PROBE: 16}  # behind the BTH
RC_FIRST, RC_MIDDLE, RC_LAST, RC_LAST_IMM, RC_ONLY, RC_ONLY_IMM, RC_ACK, RC_CNP = (*range(6, 12), 0x11, 0x81)
RC = {RC_FIRST: 16, RC_MIDDLE: 0, RC_LAST: 0, RC_LAST_IMM: 4, RC_ONLY: 16, RC_ONLY_IMM: 20, RC_ACK: 4, RC_CNP: 16}  # the same
LARGE.update(RC)
CONTROL = {SACK, NACK, ACK, REQUEST, RESPONSE, RC_ACK, RC_CNP}
ILLEGAL = "Illegal checksum value (0)"
FIELDS = """frame.interface_name frame.time_epoch frame.len frame.cap_len eth.src eth.dst eth.type
ipv6.src ipv6.dst ipv6.flow ipv6.hlim ipv6.plen ipv6.nxt ipv6.tclass.dscp ipv6.tclass.ecn
ip.src ip.dst ip.ttl ip.len ip.proto ip.id ip.flags.df ip.dsfield.dscp ip.dsfield.ecn ip.checksum.status
udp.srcport udp.dstport udp.length udp.checksum.status
infiniband.bth.opcode infiniband.bth.se infiniband.bth.m infiniband.bth.padcnt infiniband.bth.tver infiniband.bth.p_key
infiniband.bth.destqp infiniband.bth.a infiniband.bth.reserved7 infiniband.bth.psn infiniband.reth.va infiniband.reth.r_key infiniband.reth.dmalen infiniband.immdt
infiniband.aeth.syndrome infiniband.aeth.msn infiniband.invariant.crc _ws.malformed _ws.expert.message""".split()
READER = {**os.environ, "LC_ALL": "C"}  # of tshark; main() takes the user's settings and plug-ins out of it
CHECKING = ["-o", "ip.check_checksum:TRUE", "-o", "udp.check_checksum:TRUE", "-o", "udp.ignore_ipv6_zero_checksum:TRUE"]
INCAST = ["incast", "--set", "traffic.senders=16", "--set", "traffic.bytes=128KiB"]
RACKS = ["two-racks", "--set", "traffic.bytes=2MiB"]

# Lost packets, odd lengths, short messages, and taps that listen for a while.
FAULTS = """name: faults
fabric: {nics: 8, planes: 2, nics_per_t0: 4, t1_count: 2}
transport: {rto: 16.384us}
traffic:
  kind: flows
  flows:
    - {from: 0, to: 5, bytes: 600001B}
    - {from: 1, to: 5, bytes: 500002B}
    - {from: 2, to: 6, bytes: 3B}
    - {from: 6, to: 2, bytes: 4099B, start: 2us}
    - {from: 5, to: 0, bytes: 70000B, start: 4us}
faults:
  - {kind: link_down, at: {nic: 0, plane: 1}, from: 8us, until: 20us}
  - {kind: loss, at: {plane: 0}, probability: 2%}
taps:
  - {at: {nic: 0, plane: 1}}
  - {at: {nic: 5, plane: 0}, direction: down}
  - {at: {nic: 2, plane: 0}}
  - {at: {nic: 2, plane: 1}}
  - {at: {t0: 1, up: 1, plane: 0}, direction: up, from: 5us, until: 25us}
"""

# name: words of the command line. What a case sets is read from its words.
CASES = {
    "two racks": RACKS,
    "trims": INCAST,
    "trims, IPv4": [*INCAST, "--set", "wire.ip=4"],
    "trims, lengths kept": [*INCAST, "--set", "wire.trim_lengths=kept"],
    "trims, lengths kept, IPv4": [*INCAST, "--set", "wire.trim_lengths=kept", "--set", "wire.ip=4"],
    "trims, UDP checksums": [*INCAST, "--set", "wire.udp_checksum=true"],
    "trims, UDP checksums, IPv4": [*INCAST, "--set", "wire.udp_checksum=true", "--set", "wire.ip=4"],
    "headers only": [*INCAST, "--set", "capture.keep=headers"],
    "headers only, UDP checksums": [*INCAST, "--set", "capture.keep=headers", "--set", "wire.udp_checksum=true"],
    "128 bytes": [*INCAST, "--set", "capture.snap=128B"],
    "another port and place of the EV": [*RACKS, "--set", "wire.port=4971", "--set", "wire.ev=port-low"],
    "loss": ["loss", "--set", "traffic.bytes=30002B"],
    "faults": ["faults.yaml"],
    "faults, IPv4, UDP checksums": ["faults.yaml", "--set", "wire.ip=4", "--set", "wire.udp_checksum=true"],
    "faults, another seed, 90 bytes": ["faults.yaml", "--seed", "2", "--set", "capture.snap=90B"],
    "RoCEv2": [*RACKS, "--set", "transport.kind=rc", "--set", "cc.algorithm=fixed", "--set", "transport.qps_per_connection=3"],
    "RoCEv2, UDP checksums": [*INCAST, "--set", "transport.kind=rc", "--set", "cc.algorithm=fixed", "--set", "queue.ecn_last_hop=true", "--set",
                              "wire.udp_checksum=true"],
    "RoCEv2, faults": ["faults.yaml", "--set", "transport.kind=rc", "--set", "cc.algorithm=fixed", "--set", "wire.ev=port-low"],
    "RoCEv2, faults, IPv4": ["faults.yaml", "--set", "transport.kind=rc", "--set", "cc.algorithm=fixed", "--set", "wire.ip=4", "--set", "queue.ecn_last_hop=true"],
    "a cable goes down": ["link-down", "--set", "traffic.bytes=256KiB", "--set", "capture.keep=headers"],
}


# What must have been seen in the end. A WRITE_LAST no workload sends: messages end with an immediate.
SEEN = {"WRITE_FIRST", "WRITE_MIDDLE", "WRITE_LAST_IMM", "WRITE_ONLY", "WRITE_ONLY_IMM", "SACK", "NACK", "ACK", "ect", "ce", "trimmed",
        "last", "trimmable", "ar", "rtx", "padding 0", "padding 1", "padding 2", "padding 3",
        "RC_WRITE_FIRST", "RC_WRITE_MIDDLE", "RC_WRITE_LAST_IMM", "RC_WRITE_ONLY", "RC_WRITE_ONLY_IMM", "RC_ACK", "RC_CNP"}


class Rules:
    """What a case's words say about its frames."""

    def __init__(self, words):
        sets = dict(word.split("=") for word in words if "=" in word)
        self.is_v4 = sets.get("wire.ip") == "4"
        self.port = int(sets.get("wire.port", "4791"))
        self.is_port_low = sets.get("wire.ev") == "port-low"
        self.is_kept = sets.get("wire.trim_lengths") == "kept"
        self.has_sum = sets.get("wire.udp_checksum") == "true"
        self.is_headers = sets.get("capture.keep") == "headers"
        self.snap = int(sets.get("capture.snap", "0B")[:-1])
        self.ip_bytes = 20 if self.is_v4 else 40

    def arguments(self):
        """Other ports than RoCEv2's have to be named to tshark."""
        return [] if self.port == 4791 else ["-d", f"udp.port=={self.port},infiniband"]


# ---------------------------------------------------------------- what the log promises

def before_trim(row, opcode):
    """Payload that a packet had when it was sent."""
    message = int(row["message_bytes"] or 0)
    if "trimmed" not in row["flags"].split():
        return int(row["payload_bytes"])
    if opcode in (0xC6, 0xC7):
        return PAYLOAD
    return message if opcode in (0xCA, 0xCB) else (message - 1) % PAYLOAD + 1


def dscp_of(flags, bth, opcode):
    if "trimmed" in flags:
        return 16 if "last" in flags else 12
    if opcode in CONTROL:
        return 46
    return 0 if "trimmable" not in flags else 8 if "rtx" in bth else 4


def address(rules, plane, nic):
    if rules.is_v4:
        host = 198 << 24 | 18 << 16 | plane << 14 | nic + 1
        return ".".join(str(host >> shift & 255) for shift in (24, 16, 8, 0))
    return f"fd77:6566:7400:{plane:x}::{nic + 1:x}" if plane else f"fd77:6566:7400::{nic + 1:x}"


def promised_of_rc(row, opcode):
    """The same of RoCEv2's headers behind the BTH, which tshark reads, too; all but a CNP's."""
    fields = dict.fromkeys(("infiniband.reth.va", "infiniband.reth.r_key", "infiniband.reth.dmalen", "infiniband.immdt",
                            "infiniband.aeth.syndrome", "infiniband.aeth.msn"), "")
    if opcode in (RC_FIRST, RC_ONLY, RC_ONLY_IMM):
        fields.update({"infiniband.reth.va": int(row["va"], 16), "infiniband.reth.r_key": int(row["rkey"], 16),
                       "infiniband.reth.dmalen": int(row["message_bytes"])})
    if opcode in (RC_LAST_IMM, RC_ONLY_IMM):
        fields["infiniband.immdt"] = "|".join(2 * [row["imm"].removeprefix("0x")])  # tshark 4.0 has it twice
    if opcode == RC_ACK:
        fields.update({"infiniband.aeth.syndrome": int(row["reason"], 16), "infiniband.aeth.msn": int(row["msn"])})
    return fields


def promised(row, rules):
    """Fields that a line of the log means, as tshark writes them."""
    opcode, ev, plane = int(row["opcode"], 16), int(row["ev"], 16), int(row["plane"])
    flags, bth = row["flags"].split(), row["bth"].split()
    is_trimmed, is_data = "trimmed" in flags, opcode not in CONTROL | RC.keys() | {PROBE}
    sent = before_trim(row, opcode)
    headers = UDP + BTH + LARGE[opcode]
    whole = headers + sent + -sent % 4 + ICRC  # from the UDP header on
    left = headers if is_trimmed else whole
    told = whole if is_trimmed and rules.is_kept else left
    length = ETH + rules.ip_bytes + left
    captured = length
    if rules.is_headers:
        captured = min(captured, ETH + rules.ip_bytes + headers)
    if rules.snap:
        captured = min(captured, rules.snap)
    time_ns = int(row["time_ps"]) // 1000
    halves = (ev & 0xFFFF, ev >> 16) if rules.is_port_low or opcode in RC else (ev >> 16, ev & 0xFFFF)
    macs = [f"02:{plane:02x}:" + (int(row[end]) + 1).to_bytes(4, "big").hex(":") for end in ("source", "target")]
    ends = [address(rules, plane, int(row[end])) for end in ("source", "target")]
    ecn = 3 if "ce" in flags else 2 if "ect" in flags else 0
    fields = {
        "frame.interface_name": row["tap"], "frame.time_epoch": f"{BASE_S + time_ns // 10**9}.{time_ns % 10**9:09d}",
        "frame.len": length, "frame.cap_len": captured, "eth.src": macs[0], "eth.dst": macs[1],
        "eth.type": 0x0800 if rules.is_v4 else 0x86DD, "udp.srcport": ev if rules.is_v4 else halves[0],
        "udp.dstport": rules.port, "udp.length": told,
        "infiniband.bth.opcode": opcode, "infiniband.bth.se": 0, "infiniband.bth.m": 0, "infiniband.bth.padcnt": -sent % 4,
        "infiniband.bth.tver": 0, "infiniband.bth.p_key": 0xFFFF, "infiniband.bth.destqp": int(row["qpn"]),
        "infiniband.bth.a": int("ar" in bth), "infiniband.bth.reserved7": ("rtx" in bth) << 5 | is_data << 4,
        "infiniband.bth.psn": int(row["psn"]), **(promised_of_rc(row, opcode) if opcode in RC else {}),
    }
    common = {"src": ends[0], "dst": ends[1]}
    if rules.is_v4:
        own = {"ttl": 64 - int(row["hop"]), "len": 20 + told, "proto": 17, "id": 0, "flags.df": 1,
               "dsfield.dscp": dscp_of(flags, bth, opcode), "dsfield.ecn": ecn}
        fields.update({f"ip.{name}": value for name, value in {**common, **own}.items()})
    else:
        own = {"hlim": 64 - int(row["hop"]), "plen": told, "nxt": 17, "flow": halves[1],
               "tclass.dscp": dscp_of(flags, bth, opcode), "tclass.ecn": ecn}
        fields.update({f"ipv6.{name}": value for name, value in {**common, **own}.items()})
    return fields


def promised_experts(row, rules, is_checking):
    """What tshark's experts have to say of a frame: nothing, but for what the scenario asked for.
    is_checking: with the options that verify checksums and know that a 0 is meant."""
    is_trimmed = "trimmed" in row["flags"].split()
    has_sum = rules.has_sum and not is_trimmed
    experts = []
    if is_trimmed and rules.is_kept:  # two lengths that do not fit is what `kept` means
        experts += ["length exceeds", "> IP payload length"]
    if not rules.is_v4 and not has_sum and not is_checking:
        experts += [ILLEGAL]
    return experts


# ---------------------------------------------------------------- what tshark reads

def tshark(path, arguments):
    """One row of FIELDS per frame, and what was said on stderr."""
    command = ["tshark", "-n", "-r", str(path), *arguments, "-T", "fields", "-E", "separator=/t", "-E", "aggregator=|"]
    for field in FIELDS:
        command += ["-e", field]
    run = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False, env=READER)
    said = [line for line in run.stderr.splitlines() if line and "could be dangerous" not in line]
    rows = [dict(zip(FIELDS, line.split("\t"))) for line in run.stdout.splitlines()]
    return rows, said + ([] if run.returncode == 0 else [f"tshark ended with {run.returncode}"])


def is_same(read, value):
    if isinstance(value, str):
        return read == value
    try:
        return int(read, 0) == value
    except ValueError:
        return read in ("True", "False") and (read == "True") == bool(value)


def wrong_in_frame(seen, row, rules, is_checking):
    for field, value in promised(row, rules).items():
        if not is_same(seen[field], value):
            yield f"{field} is {seen[field]!r}, the log means {value!r}"
    experts = [text for text in seen["_ws.expert.message"].split("|") if text]
    wanted = promised_experts(row, rules, is_checking)
    if len(experts) != len(wanted) or not all(any(want in text for text in experts) for want in wanted):
        yield f"experts say {experts}, expected {wanted}"
    if bool(seen["_ws.malformed"]) != any("> IP" in want for want in wanted):
        yield f"malformed: {seen['_ws.malformed']!r}"
    if is_checking and rules.is_v4 and seen["ip.checksum.status"] != "1":
        yield f"IPv4 checksum status {seen['ip.checksum.status']}"
    is_whole = seen["frame.len"] == seen["frame.cap_len"]
    has_sum = rules.has_sum and "trimmed" not in row["flags"].split()
    if is_checking and has_sum and is_whole and seen["udp.checksum.status"] != "1":
        yield f"UDP checksum status {seen['udp.checksum.status']}"


def wrong_in_capture(path, rows, rules, arguments=()):
    """Everything in which a capture differs from the log's rows."""
    seen, said = tshark(path, [*rules.arguments(), *arguments])
    yield from said
    if len(seen) != len(rows):
        yield f"{len(seen)} frames, the log has {len(rows)} packets"
    for number, (frame, row) in enumerate(zip(seen, rows), 1):
        for text in wrong_in_frame(frame, row, rules, bool(arguments)):
            yield f"frame {number}: {text}"


# ---------------------------------------------------------------- a reader of our own: bytes that tshark does not name

def blocks(data):
    """(offset, type, length) of each block of a pcapng file."""
    at = 0
    while at < len(data):
        kind, length = struct.unpack_from("<II", data, at)
        yield at, kind, length
        at += length


def frames(data):
    """(offset, captured bytes, original length) of each frame."""
    for at, kind, _ in blocks(data):
        if kind == 6:
            captured, original = struct.unpack_from("<II", data, at + 20)
            yield at + 28, data[at + 28:at + 28 + captured], original


def icrc_of(frame, is_v4):
    """RoCEv2's ICRC, from the rules in docs/wire.md."""
    ip = bytearray(frame[ETH:-ICRC])
    udp = 20 if is_v4 else 40
    if is_v4:
        ip[1] = ip[8] = ip[10] = ip[11] = 0xFF
    else:
        ip[0] |= 0x0F
        ip[1] = ip[2] = ip[3] = ip[7] = 0xFF
    ip[udp + 6] = ip[udp + 7] = ip[udp + UDP + 4] = 0xFF
    return zlib.crc32(bytes(8 * [0xFF]) + bytes(ip)).to_bytes(4, "little")


def headers_of(row, opcode):
    """The bytes behind the BTH that the log means."""
    number = {name: int(row[name] or "0", 0) for name in row if name not in ("tap", "name", "flags", "bth")}
    if opcode == SACK:
        first = (number["mark"] & 3) << 5
        return struct.pack(">HhIHHIBBhQHHII", first, number["trigger_offset"], number["ev_echo"], 0, 0, number["psn"], 0, number["mpr"],
                           number["offset"], number["bitmap"], number["timestamp"], number["ooo_count"],
                           number["penalty"] << 24 | number["rcvd_256"], 0)[:36]
    if opcode == NACK:
        return struct.pack(">HBBIHHIBBH", 0, number["reason"], 0, number["ev_echo"], 0, 0, number["nack_psn"], 0x20, 0,
                           number["timestamp"])
    if opcode == PROBE:
        return struct.pack(">IHHIHH", 0, 0, 0, 0, number["timestamp"], 1)
    if opcode == ACK:
        return struct.pack(">I", number["reason"] << 24 | number["msn"])
    if opcode == REQUEST:
        return struct.pack(">HHIIHH", number["op"], 0, number["ports"], 0, number["timestamp"], 1)
    if opcode == RESPONSE:
        return bytes([0, number["op"] << 4]) + bytes(26) + struct.pack(">H", number["timestamp"]) + bytes(6)
    if opcode == RC_CNP:
        return bytes(16)
    if opcode in RC:
        reth = struct.pack(">QII", number["va"], number["rkey"], number["message_bytes"]) if opcode in (RC_FIRST, RC_ONLY, RC_ONLY_IMM) else b""
        aeth = struct.pack(">I", number["reason"] << 24 | number["msn"]) if opcode == RC_ACK else b""
        return reth + aeth + (struct.pack(">I", number["imm"]) if opcode in (RC_LAST_IMM, RC_ONLY_IMM) else b"")
    head = struct.pack(">HHHHQII", number["rqmsn"], number["msn"], number["timestamp"], 1, number["va"], number["rkey"],
                       number["message_bytes"])
    return head + struct.pack(">I", number["imm"]) if opcode in (0xC9, 0xCB) else head


def wrong_in_bytes(data, rows, rules):
    """What tshark does not look into: MRC's own headers, padding and ICRC."""
    start = ETH + rules.ip_bytes + UDP + BTH
    for number, ((_, frame, original), row) in enumerate(zip(frames(data), rows), 1):
        opcode = int(row["opcode"], 16)
        wanted = headers_of(row, opcode)
        got = frame[start:start + len(wanted)]
        if opcode == PROBE:  # the number of a probe is not in the log
            got = got[:4] + bytes(2) + got[6:]
        elif opcode == SACK and len(got) > 3 and got[1] & 2:  # nor in the SACK that answers it
            got = bytes([got[0], got[1] & ~2, 0, 0]) + got[4:]
        if got != wanted[:len(got)]:
            yield f"frame {number}: {row['name']} has {got.hex()}, the log means {wanted.hex()}"
        if len(frame) < original or "trimmed" in row["flags"].split():
            continue
        if frame[-ICRC:] != icrc_of(frame, rules.is_v4):
            yield f"frame {number}: ICRC {frame[-ICRC:].hex()}, {icrc_of(frame, rules.is_v4).hex()} is right"


# ---------------------------------------------------------------- damage

FIELD_AT = {  # in an IPv6 frame: (offset, mask)
    "source MAC": (11, 1), "class": (15, 0x10), "flow label": (17, 1), "hop limit": (21, 1), "source address": (37, 1),
    "target's plane": (45, 1), "UDP source port": (55, 1), "UDP port": (57, 2), "UDP length": (59, 1), "UDP checksum": (61, 1),
    "opcode": (62, 1), "partition key": (65, 1), "target QP": (69, 1), "flags": (70, 0x80), "PSN": (73, 1),
    "MSN": (77, 1), "time stamp header": (79, 1), "address": (89, 1), "payload": (200, 1), "ICRC": (-1, 1),
}


def damages(data):
    """(what, a damaged copy) of a capture with whole IPv6 frames."""
    places = [at for at, _, _ in blocks(data)]
    packets = [(at, length) for at, kind, length in blocks(data) if kind == 6]
    large = [(at, frame) for at, frame, _ in frames(data) if len(frame) > 1000]
    at, frame = large[len(large) // 2]
    for what, (offset, mask) in FIELD_AT.items():
        copy = bytearray(data)
        copy[at + (offset if offset >= 0 else len(frame) + offset)] ^= mask
        yield what, copy
    block, length = packets[len(packets) // 2]
    for what, offset in (("interface", 8), ("time", 16), ("original length", 24)):
        copy = bytearray(data)
        copy[block + offset] ^= 1
        yield what, copy
    yield "a frame is missing", data[:block] + data[block + length:]
    yield "a frame is there twice", data[:block + length] + data[block:]
    yield "the end is missing", data[:packets[-1][0] + 40]
    name = bytearray(data)
    at = data.index(b"nic ")
    name[at + 4] ^= 1
    yield "an interface's name", name
    assert len(places) > len(packets) > 0


# ---------------------------------------------------------------- the test

class Interop:
    def __init__(self, folder):
        self.folder = folder
        self.done = self.failed = 0
        self.drivers = {"sim": ["sim"], "memory": ["emu", "--ports", "memory", "--dilation", "none"],
                        "none": ["emu", "--ports", "none", "--dilation", "none"]}
        if self.has_dpdk():
            self.drivers["ring"] = ["emu", "--ports", "ring", "--dilation", "none"]
            if len(os.sched_getaffinity(0)) > 1:
                self.drivers["two lanes"] = ["emu", "--ports", "ring", "--dilation", "none", "--lanes", "2"]

    def has_dpdk(self):
        run = weft.run("emu", "two-racks", "--ports", "ring", "--dilation", "none", "--set", "traffic.bytes=64KiB")
        if run.returncode != 0 and "built without DPDK" not in run.stderr:
            sys.exit(f"not ok: ring ports: {run.stderr}")
        print("with ring ports" if run.returncode == 0 else "without DPDK: ring ports are left out")
        return run.returncode == 0

    def hold(self, what, complaints):
        self.done += 1
        complaints = list(complaints)
        if complaints:
            self.failed += 1
            print(f"not ok: {what}: {len(complaints)} complaints")
            for text in complaints[:5]:
                print(f"    {text}")

    def run(self, name, driver, words):
        """Runs a case; returns capture, log and digest line."""
        if words[0].endswith(".yaml"):
            words = [str(self.folder / words[0]), *words[1:]]
        pcap, log = self.folder / f"{driver}.pcapng", self.folder / f"{driver}.csv"
        run = weft.run(*self.drivers[driver][:1], *words, *self.drivers[driver][1:], "--quiet", "--force", "--pcap", pcap, "--log", log)
        if run.returncode != 0:
            sys.exit(f"not ok: {name}, {driver}: exit {run.returncode}: {run.stderr}")
        return pcap, log, run.stdout.split("\n", 1)[0]

    def case(self, name, words):
        rules = Rules(words)
        pcap, log, line = self.run(name, "sim", words)
        for driver in list(self.drivers)[1:]:
            other_pcap, other_log, other_line = self.run(name, driver, words)
            for what, same in (("capture", other_pcap.read_bytes() == pcap.read_bytes()),
                               ("log", other_log.read_bytes() == log.read_bytes()), ("digest", other_line == line)):
                self.hold(f"{name}: the {what} of {driver} is sim's", [] if same else ["it differs"])
        with open(log, encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
        self.hold(f"{name}: the log has packets", [] if rows else ["none"])
        self.hold(f"{name}: as it is", wrong_in_capture(pcap, rows, rules))
        self.hold(f"{name}: with checksums", wrong_in_capture(pcap, rows, rules, CHECKING))
        self.hold(f"{name}: MRC's headers and the ICRC", wrong_in_bytes(pcap.read_bytes(), rows, rules))
        self.hold(f"{name}: capinfos", self.wrong_in_summary(pcap, rows))
        kinds = sorted({row["name"] for row in rows})
        print(f"{name}: {len(rows)} frames, {sum('trimmed' in row['flags'] for row in rows)} trimmed, {len(kinds)} opcodes, "
              f"{pcap.stat().st_size} bytes")
        return pcap, rows, rules

    @staticmethod
    def wrong_in_summary(pcap, rows):
        run = subprocess.run(["capinfos", "-M", str(pcap)], capture_output=True, text=True, timeout=600, check=False)
        taps = sorted(set(re.findall(r"Name = (.*)", run.stdout)))
        if run.returncode != 0:
            yield f"exit {run.returncode}: {run.stderr}"
        if not re.search(rf"Number of packets: +{len(rows)}\n", run.stdout):
            yield f"{len(rows)} packets expected: {run.stdout[:400]}"
        if "File timestamp precision:  nanoseconds (9)" not in run.stdout or "Strict time order:   True" not in run.stdout:
            yield f"time: {run.stdout[:1200]}"
        if not set(row["tap"] for row in rows) <= set(taps):
            yield f"interfaces {taps}"
        if sum(map(int, re.findall(r"Number of packets = (\d+)", run.stdout))) != len(rows):
            yield "packets of all interfaces are not those of the file"

    def damaged(self, pcap, rows, rules):
        """The checks above must find each of these."""
        data = pcap.read_bytes()
        path = self.folder / "damaged.pcapng"
        for what, copy in damages(data):
            path.write_bytes(copy)
            found = list(wrong_in_capture(path, rows, rules, CHECKING))
            if what != "the end is missing":
                found += wrong_in_bytes(bytes(copy), rows, rules)
            self.hold(f"damage is found: {what}", [] if found else ["nothing was found"])


def main():
    if not (shutil.which("tshark") and shutil.which("capinfos")):
        print("skipped: there is no tshark here")
        sys.exit(SKIPPED)
    with tempfile.TemporaryDirectory() as folder:
        READER.update(HOME=folder, XDG_CONFIG_HOME=folder, WIRESHARK_CONFIG_DIR=folder)
        interop = Interop(pathlib.Path(folder))
        (interop.folder / "faults.yaml").write_text(FAULTS, encoding="utf-8")
        kinds = set()
        for name, words in CASES.items():
            pcap, rows, rules = interop.case(name, words)
            for row in rows:
                kinds |= {row["name"], *row["flags"].split(), *row["bth"].split(), f"padding {-int(row['payload_bytes']) % 4}"}
            if name == "two racks":
                interop.damaged(pcap, rows, rules)
        interop.hold("the cases together show all there is", SEEN - kinds)
        print(f"{interop.done} checks over {', '.join(interop.drivers)}, {interop.failed} failed")
        sys.exit(1 if interop.failed else 0)


if __name__ == "__main__":
    main()
