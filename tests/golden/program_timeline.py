#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""trace.json, the time line of a run: it is in the Trace Event Format to the letter, spans nest, and what is in it is what the
result says: faults, jobs, collectives, operations of ranks, flows, packets of a pair of NICs, which are those of the log of
taps. What has not ended is counted, not drawn."""
import collections
import copy
import csv
import decimal
import json

import weft
from weft import SOURCE, check, check_parts

LOSS = "{kind: loss, at: {nic: 3, plane: 0}, probability: 2%, from: 20us, until: 60us}"
DOWN = "{kind: link_down, at: {nic: 5, plane: 1}, from: 30us}"
NEVER = "{kind: link_down, at: {nic: 5, plane: 1}, from: 9s}"


def run(folder, *words, status=0):
    """Events, what is said of them, and the result."""
    done = weft.run("sim", *words, "--quiet", "--force", "--out", folder)
    check(done.returncode == status, f"{' '.join(map(str, words))}: status {done.returncode} {done.stderr.strip()}")
    trace = json.loads((folder / "trace.json").read_text(), parse_float=decimal.Decimal, parse_constant=float, object_pairs_hook=no_twins)
    check(breaches(trace) == [], f"{' '.join(map(str, words))}: the format is kept {breaches(trace)[:3]}")
    return trace["traceEvents"], trace["otherData"], json.loads((folder / "result.json").read_text())


def no_twins(pairs):
    assert len(dict(pairs)) == len(pairs), "a key that is there twice"
    return dict(pairs)


def is_number(of):
    return isinstance(of, (int, decimal.Decimal)) and not isinstance(of, bool) and of >= 0


def breach(event):
    """What an event has that the Trace Event Format does not allow; None: nothing."""
    if not isinstance(event.get("name"), str) or event["name"] == "":
        return "no name"
    if any(not isinstance(event.get(key), int) for key in ("pid", "tid")):
        return "no process and thread"
    if not isinstance(event.get("args", {}), dict):
        return "args is no object"
    if event.get("ph") == "M":
        known = event["name"] in ("process_name", "thread_name", "process_sort_index", "thread_sort_index")
        return None if known and isinstance(event["args"].get("name"), str) else "metadata that nobody knows"
    if event.get("ph") != "X":
        return f"phase {event.get('ph')}"
    if not is_number(event.get("ts")) or not is_number(event.get("dur")):
        return "no time"
    return None if isinstance(event.get("cat"), str) else "no category"


def breaches(trace):
    """All of a file: its events, and that each process and thread that is used has a name."""
    found = [] if trace.get("displayTimeUnit") in ("ms", "ns") and isinstance(trace.get("otherData"), dict) else ["no head"]
    events = trace["traceEvents"]
    found += [f"event {number}: {breach(event)}" for number, event in enumerate(events) if breach(event) is not None]
    named = {event.get("pid") for event in events if event.get("name") == "process_name"}
    threads = [(event.get("pid"), event.get("tid")) for event in events if event.get("name") == "thread_name"]
    found += [f"process {pid} has no name" for pid in {event.get("pid") for event in events} - named]
    found += ["a thread has two names"] if len(set(threads)) < len(threads) else []
    return found


def check_breaches(folder):
    """Each rule has found something that breaks it."""
    trace = json.loads((folder / "flows" / "trace.json").read_text())
    last = len(trace["traceEvents"]) - 1
    spoils = {"a span without a length": lambda of: of["traceEvents"][last].pop("dur"),
              "a span that ends before it begins": lambda of: of["traceEvents"][last].update(dur=-1),
              "a time that is a text": lambda of: of["traceEvents"][last].update(ts="1"),
              "a phase that nobody knows": lambda of: of["traceEvents"][last].update(ph="Q"),
              "an event without a name": lambda of: of["traceEvents"][last].update(name=""),
              "a process without a name": lambda of: of["traceEvents"][last].update(pid=99),
              "a thread with two names": lambda of: of["traceEvents"].append(copy.deepcopy([event for event in of["traceEvents"] if event["name"] == "thread_name"][0])),
              "metadata without a name": lambda of: of["traceEvents"][0]["args"].clear(),
              "a unit that is none": lambda of: of.update(displayTimeUnit="us")}
    for what, spoil in spoils.items():
        bad = json.loads(json.dumps(trace), parse_float=decimal.Decimal)
        spoil(bad)
        check(breaches(bad) != [], f"found: {what}: {breaches(bad)[:1]}")


def ps(of):
    return int(of * 1_000_000)


def crossing(events):
    """Two spans of one track that meet and neither of which holds the other; None: all nest."""
    tracks = collections.defaultdict(list)
    for event in events:
        if event["ph"] == "X":
            tracks[event["pid"], event["tid"]].append((ps(event["ts"]), ps(event["ts"]) + ps(event["dur"])))
    for track in tracks.values():
        open_ = []
        for begin, end in sorted(track, key=lambda span: (span[0], -span[1])):
            while open_ and open_[-1][1] <= begin:
                open_.pop()
            if open_ and open_[-1][1] < end:
                return open_[-1], (begin, end)
            open_.append((begin, end))
    return None


def spans(events, kind):
    return [event for event in events if event["ph"] == "X" and event["cat"] == kind]


def check_form(what, events, result):
    check(crossing(events) is None, f"{what}: spans of a track nest {crossing(events) or ''}")
    named = {(event["pid"], event["tid"]) for event in events if event["ph"] == "M" and event["name"] == "thread_name"}
    used = {(event["pid"], event["tid"]) for event in events if event["ph"] == "X"}
    check(used == named and len(used) > 0, f"{what}: each of {len(used)} tracks has a name")
    end = result["run"]["virtual_time_ps"]
    check(all(0 <= ps(event["ts"]) and ps(event["dur"]) >= 0 and ps(event["ts"] + event["dur"]) <= end for event in events if event["ph"] == "X"),
          f"{what}: everything is within the run")


def check_flows(folder):
    events, about, result = run(folder / "flows", "incast", "--fault", LOSS, "--fault", DOWN, "--fault", NEVER)
    check_form("incast", events, result)
    flows = sorted(ps(event["dur"]) // 1000 for event in spans(events, "flows of NICs"))
    of = result["flows"]
    check(len(flows) == of["count"] and flows[0] == of["min_ns"] and flows[-1] == of["max_ns"] and sum(flows) // len(flows) == of["mean_ns"],
          f"{len(flows)} flows last as long as the result says")
    faults = {(event["name"], ps(event["ts"]), ps(event["ts"]) + ps(event["dur"])) for event in spans(events, "faults")}
    end = result["run"]["virtual_time_ps"]
    check(faults == {("loss", 20_000_000, 60_000_000), ("link_down", 30_000_000, end)}, f"faults are on it while they strike: {faults}")
    check(about["digest"] == result["run"]["digest"] and about["ranks_reason"] == "the traffic has no operations", "it says what it has not, and why")
    names = {event["args"]["name"] for event in events if event["ph"] == "M"}
    check({"nic 3 plane 0", "nic 5 plane 1"} <= names, "faults have their places as names")


def check_packets(folder):
    """Those of a pair of NICs, cable by cable, are those that taps on all cables log."""
    scenario, log = folder / "tapped.yaml", folder / "log.csv"
    text = (SOURCE / "apps" / "scenarios" / "two-planes.yaml").read_text()
    scenario.write_text(text + "\ntaps: [{at: all}]\n")
    words = [scenario, "--fault", "{kind: loss, at: {nic: 4, plane: 0}, probability: 2%}", "--set", "watch.packets=100000", "--set", "watch.packets_to=4"]
    events, about, result = run(folder / "packets", *words, "--log", log)
    check_form("packets", events, result)
    tracks = {(event["pid"], event["tid"]): event["args"]["name"] for event in events if event["ph"] == "M" and event["name"] == "thread_name"}
    drawn = spans(events, "packets on cables")
    got = collections.Counter((ps(event["ts"]), tracks[event["pid"], event["tid"]], event["args"]["psn"], event["name"].split()[0], event["args"]["bytes"])
                              for event in drawn)
    with open(log, newline="") as file:
        rows = [row for row in csv.DictReader(file) if {row["source"], row["target"]} == {"0", "4"}]
    wanted = collections.Counter((int(row["time_ps"]), row["tap"], int(row["psn"]), row["name"], int(row["wire_bytes"])) for row in rows)
    check(got == wanted and len(drawn) > 1000, f"{len(drawn)} packets on cables are those of the log {list((got - wanted) | (wanted - got))[:2]}")
    check(any(" again" in event["name"] for event in drawn), "some were sent again")
    back = collections.Counter((event["name"].split("_")[0].split()[0], event["args"]["back"]) for event in drawn)
    check(back["WRITE", False] > 1000 and back["WRITE", True] == 0 and back["SACK", True] > 100 and back["ACK", False] == 0, f"the two ways are told apart: {dict(back)}")
    check(about["packets on cables"] == {"not finished": 0, "left out": 0}, "none is left out")
    plain = run(folder / "unwatched", *words[:3])[2]
    check(plain["run"]["digest"] == result["run"]["digest"], "watching changes nothing")
    _, about, _ = run(folder / "few", *words[:3], "--set", "watch.packets=10", "--set", "watch.packets_to=4")
    check(about["packets on cables"]["left out"] == len(drawn) - 10, f"{about['packets on cables']['left out']} are counted that had no room")
    for bad, reason in ((["watch.packets=9", "watch.packets_to=0"], "two of"), (["watch.packets=9", "watch.packets_to=99"], "two of"),
                        (["watch.packets_to=1"], "watch.packets")):
        done = weft.run("sim", "two-planes", *(word for each in bad for word in ("--set", each)))
        check(done.returncode == 2 and reason in done.stderr, "refused: " + done.stderr.strip())


def check_partial(folder):
    events, about, result = run(folder / "partial", "incast", "--set", "limits.time=700us", status=5)
    done, open_ = len(spans(events, "flows of NICs")), about["flows of NICs"]["not finished"]
    check(about["partial"] and done == result["flows"]["count"] and 0 < open_ == 32 - done, f"{done} flows ended, {open_} did not: counted, not drawn")


def check_collectives(folder):
    events, _, result = run(folder / "ring", "ring-barrier")
    check_form("ring-barrier", events, result)
    drawn = sorted((ps(event["ts"]), ps(event["ts"]) + ps(event["dur"])) for event in spans(events, "collectives"))
    check(drawn == sorted((one["start_ps"], one["end_ps"]) for one in result["collectives"]), f"{len(drawn)} collectives, from start to end")


def astray(events, about):
    """Parts, steps and messages of ranks: a step or message that lies in none of its own kind above it; None: all do."""
    open_ = {}
    for event in spans(events, "steps of ranks") + spans(events, "steps"):
        open_.setdefault((event["cat"], event["pid"], event["tid"], event["args"]["bucket"], event["args"].get("step")), []).append(event)
    for event in spans(events, "messages"):
        args = event["args"]
        over = open_.get(("steps", event["pid"], event["tid"], args["bucket"], args["step"]), [])
        if len(over) != 1 or not (over[0]["ts"] <= event["ts"] and event["ts"] + event["dur"] <= over[0]["ts"] + over[0]["dur"]):
            return event
    for event in spans(events, "steps"):
        over = open_.get(("steps of ranks", event["pid"], event["tid"], event["args"]["bucket"], None), [])
        if len(over) != 1 or not (over[0]["ts"] <= event["ts"] and event["ts"] + event["dur"] <= over[0]["ts"] + over[0]["dur"]):
            return event
    return None


def check_steps(folder):
    """A ring: as many steps and messages as its schedule has, each in the one above it, the last one with the collective."""
    words = ["two-racks", "--set", "watch.messages=100"]
    events, about, result = run(folder / "steps", *words)
    check_form("two-racks", events, result)
    ranks, channels, slices = 8, 4, 2
    parts, steps, messages = (spans(events, kind) for kind in ("steps of ranks", "steps", "messages"))
    check((len(parts), len(steps), len(messages)) == (ranks * channels, ranks * channels * (ranks - 1), ranks * channels * (ranks - 1) * slices),
          f"{len(parts)} parts of the collective, {len(steps)} steps, {len(messages)} messages")
    check(astray(events, about) is None, f"each lies within its own {astray(events, about) or ''}")
    one = result["collectives"][0]
    check(sum(event["args"]["bytes"] for event in messages) == one["bytes"] // ranks * (ranks - 1) * ranks, "messages have the bytes of the collective")
    check(all(event["args"]["messages"] == slices for event in steps), "steps have as many messages as a chunk has slices")
    check((min(ps(event["ts"]) for event in parts), max(ps(event["ts"] + event["dur"]) for event in parts)) == (one["start_ps"], one["end_ps"]),
          "parts begin and end with the collective")
    check(all(event["args"]["posted"] <= event["ts"] + event["dur"] for event in messages), "no message comes before it is posted")
    bad = json.loads(json.dumps(events, default=float))
    moved = [event for event in bad if event.get("cat") == "messages"][7]
    moved["ts"] += 500
    check(astray(bad, about) is not None, "a message outside of its step is found")
    plain = run(folder / "plain", words[0])
    check(plain[2]["run"]["digest"] == result["run"]["digest"] and plain[1]["steps_reason"] == "watch.messages is none", "watching changes nothing")
    check(all(about[kind] == {"not finished": 0, "left out": 0} for kind in ("steps of ranks", "steps", "messages")), "none is left out")
    _, about, _ = run(folder / "few", words[0], "--set", "watch.messages=3")
    left = ranks * channels * ((ranks - 1) * slices - 3)
    check(about["messages"]["left out"] == left and about["steps"]["left out"] == ranks * channels, f"{about['messages']['left out']} messages are counted that had no room")
    events, about, result = run(folder / "cut", *words, "--set", "limits.time=100us", status=5)
    check_form("cut", events, result)
    check(about["steps of ranks"]["not finished"] == len(parts) and about["messages"]["not finished"] > 0 and about["steps"]["not finished"] > 0,
          f"of a run that was cut what is open is counted: {about['messages']['not finished']} messages")
    check_program_steps(folder)
    for more, reason in (([], "has no rings"), (["fast_forward.steady=true"], "fast_forward.steady")):
        name = "two-racks" if more else "incast"
        done = weft.run("sim", name, *(word for each in ["watch.messages=9", *more] for word in ("--set", each)))
        check(done.returncode == 2 and reason in done.stderr, "refused: " + done.stderr.strip())


def check_program_steps(folder):
    """A collective as a program: halving and doubling of 16 ranks has 8 steps of a message each, or more where messages are cut."""
    scenario = folder / "doubling.yaml"
    scenario.write_text("name: doubling\nfabric: {topology: leaf-spine, nics: 16, link_rate: 400Gb/s, nics_per_t0: 4, t1_count: 4}\n"
                        "traffic: {kind: collective, collective: all_reduce, algorithm: halving_doubling, bytes: 1MiB, channels: 1}\n"
                        "watch: {operations: true}\n")
    events, about, result = run(folder / "doubling", scenario)
    check_form("doubling", events, result)
    steps = spans(events, "steps")
    numbers = collections.Counter(event["args"]["step"] for event in steps)
    check(numbers == {step: 16 for step in range(8)}, f"16 ranks have 8 steps each: {dict(numbers)}")
    check(astray(events, about) is None and len(spans(events, "messages")) == result["program"]["messages"], "each of its messages is in its step")


def check_operations(folder):
    words = ["jobs-two-rings", "--variant", "packed"]
    _, about, plain = run(folder / "plain", *words)
    check(about["ranks_reason"] == "watch.operations is false", "operations are left out unless they were watched: said")
    events, about, result = run(folder / "jobs", *words, "--set", "watch.operations=true")
    check_form("jobs-two-rings", events, result)
    check(result["run"]["digest"] == plain["run"]["digest"], "watching changes nothing")
    operations, program = spans(events, "ranks"), result["program"]
    check(len(operations) == program["operations"] and "ranks_reason" not in about, f"{len(operations)} operations of ranks")
    check(max(ps(event["ts"] + event["dur"]) for event in operations) == program["end_ps"], "the last of them ends with the program")
    jobs = {event["name"]: ps(event["dur"]) for event in spans(events, "jobs")}
    check(jobs == {job["name"]: job["time_ps"] for job in result["jobs"]}, f"jobs last as long as the result says: {jobs}")
    events, _, result = run(folder / "goal", "exchange", "--set", "watch.operations=true")
    check_form("exchange", events, result)
    kinds = collections.Counter(event["name"].split()[0] for event in spans(events, "ranks"))
    check(kinds["send"] == kinds["receive"] == result["program"]["messages"] and kinds["compute"] == result["program"]["computations"],
          f"exchange: {dict(kinds)}")
    status = weft.run("sim", "incast", "--set", "watch.operations=true")
    check(status.returncode == 2 and "has no operations of ranks" in status.stderr, "refused where there are none: " + status.stderr.strip())


def main(folder):
    check(crossing([{"ph": "X", "pid": 1, "tid": 1, "ts": 0, "dur": 2}, {"ph": "X", "pid": 1, "tid": 1, "ts": 1, "dur": 2}]) is not None,
          "spans that cross are found")
    check_flows(folder)
    check_breaches(folder)
    check_packets(folder)
    check_partial(folder)
    check_collectives(folder)
    check_steps(folder)
    check_operations(folder)


check_parts(main)
