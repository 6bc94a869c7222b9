#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""weft bench sim --compare: what it says of an earlier file whose times were changed, and what it refuses; and the
instructions of --instructions. No time is judged: the changes are far larger than any noise, or the noise than any change."""
import copy
import json
import os
import shutil
import sys

import weft
from weft import check, check_parts

CASE = "incast8-400g"


def bench(*words, env=None):
    return weft.run("bench", "sim", "--only", CASE, *words, env=env)


def figures_of(folder, *words, **more):
    path = folder / "figures.json"
    done = bench("--json", str(path), "--force", *words, **more)
    if done.returncode != 0:
        sys.exit(f"weft bench sim: {done.returncode}, {done.stderr}")
    return json.loads(path.read_text(encoding="utf-8")), done.stdout


def changed(figures, share=1.0, spread=0.0, **values):
    """The figures with times `share` as long, and all but the best `spread` longer."""
    out = copy.deepcopy(figures)
    row = out["cases"][0]
    row["cpu_s"] = [row["cpu_s_best"] * share * (1 + (spread if i else 0)) for i in range(len(row["cpu_s"]))]
    row["cpu_s_best"], row["cpu_s_median"] = row["cpu_s"][0], row["cpu_s"][len(row["cpu_s"]) // 2]
    for name, value in values.items():
        (out if name in out else row)[name] = value
    return out


def compare(folder, figures, *words):
    path = folder / "then.json"
    path.write_text(json.dumps(figures), encoding="utf-8")
    done = bench("--compare", str(path), *words)
    if not check(done.returncode == 0, f"--compare: {done.returncode}, {done.stderr}"):
        return ""
    return done.stdout[done.stdout.index("then: "):]


def expect(said, wanted, unwanted=()):
    for words in wanted:
        check(words in said, f"`{words}` is in {said}")
    for words in unwanted:
        check(words not in said, f"`{words}` is not in {said}")


def check_verdicts(folder, figures):
    digest = "another digest"
    expect(compare(folder, changed(figures, 0.02)), ["slower"], ["faster", digest, "processor"])
    expect(compare(folder, changed(figures, 50)), ["faster"], ["slower", digest])
    # times of one side that lie far apart hide a change: the same runs with such a spread say nothing
    expect(compare(folder, changed(figures, 0.02, 10000)), ["within the noise"], ["slower", "faster"])
    expect(compare(folder, figures, "--repeat", "2"), ["unknown: fewer than 3 runs"], ["noise\n"])
    expect(compare(folder, changed(figures, digest="0" * 16)), [digest])
    expect(compare(folder, changed(figures, processor="abacus")), ["not the same processor: abacus then"])
    expect(compare(folder, changed(figures, name="other")), [f"{CASE}         not in the file"])


def check_refusals(folder, figures):
    path = folder / "then.json"
    texts = ["", "no JSON", "{}", "[]", '{"cases": []}', json.dumps(changed(figures, hops=0)), json.dumps(changed(figures, cpu_s_best="1")),
             json.dumps(changed(figures, digest=5))]
    for text in texts:
        path.write_text(text, encoding="utf-8")
        done = bench("--compare", str(path))
        check(done.returncode == 2 and done.stderr.count("\n") == 1 and "then.json" in done.stderr and not done.stdout,
              f"--compare with {text[:40]!r}: {done.returncode}, {done.stderr}")
    for words in (["--compare", str(folder / "missing.json")], ["--compare"], ["--compare", str(path), "--json", "-"], ["--list"],
                  ["--show", CASE]):
        done = bench(*words)
        check(done.returncode == 2 and done.stderr.count("\n") == 1, f"{words}: {done.returncode}, {done.stderr}")


def check_instructions(folder, has_names):
    """Two counts of one program are the same but for what the system's own functions do."""
    if shutil.which("valgrind") is None or not has_names:
        print("no valgrind, or a build with sanitizers: instructions are not counted here")
        return
    first, said = figures_of(folder, "--repeat", "1", "--instructions")
    row = first["cases"][0]
    if not check("instructions" in row, f"instructions are counted: {said}"):
        return
    check(abs(row["instructions_per_hop"] * row["hops"] / row["instructions"] - 1) <= 1e-9, "instructions per hop are instructions over hops")
    check(100 < row["instructions_per_hop"] < 20000, f"{row['instructions_per_hop']} instructions per hop")
    said = compare(folder, first, "--repeat", "3", "--instructions")
    then, now = (float(word) for word in next(line for line in said.split("\n") if line.startswith(CASE)).split()[5:7])
    check(abs(then - now) <= 0.001 * now + 0.1, f"{then} and then {now} instructions per hop of the same run")
    # where callgrind finds nothing to count there is no 0, but a reason
    (folder / "valgrind").write_text("#!/bin/sh\necho 'Collected : 0' >&9\n", encoding="utf-8")
    (folder / "valgrind").chmod(0o755)
    expect_none(folder, dict(os.environ, PATH=f"{folder}:{os.environ['PATH']}"), "has no symbols")
    (folder / "valgrind").write_text("#!/bin/sh\necho 'Collected : 5000' >&9\nexit 1\n", encoding="utf-8")
    expect_none(folder, dict(os.environ, PATH=f"{folder}:{os.environ['PATH']}"), "failed")


def expect_none(folder, env, reason):
    figures, said = figures_of(folder, "--repeat", "1", "--instructions", env=env)
    row = figures["cases"][0]
    check("instructions" not in row and row["instructions_per_hop"] is None and reason in row["instructions_reason"], f"{reason}: {row}")
    expect(said, ["unavailable", reason])


def main(folder):
    figures, _ = figures_of(folder, "--repeat", "3")
    check_verdicts(folder, figures)
    check_refusals(folder, figures)
    expect_none(folder, dict(os.environ, PATH="/nowhere"), "valgrind is not installed")
    check_instructions(folder, os.environ.get("WEFT_SANITIZE", "") == "")


check_parts(main)
