// SPDX-License-Identifier: Apache-2.0
// Which layers lie where, and what that makes on a rank.
// Facts: Megatron-LM numbers the cells of an interleaved pipeline chunk by chunk; the first one has
// the embedding, the last one the last norm and the output matrix. A tied output matrix is a copy
// of the embedding on the last stage when there is more than one.

#include <errno.h>
#include <string.h>

#include "plan_keys.h"

#define RANKS_MAX (UINT32_C(1) << 20)
#define LAYERS_MAX 4096u
#define EXPERTS_MAX 65536u			// over all layers
#define PARAMS_MAX ((unsigned __int128)1 << 56) // so that bytes of them stay in 64 bits
#define SUM_MAX ((unsigned __int128)1 << 62)
#define NUMBERS_MAX 32u // times a row that a layer's tokens send, or keep for a backward

bool plan_is_cut_as(const struct plan *plan, const struct plan *other)
{
	const struct parallel *cut = &plan->parallel, *its = &other->parallel;
	return strcmp(plan->architecture->name, other->architecture->name) == 0 &&
		plan_expert_tensor_ranks(plan) == plan_expert_tensor_ranks(other) &&
		cut->tp == its->tp && cut->cp == its->cp && cut->pp == its->pp &&
		cut->vpp == its->vpp && cut->samples == its->samples &&
		cut->sequence == its->sequence;
}

bool plan_is_interleaved(const struct plan *plan)
{
	return plan->parallel.sharding == SHARDING_FSDP || plan->parallel.is_reduced_each;
}

const char *plan_schedule(const struct parallel *cut)
{
	return cut->late_ppb > 0 && cut->pp > 1 ? " by zb-h1" : "";
}

uint32_t plan_ranks(const struct plan *plan)
{
	const struct parallel *cut = &plan->parallel;
	return cut->tp * cut->cp * cut->pp * cut->dp;
}

uint32_t plan_dense_ranks(const struct plan *plan)
{
	return plan->parallel.dp * plan->parallel.cp;
}

uint32_t plan_shard_ranks(const struct plan *plan)
{
	return plan->parallel.shard_ranks > 0 ? plan->parallel.shard_ranks : plan_dense_ranks(plan);
}

uint32_t plan_expert_tensor_ranks(const struct plan *plan)
{
	return plan->parallel.etp > 0 ? plan->parallel.etp : 1;
}

// Tensor ranks hold different experts, but for those that cut one.
uint32_t plan_expert_ranks(const struct plan *plan)
{
	const struct parallel *cut = &plan->parallel;
	return plan_ranks(plan) / (cut->ep * cut->pp * plan_expert_tensor_ranks(plan));
}

// ---------------------------------------------------------------- checks

static uint64_t larger(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

// What is checked, and the size that is to blame.
struct checked {
	const struct plan *plan;
	const struct architecture *of;
	const struct parallel *cut;
	const char *size; // of plan_keys()
	struct refusal *refusal;
};

static int blame(struct checked *checked, const char *size, const char *text, int64_t first,
		 int64_t second, int64_t third)
{
	checked->size = size;
	return refuse(checked->refusal, -EINVAL, text, first, second, third);
}

// The widest that lies between two products of a layer.
static uint64_t width_of(const struct architecture *of)
{
	uint64_t heads = ((uint64_t)of->heads + of->kv_heads) * (of->head_dim + of->rope_dim);
	uint64_t width = larger(larger(of->ffn, of->expert_ffn), larger(of->shared_ffn, heads));
	return larger(width, (uint64_t)of->heads * larger(of->value_dim, of->query_rank));
}

// What a matrix of a layer comes from.
static uint64_t depth_of(const struct architecture *of)
{
	return larger(of->hidden, larger(of->kv_rank, of->query_rank));
}

// What is added up of a step in 64 bits: bytes that a rank sends or keeps, operations of a layer.
static int check_step(struct checked *checked)
{
	const struct architecture *of = checked->of;
	const struct parallel *cut = checked->cut;
	uint64_t width = larger(width_of(of), of->hidden);
	uint64_t experts = of->experts_per_token < of->experts ? of->experts_per_token
							       : of->experts;
	unsigned __int128 tokens = (unsigned __int128)cut->sequence * cut->samples;
	unsigned __int128 row = (unsigned __int128)width * (experts + 1) *
		plan_expert_tensor_ranks(checked->plan);
	row = row > of->vocab ? row : of->vocab;
	unsigned __int128 numbers = tokens * cut->micro_batches * of->layers * NUMBERS_MAX;
	unsigned __int128 scores = (unsigned __int128)2 * cut->sequence * width / cut->tp;
	unsigned __int128 products = (unsigned __int128)depth_of(of) *
		(16 * width * (experts + 1) + 2 * larger(of->experts, of->vocab));
	unsigned __int128 layers_tokens = (tokens / cut->cp + 1) * of->layers;
	if (numbers > SUM_MAX / cut->activation_bytes / row ||
	    layers_tokens > SUM_MAX / (scores + products))
		return blame(checked, "sequence",
			     "a step of so many tokens of a model of this size is beyond counting",
			     0, 0, 0);
	return 0;
}

// Nothing that is added up later may be too large for it.
static int check_amounts(struct checked *checked)
{
	const struct architecture *of = checked->of;
	const struct parallel *cut = checked->cut;
	if (of->layers > LAYERS_MAX || (uint64_t)of->layers * of->experts > EXPERTS_MAX)
		return blame(checked, of->layers > LAYERS_MAX ? "layers" : "experts",
			     "at most % layers, and % experts in all layers together", LAYERS_MAX,
			     EXPERTS_MAX, 0);
	if (cut->grad_bytes > 16 || cut->param_bytes > 16 || cut->activation_bytes > 16)
		return blame(checked,
			     cut->grad_bytes > 16	     ? "grad_bytes"
				     : cut->param_bytes > 16 ? "param_bytes"
							     : "activation_bytes",
			     "a number has at most 16 bytes on the wire", 0, 0, 0);
	unsigned __int128 layer = (unsigned __int128)(of->experts + 4) * width_of(of) * 4;
	if (layer * depth_of(of) > PARAMS_MAX / of->layers)
		return blame(checked, "hidden", "a model of this size is beyond counting", 0, 0, 0);
	return check_step(checked);
}

static int check_ranks(struct checked *checked)
{
	const struct parallel *cut = checked->cut;
	if ((uint64_t)cut->tp * cut->cp > RANKS_MAX || (uint64_t)cut->pp * cut->dp > RANKS_MAX ||
	    (uint64_t)cut->tp * cut->cp * cut->pp * cut->dp > RANKS_MAX)
		return blame(checked, "dp", "a job has at most % ranks", RANKS_MAX, 0, 0);
	return 0;
}

static int check_attention(struct checked *checked)
{
	const struct architecture *of = checked->of;
	if (of->kv_rank == 0 && of->kv_heads > 0 && of->heads % of->kv_heads != 0)
		return blame(checked, "kv_heads",
			     "% heads do not divide by % heads of keys and values", of->heads,
			     of->kv_heads, 0);
	if (of->kv_rank > 0 && of->value_dim == 0)
		return blame(checked, "kv_rank",
			     "latent attention needs the width of a value, value_dim", 0, 0, 0);
	return 0;
}

static int check_tensor(struct checked *checked)
{
	const struct architecture *of = checked->of;
	const struct parallel *cut = checked->cut;
	const struct {
		uint32_t size;
		const char *name, *text;
	} cuts[] = {
		{of->heads, "heads", "% heads do not divide by % tensor ranks"},
		{of->kv_rank > 0 ? 0 : of->kv_heads, "kv_heads",
		 "% heads of keys and values do not divide by % tensor ranks"},
		{of->ffn, "ffn", "a feed-forward of % does not divide by % tensor ranks"},
		{of->shared_ffn, "shared_ffn",
		 "a shared expert of % does not divide by % tensor ranks"},
	};
	for (uint32_t i = 0; i < sizeof(cuts) / sizeof(*cuts); i++)
		if (cuts[i].size % cut->tp != 0)
			return blame(checked, cuts[i].name, cuts[i].text, cuts[i].size, cut->tp, 0);
	if (cut->sequence % (cut->tp * cut->cp) != 0)
		return blame(checked, "sequence",
			     "a sequence of % tokens does not divide by % tensor and context ranks",
			     cut->sequence, cut->tp * cut->cp, 0);
	return 0;
}

static int check_experts(struct checked *checked)
{
	const struct architecture *of = checked->of;
	const struct parallel *cut = checked->cut;
	if (of->experts == 0 && cut->ep > 1)
		return blame(checked, "ep", "% expert ranks, but the model has no experts", cut->ep,
			     0, 0);
	if (of->experts == 0 && cut->etp > 1)
		return blame(checked, "etp", "% ranks cut an expert, but the model has none",
			     cut->etp, 0, 0);
	if (of->experts == 0)
		return of->ffn > 0 ? 0
				   : blame(checked, "ffn",
					   "a model without experts needs a feed-forward", 0, 0, 0);
	if (of->expert_ffn == 0)
		return blame(checked, "experts", "% experts need their width, expert_ffn",
			     of->experts, 0, 0);
	if (of->experts_per_token == 0 || of->experts_per_token > of->experts)
		return blame(checked, "experts",
			     "of % experts a token goes to 1 to % (experts_per_token), not %",
			     of->experts, of->experts, of->experts_per_token);
	if (of->experts % cut->ep != 0)
		return blame(checked, "experts", "% experts do not divide by % expert ranks",
			     of->experts, cut->ep, 0);
	if (of->dense_layers > of->layers)
		return blame(checked, "dense_layers",
			     "% layers without experts are more than all %", of->dense_layers,
			     of->layers, 0);
	if (of->dense_layers > 0 && of->ffn == 0)
		return blame(checked, "dense_layers",
			     "% layers without experts need a feed-forward", of->dense_layers, 0,
			     0);
	if (of->expert_every > of->layers)
		return blame(checked, "expert_every", "each %-th of % layers has experts: none has",
			     of->expert_every, of->layers, 0);
	if (of->expert_every > 1 && of->ffn == 0)
		return blame(checked, "expert_every",
			     "layers between those with experts need a feed-forward, ffn", 0, 0, 0);
	uint32_t each = plan_ranks(checked->plan) / cut->pp;
	uint32_t parts = plan_expert_tensor_ranks(checked->plan);
	if (each % cut->ep != 0)
		return blame(checked, "ep", "% ranks of a stage do not divide by % of experts",
			     each, cut->ep, 0);
	if (of->expert_ffn % parts != 0)
		return blame(checked, "etp", "an expert of % does not divide by % ranks",
			     of->expert_ffn, parts, 0);
	if (each / cut->ep % parts != 0)
		return blame(checked, "etp",
			     "% ranks of a stage do not divide by % of experts x % that cut one",
			     each, cut->ep, parts);
	return 0;
}

static int check_sharding(struct checked *checked)
{
	const struct parallel *cut = checked->cut;
	int64_t sharing = plan_dense_ranks(checked->plan);
	if (cut->shard_ranks > 0 && cut->sharding != SHARDING_FSDP)
		return blame(checked, "shard_ranks",
			     "only FSDP and ZeRO-3 have shards of some ranks", 0, 0, 0);
	if (cut->shard_ranks > 0 && checked->of->experts > 0)
		return blame(checked, "shard_ranks", "a model with experts has shards of all ranks",
			     0, 0, 0);
	if (cut->shard_ranks > 0 && sharing % cut->shard_ranks != 0)
		return blame(checked, "shard_ranks",
			     "% ranks are not a whole number of shards of %", sharing,
			     cut->shard_ranks, 0);
	if (cut->sharding == SHARDING_MEGATRON)
		return cut->is_reduced_each ? blame(checked, "is_reduced_each",
						    "Megatron-LM reduces once a step", 0, 0, 0)
					    : 0;
	if (cut->pp > 1 && cut->has_one_stage)
		return blame(checked, "pp",
			     "% stages: DeepSpeed's pipelines take no ZeRO beyond 1; fsdp goes "
			     "with stages",
			     cut->pp, 0, 0);
	if (cut->vpp > 1 && cut->sharding == SHARDING_ZERO1)
		return blame(checked, "vpp",
			     "% chunks a stage: ZeRO's gathers of all chunks before a forward are "
			     "not known here",
			     cut->vpp, 0, 0);
	if (cut->is_aligned && cut->outer_steps == 0)
		return blame(checked, "is_aligned", "there is no other stage to wait for", 0, 0, 0);
	return 0;
}

// Assumed: W of ZB-H1 takes no longer than a forward, nor than the rest of a backward.
static int check_split(struct checked *checked)
{
	const struct parallel *cut = checked->cut;
	if (cut->late_ppb == 0 || cut->pp == 1)
		return 0;
	if (cut->vpp > 1)
		return blame(checked, "late_ppb", "zb-h1 has one chunk a stage, not %", cut->vpp, 0,
			     0);
	if (cut->micro_batches < cut->pp)
		return blame(checked, "late_ppb",
			     "zb-h1 needs as many micro-batches as stages: % of %",
			     cut->micro_batches, cut->pp, 0);
	if (plan_is_interleaved(checked->plan))
		return blame(checked, "late_ppb",
			     "zb-h1 goes with reduce.kind megatron, ddp, zero-1 or local, behind "
			     "the last micro-batch",
			     0, 0, 0);
	return 0;
}

static int check_cells(struct checked *checked)
{
	const struct architecture *of = checked->of;
	const struct parallel *cut = checked->cut;
	uint64_t cells = (uint64_t)cut->pp * cut->vpp, ends = 0, left = of->layers;
	const char *end = cut->layers_first > 0 ? "layers_first" : "layers_last";
	if (cut->vpp > 1 && cut->pp == 1)
		return blame(checked, "vpp", "% chunks a stage need more than one stage", cut->vpp,
			     0, 0);
	if (cut->vpp > 1 && cut->micro_batches % cut->pp != 0)
		return blame(checked, "micro_batches",
			     "interleaved: % micro-batches must divide by % stages",
			     cut->micro_batches, cut->pp, 0);
	if (cells == 1 && cut->layers_first + cut->layers_last > 0)
		return blame(checked, end, "one cell has all layers", 0, 0, 0);
	ends = (cut->layers_first > 0) + (cut->layers_last > 0);
	if (cut->layers_first >= left || cut->layers_last >= left - cut->layers_first)
		return blame(checked, end, "the first and last cell have all % layers", of->layers,
			     0, 0);
	left -= cut->layers_first + cut->layers_last;
	if (cells == ends || left % (cells - ends) != 0)
		return blame(checked, "layers", "% layers do not divide by % cells", (int64_t)left,
			     (int64_t)(cells - ends), 0);
	return 0;
}

int plan_check_size(const struct plan *plan, const char **ret_size, struct refusal *refusal)
{
	static int (*const checks[])(struct checked *) = {
		check_ranks,   check_amounts, check_attention, check_tensor,
		check_experts, check_cells,   check_split,     check_sharding};
	struct checked checked = {plan, plan->architecture, &plan->parallel, NULL, refusal};
	int rc = plan_check_sizes(plan, &checked.size, refusal);
	for (size_t i = 0; rc == 0 && i < sizeof(checks) / sizeof(*checks); i++)
		rc = checks[i](&checked);
	*ret_size = checked.size;
	return rc;
}

int plan_check(const struct plan *plan, struct refusal *refusal)
{
	const char *size;
	return plan_check_size(plan, &size, refusal);
}

int plan_resize(struct plan *ret, const struct plan *plan, uint32_t ranks, struct refusal *refusal)
{
	const struct parallel *cut = &plan->parallel;
	uint32_t replica = cut->tp * cut->cp * cut->pp;
	if (ranks == 0 || ranks % replica != 0)
		return refuse(refusal, -EINVAL, "% GPUs are not a whole number of replicas of %",
			      ranks, replica);
	*ret = *plan;
	ret->parallel.dp = ranks / replica;
	if (ret->parallel.dp != cut->dp) // published for another size
		ret->published_ps = 0;
	return plan_check(ret, refusal);
}

// ---------------------------------------------------------------- cells

static uint32_t cell_number(const struct plan *plan, uint32_t stage, uint32_t chunk)
{
	return chunk * plan->parallel.pp + stage;
}

static bool is_first(const struct plan *plan, uint32_t stage, uint32_t chunk)
{
	return cell_number(plan, stage, chunk) == 0;
}

static bool is_last(const struct plan *plan, uint32_t stage, uint32_t chunk)
{
	return cell_number(plan, stage, chunk) + 1 == plan->parallel.pp * plan->parallel.vpp;
}

uint32_t plan_slots(const struct plan *plan)
{
	const struct parallel *cut = &plan->parallel;
	uint32_t ends = (cut->layers_first > 0) + (cut->layers_last > 0);
	uint32_t left = plan->architecture->layers - cut->layers_first - cut->layers_last;
	return left / (cut->pp * cut->vpp - ends);
}

uint32_t plan_layers(const struct plan *plan, uint32_t stage, uint32_t chunk)
{
	const struct parallel *cut = &plan->parallel;
	if (is_first(plan, stage, chunk) && cut->layers_first > 0)
		return cut->layers_first;
	if (is_last(plan, stage, chunk) && cut->layers_last > 0)
		return cut->layers_last;
	return plan_slots(plan);
}

// The number of a cell's first layer.
static uint32_t layer_first(const struct plan *plan, uint32_t stage, uint32_t chunk)
{
	uint32_t cell = cell_number(plan, stage, chunk), first = plan->parallel.layers_first;
	if (cell == 0)
		return 0;
	return (first > 0 ? first : plan_slots(plan)) + (cell - 1) * plan_slots(plan);
}

// ---------------------------------------------------------------- parts

static uint64_t vocab_params(const struct plan *plan)
{
	uint64_t grain = (uint64_t)plan->parallel.vocab_grain * plan->parallel.tp;
	uint64_t words = (plan->architecture->vocab + grain - 1) / grain * grain;
	return words / plan->parallel.tp * plan->architecture->hidden;
}

// What stands before the layers of the first cell.
static bool head_part(const struct plan *plan, struct part *ret)
{
	*ret = (struct part){"embedding",
			     vocab_params(plan) + plan->architecture->extra_first_params, false};
	return true;
}

// What stands behind the layers of the last one. A tied output matrix on the same rank as the
// embedding is not there twice.
static bool tail_part(const struct plan *plan, struct part *ret)
{
	const struct architecture *of = plan->architecture;
	bool has_matrix = !of->is_tied || plan->parallel.pp > 1;
	uint64_t words = vocab_params(plan) / of->hidden;
	*ret = (struct part){"output",
			     (has_matrix ? vocab_params(plan) : 0) + of->output_bias * words +
				     (uint64_t)of->norm_vectors * of->hidden +
				     of->extra_last_params,
			     false};
	return true;
}

// Parts of a layer: four that each has one of, and two for each expert of the rank (or one pair).
static uint32_t layer_parts(const struct plan *plan, bool is_moe)
{
	return PART_FC1 + 2 * (is_moe ? plan->architecture->experts / plan->parallel.ep : 1);
}

static void layer_part(const struct plan *plan, bool is_moe, uint32_t index, struct part *ret)
{
	uint32_t part = index < PART_FC1 ? index : PART_FC1;
	if (index >= PART_FC1 + (layer_parts(plan, is_moe) - PART_FC1) / 2)
		part = PART_FC2;
	*ret = (struct part){layer_part_name((enum layer_part)part),
			     layer_part_params(plan->architecture, (enum layer_part)part,
					       plan->parallel.tp, plan_expert_tensor_ranks(plan),
					       is_moe),
			     is_moe && part >= PART_FC1};
}

bool plan_part(const struct plan *plan, uint32_t stage, uint32_t chunk, uint32_t index,
	       struct part *ret)
{
	uint32_t first = layer_first(plan, stage, chunk);
	uint32_t end = first + plan_layers(plan, stage, chunk);
	if (is_first(plan, stage, chunk) && index-- == 0)
		return head_part(plan, ret);
	for (uint32_t layer = first; layer < end; layer++) {
		bool is_moe = layer_is_moe(plan->architecture, layer);
		uint32_t count = layer_parts(plan, is_moe);
		if (index < count) {
			layer_part(plan, is_moe, index, ret);
			return true;
		}
		index -= count;
	}
	return is_last(plan, stage, chunk) && index == 0 && tail_part(plan, ret);
}

uint32_t plan_part_count(const struct plan *plan, uint32_t stage, uint32_t chunk)
{
	uint32_t first = layer_first(plan, stage, chunk);
	uint32_t end = first + plan_layers(plan, stage, chunk);
	uint32_t count = is_first(plan, stage, chunk) + is_last(plan, stage, chunk);
	for (uint32_t layer = first; layer < end; layer++)
		count += layer_parts(plan, layer_is_moe(plan->architecture, layer));
	return count;
}

uint32_t plan_part_unit(const struct plan *plan, uint32_t stage, uint32_t chunk, uint32_t index)
{
	uint32_t layer = layer_first(plan, stage, chunk);
	uint32_t end = layer + plan_layers(plan, stage, chunk);
	if (is_first(plan, stage, chunk) && index-- == 0)
		return 0;
	for (; layer < end; layer++) {
		uint32_t count = layer_parts(plan, layer_is_moe(plan->architecture, layer));
		if (index < count)
			break;
		index -= count;
	}
	return layer + 1;
}

uint64_t plan_cell_params(const struct plan *plan, uint32_t stage, uint32_t chunk, bool is_expert)
{
	struct part part;
	uint64_t params = 0;
	for (uint32_t i = 0; plan_part(plan, stage, chunk, i, &part); i++)
		params += part.is_expert == is_expert ? part.params : 0;
	return params;
}

uint64_t plan_stage_params(const struct plan *plan, uint32_t stage, bool is_expert)
{
	uint64_t params = 0;
	for (uint32_t chunk = 0; chunk < plan->parallel.vpp; chunk++)
		params += plan_cell_params(plan, stage, chunk, is_expert);
	return params;
}
