#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Abbreviations in help texts and in the heads of tables of docs are in docs/glossary.md. What a help text has for the reader to
replace (FILE, N) is none: it stands behind an option or in the synopsis, or is a heading.

  glossary.py ROOT
"""
import pathlib
import re
import sys

SHORT = re.compile(r"(?<![\w.=/*-])[A-Z][A-Z0-9]+s?(?![\w*:])")
# Formats, units and signals that the reader has from elsewhere, the licence's line, verdicts and what stands for the reader's own
# beside no option.
KNOWN = set("""JSON YAML CSV HTML SVG PNG XML URL CPU GPU ID IP TCP UDP MPI PDF SPDX SIGINT SIGTERM MB GB TB PATH PASS FAIL READ
    PEER PLANE VARIANT""".split())


def words(text):
    """Abbreviations of a text; a plural has a small s behind it."""
    return {re.sub(r"(?<=[A-Z0-9])s$", "", word) for word in SHORT.findall(text)}


def help_words(texts):
    """Of each help text, its words without headings, synopsis and what in any of them stands for the reader's own."""
    synopsis = re.compile(r"^SYNOPSIS\n(?:.*\n)*?(?=^[A-Z])", re.M)
    own = set()
    for text in texts.values():
        lines = synopsis.findall(text) + re.findall(r"^ *-.*$", text, re.M) + re.findall(r"^[A-Z ]+$", text, re.M)
        own |= set(re.findall(r"\b[A-Z][A-Z0-9]*\b", " ".join(lines)))
    return {path: words(synopsis.sub("", text)) - own for path, text in texts.items()}


def heading_words(path):
    """Of the heads of a page's tables."""
    lines = path.read_text(encoding="utf-8").splitlines()
    return set().union(*[words(head) for head, rule in zip(lines, lines[1:]) if rule.startswith("|---")])


def main():
    root = pathlib.Path(sys.argv[1])
    rows = re.findall(r"^\| ([^|]+) \|", (root / "docs" / "glossary.md").read_text(encoding="utf-8"), re.M)
    explained = KNOWN.union(*[words(row) for row in rows])
    pages = help_words({path: path.read_text(encoding="utf-8") for path in sorted(root.glob("apps/*/help.txt"))})
    pages |= {path: heading_words(path) for path in sorted([*root.glob("docs/*.md"), *root.glob("docs/howto/*.md")])}
    missing = [f"{path.relative_to(root)}: {word} is not in docs/glossary.md" for path, found in pages.items() for word in sorted(found - explained)]
    print("\n".join(missing + [f"{len(pages)} pages, {len(explained)} abbreviations explained, {len(missing)} missing"]))
    sys.exit(1 if missing or not pages else 0)


if __name__ == "__main__":
    main()
