// SPDX-License-Identifier: Apache-2.0
// Bytes that a rank holds through a step.
// Assumed: attention keeps no scores (as FlashAttention), sequence parallelism cuts all that lies
// between products, no activation is kept twice; the loss keeps its words in the activations'
// numbers and in 4 bytes.

#include <weft/workload/plan_memory.h>

#define LOSS_BYTES 4

static uint64_t shared(uint64_t bytes, uint64_t ranks)
{
	return (bytes + ranks - 1) / ranks;
}

// ---------------------------------------------------------------- parameters

// As many units as are whole at once: the one in hand and those gathered ahead. Gradients: one.
static uint64_t gathered_bytes(const struct plan *plan, uint32_t stage)
{
	const struct parallel *cut = &plan->parallel;
	uint64_t largest = 0, all = 0;
	if (cut->sharding != SHARDING_FSDP)
		return 0;
	for (uint32_t i = 0; i < 2 * cut->vpp; i++) {
		struct plan_bucket unit;
		uint32_t chunk = i / 2, left = plan_part_count(plan, stage, chunk);
		while (plan_bucket_next(plan, stage, chunk, i % 2 != 0, &left, &unit)) {
			all += unit.padded;
			largest = unit.padded > largest ? unit.padded : largest;
		}
	}
	uint64_t held = largest * (1 + (uint64_t)cut->prefetch);
	if (!cut->is_resharded || held > all)
		held = all;
	return held * cut->param_bytes + largest * cut->grad_bytes;
}

// ---------------------------------------------------------------- activations

// Numbers that a layer keeps of a token for its backward.
static uint64_t layer_numbers(const struct plan *plan, bool is_moe)
{
	const struct architecture *of = plan->architecture;
	uint64_t key = of->head_dim + of->rope_dim;
	uint64_t value = of->kv_rank > 0 ? of->value_dim : of->head_dim;
	uint64_t kv_heads = of->kv_rank > 0 ? of->heads : of->kv_heads;
	uint64_t rows = of->is_gated ? 3 : 2; // of the feed-forward: in and out of the activation
	uint64_t feed = is_moe ? of->experts_per_token * (of->hidden + rows * of->expert_ffn) +
			rows * of->shared_ffn
			       : rows * of->ffn;
	return UINT64_C(4) * of->hidden + of->heads * (key + value) + kv_heads * (key + value) +
		feed;
}

static uint64_t micro_batches_held(const struct parallel *cut, uint32_t stage)
{
	uint64_t all = (uint64_t)cut->micro_batches * cut->vpp, after = cut->pp - stage - 1;
	if (cut->late_ppb > 0 && cut->pp > 1) // ZB-H1: with those whose weights' gradients are left
		after = cut->pp - 1;
	uint64_t held = 1 + (cut->vpp > 1 ? 2 * after + (cut->vpp - 1) * (uint64_t)cut->pp : after);
	return held < all ? held : all;
}

static uint64_t activation_bytes(const struct plan *plan, uint32_t stage)
{
	const struct architecture *of = plan->architecture;
	const struct parallel *cut = &plan->parallel;
	uint64_t tokens = (uint64_t)cut->sequence * cut->samples / cut->cp / cut->tp;
	uint64_t most = 0, numbers = 0, held = micro_batches_held(cut, stage), layers = of->layers;
	for (uint32_t layer = 0; layer < of->layers; layer++) {
		uint64_t own = layer_numbers(plan, layer_is_moe(of, layer));
		most = own > most ? own : most;
		numbers += own;
	}
	uint64_t cell = cut->is_recomputed
		? (uint64_t)plan_slots(plan) * of->hidden
		: (uint64_t)((unsigned __int128)numbers * plan_slots(plan) / layers);
	uint64_t kept = tokens * cut->activation_bytes *
		(cell * held + (cut->is_recomputed ? most : 0));
	if (stage + 1 == cut->pp) // all tokens, a part of the words
		kept += tokens * of->vocab * (cut->activation_bytes + LOSS_BYTES);
	return kept;
}

// ---------------------------------------------------------------- all of it

// Whether gradients are reduced as they come, so that a rank never holds all of them.
static bool is_grad_gone(const struct parallel *cut)
{
	bool is_once = cut->micro_batches == 1 && cut->pp == 1;
	return cut->is_reduced_each || (is_once && cut->sharding == SHARDING_FSDP);
}

void plan_memory(const struct plan *plan, uint32_t stage, struct plan_memory *ret)
{
	const struct parallel *cut = &plan->parallel;
	bool is_optimizer_cut = cut->has_distributed_optimizer;
	bool is_grad_cut = cut->has_distributed_optimizer && is_grad_gone(cut);
	*ret = (struct plan_memory){.gathered = gathered_bytes(plan, stage),
				    .activations = activation_bytes(plan, stage)};
	for (int is_expert = 0; is_expert < 2; is_expert++) {
		uint64_t params = plan_stage_params(plan, stage, is_expert != 0);
		uint64_t ranks = is_expert != 0 ? plan_expert_ranks(plan) : plan_shard_ranks(plan);
		ret->params += shared(params * cut->param_bytes,
				      cut->sharding == SHARDING_FSDP ? ranks : 1);
		ret->grads += shared(params * cut->grad_bytes, is_grad_cut ? ranks : 1);
		ret->optimizer += shared(params * PLAN_OPTIMIZER_BYTES,
					 is_optimizer_cut ? ranks : 1);
	}
}

uint64_t plan_memory_sum(const struct plan_memory *memory)
{
	return memory->params + memory->grads + memory->optimizer + memory->gathered +
		memory->activations;
}

void plan_memory_most(const struct plan *plan, struct plan_memory *ret)
{
	plan_memory(plan, 0, ret);
	for (uint32_t stage = 1; stage < plan->parallel.pp; stage++) {
		struct plan_memory held;
		plan_memory(plan, stage, &held);
		if (plan_memory_sum(&held) > plan_memory_sum(ret))
			*ret = held;
	}
}
