#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Counts what meson ran in a build folder.

    count.py FOLDER SUITE...            prints `passed failed timed_out skipped`; on stderr a line for each test that did
                                        not pass, with the reason of one that was skipped, and for each that passed with a
                                        part left out. Whatever is not a clear pass or skip is failed, what was never run,
                                        too.
    count.py --slowest FOLDER SUITE...  the same; on stderr the twenty longest tests as well
    count.py --times FOLDER SUITE...    writes how long the longest test of each suite took into tests/times.txt, from which
                                        tests/meson.build makes the time limits: run it after a round on a quiet machine
"""
import collections
import json
import math
import pathlib
import re
import sys

TIMES = pathlib.Path(__file__).parent / "times.txt"
PASSED = ("OK", "EXPECTEDFAIL")
SLOWEST = 20
LEFT_OUT = re.compile(r"^\[  SKIPPED \] (\w+)$|"  # a case of cmocka
                      r"^OK \((skipped=\d+)\)$|"  # of unittest
                      r"^(?!ok: |FAILED: )(left out: .*|.*\b(?:is|are) left out|.*: skipped)$", re.MULTILINE)  # of a script, in its own words


def expected(folder, suites):
    """Suite, name and environment of each test of these suites that the build knows."""
    tests = json.loads((folder / "meson-info" / "intro-tests.json").read_text(encoding="utf-8"))
    for test in tests:
        suite = test["suite"][0].split(":")[-1]
        if suite in suites:
            yield suite, test["name"], test["env"]


def ran(folder):
    """What meson logged of each test, by `suite / name`; nothing where it did not come so far."""
    log = folder / "meson-logs" / "testlog.json"
    lines = log.read_text(encoding="utf-8").splitlines() if log.exists() else []
    return {entry["name"].split(":", 1)[-1]: entry for entry in map(json.loads, lines)}


def quiet():
    """Suite: seconds of its longest test on a quiet machine, in a plain build and under sanitizers."""
    rows = (line.split() for line in TIMES.read_text(encoding="utf-8").splitlines() if not line.startswith("#"))
    return {suite: [int(plain), int(sanitized)] for suite, plain, sanitized in rows}


def trouble(suite, entry, column):
    """What to say of a test that did not pass."""
    if entry is None:
        return "not run"
    if entry["result"] == "INTERRUPT":
        return "stopped, as the whole run was"
    if entry["result"] == "TIMEOUT":
        return (f"timed out after {entry['duration']:.0f} s; the longest test of {suite} takes about {quiet()[suite][column]} s on a "
                "quiet machine: a hang, or a machine that is very busy")
    return f"failed ({entry['result'].lower()}, exit {entry['returncode']})"


def said(entry):
    return entry.get("stdout", "") + entry.get("stderr", "")


def reason(entry):
    """Why a test was skipped: the last line that it printed."""
    lines = said(entry).strip().splitlines()
    return lines[-1] if lines else "it does not say why"


def left_out(entry):
    """What a test that passed did not check, as it says itself."""
    return list(dict.fromkeys(next(filter(None, groups)) for groups in LEFT_OUT.findall(said(entry))))


def count(folder, suites, has_slowest):
    counts, entries = collections.Counter(), ran(folder)
    for suite, name, env in expected(folder, suites):
        entry = entries.get(f"{suite} / {name}")
        result = entry["result"] if entry else "NOT RUN"
        what = "passed" if result in PASSED else "skipped" if result == "SKIP" else "timed out" if result == "TIMEOUT" else "failed"
        counts[what] += 1
        if what in ("failed", "timed out"):
            print(f"{folder}: {suite} / {name}: {trouble(suite, entry, is_sanitized(env))}", file=sys.stderr)
        elif what == "skipped":
            print(f"{folder}: {suite} / {name}: skipped: {reason(entry)}", file=sys.stderr)
        elif missing := left_out(entry):
            print(f"{folder}: {suite} / {name}: passed in part: {'; '.join(missing)}", file=sys.stderr)
    if has_slowest:
        for name, entry in sorted(entries.items(), key=lambda item: -item[1]["duration"])[:SLOWEST]:
            print(f"{folder}: {entry['duration']:8.1f} s  {name}", file=sys.stderr)
    print(counts["passed"], counts["failed"], counts["timed out"], counts["skipped"])


def is_sanitized(env):
    return bool(env.get("WEFT_SANITIZE"))


def write_times(folder, suites):
    rows, entries = quiet(), ran(folder)
    longest = collections.defaultdict(float)
    for suite, name, env in expected(folder, suites):
        duration = entries[f"{suite} / {name}"]["duration"]
        longest[suite, is_sanitized(env)] = max(duration, longest[suite, is_sanitized(env)])
    for (suite, column), duration in longest.items():
        rows[suite][column] = math.ceil(duration)
    head = [line for line in TIMES.read_text(encoding="utf-8").splitlines() if line.startswith("#")]
    body = [f"{suite:8} {plain:5} {sanitized:5}" for suite, (plain, sanitized) in rows.items()]
    TIMES.write_text("\n".join(head + body) + "\n", encoding="utf-8")


def main():
    words = sys.argv[1:]
    how = words.pop(0) if words and words[0] in ("--slowest", "--times") else None
    if len(words) < 2:
        sys.exit(__doc__)
    folder, suites = pathlib.Path(words[0]), words[1:]
    if how == "--times":
        write_times(folder, suites)
    else:
        count(folder, suites, how == "--slowest")


main()
