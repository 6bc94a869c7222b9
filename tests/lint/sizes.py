#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Holds functions to 70 lines, .c files to 800, headers to 300, folders of include, lib and apps to 40 sources. A private header
under 40 lines that serves one file besides its own is merged: into that file or into the header of the same idea. Argument: the
root.

An exception needs a line below with its own limit and a reason, and is itself an error once it is not needed.
"""
import collections
import pathlib
import re
import sys

FUNCTION_LINES, SOURCE_LINES, HEADER_LINES, FOLDER_FILES = 70, 800, 300, 40
PRIVATE_LINES, PRIVATE_USERS = 40, 3  # of a private header: fewer lines need so many files that include it
INCLUDE = re.compile(r'^#include "(?:\.\./)*(?:lib/\w+/)?([^"]+)"', re.M)
EXCEPTIONS = {}  # path: (limit, reason)
SMALL = {  # private header: why it stays
    "apps/scaling/packets.h": "between scaling.h and weft/run/call.h, which both have a struct call",
    "apps/weft/command.h": "files that are made at build time include it",
}


def functions(lines):
    """(first line, number of lines) of each function: its braces stand in the first column."""
    start = None
    for number, line in enumerate(lines, 1):
        if line == "{":
            start = number
        elif line == "}" and start is not None:
            yield start, number - start + 1
            start = None


def complaints(path, name):
    lines = path.read_text(encoding="utf-8").rstrip("\n").split("\n")
    is_door = path.suffix == ".h" and not name.startswith("tests/")  # a test rig in a header is a source
    normal = HEADER_LINES if is_door else SOURCE_LINES
    limit, _ = EXCEPTIONS.get(name, (normal, ""))
    if len(lines) > limit:
        yield f"{name}: {len(lines)} lines, at most {limit}"
    if name in EXCEPTIONS and len(lines) <= normal:
        yield f"{name}: needs no exception any more: remove it from tests/lint/sizes.py"
    for start, count in functions(lines):
        if count > FUNCTION_LINES:
            yield f"{name}:{start}: a function of {count} lines, at most {FUNCTION_LINES}"


def includes(files, root):
    """{last part of a name: [(where, whole name)]} of all quoted includes; a test may include what a room or program has."""
    found = collections.defaultdict(list)
    for path in files:
        where = path.relative_to(root).parts[:2]
        for name in INCLUDE.findall(path.read_text(encoding="utf-8")):
            found[name.rsplit("/", 1)[-1]].append((where, name))
    return found


def small_headers(files, root):
    users = includes(files, root)
    for path in files:
        where, name = path.relative_to(root).parts[:2], path.relative_to(root).as_posix()
        if path.suffix != ".h" or where[0] not in ("lib", "apps"):
            continue
        lines = path.read_text(encoding="utf-8").count("\n")
        used = sum(from_where == where or from_where[0] == "tests" or path.parent == root / "apps"
                   for from_where, said in users[path.name] if name.endswith(f"/{said}"))
        is_small = lines < PRIVATE_LINES and used < PRIVATE_USERS
        if is_small and name not in SMALL:
            yield f"{name}: a private header of {lines} lines with {used} users: merge it into what it serves"
        if not is_small and name in SMALL:
            yield f"{name}: needs no exception any more: remove it from tests/lint/sizes.py"


def full_folders(files, root):
    for folder, count in collections.Counter(path.parent for path in files).items():
        if count > FOLDER_FILES:
            yield f"{folder.relative_to(root)}: {count} sources, at most {FOLDER_FILES} in a folder"


def main():
    root = pathlib.Path(sys.argv[1])
    files = sorted(path for folder in ("include", "lib", "apps", "tests") for path in (root / folder).rglob("*")
                   if path.suffix in (".c", ".h", ".cu", ".cuh"))
    found = [text for path in files for text in complaints(path, path.relative_to(root).as_posix())]
    found += [*small_headers(files, root), *full_folders((path for path in files if path.relative_to(root).parts[0] != "tests"), root)]
    print("\n".join(found + [f"{len(files)} files, {len(found)} complaints"]))
    sys.exit(1 if found or not files else 0)


if __name__ == "__main__":
    main()
