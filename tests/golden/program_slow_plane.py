#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A plane that is slow does not close the window of the others, nor does one that loses; and no probe waits for a port that is down
while every plane is shut, so that the run ends with all its packets accounted for."""
import json
import pathlib
import sys
import tempfile

import weft
from weft import check

SLOW = """name: slow-plane
fabric: {nics: 16, planes: 2, nics_per_t0: 8, t1_count: 4, bundle: 2, link_rate: 100Gb/s, trunk_rate: 100Gb/s}
transport: {evs: 128}
traffic: {kind: permutation, bytes: 3072000B}
faults:
  - {kind: link_down, at: {t0: 0, up: 5, plane: 1}, from: 28.262us, until: 88.674us}
"""
DARK = """name: dark
fabric: {nics: 16, planes: 2, nics_per_t0: 8, t1_count: 4, bundle: 2, link_rate: 100Gb/s, trunk_rate: 125Gb/s}
transport: {evs: 2}
traffic: {kind: tornado, bytes: 3072000B}
faults:
  - {kind: link_down, at: {nic: 3, plane: 1}, from: 61.440us}
  - {kind: link_down, at: {plane: 0}, from: 30.720us, until: 35.835us}
"""
SEEDS = (1, 2, 3, 4)


def result(folder, text, seed, *words):
    path = pathlib.Path(folder, "world.yaml")
    path.write_text(text, encoding="utf-8")
    done = weft.run("sim", path, "--json", "--seed", seed, *words)
    if done.returncode != 0:
        sys.exit(f"not ok: seed {seed}: exit {done.returncode}: {done.stderr[:300]}")
    return json.loads(done.stdout)


def job_us(folder, fault):
    """Mean time of the job over seeds."""
    return sum(result(folder, SLOW, seed, "--fault", fault)["flows"]["max_ns"] for seed in SEEDS) / len(SEEDS) / 1e3


with tempfile.TemporaryDirectory() as folder:
    dead = job_us(folder, "{kind: link_down, at: {nic: 9, plane: 1}, from: 70.042us}")
    slow = job_us(folder, "{kind: slow, at: {nic: 9, plane: 1}, from: 70.042us, rate: 2%}")
    check(slow < dead + 1000, f"one of two ports of a NIC at 2 % of its rate: {slow:.0f} us, dead: {dead:.0f} us") # 3,400 us once
    for seed in (3, 8, 11):
        check(result(folder, DARK, seed)["run"]["end"] == "done", f"one port down, the other plane dark for a while: seed {seed} ends")
sys.exit(check.failed > 0)
