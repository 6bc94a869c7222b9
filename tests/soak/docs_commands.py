#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every command of docs/howto and of README.md that begins with `weft`, as it stands there, one after the other: it ends with the
status that the page speaks of, and never with a message about the command itself. What needs a file of the reader's gets one
that is at hand; what cannot be run here is listed with its reason. What takes minutes is stopped after some seconds: it has to have
begun by then. Where a block of commands has a block of text below it, that is what they print. All pages take about eight minutes.
Words name pages: then only these.

    docs_commands.py [accept-a-fabric ...]"""
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

from weft import SHARED, SOURCE, WEFT

GIVEN = pathlib.Path(SHARED, "data", "traces", "given")
LIMIT_S, LONG_S = 600, 15  # of a command, of one that is LONG
PROGRAM = pathlib.Path(WEFT)
# A command that begins so ends with this; all others with 0.
ENDS = {
    "weft validate-fabric two-racks --quick --out out/lossy": 1,
    "weft validate-fabric two-racks --quick --out out/two-racks-book --require": 5,
    "weft validate-fabric perm128-400g --quick --only trunk-down": 1,
    "weft report out/incast --profile operator-default": 1,
    "weft sim coreweave-gb300-deepseek-v3 --fidelity sample": 5,
}
# Files that a page takes for given, by what they are made of.
FILES = {
    "kineto.json.gz": "hta/nccl_data.json.gz",
    "traces/custom_ring": "astra-sim/custom_ring_allreduce_8npus_1MB",
    "traces": "astra-sim/all_reduce_4npus_1MB",
    "aicb.txt": "aicb/G13B-M1-C02_GPT13B_megatron_tp8_pp1_mbs1_sp_A100.txt",
}
NOT_HERE = {  # the word that gives it away: why
    "traces/rank.": "two files of the reader's",
    "result_": "a log of MLPerf of the reader's",
    "ratios.txt": "made of such a log",
    "step.json": "held against such a log",
    "mpirun": "tests/golden/all_program and drive run over MPI",
    "my-fabric --trace": "a fabric of the reader's",
    "scenario.yaml": "a scenario of the reader's",
    "jq ": "another program",
    "lab.clab.yml": "a topology of the reader's",
    "--data DIR": "tests/soak/validate.sh runs them",
    "weft report out/book": "a book of the reader's",
    "mlx5_0": "an RDMA device",
    "eth0": "an interface of the reader's",
    "memif:": "another program that sends",
    "0000:17": "a NIC of the reader's",
    "mirror.pcapng": "a capture of such a NIC",
    "net_pcap0": "captures of the reader's",
    "--port p": "interfaces of the reader's",
    "weft tune ab": "its two studies take minutes; tests/golden/program_tune_verbs runs it",
    "pair.pcapng": "tests/golden/program_host_howto runs that page",
    "--probe": "an interface of the reader's",
}
LONG = (  # commands that take minutes begin so
    "weft sim compare-",
    "weft sim azure-gb200-llama405b --sample groups=1,packets=2G --fast-forward steady",
    "weft sim azure-gb200-llama405b --fidelity sample",
    "weft sim coreweave-gb300-deepseek-v3 --fidelity sample",
    "weft scaling azure-gb200-llama405b --racks 16,32,64,112,128,256,512 --fidelity sample",
    "weft tune incast rail-8x4 perm128-400g",
)
failed = 0


def commands(text):
    """Lines that are indented by four, or in a block between fences; a backslash goes on. In a table, cells that are a command."""
    inside, pending = False, ""
    for line in text.splitlines():
        if line.startswith("```"):
            inside = not inside
            continue
        if line.startswith("|"):
            yield from re.findall(r"\| `((?:weft [-a-z]+|mpirun) [^`]*)` (?=\|)", line)
        bare = line[4:] if line.startswith("    ") else line if inside else ""
        if pending or re.match(r"(weft|mpirun) [-a-z]", bare):
            pending += bare.rstrip("\\").strip() + " "
            if not bare.endswith("\\"):
                yield pending.strip()
                pending = ""


def shown(text):
    """What stands in the block right behind a block of commands: (the last of them, lines)."""
    last, end = None, 0
    for block in re.finditer(r"^```([^\n]*)\n(.*?)^```", text, re.MULTILINE | re.DOTALL):
        own = list(commands(block[0]))
        if last and not block[1] and not own and text[end:block.start()].isspace():
            yield last, [line for line in map(squeezed, block[2].splitlines()) if line.strip(". ")]
        last, end = own[-1] if own else None, block.end()


def squeezed(line):
    return " ".join(line.split())


def expected(command):
    return next((status for begin, status in ENDS.items() if command.startswith(begin)), 0)


def run(page, command, folder):
    global failed
    reason = next((why for word, why in NOT_HERE.items() if word in command), None)
    if reason is not None:
        print(f"not here: {page}: {command}: {reason}", flush=True)
        return None
    begin, is_long = time.monotonic(), any(command.startswith(words) for words in LONG)
    status, printed, said = ended(command, folder, LONG_S if is_long else LIMIT_S)
    holds = status == expected(command) or (is_long and status is None)
    failed += not holds
    print(f"{'ok' if holds else 'FAILED'}: {page}: {command}: {'stopped' if status is None else f'status {status}'}, "
          f"{time.monotonic() - begin:.1f} s{'' if holds else ': ' + said}", flush=True)
    return None if status is None else squeezed(printed)


def ended(command, folder, limit_s):
    """Exit status, None when it was stopped with all that it started, what it printed, and the last line on stderr."""
    with open(folder / "stdout", "w+", encoding="utf-8") as out, open(folder / "stderr", "w+", encoding="utf-8") as errors:
        with subprocess.Popen(["bash", "-c", command], cwd=folder, stdin=subprocess.DEVNULL, stdout=out, stderr=errors,
                              env={**os.environ, "PATH": f"{PROGRAM.parent}:{os.environ['PATH']}"}, start_new_session=True) as done:
            try:
                status = done.wait(limit_s)
            except subprocess.TimeoutExpired:
                status = None
            try:
                os.killpg(done.pid, signal.SIGKILL)  # what it left behind, too
            except ProcessLookupError:
                pass
        out.seek(0)
        errors.seek(0)
        printed, lines = out.read(), errors.read().strip().splitlines()
    return status, printed, f"not done within {limit_s} s" if status is None else (lines or [""])[-1]


def put_file(command, folder):
    """What the command takes for given is put in its place, and nothing else; returns whether it could be."""
    name = next((name for name in FILES if re.search(rf"(?<!/){re.escape(name)}\b", command)), None)
    if name is None:
        return True
    shutil.rmtree(folder / "traces", ignore_errors=True)
    given, place = GIVEN / FILES[name], folder / name
    if given.is_dir():
        shutil.copytree(given, place)
    elif given.exists():
        shutil.copy(given, place)
    return given.exists()


def check_line(page, line, printed):
    global failed
    if line not in printed:
        failed += 1
        print(f"FAILED: {page}: none of its commands up to there prints: {line}", flush=True)


def main():
    pages = sorted((SOURCE / "docs" / "howto").glob("*.md")) + [SOURCE / "README.md"]
    counted = 0
    for page in pages:
        if len(sys.argv) > 1 and page.stem not in sys.argv[1:]:
            continue
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            for file, text in re.findall(r"```\w*\n# (\S+)\n(.*?)```", page.read_text(), re.DOTALL):  # that the page gives
                (folder / file).write_text(text, encoding="utf-8")
            printed, wanted = "", dict(shown(page.read_text()))
            for command in commands(page.read_text()):
                if not put_file(command, folder):
                    print(f"not here: {page.stem}: {command}: no traces of others are at hand")
                    continue
                more = run(page.stem, command, folder)
                counted += 1
                printed += more or ""
                for line in wanted.get(command, []) if more is not None else []:
                    check_line(page.stem, line, printed)
    if counted == 0 or (len(sys.argv) == 1 and counted < 40):
        print(f"FAILED: only {counted} commands found")
        sys.exit(1)
    sys.exit(failed > 0)


main()
