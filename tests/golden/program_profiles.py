#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Thresholds that were seen in the field, each in the profile that has its name: a table of them, with the source beside each,
and results whose figure is just inside and just outside of it. What is only indicative never decides; what is a share of a
baseline is unavailable without one."""
import copy
import json

import remanifest
import weft
from weft import check, check_parts

SMALL = """name: small
fabric: {nics: 8, planes: 2, link_rate: 100Gb/s, nics_per_t0: 4, t1_count: 4}
traffic: {kind: ring, ranks: 8, bytes: 8MB, collective: all_reduce}
watch: {delays: true}
"""
G = 1e9
GOODPUT, BUSBW, BYTES = "goodput.per_nic_bps", "collectives.*.busbw_bytes_per_s", "collectives.*.bytes"
ONE_WAY, PAUSES, DROPS = "delays.rows.*.", "pfc.pauses_sent", "drops.0.switches"
OCI, AZURE, SONIC, GAUDI = "Oracle Cloud", "Azure", "SONiC", "Gaudi"

# profile, check, figure of the result, a value that is just inside, one that is just outside, and whose number it is
FIELD = [
    *((f"oci-write-bw-{sku}", "bandwidth of an interface", GOODPUT, gbps * G, (gbps - 0.1) * G, OCI) for sku, gbps in
      {"a100": 96, "h100": 192, "h200": 384, "b200": 384, "gb200": 384, "gb300": 384, "b300": 375, "mi300x": 350}.items()),
    ("oci-write-lat", "mean latency of a write", ONE_WAY + "mean_ns", 5000, 5001, OCI),
    ("oci-write-lat-gb200", "mean latency of a write", ONE_WAY + "mean_ns", 9000, 9001, OCI),
    ("oci-write-lat-gb300", "mean latency of a write", ONE_WAY + "mean_ns", 9000, 9001, OCI),
    *((f"oci-nccl-{sku}", "mean bus bandwidth", BUSBW, gbytes * G, (gbytes - 0.1) * G, OCI) for sku, gbytes in
      {"a100": 185, "h100": 440, "h200": 440, "b200": 440, "b300": 700, "mi300x": 350}.items()),
    ("azure-nd-h100", "bandwidth of an interface", GOODPUT, 380 * G, 379.9 * G, AZURE),
    ("azure-nd-h200", "bandwidth of an interface", GOODPUT, 400 * G, 399.9 * G, AZURE),
    ("azure-nd-h100", "no port flapped", "transport.port_downs", 0, 1, AZURE),
    ("azure-nd-h200", "no port flapped", "transport.port_downs", 0, 1, AZURE),
    ("azure-nccl-h100", "bus bandwidth", BUSBW, 460 * G, 459.9 * G, AZURE),
    ("azure-nccl-h200", "bus bandwidth", BUSBW, 480 * G, 479.9 * G, AZURE),
    ("saturn-nccl", "bus bandwidth", BUSBW, 400 * G, 399.9 * G, "Saturn"),
    ("saturn-nccl", "size of the buffer", BYTES, 8 * G, 8 * G - 1, "Saturn"),
    ("gaudi-incast", "receiver is full", GOODPUT, 8 * 8 * 9 * G, 8 * 8 * 8.99 * G, GAUDI),
    ("gaudi-incast", "pauses were sent", PAUSES, 1, 0, GAUDI),
    ("gaudi-incast", "no drops on switches", DROPS, 0, 1, GAUDI),
    ("gaudi-scaling", "bus bandwidth as it grows", BUSBW, 90 * G, 89.9 * G, GAUDI),  # of a baseline of 100
    ("superbench", "bus bandwidth", BUSBW, 95 * G, 94.9 * G, "SuperBench"),
    ("superbench", "goodput of a NIC", GOODPUT, 95 * G, 94.9 * G, "SuperBench"),
    ("superbench", "tail", "flows.p99_ns", 105000, 105001, "SuperBench"),
    ("nccl-tests", "mean bus bandwidth", BUSBW, 90 * G, 89.9 * G, "nccl-tests"),
    ("sonic-no-congestion", "mean latency", ONE_WAY + "mean_ns", 5000, 5001, SONIC),
    ("sonic-no-congestion", "largest latency", ONE_WAY + "max_ns", 50000, 50001, SONIC),
    ("sonic-no-congestion", "no drops on switches", DROPS, 0, 1, SONIC),
    ("sonic-no-congestion", "no NAK", "transport.naks_sent", 0, 1, SONIC),
    ("sonic-no-congestion", "no packet marked", "congestion.marked", 0, 1, SONIC),
    ("sonic-no-congestion", "no CNP", "transport.cnps_sent", 0, 1, SONIC),
    ("sonic-no-congestion", "no pause", PAUSES, 0, 1, SONIC),
    ("sonic-incast", "no drops on switches", DROPS, 0, 1, SONIC),
    ("sonic-incast", "no NAK", "transport.naks_sent", 0, 1, SONIC),
    ("sonic-incast", "acknowledgements came", "transport.acks_received", 1, 0, SONIC),
    ("sonic-incast", "no packet marked", "congestion.marked", 0, 1, SONIC),
    ("sonic-incast", "no CNP", "transport.cnps_sent", 0, 1, SONIC),
    ("sonic-incast", "pauses were sent", PAUSES, 1, 0, SONIC),
    ("sonic-incast", "slowest sender", "flows.max_ns", 105000, 105001, SONIC),  # of a mean of 100 us
    ("sonic-incast", "fastest sender", "flows.min_ns", 95000, 94999, SONIC),
]
INDICATIVE = [
    ("bmwg-indicative", "bus bandwidth", BUSBW, 0.9 * 200 * G / 8, 0.899 * 200 * G / 8, "BMWG"),
    ("bmwg-indicative", "aggregate throughput", GOODPUT, 0.95 * 200 * G, 0.949 * 200 * G, "BMWG"),
    ("bmwg-indicative", "packets dropped", DROPS, 0, 1, "BMWG"),
    ("saturn-nccl", "upper end of what is seen", BUSBW, 450 * G, 449.9 * G, "Saturn"),
]


def put(at, way, value):
    """Sets a field; * are all elements of a list."""
    first, _, rest = way.partition(".")
    if isinstance(at, list):
        for one in at if first == "*" else [at[int(first)]]:
            put(one, rest, value)
    elif rest:
        put(at[first], rest, value)
    else:
        at[first] = value
        keep_order(at, first, value)


def keep_order(row, name, value):
    """The quantiles beside one that was set follow it, so that they rise as before."""
    part, _, unit = name.partition("_")
    quantiles = ["min", "p50", "p95", "p99", "p999", "max"]
    if f"p50_{unit}" not in row or part not in [*quantiles, "mean"]:
        return
    place = quantiles.index(part) if part in quantiles else None
    for at, other in enumerate(quantiles):
        key = f"{other}_{unit}"
        if row[key] is not None and at != place:
            is_above = at > place if place is not None else other != "min"
            row[key] = max(row[key], value) if is_above else min(row[key], value)
    if part != "mean" and row[f"mean_{unit}"] is not None:
        row[f"mean_{unit}"] = min(max(row[f"mean_{unit}"], row[f"min_{unit}"]), row[f"max_{unit}"])


def agree(result):
    """Figures that follow from others are made to follow: a result that contradicts itself is refused."""
    goodput, sums, packets = result["goodput"], result["conservation"], result["congestion"]
    goodput["total_bps"] = goodput["per_nic_bps"] * goodput["nics_receiving"]
    goodput.update(traffic_ps=8 * 10**12, payload_bytes=round(goodput["total_bps"]))
    packets["marked_share"] = packets["marked"] / result["transport"]["data_packets"]
    result["switches"]["marked"] = packets["marked"]
    sums["dropped"] = sum(row["switches"] + row["cables"] for row in result["drops"])
    sums["sent"] = sums["delivered"] + sums["dropped"] + sums["held"]
    return result


def verdict(result, profile, *words):
    done = weft.run("verdict", result, "--profile", profile, "--json", *words)
    if done.returncode in (2, 3):
        return done.returncode, {}, done.stderr
    got = json.loads(done.stdout)
    return done.returncode, {one["name"]: one for one in got["checks"]}, got["verdict"]


def written(folder, result):
    return remanifest.put(folder / "changed", "result.json", agree(result))


def check_row(folder, base, row, is_indicative):
    profile, name, way, inside, outside, whose = row
    status, _, errors = verdict(written(folder, base), profile, "--baseline", folder / "base")
    beside = ["--baseline", folder / "base"] if status != 2 else []
    ends = []
    for value in map(round, (inside, outside)):
        result = copy.deepcopy(base)
        put(result, way, value)
        status, checks, errors = verdict(written(folder, result), profile, *beside)
        one = checks.get(name, {"state": f"no such check: {errors}", "source": "", "inside": None})
        ends.append((one["state"], one["inside"], status))
    expected = [("indicative", True), ("indicative", False)] if is_indicative else [("met", True), ("missed", False)]
    check([end[:2] for end in ends] == expected and whose in one["source"] and (is_indicative or ends[1][2] == 1),
          f"{profile}, {name}: {inside:.6g} {ends[0][0]}, {outside:.6g} {ends[1][0]} ({one['source'][:60]})")
    return ends


def base_of(folder):
    """A result of weft's, with the figures of a ring, of flows and of pauses, so that each profile finds its own."""
    (folder / "small.yaml").write_text(SMALL)
    weft.run("sim", folder / "small.yaml", "--out", folder / "run", text=False, check=True)
    weft.run("sim", folder / "small.yaml", "--out", folder / "pausing", "--set", "queue.pfc=true", "--set", "queue.trim=false", text=False,
             check=True)
    base = json.loads((folder / "run" / "result.json").read_text())
    base["pfc"] = dict(json.loads((folder / "pausing" / "result.json").read_text())["pfc"], pauses_sent=0)
    base["flows"] = {"count": 8, "above_range": 0} | {f"{part}_ns": 100000 for part in ("min", "mean", "p50", "p95", "p99", "p999", "max")}
    put(base, GOODPUT, round(100 * G))
    put(base, BUSBW, round(100 * G))
    remanifest.put(folder / "base", "result.json", agree(base))
    return base


def check_indicative(folder, base):
    """Whatever the figures are, they decide nothing: not the verdict, not the exit status."""
    for value in (1, round(199 * G)):
        result = copy.deepcopy(base)
        put(result, GOODPUT, value)
        put(result, DROPS, 7)
        status, checks, end = verdict(written(folder, result), "bmwg-indicative")
        check((status, end) == (0, "pass"), f"bmwg-indicative with {value:.3g} b/s and drops: {end}, status {status}")
    path = folder / "only.yaml"
    path.write_text("name: only\nchecks: [{name: a, metric: drops.switches, statistic: sum, bound: is 0, indicative: true, source: x}]\n")
    status, _, end = verdict(folder / "base", path)
    check((status, end) == (5, "not_valid"), f"a profile that judges nothing passes nothing: {end}")


def check_baseline(folder, base):
    status, checks, end = verdict(folder / "base", "superbench")
    one = checks["bus bandwidth"], checks["goodput of a NIC"]
    check(status == 5 and one[0]["state"] == "skipped" and one[1]["state"] == "unavailable" and "--baseline" in one[1]["measured_reason"],
          f"without a baseline nothing is judged by it: {end}: {one[1].get('measured_reason')}")
    status, _, errors = verdict(folder / "base", "strict", "--baseline", folder / "base")
    check(status == 2 and "baseline" in errors, f"a baseline without effect is refused: {errors.strip()}")
    partial = copy.deepcopy(base)
    partial["run"].update(partial=True, end="time limit")
    remanifest.put(folder / "partial", "result.json", partial)
    status, _, errors = verdict(folder / "base", "superbench", "--baseline", folder / "partial")
    check(status == 2 and "partial result is not a baseline" in errors, f"a partial baseline is refused: {errors.strip()}")
    lacks = copy.deepcopy(base)
    lacks["collectives"] = []
    remanifest.put(folder / "lacks", "result.json", lacks)
    status, checks, _ = verdict(folder / "base", "nccl-tests", "--baseline", folder / "lacks")
    check(status == 5 and "the baseline has no such figure" in checks["mean bus bandwidth"]["measured_reason"],
          f"a baseline without the figure: {checks['mean bus bandwidth'].get('measured_reason')}")


def main(folder):
    base = base_of(folder)
    for row in FIELD:
        check_row(folder, base, row, False)
    for row in INDICATIVE:
        check_row(folder, base, row, True)
    check_indicative(folder, base)
    check_baseline(folder, base)


check_parts(main)
