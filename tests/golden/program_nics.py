#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Hosts of several NICs: collectives leave by all of them, so that each counts; the least time is that of the hardware; `auto` takes
the faster algorithm; everyone with everyone of 256 GPUs fits."""
import json

import weft
from weft import check, check_parts

HOSTS = "name: hosts\nfabric: {topology: rail, nics: %d, nics_per_host: %d, planes: 1, link_rate: %s, t1_count: 8}\n" \
        "scaleup: {rate: %s}\ntraffic: {kind: ring, collective: all_reduce, bytes: %s}\n"


def result(*words):
    status, text, errors = weft.outcome("sim", *words, "--json")
    check(status == 0, f"runs: {' '.join(map(str, words))} {errors.strip()}")
    return json.loads(text)


def coll(scenario, *words):
    status, text, errors = weft.outcome("coll", *words, "--scenario", scenario, "--json")
    check(status == 0, f"runs: {' '.join(words)} {errors.strip()}")
    return json.loads(text)["results"]


def write(folder, name, nics, per_host, rate="400Gb/s", inside="450GB/s", size="64MB"):
    path = folder / f"{name}.yaml"
    text = HOSTS % (nics, per_host, rate, inside, size)
    path.write_text(text if per_host > 1 else text.replace(f"scaleup: {{rate: {inside}}}\n", ""))
    return path


def check_all_carry(folder):
    """Bus bandwidth is what a host's NICs carry together: 0.9 of the line and more, as nccl-tests is held to it."""
    for per_host, rate in ((8, 100), (6, 100), (5, 100), (3, 200), (2, 400)):
        path = write(folder, f"carry{per_host}", 2 * per_host, per_host, f"{rate}Gb/s", "900GB/s")
        row = coll(path, "all_reduce", "-b", "64M", "--algorithm", "credit_ring")[0]
        whole = per_host * rate / 8
        check(0.9 * whole < row["out_of_place"]["bus_bw"] < 0.97 * whole, f"  {per_host} x {rate}G: {row['out_of_place']['bus_bw']:.1f} of {whole} GB/s")
        sent = result(path)["goodput"]
        check(sent["nics_receiving"] == 2 * per_host, f"  {sent['nics_receiving']} NICs receive")


def check_ideal(folder):
    """One least time, whatever the channels; no run is below it."""
    path = write(folder, "ideal", 16, 8, "100Gb/s", "300GB/s")
    for algorithm in ("credit_ring", "ring", "double_tree"):
        rows = [coll(path, "all_reduce", "-b", "64M", "--algorithm", algorithm, "--channels", str(count))[0] for count in (1, 2, 4, 8)]
        check(len({round(row["ideal"] / 10) for row in rows}) == 1, f"  {algorithm}: {[row['ideal'] for row in rows]}")
        check(all(row["ideal"] <= row["out_of_place"]["time"] for row in rows) and rows[-1]["out_of_place"]["time"] == min(row["out_of_place"]["time"] for row in rows),
              f"  {[row['out_of_place']['time'] for row in rows]}")


def check_auto(folder):
    """Never slower than what it could have taken."""
    wide, flat = write(folder, "wide", 32, 8), write(folder, "flat", 16, 1)
    for path, kind, sizes, algorithms in ((wide, "all_reduce", "64K", ("credit_ring", "double_tree")),
                                          (wide, "all_reduce", "2M", ("credit_ring", "double_tree")),
                                          (wide, "all_reduce", "64M", ("credit_ring", "double_tree")),
                                          (flat, "all_gather", "64K", ("credit_ring", "pat")), (flat, "all_gather", "64M", ("credit_ring", "pat"))):
        took = coll(path, kind, "-b", sizes)[0]
        each = {name: coll(path, kind, "-b", sizes, "--algorithm", name)[0]["out_of_place"]["time"] for name in algorithms}
        check(took["out_of_place"]["time"] <= min(each.values()), f"  {kind} of {sizes}: {took['algorithm']}, {took['out_of_place']['time']:.1f} us of {each}")
    # one host a switch and no spine to spare: a ring goes from rail to rail, trees stay on theirs
    rails = folder / "rails.yaml"
    rails.write_text("name: rails\nfabric: {topology: rail, nics: 64, nics_per_host: 8, link_rate: 100Gb/s, oversubscription: 4}\n"
                     "scaleup: {rate: 450GB/s}\ntraffic: {kind: collective, collective: all_reduce, bytes: 64MB}\n")
    ends = {name: result(rails, "--set", f"traffic.algorithm={name}")["run"]["last_completion_ps"] for name in ("auto", "ring", "double_tree")}
    check(ends["auto"] == ends["double_tree"] < 0.6 * ends["ring"], f"  over-subscribed rails: {ends}")
    # short messages wait for credits
    row = {name: coll(flat, "all_reduce", "-b", "1M", "--algorithm", name)[0]["out_of_place"]["time"] for name in ("auto", "credit_ring", "ring", "double_tree")}
    check(row["auto"] == min(row.values()), f"  1 MiB: {row}")
    for size, least in (("4MiB", "double_tree"), ("64MiB", "ring")):
        words = [wide, "--set", "traffic.kind=collective", "--set", f"traffic.bytes={size}", "--set"]
        ends = {name: result(*words, f"traffic.algorithm={name}")["run"]["last_completion_ps"] for name in ("auto", "ring", "double_tree")}
        check(ends["auto"] == ends[least] == min(ends.values()), f"  a scenario of {size}: {ends}")
    # between two hosts a tree sends half of what a ring does; levels of few hosts, slow hops and fast ones
    for nics, per_host, rate, size in ((16, 8, 100, "64MB"), (16, 8, 400, "32MiB"), (4, 2, 100, "16MB"), (6, 2, 100, "1MB"), (6, 2, 100, "4MB"),
                                       (12, 4, 100, "1MB"), (24, 8, 100, "4MB"), (24, 8, 100, "16MB"), (32, 8, 100, "4MB"), (64, 8, 100, "4MB"),
                                       (64, 8, 100, "16MB"), (5, 1, 100, "16MB"), (16, 1, 400, "64kB")):
        path = write(folder, "auto", nics, per_host, f"{rate}Gb/s", "450GB/s", size)
        words = [path, "--set", "traffic.kind=collective", "--set"]
        ends = {name: result(*words, f"traffic.algorithm={name}")["run"]["last_completion_ps"] for name in ("auto", "ring", "double_tree")}
        check(ends["auto"] == min(ends.values()), f"  {nics} NICs, {per_host} a host, {size}: {ends}")


def check_slow(folder):
    """One NIC of eight at half its rate, whichever it is: the all-reduce takes nearly twice as long."""
    path = write(folder, "slow", 16, 8)
    whole = result(path)["run"]["last_completion_ps"]
    for nic in (*range(8), 11):
        slow = result(path, "--fault", f"{{kind: slow, at: {{nic: {nic}}}, rate: 50%}}")["run"]["last_completion_ps"]
        check(1.6 * whole < slow < 2.4 * whole, f"  NIC {nic}: {slow / whole:.2f} times")


def check_book(folder):
    """The collectives of the run book find it, too."""
    path = write(folder, "book", 32, 8)
    for nic in (1, 6):
        out = folder / f"book{nic}"
        status, text, errors = weft.outcome("validate-fabric", path, "--out", out, "--quick", "--only", "all-reduce", "--fault",
                                    f"{{kind: slow, at: {{nic: {nic}}}, rate: 50%}}")
        check(status == 1 and "FAIL" in text, f"  NIC {nic}: exit {status} {errors.strip()} {text[-200:]}")
    status, text, _ = weft.outcome("validate-fabric", path, "--out", folder / "whole", "--quick", "--only", "all-reduce")
    check(status == 0, f"  and without: exit {status} {text[-200:]}")


def check_many(folder):
    """Everyone with everyone, 256 GPUs on hosts of eight, in the memory that is there when nobody says more."""
    row = coll(write(folder, "many", 256, 8), "alltoall", "-b", "64K")[0]
    check(row["out_of_place"]["time"] >= row["ideal"] > 0, f"  256 GPUs: {row['out_of_place']['time']:.1f} us, least {row['ideal']:.1f} us")


if __name__ == "__main__":
    check_parts(check_all_carry, check_ideal, check_auto, check_slow, check_book, check_many)
