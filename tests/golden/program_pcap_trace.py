#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""weft pcap analyze --trace: a time line whose messages, repairs and streams are those of --json, and those of the run that was captured; spans
of one track do not overlap; inputs are not overwritten."""
import collections
import json
import pathlib
import sys
import tempfile

import weft
from weft import SOURCE, check

PCAPS = SOURCE / "pcaps"
MESSAGES, REPAIRS, STREAMS = 1, 2, 3
SCENARIO = """name: many
fabric: {nics: 8, nics_per_t0: 4, t1_count: 2, link_rate: 25Gb/s}
transport: {kind: rc, payload: 1024B}
cc: {algorithm: dcqcn}
traffic: {kind: flows, flows: [{from: 0, to: 4, bytes: 128KiB}, {from: 0, to: 4, bytes: 256KiB}, {from: 0, to: 5, bytes: 64KiB}]}
faults: [{kind: loss, at: {nic: 4}, probability: 1%}]
taps: [{at: {nic: 0}}]
"""


def spans(path):
    """Spans of each process, by track."""
    ret = collections.defaultdict(lambda: collections.defaultdict(list))
    for event in json.loads(path.read_text())["traceEvents"]:
        if event["ph"] == "X":
            ret[event["pid"]][event["tid"]].append(event)
    return ret


def check_trace(name, captures, folder):
    out = folder / "trace.json"
    status, _, error = weft.outcome("pcap", "analyze", *captures, "--trace", out, "--force")
    if status != 0:
        return check(False, f"{name}: {error}")
    told, found = json.loads(weft.outcome("pcap", "analyze", *captures, "--json")[1]), spans(out)
    repairs = sorted((one["name"], one["args"]["psn"], one["args"]["packet"], one["args"]["repeat_packet"]) for track in found[REPAIRS].values() for one in track)
    wanted = sorted((one["cause"] or "unknown", one["psn"], one["packet"], one["repeat_packet"]) for one in told["repairs"])
    check(repairs == wanted, f"{name}: {len(wanted)} repairs")
    asked = [one for one in told["repairs"] if not one["timer"] and one["repeat_ns"]]
    took = {(one["args"]["psn"], one["args"]["packet"]): one["dur"] for track in found[REPAIRS].values() for one in track}
    check(all(abs(took[one["psn"], one["packet"]] * 1000 - one["repeat_ns"]) < 0.5 for one in asked), f"{name}: {len(asked)} of them last as told")
    streams = {track: one[0] for track, one in found[STREAMS].items()}
    check({index: one["name"] for index, one in streams.items()} == {one["index"]: f"{one['packets']} packets" for one in told["streams"]}, f"{name}: streams")
    overlaps = [track for track in found[MESSAGES].values() for a, b in zip(track, track[1:]) if b["ts"] < a["ts"] + a["dur"] - 1e-6]
    check(not overlaps, f"{name}: messages of one track do not overlap")
    return found[MESSAGES]


def check_run(folder):
    """The messages of the scenario, one by one, at the tap of the NIC that sends them."""
    text, capture = folder / "many.yaml", folder / "many.pcapng"
    text.write_text(SCENARIO, encoding="utf-8")
    status, _, error = weft.outcome("sim", text, "--json", "--pcap", capture)
    if status != 0:
        return check(False, f"weft sim: {error}")
    tracks = check_trace("a run", [capture], folder)
    sizes = sorted(one["args"]["bytes"] for track in tracks.values() for one in track)
    check(sizes == [64 << 10, 128 << 10, 256 << 10] and len(tracks) == 3, f"three messages at a time have tracks of their own: {sizes}")
    took = sorted(one["dur"] * 1000 for track in tracks.values() for one in track)
    lags = json.loads(weft.outcome("pcap", "analyze", capture, "--json")[1])["messages"]
    check(lags["count"] == 3 and abs(took[0] - lags["min_ns"]) < 0.5 and abs(took[-1] - lags["max_ns"]) < 0.5, f"they last as told: {took} {lags}")
    both = check_trace("two files", [capture, PCAPS / "rocev2-go-back-n.pcapng"], folder)
    check(sum(len(track) for track in both.values()) == 4, "messages of two files")


def check_refusals(folder):
    source = folder / "source.pcapng"
    source.write_bytes((PCAPS / "rocev2-cnp.pcapng").read_bytes())
    for words in ([source, "--trace", source, "--force"], ["-", "--trace", folder / "x"], [source, "--trace", folder / "absent" / "x"]):
        status, out, error = weft.outcome("pcap", "analyze", *words)
        check(status == 2 and out == "" and error.count("\n") == 1, f"refused: {error.strip()}")
    check(source.read_bytes() == (PCAPS / "rocev2-cnp.pcapng").read_bytes(), "inputs are as they were")


with tempfile.TemporaryDirectory() as room:
    for own in ("rocev2-go-back-n", "trim-last-hop", "loss-timer", "clean-write"):
        check_trace(own, [PCAPS / f"{own}.pcapng"], pathlib.Path(room))
    check_run(pathlib.Path(room))
    check_refusals(pathlib.Path(room))
sys.exit(1 if check.failed else 0)
