#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every shipped drill comes to what its formula says; with its fault taken away, or one more, it does not."""
import concurrent.futures
import json
import os
import pathlib
import sys
import tempfile

import weft
from weft import SOURCE

SHIPPED = SOURCE / "apps" / "scenarios"
# What is changed in a drill so that it must miss: assignments, or texts of the file and what they become.
MORE = {
    "drill-nic-links-1": ("plane: 0}}\n", "plane: 0}}\n  - {kind: link_down, at: {nic: 0, plane: 7}}\n"),
    "drill-nic-links-2": ("plane: 0}}\n", "plane: 0}}\n  - {kind: link_down, at: {nic: 4, plane: 7}}\n"),
    "drill-nic-links-4": ("plane: 0}}\n", "plane: 0}}\n  - {kind: link_down, at: {nic: 0, plane: 7}}\n"),
    "drill-nic-flap": ("at: {nic: 0}", "at: {nic: 0, plane: 0}"),
    "drill-t0-down": ("until: 4ms}\n", "until: 4ms}\n  - {kind: link_down, at: {t0: 1, plane: 4}}\n"),
    "drill-half-flap": ("down: 5ms, up: 5ms", "down: 7ms, up: 3ms"),
    "drill-nic-links-stairs": ("plane: 3}, from: 4ms", "plane: 3}, from: 5ms"),
    "drill-transceiver-flap": ("nic: 2, plane: 1}", "nic: 3, plane: 2}"),
    "drill-grey-links": ("path_retry: 4ms", "path: rotate"),
    "drill-further": ("from: 2, to: 4", "from: 2, to: 3"),
    "drill-recovery": ("from: 1ms}\n", "from: 1ms}\n  - {kind: link_down, at: {t0: 0, plane: 5}, from: 1ms}\n"),
    **{f"drill-load-{what}": ("from: 200us}\n", "from: 200us}\n  - {kind: link_down, at: {plane: 5}, from: 200us}\n")
       for what in ("trunk", "t1", "t0", "plane", "nic-port")},
    "drill-loss-0.1": ("at: all, probability: 0.1%", "at: all, probability: 0.2%"),
}
QUIET = ["drill-grey-links", "drill-ring-loss-0.1", "drill-ring-loss-1"]  # without its faults it is better than expected
LONG = ["drill-ring-roce", "drill-ring-loss-0.1", "drill-ring-loss-1", "drill-load-t0", "drill-load-plane", "drill-load-nic-port"]  # their tables have the form of drill-all-to-all's
SETS = {"drill-ring-roce": ["transport.path=single"], "drill-all-to-all": ["transport.path=single"],
        "drill-ring-loss-0.1": ["transport.path=single"],
        "drill-ring-loss-1": ["transport.path=single"],
        "drill-loss-1": ["transport.mpr=64"],  # so MRC has no more in flight than what a repair waits for
        "drill-header-efficiency": ["transport.path=single", "cc.max_window=50kB"],
        # these expect no drop: a run without their faults has none, either
        "drill-t1-down": ["transport.path=single"],
        "drill-trunk-links-8": ["transport.path=rotate"],
        "drill-trunk-links-20": ["transport.path=rotate"],
        "drill-bypass": ["transport.path=rotate", "transport.hole_age=100us", "watch.bypasses=100"],
        "drill-recovery": ["transport.path=rotate"],
        # a free line alone, and a turn for each mark, give a plane more than its T1 switches can carry
        "drill-load-t1": ["transport.plane_share=line transport.skip_time=turn"]}
# What may be changed: the expected value follows. Without SRv6, and with a time stamp in each packet.
PLAIN = "transport.header=122B transport.control=138B queue.trim_bytes=102B"
FOLLOWS = {"drill-header-efficiency": [PLAIN, "transport.header=166B"],
           "drill-further": ["fabric.switch_delay=700ns", PLAIN, "fabric.link_rate=400Gb/s"]}


def run(what, arguments):
    done = weft.run("sim", what, *arguments, *([] if "--json" in arguments else ["-v"]))
    if done.returncode not in (0, 1):
        sys.exit(f"not ok: {what} {arguments}: exit {done.returncode}: {done.stderr}")
    return done


def passes(path, *words):
    result = run(str(path), ["--json", *words])
    rows = json.loads(result.stdout)["expect"]
    table = None if path.stem in LONG else run(str(path), [*words])
    wrong = result.returncode != 0 or not rows or (table is not None and (table.returncode != 0 or "OUTSIDE" in table.stdout))
    for row in rows:
        off = (row["measured"] - row["expected"]) / (row["expected"] or 1)
        off = {"near": abs(off), "at_most": off, "at_least": -off}[row["bound"]]
        wrong |= off > row["tolerance"] or not row["inside"] or (table is not None and row["text"] not in table.stdout)
    if wrong:
        sys.exit(f"not ok: {path.name}: {rows}\n{result.stderr}")


def misses(name, path, arguments):
    result = run(str(path), arguments)
    if result.returncode != 1 or "OUTSIDE" not in result.stdout or "expectations not met" not in result.stderr:
        sys.exit(f"not ok: {name} passes although it is not what it says: {arguments}\n{result.stdout}")


def without_faults(text):
    lead, rest = text.split("faults:\n")
    return lead + "expect:\n" + rest.split("expect:\n")[1]


def changes(path, text):
    """Name and text of each change after which a drill must miss."""
    if path.stem not in MORE:
        return
    if "faults:" in text and path.stem not in QUIET:
        yield "without its faults", without_faults(text)
    old, new = MORE[path.stem]
    assert old in text, path
    yield "with another fault", text.replace(old, new)


def try_out(path):
    passes(path)
    for assignments in FOLLOWS.get(path.stem, []):
        passes(path, *(word for assignment in assignments.split() for word in ("--set", assignment)))
    for assignment in SETS.get(path.stem, []):
        misses(path.stem, path, [word for part in assignment.split() for word in ("--set", part)])
    with tempfile.TemporaryDirectory() as folder:
        changed = pathlib.Path(folder) / "drill.yaml"
        for what, text in changes(path, path.read_text(encoding="utf-8")):
            changed.write_text(text, encoding="utf-8")
            misses(f"{path.stem} {what}", changed, [])


def main():
    drills = sorted(SHIPPED.glob("drill-*.yaml"))
    with concurrent.futures.ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        list(pool.map(try_out, drills))
    if len(drills) < 10:
        sys.exit(f"not ok: only {len(drills)} drills in {SHIPPED}")
    print(f"{len(drills)} drills pass, and miss when they are not what they say")


if __name__ == "__main__":
    weft.skip_when_sanitized()
    main()
