#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""One trunk of 256 is dead from the start, and 32 NICs send 18 MB each: SACKs, NACKs, ACKs and last packets that went over it may not
cost their flow a retransmit timer. 95 % of the flows are done at most 50 us after those of the same run with all trunks: a round trip
and a hole's age, after which a tail is asked for. And one trunk of four of a single plane dies under 256 EVs: a quarter of them, as
each flow finds out for itself. Its losses are of paths, so the window stays open: the slowest flow takes a few timers more than the
rate that is left asks for, not one for each EV."""
import json
import pathlib
import sys
import tempfile

import weft
from weft import check

SEEDS, LATER_US = (1, 2, 3, 4), 50
SCENARIO = ("name: dead-trunk\nfabric: {nics: 32, planes: 8, link_rate: 100Gb/s, nics_per_t0: 16, t1_count: 4, bundle: 4}\n"
            "traffic: {kind: tornado, bytes: 18MB}\n")
ONE_PLANE = ("name: one-plane\nfabric: {nics: 16, planes: 1, nics_per_t0: 4, t1_count: 4, link_rate: 100Gb/s}\n"
             "transport: {evs: 256}\ntraffic: {kind: tornado, bytes: 4MB}\n"
             "faults: [{kind: link_down, at: {t0: 0, up: 0, plane: 0}, from: 100us}]\n")
SLOWEST_US = 1500  # 450 at the rate that is left, and four timers of 262
DEAD = ["--fault", "{kind: link_down, at: {t0: 0, up: 0, plane: 0}}"]


def run(path, seed, *words):
    done = weft.run("sim", path, "--seed", seed, "--json", *words, check=True)
    return json.loads(done.stdout)


def p95_us(one):
    return one["flows"]["p95_ns"] / 1000


with tempfile.TemporaryDirectory() as folder:
    file = pathlib.Path(folder, "dead-trunk.yaml")
    file.write_text(SCENARIO, encoding="utf-8")
    waited = 0
    for seed in SEEDS:
        healthy, dead = p95_us(run(file, seed)), run(file, seed, *DEAD)
        timeouts = dead["congestion"]["retransmitted_by"]["timeout"]
        check(p95_us(dead) <= healthy + LATER_US and timeouts == 0,
              f"seed {seed}: p95 {healthy:.1f} us, with a dead trunk {p95_us(dead):.1f} us, {timeouts} timers")
        waited += run(file, seed, *DEAD, "--set", "transport.hole_age=off")["flows"]["p95_ns"] / 1000 > healthy + 200
    check(waited == len(SEEDS), f"with timers alone {waited} of {len(SEEDS)} wait for one")
    file = pathlib.Path(folder, "one-plane.yaml")
    file.write_text(ONE_PLANE, encoding="utf-8")
    for seed in SEEDS:
        slowest = run(file, seed)["flows"]["max_ns"] / 1000
        check(slowest < SLOWEST_US, f"seed {seed}: one trunk of four of a plane with 256 EVs dies: the slowest flow takes {slowest:.0f} us")
sys.exit(check.failed > 0)
