#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""docs/published-steps.md: steps that a source gives with its cut, beside what a job file with a device comes to that
nobody calibrated. --write renews the table."""
import json
import pathlib
import sys

import weft
from weft import SOURCE, check, check_parts

PAGE = pathlib.Path(SOURCE, "docs", "published-steps.md")
MODELS = {
    "Llama 3 8B": "layers: 32, hidden: 4096, heads: 32, kv_heads: 8, ffn: 14336, vocab: 128256",
    "Llama 3 70B": "layers: 80, hidden: 8192, heads: 64, kv_heads: 8, ffn: 28672, vocab: 128256",
    "Llama 2 13B": "layers: 40, hidden: 5120, heads: 40, ffn: 13824, vocab: 32000",
    "Llama 2 70B": "layers: 80, hidden: 8192, heads: 64, kv_heads: 8, ffn: 28672, vocab: 32000",
    "Llama 3.1 405B": "layers: 126, hidden: 16384, heads: 128, kv_heads: 8, ffn: 53248, vocab: 128256",
}
FSDP = "reduce: {kind: fsdp}\nwire: {gradients: 4B}\n"
MEGATRON = "reduce: {aligned: true, bucket: 134217728}\n"
PIPELINE = "tp: 4, cp: 2, pp: 8, vpp: 8, layers_first: 1, layers_last: 1, order: tp-cp-ep-pp-dp"
STAGES = "tp: 8, pp: 8, layers_first: 15, layers_last: 15, "
CHUNKS = "tp: 8, pp: 8, vpp: 2, layers_first: 7, layers_last: 7, "
META = "tp: 8, pp: 16, vpp: 4, layers_first: 1, layers_last: 1, order: tp-cp-ep-pp-dp"


def tokens(of, per_second):
    return of / per_second


def paper(gpus, teraflops):
    """The paper's rate of a GPU as a step: 6 operations a parameter and token, and those of causal attention."""
    each = 6 * 405.853e9 + 6 * 126 * 16384 * 8192
    return 16 * 128 * 8192 * each / (gpus * teraflops * 1e12)


# model, GPUs, device, how it is cut, step, what else the file says, published step, where
RUNS = [
    ("Llama 3 8B", 64, "A100", "dp: 64", "sequence: 8192", FSDP, tokens(8192, 2904), "torchtitan, 2024, selective layers"),
    ("Llama 3 70B", 64, "A100", "dp: 64", "sequence: 8192, recompute: full", FSDP, tokens(8192, 331), "torchtitan, 2024"),
    ("Llama 2 13B", 64, "A100", "dp: 64", "sequence: 4096, samples: 2", FSDP, tokens(8192, 2162), "torchtitan, 2024"),
    ("Llama 2 70B", 64, "A100", "dp: 64", "sequence: 4096, samples: 2, recompute: full", FSDP, tokens(8192, 353), "torchtitan, 2024"),
    ("Llama 3 8B", 8, "H100", "dp: 8", "sequence: 8192, samples: 2", FSDP, tokens(16384, 5762), "torchtitan, 12/2024, selective"),
    ("Llama 3 8B", 8, "H100", "dp: 8", "sequence: 8192, samples: 2", FSDP, tokens(16384, 6667), "the same, compiled"),
    ("Llama 3 8B", 128, "H100", "dp: 128", "sequence: 8192, samples: 2", FSDP, tokens(16384, 5605), "torchtitan, 12/2024, selective"),
    ("Llama 3 8B", 128, "H100", "dp: 128", "sequence: 8192, samples: 2", FSDP, tokens(16384, 6514), "the same, compiled"),
    ("Llama 3 8B", 8, "H100 in fp8", "dp: 8", "sequence: 8192, samples: 2", FSDP, tokens(16384, 8532), "torchtitan, 12/2024, Float8"),
    ("Llama 3 70B", 256, "H100 in fp8", "tp: 8, dp: 32", "sequence: 8192, samples: 16, recompute: full", FSDP, tokens(16384, 829),
     "torchtitan, 12/2024, Float8"),
    ("Llama 3 70B", 256, "H100", "tp: 8, dp: 32", "sequence: 8192, samples: 16, recompute: full", FSDP, tokens(16384, 597.3),
     "torchtitan, 06/2025"),
    ("Llama 3 8B", 8, "H100 in fp8", "cp: 2, dp: 4", "sequence: 65536, recompute: full", FSDP, tokens(32768, 2540),
     "torchtitan, 12/2024, 64 Ki tokens"),
    ("Llama 3 8B", 8, "H100 in fp8", "cp: 4, dp: 2", "sequence: 131072, recompute: full", FSDP, tokens(32768, 1071),
     "torchtitan, 12/2024, 128 Ki tokens"),
    ("Llama 3 8B", 8, "H100 in fp8", "cp: 8", "sequence: 262144, recompute: full", FSDP, tokens(32768, 548),
     "torchtitan, 12/2024, 256 Ki tokens"),
    ("Llama 3.1 405B", 512, "H100 in fp8", STAGES + "dp: 8", "sequence: 8192, samples: 4, micro_batches: 8, recompute: full", FSDP,
     tokens(4096, 100), "torchtitan, 12/2024, 1F1B"),
    ("Llama 3.1 405B", 512, "H100 in fp8", CHUNKS + "dp: 8", "sequence: 8192, samples: 2, micro_batches: 16, recompute: full", FSDP,
     tokens(4096, 128), "the same, interleaved"),
    ("Llama 3.1 405B", 512, "H100 in fp8", STAGES + "dp: 8", "sequence: 32768, micro_batches: 8, recompute: full", FSDP,
     tokens(4096, 76), "torchtitan, 12/2024, 32 Ki tokens"),
    ("Llama 3.1 405B", 512, "H100 in fp8", STAGES + "cp: 2, dp: 4", "sequence: 65536, micro_batches: 8, recompute: full", FSDP,
     tokens(4096, 47), "the same, 64 Ki tokens"),
    ("Llama 3.1 405B", 512, "H100 in fp8", STAGES + "cp: 4, dp: 2", "sequence: 131072, micro_batches: 8, recompute: full", FSDP,
     tokens(4096, 31), "the same, 128 Ki tokens"),
    ("Llama 3.1 405B", 512, "H100 in fp8", STAGES + "cp: 8", "sequence: 262144, micro_batches: 8, recompute: full", FSDP,
     tokens(4096, 16), "the same, 256 Ki tokens"),
    ("Llama 3.1 405B", 8192, "H100", META + ", dp: 64", "sequence: 8192, micro_batches: 32", "wire: {gradients: 4B}\n", paper(8192, 430),
     "Llama 3 paper, 430 T/s a GPU"),
    ("Llama 3.1 405B", 16384, "H100", META + ", dp: 128", "sequence: 8192, micro_batches: 16", "wire: {gradients: 4B}\n", paper(16384, 400),
     "Llama 3 paper, 400 T/s a GPU"),
    ("Llama 3.1 405B", 512, "H200 in fp8", PIPELINE + ", dp: 8", "sequence: 8192, micro_batches: 144", MEGATRON, 50.0153,
     "MLPerf v5.0, log of Nebius"),
    ("Llama 3.1 405B", 2560, "GB200 in fp4", PIPELINE + ", dp: 40", "sequence: 8192, micro_batches: 24", MEGATRON, 3.18924,
     "MLPerf v5.1, log of NVIDIA"),
    ("Llama 3.1 405B", 5120, "GB200 in fp4", PIPELINE + ", dp: 80", "sequence: 8192, micro_batches: 16", MEGATRON, 2.22158,
     "MLPerf v5.1, log of NVIDIA"),
]


def job_of(run):
    model, _, device, cut, step, more, _, _ = run
    name, _, precision = device.partition(" in ")
    times = f"device: {name}" + (f", precision: {precision}" if precision else "")
    domain = "domain: {gpus: 64}\n" if name == "GB200" else ""
    return f"name: published\nmodel: {{{MODELS[model]}}}\ncut: {{{cut}}}\nstep: {{{step}}}\ntimes: {{{times}}}\n{domain}{more}"


def row_of(run, folder):
    path = folder / "job.yaml"
    path.write_text(job_of(run))
    done = weft.run("plan", path, "--json")
    check(done.returncode == 0, f"{run[0]} on {run[1]} {run[2]}: {done.stderr.strip()}")
    plan = json.loads(done.stdout)
    check(plan["ranks"] == run[1], f"  {run[1]} ranks")
    computed, published = plan["step"]["step_ps"] / 1e12, run[6]
    cut = plan["cut"]
    words = ", ".join(f"{name} {cut[name]}" for name in ("tp", "cp", "pp", "dp") if cut[name] > 1)
    exposed = plan["step"]["exposed_ps"] / plan["step"]["step_ps"]
    return (f"| {run[0]} | {run[1]:,} {run[2]} | {words} | {published:.3f} s | {computed:.3f} s | {computed / published - 1:+.0%} | "
            f"{exposed:.1%} | {run[7]} |\n")


def main(folder):
    table = "".join(row_of(run, folder) for run in RUNS)
    text = PAGE.read_text()
    before, line, rest = text.partition("|---|---|---|---|---|---|---|---|\n")
    whole = before + line + table + rest[rest.index("\nWhat it shows"):]
    if sys.argv[1:] == ["--write"]:
        PAGE.write_text(whole)
    check(whole == text, "docs/published-steps.md is what the program computes (--write renews it)")


if __name__ == "__main__":
    check_parts(main)
