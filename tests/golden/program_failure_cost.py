#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a failure costs under load: goodput lost over capacity lost, for the five drills drill-load-*, at 100, 80 and 50 % of load,
MRC beside plain rotation, against the same run without the failure. In the steady part all flows count, and what the failure takes
of all; the whole run is as long as its slowest flow, so there it is what the failure takes of the flow that it hits most.

  program_failure_cost.py SEED...    the table of these seeds; 1 when there are none
"""
import concurrent.futures
import json
import os
import pathlib
import sys
import tempfile

import weft
from weft import SCENARIOS, check

TAKEN = {"trunk": 1 / 128, "t1": 1 / 32, "t0": 1 / 8, "plane": 1 / 8, "nic-port": 1 / 128} # of all flows
WORST = {**TAKEN, "nic-port": 1 / 8}
BYTES, BIN_US, DOWN_AT_US, SETTLED_US = "200MB", 10, 200, 150 # a failure at DOWN_AT_US, and MRC may take so long to settle
STEADY_MAX, WHOLE_MAX = 1.3, 2.5
STEP_BINS = 5
NICS = 32


def run(folder, what, variant, seed, is_healthy):
    text = (SCENARIOS / f"drill-load-{what}.yaml").read_text(encoding="utf-8")
    lead, rest = text.split("faults:\n")
    if is_healthy:
        rest = "expect:" + rest.split("expect:")[1]
    # the expectations are of a shorter transfer
    lead = lead.replace("bytes: 48MB", f"bytes: {BYTES}")
    fault = "" if is_healthy else "faults:\n" + rest.split("expect:")[0]
    path = pathlib.Path(folder, f"{what}-{variant}-{seed}-{is_healthy}.yaml")
    path.write_text(lead + fault, encoding="utf-8")
    done = weft.run("sim", path, "--variant", variant, "--seed", seed, "--json")
    if done.returncode != 0:
        sys.exit(f"not ok: {what} {variant}: exit {done.returncode}: {done.stderr}")
    return json.loads(done.stdout)


def goodput(one, first, last):
    """Mean of bins first to last - 1."""
    payload = one["series"]["payload_bytes"][first:last]
    return sum(payload) / len(payload)


def steady_end(one):
    """The last bin in which every flow still sends."""
    return int(one["flows"]["min_ns"] / 1000 / BIN_US) - 5


def settled_us(healthy, down, taken, end):
    """From the failure to the end of the last two steps in a row that cost more: one alone may be chance."""
    settled, was_above = 0, True
    for first in range(DOWN_AT_US // BIN_US, end - STEP_BINS + 1, STEP_BINS):
        cost = (1 - goodput(down, first, first + STEP_BINS) / goodput(healthy, first, first + STEP_BINS)) / taken
        if cost > STEADY_MAX and was_above:
            settled = (first + STEP_BINS) * BIN_US - DOWN_AT_US
        was_above = cost > STEADY_MAX
    return settled


def row_of(what, healthy, down):
    end = min(steady_end(healthy), steady_end(down))
    first = (DOWN_AT_US + SETTLED_US) // BIN_US
    steady = (1 - goodput(down, first, end) / goodput(healthy, first, end)) / TAKEN[what]
    whole = (1 - healthy["flows"]["max_ns"] / down["flows"]["max_ns"]) / WORST[what]
    return steady, whole, settled_us(healthy, down, TAKEN[what], end)


def main(seeds):
    variants = [f"{path}-{load}" for path in ("mrc", "rotate") for load in (100, 80, 50)]
    asked = [(what, variant, seed, is_healthy) for variant in variants for seed in seeds for is_healthy in (True, False)
             for what in (["t1"] if is_healthy else TAKEN)]
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        runs = dict(zip(asked, pool.map(lambda one: run(folder, *one), asked)))
    print("| failure | load | capacity it takes | MRC: settles in | steady | whole | rotation: steady | whole |\n" + "|---" * 8 + "|")
    for what in TAKEN:
        for load in (100, 80, 50):
            mean = {}
            for path in ("mrc", "rotate"):
                variant = f"{path}-{load}"
                rows = [row_of(what, runs["t1", variant, seed, True], runs[what, variant, seed, False]) for seed in seeds]
                mean[path] = [sum(column) / len(rows) for column in list(zip(*rows))[:2]] + [max(row[2] for row in rows)]
            mrc, rotate = mean["mrc"], mean["rotate"]
            print(f"| {what} | {load} % | {TAKEN[what] * 100:.1f} % | {mrc[2]} us | {mrc[0]:.2f} | {mrc[1]:.2f} | {rotate[0]:.2f} | {rotate[1]:.2f} |")
            check(mrc[0] <= STEADY_MAX, f"{what} at {load} %: steady {mrc[0]:.2f}")
            check(mrc[1] <= WHOLE_MAX, f"{what} at {load} %: whole {mrc[1]:.2f}")
            kept = [kept_bps(runs, what, f"{path}-{load}", seeds) / 1e9 for path in ("mrc", "rotate")]
            check(kept[0] > kept[1], f"{what} at {load} %: MRC keeps {kept[0]:.1f} Gb/s a NIC, rotation {kept[1]:.1f}")
            last = [max(runs[what, f"{path}-{load}", seed, False]["flows"]["max_ns"] for seed in seeds) for path in ("mrc", "rotate")]
            check(last[0] < last[1], f"{what} at {load} %: MRC is done after {last[0]} ns, rotation after {last[1]}")
    check(mean_cost(runs, seeds) > STEADY_MAX, "a T0 at 80 % of the load costs rotation more than a steady part may")
    print(f"{len(asked)} runs, {check.failed} wrong")


def kept_bps(runs, what, variant, seeds):
    """Goodput of a NIC in the steady part. A cost against the own run without the failure would be less for who wastes more there."""
    sums = 0
    for seed in seeds:
        one = runs[what, variant, seed, False]
        sums += goodput(one, (DOWN_AT_US + SETTLED_US) // BIN_US, steady_end(one)) * 8 / (BIN_US * 1e-6) / NICS
    return sums / len(seeds)


def mean_cost(runs, seeds):
    rows = [row_of("t0", runs["t1", "rotate-80", seed, True], runs["t0", "rotate-80", seed, False])[0] for seed in seeds]
    return sum(rows) / len(rows)


if __name__ == "__main__":
    weft.skip_when_sanitized()
    main([int(word) for word in sys.argv[1:]] or [1])
    sys.exit(check.failed > 0)
