#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Finds two draws of a random stream whose order C leaves open: in the arguments of one call, in one initialiser, on both sides
of an operator. Compilers differ there, and one seed would be two worlds. Argument: the root.

A draw is a call whose first argument is a `rng`, or of a function of the same file that draws from somebody else's.
"""
import pathlib
import re
import sys

STRINGS = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.S)
TOKEN = re.compile(r"\w+|->|&&|\|\||\n|\S")
CONTROL = {"if", "for", "while", "switch"}
ORDERED = {",", ";", "?", ":", "&&", "||"}  # what stands before is done before what stands behind begins
CLOSE = {"(": ")", "[": "]", "{": "}"}
BODY = re.compile(r"^(?:static|struct|[a-z]\w* \**)[^;{}=]*?\b(\w+)\([^;{}]*\)\n\{\n(.*?)^\}", re.S | re.M)


def tree(tokens, closer=None):
    """Words and groups: a group is (opening bracket, line, what it holds)."""
    held = []
    for word, line in tokens:
        if word == closer:
            return held
        held.append((word, line, tree(tokens, CLOSE[word])) if word in CLOSE else (word, line, None))
    return held


def lexed(text):
    line = 1
    for match in TOKEN.finditer(text):
        if match[0] == "\n":
            line += 1
        else:
            yield match[0], line


def is_initialiser(before, inside):
    """Whether a brace behind `before` opens values rather than statements."""
    if not before:
        return inside
    word, _, held = before[-1]
    if word == "(":  # a cast, not the head of a function or of a loop
        return len(before) == 1 or not re.match(r"\w", before[-2][0]) or before[-2][0] == "return"
    return word == "=" or inside and word in {",", "{", "]"}


class Finder:
    def __init__(self, drawers):
        self.drawers, self.found = drawers, []

    def is_draw(self, name, held):
        text = "".join(word for word, _, _ in held[:6])
        return name in self.drawers or re.match(r"&?(?:\w+(?:->|\.))*rng(?:,|$)", text) is not None

    def hits(self, before, node, behind, inside):
        """Whether a word or group draws, and whether it is a block of statements."""
        word, _, held = node
        if held is None:
            return False, False
        is_values = word == "{" and is_initialiser(before, inside)
        is_block = word == "{" and not is_values
        name = before[-1][0] if before and word == "(" else ""
        is_call = re.match(r"\w|[\])(]", name) is not None and name not in CONTROL
        hit = self.draws(held, is_values or is_call, is_values) and not is_block
        is_head = behind[0] == "{"  # of a function, or of a block under its control
        return hit or is_call and not is_head and self.is_draw(name, held), is_block

    def draws(self, nodes, is_list, inside=False):
        """Whether there is a draw in `nodes`. In a list commas order nothing; `inside`: of an initialiser."""
        parts, part, here, line = 0, False, 0, 0  # parts of the list that draw; whether this one does; draws in this stretch
        nodes = nodes + [(";", 0, None)] * 2
        for i, node in enumerate(nodes[:-1]):
            word, at, _ = node
            hit, is_block = self.hits(nodes[:i], node, nodes[i + 1], inside)
            here += hit
            part = part or hit
            line = at if hit else line
            if here > 1:
                self.found.append(line)
            if here > 1 or word in ORDERED or is_block or word == "(" and i > 0 and nodes[i - 1][0] in CONTROL:
                here = 0
            if word in {",", ";"}:
                parts += part
                part = False
        if is_list and parts > 1:
            self.found.append(line)
        return parts > 0


def main():
    root = pathlib.Path(sys.argv[1])
    files = sorted(path for folder in ("include", "lib", "apps", "tests") for path in (root / folder).rglob("*.[ch]"))
    complaints = []
    for path in files:
        text = STRINGS.sub(lambda match: '"' + "\n" * match[0].count("\n"), path.read_text(encoding="utf-8"))
        text = re.sub(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", lambda match: "\n" * match[0].count("\n"), text, flags=re.M)
        own = {name for name, body in BODY.findall(text) if re.search(r"\(&\w+(?:->|\.)[\w.>-]*rng\b", body)}
        finder = Finder(own | {"rng_next", "rng_below"})
        finder.draws(tree(lexed(text)), False)
        name = path.relative_to(root).as_posix()
        complaints += [f"{name}:{line}: two draws whose order C leaves open" for line in sorted(set(finder.found))]
    print("\n".join(complaints + [f"{len(files)} files, {len(complaints)} times"]))
    sys.exit(1 if complaints or not files else 0)


if __name__ == "__main__":
    main()
