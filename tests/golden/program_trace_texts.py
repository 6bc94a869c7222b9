#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Texts of SimAI and CSV of AICB: what their tensor, expert and data collectives and the messages of their pipelines move, against
arithmetic, and the order in which they run."""
import time

import weft
from weft import check_parts
from program_trace_members import CASES, check, placed, refused, run

MIB = 1 << 20
FABRIC = "name: flat\nfabric: {nics: %d, planes: 4, nics_per_t0: 2, t1_count: 2}\ntraffic: {kind: trace, channels: 1}\n"
SHARES = {"ALLREDUCE": lambda n: 2 * (n - 1) / n, "ALLGATHER": lambda n: (n - 1) / n, "REDUCESCATTER": lambda n: (n - 1) / n,
          "ALLTOALL": lambda n: (n - 1) / n}


def end_ps(result):
    return result["run"]["last_completion_ps"]


def simai(folder, name, gpus, tp, ep, layers, pp=1, extra=""):
    path = folder / f"{name}.txt"
    lines = [f"l{at}\t-1\t" + "\t".join(f"{ns}\t{comm}\t{size}" for ns, comm, size in columns) + f"\t{update}"
             for at, (columns, update) in enumerate(layers)]
    path.write_text(f"HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: {tp} ep: {ep} pp: {pp} vpp: 1 ga: 1 all_gpus: {gpus} "
                    f"checkpoints: 0 checkpoint_initiates: 0 {extra}\n{len(layers)}\n" + "\n".join(lines) + "\n")
    return path


def on_flat(folder, path, gpus):
    """One NIC a rank, so that everything is on the fabric."""
    scenario = folder / "flat.yaml"
    scenario.write_text(FABRIC % gpus)
    return run(path, str(scenario))


def check_simai(folder):
    none = (0, "NONE", 0)
    gpus, tp, ep = 16, 2, 4  # data 8: expert groups of 4, expert data groups of 2
    for ending, ranks, column in (("", tp, 0), ("", tp, 1), ("", gpus // tp, 2), ("_EP", ep, 0), ("_DP_EP", gpus // tp // ep, 2)):
        for comm, share in SHARES.items():
            columns = [none, none, none]
            columns[column] = (0, comm + ending, MIB)
            path = simai(folder, f"{comm}{ending}{column}", gpus, tp, ep, [(columns, 0)])
            check(placed(on_flat(folder, path, gpus)) == gpus * MIB * share(ranks), f"  {comm}{ending} of {ranks} ranks in column {column}")
    # forward down, back up: gradients of weights go beside the line, so the last of them is what is waited for
    step = [((1000000, "ALLREDUCE", 4096), (2000000, "ALLREDUCE", 4096), (3000000, "ALLREDUCE", 4096)), 500000]
    short = simai(folder, "collective", gpus, tp, ep, [(((0, "ALLREDUCE", 4096), none, none), 0)])
    each = end_ps(on_flat(folder, short, gpus))
    whole = end_ps(on_flat(folder, simai(folder, "steps", gpus, tp, ep, [step, step]), gpus))
    check(13 * 10**9 <= whole <= 13 * 10**9 + 6 * each, f"  12 ms of layers, and two updates of 0.5: {whole / 1e9} ms")
    refused(simai(folder, "pipeline", 16, 2, 1, [step], pp=2, extra="pp_comm: 4096"), "(--sample steps=4, say)", words=["--sample", "off"])
    refused(simai(folder, "alone", 8, 1, 1, [(((5, "ALLREDUCE", MIB), none, none), 0)]), "nothing to run")
    aicb = folder / "aicb.txt"
    aicb.write_text("HYBRID_TRANSFORMER model_parallel_NPU_group: 2 checkpoints: 0 checkpoint_initiates: 0\n1\n"
                    f"l\t-1\t0\tALLREDUCE\t{MIB}\t0\tNONE\t0\t0\tALLGATHER\t{MIB}\t0\n")
    check(placed(on_flat(folder, aicb, 8)) == 8 * MIB * (1 + 3 / 4), "  AICB's text: groups of 2, and of 4 beside them")
    aicb.write_text(aicb.read_text().replace("ALLREDUCE", "ALLTOALL_EP"))
    (folder / "flat.yaml").write_text(FABRIC % 8)
    refused(aicb, "does not say how many ranks its expert groups have", words=[str(folder / "flat.yaml")])
    micro = folder / "micro.txt"
    micro.write_text("MICRO\n3\n" + f"t\t-1\t1\tNONE\t0\t1\tNONE\t0\t1\tALLTOALL\t{MIB}\t1\n" * 3)
    check(placed(on_flat(folder, micro, 8)) == 3 * 7 * MIB, "  three all-to-alls of 8 ranks")


# ---------------------------------------------------------------- AICB's CSV

NAMES = "comm_type,comm_group,comm_group_size,msg_size,stage,dst,src,additional,_elapsed_time\n"


def row(kind, group, size, count, stage="forward_step", dst=None, src=None, additional="", time=None):
    return f"CommType.{kind},CommGroup.{group},{size or ''},{count},{stage},{dst},{src},{additional},{time}\n"


def csv(folder, name, text):
    path = folder / f"{name}.csv"
    path.write_text(text)
    return path


def section(stage, ranks, *rows):
    return f"[ pp_stage{stage}: [{', '.join(f'rank{rank}' for rank in ranks)}] ]\n" + NAMES + "".join(rows)


def check_aicb(folder):
    reduce, go, come = row("all_reduce", "dp_group", 2, MIB), row("isend", "pp_group", 0, MIB, dst=2), row("irecv", "pp_group", 0, MIB, src=0)
    moved = 4 * MIB + 2 * MIB
    parts = run(csv(folder, "sections", section(0, (0, 1), reduce, go) + section(1, (2, 3), reduce, come)))
    check(placed(parts) == moved, "  two data groups and two messages")
    one = run(csv(folder, "one", "[rank0 ~ rank3]\n" + NAMES + reduce + go + come))
    check(one["run"]["digest"] == parts["run"]["digest"], "  stages of one list as sections")
    words = "".join((reduce, row("isend", "pp_group", 2, MIB, additional="send_next"), row("irecv", "pp_group", 2, MIB, additional="recv_prev")))
    check(run(csv(folder, "words", "[rank0 ~ rank3]\n" + NAMES + words))["run"]["digest"] == parts["run"]["digest"], "  neighbours by word")
    back = [row("isend", "pp_group", 0, MIB, "backward_step", dst=0), row("irecv", "pp_group", 0, MIB, "backward_step", src=2)]
    both = run(csv(folder, "back", "[rank0 ~ rank3]\n" + NAMES + reduce + go + come + back[0] + back[1]))
    check(placed(both) == moved + 2 * MIB, "  and back")
    wide = section(0, range(4), row("all_reduce", "tp_group", 2, MIB), row("all_gather", "dp_group", 2, MIB),
                   row("isend", "pp_group", 2, MIB, dst=4))
    wide += section(1, (4, 5, 6, 7), row("all_reduce", "tp_group", 2, MIB), row("all_gather", "dp_group", 2, MIB),
                    row("irecv", "pp_group", 2, MIB, src=0))
    check(placed(run(csv(folder, "wide", wide))) == 8 * MIB + 8 * MIB // 2 + 4 * MIB, "  tensor and data groups of each stage")
    ranges = csv(folder, "ranges", wide.replace("rank0, rank1, rank2, rank3", "rank0 ~ rank3"))
    check(placed(run(ranges)) == 8 * MIB + 8 * MIB // 2 + 4 * MIB, "  ranks as a range")
    many = csv(folder, "many", section(0, range(4608), *[row("all_reduce", "dp_group", 4608, MIB)] * 20000) + section(1, range(4608, 9216), row("all_reduce", "dp_group", 4608, MIB)))
    began = time.monotonic()
    done = weft.run("sim", "trace-nodes", "--set", f"traffic.trace={many}", "--set", "fabric.nics=9216", "--set", "limits.memory=1GiB")
    check(done.returncode == 2 and "its lines make 92164608 operations of 9216 ranks at least" in done.stderr and "limits.memory" in done.stderr,
          f"  more than memory holds is refused before it is dealt: {done.stderr}")
    check(time.monotonic() - began < 20, "  at once")
    refused(csv(folder, "twice", section(0, (0, 1), reduce) + section(1, (1, 2), reduce)), "rank 1 is in two sections")
    refused(csv(folder, "gap", section(0, (0, 1), reduce) + section(1, (3, 4), reduce)), "those from 0 on")
    refused(csv(folder, "odd", section(0, (0, 1), reduce, go) + section(1, (2, 3, 4), row("barrier", "all", 0, 0))), "a stage of 2 ranks to one of 3")
    refused(csv(folder, "unheard", section(0, (0, 1), reduce, go) + section(1, (2, 3), reduce)), "unheard.csv: rank 0", "never receives")
    for count in ("0", "2", "-1"):
        refused(csv(folder, "count", f"[rank0 ~ rank3]\n{NAMES.strip()},count\n{reduce.strip()},{count}\n"), ":3: count is not 1")
    other = row("all_reduce", "tp_group", 2, MIB) + row("all_gather", "tp_group", 4, MIB)
    refused(csv(folder, "two sizes", "[rank0 ~ rank3]\n" + NAMES + other), ":4: comm_group_size is 4, and 2 in a line above")
    refused(csv(folder, "last", section(0, (0, 1), reduce) + section(1, (2, 3), reduce, row("isend", "pp_group", 2, MIB, additional="send_next"))),
            "no such neighbour")
    refused(csv(folder, "no peer", "[rank0 ~ rank3]\n" + NAMES + reduce + row("isend", "pp_group", 2, MIB)), "without dst, src or the neighbour")
    refused(csv(folder, "no stage", "[rank0 ~ rank3]\n" + NAMES + row("all_reduce", "ep_group", 4, MIB) + go + come), "how many ranks a stage has")
    refused(csv(folder, "beyond", "[rank0 ~ rank3]\n" + NAMES + reduce + go.replace(",2,None", ",9,None")), "the other rank is 9")
    refused(csv(folder, "late section", "[rank0 ~ rank3]\n" + NAMES + reduce + section(1, (2, 3), reduce)), "a section, where the lines above have none")
    refused(csv(folder, "no ranks", "[ pp_stage0: [] ]\n" + NAMES + reduce), "")
    bad = csv(folder, "bad line", "[rank0 ~ rank3]\n" + NAMES + reduce + reduce.replace("CommType", "Kind") + reduce)
    refused(bad, ":4", "comm_type")
    check(placed(run(bad, "--skip-damaged")) == 2 * 4 * MIB, "  the damaged line is left out")


def check_goal(folder):
    """A rank of several NICs: each is a NIC of the fabric, so two messages side by side take as long as one."""
    times = []
    for nics in (1, 2):
        path = folder / f"nics{nics}.goal"
        path.write_text("num_ranks 2\nrank 0 {\n" + "".join(f"send 4000000b to 1 tag {at} nic {at % nics}\n" for at in (0, 1)) +
                        "}\nrank 1 {\n" + "".join(f"recv 4000000b from 0 tag {at} nic {at % nics}\n" for at in (0, 1)) + "}\n")
        result = run(path)
        times.append(end_ps(result))
        check(placed(result) == 8000000 and result["goodput"]["nics_receiving"] == nics, f"  over {nics} NICs")
    check(1.6 < times[0] / times[1] < 2.1, f"  {times}")
    path.write_text(path.read_text().replace("recv 4000000b from 0 tag 1 nic 1", "recv 4000000b from 0 tag 1 nic 0"))
    other = run(path)
    check(placed(other) == 8000000 and other["goodput"]["nics_receiving"] == 1, "  a receive on another NIC than its send's")
    path.write_text(path.read_text().replace("recv 4000000b from 0 tag 1 nic 0", "recv 4000000b from 0 tag 7 nic 0"))
    refused(path, "rank 0", "rank 1 never receives what it sends")


def check_cases():
    moe = run(CASES / "simai_moe.txt")  # sampled: two data ranks of each tensor rank on a host
    check(moe["goodput"]["nics_receiving"] == 128 and placed(moe) > 7 * 10**10, f"  simai_moe: {placed(moe)} bytes")
    check(placed(run(CASES / "nic1.goal")) == 2000000, "  two messages of a rank of two NICs")
    one, two = run(CASES / "aicb_isend.csv"), run(CASES / "aicb_pp.csv")
    check(placed(one) == placed(two) == 2 * 2 * MIB + 2 * 8388608, "  two all-reduces of pairs, and two messages of 8 MiB")
    fabric = str(CASES / "simai24.yaml")
    for name, data in (("simai_tp8", 3), ("simai_tp24", 1)):
        result = run(CASES / f"{name}.txt", fabric)
        kinds = {one["label"]: one["kind"] for one in result["collectives"]}
        check(kinds == ({"attn": "all_reduce", "grad": "all_reduce"} if data > 1 else {"attn": "all_reduce"}), f"  {name}: {kinds}")
        check(end_ps(result) >= 556 * 10**6, "  with its time of computation")
        check(end_ps(run(CASES / f"{name}.txt")) >= 556 * 10**6, "  and without a scenario")


if __name__ == "__main__":
    check_parts(check_simai, check_aicb, check_goal, given=CASES, of_given=(check_cases,))
