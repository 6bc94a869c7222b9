#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""One GPU that computes slower: the step against the closed form at each depth, and jitter from a list that a log gave."""
import json
import statistics

import weft
from weft import check, check_parts

KEYS = {"model": "step", "sample": "step", "full": "full"}


def step(name, depth, *words):
    done = weft.run("sim", name, "--fidelity", depth, *words, "--json")
    check(done.returncode == 0, f"{name} {depth} {words}: {done.stderr.strip()}")
    return json.loads(done.stdout)[KEYS[depth]]


# Each further percent costs a percent of the slots of the slow stage that the others wait for; before, what it had waited
# for itself pays for it, so that the closed form is never exceeded. With as many micro-batches as stages (m = p) the first
# backward waits for (v - 1) p + 1 forwards of the stage, and as many backwards follow: 57 of Azure's 64. What is left of
# its work, p - 1 slots, runs while it waits for the turn, until it is slower than that: then all m v count.
def follows(name, depth, gpu, units, tolerance, low=20, high=40):
    model = step(name, "model")
    slot = model["forward_ps"] + model["backward_ps"]
    base = step(name, depth)["step_ps"]
    longer = {percent: step(name, depth, "--slow", f"{gpu}:{percent}")["step_ps"] - base for percent in (5, low, high)}
    slope = (longer[high] - longer[low]) / (high - low) * 100
    check(abs(slope / (units * slot) - 1) < tolerance, f"{name} {depth}: slope {slope / 1e9:.3f} ms, {units * slot / 1e9:.3f} expected")
    for percent, found in longer.items():
        bound = percent / 100 * units * slot
        check(0 < found <= bound * (1 + tolerance), f"{name} {depth}, {percent} %: {found / 1e9:.3f} ms, {bound / 1e9:.3f} at most")


def lists(folder):
    log = folder / "log.txt"
    times = [1.0, 1.01, 0.99, 1.0, 1.015, 0.985, 1.0, 5.0]
    log.write_text("".join(':::MLLOG {"key": "tracked_stats", "value": {"train_step_time": %s}, "metadata": {"step": %d}}\n' % (time, number)
                           for number, time in enumerate(times, 1)), encoding="utf-8")
    done = weft.run("mllog", log, "--ratios")
    ratios = [float(line) for line in done.stdout.splitlines() if not line.startswith("#")]
    check(done.returncode == 0 and len(ratios) == 7 and abs(statistics.mean(ratios) - 1) < 1e-8, f"ratios: {done.stdout}{done.stderr}")
    path = folder / "ratios.txt"
    path.write_text(done.stdout, encoding="utf-8")
    # One replica alone: the mean of many forwards and backwards has the list's own mean.
    small = ["sim", "azure-gb200-llama405b", "--fidelity", "model", "--json"]
    with_list = json.loads(weft.run(*small, "--jitter", f"list:{path}", "--steps", "5").stdout)
    plain = json.loads(weft.run(*small).stdout)["step"]["step_ps"] / 1e12
    check(0 < with_list["steps"]["mean_s"] / plain - 1 < 0.015, f"mean {with_list['steps']['mean_s']}, {plain} without: below the worst ratio")
    same = folder / "same.txt"
    same.write_text("1\n1.0\n", encoding="utf-8")
    ones = json.loads(weft.run(*small, "--jitter", f"list:{same}").stdout)["step"]["step_ps"]
    check(abs(ones / 1e12 - plain) < 1e-12, "ratios of 1 change nothing")
    slower = folder / "slower.txt"
    slower.write_text("1.1\n1.1\n", encoding="utf-8")
    found = json.loads(weft.run(*small, "--jitter", f"list:{slower}").stdout)["step"]
    whole = json.loads(weft.run(*small).stdout)["step"]
    added = found["step_ps"] - whole["step_ps"]
    check(abs(added / (0.1 * (whole["silent_ps"] - whole["other_ps"])) - 1) < 0.03, f"all 10 % slower: {added / 1e9} ms longer")


def refusals(folder):
    bad = folder / "bad.txt"
    bad.write_text("1\n1.0x\n", encoding="utf-8")
    model = ["sim", "llama-small-3-fidelities", "--fidelity", "model", "--jitter"]
    for words, says in ((model + [f"list:{bad}"], "bad.txt:2:1: a ratio is as 1.0213"), (model + ["list:"], "it needs a file"),
                        (model + [f"list:{folder}/none.txt"], "none.txt: cannot be read"),
                        (["mllog", str(bad), "--ratios", "--json"], "has no effect with --json")):
        done = weft.run(*words)
        check(done.returncode == 2 and done.stdout == "" and says in done.stderr, f"{words}: {done.stderr.strip()}")


def main(folder):
    follows("azure-gb200-llama405b", "model", "gpu24", 7 * 8 + 1, 0.001)
    follows("azure-gb200-llama405b", "model", "gpu24", 8 * 8, 0.001, 200, 400)
    for depth in ("model", "sample", "full"):
        follows("llama-small-3-fidelities", depth, "gpu5", 16, 0.02)
    lists(folder)
    refusals(folder)
    print(f"stragglers and lists: {check.failed} complaints")


check_parts(main)
