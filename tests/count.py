#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints `passed failed skipped` of a meson testlog.json. Whatever is not a clear pass or skip counts as failed."""
import json
import sys

PASSED = ("OK", "EXPECTEDFAIL")

counts = {"passed": 0, "failed": 0, "skipped": 0}
with open(sys.argv[1], encoding="utf-8") as log:
    for line in log:
        result = json.loads(line)["result"]
        counts["passed" if result in PASSED else "skipped" if result == "SKIP" else "failed"] += 1
print(counts["passed"], counts["failed"], counts["skipped"])
