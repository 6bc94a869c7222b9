#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""weft pcap replay: messages of captures of weft sim take as long on the same fabric, MRC and RoCE, with losses and incast, and
longer on one of half the rate; what is rebuilt of an incast is the run itself. Messages of the given captures of Linux's RoCE are
those that were written there."""
import os
import pathlib
import re
import sys
import tempfile

import weft
from weft import SHARED, SOURCE, check

GIVEN = pathlib.Path(SHARED, "data", "captures", "given", "roce")
RC = ["--set", "transport.kind=rc", "--set", "cc.algorithm=dcqcn"]


def ran(*words):
    done = weft.run(*words, text=False, timeout=200)
    return done.returncode, done.stdout.decode(), done.stderr.decode()


def percents(out):
    """Differences in percent by row, and that of one message."""
    rows = {row[0].strip(): float(row[1]) for row in re.findall(r"^  (\w[\w ]*?)  +\S.*? ([+-][\d.]+) %$", out, re.M)}
    one = re.search(r"difference of one message is ([\d.]+) %", out)
    return rows, float(one[1]) if one else None


def check_same(folder, name, count, size, *words, of_all=True):
    capture = folder / "first.pcapng"
    ran("sim", name, *words, "--set", f"traffic.bytes={size}", "--set", "capture.keep=headers", "--quiet", "--pcap", capture, "--force")
    status, out, error = ran("pcap", "replay", capture, name, *words)
    rows, one = percents(out)
    said = f"{name} {' '.join(words[1::2])}: {out.splitlines()[0] if out else error}; {rows}, one {one}"
    check(status == 0 and out.startswith(f"{count} messages ") and f"({count} that end in both" in out, said)
    near = ("p50", "p99", "first to last") if not of_all else rows
    check(len(rows) == 5 and all(abs(rows[row]) <= 1 for row in near) and (one <= 1 or not of_all), "within 1 % on the same fabric")
    return capture


def check_slower(capture, name):
    status, out, _ = ran("pcap", "replay", capture, name, "--set", "fabric.link_rate=50Gb/s")
    rows, _ = percents(out)
    check(status == 0 and 60 < rows["p50"] < 130 and rows["first to last"] > 5, f"{name} at half the rate: {rows}")


# What is rebuilt of an incast is the incast: the run of the file has its digest.
def check_file(folder):
    capture, matrix = folder / "incast.pcapng", folder / "messages.cm"
    words = ["--set", "traffic.bytes=64KiB", *RC]
    first = ran("sim", "incast", *words, "--quiet", "--pcap", capture)[1]
    status, out, _ = ran("pcap", "replay", capture, "-o", matrix)
    check(status == 0 and out == "32 messages (2 MiB) of 32 QPs rebuilt from 1,960 frames\n" and matrix.read_text().startswith("Nodes 64\nConnections 32\n"),
          "messages are written as a matrix: " + out.strip())
    again = ran("sim", "incast", "--quiet", *RC, "--set", "traffic.kind=matrix", "--set", f"traffic.matrix={matrix}")[1]
    check(first.splitlines()[0] == again.splitlines()[0], "and run to the same digest: " + again.splitlines()[0])
    hidden = folder / "hidden.pcapng"
    ran("pcap", "anonymize", capture, "-o", hidden, "--key", "k")
    status, out, _ = ran("pcap", "replay", hidden, "incast", *RC)
    check(status == 0 and out.startswith("32 messages (2 MiB)") and out.count("\nNIC ") == 33 and len(percents(out)[0]) == 5, "an anonymized one: its nodes are numbered and named")
    status, out, _ = ran("pcap", "replay", capture, "incast", *RC, "--renumber")
    check(status == 0 and out.count("\nNIC ") == 33, "--renumber numbers nodes by their addresses")
    status, out, _ = ran("pcap", "replay", capture, "incast")
    check(status == 0 and percents(out)[0]["p99"] < -50, f"another transport: {percents(out)[0]}")


# Packets go again at their times: on the same fabric none is late in the middle, at half the speed there is room for all, and loops repeat them.
def check_packets(folder):
    capture = folder / "packets.pcapng"
    words = ["incast", "--set", "traffic.bytes=64KiB", "--set", "traffic.senders=2", *RC]
    ran("sim", *words, "--quiet", "--pcap", capture)
    late = re.compile(r"^(\S+) of (\S+) packets left over the new fabric, behind their time by: p50 (.*), p99 (.*), at most (.*)$", re.M)
    for more, loops, needs in ((["--emu"], 1, None), ([], 1, None), (["--speed", "0.5", "--loops", "3"], 3, None), (["--drift=100"], 1, None),
                               (["--speed=0.5", "--loops=3"], 3, None), (["--speed", "0.001"], 1, 1e6)):
        status, out, error = ran("pcap", "replay", capture, *words[:1], *RC, "--packets", *more)
        said = late.search(out)
        count = 32 * loops
        check(status == 0 and out.startswith(f"{count} packets ({128 * loops} KiB) of 2 QPs"), f"{more}: {out.splitlines()[:1]} {error}")
        check(said is not None and said[1] == said[2] == str(count), f"{more}: all have a twin: {said and said[0]}")
        check(needs is None or (said[3], said[4], said[5]) == ("0 ns", "0 ns", "0 ns"), f"{more}: none is late: {said and said[0]}")
    ended = [float(re.search(r"ended at ([\d.]+) (us|ms)", ran("pcap", "replay", capture, *words[:1], *RC, "--packets", *more)[1])[1])
             for more in (["--speed", "0.1"], ["--speed", "0.1", "--drift", "1000"], ["--speed", "0.1", "--loops", "4"])]
    check(0.997 < ended[1] / ended[0] < 1 and 3 < ended[2] / ended[0] < 5, f"drift makes times shorter, loops more of them: {ended}")
    for bad in (["--speed", "2"], ["--packets", "--speed", "0"], ["--packets", "--loops"], ["--packets", "--speed", "2", "--speed", "2"],
                ["--packets", "--speed="], ["--packets", "--speed", "2", "--speed=2"], ["--packets", "--speeds=2"], ["--speed=2"]):
        status, _, error = ran("pcap", "replay", capture, "incast", *RC, *bad)
        check(status == 2 and error.count("\n") == 1, f"refused: {bad} {error.strip()[-100:]}")


# As tests/golden/program_pcap_anonymize.py has them, from the reference of the captures.
def check_given(folder):
    for name, said in (("rxe_write_rxdrop_after_tap_first1200.pcap", ["9 messages (576 KiB) of 1 QPs", "3 of them do not end"]),
                       ("rxe_write_clean.pcap", ["12 messages (768 KiB) of 1 QPs"]), ("rxe_send_rnr_snap128.pcap", ["92 messages", "17 of them do not end"]),
                       ("rxe_write_qp8_mtu4096.pcap", ["27 messages (1.7 MiB) of 3 QPs"]), ("rxe_read_clean_nsec.pcap", ["left out: 12 READs"])):
        _, out, error = ran("pcap", "replay", GIVEN / name, "-o", folder / "given", "--force")
        check(all(text in out + error for text in said), f"{name}: {out.strip().splitlines()[:2]}")
    status, out, _ = ran("pcap", "replay", GIVEN / "rxe_write_rxdrop_after_tap_first1200.pcap", "dumbbell", "--set", "fabric.link_rate=10Gb/s")
    rows, _ = percents(out)
    check(status == 0 and "(6 that end in both captures)" in out and rows["p50"] < -90, f"the same writes without the loss: {rows}")


def check_refusals(folder):
    capture = SOURCE / "pcaps" / "rocev2-cnp.pcapng"
    text = folder / "text"
    text.write_text("no capture, but long enough to have the head of one\n")
    pause = SOURCE / "pcaps" / "ipv4.pcapng"
    for words in ([], [capture], [text, "incast"], [folder / "absent", "incast"], [capture, "no-such-scenario"], [capture, "incast", "--pcap", folder / "x"],
                  [capture, "-o", folder / "text"], [pause, "incast", "--set", "fabric.nics=1"]):
        status, _, error = ran("pcap", "replay", *words)
        check(status == 2 and error.count("\n") == 1, f"refused: {error.strip()[-120:]}")
    left = [path for path in pathlib.Path(os.environ.get("TMPDIR", "/tmp")).glob("weft-replay-*")]
    check(not left, f"no file is left behind {left}")


with tempfile.TemporaryDirectory() as name:
    folder = pathlib.Path(name)
    os.environ["TMPDIR"] = name
    ring = folder / "ring.yaml"
    text = (SOURCE / "apps" / "scenarios" / "two-racks.yaml").read_text()
    ring.write_text(text[:text.index("taps:")] + text[text.index("inputs:"):])
    check_same(folder, "incast", 32, "64KiB", *RC)
    check_same(folder, "loss", 64, "128KiB")
    check_slower(check_same(folder, "incast", 32, "64KiB"), "incast")
    check_slower(check_same(folder, ring, 224, "4MiB", of_all=False), ring)
    check_file(folder)
    check_packets(folder)
    if GIVEN.is_dir():
        check_given(folder)
    else:
        print(f"{GIVEN} is not here: the given captures are left out")
    check_refusals(folder)
sys.exit(1 if check.failed else 0)
