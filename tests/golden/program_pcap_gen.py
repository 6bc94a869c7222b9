#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""weft pcap gen: the capture is what weft sim writes of the same scenario, byte for byte; the analysis of it counts what the
simulator counted beside it."""
import csv
import json
import pathlib
import sys
import tempfile

import weft
from weft import check


def ran(*words):
    done = weft.run(*words, text=False)
    return done.returncode, done.stdout.decode(), done.stderr.decode()


PAUSES = """name: pauses
fabric: {nics: 8, nics_per_t0: 8, t1_count: 1, planes: 1, link_rate: 100Gb/s}
transport: {kind: rc}
cc: {algorithm: fixed}
queue: {pfc: true, trim: false, ecn: false}
traffic: {kind: incast, senders: 6, bytes: 256KiB}
"""


def check_pauses(folder):
    """Pauses pass the taps as frames of 802.1Qbb, as many as the run sent; a capture changes no run."""
    scenario, capture = folder / "pauses.yaml", folder / "pauses.pcapng"
    scenario.write_text(PAUSES, encoding="utf-8")
    for more in ([], ["--set", "capture.keep=headers"], ["--set", "capture.snap=64B"]):
        result = json.loads(ran("sim", scenario, "--json", "--pcap", capture, "--force", *more)[1])
        said = json.loads(ran("pcap", "analyze", "--json", capture)[1])
        frames = said["totals"]["found"].get("pause frames", 0)
        sent = result["pfc"]["pauses_sent"], result["pfc"]["resumes_sent"]
        check(frames == sum(sent) > 0 and said["totals"]["pauses"] == sent[0], f"pauses and ends of them {more}: {sent}, {frames} frames")
    check(result["run"]["digest"] == json.loads(ran("sim", scenario, "--json")[1])["run"]["digest"], "the run is the same without a capture")
    raw = capture.read_bytes()
    check(bytes.fromhex("0180c2000001020000000000880801010003ffffffff") in raw, "to the station next to it, for the priorities of data")


def check_numbers(folder):
    """QP numbers that the seed draws: no two NICs have one in common, the run and the analysis are as before, and the log has them, too."""
    for kind, algorithm in (("mrc", "nscc"), ("rc", "dcqcn")):
        digests, numbers = set(), {}
        for qpns, seed in (("counted", 1), ("drawn", 1), ("drawn", 2)):
            capture, log = folder / "numbers.pcapng", folder / "numbers.csv"
            words = ["incast", "--set", f"transport.kind={kind}", "--set", f"cc.algorithm={algorithm}", "--set", "traffic.bytes=64KiB", "--set", f"wire.qpns={qpns}", "--set", f"seed={seed}",
                     "--pcap", capture, "--log", log, "--force", "--json"]
            runs = [json.loads(ran(program, *words, *more)[1]) for program, *more in (("sim",), ("emu", "--ports", "memory"))]
            told = json.loads(ran("pcap", "analyze", "--json", capture)[1])
            by_target = {}
            for stream in told["streams"]:
                by_target.setdefault(stream["target"], set()).add(stream["qpn"])
            with open(log, encoding="utf-8") as lines:
                logged = {int(row["qpn"]) for row in csv.DictReader(lines)}
            numbers[qpns, seed] = logged
            check(logged == set().union(*by_target.values()), f"{kind}, {qpns}: the log has the numbers of the frames")
            shared = sum(len(values) for values in by_target.values()) - len(logged)
            check((shared == 0) == (qpns == "drawn"), f"{kind}, {qpns}: {shared} numbers are of two NICs")
            check(min(logged) >= (2 if kind == "rc" or qpns == "drawn" else 0), f"{kind}, {qpns}: from {min(logged)} on")
            check(runs[0]["run"]["digest"] == runs[1]["run"]["digest"], f"{kind}, {qpns}: the same with frames and without")
            if seed == 1:
                digests.add(runs[0]["run"]["digest"])
        check(len(digests) == 1, f"{kind}: the run is that of counted numbers")
        check(numbers["drawn", 1].isdisjoint(numbers["drawn", 2]), f"{kind}: another seed has others")


FAULTS = """name: ends
fabric: {{nics: 8, nics_per_t0: 4, t1_count: 2, planes: 1, link_rate: 100Gb/s}}
transport: {{kind: rc}}
cc: {{algorithm: fixed}}
wire: {{ip: 4, identification: sent}}
traffic: {{kind: flows, flows: [{{from: 0, to: 4, bytes: 1MiB}}]}}
faults: [{{kind: {}, at: {{nic: 0}}, probability: 1%, way: up{}}}]
"""


def check_ends(folder):
    """The far end of a cable is behind its faults, the near one before; both in one capture are two places, and no run changes by it."""
    scenario, capture, log = folder / "ends.yaml", folder / "ends.pcapng", folder / "ends.csv"
    for fault, more, near, far in (("loss", "", "loss BEHIND", "loss BEFORE"), ("corrupt", "", "loss BEHIND", "damaged packets BEFORE"),
                                   ("duplicate", "", "no fault", "packets doubled by the network"),
                                   ("reorder", ", delay: 5us", None, "reordering BEFORE")):
        scenario.write_text(FAULTS.format(fault, more), encoding="utf-8")
        alone = json.loads(ran("sim", scenario, "--json")[1])
        times, data = {}, {}
        for end, want in (("near", near), ("far", far)):
            words = ["--tap", f"{{at: {{nic: 0}}, end: {end}, direction: up}}"]
            words += ["--tap", f"{{at: {{nic: 0}}, end: {end}, direction: down}}"]
            result = json.loads(ran("sim", scenario, "--json", "--pcap", capture, "--log", log, "--force", *words)[1])
            check(result["run"]["digest"] == alone["run"]["digest"], f"{fault}, {end}: the run is the same without a capture")
            said = ran("pcap", "analyze", capture)[1]
            check(want is None or said.startswith(want), f"{fault}, {end} end: {said.splitlines()[0]}")
            told = json.loads(ran("pcap", "analyze", "--json", capture)[1])
            data[end] = told["figures"]["data"]
            times[end] = told["totals"]["first_ns"]
            check(told["trust"]["backward"] == 0, f"{fault}, {end}: stamps never go back")
            check({stream["place"] for stream in told["streams"]} == {"nic 0"}, f"{fault}, {end}: one place")
            name = b" > t0 0 end" if end == "far" else b"up, at the start of the cable, before its faults"
            check(name in capture.read_bytes(), f"{fault}, {end}: the interface says where")
            with open(log, encoding="utf-8") as lines:
                places = {row["tap"].endswith(" end") for row in csv.DictReader(lines)}
            check(places == {end == "far"}, f"{fault}, {end}: and the log does")
        hits = {"loss": -alone["transport"]["data_packets"] + alone["transport"]["data_received"], "duplicate": 1}.get(fault, 0)
        check(data["near"] == alone["transport"]["data_packets"], f"{fault}: {data['near']} data packets enter the cable")
        check(data["far"] - data["near"] == hits if fault != "duplicate" else data["far"] > data["near"], f"{fault}: {data['far']} leave it, {hits}")
        check(times["far"] > times["near"], f"{fault}: and later")
    ran("sim", scenario, "--pcap", capture, "--force", "--tap", "{at: {nic: 0}}", "--tap", "{at: {nic: 0}, end: far}")
    told = json.loads(ran("pcap", "analyze", "--json", capture)[1])
    check({stream["place"] for stream in told["streams"]} == {"nic 0", "nic 0 end"}, "both ends: two places")


def check_ends_of_frames(folder):
    """A run with frames sees at the far end what one without sees, frames held back, doubled and lost on the way, too. What damage does to a frame
    is its own: on the last cable of a way some answers cannot be read any more."""
    scenario = folder / "ends.yaml"
    files = [(folder / f"{name}.pcapng", folder / f"{name}.csv") for name in ("sim", "emu")]
    for fault, more, percent in (("loss", "", 1), ("corrupt", "", 1), ("duplicate", "", 1), ("reorder", ", delay: 5us", 1), ("corrupt", "", 20)):
        text = FAULTS.format(fault, more).replace("1%, way: up", f"{percent}%, way: both")
        scenario.write_text(text, encoding="utf-8")
        words = ["--tap", "{at: {nic: 0}, end: far}"]
        runs = [json.loads(ran(program, scenario, "--json", "--pcap", capture, "--log", log, "--force", *words, *more)[1])
                for (program, *more), (capture, log) in zip((("sim",), ("emu", "--ports", "memory")), files)]
        check(runs[0]["run"]["digest"] == runs[1]["run"]["digest"], f"{fault} of {percent} %: the same run with frames")
        rows = []
        for _, log in files:
            with open(log, encoding="utf-8") as lines:
                rows.append(list(csv.DictReader(lines)))
        where = [[(row["time_ps"], row["tap"]) for row in of] for of in rows]
        check(len(rows[0]) > 100 and where[0] == where[1], f"{fault} of {percent} %: {len(rows[0])} packets leave the cable, at the same times")
        unread = [row for row in rows[1] if row["opcode"] == ""]
        check((len(unread) > 0) == (percent == 20), f"{fault} of {percent} %: {len(unread)} frames cannot be read any more")
        if fault != "corrupt":
            check(rows[0] == rows[1], f"{fault}: the same packets")
            check(files[0][0].read_bytes() == files[1][0].read_bytes(), f"{fault}: the same capture")
            continue
        bad = [json.loads(ran("pcap", "analyze", "--json", capture)[1])["totals"]["icrc"]["bad"] for capture, _ in files]
        check(min(bad) > 0 and (bad[0] == bad[1] or len(unread) > 0), f"{fault} of {percent} %: {bad} frames with a bad ICRC")
        said = ran("pcap", "analyze", files[1][0])[1].splitlines()[0]
        check(said.startswith("damaged packets BEFORE"), f"{fault} of {percent} %: {said}")


with tempfile.TemporaryDirectory() as name:
    check_pauses(pathlib.Path(name))
    check_ends(pathlib.Path(name))
    check_ends_of_frames(pathlib.Path(name))
    check_numbers(pathlib.Path(name))
    folder = pathlib.Path(name)
    made, same, result = folder / "made.pcapng", folder / "same.pcapng", folder / "result"
    words = ["incast", "--set", "traffic.bytes=64KiB"]
    status, out, error = ran("pcap", "gen", *words, "-o", made, "--out", result)
    check(status == 0 and error == "" and out.startswith("incast  32 flows") or out.startswith("incast: finished at"), f"a capture is made: {out.splitlines()[:1]} {error}")
    ran("sim", *words, "--pcap", same, "--quiet")
    check(made.read_bytes() == same.read_bytes() != b"", "it is what weft sim writes")
    captured = json.loads((result / "result.json").read_text())["capture"]["pcap"]
    check(captured == str(made), f"its result names it: {captured}")
    check("trim" in ran("pcap", "analyze", made)[1], "what is in it is found")
    check(ran("pcap", "gen", *words, "-o", made)[0] == 2, "refused: it is there already")
    check(ran("pcap", "gen", *words, "-o", made, "--force")[0] == 0, "replaced with --force")
    for bad in (["incast"], ["-o", folder / "x"], ["no-such", "-o", folder / "x"], ["incast", "-o"], ["incast", "-o", "a", "-o", "b"],
                ["incast", "-o", folder / "x", "--set", "no.key=1"]):
        status, out, error = ran("pcap", "gen", *bad)
        check(status == 2 and out == "" and error != "", f"refused: {error.strip()[:100]}")
    check(not (folder / "x").exists(), "what is refused writes nothing")
    check(ran("pcap", "gen", "--help")[1].startswith("NAME"), "help")
sys.exit(1 if check.failed else 0)
