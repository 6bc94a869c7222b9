#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""docs/systems.md, what packets expose, every row: to the picosecond. Two of the shipped samples say too little for a time, and
the program says so."""
import sys

import exposed
import weft
from weft import check

if __name__ == "__main__":
    for system in exposed.table():
        exposed.hold(system)
    for system in ("coreweave-gb300-deepseek-v3", "meta-24k-roce"):
        done = weft.run("sim", system, "--fidelity", "sample", timeout=3600)
        check(done.returncode == weft.NOT_VALID and "stated error above 10 %" in done.stderr
              and "ring steps are too few; run more of them: --sample steps=" in done.stderr, f"{system}: as shipped it gives no time")
    sys.exit(1 if check.failed else 0)
