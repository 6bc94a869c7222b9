#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What is known of paths serves whoever shares them. Two flows share one path of two: the one that has only this path
comes to its fair rate, for the other turns to its second, while a healthy tornado keeps its goodput. And where a plane of
four loses packets, what its sound planes can carry is left to them: loss falls to a fraction of rotation's, messages end
sooner, and at full load, where every plane is needed, goodput is not behind rotation's."""
import json
import pathlib
import sys
import tempfile

import weft
from weft import check

SHARED = """name: shared
fabric:
  topology: graph
  nics: 4
  link_rate: 100Gb/s
  nodes: [{name: a, nics: 1}, {name: b, nics: 1}, {name: m}, {name: n}, {name: z, nics: 2}]
  links: [{from: a, to: m}, {from: a, to: n}, {from: b, to: m}, {from: m, to: z}, {from: n, to: z}]
traffic: {kind: flows, flows: [{from: 0, to: 2, bytes: 160MB}, {from: 1, to: 3, bytes: 160MB}]}
watch: {bin: 100us, bins: 200}
"""
TORNADO = ("name: tornado\nfabric: {nics: 32, planes: 8, link_rate: 100Gb/s, nics_per_t0: 16, t1_count: 4, bundle: 4}\n"
           "traffic: {kind: tornado, bytes: 100MB}\nwatch: {bin: 10us, bins: 1000}\n")
FOUR = ("name: lossy\nfabric: {nics: 16, planes: 4, link_rate: 100Gb/s, nics_per_t0: 8, t1_count: 4, bundle: 4}\n"
        "watch: {bin: 100us, bins: 400}\ntraffic: ")
NIC_BPS = 379e9  # payload that the four planes carry
PAIRS, BYTES, MESSAGES = 8, 256000, 1200
ALL = ", ".join(f"{{from: {pair}, to: {pair + PAIRS}, bytes: 100MB}}" for pair in range(PAIRS))
SEEDS = ["1", "2", "3"]


def result(folder, text, *words):
    file = pathlib.Path(folder, "case.yaml")
    file.write_text(text, encoding="utf-8")
    done = weft.run("sim", file, "--json", *words)
    if done.returncode != 0:
        sys.exit(f"not ok: {words}: exit {done.returncode}: {done.stderr}")
    return json.loads(done.stdout)


def gbps(one, first, last):
    payload = one["series"]["payload_bytes"][first:last]
    return sum(payload) * 8 / len(payload) / (one["series"]["bin_ps"] / 1e12) / 1e9


def goal(folder, load):
    """Each of the pairs sends a message as often as makes `load` of what its NIC carries, on one connection."""
    gap = int(BYTES * 8 / (load * NIC_BPS) * 1e9)
    lines = [f"num_ranks {2 * PAIRS}"]
    for pair in range(PAIRS):
        lines.append(f"rank {pair} {{")
        for i in range(MESSAGES):
            lines.append(f"c{i}: calc {gap if i else 1 + pair * 137}")
            lines.append(f"s{i}: send {BYTES}b to {pair + PAIRS} tag {i}")
            lines.append(f"s{i} requires c{i}")
            if i:
                lines.append(f"c{i} requires c{i - 1}")
        lines.append("}")
    for pair in range(PAIRS):
        lines.append(f"rank {pair + PAIRS} {{")
        lines.extend(f"r{i}: recv {BYTES}b from {pair} tag {i}" for i in range(MESSAGES))
        lines.append("}")
    pathlib.Path(folder, "load.goal").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return int(MESSAGES * gap / 1e5)  # bins of 100 us


def lossy(folder, load, loss, seed, path):
    """Share lost and median of messages once a third has been sent."""
    bins = goal(folder, load)
    one = result(folder, FOUR + "{kind: goal, file: load.goal}\n", "--seed", seed, "--set", f"transport.path={path}",
                 "--fault", f"{{kind: loss, at: {{t0: 0, plane: 0}}, probability: {loss}}}")
    sent, lost = (sum(one["series"][name][bins // 3:bins]) for name in ("data_packets", "lost_packets"))
    return lost / (sent + lost), one["messages"][2]["p50_ns"]


def shared(folder):
    alone = result(folder, SHARED.replace(", {from: 1, to: 3, bytes: 160MB}", ""))
    fair = gbps(alone, 50, 120)
    for seed in SEEDS:
        both, turn = (result(folder, SHARED, "--seed", seed, *words) for words in ([], ["--set", "transport.skip_time=turn"]))
        # the flow that has both paths cannot have more than alone: the other has the rest at least
        least, before = ((gbps(one, 50, 120) - fair) / fair for one in (both, turn))
        print(f"seed {seed}: the flow with one path has {least:.3f} of its fair rate or more, with one lost turn {before:.3f}")
        check(least > 0.95 and both["flows"]["p50_ns"] < 1.03 * alone["flows"]["max_ns"], "both have nearly their fair rate")
        check(before < 0.75, "with one lost turn it had not")
        healthy = gbps(result(folder, TORNADO, "--seed", seed), 25, 85) / 32
        print(f"seed {seed}: tornado {healthy:.1f} Gb/s per NIC")
        check(healthy > 690, "a healthy tornado keeps its goodput")


def planes(folder):
    for load, seed, least, loss in ((0.5, "1", 0.8, "0.5%"), (0.5, "2", 0.45, "1%"), (0.5, "1", 0.25, "2%"), (0.5, "1", 0.1, "5%"),
                                    (0.5, "2", 0.1, "5%"), (0.5, "3", 0.1, "5%"), (0.5, "1", 0.05, "20%"), (0.8, "1", 0.4, "1%"),
                                    (0.8, "1", 0.3, "5%")):
        (mrc, mrc_ns), (rotate, rotate_ns) = (lossy(folder, load, loss, seed, path) for path in ("mrc", "rotate"))
        print(f"load {load}, loss {loss}: {mrc:.4%} lost, median {mrc_ns} ns; rotation {rotate:.4%}, {rotate_ns} ns")
        check(0 < mrc < least * rotate, "what sound planes carry is left to them")
        check(mrc_ns < 1.1 * rotate_ns, "and messages are not later")
    for loss in ("0.5%", "1%", "2%", "5%", "20%"):
        for seed in SEEDS:
            runs = [result(folder, FOUR + f"{{kind: flows, flows: [{ALL}]}}\n", "--seed", seed, "--set", f"transport.path={path}",
                           "--fault", f"{{kind: loss, at: {{t0: 0, plane: 0}}, probability: {loss}}}") for path in ("mrc", "rotate")]
            mrc, rotate = (one["goodput"]["per_nic_bps"] / 1e9 for one in runs)
            steady = [gbps(one, 3, 18) / PAIRS for one in runs]
            print(f"full load, loss {loss}, seed {seed}: {mrc:.0f} Gb/s, steady {steady[0]:.0f}; "
                  f"rotation {rotate:.0f}, {steady[1]:.0f}")
            check(mrc > 0.98 * rotate and steady[0] > 0.98 * steady[1], "at full load it is not behind rotation")


with tempfile.TemporaryDirectory() as folder:
    shared(folder)
    planes(folder)
print(f"paths by health, {check.failed} wrong")
sys.exit(check.failed > 0)
