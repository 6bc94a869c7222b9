#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""weft pcap gen: the capture is what weft sim writes of the same scenario, byte for byte; the analysis of it counts what the
simulator counted beside it."""
import json
import os
import pathlib
import subprocess
import sys
import tempfile

WEFT = os.environ["WEFT"]
failed = 0


def weft(*words):
    done = subprocess.run([WEFT, *map(str, words)], capture_output=True, timeout=120)
    return done.returncode, done.stdout.decode(), done.stderr.decode()


def check(holds, what):
    global failed
    failed += 0 if holds else 1
    print(("ok: " if holds else "FAILED: ") + what)


with tempfile.TemporaryDirectory() as name:
    folder = pathlib.Path(name)
    made, same, result = folder / "made.pcapng", folder / "same.pcapng", folder / "result"
    words = ["incast", "--set", "traffic.bytes=64KiB"]
    status, out, error = weft("pcap", "gen", *words, "-o", made, "--out", result)
    check(status == 0 and error == "" and out.startswith("incast: done at"), f"a capture is made: {out.splitlines()[:1]} {error}")
    weft("sim", *words, "--pcap", same, "--quiet")
    check(made.read_bytes() == same.read_bytes() != b"", "it is what weft sim writes")
    captured = json.loads((result / "result.json").read_text())["capture"]["pcap"]
    check(captured == str(made), f"its result names it: {captured}")
    check("trim" in weft("pcap", "analyze", made)[1], "what is in it is found")
    check(weft("pcap", "gen", *words, "-o", made)[0] == 2, "refused: it is there already")
    check(weft("pcap", "gen", *words, "-o", made, "--force")[0] == 0, "replaced with --force")
    for bad in (["incast"], ["-o", folder / "x"], ["no-such", "-o", folder / "x"], ["incast", "-o"], ["incast", "-o", "a", "-o", "b"],
                ["incast", "-o", folder / "x", "--set", "no.key=1"]):
        status, out, error = weft("pcap", "gen", *bad)
        check(status == 2 and out == "" and error != "", f"refused: {error.strip()[:100]}")
    check(not (folder / "x").exists(), "what is refused writes nothing")
    check(weft("pcap", "gen", "--help")[1].startswith("NAME"), "help")
sys.exit(1 if failed else 0)
