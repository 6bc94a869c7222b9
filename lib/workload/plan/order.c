// SPDX-License-Identifier: Apache-2.0
// Rank orders.
// Facts: Megatron-LM numbers ranks by an order string, the innermost dimension first, once for the
// dense part (without "ep") and once for experts (without "tp" and "cp" where experts are whole);
// it refuses orders in which the two have other pipeline groups.

#include <errno.h>
#include <string.h>

#include <weft/core/check.h>
#include <weft/workload/order.h>

static const char *const names[] = {"tp", "cp", "ep", "dp", "pp"};

const char *dimension_name(enum dimension dimension)
{
	return names[dimension];
}

const char *group_kind_name(enum group_kind kind)
{
	static const char *const kinds[] = {"tp",  "cp",    "ep",   "pp", "dp",
					    "edp", "shard", "same", "etp"};
	return kinds[kind];
}

// ---------------------------------------------------------------- sizes and strides

// Ranks along each dimension: of the dense part, or of experts; a model without any has one part.
static void sizes_of(const struct plan *plan, bool of_experts, uint32_t ret[DIMENSION_COUNT])
{
	const struct parallel *cut = &plan->parallel;
	bool is_expert = of_experts && plan->architecture->experts > 0;
	ret[DIMENSION_TP] = is_expert ? plan_expert_tensor_ranks(plan) : cut->tp;
	ret[DIMENSION_CP] = is_expert ? 1 : cut->cp;
	ret[DIMENSION_EP] = is_expert ? cut->ep : 1;
	ret[DIMENSION_DP] = is_expert ? plan_expert_ranks(plan) : cut->dp;
	ret[DIMENSION_PP] = cut->pp;
}

struct grid {
	uint32_t count; // dimensions, the innermost first
	uint32_t size[DIMENSION_COUNT], stride[DIMENSION_COUNT];
};

// The dimensions in `inside` (a bit each), or those that are not.
static struct grid grid_of(const struct order *order, const struct plan *plan, bool is_expert,
			   uint32_t inside, bool wants_inside)
{
	struct grid grid = {0};
	uint32_t sizes[DIMENSION_COUNT], stride = 1;
	sizes_of(plan, is_expert, sizes);
	for (uint32_t i = 0; i < order->count; i++) {
		uint32_t dimension = order->at[i];
		if (((inside >> dimension & 1) != 0) == wants_inside) {
			grid.size[grid.count] = sizes[dimension];
			grid.stride[grid.count++] = stride;
		}
		stride *= sizes[dimension];
	}
	return grid;
}

static uint32_t grid_ranks(const struct grid *grid)
{
	uint32_t ranks = 1;
	for (uint32_t i = 0; i < grid->count; i++)
		ranks *= grid->size[i];
	return ranks;
}

static uint32_t grid_at(const struct grid *grid, uint32_t index)
{
	uint32_t rank = 0;
	for (uint32_t i = 0; i < grid->count; i++) {
		rank += index % grid->size[i] * grid->stride[i];
		index /= grid->size[i];
	}
	return rank;
}

// ---------------------------------------------------------------- reading

// Up to the next '-', or the end.
static size_t word_length(const char *text)
{
	size_t length = 0;
	while (text[length] != '\0' && text[length] != '-')
		length++;
	return length;
}

static int refuse_at(struct refusal *refusal, size_t at, const char *why, const char *what)
{
	refuse(refusal, -EINVAL, why);
	size_t used = strlen(refusal->text), length = word_length(what);
	if (length > 16)
		length = 16;
	if (used + length + 1 < sizeof(refusal->text)) {
		for (size_t i = 0; i < length; i++)
			refusal->text[used + i] = what[i] >= ' ' && what[i] < 127 ? what[i] : '?';
		refusal->text[used + length] = '\0';
	}
	refusal->column = (uint32_t)at + 1;
	return -EINVAL;
}

static int take_word(struct order *order, const char *text, size_t at, size_t length,
		     struct refusal *refusal)
{
	uint32_t found = DIMENSION_COUNT;
	for (uint32_t i = 0; i < DIMENSION_COUNT; i++)
		if (length == 2 && memcmp(text + at, names[i], 2) == 0)
			found = i;
	if (found == DIMENSION_COUNT)
		return refuse_at(refusal, at, "an order is made of tp, cp, ep, dp, pp, not ",
				 text + at);
	for (uint32_t i = 0; i < order->count; i++)
		if (order->at[i] == found)
			return refuse_at(refusal, at, "given twice in the order: ", names[found]);
	order->at[order->count++] = (uint8_t)found;
	return 0;
}

static uint32_t stride_of(const struct order *order, const struct plan *plan, bool is_expert)
{
	struct grid stages = grid_of(order, plan, is_expert, 1u << DIMENSION_PP, true);
	return stages.count == 0 ? 1 : stages.stride[0];
}

static int check_order(const struct order *order, const char *text, const struct plan *plan,
		       struct refusal *refusal)
{
	uint32_t dense[DIMENSION_COUNT], expert[DIMENSION_COUNT], seen = 0;
	sizes_of(plan, false, dense);
	sizes_of(plan, true, expert);
	for (uint32_t i = 0; i < order->count; i++)
		seen |= 1u << order->at[i];
	for (uint32_t i = 0; i < DIMENSION_COUNT; i++)
		if ((seen >> i & 1) == 0 && (dense[i] > 1 || expert[i] > 1))
			return refuse_at(
				refusal, strlen(text),
				"the order lacks a dimension that the plan cuts: ", names[i]);
	if (plan->architecture->experts > 0 && plan->parallel.pp > 1 &&
	    stride_of(order, plan, false) != stride_of(order, plan, true))
		return refuse(refusal, -EINVAL,
			      "in this order the next stage is % ranks on for the dense part and % "
			      "for experts: put pp last",
			      stride_of(order, plan, false), stride_of(order, plan, true));
	return 0;
}

int order_parse(struct order *ret, const char *text, const struct plan *plan,
		struct refusal *refusal)
{
	struct order order = {0};
	for (size_t at = 0;; at++) {
		size_t length = word_length(text + at);
		int rc = take_word(&order, text, at, length, refusal);
		if (rc < 0)
			return rc;
		at += length;
		if (text[at] == '\0')
			break;
	}
	*ret = order;
	return check_order(ret, text, plan, refusal);
}

// ---------------------------------------------------------------- members and groups

struct gpu_location gpu_location_of(const struct gpu_layout *gpu_layout, uint32_t rank)
{
	uint32_t within = rank % gpu_layout->gpus_per_domain;
	return (struct gpu_location){.domain = rank / gpu_layout->gpus_per_domain,
				     .tray = within / gpu_layout->gpus_per_tray,
				     .nic = rank,
				     .rail = within % gpu_layout->gpus_per_tray};
}

static uint32_t inside_of(enum group_kind kind)
{
	static const uint8_t dimensions[] = {
		[GROUP_TP] = 1u << DIMENSION_TP,
		[GROUP_CP] = 1u << DIMENSION_CP,
		[GROUP_EP] = 1u << DIMENSION_EP,
		[GROUP_PP] = 1u << DIMENSION_PP,
		[GROUP_DP] = 1u << DIMENSION_DP | 1u << DIMENSION_CP,
		[GROUP_EDP] = 1u << DIMENSION_DP,
		[GROUP_SHARD] = 1u << DIMENSION_DP | 1u << DIMENSION_CP,
		[GROUP_ACROSS] = 1u << DIMENSION_DP | 1u << DIMENSION_CP,
		[GROUP_ETP] = 1u << DIMENSION_TP,
	};
	return dimensions[kind];
}

// Of `members` a group has `count`, `step` apart; so many groups of the kind lie in one of the
// grid.
struct lay {
	struct grid members, groups;
	uint32_t count, step, parts;
};

static struct lay lay_of(const struct order *order, const struct plan *plan, enum group_kind kind)
{
	bool is_expert = kind == GROUP_EP || kind == GROUP_EDP || kind == GROUP_ETP;
	uint32_t inside = inside_of(kind), shard = plan_shard_ranks(plan);
	struct lay lay = {grid_of(order, plan, is_expert, inside, true),
			  grid_of(order, plan, is_expert, inside, false), .step = 1, .parts = 1};
	uint32_t all = grid_ranks(&lay.members);
	if (kind == GROUP_SHARD)
		lay.parts = all / shard;
	if (kind == GROUP_ACROSS)
		lay.parts = lay.step = shard;
	lay.count = all / lay.parts;
	return lay;
}

// Rank `at` of group `group`.
static uint32_t lay_rank(const struct lay *lay, uint32_t group, uint32_t at)
{
	uint32_t part = group % lay->parts;
	uint32_t first = lay->step > 1 || lay->parts == 1 ? part : part * lay->count;
	return grid_at(&lay->groups, group / lay->parts) +
		grid_at(&lay->members, first + at * lay->step);
}

uint32_t order_rank(const struct order *order, const struct plan *plan, enum group_kind kind,
		    uint32_t group, uint32_t at)
{
	struct lay lay = lay_of(order, plan, kind);
	return lay_rank(&lay, group, at);
}

uint32_t order_stage(const struct order *order, const struct plan *plan, uint32_t rank)
{
	return rank / stride_of(order, plan, false) % plan->parallel.pp;
}

uint32_t order_replica(const struct order *order, const struct plan *plan, uint32_t rank)
{
	struct grid replicas = grid_of(order, plan, false, 1u << DIMENSION_DP, true);
	return replicas.count == 0 ? 0 : rank / replicas.stride[0] % plan->parallel.dp;
}

static void look_at_hop(struct spread *spread, const struct gpu_layout *gpu_layout, uint32_t from,
			uint32_t to)
{
	struct gpu_location left = gpu_location_of(gpu_layout, from),
			    right = gpu_location_of(gpu_layout, to);
	spread->hops++;
	if (left.domain == right.domain)
		return;
	spread->hops_out++;
	spread->hops_rail += left.rail != right.rail;
}

// Members ascend, so those of a domain stand together.
static void look_at_group(struct spread *spread, const struct lay *lay,
			  const struct gpu_layout *gpu_layout, uint32_t group)
{
	uint32_t ranks = lay->count, domains = 0, run = 0;
	for (uint32_t i = 0; i < ranks; i++) {
		uint32_t rank = lay_rank(lay, group, i);
		uint32_t next = lay_rank(lay, group, (i + 1) % ranks);
		bool is_end = i + 1 == ranks ||
			next / gpu_layout->gpus_per_domain != rank / gpu_layout->gpus_per_domain;
		if (ranks > 1)
			look_at_hop(spread, gpu_layout, rank, next);
		run++;
		if (!is_end)
			continue;
		domains++;
		spread->per_domain_min = run < spread->per_domain_min ? run
								      : spread->per_domain_min;
		spread->per_domain_max = run > spread->per_domain_max ? run
								      : spread->per_domain_max;
		run = 0;
	}
	if (domains > spread->domains_max)
		spread->domains_max = domains;
}

void order_spread(struct spread *ret, const struct order *order, const struct plan *plan,
		  enum group_kind kind, const struct gpu_layout *gpu_layout)
{
	struct lay lay = lay_of(order, plan, kind);
	*ret = (struct spread){.ranks = lay.count,
			       .groups = grid_ranks(&lay.groups) * lay.parts,
			       .per_domain_min = UINT32_MAX};
	for (uint32_t group = 0; group < ret->groups; group++)
		look_at_group(ret, &lay, gpu_layout, group);
}

// ---------------------------------------------------------------- what leaves a domain

enum group_kind message_group(const struct plan *plan, enum message_kind kind)
{
	static const uint8_t kinds[] = {GROUP_TP, GROUP_CP,  GROUP_EP,	GROUP_PP,     GROUP_DP,
					GROUP_DP, GROUP_EDP, GROUP_EDP, GROUP_ACROSS, GROUP_ETP};
	if (plan->parallel.shard_ranks > 0 && kinds[kind] == GROUP_DP)
		return GROUP_SHARD;
	return (enum group_kind)kinds[kind];
}

uint64_t order_nic_bytes(const struct spread *spread, enum message_kind kind, uint64_t total_bytes,
			 bool is_all_reduce)
{
	uint64_t ranks = spread->ranks, here = spread->per_domain_min;
	if (spread->domains_max < 2)
		return 0;
	check(ranks > 1 && spread->hops > 0);
	unsigned __int128 bytes = total_bytes;
	if (kind == MESSAGE_CP || kind == MESSAGE_PP) // the busiest: all that its hop carries
		return total_bytes;
	if (kind == MESSAGE_EP)
		return (uint64_t)(bytes * (ranks - here) / ranks);
	return (uint64_t)(bytes * (is_all_reduce ? 2 : 1) * (ranks - 1) / (ranks * here));
}
