#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""weft plan --import: configurations of public models, written by hand from their published sizes, have the number of parameters
that their makers publish, or one whose difference is known."""
import json
import os
import pathlib
import re
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


def bloom(layers, hidden, heads):
    return {"model_type": "bloom", "n_layer": layers, "hidden_size": hidden, "n_head": heads, "vocab_size": 250880, "seq_length": 2048,
            "apply_residual_connection_post_layernorm": False, "slow_but_exact": False}


def opt(layers, hidden, heads):
    return {"model_type": "opt", "num_hidden_layers": layers, "hidden_size": hidden, "num_attention_heads": heads, "ffn_dim": 4 * hidden,
            "vocab_size": 50272, "max_position_embeddings": 2048, "word_embed_proj_dim": hidden, "do_layer_norm_before": True,
            "_remove_final_layer_norm": False}


def falcon(layers, hidden, heads, vocab, **more):
    return {"model_type": "falcon", "num_hidden_layers": layers, "hidden_size": hidden, "num_attention_heads": heads, "vocab_size": vocab,
            "bias": False, **more}


def stablelm(layers, hidden, heads, kv_heads, ffn, vocab, **more):
    return llama(layers, hidden, heads, kv_heads, ffn, vocab, model_type="stablelm", use_qkv_bias=False, use_parallel_residual=False,
                 partial_rotary_factor=0.25, **more)


def gpt_oss(layers, experts):
    return llama(layers, 2880, 64, 8, 2880, 201088, model_type="gpt_oss", head_dim=64, attention_bias=True, num_local_experts=experts,
                 num_experts_per_tok=4, experts_per_token=4, swiglu_limit=7.0)


GEMMA3 = {"head_dim": 256, "vocab_size": 262144, "max_position_embeddings": 32768, "query_pre_attn_scalar": 256, "sliding_window_pattern": 6}
VISION = 27 * (4 * 1152 * 1153 + 2 * 1152 * 4304 + 4304 + 1152 + 4 * 1152) + 588 * 1152 + 1152 + 4096 * 1152 + 2 * 1152
QWEN2, QWEN3 = {"model_type": "qwen2", "use_mrope": False}, {"model_type": "qwen3", "head_dim": 128}
DEEPSEEK = {
    "model_type": "deepseek_v3", "q_lora_rank": 1536, "kv_lora_rank": 512, "qk_nope_head_dim": 128, "qk_rope_head_dim": 64,
    "v_head_dim": 128, "n_routed_experts": 256, "num_experts_per_tok": 8, "moe_intermediate_size": 2048, "n_shared_experts": 1,
    "first_k_dense_replace": 3}
SCOUT = llama(48, 5120, 40, 8, 8192, 202048, model_type="llama4_text", head_dim=128, num_local_experts=16, num_experts_per_tok=1,
              intermediate_size_mlp=16384, interleave_moe_layer_step=1, moe_layers=list(range(48)))
LLAMA4_VISION = (34 * (4 * 1408 * 1409 + 1408 * 5632 * 2 + 5632 + 5 * 1408) + 588 * 1408 + 1408 + 577 * 1408 + 4 * 1408 + 5632 * 4096 + 4096 * 4096
                 + 4096 * 5120)
GLM_AIR = llama(46, 4096, 96, 8, 10944, 151552, model_type="glm4_moe", head_dim=128, attention_bias=True, use_qk_norm=False, n_routed_experts=128,
                n_shared_experts=1, num_experts_per_tok=8, moe_intermediate_size=1408, first_k_dense_replace=1)
GLM_AIR_LAYER = 4096 * 128 * (2 * 96 + 2 * 8) + 128 * (96 + 2 * 8) + 129 * 3 * 4096 * 1408 + 128 * 4096 + 2 * 4096
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
    "Qwen1.5-MoE A2.7B": (llama(24, 2048, 16, 16, 5632, 151936, model_type="qwen2_moe", num_experts=60, num_experts_per_tok=4, decoder_sparse_step=1,
                                moe_intermediate_size=1408, shared_expert_intermediate_size=5632, mlp_only_layers=[]), 14315784192, 0),
    "Gemma 7B": ({key: value for key, value in llama(28, 3072, 16, 16, 24576, 256000, head_dim=256).items() if key[0] != "t"} | {
        "model_type": "gemma"}, 8537680896, 0),
    "Gemma 2 9B": ({key: value for key, value in llama(42, 3584, 16, 8, 14336, 256000, head_dim=256).items() if key[0] != "t"} | {
        "model_type": "gemma2"}, 9241705984, 0),
    "GPT-2": (gpt2(12, 768, 12), 124439808, 0),
    "GPT-2 XL": (gpt2(48, 1600, 25), 1557611200, 0),
    "Pythia 6.9B": (neox(32, 4096, 32, 50432), 6857302016, 0),
    "Granite 3.0 8B": (llama(40, 4096, 32, 8, 12800, 49155, model_type="granite", tie_word_embeddings=True, mlp_bias=False,
                             attention_bias=False, logits_scaling=16.0), 8170848256, 0),
    "StarCoder 15.5B": ({"model_type": "gpt_bigcode", "n_layer": 40, "n_embd": 6144, "n_head": 48, "n_inner": 24576, "n_positions": 8192,
                         "vocab_size": 49152, "multi_query": True}, 15517456384, 0),
    "StarCoder2 3B": ({key: value for key, value in llama(30, 3072, 24, 2, 12288, 49152).items() if key[0] != "t"} | {
        "model_type": "starcoder2", "use_bias": True, "mlp_type": "default"}, 3030371328, 0),
    "GPT-J 6B": ({"model_type": "gptj", "n_layer": 28, "n_embd": 4096, "n_head": 16, "n_inner": None, "n_positions": 2048,
                  "vocab_size": 50400, "rotary_dim": 64, "tie_word_embeddings": False}, 6050882784, 0),
    "Phi-2": ({"model_type": "phi", "num_hidden_layers": 32, "hidden_size": 2560, "num_attention_heads": 32, "intermediate_size": 10240,
               "vocab_size": 51200, "tie_word_embeddings": False, "qk_layernorm": False, "max_position_embeddings": 2048}, 2779683840, 0),
    "BLOOM 560M": (bloom(24, 1024, 16), 559214592, 0),
    "BLOOM 7B1": (bloom(30, 4096, 32), 7069016064, 0),
    "BLOOM": (bloom(70, 14336, 112), 176247271424, 0),
    "OPT 125M": (opt(12, 768, 12), 125239296, 0),
    "OPT 1.3B": (opt(24, 2048, 32), 1315758080, 0),
    "OPT 6.7B": (opt(32, 4096, 32), 6658473984, 0),
    "MPT 7B": ({"model_type": "mpt", "d_model": 4096, "n_heads": 32, "n_layers": 32, "expansion_ratio": 4, "vocab_size": 50432,
                "max_seq_len": 2048, "no_bias": True, "attn_config": {"alibi": True, "qk_ln": False}}, 6649286656, 0),
    "Falcon RW 1B": (falcon(24, 2048, 32, 50304, bias=True, multi_query=False, parallel_attn=False, alibi=True), 1311625216, 0),
    "Falcon 7B": (falcon(32, 4544, 71, 65024, multi_query=True, parallel_attn=True, new_decoder_architecture=False), 6921720704, 0),
    # its output matrix, which is the embedding, is counted twice on its page
    "Falcon 40B": (falcon(60, 8192, 128, 65024, num_kv_heads=8, new_decoder_architecture=True), 41835970560, 65024 * 8192),
    "StableLM 3B": (stablelm(32, 2560, 32, 32, 6912, 50304), 2795443200, 0),
    "Command R": (llama(40, 8192, 64, 64, 22528, 256000, model_type="cohere", tie_word_embeddings=True, use_qk_norm=False, logit_scale=0.0625),
                  34980831232, 0),
    "OLMo 2 7B": (llama(32, 4096, 32, 32, 11008, 100352, model_type="olmo2", attention_bias=False), 7298617344, 0),
    "OLMo 2 13B": (llama(40, 5120, 40, 40, 13824, 100352, model_type="olmo2"), 13716198400, 0),
    "OLMoE 1B-7B": (llama(16, 2048, 16, 16, 1024, 50304, model_type="olmoe", num_experts=64, num_experts_per_tok=8), 6919161856, 0),
    "Gemma 3 1B": (GEMMA3 | {"model_type": "gemma3_text", "hidden_size": 1152, "num_hidden_layers": 26, "num_attention_heads": 4,
                             "num_key_value_heads": 1, "intermediate_size": 6912}, 999885952, 0),
    # with its vision encoder and what joins it: 1152 wide, 27 layers, patches of 14 x 14 of 896 x 896
    "Gemma 3 4B": ({"model_type": "gemma3", "mm_tokens_per_image": 256, "vision_config": {"hidden_size": 1152}, "text_config": GEMMA3 | {
        "model_type": "gemma3_text", "hidden_size": 2560, "num_hidden_layers": 34, "num_attention_heads": 8, "num_key_value_heads": 4,
        "intermediate_size": 10240, "vocab_size": 262208}}, 4300079472, VISION + 1152 + 1152 * 2560),
    "gpt-oss-20b": (gpt_oss(24, 32), 20914757184, 0),
    "gpt-oss-120b": (gpt_oss(36, 128), 116829156672, 0),
    # with its vision encoder: 1408 wide, 34 layers, patches of 14 x 14 of 336 x 336, an adapter, and the projection of what it sees
    "Llama 4 Scout": ({"model_type": "llama4", "vision_config": {"hidden_size": 1408}, "text_config": SCOUT}, 108641793536, LLAMA4_VISION),
    "Llama 4 Maverick": ({"model_type": "llama4", "vision_config": {"hidden_size": 1408}, "text_config": SCOUT | {
        "num_local_experts": 128, "interleave_moe_layer_step": 2, "moe_layers": list(range(1, 48, 2))}}, 401583781376, LLAMA4_VISION),
    "DeepSeek-V2-Lite": (llama(27, 2048, 16, 16, 10944, 102400) | DEEPSEEK | {
        "model_type": "deepseek_v2", "q_lora_rank": None, "n_routed_experts": 64, "num_experts_per_tok": 6, "moe_intermediate_size": 1408,
        "n_shared_experts": 2, "first_k_dense_replace": 1}, 15706484224, 0),
    "DeepSeek-V2": (llama(60, 5120, 128, 128, 12288, 102400) | DEEPSEEK | {
        "model_type": "deepseek_v2", "n_routed_experts": 160, "num_experts_per_tok": 6, "moe_intermediate_size": 1536, "n_shared_experts": 2,
        "first_k_dense_replace": 1}, 235741434880, 0),
    # its routers also have a number for each expert that gradients do not reach
    "DeepSeek-V3": (llama(61, 7168, 128, 128, 18432, 129280) | DEEPSEEK, 671026419200, 58 * 256),
    "Kimi K2": (llama(61, 7168, 64, 64, 18432, 163840) | DEEPSEEK | {"model_type": "kimi_k2", "n_routed_experts": 384, "first_k_dense_replace": 1},
                1026408232448, 60 * 384),
    "Yi 6B": (llama(32, 4096, 32, 4, 11008, 64000), 6061035520, 0),
    "DeepSeek LLM 7B": (llama(30, 4096, 32, 32, 11008, 102400), 6910365696, 0),
    "DeepSeekMoE 16B": (llama(28, 2048, 16, 16, 10944, 102400, model_type="deepseek", n_routed_experts=64, num_experts_per_tok=6,
                              moe_intermediate_size=1408, n_shared_experts=2, first_k_dense_replace=1), 16375728128, 0),
    "Falcon 3 7B": (llama(28, 3072, 12, 4, 23040, 131072, head_dim=256), 7455550464, 0),
    "Mistral Nemo": (llama(40, 5120, 32, 8, 14336, 131072, model_type="mistral", head_dim=128), 12247782400, 0),
    "Mistral Small 3.1, what reads": ({"model_type": "mistral3", "vision_config": {}, "text_config": llama(
        40, 5120, 32, 8, 32768, 131072, model_type="mistral", head_dim=128)}, 23572403200, 0),
    "Phi-4": (llama(40, 5120, 40, 10, 17920, 100352, model_type="phi3"), 14659507200, 0),
    "Phi-3.5-MoE": (llama(32, 4096, 32, 8, 6400, 32064, model_type="phimoe", num_local_experts=16, num_experts_per_tok=2, attention_bias=True,
                          lm_head_bias=True, input_jitter_noise=0.01, router_jitter_noise=0.01), 41873153344, 0),
    "Qwen2.5 32B": (llama(64, 5120, 40, 8, 27648, 152064) | QWEN2, 32763876352, 0),
    "Qwen3 32B": (llama(64, 5120, 64, 8, 25600, 151936) | QWEN3, 32762123264, 0),
    "Qwen3 235B-A22B": (llama(94, 4096, 64, 4, 12288, 151936) | QWEN3 | {
        "model_type": "qwen3_moe", "num_experts": 128, "num_experts_per_tok": 8, "moe_intermediate_size": 1536}, 235093634560, 0),
    "Gemma 2 27B": ({key: value for key, value in llama(46, 4608, 32, 16, 36864, 256000, head_dim=128).items() if key[0] != "t"} | {
        "model_type": "gemma2"}, 27227128320, 0),
    "Gemma 3 27B": ({"model_type": "gemma3", "mm_tokens_per_image": 256, "vision_config": {"hidden_size": 1152}, "text_config": GEMMA3 | {
        "model_type": "gemma3_text", "hidden_size": 5376, "num_hidden_layers": 62, "num_attention_heads": 32, "num_key_value_heads": 16,
        "head_dim": 128, "intermediate_size": 21504, "vocab_size": 262208}}, 27432406640, VISION + 1152 + 1152 * 5376),
    "GLM-4 9B": (llama(40, 4096, 32, 2, 13696, 151552, model_type="glm", head_dim=128, attention_bias=True), 9399951360, 0),
    "GLM-4 9B 0414": (llama(40, 4096, 32, 2, 13696, 151552, model_type="glm4", head_dim=128, attention_bias=True), 9400279040, 0),
    # its page counts a layer that predicts a second token: an expert layer, two norms, and a matrix of both; and numbers of routers
    "GLM-4.5-Air": (GLM_AIR, 110468824832, GLM_AIR_LAYER + 4096 * (2 * 4096 + 3) + 2 * 151552 * 4096 + 46 * 128),
    "InternLM2 7B": (llama(32, 4096, 32, 8, 14336, 92544, model_type="internlm2", bias=False), 7737708544, 0),
    "InternLM3 8B": (llama(48, 4096, 32, 2, 10240, 128512, model_type="internlm3", head_dim=128, bias=False, qkv_bias=False), 8804241408, 0),
    "Baichuan 2 7B": (llama(32, 4096, 32, 32, 11008, 125696, model_type="baichuan"), 7505973248, 0),
    "SmolLM3 3B": (llama(36, 2048, 16, 4, 11008, 128256, model_type="smollm3", tie_word_embeddings=True, no_rope_layer_interval=4), 3075098624, 0),
    "Seed-OSS 36B": (llama(64, 5120, 80, 8, 27648, 155136, model_type="seed_oss", head_dim=128, attention_bias=True, attention_out_bias=False,
                           mlp_bias=False), 36151104512, 0),
    "ERNIE 4.5 0.3B": (llama(18, 1024, 16, 2, 3072, 103424, model_type="ernie4_5", head_dim=128, use_bias=False, tie_word_embeddings=True),
                       360748032, 0),
    "OLMo 2 32B": (llama(64, 5120, 40, 8, 27648, 100352, model_type="olmo2"), 32234279936, 0),
    "Olmo 3 7B": (llama(32, 4096, 32, 32, 11008, 100278, model_type="olmo3", layer_types=[]), 7298011136, 0),
    "Command R7B": (llama(32, 4096, 32, 8, 14336, 256000, model_type="cohere2", tie_word_embeddings=True), 8028033024, 0),
    "Granite 3.1 2B": (llama(40, 2048, 32, 8, 8192, 49155, model_type="granite", tie_word_embeddings=True), 2533531648, 0),
    "Granite 3.1 1B-A400M": (llama(24, 1024, 16, 8, 512, 49155, model_type="granitemoe", tie_word_embeddings=True, num_local_experts=32,
                                   num_experts_per_tok=8), 1334628352, 0),
    "Minitron 4B": (llama(32, 3072, 24, 8, 9216, 256000, model_type="nemotron", head_dim=128, mlp_bias=False), 4190509056, 0),
    # with as many numbers of routers as DeepSeek-V3 has
    "dots.llm1": (llama(62, 4096, 32, 32, 10944, 152064, model_type="dots1", head_dim=128, n_routed_experts=128, num_experts_per_tok=6,
                        moe_intermediate_size=1408, n_shared_experts=2, first_k_dense_replace=1), 142774381696, 61 * 128),
    "CodeGen 350M": ({"model_type": "codegen", "n_layer": 20, "n_embd": 1024, "n_head": 16, "n_inner": None, "n_positions": 2048, "n_ctx": 2048,
                      "vocab_size": 51200, "rotary_dim": 32, "tie_word_embeddings": False}, 356712448, 0),
    "StarCoder2 15B": ({key: value for key, value in llama(40, 6144, 48, 4, 24576, 49152).items() if key[0] != "t"} | {
        "model_type": "starcoder2", "use_bias": True, "tie_word_embeddings": False}, 15957889024, 0),
    "OPT 30B": (opt(48, 7168, 56), 29974540288, 0),
    "BLOOM 3B": (bloom(30, 2560, 32), 3002557440, 0),
    "Pythia 12B": (neox(36, 5120, 40, 50688), 11846072320, 0),
}


# what of a model's files makes it one that a job file cannot say
UNSAID = (("DeepSeek-V3", {"attention_bias": True}, "attention_bias", "biases of latent attention"), ("gpt-oss-20b", {"attention_bias": False}, "attention_bias", "attention without biases"),
          ("OPT 125M", {"do_layer_norm_before": False}, "do_layer_norm_before", "no norm behind the layers"),
          ("OPT 125M", {"word_embed_proj_dim": 512}, "word_embed_proj_dim", "an embedding of another width than the layers"),
          ("MPT 7B", {"no_bias": False}, "no_bias", "MPT with biases"), ("MPT 7B", {"attn_config": {"alibi": True, "qk_ln": True}}, "attn_config.qk_ln", "norms over all heads of MPT"),
          ("Phi-2", {"qk_layernorm": True}, "qk_layernorm", "norms of heads with a bias"),
          ("Llama 4 Scout", {"text_config": SCOUT | {"moe_layers": [0, 2]}}, "moe_layers", "layers without experts among those with them"))
# what they say of themselves, with what that adds
SAID = (("Qwen3 30B-A3B", {"decoder_sparse_step": 2}, 24 * (3 * 2048 * 6144 - 128 * (3 * 2048 * 768 + 2048))),
        ("Llama 2 7B", {"attention_bias": True}, 32 * 4 * 4096), ("Llama 2 7B", {"mlp_bias": True}, 32 * (2 * 11008 + 4096)),
        ("Llama 2 7B", {"mlp_bias": True, "attention_bias": True}, 32 * (2 * 11008 + 5 * 4096)),
        ("StarCoder2 3B", {"use_bias": False}, -30 * (2 * 3072 + 2 * 256 + 12288 + 3072)),
        ("StableLM 3B", {"use_qkv_bias": True}, 32 * 3 * 2560), ("StableLM 3B", {"qk_layernorm": True}, 32 * 64 * 80),
        ("StableLM 3B", {"use_parallel_residual": True}, -32 * 2 * 2560), ("Command R", {"use_qk_norm": True}, 40 * 128 * 128),
        ("Falcon 40B", {"num_ln_in_parallel_attn": 1}, -60 * 2 * 8192), ("Falcon 7B", {"multi_query": False}, 32 * 4544 * 2 * 70 * 64),
        ("MPT 7B", {"attn_config": {"alibi": False}}, 2048 * 4096))
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
    older = TITAN.replace("[parallelism]\n", "").replace("local_batch_size", "batch_size").replace("[activation", "[experimental]\npipeline_parallel_degree = 2\n[activation")
    config.write_text(older.replace("seq_len = 8192", "seq_len = 8_192"))
    now = run("--import", config)[1]
    config.write_text(TITAN.replace("[activation", "pipeline_parallel_degree = 2\n[activation"))
    expect(run("--import", config)[1] == now and "pp: 2" in now and "tp: 2" in now, "an older layout says the same")
    for name in ("llama2", "llama"):
        for size, params in (("7B", 6738415616), ("13B", 13015864320), ("70B", 68976648192)):
            config.write_text(TITAN.replace('"llama3"', f'"{name}"').replace('"8B"', f'"{size}"'))
            job.write_text(run("--import", config)[1])
            expect(json.loads(run(job, "--json")[1])["parameters"] == params, f"torchtitan's {name} {size}: {params:,}")
    config.write_text("[model]\nname = 'llama3'\nflavor = '8B'\n[training]\nbatch_size = 1\ndata_parallel_degree = 32\n")
    expect("  dp: 32\n" in run("--import", config)[1], "shards by their older name")
    config.write_text(TITAN.replace("[activation", "pipeline_parallel_degree = 4\npipeline_parallel_schedule = 'Interleaved1F1B'\n[activation")
                      + "[float8]\nenable_fsdp_float8_all_gather = true\n")
    out = run("--import", config)[1]
    expect("{of: wire, origin: assumed" in out and '{of: cut, origin: assumed, text: "schedule Interleaved1F1B' in out
           and "{of: model step reduce, origin: fact" in out, f"gathers in 8 bits and other schedules are assumed: {out}")
    job.write_text(out)
    expect(run(job, "--json")[0] == 0, "and the job file is taken")
    for flavor, params in (("llama3 70B", 70553706496), ("llama3 405B", 405853388800), ("qwen3 0.6B", 596049920), ("qwen3 1.7B", 1720574976),
                           ("qwen3 4B", 4022468096), ("qwen3 8B", 8190735360), ("qwen3 14B", 14768307200), ("qwen3 32B", 32762123264),
                           ("qwen3 30B-A3B", 30532122624), ("qwen3 235B-A22B", 235093634560), ("deepseek_v3 16B", 15706484224),
                           ("deepseek_v3 236B", 235741434880), ("deepseek_v3 671B", 671026419200 - 58 * 256)):
        model, name = flavor.split()
        text = TITAN.replace('"llama3"', f'"{model}"').replace('"8B"', f'"{name}"').replace("replicate_degree = 4", "replicate_degree = 1")
        if params in (15706484224, 30532122624, 235093634560, 235741434880, 671026419200 - 58 * 256):
            text = text.replace("[activation", "expert_parallel_degree = 8\nexpert_tensor_parallel_degree = 1\n[activation")
        config.write_text(text)
        job.write_text(run("--import", config)[1])
        status, out, said = run(job, "--json")
        plan = json.loads(out) if status == 0 else {"parameters": 0}
        expect(plan["parameters"] == params and plan["cut"]["ep"] == (8 if "expert_" in text else 1), f"torchtitan's {flavor}: {plan['parameters']:,} {said.strip()}")
    scout, maverick = MODELS["Llama 4 Scout"], MODELS["Llama 4 Maverick"]
    for model, name, params in (("llama3", "debugmodel", 6 * (4 * 256**2 + 3 * 256 * 768 + 2 * 256) + 2 * 2048 * 256 + 256), ("llama3", "8B_flex", 8030261248),
                                ("llama3", "1B", 1235814400), ("llama3", "3B", 3212749824), ("llama4", "17bx16e", scout[1] - scout[2]),
                                ("llama4", "17bx16e_irope", scout[1] - scout[2]), ("llama4", "17bx128e", maverick[1] - maverick[2]),
                                ("llama4", "debugmodel", 6 * (4 * 256**2 + 2 * 256) + 3 * 3 * 256 * 768 + 3 * (9 * 3 * 256 * 512 + 8 * 256) + 2 * 2048 * 256 + 256), ("gpt_oss", "20b", 20914757184), ("gpt_oss", "120b", 116829156672),
                                ("qwen3", "debugmodel", 8 * (256 * 128 * 32 + 2048 * 256 + 3 * 256 * 3072 + 2 * 256 + 2 * 128) + 2048 * 256 + 256),
                                ("qwen3", "debugmodel_moe", 8 * (256 * 128 * 32 + 2048 * 256 + 64 * (3 * 256 * 768 + 256) + 2 * 256 + 2 * 128) + 2 * 2048 * 256 + 256),
                                ("deepseek_v3", "debugmodel_flex_attn", 6 * (256 * 16 * 192 + 256 * 576 + 512 + 512 * 16 * 256 + 16 * 128 * 256 + 2 * 256)
                                 + 3 * 256 * 1024 + 5 * (10 * 3 * 256 * 256 + 8 * 256) + 2 * 2048 * 256 + 256),
                                ("gpt_oss", "debugmodel", 4 * (256 * 80 * 64 + 80 * 64 + 64 * 64 * 256 + 256 + 64 + 2 * 256 + 8 * 257
                                                               + 8 * (256 * 5760 + 5760 + 2880 * 256 + 256)) + 2 * 201088 * 256 + 256)):
        config.write_text(TITAN.replace('"llama3"', f'"{model}"').replace('"8B"', f'"{name}"').replace("replicate_degree = 4", "replicate_degree = 1"))
        status, out, said = run("--import", config)
        job.write_text(out)
        plan = json.loads(run(job, "--json")[1]) if status == 0 else {"parameters": 0}
        origin = "assumed" if name.startswith("debug") else "fact"
        expect(plan["parameters"] == params and re.search(rf"of: model[^}}]*origin: {origin}", out),
               f"torchtitan's {model} {name}: {plan['parameters']:,} of {params:,}, {origin} {said.strip()}")
    config.write_text(TITAN.replace('"llama3"', '"flux"').replace('"8B"', '"flux-dev"'))
    expect("model flux makes images; a job file says language models" in run("--import", config)[2], "torchtitan's flux is refused by what it is")
    for old, new, says in (('flavor = "8B"', 'flavor = "9B"', "flavor 9B is not known; these are: llama3 debugmodel 1B 3B 8B 70B 405B; qwen3 debugmodel"),
                           ("seq_len = 8192", "seq_len = 8k", "training.seq_len needs a whole number"),
                           ("seq_len = 8192", "seq_len = 8192\nseq_len = 1", ":11: this key appears twice"),
                           ("seq_len = 8192", "seq_len", ":10: neither [section] nor key = value"),
                           ('dump_folder = "./outputs"', 'dump_folder = "./outputs', ":3: a text that does not end"),
                           ('["float8"]', '["float8",', ":7: a list over several lines"),
                           ("[training]", "[training", ":8: not the name of a section"),
                           ("tensor_parallel_degree = 2", "tensor_parallel_degree = -1", "may be -1")):
        config.write_text(TITAN.replace(old, new))
        status, out, said = run("--import", config)
        expect(status == 2 and out == "" and f"{config}" in said and says in said, said.strip())


# Llama 3 70B, launched by a script as those that come with Megatron-LM
SCRIPT = """#!/bin/bash
export CUDA_DEVICE_MAX_CONNECTIONS=${CUDA_DEVICE_MAX_CONNECTIONS:-1}
CHECKPOINT_PATH=${1:-"checkpoints/llama3_70b"}
GPUS_PER_NODE=8
WORLD_SIZE=$(($GPUS_PER_NODE*$NUM_NODES))
TP_SIZE=4  # within a node
PP_SIZE=${PP_SIZE:-4}
NUM_LAYERS=80
SEQ_LENGTH="8192"
MODEL_ARGS=(
    --use-mcore-models
    --num-layers $NUM_LAYERS
    --hidden-size 8192
    --ffn-hidden-size 28672
    --num-attention-heads 64
    --group-query-attention
    --num-query-groups 8
    --seq-length ${SEQ_LENGTH}
    --max-position-embeddings $SEQ_LENGTH
    --position-embedding-type rope
    --normalization RMSNorm
    --swiglu
    --untie-embeddings-and-output-weights
    --disable-bias-linear
)
if [[ "$DTYPE" == "fp8" ]]; then
    TRAINING_ARGS+=("--fp8-format hybrid")
fi
TRAINING_ARGS=(
    --micro-batch-size 1
    --decoupled-min-lr 4.5e-5
    --global-batch-size 128
    --bf16
    --use-distributed-optimizer
    --overlap-grad-reduce
    --tensor-model-parallel-size $TP_SIZE
    # --pipeline-model-parallel-size 8
    --pipeline-model-parallel-size $PP_SIZE
    --num-layers-per-virtual-pipeline-stage 5
)
if [[ "$TOKENIZER" == "MOCK" ]]; then
    DATA_ARGS=("--mock-data" "--no-mmap-bin-files" "--vocab-size 128256" "--split '99,1,0'")
else
    DATA_ARGS=("--data-path $DATA" "--vocab-size 128256")
fi
torchrun --nproc_per_node $GPUS_PER_NODE --node_rank 0 pretrain_gpt.py ${MODEL_ARGS[@]} ${TRAINING_ARGS[@]} ${DATA_ARGS[@]} --save "$CHECKPOINT_PATH"
set +x
"""


def script(config, job):
    """A launch script, with what it sets and what it does not."""
    config.write_text(SCRIPT)
    status, out, said = run("--import", config)
    job.write_text(out.replace("  samples:", "  micro_batches: 16\n  samples:"))
    expect(status == 0 and "micro_batches x cut.dp is 128" in out and "origin: assumed" not in out, f"a launch script {said.strip()}{out}")
    plan = json.loads(run(job, "--json")[1])
    expect(plan["parameters"] == 70553706496 and [plan["cut"][key] for key in ("tp", "pp", "vpp", "sequence")] == [4, 4, 4, 8192],
           f"Llama 3 70B on 16 ranks a replica: {plan['parameters']:,} {plan['cut']}")
    for old, new, says in (("NUM_LAYERS=80", "", "--num-layers has a value that the script does not set"),
                           ("NUM_LAYERS=80", "NUM_LAYERS=$((8*10))", "--num-layers has a value that the script does not set"),
                           ("--data-path $DATA\" \"--vocab-size 128256", "--vocab-size 32000", "--vocab-size appears twice, with two values")):
        config.write_text(SCRIPT.replace(old, new))
        status, out, said = run("--import", config)
        expect(status == 2 and out == "" and says in said, said.strip())


# DeepSeek-V3 without its prediction of a second token, as a launch over Slurm has it
LATENT = [
    "--num-layers 61 --hidden-size 7168 --ffn-hidden-size 18432 --num-attention-heads 128 --kv-channels 128 --seq-length 4096",
    "--vocab-size 129280 --make-vocab-size-divisible-by 3232 --normalization RMSNorm --swiglu --untie-embeddings-and-output-weights",
    "--disable-bias-linear --position-embedding-type rope --multi-latent-attention --qk-layernorm --q-lora-rank 1536 --kv-lora-rank 512",
    "--qk-head-dim 128 --qk-pos-emb-head-dim 64 --v-head-dim 128 --num-experts 256 --moe-layer-freq ([0]*3+[1]*58)",
    "--moe-ffn-hidden-size 2048 --moe-shared-expert-intermediate-size 2048 --moe-router-topk 8 --moe-router-enable-expert-bias",
    "--expert-model-parallel-size 8 --micro-batch-size 1 --global-batch-size 64"]


def latent(config, job):
    """Latent attention, experts behind the first layers; how the launch shares and orders its ranks; nothing is left out in silence."""
    def take(*more):
        config.write_text("\n".join((*LATENT, *more)))
        status, out, said = run("--import", config)
        job.write_text(out.replace("  samples:", "  micro_batches: 8\n  samples:").replace("cut:\n", "cut:\n  dp: 8\n"))
        return status, out, said
    status, out, said = take()
    plan = json.loads(run(job, "--json")[1])
    expect(plan["parameters"] == 671026419200 - 58 * 256 and "origin: assumed" not in out, f"DeepSeek-V3 by flags: {plan['parameters']:,} {said}")
    for flags, says in (("--use-megatron-fsdp", "reduce:\n  kind: fsdp\n"), ("--use-torch-fsdp2", "reduce:\n  kind: fsdp\n"),
                        ("--use-megatron-fsdp --data-parallel-sharding-strategy optim", "{of: cut reduce, origin: assumed"),
                        ("--num-distributed-optimizer-instances 2", "{of: cut reduce, origin: assumed"),
                        ("--use-tp-pp-dp-mapping", "  order: tp-cp-ep-pp-dp\n"), ("--recompute-granularity full", "  recompute: full\n"),
                        ("--pipeline-model-parallel-size 4 --num-virtual-stages-per-pipeline-rank 2", "  vpp: 2\n"),
                        ("--pipeline-model-parallel-size 2 --decoder-last-pipeline-num-layers 29", "  layers_last: 29\n"),
                        ("--mtp-num-layers 1", "{of: model, origin: assumed"), ("torchrun some/pretrain_bert.py", "change it: pretrain_bert.py")):
        status, out, said = take(flags)
        expect(status == 0 and says in out, f"{flags}: {out} {said.strip()}")
        expect(run(job, "--json")[0] == 0 or "pipeline" in flags, f"{flags}: the job file is taken {run(job)[2]}")
    status, out, said = take(*(f"--unknown-flag-of-a-long-name-{number} 1" for number in range(200)))
    expect(out.count("unknown-flag-of-a-long-name-199") == 2, "of 200 unknown flags all are listed")
    for flags, says in (("--moe-layer-freq ([0,1]*24)", "--moe-layer-freq appears twice"), ("--hybrid-layer-pattern M-M*", "gives layers of several kinds"),
                        ("--num-virtual-stages-per-pipeline-rank 2 --num-layers-per-virtual-pipeline-stage 2", "says chunks a second time")):
        status, out, said = take(flags)
        expect(status == 2 and out == "" and says in said, said.strip())
    config.write_text("\n".join(LATENT).replace("[0]*3+[1]*58", "[0,1]*24"))
    expect("elsewhere than in all layers behind the first" in run("--import", config)[2], "experts in every other layer are refused")
    config.write_text("\n".join(LATENT).replace("--kv-lora-rank 512", ""))
    expect("--kv-lora-rank is missing" in run("--import", config)[2], "a latent attention without its rank is refused")


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
        for name, more, adds in SAID:
            config.write_text(json.dumps(MODELS[name][0] | more))
            job.write_text(run("--import", config)[1])
            expect(json.loads(run(job, "--json")[1])["parameters"] + MODELS[name][2] == MODELS[name][1] + adds, f"{name} with {more}: {adds:+,}")
        flags = ("--num-layers 96 --hidden-size 12288 --num-attention-heads 96 --seq-length 2048 --vocab-size 50257 \\\n"
                 "--tensor-model-parallel-size 4 --pipeline-model-parallel-size 6 --num-layers-per-virtual-pipeline-stage 2\n"
                 "--micro-batch-size 1 --global-batch-size 2904 --max-position-embeddings 2048 --use-distributed-optimizer --grad-reduce-in-bf16 --bf16 --lr 1e-4 --norm-epsilon 1e-5\n")
        config.write_text("torchrun --nproc_per_node 8 pretrain_gpt.py \\\n  " + flags)
        launched = run("--import", config)
        config.write_text(flags)
        status, out, said = run("--import", config)
        expect(launched[0] == 0 and launched[1].replace(" nproc_per_node", "") == out, f"a line that launches it {launched[2].strip()}")
        expect(status == 0 and "micro_batches x cut.dp is 2904" in out and "# not used of the flags: bf16 lr norm-epsilon\n" in out,
               f"Megatron's flags {said.strip()}")
        for written in (flags.replace(" ", "\n"), flags.replace(" \\\n", "\n").replace(" --", "\n\n--").replace("size ", "size='").replace("\n", "'\n"),
                        "ARGS:\n" + "".join(f"  --{one.strip().replace(' ', ': ') if ' ' in one.strip() else one.strip() + ': true'}\n"
                                           for one in flags.replace("\\\n", "").split("--")[1:])):
            config.write_text(written)
            again = run("--import", config)
            expect(again[:2] == (0, out), f"the same over lines, with = and quotes, as YAML {again[2].strip()}: {written}")
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
        config.write_text(flags + "--glu-linear-offset --mtp-num-layers 1 --save out\n")
        status, doubted, said = run("--import", config)
        expect("{of: model, origin: assumed, text: \"not known here, and may change it: glu-linear-offset mtp-num-layers" in doubted and
               "  - {of: cut step wire reduce, origin: fact," in doubted and "assumed for that: glu-linear-offset mtp-num-layers" in doubted and
               "# not used of the flags: bf16 lr norm-epsilon glu-linear-offset mtp-num-layers save" in doubted, f"flags that may change the model {said.strip()}")
        job.write_text(doubted.replace("  samples:", "  micro_batches: 6\n  samples:"))
        origins = {row["of"]: row["origin"] for row in json.loads(run(job, "--json")[1])["inputs"]}
        expect(origins == {"model": "assumed", "cut step wire reduce": "fact"}, f"the plan says so: {origins}")
        config.write_text(flags + "--expert-model-parallel-size 1 --expert-tensor-parallel-size 1\n")
        expect(run("--import", config)[1] == out, "1 of a model without experts says nothing")
        config.write_text(flags + "--expert-tensor-parallel-size 4\n")
        dense = run("--import", config)[1]
        expect("etp:" not in dense and "norm-epsilon expert-tensor-parallel-size\n" in dense, f"more of it is not used: {dense}")
        config.write_text(flags + "--num-experts 8 --moe-router-topk 2 --expert-model-parallel-size 2\n")
        job.write_text(run("--import", config)[1].replace("  samples:", "  micro_batches: 6\n  samples:").replace("  ep: 2", "  ep: 2\n  dp: 2"))
        status, out, said = run(job)
        expect(status == 0 and "  tp 4, cp 1, ep 2, etp 4, pp 6, vpp 8, dp 2; 6 micro-batches" in out, f"tensor ranks cut experts: {out[:200]}{said.strip()}")
        expect(json.loads(run(job, "--json")[1])["cut"]["etp"] == 4, "in JSON, too")
        for schedule in ("1f1b", "zb-h1"):
            job.write_text("name: a\nmodel: {layers: 2, hidden: 64, heads: 8, vocab: 9, ffn: 8}\nstep: {sequence: 8, micro_batches: 2}\n"
                           f"cut: {{pp: 2, schedule: {schedule}}}\n")
            expect(json.loads(run(job, "--json")[1])["cut"]["schedule"] == schedule, f"JSON names the schedule: {schedule}")
        for text, says in (("--num-layers", "--num-layers needs a value"), ("--num-layers\n--hidden-size 3", "--num-layers needs a value"), (flags + "--hidden-size 3", "--hidden-size appears twice"),
                           ("--num-layers 0", "needs a whole number from 1 on"), ("--swiglu 3", "--swiglu has no value"),
                           ("--normalization Group", "is LayerNorm or RMSNorm"), ("--num-layers 3", "--hidden-size is missing")):
            config.write_text(text)
            status, out, said = run("--import", config)
            expect(status == 2 and out == "" and f"{config}: " in said and says in said, said.strip())
        torchtitan(config, job)
        script(config, job)
        latent(config, job)
        config.write_text(json.dumps(llama(2, 64, 4, 4, 128, 100, strange_thing=7)))
        status, out, _ = run("--import", config)
        expect("# not used of config.json: torch_dtype strange_thing\n" in out, "what is not used is listed")
        expect('{of: model, origin: assumed, text: "config.json; not known here, and may change it: strange_thing"}' in out and
               "assumed for that: strange_thing\n" in out, f"what may change the model leaves it assumed: {out}")
        for what, text, says in (("no JSON", "{", f"{config}:1:1: {READS} JSON with an error here"), ("a list", "[]", f"{READS} JSON, but no object"),
                                 ("a job file", "# mine\n---\nname: my-7b\n", f"{READS} YAML; a job file is read by weft plan FILE"),
                                 ("nothing", "\n", f"{READS} empty"), ("prose", "see: attached text", f"{READS} YAML"),
                                 ("torchtitan's Python", "from torchtitan.trainer import Trainer\ndef llama3_70b():\n    return Trainer.Config(\n",
                                  f"{READS} torchtitan's configuration in Python; write its [model] name and flavor, [training] and [parallelism] as TOML"),
                                 ("a page", "<html>", f"{READS} none of them"),
                                 ("a strange family", '{"model_type": "retnet"}', "model_type `retnet` is not known; these are: llama"),
                                 ("no family", "{}", "model_type (none) is not known"),
                                 *((f"experts in some layers: {more}", json.dumps(MODELS["Qwen3 30B-A3B"][0] | more), f"{list(more)[0]}: layers without experts among those with them cannot be said in a job file")
                                   for more in ({"mlp_only_layers": [0]}, {"moe_layer_freq": 2})),
                                 *((f"{family}'s {more}", json.dumps(MODELS[family][0] | more), f"{key}: {says} cannot be said in a job file")
                                   for family, more, key, says in UNSAID),
                                 ("a family not to be said", '{"model_type": "mamba"}', "mamba: state-space layers cannot be said in a job file")):
            config.write_text(text)
            status, out, said = run("--import", config)
            expect(status == 2 and out == "" and says in said, f"{what}: {said.strip()}")
        status, out, said = run("--import", config, "--json")
        expect(status == 2 and out == "", f"alone: {said.strip()}")
    return failed > 0


sys.exit(main())
