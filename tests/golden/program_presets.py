#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Presets on an incast and on a ring all-reduce: each ends, without a time-out, a drop or a warning, and near the others; DCQCN without
its preset does not."""
import pathlib
import re
import sys
import tempfile

from weft import check, result_of, run

PRESETS = ("roce-dcqcn", "roce-pfc", "mrc", "uec", "mrc-nccl-plugin")
FABRICS = {"one plane of 400 Gb/s": "planes: 1, link_rate: 400Gb/s", "four of 100 Gb/s": "planes: 4, link_rate: 100Gb/s"}
TRAFFIC = {"incast": "{kind: incast, senders: 32, bytes: 1MiB}",
           "all-reduce": "{kind: ring, collective: all_reduce, bytes: 64MiB, channels: 16}"}
REACH = {"one plane of 400 Gb/s": 0.75, "four of 100 Gb/s": 0.5}  # of the best one's goodput: a QP of RoCE is on one plane
BARE = ("transport.kind=rc", "cc.algorithm=dcqcn", "queue.ecn_last_hop=true")


def result(file, *sets):
    return result_of("sim", file, "--json", *(word for key in sets for word in ("--set", key)))

THREE = """name: three
fabric: {topology: graph, nics: 3, nodes: [{name: a, nics: 1}, {name: b, nics: 1}, {name: c, nics: 1}],
         links: [{from: a, to: b}, {from: b, to: c}, {from: c, to: a}]}
preset: roce-pfc
traffic: {kind: permutation, bytes: 10MB}
"""


def goodput(of):
    return of["goodput"]["per_nic_bps"] / 1e9


def hold(name, of):
    timeouts = of["congestion"]["retransmitted_by"]["timeout"]
    dropped = sum(row["switches"] + row["hosts"] + row["cables"] for row in of["drops"])
    check(of["run"]["end"] == "done" and timeouts == 0 and dropped == 0, f"{name}: done, no time-outs, no drops")


def each(folder, fabric, traffic):
    file = pathlib.Path(folder, "presets.yaml")
    file.write_text(f"name: presets\nfabric: {{nics: 64, nics_per_t0: 16, t1_count: 16, {FABRICS[fabric]}}}\n"
                    f"traffic: {TRAFFIC[traffic]}\n", encoding="utf-8")
    by = {preset: result(file, f"preset={preset}") for preset in PRESETS}
    best = max(map(goodput, by.values()))
    for preset, of in by.items():
        hold(f"{preset}, {traffic}, {fabric}", of)
        check(goodput(of) > REACH[fabric] * best, f"{preset}, {traffic}, {fabric}: {goodput(of):.1f} of {best:.1f} Gb/s")
        check(any(f"preset {preset}: transport.kind" in row["text"] for row in of["inputs"]), f"{preset}: inputs say what it set")
    if traffic == "incast":
        check(goodput(result(file, *BARE)) < REACH[fabric] * best, "DCQCN with default marks and queues is not near")
        quiet = run("sim", file, "--set", "preset=roce-dcqcn")
        check("WARNING" not in quiet.stdout and quiet.stderr == "", "roce-dcqcn: no warning")


def main():
    with tempfile.TemporaryDirectory() as folder:
        for fabric in FABRICS:
            for traffic in TRAFFIC:
                each(folder, fabric, traffic)
    done = run("sim", "rail-8x4", "--set", "preset=roce-dcqcn", "--set", "queue.pfc=false")
    check(done.returncode == 2 and done.stderr.endswith("; preset roce-dcqcn sets queue.ecn_low\n"), f"a refusal of what it set names it: {done.stderr}")
    said = {}
    for preset in ("roce-dcqcn", "mrc"):
        said[preset] = " ".join(run("sim", "perm128-400g", "--set", f"preset={preset}").stdout.split())
    told = re.search(r"collide the busiest line carries ([\d.]+) times the mean of its kind", said["roce-dcqcn"])
    check(told is not None and float(told[1]) > 1.5, f"RoCE on a permutation: flows that hash onto one uplink are told {said['roce-dcqcn']}")
    check("collide" not in said["mrc"], "MRC sprays")
    with tempfile.TemporaryDirectory() as folder: # of three switches in a ring each link carries one flow, or none
        file = pathlib.Path(folder, "three.yaml")
        file.write_text(THREE, encoding="utf-8")
        alone = [run("sim", file, "--seed", seed).stdout for seed in (1, 2, 3)]
        check(all("busiest" in one and "collide" not in one for one in alone), f"one flow a link does not collide {alone[0]}")
    return 1 if check.failed else 0


if __name__ == "__main__":
    sys.exit(main())
