#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Flows with entropy values of their own: one value is one path, sets are in the result, flows without a set go as they did; the same
digest in windows of any length, with losses too. What flows sent by each value (watch.evs) is what their NICs' cables carried, with
losses, with RoCE, with several QPs, and where nothing was asked for nothing changes."""
import collections
import csv
import json
import pathlib
import sys
import tempfile

import weft
from weft import check

HEAD = "fabric: {nics: 16, planes: 2, nics_per_t0: 8, t1_count: 4, bundle: 2}\ntransport: {evs: 32}\n"
LOSS = ["--fault", "{kind: loss, at: all, probability: 0.5%}"]
NOT_COUNTED = {f"{name}{end}": value for name in ("used", "data_packets", "data_bytes")
               for end, value in (("", None), ("_reason", "not counted: watch.evs is false"))}


def flows(*rows):
    return HEAD + "traffic: {kind: flows, flows: [" + ", ".join("{" + row + "}" for row in rows) + "]}\n"


def sim(folder, text, *words):
    file = pathlib.Path(folder, "flows.yaml")
    file.write_text(text, encoding="utf-8")
    return weft.run("sim", file, *words)


def result(folder, text, *words):
    return json.loads(sim(folder, text, "--json", "--set", "watch.links=true", *words).stdout)


def told(folder, text, *words):
    """result.json, and the rows of flow_evs.csv and cables.csv."""
    out = pathlib.Path(folder, "out")
    run = sim(folder, text, "--set", "watch.links=true", "--set", "watch.evs=true", "--out", out, "--force", *words)
    check(run.returncode == 0, f"it runs: {run.stderr}")
    rows = []
    for name in ("flow_evs.csv", "cables.csv"):
        with open(out / name, encoding="utf-8") as file:
            rows.append(list(csv.DictReader(file)))
    return json.loads((out / "result.json").read_text(encoding="utf-8")), *rows


def added(rows, key, field, holds=lambda row: True):
    sums = collections.Counter()
    for row in rows:
        if holds(row) and int(row[field]) > 0:
            sums[key(row)] += int(row[field])
    return sums


def books(what, one, evs, cables):
    """The three books of what left: by flows' entropy values, by NICs' cables, by endpoints."""
    by_evs = added(evs, lambda row: (row["from"], row["plane"]), "bytes")
    by_cables = added(cables, lambda row: (row["cable"].split()[1], row["plane"]), "data_bytes", lambda row: row["group"] == "nic_up")
    check(by_evs == by_cables, f"{what}: bytes of values are those of cables, port by port: {by_evs - by_cables} {by_cables - by_evs}")
    for field, mine in (("data_bytes", "bytes"), ("data_packets", "packets")):
        whole = sum(int(row[mine]) for row in evs)
        check(whole == one["transport"][field] == one["flow_evs"][field], f"{what}: {field} {whole}")
    check(one["flow_evs"]["used"] == len(evs), f"{what}: values used")
    check(all(int(row["ev"]) % one["network"]["planes"] == int(row["plane"]) for row in evs), f"{what}: planes")
    for row in one["flow_evs"]["sets"]:
        mine = [other for other in evs if int(other["flow"]) == row["flow"]]
        named = set(range(row["count"])) if "-" in row["evs"] else set(map(int, row["evs"].split()))
        check({int(other["ev"]) for other in mine} <= named, f"{what}: flow {row['flow']} keeps to its set")
        check(row["data_bytes"] == sum(int(other["bytes"]) for other in mine), f"{what}: flow {row['flow']} as told")
    links = {row["group"]: row["data_bytes"] for row in one["links"]["groups"]}
    for group, carried in links.items():
        check(sum(int(row["data_bytes"]) for row in cables if row["group"] == group) == carried, f"{what}: all cables of {group}")
    return sum(by_evs.values())


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
            check(abs(most - cables) < 1e-9, f"one value is one path: {group} {words}: {most} of {cables}")
        check(plane_bytes(one, 0) == 0 < plane_bytes(one, 1), "number 3 is on plane 1")
        check(one["flows"]["count"] == 1, "it ends")
        check(one["flow_evs"]["sets"] == [{"flow": 0, "from": 0, "to": 9, "count": 1, "evs": "3", **NOT_COUNTED}], "the set is told")
    wide = result(folder, flows("from: 0, to: 9, bytes: 2MB, evs: 16"))
    check(busy(wide, "trunk_up")[1] < 8 and plane_bytes(wide, 0) > 0 and plane_bytes(wide, 1) > 0, "16 values are several paths")
    check(wide["flow_evs"]["sets"][0]["evs"] == "0-15", "a count is told as a range")
    plain = result(folder, flows("from: 0, to: 9, bytes: 2MB", "from: 1, to: 10, bytes: 2MB"))
    check(plain["flow_evs"] is None and plain["flow_evs_reason"] == "all flows use all entropy values", "without sets there are none")
    every = result(folder, flows("from: 0, to: 9, bytes: 2MB, evs: 32", "from: 1, to: 10, bytes: 2MB, evs: all"))
    check(every["run"]["digest"] == plain["run"]["digest"], "a set of all values changes nothing")
    mixed = flows("from: 0, to: 9, bytes: 2MB, evs: [0, 2, 4]", "from: 1, to: 10, bytes: 2MB, evs: [1, 3, 5]", "from: 2, to: 11, bytes: 2MB",
                  "from: 10, to: 3, bytes: 2MB, evs: 4")
    digests = {result(folder, mixed, *LOSS, "--set", f"limits.window={window}")["run"]["digest"] for window in ("500ns", "142ns")}
    check(len(digests) == 1, f"the same in windows of any length: {digests}")
    clean, lossy = (told(folder, mixed, *words) for words in ([], LOSS))
    sent, again = books("clean", *clean), books("lossy", *lossy)
    check(again > sent and lossy[0]["congestion"]["retransmitted_share"] > 0, f"what goes again counts again: {again} after {sent}")
    paths = [{row["cable"] for row in told(folder, mixed, "--set", f"seed={seed}")[2]} for seed in (1, 2)]
    check(paths[0] == paths[1] and len(paths[0]) == 2 * 2 * (16 + 2 * 4 * 2), "each cable has its line")
    check(clean[0]["run"]["digest"] == result(folder, mixed)["run"]["digest"], "counting changes nothing")
    for words in (["transport.qps_per_connection=3"], ["transport.path=single"], ["transport.path=reps"], ["transport.universe=64"],
                  ["transport.kind=rc", "cc.algorithm=dcqcn"]):
        books(" ".join(words), *told(folder, flows("from: 0, to: 9, bytes: 2MB", "from: 1, to: 9, bytes: 1MB"), *LOSS,
                                     *(part for word in words for part in ("--set", word))))
    books("permutation", *told(folder, HEAD + "traffic: {kind: permutation, bytes: 1MB}\n", *LOSS))
    ring = sim(folder, HEAD + "traffic: {kind: ring, bytes: 1MB}\nwatch: {evs: true}\n")
    check(ring.returncode == 2 and "watch.evs has no effect here; it needs a traffic.kind of flows" in ring.stderr,
          f"no flows, no counts: {ring.stderr}")
    many = sim(folder, HEAD.replace("nics: 16", "nics: 512").replace("evs: 32", "evs: 32768") + "traffic: {kind: permutation, bytes: 1kB}\nwatch: {evs: true}\n")
    check(many.returncode == 2 and "512 flows of 32768 entropy values each are more than 4194304 counts" in many.stderr,
          f"too many counts: {many.stderr}")
    table = sim(folder, mixed, "-v").stdout
    check("3 of 4 have sets of their own\n  flow 0, nic 0 to nic 9: 0 2 4\n" in table, "the table tells them")

print("FAIL" if check.failed else "all that is claimed of flows' entropy values holds")
sys.exit(check.failed != 0)
