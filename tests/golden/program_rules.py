#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The switches between the specification's rules and htsim's: each changes a run in which it matters, `cc.htsim` sets
them together, one that cannot matter is refused; and what a penalty of 127 does is known: about a packet a round trip."""
import json
import pathlib
import subprocess
import sys
import tempfile

from weft import WEFT, check

FABRIC = "fabric: {topology: leaf-spine, nics: 32, nics_per_t0: 8, t1_count: 8, link_rate: 100Gb/s}\n"
INCAST = "name: rules\n" + FABRIC + "traffic: {kind: incast, senders: 12, bytes: 999999B}\n"
DEAD_PATH = ("name: rules\n" + FABRIC + "queue: {trim: false, bytes: 60kB}\n"
             "transport: {evs: 16, path: bitmap, rto: 100us, hole_age: off}\n"
             "traffic: {kind: permutation, bytes: 1MB}\n"
             "faults: [{kind: link_down, at: {t0: 0, up: 1, plane: 0}, from: 20us}]\n")
ALONE = ("name: rules\nfabric: {topology: leaf-spine, nics: 2, nics_per_t0: 2, t1_count: 1, link_rate: 100Gb/s, "
         "nic_delay: 2us}\ntransport: {completion: sack}\ntraffic: {kind: flows, flows: [{from: 0, to: 1, bytes: 4096000B}]}\n")
LOSSY = ("name: rules\n" + FABRIC + "transport: {rto: 100us, hole_age: off}\n"
         "traffic: {kind: permutation, bytes: 300kB}\nfaults: [{kind: loss, at: all, probability: 0.5%}]\n")
# One of four up ports is slow: what takes it is marked.
SLOW = ("name: rules\nfabric: {topology: leaf-spine, nics: 4, nics_per_t0: 2, t1_count: 4, link_rate: 100Gb/s, forwarding: usid}\n"
        "transport: {evs: 64, hole_age: 1ms}\n"
        "traffic: {kind: flows, flows: [{from: 0, to: 2, bytes: 8MB}, {from: 1, to: 3, bytes: 8MB}]}\n"
        "faults: [{kind: slow, at: {t0: 0, up: 1, plane: 0}, rate: 40%}]\n")
SWITCHES = {  # the key: a world in which it matters, and what else is set
    "cc.average": (INCAST, ["queue.ecn_last_hop=true"]),
    "cc.qa_delay": (INCAST, ["cc.target_delay=2us"]),
    "cc.send_gate": (DEAD_PATH, ["transport.path=rotate"]),
    "cc.last_hop_rule": (INCAST, ["cc.algorithm=nscc_rccc"]),
    "cc.penalty_rule": (INCAST, ["cc.penalty=20"]),
    "cc.no_sample": (INCAST, ["transport.rtt=once", "queue.ecn_last_hop=true"]),
    "cc.growth": (INCAST, []),
    "cc.nack_rtt": (INCAST, []),
}


def run(folder, text, *sets):
    file = pathlib.Path(folder, "rules.yaml")
    file.write_text(text, encoding="utf-8")
    words = [WEFT, "sim", file, "--json", *(word for key in sets for word in ("--set", key))]
    return subprocess.run(words, capture_output=True, text=True, timeout=600, check=False)


def result(folder, text, *sets):
    done = run(folder, text, *sets)
    if done.returncode != 0:
        sys.exit(f"not ok: {sets}: exit {done.returncode}: {done.stderr}")
    return json.loads(done.stdout)


def timeouts(of):
    return of["congestion"]["retransmitted_by"]["timeout"]


def digest(*words):
    return result(*words)["run"]["digest"]


with tempfile.TemporaryDirectory() as folder:
    for key, (text, more) in SWITCHES.items():
        spec, htsim = (digest(folder, text, *more, f"{key}={rule}") for rule in ("spec", "htsim"))
        check(spec != htsim, f"{key} changes the run")
        check(digest(folder, text, *more) == spec, f"{key} is the specification's by itself")
    together = [f"{key}=htsim" for key in 
                ("cc.average", "cc.qa_delay", "cc.qa_period", "cc.send_gate", "cc.no_sample", "cc.growth", "cc.nack_rtt")]
    check(digest(folder, INCAST, "cc.htsim=true") == digest(folder, INCAST, *together), "cc.htsim is all of them")
    local, once = (digest(folder, INCAST, "queue.ecn_last_hop=true", f"transport.rtt={word}") for word in ("local", "once"))
    check(local != once, "without round trips of packets sent again the run is another")
    known, zero = (result(folder, DEAD_PATH, f"transport.timeout_ev={word}") for word in ("known", "zero"))
    check(timeouts(known) < timeouts(zero), "a bitmap that learns of the wrong path loses more")
    for key in ("cc.penalty_rule=htsim", "cc.last_hop_rule=htsim", "transport.timeout_ev=zero"):
        refused = run(folder, ALONE, key)
        check(refused.returncode == 2 and "no effect here" in refused.stderr, f"{key} where it has no effect is refused")
    timer, sleek = (result(folder, LOSSY, f"transport.sleek={word}") for word in ("false", "true"))
    check(timeouts(timer) > 20 and timeouts(sleek) < timeouts(timer) / 5, "SLEEK repairs tails before the timer does")
    check(sleek["flows"]["p50_ns"] < timer["flows"]["p50_ns"], "and messages end sooner")
    check(digest(folder, ALONE, "transport.sleek=true") == digest(folder, ALONE), "SLEEK leaves the dice of a world without losses alone")
    of_qp, of_nic = (result(folder, INCAST, "transport.qps_per_connection=8", f"cc.context={word}")
                     for word in ("connection", "destination"))
    check(2 * of_nic["congestion"]["trimmed_last_hop"] < of_qp["congestion"]["trimmed_last_hop"],
          "eight QPs that share a window are trimmed as one is, not as eight")
    check(digest(folder, INCAST, "cc.context=destination") == digest(folder, INCAST), "one QP shares with nobody")
    refused = run(folder, INCAST, "cc.context=destination", "transport.sleek=true")
    check(refused.returncode == 2 and "cc.context: " in refused.stderr, "a shared window and SLEEK are refused")
    refused = run(folder, ALONE, "transport.sleek=true", "cc.algorithm=rccc")
    check(refused.returncode == 2 and "no effect here" in refused.stderr, "SLEEK without a window is refused")
    turn, long = (result(folder, SLOW, *words) for words in (["transport.skip_time=turn"], ["transport.skip_time=100us"]))
    marks = [one["congestion"]["marked"] for one in (turn, long)]
    check(marks[0] > 2 * marks[1] > 0, f"what passes over marked paths for long is marked less: {marks}")
    check(long["run"]["last_completion_ps"] < turn["run"]["last_completion_ps"], "and is no later")
    row = result(folder, SLOW)
    check(row["congestion"]["marked"] < marks[0], "so is what rests the longer the more often it was marked")
    check(digest(folder, SLOW, "transport.skip_time=auto") == row["run"]["digest"] != turn["run"]["digest"], "and that is the default")
    refused = run(folder, SLOW, "transport.path=rotate", "transport.skip_time=20us")
    check(refused.returncode == 2 and "no effect here" in refused.stderr, "without MRC's paths nothing is skipped")
    alone = result(folder, ALONE, "cc.penalty=127")
    end_us, rtt_us = alone["run"]["last_completion_ps"] / 1e6, alone["network"]["base_rtt_ps"] / 1e6
    check(940 < end_us / rtt_us < 1010, f"a penalty of 127 leaves about a packet a round trip: {end_us / rtt_us:.0f} for 1000")
print(f"{len(SWITCHES) + 1} switches, {check.failed} wrong")
sys.exit(check.failed > 0)
