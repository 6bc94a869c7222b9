#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Captures and results of the real program in one folder: beside each other they are both whole, and a capture that a file of
the result would replace is refused before anything is written."""
import json
import struct
import unittest

import weft
from weft import BAD_INPUT, DONE

FRAME, STATISTICS = 6, 5  # types of blocks


class Beside(weft.InFolder):
    def run_weft(self, *words):
        return weft.run("sim", "two-racks", "--set", "traffic.bytes=1MiB", *words, cwd=self.folder)

    def test_a_capture_may_lie_beside_a_result(self):
        run = self.run_weft("--out", "out", "--pcap", "out/hdr.pcapng", "--log", "result.json")
        self.assertEqual((run.returncode, run.stderr), (DONE, ""))
        self.assertEqual((self.folder / "out" / "hdr.pcapng").read_bytes()[:4], bytes.fromhex("0a0d0d0a"))
        self.assertEqual((self.folder / "out" / "result.json").read_text(encoding="utf-8")[0], "{")
        self.assertNotEqual((self.folder / "result.json").read_text(encoding="utf-8")[0], "{")

    def test_a_capture_does_not_lie_where_the_result_goes(self):
        for option in ("--pcap", "--log"):
            for path in ("out/result.json", ".//out/././message_across_t1.hdr", str(self.folder / "out" / "result.json")):
                with self.subTest(option=option, path=path):
                    run = self.run_weft("--out", "out/", option, path)
                    self.assertEqual((run.returncode, run.stdout), (BAD_INPUT, ""))
                    self.assertEqual(run.stderr, f"weft sim: {path}: --out writes a file of that name\n")
                    self.assertEqual(list(self.folder.iterdir()), [])

    def test_a_full_capture_ends_whole_and_counts_what_is_left_out(self):
        """No file grows beyond the limit; what is in it is the beginning of the whole one; the rest is counted, told and shown."""
        whole = self.run_weft("--out", "a", "--pcap", "whole.pcapng", "--log", "whole.csv")
        self.assertEqual((whole.returncode, whole.stderr), (DONE, ""))
        frames = json.loads((self.folder / "a" / "result.json").read_text(encoding="utf-8"))["capture"]["frames"]
        blocks, lines = self.blocks("whole.pcapng"), (self.folder / "whole.csv").read_text(encoding="utf-8").splitlines()
        self.assertEqual((self.count(blocks, FRAME), len(lines)), (frames, frames + 1))
        for limit in (70_000, 150_000):
            run = self.run_weft("--pcap", "cut.pcapng", "--log", "cut.csv", "--pcap-max", f"{limit}B", "--force", "--out", "b")
            self.assertEqual(run.returncode, DONE)
            told = json.loads((self.folder / "b" / "result.json").read_text(encoding="utf-8"))["capture"]
            cut, rows = self.blocks("cut.pcapng"), (self.folder / "cut.csv").read_text(encoding="utf-8").splitlines()
            self.assertLessEqual((self.folder / "cut.pcapng").stat().st_size, limit)
            self.assertGreater((self.folder / "cut.pcapng").stat().st_size, limit * 0.8)
            self.assertLessEqual((self.folder / "cut.csv").stat().st_size, limit)
            self.assertEqual((told["frames"], told["frames_lost"]), (frames, 0))
            self.assertEqual(told["pcap_left_out"], frames - self.count(cut, FRAME))
            self.assertEqual(told["log_left_out"], frames + 1 - len(rows))
            self.assertGreater(told["pcap_left_out"], 0)
            kept = [block for block in cut if block[0] != STATISTICS]
            self.assertEqual(kept, [block for block in blocks if block[0] != STATISTICS][:len(kept)])
            self.assertEqual(rows, lines[:len(rows)])
            self.assertEqual(self.count(cut, STATISTICS), self.count(blocks, STATISTICS))
            self.assertEqual((self.lost(cut), self.left_out(cut)), (0, told["pcap_left_out"]))
            said = weft.run("pcap", "analyze", "cut.pcapng", cwd=self.folder, check=True).stdout
            self.assertIn(f"{told['pcap_left_out']:,} frames passed the capture point and are not in the file, by its own count: it was full\n", said)
            self.assertNotIn("the capture dropped", said)
            self.assertIn(f"weft sim: cut.pcapng: full: {told['pcap_left_out']} packets are left out; --pcap-max SIZE allows more\n", run.stderr)
            self.assertRegex(run.stdout, r"cut\.pcapng: .* FULL at .* are left out")
            self.assertEqual(run.stderr.count("\n"), 2 if told["log_left_out"] > 0 else 1)

    def test_a_limit_needs_a_file_and_a_size(self):
        for words, says in ((["--pcap-max", "1MB"], "--pcap-max needs --pcap or --log"), (["--pcap", "x", "--pcap-max", "1"], "has no unit"),
                            (["--pcap", "x", "--pcap-max", "10B"], "64KiB"),
                            (["--pcap", "x", "--pcap-max", "1MB", "--pcap-max", "2MB"], "given twice"),
                            (["--tap", "{at: all}"], "--tap needs --pcap or --log"),
                            (["--pcap", "x", "--tap", "all"], "--tap:1:1: a tap is a YAML map on one line"),
                            (["--pcap", "x", "--tap", "{at: all}", "--tap", "{at: {nic: 9999}}"], "--tap:2:"),
                            (["--pcap", "x", "--tap", "{at: {t0: 0, up: 999, plane: 0}}"], "--tap:1:")):
            run = self.run_weft(*words)
            self.assertEqual((run.returncode, run.stdout), (BAD_INPUT, ""), run)
            self.assertIn(says, run.stderr)
            self.assertEqual(list(self.folder.iterdir()), [])

    def blocks(self, name):
        """(type, body) of each block; all are whole, to the last byte."""
        data, found, at = (self.folder / name).read_bytes(), [], 0
        while at < len(data):
            kind, length = struct.unpack_from("<II", data, at)
            self.assertEqual(struct.unpack_from("<I", data, at + length - 4)[0], length)
            found.append((kind, data[at + 8:at + length - 4]))
            at += length
        self.assertEqual(at, len(data))
        return found

    @staticmethod
    def count(blocks, kind):
        return sum(block[0] == kind for block in blocks)

    @staticmethod
    def lost(blocks):
        """What statistics of interfaces call dropped: option 5, behind option 4."""
        return sum(struct.unpack_from("<HHQHHQ", block[1], 12)[5] for block in blocks if block[0] == STATISTICS)

    @staticmethod
    def left_out(blocks):
        """What passed and was not lost, less what was delivered: option 8, where it is."""
        total = 0
        for block in blocks:
            if block[0] == STATISTICS and struct.unpack_from("<H", block[1], 36)[0] == 8:
                passed, lost, delivered = (struct.unpack_from("<HHQ", block[1], at)[2] for at in (12, 24, 36))
                total += passed - lost - delivered
        return total


if __name__ == "__main__":
    unittest.main()
