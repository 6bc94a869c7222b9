#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""docs/systems.md, what packets expose: the rows that take seconds; tests/soak/exposed_systems.py has all of them."""
import sys

import exposed
import weft
from weft import check

if __name__ == "__main__":
    weft.skip_when_sanitized()
    check(set(exposed.table()) | {"coreweave-gb300-deepseek-v3"} == set(exposed.page()), "table and page have the same systems")
    for system in ("nvidia-gb300-gpt-oss-20b", "uec"):
        exposed.hold(system)
    exposed.hold_closed("coreweave-gb300-deepseek-v3")
    sys.exit(1 if check.failed else 0)
