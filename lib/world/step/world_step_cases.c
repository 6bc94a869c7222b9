// SPDX-License-Identifier: Apache-2.0
// What would change a step: the same schedule with one thing different.

#include <string.h>

#include <weft/core/check.h>
#include <weft/world/world_step.h>

struct list {
	const struct world_step *step;
	struct step_case *to;
	uint32_t count;
};

static struct step_case *add(struct list *list, const char *name)
{
	struct step_case *one = &list->to[list->count++];
	check(list->count <= STEP_CASES_MAX && strlen(name) < sizeof(one->name));
	*one = (struct step_case){
		.inside = DIMENSION_COUNT, .plan = list->step->plan, .setup = list->step->setup};
	memcpy(one->name, name, strlen(name) + 1);
	return one;
}

static void slow_rings(struct step_case *one, uint64_t part, uint64_t whole)
{
	one->setup.dense.network_Bps = (uint64_t)((unsigned __int128)one->setup.dense.network_Bps *
						  part / whole);
	one->setup.experts.network_Bps =
		(uint64_t)((unsigned __int128)one->setup.experts.network_Bps * part / whole);
}

static ps_t stretched(ps_t time, uint64_t part, uint64_t whole)
{
	return (ps_t)((unsigned __int128)time * whole / part);
}

// NICs have `part` of `whole` of their rate, for all that travels.
static void add_rate(struct list *list, const char *name, uint64_t part, uint64_t whole)
{
	struct step_case *one = add(list, name);
	struct step_setup *setup = &one->setup;
	slow_rings(one, part, whole);
	setup->off_domain_forward_ps = stretched(setup->off_domain_forward_ps, part, whole);
	setup->off_domain_backward_ps = stretched(setup->off_domain_backward_ps, part, whole);
	if (list->step->off_domain[DIMENSION_PP].is_off_domain)
		setup->send_ps = stretched(setup->send_ps, part, whole);
}

// Which dimension it is that makes the step long.
static void add_inside(struct list *list)
{
	static const char *const names[DIMENSION_COUNT] = {
		[DIMENSION_TP] = "tensor ranks inside a domain",
		[DIMENSION_CP] = "context ranks inside a domain",
		[DIMENSION_EP] = "expert ranks inside a domain",
		[DIMENSION_PP] = "all stages inside a domain",
	};
	for (uint32_t i = 0; i < DIMENSION_COUNT; i++) {
		struct step_setup inside;
		if (!world_step_inside(list->step, (enum dimension)i, &inside))
			continue;
		struct step_case *one = add(list, names[i]);
		one->setup = inside;
		one->inside = (enum dimension)i;
	}
}

static void add_racks(struct list *list)
{
	const struct parallel *cut = &list->step->plan.parallel;
	struct ring_time *rings[2];
	if (cut->dp % 8 != 0 || list->step->setup.dense.ranks % 8 != 0 ||
	    list->step->setup.experts.ranks % 8 != 0)
		return;
	struct step_case *one = add(list, "7 of 8 racks");
	rings[0] = &one->setup.dense;
	rings[1] = &one->setup.experts;
	one->plan.parallel.dp = cut->dp / 8 * 7;
	for (int i = 0; i < 2; i++)
		rings[i]->ranks = rings[i]->ranks / 8 * 7;
	// the groups of the smaller job fill whole racks, too
	if (one->setup.dense.ranks % one->setup.dense.ranks_per_domain != 0 ||
	    one->setup.experts.ranks % one->setup.experts.ranks_per_domain != 0)
		list->count--;
}

static void add_faults(struct list *list, uint32_t planes)
{
	uint32_t members = list->step->nics_per_group;
	if (planes < 2)
		return;
	if (members > 1)
		add_rate(list, "one port of a NIC down, split by rate",
			 (uint64_t)planes * members - 1, (uint64_t)planes * members);
	add_rate(list, "one port of a NIC down, split evenly", planes - 1, planes);
	add_rate(list, "one plane down everywhere", planes - 1, planes);
}

uint32_t world_step_cases(const struct world_step *step, struct step_case *ret)
{
	struct list list = {.step = step, .to = ret};
	const struct parallel *cut = &step->plan.parallel;
	add(&list, "as it is");
	if (cut->sharding == SHARDING_MEGATRON)
		add(&list,
		    cut->is_aligned ? "each bucket when it is ready" : "stages reduce together")
			->plan.parallel.is_aligned = !cut->is_aligned;
	if (step->is_measured)
		add(&list, "collectives as packets measured them")->setup.collective_ppb =
			step->measured_ppb;
	add_inside(&list);
	add_racks(&list);
	add_rate(&list, "payload beside this scenario's headers", step->header_ppb,
		 (uint64_t)SHARE_WHOLE);
	add_rate(&list, "95 % of the line", 95, 100);
	add_rate(&list, "90 % of the line", 90, 100);
	if (step->even_ppb != step->split_ppb)
		add_rate(&list, "faults of this scenario, split by rate", step->split_ppb,
			 step->even_ppb);
	add_faults(&list, step->planes);
	if (step->nics_per_group > 1)
		slow_rings(add(&list, "one NIC for each group"), 1, step->nics_per_group);
	add_rate(&list, "NICs of half the rate", 1, 2);
	if (cut->grad_bytes == 2)
		add(&list, "gradients of 4 bytes")->plan.parallel.grad_bytes = 4;
	return list.count;
}
