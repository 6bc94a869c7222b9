#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""docs/systems.md, what packets expose, every row or those that are named: to the picosecond. Two of the shipped samples say too
little for a time, and the program says so. A line a row as it ends."""
import sys
import time

import exposed
import weft
from weft import check

TOO_FEW_STEPS = ("coreweave-gb300-deepseek-v3", "meta-24k-roce")


def gives_no_time(system):
    done = weft.run("sim", system, "--fidelity", "sample", timeout=3600)
    check(done.returncode == weft.NOT_VALID and "stated error above 10 %" in done.stderr
          and "ring steps are too few; run more of them: --sample steps=" in done.stderr, f"{system}: as shipped it gives no time")


def timed(what, hold, system):
    began, failed = time.monotonic(), check.failed
    print(f"{system}, {what} ...", flush=True)
    hold(system)
    print(f"{system}, {what}: {'holds' if check.failed == failed else 'FAILED'}, {time.monotonic() - began:.0f} s", flush=True)


def main():
    rows = exposed.page()
    unknown = set(sys.argv[1:]) - set(rows)
    if unknown:
        sys.exit(f"exposed_systems.py: no row {', '.join(sorted(unknown))}; there are: {', '.join(rows)}")
    for system in sys.argv[1:] or rows:
        timed("what packets expose", exposed.hold if system in exposed.table() else exposed.hold_closed, system)
        if system in TOO_FEW_STEPS:
            timed("as shipped", gives_no_time, system)
    sys.exit(1 if check.failed else 0)


if __name__ == "__main__":
    main()
