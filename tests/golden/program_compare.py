#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""weft compare on what weft wrote: equal runs are equal, a swept key that matters differs beyond noise with the same seeds
and with others, one that does not matter never does; exit statuses; what cannot be compared is refused."""
import functools
import json

import weft
from weft import check, check_parts

SMALL = """name: small
fabric: {nics: 16, planes: 2, link_rate: 100Gb/s, nics_per_t0: 8, t1_count: 4}
traffic: {kind: permutation, bytes: 512KiB}
"""
refused = functools.partial(weft.refused, "compare")


def run(folder, name, *words):
    (folder / "small.yaml").write_text(SMALL)
    status, _, errors = weft.outcome("sim", folder / "small.yaml", "--out", folder / name, *words)
    check(status in (0, 5), f"{name} ran: {errors.strip()}")
    return folder / name


def rows(a, b, *words):
    status, text, _ = weft.outcome("compare", a, b, "--json", *words)
    got = json.loads(text)
    return status, got, {row["name"]: row for row in got["rows"]}


def check_studies(folder):
    first = run(folder, "first", "--seeds", 4)
    others = run(folder, "others", "--seeds", 4, "--seed", 100)
    slow = run(folder, "slow", "--seeds", 4, "--set", "fabric.link_rate=50Gb/s")
    status, got, table = rows(first, first, "--within", 0)
    check(status == 0 and got["paired"] and all(row["verdict"] == "same" for row in got["rows"]), "a study equals itself")
    status, got, table = rows(first, others)
    check(status == 0 and not got["paired"] and got["differing"] == 0, "other seeds are noise")
    for other, paired in ((slow, True), (run(folder, "slow-others", "--seeds", 4, "--seed", 50, "--set",
                                             "fabric.link_rate=50Gb/s"), False)):
        status, got, table = rows(first, other, "--within", 10)
        row = table["goodput_bps"]
        check(status == 1 and got["paired"] == paired and row["verdict"] == "differs" and row["second"] < 0.6 * row["first"],
              f"half the rate differs beyond noise, {'seed by seed' if paired else 'by means'}: p {row['chance']:.2g}")
        check(row["high"] < 0 and row["low"] < row["second"] - row["first"] < row["high"], "  and the interval says where")
    check(rows(first, slow, "--within", 1000)[0] == 0, "--within allows it")


def check_runs(folder):
    one, again = run(folder, "one"), run(folder, "again")
    lossy = run(folder, "lossy", "--fault", "{kind: loss, at: all, probability: 1%}")
    partial = run(folder, "partial", "--set", "limits.time=20us")
    status, got, table = rows(one, again, "--within", 0)
    check(status == 0 and len(table) > 100 and got["unknown"] == 0, f"two equal runs: {len(table)} fields")
    status, got, table = rows(one, lossy, "--within", 0)
    check(status == 1 and table["congestion.retransmitted"]["second"] > 0 and table["run.digest"]["verdict"] == "unknown",
          "a lossy run has other fields")
    check(not any(name.startswith(("speed", "command", "weft")) for name in table), "nothing of the machine")
    check(rows(one, partial)[0] == 5, "a partial run: status 5")
    text = weft.outcome("compare", one, lossy)[1]
    check("says nothing of noise" in text and "congestion.retransmitted " in text, "the table says so")
    check("transport.qps_failed " not in text and "transport.qps_failed " in weft.outcome("compare", one, lossy, "--all")[1],
          "--all shows equal fields, too")


def check_refusals(folder):
    one, study = run(folder, "one"), run(folder, "first", "--seeds", 2)
    (folder / "empty").mkdir()
    refused("one result", [one], "no second result given")
    refused("three results", [one, one, one], "unexpected argument")
    refused("a run and a study", [one, study], "study of many runs")
    refused("an empty folder", [one, folder / "empty"], "no result.json")
    refused("no such file", [one, folder / "none"], "cannot be read")
    refused("a scenario", [one, folder / "small.yaml"], "manifest.json: is missing")
    refused("a scenario, unchecked", [one, folder / "small.yaml", "--no-manifest"], "small.yaml:1:")
    refused("--within of words", [one, one, "--within", "little"], "a number from 0")
    refused("--all with JSON", [one, one, "--all", "--json"], "no effect")
    refused("an unknown option", [one, one, "--fast"], "unknown option")


if __name__ == "__main__":
    check_parts(check_studies, check_runs, check_refusals)
