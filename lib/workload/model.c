// SPDX-License-Identifier: Apache-2.0
// Sizes of a model's shards, and the presets as plain tables.
// Facts: Meta's published architecture of Llama 3.1 405B (hidden 16384, feed-forward 53248, 8 KV
// heads of 128, vocabulary 128256, 126 layers); Azure's MLPerf Training v6.0 submission on 8,192
// GB200 (TP 4, CP 2, PP 8, VPP 8, 8 micro-batches, BF16 on the wire, bucket size 134217728,
// embedding and loss count as a layer each). The times of a micro-batch are fitted to the step
// times of NVIDIA's v5.1 logs of the same model: calibrated, not measured.

#include <string.h>

#include <weft/check.h>

#include "model.h"

#define LLAMA_405B_AZURE \
	.hidden = 16384, .ffn = 53248, .kv_heads = 8, .head_dim = 128, .vocab = 128256, \
	.layers = 126, .tp = 4, .cp = 2, .pp = 8, .vpp = 8, .micro_batches = 8, .param_bytes = 2, \
	.bucket_params = 134217728, .forward_ps = 5300 * PS_PER_US, \
	.backward_ps = 9750 * PS_PER_US

static const struct model azure = {
	.name = "llama-3.1-405b-azure", .grad_bytes = 2, .is_aligned = true, LLAMA_405B_AZURE};

// The same with each bucket sent as soon as its gradients are there.
static const struct model azure_hook = {.name = "llama-3.1-405b-azure-hook",
					.grad_bytes = 2,
					.is_aligned = false,
					LLAMA_405B_AZURE};

// The same with gradients reduced in 32 bits, as the frameworks' default recipes do.
static const struct model azure_fp32 = {.name = "llama-3.1-405b-azure-fp32-gradients",
					.grad_bytes = 4,
					.is_aligned = true,
					LLAMA_405B_AZURE};

// The runs of NVIDIA's v5.1 logs: the same cut, more micro-batches, fewer replicas; times fitted to
// these two logs alone.
#define LLAMA_405B_LOGS \
	.hidden = 16384, .ffn = 53248, .kv_heads = 8, .head_dim = 128, .vocab = 128256, \
	.layers = 126, .tp = 4, .cp = 2, .pp = 8, .vpp = 8, .grad_bytes = 2, .param_bytes = 2, \
	.bucket_params = 134217728, .is_aligned = true, .forward_ps = 5184770 * PS_PER_NS, \
	.backward_ps = 9841030 * PS_PER_NS

static const struct model gb200_5120 = {
	.name = "llama-3.1-405b-gb200-5120", .micro_batches = 16, LLAMA_405B_LOGS};
static const struct model gb200_2560 = {
	.name = "llama-3.1-405b-gb200-2560", .micro_batches = 24, LLAMA_405B_LOGS};

const struct model *const model_all[] = {&azure,      &azure_hook, &azure_fp32,
					 &gb200_5120, &gb200_2560, NULL};

const struct model *model_find(const char *name)
{
	for (const struct model *const *at = model_all; *at != NULL; at++)
		if (strcmp((*at)->name, name) == 0)
			return *at;
	return NULL;
}

struct model_parts model_parts(const struct model *model)
{
	uint64_t hidden = model->hidden, ffn = model->ffn;
	uint64_t kv = (uint64_t)model->kv_heads * model->head_dim;
	return (struct model_parts){
		.qkv = hidden * (hidden + 2 * kv) / model->tp + hidden,
		.proj = hidden * hidden / model->tp,
		.fc1 = hidden * 2 * ffn / model->tp + hidden, // gate and up
		.fc2 = hidden * ffn / model->tp,
	};
}

uint64_t model_layer_params(const struct model *model)
{
	struct model_parts parts = model_parts(model);
	return parts.qkv + parts.proj + parts.fc1 + parts.fc2;
}

uint64_t model_embedding_params(const struct model *model)
{
	return (uint64_t)model->vocab * model->hidden / model->tp;
}

uint32_t model_cell_slots(const struct model *model)
{
	return (model->layers + 2) / (model->pp * model->vpp);
}

static bool is_first(uint32_t stage, uint32_t chunk)
{
	return stage == 0 && chunk == 0;
}

static bool is_last(const struct model *model, uint32_t stage, uint32_t chunk)
{
	return stage == model->pp - 1 && chunk == model->vpp - 1;
}

uint32_t model_cell_layers(const struct model *model, uint32_t stage, uint32_t chunk)
{
	check(stage < model->pp && chunk < model->vpp);
	return model_cell_slots(model) - is_first(stage, chunk) - is_last(model, stage, chunk);
}

// The first cell has the embedding in place of a layer, the last one the output matrix and the norm
// before it.
uint64_t model_cell_params(const struct model *model, uint32_t stage, uint32_t chunk)
{
	uint64_t params = model_cell_layers(model, stage, chunk) * model_layer_params(model);
	if (is_first(stage, chunk))
		params += model_embedding_params(model);
	if (is_last(model, stage, chunk))
		params += model_embedding_params(model) + model->hidden;
	return params;
}
