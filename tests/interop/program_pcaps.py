#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The captures in pcaps/: the program makes each of them again byte for byte, without frames and through frames; tshark with
our dissector reads what lies beside each as text, and finds no expert infos but those named here; each shows what it is
there to show.

Without tshark with Lua only the bytes are compared.
"""
import collections
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
# pylint: disable=wrong-import-position
from program_dissector import QUIET_IPV6, Tshark, reason_to_skip  # noqa: E402
from program_tshark import blocks, frames  # noqa: E402
from weft import SOURCE, WEFT

PCAPS = pathlib.Path(SOURCE, "pcaps")
BYTES_MAX = 60_000
SECTION, NO_PROGRAM = 0x0A0D0D0A, 28  # type of the header of a section, and its length when it says nothing
WHY_NOT = reason_to_skip()
GAP, OLDER, RTX, CE = "PSN gap", "PSN older than expected", "Retransmission", "Marked: congestion experienced"
LAST_HOP = {"Trimmed at the last hop", "NACK: trimmed at the last hop", GAP, OLDER, RTX}
LENGTHS = {"IPv6 payload length exceeds framing length", "Bad length value"}  # what Wireshark itself says of lengths before a cut
EXPERTS = {  # of each capture, without their numbers
    "clean-write": set(), "headers-only": set(), "immediates": set(), "ipv4": set(), "ring-credits": set(),
    "stev": {GAP}, "srv6": {GAP}, "usid": {GAP}, "srh": {GAP}, "reorder": {GAP, OLDER}, "port-down": {GAP, RTX}, "loss-hole": {GAP, RTX},
    "loss-timer": {RTX}, "path-retired": {GAP, RTX}, "backup-path": {GAP, RTX},
    "retry-exhausted": {RTX}, "trim-last-hop": LAST_HOP, "udp-checksum": LAST_HOP,
    "rocev2-clean-write": set(), "rocev2-go-back-n": set(), "rocev2-cnp": set(),
    "trim-on-the-way": {"Trimmed by a switch", "NACK: trimmed", GAP, OLDER, RTX, CE},
}
FIELDS = """frame.number frame.time_relative frame.interface_name frame.len frame.cap_len ip.version udp.srcport udp.checksum udp.length
ipv6.dst ipv6.flow ipv6.routing.segleft ipv6.routing.srh.addr mrc.opcode mrc.psn mrc.rtx mrc.ar mrc.ev mrc.imm mrc.trimmed mrc.icrc.status mrc.sack.ev mrc.sack.cumulative mrc.sack.psn
mrc.nack.psn mrc.request.ports mrc.probe.id mrc.sack.probe mrc.sack.probe_id ipv6.tclass.ecn infiniband.bth.opcode infiniband.bth.destqp infiniband.bth.psn infiniband.reth.dmalen
infiniband.aeth.syndrome infiniband.aeth.msn infiniband.immdt _ws.malformed _ws.expert.message""".split()
SACK, NACK, PROBE, WRITE_ONLY = "0xdc", "0xdd", "0xde", "0xca"
REQUEST, RESPONSE = "0xd8", "0xd9"
RC_WRITE, RC_ACK, RC_CNP = ("6", "7", "9"), "17", "129"  # of RoCEv2: First, Middle, Last with immediate
ACK_FINE, NAK_SEQUENCE = "31", "96"  # syndromes


def names(suffix):
    return {path.stem for path in PCAPS.glob("*" + suffix)}


def made(folder, driver):
    words = {**os.environ, "WEFT_DRIVER": driver}
    run = subprocess.run([PCAPS / "make", folder], env=words, capture_output=True, text=True, timeout=600, check=False)
    assert (run.returncode, run.stdout, run.stderr) == (0, "", ""), run.stderr


class Bytes(unittest.TestCase):
    def test_each_capture_has_its_scenario_its_text_and_its_line_in_the_readme(self):
        readme = (PCAPS / "README.md").read_text(encoding="utf-8")
        rows = set(re.findall(r"^\| `([\w-]+)` \|", readme, re.MULTILINE))
        self.assertEqual(rows, set(EXPERTS))
        for suffix in (".yaml", ".pcapng", ".txt"):
            self.assertEqual(names(suffix), rows, suffix)

    def test_captures_are_small_and_name_no_program(self):
        for path in PCAPS.glob("*.pcapng"):
            data = path.read_bytes()
            self.assertLess(len(data), BYTES_MAX, path)
            self.assertGreater(len(list(frames(data))), 0, path)
            _, kind, length = next(blocks(data))
            self.assertEqual((kind, length), (SECTION, NO_PROGRAM), path)

    def dscps(self, name, *words):
        """DSCPs of a capture's frames, all of them plain IPv6."""
        with tempfile.TemporaryDirectory() as folder:
            raw = pathlib.Path(folder) / "raw.pcapng"
            sets = [word for assignment in words for word in ("--set", assignment)]
            command = [WEFT, "sim", PCAPS / f"{name}.yaml", "--quiet", *sets, "--pcap", raw]
            run = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
            self.assertEqual(run.returncode, 0, run.stderr)
            found = [frame for _, frame, _ in frames(raw.read_bytes())]
            return {(frame[14] & 15) << 2 | frame[15] >> 6 for frame in found}

    def test_each_class_has_the_dscp_that_a_scenario_gives_it(self):
        sets = [f"wire.dscp_{name}={value}" for name, value in (
            ("trimmable", 21), ("trimmable_retx", 22), ("trimmed", 23), ("trimmed_last", 24), ("control", 25), ("no_trim", 26))]
        self.assertEqual(self.dscps("trim-last-hop"), {4, 8, 16, 46})
        self.assertEqual(self.dscps("trim-last-hop", *sets), {21, 22, 24, 25})
        self.assertEqual(self.dscps("trim-on-the-way"), {4, 8, 12, 46})
        self.assertEqual(self.dscps("trim-on-the-way", *sets), {21, 22, 23, 25})
        self.assertEqual(self.dscps("rocev2-clean-write", "wire.dscp_no_trim=26") - self.dscps("rocev2-clean-write"), {26})

    def hold(self, driver):
        with tempfile.TemporaryDirectory() as folder:
            made(folder, driver)
            for path in sorted(PCAPS.glob("*.pcapng")):
                again = pathlib.Path(folder, path.name).read_bytes()
                self.assertTrue(again == path.read_bytes(), f"{path.name} of weft {driver} is another; if that is meant: pcaps/make")

    def test_sim_makes_them_again(self):
        self.hold("sim")

    def test_emu_makes_them_of_frames_in_memory(self):
        self.hold("emu --ports memory --dilation none")


def kinds(row):
    """Expert infos without their numbers."""
    texts = [text for text in row["_ws.expert.message"].split("|") if text]
    return {next((kind for kind in (GAP, OLDER, *LENGTHS) if text.startswith(kind)), text) for text in texts}


def is_roce(row):
    return row["infiniband.bth.opcode"] != ""


@unittest.skipIf(WHY_NOT, f"only bytes are compared: {WHY_NOT}")
class Read(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.room = tempfile.TemporaryDirectory()
        cls.tshark = Tshark(pathlib.Path(cls.room.name))
        cls.rows = {name: cls.tshark.rows(PCAPS / f"{name}.pcapng", FIELDS, *QUIET_IPV6, "-o", "weft_mrc.icrc:TRUE") for name in EXPERTS}

    @classmethod
    def tearDownClass(cls):
        cls.room.cleanup()

    def test_the_texts_are_what_tshark_reads(self):
        for name in EXPERTS:
            run = subprocess.run([PCAPS / "decode", PCAPS / f"{name}.pcapng"], capture_output=True, text=True, timeout=600, check=False)
            self.assertEqual(run.returncode, 0, run.stderr)
            expected = (PCAPS / f"{name}.txt").read_text(encoding="utf-8")
            # Widths of columns are the reader's.
            self.assertEqual([line.split() for line in run.stdout.splitlines()], [line.split() for line in expected.splitlines()], name)

    def test_experts_say_what_they_are_to_say_and_no_more(self):
        for name, rows in self.rows.items():
            self.assertEqual(set().union(*map(kinds, rows)), EXPERTS[name], name)
            for row in rows:
                self.assertEqual(row["_ws.malformed"], "", f"{name}: {row}")

    def test_no_capture_has_a_malformed_frame(self):
        captures = sorted(PCAPS.glob("*.pcapng"))
        self.assertGreater(len(captures), 20)
        for path in captures:
            self.assertNotIn("Malformed", self.tshark.text(path, "-V"), path.name)

    def test_lengths_that_a_trim_keeps_are_read_all_the_same(self):
        rows = self.kept_rows()
        self.assertEqual(set().union(*map(kinds, rows)), LAST_HOP | LENGTHS)
        self.assertTrue(any(row["mrc.trimmed"] for row in rows))
        for row in rows:
            self.assertEqual(row["_ws.malformed"] != "", row["mrc.trimmed"] != "", row)
            there = int(row["frame.len"]) - 14 - 40
            told = self.whole_of(rows, row["mrc.psn"]) - 14 - 40 if row["mrc.trimmed"] else there
            self.assertEqual(int(row["udp.length"]), told, row)

    def kept_rows(self):
        """What `trim-last-hop` reads as when a trim leaves the lengths in IP and UDP as they were."""
        raw = pathlib.Path(self.room.name) / "kept.pcapng"
        command = [WEFT, "sim", PCAPS / "trim-last-hop.yaml", "--quiet", "--set", "wire.trim_lengths=kept", "--pcap", raw]
        run = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
        self.assertEqual(run.returncode, 0, run.stderr)
        return self.tshark.rows(raw, FIELDS, *QUIET_IPV6, "-o", "weft_mrc.icrc:TRUE")

    def test_the_icrc_is_good_wherever_there_is_one(self):
        for name, rows in self.rows.items():
            for row in rows:
                is_cut = row["frame.len"] != row["frame.cap_len"]
                if is_roce(row):  # whose ICRC program_tshark.py holds
                    continue
                self.assertEqual(row["mrc.icrc.status"], "0" if row["mrc.trimmed"] else "4" if is_cut else "2", f"{name}: {row}")

    def pick(self, name, **fields):
        return [row for row in self.rows[name] if all(row["mrc." + field] == value for field, value in fields.items())]

    @staticmethod
    def psns(rows):
        return [int(row["mrc.psn"]) for row in rows]

    @staticmethod
    def at(row):
        return float(row["frame.time_relative"])

    def test_a_clean_write_is_its_packets_and_one_sack(self):
        for name in ("clean-write", "ipv4", "headers-only"):
            *data, sack, ack = self.rows[name]
            self.assertEqual(self.psns(data), list(range(6)))
            self.assertEqual((sack["mrc.opcode"], sack["mrc.sack.cumulative"], sack["mrc.sack.psn"]), (SACK, "5", ""))
            self.assertEqual([row["mrc.imm"] for row in data], 5 * [""] + ["0x00000000"])
        self.assertEqual({row["ip.version"] for row in self.rows["ipv4"]}, {"4"})
        self.assertEqual({row["ip.version"] for row in self.rows["clean-write"]}, {"6"})
        self.assertTrue(all(int(row["frame.cap_len"]) < int(row["frame.len"]) for row in self.rows["headers-only"]))

    def test_immediates_are_in_order_and_credits_have_none(self):
        self.assertEqual([int(row["mrc.imm"], 16) for row in self.rows["immediates"] if row["mrc.imm"]], [0, 1, 2])
        credits = self.pick("ring-credits", opcode=WRITE_ONLY)
        self.assertEqual((len(credits), {row["mrc.imm"] for row in credits}), (8, {""}))

    def test_an_ev_is_its_port_and_its_flow_label(self):
        for row in self.rows["stev"]:
            self.assertEqual(int(row["mrc.ev"], 16), int(row["udp.srcport"]) << 16 | int(row["ipv6.flow"], 16) & 0xFFFF)
        cables = collections.defaultdict(set)
        for row in self.rows["stev"]:
            cables[row["mrc.ev"]].add(row["frame.interface_name"])
        self.assertEqual([len(seen) for seen in cables.values()], 8 * [2])  # the NIC's, and one trunk for each EV
        self.assertEqual(len(set().union(*cables.values())), 3)

    def test_each_switch_takes_its_usid_off(self):
        ways = collections.defaultdict(list)
        for row in self.pick("srv6", opcode="0xc6") + self.pick("srv6", opcode="0xc7"):
            outer, inner = row["ipv6.dst"].split("|")
            self.assertEqual(inner, "fd77:6566:7400::3")
            ways[row["mrc.psn"]].append([usid for usid in outer.split(":")[2:] if usid])
        self.assertEqual(len(ways), 7)
        for sent, above, arrived in ways.values():
            self.assertEqual((len(sent), above, arrived), (4, sent[1:], sent[3:]))
        ev = int(self.rows["srv6"][0]["mrc.ev"], 16)
        self.assertEqual(ways["0"][0], [f"{1 << 12 | ev >> 21:x}", "1001", "1800", "1fff"])  # as docs/wire.md has it

    def test_each_switch_follows_the_first_usid_and_takes_it_off(self):
        ways = collections.defaultdict(list)
        for row in self.rows["usid"]:
            if row["mrc.opcode"] in ("0xc6", "0xc7", "0xc9"):
                usids = [usid for usid in row["ipv6.dst"].split("|")[0].split(":")[2:] if usid]
                ways[row["mrc.psn"]].append((row["frame.interface_name"], usids, int(row["mrc.ev"], 16)))
        self.assertEqual(len(ways), 6)
        for hops in ways.values():
            names_of_hops, lists, evs = zip(*hops)
            trunk = (evs[0] & 0xFFFF) >> 5  # wire.ev is port-low here, and the dissector shows the port as the high half
            self.assertEqual(lists[0], [f"{0x1000 + trunk:x}", "1001", "1801", "1fff"])
            self.assertEqual([lists[0][at:] for at in range(4)], list(lists))
            self.assertEqual(names_of_hops[1:3], (f"t0 0 up {trunk} plane 0 > t1 {trunk}", f"t1 {trunk} > t0 1 up {trunk} plane 0"))

    def test_the_last_switch_puts_the_segment_of_an_srh_in_the_place_of_the_destination(self):
        ways = collections.defaultdict(list)
        for row in self.rows["srh"]:
            self.assertEqual(row["ipv6.routing.srh.addr"], "5f00:7765:1fff::")
            if row["mrc.opcode"] in ("0xc6", "0xc7", "0xc9"):
                ways[row["mrc.psn"]].append((row["ipv6.dst"].split("|")[0], row["ipv6.routing.segleft"]))
        self.assertEqual(len(ways), 6)
        for psn, hops in ways.items():
            usids = [usid for usid in hops[0][0].split(":")[2:] if usid]
            self.assertEqual(usids[1:], ["1001", "1801"], psn)
            lists = [f"5f00:7765:{':'.join(usids[at:])}::" for at in range(3)]
            self.assertEqual(hops, [(text, "1") for text in lists] + [("5f00:7765:1fff::", "0")], psn)
        plain = {(row["frame.interface_name"], row["mrc.psn"], row["mrc.opcode"]): int(row["frame.len"]) for row in self.rows["usid"]}
        for row in self.rows["srh"]:  # the same, and 24 bytes
            self.assertEqual(int(row["frame.len"]), plain[row["frame.interface_name"], row["mrc.psn"], row["mrc.opcode"]] + 24)

    def test_packets_overtake_one_another_and_none_is_sent_again(self):
        sent = [row for row in self.rows["reorder"] if row["frame.interface_name"].startswith("nic 0")]
        arrived = [row for row in self.rows["reorder"] if row["frame.interface_name"].endswith("> nic 3 plane 0")]
        self.assertEqual(self.psns(sent), list(range(24)))
        self.assertEqual(sorted(self.psns(arrived)), list(range(24)))
        self.assertNotEqual(self.psns(arrived), list(range(24)))

    def test_each_trim_has_its_nack_and_a_whole_packet_later(self):
        for name, where in (("trim-last-hop", "2"), ("udp-checksum", "2"), ("trim-on-the-way", "1")):
            trims, nacks = self.pick(name, trimmed=where), self.pick(name, opcode=NACK)
            self.assertEqual(sorted(self.psns(trims)), sorted(int(row["mrc.nack.psn"]) for row in nacks), name)
            for trim in trims:
                again = [row for row in self.pick(name, psn=trim["mrc.psn"], rtx="1", trimmed="") if self.at(row) > self.at(trim)]
                self.assertTrue(again, f"{name}: {trim}")

    def test_a_trim_rewrites_lengths(self):
        for row in self.rows["trim-last-hop"]:
            self.assertEqual(int(row["udp.length"]), int(row["frame.len"]) - 14 - 40, row)

    @staticmethod
    def whole_of(rows, psn):
        """Bytes of the frame that has this PSN and was not trimmed: all messages of these are alike."""
        like = [row for row in rows if row["mrc.psn"] == psn and not row["mrc.trimmed"]]
        return max(int(row["frame.len"]) for row in like if row["mrc.opcode"] not in (SACK, NACK))

    def test_a_trim_takes_the_udp_checksum_away(self):
        for row in self.rows["udp-checksum"]:
            self.assertEqual(int(row["udp.checksum"], 16) == 0, bool(row["mrc.trimmed"]), row)

    def test_a_tail_waits_for_the_timer(self):
        again = self.pick("loss-timer", rtx="1")
        self.assertGreaterEqual(self.at(again[0]), 16.384e-6)
        self.assertEqual(set(self.psns(again)), set(range(10)))

    def test_a_hole_does_not_wait_for_the_timer(self):
        again = self.pick("loss-hole", rtx="1")
        self.assertEqual(sorted(set(self.psns(again))), [12, 13, 14])
        self.assertLess(self.at(again[-1]), 20e-6)
        target = [row for row in self.rows["loss-hole"] if row["frame.interface_name"].endswith("> nic 1 plane 0")]
        self.assertEqual({row["mrc.rtx"] for row in target if row["mrc.psn"] in ("12", "13", "14")}, {"1"})

    def test_entropy_values_over_a_dead_trunk_rest_and_come_back(self):
        down = [row for row in self.rows["path-retired"] if row["frame.interface_name"] == "t0 0 up 1 plane 0 > t1 1"]
        probes = [row for row in down if row["mrc.opcode"] == PROBE]
        rest = [row for row in down if 110e-6 < self.at(row) < 290e-6]
        self.assertEqual(rest, probes[:3])  # no data try them
        first, again = {row["mrc.ev"] for row in probes[:2]}, {row["mrc.ev"] for row in probes[2:]}
        self.assertEqual((len(probes), len(first), first), (4, 2, again))  # one of each, and again after path_retry
        answers = [row for row in self.pick("path-retired", opcode=SACK) if row["mrc.sack.probe"] == "1"]
        self.assertEqual([row["mrc.sack.probe_id"] for row in answers], [row["mrc.probe.id"] for row in probes[2:]])
        self.assertEqual({row["mrc.sack.ev"] for row in answers}, again)
        self.assertTrue(all(row["mrc.psn"] in ("", "0") for row in probes))
        self.assertGreaterEqual(sum(self.at(row) > 330e-6 for row in down), 2)

    def test_a_backup_takes_the_place_of_a_dead_value_and_keeps_it(self):
        rows = [row for row in self.rows["backup-path"] if row["frame.interface_name"].startswith("nic 0")]
        probe, = (row for row in rows if row["mrc.opcode"] == PROBE)
        before = {row["mrc.ev"] for row in rows if self.at(row) < 54e-6}
        after = {row["mrc.ev"] for row in rows if self.at(row) > 85e-6 and row is not probe}
        self.assertEqual((len(before), len(after)), (2, 2))
        self.assertEqual(before - after, {probe["mrc.ev"]})  # a backup keeps its place when the old value is back
        self.assertEqual(len(after - before), 1)
        answer, = (row for row in self.pick("backup-path", opcode=SACK) if row["mrc.sack.probe"] == "1")
        self.assertEqual((answer["mrc.sack.probe_id"], answer["mrc.sack.ev"]), (probe["mrc.probe.id"], probe["mrc.ev"]))

    def test_what_a_dead_port_lost_goes_over_the_other(self):
        rows = self.rows["port-down"]
        dead = [row for row in rows if row["frame.interface_name"].startswith("nic 0 plane 1")]
        lost = {row["mrc.psn"] for row in dead if 2.6e-6 < self.at(row)}  # a packet is on the cable for 1 us and more
        alive = {row["mrc.psn"] for row in self.pick("port-down", rtx="1") if row["frame.interface_name"].startswith("nic 0 plane 0")}
        self.assertGreater(len(lost), 5)
        self.assertLessEqual(lost, alive)
        request, = (row for row in rows if row["mrc.opcode"] == REQUEST)
        response, = (row for row in rows if row["mrc.opcode"] == RESPONSE)
        self.assertLess(self.at(dead[-1]), self.at(request))  # 6 us: then the NIC knows, and it is left alone
        self.assertEqual((request["mrc.request.ports"], request["mrc.psn"]), ("0x00000001", response["mrc.psn"]))
        self.assertLess(self.at(request), self.at(response))

    def test_four_tries_and_no_more(self):
        sent = [row for row in self.rows["retry-exhausted"] if row["frame.interface_name"].startswith("nic 0")]
        self.assertEqual(collections.Counter(self.psns(sent)), {psn: 4 for psn in range(4)})
        starts = [self.at(row) for row in sent if row["mrc.psn"] == "0"]
        self.assertEqual([round(1e9 * (b - a)) for a, b in zip(starts, starts[1:])], [8192, 8192, 16384])

    # ---------------------------------------------------------------- RoCEv2

    def roce(self, name, *opcodes, cable=""):
        """Rows of these opcodes, seen on cables whose name begins so; no one is for our dissector."""
        self.assertTrue(all(is_roce(row) and not row["mrc.opcode"] for row in self.rows[name]), name)
        return [row for row in self.rows[name] if row["infiniband.bth.opcode"] in opcodes and row["frame.interface_name"].startswith(cable)]

    @staticmethod
    def roce_psns(rows):
        return [int(row["infiniband.bth.psn"]) for row in rows]

    def test_rocev2_tells_the_message_in_its_first_packet_alone(self):
        *data, ack = self.rows["rocev2-clean-write"]
        self.assertEqual(self.roce_psns(self.roce("rocev2-clean-write", *RC_WRITE)), list(range(6)))
        self.assertEqual([row["infiniband.reth.dmalen"] for row in data], ["1301"] + 5 * [""])
        self.assertEqual([row["infiniband.immdt"] for row in data], 5 * [""] + ["00000000|00000000"])  # tshark 4.0 has it twice
        self.assertEqual(len({row["udp.srcport"] for row in data}), 1)  # one path
        self.assertEqual((ack["infiniband.bth.opcode"], ack["infiniband.bth.psn"], ack["infiniband.aeth.syndrome"]), (RC_ACK, "5", ACK_FINE))
        self.assertEqual(ack["infiniband.aeth.msn"], "1")

    def test_rocev2_goes_back_to_what_is_missing(self):
        name = "rocev2-go-back-n"
        naks = [row for row in self.roce(name, RC_ACK, cable="nic 1") if row["infiniband.aeth.syndrome"] == NAK_SEQUENCE]
        self.assertEqual(self.roce_psns(naks), [7])  # one for the gap
        sent = self.roce_psns(self.roce(name, *RC_WRITE, cable="nic 0"))
        self.assertEqual(sent, list(range(24)) + list(range(7, 24)))
        arrived = self.roce_psns(self.roce(name, *RC_WRITE, cable="t0 0 > nic 1"))
        self.assertEqual(arrived, [*range(7), *range(11, 24), *range(7, 24)])  # 11 to 23 for nothing

    def test_rocev2_tells_of_marks_once_in_50_us(self):
        cnps = self.roce("rocev2-cnp", RC_CNP)
        marked = [row for row in self.roce("rocev2-cnp", *RC_WRITE) if row["ipv6.tclass.ecn"] == "3"]
        self.assertGreater(len(marked), 10)
        self.assertEqual({row["infiniband.bth.psn"] for row in cnps}, {"0"})
        self.assertEqual({int(row["frame.len"]) for row in cnps}, {14 + 40 + 8 + 12 + 16 + 4})
        self.assertEqual(sorted(row["ipv6.dst"] for row in cnps), [f"fd77:6566:7400::{nic}" for nic in (2, 3, 4)])


if __name__ == "__main__":
    print("all is checked" if WHY_NOT is None else f"only bytes are compared: {WHY_NOT}")
    unittest.main()
