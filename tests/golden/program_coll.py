#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""weft coll: columns and their arithmetic, every collective with every algorithm that it has and checked data, sizes that
are extrapolated against sizes that are run, and options that are refused."""
import csv
import json
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile

import weft
from weft import check

KINDS = {  # collective: algorithms that it has
    "all_reduce": "ring tree double_tree halving_doubling hierarchical",
    "reduce_scatter": "ring halving_doubling direct hierarchical",
    "all_gather": "ring halving_doubling direct hierarchical",
    "alltoall": "direct hierarchical",
    "broadcast": "ring tree",
    "reduce": "ring tree",
    "gather": "direct",
    "scatter": "direct",
    "sendrecv": "direct",
}
REFUSED = [  # words, what must be said
    ([], "weft coll: no collective given (--help"),
    (["all_reduce", "all_gather"], "unexpected argument 'all_gather'"),
    (["allreduce"], "there is no collective 'allreduce'"),
    (["all_reduce", "-w", "5"], "virtual time needs no warm-up"),
    (["all_reduce", "-t", "2"], "there are no threads"),
    (["all_reduce", "-G", "1"], "no kernels are launched"),
    (["all_reduce", "-m", "1"], "nothing is aggregated"),
    (["all_reduce", "-z", "1"], "nothing blocks"),
    (["all_reduce", "-p", "1"], "nothing is initialised in parallel"),
    (["all_reduce", "-a", "1"], "that of the last"),
    (["all_reduce", "-C", "1"], "no CPU time"),
    (["all_reduce", "-R", "1"], "need no registration"),
    (["all_reduce", "-T", "1"], "limits.time"),
    (["all_reduce", "-o", "max"], "--op is sum, not 'max'"),
    (["all_gather", "-o", "sum"], "nothing is summed"),
    (["all_reduce", "-r", "1"], "this collective has no root: 'all_reduce'"),
    (["all_reduce", "-d", "complex"], "there is no data type 'complex'"),
    (["all_reduce", "-b", "1X"], "--minbytes is 1 or more"),
    (["all_reduce", "-b", "0"], "--minbytes is 1 or more"),
    (["all_reduce", "-b", "99999999999999999999"], "--minbytes is 1 or more"),
    (["all_reduce", "-b", "2M", "-e", "1M", "-f", "2"], "-e is less than -b (--help"),
    (["all_reduce", "--packets", "0"], "--packets is 1 or more, as 4096 or 4K, not '0'"),
    (["all_reduce", "-b", "1M", "-e", "2M"], "-b to -e needs a step: give -f FACTOR or -i BYTES"),
    (["all_reduce", "-b", "1M", "-e", "2M", "-f", "2", "-i", "1M"], "has no effect with --stepbytes"),
    (["all_reduce", "-f", "2"], "have no effect without"),
    (["all_reduce", "-f", "1"], "--stepfactor is a whole number from 2 to 1024"),
    (["all_reduce", "-n", "0"], "--iters is a whole number from 1 to"),
    (["all_reduce", "-c", "2"], "--check is 0 or 1"),
    (["all_reduce", "--ranks", "1"], "--ranks is a whole number from 2 to"),
    (["all_reduce", "--ranks", "12"], "12 ranks do not fill hosts of 8"),
    (["all_reduce", "--set", "fabric.planes=2", "--set", "fabric.nics=x"], "weft coll: --set:2:13: fabric.nics: `x`"),
    (["all_reduce", "--set", "fabric.planes=2", "--set", "traffic.bytes=1M"], "--set:2:1: traffic.bytes: COLLECTIVE, the sizes or an option"),
    (["all_reduce", "--chunk", "1"], "weft coll: traffic.chunk: `1B` is too small"),
    (["all_reduce", "--ranks", "64"], "64 is more than fabric.nics"),
    (["all_reduce", "--algorithm", "quick"], "an algorithm is auto"),
    (["all_reduce", "--algorithm", "pat"], "no such algorithm"),
    (["all_gather", "--algorithm", "pat"], "one rank a scale-up domain"),
    (["alltoall", "--algorithm", "credit_ring"], "credit_ring cannot do 'all_to_all'"),
    (["all_reduce", "--algorithm", "credit_ring", "-c", "1", "-b", "1M", "--ranks", "16", "--channels", "3"], "are not whole elements"),
    (["broadcast", "-r", "32"], "rank 32 cannot be the root: of 32 ranks"),
    (["all_reduce", "--scenario", "none"], "no scenario 'none'"),
    (["all_reduce", "--seed", "x"], "--seed is a whole number"),
    (["all_reduce", "--set", "fabric.planes=x"], "fabric.planes"),
    (["all_reduce", "-b", "64M", "-c", "1", "--packets", "1000"], "take more than --packets"),
    (["all_reduce", "--algorithm", "credit_ring", "--set", "traffic.jobs=2", "--ranks", "16"], "--set:1:1: traffic.jobs: COLLECTIVE, the sizes or an option of weft coll set it"),
    (["all_reduce", "--no-such"], "unknown option"),
]


def coll(*words, timeout=600):
    done = weft.run("coll", *words, timeout=timeout)
    return done.returncode, done.stdout, done.stderr


def rows(text):
    """(size, count, type, redop, root, time, ideal, algbw, busbw, wrong, algorithm and the rest, percent of ideal) of each size."""
    split = [line.split(None, 11) for line in text.splitlines() if line and not line.startswith("#")]
    return [row[:6] + row[9:10] + row[6:9] + row[11:] + [row[10]] for row in split]


def check_refusals():
    for words, says in REFUSED:
        status, out, err = coll(*words)
        check(status == 2 and out == "" and err.count("\n") == 1 and err.startswith("weft coll: ") and says in err,
              f"refused: {' '.join(words)}: {err.strip()}")


def check_data():
    for kind, algorithms in KINDS.items():
        for algorithm in algorithms.split():
            status, out, err = coll(kind, "-b", "100000", "-c", "1", "-d", "int32", "--ranks", "16", "--algorithm", algorithm,
                                    "--chunk", "16K", "--channels", "2")
            row = rows(out)
            check(status == 0 and len(row) == 1 and row[0][9] == "0" and row[0][10] == algorithm and "0 OK" in out,
                  f"{kind}, {algorithm}: right everywhere {err}")
    for kind in ("all_reduce", "reduce_scatter", "all_gather"):
        words = [kind, "-b", "1M", "-d", "int32", "--ranks", "16", "--algorithm", "credit_ring", "--chunk", "16K", "--channels", "2"]
        row, plain = rows(coll(*words, "-c", "1")[1])[0], rows(coll(*words)[1])[0]
        check(row[9] == "0" and row[10] == "credit_ring" and row[5] == plain[5], f"{kind}, credit_ring: right everywhere, in the same time")
    for kind in ("reduce_scatter", "all_gather"):
        status, out, err = coll(kind, "-b", "100000", "-c", "1", "-d", "uint8", "--ranks", "13", "--algorithm", "pat",
                                "--scenario", "perm128-400g")
        check(status == 0 and rows(out)[0][9] == "0", f"{kind}, pat, 13 ranks: right everywhere {err}")


def check_columns():
    status, out, _ = coll("all_reduce", "-b", "1M", "-e", "4M", "-f", "2", "-d", "half")
    table = rows(out)
    check(status == 0 and [row[0] for row in table] == ["1048576", "2097152", "4194304"], "sizes are multiplied")
    for row in table:
        size, time_us, algbw, busbw = int(row[0]), float(row[5]), float(row[7]), float(row[8])
        check(int(row[1]) == size // 2 and row[2:5] == ["half", "sum", "-1"] and row[9] == "N/A", f"{size}: columns")
        check(abs(size / time_us / 1e3 - algbw) < 0.006 + algbw * 0.001 and abs(busbw / algbw - 2 * 31 / 32) < 0.002,
              f"{size}: algbw {algbw}, busbw {busbw} in {time_us} us")
    head = [line.lstrip("#").split() for line in out.splitlines() if " size " in line]
    check(head == ["size count type redop root time algbw busbw #wrong ideal % algorithm".split()], "columns of nccl-tests first, weft's own behind them")
    mean = sum(float(row[8]) for row in table) / 3
    check(f"# Avg bus bandwidth    : {mean:.1f}"[:-1] in out or abs(float(out.rsplit(":", 1)[1]) - mean) < 0.01, "their mean")
    status, out, _ = coll("broadcast", "-b", "1000000", "-e", "3000000", "-i", "1000000", "-r", "9")
    check([row[0] for row in rows(out)] == ["1000000", "2000000", "3000000"] and rows(out)[0][4] == "9", "sizes are added")
    status, out, _ = coll("all_gather", "-b", "1000001")
    check(rows(out)[0][:2] == ["1000000", str(1000000 // 4 // 32)] or int(rows(out)[0][0]) % 128 == 0, "sizes are cut to whole blocks")
    status, out, _ = coll("alltoall", "-b", "100", "-e", "500", "-i", "100")
    check(status == 0 and [row[:2] for row in rows(out)] == [["128", "1"], ["256", "2"], ["384", "3"]], "no size comes twice, and none is below an element of every rank")
    once, mean = coll("all_reduce", "-b", "1M", "--seed", "7")[1], coll("all_reduce", "-b", "1M", "--seed", "7", "-n", "3")[1]
    check("seed 7\n" in once and "seed 7 and the next 2, mean" in mean, "iterations are seeds")


def check_json():
    """The table and the JSON of one call are the same figures."""
    words = ["all_reduce", "-b", "1M", "-e", "2M", "-f", "2", "-c", "1"]
    told, table = json.loads(coll(*words, "--json")[1]), rows(coll(*words)[1])
    check(told["collective"] == "all_reduce" and told["results"][0]["root"] == -1 and told["out_of_bounds"] == {"count": 0, "okay": True} and len(told["results"]) == len(table) == 2, "JSON has the sizes")
    for one, row in zip(told["results"], table):
        check(str(one["size"]) == row[0] and f"{one['out_of_place']['time']:.1f}" == row[5] and f"{one['out_of_place']['bus_bw']:.2f}" == row[8] and
              f"{one['ideal']:.1f}" == row[6] and one["out_of_place"]["nwrong"] == 0 and one["algorithm"] == row[10], f"  {one['size']}: {one['out_of_place']['time']:.1f} us, {one['algorithm']}")
    lines = list(csv.DictReader(coll(*words, "--csv")[1].splitlines()))
    check([(line["size"], f"{float(line['time']):.1f}", f"{float(line['bus_bw']):.2f}", line["nwrong"], f"{float(line['ideal_percent']):.0f}") for line in lines]
          == [(row[0], row[5], row[8], "0", row[11]) for row in table], "CSV has the same figures")
    names = {"size", "count", "type", "redop", "root", "out_of_place", "in_place"}  # of nccl-tests' src/util.cu
    check(names <= set(told["results"][0]) and set(told["results"][0]["out_of_place"]) == {"time", "alg_bw", "bus_bw", "nwrong"}, "names are those of nccl-tests")
    check(coll("all_reduce", "-b", "1M", "--json")[1].count('"nwrong": null') == 1, "  nothing that was not checked is right")


def on_terminal(*words):
    """What weft says on a terminal, output and errors together."""
    run = subprocess.run(["script", "-qec", shlex.join([weft.WEFT, *words]), "/dev/null"], capture_output=True, timeout=600, check=False)
    return run.stdout.decode()


def check_progress():
    """A bar with what is left, on a terminal alone."""
    words = ["all_reduce", "-b", "64M", "-e", "128M", "-f", "2"]
    check(coll(*words)[2] == "", "no bar in a pipe")
    if not shutil.which("script"):
        print("left out: there is no program `script` that plays a terminal")
        return
    shown = on_terminal("coll", *words)
    check(re.search(r"\r\[[#.]{30}\] .* s left +size 2 of 2", shown), f"a bar on a terminal {shown[-300:]!r}")
    check(re.search(r"\r\x1b\[K +134217728 ", shown), "it is gone before a line is printed")
    shown = on_terminal("coll", *words[:3], "--algorithm", "double_tree")
    check(re.search(r"\r\[#+\.*\] .* s left +size 1 of 1", shown), f"of a program, too {shown[-300:]!r}")
    shown = on_terminal("validate", "--only", "flow-")
    check(re.search(r"\r\[[#.]{30}\] (\d+) of (\d+)  flow-\S+  about \d+ s left", shown),
          f"weft validate has one, too {shown[:200]!r}")
    done = weft.run("validate", "--only", "flow-")
    check(done.returncode == 0 and done.stderr == "", "and none in a pipe")


def check_extrapolation():
    """What is said of a long size, against the same size run whole: never below the ideal, within the error that is stated, and that
    10 % at most. tests/property/program_extrapolation.py has random ones."""
    for words, size in ((["all_reduce", "--algorithm", "double_tree", "--chunk", "64K", "--channels", "4"], "128M"),
                        (["all_reduce", "--algorithm", "ring", "--chunk", "128K", "--channels", "4"], "256M"), (["broadcast", "--algorithm", "tree", "--channels", "4"], "128M"), (["reduce_scatter", "--algorithm", "credit_ring", "--channels", "4"], "128M")):
        whole = json.loads(coll(*words, "-b", size, "--json")[1])["results"][0]
        packets = str(whole["packets_whole"] * 8 // 10)
        status, out, err = coll(*words, "-b", size, "--packets", packets)
        row = rows(out)[0] if out else [""] * 11
        check(status == 0 and ", extrapolated: time +- " in row[10] and not whole["extrapolated"], f"{words}: says so {row} {err}")
        if status != 0:
            continue
        is_us, should_us, error_us = float(row[5]), whole["out_of_place"]["time"], float(row[10].split()[-2])
        check(whole["ideal"] <= is_us and 0 < error_us <= is_us / 10 and abs(is_us - should_us) <= error_us,
              f"{words}: {is_us} +- {error_us} us for {should_us} us")


def check_no_time():
    """A size that cannot be extrapolated has no time and a reason; others are printed all the same, and the mean is theirs."""
    words = ["all_reduce", "--algorithm", "hierarchical", "-b", "1M", "-e", "64M", "-f", "64", "--packets", "20000"]
    status, out, _ = coll(*words)
    table = rows(out)
    check(status == 5 and len(table) == 2 and table[1][5] == table[1][7] == table[1][8] == "N/A" and float(table[1][6]) > 0 and
          "its pipeline of" in table[1][10] and table[1][10].endswith("--packets 98304 runs it whole"), f"no time: {table[1:]}")
    mean = float(out.rsplit(":", 1)[1].split()[0])
    check(abs(mean - float(table[0][8])) < 0.01 and "(1 of 2 sizes without a time)" in out, f"  is in no mean: {mean}")
    told = json.loads(coll(*words, "--json")[1])
    one = told["results"][1]
    check(one["out_of_place"]["time"] is None and one["out_of_place"]["bus_bw"] is None and one["time_error"] is None and one["ideal"] > 0 and
          "its pipeline of" in one["why_not"] and told["results"][0]["why_not"] is None and
          told["average_bus_bandwidth"]["bandwidth"] == told["results"][0]["out_of_place"]["bus_bw"], "  is null")
    status, out, _ = coll("all_gather", "--algorithm", "credit_ring", "-b", "100K", "--ranks", "8", "--scenario", "trace-default",
                          "--set", "sample.steps=2", "--set", "sample.fill=1")
    check(status == 5 and "the scenario's sample leaves steps out" in out, f"a sample of the scenario's {out}")
    status, out, _ = coll("all_reduce", "--algorithm", "credit_ring", "-b", "1M", "--scenario", "two-jobs")
    check(status == 0 and rows(out)[0][10] == "credit_ring", "the scenario's traffic is replaced")
    status, out, _ = coll("all_gather", "--algorithm", "credit_ring", "-b", "64M", "--packets", "1000")
    check(status == 5 and "# Avg bus bandwidth    : N/A (1 of 1 sizes without a time)" in out, "no ring, no mean")
    status, out, err = coll("all_gather", "--algorithm", "credit_ring", "-b", "64M", "--packets", "30000", "--set", "limits.window=1s")
    check(status == 2 and out == "" and "limits.window" in err, f"what the packets are no cause of is told {err}")
    for packets in ("1000", "98304"):
        check(float(rows(coll(*words[:3], "-b", "1M", "--packets", packets)[1] or "")[0][6]) ==
              float(table[0][6]), "  the ideal does not depend on what is run")


def check_no_time_soon():
    """The shortest run says that there will be no time, before a longer one, which here would meet a limit; and where NCCL's choice has none,
    the other one is not run that would be slower at best."""
    row = rows(coll("all_reduce", "--algorithm", "hierarchical", "-b", "64M", "--packets", "20000", "--set", "limits.time=30us")[1] or "")[0]
    check("its pipeline of" in row[10], f"the shortest run comes first {row}")
    row = rows(coll("all_reduce", "-b", "1M", "--scenario", "perm128-400g", "--packets", "50000")[1] or "")[0]
    check(row[5] == "N/A" and row[10].startswith("double_tree, not extrapolated"), f"a ring of 128 would be slower at best {row}")


FAULTY = """fabric: {{nics: 16, planes: 2, link_rate: 100Gb/s, nics_per_t0: 4, t1_count: 4}}
traffic: {{kind: ring, collective: all_reduce, bytes: 64MiB, channels: 2}}
faults: [{{kind: {}}}]
"""


def check_faults():
    """What is extrapolated knows the faults that begin or end in what it leaves out: no time. What was there all along, or comes
    when all is done, is none of them; a run without a sample meets every fault."""
    size, left_out = ["all_reduce", "-b", "64M", "--chunk", "16K"], "begins or ends in what is left out"
    for fault, holds in (("slow, at: all, rate: 25%, from: 2ms", False), ("slow, at: all, rate: 25%, from: 500us, until: 4ms", False),
                         ("link_down, at: {plane: 1}, until: 3ms", False),
                         ("flap, at: {nic: 3, plane: 1}, down: 500us, up: 700us", False), ("slow, at: all, rate: 50%", True),
                         ("slow, at: all, rate: 25%, from: 2s", True)):
        with tempfile.NamedTemporaryFile("w", suffix=".yaml") as base:
            base.write(FAULTY.format(fault))
            base.flush()
            for algorithm in ("ring", "credit_ring"):
                whole = json.loads(coll(*size, "--algorithm", algorithm, "--scenario", base.name, "--json")[1])["results"][0]
                status, out, err = coll(*size, "--algorithm", algorithm, "--scenario", base.name, "--packets",
                                        str(whole["packets_whole"] * 7 // 10), "--json")
                row = json.loads(out)["results"][0]
                if holds:
                    check(status == 0 and abs(row["out_of_place"]["time"] - whole["out_of_place"]["time"]) <= row["time_error"],
                          f"{fault}, {algorithm}: {row['out_of_place']['time']} +- {row['time_error']} us for {whole['out_of_place']['time']} {row['why_not']}")
                else:
                    check(status == 5 and row["out_of_place"]["time"] is None and left_out in row["why_not"], f"{fault}, {algorithm}: {row['out_of_place']['time']} {row['why_not']}")
            words = ["sim", base.name, "--set", "traffic.chunk=16KiB", "--json"]
            done = weft.run(*words, "--sample", "steps=20,fill=4")
            one, messages = json.loads(done.stdout)["collectives"][0], json.loads(done.stdout)["messages"]
            if holds:
                check(done.returncode == 0 and one["time_ps"] > 0, f"{fault}, a sample: {done.stderr}")
            else:
                check(done.returncode == 5 and one["time_ps"] is None and "begins or ends" in one["time_ps_reason"] and
                      f"a fault ({fault.split(',')[0]}) begins or ends while" in done.stderr and
                      all(each["p50_ns"] is None for each in messages), f"{fault}, a sample: {one['time_ps']} {done.stderr}")
            done = weft.run(*words) if "flap" in fault else None
            check(done is None or done.returncode == 0 and json.loads(done.stdout)["collectives"][0]["time_ps"] > 0, f"{fault}, whole")


def check_ends():
    """Sizes that ran are shown where a later one does not come to its end, by a limit or a signal."""
    words = ["all_reduce", "-b", "1M", "-e", "64M", "-f", "4"]
    status, out, err = coll(*words, "--set", "limits.time=200us")
    check(status == 5 and [row[0] for row in rows(out)] == ["1048576", "4194304"] and "# Avg bus bandwidth" in out and
          err == "weft coll: 16777216 bytes: the run ended as time limit; raise limits.time\n", f"a limit: {err}")
    told = json.loads(coll(*words, "--set", "limits.time=200us", "--json")[1])
    check(told["end"] == "time limit" and len(told["results"]) == 2, "  in JSON, too")
    status, out, err = coll(*words, "--set", "limits.time=30us", "--json")
    check(status == 5 and json.loads(out)["results"] == [] and json.loads(out)["average_bus_bandwidth"]["bandwidth"] is None and
          err == "weft coll: 1048576 bytes: the run ended as time limit; raise limits.time\n", f"  where it is the first: {status} {err}")
    check(json.loads(coll("all_reduce", "-b", "1M", "--json")[1])["end"] == "done", "  which else is done")
    run = weft.start("coll", "all_reduce", "-b", "1M", "-e", "1G", "-f", "1024", "-n", "100")
    first = [run.stdout.readline() for _ in range(7)]  # up to the first row
    run.send_signal(signal.SIGINT)
    out, err = run.communicate(timeout=600)
    check(run.returncode == 5 and "1048576" in "".join(first) and "# Avg bus bandwidth" in out and
          err == "weft coll: 1073741824 bytes: the run ended as interrupted\n", f"Ctrl-C: {run.returncode} {err}")


check_refusals()
check_ends()
check_columns()
check_json()
check_progress()
check_data()
check_extrapolation()
check_no_time_soon()
check_no_time()
check_faults()
print(f"{check.failed} failed")
sys.exit(1 if check.failed else 0)
