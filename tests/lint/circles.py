#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Circles of files inside a room or program: each needs, over others, a symbol of each other, by what nm says of their objects.
Nobody can read one of them alone. How many files are in circles today stands in a list, and may only fall; files that hold a
table of members and call them through it are named there.

  circles.py BUILD LIST            checks
  circles.py BUILD LIST --write    lowers the numbers of LIST to what is so now
  circles.py BUILD LIST --show     prints the circles
  circles.py BUILD LIST --cuts ROOM     symbols that, moved to a leaf file, would undo ROOM's circles: a greedy choice

A line of LIST is `room COUNT` or `room table FILE`: what FILE, a path inside the room with _ for / and without .c, needs of its
room does not count.
"""
import json
import os
import pathlib
import re
import subprocess
import sys

OBJECT = ".c.o"


def circles(needs):
    """Strongly connected parts of more than one file, after Tarjan; {file: files that it needs}."""
    number, low, stack, found = {}, {}, [], []
    for root in needs:
        path = [] if root in number else [(root, None)]
        while path:
            file, others = path.pop()
            if others is None:
                number[file] = low[file] = len(number)
                stack.append(file)
                others = iter(sorted(needs[file]))
            for other in others:
                if other not in number:
                    path += [(file, others), (other, None)]
                    break
                if other in stack:
                    low[file] = min(low[file], low[other])
            else:
                if low[file] == number[file]:
                    at = stack.index(file)
                    if len(stack) > at + 1:
                        found.append(sorted(stack[at:]))
                    del stack[at:]
                if path:
                    low[path[-1][0]] = min(low[path[-1][0]], low[file])
    return found


def read_objects(paths, room):
    """{symbol: file that defines it} and {file: symbols that it needs}."""
    defined, needed = {}, {}
    said = subprocess.run(["nm", "-A", *paths], capture_output=True, text=True, check=True).stdout
    for line in said.splitlines():
        path, _, rest = line.rpartition(OBJECT + ":")
        file, words = re.sub(rf"^(.*_apps_[^_]+|{re.escape(room)})_", "", os.path.basename(path)), rest.split()
        symbols = needed.setdefault(file, set())
        if words[-2] == "U":
            symbols.add(words[-1])
        elif words[-2] in "TDBR":
            defined[words[-1]] = file
    return defined, needed


def graph(objects, tables, cut=()):
    defined, needed = objects
    return {file: set() if file in tables else {defined[symbol] for symbol in symbols if symbol in defined and symbol not in cut}
            for file, symbols in needed.items()}


def rooms(build):
    """Each room and program with the paths of its objects: what the build makes today, not what lies there from earlier."""
    found = {}
    for entry in json.loads((build / "compile_commands.json").read_text(encoding="utf-8")):
        folder, _, name = entry["output"].rpartition("/")
        room = re.fullmatch(r"(lib)/libweft_(\w+)\.a\.p|(apps)/weft-([\w-]+)\.p", folder)
        if not room or not name.endswith(OBJECT):
            continue
        kind, word = [part for part in room.groups() if part]
        if not re.search(r"^no_|-mpi$", word):  # the same files linked otherwise
            found.setdefault(f"{kind}/{word}", []).append(build / folder / name)
    for name in [name for name in found if name.endswith("-whole")]:  # has all that the program itself has, and more
        found[name.removesuffix("-whole")] = found.pop(name)
    return found


def read_list(path):
    counts, tables = {}, {}
    for line in path.read_text(encoding="utf-8").splitlines():
        words = line.split("#")[0].split()
        if len(words) == 3 and words[1] == "table":
            tables.setdefault(words[0], set()).add(words[2])
        elif words:
            counts[words[0]] = int(words[1])
    return counts, tables


def complaints(name, objects, allowed, tables):
    now = circles(graph(objects, tables))
    count = sum(map(len, now))
    if count > allowed:
        yield f"{name}: {count} files in circles, {allowed} allowed: " + "; ".join(" ".join(one) for one in now)
    for table in sorted(tables):
        if table not in objects[1]:
            yield f"{name}: no file {table}, which is called a table"
        elif circles(graph(objects, tables - {table})) == now:
            yield f"{name}: {table} need not be called a table"


def cuts(objects, tables):
    cut, now = [], circles(graph(objects, tables))
    defined, needed = objects
    while now and len(cut) < 40:
        inside = set(sum(now, []))
        choice = {symbol for file in inside - tables for symbol in needed[file] if defined.get(symbol) in inside} - set(cut)
        score, symbol = min((sum(len(one) ** 2 for one in circles(graph(objects, tables, {*cut, symbol}))), symbol) for symbol in choice)
        cut.append(symbol)
        now = circles(graph(objects, tables, set(cut)))
        print(f"{symbol} of {defined[symbol]}, needed by {' '.join(sorted(file for file in inside if symbol in needed[file]))}")
    print(f"{len(cut)} symbols; circles left: {[len(one) for one in now]}")


def write(path, counts):
    lines = path.read_text(encoding="utf-8").splitlines()
    kept = []
    for line in lines:
        words = line.split("#")[0].split()
        if len(words) == 2 and counts.get(words[0], 0) < int(words[1]):
            line = re.sub(r"\d+", str(counts.get(words[0], 0)), line, count=1)
        if len(words) != 2 or int(line.split()[1]) > 0:
            kept.append(line)
    path.write_text("".join(line + "\n" for line in kept), encoding="utf-8")


def main():
    build, path = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    counts, tables = read_list(path)
    found, now = [], {}
    objects = {name: read_objects(paths, os.path.basename(name)) for name, paths in rooms(build).items()}
    if sys.argv[3:4] == ["--cuts"]:
        cuts(objects[sys.argv[4]], tables.get(sys.argv[4], set()))
        return
    for name, of in objects.items():
        parts = circles(graph(of, tables.get(name, set())))
        now[name] = sum(map(len, parts))
        if sys.argv[3:] == ["--show"]:
            print("".join(f"{name}  {' '.join(one)}\n" for one in parts), end="")
        if now[name] < counts.get(name, 0):  # not an error: without an optional library a room has fewer files
            print(f"{name}: {now[name]} files in circles, not {counts[name]}: lower it with circles.py --write")
        found += complaints(name, of, counts.get(name, 0), tables.get(name, set()))
    found += [f"{name}: no such room or program" for name in sorted({*counts, *tables} - {*objects})]
    if sys.argv[3:] == ["--write"]:
        write(path, now)
        return
    print("\n".join(found + [f"{len(objects)} rooms and programs, {sum(now.values())} files in circles, {len(found)} wrong"]))
    sys.exit(1 if found or not objects else 0)


if __name__ == "__main__":
    main()
