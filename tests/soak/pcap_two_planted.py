#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""weft pcap analyze of RoCE runs with two or three faults at once, drawn by seed and captured at the receiver's or the sender's NIC.

No cause is named that was not planted, and none more often than the run counted it. WEFT_PLANTED_FIRST and WEFT_PLANTED_COUNT say which seeds
(20 from 101); words on the command line choose kinds.
"""
import itertools
import json
import os
import pathlib
import random
import sys
import tempfile

import weft

FIRST, COUNT = (int(os.environ.get(f"WEFT_PLANTED_{name}", default)) for name, default in (("FIRST", 101), ("COUNT", 20)))
SOURCE, TARGET = 0, 4
FAULTS = {"loss": ("0.1%", "0.3%", "1%"), "corrupt": ("0.1%", "0.3%", "1%"), "duplicate": ("0.3%", "1%", "2%"), "reorder": ("0.2%", "0.5%", "1%")}
BEFORE = {"loss": "loss_before", "corrupt": "corruption_before", "duplicate": "duplicate", "reorder": "reordering_before"}
BEHIND = {"loss": "loss_behind", "corrupt": "loss_behind", "duplicate": None, "reorder": "reordering_behind"}
ANSWERS = {"timeout", "needless_timeout"}  # an answer was hit, or nothing passed here that tells why
failed = 0


def kinds():
    """All pairs before the tap, all pairs of one before and one behind, and three before."""
    for pair in itertools.combinations(FAULTS, 2):
        yield " and ".join(pair) + " before", [(fault, SOURCE) for fault in pair]
    for first, second in itertools.product(FAULTS, FAULTS):
        yield f"{first} before, {second} behind", [(first, SOURCE), (second, TARGET)]
    yield "loss, duplicate and reorder before", [(fault, SOURCE) for fault in ("loss", "duplicate", "reorder")]


def scenario(kind, faults, seed):
    dice = random.Random(f"{kind} {seed}")
    flows = ", ".join([f"{{from: {SOURCE}, to: {TARGET}, bytes: {dice.choice(['256KiB', '512KiB', '1MiB'])}}}"] * dice.choice([1, 2, 3]))
    listed = ", ".join(f"{{kind: {fault}, at: {{nic: {place}}}, probability: {dice.choice(FAULTS[fault])}{', delay: 5us' if fault == 'reorder' else ''}}}"
                       for fault, place in faults)
    return (f"name: planted\nseed: {seed}\n"
            f"fabric: {{nics: 8, nics_per_t0: 4, t1_count: 2, planes: 1, link_rate: {dice.choice(['25Gb/s', '100Gb/s'])}}}\n"
            f"transport: {{kind: rc, payload: {dice.choice([1024, 2048, 4096])}B, psns: {'drawn' if seed % 2 == 0 else 'same'}}}\n"
            + ("wire: {ip: 4, identification: sent, qpns: drawn}\n" if seed % 2 == 0 else "")
            + f"cc: {{algorithm: {dice.choice(['dcqcn', 'fixed'])}}}\n"
            f"traffic: {{kind: flows, flows: [{flows}]}}\nfaults: [{listed}]\ntaps: [{{at: {{nic: {TARGET}}}}}]\n")


def dropped(result, *reasons):
    return sum(row["cables"] + row["hosts"] + row["switches"] for row in result["drops"] if row["reason"] in reasons)


def wrong(faults, result, causes):
    """What is named without having been planted, or more often than that. A queue that copies filled drops packets, too."""
    planted = {(BEFORE if place == SOURCE else BEHIND)[fault] for fault, place in faults}
    full, lost, damaged = dropped(result, "queue_full"), dropped(result, "random_loss"), dropped(result, "bad_frame")
    most = {"loss_before": full + lost, "corruption_before": damaged, "loss_behind": full + lost + damaged}
    planted |= {"loss_before"} if full > 0 else set()
    planted |= {"lost_or_late_behind"} if planted & {"loss_behind", "reordering_behind"} else set()  # withheld
    planted |= {"lost_or_late_before"} if planted & {"loss_before", "reordering_before"} else set()
    planted |= {"doubled_or_late"} if planted & {"duplicate", "reordering_before"} else set()  # so is this
    for cause, count in causes.items():
        if cause not in planted | ANSWERS:
            yield f"{count} {cause}, not planted"
        elif count > most.get(cause, count):
            yield f"{count} {cause}, at most {most[cause]}"


def one(kind, faults, seed, folder):
    text = scenario(kind, faults, seed)
    path, capture = folder / "planted.yaml", folder / "planted.pcapng"
    path.write_text(text, encoding="utf-8")
    run = weft.run("sim", path, "--json", "--pcap", capture, "--force")
    done = weft.run("pcap", "analyze", "--json", capture)
    if run.returncode != 0 or done.returncode != 0:
        return [f"{run.returncode} {run.stderr}{done.returncode} {done.stderr}\n{text}"]
    return list(wrong(faults, json.loads(run.stdout), json.loads(done.stdout)["finding"]["causes"]))


def main():
    global failed
    with tempfile.TemporaryDirectory() as room:
        for kind, faults in kinds():
            if sys.argv[1:] and kind not in sys.argv[1:]:
                continue
            against = 0
            for seed in range(FIRST, FIRST + COUNT):
                found = one(kind, faults, seed, pathlib.Path(room))
                against += bool(found)
                for what in found:
                    print(f"FAILED: {kind} {seed}: {what}")
            failed += against
            print(f"{kind}: {COUNT} runs, {against} wrong", flush=True)
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
