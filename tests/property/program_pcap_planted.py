#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""weft pcap analyze of fifteen kinds of runs, RoCE and MRC, each with one fault drawn by seed and captured at one NIC ("far end": behind the faults of its cables).

The right cause is named first, with repeats, messages, trims and EVs as the run counted them, and messages as long; where nothing was hit there is no
finding.
Each once more with a snap length of 128 bytes and with one stamp for each burst: the cause stays, or is withheld where stamps alone would tell it; with
IPv4 at 64 bytes, too; with IPv6 these end before the BTH, so it is withheld, and why, as it is from a tap that doubles frames. WEFT_PLANTED_FIRST and WEFT_PLANTED_COUNT say which seeds (2 from 1).
"""
import csv
import json
import os
import pathlib
import random
import re
import sys
import tempfile

import weft

FIRST, COUNT = (int(os.environ.get(f"WEFT_PLANTED_{name}", default)) for name, default in (("FIRST", 1), ("COUNT", 2)))
SOURCE, TARGET = 0, 4
NONE = "no fault found"
RARE, SOME, FEW = ("0.3%", "1%", "2%"), ("0.2%", "0.5%", "1%"), ("0.1%", "0.2%", "0.3%")
# kind: fault, where, how often, the tap, the cause. Frames that are cut have no ICRC that could be checked: what is damaged before the tap
# is then lost behind it. Reordered behind the tap, packets are few: where repeats are overtaken, too, what a receiver discarded reads as lost.
KINDS = {
    "rc none": (None, None, None, SOURCE, NONE),
    "rc loss behind": ("loss", TARGET, RARE, SOURCE, "loss BEHIND"),
    "rc loss before": ("loss", SOURCE, RARE, TARGET, "loss BEFORE"),
    "rc damaged behind": ("corrupt", TARGET, RARE, SOURCE, "loss BEHIND"),
    "rc doubled": ("duplicate", SOURCE, RARE, TARGET, "packets doubled by the network"),
    "rc reordered": ("reorder", SOURCE, SOME, TARGET, "reordering BEFORE"),
    "rc reordered behind": ("reorder", SOURCE, FEW, SOURCE, "reordering BEHIND"),
    "rc reordered, far end": ("reorder", SOURCE, SOME, SOURCE, "reordering BEFORE"),
    "mrc none": (None, None, None, TARGET, NONE),
    "mrc loss behind": ("loss", TARGET, RARE, SOURCE, "loss BEHIND"),
    "mrc loss before": ("loss", SOURCE, RARE, TARGET, "loss BEFORE"),
    "mrc damaged before": ("corrupt", SOURCE, RARE, TARGET, "damaged packets BEFORE"),
    "mrc doubled": ("duplicate", SOURCE, RARE, TARGET, "packets doubled by the network"),
    "mrc trimmed": (None, None, None, SOURCE, "packets trimmed BEFORE"),
    "mrc stalled": ("stall", TARGET, None, SOURCE, NONE),  # unless it is for longer than the sender waits
}
failed = 0


def check(holds, what):
    global failed
    failed += not holds
    if not holds:
        print("FAILED:", what)


def is_v4(seed):
    """Every other seed: IPv4, whose identifications tell copies from repeats, and whose BTH is within 64 bytes."""
    return seed % 2 == 0


def is_far(kind):
    return kind.endswith("far end")


def scenario(kind, seed):
    dice = random.Random(f"{kind} {seed}")
    fault, place, shares, tap, _ = KINDS[kind]
    is_rc, size = kind.startswith("rc"), dice.choice(["256KiB", "512KiB", "1MiB"])
    ends = [(SOURCE, TARGET)] * dice.choice([1, 2, 3])
    if kind == "mrc trimmed":
        ends = [(i, SOURCE) for i in range(1, dice.choice([6, 7, 8]))]
    flows = ", ".join(f"{{from: {a}, to: {b}, bytes: {size}}}" for a, b in ends)
    more = ", delay: 5us" if fault == "reorder" else ""
    begun = dice.randrange(20, 60)
    stall = f"faults: [{{kind: stall, at: {{host: {place}}}, from: {begun}us, until: {begun + dice.choice([400, 800, 1600])}us}}]\n"
    faults = stall if fault == "stall" else f"faults: [{{kind: {fault}, at: {{nic: {place}}}, probability: {dice.choice(shares)}{more}}}]\n" if fault else ""
    payload, rate = dice.choice([1024, 2048, 4096]), dice.choice(["25Gb/s", "100Gb/s"])
    return (f"name: planted\nseed: {seed}\n"
            f"fabric: {{nics: 8, nics_per_t0: 4, t1_count: 2, planes: {1 if is_rc else dice.choice([1, 2])}, link_rate: {rate}}}\n"
            f"transport: {{kind: {'rc' if is_rc else 'mrc'}, payload: {payload}B, psns: {'drawn' if is_v4(seed) else 'same'}}}\n"
            + ("wire: {ip: 4, identification: sent, qpns: drawn}\n" if is_v4(seed) else "")
            + (f"cc: {{algorithm: {dice.choice(['dcqcn', 'fixed'])}}}\n" if is_rc else "")
            + f"traffic: {{kind: flows, flows: [{flows}]}}\n{faults}taps: [{{at: {{nic: {tap}}}, end: {'far' if is_far(kind) else 'near'}}}]\n"), len(ends)


def analyze(path):
    done = weft.run("pcap", "analyze", path)
    return done.stdout if done.returncode == 0 else f"exit {done.returncode}: {done.stderr}"


def number(pattern, text):
    found = re.search(pattern, text)
    return int(found.group(1).replace(",", "")) if found else 0


def is_hit(kind, result):
    """Whether the fault met packets with data: an answer that is doubled or damaged behind the tap leaves no trace."""
    transport, fault = result["transport"], KINDS[kind][0]
    if fault == "duplicate":
        return transport["data_received"] > transport["data_packets"]
    return fault in (None, "reorder", "stall") or result["congestion"]["retransmitted" if kind.startswith("rc") else "retransmitted_needed"] > 0


def counts(kind, seed, said, result, flows):
    """Repeats, messages and trims are those of the run. Without identifications a repeat of one packet, at which another begins, is as one doubled."""
    transport, tap = result["transport"], KINDS[kind][3]
    passed, again = number(r"of ([\d,]+) data packets", said), number(r"([\d,]+) of [\d,]+ data packets", said)
    if tap == SOURCE and kind != "mrc trimmed":
        check(passed in (0, transport["data_packets"]), f"{kind} {seed}: {passed} of {transport['data_packets']} data packets")
        if KINDS[kind][0] == "reorder" and not is_v4(seed):
            again += number(r"([\d,]+) doubled by the network", said)
        check(again == result["congestion"]["retransmitted"], f"{kind} {seed}: {again} of {result['congestion']['retransmitted']} repeats")
    check(number(r"([\d,]+) acknowledged", said) == flows, f"{kind} {seed}: messages: {said}")
    if kind == "mrc trimmed":
        check(number(r"([\d,]+) trimmed packets? passed here", said) == transport["trims_received"], f"{kind} {seed}: {transport['trims_received']} trims: {said}")


def balances(log, is_short):
    """Of the EVs, UDP source ports and planes of new data that passed the tap, from the run's own log of descriptors."""
    counts, known = {"ev": {}, "port": {}, "plane": {}}, set()
    with open(log, encoding="utf-8") as lines:
        for row in csv.DictReader(lines):
            packet = (row["source"], row["target"], row["qpn"], row["psn"])
            if row["name"].startswith("WRITE") and "rtx" not in row["bth"] and packet not in known:
                known.add(packet)
                port = int(row["ev"], 16) if is_short else int(row["ev"], 16) >> 16
                for what, value in (("ev", row["ev"]), ("port", port), ("plane", row["plane"])):
                    counts[what][value] = counts[what].get(value, 0) + 1
    for what, of in counts.items():
        packets, mean = sum(of.values()), sum(of.values()) / len(of)
        yield what, len(of), max(of.values()) / mean, packets**2 / (len(of) * sum(n * n for n in of.values())), sum((n - mean) ** 2 / mean for n in of.values())


def inside(kind, capture, log, result, flows, is_short):
    """EVs are those of the run, and messages take as long: a tap at the sender's NIC misses the last cable to it and what a first packet waited
    for the others', one at the receiver's the way there and back, with what the queues of the three switches on it, or what holds packets back (5 us at most), add."""
    done = weft.run("pcap", "analyze", "--json", capture)
    said = json.loads(done.stdout)
    if kind.startswith("mrc"):
        for what, values, worst, jain, chi_square in balances(log, is_short):
            seen = said["figures"][f"{what}_balance"]
            check(seen["values"] == values and abs(seen["max_over_mean"] - worst) < 1e-9 and abs(seen["jain"] - jain) < 1e-9 and
                  abs(seen["chi_square"] - chi_square) < 1e-6 * (1 + chi_square),
                  f"{kind}: {what} {seen}, and {values}, {worst}, {jain}, {chi_square}")
    rows = [row for row in result["messages"] if row["count"] > 0]
    messages = {"count": sum(row["count"] for row in rows), "min_ns": min(row["min_ns"] for row in rows), "max_ns": max(row["max_ns"] for row in rows)}
    rate, network = result["network"]["link_rate_bps"], result["network"]
    held = 5000 if KINDS[kind][0] == "reorder" else 0
    short = 1000 + flows * (result["scenario"]["payload_bytes"] + 200) * 8e9 / rate + held
    if KINDS[kind][3] == TARGET or kind == "mrc trimmed" or is_far(kind):
        short = 1.2 * network["base_rtt_ps"] / 1000 + 3 * network["queue_bytes"] * 8e9 / rate + held
    check(messages["count"] == said["messages"]["count"] == flows, f"{kind}: {messages} {said['messages']}")
    for key in ("min_ns", "max_ns"):
        if said["figures"]["needless_timeouts"] > 0 or result["congestion"]["retransmitted_spurious"] not in (0, None):
            short = messages[key]  # an ACK was lost behind the tap: what happens there it cannot tell
        check(0 <= messages[key] - said["messages"][key] <= short, f"{kind}: {key} {said['messages'][key]}, in the run {messages[key]}, at most {short:.0f} less")


def clean(kind, seed, capture, text, is_burst=False):
    """No rule of the protocol is broken by what a network does, and no class changes; senders meet where there are several, and not finer than stamps tell."""
    done = weft.run("pcap", "analyze", "--json", capture)
    said = json.loads(done.stdout)
    broken = {row["rule"]: (row["packets"], row["first_packet"]) for row in said["rules"] if row["packets"]}
    check(not broken and not said["dscp_changes"], f"{kind} {seed}: {broken} {said['dscp_changes'][:2]}\n{text}")
    meet = max((row["senders_max"] or 0 for row in said["bursts"] if row["bin_ns"] == 10000), default=0)
    wanted = text.count("from: ") if kind == "mrc trimmed" else 1
    check(meet in (wanted, 0), f"{kind} {seed}: {meet} senders meet, not {wanted}\n{text}")
    fine = [row for row in said["bursts"] if row["bin_ns"] == 1000 and row["withheld"] is None and row["packets"] > 100]
    check(not (is_burst and fine and said["trust"]["same_stamp"] * 2 > said["totals"]["frames"]), f"{kind} {seed}, in bursts: {fine[:1]}\n{text}")


def changed(data, change):
    """A capture of weft with each packet block as `change` has it."""
    at, ret = 0, b""
    while at < len(data):
        length = int.from_bytes(data[at + 4:at + 8], "little")
        block = data[at:at + length]
        ret += change(block) if int.from_bytes(block[:4], "little") == 6 else block
        at += length
    return ret


def in_bursts(block, step_ns=2000):
    stamp = int.from_bytes(block[12:16], "little") << 32 | int.from_bytes(block[16:20], "little")
    stamp -= stamp % (step_ns * 1000 if stamp > 1 << 40 else step_ns)
    return block[:12] + (stamp >> 32).to_bytes(4, "little") + (stamp & 0xFFFFFFFF).to_bytes(4, "little") + block[20:]


def one(kind, seed, folder):
    text, flows = scenario(kind, seed)
    path, capture, other, log = (folder / name for name in ("planted.yaml", "planted.pcapng", "other.pcapng", "planted.csv"))
    path.write_text(text, encoding="utf-8")
    fault, want = KINDS[kind][0], KINDS[kind][4]
    for snap in (None, 64, 128):
        cut = [] if snap is None else ["--set", f"capture.snap={snap}B"]
        run = weft.run("sim", path, "--json", "--pcap", capture, "--log", log, "--force", *cut)
        if run.returncode != 0:
            return check(False, f"{kind} {seed}: weft sim: {run.returncode} {run.stderr}\n{text}")
        result = json.loads(run.stdout)
        wanted = want if is_hit(kind, result) else NONE
        if wanted == NONE and result["congestion"]["retransmitted"] > 0:  # an answer was lost, or late; of the sender's SACKs are cut at 64
            wanted = "time-outs without need" if snap != 64 or KINDS[kind][3] == TARGET else "loss BEHIND"
        if snap == 64 and not is_v4(seed):
            wanted = "nothing can be said"
        elif snap is not None and kind == "mrc damaged before" and is_hit(kind, result):
            wanted = "loss BEHIND"
        said = analyze(capture)
        first = said.splitlines()[0] if said else "nothing"
        named = first.startswith(wanted) or (fault == "reorder" and first.startswith(NONE) and "nothing out of order" in said)
        check(named, f"{kind} {seed}, snap {snap}: {first}\n{text}")
        certain = not is_v4(seed) or wanted == NONE or "; certain" in first
        check(certain or kind != "rc doubled", f"{kind} {seed}, snap {snap}, identifications make it certain: {first}\n{text}")
        if first.startswith("nothing"):
            continue
        clean(kind, seed, capture, text)
        if snap is not None:
            continue
        if named and wanted != NONE:
            counts(kind, seed, said, result, flows)
        inside(kind, capture, log, result, flows, is_v4(seed))
        other.write_bytes(changed(capture.read_bytes(), in_bursts))
        clean(kind, seed, other, text, True)
        said = analyze(other)
        is_withheld = want.endswith("BEFORE") and said.startswith("lost or overtaken BEFORE") and "have the stamp of the one before" in said
        check(is_withheld or said.startswith(first.split(";")[0]), f"{kind} {seed}, in bursts: {said}\n{text}")
        other.write_bytes(changed(capture.read_bytes(), lambda block: 2 * block))
        check(analyze(other).startswith("the CAPTURE has nearly every frame twice"), f"{kind} {seed}, doubled: {analyze(other)}\n{text}")


def main():
    with tempfile.TemporaryDirectory() as room:
        for kind in KINDS:
            before = failed
            for seed in range(FIRST, FIRST + COUNT):
                wrong = failed
                one(kind, seed, pathlib.Path(room))
                if failed > wrong:
                    print(f"{kind}: WEFT_PLANTED_FIRST={seed} WEFT_PLANTED_COUNT=1 runs this seed alone")
            print(f"{kind}: {COUNT} runs, {failed - before} wrong", flush=True)
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
