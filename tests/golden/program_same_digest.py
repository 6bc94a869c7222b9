#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The standard cases of weft bench, small enough ones of each kind of traffic, have one digest with windows of the lookahead,
a half and a seventh of it, with huge pages and without, and with switches that take packets port by port and in the order of
time."""
import ctypes
import json
import pathlib
import sys
import tempfile

import weft

CASES = ["perm128-100g-2mb", "incast32-400g", "alltoall64-400g", "ring64-400g"]
WINDOWS = ["500ns", "142ns"]  # a half and a seventh of 1 us
PR_SET_THP_DISABLE, PR_GET_THP_DISABLE = 41, 42
libc = ctypes.CDLL(None)
failed = 0


def without_huge_pages():
    libc.prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0)


def run(path, *words, before=None):
    """Digest and number of windows of a run; `before` is called in its process first."""
    done = weft.run("sim", path, *words, "--json", check=True, preexec_fn=before)
    result = json.loads(done.stdout)
    return result["run"]["digest"], result["speed"]["windows"]


def complain(text):
    global failed
    print("not ok:", text)
    failed += 1


def check_case(folder, name):
    path = str(folder / f"{name}.yaml")
    shown = weft.run("bench", "sim", "--show", name, check=True)
    pathlib.Path(path).write_text(shown.stdout, encoding="utf-8")
    digest, windows = run(path)
    for length in WINDOWS:
        other, more = run(path, "--set", f"limits.window={length}")
        if other != digest:
            complain(f"{name}: {other} with windows of {length}, {digest} with those of 1 us")
        if more <= windows:
            complain(f"{name}: {more} windows of {length}, {windows} of 1 us")
    other, _ = run(path, "--set", "limits.order=time")
    if other != digest:
        complain(f"{name}: {other} in the order of time, {digest} port by port")
    other, _ = run(path, before=without_huge_pages)
    if other != digest:
        complain(f"{name}: {other} without huge pages, {digest} with them")
    if run(path, "--seed", "14")[0] == digest:
        complain(f"{name}: another seed has the same digest")
    print(f"{name}: {digest}, {windows} windows of 1 us")


def main():
    with tempfile.TemporaryDirectory() as name:
        for case in CASES:
            check_case(pathlib.Path(name), case)
    return failed != 0


sys.exit(main())
