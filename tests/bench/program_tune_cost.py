#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a study of 128 NICs costs, with one process and with two: runs an hour, of CPU time and of the clock, and the study's own
share, which chooses candidates, starts runs and writes rows. Printed and never judged: what is asked is that both are the same
study. Without SQLite: skipped."""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "golden"))
import program_tune  # noqa: E402
from weft import WEFT

WORDS = ["perm128-400g", "--knob", "cc.target_delay=0.1rtt..4rtt", "--knob", "cc.qa_gate=0..6", "--knob", "cc.gamma=0.3..1", "--budget", "600", "--json"]
TICKS = os.sysconf("SC_CLK_TCK")


def measure(folder, jobs):
    """The study, seconds of the clock, and of CPU time: its own, and those of the runs that it started."""
    with open(folder / "said.json", "w+", encoding="utf-8") as said:
        began = time.monotonic()
        study = subprocess.Popen([WEFT, "tune", *WORDS, "--jobs", str(jobs), "--study", str(folder / f"{jobs}.tune")], stdout=said)
        os.waitid(os.P_PID, study.pid, os.WEXITED | os.WNOWAIT)  # it has ended, and its times are still there
        clock_s = time.monotonic() - began
        times = pathlib.Path(f"/proc/{study.pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[11:15]
        if study.wait() != 0:
            sys.exit(f"weft tune ends with {study.returncode}")
        said.seek(0)
        own, runs = (sum(map(int, pair)) / TICKS for pair in (times[:2], times[2:]))
        return json.load(said), clock_s, own, runs


def main():
    program_tune.skip_without_sqlite()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        studies = []
        for jobs in (1, 2):
            study, clock_s, own, of_runs = measure(folder, jobs)
            studies.append(study)
            print(f"{jobs} at once: {study['runs']} runs, {of_runs:.2f} s of CPU, the study's own {own:.2f} s, {own / of_runs:.1%}; "
                  f"{study['runs'] / (own + of_runs) * 3600:,.0f} runs in an hour of CPU time, {study['runs'] / clock_s * 3600:,.0f} of the clock", flush=True)
        if studies[0] != studies[1]:
            print("FAILED: two at once have another study")
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
