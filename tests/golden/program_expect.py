#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""weft expect: what it expects is what weft coll measures and the closed form of a line, and outputs of nccl-tests and ib_write_bw
are read in the forms that these have, and held against it."""
import json
import pathlib
import re
import sys
import tempfile

import weft
from weft import check

SIZES = ["-b", "1M", "-e", "16M", "-f", "4"]
HEAD = """# nccl-tests version 2.17.6 nccl-headers=22809 nccl-library=22809
# Collective test starting: {name}_perf
# nThread 1 nGpus 1 minBytes 1048576 maxBytes 16777216 step: 4(factor) warmup iters: 1 iters: 20 agg iters: 1 validation: 1 graph: 0
#
# Using devices
#  Rank  0 Group  0 Pid 3127051 on node0 device  0 [0000:0f:00] NVIDIA H100 80GB HBM3
#  Rank {last:2d} Group  0 Pid 3127052 on node1 device  7 [0000:d8:00] NVIDIA H100 80GB HBM3
#
#                                                              out-of-place                       in-place
#       size         count      type   redop    root     time   algbw   busbw  #wrong     time   algbw   busbw  #wrong
#        (B)    (elements)                               (us)  (GB/s)  (GB/s)             (us)  (GB/s)  (GB/s)
"""
OLD = "#       size         count      type   redop     time   algbw   busbw     error     time   algbw   busbw     error\n"
WIRE = " #bytes     #iterations    BW peak[{unit}]    BW average[{unit}]   MsgRate[Mpps]\n"


def expect(*words):
    told = weft.run("expect", "rail-8x4", *words, "--json")
    return told.returncode, json.loads(told.stdout)["rows"] if told.stdout else [], told.stderr.strip()


def check_expected():
    status, rows, said = expect(*SIZES, "--ranks", "32", "--launch", "1ns", "--within", "20")
    nccl, wire = [row for row in rows if row["test"] == "all_reduce"], [row for row in rows if row["test"] == "ib_write_bw"]
    check(status == 0 and [row["size"] for row in nccl] == [1 << 20, 4 << 20, 16 << 20] and len(wire) == 3, f"sizes of both {said}")
    told = weft.result_of("coll", "all_reduce", *SIZES, "--packets", "1000000", "--json")["results"]
    for row, coll in zip(nccl, told):
        bus = coll["out_of_place"]["bus_bw"]
        check(abs(row["expected"] / bus - 1) < 1e-9, f"{row['size']}: {bus:.2f} GB/s, as weft coll has it")
        check(row["most"] >= bus * coll["out_of_place"]["time"] / coll["ideal"] * (1 - 1e-9) and row["most"] >= row["expected"], "  the ideal of no algorithm is above most")
        check(abs(row["least"] / row["expected"] - 0.8) < 1e-4, "  least is 20 % below")
    _, slow, _ = expect(*SIZES, "--ranks", "32", "--launch", "20us", "--within", "20")
    for row, coll in zip(slow, told):
        time_us = coll["out_of_place"]["time"]
        check(abs(row["least"] / row["expected"] - time_us / (time_us / 0.8 + 20)) < 1e-9, f"  {row['size']}: GPUs take 20 us to begin")
    # packets of 4,096 bytes with their headers, on two lines of 100 Gb/s
    flow = weft.result_of("sim", "rail-8x4", "--set", "traffic.kind=incast", "--set", "traffic.senders=1", "--set", "traffic.bytes=64MB", "--json")
    bps = flow["goodput"]["per_nic_bps"]
    check(all(0.97 * row["expected"] < bps / 1e9 <= row["expected"] for row in wire), f"a flow of 64 MB runs at {bps / 1e9:.1f} Gb/s, expected {wire[0]['expected']:.1f}")
    check(all(0.95 * 200 < row["most"] < 200 for row in wire), "no more than the lines")
    _, scales, _ = expect("-b", "1M", "-e", "1M")
    check([row.get("ranks") for row in scales][:2] == [16, 32], "two hosts, and all")


def nccl_text(rows, factor, name="all_reduce", form="new"):
    """An output of nccl-tests with so much of what is expected."""
    text = HEAD.format(name=name, last=31) if form == "new" else OLD
    for row in rows:
        bus, wrong, root = row["expected"] * factor, "0" if form == "new" else "0e+00", "      -1" if form == "new" else ""
        figures = f"{row['size'] / bus / 1e3:8.1f}  {bus / 1.9:6.2f}  {{:6.2f}}  {wrong:>5}"
        text += f"{row['size']:12d}  {row['size'] // 4:12d}     float     sum{root}  {figures.format(bus)}  {figures.format(bus * 0.98)}\n"
    return text + "# Out of bounds values : 0 OK\n# Avg bus bandwidth    : 1\n#\n"


def against(folder, text, *words):
    path = pathlib.Path(folder, "output.txt")
    path.write_text(text, encoding="utf-8")
    return expect("--against", path, *words)


def check_against(folder):
    rows = [row for row in expect(*SIZES, "--ranks", "32")[1] if "ranks" in row]
    for form in ("new", "old"):
        for factor, status, verdict in ((0.97, 0, "inside"), (0.5, 1, "below"), (3, 1, "above")):
            got, held, said = against(folder, nccl_text(rows, factor, form=form), *(["--ranks", "32"] if form == "old" else []))
            check(got == status and [row["verdict"] for row in held] == [verdict] * 3, f"{factor} of it, {form}: {verdict} {got} {said}")
            check(all(abs(row["measured"] / one["expected"] / factor - 1) < 0.01 for row, one in zip(held, rows)), "  as it was measured")
    sixteen = nccl_text(rows, 0.97).replace("Rank 31", "Rank 15")
    held = against(folder, sixteen)[1]
    check({row["ranks"] for row in held} == {16}, "ranks are those that the file names")
    held = against(folder, nccl_text(rows, 0.97, "alltoall"))[1]
    check({row["test"] for row in held} == {"alltoall"}, "so is the collective")
    wire = expect("-b", "1M", "-e", "1M")[1][-1]["expected"]
    for unit, scale in (("MB/sec", 1e9 / 8 / 1048576), ("Gb/sec", 1)):
        lines = "".join(f" {size:<10d} 5000             {wire * part * scale:.2f}            {wire * part * scale:.2f}              0.1\n"
                        for size, part in ((2, 0.001), (65536, 0.97), (1 << 20, 0.8)))
        got, held, _ = against(folder, WIRE.format(unit=unit) + lines)
        check(got == 1 and [row["verdict"] for row in held] == ["not held", "inside", "below"], f"ib_write_bw in {unit}: {[row['verdict'] for row in held]}")


def check_next(folder):
    """What to do where RoCE was measured and the fabric has MRC, and where a size takes too many packets."""
    path, kind = pathlib.Path(folder, "output.txt"), " Connection type : RC\t\tUsing SRQ      : OFF\n"
    rate = weft.run("expect", "rail-8x4", "-b", "1M", "-e", "1M", "--set", "preset=roce-dcqcn", "--json")
    rate = json.loads(rate.stdout)["rows"][-1]["expected"]
    path.write_text(kind + WIRE.format(unit="Gb/sec") + f" 65536      5000     {rate:.2f}      {rate:.2f}      0.4\n", encoding="utf-8")
    above, roce = (weft.run("expect", "rail-8x4", "--against", path, *words) for words in ([], ["--set", "preset=roce-dcqcn"]))
    said = "# it was measured over RC, and FABRIC has MRC, whose headers are longer: --set preset=roce-dcqcn\n"
    check(above.returncode == 1 and above.stdout.endswith(said), f"RoCE over MRC's headers {above.stdout[-200:]}")
    check(roce.returncode == 0 and said not in roce.stdout, f"as RoCE it is inside {roce.stdout[-200:]}")
    big = weft.run("expect", "rail-8x4", "-b", "64M", "-e", "64M", "--ranks", "32", "--packets", "20000").stdout
    check(re.search(r"  no figure: .*; --packets \d+ runs it whole\n", big), f"too many packets: what runs it {big}")


def check_hosts(folder):
    """Ranks that go from host to host in turn are on as many hosts as there are names."""
    ranks = "".join(f"#  Rank {rank} Group  0 Pid {rank} on node{rank % 2} device {rank // 2}\n" for rank in range(4))
    status, rows, said = against(folder, ranks + nccl_text([{"size": 1 << 20, "expected": 1.0}], 1, form="old"), "--set", "fabric.nics_per_host=2")
    check(status == 1 and [row["ranks"] for row in rows] == [4], f"two hosts in turn: {said}")


def check_table(folder):
    path = pathlib.Path(folder, "output.txt")
    path.write_text(nccl_text([{"size": 1 << 20, "expected": 1.0}], 1), encoding="utf-8")
    done = weft.run("expect", "rail-8x4", "--against", path)
    check(done.returncode == 1 and "  below" in done.stdout and done.stdout.endswith("# 0 of 1 inside, 0 not held\n"), f"the table says it {done.stdout[-200:]}")


def check_refusals(folder):
    table = weft.run("coll", "all_reduce", "-b", "1M").stdout
    for text, words, says in (("nothing\n", [], "has no line of nccl-tests"), (table, [], "is a table that weft printed"),
                              (nccl_text([{"size": 1, "expected": 1}], 1), ["--ranks", "64"], "64 GPUs were measured"),
                              ("#  Rank  0 Group  0 Pid 1 on node0 device 0\n#  Rank  1 Group  0 Pid 2 on node1 device 0\n" + nccl_text([{"size": 1, "expected": 1}], 1, form="old"), [], "2 GPUs on 2 hosts were measured, and the fabric has 8 on a host"),
                              (nccl_text([{"size": 1024, "expected": 1}], 1), ["--collective", "alreduce"], "not 'alreduce'; did you mean all_reduce?"),
                              ("#  Rank  0 Group  0 Pid 1 on node0 device 0\n#  Rank  8 Group  0 Pid 2 on node1 device 0\n" + nccl_text([{"size": 1, "expected": 1}], 1, form="old"), [], "9 GPUs do not fill hosts of 8 (fabric.nics_per_host); --ranks says how many")):
        status, rows, said = against(folder, text, *words)
        check(status == 2 and not rows and says in said and said.count("\n") == 0, f"refused: {said}")
    for words, says in ((["--ranks", "1"], "--ranks is a number"), (["--ranks", "33"], "--ranks 33"), (["--ranks", "12"], "12 GPUs do not fill hosts of 8"), (["-b", "2M", "-e", "1M"], "-e is less"),
                        (["--set", "fabric.planes=x"], "fabric.planes")):
        done = weft.run("expect", "rail-8x4", *words)
        check(done.returncode == 2 and says in done.stderr and done.stdout == "", f"refused: {done.stderr.strip()}")


with tempfile.TemporaryDirectory() as name:
    check_expected()
    check_against(name)
    check_hosts(name)
    check_next(name)
    check_table(name)
    check_refusals(name)
print(f"{check.failed} failed")
sys.exit(1 if check.failed else 0)
