#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""tests/count.py tells a failure, a timeout and a test that never ran apart, and counts none of them as passed; every test of
this build may take ten times what the longest one of its suite needs."""
import json
import os
import pathlib
import subprocess
import time

from weft import SOURCE, WEFT, check, check_parts

COUNT = pathlib.Path(SOURCE, "tests", "count.py")
BUILD = pathlib.Path(WEFT).parent.parent
ROUND = """project('round')
sh = find_program('sh')
foreach suite, tests : {'unit': {'good': 'exit 0', 'bad': 'exit 3', 'absent': 'echo no such tool; exit 77', 'hung': 'sleep 300',
      'cmocka': 'echo "[  SKIPPED ] one_case"; echo "[  SKIPPED ] one_case"', 'unittest': 'echo "OK (skipped=2)" >&2',
      'words': 'echo "ok: a damaged line is left out"; echo "tshark is not here: what it reads is left out"'}, 'drive': {'fine': 'exit 0'},
    'golden': {'hung': 'sleep 300', 'later': 'exit 0'}}
  foreach name, line : tests
    test(name, sh, args: ['-c', line], suite: suite, timeout: [suite, name] == ['unit', 'hung'] ? 1 : 250, is_parallel: false)
  endforeach
endforeach
"""


def count(folder, *suites):
    done = subprocess.run([COUNT, folder, *suites], capture_output=True, text=True, check=True)
    return [int(word) for word in done.stdout.split()], done.stderr.splitlines()


def rounds(folder):
    (folder / "meson.build").write_text(ROUND, encoding="utf-8")
    build = folder / "build"
    subprocess.run(["meson", "setup", build, folder], check=True, capture_output=True)
    figures, said = count(build, "unit", "drive")
    check(figures == [0, 8, 0, 0] and all("not run" in line for line in said), f"before the first round: {figures}")
    subprocess.run(["meson", "test", "-C", build, "--suite", "unit", "--suite", "drive"], capture_output=True, check=False)
    figures, said = count(build, "unit", "drive")
    check(figures == [5, 1, 1, 1], f"passed, failed, timed out, skipped: {figures}")
    said = {line.split(": ")[1]: line.split(": ", 2)[2] for line in said}
    check(len(said) == 6 and "failed" in said["unit / bad"] and "exit 3" in said["unit / bad"], f"names what failed: {said}")
    check("timed out after 1 s" in said["unit / hung"] and "quiet machine: a hang" in said["unit / hung"], "a timeout is told as one")
    check(said["unit / absent"] == "skipped: no such tool", "a test that is skipped says why")
    parts = {"cmocka": "one_case", "unittest": "skipped=2", "words": "tshark is not here: what it reads is left out"}
    check(all(said[f"unit / {name}"] == f"passed in part: {part}" for name, part in parts.items()), "and one that leaves a part out says which")
    run = subprocess.Popen(["meson", "test", "-C", build, "--suite", "golden"], stdout=subprocess.PIPE)
    run.stdout.readline()  # it has begun
    for _ in range(40):  # one signal is lost now and then, while the next test is started
        if run.poll() is None:
            run.terminate()
            time.sleep(0.5)
    run.kill()  # once in some hundred times meson hears none of them
    run.communicate()
    figures, said = count(build, "golden")
    check(figures == [0, 2, 0, 0], f"a round that is stopped has no test that passed: {figures}, {said}")


def limits():
    rows = [line.split() for line in (COUNT.parent / "times.txt").read_text(encoding="utf-8").splitlines() if not line.startswith("#")]
    column = 2 if os.environ.get("WEFT_SANITIZE") else 1
    quiet_s = {row[0]: int(row[column]) for row in rows}
    tests = json.loads((BUILD / "meson-info" / "intro-tests.json").read_text(encoding="utf-8"))
    short = [test["name"] for test in tests if test["timeout"] < 10 * quiet_s[test["suite"][0].split(":")[-1]]]
    check(len(tests) > 100 and not short, f"{len(tests)} tests have ten times what they need; not so: {short}")


def main(folder):
    rounds(pathlib.Path(folder))
    limits()


check_parts(main)
