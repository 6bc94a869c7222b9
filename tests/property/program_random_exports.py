#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Steps of random small jobs of all ways to share, of the shipped jobs that run whole, and of all shipped jobs made small, written as Chakra, GOAL and text of
SimAI and read again over the same fabric: within WITHIN of the time that all packets took.

A text of SimAI has nothing beside a forward, so that a job may be refused as one, with that reason and what packets make of it. A random job for which
it has no word is refused, and for want of a word no other is. WEFT_JOBS_FIRST and WEFT_JOBS_COUNT say which random jobs (20 from 0, 5 under
sanitizers).
"""
import math
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
SMALL = 32  # of widths of a shipped job; its parameters are a 1,024th, its times a 64th, and it has few replicas
SHIPPED = {"llama-small-3-fidelities": ["--order", "tp-cp-ep-dp-pp"], "moe-small-3-fidelities": []}
BY_TIME = "a text of SimAI has nothing beside a forward"
NO_WORD = ("SimAI's expert ranks are data ranks", "it has no schedule zb-h1")  # whatever the times are
FIRST, COUNT = (int(os.environ.get(f"WEFT_JOBS_{name}", default)) for name, default in (("FIRST", 0), ("COUNT", 5 if weft.is_sanitized() else 20)))


def check_forms(scenario, what, counts, words=()):
    """`scenario` runs a step of a model; the same with other traffic runs what was written of it."""
    told = weft.result_of("sim", scenario, *words, "--fidelity", "full", "--json")
    step_ms = told["full"]["step_ps"] / 1e9
    text = scenario.read_text()
    for form, traffic in FORMS.items():
        out = scenario.parent / f"{form}.out"
        done = weft.run("sim", scenario, "--fidelity", "full", "--export", form, "--out", out, "--force", *words)
        if form == "simai" and done.returncode == 2 and any(why in done.stderr for why in (BY_TIME, *NO_WORD)):
            counts["refused"] += BY_TIME in done.stderr
            counts["no word"] += BY_TIME not in done.stderr
            continue
        if not (done.returncode == 0 or check(False, f"{what} as {form}: {done.stderr.strip()[:200]}")):
            continue
        again = scenario.parent / f"{form}.yaml"
        again.write_text(re.sub(r"(?ms)^(traffic|sample):.*?(?=^\S|\Z)", "", text) + f"traffic: {{{traffic.format(out)}}}\n")
        qps = [] if form == "simai" else ["--set", f"transport.qps_per_connection={CHANNELS}", "--set", f"traffic.step_channels={CHANNELS}"]
        again_ms = weft.result_of("sim", again, *qps, "--json")["run"]["last_completion_ps"] / 1e9
        counts[form] += 1
        held = re.search(r"by packets the step takes ([\d.]+) ms, the text ([\d.]+)", done.stdout)
        if form == "simai":
            check(held and abs(float(held[1]) - step_ms) < 1e-3 and abs(float(held[2]) - again_ms) < 1e-3, f"{what}: {done.stdout.splitlines()[1]}")
        check(abs(again_ms - step_ms) < WITHIN * step_ms, f"{what} as {form}: {again_ms:.3f} ms of {step_ms:.3f}, {again_ms / step_ms - 1:+.2%}")


def small_of(text, name):
    """The shipped job, cut and scheduled as it is, with less of everything; ranks in SimAI's order."""
    def less(match):
        key, number, unit = match.groups()
        parts = {"hidden": SMALL, "ffn": SMALL, "expert_ffn": SMALL, "shared_ffn": SMALL, "query_rank": SMALL, "kv_rank": SMALL, "rope_dim": SMALL,
                 "head_dim": SMALL, "value_dim": SMALL, "vocab": SMALL, "sequence": SMALL, "extra_first": SMALL**2, "extra_last": SMALL**2,
                 "bucket": SMALL**2, "forward": 64, "backward": 64, "other": 64, "experts": 8, "ep": 8}
        number = float(number)
        if unit in ("ms", "s"):
            number, unit = number * {"ms": 1e3, "s": 1e6}[unit], "us"
        return f"  {key}: {max(1, round(number / parts[key]))}{unit}" if key in parts else match[0]

    text = re.sub(r"(?m)^  (\w+): ([\d.]+)(\w*)", less, text)
    text = re.sub(r"(?m)^  (order|device|gpus|rate|nic_rate):.*\n", "", text)
    text = re.sub(r"(?ms)^(inputs|domain|published):.*?(?=^\S|\Z)", "", text)
    text = re.sub(r"(?m)^name: .*", f"name: {name}", text)
    experts = int((re.findall(r"(?m)^  ep: (\d+)", text) or [1])[0])
    stages = int((re.findall(r"(?m)^  pp: (\d+)", text) or [1])[0])
    text = re.sub(r"(?m)^  dp: \d+", f"  dp: {max(2 if stages > 1 else 4, 2 * experts)}", text)
    ranks = math.prod(int(number) for number in re.findall(r"(?m)^  (?:tp|cp|pp|dp): (\d+)", text))
    return text, ranks


def check_shipped(folder, counts):
    for job in sorted((weft.SOURCE / "apps/models").glob("*.yaml")):
        text, ranks = small_of(job.read_text(), job.stem)
        (folder / "job.yaml").write_text(text)
        scenario = folder / "fabric.yaml"
        host = next(gpus for gpus in (8, 4, 2, 1) if ranks % gpus == 0)
        scenario.write_text(f"name: small\nfabric: {{nics: {ranks}, nics_per_host: {host}, nics_per_t0: {ranks}, t1_count: 0, nic_delay: 1us, "
                            "link_rate: 400Gb/s}\nscaleup: {rate: 450GB/s, delay: 1us}\ntraffic: {kind: model, model: job.yaml}\n")
        check_forms(scenario, f"{job.stem}, small, {ranks} ranks", counts)


def main():
    counts = {"refused": 0, "no word": 0, **{form: 0 for form in FORMS}}
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
        check_shipped(folder, counts)
        for seed in range(FIRST, FIRST + COUNT):
            scenario, what = program_random_jobs.draw(seed, folder)
            before = counts["no word"]
            check_forms(scenario, f"seed {seed}, {what}", counts)
            has_none = "zb-h1" in what or ("experts" in what and "tp 2" in what)
            check((counts["no word"] > before) == has_none, f"seed {seed}: {'no' if has_none else 'a'} text of SimAI can say it")
    check(counts["refused"] <= 0.25 * COUNT, f"{COUNT} random jobs, 3 and all shipped ones made small: {counts['simai']} have a text of SimAI, {counts['refused']} are refused by their times, "
          f"{counts['no word']} by what they are")
    sys.exit(1 if check.failed else 0)


if __name__ == "__main__":
    main()
