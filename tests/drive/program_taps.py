#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Captures and results of the real program in one folder: beside each other they are both whole, and a capture that a file of
the result would replace is refused before anything is written."""
import os
import pathlib
import subprocess
import tempfile
import unittest

WEFT = os.environ["WEFT"]
DONE, BAD_INPUT = 0, 2


class Beside(unittest.TestCase):
    def setUp(self):
        self.room = tempfile.TemporaryDirectory()
        self.folder = pathlib.Path(self.room.name)

    def tearDown(self):
        self.room.cleanup()

    def run_weft(self, *words):
        return subprocess.run([WEFT, "sim", "two-racks", "--set", "traffic.bytes=1MiB", *words], capture_output=True, text=True,
                              timeout=60, check=False, cwd=self.folder)

    def test_a_capture_may_lie_beside_a_result(self):
        run = self.run_weft("--out", "out", "--pcap", "out/hdr.pcapng", "--log", "result.json")
        self.assertEqual((run.returncode, run.stderr), (DONE, ""))
        self.assertEqual((self.folder / "out" / "hdr.pcapng").read_bytes()[:4], bytes.fromhex("0a0d0d0a"))
        self.assertEqual((self.folder / "out" / "result.json").read_text(encoding="utf-8")[0], "{")
        self.assertNotEqual((self.folder / "result.json").read_text(encoding="utf-8")[0], "{")

    def test_a_capture_does_not_lie_where_the_result_goes(self):
        for option in ("--pcap", "--log"):
            for path in ("out/result.json", "out/../out/./message_across_t1.hdr", str(self.folder / "out" / "result.json")):
                with self.subTest(option=option, path=path):
                    run = self.run_weft("--out", "out/", option, path)
                    self.assertEqual((run.returncode, run.stdout), (BAD_INPUT, ""))
                    self.assertEqual(run.stderr, f"weft sim: {path}: --out writes a file of that name\n")
                    self.assertEqual(list(self.folder.iterdir()), [])


if __name__ == "__main__":
    unittest.main()
