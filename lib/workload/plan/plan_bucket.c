// SPDX-License-Identifier: Apache-2.0
// Buckets of gradients and parameters, and what else moves in a step.
// Facts: Megatron-LM's distributed data parallel closes a bucket when its size first reaches the
// bucket size, walking the parameters backwards; it makes one bucket of a cell but on the first
// stage's first chunk; its own bucket size is max(40 M, 1 M x ranks) parameters; buckets of the
// distributed optimizer are padded to a multiple of lcm(ranks, 128). Parameters of experts have
// buffers and groups of their own. PyTorch's DDP closes a bucket when its bytes first reach a
// limit, 1 MiB for the first and 25 MiB for others, walking backwards; FSDP has a unit for each
// layer, one for the embedding and one for what is behind the layers, and pads a unit to a multiple
// of the ranks; DeepSpeed's buckets are of 500 M parameters. Assumed: with sequence parallelism a
// layer's forward has two gathers and two scatters over the tensor ranks and its backward six
// (inputs are gathered again for the gradients of weights); context ranks pass keys and values
// round once forward and, with their gradients, twice backward. Facts: Megatron-LM's dispatcher
// gathers tokens over the ranks that cut an expert behind its all-to-all and scatters what they
// make before it goes back; backward the other way round.

#include <stddef.h>

#include <weft/core/integer.h>

#include "plan_keys.h"

#define PAD_PARAMS UINT64_C(128)
#define RULE_PARAMS UINT64_C(40000000)
#define RULE_PARAMS_PER_RANK UINT64_C(1000000)
#define ZERO_PARAMS UINT64_C(500000000)

// ---------------------------------------------------------------- buckets

static uint32_t group_ranks(const struct plan *plan, bool is_expert)
{
	return is_expert ? plan_expert_ranks(plan) : plan_shard_ranks(plan);
}

uint64_t plan_bucket_params(const struct plan *plan, bool is_expert)
{
	uint64_t rule = RULE_PARAMS_PER_RANK * group_ranks(plan, is_expert);
	if (plan->parallel.bucket_params > 0)
		return plan->parallel.bucket_params;
	if (plan->parallel.sharding == SHARDING_ZERO1 || plan->parallel.sharding == SHARDING_ZERO2)
		return ZERO_PARAMS;
	return rule > RULE_PARAMS ? rule : RULE_PARAMS;
}

static uint64_t padded(const struct plan *plan, uint64_t params, bool is_expert)
{
	uint64_t ranks = group_ranks(plan, is_expert);
	uint64_t grain = ranks / greatest_divisor(ranks, PAD_PARAMS) * PAD_PARAMS;
	if (!plan->parallel.has_distributed_optimizer)
		return params;
	if (plan->parallel.sharding != SHARDING_MEGATRON)
		grain = ranks;
	return (params + grain - 1) / grain * grain;
}

// A bucket closes when it has so many parameters.
static uint64_t limit(const struct plan *plan, uint32_t stage, uint32_t chunk, bool is_expert,
		      bool is_first)
{
	const struct parallel *cut = &plan->parallel;
	if (cut->sharding == SHARDING_FSDP || cut->outer_steps > 0 ||
	    (cut->sharding == SHARDING_MEGATRON && stage + chunk > 0))
		return UINT64_MAX;
	if (cut->sharding != SHARDING_DDP)
		return plan_bucket_params(plan, is_expert);
	uint64_t bytes = is_first ? cut->first_bucket_bytes : cut->bucket_bytes;
	return (bytes + cut->grad_bytes - 1) / cut->grad_bytes;
}

bool plan_bucket_next(const struct plan *plan, uint32_t stage, uint32_t chunk, bool is_expert,
		      uint32_t *left, struct plan_bucket *ret)
{
	bool is_first = *left == plan_part_count(plan, stage, chunk);
	uint64_t size = limit(plan, stage, chunk, is_expert, is_first);
	bool is_by_unit = plan->parallel.sharding == SHARDING_FSDP;
	uint32_t own = 0;
	*ret = (struct plan_bucket){.is_expert = is_expert};
	while (*left > 0 && ret->params < size) {
		uint32_t unit = is_by_unit ? plan_part_unit(plan, stage, chunk, *left - 1) : 0;
		struct part part;
		plan_part(plan, stage, chunk, *left - 1, &part);
		if (ret->parts > 0 && unit != own) // of this kind or not: it is ready here
			break;
		--*left;
		if (part.is_expert != is_expert || part.params == 0)
			continue;
		if (ret->parts++ == 0)
			ret->part_last = *left;
		own = unit;
		ret->params += part.params;
	}
	ret->padded = padded(plan, ret->params, is_expert);
	return ret->params > 0;
}

uint32_t plan_reduces(const struct plan *plan)
{
	return plan->parallel.is_reduced_each ? plan->parallel.micro_batches : 1;
}

uint32_t plan_gathers(const struct plan *plan)
{
	const struct parallel *cut = &plan->parallel;
	if (cut->sharding == SHARDING_FSDP && cut->is_resharded)
		return 2 * cut->micro_batches;
	if (cut->sharding == SHARDING_FSDP)
		return cut->pp > 1 ? 1 : cut->micro_batches;
	return cut->has_distributed_optimizer ? 1 : 0;
}

// ---------------------------------------------------------------- messages

const char *message_name(enum message_kind kind)
{
	static const char *const names[] = {"tp",	 "cp",	      "ep",	    "pp",
					    "dp reduce", "dp gather", "edp reduce", "edp gather",
					    "dp across", "etp"};
	return names[kind];
}

static void add(struct message_sum *to, uint64_t bytes, uint64_t count)
{
	if (count == 0 || bytes == 0)
		return;
	to->bytes = bytes > to->bytes ? bytes : to->bytes;
	to->count += count;
	to->total_bytes += bytes * count;
}

static void add_buckets(const struct plan *plan, uint32_t stage, uint32_t chunk, bool is_expert,
			struct message_sum *reduce, struct message_sum *gather,
			struct message_sum *across)
{
	const struct parallel *cut = &plan->parallel;
	struct plan_bucket bucket;
	uint32_t left = plan_part_count(plan, stage, chunk);
	if (is_expert && plan_expert_ranks(plan) < 2)
		return;
	while (plan_bucket_next(plan, stage, chunk, is_expert, &left, &bucket)) {
		uint64_t bytes = bucket.padded * cut->grad_bytes;
		if (group_ranks(plan, is_expert) > 1) {
			add(reduce, bytes, plan_reduces(plan));
			add(gather, bucket.padded * cut->param_bytes, plan_gathers(plan));
		}
		if (across != NULL && plan_dense_ranks(plan) > plan_shard_ranks(plan))
			add(across, bytes / plan_shard_ranks(plan), plan_reduces(plan));
	}
}

// One layer's messages in all micro-batches.
static void add_layer(const struct plan *plan, bool is_moe, struct message_sum *ret)
{
	const struct architecture *of = plan->architecture;
	const struct parallel *cut = &plan->parallel;
	uint64_t tokens = (uint64_t)cut->sequence * cut->samples / cut->cp;
	uint64_t row = (uint64_t)of->hidden * cut->activation_bytes;
	uint64_t key = of->head_dim + of->rope_dim;
	uint64_t value = of->kv_rank > 0 ? of->value_dim : of->head_dim;
	uint64_t heads = of->kv_rank > 0 ? of->heads : of->kv_heads;
	if (cut->tp > 1)
		add(&ret[MESSAGE_TP], tokens * row, UINT64_C(10) * cut->micro_batches);
	add(&ret[MESSAGE_CP], tokens * heads / cut->tp * (key + value) * cut->activation_bytes,
	    UINT64_C(3) * (cut->cp - 1) * cut->micro_batches);
	if (is_moe && cut->ep > 1)
		add(&ret[MESSAGE_EP], tokens / cut->tp * of->experts_per_token * row,
		    UINT64_C(4) * cut->micro_batches);
	uint32_t etp = plan_expert_tensor_ranks(plan);
	if (is_moe && etp > 1)
		add(&ret[MESSAGE_ETP], tokens / cut->tp * of->experts_per_token * row * etp,
		    UINT64_C(4) * cut->micro_batches);
}

void plan_cell_messages(const struct plan *plan, uint32_t stage, uint32_t chunk,
			struct message_sum ret[MESSAGE_COUNT])
{
	const struct parallel *cut = &plan->parallel;
	uint32_t cell = chunk * cut->pp + stage, cells = cut->pp * cut->vpp;
	uint32_t slots = plan_slots(plan), layers = plan_layers(plan, stage, chunk);
	uint32_t first = cell == 0
		? 0
		: (cut->layers_first > 0 ? cut->layers_first : slots) + (cell - 1) * slots;
	uint64_t edge = (uint64_t)cut->sequence * cut->samples / cut->cp / cut->tp *
		plan->architecture->hidden * cut->activation_bytes;
	for (uint32_t layer = first; layer < first + layers; layer++)
		add_layer(plan, layer_is_moe(plan->architecture, layer), ret);
	if (cut->pp > 1) // forward to the next cell, backward to the one before
		add(&ret[MESSAGE_PP], edge,
		    (uint64_t)cut->micro_batches * ((cell + 1 < cells) + (cell > 0)));
}

void plan_messages(const struct plan *plan, uint32_t stage, struct message_sum ret[MESSAGE_COUNT])
{
	for (int i = 0; i < MESSAGE_COUNT; i++)
		ret[i] = (struct message_sum){0};
	for (uint32_t chunk = 0; chunk < plan->parallel.vpp; chunk++) {
		plan_cell_messages(plan, stage, chunk, ret);
		add_buckets(plan, stage, chunk, false, &ret[MESSAGE_DP_REDUCE],
			    &ret[MESSAGE_DP_GATHER], &ret[MESSAGE_DP_ACROSS]);
		add_buckets(plan, stage, chunk, true, &ret[MESSAGE_EDP_REDUCE],
			    &ret[MESSAGE_EDP_GATHER], NULL);
	}
}

struct message_sum plan_message_most(const struct plan *plan, enum message_kind kind)
{
	struct message_sum most = {0}, sums[MESSAGE_COUNT];
	for (uint32_t stage = 0; stage < plan->parallel.pp; stage++) {
		plan_messages(plan, stage, sums);
		if (sums[kind].total_bytes > most.total_bytes)
			most = sums[kind];
	}
	return most;
}
