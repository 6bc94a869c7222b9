#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""weft pcap analyze takes the memory for a capture of 4 GB that it takes for one of 40 MB. The long one comes through a pipe: sections of one
capture, one behind the other, so no disk has to hold it. WEFT_MEMORY_BYTES: how long it is."""
import os
import pathlib
import subprocess
import sys
import tempfile

from weft import WEFT

LONG = int(os.environ.get("WEFT_MEMORY_BYTES", 4_000_000_000))
SHORT, MORE_MIB = 40_000_000, 2
SCENARIO = """name: memory
fabric: {nics: 16, nics_per_t0: 8, t1_count: 4, planes: 1}
transport: {kind: rc}
cc: {algorithm: dcqcn}
traffic: {kind: flows, flows: [{from: 0, to: 8, bytes: 256MiB}, {from: 1, to: 9, bytes: 256MiB}]}
capture: {keep: headers}
taps: [{at: {nic: 0}}, {at: {nic: 1}}]
"""


def analyze(capture, total):
    """Bytes that were read, and the most memory in MiB."""
    with subprocess.Popen([WEFT, "pcap", "analyze", "-"], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as run:
        sent = 0
        while sent < total:
            sent += run.stdin.write(capture)
        run.stdin.close()
        said = run.stdout.read().decode()
        _, status, usage = os.wait4(run.pid, 0)
        run.returncode = status
    if status != 0 or " frames in " not in said:
        sys.exit(f"FAILED: {status}: {said}")
    return sent, usage.ru_maxrss / 1024


with tempfile.TemporaryDirectory() as room:
    scenario, made = pathlib.Path(room, "memory.yaml"), pathlib.Path(room, "memory.pcapng")
    scenario.write_text(SCENARIO, encoding="utf-8")
    subprocess.run([WEFT, "pcap", "gen", scenario, "-o", made], check=True, stdout=subprocess.DEVNULL)
    data = made.read_bytes()
rows = [analyze(data, total) for total in (SHORT, LONG)]
for sent, mib in rows:
    print(f"{sent / 1e6:,.0f} MB: {mib:.1f} MiB")
sys.exit(rows[1][1] > rows[0][1] + MORE_MIB)
