#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""tests/same calls a build like itself, and finds another run, a renamed key and a slower program, each with its place. The
other builds are this one behind a script that changes what it is asked for or what it says."""
import json
import os
import pathlib
import shutil
import subprocess

from weft import SOURCE, check, check_parts

WEFT = pathlib.Path(os.environ["WEFT"])
BUILD = WEFT.parent.parent
SCENARIOS = ["two-racks", "two-jobs", "drill-nic-flap", "pcaps/clean-write"]


def other_build(folder, name, text):
    """A build whose dispatcher is the script `text`."""
    build = folder / name
    (build / "apps").mkdir(parents=True)
    (build / "meson-info").mkdir()
    info = json.dumps({"directories": {"source": str(SOURCE)}})
    (build / "meson-info" / "meson-info.json").write_text(info, encoding="utf-8")
    program = build / "apps" / "weft"
    program.write_text(f"#!/bin/sh\nset -e\n{text}\n", encoding="utf-8")
    program.chmod(0o755)
    return build


def expect(what, status, said, build, *words):
    done = subprocess.run([SOURCE / "tests" / "same", BUILD, build, *words], capture_output=True, text=True, check=False)
    missing = [text for text in said if text not in done.stdout + done.stderr]
    check(done.returncode == status and not missing,
          f"{what}: exit {done.returncode}, expected {status} and {missing}:\n{done.stdout}{done.stderr}")


def main(folder):
    expect("a build is like itself", 0, ["two-racks ", "4 scenarios, 0 differ", "two-jobs "], BUILD, "--no-count", *SCENARIOS)
    seed = other_build(folder, "seed", f'exec {WEFT} "$@" --seed 7')
    expect("another run", 1, ["result.json: run.digest: ", "depth_nic_down.hdr: line ", "result.json: scenario.seed: \"1\", now \"7\""], seed,
           "--no-count", "two-racks", "two-jobs")
    renamed = other_build(folder, "renamed", f'{WEFT} "$@"\nsed -i s/\'"trimmed":\'/\'"cut":\'/ out/result.json')
    expect("a key that changed its name", 1, ["result.json: switches.trimmed: gone", "result.json: switches.cut: is new"], renamed,
           "--no-count", "two-racks")
    names = folder / "names.tsv"
    names.write_text("# kind, old, new\nkey\ttrimmed\tcut\nvalue\tno such text\tanother\n", encoding="utf-8")
    expect("the same by the list of names", 0, ["renamed  key  trimmed -> cut  ", "another  0 times"], renamed,
           "--no-count", "two-racks", "--names", names)
    expect("a list that is none", 2, ["times.txt:3: expected"], renamed, "two-racks", "--names", SOURCE / "tests" / "times.txt")
    table = other_build(folder, "table", f"{WEFT} \"$@\" | sed 's/marked/with marks/'")
    expect("a table is looked at when asked for", 0, ["0 differ"], table, "--no-count", "two-racks")
    expect("another table", 1, ["table: line ", "with marks"], table, "--no-count", "--texts", "two-racks")
    expect("no build", 3, ["is no build folder"], folder)
    if not shutil.which("valgrind"):
        print("instructions are left out: valgrind is not installed")
        return
    if os.environ.get("WEFT_SANITIZE"):
        expect("what cannot be counted", 0, ["instructions of two-racks: not compared"], BUILD, "two-racks")
        return
    slow = other_build(folder, "slow", f"""if [ "$1" = sim ]; then exec {WEFT} "$@"; fi
for file; do case $file in *.json) out=$file ;; esac; done
{WEFT} "$@"
python3 - "$out" <<'END'
import json, sys
said = json.load(open(sys.argv[1]))
said["cases"][0]["instructions_per_hop"] *= 1.02
json.dump(said, open(sys.argv[1], "w"))
END""")
    expect("two instructions more in a hundred", 1, ["(+2.00%)"], slow, "two-racks")


if __name__ == "__main__":
    check_parts(main)
