#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every shipped drill comes to what its formula says; with its fault taken away, or one more, it does not."""
import json
import os
import pathlib
import subprocess
import sys
import tempfile

SHIPPED = pathlib.Path(os.environ["WEFT_SOURCE"]) / "apps" / "scenarios"
# What is changed in a drill so that it must miss: assignments, or texts of the file and what they become.
MORE = {
    "drill-nic-links-1": ("plane: 0}}\n", "plane: 0}}\n  - {kind: link_down, at: {nic: 0, plane: 7}}\n"),
    "drill-nic-links-2": ("plane: 0}}\n", "plane: 0}}\n  - {kind: link_down, at: {nic: 4, plane: 7}}\n"),
    "drill-nic-links-4": ("plane: 0}}\n", "plane: 0}}\n  - {kind: link_down, at: {nic: 0, plane: 7}}\n"),
    "drill-t0-down": ("plane: 3}}\n", "plane: 3}}\n  - {kind: link_down, at: {t0: 1, plane: 4}}\n"),
    "drill-half-flap": ("down: 5ms, up: 5ms", "down: 7ms, up: 3ms"),
    "drill-loss-0.1": ("at: all, probability: 0.1%", "at: all, probability: 0.2%"),
    "drill-loss-1": ("at: all, probability: 1%", "at: {plane: 0}, probability: 1%"),
}
SETS = {"drill-header-efficiency": ["transport.path=single", "cc.max_window=50kB"],
        # these expect no drop: a run without their faults has none, either
        "drill-t1-down": ["transport.path=single"],
        "drill-trunk-links-8": ["transport.path=rotate"]}


def run(what, arguments):
    done = subprocess.run([os.environ["WEFT"], "sim", what, *arguments], capture_output=True, text=True, timeout=60, check=False)
    if done.returncode not in (0, 1):
        sys.exit(f"not ok: {what} {arguments}: exit {done.returncode}: {done.stderr}")
    return done


def passes(path):
    result = run(str(path), ["--json"])
    rows = json.loads(result.stdout)["expect"]
    table = run(str(path), [])
    wrong = result.returncode != 0 or table.returncode != 0 or not rows
    for row in rows:
        off = abs(row["measured"] - row["expected"]) / row["expected"]
        wrong |= off > row["tolerance"] or not row["inside"] or row["text"] not in table.stdout
    if wrong or "OUTSIDE" in table.stdout:
        sys.exit(f"not ok: {path.name}: {rows}\n{table.stderr}")


def misses(name, path, arguments):
    result = run(str(path), arguments)
    if result.returncode != 1 or "OUTSIDE" not in result.stdout or "not as expected" not in result.stderr:
        sys.exit(f"not ok: {name} passes although it is not what it says: {arguments}\n{result.stdout}")


def without_faults(text):
    lead, rest = text.split("faults:\n")
    return lead + "expect:\n" + rest.split("expect:\n")[1]


def main():
    drills = sorted(SHIPPED.glob("drill-*.yaml"))
    with tempfile.TemporaryDirectory() as folder:
        changed = pathlib.Path(folder) / "drill.yaml"
        for path in drills:
            passes(path)
            text = path.read_text(encoding="utf-8")
            for assignment in SETS.get(path.stem, []):
                misses(path.stem, path, ["--set", assignment])
            if path.stem not in MORE:
                continue
            changed.write_text(without_faults(text), encoding="utf-8")
            misses(path.stem + " without its faults", changed, [])
            old, new = MORE[path.stem]
            assert old in text, path
            changed.write_text(text.replace(old, new), encoding="utf-8")
            misses(path.stem + " with another fault", changed, [])
    if len(drills) < 10:
        sys.exit(f"not ok: only {len(drills)} drills in {SHIPPED}")
    print(f"{len(drills)} drills pass, and miss when they are not what they say")


if __name__ == "__main__":
    main()
