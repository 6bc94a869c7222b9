#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What README and docs point to is there: links, and paths in backquotes that begin with a folder of this tree.
NAME in a path stands for what the reader is to choose.

  links.py ROOT
"""
import pathlib
import re
import sys

LINK = re.compile(r"\]\((?!https?:|#)([^)#]+)")
PATH = re.compile(r"`((?:apps|docs|include|lib|tests|\.ci)/[\w./-]+)`")


def broken(root, page):
    for number, line in enumerate(page.read_text(encoding="utf-8").split("\n"), 1):
        targets = [(page.parent / target, target) for target in LINK.findall(line)]
        targets += [(root / target, target) for target in PATH.findall(line) if "NAME" not in target]
        for path, target in targets:
            if not path.exists():
                yield f"{page.relative_to(root)}:{number}: {target} is not there"


def main():
    root = pathlib.Path(sys.argv[1]).resolve()
    pages = sorted([*root.glob("*.md"), *root.glob("docs/**/*.md")])
    found = [text for page in pages for text in broken(root, page)]
    print("\n".join(found + [f"{len(pages)} pages, {len(found)} broken"]))
    sys.exit(1 if found or not pages else 0)


if __name__ == "__main__":
    main()
