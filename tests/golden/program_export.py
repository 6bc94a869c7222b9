#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A job, written as a trace and read again over the same fabric, takes the time that it took. Chakra's collectives run on the
same rings, so digests are the same. GOAL has messages alone: the slices of a ring and the credits that let them go. The last
credits of a ring, which nobody waits for, are not among them, so what they take of the lines is missing: less than 0.02 %."""
import json

import weft
from weft import check, check_parts

# one switch that never marks, trims or drops, and a window that is never full: nothing but lines and delays
IDEAL = ("fabric: {topology: leaf-spine, nics: 8, nics_per_t0: 8, t1_count: 1, link_rate: 400Gb/s, nic_delay: 1us,"
         " trunk_delay: 1us, switch_delay: 0ns}\n"
         "transport: {path: rotate, completion: sack}\nqueue: {trim: false, ecn: false}\ncc: {algorithm: fixed, window: 16MB}\n")
HOSTS = ("fabric: {topology: clos, nics: 16, nics_per_host: 2, planes: 2, nics_per_t0: 8, t1_count: 4, link_rate: 100Gb/s}\n"
         "scaleup: {rate: 450GB/s, delay: 900ns}\n")
LAST_CREDITS = 2e-4
SHARED = 0.05  # of GOAL, where two channels between the same two NICs share a connection


def ran(*words):
    done = weft.run(*words)
    check(done.returncode == 0, " ".join(map(str, words[:2])) + " " + done.stderr.strip())
    return done.stdout


def run(folder, name, fabric, traffic):
    path = folder / f"{name}.yaml"
    path.write_text(f"name: {name}\n{fabric}traffic: {{{traffic}}}\n")
    told = json.loads(ran("sim", path, "--json"))
    return told["run"]["last_completion_ps"], told["run"]["digest"]


def check_job(folder, fabric, traffic, keys="", tolerance=0.0):
    """`keys` say how collectives are cut: a trace says what they are, not how they run."""
    name = f"job-{len(list(folder.glob('job-*.yaml')))}"
    keys = keys and f", {keys}"
    took, digest = run(folder, name, fabric, traffic + keys)
    for form in ("chakra", "goal"):
        ran("sim", folder / f"{name}.yaml", "--export", form, "--out", folder / f"{name}.{form}")
    again = run(folder, f"chakra-{name}", fabric, f"kind: trace, trace: {folder}/{name}.chakra{keys}")
    check(again == (took, digest), f"  Chakra of {traffic}{keys}: {again[0] / 1e6:.3f} us of {took / 1e6:.3f}, the same digest")
    goal, _ = run(folder, f"goal-{name}", fabric, f"kind: goal, file: {folder}/{name}.goal/program.goal")
    check(abs(goal / took - 1) <= tolerance, f"  GOAL: {goal / 1e6:.3f} us, {goal / took - 1:+.2e}, at most {tolerance:g}")


JOB = """name: exported
model: {layers: 4, hidden: 512, heads: 8, ffn: 1536, vocab: 4096}
cut: {dp: 8}
step: {micro_batches: 2, sequence: 256}
times: {forward: 1ms, backward: 2ms}
"""


def check_step(folder, way):
    """A training step whose every packet runs, written and read again: within a percent of its time."""
    (folder / "job.yaml").write_text(JOB + way + "\n")
    scenario = folder / "step.yaml"
    scenario.write_text(f"name: step\n{IDEAL}traffic: {{kind: model, model: job.yaml}}\n")
    took = json.loads(ran("sim", scenario, "--fidelity", "full", "--json"))["full"]["step_ps"]
    for form, traffic in (("chakra", "kind: trace, trace: {}"), ("goal", "kind: goal, file: {}/program.goal")):
        out = folder / f"step.{form}"
        ran("sim", scenario, "--fidelity", "full", "--export", form, "--out", out, "--force")
        again, _ = run(folder, f"{form}-step", IDEAL, traffic.format(out))
        check(abs(again / took - 1) < 0.01, f"  {form} of a step, {way or 'megatron'}: {again / 1e9:.3f} ms of {took / 1e9:.3f}")


def check_copies(folder):
    """A job of 4 of 8 NICs is a trace of 4 ranks, of which there is room for two copies."""
    scenario, out = folder / "part.yaml", folder / "part"
    scenario.write_text(f"name: part\n{IDEAL}traffic: {{kind: ring, collective: all_reduce, ranks: 4, bytes: 1MB}}\n")
    ran("sim", scenario, "--export", "chakra", "--out", out)
    nics = json.loads(ran("sim", scenario, "--trace", out, "--set", "traffic.copies=2", "--json"))["goodput"]["nics_receiving"]
    check(len(list(out.glob("*.et"))) == 4 and nics == 8, f"{len(list(out.glob('*.et')))} ranks, twice on {nics} NICs")


def main(folder):
    for kind in ("all_reduce", "all_gather", "reduce_scatter"):
        ring = f"kind: ring, collective: {kind}, ranks: 8, bytes: 4MB"
        check_job(folder, IDEAL, ring, "channels: 1, form: barrier")
        check_job(folder, IDEAL, ring, "channels: 1, chunk: 128KiB, slices: 2, credits: 4", LAST_CREDITS)
    check_job(folder, IDEAL, "kind: ring, collective: all_reduce, ranks: 8, bytes: 40MB", "channels: 4", LAST_CREDITS)
    check_job(folder, HOSTS, "kind: ring, collective: all_reduce, ranks: 16, bytes: 4MB", "channels: 4", SHARED)
    for kind, algorithm in (("all_reduce", "tree"), ("all_reduce", "double_tree"), ("all_to_all", "direct"),
                            ("all_reduce", "halving_doubling"), ("all_gather", "pat"), ("broadcast", "ring")):
        check_job(folder, IDEAL, f"kind: collective, collective: {kind}, algorithm: {algorithm}, ranks: 8, bytes: 1MB, channels: 2")
    check_copies(folder)
    for way in ("", "ddp", "zero-1", "zero-2", "fsdp", "fsdp, within: 4", "local, every: 8"):
        check_step(folder, way and f"reduce: {{kind: {way}}}")


if __name__ == "__main__":
    check_parts(main)
