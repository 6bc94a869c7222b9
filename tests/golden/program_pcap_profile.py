#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""weft pcap analyze --profile: bounds on each kind of figure, met and missed by a little, with the exit status; rows by DSCP; what
cannot be told is not valid; the figures are those of the ten lines and of the streams."""
import json
import pathlib
import sys
import tempfile

import weft
from weft import SOURCE, check

PCAPS = SOURCE / "pcaps"
# Of a capture with losses, marks, trims or several EVs: metrics that have a figure there.
FIGURES = {
    "rocev2-go-back-n": ["figures.retransmitted_share", "figures.lost_share", "figures.naks", "messages.p99", "figures.data"],
    "rocev2-cnp": ["figures.ce_share", "figures.cnps", "figures.ce", "ack.max"],
    "trim-last-hop": ["figures.trims", "figures.trimmed_share", "figures.nacks", "figures.ev_balance.max_over_mean", "figures.ev_balance.jain"],
}


def ran(*words):
    done = weft.run("pcap", "analyze", *words)
    return done.returncode, done.stdout, done.stderr


def field(told, metric):
    *way, last = metric.split(".")
    for name in way:
        told = told[name]
    return told[last] if last in told else told.get(f"{last}_ns")


def profile(folder, *checks):
    path = folder / "mine.yaml"
    rows = "".join(f"  - {{name: check {i}, source: a test, {row}}}\n" for i, row in enumerate(checks))
    path.write_text(f"name: mine\nchecks:\n{rows}", encoding="utf-8")
    return path


def metric_words(metric):
    *way, last = metric.split(".")
    return f"metric: {'.'.join(way)}, statistic: {last}" if last in ("p99", "max") else f"metric: {metric}"


def check_bounds(folder):
    for name, metrics in FIGURES.items():
        path = PCAPS / f"{name}.pcapng"
        told = json.loads(ran(path, "--json")[1])
        for metric in metrics:
            value = field(told, metric)
            if not value:
                check(False, f"{name}: {metric} is {value}")
                continue
            unit = "ns" if metric.startswith(("messages", "ack")) else ""
            bounds = {"at most": (value * 1.001, value * 0.999), "at least": (value * 0.999, value * 1.001)}
            for words, (met, missed) in bounds.items():
                states = [ran(path, "--profile",
                              profile(folder, f"{metric_words(metric)}, bound: {words} {limit:.9f}{unit}"))[0] for limit in (met, missed)]
                check(states == [0, 1], f"{name}: {metric} {value:.6g} {words}: {states}")


def check_dscp(folder):
    """Rows by DSCP add up, and a scope takes one of them."""
    path = PCAPS / "rocev2-cnp.pcapng"
    told = json.loads(ran(path, "--json")[1])
    rows = {row["dscp"]: row for row in told["dscp"]}
    sums = {key: sum(row[key] for row in rows.values()) for key in ("data", "ce", "packets", "seen_again")}
    wanted = {"data": sum(one["data"] for one in told["streams"]), "ce": sum(one["ce"] for one in told["streams"]),
              "packets": sum(one["packets"] for one in told["streams"]), "seen_again": sum(one["again"] for one in told["streams"])}
    check(sums == wanted and len(rows) > 1, f"rows of {sorted(rows)} add up: {sums} {wanted}")
    marked = max(rows, key=lambda dscp: rows[dscp]["ce"])
    for dscp in rows:
        row = f"metric: dscp.ce, scope: dscp={dscp}, bound: at least 1"
        check(ran(path, "--profile", profile(folder, row))[0] == (0 if rows[dscp]["ce"] else 1), f"scope dscp={dscp}: {rows[dscp]['ce']} CE")
    status, out, _ = ran(path, "--profile", profile(folder, "metric: dscp.ce, scope: dscp=63, bound: is 0"))
    check(status == 5 and "nothing is in the scope" in out and 63 not in rows, f"a DSCP that no packet has is not valid; {marked} is marked")


def tagged(data, priority):
    """A capture of weft (pcapng) with a VLAN tag of this priority in each frame."""
    at, ret = 0, b""
    while at < len(data):
        length = int.from_bytes(data[at + 4:at + 8], "little")
        block = data[at:at + length]
        at += length
        if block[:4] == bytes([6, 0, 0, 0]):
            captured, original = (int.from_bytes(block[k:k + 4], "little") for k in (20, 24))
            frame = block[28:40] + bytes([0x81, 0, priority << 5, 7]) + block[40:28 + captured]
            frame += bytes(-len(frame) % 4)
            body = block[8:20] + (captured + 4).to_bytes(4, "little") + (original + 4).to_bytes(4, "little") + frame
            whole = (len(body) + 12).to_bytes(4, "little")
            block = block[:4] + whole + body + whole
        ret += block
    return ret


def pause(priority):
    quanta = bytes(2 * priority) + b"\0\x40" + bytes(14 - 2 * priority)
    return bytes.fromhex("0180c2000001 020000000001 8808 0101 00") + bytes([1 << priority]) + quanta + bytes(26)


def check_priorities(folder):
    """By the upper bits of the DSCP; by the tag where there is one; a paused one has its row. The table has the same rows."""
    path, other = PCAPS / "rocev2-cnp.pcapng", folder / "tagged.pcapng"
    told = json.loads(ran(path, "--json")[1])
    for row in told["priorities"]:
        same = [one for one in told["dscp"] if one["dscp"] >> 3 == row["priority"]]
        for key in ("packets", "bytes", "data", "ce", "seen_again"):
            check(row[key] == sum(one[key] for one in same), f"priority {row['priority']}: {key}")
    check(len(told["priorities"]) > 1, f"priorities: {told['priorities']}")
    frame = pause(3)
    size = (32 + len(frame)).to_bytes(4, "little")
    block = bytes([6, 0, 0, 0]) + size + bytes(12) + 2 * len(frame).to_bytes(4, "little") + frame + size
    other.write_bytes(tagged(path.read_bytes(), 5) + block)
    rows = {row["priority"]: row for row in json.loads(ran(other, "--json")[1])["priorities"]}
    check(sorted(rows) == [3, 5] and rows[5]["packets"] == sum(row["packets"] for row in told["dscp"]) and rows[5]["pauses"] == 0
          and (rows[3]["packets"], rows[3]["pauses"]) == (0, 1), f"tagged, and a pause: {rows}")
    row = "metric: priorities.pauses, scope: priority={}, bound: is 0"
    check([ran(other, "--profile", profile(folder, row.format(priority)))[0] for priority in (5, 3)] == [0, 1], "a scope takes one priority")
    table = ran(other, "--table")[1]
    check("priority  3  pause frames 1" in table and f"priority  5  {rows[5]['packets']} packets" in table, "the table has them, too")


def check_shipped():
    for name, want in (("rocev2-clean-write", 0), ("clean-write", 0), ("ipv4", 0), ("rocev2-go-back-n", 1), ("loss-timer", 1)):
        status, out, _ = ran(PCAPS / f"{name}.pcapng", "--profile", "capture")
        check(status == want and ("\nPASS: " if want == 0 else "\nFAIL: ") in out, f"{name}: exit {status} of profile capture")
    status, out, _ = ran(PCAPS / "rocev2-go-back-n.pcapng", "--profile", "capture", "--json")
    told = json.loads(out)
    missed = {row["name"] for row in told["checks"] if row["state"] == "missed"}
    check(status == 1 and told["verdict"] == "fail" and "lost share" in missed and "capture can be trusted" not in missed, f"JSON: {sorted(missed)}")


def check_withheld(folder):
    """Of a capture in which every frame is twice."""
    data, at, twice = (PCAPS / "rocev2-go-back-n.pcapng").read_bytes(), 0, b""
    while at < len(data):
        length = int.from_bytes(data[at + 4:at + 8], "little")
        twice += data[at:at + length] * (2 if data[at] == 6 else 1)
        at += length
    path = folder / "twice.pcapng"
    path.write_bytes(twice)
    status, out, _ = ran(path, "--profile", profile(folder, "metric: figures.lost_share, bound: at most 100 %"))
    check(status == 5 and "every frame twice" in out.split("UNAVAILABLE")[-1], f"what cannot be told is not valid: exit {status}")
    status, out, _ = ran(path, "--profile", "capture")
    check(status == 1, f"and a profile that asks for trust is missed: exit {status}")


def check_refusals(folder):
    path, wrong = PCAPS / "rocev2-cnp.pcapng", folder / "wrong.yaml"
    wrong.write_text("name: wrong\nchecks: [{name: a, metric: b, bound: about 3, source: c}]\n", encoding="utf-8")
    for words in (["--profile", wrong], ["--profile", "absent"], ["--profile", folder / "absent.yaml"], ["--profile", "capture", "--csv"],
                  ["--profile", "capture", "--profile", "capture"]):
        status, out, error = ran(path, *words)
        check(status == 2 and out == "" and error, f"refused: {error.splitlines()[:1]}")


with tempfile.TemporaryDirectory() as room:
    check_bounds(pathlib.Path(room))
    check_dscp(pathlib.Path(room))
    check_priorities(pathlib.Path(room))
    check_withheld(pathlib.Path(room))
    check_refusals(pathlib.Path(room))
check_shipped()
sys.exit(1 if check.failed else 0)
