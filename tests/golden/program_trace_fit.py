#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Times of a job from profiler traces, and from a list of its layers: traces made of known times give these times back; what a trace
lacks is told."""
import functools
import gzip
import json
import re

import weft
from weft import check, check_parts

JOB = """name: fitted
model: {layers: 8, hidden: 1024, heads: 8, ffn: 2816, vocab: 8192}
cut: {tp: 2, pp: 2, dp: 4}
step: {micro_batches: 4, sequence: 512}
times: {device: H100, forward: 7ms, backward: 8ms, other: 1ms}
inputs:
  - {of: times, origin: assumed, text: "made up"}
  - {of: model, origin: fact, text: "made up, too"}
"""
FORWARD, BACKWARD, OTHER, LOSS = 1000.0, 2500.0, 3000.0, 1.1 / 4  # microseconds; the loss of four layers' time
MICRO_BATCHES, STEPS = 4, 5
fit = functools.partial(weft.outcome, "trace")
refused = functools.partial(weft.refused, "trace")


def event(name, category, ts, dur, tid, **args):
    return {"ph": "X", "cat": category, "name": name, "ts": ts, "dur": dur, "tid": tid, "args": args}


class Rank:
    """Events of one rank: kernels run on two streams, later than the host launches them."""

    def __init__(self):
        self.events, self.correlation = [], 0

    def kernel(self, launch, thread, begin, dur, name="gemm", stream=7):
        self.correlation += 1
        self.events.append(event("cudaLaunchKernel", "cuda_runtime", launch, 1, thread, correlation=self.correlation))
        self.events.append(event(name, "kernel", begin, dur, stream, correlation=self.correlation, stream=stream))

    def step(self, number, begin, length, last):
        self.events.append(event(f"ProfilerStep#{number}", "user_annotation", begin, length, 1))
        self.events.append(event(f"ProfilerStep#{number}", "gpu_user_annotation", begin, length, 7))
        loss = 1 + LOSS * last
        at, host = begin + 500, begin + 10
        for _ in range(MICRO_BATCHES):
            half = FORWARD * loss / 2
            self.kernel(host, 1, at, half)
            self.kernel(host + 2, 1, at + half, half)
            self.kernel(host + 4, 1, at + 10, half, "elementwise", 9)  # beside the others
            self.kernel(host + 5, 1, at, 5000, "ncclDevKernel_AllGather", 20)
            at += FORWARD * loss
            self.events.append(event("autograd::engine::evaluate_function: MmBackward0", "cpu_op", host + 6, 10, 2))
            self.events.append(event("MmBackward0", "cpu_op", host + 7, 8, 2))
            self.kernel(host + 8, 2, at, BACKWARD * loss)
            at, host = at + BACKWARD * loss, host + 20
        self.events.append(event("Optimizer.step#AdamW.step", "user_annotation", host, 10, 1))
        self.kernel(host + 1, 1, at, OTHER)

    def write(self, path, rank):
        text = json.dumps({"distributedInfo": {"rank": rank, "world_size": 16}, "traceEvents": self.events})
        path.write_bytes(gzip.compress(text.encode()) if path.suffix == ".gz" else text.encode())
        return path


def trace(path, rank, length=30000.0):
    of = Rank()
    of.events.append(event("nothing", "kernel", 1, 5, 7, correlation=10**9))  # its launch is not in the file
    for number in range(STEPS):
        of.step(number, 1e9 + number * length, length, rank >= 8)
    return of.write(path, rank)


def check_fit(folder):
    job, fitted = folder / "job.yaml", folder / "fitted.yaml"
    job.write_text(JOB)
    first, last = trace(folder / "rank-0.json", 0), trace(folder / "rank-9.json.gz", 9)
    for files in ([first], [last], [first, last]):
        status, out, errors = fit(*files, "--fit", job)
        found = [int(word) for word in re.findall(r"(?:forward|backward|other): (\d+)ns", out)]
        check(status == 0 and all(abs(ns - 1000 * true) < 0.001 * 1000 * true for ns, true in zip(found, (FORWARD, BACKWARD, OTHER))),
              f"times come out of {len(files)} traces: {found} {errors.strip()}")
    check('"made up"' not in out and "made up, too" in out and "kernels of 2 profiler traces" in out, "other inputs stay")
    check("5 steps of 30.000 ms" in out and re.search(r"step with them: \d+\.\d+ ms, of which .* exposed; the traces' is 30.000, [-+]", out),
          "it says how well the step fits")
    fitted.write_text(out)
    plan = json.loads(weft.run("plan", fitted, "--json").stdout)
    check(plan["inputs"][0]["origin"] == "calibrated" and plan["step"]["forward_ps"] == int(FORWARD * 1e6), "what was written is a job")
    # a trace of just that step is fitted by it
    said = plan["step"]["step_ps"] / 1e6
    status, out, _ = fit(trace(folder / "own.json", 0, said), "--fit", job)
    check(status == 0 and re.search(r"[-+]0\.0\d %", out), "a trace of the job's own step is met")


def check_refusals(folder):
    job = folder / "job.yaml"
    job.write_text(JOB)
    bare = Rank()
    bare.kernel(0, 1, 0, 5)
    refused("no steps", [bare.write(folder / "a.json", 0), "--fit", job], "a.json: 0 steps (ProfilerStep#N)", "profiler.step()")
    bare.events.append(event("ProfilerStep#1", "user_annotation", 0, 100, 1))
    refused("no backward", [bare.write(folder / "a.json", 0), "--fit", job], "no kernel was launched by the autograd engine")
    of = Rank()
    of.step(0, 0, 30000, False)
    refused("a rank beyond", [of.write(folder / "a.json", 16), "--fit", job], "rank 16: the job has 16 ranks")
    (folder / "a.json").write_text(json.dumps({"traceEvents": of.events}))
    refused("which stage", [folder / "a.json", "--fit", job], "distributedInfo.rank is not there")
    refused("no JSON", [job, "--fit", job], "not JSON")
    refused("no such job", [folder / "a.json", "--fit", "llama-9"], "no job 'llama-9' is shipped")
    refused("--fit with --json", [folder / "a.json", "--fit", job, "--json"], "--fit")


MEASURED = """name: listed
model: {layers: 8, hidden: 1024, heads: 8, ffn: 2816, vocab: 8192}
cut: {pp: %d, dp: %d}
step: {micro_batches: 4, sequence: 512}
domain: {gpus: 8, rate: 450GB/s, nic_rate: 400Gb/s}
times:
  other: 3ms
  measured:
    - {part: layer, forward: 1ms, backward: 2ms}
    - {part: embedding, forward: 100us, backward: 300us}
    - {part: output, forward: 700us, backward: 900us}
inputs:
  - {of: times, origin: calibrated, text: "my own run"}
"""


def check_list(folder):
    """A step of one rank is the sum of its list; with stages each has its layers."""
    job = folder / "listed.yaml"
    job.write_text(MEASURED % (1, 1))
    plan = json.loads(weft.run("plan", job, "--json").stdout)
    once = 8 * 3e9 + (0.1 + 0.3 + 0.7 + 0.9) * 1e9
    check(plan["step"]["step_ps"] == 4 * once + 3e9, f"one rank: {plan['step']['step_ps']}")
    cut = json.loads(weft.run("plan", job, "--json", "--set", "pp=2").stdout)
    check(cut["step"]["forward_ps"] == 4e9 and cut["step"]["backward_ps"] == 8e9, "half of the layers take half of the time")
    job.write_text(MEASURED % (2, 1))
    two = json.loads(weft.run("plan", job, "--json").stdout)
    check(two["step"]["forward_ps"] == 4e9 and two["step"]["step_ps"] == cut["step"]["step_ps"], "the same, written so")
    slots = 4 * (12 + 1.6) * 1e9  # the last stage has no gap once it has begun
    check(slots < two["step"]["step_ps"] - 3e9 < slots + 2 * 13e9, f"a pipeline of two: {two['step']['step_ps']}")


if __name__ == "__main__":
    check_parts(check_fit, check_refusals, check_list)
