#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Eleven job files of models that are not shipped, written from docs/job-file.md alone: their parameters are those that their makers
publish; moved to each way of sharing, hybrid sharding among them, a rank sends the bytes of the closed forms, to the byte; small
copies of them run at all fidelities, and as one of several jobs; two run as they stand."""
import json
import pathlib
import re
import sys
import tempfile

import weft
from weft import check

QWEN = """name: qwen2.5-7b
model: {layers: 28, hidden: 3584, heads: 28, kv_heads: 4, ffn: 18944, vocab: 152064, qkv_bias: true}
cut: {tp: 4, dp: 8}
step: {micro_batches: 4, sequence: 4096}
times: {device: H100, efficiency: 40%}
inputs:
  - {of: model, origin: fact, text: "config.json of the model"}
  - {of: times.efficiency, origin: assumed, text: "a guess"}
"""
MIXTRAL = """name: mixtral-8x22b
model: {layers: 56, hidden: 6144, heads: 48, kv_heads: 8, experts: 8, experts_per_token: 2, expert_ffn: 16384, vocab: 32768}
cut: {tp: 4, ep: 8, pp: 2, dp: 8}
step: {micro_batches: 8, sequence: 4096}
times: {device: H200}
inputs:
  - {of: model, origin: fact, text: "config.json"}
"""
GEMMA = """name: gemma-2-9b
model: {layers: 42, hidden: 3584, heads: 16, kv_heads: 8, head_dim: 256, ffn: 14336, vocab: 256000, tied: true, post_norms: 2}
cut: {tp: 8, dp: 8}
step: {micro_batches: 4, sequence: 8192}
times: {device: H100}
"""
NEOX = """name: gpt-neox-20b
model: {layers: 44, hidden: 6144, heads: 64, ffn: 24576, gated: false, bias: true, norm: layer, vocab: 50432}
cut: {tp: 2, pp: 4, dp: 12}
step: {micro_batches: 32, samples: 4, sequence: 2048, recompute: full}
times: {device: A100}
"""
PHI = """name: phi-3-medium
model: {layers: 40, hidden: 5120, heads: 40, kv_heads: 10, ffn: 17920, vocab: 32064}
cut: {dp: 64}
step: {micro_batches: 2, sequence: 4096}
reduce: {kind: fsdp}
times: {device: H100}
"""
MISTRAL = """name: mistral-large-2
model: {layers: 88, hidden: 12288, heads: 96, kv_heads: 8, head_dim: 128, ffn: 28672, vocab: 32768}
cut: {tp: 8, pp: 4, dp: 8}
step: {micro_batches: 8, sequence: 8192, recompute: full}
times: {device: H200}
"""
OLMO = """name: olmo-2-13b
model: {layers: 40, hidden: 5120, heads: 40, head_norms: 80, ffn: 13824, vocab: 100352}
cut: {dp: 32}
step: {micro_batches: 2, sequence: 4096}
reduce: {kind: fsdp}
times: {device: H100}
"""
COMMAND = """name: command-r
model: {layers: 40, hidden: 8192, heads: 64, ffn: 22528, vocab: 256000, tied: true, shared_norm: true}
cut: {tp: 8, dp: 8}
step: {micro_batches: 4, sequence: 8192}
times: {device: B200}
"""
STARCODER = """name: starcoder2-7b
model: {layers: 32, hidden: 4608, heads: 36, kv_heads: 4, ffn: 18432, gated: false, bias: true, norm: layer, vocab: 49152, tied: true}
cut: {tp: 4, dp: 16}
step: {micro_batches: 4, sequence: 4096}
times: {device: A100}
"""
PHI_MOE = """name: phi-3.5-moe
model: {layers: 32, hidden: 4096, heads: 32, kv_heads: 8, experts: 16, experts_per_token: 2, expert_ffn: 6400, vocab: 32064,
        norm: layer, attention_bias: true, output_bias: 1}
cut: {ep: 8, dp: 16}
step: {micro_batches: 4, sequence: 4096}
times: {device: H100}
"""
MAVERICK = """name: llama-4-maverick
model: {layers: 48, hidden: 5120, heads: 40, kv_heads: 8, head_dim: 128, ffn: 16384, vocab: 202048, experts: 128, experts_per_token: 1,
        expert_ffn: 8192, shared_ffn: 8192, expert_every: 2}
cut: {ep: 8, dp: 16}
step: {micro_batches: 4, sequence: 4096}
times: {device: B200}
"""
# job file: parameters on the models' pages at Hugging Face; replicas of its small copy, by what its sizes are divided
JOBS = {
    "qwen": (QWEN, 7615616512, 8, 16),
    "mixtral": (MIXTRAL, 140630071296, 8, 16),
    "gemma": (GEMMA, 9241705984, 8, 16),
    # its page counts what both tensor ranks hold twice: a layer's four halves of norms and two biases of rows, and the last norm
    "neox": (NEOX, 20556201984 - (44 * (4 + 2) + 2) * 6144, 4, 4),
    "phi": (PHI, 13960238080, 16, 16),
    "mistral": (MISTRAL, 122610069504, 2, 32),
    "olmo": (OLMO, 13716198400, 16, 16),
    "command": (COMMAND, 34980831232, 8, 16),
    "starcoder": (STARCODER, 7173923840, 8, 16),
    "maverick": (MAVERICK, 400711848960, 16, 16),  # of 401,583,781,376: what sees is not in it
    "phi-moe": (PHI_MOE, 41873153344, 16, 16),
}
RANKS = 8
# reduces and gathers of all parameters in a step of M micro-batches, and how often an all-reduce counts
WAYS = {
    "": lambda m: (1, 1, 1),
    "reduce: {distributed_optimizer: false}": lambda m: (1, 0, 2),
    "reduce: {kind: ddp}": lambda m: (1, 0, 2),
    "reduce: {kind: ddp, sync: each}": lambda m: (m, 0, 2),
    "reduce: {kind: zero-1}": lambda m: (1, 1, 1),
    "reduce: {kind: zero-2}": lambda m: (m, 1, 1),
    "reduce: {kind: zero-3}": lambda m: (m, 2 * m, 1),
    "reduce: {kind: fsdp}": lambda m: (m, 2 * m, 1),
    "reduce: {kind: fsdp, reshard: false}": lambda m: (m, m, 1),
    "reduce: {kind: local, every: 16}": lambda m: (1, 0, 2),
}
SMALL = """name: small
fabric: {nics: %d, nics_per_host: 8, nics_per_t0: 16, t1_count: 16, link_rate: 400Gb/s}
scaleup: {rate: 450GB/s, delay: 1us}
traffic: {kind: %s}
"""


def planned(path):
    done = weft.run("plan", path, "--json")
    return json.loads(done.stdout) if check(done.returncode == 0, f"{path.stem}: it is planned {done.stderr.strip()}") else None


def moved(path, text, params):
    """All parameters on each of 8 ranks, shared in each way."""
    alone = re.sub(r"cut: .*", f"cut: {{dp: {RANKS}}}", re.sub(r"reduce: .*\n", "", text))
    micro = int(re.search(r"micro_batches: (\d+)", text)[1])
    for way, closed in WAYS.items():
        path.write_text(alone + way + "\n", encoding="utf-8")
        plan = planned(path)
        sums = {}
        for row in plan["messages"] if plan is not None else []:
            sums[row["kind"].split()[-1]] = sums.get(row["kind"].split()[-1], 0) + row["total_bytes"]
        reduces, gathers, twice = closed(micro)
        sent = [total * (RANKS - 1) // RANKS for total in (sums.get("reduce", 0) * twice, sums.get("gather", 0))]
        padded = params + -params % 128 if way == "" else params  # Megatron-LM's last bucket
        wanted = [2 * padded * count * (RANKS - 1) // RANKS for count in (reduces * twice, gathers)]
        check(sent == wanted, f"{path.stem}, {way or 'megatron'}: a rank sends {sent} of {wanted} bytes of gradients and parameters")


def hybrid_bytes(params, micro, shard, gathers):
    """What one of 8 ranks sends in a step: scatters and gathers among the ranks of a shard, all-reduces of a shard among the others."""
    same = RANKS // shard
    one = 2 * params * micro * (shard - 1) // shard
    return one, gathers * one, 2 * 2 * params * micro * (same - 1) // (shard * same)


def hybrids(path, text, params):
    """Hybrid sharding over all parameters; a model with experts is refused at its place."""
    alone = re.sub(r"cut: .*", f"cut: {{dp: {RANKS}}}", re.sub(r"reduce: .*\n", "", text))
    micro = int(re.search(r"micro_batches: (\d+)", text)[1])
    for kind, shard, gathers in (("fsdp", 2, 2), ("fsdp", 4, 2), ("zero-3", 4, 2), ("fsdp, reshard: false", 2, 1), ("zero-3", 1, 2)):
        way = f"reduce: {{kind: {kind}, within: {shard}}}"
        path.write_text(alone + way + "\n", encoding="utf-8")
        if "experts" in text:
            said = weft.run("plan", path).stderr
            check(f"{path}:" in said and "reduce.within: a model with experts has shards of all ranks" in said, f"{path.stem}, {way}: {said.strip()}")
            continue
        plan = planned(path)
        rows = {row["kind"]: row["total_bytes"] for row in plan["messages"]} if plan is not None else {}
        sent = (rows.get("dp reduce", 0) * (shard - 1) // shard, rows.get("dp gather", 0) * (shard - 1) // shard,
                2 * rows.get("dp across", 0) * (RANKS // shard - 1) // (RANKS // shard))
        wanted = hybrid_bytes(params, micro, shard, gathers)
        check(sent == wanted, f"{path.stem}, {way}: a rank sends {sent} of {wanted} bytes of gradients, parameters, shards")


def carries_hybrid(folder, path, text):
    """Packets of a small copy carry those bytes, and credits."""
    micro = int(re.search(r"micro_batches: (\d+)", text)[1])
    path.write_text(re.sub(r"cut: .*", f"cut: {{dp: {RANKS}}}", re.sub(r"reduce: .*\n", "", text)) + "reduce: {kind: fsdp, within: 4}\n", encoding="utf-8")
    scenario, plan = folder / "small.yaml", planned(path)
    scenario.write_text(SMALL.replace("host: 8, nics_per_t0: 16", "host: 4, nics_per_t0: 4") % (RANKS, f"model, model: {path.name}"), encoding="utf-8")
    done = weft.run("sim", scenario, "--fidelity", "full", "--json")
    if check(done.returncode == 0 and plan is not None, f"{path.stem}: hybrid sharding runs whole {done.stderr.strip()}"):
        full = json.loads(done.stdout)["full"]
        sent, wanted = full["fabric_bytes"] + full["scaleup_bytes"], RANKS * sum(hybrid_bytes(plan["parameters"], micro, 4, 2))
        check(0 <= sent - wanted < 0.001 * sent, f"{path.stem}: hybrid sharding: packets carry {sent} of {wanted} bytes, and credits")


def small_copy(text, dp, part):
    """A job of the same kind, cut as it is, of a few layers and of sizes divided by a number."""
    sizes = r"\b(hidden|head_dim|ffn|expert_ffn|shared_ffn|vocab): (\d+)"
    text = re.sub(sizes, lambda found: f"{found[1]}: {int(found[2]) // part}", text)
    text = re.sub(r"layers: \d+", "layers: 4", re.sub(r"micro_batches: \d+", "micro_batches: 4", text))
    return re.sub(r"dp: \d+", f"dp: {dp}", text)


def runs_small(folder, path, text):
    """At all fidelities, and beside a ring."""
    path.write_text(text, encoding="utf-8")
    plan, scenario = planned(path), folder / "small.yaml"
    ranks = plan["ranks"] if plan is not None else 8
    scenario.write_text(SMALL % (ranks, f"model, model: {path.name}"), encoding="utf-8")
    done = weft.run("sim", scenario, "--fidelity", "all", "--json")
    if check(done.returncode == 0, f"{path.stem}: a small copy runs at all fidelities {done.stderr.strip()}"):
        found = json.loads(done.stdout)
        model, sample, full = (found[depth] for depth in ("model", "sample", "full"))
        exposed, off = full["exposed_ps"], full["exposed_ps"] - sample["exposed_ps"]
        error, more, less = (sample[f"exposed_{key}_ps"] for key in ("error", "stages_more", "stages_less"))
        error += 0.04 * abs(exposed)
        check(-error - less <= off <= error + more, f"{path.stem}: all packets expose {exposed / 1e6:.1f} us, {off / 1e6:+.1f} beyond the sample, "
              f"+- {error / 1e6:.1f}, up to {more / 1e6:.1f} more, {less / 1e6:.1f} less")
        check(abs(full["step_ps"] / model["step_ps"] - 1) < 0.05,
              f"{path.stem}: packets take {full['step_ps'] / model['step_ps']:.3f} of the closed form's step")
    scenario.write_text(SMALL % ((ranks + 8 + 15) // 16 * 16, "jobs") + f"jobs:\n  - {{name: own, kind: model, model: {path.name}, ranks: {ranks}}}\n"
                        "  - {name: beside, kind: ring, bytes: 8MB, ranks: 8}\n", encoding="utf-8")
    done = weft.run("sim", scenario, "--json")
    check(done.returncode == 0 and [job["name"] for job in json.loads(done.stdout)["jobs"]] == ["own", "beside"],
          f"{path.stem}: one of two jobs {done.stderr.strip()}")


def runs_whole(folder, path, text):
    """As it stands, by closed form and as a sample."""
    path.write_text(text, encoding="utf-8")
    plan, scenario = planned(path), folder / "whole.yaml"
    ranks = plan["ranks"] if plan is not None else 8
    scenario.write_text(SMALL % (ranks, f"model, model: {path.name}") + "sample: {groups: 1, steps: 7, fill: 1, buckets: 2}\n", encoding="utf-8")
    done = weft.run("sim", scenario, "--fidelity", "sample", "--json")
    if not check(done.returncode == 0, f"{path.stem}: its sample runs {done.stderr.strip()}"):
        return
    found = json.loads(done.stdout)
    exposed, error, planned_ps = found["step"]["exposed_ps"], found["step"]["exposed_error_ps"], plan["step"]["exposed_ps"]
    check(found["terms"]["closed_ps"] == planned_ps, f"{path.stem}: what the plan exposes is the sample's closed form, {planned_ps / 1e9:.3f} ms")
    check(abs(exposed - found["terms"]["with_sacks_ps"]) < error, f"{path.stem}: packets expose {exposed / 1e9:.3f} +- {error / 1e9:.3f} ms")


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for job, (text, published, dp, part) in JOBS.items():
            path = folder / f"{job}.yaml"
            path.write_text(text, encoding="utf-8")
            plan = planned(path)
            params = plan["parameters"] if plan is not None else 0
            check(params == published, f"{job}: {params:,} parameters of {published:,} published")
            moved(path, text, published)
            hybrids(path, text, published)
            runs_small(folder, path, small_copy(text, dp, part))
            if "experts" not in text:
                carries_hybrid(folder, path, small_copy(text, dp, part))
        for job in ("qwen", "gemma"):
            runs_whole(folder, folder / f"{job}.yaml", JOBS[job][0])
    sys.exit(1 if check.failed else 0)


if __name__ == "__main__":
    main()
