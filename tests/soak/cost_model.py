#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a run costs: fits docs/scaling.md's model to runs of this machine, holds it against sizes that it was not fitted to, and says
what it predicts. Processor time of the run = hops x (a + b x far + d x wide) + visits x c x far. far = NICs / (NICs + 256): the share of
what is touched that is in no cache; it grows with the world and ends at 1. wide = 1 - 24,576 / NICs, 0 where there are fewer (2
GiB): the share beyond the pages whose places the processor remembers. Peak memory = m + n x NICs.

  WEFT=build/apps/weft PYTHONPATH=tests tests/soak/cost_model.py [--rounds N] [--wide]

--wide fits d to 65,536 NICs and holds the model against 16,384, 32,768 and 131,072, too: it needs 12 GiB. Without, d is 0.
"""
import json
import math
import os
import sys

import weft

FITTED = (128, 256, 512, 1024, 2048)
CHECKED = (4096, 8192)
WIDE_FITTED, WIDE_CHECKED = (65536,), (16384, 32768, 131072)
REACH = 24576  # NICs
ROUNDS = int(sys.argv[sys.argv.index("--rounds") + 1]) if "--rounds" in sys.argv else 3
WIDE = "--wide" in sys.argv
BOUND = 2.0  # a prediction off by more is no prediction; below it the machine's noise decides


def run(nics, window=None):
    """A permutation of 500 kB over a leaf-spine at 400 Gb/s: the least processor time of some rounds, and what was done in it."""
    leaf = max(16, 1 << (int(math.log2(nics)) // 2))
    words = ["fabric.topology=clos", f"fabric.nics={nics}", f"fabric.nics_per_t0={leaf}", f"fabric.t1_count={leaf}"]
    words += [f"limits.window={window}"] if window else []
    words += ["limits.memory=40GiB"] if nics > 16384 else []  # so much may be drawn
    best = None
    for _ in range(4 * ROUNDS if nics <= 2048 else ROUNDS if nics < 65536 else min(ROUNDS, 2)):  # the short ones are noisiest
        done = weft.run("sim", SCENARIO, "--json", *sum((["--set", word] for word in words), []))
        if done.returncode != 0:
            sys.exit(f"{nics} NICs: {done.stderr.strip()}")
        speed = json.loads(done.stdout)["speed"]
        if best is None or speed["cpu_s"] < best["cpu_s"]:
            best = speed
    return dict(best, nics=nics)


def solve(rows, values):
    """Least squares by the normal equations; rows weighted so that each counts by its share of error."""
    n = len(rows[0])
    rows = [[x / value for x in row] for row, value in zip(rows, values)]
    matrix = [[sum(row[i] * row[j] for row in rows) for j in range(n)] + [sum(row[i] for row in rows)] for i in range(n)]
    for i in range(n):
        pivot = max(range(i, n), key=lambda k: abs(matrix[k][i]))
        matrix[i], matrix[pivot] = matrix[pivot], matrix[i]
        for k in range(n):
            if k != i:
                factor = matrix[k][i] / matrix[i][i]
                matrix[k] = [x - factor * y for x, y in zip(matrix[k], matrix[i])]
    return [matrix[i][n] / matrix[i][i] for i in range(n)]


def time_row(of):
    far = of["nics"] / (of["nics"] + 256)  # the share of what is touched that is in no cache
    row = [of["hops"], of["hops"] * far, of["machine_visits"] * far]
    return row + [of["hops"] * max(0, 1 - REACH / of["nics"])] if WIDE else row


def memory_row(of):
    return [1, of["nics"]]


def predict(row, model):
    return sum(x * y for x, y in zip(row, model))


def show(what, measured, predicted, unit):
    off = predicted / measured
    print(f"  {what:34} {measured:10.3f} {predicted:10.3f} {unit:4} {(off - 1) * 100:+6.1f} %")
    return max(off, 1 / off)


def main():
    runs = [run(nics, window) for nics in FITTED for window in (None, "125ns")]
    runs += [run(nics) for nics in WIDE_FITTED] if WIDE else []
    time = solve([time_row(of) for of in runs], [of["cpu_s"] for of in runs])
    memory = solve([memory_row(of) for of in runs], [of["memory_peak_bytes"] for of in runs])
    print(f"processor time: {time[0] * 1e9:.1f} ns a hop in a small world, up to {time[1] * 1e9:.1f} ns more in a large one, "
          f"up to {time[2] * 1e9:.0f} ns a visit of a machine in a window" +
          (f", up to {time[3] * 1e9:.1f} ns more a hop beyond that" if WIDE else ""))
    print(f"peak memory: {memory[0] / 2**20:.1f} MiB, and {memory[1] / 1024:.1f} KiB for each NIC")
    print(f"  {'':34} {'measured':>10} {'predicted':>10}")
    for of in runs:
        show(f"fitted: {of['nics']} NICs, {of['windows']} windows", of["cpu_s"], predict(time_row(of), time), "s")
    worst = 1
    for nics in CHECKED + (WIDE_CHECKED if WIDE else ()):
        of = run(nics)
        worst = max(worst, show(f"not fitted: {nics} NICs, time", of["cpu_s"], predict(time_row(of), time), "s"))
        worst = max(worst, show(f"not fitted: {nics} NICs, memory", of["memory_peak_bytes"] / 2**20,
                                predict(memory_row(of), memory) / 2**20, "MiB"))
    print(f"worst of those that were not fitted: a factor of {worst:.2f}, at most {BOUND}")
    return 0 if worst <= BOUND else 1


SCENARIO = ""  # written when it runs
TEXT = """name: cost
fabric: {nics: 64, nics_per_t0: 16, t1_count: 16, link_rate: 400Gb/s}
transport: {evs: 64}
traffic: {kind: permutation, bytes: 500kB}
"""

if __name__ == "__main__":
    import tempfile
    with tempfile.TemporaryDirectory() as folder:
        SCENARIO = os.path.join(folder, "cost.yaml")
        with open(SCENARIO, "w", encoding="utf-8") as file:
            file.write(TEXT)
        sys.exit(main())
