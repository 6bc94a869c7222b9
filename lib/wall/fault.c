// SPDX-License-Identifier: Apache-2.0
// Faults of the scenario at this host's own links. See loop.h.

#include "loop.h"

#include <errno.h>
#include <stdio.h>

static bool is_at_nic(const struct world *world, const struct fault *fault)
{
	const struct topology *topology = &world->topology;
	for (uint32_t i = 0; i < topology->link_count; i++)
		if (topology->links[i].tier == 0 && link_location_hits(&fault->at, topology, i))
			return true;
	return false;
}

static bool has_place(const struct world *world, const struct fault *fault)
{
	switch (fault->kind) {
	case FAULT_STALL:
	case FAULT_STRAGGLER:
	case FAULT_EVS:
		return true; // the host machine's
	case FAULT_LINK_DOWN:
	case FAULT_LOSS:
	case FAULT_FLAP:
		return is_at_nic(world, fault);
	case FAULT_SLOW:
		return fault->direction == FAULT_UP && is_at_nic(world, fault);
	default:
		return false;
	}
}

int link_faults_check(const struct world *world, struct refusal *refusal)
{
	for (uint32_t i = 0; i < world->scenario->fault_count; i++) {
		const struct fault *fault = &world->scenario->faults[i];
		if (has_place(world, fault))
			continue;
		snprintf(refusal->text, sizeof(refusal->text),
			 "faults[%u] (%s) has no effect here, where cables and switches are real; "
			 "loss, link_down, flap and slow (way: up) of a NIC's links have, and "
			 "stall, straggler and evs of hosts",
			 i, scenario_fault_name(fault->kind));
		return -EINVAL;
	}
	return 0;
}

void link_faults_init(struct link_faults *ret, const struct world *world, uint32_t cable)
{
	const struct cable_plan *plan = &world->cables[cable];
	*ret = (struct link_faults){.faults = world->cable_faults + plan->fault_first,
				    .count = plan->fault_count,
				    .rng = rng_of(world->scenario->seed, RNG_CABLE, cable)};
}

static bool is_down(const struct cable_fault *fault, ps_t at)
{
	return fault->kind != FAULT_FLAP ||
		(at - fault->from_ps) % (fault->down_ps + fault->up_ps) < fault->down_ps;
}

bool link_faults_take(struct link_faults *link, ps_t at)
{
	for (uint32_t i = 0; i < link->count; i++) {
		const struct cable_fault *fault = &link->faults[i];
		if (at < fault->from_ps || at >= fault->until_ps)
			continue;
		if (fault->kind == FAULT_LOSS) {
			if ((uint32_t)(rng_next(&link->rng) >> 32) < fault->threshold)
				return true;
		} else if (fault->kind == FAULT_LINK_DOWN || fault->kind == FAULT_FLAP) {
			if (is_down(fault, at))
				return true;
		}
	}
	return false;
}
