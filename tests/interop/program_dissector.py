#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Our dissector for Wireshark, in tshark. Every frame of simulated captures reads as the simulator's log says, with the
expert infos that it calls for and no others; frames made by hand show what the simulator does not send; captures of RoCEv2
look as they do without the dissector, and those of another encoder of MRC as their bytes are.

Needs tshark with Lua; without it the test is skipped.
"""
import concurrent.futures
import csv
import os
import pathlib
import random
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest
import zlib

import weft
from weft import SKIPPED

SCRIPT = pathlib.Path(os.environ["WEFT_SOURCE"], "apps", "wireshark", "weft_mrc.lua")
GIVEN = pathlib.Path(os.environ["WEFT_SHARED"], "data", "captures", "given")
QUIET_IPV6 = ["-o", "udp.ignore_ipv6_zero_checksum:TRUE"]
FIRST = ["-o", "udp.try_heuristic_first:TRUE"]
SACK, NACK, ACK, CREDIT, DEMAND = 0xDC, 0xDD, 0xD1, 0xF0, 0xF1
WRITES = range(0xC6, 0xCC)
REASONS = {0x01: "trimmed", 0x02: "trimmed at the last hop", 0x06: "no bitmap", 0x07: "no packet buffer", 0x0A: "no resource",
           0x0B: "PSN out of the window", 0x19: "unexpected event"}

CLOS = "fabric: {nics: 16, nics_per_t0: 4, t1_count: 2, planes: 2, link_rate: 100Gb/s}\ntransport: {evs: 32, rto: 80us}\n"
CASES = {  # name: scenario, and options of tshark
    "clean": (CLOS + "traffic: {kind: permutation, bytes: 30001B}\n", []),
    "immediates, IPv4, UDP checksum, the other port": (
        "fabric: {nics: 8, nics_per_host: 4, nics_per_t0: 4, t1_count: 2, planes: 2}\nscaleup: {rate: 450GB/s, delay: 1us}\n"
        "wire: {ip: 4, udp_checksum: true, port: 4971}\n"
        "traffic: {kind: ring, collective: all_reduce, bytes: 128KiB, channels: 2}\n", []),
    "short messages, low half of the EV in the port": (CLOS + "wire: {ev: port-low}\n" + """traffic:
  kind: flows
  flows: [{from: 0, to: 5, bytes: 1B}, {from: 1, to: 5, bytes: 4098B}, {from: 2, to: 6, bytes: 3B}, {from: 2, to: 6, bytes: 7B}]
""", ["-o", "weft_mrc.ev:low half in the port", *FIRST]),
    "loss": (CLOS + "traffic: {kind: permutation, bytes: 60kB}\nfaults: [{kind: loss, at: all, probability: 2%}]\n", []),
    "trims, UDP checksum": (CLOS + "wire: {udp_checksum: true}\nqueue: {bytes: 30000B, ecn_last_hop: true}\n"
                            "traffic: {kind: incast, senders: 12, bytes: 30kB}\n", []),
    "trims on trunks, lengths kept, IPv4": (
        "fabric: {nics: 16, nics_per_t0: 8, t1_count: 1}\nqueue: {bytes: 30000B}\nwire: {ip: 4, trim_lengths: kept}\n"
        "taps: [{at: all}]\ntraffic: {kind: permutation, bytes: 60kB}\n", FIRST),
    "other DSCPs": (CLOS + "queue: {bytes: 30000B, ecn_last_hop: true}\ntraffic: {kind: incast, senders: 12, bytes: 30kB}\n"
                    "wire: {dscp_trimmable: 21, dscp_trimmable_retx: 22, dscp_trimmed: 23, dscp_trimmed_last: 24, dscp_control: 12}\n",
                    [word for name, dscp in (("trimmable", 21), ("trimmable_retx", 22), ("trimmed", 23), ("trimmed_last", 24), ("control", 12))
                     for word in ("-o", f"weft_mrc.{name}:{dscp}")]),
    "SRv6 with an SRH, trims": (CLOS + "wire: {entropy: srv6, srh: true}\nqueue: {bytes: 30000B, ecn_last_hop: true}\n"
                                "traffic: {kind: incast, senders: 12, bytes: 30kB}\n", []),
    "offers": (CLOS.replace("rto: 80us", "rto: 80us, mpr: 2048, dynamic_mpr: true, mpr_budget: 3072, service_time: true, rtt: stamp")
               + "traffic: {kind: incast, senders: 2, bytes: 200kB}\n", []),
    "headers only": (CLOS + "capture: {keep: headers}\nqueue: {bytes: 30000B}\n"
                     "traffic: {kind: incast, senders: 8, bytes: 20kB}\n", []),
}
# What must have been seen in the end. A WRITE_LAST no workload sends; it is made by hand.
SEEN = {"WRITE_FIRST", "WRITE_MIDDLE", "WRITE_LAST_IMM", "WRITE_ONLY", "WRITE_ONLY_IMM", "SACK", "NACK", "ACK", "ce", "trimmed", "last",
        "ar", "rtx", "gap", "older"}


# ---------------------------------------------------------------- tshark

class Tshark:
    """tshark with an empty configuration of its own, so that nobody's preferences take part."""

    def __init__(self, folder):
        self.env = dict(os.environ, WIRESHARK_CONFIG_DIR=str(folder / "config"), LC_ALL="C.UTF-8", TZ="UTC")

    def text(self, capture, *words, has_script=True):
        load = ["-X", f"lua_script:{SCRIPT}"] if has_script else []
        run = subprocess.run(["tshark", *load, "-r", capture, *words], capture_output=True, text=True, env=self.env, check=False,
                             timeout=600)
        assert run.returncode == 0, run.stderr
        return run.stdout

    def rows(self, capture, names, *words):
        """A dictionary of each frame; a field that is there many times has its values joined by |."""
        fields = [word for name in names for word in ("-e", name)]
        out = self.text(capture, "-T", "fields", "-E", "separator=/t", "-E", "occurrence=a", "-E", "aggregator=|", *fields, *words)
        return [dict(zip(names, line.split("\t"))) for line in out.splitlines()]


def reason_to_skip():
    if not shutil.which("tshark"):
        return "there is no tshark"
    with tempfile.TemporaryDirectory() as folder:
        probe_script = pathlib.Path(folder, "probe.lua")
        probe_script.write_text('print("runs " .. get_version())', encoding="utf-8")
        pcap(pathlib.Path(folder, "empty.pcap"), [])
        words = ["tshark", "-X", f"lua_script:{probe_script}", "-r", pathlib.Path(folder, "empty.pcap")]
        run = subprocess.run(words, capture_output=True, text=True, check=False)
    if "runs " in run.stdout:
        return None
    return "this tshark runs no Lua scripts: it is built without Lua, or, from 4.4 on, run by root"


# ---------------------------------------------------------------- what the log promises

class Gaps:
    """The next PSN of each flow, by interface, source, target and QP, as the dissector keeps it."""

    def __init__(self):
        self.next = {}

    def judge(self, flow, psn):
        expected = self.next.get(flow, psn)
        distance = (psn - expected + 0x800000) % 0x1000000 - 0x800000
        if distance >= 0:
            self.next[flow] = (psn + 1) % 0x1000000
        return distance


def psns(first, bitmap):
    """Text of the PSNs whose bits are set: 5-7, 9."""
    runs = []
    for psn in ((first + i) % 0x1000000 for i in range(64) if bitmap >> i & 1):
        if runs and (runs[-1][1] + 1) % 0x1000000 == psn:
            runs[-1][1] = psn
        else:
            runs.append([psn, psn])
    return ", ".join(str(a) if a == b else f"{a}-{b}" for a, b in runs) or "none"


def promised_sack(row):
    psn, first = int(row["psn"]), int(row["psn"]) + int(row["offset"])
    bitmap, penalty = int(row["bitmap"], 16), int(row["penalty"], 16)
    return {
        "mrc.sack.cumulative": row["psn"], "mrc.sack.trigger_offset": row["trigger_offset"], "mrc.sack.offset": row["offset"],
        "mrc.sack.bitmap": f"0x{bitmap:016x}", "mrc.sack.ev": f"0x{int(row['ev_echo'], 16):08x}", "mrc.sack.mark": row["mark"],
        "mrc.sack.mpr": row["mpr"], "mrc.sack.ooo": row["ooo_count"], "mrc.sack.restore": str(penalty >> 7),
        "mrc.sack.penalty": str(penalty & 127), "mrc.sack.rcvd_bytes": row["rcvd_256"], "mrc.sack.timestamp": row["timestamp"],
        "mrc.sack.trigger": str((psn + int(row["trigger_offset"])) % 0x1000000), "mrc.sack.psns": psns(first, bitmap),
        "mrc.sack.psn": "|".join(str((first + i) % 0x1000000) for i in range(64) if bitmap >> i & 1),
    }


def promised_data(row):
    found = {
        "mrc.ts": "1", "mrc.timestamp": row["timestamp"], "mrc.msn": row["msn"], "mrc.rqmsn": row["rqmsn"],
        "mrc.va": f"0x{int(row['va'], 16):016x}", "mrc.rkey": f"0x{int(row['rkey'], 16):08x}", "mrc.dmalen": row["message_bytes"],
        "mrc.payload.len": row["payload_bytes"],
    }
    if row["imm"]:
        found["mrc.imm"] = f"0x{int(row['imm'], 16):08x}"
    return found


def promised_experts(row, gaps):
    flags, found = row["flags"].split(), []
    opcode = int(row["opcode"], 16)
    if "rtx" in row["bth"].split():
        found.append("Retransmission")
    if "ce" in flags:
        found.append("Marked: congestion experienced")
    if "trimmed" in flags:
        found.append("Trimmed at the last hop" if "last" in flags else "Trimmed by a switch")
    if opcode == NACK:
        found.append("NACK: " + REASONS[int(row["reason"], 16)])
    if opcode in WRITES:
        gap = gaps.judge((row["tap"], row["source"], row["target"], row["plane"], row["qpn"]), int(row["psn"]))
        if gap > 0:
            found.append(f"PSN gap: {gap} not seen before this one")
        elif gap < 0 and "Retransmission" not in found:
            found.append(f"PSN older than expected, by {-gap}")
    return sorted(found)


def promised(row, is_v4):
    """All of mrc.* that a line of the log means, as tshark writes it. What is not here must not be there. Of the opcodes for
    which the log has no columns it is the BTH."""
    opcode, flags, bth = int(row["opcode"], 16), row["flags"].split(), row["bth"].split()
    found = {
        "mrc.opcode": f"0x{opcode:02x}", "mrc.dqp": row["qpn"], "mrc.psn": row["psn"], "mrc.ar": str(int("ar" in bth)),
        "mrc.rtx": str(int("rtx" in bth)), "mrc.ts": "0", "mrc.ev": f"0x{int(row['ev'], 16):08x}",
    }
    assert not is_v4 or int(row["ev"], 16) < 0x10000
    if opcode == SACK:
        found |= promised_sack(row)
    elif opcode == NACK:
        found |= {"mrc.nack.reason": row["reason"], "mrc.nack.psn": row["nack_psn"], "mrc.nack.ev": f"0x{int(row['ev_echo'], 16):08x}",
                  "mrc.nack.timestamp": row["timestamp"]}
    elif opcode == ACK:
        syndrome = int(row["reason"], 16)
        found |= {"mrc.ack.syndrome": row["reason"], "mrc.ack.msn": row["msn"], "mrc.ack.kind": str(syndrome >> 5 & 3),
                  "mrc.ack.code": str(syndrome & 31)}
    elif opcode in WRITES:
        found |= promised_data(row)
    if "trimmed" in flags:
        found["mrc.trimmed"] = "2" if "last" in flags else "1"
    found["mrc.class"] = str(promised_class(opcode, flags, bth))
    return found


def promised_class(opcode, flags, bth):
    if "trimmed" in flags:
        return 4 if "last" in flags else 3
    if opcode not in (*WRITES, 0xDE):
        return 5
    return 0 if "trimmable" not in flags else 2 if "rtx" in bth else 1


COMPARED = """mrc.opcode mrc.dqp mrc.psn mrc.ar mrc.rtx mrc.ts mrc.ev mrc.timestamp mrc.msn mrc.rqmsn mrc.va mrc.rkey mrc.dmalen
mrc.imm mrc.payload.len mrc.trimmed mrc.class mrc.sack.cumulative mrc.sack.trigger_offset mrc.sack.offset mrc.sack.bitmap mrc.sack.ev
mrc.sack.mark mrc.sack.mpr mrc.sack.ooo mrc.sack.restore mrc.sack.penalty mrc.sack.rcvd_bytes mrc.sack.timestamp mrc.sack.trigger
mrc.sack.psns mrc.sack.psn mrc.nack.reason mrc.nack.psn mrc.nack.ev mrc.nack.timestamp mrc.ack.syndrome
mrc.ack.msn mrc.ack.kind mrc.ack.code""".split()
# Wireshark's own words about frames whose lengths tell what was cut off.
LENGTHS = ("IPv4 total length exceeds", "IPv6 payload length exceeds", "Bad length value")


class Simulated(weft.InFolder):
    def setUp(self):
        super().setUp()
        self.tshark = Tshark(self.folder)

    def simulate(self, scenario):
        (self.folder / "case.yaml").write_text(scenario, encoding="utf-8")
        capture, log = self.folder / "case.pcapng", self.folder / "case.csv"
        run = weft.run("sim", self.folder / "case.yaml", "--pcap", capture, "--log", log, "--quiet", "--force")
        self.assertEqual((run.returncode, run.stderr), (0, ""))
        with log.open(encoding="utf-8", newline="") as lines:
            return capture, list(csv.DictReader(lines))

    def hold(self, name, scenario, options):
        """Holds the dissection of a scenario's capture to its log; returns the words seen."""
        capture, log = self.simulate(scenario)
        is_v4, is_whole = "ip: 4" in scenario, "keep: headers" not in scenario
        extra = ["mrc.icrc.status", "_ws.malformed", "_ws.expert.message", "mrc.sack.probe", "mrc.probe.id"]
        rows = self.tshark.rows(capture, COMPARED + extra, *QUIET_IPV6, "-o", "weft_mrc.icrc:TRUE", *options)
        self.assertEqual(len(rows), len(log), name)
        gaps, seen, probes = Gaps(), set(), set()
        for number, (row, line) in enumerate(zip(rows, log), 1):
            at, want = f"{name}, frame {number}: {line}", promised(line, is_v4)
            if row["mrc.sack.probe"] in ("1", "True"):  # the probe's number stands in the place of the trigger
                self.assertIn(str(int(row["mrc.sack.trigger_offset"]) & 0xFFFF), probes, at)
                row["mrc.sack.trigger_offset"], row["mrc.sack.trigger"] = line["trigger_offset"], want["mrc.sack.trigger"]
            probes.add(row["mrc.probe.id"])
            has_columns = int(line["opcode"], 16) in (*WRITES, SACK, NACK, ACK)
            found = {field: row[field] for field in COMPARED if row[field] and (has_columns or field in want)}
            self.assertEqual(found, {k: v for k, v in want.items() if v}, at)
            is_trimmed = "trimmed" in line["flags"].split()
            self.assertEqual(row["mrc.icrc.status"], "0" if is_trimmed else "2" if is_whole else "4", at)
            experts = [text for text in row["_ws.expert.message"].split("|") if text and not text.startswith(LENGTHS)]
            self.assertEqual(sorted(experts), promised_experts(line, gaps), at)
            # with SRv6 a switch that trims does not see the inner lengths
            self.assertTrue(not row["_ws.malformed"] or is_trimmed and ("kept" in scenario or "srv6" in scenario), at)
            seen |= {line["name"], *line["flags"].split(), *line["bth"].split()}
            seen |= {word for word in ("gap", "older") if f"PSN {word}" in row["_ws.expert.message"]}
        return seen

    def test_every_field_of_every_frame_is_what_the_log_says(self):
        seen = set()
        for name, (scenario, options) in CASES.items():
            seen |= self.hold(name, scenario, options)
        self.assertEqual(SEEN - seen, set())

    def test_a_trim_of_another_dscp_is_none_until_a_preference_says_so(self):
        scenario, options = CASES["other DSCPs"]
        capture, log = self.simulate(scenario)
        flags = [line["flags"].split() for line in log]
        last = sum("last" in line for line in flags)
        others = sum("trimmed" in line for line in flags) - last
        self.assertTrue(last > 5 and others > 5)
        for words, counts in (([], (0, 0)), (options, (others, last))):
            names = ["mrc.trimmed", "mrc.expert.trimmed", "mrc.expert.trimmed_last"]
            rows = self.tshark.rows(capture, names, *QUIET_IPV6, *words)
            self.assertEqual(tuple(sum(row["mrc.trimmed"] == kind for row in rows) for kind in "12"), counts)
            self.assertEqual(tuple(sum(row[name] != "" for row in rows) for name in names[1:]), counts)

    def test_writes_with_immediate_ask_for_a_solicited_event(self):
        ring = ("fabric: {nics: 8, nics_per_host: 4, nics_per_t0: 4, t1_count: 2, planes: 2}\nscaleup: {rate: 450GB/s, delay: 1us}\n"
                "traffic: {kind: ring, collective: all_reduce, bytes: 128KiB, channels: 2}\n")
        swapped = ["-o", "weft_mrc.se:M before SE"]
        names = ["mrc.opcode", "mrc.bth.se", "mrc.bth.m", "mrc.solicited", "mrc.icrc.status"]
        for keys, words, bits, told in (("", [], ("0", "0"), "0"), ("wire: {solicited: true}\n", [], ("1", "0"), "1"),
                                        ("wire: {solicited: true, se_order: swapped}\n", swapped, ("0", "1"), "1"),
                                        ("wire: {solicited: true, se_order: swapped}\n", [], ("0", "1"), "0")):
            capture, _ = self.simulate(ring + keys)
            rows = self.tshark.rows(capture, names, *QUIET_IPV6, "-o", "weft_mrc.icrc:TRUE", *words)
            asking = [row for row in rows if row["mrc.opcode"] in ("0xc9", "0xcb")]
            self.assertTrue(0 < len(asking) < len(rows))
            for row in rows:
                want = ((*bits, told) if row in asking else ("0", "0", "0"))
                self.assertEqual((row["mrc.bth.se"], row["mrc.bth.m"], row["mrc.solicited"]), want, keys)
                self.assertEqual(row["mrc.icrc.status"], "2")

    def test_credits_are_read(self):
        capture, log = self.simulate(CLOS + "cc: {algorithm: rccc}\ntraffic: {kind: permutation, bytes: 200kB}\n")
        rows = self.tshark.rows(capture, ["mrc.opcode", "mrc.credit.granted", "mrc.class", "mrc.icrc.status", "_ws.malformed"],
                                *QUIET_IPV6, "-o", "weft_mrc.icrc:TRUE")
        credits = [row for row, line in zip(rows, log) if int(line["opcode"], 16) == CREDIT]
        self.assertGreater(len(credits), 20)
        for row in credits:
            self.assertGreater(int(row["mrc.credit.granted"]), 0)
            self.assertEqual([row["mrc.opcode"], row["mrc.class"], row["mrc.icrc.status"], row["_ws.malformed"]], ["0xf0", "5", "2", ""])

    def test_demands_are_read(self):
        words = "cc: {algorithm: rccc, credit_demand: told}\ntraffic: {kind: permutation, bytes: 200kB}\n"
        capture, log = self.simulate(CLOS + words)
        rows = self.tshark.rows(capture, ["mrc.opcode", "mrc.demand.asked", "mrc.demand.unpaid", "mrc.class", "mrc.icrc.status"],
                                *QUIET_IPV6, "-o", "weft_mrc.icrc:TRUE")
        demands = [row for row, line in zip(rows, log) if int(line["opcode"], 16) == DEMAND]
        self.assertGreater(len(demands), 0)
        for row in demands:
            self.assertGreater(int(row["mrc.demand.unpaid"]), 0)
            self.assertEqual([row["mrc.opcode"], row["mrc.class"], row["mrc.icrc.status"]], ["0xf1", "5", "2"])

    def test_a_clean_capture_has_nothing_above_a_chat(self):
        capture, _ = self.simulate(CASES["clean"][0])
        words = ["-Y", '_ws.expert.severity > "Chat"', "-o", "weft_mrc.icrc:TRUE", *QUIET_IPV6]
        self.assertEqual(self.tshark.text(capture, *words), "")


# ---------------------------------------------------------------- frames made by hand

SOURCE, TARGET = bytes.fromhex("fd776566740000000000000000000001"), bytes.fromhex("fd776566740000000000000000000002")


def ipv6(body, nxt=17, tclass=0, label=0x92345, hops=64):
    return struct.pack("!IHBB", 6 << 28 | tclass << 20 | label, len(body), nxt, hops) + SOURCE + TARGET + body


def ipv4(body, tclass=0):
    header = struct.pack("!BBHHHBBH", 0x45, tclass, 20 + len(body), 0, 0x4000, 64, 17, 0) + bytes([198, 18, 0, 1, 198, 18, 0, 2])
    total = sum(struct.unpack("!10H", header))
    total = (total & 0xFFFF) + (total >> 16)
    total = ~((total & 0xFFFF) + (total >> 16)) & 0xFFFF
    return header[:10] + struct.pack("!H", total) + header[12:] + body


def ether(packet, tag=b""):
    kind = 0x800 if packet[0] >> 4 == 4 else 0x86DD
    return bytes.fromhex("020000000002020000000001") + tag + struct.pack("!H", kind) + packet


def udp(body, sport=0xBEEF, dport=4791):
    return struct.pack("!HHHH", sport, dport, 8 + len(body), 0) + body


def icrc(packet):
    """RoCEv2's, over an IP packet without extension headers, from its IP header to the end of the padding."""
    ones = bytearray(packet)
    at = 40 if packet[0] >> 4 == 6 else 20
    masked = [1, 2, 3, 7] if at == 40 else [1, 8, 10, 11]
    for i in [*masked, at + 6, at + 7, at + 8 + 4]:
        ones[i] = 0xFF
    if at == 40:
        ones[0] |= 0x0F
    return struct.pack("<I", zlib.crc32(b"\xff" * 8 + bytes(ones)))


def sealed(mrc, ip=ipv6, damage=0, tclass=0, **more):
    """An IP packet with the bytes of MRC and their ICRC, which covers the lengths, and so itself is counted before."""
    whole = ip(udp(mrc + bytes(4), **more), tclass=tclass)
    right = icrc(whole[:-4])
    return whole[:-4] + bytes([right[0] ^ damage]) + right[1:]


def bth(opcode, dqp=5, psn=0, flags=0, pad=0, byte1=0, variant=0):
    return struct.pack("!BBHII", opcode, byte1 | pad << 4, 0xFFFF, variant << 24 | dqp, flags << 24 | psn)


METH, RETH = struct.pack("!HH", 7, 8), struct.pack("!QII", 0x123456789ABCDEF0, 0xCAFE, 77)
TSETH = struct.pack("!HH", 1000, 1)


def write(opcode=0xCA, payload=b"12345", pad=3, **more):
    """Without a time stamp."""
    return bth(opcode, pad=pad, **more) + METH + RETH + payload + bytes(pad)


def sack(mark=0, probe=0, offset=3, cumulative=100, start=1, bitmap=5, mpr=0, state=0, **more):
    return (bth(SACK, psn=cumulative, **more) + struct.pack("!HhIHHI", mark << 5 | probe << 1, offset, 0xABCD0123, 1, 2, cumulative) +
            struct.pack("!BBhQ", 0, mpr, start, bitmap) + struct.pack("!HHI", 9, 4, state))


def nack(reason, word=0, **more):
    return bth(NACK, **more) + struct.pack("!HBBIHHIBBH", word, reason, 6, 0x11112222, 3, 4, 99, 0x21, 0, 555)


def probe(word=0, **more):
    return bth(0xDE, **more) + struct.pack("!HBBHHHHHH", word, 0, 6, 77, 0, 3, 4, 4242, 1)


def request(op, ports=0, word=0, **more):
    return bth(0xD8, dqp=2, **more) + struct.pack("!HBBIIHH", word | op, 0, 6, ports, 0, 555, 1)


def response(byte1, reserved=0, **more):
    return bth(0xD9, dqp=2, **more) + bytes([0, byte1]) + bytes([reserved]) + bytes(25) + struct.pack("!H", 556) + bytes(6)


def made():
    """name, frame, fields of mrc.* that must be so, expert infos without those of PSN order, words of the info column."""
    yield ("WRITE Last, no time stamp", ether(sealed(write(0xC8))),
           {"opcode": "0xc8", "ts": "0", "timestamp": "", "rqmsn": "7", "msn": "8", "va": "0x123456789abcdef0", "rkey": "0x0000cafe",
            "dmalen": "77", "payload.len": "5", "bth.pad": "3", "padding": "000000", "ev": "0xbeef2345", "icrc.status": "2"}, [],
           "WRITE Last QP 5 PSN 0 va 0x123456789abcdef0 5 B")
    yield ("immediate, IPv4, other port", ether(sealed(bth(0xC9, flags=0x90) + METH + TSETH + RETH + b"\xde\xad\xbe\xef", ip=ipv4, dport=4971)),
           {"imm": "0xdeadbeef", "ev": "0x0000beef", "ar": "1", "timestamp": "1000", "payload.len": "0", "icrc.status": "2"}, [],
           "imm 0xdeadbeef [AR]")
    yield ("ACK", ether(sealed(bth(0xD1, psn=50) + bytes([0x1F]) + b"\x00\x00\x09")),
           {"ack.kind": "0", "ack.code": "31", "ack.syndrome": "0x1f", "ack.msn": "9", "icrc.status": "2"}, [],
           "Transport ACK QP 5 PSN 50 MSN 9")
    yield ("NAK", ether(sealed(bth(0xD1, psn=50) + bytes([0x62]) + b"\x00\x00\x09")), {"ack.kind": "3", "ack.code": "2"},
           ["NAK: remote access"], "[NAK: remote access]")
    yield ("NAK, reserved bit", ether(sealed(bth(0xD1) + bytes([0xEF]) + b"\x00\x00\x09")), {"ack.kind": "3", "ack.reserved": "1"},
           ["NAK: code 15", "Reserved bits are not 0"], "NAK: code 15")
    yield ("endpoint request, ports", ether(sealed(request(0, 0xF0, psn=9))),
           {"request.op": "0", "request.ports": "0x000000f0", "request.timestamp": "555", "request.vendor": "0x06", "psn": "9"}, [],
           "Endpoint Request QP 2 request 9 port status up 0xf0")
    yield ("endpoint request, EV probe", ether(sealed(request(1, psn=0x10009))), {"request.op": "1", "request.stamp_type": "1"}, [],
           "request 9 EV probe")
    yield ("endpoint response", ether(sealed(response(0x10, psn=9))), {"response.op": "1", "response.op_low": "0", "response.timestamp": "556"},
           [], "Endpoint Response QP 2 request 9 EV probe")
    yield ("endpoint response, other reading", ether(sealed(response(4))), {"response.op": "0", "response.op_low": "1"}, [], "EV probe")
    yield ("endpoint response, reserved", ether(sealed(response(0x43, reserved=1))), {}, ["Reserved bits are not 0"] * 3, "port status")
    yield ("probe", ether(sealed(probe())),
           {"probe.id": "77", "probe.source_context": "0x0003", "probe.target_context": "0x0004", "probe.timestamp": "4242",
            "payload.len": "", "probe.vendor": "0x06"}, [], "Probe QP 5 probe 77")
    yield ("SACK, all but 0", ether(sealed(sack(mark=2, offset=-2, cumulative=0xFFFFFE, start=-1, bitmap=1 << 63 | 0b1011, mpr=32,
                                                state=0x85000011))),
           {"sack.mark": "2", "sack.trigger_offset": "-2", "sack.trigger": "16777212", "sack.offset": "-1", "sack.mpr": "32",
            "sack.bitmap": "0x800000000000000b", "sack.psns": "16777213-16777214, 0, 60", "sack.psn": "16777213|16777214|0|60",
            "sack.ev": "0xabcd0123", "sack.source_context": "0x0001", "sack.target_context": "0x0002", "sack.timestamp": "9",
            "sack.ooo": "4", "sack.restore": "1", "sack.penalty": "5", "sack.rcvd_bytes": "17", "sack.probe_id": ""}, [],
           "SACK QP 5 cum 16777214 -2 bits 4 ooo 4 [skip always]")
    yield ("SACK of a probe", ether(sealed(sack(mark=1, probe=1, offset=-1, bitmap=0))),
           {"sack.mark": "1", "sack.probe": "1", "sack.probe_id": "65535", "sack.trigger": "", "sack.psns": "none", "sack.psn": ""}, [],
           "cum 100 probe 65535 bits 0 ooo 4 [skip once]")
    for reason in (*REASONS, 0x55):
        word = REASONS.get(reason, f"reason 0x{reason:02x}")
        yield (f"NACK {reason}", ether(sealed(nack(reason))),
               {"nack.reason": f"0x{reason:02x}", "nack.ev": "0x11112222", "nack.psn": "99", "nack.timestamp": "555", "nack.vendor": "0x06",
                "nack.source_context": "0x0003", "nack.target_context": "0x0004", "nack.cc_type": "2", "nack.cc_flags": "1"},
               [f"NACK: {word}"], f"NACK QP 5 PSN 99 {word}")
    yield ("BTH, reserved bits", ether(sealed(write(flags=0x4F, byte1=0xC1, variant=1))),
           {"bth.se": "1", "bth.m": "1", "bth.tver": "1", "bth.variant": "0x01", "icrc.status": "2"}, ["Reserved bits are not 0"] * 4, "WRITE")
    yield ("probe, reserved bits", ether(sealed(probe(word=0x7F))), {"probe.reserved": "127"}, ["Reserved bits are not 0"], "Probe")
    yield ("types", ether(sealed(nack(1, word=0xFF80))), {"nack.type": "15", "nack.next": "31", "nack.reserved": "0"}, ["NACK: trimmed"], "NACK")
    yield ("unknown opcode", ether(sealed(bth(0xD5) + b"unknown!")), {"opcode": "0xd5", "unknown": b"unknown!".hex(), "icrc.status": "2"},
           ["Unknown opcode"], "opcode 0xd5 QP 5 PSN 0")
    yield ("bad ICRC", ether(sealed(write(), damage=1)), {"icrc.status": "3"}, ["Bad ICRC"], "WRITE Only")
    yield ("marked", ether(sealed(write(flags=0x20), tclass=3)), {"rtx": "1", "icrc.status": "2"},
           ["Marked: congestion experienced", "Retransmission"], "[RTX] [CE]")
    yield from made_short()
    yield from made_inside()


def made_short():
    for name, length, header in (("BTH", 5, "BTH"), ("METH", 14, "METH"), ("RETH", 20, "RETH"), ("RETH, nothing of it", 16, "RETH")):
        yield (f"ends inside the {name}", ether(ipv6(udp(write()[:length]))), {"rkey": ""}, [f"The packet ends inside the {header}"],
               "incomplete" if length < 12 else "WRITE Only")
    yield ("no room for the ICRC", ether(ipv6(udp(write(payload=b"", pad=3)))), {"payload.len": "0", "icrc": ""},
           ["No room for padding and ICRC"], "0 B")
    for dscp, trimmed, words in ((12, "1", "Trimmed by a switch"), (16, "2", "Trimmed at the last hop")):
        whole = write(flags=0x10)[:16] + TSETH + RETH
        yield (f"trim, DSCP {dscp}", ether(ipv6(udp(whole), tclass=dscp << 2)), {"trimmed": trimmed, "payload.len": "0", "icrc.status": "0"},
               [words], "0 B [trimmed ")
        yield (f"trim before the RETH, DSCP {dscp}", ether(ipv6(udp(whole[:22]), tclass=dscp << 2)),
               {"trimmed": trimmed, "timestamp": "1000", "rkey": "", "incomplete": RETH[:2].hex()}, [words], "WRITE Only QP 5 PSN 0 [trimmed")
    yield ("a SACK is never trimmed", ether(sealed(sack(), tclass=12 << 2)), {"trimmed": "", "icrc.status": "2"}, [], "SACK")


def made_inside():
    """Behind other headers: SRv6, of which a switch trims and marks the outer one, and a VLAN tag."""
    inner6, inner4 = sealed(write()), sealed(write(), ip=ipv4)
    routing = bytes([41, 2, 4, 0, 0, 0, 0, 0]) + TARGET  # SRH, one segment
    read = {"icrc.status": "2", "va": "0x123456789abcdef0"}
    yield "SRv6", ether(ipv6(inner6, nxt=41, label=0x99999)), {"ev": "0xbeef2345", **read}, [], "WRITE Only"
    yield "SRv6, SRH", ether(ipv6(routing + inner6, nxt=43, label=0x99999)), {"ev": "0xbeef2345", **read}, [], "WRITE Only"
    yield "IPv4 in IPv6", ether(ipv6(inner4, nxt=4, label=0x99999)), {"ev": "0x0000beef", **read}, [], "WRITE Only"
    yield ("SRv6, outer mark", ether(ipv6(inner6, nxt=41, tclass=3)), read, ["Marked: congestion experienced"], "[CE]")
    yield ("SRv6, outer trim", ether(ipv6(ipv6(udp(write(flags=0x10)[:16] + TSETH + RETH)), nxt=41, tclass=16 << 2)),
           {"trimmed": "2", "rkey": "0x0000cafe"}, ["Trimmed at the last hop"], "[trimmed at the last hop]")
    yield "VLAN", ether(inner6, tag=bytes.fromhex("81000064")), read, [], "WRITE Only"


# header: a frame that ends with it and the ICRC, and the header's reserved bits
BITS = {
    "BTH": (ether(sealed(bth(0xD5))), "0f0000" "ff000000" "4f000000"),  # without the opcode
    "METH, TSETH, RETH, ImmDt": (ether(sealed(bth(0xCB, flags=0x10) + METH + TSETH + RETH + bytes(4))),
                                 "00000000" "00007ff0" + "00" * 16 + "00000000"),
    "AETH": (ether(sealed(bth(0xD1) + bytes(4))), "80000000"),
    "SETH, CC_STATE": (ether(sealed(sack())), "001d0000" "00000000" "00000000" "ff000000" "00000000" "0000000000000000" "0000800000000000"),
    "NETH": (ether(sealed(nack(1))), "007f0000" "00000000" "00000000" "ff000000" "00ff0000"),
    "PETH": (ether(sealed(probe())), "007fff00" "0000ffff" "00000000" "00007ff0"),
    "ERTH": (ether(sealed(request(0))), "007cff00" "00000000" "ffffffff" "00007ff0"),
    "EETH": (ether(sealed(response(0))), "ffc3" + "ff" * 26 + "0000" + "ff" * 6),
}


def pcap(path, frames, snap=None):
    """Of each frame no more than `snap` bytes are captured."""
    with path.open("wb") as out:
        out.write(struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1))
        for number, frame in enumerate(frames):
            held = frame if snap is None else frame[:snap]
            out.write(struct.pack("<IIII", number, 0, len(held), len(frame)) + held)


class Made(weft.InFolder):
    def setUp(self):
        super().setUp()
        self.tshark = Tshark(self.folder)
        self.capture = self.folder / "made.pcap"

    def rows(self, frames, names, *words):
        pcap(self.capture, frames)
        return self.tshark.rows(self.capture, names, *QUIET_IPV6, *words)

    def test_every_header_is_read_bit_by_bit(self):
        all_made = list(made())
        names = sorted({"mrc." + name for _, _, fields, _, _ in all_made for name in fields})
        checked = ["-o", "weft_mrc.icrc:TRUE", "-o", "weft_mrc.gaps:FALSE"]
        rows = self.rows([frame for _, frame, _, _, _ in all_made], [*names, "_ws.expert.message"], *checked)
        infos = self.tshark.text(self.capture, "-o", 'gui.column.format:"I","%i"', *checked).splitlines()
        self.assertEqual((len(rows), len(infos)), (len(all_made), len(all_made)))
        for row, info, (name, _, fields, experts, words) in zip(rows, infos, all_made):
            with self.subTest(name):
                self.assertEqual({field: row["mrc." + field] for field in fields}, fields)
                found = [text.split(": should")[0] for text in row["_ws.expert.message"].split("|") if text]
                self.assertEqual(sorted(found), sorted(experts))
                self.assertIn(words, info)

    def test_every_bit_shows_and_reserved_ones_are_told(self):
        for name, (frame, reserved) in BITS.items():
            at, bits = len(frame) - 4 - len(reserved) // 2, len(reserved) * 4
            flipped = [bytearray(frame) for _ in range(bits)]
            for i, copy in enumerate(flipped):
                copy[at + i // 8] ^= 0x80 >> i % 8
            pcap(self.capture, [frame, *flipped])
            seen = [text.split("Multipath Reliable Connection")[1] for text in
                    self.tshark.text(self.capture, "-O", "weft_mrc", "-o", "weft_mrc.gaps:FALSE").split("\nFrame ")]
            self.assertEqual(len(set(seen)), bits + 1, name)  # no two of them look alike
            told = "".join("1" if "Reserved bits" in text else "0" for text in seen[1:])
            self.assertEqual(f"{int(told, 2):0{len(reserved)}x}", reserved, name)

    def test_psns_are_followed_around_their_end(self):
        flow = [(0xFFFFFE, 0), (0xFFFFFF, 0), (0, 0), (3, 0), (1, 0), (2, 0x20), (4, 0)]
        frames = [ether(sealed(write(psn=psn, flags=flags))) for psn, flags in flow]
        frames.insert(3, ether(sealed(write(psn=1000, dqp=6))))
        rows = self.rows(frames, ["mrc.gap", "_ws.expert.message", "_ws.expert.severity"])
        self.assertEqual([row["mrc.gap"] for row in rows], ["", "", "", "", "2", "-3", "-2", ""])
        self.assertEqual([row["_ws.expert.message"] for row in rows],
                         ["", "", "", "", "PSN gap: 2 not seen before this one", "PSN older than expected, by 3", "Retransmission", ""])
        twice = self.tshark.rows(self.capture, ["mrc.gap"], "-2")
        self.assertEqual([row["mrc.gap"] for row in twice], [row["mrc.gap"] for row in rows])

    def test_preferences_say_where_and_how(self):
        frames = [ether(sealed(write(), dport=5000)), ether(sealed(write())), ether(ipv6(udp(write()[:32]), tclass=48 << 2))]
        names = ["mrc.ev", "mrc.trimmed"]
        rows = self.rows(frames, names)
        self.assertEqual([row["mrc.ev"] for row in rows], ["", "0xbeef2345", "0xbeef2345"])
        rows = self.rows(frames, names, "-o", "weft_mrc.ports:5000", "-o", "weft_mrc.ev:low half in the port")
        self.assertEqual([row["mrc.ev"] for row in rows], ["0x2345beef", "", ""])
        rows = self.rows(frames, names, "-o", "weft_mrc.trimmed:48", "-o", "weft_mrc.trimmed_last:49")
        self.assertEqual([row["mrc.trimmed"] for row in rows], ["", "", "1"])

    def test_only_the_opcode_and_the_target_port_make_a_packet_ours(self):
        rc = struct.pack("!BBHII", 0x0A, 0, 0xFFFF, 5, 0) + RETH + b"1234"
        frames = [ether(sealed(rc)), ether(sealed(rc, dport=4971)), ether(sealed(write(), sport=4791, dport=9999)),
                  ether(sealed(write(), sport=53))]
        maker = self.rows([ether(sealed(bth(CREDIT) + bytes(more))) for more in (0, 3, 4, 5, 40)], ["mrc.opcode"])
        self.assertEqual([row["mrc.opcode"] for row in maker], ["", "", "0xf0", "", ""])  # others of that number are not ours
        maker = self.rows([ether(sealed(bth(DEMAND) + bytes(more))) for more in (4, 7, 8, 9)], ["mrc.opcode"])
        self.assertEqual([row["mrc.opcode"] for row in maker], ["", "", "0xf1", ""])
        names = ["mrc", "mrc.psn", "infiniband.bth.psn", "dns"]
        for words, last in (([], "dns"), (FIRST, "mrc")):
            rows = self.rows(frames, names, *words)
            self.assertEqual([bool(row["mrc.psn"]) for row in rows], [False, False, False, last == "mrc"])
            self.assertEqual([bool(row["infiniband.bth.psn"]) for row in rows[:3]], [True, False, True])  # as without us
            self.assertEqual(bool(rows[3]["dns"]), last == "dns")  # the lower port comes first, if nobody is asked before

    def test_a_port_is_lent_for_one_frame(self):
        """50000 and 5353 (mDNS) are lent to RoCEv2 for the frames that come from there, and given back."""
        rc = struct.pack("!BBHII", 0x0A, 0, 0xFFFF, 5, 0) + RETH + b"1234"
        ports = [(50000, 4791), (50000, 9999), (50000, 4791), (5353, 4791), (5353, 9999), (4791, 50000), (9999, 50000)]
        rows = self.rows([ether(sealed(rc, sport=sport, dport=dport)) for sport, dport in ports], ["infiniband", "mdns", "frame.protocols"])
        self.assertEqual([bool(row["infiniband"]) for row in rows], [4791 in pair for pair in ports])
        self.assertEqual([bool(row["mdns"]) for row in rows], [pair == (5353, 9999) for pair in ports])
        self.assertNotIn("weft_mrc", "".join(row["frame.protocols"] for row in rows))

    def test_no_bytes_and_no_length_trip_it(self):
        draw = random.Random(1)
        whole = [frame for _, frame, _, _, _ in made()]
        frames = [frame[:length] for frame in whole for length in range(54, len(frame))]
        frames += [ether(ipv6(udp(frame[62:length]))) for frame in whole for length in range(62, len(frame))]
        for opcode in (*range(0xC0, 0xE0), CREDIT, DEMAND):
            for _ in range(40):
                body = bytes([opcode]) + draw.randbytes(draw.randrange(80))
                frames.append(ether(ipv6(udp(body, sport=draw.randrange(65536)), tclass=draw.choice([0, 3, 48, 64]))))
        for words in ([], [*FIRST, "-o", "weft_mrc.icrc:TRUE"]):
            text = "".join(row["_ws.expert.message"] + row["_ws.malformed"] for row in self.rows(frames, ["_ws.expert.message", "_ws.malformed"],
                                                                                                  *words))
            self.assertIn("Unknown opcode", text)
            self.assertNotIn("Lua", text)
        for snap in range(55, 140, 3):
            pcap(self.capture, whole, snap)
            rows = self.tshark.rows(self.capture, ["_ws.expert.message"], *QUIET_IPV6)
            self.assertNotIn("Lua", "".join(row["_ws.expert.message"] for row in rows))


# ---------------------------------------------------------------- captures of others

class Given(unittest.TestCase):
    def setUp(self):
        if not GIVEN.is_dir():
            self.skipTest("there are no captures of others")
        self.room = tempfile.TemporaryDirectory()
        self.tshark = Tshark(pathlib.Path(self.room.name))
        self.addCleanup(self.room.cleanup)

    def rocev2(self, capture):
        """What the dissector changes in a capture. A frame from a port below 4791 lists us among its protocols, by default."""
        plain = self.tshark.text(capture, "-V", has_script=False)
        asked = self.tshark.text(capture, "-V")
        if self.tshark.text(capture, "-Y", "udp.srcport < 4791 && udp.dstport == 4791", has_script=False):
            asked = asked.replace(":udp:weft_mrc:infiniband", ":udp:infiniband")
        first = self.tshark.text(capture, "-V", *FIRST)
        return [what for what, text in (("by default", asked), ("asked first", first)) if text != plain]

    def test_rocev2_looks_as_it_does_without_us(self):
        captures = sorted((GIVEN / "roce").iterdir())
        self.assertGreater(len(captures), 15)
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            changed = dict(zip((capture.name for capture in captures), pool.map(self.rocev2, captures)))
        self.assertEqual({name: what for name, what in changed.items() if what}, {})

    def read(self, name, *words):
        names = ["udp.payload", "udp.srcport", "ipv6.flow", "mrc.opcode", "mrc.dqp", "mrc.psn", "mrc.rtx", "mrc.ev", "mrc.va", "mrc.rkey",
                 "mrc.dmalen", "mrc.timestamp", "mrc.icrc", "_ws.malformed", "_ws.expert.message"]
        return self.tshark.rows(GIVEN / "other" / name, names, *QUIET_IPV6, *words)

    def hold(self, row):
        """Holds a row to the bytes that it comes from."""
        data = bytes.fromhex(row["udp.payload"].replace(":", ""))
        opcode, flags_psn = data[0], struct.unpack("!I", data[8:12])[0]
        label = int(row["ipv6.flow"].split("|")[-1], 16) & 0xFFFF
        want = {
            "mrc.opcode": f"0x{opcode:02x}", "mrc.dqp": str(int.from_bytes(data[5:8], "big")), "mrc.psn": str(flags_psn & 0xFFFFFF),
            "mrc.rtx": str(flags_psn >> 29 & 1), "mrc.ev": f"0x{int(row['udp.srcport']) << 16 | label:08x}",
            "mrc.icrc": f"0x{int.from_bytes(data[-4:], 'little'):08x}", "_ws.malformed": "",
        }
        if opcode in WRITES:
            at = 20 if flags_psn >> 28 & 1 else 16
            va, rkey, dmalen = struct.unpack("!QII", data[at:at + 16])
            want |= {"mrc.va": f"0x{va:016x}", "mrc.rkey": f"0x{rkey:08x}", "mrc.dmalen": str(dmalen),
                     "mrc.timestamp": str(int.from_bytes(data[16:18], "big")) if at == 20 else ""}
        self.assertEqual({name: row[name] for name in want}, want)
        return opcode

    def test_another_encoders_packets_are_read(self):
        rows = self.read("mrc_thirdparty_mixed.pcap", "-o", "weft_mrc.gaps:FALSE")
        self.assertEqual({self.hold(row) for row in rows}, {*WRITES, 0xD8, 0xD9, SACK, NACK, 0xDE})
        experts = [text for row in rows for text in row["_ws.expert.message"].split("|") if text]
        self.assertEqual(sorted(experts), ["NACK: trimmed", "Retransmission"])

    def test_another_encoders_icrc_is_another(self):
        rows = self.read("mrc_thirdparty_mixed.pcap", "-o", "weft_mrc.icrc:TRUE")
        self.assertTrue(all("Bad ICRC: should be" in row["_ws.expert.message"] for row in rows))

    def test_packets_behind_srv6_are_read(self):
        rows = self.read("mrc_thirdparty_srv6_usid.pcap")
        self.assertEqual([self.hold(row) for row in rows], [0xCA] * 24)
        self.assertEqual({row["_ws.expert.message"] for row in rows}, {""})  # the PSNs pass their end without a gap


if __name__ == "__main__":
    missing = reason_to_skip()
    if missing:
        print(f"skipped: {missing}")
        sys.exit(SKIPPED)
    unittest.main()
