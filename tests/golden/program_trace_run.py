#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Traces that run: bytes and messages against what the collectives need by arithmetic, the same after a trace was written
anew and read again, and refusals of what cannot be run. Without the given traces their part is left out and said so."""
import gzip
import json
import pathlib
import re

import weft
from weft import SHARED, SOURCE, check, check_parts

GIVEN = pathlib.Path(SHARED, "data", "traces", "given")
CREDIT_BYTES = 64


def run(path, *words):
    status, text, errors = weft.outcome("sim", "--trace", path, "--json", *words)
    check(status == 0, f"{path.name} runs: {errors.strip()}")
    return json.loads(text)


def payload(result):
    """Bytes that NICs sent, each once, without the credits of rings: nothing is on the scale-up here."""
    check(result["transport"]["payload_bytes_placed"] == result["transport"]["payload_bytes_new"], "  all bytes are placed")
    return result["transport"]["payload_bytes_new"] - CREDIT_BYTES * result["transport"]["credits_sent"]


def end_ps(result):
    return result["run"]["last_completion_ps"]


def refused(what, words, says, status=2):
    got, out, errors = weft.outcome(*words)
    check(got == status and out == "" and errors.count("\n") == 1 and says in errors, f"{what}: {errors.strip()}")


def again(path, folder, name, *words):
    """Written as Chakra, and read again: the same counts, the same run to the picosecond."""
    out = folder / name
    status, _, errors = weft.outcome("trace", path, "--export", "chakra", "--out", out, *words)
    check(status == 0, f"{path.name} is written: {errors.strip()}")
    first, second = run(path), run(out)
    check(first["run"]["digest"] == second["run"]["digest"] and end_ps(first) == end_ps(second),
          f"  and runs as before: {first['run']['digest']}")
    rows = [json.loads(weft.outcome("trace", "--json", one)[1]) for one in (path, out)]
    return first, rows


# ---------------------------------------------------------------- small traces of our own


def csv(folder, name, ranks, *rows):
    path = folder / name
    path.write_text(f"[rank0 ~ rank{ranks - 1}]\ncomm_type,comm_group,comm_group_size,msg_size,_elapsed_time\n" +
                    "".join(f"CommType.{kind},CommGroup.{group},{size},{bytes},{time}\n" for kind, group, size, bytes, time in rows))
    return path


def check_collectives(folder):
    """What each rank sends: S (n-1)/n per gather or scatter, twice that for an all-reduce, S (n-1)/n to the others."""
    size = 1 << 20
    for kind, shares in (("all_reduce", 2 * 7 / 8), ("all_gather", 7 / 8), ("reduce_scatter", 7 / 8), ("all_to_all", 7 / 8),
                         ("broadcast", 7 / 8), ("reduce", 7 / 8)):
        path = csv(folder, f"{kind}.csv", 8, (kind, "dp_group", 8, size, "None"))
        check(payload(run(path)) == size * shares * 8, f"  {kind} of 8 ranks: {shares} S from each, or all")
    # tensor groups of two neighbours, data groups of four ranks two apart
    path = csv(folder, "two.csv", 8, ("all_reduce", "tp_group", 2, size, "None"), ("all_reduce", "dp_group", 4, size, "None"))
    check(payload(run(path)) == 8 * size * (2 * 1 / 2 + 2 * 3 / 4), "  groups of 2 and of 4")


def check_times(folder):
    """Computations take their time, one after the other; nothing else is that long here."""
    path = csv(folder, "short.csv", 8, ("all_reduce", "dp_group", 8, 4096, "None"))
    short = end_ps(run(path))
    path = csv(folder, "long.csv", 8, ("computation", "None", "None", 1, 5000000), ("all_reduce", "dp_group", 8, 4096, "None"),
               ("computation", "None", "None", 1, 7000000))
    took = end_ps(run(path))
    check(took == 12 * 10**9 + short, f"  12 ms of computation: {took / 1e9} ms")


def check_streams(folder):
    """What a stream computes counts in full for the ideal, though nothing waits; another stream computes beside it."""
    calc = "".join(f"l{at}: calc 5000000\n" for at in range(4)) + "o: calc 9000000 cpu 1\n"
    (folder / "streams.goal").write_text(f"num_ranks 2\nrank 0 {{\n{calc}s: send 64b to 1\n}}\nrank 1 {{\nr: recv 64b from 0\nc: calc 7000000\nc requires r\n}}\n")
    (folder / "streams.yaml").write_text("name: streams\nfabric: {nics: 2, planes: 1, nics_per_t0: 2, t1_count: 1}\n"
                                         f"traffic: {{kind: goal, file: {folder / 'streams.goal'}}}\n")
    status, text, errors = weft.outcome("sim", folder / "streams.yaml", "--json")
    check(status == 0, f"four computations of one stream: {errors.strip()}")
    headline = json.loads(text)["headline"]
    check(20 * 10**9 == headline["ideal_ps"] <= headline["time_ps"], f"  20 ms at least, one after the other: {headline['ideal_ps'] / 1e9} ms")


def check_refusals(folder):
    path = csv(folder, "ep.csv", 8, ("all_to_all", "ep_group", 4, 4096, "None"))
    refused("a group whose members are not named", ["sim", "--trace", path], "record 3: a group of 4 ranks of 8")
    path = csv(folder, "odd.csv", 8, ("all_reduce", "tp_group", 3, 4096, "None"))
    refused("groups that do not part the ranks", ["sim", "--trace", path], "do not part the ranks")
    path = csv(folder, "send.csv", 8, ("isend", "pp_group", 2, 4096, "None"))
    refused("a send in one file for all", ["sim", "--trace", path], "without dst, src or the neighbour")
    path = csv(folder, "none.csv", 8, ("computation", "None", "None", 1, 5))
    refused("nothing to run", ["sim", "--trace", path], "no communication")
    path = csv(folder, "good.csv", 8, ("all_reduce", "dp_group", 8, 4096, "None"))
    refused("a sample of it", ["sim", "--trace", path, "--sample", "groups=1"], "a sample has no effect")
    (folder / "few.yaml").write_text("name: few\nfabric: {nics: 4, planes: 4, nics_per_t0: 2, t1_count: 2}\n"
                                     f"traffic: {{kind: trace, trace: {path}}}\n")
    refused("more ranks than NICs", ["sim", folder / "few.yaml"], "of 8 ranks")
    (folder / "idle.goal").write_text("num_ranks 2\nrank 0 {\nl1: calc 0\n}\nrank 1 {\nl1: calc 0\n}\n")
    (folder / "idle.yaml").write_text("name: idle\nfabric: {nics: 2, planes: 1, nics_per_t0: 2, t1_count: 1}\n"
                                      f"traffic: {{kind: goal, file: {folder / 'idle.goal'}}}\n")
    refused("a program that does nothing", ["sim", folder / "idle.yaml"], "nothing to run")
    refused("--out alone", ["trace", path, "--out", folder / "x"], "needs --export")
    refused("--ranks alone", ["trace", path, "--ranks", "4"], "needs --export")
    refused("--export alone", ["trace", path, "--export", "goal"], "needs --out")
    refused("an export that is none", ["trace", path, "--export", "pdf", "--out", folder / "x"], "--export is chakra, goal or simai, not")
    refused("--ranks of words", ["trace", path, "--export", "goal", "--out", folder / "x", "--ranks", "a"], "--ranks is a whole number")
    refused("--ranks beside the trace's", ["trace", path, "--export", "goal", "--out", folder / "x", "--ranks", "4"], "of 8 ranks")
    refused("a folder that is there", ["trace", path, "--export", "goal", "--out", folder], "holds other files")
    bad = csv(folder, "bad.csv", 8, ("all_reduce", "tp_group", 3, 4096, "None"))
    for form in ("goal", "chakra"):
        refused(f"no {form} of what cannot be", ["trace", bad, "--export", form, "--out", folder / "x" / "below"], "do not part")
        check(not (folder / "x").exists(), "  and nothing is left")


def check_goal(folder):
    """Written as GOAL: the same messages."""
    path = csv(folder, "goal.csv", 8, ("computation", "None", "None", 1, 5000), ("all_reduce", "dp_group", 8, 1 << 20, "None"))
    out = folder / "goal"
    out = out / "new" / "below"
    check(weft.outcome("trace", path, "--export", "goal", "--out", out)[0] == 0, "GOAL is written, into a folder that is made with its parents")
    text = (out / "program.goal").read_text()
    slices, credits = text.count(" send 65536b"), text.count(" send 64b")
    check(text.startswith("num_ranks 8\n") and slices == 8 * 14 * 2 and "calc 5000 " in text, "  with 14 steps of 8 ranks, two slices each")
    check(credits == 8 * (14 * 2 - 4) and text.count(" recv ") == slices + credits, "  and a credit for each slice but the first four")
    (folder / "goal.yaml").write_text("name: goal\nfabric: {nics: 8, planes: 4, nics_per_t0: 2, t1_count: 2}\n"
                                      f"traffic: {{kind: goal, file: {out / 'program.goal'}}}\n")
    status, text, errors = weft.outcome("sim", folder / "goal.yaml", "--json")
    check(status == 0 and payload(json.loads(text)) - CREDIT_BYTES * credits == payload(run(path)), f"  and runs: {errors.strip()}")


def exported(folder, name, *words):
    """A scenario's own run, and that of the trace it is written as, over the same fabric."""
    out = folder / name
    status, text, errors = weft.outcome("sim", name, "--export", "chakra", "--out", out, *words)
    check(status == 0 and "ranks as chakra" in text, f"{name} is written: {errors.strip()}")
    return json.loads(weft.outcome("sim", name, "--json", *words)[1]), run(out), json.loads(weft.outcome("trace", "--json", out)[1])


def check_step(folder):
    """A whole training step, written: read again over the same fabric, it takes as long as --fidelity full but for
    its rings, whose channels have QPs of their own there, and credits that are flags inside a rack."""
    name, fabric, out = "moe-small-3-fidelities", folder / "step.yaml", folder / "step"
    status, _, errors = weft.outcome("sim", name, "--fidelity", "full", "--export", "chakra", "--out", out)
    check(status == 0, f"a step is written: {errors.strip()}")
    full = json.loads(weft.outcome("sim", name, "--fidelity", "full", "--json")[1])["full"]
    text = (SOURCE / "apps" / "scenarios" / f"{name}.yaml").read_text()
    parts = [part for part in re.split(r"\n(?=\S)", text) if not part.startswith(("traffic:", "sample:", "inputs:", "limits:"))]
    fabric.write_text("\n".join(parts) + "\ntraffic: {kind: trace}\n")
    status, text, errors = weft.outcome("sim", fabric, "--trace", out, "--set", "transport.qps_per_connection=4", "--json")
    check(status == 0, f"and read: {errors.strip()}")
    again = json.loads(text)
    check(abs(end_ps(again) / full["step_ps"] - 1) < 0.002, f"  the same step: {end_ps(again)} ps, {full['step_ps']}")


def check_exports(folder):
    """Jobs of scenarios, written: flows as sends and receives, a ring as one collective of each rank."""
    here, there, told = exported(folder, "incast")
    flows = len(here["flows"]) if isinstance(here["flows"], list) else here["flows"]["count"]
    check(told["kinds"]["send"]["count"] == told["kinds"]["receive"]["count"] == flows, f"  {flows} flows")
    check(payload(here) == payload(there) == told["kinds"]["send"]["bytes"], "  and the same bytes")
    here, there, told = exported(folder, "ring-barrier")
    kind = told["communications"][0]
    check(len(told["communications"]) == 1 and kind["count"] == len(told["files"]), f"  {kind}")
    check(payload(here) == payload(there), f"  the same bytes: {payload(here)}, {payload(there)}")
    path = csv(folder, "twice.csv", 8, ("computation", "None", "None", 1, 1234567), ("all_to_all", "dp_group", 8, 70000, "None"),
               ("reduce_scatter", "tp_group", 2, 12345, "None"))
    status, _, errors = weft.outcome("sim", "--trace", path, "--export", "chakra", "--out", folder / "operations")
    check(status == 0, f"a trace's operations are written: {errors.strip()}")
    first, second = run(path), run(folder / "operations")
    check(end_ps(first) == end_ps(second) and payload(first) == payload(second), f"  and end at {end_ps(first)} ps as before")
    check_step(folder)
    refused("no export of a depth without packets", ["sim", "moe-small-3-fidelities", "--fidelity", "model", "--export", "goal", "--out",
                                                     folder / "x"], "has no effect with --fidelity model")
    refused("an export of a sample", ["sim", "ring-barrier", "--sample", "groups=1,steps=2", "--export", "goal", "--out",
                                      folder / "sample"], "a sample")
    refused("--export alone", ["sim", "ring-barrier", "--export", "goal"], "needs --out")
    refused("--export and --json", ["sim", "ring-barrier", "--export", "goal", "--out", folder / "x", "--json"], "has no effect with --json")
    refused("rings both ways round", ["sim", "tpu-v3-1024", "--sample", "off", "--export", "chakra", "--out", folder / "x"], "way round")
    refused("all variants at once", ["sim", "compare-ring", "--export", "goal", "--out", folder / "x"], "--variant")


# ---------------------------------------------------------------- given ones


def gaps_us(path):
    """The time in which no collective was under way."""
    gaps = 0
    events = [event for event in json.loads(gzip.decompress(path.read_bytes()))["traceEvents"]
              if event.get("cat") in ("kernel", "gpu_memcpy", "gpu_memset") and event["ph"] == "X"]
    reached = min(event["ts"] for event in events)
    for event in sorted(events, key=lambda event: event["ts"]):
        if event["name"].startswith("nccl"):
            gaps += max(0, event["ts"] - reached)
            reached = max(reached, event["ts"] + event["dur"])
    return gaps + max(event["ts"] + event["dur"] for event in events) - reached


def check_given(folder):
    ring, rows = again(GIVEN / "astra-sim" / "custom_ring_allreduce_8npus_1MB", folder, "ring")
    check(payload(ring) == 112 * 131072, "  112 messages of 131,072 bytes")
    check(rows[0]["communications"] == rows[1]["communications"] and rows[0]["compute_ps"] == rows[1]["compute_ps"], "  same counts")
    one, _ = again(GIVEN / "astra-sim" / "all_reduce_4npus_1MB", folder, "all_reduce")
    check(payload(one) == 4 * 2 * 3 * (1 << 20) // 4, "  an all-reduce of 1 MiB over 4 ranks")
    one, _ = again(GIVEN / "astra-sim" / "all_gather_8npus_1MB", folder, "all_gather")
    check(payload(one) == 8 * 7 * (1 << 20), "  an all-gather with 1 MiB of each of 8 ranks")
    kineto, rows = again(GIVEN / "hta" / "nccl_data.json.gz", folder, "kineto")
    check(rows[1]["kinds"]["collective"] == {"count": 42, "bytes": 2 * 307323096}, "  21 collectives of both ranks")
    gaps = gaps_us(GIVEN / "hta" / "nccl_data.json.gz") * 10**6
    # a ring of two sends each all-reduce once, 614 MB in all both ways, at 400 Gb/s
    check(gaps <= end_ps(kineto) <= gaps + 7 * 10**9, f"  with the file's gaps of {gaps / 1e9} ms: {end_ps(kineto) / 1e9} ms")
    pytorch = run(GIVEN / "param" / "resnet_2gpu_et.json.gz")
    check(payload(pytorch) == payload(kineto), "the execution trace of the same network sends the same")
    for name, sends in (("binary_tree_32", 31), ("Financial_1", 6167331), ("perm64", 64 * 500000)):
        goal, _ = again(GIVEN / "goal" / f"{name}.goal", folder, name)
        check(payload(goal) == sends, f"  {sends} bytes of GOAL's messages")
    refused("circles", ["sim", "--trace", GIVEN / "chakra" / "feeder_chakra.0.et"], "2283 of 3664 nodes wait in a circle")
    for name in ("param/linear_et.json.gz", "chakra/small_chakra.0.json"):
        refused(f"{name} alone", ["sim", "--trace", GIVEN / name], "no communication")
    for name, words in (("micro_all_reduce.txt", ["--set", "traffic.channels=4"]), ("L7B-M1-C04_Llama7B_megatron_tp2_pp1_mbs1_A100.txt", [])):
        run(GIVEN / "aicb" / name, "--set", "fabric.nics=128", "--sample", "groups=1,steps=16,buckets=1,fill=8", *words)


if __name__ == "__main__":
    check_parts(check_collectives, check_times, check_streams, check_refusals, check_goal, check_exports, given=GIVEN,
                of_given=(check_given,))
