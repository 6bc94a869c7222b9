#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Words that the code no longer uses stay out of it: tests/lint/words.tsv says in which files, which word, and what stands
for it now. Comments and strings are not looked at. Argument: the root.

A row is a regular expression of the path, the old word and the new one. `=name` is a whole name, anything else a part of a
name between underscores.
"""
import pathlib
import re
import sys

TOKEN = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\'|[A-Za-z_][A-Za-z0-9_]*', re.S)


def rows(path):
    for line in path.read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            where, old, new = line.split("\t")
            yield re.compile(where), old, new


def names(text):
    """(line, name) of each name of C in `text`."""
    for token in TOKEN.finditer(text):
        if token.group(0)[0].isalpha() or token.group(0)[0] == "_":
            yield text.count("\n", 0, token.start()) + 1, token.group(0)


def is_banned(name, old, new):
    if old.startswith("="):
        return name == old[1:]
    return f"_{old}_" in f"_{name.lower()}_".replace(f"_{new}_", "_")


def main():
    root = pathlib.Path(sys.argv[1])
    table = list(rows(root / "tests/lint/words.tsv"))
    wrong = files = 0
    for path in sorted(path for folder in ("include", "lib", "apps") for path in (root / folder).rglob("*.[ch]")):
        name = path.relative_to(root).as_posix()
        mine = [row for row in table if row[0].match(name)]
        files += 1
        if not mine:
            continue
        for line, word in names(path.read_text(encoding="utf-8")):
            for _, old, new in mine:
                if is_banned(word, old, new):
                    print(f"{name}:{line}: {word}: the word is {new}, not {old.removeprefix('=')}")
                    wrong += 1
    print(f"{files} files, {len(table)} words, {wrong} wrong")
    sys.exit(1 if wrong or not table or not files else 0)


if __name__ == "__main__":
    main()
