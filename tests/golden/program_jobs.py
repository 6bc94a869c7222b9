#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Several jobs on one fabric: what each takes with the others and alone, against what can be worked out by hand, and what is
refused."""
import json

import weft
from weft import SOURCE, check, check_parts

HEAD = """fabric: {nics: 24, nics_per_t0: 4, t1_count: 4, planes: 1, link_rate: 100Gb/s}
limits: {time: 1s}
"""
# Rings over leaves 0 and 1, and over 1 and 2: of each ring's two trunks between leaves the half lies at leaf 1's ports.
OVERLAP = HEAD + """traffic: {kind: jobs}
jobs:
  - {name: left, kind: ring, collective: all_gather, bytes: 16MB, ranks: 4, placement: list, nics: 0-1 4-5}
  - {name: right, kind: ring, collective: all_gather, bytes: 16MB, ranks: 4, placement: list, nics: 6-7 8-9}
  - {name: apart, kind: ring, collective: all_gather, bytes: 16MB, ranks: 4, placement: list, nics: 16-17 20-21}
"""
LATER = (SOURCE / "apps/scenarios/jobs-two-rings.yaml").read_text(encoding="utf-8")


def near(found, expected, share, text):
    check(abs(found / expected - 1) <= share, f"{text}: {found:.4f}, {expected:.4f} expected within {share:.1%}")


def sim(*words, program="sim"):
    done = weft.run(program, *words, "--json")
    if done.returncode != 0:
        check(False, f"{' '.join(words)}: exit {done.returncode}: {done.stderr.strip()}")
        return None
    return json.loads(done.stdout)


def named(result):
    return {job["name"]: job for job in result["jobs"]}


# The small ring has half of the link for as long as it lasts: twice its time alone. The large one ends when both have had what
# they need of it: 4/3 of its own, which is three times the small one's.
def two_rings():
    result = sim("jobs-two-rings")
    sides = {side["name"]: named(side) for side in result["variants"]}
    for name, factor in (("small", 2), ("large", 4 / 3)):
        near(sides["lossless"][name]["interference_factor"], factor, 0.01, f"lossless, {name}: interference factor")
        near(sides["packed"][name]["interference_factor"], 1, 0.0001, f"packed, {name}: interference factor")
        check(sides["lossless"][name]["overlap_trunks"] == 1, f"{name} has no trunk of its own")
        check(sides["packed"][name]["overlap_trunks"] is None, f"packed, {name} uses no trunk")
    across = sides["across"]
    near(across["large"]["time_ps"], across["small"]["alone_ps"] + across["large"]["alone_ps"], 0.03, "both need the link in turn")
    bound = 16e6 * 2 * 3 / 4 / (100e9 / 8 * 4096 / (4096 + 162)) * 1e12
    near(across["small"]["alone_ps"] / bound, 1.02, 0.03, "the small ring alone over its closed form")


# Alone is what traffic.only gives, on the same seats.
def alone():
    whole = sim("jobs-two-rings", "--variant", "across")
    for name, job in named(whole).items():
        only = sim("jobs-two-rings", "--variant", "across", "--set", f"traffic.only={name}")
        check([one["name"] for one in only["jobs"]] == [name], f"only {name} runs")
        one = only["jobs"][0]
        check(one["time_ps"] == job["alone_ps"], f"{name} alone: {one['time_ps']} and {job['alone_ps']}")
        check(one["nics"] == job["nics"], f"{name} alone sits elsewhere")
        check(one["alone_ps"] is None and one["alone_ps_reason"] == "no others ran", f"{name} alone has nobody to compare with")


# Begun behind the other, a job is as fast as alone; twice takes twice as long.
def starts_and_rounds(folder):
    path = folder / "later.yaml"
    path.write_text(LATER.replace("nics: 2 3 6 7}", "nics: 2 3 6 7, start: 3ms}").replace("nics: 0 1 4 5}", "nics: 0 1 4 5, repeats: 2}")
                    .replace("bytes: 16MB", "bytes: 8MB"), encoding="utf-8")
    jobs = named(sim(str(path), "--variant", "across"))
    for name in jobs:
        near(jobs[name]["interference_factor"], 1, 0.01, f"{name} meets nobody: interference factor")
    check(jobs["large"]["start_ps"] == 3 * 10**9 and jobs["small"]["repeats"] == 2, "start and rounds are told")
    once = named(sim("jobs-two-rings", "--variant", "across"))["small"]["alone_ps"]
    near(jobs["small"]["alone_ps"], once, 0.02, "half the bytes, twice")


def overlap(folder):
    path = folder / "overlap.yaml"
    path.write_text(OVERLAP, encoding="utf-8")
    jobs = named(sim(str(path)))
    for name, other in (("left", "right"), ("right", "left")):
        shares = {row["with"]: row for row in jobs[name]["overlaps"]}
        near(shares[other]["trunks"], 0.5, 0.02, f"{name} shares trunks with {other}")
        check(shares["apart"]["trunks"] == 0, f"{name} shares no trunk with apart")
        check(shares["apart"]["spines"] == 1 and shares[other]["spines"] == 1, f"all go through the same spines: {shares}")
        near(jobs[name]["overlap_trunks"], 0.5, 0.02, f"{name} shares trunks")
    sent = sum(job["fabric_bytes"] for job in jobs.values())
    planes = sim(str(path))["planes"]["each"][0]["bytes"]
    check(sent == planes, f"bytes of jobs are those of NICs: {sent} and {planes}")


# Models, programs, files and rings beside each other; the same with real frames.
def mixed():
    jobs = named(sim("jobs-mixed"))
    check(sorted(jobs) == ["exchange", "file", "rings", "step"], f"jobs: {sorted(jobs)}")
    nics = [nic for job in jobs.values() for nic in job["nics"]]
    check(len(nics) == len(set(nics)) == 38, f"38 NICs, each of one job: {sorted(nics)}")
    for name, job in jobs.items():
        check(1 <= job["interference_factor"] < 3, f"{name}: interference factor {job['interference_factor']}")
    step = sim("llama-small-3-fidelities", "--fidelity", "full", "--set", "fabric.nics=16")
    near(jobs["step"]["alone_ps"], step["full"]["step_ps"], 0.2, "a step alone, on half of the planes and another fabric")
    frames = sim("jobs-two-rings", "--variant", "packed", "--ports", "memory", "--dilation", "1", program="emu")
    check(frames["run"]["digest"] == sim("jobs-two-rings", "--variant", "packed")["run"]["digest"], "frames change nothing")
    check(named(frames)["large"]["fabric_bytes"] == named(sim("jobs-two-rings", "--variant", "packed"))["large"]["fabric_bytes"],
          "frames are counted as packets are")


def models():
    sides = {side["name"]: named(side) for side in sim("jobs-two-models")["variants"]}
    for name in ("first", "second"):
        near(sides["packed"][name]["interference_factor"], 1, 0.0001, f"packed, {name}")
        check(1.03 < sides["spread"][name]["interference_factor"] < 1.3, f"spread, {name}: {sides['spread'][name]}")


JOB = "  - {name: a, kind: ring, bytes: 1MB, ranks: 4}\n"
REFUSED = [
    ("traffic: {kind: jobs}\n", "jobs is missing"),
    ("traffic: {kind: jobs}\njobs: []\n", "at least one job is needed"),
    ("traffic: {kind: permutation, bytes: 1MB}\njobs:\n" + JOB, "jobs has no effect here; it needs traffic.kind jobs"),
    ("traffic: {kind: jobs, only: b}\njobs:\n" + JOB, "there is no job b"),
    ("traffic: {kind: jobs}\njobs:\n" + JOB + JOB, ":5:12: jobs[].name: a appears twice"),
    ("traffic: {kind: jobs}\njobs:\n  - {name: a b, kind: ring, bytes: 1MB, ranks: 4}\n", "a name is one word"),
    ("traffic: {kind: jobs}\njobs:\n  - {name: a, kind: ring, ranks: 4}\n", "jobs[].bytes is missing; jobs[].kind ring or collective"),
    ("traffic: {kind: jobs}\njobs:\n  - {name: a, kind: ring, bytes: 1MB, ranks: 25}\n", "25 is more than fabric.nics, 24"),
    ("traffic: {kind: jobs}\njobs:\n  - {name: a, kind: ring, bytes: 1MB, ranks: 4, model: x}\n", "jobs[].model has no effect here"),
    ("traffic: {kind: jobs}\njobs:\n  - {name: a, kind: ring, bytes: 1MB, ranks: 4, stride: 3}\n", "it needs jobs[].placement spread"),
    ("traffic: {kind: jobs}\njobs:\n  - {name: a, kind: ring, bytes: 1MB, ranks: 4, collective: broadcast}\n", "a ring does no broadcast"),
    ("traffic: {kind: jobs}\njobs:\n  - {name: a, kind: model, model: x, ranks: 8}\n", "jobs[].model: no job 'x' is shipped; there are: "),
    ("traffic: {kind: jobs}\njobs:\n  - {name: a, kind: model, model: llama-small, ranks: 12}\n", ":4: 12 GPUs are not a whole number of replicas of 8"),
    ("traffic: {kind: jobs}\njobs:\n  - {name: a, kind: ring, bytes: 1MB, ranks: 4, placement: list}\n", "jobs[].nics is missing"),
    ("traffic: {kind: jobs}\njobs:\n" + JOB + "  - {name: b, kind: ring, bytes: 1MB, ranks: 2, placement: list, nics: 3 4}\n",
     ":5: NIC 3 is that of job 1 already"),
    ("traffic: {kind: jobs}\njobs:\n" + JOB + "  - {name: b, kind: ring, bytes: 1MB, ranks: 24}\n", ":5: no room: 20 of its 24 ranks"),
    ("traffic: {kind: jobs}\njobs:\n  - {name: a, kind: goal, file: nowhere.goal, ranks: 4}\n", "nowhere.goal: cannot be read"),
    ("traffic: {kind: jobs}\njobs:\n  - {name: a, kind: goal, file: exchange.goal, ranks: 4}\n",
     ":4: its file is of 6 ranks, but jobs[].ranks is 4"),
    ("traffic: {kind: jobs}\njobs:\n  - {name: a, kind: collective, collective: all_reduce, algorithm: pat, bytes: 1MB, ranks: 4}\n", ":4: "),
    ("traffic: {kind: jobs}\nfaults: [{kind: straggler, at: {host: 0}, rate: 50%}]\njobs:\n" + JOB, "a straggler has no effect here"),
]


def refusals(folder):
    path = folder / "refused.yaml"
    (folder / "exchange.goal").write_text((SOURCE / "apps/scenarios/exchange.goal").read_text(encoding="utf-8"),
                                          encoding="utf-8")
    for text, says in REFUSED:
        path.write_text(HEAD.splitlines()[0] + "\n" + text, encoding="utf-8")
        done = weft.run("sim", path)
        check(done.returncode == 2 and done.stdout == "" and says in done.stderr, f"{text}: {done.returncode}: {done.stderr.strip()}")
    for words, says in ((["--sample", "steps=2"], "--sample has no effect here"), (["--fidelity", "model"], "traffic.kind must be model"),
                        (["--set", "traffic.ranks=4"], "traffic.ranks has no effect here")):
        done = weft.run("sim", "jobs-two-rings", "--variant", "across", *words)
        check(done.returncode == 2 and done.stdout == "" and says in done.stderr, f"{words}: {done.stderr.strip()}")


def main(folder):
    starts_and_rounds(folder)
    overlap(folder)
    refusals(folder)
    two_rings()
    alone()
    mixed()
    models()
    print(f"jobs side by side: {check.failed} complaints")


check_parts(main)
