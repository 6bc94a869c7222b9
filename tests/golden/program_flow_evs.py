#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Flows with entropy values of their own: one value is one path, through the same cables on each run; sets are in the result;
flows without a set go as they did; the same digest in windows of any length, with losses too."""
import json
import os
import pathlib
import subprocess
import sys
import tempfile

WEFT = os.environ["WEFT"]
HEAD = "fabric: {nics: 16, planes: 2, nics_per_t0: 8, t1_count: 4, bundle: 2}\ntransport: {evs: 32}\n"
LOSS = ["--fault", "{kind: loss, at: all, probability: 0.5%}"]
failed = 0


def check(what, holds):
    global failed
    if not holds:
        failed += 1
        print(f"not ok: {what}")


def flows(*rows):
    return HEAD + "traffic: {kind: flows, flows: [" + ", ".join("{" + row + "}" for row in rows) + "]}\n"


def sim(folder, text, *words):
    file = pathlib.Path(folder, "flows.yaml")
    file.write_text(text, encoding="utf-8")
    return subprocess.run([WEFT, "sim", file, *words], capture_output=True, text=True, timeout=600, check=False)


def result(folder, text, *words):
    return json.loads(sim(folder, text, "--json", "--set", "watch.links=true", *words).stdout)


def busy(one, group):
    """Cables of a group that data could have been shared by, over those that carried all of it: max / mean is their number then."""
    (row,) = [row for row in one["links"]["groups"] if row["group"] == group]
    return row["cables"], row["max_to_mean"]


def plane_bytes(one, plane):
    return sum(row["data_bytes"] for row in one["links"]["planes"] if row["group"] == "nic_up" and row["plane"] == plane)


with tempfile.TemporaryDirectory() as folder:
    for words in ([], LOSS):
        one = result(folder, flows("from: 0, to: 9, bytes: 2MB, evs: [3]"), *words)
        for group in ("nic_up", "trunk_up", "trunk_down", "nic_down"):
            cables, most = busy(one, group)
            check(f"one value is one path: {group} {words}: {most} of {cables}", abs(most - cables) < 1e-9)
        check("number 3 is on plane 1", plane_bytes(one, 0) == 0 < plane_bytes(one, 1))
        check("it ends", one["flows"]["count"] == 1)
        check("the set is told", one["flow_evs"]["sets"] == [{"flow": 0, "from": 0, "to": 9, "count": 1, "evs": "3"}])
    wide = result(folder, flows("from: 0, to: 9, bytes: 2MB, evs: 16"))
    check("16 values are several paths", busy(wide, "trunk_up")[1] < 8 and plane_bytes(wide, 0) > 0 and plane_bytes(wide, 1) > 0)
    check("a count is told as a range", wide["flow_evs"]["sets"][0]["evs"] == "0-15")
    plain = result(folder, flows("from: 0, to: 9, bytes: 2MB", "from: 1, to: 10, bytes: 2MB"))
    check("without sets there are none", plain["flow_evs"] is None and plain["flow_evs_reason"] == "all flows use all entropy values")
    every = result(folder, flows("from: 0, to: 9, bytes: 2MB, evs: 32", "from: 1, to: 10, bytes: 2MB, evs: all"))
    check("a set of all values changes nothing", every["run"]["digest"] == plain["run"]["digest"])
    mixed = flows("from: 0, to: 9, bytes: 2MB, evs: [0, 2, 4]", "from: 1, to: 10, bytes: 2MB, evs: [1, 3, 5]", "from: 2, to: 11, bytes: 2MB",
                  "from: 10, to: 3, bytes: 2MB, evs: 4")
    digests = {result(folder, mixed, *LOSS, "--set", f"limits.window={window}")["run"]["digest"] for window in ("500ns", "142ns")}
    check(f"the same in windows of any length: {digests}", len(digests) == 1)
    table = sim(folder, mixed).stdout
    check("the table tells them", "3 of 4 have sets of their own\n  flow 0, nic 0 to nic 9: 0 2 4\n" in table)

print("FAIL" if failed else "all that is claimed of flows' entropy values holds")
sys.exit(failed != 0)
