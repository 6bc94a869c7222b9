#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""weft mllog: the medians of the four logs that were given, worked out once more here in another way; every cut of a
log; options and results that are none. Without the logs their part is left out and said so."""
import json
import pathlib
import statistics
import sys
import tempfile

import weft
from weft import SHARED, SKIPPED, SOURCE, check

GIVEN = pathlib.Path(SHARED, "data", "traces", "given", "mlperf")
SMALL = pathlib.Path(SOURCE, "tests", "fuzz", "mllog.txt")
# file: (median of all records, records, of them means, steps left out as slow, first after an evaluation)
LOGS = {
    "nvidia_gb200_2560gpu_llama31_405b_result_0.txt": (3.1955, 343, 3, 37, 2),
    "nvidia_gb200_5120gpu_llama31_405b_result_0.txt": (2.2279, 273, 3, 35, 1),
    "nvidia_theia_512gpu_llama31_405b_result_0.txt": (13.140, 292, 4, 0, 3),
    "nebius_h200_64n_llama31_405b_result_1.txt": (50.0153, 246, 6, 9, 4),
}


def mllog(*words):
    done = weft.run("mllog", *words)
    return done.returncode, done.stdout, done.stderr


def steps_of(path):
    """(time, has a loss) of each record, without weft."""
    found = []
    for line in path.read_text().splitlines():
        if ":::MLLOG" not in line:
            continue
        entry = json.loads(line.split(":::MLLOG", 1)[1])
        value = entry["value"]
        if entry["key"] == "tracked_stats" and "train_step_time" in value:
            found.append((value["train_step_time"], "reduced_train_loss" in value))
    return found


def check_given():
    status, text, _ = mllog("--json", *(GIVEN / name for name in LOGS))
    check(status == 0, "the given logs are read")
    for (name, (median, records, means, slow, first)), log in zip(LOGS.items(), json.loads(text)["logs"]):
        steps = steps_of(GIVEN / name)
        times = [time for time, has_loss in steps if has_loss]
        check(abs(log["records_median_s"] - median) < 0.00005, f"{name}: median {median} s")
        check(abs(log["records_median_s"] - statistics.median(time for time, _ in steps)) < 1e-9, "  as worked out here")
        check(abs(log["steps_median_s"] - statistics.median(times)) < 1e-9, "  and of the steps alone")
        check((log["records"], log["means"], log["slow"], log["after_evaluation"]) == (records, means, slow, first),
              f"  {records} records, {means} means, {slow} slow, {first} first after an evaluation")
        check(log["kept"] == len(times) - slow - first, "  and the rest is kept")


def refused(what, words, says, status=2):
    got, out, errors = mllog(*words)
    check(got == status and out == "" and errors.count("\n") == 1 and errors.startswith("weft mllog: ") and says in errors,
          f"{what}: {errors.strip()}")


def check_cuts(folder):
    """A log cut anywhere: its figures, or one line that says where it ends. Never a crash."""
    text = SMALL.read_bytes()
    path = folder / "cut.txt"
    for at in range(0, len(text), 29):
        path.write_bytes(text[:at])
        status, out, errors = mllog(path)
        if status == 0 and out and all(f"warning: {path}:" in line for line in errors.splitlines()):
            continue
        if status != 2 or out or errors.count("\n") != 1 or str(path) not in errors:
            check(False, f"cut at byte {at}: exit {status}, {errors!r}")
    check(True, "cut anywhere")
    path.write_bytes(text[:-30])
    status, out, errors = mllog(path)
    check(status == 0 and f"warning: {path}:13:" in errors and "with 0 lines more" in errors and out, f"cut in its last line: {errors.strip()}")


def check_cases():
    """One NaN, one cut line: the rest is read, and the line is named."""
    cases = pathlib.Path(SHARED, "data", "cases", "mllog")
    whole = json.loads(mllog(cases / "plain.txt", "--json")[1])["logs"][0] if cases.is_dir() else None
    for name, line in (("nan.txt", 8), ("truncated.txt", 6)) if whole else ():
        status, out, errors = mllog(cases / name, "--json")
        one = json.loads(out)["logs"][0]
        check(status == 0 and f"{name}:{line}:" in errors and one["damaged"] == 1 and one["steps"] == whole["steps"] - 1 and
              one["kept_median_s"] == whole["kept_median_s"], f"{name}: {errors.strip()}")


def check_options(folder):
    status, out, errors = mllog(SMALL)
    check(status == 0 and errors == "" and "steps                        5   median 3.1200 s" in out, "a small log")
    refused("no log", [], "no log given")
    refused("no such file", [folder / "none"], "none: ")
    refused("a folder", [folder], "a folder")
    refused("unknown option", ["--fast", SMALL], "unknown option")
    refused("--slow below 1", ["--slow", "0.5", SMALL], "from 1")
    refused("--slow of words", ["--slow", "nan", SMALL], "from 1")
    refused("a block of 0", ["--block", "0", SMALL], "from 1")
    refused("half a step", ["--block", "1.5", SMALL], "whole number")
    refused("--within alone", ["--within", "1", SMALL], "needs --result")
    refused("too many logs", [SMALL] * 65, "unexpected argument")
    (folder / "other.txt").write_text("another text\n")
    refused("one good log and a bad one", [SMALL, folder / "other.txt"], "not an MLPerf log")


def check_result(folder):
    result = folder / "step.json"
    result.write_text('{"step": {"step_ps": 3120000000000}}')
    status, out, _ = mllog(SMALL, "--result", result, "--within", "1")
    check(status == 0 and "+0.00 %" not in out and "3.1200 s" in out, "a result near the log")
    result.write_text('{"step": {"step_ps": 3200000000000}}')
    status, out, errors = mllog(SMALL, "--result", result, "--within", "1")
    check(status == 1 and "allowed are 1.00 %" in errors, f"a result that is off: {errors.strip()}")
    for text, says in (("{", "not JSON"), ("[]", "no step.step_ps"), ('{"step": {"step_ps": -1}}', "no step.step_ps"),
                       ('{"step": {"step_ps": 1.5}}', "no step.step_ps"), ("", "not JSON")):
        result.write_text(text)
        refused(f"the result {text!r}", [SMALL, "--result", result], says)


def main():
    with tempfile.TemporaryDirectory() as name:
        for part in (check_cuts, check_options, check_result):
            part(pathlib.Path(name))
    check_cases()
    if not GIVEN.is_dir():
        print(f"the given logs are not here ({GIVEN}): their part is left out")
        sys.exit(1 if check.failed else SKIPPED)
    check_given()
    sys.exit(1 if check.failed else 0)


if __name__ == "__main__":
    main()
