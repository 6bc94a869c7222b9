#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""weft pcap analyze takes the memory for a capture of 200 MB that it takes for one of 4 MB. The long one comes through a pipe: sections of one
capture, one behind the other, so no disk has to hold it. WEFT_MEMORY_BYTES: how long it is."""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

from weft import WEFT

LONG = int(os.environ.get("WEFT_MEMORY_BYTES", 200_000_000))
SHORT, MORE_MIB = 4_000_000, 2
SCENARIO = """name: memory
fabric: {nics: 16, nics_per_t0: 8, t1_count: 4, planes: 1}
transport: {kind: rc}
cc: {algorithm: dcqcn}
traffic: {kind: flows, flows: [{from: 0, to: 8, bytes: 16MiB}, {from: 1, to: 9, bytes: 16MiB}]}
capture: {keep: headers}
taps: [{at: {nic: 0}}, {at: {nic: 1}}]
"""


def analyze(capture, total):
    """Bytes that were read, and the most memory in MiB (the system's own sum of a child has this program's, too). Each copy was read to its end."""
    with subprocess.Popen([WEFT, "pcap", "analyze", "-"], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as run:
        sent = 0
        while sent < total:
            sent += run.stdin.write(capture)
        run.stdin.flush()
        peak = re.search(r"^VmHWM:\s*(\d+) kB", pathlib.Path(f"/proc/{run.pid}/status").read_text(encoding="utf-8"), re.M)
        said = run.communicate()[0].decode()
    frames = int(re.search(r"^([\d,]+) frames in ", said, re.M).group(1).replace(",", "")) if run.returncode == 0 else 0
    if frames == 0 or frames % (sent // len(capture)) != 0:
        sys.exit(f"FAILED: {run.returncode}: {frames} frames of {sent // len(capture)} copies: {said}")
    return sent, int(peak.group(1)) / 1024


with tempfile.TemporaryDirectory() as room:
    scenario, made = pathlib.Path(room, "memory.yaml"), pathlib.Path(room, "memory.pcapng")
    scenario.write_text(SCENARIO, encoding="utf-8")
    subprocess.run([WEFT, "pcap", "gen", scenario, "-o", made], check=True, stdout=subprocess.DEVNULL)
    data = made.read_bytes()
rows = [analyze(data, total) for total in (SHORT, LONG)]
for sent, mib in rows:
    print(f"{sent / 1e6:,.0f} MB: {mib:.1f} MiB")
sys.exit(rows[1][1] > rows[0][1] + MORE_MIB)
