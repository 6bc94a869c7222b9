#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Ranks of a trace on a fabric that has more NICs, in place of another kind of traffic, alone and in copies; nodes that wait in a circle,
named and cut; a trace that needs more memory than allowed."""
import json
import os
import pathlib
import subprocess

from weft import BAD_INPUT, ENVIRONMENT, WEFT, check, check_parts, outcome, result_of

HOSTS = ("name: mine\nfabric: {{topology: rail, nics: 64, nics_per_host: 8, link_rate: 400Gb/s, oversubscription: 2}}\n"
         "scaleup: {{rate: 450GB/s}}\ntraffic: {traffic}\n")
FLAT = "name: flat\nfabric: {{nics: 64, nics_per_t0: 8, t1_count: 8, link_rate: 400Gb/s}}\ntraffic: {traffic}\n"
INCAST = "{kind: incast, senders: 4, bytes: 1MiB}"
COMPUTE_US, MESSAGE = 100, 1 << 20


TYPES = {"COMP_NODE": 4, "COMM_SEND_NODE": 5, "COMM_RECV_NODE": 6}  # of Chakra's et_def.proto


def node(number, kind, waits=(), name="", micros=0, **attributes):
    return {"Id": number, "Name": name or f"node{number}", "NodeType": TYPES[kind], "ctrlDeps": [], "data_deps": list(waits),
            "runtime": micros, "is_cpu_op": False, **attributes}


def write(folder, name, ranks):
    """A folder of Chakra JSON, a file for each rank."""
    into = pathlib.Path(folder, name)
    into.mkdir()
    for rank, nodes in enumerate(ranks):
        into.joinpath(f"x.{rank}.json").write_text(json.dumps({"workload_graph": nodes}), encoding="utf-8")
    return into


def pair(folder):
    """Rank 0 computes and sends, rank 1 receives and computes."""
    send = {"comm_size": MESSAGE, "comm_src": 0, "comm_dst": 1, "comm_tag": 1}
    return write(folder, "pair", [
        [node(1, "COMP_NODE", micros=COMPUTE_US), node(2, "COMM_SEND_NODE", (1,), **send)],
        [node(1, "COMM_RECV_NODE", **send), node(2, "COMP_NODE", (1,), micros=COMPUTE_US)]])


def circle(folder):
    send = {"comm_size": MESSAGE, "comm_src": 0, "comm_dst": 1, "comm_tag": 1}
    return write(folder, "circle", [
        [node(7, "COMP_NODE", (8,), "early", 5), node(8, "COMP_NODE", (7,), "late", 5), node(9, "COMM_SEND_NODE", (8,), **send)],
        [node(1, "COMM_RECV_NODE", **send)]])


def text(folder, name, of, traffic=INCAST):
    file = pathlib.Path(folder, name + ".yaml")
    file.write_text(of.format(traffic=traffic), encoding="utf-8")
    return file


def sim(file, trace, *sets):
    return ["sim", file, "--trace", trace, "--json", *(word for key in sets for word in ("--set", key))]


def placed(folder, trace):
    flat, hosts = text(folder, "flat", FLAT), text(folder, "hosts", HOSTS)
    one, all_of = result_of(*sim(flat, trace)), result_of(*sim(flat, trace, "traffic.copies=all"))
    check(one["network"]["nics"] == 64 and one["program"]["ranks"] == 2, "two ranks on a fabric of 64 NICs as it is")
    check(one["program"]["fabric_bytes"] == MESSAGE, "one message over the fabric")
    check(all_of["program"]["fabric_bytes"] == 32 * MESSAGE, "32 copies send 32")
    step, compute, exposed = (one["program"][key] for key in ("end_ps", "compute_ps", "exposed_ps"))
    check(compute == COMPUTE_US * 10**6 and exposed == step - compute, "step = computed + exposed")
    check(exposed > compute, "rank 1 waits for rank 0's computation and the message")
    near = result_of(*sim(hosts, trace, "traffic.copies=5"))
    check(near["program"]["scaleup_bytes"] == 5 * MESSAGE and near["program"]["fabric_bytes"] == 0, "copies stay inside hosts of 8")
    table = outcome("sim", flat, "--trace", trace)[1]
    check(" exposed (" in table and "step " in table, "a line says step and exposed")
    in_file = text(folder, "file", FLAT, f"{{kind: trace, trace: {trace}, copies: 4}}")
    check(result_of("sim", in_file, "--json")["program"]["fabric_bytes"] == 4 * MESSAGE, "a scenario names trace and copies itself")
    for key, says in (("traffic.copies=33", "there is room for 32"), ("fabric.nics=1", "fabric.nics"), ("traffic.kind=ring", "no effect")):
        code, _, error = outcome(*sim(flat, trace, key))
        check(code == BAD_INPUT and says in error, f"{key} is refused: {error.strip()}")


def circles(folder):
    flat, trace = text(folder, "flat", FLAT), circle(folder)
    code, _, error = outcome(*sim(flat, trace))
    check(code == BAD_INPUT and "node 7 (early) waits for 8 (late), which waits for 7 (early)" in error, "a circle is named")
    check("traffic.cut_circles" in error, "and the key that cuts it")
    cut = result_of(*sim(flat, trace, "traffic.cut_circles=true"))
    check(cut["program"]["fabric_bytes"] == MESSAGE, "cut, it runs")
    check(any("1 waits of the trace's nodes" in row["text"] for row in cut["inputs"]), "and says what was left out")


def memory(folder):
    file = pathlib.Path(folder, "big.txt")
    layers = "".join(f"layer{i} -1 1000 NONE 0 1000 NONE 0 1000 ALLREDUCE 1048576 100\n" for i in range(900))
    head = "HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: 1 ep: 1 pp: 1 vpp: 1 ga: 1 all_gpus: 4096"
    file.write_text(f"{head} checkpoints: 0 checkpoint_initiates: 0\n900\n{layers}", encoding="utf-8")
    code, _, error = outcome("sim", "--trace", file, "--sample", "off", "--set", "limits.memory=64MiB", timeout=60)
    check(code != 0 and "limits.memory" in error, f"a trace of too many operations is refused: {error.strip()[-160:]}")
    if not os.environ.get("WEFT_SANITIZE"):
        run = subprocess.run(["bash", "-c", f"ulimit -v 3000000; exec {WEFT} sim --trace {file} --sample off"], capture_output=True, text=True, check=False)
        check(run.returncode == ENVIRONMENT and run.stderr.count("\n") == 1 and "fewer ranks take less" in run.stderr, f"so is one that the system has no room for: {run.stderr}")


def main(folder):
    placed(folder, pair(folder))
    circles(folder)
    memory(folder)


if __name__ == "__main__":
    check_parts(main)
