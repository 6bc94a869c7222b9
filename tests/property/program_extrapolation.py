#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""weft coll over random collectives, algorithms, ranks, channels, chunks, sizes, topologies and over-subscriptions that fit whole, and
over the same with random faults: no time is below the ideal, and the error that is stated with an extrapolated time holds in 95 of
100 (rounded up by less than one case: tests/soak/extrapolation.py has hundreds). WEFT_CASES_FIRST and WEFT_CASES_COUNT choose
others, of those with faults WEFT_CASES_FAULTY says how many."""
import os
import sys

import extrapolation  # noqa: E402

first, count = int(os.environ.get("WEFT_CASES_FIRST", "1")), int(os.environ.get("WEFT_CASES_COUNT", "40"))
faulty, packets = int(os.environ.get("WEFT_CASES_FAULTY", "60")), int(os.environ.get("WEFT_CASES_PACKETS", "60000"))
is_wrong = False
for name, of, least, has_faults in (("sound", count, count // 6, False), ("with faults", faulty, faulty // 12, True)):
    seen, timed, held, wrong = extrapolation.soak(first, of, packets, has_faults)
    print(f"{name}: {seen} cases, {timed} with a time, {held} within their error")
    for line in wrong:
        print("FAILED:", line)
    misses_max = -(-timed * 5 // 100)
    if timed - held > misses_max:
        print(f"FAILED: {timed - held} of {timed} are off by more than they state")
    if timed < least:
        print("FAILED: hardly any has a time")
    is_wrong |= bool(wrong) or timed - held > misses_max or timed < least
sys.exit(is_wrong)
