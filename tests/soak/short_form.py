#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The short form of every shipped scenario, as large as weft sim takes it by default: at most 25 lines of 100 columns, and each
figure of it stands in result.json. A line for each: lines, columns, seconds of wall time.

  short_form.py           all of them, the quickest first as far as shipped.py knows
  short_form.py NAME...   these"""
import sys
import time

import shipped
from weft import SOURCE

sys.path.insert(0, str(SOURCE / "tests" / "golden"))
import program_brief


def words_of(name):
    """Of several variants one; nothing that makes it small."""
    words = shipped.WORDS.get(name, [])
    return words[words.index("--variant"):][:2] if "--variant" in words else []


def main():
    brief, failed = program_brief.Brief(), 0
    names = sys.argv[1:] or sorted(shipped.names(), key=lambda name: (name in shipped.WORDS, name in program_brief.LONG))
    for name in names:
        begun = time.monotonic()
        try:
            lines = brief.accounts_for(name, *words_of(name)).splitlines()
            print(f"ok: {name}: {len(lines)} lines, {max(map(len, lines))} columns, {time.monotonic() - begun:.1f} s", flush=True)
        except AssertionError as error:
            failed += 1
            print(f"FAILED: {name}: {error}", flush=True)
    print(f"{len(names) - failed} passed, {failed} failed")
    sys.exit(failed > 0)


main()
