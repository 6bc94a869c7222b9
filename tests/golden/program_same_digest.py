#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The standard cases of weft bench, small enough ones of each kind of traffic, have one digest with windows of the lookahead,
a half and a seventh of it, with huge pages and without, and with switches that take packets port by port and in the order of
time."""
import ctypes
import json

import weft
from weft import check, check_parts

CASES = ["perm128-100g-2mb", "incast32-400g", "alltoall64-400g", "ring64-400g"]
WINDOWS = ["500ns", "142ns"]  # a half and a seventh of 1 us
PR_SET_THP_DISABLE = 41
libc = ctypes.CDLL(None)


def without_huge_pages():
    libc.prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0)


def run(path, *words, before=None):
    """Digest and number of windows of a run; `before` is called in its process first."""
    done = weft.run("sim", path, *words, "--json", check=True, preexec_fn=before)
    result = json.loads(done.stdout)
    return result["run"]["digest"], result["speed"]["windows"]


def check_case(folder, name):
    path = folder / f"{name}.yaml"
    path.write_text(weft.run("bench", "sim", "--show", name, check=True).stdout, encoding="utf-8")
    digest, windows = run(path)
    for length in WINDOWS:
        other, more = run(path, "--set", f"limits.window={length}")
        check(other == digest, f"{name}: {other} with windows of {length}, {digest} with those of 1 us")
        check(more > windows, f"{name}: {more} windows of {length}, {windows} of 1 us")
    other, _ = run(path, "--set", "limits.order=time")
    check(other == digest, f"{name}: {other} in the order of time, {digest} port by port")
    other, _ = run(path, before=without_huge_pages)
    check(other == digest, f"{name}: {other} without huge pages, {digest} with them")
    check(run(path, "--seed", "14")[0] != digest, f"{name}: another seed has another digest")


def main(folder):
    for case in CASES:
        check_case(folder, case)


check_parts(main)
