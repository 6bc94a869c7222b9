#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Do the tests of the endpoint see a small change of its code? Makes mutants of rooms transport, cc, wire and adapter by rule, and runs
the unit and property tests of these rooms on each, no whole worlds. A mutant is one change of one line:

  < and <=, > and >=, == and !=, + and -, += and -=, && and ||, 0 and 1, true and false, ps_min and ps_max in each other's place;
  the condition of if or while negated; ++ or -- left out; a call that is a statement left out

but for comments, strings, lines of the preprocessor, what stands in check(), and prefetches. Only tests that enter its function, as gcov has it, are
run. A hash of seed, file, function and line gives the order, the
rooms get shares by their lines. What does not compile, or compiles to the same object, is not counted, and the next is taken. A
mutant is killed by a test that fails, crashes or runs several times as long. tests/soak/mutants.txt lists survivors that change nothing
that could be seen, with the reason; they are replaced, too. Fails when less than 95 % are killed, or a listed one is.

  WEFT_SOURCE=$PWD WEFT_SHARED=$PWD/../shared tests/soak/mutants.py [--limit N] [--seed N] [--jobs N] [--only FILE]... [--list]

--limit 0 takes all; --only takes one file, lib/transport/mrc/sack.c, and may be repeated; --list shows the sample before what does not compile
is left out. With header files, the objects of the rooms that include it are compiled anew, not the tests.
"""
import argparse
import bisect
import gzip
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

SOURCE = Path(os.environ.get("WEFT_SOURCE", Path(__file__).resolve().parents[2]))
TABLE = SOURCE / "tests/soak/mutants.txt"
BELOW = ("core", "measure")  # linked, not changed
ROOMS = {"cc": ("cc", "transport", "adapter"), "transport": ("transport", "adapter"), "wire": ("wire", "adapter"),
         "adapter": ("adapter",)}  # room: whose tests are run
BOUND = 95  # % killed
SWAPS = (("<", "<="), (">", ">="), ("==", "!="), ("+", "-"), ("+=", "-="), ("&&", "||"), ("true", "false"), ("ps_min", "ps_max"))
SWAPPED = dict(SWAPS) | {right: left for left, right in SWAPS}
OPERATOR = re.compile(r"(?<=\s)(<=|>=|==|!=|\+=|-=|&&|\|\||[-<>+])(?=\s)|\b(ps_min|ps_max|true|false)\b|(?<![\w.])([01])(?=(?:u|ull)?\b)(?!\.)")
STEP = re.compile(r"\+\+|--")
CONDITION = re.compile(r"\b(?:if|while) \(")
CALL = re.compile(r"^\t+((?:\(void\))?[a-z_]\w*(?:(?:->|\.)\w+)*\()", re.M)
BLANKED = re.compile(r"/\*.*?\*/|//[^\n]*|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'|^#(?:[^\n]*\\\n)*[^\n]*", re.S | re.M)
FUNCTION = re.compile(r"^[a-z].*?\b(\w+)\((?!\()", re.M)
WORDS = ("if", "for", "while", "switch", "return", "sizeof", "check", "__builtin_prefetch")


def close_of(text, at):
    """The place of the bracket that closes the one at `at`."""
    depth = 0
    for place in range(at, len(text)):
        depth += {"(": 1, ")": -1}.get(text[place], 0)
        if depth == 0:
            return place
    return None


def blank(match):
    return re.sub(r"[^\n]", " ", match.group(0))


def code_of(text):
    """The text with everything that is not changed blanked out, each character in its place."""
    code = BLANKED.sub(blank, text)
    for match in list(re.finditer(r"\b(?:check|_Static_assert|__builtin_prefetch)\(", code)):
        end = close_of(code, match.end() - 1)
        code = code[:match.start()] + re.sub(r"[^\n]", " ", code[match.start():end + 1]) + code[end + 1:]
    return code


class Mutant:
    def __init__(self, room, path, text, start, end, new, what):
        self.room, self.path, self.start, self.end, self.new = room, path, start, end, new
        self.line = text.count("\n", 0, start) + 1
        first = text.rfind("\n", 0, start) + 1
        self.content = text[first:text.find("\n", start)].strip()
        heads = [m for m in FUNCTION.finditer(text, 0, start) if text[m.start():].split("\n")[0][-1:] != ";"]
        self.function = heads[-1].group(1) if heads else "-"
        is_inside = heads and text.find("\n}", heads[-1].start()) > start  # else it stands in a table
        self.entry = text.count("\n", 0, heads[-1].start()) + 1 if is_inside else 0  # the line where its function begins
        end_of_function = text.find("\n}", start)
        self.last = text.count("\n", 0, end_of_function) + 1
        self.what, self.column = what, start - first

    def key(self):
        return (str(self.path), self.function, self.content, self.what)

    def rank(self, seed):
        words = (seed, self.path, self.function, self.content, self.what, self.column)
        return hashlib.sha256(":".join(map(str, words)).encode()).hexdigest()

    def __str__(self):
        return f"{self.path}:{self.line}: {self.function}: {self.what}: {self.content}"


def changes_of(code):
    """Start, end and new text of each change, with a word for it."""
    for match in OPERATOR.finditer(code):
        old = match.group(0)
        new = {"0": "1", "1": "0"}.get(old) or SWAPPED[old]
        yield match.start(), match.end(), new, f"{old} -> {new}"
    for match in STEP.finditer(code):
        yield match.start(), match.end(), "", f"no {match.group(0)}"
    for match in CONDITION.finditer(code):
        end = close_of(code, match.end() - 1)
        yield match.end() - 1, end + 1, None, "negated"
    for match in CALL.finditer(code):
        end = close_of(code, match.end(1) - 1)
        if re.match(r"\w+", match.group(1)).group(0) not in WORDS and code[end + 1:end + 2] == ";":
            yield match.start(1), end + 1, "\n" * code.count("\n", match.start(1), end), "no call"


def mutants_of(room, path):
    text = (SOURCE / path).read_text()
    found, seen = [], {}
    for start, end, new, what in changes_of(code_of(text)):
        new = f"(!{text[start:end]})" if new is None else new
        mutant = Mutant(room, path, text, start, end, new, what)
        nth = seen[(mutant.line, what)] = seen.get((mutant.line, what), 0) + 1
        mutant.what += f" [{nth}]" if nth > 1 else ""
        found.append(mutant)
    return found


def ordered(mutants, seed):
    """By the hash, but no second change of a line before all lines had their first."""
    turns, order = {}, []
    for mutant in sorted(mutants, key=lambda m: m.rank(seed)):
        place = (mutant.path, mutant.line)
        order.append((turns.get(place, 0), len(order), mutant))
        turns[place] = turns.get(place, 0) + 1
    return [mutant for _, _, mutant in sorted(order, key=lambda entry: entry[:2])]


def reasons():
    listed = {}
    for line in TABLE.read_text().splitlines():
        if line and not line.startswith("#"):
            *key, reason = line.split(" :: ")
            listed[tuple(key)] = reason
    return listed


def flags_of(*words):
    return subprocess.run(["pkg-config", *words], check=True, capture_output=True, text=True).stdout.split()


class Tree:
    """A copy of the sources with objects, a library that the tests are linked with, and the tests."""

    def __init__(self, folder, jobs):
        self.folder, self.jobs = Path(folder), jobs
        self.cc = [word for word in os.environ.get("WEFT_CC", "cc").split() if word != "ccache"]
        self.flags = ["-std=gnu2x", "-O1", "-fPIC", "-w", "-D_GNU_SOURCE", "-ffp-contract=off", "-fno-math-errno", "-Iinclude", "-Iinclude/installed",
                      *flags_of("--cflags", "libisal", "cmocka")]
        self.links = ["-lm", *flags_of("--libs", "libisal", "cmocka")]
        for part in ("include", "lib", "tests"):
            shutil.copytree(SOURCE / part, self.folder / part)
        self.objects = {}  # of sources of the rooms, in the base copy
        self.tests = {}  # name: [room, seconds]
        self.entered = {}  # test: {file: lines that it ran}

    def with_main(self, path):
        """The program of a file of tests, which has no main() of its own."""
        made = self.folder / f"main_{self.name_of(path)}"
        subprocess.run(["awk", "-v", f"out={made}", "-f", SOURCE / "tests/main.awk", self.folder / path], check=True)
        return made

    def command(self, path, output):
        return [*self.cc, *self.flags, f"-Ilib/{Path(path).parts[1]}", "-c", str(path), "-o", str(output)]

    def count_lines(self, pool):
        """A second library counts lines; what each test runs of it."""
        counted = self.folder / "counted"
        shutil.copytree(SOURCE / "include", counted / "include")
        shutil.copytree(SOURCE / "lib", counted / "lib")
        list(pool.map(lambda source: subprocess.run([*self.command(source, Path(source).with_suffix(".o")), "--coverage"], cwd=counted,
                                                    check=True), self.objects))
        subprocess.run([*self.cc, "--coverage", "-shared", "-o", "libunder_test.so",
                        *[str(made) for made, _ in self.objects.values()], *self.links], cwd=counted, check=True)
        self.entered = dict(zip(self.tests, pool.map(lambda name: self.lines_of(counted, name), self.tests)))

    def lines_of(self, counted, name):
        """gcov's counts of one test, whose data go to a folder of its own."""
        data = self.folder / f"lines_{name}"
        self.run(counted, name, 600, {"GCOV_PREFIX": str(data), "GCOV_PREFIX_STRIP": str(len(counted.parts) - 1)})
        for note in counted.glob("lib/**/*.gcno"):
            if (data / note.relative_to(counted)).with_suffix(".gcda").exists():
                shutil.copy(note, data / note.relative_to(counted))
        found = sorted(str(file) for file in data.glob("lib/**/*.gcda"))
        subprocess.run(["gcov", "--json-format", "--preserve-paths", *found], cwd=data, capture_output=True, check=True)
        lines = {}
        for file in data.glob("*.gcov.json.gz"):
            for of in json.loads(gzip.decompress(file.read_bytes()))["files"]:
                lines.setdefault(of["file"], set()).update(line["line_number"] for line in of["lines"] if line["count"] > 0)
        shutil.rmtree(data)
        return {path: sorted(of) for path, of in lines.items()}

    def enters(self, name, mutant):
        """Whether a test runs any line of the mutant's function."""
        lines = self.entered[name].get(str(mutant.path), [])
        at = bisect.bisect_left(lines, mutant.entry)
        return mutant.entry == 0 or (at < len(lines) and lines[at] <= mutant.last)

    def compile(self, path):
        path = Path(path)
        room = path.stem.split("_")[0] if path.parts[0] == "tests" else path.parts[1]
        output = path.with_suffix(".o")
        source = self.with_main(path) if path.parts[0] == "tests" else path
        done = subprocess.run([*self.command(source, output), f"-Ilib/{room}", "-MMD"], cwd=self.folder, capture_output=True, text=True)
        if done.returncode != 0:
            sys.exit(done.stderr)
        if path.parts[0] != "tests":
            used = (self.folder / output).with_suffix(".d").read_text().replace("\\\n", " ").split()[1:]
            self.objects[str(path)] = (output, {os.path.normpath(name) for name in used})

    @staticmethod
    def name_of(test):
        return "_".join(Path(test).parts[1:])  # two suites may have programs of one name

    def link(self, test):
        done = subprocess.run([*self.cc, f"{test}.o", "-o", str(self.folder / self.name_of(test)), "-L.", "-lunder_test", *self.links],
                              cwd=self.folder, capture_output=True, text=True)
        if done.returncode != 0:
            sys.exit(done.stderr)

    def build(self):
        with ThreadPoolExecutor(self.jobs) as pool:
            sources = [str(file.relative_to(SOURCE)) for room in (*BELOW, *ROOMS) for file in sorted((SOURCE / "lib" / room).rglob("*.c"))]
            tests = [str(file.relative_to(SOURCE)) for suite in ("unit", "property") for room in ROOMS
                     for file in sorted((SOURCE / "tests" / suite).rglob(f"{room}_*.c"))]
            list(pool.map(self.compile, [*sources, "lib/engine/stop.c", *tests]))
            subprocess.run([*self.cc, "-shared", "-o", "libunder_test.so", *[str(made) for made, _ in self.objects.values()],
                            *self.links], cwd=self.folder, check=True)
            list(pool.map(self.link, [test[:-2] for test in tests]))
            names = [self.name_of(test)[:-2] for test in tests]
            for name, seconds in zip(names, pool.map(lambda name: self.run(self.folder, name, 600), names)):
                if seconds is None:
                    sys.exit(f"{name} fails without any change")
                self.tests[name] = (name.split("_")[1], seconds)
            self.count_lines(pool)

    def run(self, library, name, limit_s, more=None):
        """How many seconds the test took, or None when it failed or its processor time was more than `limit_s`."""
        env = dict(os.environ, LD_LIBRARY_PATH=str(library), WEFT_SOURCE=str(SOURCE), **(more or {}))
        env.setdefault("WEFT_SHARED", str(SOURCE.parent / "shared"))
        command = ["prlimit", f"--cpu={int(limit_s) + 1}", "--as=4294967296", "--core=0", str(self.folder / name)]
        began = time.monotonic()
        try:
            done = subprocess.run(command, env=env, cwd=library, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                  stderr=subprocess.DEVNULL, timeout=60 + 20 * limit_s)
        except subprocess.TimeoutExpired:
            return None
        return time.monotonic() - began if done.returncode in (0, 77) else None


class Worker:
    """A copy of the rooms' sources, for one mutant at a time."""

    def __init__(self, tree, number):
        self.tree, self.folder = tree, tree.folder / f"worker{number}"
        for part in ("include", "lib"):
            shutil.copytree(SOURCE / part, self.folder / part)

    def compile(self, mutant):
        """The library with the change; False when there is nothing to tell apart."""
        objects, is_other = dict(self.tree.objects), False
        for source, (made, used) in self.tree.objects.items():
            if source != str(mutant.path) and str(mutant.path) not in used:
                continue
            output = Path(source).with_suffix(".o")
            if subprocess.run(self.tree.command(source, output), cwd=self.folder, capture_output=True).returncode != 0:
                return False
            objects[source] = (self.folder / output, used)
            is_other |= (self.folder / output).read_bytes() != (self.tree.folder / made).read_bytes()
        if is_other:
            files = [str(self.tree.folder / made) for made, _ in objects.values()]  # an absolute path stays itself
            subprocess.run([*self.tree.cc, "-shared", "-o", "libunder_test.so", *files, *self.tree.links], cwd=self.folder, check=True)
        return is_other

    def killer(self, mutant):
        word = mutant.path.stem.split("_")[0]
        names = [name for name, (room, _) in self.tree.tests.items() if room in ROOMS[mutant.room] and self.tree.enters(name, mutant)]
        for name in sorted(names, key=lambda name: (word not in name.split("_"), self.tree.tests[name][1])):
            if self.tree.run(self.folder, name, 2 + 4 * self.tree.tests[name][1]) is None:
                return name
        return None

    def judge(self, mutant):
        """None, a killer's name, or "" when it survives."""
        file = self.folder / mutant.path
        text = file.read_text()
        file.write_text(text[:mutant.start] + mutant.new + text[mutant.end:])
        try:
            return (self.killer(mutant) or "") if self.compile(mutant) else None
        finally:
            file.write_text(text)


class Sample:
    """What is taken from the rooms, each in its order, until each has its share that counts."""

    def __init__(self, queues, shares, listed):
        self.queues, self.shares, self.listed = queues, shares, listed
        self.lock = threading.Condition()
        self.out = {room: 0 for room in queues}
        self.killed, self.survived, self.known, self.wrong, self.skipped = [], [], [], [], 0

    def counted(self, room):
        return sum(mutant.room == room for mutant in (*self.killed, *self.survived))

    def take(self):
        with self.lock:
            while True:
                open_rooms = [room for room in self.queues if self.queues[room] and self.counted(room) < self.shares[room]]
                for room in open_rooms:
                    if self.counted(room) + self.out[room] < self.shares[room]:
                        self.out[room] += 1
                        return self.queues[room].pop(0)
                if not open_rooms:
                    return None
                self.lock.wait()

    def give(self, mutant, killer):
        with self.lock:
            self.out[mutant.room] -= 1
            if killer is None:
                self.skipped += 1
            elif killer:
                self.killed.append(mutant)
                self.wrong += [mutant] if mutant.key() in self.listed else []
            else:
                (self.known if mutant.key() in self.listed else self.survived).append(mutant)
                if mutant.key() not in self.listed:
                    print(f"survived: {mutant}", flush=True)
            self.lock.notify_all()


def shares_of(files, limit):
    """How many mutants of each room: by lines, and what is left over to the largest."""
    lines = {room: sum(len((SOURCE / path).read_text().splitlines()) for path in paths) for room, paths in files.items()}
    shares = {room: limit * lines[room] // sum(lines.values()) for room in files}
    shares[max(lines, key=lines.get)] += limit - sum(shares.values())
    return shares


def work(sample, worker):
    while (mutant := sample.take()) is not None:
        sample.give(mutant, worker.judge(mutant))


def arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("--limit", type=int, default=240)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--only", action="append", default=[], metavar="FILE")
    parser.add_argument("--list", action="store_true")
    return parser.parse_args()


def main():
    asked = arguments()
    files = {room: [path for file in sorted((SOURCE / "lib" / room).rglob("*.[ch]"))
                    if not asked.only or str(file.relative_to(SOURCE)) in asked.only for path in [file.relative_to(SOURCE)]]
             for room in ROOMS}
    files = {room: paths for room, paths in files.items() if paths}
    queues = {room: ordered([m for path in paths for m in mutants_of(room, path)], asked.seed) for room, paths in files.items()}
    shares = shares_of(files, asked.limit) if asked.limit else {room: len(queue) for room, queue in queues.items()}
    if asked.list:
        print(*[mutant for room in queues for mutant in queues[room][:shares[room]]], sep="\n")
        return 0
    sample = Sample(queues, shares, reasons())
    with tempfile.TemporaryDirectory() as folder:
        tree = Tree(folder, asked.jobs)
        tree.build()
        print(f"{len(tree.tests)} tests take {sum(s for _, s in tree.tests.values()):.1f} s", flush=True)
        began = time.monotonic()
        with ThreadPoolExecutor(asked.jobs) as pool:
            list(pool.map(lambda number: work(sample, Worker(tree, number)), range(asked.jobs)))
        took = time.monotonic() - began
    return tell(sample, took)


def tell(sample, took):
    for mutant in sample.known:
        print(f"the same: {mutant}: {sample.listed[mutant.key()]}")
    for mutant in sample.wrong:
        print(f"killed, but listed as the same: {mutant}")
    killed, survived = len(sample.killed), len(sample.survived)
    count = killed + survived
    for room in sample.queues:
        print(f"{room}: {sum(m.room == room for m in sample.killed)} of {sample.counted(room)} killed")
    print(f"{sample.skipped} did not compile or gave the same object, {len(sample.known)} are listed as the same; "
          f"{took / max(1, count + len(sample.known)):.1f} s each")
    print(f"{count} mutants, {killed} killed ({100 * killed / max(1, count):.1f} %), {survived} survived")
    return 0 if count > 0 and 100 * killed >= BOUND * count and not sample.wrong else 1


if __name__ == "__main__":
    sys.exit(main())
