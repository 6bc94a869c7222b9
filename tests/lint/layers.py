#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Reads every #include of include, lib and apps against the table of who may include whom, lib/rooms.txt.

  layers.py [ROOT]             prints each wrong include; exit 1 when there is one
  layers.py ROOT --write       also renews the table in docs/architecture.md

What counts is what a file says itself: drive.h may include world.h, which includes fabric.h, but no file of drive may
include fabric.h.
"""
import pathlib
import re
import sys



def read_rooms(root):
    """{room: (is pure, rooms whose front doors it may use, what it is)}, from the ground floor up: lib/rooms.txt."""
    lines = (root / "lib/rooms.txt").read_text(encoding="utf-8").splitlines()
    fields = [[part.strip() for part in line.split("|")] for line in lines if line and not line.startswith("#")]
    return {room: (kind == "pure", below, what) for room, kind, below, what in fields}


ROOT = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parents[2])
ROOMS = read_rooms(ROOT)
TABLE = {room: below for room, (_, below, _) in ROOMS.items()}
PURE = [room for room, (is_pure, _, _) in ROOMS.items() if is_pure]
PURE_SYSTEM = "assert.h errno.h inttypes.h limits.h stdbool.h stddef.h stdint.h string.h".split()
# What else a pure room may take from the system. Only where files match.
EXTRA_SYSTEM = {
    "cc/*": "math.h",
    "measure/*": "math.h",
    "capture/gunzip.c": "isa-l/igzip_lib.h",
    "wire/icrc.c": "isa-l/crc.h",
    "scenario/*": "ctype.h math.h stdarg.h stdio.h stdlib.h yaml.h",
}
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')


def room_of_header(name):
    """The room behind <weft/room/name.h>, or None."""
    room = name.split("/")[0]
    return room if "/" in name and room in TABLE else None


def is_system_allowed(room, file, header):
    if room not in PURE or header in PURE_SYSTEM:
        return True
    return any(header in extra.split() and pathlib.PurePath(room, file).match(pattern)
               for pattern, extra in EXTRA_SYSTEM.items())


def wrong_include(root, room, path, kind, header):
    """Why this include is wrong, or None. `room` is None in apps."""
    if kind == '"':
        if header.startswith(".."):
            return "a quoted include stays in its own room"
        if room is None:  # of a program: its folder, and what lies beside the programs or is made
            program = root / "apps" / path.relative_to(root / "apps").parts[0]
            places = [path.parent / header, program / header, root / "apps" / header, root / f"{header}.in",
                      root / "apps" / header.removeprefix("weft-").replace("_options.h", "") / "help.txt"]
            return None if any(place.exists() for place in places) else "no such file in this program"
        made_of = header.replace(".pb-c.h", ".proto").replace("weft_version.h", "../../weft_version.h.in")
        # protoc-c makes the one from the other; meson makes the version
        places = [path.parent / made_of, root / "lib" / room / made_of]
        return None if any(place.exists() for place in places) else "no such file in this room"
    if not header.startswith("weft/"):
        if room is None or is_system_allowed(room, path.relative_to(root / "lib" / room) if "lib" in path.parts else path.name, header):
            return None
        return f"{room} is pure: it may not use this part of the system"
    other = room_of_header(header[len("weft/"):-len(".h")])
    if other is None:
        return "no room has this header"
    if not any((root / folder / header).exists() for folder in ("include", "include/installed")):
        return "there is no such header"
    if room is None or other == room or other in TABLE[room].split():
        return None
    return f"{room} may use only: {TABLE[room] or 'nothing'}"


def room_of_file(root, path):
    """The room of a source file; None in apps; "" when there is no such room."""
    parts = path.relative_to(root).parts
    if parts[0] == "apps":
        return None
    name = parts[parts.index("weft") + 1] if parts[0] == "include" else parts[1]
    return name if name in TABLE else ""


def check_file(root, path):
    room = room_of_file(root, path)
    if room == "":
        yield 1, "this room or header is not in the table of lib/rooms.txt"
        return
    for number, line in enumerate(path.read_text(encoding="utf-8").split("\n"), 1):
        found = INCLUDE.match(line)
        if found:
            why = wrong_include(root, room, path, found.group(1), found.group(2))
            if why:
                yield number, f"{found.group(2)}: {why}"


def page_table():
    """The rooms as docs/architecture.md shows them."""
    rows = [f"| {room} | {what} |" for room, (_, _, what) in ROOMS.items()]
    return "\n".join(["| room | is |", "|---|---|", *rows, "| apps | one folder per program |"]) + "\n"


def check_page(root, may_write):
    """docs/architecture.md shows the table as it is."""
    path = root / "docs/architecture.md"
    if not path.exists():
        return 0
    text = path.read_text(encoding="utf-8")
    wanted = re.sub(r"\| room \| is \|\n(?:\|.*\n)+", lambda _: page_table(), text)
    if wanted == text:
        return 0
    if may_write:
        path.write_text(wanted, encoding="utf-8")
        return 0
    print(f"{path}: the table of rooms is not lib/rooms.txt: tests/lint/layers.py ROOT --write")
    return 1


def main():
    root = ROOT
    files = sorted(path for folder in ("include", "lib", "apps") for path in (root / folder).rglob("*")
                   if path.suffix in (".c", ".h", ".cu"))
    if not files:
        sys.exit(f"no sources below {root}")
    wrong = 0
    for path in files:
        for number, why in check_file(root, path):
            print(f"{path}:{number}: {why}")
            wrong += 1
    wrong += check_page(root, "--write" in sys.argv)
    print(f"{len(files)} files, {wrong} wrong includes")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
