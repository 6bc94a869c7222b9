#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The walks of docs/architecture.md: each row names a file and a function that this file defines.

  walks.py ROOT
"""
import pathlib
import re
import sys

ROW = re.compile(r"^\| `([\w./-]+\.[ch])` \| `(\w+)` \|")


def defines(path, function):
    """Definitions begin in the first column, as clang-format leaves them, perhaps behind a type on a line of its own."""
    return path.is_file() and re.search(rf"^(?:[a-z_][^;\n=]*\W)?{function}\([^;]*?\)\n\{{", path.read_text(encoding="utf-8"), re.M)


def main():
    root = pathlib.Path(sys.argv[1])
    page, count, wrong = root / "docs" / "architecture.md", 0, 0
    for number, line in enumerate(page.read_text(encoding="utf-8").splitlines(), 1):
        row = ROW.match(line)
        if row is None:
            continue
        count += 1
        if not defines(root / row[1], row[2]):
            wrong += 1
            print(f"docs/architecture.md:{number}: {row[1]} does not define {row[2]}()")
    print(f"{count} stops, {wrong} wrong")
    sys.exit(wrong > 0 or count == 0)


main()
