#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""weft mllog: the medians of the four logs that were given, worked out once more here in another way; every cut of a
log; options and results that are none. Without the logs their part is left out and said so."""
import functools
import json
import pathlib
import re
import statistics

import weft
from weft import SHARED, SOURCE, check, check_parts

GIVEN = pathlib.Path(SHARED, "data", "traces", "given", "mlperf")
SMALL = pathlib.Path(SOURCE, "tests", "fuzz", "mllog.txt")
# file: (median of all records, records, of them means, steps left out as slow, first after an evaluation)
LOGS = {
    "nvidia_gb200_2560gpu_llama31_405b_result_0.txt": (3.1955, 343, 3, 37, 2),
    "nvidia_gb200_5120gpu_llama31_405b_result_0.txt": (2.2279, 273, 3, 35, 1),
    "nvidia_theia_512gpu_llama31_405b_result_0.txt": (13.140, 292, 4, 0, 3),
    "nebius_h200_64n_llama31_405b_result_1.txt": (50.0153, 246, 6, 9, 4),
}
mllog = functools.partial(weft.outcome, "mllog")
refused = functools.partial(weft.refused, "mllog")


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


def check_cuts(folder):
    """A log cut anywhere: its figures, or one line that says where it ends. Never a crash."""
    text = SMALL.read_bytes()
    path, wrong = folder / "cut.txt", []
    for at in range(0, len(text), 29):
        path.write_bytes(text[:at])
        status, out, errors = mllog(path)
        if status == 0 and out and all(f"warning: {path}:" in line for line in errors.splitlines()):
            continue
        if status != 2 or out or errors.count("\n") != 1 or str(path) not in errors:
            wrong.append(f"cut at byte {at}: exit {status}, {errors!r}")
    check(not wrong, f"cut anywhere {wrong}")
    path.write_bytes(text[:-30])
    status, out, errors = mllog(path)
    check(status == 0 and f"warning: {path}:13:" in errors and "with 0 lines more" in errors and out, f"cut in its last line: {errors.strip()}")


def check_cases():
    """One NaN, one cut line: the rest is read, and the line is named."""
    cases = pathlib.Path(SHARED, "data", "cases", "mllog")
    if not cases.is_dir():
        print(f"the logs that people met are not here ({cases}): their part is left out")
        return
    whole = json.loads(mllog(cases / "plain.txt", "--json")[1])["logs"][0]
    for name, line in (("nan.txt", 8), ("truncated.txt", 6)):
        status, out, errors = mllog(cases / name, "--json")
        one = json.loads(out)["logs"][0]
        check(status == 0 and f"{name}:{line}:" in errors and one["damaged"] == 1 and one["steps"] == whole["steps"] - 1 and
              one["kept_median_s"] == whole["kept_median_s"], f"{name}: {errors.strip()}")
    # a launcher's rank before each line, other output between them; the time of a step by another name
    for name in ("prefixed.txt", "step_time.txt"):
        status, out, errors = mllog(cases / name, "--json")
        one = json.loads(out)["logs"][0]
        check(status == 0 and errors == "" and {**one, "file": ""} == {**whole, "file": ""}, f"{name}: {one}")
    refused("blocks.txt", [cases / "blocks.txt"], "no train_step_time or step_time in 17 entries of the log; its tracked_stats say throughput")


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
    check(status == 1 and "; 1.00 % is allowed" in errors, f"a result that is off: {errors.strip()}")
    for text, says in (("{", "not JSON"), ("[]", "no step.step_ps"), ('{"step": {"step_ps": -1}}', "no step.step_ps"),
                       ('{"step": {"step_ps": 1.5}}', "no step.step_ps"), ("", "not JSON")):
        result.write_text(text)
        refused(f"the result {text!r}", [SMALL, "--result", result], says)


JOB = """name: fitted
model: {layers: 8, hidden: 1024, heads: 8, ffn: 2816, vocab: 8192}
cut: {tp: 2, pp: 2, vpp: 2, dp: 4}
step: {micro_batches: 4, sequence: 512}
times: {device: H100, forward: 1ms, backward: 3ms, other: 20ms}
inputs:
  - {of: times, origin: assumed, text: "made up"}
  - {of: model, origin: fact, text: "made up, too"}
"""


def log_of(path, plan, micro_batches, validates):
    """A log of a job's own steps: what the plan says that they take, a little more and a little less."""
    step_s = plan["step"]["step_ps"] / 1e12
    entries = [("global_batch_size", micro_batches * 4), ("gradient_accumulation_steps", micro_batches)]
    for number in range(40):
        entries.append(("tracked_stats", {"train_step_time": step_s * (1 + (number % 3 - 1) / 1000), "reduced_train_loss": 1.0}))
        if validates and number % 10 == 9:
            entries.append(("tracked_stats", {"validation_step_time": (micro_batches * 2 + 1) * 1e-3 + 0.01}))
    lines = [{"namespace": "", "time_ms": 0, "event_type": "POINT_IN_TIME", "key": key, "value": value,
              "metadata": {"step": at}} for at, (key, value) in enumerate(entries)]
    path.write_text("".join(":::MLLOG " + json.dumps(line) + "\n" for line in lines))


def times_of(text):
    found = re.search(r"forward: (\d+)ns\n  backward: (\d+)ns\n  other: (\d+)ns", text)
    return tuple(int(word) / 1e6 for word in found.groups())


def check_fit(folder):
    """Times that are known come out of logs that were made of them; the file that is written is read again."""
    job, fitted, logs = folder / "job.yaml", folder / "fitted.yaml", []
    for micro_batches in (4, 8, 16):
        job.write_text(JOB.replace("micro_batches: 4", f"micro_batches: {micro_batches}"))
        plan = json.loads(weft.run("plan", job, "--json").stdout)
        logs.append(folder / f"{micro_batches}.txt")
        log_of(logs[-1], plan, micro_batches, True)
    job.write_text(JOB.replace("forward: 1ms, backward: 3ms, other: 20ms", "forward: 7ms, backward: 8ms"))
    status, out, errors = mllog(*logs, "--fit", job)
    times = times_of(out) if status == 0 else (0, 0, 0)
    check(all(abs(time - true) < 0.002 * true for time, true in zip(times, (1, 3, 20))), f"times come out: {times} {errors.strip()}")
    check("by construction" not in out and "made up, too" in out and '"made up"' not in out, "other inputs stay")
    job.write_text(JOB.replace("forward: 1ms, backward: 3ms, other: 20ms", "efficiency: 45%"))
    status, own, errors = mllog(*logs, "--fit", job)
    check(status == 0 and times_of(own) == times_of(out), f"a job whose times were its device's: {errors.strip()}")
    job.write_text(JOB.replace("forward: 1ms, backward: 3ms, other: 20ms", "forward: 7ms, backward: 8ms"))
    fitted.write_text(out)
    plan = json.loads(weft.run("plan", fitted, "--json").stdout)
    check(plan["inputs"][0]["origin"] == "calibrated" and abs(plan["step"]["forward_ps"] - 1e9) < 2e6, "what was written is a job")
    status, out, _ = mllog(logs[0], "--fit", job)
    check(status == 0 and "by construction" in out, "one log fits by construction")
    log_of(logs[0], json.loads(weft.run("plan", fitted, "--json").stdout), 4, False)
    status, out, _ = mllog(logs[0], "--fit", fitted)
    forward, backward, other = times_of(out)
    check(abs(forward / backward - 0.5) < 1e-5 and abs(other - 20) < 0.05 and "forward half of backward" in out,
          "without forward-only steps the forward is half of the backward, and the rest the job's")
    refused("a job without a device", [logs[0], "--fit", "llama-small"], "has no times.device")
    refused("no such job", [logs[0], "--fit", "llama-9"], "no job 'llama-9' is shipped")
    job.write_text(JOB.replace("tp: 2", "tp: 3"))
    refused("a job that is none", [logs[0], "--fit", job], "job.yaml:2:")
    job.write_text(JOB.replace("step: {", "step: {samples: 3, "))
    refused("another batch", [logs[0], "--fit", job], "is not a whole number of replicas")
    job.write_text("{name: a, times: {device: H100}, model: {layers: 8, hidden: 1024, heads: 8, ffn: 2816, vocab: 8192}, step: {sequence: 512}}")
    refused("times that are not edited", [logs[0], "--fit", job], "as lines of their own")
    refused("--fit with --json", [logs[0], "--fit", job, "--json"], "--fit")


def check_given_fit():
    """The two logs of NVIDIA give the times of its shipped job, which were worked out apart from this."""
    logs = [GIVEN / name for name in LOGS if "gb200" in name]
    status, out, errors = mllog(*logs, "--fit", "llama-3.1-405b-gb200-2560")
    times = times_of(out) if status == 0 else (0, 0, 0)
    check(all(abs(time - true) < 0.0001 * true for time, true in zip(times, (5.18477, 9.84103, 125.745))),
          f"the logs of 2,560 and 5,120 GB200 give the shipped job's times: {times} {errors.strip()}")


if __name__ == "__main__":
    check_parts(check_cuts, check_options, check_result, check_fit, check_cases, given=GIVEN, of_given=(check_given, check_given_fit))
