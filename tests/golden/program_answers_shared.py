#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Answers go by what any QP to the peer lost. NICs send one long flow each; their peers send back on QPs of their own, whose
receivers would have to learn each dead path by answers that are lost. With one trunk dead on the way of the answers, and with a
NIC's port that sends into nowhere, few answers are lost and no timer rings."""
from weft import check, check_parts, result_of

NICS, BACK = 16, 6


def scenario():
    flows = []
    for nic in range(NICS):
        flows.append(f"{{from: {nic}, to: {nic + NICS}, bytes: 18MB}}")
        flows.extend(f"{{from: {nic + NICS}, to: {nic}, bytes: 2MB, start: {60 + 40 * i}us}}" for i in range(BACK))
    return ("name: answers\nfabric: {nics: 32, planes: 8, link_rate: 100Gb/s, nics_per_t0: 16, t1_count: 4, bundle: 4}\n"
            f"traffic: {{kind: flows, flows: [{', '.join(flows)}]}}\n")


# place, most SACKs that may be lost in three seeds: with each QP for itself it was 330 to 420
FAULTS = (("{t0: 0, up: 0, plane: 0}", 120), ("{nic: 3, plane: 0}", 20))


def main(folder):
    file = folder / "answers.yaml"
    file.write_text(scenario(), encoding="utf-8")
    for place, most in FAULTS:
        lost = timers = 0
        for seed in ("1", "2", "3"):
            one = result_of("sim", file, "--json", "--seed", seed, "--fault", f"{{kind: loss, at: {place}, way: up, probability: 100%}}")
            lost += one["transport"]["sacks_sent"] - one["transport"]["sacks_received"]
            timers += one["congestion"]["retransmitted_by"]["timeout"]
        check(lost <= most and timers == 0, f"{place}: {lost} SACKs lost of at most {most}, {timers} timers")


check_parts(main)
