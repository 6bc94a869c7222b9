#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The systems that are shipped, one scenario each: every one runs as a small sample and says what it left out; collectives
are bound by what the fabric gives them; steps from a schedule hold what was published or assumed, and are what
docs/systems.md says; rings along the axes of a torus take the time of their closed form. Steps and small samples are
those of systems.txt to the picosecond: --write renews it, and a commit that does so says why."""
import json
import pathlib
import re
import sys

import weft
from weft import SOURCE, check, check_parts

TABLE = pathlib.Path(__file__).with_name("systems.txt")
exact = []
# scenario: options that make the sample small; messages that are not run; busbw of its collectives in GB/s, from and to;
# share of the step that is exposed by the schedule in %, from and to, None: no schedule
# Ceilings: NICs of a group in a host x payload rate. H100, Meta, A100 rings: 2 x 50, 50, 8 x 25 GB/s (A100: latency).
SYSTEMS = {
    "azure-gb200-llama405b": (["steps=8", "fill=4", "buckets=1"], None, (185, 192.4), (2.0, 2.2)),
    "azure-gb200-llama405b-112": (["steps=8", "fill=4", "buckets=1"], None, (185, 192.4), (2.0, 2.2)),
    "coreweave-gb300-deepseek-v3": (["steps=2", "fill=2"], "pp", None, (5, 9)),
    "nvidia-gb300-gpt-oss-20b": (["steps=16", "groups=1", "buckets=1"], None, (450, 1600), (15, 25)),
    "nvidia-h100-8192-quantum2": ([], "pp", (90, 98.5), (2, 5)),
    "meta-24k-roce": ([], "pp", (40, 48.9), (1, 4)),
    "a100-4096": (["steps=6", "fill=6"], None, None, (50, 90)),
    "uec": (["groups=2"], None, (150, 194.6), (1, 3)),
    "google-tpu-v5p-6144": (["steps=4", "fill=1"], None, (90, 98.5), None),
    "tpu-v3-1024": (["steps=4", "groups=2", "buckets=1"], None, (70, 80.8), None),
}


def sim(*words):
    done = weft.run("sim", *words, "--json")
    if done.returncode != 0:
        check(False, f"{' '.join(words)}: {done.stderr.strip()}")
        return None
    return json.loads(done.stdout)


def took(name, result):
    run = result["run"]
    exact.append(f"{name} sample {run['last_completion_ps']} {run['digest']}\n")


def imprecise(name, words):
    """Of rings with thousands of steps a small sample says nothing, and says so."""
    done = weft.run("sim", name, *words, "--json")
    result = json.loads(done.stdout)
    took(name, result)
    reasons = [one.get("time_ps_reason") for one in result["collectives"] if one["time_ps"] is None]
    check(done.returncode == 5 and "raise sample.steps" in done.stderr and reasons and all("stated error above 10 %" in one for one in reasons),
          f"{name}: a small sample gives no time")


def runs(name, sample, not_run, band):
    words = [word for one in sample for word in ("--set", "sample." + one)]
    if band is None:
        return imprecise(name, words)
    result = sim(name, *words)
    if result is None:
        return
    took(name, result)
    plan, run = result["plan"], result["run"]
    check(run["end"] == "done" and plan["sampled"] and plan["packets_run"] < plan["packets_all"], f"{name}: a sample of it runs to its end")
    check(plan["not_run"] == not_run, f"{name}: not run is {plan['not_run']}")
    rates = [one["busbw_bytes_per_s"] / 1e9 for one in result["collectives"]]
    check(rates and band[0] <= min(rates) and max(rates) <= band[1], f"{name}: collectives at {min(rates):.1f} to {max(rates):.1f} GB/s of busbw")
    origins = {one["origin"] for one in result["inputs"]}
    check({"fact", "assumed"} <= origins, f"{name}: says what is fact and what is assumed")


def schedule(name, band):
    result = sim(name, "--fidelity", "model")
    if result is None:
        return
    step = result["step"]
    exact.append(f"{name} model {step['step_ps']} {step['exposed_ps']}\n")
    share = 100 * step["exposed_ps"] / step["step_ps"]
    check(band[0] <= share <= band[1], f"{name}: {share:.2f} % of {step['step_ps'] / 1e9:.1f} ms exposed")
    if name == "coreweave-gb300-deepseek-v3":
        check(abs(step["step_ps"] / 1776e9 - 1) < 1e-4 and not step["times_assumed"], f"{name}: calibrated on 1.776 s")
        check(result["prediction"] is None, f"{name}: logs of another model predict nothing")
    elif "llama405b" not in name and name != "uec":
        check(step["times_assumed"], f"{name}: its times are assumed, and said to be")


def documented():
    """docs/systems.md, what packets expose: its first column is what closed forms expose now."""
    page = (SOURCE / "docs/systems.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| ([\w-]+) \| ([\d.]+)(?: ms)? \| [\d.]+ \|", page, re.M)
    now = {line.split()[0]: int(line.split()[3]) for line in exact if " model " in line}
    check({name for name, _ in rows} == set(now) - {"azure-gb200-llama405b-112"}, "docs/systems.md has a row of each system with a schedule")
    for name, exposed in rows:
        check(f"{now.get(name, 0) / 1e9:.3f}" == exposed, f"{name}: docs/systems.md says {exposed} ms")


def unchanged():
    if sys.argv[1:] == ["--write"]:
        TABLE.write_text("".join(exact), encoding="utf-8")
    old = TABLE.read_text(encoding="utf-8").splitlines(keepends=True)
    check(len(old) == len(exact), f"systems.txt has {len(old)} lines of {len(exact)}")
    for was, now in zip(old, exact):
        check(was == now, f"{now.strip()}" + ("" if was == now else f"; it was {was.strip()}"))


TORUS = """name: rings
fabric: {topology: torus, nics: %d, nics_per_t0: 1, torus_x: %d, torus_y: %d, torus_z: %d, link_rate: 600Gb/s,
         trunk_rate: 100Gb/s, nic_delay: 50ns, trunk_delay: 100ns, switch_delay: 100ns}
queue: {pfc: true, ecn: false, bytes: 1MB}
transport: {evs: 1, path: rotate}
cc: {algorithm: fixed}
traffic: {kind: ring, collective: all_reduce, bytes: %dB, axes: %s, channels: 1}
"""


# An all-reduce of S over d axes of n routers: S (1 - n^-d) / d over the rate of a link; latencies are 1 % and less.
def torus(folder):
    for axes, sides in (("x", (6, 3, 1)), ("xy", (6, 6, 1)), ("yz", (2, 6, 6)), ("xyz", (4, 4, 4))):
        path, total, count = pathlib.Path(folder, axes + ".yaml"), 96_000_000, len(axes)
        path.write_text(TORUS % (sides[0] * sides[1] * sides[2], *sides, total, axes))
        result = sim(str(path))
        if result is None:
            continue
        side = sides["xyz".index(axes[0])]
        expected = total * (1 - side ** -count) / count / (100e9 / 8 * 4096 / (4096 + 162))
        found = result["run"]["last_completion_ps"] / 1e12
        check(abs(found / expected - 1) < 0.02, f"all-reduce along {axes}: {found * 1e6:.1f} us, {expected * 1e6:.1f} expected")


# Two rings of four on two switches with one link between: packed they do not meet; dealt out each has half of the link.
def jobs():
    times = {}
    for variant in ("alone", "packed", "spread"):
        result = sim("two-jobs", "--variant", variant)
        times[variant] = [one["time_ps"] for one in result["collectives"]] if result is not None else [0]
    alone = times["alone"][0]
    bound = 32e6 * 2 * 3 / 4 / (100e9 / 8 * 4096 / (4096 + 162)) * 1e12
    check(len(times["alone"]) == 1 and 1 < alone / bound < 1.05, f"one job alone: {alone / bound:.3f} of the closed form")
    for variant, factor in (("packed", 1), ("spread", 2)):
        check(len(times[variant]) == 2 and all(abs(time / alone / factor - 1) < 0.03 for time in times[variant]),
              f"two jobs {variant}: interference factor {max(times[variant]) / max(alone, 1):.3f}, {factor} expected")


# Eight GPUs a host: the one slow hop in eight holds up its host at first, then the one before, and so on, for 150 steps.
SLOW_FILL = """name: slow-fill
fabric: {nics: 256, nics_per_host: 8, nics_per_t0: 16, t1_count: 16, link_rate: 200Gb/s, switch_delay: 250ns}
scaleup: {rate: 300GB/s, delay: 3us}
transport: {kind: rc, header: 162B, control: 178B}
cc: {algorithm: fixed}
traffic: {kind: ring, collective: all_reduce, bytes: 42MB, channels: 8, slices: 2, credits: 4}
"""


def slow_fill(folder):
    path = pathlib.Path(folder, "slow-fill.yaml")
    path.write_text(SLOW_FILL, encoding="utf-8")
    whole = sim(str(path))["collectives"][0]["time_ps"]
    part = sim(str(path), "--sample", "steps=200,fill=12")["collectives"][0]
    off, error = part["time_ps"] - whole, part["time_error_ps"]
    check(abs(off) <= error < 0.02 * whole, f"a ring that fills slowly: {off / 1e6:+.1f} of {whole / 1e6:.1f} us, +- {error / 1e6:.1f} stated")


REFUSED = [
    (["two-jobs", "--variant", "packed", "--set", "traffic.ranks=5"], "2 rings of 5 ranks, whole hosts each, do not go onto 8 NICs"),
    (["two-jobs", "--variant", "alone", "--set", "traffic.placement=random"], "traffic.placement has no effect here"),
    (["tpu-v3-1024", "--set", "traffic.jobs=2"], "rings along axes are one job, not 2"),
    (["ring-barrier", "--set", "traffic.axes=x"], "need fabric.topology torus"),
    (["tpu-v3-1024", "--set", "traffic.axes=z"], "a ring along z needs 3 routers, not 1"),
    (["tpu-v3-1024", "--set", "traffic.ranks=512"], "take every router once"),
    (["tpu-v3-1024", "--set", "traffic.axes=q"], "`q`"),
    (["a100-4096", "--set", "traffic.axes=x"], "traffic.axes"),
    (["uec", "--set", "traffic.model=palm-9"], "no job 'palm-9' is shipped; there are: "),
    (["uec", "--set", "fabric.nics=544", "--set", "fabric.nics_per_host=32", "--set", "fabric.nics_per_t0=32"],
     "544 GPUs are not a whole number of replicas of 64"),
]


def refusals():
    for words, says in REFUSED:
        done = weft.run("sim", *words)
        check(done.returncode == 2 and done.stdout == "" and says in done.stderr, f"{' '.join(words)}: {done.stderr.strip()}")


def main(folder):
    torus(folder)
    slow_fill(folder)
    jobs()
    refusals()
    for name, (sample, not_run, band, exposed) in SYSTEMS.items():
        runs(name, sample, not_run, band)
        if exposed is not None:
            schedule(name, exposed)
    documented()
    unchanged()


if __name__ == "__main__":
    weft.skip_when_sanitized()
    check_parts(main)
