#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Random collectives on random fabrics: 1 to 8 NICs a host, leaf-spine and rails, 1:1 to 4:1, 8 to 128 ranks, 8 B to 8 MiB.

`weft coll` runs what `auto` may take, so that it is as fast as the fastest. A scenario goes by a model of times: at most
one in 50 takes more than 2 % longer than the best, none half as long again. WEFT_AUTO_FIRST and
WEFT_AUTO_COUNT say which (40 from 0).
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
NEAR, LONGEST, SHARE = 1.02, 1.5, 0.02
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


def time_of_scenario(path, algorithm):
    run = weft.run("sim", path, "--json", "--set", f"traffic.algorithm={algorithm}", check=True)
    return json.loads(run.stdout)["run"]["last_completion_ps"] / 1e6


def time_of_coll(path, kind, size, algorithm):
    run = weft.run("coll", kind, "-b", f"{size}", "--scenario", path, "--algorithm", algorithm, "--json", check=True)
    return json.loads(run.stdout)["results"][0]["out_of_place"]["time"]


def main():
    slower, count, seed = [], 0, FIRST * 1000
    with tempfile.TemporaryDirectory() as name:
        path = pathlib.Path(name, "auto.yaml")
        while count < COUNT:
            drawn, seed = draw(seed), seed + 1
            if drawn is None:
                continue
            kind, size, text = drawn
            path.write_text(text, encoding="utf-8")
            other = "double_tree" if kind == "all_reduce" else "pat"
            only_ring = other == "pat" and "nics_per_host: 1," not in text
            each = {one: time_of_scenario(path, one) for one in ("ring", *(() if only_ring else (other,)))}
            ratio = time_of_scenario(path, "auto") / min(each.values())
            slower += [(round(ratio, 2), seed - 1)] if ratio > NEAR else []
            check(ratio < LONGEST, f"a scenario of seed {seed - 1}: {ratio:.2f} times the best of {each}: {text}")
            if count % 4 == 0:
                each = {one: time_of_coll(path, kind, size, one) for one in ("auto", "credit_ring", *each)}
                check(each["auto"] <= HARDLY * min(each.values()), f"weft coll, seed {seed - 1}: {each}: {text}")
            count += 1
    print(f"{count - len(slower)} of {count} scenarios within {NEAR - 1:.0%} of the best; others, with their seeds: {slower}")
    check(len(slower) <= SHARE * count, f"at most {SHARE:.0%} are farther")
    sys.exit(1 if check.failed else 0)


if __name__ == "__main__":
    main()
