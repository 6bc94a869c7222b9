#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Receivers' credits over trunks that carry less than all NICs send, on leaf-spine fabrics: with the control of what receivers grant
(cc.oversubscribed_control) few packets are sent again, and goodput stays near what trunks carry; NSCC beside it. On htsim's fat tree of four to one
its own figures are held, where its matrices are at hand."""
import json
import pathlib
import subprocess
import sys
import tempfile

from weft import SHARED, WEFT, check

MATRICES = pathlib.Path(SHARED, "data/htsim/matrices")
NICS, LINE, BYTES, PAYLOAD, WIRE = 32, 100e9, 8_000_000, 4096, 4258
SPINE = ("name: over\nfabric: {{topology: leaf-spine, nics: 32, nics_per_t0: 8, t1_count: {spines}, link_rate: 100Gb/s}}\n"
         "cc: {{algorithm: rccc}}\ntransport: {{path: mixed}}\ntraffic: {{kind: {kind}, bytes: 8MB}}\n")
TREE = ("name: tree\nfabric: {topology: fat-tree, nics: 128, tor_nics: 4, pod_tors: 4, pod_aggs: 4, cores: 4, link_rate: 100Gb/s, "
        "nic_delay: 1us, trunk_delay: 1us, switch_delay: 0ns}\n"
        "queue: {ecn_last_hop: false, trim_bytes: 64B, trim_choice: coin, counts: line, slow: scaled}\n"
        "transport: {payload: 4086B, header: 64B, control: 64B, evs: 128, sack_rule: htsim, completion: sack, hole_age: off, rtt: once, "
        "path: mixed}\ncc: {algorithm: rccc, credit_demand: told}\ntraffic: {kind: matrix, matrix: MATRIX}\n")
# htsim, commit of the rows, -receiver_cc_only -paths 128 -seed N on fat_tree_128_4os: mean, longest flow in us, sent again, ACKs
# and on fat_tree_128_1os
ENOUGH = {1: (188.8, 196.7, 5, 22317), 2: (189.4, 197.7, 14, 22691), 3: (189.3, 196.6, 21, 23107)}
HTSIM = {1: (574.1, 730.7, 8732, 38145), 2: (607.1, 721.1, 8937, 38847), 3: (566.2, 748.9, 8293, 37409)}


def run(folder, text, *sets):
    file = pathlib.Path(folder, "over.yaml")
    file.write_text(text, encoding="utf-8")
    words = [WEFT, "sim", file, "--json", *(word for key in sets for word in ("--set", key))]
    done = subprocess.run(words, capture_output=True, text=True, timeout=600, check=False)
    if done.returncode != 0:
        sys.exit(f"not ok: {sets}: exit {done.returncode}: {done.stderr}")
    return json.loads(done.stdout)


def again(one):
    """Packets sent again for each packet of data."""
    new = sum(-(-BYTES // PAYLOAD) for _ in range(NICS))
    return one["transport"]["data_packets"] / new - 1


def part(one, over):
    """Goodput over what trunks carry of it; a tornado sends all over trunks."""
    return one["goodput"]["per_nic_bps"] / (LINE / over * PAYLOAD / WIRE)


def check_spines(folder):
    for over, most in ((2, 0.05), (4, 0.1), (8, 0.25)):
        text = SPINE.format(spines=8 // over, kind="tornado")
        on, off, nscc = (run(folder, text, *sets) for sets in ([], ["cc.oversubscribed_control=off"], ["cc.algorithm=nscc"]))
        print(f"{over} to 1: sent again for each packet {again(on):.3f}, without {again(off):.3f}, nscc {again(nscc):.3f}; of the trunks "
              f"{part(on, over):.3f}, {part(off, over):.3f}, {part(nscc, over):.3f}; longest "
              f"{on['flows']['max_ns'] / 1e3:.0f}, {off['flows']['max_ns'] / 1e3:.0f}, {nscc['flows']['max_ns'] / 1e3:.0f} us")
        check(again(on) < most and again(off) > 10 * again(on), f"{over} to 1: little is sent again")
        check(0.85 < part(on, over) <= 1 and part(on, over) > part(off, over), f"{over} to 1: trunks are full")
        check(part(on, over) > 0.95 * part(nscc, over), f"{over} to 1: goodput is near that of NSCC")
        check(on["flows"]["max_ns"] < 1.05 * nscc["flows"]["max_ns"], f"{over} to 1: so is the longest flow")


def check_default(folder):
    """It is on where credits are alone and trunks are few."""
    def digests(spines, algorithm):
        sets = ["traffic.bytes=500kB", f"cc.algorithm={algorithm}"]
        return [run(folder, SPINE.format(spines=spines, kind="tornado"), *sets, *more)["run"]["digest"]
                for more in ([], ["cc.oversubscribed_control=on"], ["cc.oversubscribed_control=off"])]
    auto, on, off = digests(2, "rccc")
    check(auto == on != off, "credits alone, few trunks: on")
    auto, on, off = digests(2, "nscc_rccc")
    check(auto == off != on, "with a window of the sender's: off")
    auto, on, off = digests(8, "rccc")
    check(auto == off, "trunks enough: off")


def over_htsim(folder, expected, *sets):
    """Sums of runs over those of htsim's."""
    ours = []
    for seed in expected:
        one = run(folder, TREE.replace("MATRIX", str(MATRICES / f"perm_128_2MB_s{seed}.cm")), f"seed={seed}", *sets)
        ours.append((one["flows"]["mean_ns"] / 1e3, one["flows"]["max_ns"] / 1e3, one["transport"]["data_packets"] - 62720, one["transport"]["sacks_sent"]))
    ratios = [sum(mine) / sum(theirs) for mine, theirs in zip(zip(*ours), zip(*expected.values()))]
    print("over htsim's: " + ", ".join(f"{name} {value:.3f}" for name, value in zip(("mean", "longest", "sent again", "ACKs"), ratios)))
    return ratios


def check_tree(folder):
    """Means over three matrices against htsim's."""
    mean, longest, resent, acks = over_htsim(folder, HTSIM)
    check(abs(mean - 1) < 0.01, "the mean is htsim's")
    check(abs(longest - 1) < 0.02, "the longest flow, too")
    check(abs(acks - 1) < 0.03, "so many packets are answered")
    check(0.7 < resent < 1.15, "and about as many sent again")
    mean, longest, _, acks = over_htsim(folder, ENOUGH, "fabric.cores=16")
    check(abs(mean - 1) < 0.01, "trunks enough: the mean is htsim's")
    check(abs(longest - 1) < 0.02, "  the longest flow, too")
    check(abs(acks - 1) < 0.08, "  credits are whole, so that few answers are asked for")


with tempfile.TemporaryDirectory() as folder:
    check_spines(folder)
    check_default(folder)
    if MATRICES.is_dir():
        check_tree(folder)
sys.exit(check.failed > 0)
