#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Steps of random small jobs of all ways to share, and of the shipped jobs that run whole, written as Chakra, GOAL and text of
SimAI and read again over the same fabric: within WITHIN of the time that all packets took. The lines of a text of SimAI are those of the
closed forms, so that they may be off as these are, besides.

A text of SimAI has nothing beside a forward, so that a job may be refused as one, with that reason. WEFT_JOBS_FIRST and
WEFT_JOBS_COUNT say which random jobs (20 from 0).
"""
import os
import pathlib
import re
import sys
import tempfile

import program_random_jobs
import weft
from weft import check

WITHIN = 0.01
FORMS = {"chakra": "kind: trace, trace: {}", "goal": "kind: goal, file: {}/program.goal", "simai": "kind: trace, trace: {}/step.txt"}
CHANNELS = 4  # of a ring, each with QPs of its own; of them a trace knows nothing
SHIPPED = {"llama-small-3-fidelities": ["--order", "tp-cp-ep-dp-pp"], "moe-small-3-fidelities": []}
NO_WORD = ("a text of SimAI has nothing beside a forward", "SimAI's expert ranks are data ranks", "it has no schedule zb-h1")
FIRST, COUNT = (int(os.environ.get(f"WEFT_JOBS_{name}", default)) for name, default in (("FIRST", 0), ("COUNT", 20)))


def check_forms(scenario, what, counts, words=()):
    """`scenario` runs a step of a model; the same with other traffic runs what was written of it."""
    told = weft.result_of("sim", scenario, *words, "--fidelity", "full", "--json")
    step_ms, model_ms = (told[depth]["step_ps"] / 1e9 for depth in ("full", "model_own_sends"))
    text = scenario.read_text()
    for form, traffic in FORMS.items():
        out = scenario.parent / f"{form}.out"
        done = weft.run("sim", scenario, "--fidelity", "full", "--export", form, "--out", out, "--force", *words)
        if form == "simai" and done.returncode == 2 and any(why in done.stderr for why in NO_WORD):
            counts["refused"] += 1
            continue
        if not (done.returncode == 0 or check(False, f"{what} as {form}: {done.stderr.strip()[:200]}")):
            continue
        again = scenario.parent / f"{form}.yaml"
        again.write_text(re.sub(r"(?ms)^(traffic|sample):.*?(?=^\S|\Z)", "", text) + f"traffic: {{{traffic.format(out)}}}\n")
        qps = [] if form == "simai" else ["--set", f"transport.qps_per_connection={CHANNELS}", "--set", f"traffic.step_channels={CHANNELS}"]
        again_ms = weft.result_of("sim", again, *qps, "--json")["run"]["last_completion_ps"] / 1e9
        counts[form] += 1
        room_ms = WITHIN * step_ms + (abs(step_ms - model_ms) if form == "simai" else 0)
        check(abs(again_ms - step_ms) < room_ms, f"{what} as {form}: {again_ms:.3f} ms of {step_ms:.3f}, {again_ms / step_ms - 1:+.2%}")


def main():
    counts = {"refused": 0, **{form: 0 for form in FORMS}}
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for name, words in SHIPPED.items():
            scenario = folder / f"{name}.yaml"
            scenario.write_text((weft.SCENARIOS / f"{name}.yaml").read_text())
            check_forms(scenario, name, counts, words)
        one = folder / "moe.yaml"  # experts of data ranks alone, in their domain
        (folder / "moe-job.yaml").write_text((weft.SOURCE / "apps/models/moe-small.yaml").read_text()
                                             .replace("  tp: 2\n", "").replace("  dp: 8", "  dp: 16").replace("  ep: 8", "  ep: 4"))
        one.write_text((weft.SCENARIOS / "moe-small-3-fidelities.yaml").read_text().replace("moe-small\n", "moe-job.yaml\n"))
        check_forms(one, "experts of data ranks", counts)
        for seed in range(FIRST, FIRST + COUNT):
            scenario, what = program_random_jobs.draw(seed, folder)
            check_forms(scenario, f"seed {seed}, {what}", counts)
    check(counts["refused"] <= 1 + 0.2 * COUNT, f"{COUNT} random jobs and 3: {counts['simai']} have a text of SimAI, {counts['refused']} have none")
    sys.exit(1 if check.failed else 0)


if __name__ == "__main__":
    main()
