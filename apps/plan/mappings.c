// SPDX-License-Identifier: Apache-2.0
// Other ways to lay a job over its ranks: tensor ranks and stages of other numbers, with all orders
// of those of the file's own. The model, the ranks, the samples of a step and how replicas share
// stay.

#include "plan.h"

#include <string.h>

#define TRIED_MAX 400u

struct search {
	const struct call *call;
	struct mapping *best;
	uint32_t count, tried;
};

static bool goes_before(const struct mapping *a, const struct mapping *b)
{
	ps_t left = exposure_ps(&a->exposure), right = exposure_ps(&b->exposure);
	return left != right ? left < right
			     : a->exposure.times.with.step_ps < b->exposure.times.with.step_ps;
}

// Orders that lay the same ranks into the same domains are one mapping.
static bool is_known(const struct search *search, const struct mapping *mapping)
{
	for (uint32_t i = 0; i < search->count; i++) {
		const struct mapping *other = &search->best[i];
		if (other->plan.parallel.tp == mapping->plan.parallel.tp &&
		    other->plan.parallel.pp == mapping->plan.parallel.pp &&
		    exposure_ps(&other->exposure) == exposure_ps(&mapping->exposure) &&
		    other->exposure.times.with.step_ps == mapping->exposure.times.with.step_ps)
			return true;
	}
	return false;
}

static void keep(struct search *search, const struct mapping *mapping)
{
	uint32_t at = search->count;
	if (is_known(search, mapping))
		return;
	while (at > 0 && goes_before(mapping, &search->best[at - 1]))
		at--;
	if (at == MAPPINGS_SHOWN)
		return;
	if (search->count < MAPPINGS_SHOWN)
		search->count++;
	memmove(&search->best[at + 1], &search->best[at],
		(search->count - 1 - at) * sizeof(*search->best));
	search->best[at] = *mapping;
	search->best[at].plan.parallel.order = search->best[at].order;
}

static void try_one(struct search *search, const struct plan *plan, const char *text)
{
	struct mapping mapping = {.plan = *plan};
	struct plan_memory memory;
	struct order order;
	struct refusal reason;
	uint64_t room = plan->site.memory_bytes;
	if (search->tried == TRIED_MAX || order_parse(&order, text, plan, &reason) < 0)
		return;
	snprintf(mapping.order, sizeof(mapping.order), "%s", text);
	mapping.plan.parallel.order = mapping.order;
	plan_memory_most(&mapping.plan, &memory);
	mapping.memory_bytes = plan_memory_sum(&memory);
	if (room > 0 && mapping.memory_bytes > room)
		return;
	plan_roofline(&mapping.plan);
	exposure_find(&mapping.exposure, &mapping.plan, mapping.order,
		      search->call->gpu_layout.gpus_per_domain);
	if (mapping.exposure.why_not.text[0] != '\0')
		return;
	search->tried++;
	keep(search, &mapping);
}

// ---------------------------------------------------------------- orders

static uint32_t size_of(const struct parallel *cut, enum dimension dimension)
{
	const uint32_t sizes[] = {cut->tp, cut->cp, cut->ep, cut->dp, cut->pp};
	return sizes[dimension];
}

// Words of `rest` (a bit each) behind `text`, in each order.
static void permute(struct search *search, const struct plan *plan, const char *text, uint32_t rest)
{
	if (rest == 0)
		try_one(search, plan, text);
	for (uint32_t i = 0; i < DIMENSION_COUNT; i++) {
		char longer[24];
		if ((rest >> i & 1) == 0)
			continue;
		snprintf(longer, sizeof(longer), "%s%s%s", text, text[0] != '\0' ? "-" : "",
			 dimension_name((enum dimension)i));
		permute(search, plan, longer, rest & ~(1u << i));
	}
}

static void try_orders(struct search *search, const struct plan *plan)
{
	uint32_t cut = 0;
	for (uint32_t i = 0; i < DIMENSION_COUNT; i++)
		if (size_of(&plan->parallel, (enum dimension)i) > 1)
			cut |= 1u << i;
	if (plan_expert_tensor_ranks(plan) > 1)
		cut |= 1u << DIMENSION_TP;
	if (plan->architecture->experts > 0 && plan_expert_ranks(plan) > 1)
		cut |= 1u << DIMENSION_DP;
	permute(search, plan, "", cut != 0 ? cut : 1u << DIMENSION_DP);
}

// ---------------------------------------------------------------- cuts

// Measured layers take what they took but for what a rank does of one.
static bool scale_parts(struct plan *plan, const struct plan *from, uint64_t work, uint64_t before)
{
	unsigned __int128 part = (unsigned __int128)work * plan_slots(from);
	unsigned __int128 whole = (unsigned __int128)before * plan_slots(plan);
	for (uint32_t i = 0; i < TIMED_COUNT && part != whole; i++) {
		const struct timed *was = &from->timing.parts[i];
		double ratio = (double)part / (double)whole;
		plan->timing.parts[i] = (struct timed){(ps_t)((double)was->forward_ps * ratio),
						       (ps_t)((double)was->backward_ps * ratio)};
	}
	plan_measured(plan);
	return part != whole;
}

bool plan_scale_times(struct plan *plan, const struct plan *from)
{
	uint64_t work = plan_operations(plan), before = plan_operations(from);
	unsigned __int128 forward_ps = (unsigned __int128)from->timing.forward_ps * work / before;
	unsigned __int128 backward_ps = (unsigned __int128)from->timing.backward_ps * work / before;
	if (from->timing.has_parts)
		return scale_parts(plan, from, work, before);
	if (work == before || forward_ps > INT64_MAX || backward_ps > INT64_MAX)
		return false;
	plan->timing.forward_ps = (ps_t)forward_ps;
	plan->timing.backward_ps = (ps_t)backward_ps;
	return true;
}

// The same job with other tensor ranks and stages; false when it is none. Times that no device
// gives go with the operations of a cell.
static bool cut_as(struct plan *ret, const struct plan *plan, uint32_t tp, uint32_t pp)
{
	struct refusal reason;
	const struct parallel *from = &plan->parallel;
	struct parallel *cut = &ret->parallel;
	uint64_t ranks = plan_ranks(plan), replica = (uint64_t)tp * from->cp * pp;
	uint64_t samples = (uint64_t)from->dp * from->micro_batches;
	*ret = *plan;
	if (ranks % replica != 0 || samples % (ranks / replica) != 0)
		return false;
	cut->tp = tp;
	cut->pp = pp;
	cut->dp = (uint32_t)(ranks / replica);
	cut->micro_batches = (uint32_t)(samples / cut->dp);
	if (pp != from->pp) {
		cut->vpp = 1;
		cut->layers_first = cut->layers_last = 0;
	}
	if (plan_check(ret, &reason) < 0)
		return false;
	(void)plan_scale_times(ret, plan);
	return true;
}

uint32_t mappings_find(const struct call *call, struct mapping ret[MAPPINGS_SHOWN],
		       uint32_t *ret_count)
{
	const struct plan *plan = &call->edit.plan;
	struct mapping best[MAPPINGS_SHOWN + 1];
	struct search search = {.call = call, .best = best};
	uint32_t domain = call->gpu_layout.gpus_per_domain;
	struct plan other;
	try_orders(&search, plan);
	for (uint32_t tp = 1; tp <= domain && tp <= plan->architecture->heads; tp++)
		for (uint32_t pp = 1; pp <= plan->architecture->layers; pp++)
			if ((tp != plan->parallel.tp || pp != plan->parallel.pp) &&
			    cut_as(&other, plan, tp, pp))
				try_one(&search, &other,
					plan->architecture->experts > 0 ? "tp-cp-ep-dp-pp"
									: "tp-cp-ep-pp-dp");
	for (uint32_t i = 0; i < search.count; i++) {
		ret[i] = best[i];
		ret[i].plan.parallel.order = ret[i].order;
	}
	*ret_count = search.count;
	return search.tried;
}
