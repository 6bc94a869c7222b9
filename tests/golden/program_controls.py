#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every congestion control and every way to choose paths on the same few worlds: each has the effect that its rule is
for. The rules themselves, with their sources, are held by tests/unit/cc_*.c, transport_balance.c, transport_reps.c,
transport_path.c and fabric_spray.c. What is asked here leaves wide margins."""
import json
import pathlib
import re
import subprocess
import sys
import tempfile

from weft import WEFT, check

FABRIC = "fabric: {topology: leaf-spine, nics: 32, nics_per_t0: 8, t1_count: 8, link_rate: 100Gb/s}\n"
SENDERS, BYTES = 8, 4000000
INCAST = ("name: controls\n" + FABRIC + "queue: {ecn_last_hop: true}\n"
          f"traffic: {{kind: incast, senders: {SENDERS}, bytes: {BYTES}B}}\n")
BOUND_US = SENDERS * -(-BYTES // 4096) * 4258 * 8 / 100e3  # of the receiver's line
PATHS = ("name: controls\n" + FABRIC + "queue: {ecn_last_hop: true}\ntransport: {evs: 32}\ncc: {algorithm: mprdma}\n"
         "traffic: {kind: permutation, bytes: 4MB}\n")
SLOW = PATHS + "faults: [{kind: slow, at: {t0: 0, up: 1, plane: 0}, rate: 25%}]\n"
DEAD = PATHS + "faults: [{kind: link_down, at: {t0: 0, up: 1, plane: 0}, from: 30us}]\n"
BLIND, LEARNING = ("rotate", "random"), ("mrc", "bitmap", "mixed")


def run(folder, text, *sets):
    file = pathlib.Path(folder, "controls.yaml")
    file.write_text(text, encoding="utf-8")
    words = [WEFT, "sim", file, "--json", *(word for key in sets for word in ("--set", key))]
    done = subprocess.run(words, capture_output=True, text=True, timeout=600, check=False)
    return json.loads(done.stdout) if done.returncode == 0 else None


def words(key):
    """What a key may be, as its refusal says."""
    done = subprocess.run([WEFT, "sim", "incast", "--set", f"{key}=x"], capture_output=True, text=True, check=False)
    return set(re.search(r"it may be: (.*)", done.stderr)[1].split(", "))


def end_us(of):
    return of["flows"]["max_ns"] / 1e3


def again(of):
    return of["congestion"]["retransmitted"]


def controls(folder):
    moving = ("nscc", "swift", "mprdma", "dctcp", "rccc", "nscc_rccc")
    by = {name: run(folder, INCAST, f"cc.algorithm={name}") for name in ("fixed", *moving)}
    marked = {name: of["congestion"]["marked_share"] for name, of in by.items()}
    for name in moving:
        check(again(by[name]) * 20 < again(by["fixed"]), f"{name} sends less again than a fixed window")
        check(BOUND_US < end_us(by[name]) < 1.06 * BOUND_US, f"{name} keeps the receiver's line busy")
    check(end_us(by["fixed"]) > 1.15 * BOUND_US, "a fixed window does not")
    check(marked["dctcp"] < 0.9 * marked["mprdma"], "a third off per mark leaves fewer marks than a quarter")
    check(marked["nscc"] > 1.5 * marked["mprdma"], "NSCC aims at a delay, where nearly all is marked")
    for name in ("rccc", "nscc_rccc"):
        check(by[name]["flows"]["max_ns"] < 1.03 * by[name]["flows"]["min_ns"], f"{name} gives each the same")
    unmarked = INCAST.replace("ecn_last_hop: true", "ecn: false")
    deaf, delay = (run(folder, unmarked, f"cc.algorithm={name}") for name in ("mprdma", "swift"))
    check(again(deaf) > 2.5 * again(by["mprdma"]), "without marks those that know only these send much again")
    check(again(delay) < 2 * again(by["swift"]), "Swift, which knows delays, does not")
    check(words("cc.algorithm") == {*by, "dcqcn"}, "every control is asked; DCQCN in tests/property/all_dcqcn.c")
    return len(by)


def paths(folder):
    names = ("single", *BLIND, *LEARNING, "reps", "reps_legacy", "flowlet")
    whole, slow, dead = ({name: run(folder, text, f"transport.path={name}") for name in names}
                         for text in (PATHS, SLOW, DEAD))
    for name in (*BLIND, *LEARNING, "reps", "reps_legacy"):
        check(2 * end_us(whole[name]) < end_us(whole["single"]), f"{name} ends long before one path per flow")
    check(end_us(whole["rotate"]) < end_us(whole["flowlet"]) < end_us(whole["single"]), "flowlets end between the two")
    for name in LEARNING:
        for other in BLIND:
            check(1.5 * end_us(slow[name]) < end_us(slow[other]), f"{name} leaves a slow link, {other} does not")
            check(5 * end_us(dead[name]) < end_us(dead[other]), f"{name} leaves a dead one, {other} does not")
    check(2 * again(slow["reps"]) < again(slow["reps_legacy"]), "REPS takes slow paths less often than a list without end")
    check(2 * end_us(dead["reps"]) < end_us(dead["reps_legacy"]), "REPS, which freezes, outlives a dead link")
    check(dead["single"] is None, "one path per flow does not end over a dead link")
    check(words("transport.path") == set(names), "every way to choose paths is asked")
    return len(names)


def switches(folder):
    names = ("hash", "round_robin", "adaptive", "flowlet")
    whole, slow = ({name: run(folder, text, "transport.path=single", f"fabric.spray={name}") for name in names}
                   for text in (PATHS, SLOW))
    for name in ("round_robin", "adaptive"):
        check(3 * end_us(whole[name]) < end_us(whole["hash"]), f"switches with {name} spread one path per flow")
    check(1.5 * again(slow["adaptive"]) < again(slow["round_robin"]), "by queue less goes to a slow link than in turn")
    check(3 * end_us(slow["flowlet"]) < end_us(slow["hash"]), "flowlets of switches move flows off it")
    check(words("fabric.spray") == set(names), "every way of switches is asked")
    return len(names)


with tempfile.TemporaryDirectory() as folder:
    counts = [part(folder) for part in (controls, paths, switches)]
print(f"{counts[0]} congestion controls, {counts[1]} ways to choose paths, {counts[2]} of switches: {check.failed} wrong")
sys.exit(check.failed > 0)
