#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""CPU time of weft pcap analyze beside tshark and tcpdump on 200 MB of headers, of whole frames of 1 KiB and of 4 KiB: medians and the least, by
turns in one run. Of headers and of 4 KiB frames the medians are judged: at most a twentieth of tshark's, at most 1.5 times tcpdump's; 1 KiB is
printed alone. WEFT_SPEED_TURNS: how often weft runs (15; tcpdump half of these, tshark a fifth); WEFT_SPEED_FOLDER: where the captures lie,
on a disk; words: which of the three. Without tshark: skipped; a machine that others load prints more than one of its own would."""
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile

import weft

TURNS = int(os.environ.get("WEFT_SPEED_TURNS", 15))
CAPTURES = {"headers": (1024, "86MiB", "headers"), "whole frames of 1 KiB": (1024, "12MiB", "whole"), "whole frames of 4 KiB": (4096, "12MiB", "whole")}
JUDGED = ("headers", "whole frames of 4 KiB")
TSHARK_LEAST, TCPDUMP_MOST = 20, 1.5


def scenario(payload, size, keep):
    taps = ", ".join(f"{{at: {{nic: {nic}}}}}" for nic in range(8))
    return (f"name: speed\nfabric: {{nics: 16, nics_per_t0: 8, t1_count: 4, planes: 2}}\ntransport: {{payload: {payload}B}}\n"
            f"traffic: {{kind: permutation, bytes: {size}}}\ncapture: {{keep: {keep}}}\ntaps: [{taps}]\n")


def as_from_disk(path):
    """What was written in small pieces lies in the page cache page by page: out of it, and in again in large ones."""
    with open(path, "rb") as file:
        os.fsync(file.fileno())
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
        while file.read(1 << 22):
            pass


def cpu_ms(*words):
    """CPU time of one run, from what the system says of that child."""
    child = subprocess.Popen(list(map(str, words)), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode != 0:
        sys.exit(f"FAILED: {' '.join(map(str, words))}: {child.returncode}")
    return (usage.ru_utime + usage.ru_stime) * 1000


def measure(path):
    runs = {"weft": (1, (weft.WEFT, "pcap", "analyze", path)), "tcpdump": (2, ("tcpdump", "-r", path, "-w", "/dev/null")),
            "tshark": (5, ("tshark", "-q", "-z", "io,stat,0", "-r", path))}
    taken = {name: [] for name, (_, words) in runs.items() if name == "weft" or shutil.which(words[0])}
    for turn in range(TURNS):
        for name, times in taken.items():
            every, words = runs[name]
            if turn % every == 0:
                times.append(cpu_ms(*words))
    return taken


def too_slow(middle):
    """Bounds that the medians miss."""
    if middle["tshark"] < TSHARK_LEAST * middle["weft"]:
        yield f"weft takes more than 1/{TSHARK_LEAST} of tshark's time"
    if "tcpdump" in middle and middle["weft"] > TCPDUMP_MOST * middle["tcpdump"]:
        yield f"weft takes more than {TCPDUMP_MOST} times tcpdump's time"


def main():
    failed = False
    if shutil.which("tshark") is None:
        print("tshark is not here: skipped")
        return weft.SKIPPED
    with tempfile.TemporaryDirectory(dir=os.environ.get("WEFT_SPEED_FOLDER")) as room:
        for what in sys.argv[1:] or CAPTURES:
            words = CAPTURES[what]
            text, path = pathlib.Path(room, "speed.yaml"), pathlib.Path(room, "speed.pcapng")
            text.write_text(scenario(*words), encoding="utf-8")
            weft.run("sim", text, "--pcap", path, "--force", check=True)
            as_from_disk(path)
            taken = measure(path)
            middle, least = ({name: of(times) for name, times in taken.items()} for of in (statistics.median, min))
            print(f"{what}, {path.stat().st_size / 1e6:.0f} MB: " + ", ".join(f"{name} {middle[name]:.1f} ms, least {least[name]:.1f}" for name in taken))
            missed = list(too_slow(middle)) if what in JUDGED else []
            failed |= bool(missed)
            print(f"  tshark / weft {middle['tshark'] / middle['weft']:.1f}, of the least {least['tshark'] / least['weft']:.1f} (20 are asked)"
                  + (f"; weft / tcpdump {middle['weft'] / middle['tcpdump']:.2f} (at most 1.5)" if "tcpdump" in taken else ""), flush=True)
            for why in missed:
                print(f"FAILED: {what}: {why}", flush=True)
    return failed


if __name__ == "__main__":
    sys.exit(main())
