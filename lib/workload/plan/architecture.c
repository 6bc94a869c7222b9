// SPDX-License-Identifier: Apache-2.0
// Dimensions of published models, and the parameters of a layer's parts on one rank.
// Facts: the papers and configuration files of the models' makers. Llama 3.1: "The Llama 3 Herd of
// Models". DeepSeek-V3: technical report and config.json. gpt-oss-20b: model card and config.json.
// GPT-3: "Language Models are Few-Shot Learners", vocabulary of GPT-2. BERT large: its paper.

#include <string.h>

#include "presets.h"

const struct architecture llama_405b = {
	.name = "llama-3.1-405b",
	.layers = 126,
	.hidden = 16384,
	.vocab = 128256,
	.heads = 128,
	.kv_heads = 8,
	.head_dim = 128,
	.ffn = 53248,
	.is_gated = true,
	.norm_vectors = 1,
};

// Nobody trained this one: it is small enough for every packet of a step.
const struct architecture llama_small = {
	.name = "llama-small",
	.layers = 14,
	.hidden = 1024,
	.vocab = 8192,
	.heads = 16,
	.kv_heads = 8,
	.head_dim = 64,
	.ffn = 2816,
	.is_gated = true,
	.norm_vectors = 1,
};

// Made up: every layer but the first has experts.
const struct architecture moe_small = {
	.name = "moe-small",
	.layers = 8,
	.hidden = 512,
	.vocab = 8192,
	.heads = 8,
	.kv_heads = 4,
	.head_dim = 64,
	.ffn = 1536,
	.is_gated = true,
	.norm_vectors = 1,
	.experts = 16,
	.experts_per_token = 2,
	.expert_ffn = 768,
	.dense_layers = 1,
};

const struct architecture deepseek_v3 = {
	.name = "deepseek-v3",
	.layers = 61,
	.hidden = 7168,
	.vocab = 129280,
	.heads = 128,
	.kv_heads = 128,
	.head_dim = 128, // without the rotary part
	.query_rank = 1536,
	.kv_rank = 512,
	.rope_dim = 64,
	.value_dim = 128,
	.ffn = 18432,
	.is_gated = true,
	.norm_vectors = 1,
	.experts = 256,
	.experts_per_token = 8,
	.expert_ffn = 2048,
	.shared_ffn = 2048,
	.dense_layers = 3,
};

const struct architecture gpt_oss_20b = {
	.name = "gpt-oss-20b",
	.layers = 24,
	.hidden = 2880,
	.vocab = 201088,
	.heads = 64,
	.kv_heads = 8,
	.head_dim = 64,
	.is_gated = true,
	.has_bias = true,
	.norm_vectors = 1,
	.sinks = 1,
	.experts = 32,
	.experts_per_token = 4,
	.expert_ffn = 2880,
};

const struct architecture gpt3_175b = {
	.name = "gpt-3-175b",
	.layers = 96,
	.hidden = 12288,
	.vocab = 50257,
	.heads = 96,
	.kv_heads = 96,
	.head_dim = 128,
	.ffn = 49152,
	.has_bias = true,
	.norm_vectors = 2,
	.is_tied = true,
	.extra_first_params = UINT64_C(2048) * 12288, // positions
};

const struct architecture bert_large = {
	.name = "bert-large",
	.layers = 24,
	.hidden = 1024,
	.vocab = 30522,
	.heads = 16,
	.kv_heads = 16,
	.head_dim = 64,
	.ffn = 4096,
	.has_bias = true,
	.norm_vectors = 2,
	.is_tied = true,
	// positions, token types and their norm
	.extra_first_params = (512 + 2 + 2) * 1024,
	// transform before the output (its norm is the last one), pooler, next sentence's head
	.extra_last_params = 2 * (1024 * 1024 + 1024) + 2 * 1024 + 2,
	.output_bias = 1,
};

const struct architecture *const architecture_all[] = {&llama_405b, &deepseek_v3, &gpt_oss_20b,
						       &gpt3_175b,  &bert_large,  &llama_small,
						       &moe_small,  NULL};

const struct architecture *architecture_find(const char *name)
{
	for (const struct architecture *const *at = architecture_all; *at != NULL; at++)
		if (strcmp((*at)->name, name) == 0)
			return *at;
	return NULL;
}

// ---------------------------------------------------------------- parts of a layer

bool layer_is_moe(const struct architecture *architecture, uint32_t layer)
{
	return architecture->experts > 0 && layer >= architecture->dense_layers;
}

const char *layer_part_name(enum layer_part part)
{
	static const char *const names[] = {"qkv", "proj", "router", "shared", "fc1", "fc2"};
	return names[part];
}

// A matrix cut over the tensor ranks, and its bias.
static uint64_t matrix(const struct architecture *from, uint64_t in, uint64_t out, uint32_t tp,
		       bool is_out_cut)
{
	uint64_t bias = from->has_bias ? (is_out_cut ? out / tp : out) : 0;
	return in * out / tp + bias;
}

static uint64_t norm(const struct architecture *from)
{
	return (uint64_t)from->norm_vectors * from->hidden;
}

// The narrow projections of latent attention are whole on each rank, and so are their norms.
static uint64_t latent_params(const struct architecture *from, uint32_t tp)
{
	uint64_t query = from->head_dim + from->rope_dim, value = from->head_dim + from->value_dim;
	uint64_t narrow = (uint64_t)from->hidden * from->query_rank + from->query_rank +
		(uint64_t)from->hidden * (from->kv_rank + from->rope_dim) + from->kv_rank;
	uint64_t wide = from->heads * (from->query_rank * query + from->kv_rank * value);
	return narrow + wide / tp;
}

static uint64_t qkv_params(const struct architecture *from, uint32_t tp)
{
	uint64_t width = ((uint64_t)from->heads + 2 * from->kv_heads) * from->head_dim;
	uint64_t sinks = (uint64_t)from->sinks * from->heads / tp;
	uint64_t params = from->kv_rank > 0 ? latent_params(from, tp)
					    : matrix(from, from->hidden, width, tp, true);
	return norm(from) + params + sinks;
}

static uint64_t fc1_params(const struct architecture *from, uint64_t ffn, uint32_t tp)
{
	return matrix(from, from->hidden, ffn * (from->is_gated ? 2 : 1), tp, true);
}

uint64_t layer_part_params(const struct architecture *from, enum layer_part part, uint32_t tp,
			   bool is_moe)
{
	uint64_t hidden = from->hidden;
	uint64_t value = from->kv_rank > 0 ? from->value_dim : from->head_dim;
	switch (part) {
	case PART_QKV:
		return qkv_params(from, tp);
	case PART_PROJ:
		return matrix(from, from->heads * value, hidden, tp, false);
	case PART_ROUTER: // and the norm before the experts
		return is_moe ? norm(from) + matrix(from, hidden, from->experts, 1, true) : 0;
	case PART_SHARED:
		return is_moe && from->shared_ffn > 0 ? fc1_params(from, from->shared_ffn, tp) +
				matrix(from, from->shared_ffn, hidden, tp, false)
						      : 0;
	case PART_FC1: // an expert is whole on its rank
		return is_moe ? fc1_params(from, from->expert_ffn, 1)
			      : norm(from) + fc1_params(from, from->ffn, tp);
	default:
		return is_moe ? matrix(from, from->expert_ffn, hidden, 1, false)
			      : matrix(from, from->ffn, hidden, tp, false);
	}
}

uint64_t architecture_params(const struct architecture *from)
{
	uint64_t params = (uint64_t)from->vocab * from->hidden * (from->is_tied ? 1 : 2) +
		norm(from) + from->extra_first_params + from->extra_last_params +
		(uint64_t)from->output_bias * from->vocab;
	for (uint32_t layer = 0; layer < from->layers; layer++) {
		bool is_moe = layer_is_moe(from, layer);
		for (uint32_t part = 0; part < PART_COUNT; part++) {
			uint64_t copies = is_moe && part >= PART_FC1 ? from->experts : 1;
			params += copies *
				layer_part_params(from, (enum layer_part)part, 1, is_moe);
		}
	}
	return params;
}
