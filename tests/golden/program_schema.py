#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""result.json of runs of every kind, study.json and book.json against their schemas: what weft writes is valid, and what
is spoilt is not."""
import copy
import json
import os
import pathlib
import subprocess
import sys

import weft
from weft import SKIPPED, check, check_parts

try:
    import jsonschema
except ImportError:
    if sys.executable != "/usr/bin/python3" and subprocess.run(["/usr/bin/python3", "-c", "import jsonschema"], capture_output=True).returncode == 0:
        os.execv("/usr/bin/python3", ["/usr/bin/python3", *sys.argv])
    print("skipped: Python's jsonschema is not installed (python3-jsonschema)")
    sys.exit(SKIPPED)

LOSS = "{kind: loss, at: {nic: 3, plane: 0}, probability: 2%, from: 20us, until: 60us}"
RUNS = {  # name: what weft does
    "flows": ["sim", "two-planes"],
    "incast with faults and series": ["sim", "incast", "--fault", LOSS, "--set", "watch.bin=5us"],
    "culprits": ["sim", "two-planes", "--fault", LOSS, "--set", "watch.links=true"],
    "ring": ["sim", "ring-barrier"],
    "ring on RC": ["sim", "ring-barrier", "--set", "transport.kind=rc", "--set", "cc.algorithm=fixed"],
    "partial": ["sim", "incast", "--set", "limits.time=100us"],
    "dead links": ["sim", "drill-bypass"],
    "lossless": ["sim", "incast", "--set", "queue.pfc=true", "--set", "queue.trim=false"],
    "jobs": ["sim", "jobs-two-rings", "--variant", "lossless"],
    "goal": ["sim", "exchange"],
    "sample": ["sim", "ring-barrier", "--sample", "steps=4,fill=2"],
    "shared buffer and a log": ["sim", "incast", "--set", "queue.shared=4MiB", "--log", "LOG"],
    "skipped": ["sim", "ring-barrier", "--set", "sample.steps=4", "--sample", "groups=1", "--fast-forward", "steady"],  # this sample for that one
    "paced": ["emu", "two-planes", "--ports", "none"],
    "frames": ["emu", "two-planes", "--ports", "memory"],
}
SPOILS = {  # what: how a good result becomes a bad one
    "a figure that is a text": lambda result: result["run"].update(virtual_time_ps="1 ms"),
    "a field that nobody knows": lambda result: result["goodput"].update(surprise=1),
    "a field that is gone": lambda result: result["congestion"].pop("marked"),
    "an element of a list with one too few": lambda result: result["messages"][0].pop("count"),
    "a null where a number has to be": lambda result: result["transport"].update(data_packets=None),
    "a section that is gone": lambda result: result.pop("transport"),
    "another version": lambda result: result.update(schema=99),
}

OTHERS = {  # kind: what weft does, and how its file is spoilt
    "study": (["sim", "two-planes", "--seeds", "2", "--sweep", "queue.bytes=64KiB,128KiB"], {
        "a figure that is a text": lambda study: study["figures"][0]["points"][0].update(mean="fast"),
        "a field that nobody knows": lambda study: study["points"][0].update(surprise=1),
        "a field that is gone": lambda study: study["runs"][0].pop("digest"),
        "a list that is none": lambda study: study.update(sweeps={}),
        "another version": lambda study: study.update(schema=99)}),
    "book": (["validate-fabric", "two-planes", "--quick", "--only", "baseline"], {
        "a verdict that is a number": lambda book: book.update(verdict=1),
        "a field that nobody knows": lambda book: book["cases"][0].update(surprise=1),
        "a case without a state": lambda book: book["cases"][0].pop("state"),
        "a device without NICs": lambda book: book["device"].pop("nics"),
        "a setting that is a text": lambda book: book["settings"].update(ecn="yes"),
        "another version": lambda book: book.update(schema=99)}),
}


def run(words, folder):
    """The result of a run, and how the run ended."""
    folder.mkdir()
    words = [str(folder / "packets.csv") if word == "LOG" else word for word in words]
    done = weft.run(*words, "--quiet", "--out", folder)
    path = folder / "result.json"
    return json.loads(path.read_text()) if path.exists() else None, done


def check_other(kind, folder):
    """A study, or a book."""
    words, spoils = OTHERS[kind]
    schema = json.loads(pathlib.Path(os.environ["WEFT_SCHEMAS"], f"{kind}.schema.json").read_text())
    jsonschema.Draft202012Validator.check_schema(schema)
    valid = jsonschema.Draft202012Validator(schema)
    done = weft.run(*words, "--out", folder)
    good = json.loads((folder / f"{kind}.json").read_text())
    wrong = [f"{'.'.join(map(str, error.absolute_path))}: {error.message[:160]}" for error in valid.iter_errors(good)]
    check(done.returncode in (0, 1) and not wrong, f"{kind}: status {done.returncode}, valid {'; '.join(wrong)}{done.stderr}")
    for what, spoil in spoils.items():
        bad = copy.deepcopy(good)
        spoil(bad)
        check(not valid.is_valid(bad), f"refused: {kind}: {what}")


def main(folder):
    schema = json.loads(pathlib.Path(os.environ["WEFT_SCHEMAS"], "result.schema.json").read_text())
    jsonschema.Draft202012Validator.check_schema(schema)
    valid, seen, good = jsonschema.Draft202012Validator(schema), set(), None
    for number, (what, words) in enumerate(RUNS.items()):
        if what == "dead links" and os.environ.get("WEFT_SANITIZE"):
            continue # a minute with sanitizers
        result, done = run(words, folder / str(number))
        if result is None:
            check(False, f"{what}: no result: {done.stderr.strip()}")
            continue
        wrong = [f"{'.'.join(map(str, error.absolute_path))}: {error.message[:160]}" for error in valid.iter_errors(result)]
        check(not wrong, f"{what}: valid{'' if not wrong else ': ' + '; '.join(wrong)}")
        seen |= set(result)
        good = result if what == "incast with faults and series" else good
    for kind in OTHERS:
        check_other(kind, folder / kind)
    for what, spoil in SPOILS.items():
        result = copy.deepcopy(good)
        spoil(result)
        check(not valid.is_valid(result), f"refused: {what}")
    missing = set(schema["properties"]) - seen - {name for name in schema["properties"] if name.endswith("_reason")}
    print(f"fields that none of these runs has: {', '.join(sorted(missing)) or 'none'}")


check_parts(main)
