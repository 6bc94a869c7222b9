#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A group of a trace is its list of ranks: who is in it, who calls it, and whose file is missing. Traces are made here; those that
people met are read where they are."""
import json
import pathlib

import weft
from weft import SHARED, check, check_parts

CASES = pathlib.Path(SHARED, "data", "cases")
ELEMENTS = 262144
ALL_REDUCE, TYPE_COLLECTIVE, TYPE_COMPUTE, TYPE_SEND, TYPE_RECEIVE = 0, 7, 4, 5, 6


def sim(path, *words):
    done = weft.run("sim", "--trace", path, "--json", *words)
    return done.returncode, done.stdout, done.stderr


def run(path, *words):
    status, text, errors = sim(path, *words)
    check(status == 0, f"{path.name} runs: {errors.strip()}")
    return json.loads(text)


def placed(result):
    return result["transport"]["payload_bytes_placed"] - 64 * result["transport"]["credits_sent"]


def refused(path, *says, words=()):
    status, out, errors = sim(path, *words)
    errors = "".join(line for line in errors.splitlines(True) if "warning:" not in line)
    check(status == 2 and out == "" and errors.count("\n") == 1 and all(one in errors for one in says), f"{path.name}: {errors.strip()}")


# ---------------------------------------------------------------- Kineto


def kernel(ts, group, ranks, name="allreduce", **more):
    args = {"Collective name": name, "In msg nelems": ELEMENTS, "Out msg nelems": ELEMENTS, "Group size": len(ranks), "dtype": "Float",
            "Process Group Name": group, "Process Group Ranks": str(list(ranks)), **more}
    return {"ph": "X", "cat": "kernel", "name": "ncclDevKernel_X", "tid": 17, "ts": ts, "dur": 100.0,
            "args": {key: value for key, value in args.items() if value is not None}}


def kineto(folder, name, world, calls, info=None):
    """`calls`: rank -> its kernels."""
    out = folder / name
    out.mkdir()
    for rank, events in calls.items():
        told = {"backend": "nccl", "rank": rank, "world_size": world, **(info or {})}
        (out / f"host{(rank * 7 + 3) % 10}-{rank}.json").write_text(json.dumps({"distributedInfo": told, "traceEvents": events}))
    return out


def check_kineto(folder):
    pair = {rank: [kernel(0, "1", [0, 1] if rank < 2 else [2, 3])] for rank in range(4)}
    own = {rank: [kernel(0, str(rank // 2), [0, 1] if rank < 2 else [2, 3])] for rank in range(4)}
    one, two = run(kineto(folder, "same name", 4, pair)), run(kineto(folder, "own name", 4, own))
    check(one["run"]["digest"] == two["run"]["digest"] and placed(one) == 4 * 4 * ELEMENTS, "  two groups of one name are two")
    out = folder / "written"
    done = weft.run("trace", folder / "same name", "--export", "chakra", "--out", out)
    check(done.returncode == 0 and sorted(json.loads((out / "comm_group.json").read_text()).values()) == [[0, 1], [2, 3]],
          f"  written with a name each: {done.stderr}")
    check(run(out)["run"]["digest"] == one["run"]["digest"], "  and read again")
    # files lie in the order of their ranks, not of their names: far pairs differ from near ones
    far = {rank: [kernel(0, "0", [rank % 2, rank % 2 + 2])] for rank in range(4)}
    check(placed(run(kineto(folder, "far", 4, far))) == placed(one), "  groups two apart")
    everyone = {rank: [kernel(0, "0", range(4))] for rank in range(4)}
    names = {rank: [kernel(0, f"pg{rank}", range(4))] for rank in range(4)}
    check(run(kineto(folder, "names", 4, names))["run"]["digest"] == run(kineto(folder, "one", 4, everyone))["run"]["digest"],
          "  each rank's own name of one list is one group")
    refused(kineto(folder, "names but one", 4, {**names, 3: [kernel(0, "1", [3])]}), "rank 3 never calls it", "0, 1, 2, 3")
    for gone in range(4):
        calls = {rank: events for rank, events in everyone.items() if rank != gone}
        refused(kineto(folder, f"without {gone}", 4, calls), f"no file of rank {gone}", "3 of the job's 4 ranks")
    three = {rank: [kernel(0, "0", range(3))] for rank in range(4)}
    refused(kineto(folder, "no member", 4, three), "rank 3 calls it and is not a member", "0, 1, 2")
    refused(kineto(folder, "silent", 4, {**everyone, 3: [kernel(0, "1", [3])]}), "rank 3 never calls it", "0, 1, 2, 3")
    refused(kineto(folder, "beyond", 4, {**three, 3: [kernel(0, "1", [3, 9])]}), "rank 9 has no file")
    refused(kineto(folder, "wrong size", 4, {**everyone, 3: [kernel(0, "0", range(4), **{"Group size": 3})]}), "Group size")
    for word in ("all", "0, 1, 2, 3", 4, list(range(4)), None):
        calls = {rank: [kernel(0, "0", range(4))] for rank in range(4)}
        for events in calls.values():
            events[0]["args"]["Process Group Ranks"] = word
        refused(kineto(folder, f"the word {word}", 4, calls), "record 1: Process Group Ranks is no list of ranks")
    # without a list, callers must be as many as the group has
    plain = {rank: [kernel(0, "0", [0, 1], **{"Process Group Ranks": None})] for rank in range(4)}
    refused(kineto(folder, "no list", 4, plain), '"0"', "2 ranks", "4 files")
    # a long list is cut; the whole one is at the top of the file
    cut = {rank: [kernel(0, "0", [0, 1] if rank < 2 else [2, 3], **{"Process Group Ranks": "[0, ..., 1]"})] for rank in range(4)}
    out = kineto(folder, "cut", 4, cut)
    for path in out.iterdir():
        trace = json.loads(path.read_text())
        rank = trace["distributedInfo"]["rank"]
        trace["distributedInfo"]["pg_config"] = [{"pg_name": "0", "pg_size": 2, "ranks": [0, 1] if rank < 2 else [2, 3]}]
        path.write_text(json.dumps(trace))
    check(run(out)["run"]["digest"] == one["run"]["digest"], "  the list at the top holds where a record's is cut")
    two_worlds = kineto(folder, "two worlds", 2, {rank: [kernel(0, "0", [0, 1])] for rank in (0, 1)})
    path = sorted(two_worlds.iterdir())[-1]
    path.write_text(path.read_text().replace('"world_size": 2', '"world_size": 4'))
    refused(two_worlds, "world_size")
    # one file for all: a list that is none of the groups side by side
    refused(kineto(folder, "askew", 4, {1: [kernel(0, "0", [1, 2])]}), "do not part the ranks")
    check(placed(run(kineto(folder, "one for all", 4, {2: [kernel(0, "0", [2, 3])]}))) == placed(one), "  one file for all")
    refused(kineto(folder, "not its own", 4, {3: [kernel(0, "0", [0, 1])]}), "record 1", "rank 3 calls it and is not a member", "0, 1")
    refused(kineto(folder, "beyond the world", 4, {4: [kernel(0, "0", [0, 4])]}), "distributedInfo.rank is 4", "world_size 4")
    # what a record lists against what the file lists by that name
    for ranks, fits in (([1, 0], True), ([], True), ([0, 2], False), ([0, 1, 2], False)):
        told = {"pg_config": [{"pg_name": "9", "ranks": [5]}, {"pg_name": "0", "pg_size": len(ranks), "ranks": ranks}]}
        out = kineto(folder, f"told {ranks}", 2, {rank: [kernel(0, "0", [0, 1])] for rank in range(2)}, told)
        if fits:
            run(out)
        else:
            refused(out, "record 1: Process Group Ranks", "distributedInfo.pg_config")


# ---------------------------------------------------------------- Chakra


def varint(value):
    out = b""
    while value >= 0x80:
        out += bytes([value & 0x7F | 0x80])
        value >>= 7
    return out + bytes([value])


def field(number, value):
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    value = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(value)) + value


def attribute(name, value):
    kinds = {bool: 27, int: 9, str: 29}
    if isinstance(value, list):
        return field(10, field(1, name) + field(28, field(1, bytes(value))))
    return field(10, field(1, name) + field(kinds[type(value)], int(value) if isinstance(value, bool) else value))


def node(number, kind, **attributes):
    told = [attribute(*one) for one in attributes.items() if one[1] is not None]
    return field(1, number) + field(2, f"n{number}") + field(3, kind) + b"".join(told)


def all_reduce(number, **more):
    return node(number, TYPE_COLLECTIVE, is_cpu_op=False, comm_type=ALL_REDUCE, comm_size=4 * ELEMENTS, **more)


def chakra(folder, name, calls, groups=None):
    """`calls`: rank -> its nodes."""
    out = folder / name
    out.mkdir()
    for rank, nodes in calls.items():
        parts = [field(1, "0.0.4"), *nodes]
        (out / f"w.{rank}.et").write_bytes(b"".join(varint(len(part)) + part for part in parts))
    if groups is not None:
        (out / "comm_group.json").write_text(groups if isinstance(groups, str) else json.dumps(groups))
    return out


def check_chakra(folder):
    calls = {rank: [all_reduce(0, pg_name=str(rank // 2))] for rank in range(4)}
    lists = {"0": [0, 1], "1": [3, 2]}
    one = run(chakra(folder, "listed", calls, lists))
    check(placed(one) == 4 * 4 * ELEMENTS, "  two groups of two")
    numbers = {rank: [all_reduce(0, pg_name=rank // 2)] for rank in range(4)}
    check(run(chakra(folder, "numbers", numbers, lists))["run"]["digest"] == one["run"]["digest"], "  names that are numbers")
    refused(chakra(folder, "not listed", calls, {"0": [0, 1]}), 'group "1"', "does not list")
    refused(chakra(folder, "no lists", calls), 'group "0"', "comm_group.json")
    refused(chakra(folder, "absent", {**calls, 1: [node(0, TYPE_COMPUTE)]}, lists), 'group "0"', "rank 1 never calls")
    refused(chakra(folder, "stranger", {**calls, 2: [all_reduce(0, pg_name="0")]}, lists), 'group "0"', "rank 2 calls it and is no")
    refused(chakra(folder, "more", {rank: call for rank, call in calls.items() if rank != 2}, lists), "no file of rank 2")
    refused(chakra(folder, "beyond", calls, {"0": [0, 1], "1": [2, 3, 4]}), "rank 4 has no file")
    everyone = {rank: [all_reduce(0)] for rank in range(4)}
    plain = run(chakra(folder, "all", everyone))
    refused(chakra(folder, "not all", {**everyone, 2: [node(0, TYPE_COMPUTE)]}), "rank 2 never calls it")
    for at, (text, says) in enumerate((("[]", "groups by name"), ("{", "not JSON"), ('{"0": 4}', "list of ranks"), ('{"0": [0, 0]}', "twice"),
                                       ('{"0": [-1]}', "0 and more"), ('{"0": []}', "list of ranks"), ('{"0": [0, 1],\n"1": [2, 3],\n"0": [2, 3]}', '"0"'))):
        refused(chakra(folder, f"list {at}", calls, text), "comm_group.json", says)
    for dims, whole in (([True, True], True), ([True, False], False), ([False, True], False), ([False], False)):
        path = chakra(folder, f"dims {dims}", {rank: [all_reduce(0, involved_dim=dims)] for rank in range(4)})
        if whole:
            check(run(path)["run"]["digest"] == plain["run"]["digest"], "  all dimensions are all ranks")
        else:
            refused(path, "involved_dim")
    check(run(chakra(folder, "both", {rank: [all_reduce(0, pg_name=str(rank // 2), involved_dim=[True, False])] for rank in range(4)},
                     lists))["run"]["digest"] == one["run"]["digest"], "  a name with a list goes before dimensions")


def check_messages(folder):
    """A message without its other half: the file and the record that has the one half."""
    def pair(name, **receive):
        got = {"comm_src": 0, "comm_dst": 1, "comm_size": 4096, "comm_tag": 7, **receive}
        return chakra(folder, name, {0: [node(0, TYPE_COMPUTE), node(1, TYPE_SEND, comm_src=0, comm_dst=1, comm_size=4096, comm_tag=7)],
                                     1: [node(0, TYPE_RECEIVE, **got)]})
    check(placed(run(pair("halves"))) == 4096, "  one message")
    refused(pair("another tag", comm_tag=8), "another tag/w.0.et: ", "rank 1 never receives", "(record 3)")
    refused(pair("longer", comm_size=8192), "longer/w.1.et: ", "not as long", "(record 2)")
    refused(pair("of another", comm_dst=2), "of another/w.1.et: message 2: comm_dst of this receive is 2, which is not the rank")
    check(placed(run(pair("unsaid", comm_dst=None))) == 4096, "  the own end need not be said")

    def stages(name, first, second):
        """Two files without numbers, in the order of their names."""
        ends = {"comm_size": 4096, "comm_tag": 7}
        out = chakra(folder, name, {0: [node(0, TYPE_SEND, comm_src=first, comm_dst=1, **ends)],
                                    1: [node(0, TYPE_RECEIVE, comm_src=0, comm_dst=second, **ends)]})
        for rank in range(2):
            (out / f"w.{rank}.et").rename(out / f"{'ab'[rank]}.et")
        return out
    check(placed(run(stages("in order", 0, 1))) == 4096, "  files in their order")
    refused(stages("turned", 0, 2), "turned/b.et: this file stands for rank 1, and its messages are of rank 2")
    both = [node(0, TYPE_SEND, comm_src=0, comm_dst=1, comm_size=1), node(1, TYPE_SEND, comm_src=1, comm_dst=0, comm_size=1)]
    out = chakra(folder, "both ends", {0: both, 1: both})
    for rank in range(2):
        (out / f"w.{rank}.et").rename(out / f"{'ab'[rank]}.et")
    refused(out, "both ends/a.et: message 3: comm_src of this send is 1")


def check_json_messages(folder):
    def stages(name, **more):
        out = folder / name
        out.mkdir()
        ends = {"comm_src": 0, "comm_dst": 1, "comm_size": 4096}
        for rank, (kind, own) in enumerate(((TYPE_SEND, {}), (TYPE_RECEIVE, more))):
            graph = [{"Id": 0, "Name": "n", "NodeType": kind, **ends, **own}]
            (out / f"w.{rank}.json").write_text(json.dumps({"workload_graph": graph}))
        return out
    check(placed(run(stages("json"))) == 4096, "  one message")
    refused(stages("json of another", comm_dst=0), "w.1.json: record 1: comm_dst is not the rank that the file is of")


def check_cases():
    own, same = run(CASES / "kineto_ownname"), run(CASES / "kineto_samename")
    check(own["run"]["digest"] == same["run"]["digest"] and same["transport"]["payload_bytes_placed"] == 8396800,
          "  two meshes of one name as of two")
    refused(CASES / "kin_2of8", "no file of rank 1", "2 of the job's 8")
    refused(CASES / "kin_3of4", "no file of rank 3", "3 of the job's 4")
    run(CASES / "kin_4of4")
    refused(CASES / "et_absent", "w.0.et", "all_reduce", '"1"', "rank 3 never calls it")
    refused(CASES / "et_group_sub", "w.4.et", "all_reduce", '"0"', "rank 4 calls it", "0, 1, 2, 3")
    refused(CASES / "et_dims", "w.0.et", "involved_dim")
    run(CASES / "et_plain")


if __name__ == "__main__":
    check_parts(check_kineto, check_chakra, check_messages, check_json_messages, given=CASES, of_given=(check_cases,))
