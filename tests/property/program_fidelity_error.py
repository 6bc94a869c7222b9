#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The stated error of --fidelity sample holds: random small steps on random fabrics, whose every packet runs, too.

In at least 95 of 100 the exposed time of all packets lies within the error of the sample's, or the sample gives none and says why.
WEFT_DEPTH_FIRST and WEFT_DEPTH_COUNT say which (24 from 1).
"""
import collections
import json
import os
import random
import sys

import weft

FIRST, COUNT = (int(os.environ.get(f"WEFT_DEPTH_{name}", default)) for name, default in (("FIRST", 1), ("COUNT", 24)))
WHY = {"whole ones: run --fidelity full": "too few trunks", "--fidelity full runs all of them": "too loaded", "ring steps are too few": "too few ring steps",
       "their closed form": "too slow"}


def draw(seed):
    dice = random.Random(seed)
    keys = {
        "fabric.link_rate": dice.choice(["25Gb/s", "50Gb/s", "100Gb/s", "200Gb/s", "400Gb/s"]),
        "fabric.planes": dice.choice([1, 2, 4]),
        "traffic.channels": dice.choice([1, 2, 4, 8]),
        "traffic.chunk": dice.choice(["512KiB", "1MiB", "2MiB"]),
        "cc.algorithm": dice.choice(["nscc", "nscc", "swift", "dctcp", "fixed"]),
    }
    nics = dice.choice([8, 16, 32])
    if dice.random() < 0.2:
        keys |= {"fabric.topology": "fat-tree", "fabric.tor_nics": 8, "fabric.pod_tors": 2, "fabric.pod_aggs": dice.choice([8, 16])}
        keys["fabric.cores"] = 2 * keys["fabric.pod_aggs"]
    else:
        keys |= {"fabric.nics_per_t0": nics, "fabric.t1_count": dice.choice([4, 8, 16, 16, 32])}
    if dice.random() < 0.3:
        keys["transport.evs"] = dice.choice([16, 64, 256])
    if dice.random() < 0.3:
        keys["fabric.trunk_delay"] = dice.choice(["1us", "5us", "20us"])
    sample = f"groups={dice.choice([1, 2, 4])},steps={dice.choice([3, 4, 5])},fill={dice.choice([2, 3, 4])}"
    words = ["--seed", str(seed), "--sample", sample]
    for key, value in keys.items():
        words += ["--set", f"{key}={value}"]
    return words


held, missed, why = 0, [], collections.Counter()
for seed in range(FIRST, FIRST + COUNT):
    words = draw(seed)
    scenario = ["llama-small-3-fidelities"]
    if "fabric.topology=fat-tree" in words:
        text = open(os.path.join(os.environ["WEFT_SOURCE"], "apps", "scenarios", "llama-small-3-fidelities.yaml"), encoding="utf-8").read()
        path = os.path.join(os.environ.get("TMPDIR", "/tmp"), f"weft-depth-{os.getpid()}.yaml")
        with open(path, "w", encoding="utf-8") as file:
            file.write(text.replace("  nics_per_t0: 16\n", "").replace("  t1_count: 16\n", ""))
        scenario = [path]
    run = weft.run("sim", *scenario, "--fidelity", "all", "--json", *words)
    if len(scenario[0]) > 30:
        os.unlink(scenario[0])
    if run.returncode != 0:
        reason = next((name for end, name in WHY.items() if end in run.stderr), None)
        if run.returncode not in (2, 5) or reason is None:
            sys.exit(f"not ok: {' '.join(words)}: {run.returncode} {run.stderr}")
        why[reason] += 1
        continue
    depths = json.loads(run.stdout)
    sample, full = depths["sample"], depths["full"]
    if abs(sample["exposed_ps"] - full["exposed_ps"]) <= sample["exposed_error_ps"]:
        held += 1
    else:
        missed.append(f"{sample['exposed_ps'] / 1e9:.3f} +- {sample['exposed_error_ps'] / 1e9:.3f} ms for {full['exposed_ps'] / 1e9:.3f}: {' '.join(words)}")

stated = held + len(missed)
print(f"{held} of {stated} held; no figure in {sum(why.values())}: {dict(why)}")
print("\n".join(missed))
if stated < COUNT / 5:
    sys.exit("not ok: too few say anything")
# Of few a miss is no proof: the share that is asked for less twice its standard error.
if held < stated * 0.95 - 2 * (stated * 0.95 * 0.05) ** 0.5:
    sys.exit("not ok: less than 95 of 100")
print("ok")
