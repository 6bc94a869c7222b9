#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a culprit explains of the slowest: of faults at known places the named one has far more of the worst steps than of all, and of a
ring the figures are those that the time line of the same run gives."""
import json
import pathlib
import re
import sys
import tempfile
from collections import defaultdict

from goal_rounds import rounds
import weft
from weft import check

NICS = 16
RING = """name: ring
fabric: {nics: 16, nics_per_t0: 4, t1_count: 4, planes: 2}
transport: {evs: 64}
traffic: {kind: ring, collective: all_reduce, bytes: 8MiB, channels: 1}
watch: {links: true, delays: true, messages: 1000}
"""
PROGRAM = """name: program
fabric: {nics: 16, nics_per_t0: 4, t1_count: 4, planes: 2}
transport: {evs: 64}
traffic: {kind: collective, collective: all_reduce, algorithm: ring, bytes: 8MiB, channels: 1}
watch: {links: true, delays: true, operations: true}
"""
ROUNDS = """name: rounds
fabric: {nics: 16, nics_per_t0: 4, t1_count: 4, planes: 2}
transport: {evs: 64}
traffic: {kind: goal, file: rounds.goal}
watch: {links: true, delays: true, operations: true}
"""


PAIR = """name: pair
fabric: {nics: 16, nics_per_t0: 4, t1_count: 4, planes: 2}
transport: {evs: 64}
traffic: {kind: flows, flows: [{from: 0, to: 15, bytes: 2MB}, {from: 5, to: 9, bytes: 2MB}]}
watch: {links: true, delays: true}
"""
# Paths that are marked lose a turn and no more: slow ones go on to have packets.
SPRAYED = """name: sprayed
fabric: {nics: 32, nics_per_t0: 8, t1_count: 8, planes: 2}
transport: {evs: 64, skip_time: turn}
traffic: {kind: permutation, bytes: 1600kB}
watch: {links: true, delays: true}
"""


def run(folder, name, *words):
    done = weft.run("sim", folder / f"{name}.yaml", "-v", "--out", folder / "out", "--force", *words)
    check(done.returncode == 0, f"{name} {words}: {done.stderr}")
    return json.loads((folder / "out" / "result.json").read_text(encoding="utf-8"))["culprits"], done.stdout


# Name of the world, fault, the culprit, how many steps there are, and the least of its share of the worst. Expected of all
# steps: those to it and from it.
CASES = (
    ("ring", "{kind: slow, at: {nic: 5, plane: 1}, rate: 25%}", "nic 5 plane 1 - t0 1", NICS * 2 * (NICS - 1), 1),
    ("ring", "{kind: slow, at: {nic: 9}, rate: 50%}", "nic 9", NICS * 2 * (NICS - 1), 1),
    ("program", "{kind: slow, at: {nic: 12, plane: 0}, rate: 25%}", "nic 12 plane 0 - t0 3", None, 1),
    ("rounds", "{kind: straggler, at: {host: 7}, rate: 50%}", "host 7", NICS * 4, 1),
    ("rounds", "{kind: slow, at: {nic: 2, plane: 1}, rate: 25%}", "nic 2 plane 1 - t0 0", NICS * 4, 1),
)


def faults_have_the_worst_steps(folder):
    for name, fault, culprit, steps, share in CASES:
        found, text = run(folder, name, "--fault", fault)
        first = found["list"][0]
        check(first["name"] == culprit, f"{name} {fault}: first is {first['name']}")
        check(first["worst_steps_share"] >= share, f"{name} {fault}: {first['worst_steps_share']:.3f} of the worst steps")
        check(first["steps_share"] == 2 / NICS, f"{name} {fault}: {first['steps_share']:.3f} of all steps")
        check(steps in (None, found["steps"]) and found["steps_left_out"] == 0, f"{name}: {found['steps']} steps")
        check(found["worst_steps"] >= -(-found["steps"] // 100), f"{name}: {found['worst_steps']} worst of {found['steps']}")
        check(f"of the {found['worst_steps']} worst steps begin or end here (12.500 % of all steps do)" in text, f"{name}: the terminal says {text}")


# Fault, the culprit, and what share of all packets passes it where they are spread evenly: 64 links up and 16 T1 switches. Senders
# avoid what is slow, so that it has fewer.
LATE = (
    ("{kind: slow, at: {t1: 3, plane: 1}, rate: 50%}", "t1 3 plane 1", 1 / 16),
    ("{kind: slow, at: {t1: 6, plane: 0}, rate: 25%}", "t1 6 plane 0", 1 / 16),
    ("{kind: slow, at: {t0: 2, up: 3, plane: 1}, rate: 50%}", "t0 2 up 3 plane 1 - t1 3", 2 / 64),
    ("{kind: slow, at: {plane: 1}, rate: 50%}", "plane 1", 1 / 2),
)


def faults_have_the_late_packets(folder):
    for fault, culprit, expected in LATE:
        found, text = run(folder, "sprayed", "--fault", fault)
        first = found["list"][0]
        check(first["name"] == culprit, f"{fault}: first is {first['name']}")
        check(first["tail_share"] >= 0.9, f"{fault}: {first['tail_share']:.3f} of the slowest packets")
        check(expected / 4 <= first["pairs_share"] <= expected * 1.25, f"{fault}: {first['pairs_share']:.4f} of all packets")
        place = next((each for each in found["slowest"][:2] if each["name"] == culprit), found["slowest"][0])
        check(place["name"] == culprit and (place == found["slowest"][0] or place["place"] == "plane") and place["what"] == "packets" and place["share"] >= 0.85 and 0 < place["all_share"] < 0.5,
              f"{fault}: the slowest were at {place}")
        check(f"slowest packets: {culprit} has {place['count']} of {found['slow_packets']}, of all" in text, f"{fault}: the terminal says {text}")
        check("slowest packets came by it (" in text, f"{fault}: the terminal says {text}")
    # A dead plane takes no packet at all, so its share is nothing, and that of all packets as well.
    found, text = run(folder, "sprayed", "--fault", "{kind: link_down, at: {plane: 1}, from: 20us}")
    first = found["list"][0]
    check(first["name"] == "plane 1" and first["tail_share"] == 0 and first["pairs_share"] < 0.5, f"a dead plane: {first}")
    found, _ = run(folder, "sprayed", "--fault", LATE[0][0], "--set", "fabric.spray=adaptive")
    first = found["list"][0]
    check(first["name"] == LATE[0][1] and first["tail_share"] is None and "does not say which way" in first["tail_share_reason"],
          f"adaptive switches: {first}")


def hosts_have_the_worst_steps(folder):
    found, _ = run(folder, "ring", "--fault", CASES[0][1], "--set", "watch.delays=false")
    rows = [{"place": "host", "name": f"host {host}", "what": "steps", "count": 5, "of": 5, "share": 1.0, "all_share": 2 / NICS} for host in (4, 5)]
    check(found["worst_steps"] == 5 and found["slow_packets"] is None and found["slowest"] == rows, f"a slow port: {found['slowest']}")


def the_dark_port_is_named_and_not_its_peer(folder):
    """NIC 0 sends to NIC 15 alone: both are silent in the plane in which one of them is dead."""
    for seed in range(1, 4):
        found, text = run(folder, "pair", "--fault", "{kind: link_down, at: {nic: 0, plane: 1}}", "--seed", str(seed))
        names = [(each["name"], each["finding"]) for each in found["list"]]
        check(names == [("nic 0 plane 1 - t0 0", "silent")] and "no light: at which end, or on the way, is not known" in text, f"a dead port: {names}")


def of_time_line(folder):
    """Of the ring's steps: how long the receiver stood for each one's slices, in ps, and whether NIC 5 had a part in it."""
    events = json.loads((folder / "out" / "trace.json").read_text(encoding="utf-8"))["traceEvents"]
    nics = {event["tid"]: int(re.search(r"NIC (\d+)", event["args"]["name"]).group(1)) for event in events
            if event["name"] == "thread_name" and "NIC" in event["args"]["name"]}
    times = defaultdict(int)
    for event in events:
        if event.get("cat") == "messages":
            from_nic = int(event["name"].rsplit(" ", 1)[1])  # rank r has NIC r
            times[nics[event["tid"]], from_nic, event["args"]["step"]] += round(event["dur"] * 1e6)
    return [(took, 5 in (to, sender)) for (to, sender, _), took in times.items()]


def as_the_time_line_has_it(folder):
    """A loss on a port makes steps long and short: the figures have to be right where not all of the worst are the culprit's."""
    fault = "{kind: loss, at: {nic: 5, plane: 1}, probability: 2%}"
    found, _ = run(folder, "ring", "--fault", fault)
    steps = of_time_line(folder)
    least = sorted((took for took, _ in steps), reverse=True)[-(-len(steps) // 100) - 1]
    worst = [is_its for took, is_its in steps if took >= least]
    first = found["list"][0]
    check(found["steps"] == len(steps) and found["worst_steps"] == len(worst), f"{found['worst_steps']} of {found['steps']}, "
          f"{len(worst)} of {len(steps)} in the time line")
    check(found["worst_step_ps"] == least, f"worst from {found['worst_step_ps']} on, {least} in the time line")
    check(first["name"].startswith("nic 5 plane 1") and abs(first["worst_steps_share"] - sum(worst) / len(worst)) < 1e-12,
          f"{first['name']} has {first['worst_steps_share']}, {sum(worst) / len(worst)} in the time line")


def unavailable_with_the_reason(folder):
    fault = ("--fault", "{kind: loss, at: {nic: 5, plane: 1}, probability: 2%}")
    for words, reason in ((("--set", "watch.messages=none"), "watch.messages is none"),):
        found, text = run(folder, "ring", *fault, *words)
        check(found["list"][0]["worst_steps_share"] is None and found["list"][0]["worst_steps_share_reason"] == reason
              and found["steps"] is None and found["steps_reason"] == reason and "worst steps" not in text, f"{words}: {found}")
    found, text = run(folder, "ring", "--fault", "{kind: link_down, at: {plane: 1}}")
    first = found["list"][0]
    check(first["place"] == "plane" and first["worst_steps_share"] is None and "spread" in first["worst_steps_share_reason"]
          and f"share of the worst steps: unavailable, {first['worst_steps_share_reason']}" in text, f"a plane: {first}")
    found, _ = run(folder, "ring", *fault, "--set", "watch.messages=7")
    check(found["steps"] == NICS * 3 and found["steps_left_out"] == NICS * (2 * 2 * (NICS - 1) - 7), f"a short log: {found}")


with tempfile.TemporaryDirectory() as room:
    place = pathlib.Path(room)
    for world in (RING, PROGRAM, ROUNDS, PAIR, SPRAYED):
        (place / (re.match(r"name: (\w+)", world).group(1) + ".yaml")).write_text(world, encoding="utf-8")
    (place / "rounds.goal").write_text(rounds(NICS, (5, 7, 9, 11), 50000), encoding="utf-8")
    faults_have_the_worst_steps(place)
    as_the_time_line_has_it(place)
    faults_have_the_late_packets(place)
    the_dark_port_is_named_and_not_its_peer(place)
    hosts_have_the_worst_steps(place)
    unavailable_with_the_reason(place)
sys.exit(1 if check.failed else 0)
