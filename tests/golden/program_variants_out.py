#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Variants with --out are a study folder; each row says whether it is a sample, and MRC stands against RoCE with their ratio."""
import csv
import json
import pathlib
import re

from weft import check, check_parts, outcome, result_of

TEXT = """name: pair
fabric: {nics: 32, nics_per_t0: 8, t1_count: 8, link_rate: 400Gb/s}
traffic: {kind: permutation, bytes: 4MiB}
variants:
  - {name: mrc, set: preset=mrc}
  - {name: roce, set: preset=roce-dcqcn}
  - {name: part, set: preset=mrc traffic.kind=ring traffic.collective=all_reduce sample.steps=20 sample.fill=4}
"""
LINE = re.compile(r"MRC against RoCE \(mrc against roce\): ([0-9.]+) times the goodput, ([0-9.]+) of the time")


def main(folder):
    file, out = pathlib.Path(folder, "pair.yaml"), pathlib.Path(folder, "out")
    file.write_text(TEXT, encoding="utf-8")
    code, table, error = outcome("sim", file)
    check(code == 0, f"variants run: {error.strip()}")
    rows = {name: next(line for line in table.splitlines() if line.startswith(f"  {name} ")) for name in ("mrc", "roce", "part")}
    check("whole" in rows["mrc"] and "whole" in rows["roce"] and "sample" in rows["part"], "each row says whether it is a sample")
    found = LINE.search(table)
    sides = {side["name"]: side for side in result_of("sim", file, "--json")["variants"]}
    ratio = sides["mrc"]["goodput_bps"] / sides["roce"]["goodput_bps"]
    check(found is not None and abs(float(found[1]) - ratio) < 0.01, f"the ratio is that of the goodputs, {ratio:.3f}")
    check(found is not None and abs(float(found[2]) - sides["mrc"]["end_ps"] / sides["roce"]["end_ps"]) < 0.01, "and of the times")
    check([side["sample"] for side in sides.values()] == [False, False, True], "the JSON says it of each")
    said = re.search(r"\nECMP collisions .*\n  roce +([0-9.]+)  collide: several flows are on one link\n", table)
    alone = result_of("sim", file, "--variant", "roce", "--set", "watch.links=true", "--json")
    uneven = next(one["max_to_mean"] for one in alone["links"]["groups"] if one["group"] == "trunk_up")
    check(said is not None and uneven > 1.5 and abs(float(said[1]) - uneven) < 0.006, f"flows that ECMP puts on one link are told: {uneven:.2f}")
    told = {name: side["collide"] for name, side in sides.items() if "collide" in side}
    check(list(told) == ["roce"] and abs(told["roce"] - uneven) < 1e-9, f"in JSON, too, of RoCE alone: {told}")
    even = outcome("sim", file, "--set", "fabric.t1_count=1")[1]
    check("side by side" in even and "ECMP collisions" not in even, "one uplink has no collisions")
    head = r"\nBusiest line over the mean of its kind: ECMP collisions\n.*runs +mean.*\n"
    for many in (["--seeds=2"], ["--sweep", "fabric.t1_count=4,8", "--variant", "roce"]):
        seeds = outcome("sim", file, *many)[1]
        check(re.search(head, seeds), f"and by {many[0]}: {seeds[-600:]}")
    one = outcome("sim", file, "--sweep", "traffic.bytes=1MiB,2MiB", "--set", "fabric.t1_count=1", "--variant", "roce")[1]
    check("Done first" in one and "ECMP collisions" not in one, "not of one uplink")
    code, table, error = outcome("sim", file, "--out", out)
    check(code == 0 and LINE.search(table) is not None, f"with --out, too: {error.strip()}")
    study = json.loads(out.joinpath("study.json").read_text(encoding="utf-8"))
    check([run["digest"] for run in study["runs"]] == [side["digest"] for side in sides.values()], "the study has the same runs")
    with open(out / "runs.csv", encoding="utf-8") as lines:
        check([row["sample"] for row in csv.DictReader(lines)] == ["false", "false", "true"], "runs.csv says what is a sample")
    check(outcome("sim", file, "--out", out)[0] != 0, "a folder that is there is not written over")
    one, other = pathlib.Path(folder, "one"), pathlib.Path(folder, "other")
    check(outcome("sim", file, "--variant", "mrc", "--out", one)[0] == 0, "one variant is a run's folder")
    outcome("sim", file, "--variant", "roce", "--out", other)
    check("links.groups[trunk_up].max_to_mean " in outcome("compare", one, other)[1], "of two runs the uplinks are named")
    check("collide" in outcome("compare", out, out, "--all")[1], "two studies are compared by it")


if __name__ == "__main__":
    check_parts(main)
