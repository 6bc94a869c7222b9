#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Reads every #include of include/weft, lib and apps against the table of who may include whom.

  layers.py [ROOT]      prints each wrong include; exit 1 when there is one

What counts is what a file says itself: drive.h may include world.h, which includes fabric.h, but no file of drive may
include fabric.h.
"""
import pathlib
import re
import sys

# room: rooms whose front doors it may use. docs/architecture.md shows this table with its reasons.
TABLE = {
    "core": "",
    "wire": "core",
    "measure": "core",
    "capture": "core",
    "cc": "core",
    "transport": "core cc measure",
    "fabric": "core measure",
    "workload": "core measure",
    "world": "core cc transport fabric workload measure",
    "adapter": "core cc transport wire measure",
    "drive": "core wire capture measure world",
    "report": "core measure world",
    "trace": "core measure workload",
    "tune": "core measure world",
    "gpu": "core",
}
# The nouns of core each have a header of their own; every other room has a header with its name, and may have parts of it
# beside.
NOUNS = "arena bitmap check fifo heap machine opcode packet packet_stamp psn refusal rng time".split()

# A room whose header grew too long has a second one.
SECOND = {
    "mllog": "report",
    "mix": "workload",
    "plan": "workload",
    "coll": "workload",
    "course": "workload",
    "order": "workload",
    "program": "workload",
    "gradients": "workload",
    "step": "workload",
    "step_program": "workload",
    "qp": "transport",
    "ev": "transport",
    "exchange": "adapter",
    "fault": "fabric",
    "scenario": "world",
    "scenario_traffic": "world",
}

PURE = "core wire measure capture cc transport fabric workload world adapter".split()
PURE_SYSTEM = "assert.h errno.h inttypes.h limits.h stdbool.h stddef.h stdint.h string.h".split()
# What else a pure room may take from the system. Only where files match.
EXTRA_SYSTEM = {
    "cc/*": "math.h",
    "measure/*": "math.h",
    "wire/icrc.c": "isa-l/crc.h",
    "world/scenario*": "ctype.h math.h stdarg.h stdio.h stdlib.h yaml.h",
}
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')


def room_of_header(name):
    """The room behind <weft/name.h> or <weft/name_part.h>, or None."""
    room = SECOND.get(name, name.split("_")[0])
    return "core" if name in NOUNS else room if room in TABLE and room != "core" else None


def is_system_allowed(room, file, header):
    if room not in PURE or header in PURE_SYSTEM:
        return True
    return any(header in extra.split() and pathlib.PurePath(room, file).match(pattern)
               for pattern, extra in EXTRA_SYSTEM.items())


def wrong_include(room, path, kind, header):
    """Why this include is wrong, or None. `room` is None in apps."""
    if kind == '"':
        if "/" in header and not (room is None and header.startswith("../run/")):  # what sim and emu share
            return "a quoted include stays in its own folder"
        made_of = path.parent / header.replace(".pb-c.h", ".proto")  # protoc-c makes the one from the other
        return None if room is None or made_of.exists() else "no such file in this room"
    if not header.startswith("weft/"):
        if room is None or is_system_allowed(room, path.name, header):
            return None
        return f"{room} is pure: it may not use this part of the system"
    other = room_of_header(header[len("weft/"):-len(".h")])
    if other is None:
        return "no room has this header"
    if room is None or other == room or other in TABLE[room].split():
        return None
    return f"{room} may use only: {TABLE[room] or 'nothing'}"


def room_of_file(root, path):
    """The room of a source file; None in apps; "" when there is no such room."""
    parts = path.relative_to(root).parts
    if parts[0] == "apps":
        return None
    name = room_of_header(path.stem) if parts[0] == "include" else parts[1]
    return name if name in TABLE else ""


def check_file(root, path):
    room = room_of_file(root, path)
    if room == "":
        yield 1, "this room or header is not in the table of tests/lint/layers.py"
        return
    for number, line in enumerate(path.read_text(encoding="utf-8").split("\n"), 1):
        found = INCLUDE.match(line)
        if found:
            why = wrong_include(room, path, found.group(1), found.group(2))
            if why:
                yield number, f"{found.group(2)}: {why}"


def check_link_table(root):
    """lib/meson.build may not let a room link what it may not include."""
    path = root / "lib" / "meson.build"
    if not path.exists():
        return
    for number, line in enumerate(path.read_text(encoding="utf-8").split("\n"), 1):
        found = re.match(r"\s*\['(\w+)', \[([^\]]*)\]\]", line)
        if not found:
            continue
        room, below = found.group(1), set(re.findall(r"\w+", found.group(2)))
        if room not in TABLE or not below <= set(TABLE[room].split()):
            print(f"{path}:{number}: {room} may link only: {TABLE.get(room, 'it is no room')}")
            yield number


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parents[2])
    files = sorted(path for folder in ("include/weft", "lib", "apps") for path in (root / folder).rglob("*")
                   if path.suffix in (".c", ".h", ".cu"))
    if not files:
        sys.exit(f"no sources below {root}")
    wrong = 0
    for path in files:
        for number, why in check_file(root, path):
            print(f"{path}:{number}: {why}")
            wrong += 1
    wrong += sum(1 for _ in check_link_table(root))
    print(f"{len(files)} files, {wrong} wrong includes")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
