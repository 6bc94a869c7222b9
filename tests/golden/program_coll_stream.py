#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""traffic.messages: a collective whose messages are made as it goes is the same run as the one whose messages are stored:
digest, counters, latencies and all other figures but those of memory and speed. With few others at once connections change
their QPs, and the run stays the same as long as nothing comes again; with losses it ends, and every byte is placed. What
cannot be made is refused."""
import json
import pathlib
import sys
import tempfile

import weft

SCENARIO = """name: course
fabric:
  topology: leaf-spine
  nics: 18
  nics_per_t0: 6
  t1_count: 2
  link_rate: 400Gb/s
traffic:
  kind: collective
  ranks: 16
  bytes: 256KiB
  channels: 2
watch: {links: false}  # culprits count steps of what is stored alone
"""
LOSSES = """faults:
  - {kind: loss, at: all, probability: 2%}
"""
FORMS = [  # collective, algorithm, what else is set
    ("all_reduce", "ring", ["traffic.chunk=4KiB"]),
    ("all_reduce", "ring", ["traffic.ranks=13", "transport.qps_per_connection=3"]),
    ("reduce_scatter", "ring", []),
    ("all_gather", "ring", ["transport.contexts=2"]),
    ("all_reduce", "tree", ["traffic.chunk=8KiB"]),
    ("broadcast", "tree", ["traffic.root=3"]),
    ("reduce", "tree", ["traffic.root=5", "traffic.ranks=11"]),
    ("all_reduce", "double_tree", ["traffic.chunk=2KiB", "transport.sends=4"]),
    ("all_reduce", "halving_doubling", ["traffic.ranks=13", "traffic.chunk=4KiB"]),
    ("reduce_scatter", "halving_doubling", []),
    ("all_gather", "halving_doubling", ["traffic.channels=1"]),
    ("reduce_scatter", "pat", ["traffic.ranks=13"]),
    ("all_gather", "pat", []),
    ("all_to_all", "direct", []),
    ("all_to_all", "direct", ["traffic.peers=3", "traffic.channels=1", "traffic.chunk=4KiB"]),
    ("all_to_all", "direct", ["traffic.bytes=65540B", "traffic.chunk=4KiB", "traffic.channels=1"]),  # two messages to the last alone
    ("reduce_scatter", "direct", ["traffic.peers=1"]),
    ("all_gather", "direct", ["traffic.peers=15", "traffic.ranks=18"]),
    ("all_to_all", "auto", ["traffic.bytes=4MiB", "queue.bytes=20KiB"]),
]
REFUSED = [  # what is set, what must be said
    (["traffic.collective=all_reduce", "traffic.algorithm=hierarchical"], "choose another algorithm"),
    (["traffic.collective=broadcast", "traffic.algorithm=ring"], "choose another algorithm"),
    (["traffic.algorithm=ring", "fabric.nics_per_host=2", "scaleup.rate=1Tb/s"], "of one rank a scale-up domain, not 2"),
    (["traffic.collective=all_to_all", "transport.contexts=8"], "transport.contexts is given"),
    (["traffic.collective=all_to_all", "transport.qps_per_connection=2"], "qps_per_connection is more than 1"),
    (["traffic.collective=all_to_all", "transport.kind=rc", "cc.algorithm=dcqcn"], "transport.kind is rc"),
    (["traffic.collective=all_to_all", "traffic.bytes=64B"], "do not give each of 16 ranks"),
    (["traffic.algorithm=ring", "watch.operations=true"], "watch.operations"),
    *[(["traffic.collective=all_reduce", f"traffic.algorithm={one}", "traffic.bytes=1TiB", "traffic.chunk=64B"], "too many to tell them apart")
      for one in ("ring", "tree", "halving_doubling")],
    (["traffic.collective=all_to_all", "traffic.bytes=60TiB", "traffic.chunk=64B"], "too many to tell them apart"),
]
LEAVES = {"taken", "speed", "memory", "footprint", "knobs", "scenario", "again", "command"}
failed = 0


def complain(text):
    global failed
    print("not ok:", text)
    failed += 1


def sim(path, sets):
    words = [word for one in sets for word in ("--set", one)]
    return weft.run("sim", path, "--json", *words)


def differences(one, other, path=""):
    """Paths at which two results differ, those of memory, speed and the wording apart."""
    if isinstance(one, dict) and isinstance(other, dict):
        return [found for key in sorted(one.keys() | other.keys()) if key not in LEAVES
                for found in differences(one.get(key), other.get(key), f"{path}.{key}")]
    return [] if one == other else [path]


def check_form(path, form):
    collective, algorithm, more = form
    sets = [f"traffic.collective={collective}", f"traffic.algorithm={algorithm}", *more]
    stored, made = sim(path, sets), sim(path, [*sets, "traffic.messages=made"])
    if stored.returncode != 0 or made.returncode != 0:
        complain(f"{sets}: {stored.returncode} {stored.stderr} {made.returncode} {made.stderr}")
        return
    found = set(differences(json.loads(stored.stdout), json.loads(made.stdout))) - {".program.dependencies", ".program.dependencies_reason"}
    if any(one.startswith("traffic.peers") for one in sets):
        found.discard(".network.connection_ends")  # QPs are fewer: that is what it is for
    digest = json.loads(made.stdout)["run"]["digest"]
    if found:
        complain(f"{sets}: differs in {found}")
    else:
        print(f"ok: {digest} {' '.join(sets)}")


def check_again(path):
    """So small windows of others that connections lose their QPs while packets are lost and come again."""
    sets = ["traffic.collective=all_to_all", "traffic.messages=made", "traffic.peers=1", "traffic.channels=1", "fabric.nics=96",
            "fabric.nics_per_t0=12", "traffic.ranks=96", "traffic.bytes=1536KiB"]
    done = sim(path, sets)
    if done.returncode != 0:
        complain(f"with losses: {done.returncode} {done.stderr}")
        return
    result = json.loads(done.stdout)
    program = result["program"]
    if program["fabric_messages"] != 96 * 95 or program["fabric_bytes"] != 95 * 1536 * 1024:
        complain(f"with losses: {program}")
    if result["congestion"]["retransmitted"] < 500:
        complain("little was lost: the test shows nothing")
    print("ok: with losses", result["run"]["digest"], result["congestion"]["retransmitted"], "retransmitted")


def check_apart(path):
    """So many losses that the channels of a rank get far apart: those before wait for connections of theirs."""
    ranks = 32
    sets = ["traffic.collective=all_to_all", "traffic.messages=made", "traffic.peers=1", "traffic.channels=4", "fabric.nics=32",
            "fabric.nics_per_t0=8", f"traffic.ranks={ranks}", "traffic.bytes=512KiB"]
    done = sim(path, sets)
    if done.returncode != 0:
        complain(f"channels apart: {done.returncode} {done.stderr}")
        return
    program = json.loads(done.stdout)["program"]
    if program["fabric_bytes"] != (ranks - 1) * 512 * 1024:
        complain(f"channels apart: {program}")
    print("ok: channels apart", json.loads(done.stdout)["run"]["digest"])


def check_size(path):
    """Memory of all with all grows with ranks: with pairs, twice as many would take four times as much."""
    shape = ["fabric.nics=512", "fabric.nics_per_t0=32", "fabric.t1_count=16", "transport.mpr=64", "traffic.channels=1"]
    sizes = []
    for ranks in (256, 512):
        sets = [*shape, "traffic.collective=all_to_all", "traffic.peers=4", "traffic.messages=made", f"traffic.ranks={ranks}",
                f"traffic.bytes={4 * ranks}KiB"]
        done = sim(path, sets)
        if done.returncode != 0:
            complain(f"{ranks} ranks: {done.returncode} {done.stderr}")
            return
        result = json.loads(done.stdout)
        if result["program"]["fabric_messages"] != ranks * (ranks - 1):
            complain(f"{ranks} ranks: {result['program']}")
        sizes.append(result["speed"]["arena_bytes"])
    if sizes[1] > 2.1 * sizes[0]:
        complain(f"256 ranks draw {sizes[0]} bytes, 512 draw {sizes[1]}")
    print(f"ok: all with all draws {sizes[0] >> 20} MiB for 256 ranks, {sizes[1] >> 20} MiB for 512")
    for algorithm in ("ring", "tree"):
        check_form(path, ("all_reduce", algorithm, [*shape, "traffic.ranks=256", "traffic.chunk=4KiB"]))


def main():
    with tempfile.TemporaryDirectory() as name:
        path = pathlib.Path(name) / "course.yaml"
        path.write_text(SCENARIO, encoding="utf-8")
        grey = pathlib.Path(name) / "grey.yaml"
        grey.write_text(SCENARIO + LOSSES, encoding="utf-8")
        for form in FORMS:
            check_form(str(path), form)
        for form in FORMS[4:16:3]:  # none whose connections change their QPs: what comes late then is answered otherwise
            check_form(str(grey), form)
        check_again(str(grey))
        worse = pathlib.Path(name) / "worse.yaml"
        worse.write_text(SCENARIO + LOSSES.replace("2%", "5%"), encoding="utf-8")
        check_apart(str(worse))
        check_size(str(path))
        for sets, why in REFUSED:
            done = sim(str(path), [*sets, "traffic.messages=made"])
            if done.returncode != 2 or why not in done.stderr:
                complain(f"{sets}: {done.returncode} {done.stderr}")
        many = sim(str(path), ["traffic.collective=all_reduce", "traffic.algorithm=tree", "traffic.bytes=1TiB", "traffic.chunk=64B"])
        if many.returncode != 2 or "beyond what a program can have" not in many.stderr:  # at once: not when all are counted
            complain(f"stored: {many.returncode} {many.stderr}")
    return failed != 0


sys.exit(main())
