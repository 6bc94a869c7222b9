#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The commands at the head of docs/howto/tune.md, as they stand there, one after the other: they tune `incast` and an all-reduce
in less than five minutes of CPU time, find what the page says, and write a profile that reads back. Without SQLite: skipped."""
import os
import pathlib
import re
import resource
import subprocess
import sys
import tempfile

import program_tune
from weft import check

WEFT, SOURCE = pathlib.Path(os.environ["WEFT"]), pathlib.Path(os.environ["WEFT_SOURCE"])
LIMIT_S = 300


def main():
    program_tune.skip_without_sqlite()
    page = (SOURCE / "docs" / "howto" / "tune.md").read_text(encoding="utf-8").partition("\n## In five minutes\n")[2].partition("\n## ")[0]
    commands = re.findall(r"^    (weft tune .*)$", page, re.M)
    check(len(commands) >= 3, f"{len(commands)} commands")
    with tempfile.TemporaryDirectory() as folder:
        said = ""
        for command in commands:
            run = subprocess.run(["bash", "-c", command], cwd=folder, capture_output=True, text=True, check=False, timeout=1800,
                                 env={**os.environ, "PATH": f"{WEFT.parent}:{os.environ['PATH']}"})
            check(run.returncode == 0, f"{command}: {run.stderr.strip() or 'done'}")
            said += run.stdout
        sets = [line for line in said.splitlines() if line.startswith("  Set, ")]
        read = said.split("\n")[-2] # of the last command, which reads the profile back
        check(sets and read in sets[0].split(), f"what is set reads back: {read}")
    told = re.search(r"It buys ([\d.]+) % of done_s", said)
    on_page = re.search(r"It buys ([\d.]+) % of done_s", page)
    check(told and on_page and abs(float(told[1]) - float(on_page[1])) < 1, f"it buys {told and told[1]} %, as the page says")
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    check(used.ru_utime + used.ru_stime < LIMIT_S, f"{used.ru_utime + used.ru_stime:.0f} s of CPU time")
    print(f"{check.failed} failed")
    return 1 if check.failed else 0


if __name__ == "__main__":
    sys.exit(main())
