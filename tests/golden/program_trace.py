#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""weft trace: the counts of all traces that were given, worked out once more here without weft; damaged copies of each
format; options that are none. Without the given traces their part is left out and said so."""
import collections
import csv
import functools
import gzip
import json
import pathlib
import re

import weft
from weft import SHARED, check, check_parts

GIVEN = pathlib.Path(SHARED, "data", "traces", "given")
COLLECTIVES = ["all_reduce", "reduce", "all_gather", "gather", "scatter", "broadcast", "all_to_all", "reduce_scatter"]
KINDS = {4: "compute", 5: "send", 6: "receive", 7: "collective"}
TYPE_BYTES = {"Float": 4, "Long": 8}


# ---------------------------------------------------------------- protocol buffers, by hand
trace = functools.partial(weft.outcome, "trace")
refused = functools.partial(weft.refused, "trace")


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            return value, at


def fields(data):
    at = 0
    while at < len(data):
        key, at = varint(data, at)
        if key & 7 == 0:
            value, at = varint(data, at)
        else:
            assert key & 7 == 2, key
            length, at = varint(data, at)
            value, at = data[at:at + length], at + length
        yield key >> 3, value


def messages(data):
    at = 0
    while at < len(data):
        length, at = varint(data, at)
        yield data[at:at + length]
        at += length


def chakra_of(path):
    """(records, nodes by kind, communications by what and bytes, time of computation in us, edges, missing, circular)"""
    records = list(messages(path.read_bytes()))
    kinds, rows, waits, compute = collections.Counter(), collections.Counter(), {}, 0
    for record in records[1:]:
        node, attributes = collections.defaultdict(list), {}
        for number, value in fields(record):
            node[number].append(value)
        for attribute in node[10]:
            parts = list(fields(attribute))
            attributes[parts[0][1].decode()] = parts[1][1]
        kind = KINDS[node[3][0]]
        if kind == "collective" and "comm_size" not in attributes:
            kind = "call"
        kinds[kind] += 1
        what = COLLECTIVES[attributes["comm_type"]] if kind == "collective" else kind
        if kind in ("collective", "send", "receive"):
            rows[what, attributes["comm_size"]] += 1
        if kind == "compute":
            compute += sum(node[7])
        packed = b"".join(node[4] + node[5])
        waits[node[1][0] if node[1] else 0], at = [], 0
        while at < len(packed):
            before, at = varint(packed, at)
            waits[node[1][0] if node[1] else 0].append(before)
    return len(records), kinds, rows, compute, waits


def circular(waits):
    left = {node: sum(1 for before in all if before in waits) for node, all in waits.items()}
    after = collections.defaultdict(list)
    for node, all in waits.items():
        for before in all:
            after[before].append(node)
    ready = [node for node, count in left.items() if count == 0]
    done = 0
    while ready:
        done += 1
        for node in after[ready.pop()]:
            left[node] -= 1
            if left[node] == 0:
                ready.append(node)
    return len(waits) - done


def rows_of(told):
    rows = collections.Counter()
    for row in told["communications"]:
        rows[row.get("collective", row["kind"]), row["bytes"]] += row["count"]
    return rows


def check_chakra(name, files):
    status, text, errors = trace("--json", GIVEN / name)
    check(status == 0, f"{name}: {errors}")
    told = json.loads(text)
    paths = sorted((GIVEN / name).iterdir()) if files > 1 else [GIVEN / name]
    records, kinds, rows, compute, edges, missing, circles = 0, collections.Counter(), collections.Counter(), 0, 0, 0, 0
    for path in paths:
        a, b, c, d, waits = chakra_of(path)
        records, kinds, rows, compute = records + a, kinds + b, rows + c, compute + d
        edges += sum(map(len, waits.values()))
        missing += sum(1 for all in waits.values() for before in all if before not in waits)
        circles += circular(waits)
    check(len(told["files"]) == files and told["records"] == records, f"  {files} files, {records} messages")
    check({kind: one["count"] for kind, one in told["kinds"].items() if one["count"]} == dict(kinds), f"  {dict(kinds)}")
    check(rows_of(told) == rows, f"  communications {dict(rows)}")
    check(told["compute_ps"] == (compute * 10**6 if compute else None), f"  computation {compute} us")
    check((told["dependencies"], told["missing"], told["circular"]) == (edges, missing, circles),
          f"  {edges} dependencies, {missing} missing, {circles} nodes in circles")


# ---------------------------------------------------------------- the other formats


def check_pytorch(name, nodes):
    told = json.loads(trace("--json", GIVEN / name)[1])
    rows = collections.Counter()
    for node in json.loads(gzip.decompress((GIVEN / name).read_bytes()))["nodes"]:
        if node["name"] == "record_param_comms":
            of = {attribute["name"]: attribute["value"] for attribute in node["attrs"]}
            if of["collective_name"] != "wait":
                what = {"allreduce": "all_reduce"}.get(of["collective_name"], of["collective_name"])
                rows[what, of["in_msg_nelems"] * TYPE_BYTES[of["dtype"]]] += 1
    check((told["format"], told["records"], told["nodes"]) == ("pytorch", nodes, nodes), f"{name}: {nodes} nodes")
    check(rows_of(told) == rows, f"  communications {dict(rows)}")


def check_kineto(name, events, kernels):
    told = json.loads(trace("--json", GIVEN / name)[1])
    rows, compute, moved = collections.Counter(), 0, 0
    for event in json.loads(gzip.decompress((GIVEN / name).read_bytes()))["traceEvents"]:
        if event.get("ph") != "X" or event.get("cat") not in ("kernel", "gpu_memcpy", "gpu_memset"):
            continue
        if not event["name"].startswith("nccl"):
            compute += round(event["dur"] * 10**6)
            continue
        moved += round(event["dur"] * 10**6)
        what = {"allreduce": "all_reduce"}.get(event["args"]["Collective name"], event["args"]["Collective name"])
        rows[what, event["args"]["In msg nelems"] * TYPE_BYTES[event["args"]["dtype"]]] += 1
    check((told["format"], told["records"], told["world"]) == ("kineto", events, 2), f"{name}: {events} events, 2 ranks")
    check(told["kinds"]["collective"]["count"] == kernels == sum(rows.values()), f"  {kernels} kernels of NCCL")
    check(rows_of(told) == rows, f"  communications {dict(rows)}")
    check((told["compute_ps"], told["communication_ps"]) == (compute, moved), f"  {compute} and {moved} ps")


def check_csv(name, lines, world):
    told = json.loads(trace("--json", GIVEN / name)[1])
    text = (GIVEN / name).read_text().splitlines()
    rows = collections.Counter()
    for row in csv.DictReader(text[1:] if text[0].startswith("[") else text):
        if row["comm_type"] != "CommType.epoch_end":
            rows[row["comm_type"].removeprefix("CommType."), int(row["msg_size"])] += 1
    check((told["format"], told["records"], told["world"]) == ("aicb-csv", lines, world), f"{name}: {lines} lines")
    check(rows_of(told) == rows and told["gathers_whole"], f"  {len(rows)} sorts of communications")


def check_text(name, form, lines, world):
    told = json.loads(trace("--json", GIVEN / name)[1])
    rows, compute = collections.Counter(), 0
    for line in (GIVEN / name).read_text().splitlines()[2:]:
        words = line.split()
        compute += sum(int(words[place]) for place in (2, 5, 8, 11))
        for place in (3, 6, 9):
            if words[place] != "NONE":
                what = words[place].removesuffix("_EP").removesuffix("_DP")
                rows[what, int(words[place + 1])] += 1
    rows = collections.Counter({({"ALLREDUCE": "all_reduce", "ALLGATHER": "all_gather", "REDUCESCATTER": "reduce_scatter",
                                  "ALLTOALL": "all_to_all", "BROADCAST": "broadcast"}[what], size): count
                                for (what, size), count in rows.items()})
    check((told["format"], told["records"], told["world"]) == (form, lines, world), f"{name}: {form}, {lines} lines")
    check(rows_of(told) == rows, f"  {sum(rows.values())} communications")
    check(told["compute_ps"] == compute * 1000, f"  computation {compute} ns")


def check_goal(name, ranks, sends, receives, computes, waits):
    """Counts of the given list, and bytes and times as the words of the text have them."""
    told = json.loads(trace("--json", GIVEN / "goal" / name)[1])
    text = re.sub(r"/\*.*?\*/|//[^\n]*", "", (GIVEN / "goal" / name).read_text(), flags=re.S)
    rows, compute = collections.Counter(), 0
    for what, number in re.findall(r"\b(send|recv|calc)\s+(\d+)", text):
        if what == "calc":
            compute += int(number)
        else:
            rows[{"send": "send", "recv": "receive"}[what], int(number)] += 1
    check((told["format"], told["world"], len(told["files"])) == ("goal", ranks, 1), f"goal/{name}: one file, {ranks} ranks")
    check([told["kinds"][kind]["count"] for kind in ("send", "receive", "compute")] == [sends, receives, computes],
          f"  {sends} send, {receives} recv, {computes} calc")
    check((told["dependencies"], told["missing"], told["circular"]) == (waits, 0, 0), f"  requires {waits} times")
    check(rows_of(told) == rows, f"  messages {dict(rows)}")
    check(told["compute_ps"] == compute * 1000 and told["communication_ps"] is None, f"  calc of {compute} units")


def check_given():
    check_chakra("astra-sim/all_gather_8npus_1MB", 8)
    check_chakra("astra-sim/all_reduce_4npus_1MB", 4)
    check_chakra("astra-sim/custom_ring_allreduce_8npus_1MB", 8)
    check_chakra("chakra/feeder_chakra.0.et", 1)
    told = json.loads(trace("--json", GIVEN / "chakra/small_chakra.0.json")[1])
    nodes = json.loads((GIVEN / "chakra/small_chakra.0.json").read_text())["workload_graph"]
    check(told["nodes"] == len(nodes) == 7 and told["kinds"]["call"]["count"] == 3, "small_chakra.0.json: 7 nodes, 3 calls")
    check(told["compute_ps"] == 10**6 * sum(node["runtime"] for node in nodes if node["NodeType"] == 4), "  computation")
    check_pytorch("param/linear_et.json.gz", 931)
    check_pytorch("param/resnet_2gpu_et.json.gz", 14392)
    check_kineto("hta/nccl_data.json.gz", 40573, 21)
    check_csv("aicb/physical_L7B-M1-C04_Llama7B_megatron_tp2_pp1_mbs1.csv", 151, 128)
    check_csv("aicb/physical_micro_all_to_all_workload.csv", 2003, None)
    check_text("aicb/G13B-M1-C02_GPT13B_megatron_tp8_pp1_mbs1_sp_A100.txt", "aicb", 174, None)
    check_text("aicb/L65B_D1_C08_Llama65B_deepspeed_zero3_A100.txt", "aicb", 14, None)
    check_text("aicb/L7B-M1-C04_Llama7B_megatron_tp2_pp1_mbs1_A100.txt", "aicb", 78, None)
    check_text("aicb/micro_all_reduce.txt", "micro", 21, None)
    check_text("aicb/micro_all_to_all.txt", "micro", 21, None)
    check_text("simai/workload_analytical.txt", "simai", 1791, 9216)
    check_goal("Financial_1.goal", 77, 72, 72, 30, 150)
    check_goal("binary_tree_32.goal", 32, 31, 31, 0, 26)
    check_goal("incast_8_1_2MiB.goal", 16, 2, 2, 0, 1)
    check_goal("perm64.goal", 64, 64, 64, 0, 0)


# ---------------------------------------------------------------- damage


def answers(path, damaged):
    """An answer: counts, or one line that names the file."""
    path.write_bytes(damaged)
    status, out, errors = trace(path)
    if status == 0 and out and not errors:
        return True
    return status == 2 and not out and errors.count("\n") == 1 and str(path) in errors


def check_copies(folder):
    """Copies of the given files, cut and changed at many places. Never a crash, never silence."""
    for name in ("astra-sim/custom_ring_allreduce_8npus_1MB/custom_allreduce.0.et", "param/linear_et.json.gz",
                 "chakra/small_chakra.0.json", "aicb/L65B_D1_C08_Llama65B_deepspeed_zero3_A100.txt",
                 "aicb/physical_L7B-M1-C04_Llama7B_megatron_tp2_pp1_mbs1.csv", "goal/Financial_1.goal"):
        good, path = (GIVEN / name).read_bytes(), folder / "copy"
        bad = 0
        for at in range(0, len(good), len(good) // 40 + 1):
            flipped = good[:at] + bytes([good[at] ^ 1 << at % 8]) + good[at + 1:]
            bad += not answers(path, good[:at]) + 0
            bad += not answers(path, flipped) + 0
        check(bad == 0, f"{name}: cut and changed at 40 places each")
    packed = (GIVEN / "hta/nccl_data.json.gz").read_bytes()
    for at in (20, len(packed) // 2, len(packed) - 4):
        (folder / "cut.gz").write_bytes(packed[:at])
        refused(f"packed, cut at {at}", [folder / "cut.gz"], "cut off")
    (folder / "cut.gz").write_bytes(packed[:1000] + bytes(64) + packed[1064:])
    refused("packed, changed", [folder / "cut.gz"], "damaged")
    whole = gzip.decompress(packed)
    (folder / "cut.json").write_bytes(whole[:len(whole) // 2])
    refused("Kineto, cut", [folder / "cut.json"], "cut.json:")


def node(number, *attributes, waits=(), kind=7):
    """A Chakra message, by hand."""
    text = b"\x08" + bytes([number]) + b"\x12\x01x\x18" + bytes([kind]) + b"".join(b"\x28" + bytes([one]) for one in waits)
    for name, value in attributes:
        inner = b"\x0a" + bytes([len(name)]) + name.encode() + b"\x48" + bytes([value])
        text += b"\x52" + bytes([len(inner)]) + inner
    return bytes([len(text)]) + text


HEAD = b"\x07\x0a\x050.0.4"
GOOD = [("comm_type", 0), ("comm_size", 100)]


def check_small(folder):
    """Small files of each format, right and wrong."""
    path = folder / "small"

    def chakra(what, says, *nodes, head=HEAD):
        path.write_bytes(head + b"".join(nodes))
        if says is not None:
            return refused(what, [path], says)
        status, out, _ = trace("--json", path)
        check(status == 0, what)
        return json.loads(out)

    told = chakra("a circle is counted", None, node(1, *GOOD, waits=[2]), node(2, *GOOD, waits=[1]), node(3, *GOOD, waits=[1]))
    check(told["circular"] == 3 and told["missing"] == 0, "  with what waits for it")
    told = chakra("a node that is not there is counted", None, node(1, *GOOD, waits=[9]))
    check(told["missing"] == 1 and told["circular"] == 0, "  once")
    chakra("two of one id", "records 2 and 3 have one id", node(1, *GOOD), node(1, *GOOD))
    chakra("an unknown type", "type from 1 to 10", node(1, *GOOD, kind=11))
    chakra("an unknown collective", "comm_type from 0 to 9", node(1, ("comm_type", 10), ("comm_size", 1)))
    chakra("no size", "needs comm_size", node(1, ("comm_type", 0)))
    chakra("a send to nobody", "without comm_dst", node(1, *GOOD, kind=5))
    chakra("no node but noise", "is not a node of Chakra", bytes([2, 0x0f, 0xff]))
    chakra("longer than the file", "longer than what is left", node(1, *GOOD)[:-1])
    chakra("a length without an end", "longer than what is left", b"\xff\xff\xff\xff\xff\xff")
    path.write_text("/* two */ num_ranks 2\nrank 0 {\na: calc 5\nb: calc 7 cpu 1\nc: send 9b to 1 tag 4\nb irequires a\nc requires b\n"
                    "a requires c\n}\nrank 1 {\n}\n")
    told = json.loads(trace("--json", path)[1])
    check((told["kinds"]["compute"]["count"], told["kinds"]["other"]["count"], told["compute_ps"]) == (2, 1, 12000),
          "GOAL: what goes before an operation that another irequires is not a computation")
    check(told["circular"] == 4 and told["kinds"]["send"]["count"] == 1 and told["kinds"]["receive"]["count"] == 0,
          "  a circle and a send that nobody receives are counted")
    refused("  and refused when it should run", [path, "--export", "goal", "--out", folder / "x"], "wait in a circle")
    refused("a second file of GOAL", [path, path], "holds all ranks")
    for what, text, says in (
            ("empty", "", "empty"), ("nothing we know", "hello\n", "not a trace of a known format"),
            ("JSON, cut", '{"nodes": [', "not JSON"), ("JSON, another", '{"a": 1}', "not a trace of a known format"),
            ("JSON, 3000 deep", '{"nodes": ' + "[" * 3000, "maximum parsing depth"),
            ("a huge number", '{"nodes": [{"id": 99999999999999999999, "name": "a"}]}', "too big integer"),
            ("a negative id", '{"nodes": [{"id": -1, "name": "a"}]}', "record 1: id must be a whole number"),
            ("no list", '{"nodes": 3}', 'no list "nodes"'),
            ("a node that is a number", '{"nodes": [3]}', "record 1: id"),
            ("no caller", '{"nodes": [{"id": 1, "name": "a"}]}', "ctrl_deps or parent"),
            ("no times", '{"traceEvents": [{"ph": "X", "cat": "kernel", "name": "k"}]}', "record 1: ts"),
            ("a negative duration", '{"traceEvents": [{"ph": "X", "cat": "kernel", "name": "k", "ts": 1, "dur": -1}]}', "dur"),
            ("a kernel without args", '{"traceEvents": [{"ph": "X", "cat": "kernel", "name": "ncclKernel", "ts": 1}]}',
             "Collective name"),
            ("an unknown NodeType", '{"workload_graph": [{"Id": 1, "NodeType": 44}]}', "NodeType"),
            ("a dependency that is text", '{"workload_graph": [{"Id": 1, "NodeType": 4, "data_deps": ["a"]}]}', "data_deps"),
            ("CSV without columns", "comm_type,comm_group\n", "there must be columns"),
            ("CSV without lines", "comm_type,comm_group,msg_size\n", "no line below"),
            ("CSV, a column less", "comm_type,comm_group,msg_size\nCommType.all_reduce,CommGroup.tp_group\n", "this line has 2"),
            ("CSV, words for bytes", "comm_type,comm_group,msg_size\nCommType.all_reduce,CommGroup.tp_group,x\n", "msg_size"),
            ("CSV, unknown type", "comm_type,comm_group,msg_size\nCommType.dance,CommGroup.tp_group,1\n", "does not have"),
            ("CSV, ranks", "[rank0 ~ rankx]\n", "line 1 must be"),
            ("GOAL, cut", "num_ranks 2\nrank 0 {\nl1: send 8b to 1\n", "ends within rank 0"),
            ("GOAL, a rank less", "// by hand\nnum_ranks 2\nrank 0 {\n}\n", "small:4: the file ends after 1 of 2 ranks"),
            ("GOAL, an unknown label", "num_ranks 1\nrank 0 {\nl1: calc 8\nl1 requires l2\n}\n", "small:4:13: no operation"),
            ("GOAL, a rank that is none", "num_ranks 1\nrank 0 {\nl1: send 8b to 3\n}\n", "rank 3 is not below num_ranks"),
            ("AICB with one size more", "HYBRID_TRANSFORMER model_parallel_NPU_group: 2 pp: 2\n1\n", "lacks ep:"),
            ("MICRO without its layer", "MICRO\n1\n", "ends after 0")):
        path.write_text(text)
        refused(what, [path], says)
    bomb = folder / "bomb.gz"
    with gzip.open(bomb, "wb", compresslevel=9) as to:
        for _ in range(513):
            to.write(bytes(1 << 20))
    refused("512 MiB and more, packed", [bomb], "too much for a trace")
    bomb.unlink()


def check_options(folder):
    path = folder / "good.et"
    path.write_bytes(HEAD + node(1, *GOOD))
    status, out, _ = trace(path)
    check(status == 0 and "all_reduce" in out and "100" in out, "a small one")
    (folder / "packed").write_bytes(gzip.compress(path.read_bytes()))
    check(trace(folder / "packed")[1] == out, "the same, packed")
    refused("no file", [], "no file given")
    refused("no such file", [folder / "none"], "none: ")
    (folder / "empty").mkdir()
    refused("an empty folder", [folder / "empty"], f"{folder / 'empty'}: there is no file in the folder")
    refused("unknown option", ["--fast", path], "unknown option")
    refused("unknown format", ["--format", "pcap", path], "--format is chakra, chakra-json, pytorch, ")
    refused("another format than it is", ["--format", "kineto", path], "not JSON")
    (folder / "other.csv").write_text("comm_type,comm_group,msg_size\nCommType.all_reduce,CommGroup.tp_group,1\n")
    refused("files of two formats", [path, folder / "other.csv"], "other.csv")


if __name__ == "__main__":
    check_parts(check_small, check_options, given=GIVEN, of_given=(check_copies, check_given))
