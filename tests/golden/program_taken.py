#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a run takes for keys that are auto is in its result, and is what it ran with: set by hand, all of it gives the same run."""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import weft
from weft import WEFT, check

HEAD = "name: taken\nfabric: {nics: 8, nics_per_t0: 4, t1_count: 2, planes: 2}\n"
INCAST = HEAD + "traffic: {kind: incast, senders: 6, bytes: 300kB}\n"
TRIGGERS = "Nodes 8\nConnections 2\nTriggers 1\n0->4 id 1 start 0 size 40960 recv_done_trigger 1\n5->1 id 2 trigger 1 size 40960\ntrigger id 1 oneshot\n"
CASES = {
    "as it is": (INCAST, ()),
    "a fixed window": (INCAST, ("cc.algorithm=fixed",)),
    "Swift and flowlets": (INCAST, ("cc.algorithm=swift", "transport.path=flowlet", "fabric.spray=flowlet")),
    "credits and NSCC": (INCAST, ("cc.algorithm=nscc_rccc", "cc.htsim=true", "cc.penalty=3")),
    "without trimming": (INCAST, ("queue.trim=false",)),
    "lossless RC with DCQCN": (INCAST, ("transport.kind=rc", "cc.algorithm=dcqcn", "queue.pfc=true", "queue.ecn_last_hop=true")),
    "a ring": (HEAD + "traffic: {kind: ring, collective: all_reduce, bytes: 300kB}\n", ()),
    "triggers": (HEAD + "traffic: {kind: matrix, matrix: triggers.cm}\n", ()),
}
# Keys that are auto, and whose value is told elsewhere, or is none.
ELSEWHERE = {
    "transport.ev_profile": "a word of its own: each connection draws",
    "capture.snap": "all of a frame",
    "transport.skip_time": "a rule, not a time: turns by marks in a row",
    "traffic.algorithm": "program.algorithm",
    "queue.pfc_headroom": "pfc: in-ports differ",
    **{key: "mrc_ctl" for key in ("cc.eta", "cc.fi", "cc.fi_scale", "cc.qa_threshold")},
}


def run(path, sets):
    words = [WEFT, "sim", path, *(word for key in sets for word in ("--set", key))]
    done = subprocess.run([*words, "--json"], capture_output=True, text=True, timeout=120)
    if done.returncode != 0:
        sys.exit(f"not ok: {' '.join(words)}: {done.stderr}")
    return json.loads(done.stdout)


def main(folder):
    listed = weft.run("sim", "--list-keys", check=True).stdout
    auto = {key for key in re.findall(r"^(\S+) +\S+ +auto ", listed, re.M) if "[]" not in key}
    pathlib.Path(folder, "triggers.cm").write_text(TRIGGERS, encoding="utf-8")
    path, seen = os.path.join(folder, "taken.yaml"), set()
    for name, (text, sets) in CASES.items():
        pathlib.Path(path).write_text(text, encoding="utf-8")
        result = run(path, sets)
        taken = {row["key"]: row["value"] for row in result["taken"]}
        shrinks = result["scenario"]["cc"].startswith("nscc")  # its largest window, as round trips get shorter, unless it is given
        by_hand = {key: value for key, value in taken.items() if not (shrinks and key == "cc.max_window")}
        again = run(path, (*sets, *(f"{key}={value}" for key, value in by_hand.items())))
        check(again["run"]["digest"] == result["run"]["digest"], f"{name}: set by hand it is another run")
        left = {row["key"] for row in again.get("taken", [])}
        check(left == set(taken) - set(by_hand), f"{name}: {left} is auto still")
        seen |= set(taken)
        table = weft.run("sim", path, "-v", *(word for key in sets for word in ("--set", key)))
        check(all(f" {key}={value}" in table.stdout for key, value in taken.items()), f"{name}: the table says so")
    check(auto == seen | set(ELSEWHERE), f"keys that no result tells: {auto - seen - set(ELSEWHERE)}")
    check(not seen & set(ELSEWHERE), f"told twice: {seen & set(ELSEWHERE)}")
    print(f"{len(auto)} keys are auto; {len(seen)} in the list, {len(ELSEWHERE)} elsewhere")


with tempfile.TemporaryDirectory() as work:
    main(work)
sys.exit(check.failed > 0)
