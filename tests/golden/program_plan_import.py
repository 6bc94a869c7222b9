#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""weft plan --import: configurations of public models, written by hand from their published sizes, have the number of parameters
that their makers publish, or one whose difference is known."""
import json
import os
import pathlib
import subprocess
import sys
import tempfile

WEFT = os.environ["WEFT"]
failed = 0


def llama(layers, hidden, heads, kv_heads, ffn, vocab, **more):
    return {"model_type": "llama", "num_hidden_layers": layers, "hidden_size": hidden, "num_attention_heads": heads,
            "num_key_value_heads": kv_heads, "intermediate_size": ffn, "vocab_size": vocab, "tie_word_embeddings": False,
            "max_position_embeddings": 4096, "torch_dtype": "bfloat16", **more}


def gpt2(layers, hidden, heads):
    return {"model_type": "gpt2", "n_layer": layers, "n_embd": hidden, "n_head": heads, "n_positions": 1024, "vocab_size": 50257}


def neox(layers, hidden, heads, vocab):
    return {"model_type": "gpt_neox", "num_hidden_layers": layers, "hidden_size": hidden, "num_attention_heads": heads,
            "intermediate_size": 4 * hidden, "vocab_size": vocab, "tie_word_embeddings": False, "max_position_embeddings": 2048}


QWEN2, QWEN3 = {"model_type": "qwen2"}, {"model_type": "qwen3", "head_dim": 128}
DEEPSEEK = {
    "model_type": "deepseek_v3", "q_lora_rank": 1536, "kv_lora_rank": 512, "qk_nope_head_dim": 128, "qk_rope_head_dim": 64,
    "v_head_dim": 128, "n_routed_experts": 256, "num_experts_per_tok": 8, "moe_intermediate_size": 2048, "n_shared_experts": 1,
    "first_k_dense_replace": 3}
# model: its configuration, what its maker's model page counts, and what is known to be missing here
MODELS = {
    "Llama 2 7B": (llama(32, 4096, 32, 32, 11008, 32000), 6738415616, 0),
    "Llama 2 13B": (llama(40, 5120, 40, 40, 13824, 32000), 13015864320, 0),
    "Llama 2 70B": (llama(80, 8192, 64, 8, 28672, 32000), 68976648192, 0),
    "Llama 3.1 8B": (llama(32, 4096, 32, 8, 14336, 128256), 8030261248, 0),
    "Llama 3.1 70B": (llama(80, 8192, 64, 8, 28672, 128256), 70553706496, 0),
    "Llama 3.1 405B": (llama(126, 16384, 128, 8, 53248, 128256), 405853388800, 0),
    "Llama 3.2 1B": (llama(16, 2048, 32, 8, 8192, 128256, head_dim=64, tie_word_embeddings=True), 1235814400, 0),
    "Llama 3.2 3B": (llama(28, 3072, 24, 8, 8192, 128256, head_dim=128, tie_word_embeddings=True), 3212749824, 0),
    "TinyLlama 1.1B": (llama(22, 2048, 32, 4, 5632, 32000), 1100048384, 0),
    "Yi 34B": (llama(60, 7168, 56, 8, 20480, 64000), 34388917248, 0),
    "Mistral 7B": (llama(32, 4096, 32, 8, 14336, 32000, model_type="mistral"), 7241732096, 0),
    "Mixtral 8x7B": (llama(32, 4096, 32, 8, 14336, 32000, model_type="mixtral", num_local_experts=8, num_experts_per_tok=2), 46702792704, 0),
    "Mixtral 8x22B": (llama(56, 6144, 48, 8, 16384, 32000, model_type="mixtral", num_local_experts=8, num_experts_per_tok=2),
                      140620634112, 0),
    "Phi 3 mini": (llama(32, 3072, 32, 32, 8192, 32064, model_type="phi3"), 3821079552, 0),
    "Qwen2.5 0.5B": (llama(24, 896, 14, 2, 4864, 151936) | QWEN2 | {"tie_word_embeddings": True}, 494032768, 0),
    "Qwen2.5 7B": (llama(28, 3584, 28, 4, 18944, 152064) | QWEN2, 7615616512, 0),
    "Qwen2.5 72B": (llama(80, 8192, 64, 8, 29568, 152064) | QWEN2, 72706203648, 0),
    "Qwen3 0.6B": (llama(28, 1024, 16, 8, 3072, 151936) | QWEN3 | {"tie_word_embeddings": True}, 596049920, 0),
    "Qwen3 8B": (llama(36, 4096, 32, 8, 12288, 151936) | QWEN3, 8190735360, 0),
    "Qwen3 30B-A3B": (llama(48, 2048, 32, 4, 6144, 151936) | QWEN3 | {
        "model_type": "qwen3_moe", "num_experts": 128, "num_experts_per_tok": 8, "moe_intermediate_size": 768}, 30532122624, 0),
    "Gemma 7B": ({key: value for key, value in llama(28, 3072, 16, 16, 24576, 256000, head_dim=256).items() if key[0] != "t"} | {
        "model_type": "gemma"}, 8537680896, 0),
    "Gemma 2 9B": ({key: value for key, value in llama(42, 3584, 16, 8, 14336, 256000, head_dim=256).items() if key[0] != "t"} | {
        "model_type": "gemma2"}, 9241705984, 0),
    "GPT-2": (gpt2(12, 768, 12), 124439808, 0),
    "GPT-2 XL": (gpt2(48, 1600, 25), 1557611200, 0),
    "Pythia 6.9B": (neox(32, 4096, 32, 50432), 6857302016, 0),
    "DeepSeek-V2-Lite": (llama(27, 2048, 16, 16, 10944, 102400) | DEEPSEEK | {
        "model_type": "deepseek_v2", "q_lora_rank": None, "n_routed_experts": 64, "num_experts_per_tok": 6, "moe_intermediate_size": 1408,
        "n_shared_experts": 2, "first_k_dense_replace": 1}, 15706484224, 0),
    "DeepSeek-V2": (llama(60, 5120, 128, 128, 12288, 102400) | DEEPSEEK | {
        "model_type": "deepseek_v2", "n_routed_experts": 160, "num_experts_per_tok": 6, "moe_intermediate_size": 1536, "n_shared_experts": 2,
        "first_k_dense_replace": 1}, 235741434880, 0),
    # its routers also have a number for each expert that gradients do not reach
    "DeepSeek-V3": (llama(61, 7168, 128, 128, 18432, 129280) | DEEPSEEK, 671026419200, 58 * 256),
}


READS = "--import reads a config.json (JSON), Megatron-LM's flags or torchtitan's TOML; this file is"


def run(*words):
    done = subprocess.run([WEFT, "plan", *words], capture_output=True, text=True, timeout=600)
    return done.returncode, done.stdout, done.stderr


def expect(is_good, what):
    global failed
    failed += not is_good
    print("ok:" if is_good else "not ok:", what)


TITAN = """# a job of torchtitan
[job]
dump_folder = "./outputs"  # of checkpoints
[model]
name = "llama3"
flavor = "8B"
converters = ["float8"]
[training]
local_batch_size = 2
seq_len = 8192
[parallelism]
data_parallel_replicate_degree = 4
data_parallel_shard_degree = 8
tensor_parallel_degree = 2
[activation_checkpoint]
mode = "full"
"""


def torchtitan(config, job):
    """A configuration of torchtitan, what it does not say, and what is none."""
    config.write_text(TITAN)
    status, out, said = run("--import", config)
    expect(status == 0 and "to be filled in: times." in out and "# not used of the configuration: job.dump_folder model.converters\n" in out,
           f"torchtitan's configuration {said.strip()}")
    job.write_text(out)
    plan = json.loads(run(job, "--json")[1])
    expect(plan["parameters"] == 8030261248 and plan["ranks"] == 64 and plan["cut"]["samples"] == 2, "Llama 3 8B on 64 ranks")
    unit, params = 4, 8030261248 // 2  # two tensor ranks; norms are whole on each
    sums = {row["kind"]: row["total_bytes"] for row in plan["messages"]}
    expect(abs(sums["dp across"] - unit * params / 8) < 0.001 * sums["dp across"] and "dp reduce" in sums, "shards of 8, summed across 4 replicas")
    config.write_text(TITAN.replace("shard_degree = 8", "shard_degree = -1"))
    expect("to be filled in: cut.dp (shards" in run("--import", config)[1], "shards that the launch decides are not known")
    config.write_text(TITAN.replace("shard_degree = 8", "shard_degree = 1"))
    expect("kind: ddp" in run("--import", config)[1], "replicas alone are DDP")
    config.write_text(TITAN.replace("local_batch_size = 2", "local_batch_size = 2\nglobal_batch_size = 256"))
    expect("micro_batches: 4" in run("--import", config)[1], "accumulation from the whole batch")
    for old, new, says in (('flavor = "8B"', 'flavor = "9B"', "flavor 9B is not known; these are: llama3 8B"),
                           ("seq_len = 8192", "seq_len = 8k", "training.seq_len needs a whole number"),
                           ("seq_len = 8192", "seq_len = 8192\nseq_len = 1", ":11: this key is here twice"),
                           ("seq_len = 8192", "seq_len", ":10: neither [section] nor key = value"),
                           ('dump_folder = "./outputs"', 'dump_folder = "./outputs', ":3: a text that does not end"),
                           ('["float8"]', '["float8",', ":7: a list over several lines"),
                           ("[training]", "[training", ":8: not the name of a section"),
                           ("tensor_parallel_degree = 2", "tensor_parallel_degree = -1", "may be -1")):
        config.write_text(TITAN.replace(old, new))
        status, out, said = run("--import", config)
        expect(status == 2 and out == "" and f"{config}" in said and says in said, said.strip())


def main():
    with tempfile.TemporaryDirectory() as folder:
        config, job = pathlib.Path(folder) / "config.json", pathlib.Path(folder) / "job.yaml"
        for name, (model, published, missing) in MODELS.items():
            config.write_text(json.dumps(model))
            status, out, said = run("--import", config)
            job.write_text(out)
            expect(status == 0 and "Not known, to be filled in: cut" in out, f"{name}: imported {said.strip()}")
            expect("{of: model, origin: fact," in out, f"{name}: its sizes are facts: {out}")
            status, out, said = run(job, "--json")
            params = json.loads(out)["parameters"] if status == 0 else 0
            expect(params + missing == published, f"{name}: {params:,} of {published:,} {said.strip()}")
        flags = ("--num-layers 96 --hidden-size 12288 --num-attention-heads 96 --seq-length 2048 --vocab-size 50257 \\\n"
                 "--tensor-model-parallel-size 4 --pipeline-model-parallel-size 6 --num-layers-per-virtual-pipeline-stage 2\n"
                 "--micro-batch-size 1 --global-batch-size 2904 --max-position-embeddings 2048 --use-distributed-optimizer --grad-reduce-in-bf16 --bf16 --lr 1e-4\n")
        config.write_text("torchrun --nproc_per_node 8 pretrain_gpt.py \\\n  " + flags)
        launched = run("--import", config)
        config.write_text(flags)
        status, out, said = run("--import", config)
        expect(launched[0] == 0 and launched[1].replace(" nproc_per_node", "") == out, f"a line that launches it {launched[2].strip()}")
        expect(status == 0 and "micro_batches x cut.dp is 2904" in out and "# not used of the flags: bf16 lr\n" in out,
               f"Megatron's flags {said.strip()}")
        job.write_text(out.replace("  samples:", "  micro_batches: 6\n  samples:"))
        plan = json.loads(run(job, "--json")[1])
        # GPT-3; cut as the launch file of the MLPerf run has it
        expect(plan["parameters"] == 96 * (12 * 12288**2 + 13 * 12288) + 12288 * (50257 + 2048 + 2) and plan["cut"]["vpp"] == 8,
               f"they make GPT-3: {plan['parameters']:,} {plan['cut']}")
        expect("{of: model cut step wire reduce, origin: fact," in out, "nothing in doubt is a fact")
        config.write_text(flags + "--no-position-embedding\n")
        bare = run("--import", config)[1]
        expect("extra_first" in out and "extra_first" not in bare and "origin: assumed" not in bare, "no learned positions, if a flag says so")
        config.write_text(json.dumps(MODELS["Qwen3 30B-A3B"][0] | {"decoder_sparse_step": 1, "mlp_only_layers": []}))
        expect(run("--import", config)[0] == 0, "experts in every layer, said as Qwen3 does")
        config.write_text(flags + "--qk-layernorm --multi-latent-attention --save out\n")
        status, doubted, said = run("--import", config)
        expect("{of: model, origin: assumed, text: \"not known here, and may change it: qk-layernorm multi-latent-attention" in doubted and
               "  - {of: cut step wire reduce, origin: fact," in doubted and "assumed for that: qk-layernorm multi-latent-attention" in doubted and
               "# not used of the flags: bf16 lr qk-layernorm multi-latent-attention save" in doubted, f"flags that may change the model {said.strip()}")
        job.write_text(doubted.replace("  samples:", "  micro_batches: 6\n  samples:"))
        origins = {row["of"]: row["origin"] for row in json.loads(run(job, "--json")[1])["inputs"]}
        expect(origins == {"model": "assumed", "cut step wire reduce": "fact"}, f"the plan says so: {origins}")
        config.write_text(flags + "--expert-model-parallel-size 1 --expert-tensor-parallel-size 1\n")
        expect(run("--import", config)[1] == out, "1 of a model without experts says nothing")
        config.write_text(flags + "--num-experts 8 --moe-router-topk 2 --expert-model-parallel-size 2\n")
        job.write_text(run("--import", config)[1].replace("  samples:", "  micro_batches: 6\n  samples:").replace("  ep: 2", "  ep: 2\n  dp: 2"))
        status, out, said = run(job)
        expect(status == 0 and "  tp 4, cp 1, ep 2, etp 4, pp 6, vpp 8, dp 2; 6 micro-batches" in out, f"tensor ranks cut experts: {out[:200]}{said.strip()}")
        expect(json.loads(run(job, "--json")[1])["cut"]["etp"] == 4, "in JSON, too")
        for schedule in ("1f1b", "zb-h1"):
            job.write_text("name: a\nmodel: {layers: 2, hidden: 64, heads: 8, vocab: 9, ffn: 8}\nstep: {sequence: 8, micro_batches: 2}\n"
                           f"cut: {{pp: 2, schedule: {schedule}}}\n")
            expect(json.loads(run(job, "--json")[1])["cut"]["schedule"] == schedule, f"JSON names the schedule: {schedule}")
        for text, says in (("--num-layers", "--num-layers needs a value"), (flags + "--hidden-size 3", "--hidden-size is here twice"),
                           ("--num-layers 0", "needs a whole number from 1 on"), ("--swiglu 3", "--swiglu has no value"),
                           ("--normalization Group", "is LayerNorm or RMSNorm"), ("--num-layers 3", "--hidden-size is missing")):
            config.write_text(text)
            status, out, said = run("--import", config)
            expect(status == 2 and out == "" and f"{config}: " in said and says in said, said.strip())
        torchtitan(config, job)
        config.write_text(json.dumps(llama(2, 64, 4, 4, 128, 100, strange_thing=7)))
        status, out, _ = run("--import", config)
        expect("# not used of config.json: torch_dtype strange_thing\n" in out, "what is not used is listed")
        expect('{of: model, origin: assumed, text: "config.json; not known here, and may change it: strange_thing"}' in out and
               "assumed for that: strange_thing\n" in out, f"what may change the model leaves it assumed: {out}")
        for what, text, says in (("no JSON", "{", f"{config}:1:1: {READS} JSON with an error here"), ("a list", "[]", f"{READS} JSON, but no object"),
                                 ("a job file", "# mine\n---\nname: my-7b\n", f"{READS} YAML; a job file is read by weft plan FILE"),
                                 ("nothing", "\n", f"{READS} empty"), ("prose", "see: attached text", f"{READS} YAML"),
                                 ("a page", "<html>", f"{READS} none of them"),
                                 ("a strange family", '{"model_type": "mamba"}', "model_type `mamba` is not known; these are: llama"),
                                 ("no family", "{}", "model_type (none) is not known"),
                                 *((f"experts in some layers: {more}", json.dumps(MODELS["Qwen3 30B-A3B"][0] | more), f"{list(more)[0]}: layers without experts")
                                   for more in ({"decoder_sparse_step": 2}, {"mlp_only_layers": [0]}, {"moe_layer_freq": 2})),
                                 ("biases of its own", '{"model_type": "llama", "attention_bias": true}', "attention_bias: not what")):
            config.write_text(text)
            status, out, said = run("--import", config)
            expect(status == 2 and out == "" and says in said, f"{what}: {said.strip()}")
        status, out, said = run("--import", config, "--json")
        expect(status == 2 and out == "", f"alone: {said.strip()}")
    return failed > 0


sys.exit(main())
