#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What `weft validate-fabric NAME --quick` takes and comes to, for every shipped scenario: makes the table in
docs/howto/validate-a-fabric.md. A book that is not through in LIMIT_S of processor time is a failure.

    book_times.py [FOLDER [NAME ...]]    runs books into FOLDER, one after the other; what ran there before is kept; without FOLDER into one that goes
    book_times.py FOLDER --table         writes the table of all that ran there into the page"""
import json
import os
import pathlib
import resource
import subprocess
import sys
import tempfile
import time

from weft import SOURCE, WEFT

PAGE = SOURCE / "docs" / "howto" / "validate-a-fabric.md"
BEGIN, END = "<!-- book_times.py: begin -->\n", "<!-- book_times.py: end -->\n"
LIMIT_S = 300
MEMORY = 60 << 30  # of addresses: a world draws more than it touches


def names():
    return sorted(path.stem for path in (SOURCE / "apps" / "scenarios").glob("*.yaml"))


def run(folder, name):
    """One book, with the processor time of all its cases."""
    begin, out = time.monotonic(), folder / name
    with open(folder / f"{name}.txt", "w", encoding="utf-8") as log:
        child = subprocess.Popen([WEFT, "validate-fabric", name, "--quick", "--out", out], stdout=log, stderr=log,
                                 preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY)))
        _, status, used = os.wait4(child.pid, 0)
    book = json.loads((out / "book.json").read_text(encoding="utf-8"))
    states = [one["state"] for one in book["cases"]]
    row = {"name": name, "status": os.waitstatus_to_exitcode(status), "weft": book["weft"], "verdict": book["verdict_text"],
           "cpu_s": used.ru_utime + used.ru_stime, "wall_s": time.monotonic() - begin, "load": os.getloadavg()[0],
           "estimate_s": sum(one["estimate"]["processor_s"] for one in book["cases"] if one["estimate"]),
           "memory_mib": used.ru_maxrss / 1024, "counts": {state: states.count(state) for state in sorted(set(states))},
           "left_out": [one["name"] for one in book["cases"] if one["state"] == "left_out"],
           "failed": [one["name"] for one in book["cases"] if one["state"] == "fail"]}
    (folder / f"{name}.json").write_text(json.dumps(row), encoding="utf-8")
    return row


def cells(row):
    count = row["counts"]
    return [row["name"], row["verdict"], str(count.get("pass", 0) + count.get("fail", 0)), str(count.get("not_asked", 0)),
            ", ".join(row["left_out"]) or "-", f"{row['estimate_s']:.0f} s", f"{row['cpu_s']:.1f} s", f"{row['wall_s']:.0f} s", f"{row['load']:.0f}",
            f"{row['memory_mib']:.0f} MiB"]


def table(rows):
    head = ["scenario", "verdict", "ran", "not asked", "left out", "estimate", "processor time", "wall", "load", "memory"]
    lines = [head, ["---"] * len(head), *map(cells, rows)]
    return "".join("| " + " | ".join(line) + " |\n" for line in lines)


def main(folder, words):
    folder.mkdir(parents=True, exist_ok=True)
    rows = {path.stem: json.loads(path.read_text(encoding="utf-8")) for path in folder.glob("*.json")}
    if words == ["--table"]:
        text = PAGE.read_text(encoding="utf-8")
        before, rest = text.split(BEGIN)
        PAGE.write_text(before + BEGIN + "\n" + table([rows[name] for name in names() if name in rows]) + "\n" + END + rest.split(END)[1],
                        encoding="utf-8")
        sys.exit(any(name not in rows for name in names()))
    for name in words or names():
        if name not in rows:
            rows[name] = run(folder, name)
            print(" | ".join(cells(rows[name])), flush=True)
    late = [name for name, row in rows.items() if row["cpu_s"] > LIMIT_S]
    sys.exit(f"more than {LIMIT_S} s: {', '.join(late)}" if late else 0)


if len(sys.argv) > 1:
    main(pathlib.Path(sys.argv[1]), sys.argv[2:])
else:
    with tempfile.TemporaryDirectory() as NEW:
        main(pathlib.Path(NEW), [])
