#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The walks of docs/architecture.md: each row names a file and a function that this file defines. On all pages but those of
the past, in "`name` in `file.c`" and "`name` of `file.c`", the file has a function or a table of that name.

  walks.py ROOT
"""
import pathlib
import re
import sys

ROW = re.compile(r"^\| `([\w./-]+\.[ch])` \| `(\w+)` \|")
IN = re.compile(r"((?:`\w+`(?:, | and )?)+) (?:in|of) `([\w./-]+\.[ch])`")


def defines(path, function):
    """Definitions begin in the first column, as clang-format leaves them, perhaps behind a type on a line of its own."""
    return path.is_file() and re.search(rf"^(?:[a-z_][^;\n=]*\W)?{function}\([^;]*?\)\n\{{", path.read_text(encoding="utf-8"), re.M)


def places(root):
    """(page, file, name) of each name that a page puts into a file which does not have it."""
    for page in sorted(page for folder in (root, root / "docs", root / "docs" / "howto") for page in folder.glob("*.md")):
        for names, file in IN.findall(page.read_text(encoding="utf-8").replace("\n", " ")):
            text = (root / file).read_text(encoding="utf-8") if (root / file).is_file() else ""
            for name in re.findall(r"`(\w+)`", names):
                if not re.search(rf"\b{name}[(\[]", text):
                    yield page.relative_to(root), file, name


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
    for name, file, word in places(root):
        wrong += 1
        print(f"{name}: {file} has no {word}")
    print(f"{count} stops, {wrong} wrong")
    sys.exit(wrong > 0 or count == 0)


main()
