#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The golden table: small worlds, each of another kind, and what exactly came of them. Every figure is compared as it is:
a run depends on nothing but program, scenario and seed, so the table is the same with every compiler and optimisation.

A change of behaviour that is meant changes the table. Look at what changed, write it anew, and say why in the commit:

    WEFT=build/apps/weft PYTHONPATH=tests tests/golden/program_table.py --write
    git diff tests/golden/table.txt
"""
import difflib
import json
import pathlib
import sys
import tempfile

import weft

TABLE = pathlib.Path(__file__).with_name("table.txt")
SHIPPED = pathlib.Path(__file__).parents[2] / "apps" / "scenarios"
CLOS = """fabric: {topology: clos, nics: 32, nics_per_t0: 8, t1_count: 4, planes: 2, link_rate: 100Gb/s,
         nic_delay: 350ns, trunk_delay: 700ns, switch_delay: 140ns}
"""
SPREAD = "transport: {evs: 32, rto: 80us, path: mrc}\n"
RACKS = """fabric: {nics: 32, nics_per_host: 4, nics_per_t0: 8, t1_count: 4, planes: 2, link_rate: 100Gb/s}
scaleup: {rate: 450GB/s, delay: 1us}
transport: {evs: 32}
"""
HTSIM = """fabric: {topology: fat-tree, nics: 16, tor_nics: 2, pod_tors: 2, pod_aggs: 2, cores: 4, link_rate: 400Gb/s}
queue: {ecn_last_hop: true, trim_bytes: 64B, trim_choice: coin}
transport: {payload: 4086B, header: 64B, control: 64B, path: rotate, evs: 16, sack_rule: htsim, completion: sack, hole_age: off, rto: 90us}
cc: {algorithm: nscc, htsim: true}
"""
WORLDS = {
    "spray over two planes": CLOS + SPREAD + "traffic: {kind: permutation, bytes: 300kB}\n",
    "one plane, oblivious": "fabric: {nics: 32, nics_per_t0: 8, t1_count: 8}\ntransport: {evs: 64, path: rotate}\n"
                            "traffic: {kind: permutation, bytes: 300kB}\n",
    "one path per flow": CLOS + "transport: {evs: 32, path: single}\ntraffic: {kind: permutation, bytes: 300kB}\n",
    "fixed window": CLOS + SPREAD + "cc: {algorithm: fixed, window: 40kB}\ntraffic: {kind: permutation, bytes: 300kB}\n",
    "random loss": CLOS + SPREAD + "traffic: {kind: permutation, bytes: 300kB}\n"
                   "faults: [{kind: loss, at: all, probability: 1%}]\n",
    "loss, timer only": CLOS + "transport: {evs: 32, rto: 80us, hole_age: off}\ntraffic: {kind: permutation, bytes: 100kB}\n"
                        "faults: [{kind: loss, at: {plane: 1}, probability: 0.5%}]\n",
    "trunk down and up": CLOS + SPREAD + "traffic: {kind: permutation, bytes: 1MB}\n"
                         "faults: [{kind: link_down, at: {t0: 1, plane: 0, up: 2}, from: 5us, until: 60us}]\n",
    "NIC loses a plane": CLOS + SPREAD + "traffic: {kind: permutation, bytes: 1MB}\n"
                         "faults: [{kind: link_down, at: {nic: 3, plane: 1}, from: 10us}]\n",
    "incast, trims": CLOS + SPREAD + "queue: {bytes: 30000B}\ntraffic: {kind: incast, senders: 12, bytes: 300kB}\n",
    "incast, drops": CLOS + SPREAD + "queue: {bytes: 30000B, trim: false, ecn: false}\n"
                     "traffic: {kind: incast, senders: 12, bytes: 100kB}\n",
    "incast, DCQCN": CLOS + "queue: {bytes: 2MB, ecn_low: 50kB, ecn_high: 200kB, ecn_share: 20%, ecn_last_hop: true}\n"
                     "transport: {kind: rc, rto: 1ms}\ncc: {algorithm: dcqcn}\n"
                     "traffic: {kind: incast, senders: 12, bytes: 300kB}\n",
    "htsim's rules": HTSIM + "seed: 13\ntraffic: {kind: permutation, bytes: 2MB}\n",
    "fat tree, MRC": HTSIM.split("queue:")[0] + "transport: {evs: 16}\ntraffic: {kind: permutation, bytes: 500kB}\n",
    "reduce-scatter": RACKS + "traffic: {kind: ring, collective: reduce_scatter, bytes: 8MiB, channels: 2}\n",
    "all-gather": RACKS + "traffic: {kind: ring, collective: all_gather, bytes: 8MiB, channels: 2}\n",
    "all-reduce, loss": RACKS + "traffic: {kind: ring, collective: all_reduce, bytes: 4MiB, channels: 4}\n"
                        "faults: [{kind: loss, at: all, probability: 0.2%}]\n",
    "barrier": RACKS + "traffic: {kind: ring, collective: all_reduce, bytes: 4MiB, channels: 1, form: barrier}\n",
    "program": RACKS + f"traffic: {{kind: goal, file: '{SHIPPED / 'exchange.goal'}'}}\n",
    "sample of steps": RACKS + "traffic: {kind: ring, collective: reduce_scatter, bytes: 32MiB, channels: 4, ranks: 32}\n"
                       "sample: {steps: 6, fill: 2}\n",
    "shipped: two-racks": (SHIPPED / "two-racks.yaml").read_text(encoding="utf-8"),
    "time runs out": CLOS + SPREAD + "traffic: {kind: permutation, bytes: 1MB}\nlimits: {time: 42us}\n",
}
HEAD = ("world", "digest", "end", "end_ps", "data", "hops", "marks", "trims", "nack", "timeout", "hole", "drops", "duplicates",
        "retired", "messages", "p50_ns", "p99_ns", "max_ns", "whole_ps")


def figures(name, text, folder):
    path = folder / "world.yaml"
    path.write_text(text, encoding="utf-8")
    run = weft.run("sim", path, "--json")
    if run.returncode not in (0, 5):
        sys.exit(f"not ok: {name}: exit {run.returncode}: {run.stderr}")
    result = json.loads(run.stdout)
    congestion, transport = result["congestion"], result["transport"]
    again = congestion["retransmitted_by"]
    far = next(row for row in result["messages"] if row["pair"] == "across_t1")
    drops = sum(row["switches"] + row["cables"] + row["hosts"] for row in result["drops"])
    values = (name, result["run"]["digest"], result["run"]["end"], result["run"]["last_completion_ps"], transport["data_packets"],
              result["speed"]["hops"], congestion["marked"], result["switches"]["trimmed"], again["nack"], again["timeout"],
              again["hole"], drops, transport["duplicates"], transport["paths_retired"], transport["messages_sent"],
              far["p50_ns"], far["p99_ns"], far["max_ns"], result["collectives"][0]["time_ps"] if result["collectives"] else None)
    return ["-" if value is None else str(value) for value in values]


def table():
    with tempfile.TemporaryDirectory() as folder:
        rows = [HEAD] + [figures(name, text, pathlib.Path(folder)) for name, text in WORLDS.items()]
    widths = [max(len(row[column]) for row in rows) for column in range(len(HEAD))]
    lines = ("  ".join([row[0].ljust(widths[0])] + [cell.rjust(width) for cell, width in zip(row[1:], widths[1:])]) for row in rows)
    return "".join(line + "\n" for line in lines)


def main():
    now = table()
    if sys.argv[1:] == ["--write"]:
        TABLE.write_text(now, encoding="utf-8")
        print(f"{len(WORLDS)} worlds written")
        return
    golden = TABLE.read_text(encoding="utf-8")
    if now != golden:
        sys.stdout.writelines(difflib.unified_diff(golden.splitlines(True), now.splitlines(True), "golden", "now", n=0))
        sys.exit("not ok: see tests/golden/program_table.py for how to write it anew, if that was meant")
    print(f"{len(WORLDS)} worlds as ever")


if __name__ == "__main__":
    main()
