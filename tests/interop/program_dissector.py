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

WEFT = os.environ["WEFT"]
SCRIPT = pathlib.Path(os.environ["WEFT_SOURCE"], "apps", "wireshark", "weft_mrc.lua")
GIVEN = pathlib.Path(os.environ["WEFT_SHARED"], "data", "captures", "given")
QUIET_IPV6 = ["-o", "udp.ignore_ipv6_zero_checksum:TRUE"]
FIRST = ["-o", "udp.try_heuristic_first:TRUE"]
SACK, NACK = 0xDC, 0xDD
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
    "headers only": (CLOS + "capture: {keep: headers}\nqueue: {bytes: 30000B}\ntraffic: {kind: incast, senders: 8, bytes: 20kB}\n", []),
}
# What must have been seen in the end. A WRITE_LAST no workload sends; it is made by hand.
SEEN = {"WRITE_FIRST", "WRITE_MIDDLE", "WRITE_LAST_IMM", "WRITE_ONLY", "WRITE_ONLY_IMM", "SACK", "NACK", "ce", "trimmed", "last",
        "ar", "rtx", "gap", "older"}


# ---------------------------------------------------------------- tshark

class Tshark:
    """tshark with an empty configuration of its own, so that nobody's preferences take part."""

    def __init__(self, folder):
        self.env = dict(os.environ, WIRESHARK_CONFIG_DIR=str(folder / "config"), LC_ALL="C.UTF-8", TZ="UTC")

    def text(self, capture, *words, has_script=True):
        load = ["-X", f"lua_script:{SCRIPT}"] if has_script else []
        run = subprocess.run(["tshark", *load, "-r", capture, *words], capture_output=True, text=True, env=self.env, check=False,
                             timeout=120)
        assert run.returncode == 0, run.stderr
        return run.stdout

    def rows(self, capture, names, *words):
        """A dictionary of each frame; a field that is there many times has its values joined by |."""
        fields = [word for name in names for word in ("-e", name)]
        out = self.text(capture, "-T", "fields", "-E", "separator=/t", "-E", "occurrence=a", "-E", "aggregator=|", *fields, *words)
        return [dict(zip(names, line.split("\t"))) for line in out.splitlines()]


def with_lua():
    if not shutil.which("tshark"):
        return "there is no tshark"
    version = " ".join(subprocess.run(["tshark", "--version"], capture_output=True, text=True, check=False).stdout.split())
    return "tshark has no Lua" if "with Lua" not in version else None


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
        "mrc.sack.mpr": "0", "mrc.sack.ooo": row["ooo_count"], "mrc.sack.restore": str(penalty >> 7),
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
    """All of mrc.* that a line of the log means, as tshark writes it. What is not here must not be there."""
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
    else:
        found |= promised_data(row)
    if "trimmed" in flags:
        found["mrc.trimmed"] = "2" if "last" in flags else "1"
    return found


COMPARED = """mrc.opcode mrc.dqp mrc.psn mrc.ar mrc.rtx mrc.ts mrc.ev mrc.timestamp mrc.msn mrc.rqmsn mrc.va mrc.rkey mrc.dmalen
mrc.imm mrc.payload.len mrc.trimmed mrc.sack.cumulative mrc.sack.trigger_offset mrc.sack.offset mrc.sack.bitmap mrc.sack.ev
mrc.sack.mark mrc.sack.mpr mrc.sack.ooo mrc.sack.restore mrc.sack.penalty mrc.sack.rcvd_bytes mrc.sack.timestamp mrc.sack.trigger
mrc.sack.psns mrc.sack.psn mrc.nack.reason mrc.nack.psn mrc.nack.ev mrc.nack.timestamp""".split()
# Wireshark's own words about frames whose lengths tell what was cut off.
LENGTHS = ("IPv4 total length exceeds", "Bad length value")


class Simulated(unittest.TestCase):
    def setUp(self):
        self.room = tempfile.TemporaryDirectory()
        self.folder = pathlib.Path(self.room.name)
        self.tshark = Tshark(self.folder)

    def tearDown(self):
        self.room.cleanup()

    def simulate(self, scenario):
        (self.folder / "case.yaml").write_text(scenario, encoding="utf-8")
        capture, log = self.folder / "case.pcapng", self.folder / "case.csv"
        run = subprocess.run([WEFT, "sim", self.folder / "case.yaml", "--pcap", capture, "--log", log, "--quiet"], capture_output=True,
                             text=True, check=False, timeout=60)
        self.assertEqual((run.returncode, run.stderr), (0, ""))
        with log.open(encoding="utf-8", newline="") as lines:
            return capture, list(csv.DictReader(lines))

    def hold(self, name, scenario, options):
        """Holds the dissection of a scenario's capture to its log; returns the words seen."""
        capture, log = self.simulate(scenario)
        is_v4, is_whole = "ip: 4" in scenario, "keep: headers" not in scenario
        extra = ["mrc.icrc.status", "_ws.malformed", "_ws.expert.message"]
        rows = self.tshark.rows(capture, COMPARED + extra, *QUIET_IPV6, "-o", "weft_mrc.icrc:TRUE", *options)
        self.assertEqual(len(rows), len(log), name)
        gaps, seen = Gaps(), set()
        for number, (row, line) in enumerate(zip(rows, log), 1):
            at, want = f"{name}, frame {number}: {line}", promised(line, is_v4)
            self.assertEqual({field: row[field] for field in COMPARED if row[field]}, {k: v for k, v in want.items() if v}, at)
            is_trimmed = "trimmed" in line["flags"].split()
            self.assertEqual(row["mrc.icrc.status"], "0" if is_trimmed else "2" if is_whole else "4", at)
            experts = [text for text in row["_ws.expert.message"].split("|") if text and not text.startswith(LENGTHS)]
            self.assertEqual(sorted(experts), promised_experts(line, gaps), at)
            self.assertTrue(not row["_ws.malformed"] or is_trimmed and "kept" in scenario, at)
            seen |= {line["name"], *line["flags"].split(), *line["bth"].split()}
            seen |= {word for word in ("gap", "older") if f"PSN {word}" in row["_ws.expert.message"]}
        return seen

    def test_every_field_of_every_frame_is_what_the_log_says(self):
        seen = set()
        for name, (scenario, options) in CASES.items():
            seen |= self.hold(name, scenario, options)
        self.assertEqual(SEEN - seen, set())

    def test_a_clean_capture_has_nothing_above_a_chat(self):
        capture, _ = self.simulate(CASES["clean"][0])
        words = ["-Y", '_ws.expert.severity > "Chat"', "-o", "weft_mrc.icrc:TRUE", *QUIET_IPV6]
        self.assertEqual(self.tshark.text(capture, *words), "")


if __name__ == "__main__":
    missing = with_lua()
    if missing:
        print(f"skipped: {missing}")
        sys.exit(77)
    unittest.main()
