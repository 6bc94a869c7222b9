#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What Kineto's records move: sends and receives, all-to-alls with split sizes against the bytes of each pair, and records that are
damaged: named, and left out when that is asked for."""
import json

from program_trace_members import CASES, ELEMENTS, check, kernel, kineto, placed, refused, run
import weft


def send(ts, src, dst, ranks, **more):
    return kernel(ts, "pp", ranks, "send", **{"Src Rank": src, "Dst Rank": dst, **more})


def receive(ts, src, dst, ranks, **more):
    return kernel(ts, "pp", ranks, "recv", **{"Src Rank": src, "Dst Rank": dst, **more})


def check_messages(folder):
    stages = range(4)
    calls = {rank: [] for rank in stages}
    for stage in range(3):  # a pipeline: each hands on what it got
        calls[stage].append(send(200, stage, stage + 1, stages))
        calls[stage + 1].insert(0, receive(0, stage, stage + 1, stages))
    line = run(kineto(folder, "pipeline", 4, calls))
    check(placed(line) == 3 * 4 * ELEMENTS, "  three messages")
    check(line["run"]["last_completion_ps"] > 3 * 4 * ELEMENTS * 8 / 400e9 * 1e12, "  one after the other")
    # "Dst Rank" and "Src Rank" are not there: the other one of two
    bare = {"Src Rank": None, "Dst Rank": None}
    pair = run(kineto(folder, "two", 2, {0: [send(0, 0, 1, [0, 1], **bare)], 1: [receive(0, 0, 1, [0, 1], **bare)]}))
    check(placed(pair) == 4 * ELEMENTS, "  one message")
    refused(kineto(folder, "no peer", 4, {rank: [send(0, rank, 0, stages, **bare)] for rank in stages}), "Dst Rank", "is not there")
    refused(kineto(folder, "other rank", 2, {0: [send(0, 1, 0, [0, 1])], 1: [receive(0, 0, 1, [0, 1])]}), "Src Rank", "is not the rank")
    refused(kineto(folder, "unheard", 2, {0: [send(0, 0, 1, [0, 1])], 1: [kernel(0, "1", [1])]}), "")
    refused(kineto(folder, "no member", 3, {0: [send(0, 0, 2, [0, 1])], 1: [kernel(0, "1", [1])], 2: [receive(0, 0, 2, [0, 2])]}),
            "record 1: Dst Rank is not a member of the group")
    refused(kineto(folder, "beyond", 2, {0: [send(0, 0, 5, [0, 1])], 1: [receive(0, 0, 1, [0, 1])]}), "record 1: Dst Rank is not a member")
    # one file for all: in each pair that lies like its own, the other way at the other end
    one = run(kineto(folder, "one", 8, {0: [send(0, 0, 4, [0, 4]), receive(300, 4, 0, [0, 4])]}))
    check(placed(one) == 8 * 4 * ELEMENTS, "  four pairs, there and back")
    second = run(kineto(folder, "the second", 8, {5: [receive(0, 1, 5, [1, 5]), send(300, 5, 1, [1, 5])]}))
    check(placed(second) == placed(one) and second["run"]["digest"] == one["run"]["digest"], "  the same as its partner tells it")
    refused(kineto(folder, "one of four", 4, {1: [receive(0, 0, 1, stages), send(300, 1, 2, stages)]}), "give the files of all ranks")


def pairs(folder, name, table, row=64, out=None, **more):
    """All-to-all of `table[i][j]` rows from rank i to rank j, which by its own record receives out[j][i] of them."""
    ranks = range(len(table))
    calls = {}
    for rank in ranks:
        rows, columns = sum(table[rank]), sum(table[other][rank] for other in ranks)
        received = {} if out is None else {"Out split size": str(out[rank])}
        calls[rank] = [kernel(0, "0", ranks, "all_to_allv", **{**received, "In msg nelems": rows * row, "Out msg nelems": columns * row,
                                                               "In split size": str(table[rank]), **more})]
    return kineto(folder, name, len(table), calls)


def check_splits(folder):
    uneven = [[5, 1000, 30, 0], [7, 0, 0, 0], [4096, 1, 2, 3], [0, 0, 0, 0]]
    for name, table in (("uneven", uneven), ("one way", [[0, 9000], [0, 0]]), ("skewed", [[1, 2, 3], [3, 1, 2], [2, 3, 1]])):
        result = run(pairs(folder, name, table))
        away = sum(table[i][j] for i in range(len(table)) for j in range(len(table)) if i != j)
        check(placed(result) == away * 64 * 4, f"  {away} rows leave their ranks: {placed(result)} bytes")
    even = [[256] * 4] * 4
    plain = {rank: [kernel(0, "0", range(4), "all_to_all", **{"In msg nelems": 65536, "Out msg nelems": 65536})] for rank in range(4)}
    first, second = run(pairs(folder, "even", even)), run(kineto(folder, "plain", 4, plain))
    check(first["run"]["digest"] == second["run"]["digest"], "  equal split sizes are a plain all-to-all")
    # the largest of a rank's parts is what it takes: 64 MB from one, little from the others
    slow = run(pairs(folder, "one large", [[0, 1 << 18, 1, 1], [1, 0, 1, 1], [1, 1, 0, 1], [1, 1, 1, 0]]))
    least_ps = (1 << 18) * 256 * 8 / 400e9 * 1e12
    check(least_ps < slow["run"]["last_completion_ps"] < 1.1 * least_ps, f"  as long as its line takes: {slow['run']['last_completion_ps']}")
    refused(pairs(folder, "cut", uneven, **{"In split size": "[1, 2, ..., 5]"}), "not a whole list of 4")
    refused(pairs(folder, "short", uneven, **{"In split size": "[1, 2]"}), "not a whole list of 4")
    refused(pairs(folder, "no rows", uneven, row=1, **{"In split size": "[7, 7, 7, 7]"}), "not a multiple of the 28 rows")
    received = [[row[rank] for row in uneven] for rank in range(4)]
    check(run(pairs(folder, "both sides", uneven, out=received))["run"]["digest"] == run(folder / "uneven")["run"]["digest"], "  Out agrees with In")
    received[2] = [31, 0, 1, 0]
    refused(pairs(folder, "against", uneven, out=received), "record 1: by its Out split sizes", "7936 bytes of member 0")
    refused(pairs(folder, "no sum", even, out=[[256, 256, 256, 257]] * 4), "record 1: the elements that come out are not a multiple of the 1025 rows")
    refused(pairs(folder, "unsaid", even, **{"In split size": None}), "record 1: In split size is not there")
    refused(pairs(folder, "unsaid too", even, **{"In split size": "[]"}), "record 1: In split size is not there")
    odd = {rank: [kernel(0, "0", range(2), "all_to_all", **{"In msg nelems": 100, "Out msg nelems": 50 + rank * 100})] for rank in range(2)}
    refused(kineto(folder, "in and out", 2, odd), "record 1: In split size is not there")
    differ = {rank: [kernel(0, "0", range(2), "all_to_all", **{"In msg nelems": 100 + rank, "Out msg nelems": 100 + rank})] for rank in range(2)}
    refused(kineto(folder, "other sizes", 2, differ), "record 1: an all-to-all of 404 bytes", "no split sizes")
    refused(kineto(folder, "one file", 2, {0: [kernel(0, "0", range(2), "all_to_allv", **{"In msg nelems": 10, "In split size": "[4, 6]"})]}),
            "give the files of all ranks")
    done = weft.run("trace", folder / "uneven", "--export", "chakra", "--out", folder / "x")
    check(done.returncode == 2 and "Chakra has no word" in done.stderr and not (folder / "x").exists(), f"  not as Chakra: {done.stderr.strip()}")
    done = weft.run("trace", folder / "uneven", "--export", "goal", "--out", folder / "goal")
    total = sum(int(words.split("b")[0]) for words in (folder / "goal" / "program.goal").read_text().split("send ")[1:])
    check(done.returncode == 0 and total == sum(map(sum, uneven)) * 256 - (5 + 0 + 2 + 0) * 256, f"  as GOAL: {total} bytes")


def check_parts(folder):
    """What is gathered, or scattered, is one part for each member."""
    for name, share in (("_allgather_base", 1 / 4), ("_reduce_scatter_base", 4)):
        sizes = {"In msg nelems": int(4096 * share), "Out msg nelems": 4096}
        run(kineto(folder, name, 4, {rank: [kernel(0, "0", range(4), name, **sizes)] for rank in range(4)}))
        for odd in (4095, int(4096 * share), 0):
            calls = {rank: [kernel(0, "0", range(4), name, **{**sizes, "Out msg nelems": odd})] for rank in range(4)}
            refused(kineto(folder, f"{name} {odd}", 4, calls), "record 1: Out msg nelems does not fit In msg nelems and Group size")
    calls = {rank: [kernel(0, "0", range(4), **{"Out msg nelems": ELEMENTS - 1})] for rank in range(4)}
    refused(kineto(folder, "all-reduce", 4, calls), "record 1: Out msg nelems does not fit In msg nelems")
    for name, into, out, fits in (("allreduce", 64, 64, True), ("allreduce", 64, 65, False), ("_allgather_base", 64, 256, True),
                                  ("_allgather_base", 64, 64, False), ("_reduce_scatter_base", 64, 16, True)):
        attrs = {"collective_name": name, "dtype": "Float", "in_msg_nelems": into, "out_msg_nelems": out, "pg_name": "0", "pg_size": 4}
        nodes = [{"id": 1, "name": "root", "ctrl_deps": 1, "attrs": []},
                 {"id": 2, "name": "record_param_comms", "ctrl_deps": 1, "attrs": [{"name": key, "value": value} for key, value in attrs.items()]}]
        path = folder / f"{name} {into} {out}.json"
        path.write_text(json.dumps({"schema": "1.1.1-chakra.0.0.4", "nodes": nodes}))
        if fits:
            run(path)
        else:
            refused(path, "record 2: out_msg_nelems does not fit in_msg_nelems and pg_size")


def check_damage(folder):
    good = [kernel(0, "0", range(2)), kernel(1000, "0", range(2))]
    whole = run(kineto(folder, "whole", 2, {0: good, 1: good}))
    for field, says in (("Collective name", "as it is in other records"), ("Group size", "Group size"), ("dtype", "dtype"),
                        ("In msg nelems", "In msg nelems")):
        bad = json.loads(json.dumps(good))
        del bad[0]["args"][field]
        path = kineto(folder, f"without {field}", 2, {0: bad, 1: bad})
        refused(path, "record 1:", says)
        left = run(path, "--skip-damaged")
        check(placed(left) == placed(whole) // 2, "  and left out")
        told = weft.run("trace", "--json", "--skip-damaged", path)
        check(json.loads(told.stdout)["skipped"] == 2 and "record 1" in told.stderr and "with 1 more" in told.stderr, f"  {told.stderr.strip()}")
    none = json.loads(json.dumps(good))
    for event in none:
        del event["args"]["Collective name"]
    refused(kineto(folder, "old", 2, {0: none, 1: none}), "before 2.2")
    refused(kineto(folder, "old too", 2, {0: none, 1: none}), "no communication", words=["--skip-damaged"])
    # one rank's damage leaves the others without it
    bad = json.loads(json.dumps(good))
    del bad[1]["args"]["dtype"]
    refused(kineto(folder, "one rank", 2, {0: bad, 1: good}), "names the group less often", words=["--skip-damaged"])
    refused(kineto(folder, "alone", 2, {0: [kernel(0, "0", [0])], 1: [kernel(0, "1", [1])]}), "nothing to run")
    refused(kineto(folder, "no bytes", 2, {rank: [kernel(0, "0", [0, 1], **{"In msg nelems": 0, "Out msg nelems": 0})] for rank in range(2)}),
            "nothing to run")
    goal = folder / "x.goal"
    goal.write_text("num_ranks 2\nrank 0 {\nl1: send 1b to 1 tag 0\n}\nrank 1 {\nl1: recv 1b from 0 tag 0\n}\n")
    refused(goal, "no record of this format", words=["--skip-damaged"])
    done = weft.run("sim", "incast", "--skip-damaged")
    check(done.returncode == 2 and "needs --trace" in done.stderr, done.stderr.strip())


def check_cases():
    refused(CASES / "kin_uneven", "rank0.json", "record 1", "In split size")
    check(placed(run(CASES / "kin_send")) == 4 * ELEMENTS, "  the message of one file")
    refused(CASES / "kineto_nopg", "record 1: Collective name is not there")
    check(placed(run(CASES / "kineto_nopg", "--skip-damaged")) == 2 * 3 * 4 * ELEMENTS, "  one all-reduce of four")
    skew, plain = run(CASES / "kin_skew"), run(CASES / "kin_4of4")  # all-reduces whose last rank comes 500 us after the begin
    check(skew["run"]["last_completion_ps"] - plain["run"]["last_completion_ps"] in range(499 * 10**6, 501 * 10**6), "  who comes last says when")


if __name__ == "__main__":
    weft.check_parts(check_messages, check_splits, check_parts, check_damage, given=CASES, of_given=(check_cases,))
