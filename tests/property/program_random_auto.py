#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Random collectives on random fabrics: 1 to 8 NICs a host, leaf-spine and rails, 1:1 to 4:1, 8 to 128 ranks, 8 B to 8 MiB;
and on trees from .topo files and graphs, with links of 100 ns to 5 us.

`weft coll` runs what `auto` may take, so that it is as fast as the fastest; a scenario runs those two that a model of
times has near each other. None takes longer than the best. WEFT_AUTO_FIRST and WEFT_AUTO_COUNT say which (40 from 0); half
as many trees and graphs follow.
"""
import json
import os
import pathlib
import random
import sys
import tempfile

import weft
from weft import check

FIRST, COUNT = (int(os.environ.get(f"WEFT_AUTO_{name}", default)) for name, default in (("FIRST", 0), ("COUNT", 40)))
WRONG_MODEL = (3001052, 4001498, 7001158, 1001569, 3001543, 1001372, 7001179, 1109, 2001398, 3001258)  # which put the slower one first
TREES_OF_FEW_PIECES = (1304, 1448, 2001122, 3001366)  # a channel a NIC, whose share is no longer than a message
RINGS_OVER_TWO_T0 = (2001430,)  # the slowest message meets every hop between them
HARDLY = 1.0102  # NCCL's own ring stays where the one without credits is less than 1 % faster


def draw(seed):
    """A fabric with a collective, or None where the figures do not go together."""
    rng = random.Random(seed)
    per_host, over, hosts = rng.choice((1, 1, 2, 4, 8)), rng.choice((1, 1, 2, 4)), rng.choice((2, 3, 4, 6, 8, 16, 32))
    nics, size = per_host * hosts, 8 << rng.randrange(21)
    kind = rng.choice(("all_reduce", "all_reduce", "all_reduce", "reduce_scatter", "all_gather"))
    below = rng.choice((1, 2, 4, 8)) * per_host
    is_rail = per_host > 1 and rng.random() < 0.5
    shape = "topology: rail" if is_rail else f"nics_per_t0: {min(below, nics)}"
    up = hosts if is_rail else below
    if not 8 <= nics <= 128 or up % over or nics % below or size * nics > 1 << 29 or (kind != "all_reduce" and (per_host > 1 or size < 4 * nics)):
        return None
    spines = f"oversubscription: {over}" if is_rail or below < nics else "t1_count: 0"
    text = f"name: auto\nfabric: {{{shape}, nics: {nics}, nics_per_host: {per_host}, planes: {rng.choice((1, 1, 2))}, " \
           f"link_rate: {rng.choice((100, 200, 400))}Gb/s, {spines}}}\n" + ("scaleup: {rate: 450GB/s}\n" if per_host > 1 else "")
    return kind, size, text + f"traffic: {{kind: collective, collective: {kind}, bytes: {size}B}}\n"


def listed_graph(rng, leaves, below, rate):
    """Switches of so many NICs, joined in a row, a ring, or by others above them."""
    above = rng.choice((0, 0, 1, 2, 4))
    way = f"count: {rng.choice((1, 2, 4))}, rate: {rate * rng.choice((0.5, 1, 1, 2)):g}Gb/s, delay: {rng.choice((100, 1000, 5000))}ns"
    pairs = [(f"s{i}", f"t{k}") for i in range(leaves) for k in range(above)]
    if above == 0:
        pairs = [(f"s{i}", f"s{(i + 1) % leaves}") for i in range(leaves if leaves > 2 and rng.random() < 0.5 else leaves - 1)]
    nodes = [f"{{name: s{i}, nics: {below}}}" for i in range(leaves)] + [f"{{name: t{k}}}" for k in range(above)]
    links = [f"{{from: {a}, to: {b}, {way}}}" for a, b in pairs]
    return f"nodes: [{', '.join(nodes)}], links: [{', '.join(links)}]"


def topo_file(rng, nics, below, rate):
    """A tree of two or three tiers."""
    over, pod = rng.choice((1, 1, 2, 4)), nics if rng.random() < 0.7 else max(2 * below, nics // 4)
    each = f"Downlink_speed_Gbps {rate}\nDownlink_Latency_ns {rng.choice((100, 500, 1000, 5000))}\nSwitch_Latency_ns {rng.choice((0, 300))}\n"
    ports = [(below, max(1, below // over)), (pod // below, pod // below)] + ([(nics // pod, 0)] if pod < nics else [])
    text = f"Nodes {nics}\nTiers {len(ports)}\nPodsize {pod}\n"
    for tier, (down, up) in enumerate(ports):
        text += f"Tier {tier}\n{each}Radix_Down {down}\n" + (f"Radix_Up {up}\n" if tier < len(ports) - 1 else "")
        text += f"Oversubscribed {over}\n" if tier == 0 and over > 1 else ""
    return text


def draw_listed(seed, folder):
    """The same on a tree from a .topo file or on a graph."""
    rng = random.Random(seed)
    per_host, nics, below, rate = rng.choice((1, 1, 2, 4)), rng.choice((16, 32, 64)), rng.choice((4, 8)), rng.choice((100, 400))
    size, kind = 8 << rng.randrange(10, 21), rng.choice(("all_reduce", "all_reduce", "reduce_scatter", "all_gather"))
    if kind != "all_reduce" and per_host > 1:
        return None
    if seed % 2:
        pathlib.Path(folder, "auto.topo").write_text(topo_file(rng, nics, below, rate), encoding="utf-8")
    shape = f"topology: file, file: {folder}/auto.topo" if seed % 2 else f"topology: graph, {listed_graph(rng, nics // below, below, rate)}"
    text = f"name: auto\nfabric: {{{shape}, nics: {nics}, nics_per_host: {per_host}, planes: {rng.choice((1, 2))}, link_rate: {rate}Gb/s}}\n" \
           + ("scaleup: {rate: 450GB/s}\n" if per_host > 1 else "")
    return kind, size, text + f"traffic: {{kind: collective, collective: {kind}, bytes: {size}B}}\n"


def time_of_scenario(path, algorithm):
    run = weft.run("sim", path, "--json", "--set", f"traffic.algorithm={algorithm}", check=True)
    return json.loads(run.stdout)["run"]["last_completion_ps"] / 1e6


def time_of_coll(path, kind, size, algorithm):
    run = weft.run("coll", kind, "-b", f"{size}", "--scenario", path, "--algorithm", algorithm, "--json", check=True)
    return json.loads(run.stdout)["results"][0]["out_of_place"]["time"]


def compare(seed, drawn, path):
    """The time of `auto` over that of the best, and of each that it may take."""
    kind, _, text = drawn
    path.write_text(text, encoding="utf-8")
    other = "double_tree" if kind == "all_reduce" else "pat"
    only_ring = other == "pat" and "nics_per_host: 1," not in text
    each = {one: time_of_scenario(path, one) for one in ("ring", *(() if only_ring else (other,)))}
    ratio = time_of_scenario(path, "auto") / min(each.values())
    check(ratio <= 1, f"a scenario of seed {seed}: {ratio:.2f} times the best of {each}: {text}")
    return each


def of_each(first, count, draw_one):
    """So many seeds that give a world, and it."""
    seed = first * 1000
    while count > 0:
        drawn, seed = draw_one(seed), seed + 1
        if drawn is not None:
            yield seed - 1, drawn
            count -= 1


def main():
    with tempfile.TemporaryDirectory() as name:
        path = pathlib.Path(name, "auto.yaml")
        for seed in WRONG_MODEL + TREES_OF_FEW_PIECES + RINGS_OVER_TWO_T0:
            compare(seed, draw(seed), path)
        for count, (seed, drawn) in enumerate(of_each(FIRST, COUNT, draw)):
            each = compare(seed, drawn, path)
            if count % 4 == 0:
                kind, size, text = drawn
                each = {one: time_of_coll(path, kind, size, one) for one in ("auto", "credit_ring", *each)}
                check(each["auto"] <= HARDLY * min(each.values()), f"weft coll, seed {seed}: {each}: {text}")
        for seed, drawn in of_each(FIRST, COUNT // 2, lambda seed: draw_listed(seed, name)):
            compare(seed, drawn, path)
    sys.exit(1 if check.failed else 0)


if __name__ == "__main__":
    main()
