#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Holds functions to 70 lines, .c files to 800, headers to 300. Argument: the root.

An exception needs a line below with its own limit and a reason, and is itself an error once it is not needed.
"""
import pathlib
import sys

FUNCTION_LINES, SOURCE_LINES, HEADER_LINES = 70, 800, 300
EXCEPTIONS = {  # path: (limit, reason)
    "include/weft/workload/workload.h": (340, "front door of six files; to be split by noun once its callers stand"),
    "lib/scenario/scenario_keys.c": (1000, "one table, a row for each key"),
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


def main():
    root = pathlib.Path(sys.argv[1])
    files = sorted(path for folder in ("include", "lib", "apps", "tests") for path in (root / folder).rglob("*")
                   if path.suffix in (".c", ".h", ".cu"))
    found = [text for path in files for text in complaints(path, path.relative_to(root).as_posix())]
    print("\n".join(found + [f"{len(files)} files, {len(found)} too long"]))
    sys.exit(1 if found or not files else 0)


if __name__ == "__main__":
    main()
