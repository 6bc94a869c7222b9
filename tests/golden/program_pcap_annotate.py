#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""weft pcap analyze --annotate: the same packets, byte by byte, with their times, interfaces and comments; each packet that a repair
names has a comment that says its PSN and cause, and packets that stand out have one of their own; tshark reads it all. What would
overwrite an input, or cannot be read twice, is refused, and nothing is left behind."""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import weft
from weft import SHARED, SOURCE, check

PCAPS = SOURCE / "pcaps"
GIVEN = pathlib.Path(SHARED, "data", "captures", "given", "roce")
# Of weft's own captures: what some comment says; None: no packet has one.
OWN = {
    "clean-write": None,
    "rocev2-clean-write": None,
    "rocev2-go-back-n": r"asks for PSN \d+: loss_before; retransmitted in packet \d+",
    "reorder": None,  # MRC sprays: it is no fault
    "trim-last-hop": r"PSN \d+ trimmed",
    "loss-timer": r"repeat from PSN \d+ that nothing asked for: loss_behind",
    "headers-only": None,
    "srv6": None,
}


def ran(*words, given=None):
    done = weft.run("pcap", "analyze", *words, text=False, input=given)
    return done.returncode, done.stdout.decode(), done.stderr.decode()


def blocks(path):
    """Type and body of each block of a little-endian pcapng file."""
    data, at = path.read_bytes(), 0
    while at < len(data):
        kind, length = (int.from_bytes(data[at + i:at + i + 4], "little") for i in (0, 4))
        yield kind, data[at + 8:at + length - 4]
        at += length


def options(body):
    while len(body) >= 4:
        code, length = (int.from_bytes(body[i:i + 2], "little") for i in (0, 2))
        if code == 0:
            return
        yield code, body[4:4 + length]
        body = body[4 + (length + 3) // 4 * 4:]


def frames(path):
    """(interface, time, lengths, bytes), and comments, of each packet block."""
    ret = []
    for kind, body in blocks(path):
        if kind == 6:
            captured = int.from_bytes(body[12:16], "little")
            texts = [value.decode() for code, value in options(body[20 + (captured + 3) // 4 * 4:]) if code == 1]
            ret.append((body[:20 + captured], texts))
    return ret


def interfaces(path):
    return [(body[:8], [pair for pair in options(body[8:]) if pair[0] in (2, 3, 8)]) for kind, body in blocks(path) if kind == 1]


def check_repairs(name, path, texts):
    """What repairs name has a comment with the PSN; other comments are notes."""
    repairs = json.loads(ran(path, "--json")[1])["repairs"]
    wrong = [repair for repair in repairs for number in (repair["packet"], repair["repeat_packet"])
             if number and f"PSN {repair['psn']}" not in "; ".join(texts[number - 1])]
    named = {number for repair in repairs for number in (repair["packet"], repair["repeat_packet"]) if number}
    notes = [i + 1 for i, own in enumerate(texts) if own and i + 1 not in named]
    bare = [number for number in notes if not re.search("missing before|overtaken|doubled|damaged|trimmed", texts[number - 1][-1])]
    check(not wrong and not bare, f"{name}: {len(named)} packets of repairs and {len(notes)} others have comments; not so: {wrong[:2]} {bare[:2]}")


def check_own(folder):
    for name, want in OWN.items():
        path, out = PCAPS / f"{name}.pcapng", folder / f"{name}.pcapng"
        status, _, error = ran(path, "--annotate", out)
        if status != 0:
            check(False, f"{name}: {status} {error}")
            continue
        before, after = frames(path), frames(out)
        check([one[0] for one in before] == [one[0] for one in after], f"{name}: {len(before)} packets as they were")
        check(interfaces(path) == interfaces(out), f"{name}: interfaces as they were")
        kept = all(own[:len(was)] == was for (_, was), (_, own) in zip(before, after))
        texts = [own[len(was):] for (_, was), (_, own) in zip(before, after)]
        said = sum(texts, [])
        check(kept and (not said if want is None else any(re.search(want, text) for text in said)), f"{name}: {len(said)} comments; {said[:1]}")
        check_repairs(name, path, texts)
        check(ran(out)[1].splitlines() == ran(path)[1].splitlines(), f"{name}: an analysis of it says the same")


def check_overtaken(folder):
    """Of a go-back-N QP."""
    text, path, out = folder / "late.yaml", folder / "late.pcapng", folder / "late-annotated.pcapng"
    text.write_text("name: late\nfabric: {nics: 8, nics_per_t0: 4, t1_count: 2, link_rate: 25Gb/s}\ntransport: {kind: rc, payload: 1024B}\ncc: {algorithm: dcqcn}\n"
                    "traffic: {kind: flows, flows: [{from: 0, to: 4, bytes: 512KiB}]}\n"
                    "faults: [{kind: reorder, at: {nic: 0}, probability: 1%, delay: 5us}]\ntaps: [{at: {nic: 4}}]\n", encoding="utf-8")
    run = weft.run("sim", text, "--pcap", path)
    status, _, error = ran(path, "--annotate", out)
    said = [text for _, texts in frames(out) for text in texts] if status == 0 else [run.stderr + error]
    check(any("overtaken" in one for one in said) and any("missing before this" in one for one in said), f"what is overtaken: {said[:3]}")


def check_comments(folder):
    """Comments that are there stay, over several annotations and for several files."""
    path, once, twice, both = PCAPS / "trim-last-hop.pcapng", *(folder / f"{i}.pcapng" for i in ("once", "twice", "both"))
    ran(path, "--annotate", once)
    ran(once, "--annotate", twice)
    first, second = frames(once), frames(twice)
    check(all(b[1][:len(a[1])] == a[1] for a, b in zip(first, second)) and any(len(b[1]) == 2 for b in second), "a second annotation keeps the first")
    ran(path, PCAPS / "loss-timer.pcapng", "--annotate", both)
    parts = frames(path) + frames(PCAPS / "loss-timer.pcapng")
    check([one[0][4:] for one in frames(both)] == [one[0][4:] for one in parts], "two files become one")


def check_tshark(folder):
    if shutil.which("tshark") is None:
        print("no tshark: reading by it is left out")
        return
    path = folder / "trim-last-hop.pcapng"
    done = subprocess.run(["tshark", "-r", path, "-Y", "frame.comment", "-T", "fields", "-e", "frame.number", "-e", "frame.comment"],
                          capture_output=True, text=True, timeout=120, check=False)
    want = [f"{i + 1}\t{','.join(texts)}" for i, (_, texts) in enumerate(frames(path)) if texts]
    check(done.stdout.splitlines() == want and want, f"tshark reads {len(want)} comments")


def check_given(folder):
    if not GIVEN.is_dir():
        print(f"{GIVEN} is not here: the given captures are left out")
        return
    path, out = GIVEN / "rxe_write_loss2_first1500.pcap", folder / "given.pcapng"
    status, _, _ = ran(path, "--annotate", out)
    check(status == 0 and len(frames(out)) == 1500, "pcap becomes pcapng")
    check_repairs(path.name, path, [texts for _, texts in frames(out)])
    check(ran(out)[1] == ran(path)[1], "an analysis of that says the same")
    status, _, _ = ran(GIVEN / "rxe_write_dup3_rtx.pcap", "--annotate", out, "--force")
    doubled = sum("doubled by the network" in text for _, texts in frames(out) for text in texts)
    check(status == 0 and doubled == 43, f"{doubled} of 43 copies of the network have a comment")


def check_refusals(folder):
    source = folder / "source.pcapng"
    shutil.copy(PCAPS / "trim-last-hop.pcapng", source)
    data, link, pipe = source.read_bytes(), folder / "link.pcapng", folder / "pipe"
    link.symlink_to(source)
    os.mkfifo(pipe)
    before = sorted(folder.iterdir())
    for words in ([source, "--annotate", source], [source, "--annotate", source, "--force"], [source, "--annotate", link, "--force"],
                  [source, "--annotate", folder / "absent" / "x"], [source, "--annotate", folder], ["-", "--annotate", folder / "x"],
                  [pipe, "--annotate", folder / "x"], [source, "--annotate", ""], [source, "--annotate", folder / "once.pcapng"]):
        status, out, error = ran(*words, given=b"")
        check(status == 2 and out == "" and error.count("\n") == 1, f"refused: {error.strip()[:120]}")
    check(source.read_bytes() == data and sorted(folder.iterdir()) == before, "nothing is changed by what is refused")


with tempfile.TemporaryDirectory() as room:
    check_own(pathlib.Path(room))
    check_overtaken(pathlib.Path(room))
    check_comments(pathlib.Path(room))
    check_tshark(pathlib.Path(room))
    check_given(pathlib.Path(room))
    check_refusals(pathlib.Path(room))
sys.exit(1 if check.failed else 0)
