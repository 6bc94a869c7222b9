#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prose of docs is at most 120 columns wide: all lines but those of tables, of code and with a word that is longer.

  prose.py ROOT            says which are wider
  prose.py ROOT --write    wraps their paragraphs
"""
import pathlib
import re
import sys
import textwrap

COLUMNS = 120
ITEM = re.compile(r"^( *)([-*]|\d+\.) +")


def paragraphs(lines):
    """Yields (first, end, is_prose): paragraphs, items of lists one each, and all else line by line."""
    at, is_code, was_blank = 0, False, True
    while at < len(lines):
        line = lines[at]
        if line.startswith("```"):
            is_code = not is_code
        bare = line.lstrip(" ")
        is_own = is_code or not bare or line.startswith(("```", "#", "|", "!", ">")) or (was_blank and line.startswith("    ")) or line.endswith("  ")
        was_blank = not bare or (was_blank and line.startswith("    "))
        end = at + 1
        if is_own:
            yield at, end, False
        else:
            while end < len(lines) and lines[end].strip() and not lines[end].startswith(("```", "#", "|", "!", ">")) and not ITEM.match(lines[end]):
                end += 1
            yield at, end, True
        at = end


def wrapped(lines):
    """A paragraph anew, as wide as allowed; links and code keep their spaces where a break would change them."""
    item = ITEM.match(lines[0])
    first = item.group(0) if item else re.match(" *", lines[0]).group(0)
    rest = re.match(" *", lines[1]).group(0) if len(lines) > 1 else " " * len(first)
    text = " ".join(line.strip() for line in lines)[len(first.strip()):].strip()
    text = re.sub(r" (?=([-*+#|>]|\d+\.)( |$))", "\0", text) # none of these may begin a line: it would be an item, or a heading
    made = textwrap.wrap(text, COLUMNS, initial_indent=first, subsequent_indent=rest, break_long_words=False, break_on_hyphens=False)
    return [line.replace("\0", " ") for line in made]


def wide(lines, first, end):
    return [number for number in range(first, end) if len(lines[number]) > COLUMNS and " " in lines[number].strip()]


def main():
    root, writes = pathlib.Path(sys.argv[1]), "--write" in sys.argv
    pages = sorted([*root.glob("*.md"), *root.glob("docs/**/*.md"), *root.glob("pcaps/*.md")])
    found = 0
    for page in pages:
        lines, made = page.read_text(encoding="utf-8").split("\n"), []
        for first, end, is_prose in paragraphs(lines):
            over = wide(lines, first, end) if is_prose else []
            made += wrapped(lines[first:end]) if over and writes else lines[first:end]
            for number in [] if writes else over:
                found += 1
                print(f"{page.relative_to(root)}:{number + 1}: {len(lines[number])} columns")
        if writes and made != lines:
            page.write_text("\n".join(made), encoding="utf-8")
    print(f"{len(pages)} pages, {found} lines of prose are wider than {COLUMNS} columns")
    sys.exit(1 if found or not pages else 0)


if __name__ == "__main__":
    main()
