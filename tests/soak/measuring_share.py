#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measurement at full detail costs at most 15 % more instructions than none, and changes no packet's way. Both are counted here, in
sim_run() alone: reading the scenario and writing the result are not in it. With -v, as the short form watches links by itself."""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

from weft import SKIPPED, WEFT

SHARE_MAX = 0.15
SIZES = ("512KiB", "2MiB")
FULL = ("links=true", "delays=true", "racks=true", "bypasses=1000", "bin=1us", "nics=true")  # as docs/measuring.md says

program = pathlib.Path(WEFT).parent / "weft-sim"


def count(folder, size, watched):
    """Instructions of a run, and its digest."""
    settings = [f"traffic.bytes={size}"] + [f"watch.{word}" for word in watched]
    done = subprocess.run(["valgrind", "--tool=callgrind", "--collect-atstart=no", "--toggle-collect=sim_run",
                           f"--callgrind-out-file={folder}/counted", str(program), "perm128-400g", "-v"]
                          + [word for setting in settings for word in ("--set", setting)],
                          capture_output=True, text=True, check=True)
    collected = int(re.search(r"Collected : (\d+)", done.stderr).group(1))
    if collected < 10_000_000:
        sys.exit(f"{collected} instructions: sim_run() was not found, or did nothing")
    return collected, re.search(r"digest (\w+)", done.stdout).group(1)


def main():
    if shutil.which("valgrind") is None or os.environ.get("WEFT_SANITIZE"):
        print("no valgrind, or a build with sanitizers: instructions are not counted here")
        sys.exit(SKIPPED)
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        for size in SIZES:
            without, digest = count(folder, size, ())
            full, watched_digest = count(folder, size, FULL)
            share = full / without - 1
            print(f"{size}: {without} instructions, {full} at full detail: {share:.2%} more")
            failed += share > SHARE_MAX or digest != watched_digest
    sys.exit(1 if failed else 0)


main()
