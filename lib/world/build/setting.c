// SPDX-License-Identifier: Apache-2.0
// Wrong settings. See build.h.

#include "build.h"

// The fault that sets the entropy values of host `index`, the last of several; or NULL.
static const struct fault *evs_of(const struct scenario *scenario, uint32_t index)
{
	for (uint32_t i = scenario->fault_count; i > 0; i--) {
		const struct fault *fault = &scenario->faults[i - 1];
		bool is_here = fault->at.where == LINK_AT_ALL || fault->at.index == index;
		if (fault->kind == FAULT_EVS && is_here)
			return fault;
	}
	return NULL;
}

const struct transport_config *setting_transport(const struct world *world, uint32_t index)
{
	const struct fault *fault = evs_of(world->scenario, index);
	if (fault == NULL)
		return &world->transport;
	struct transport_config *own = arena_draw(world->arena, ARENA_WORLD, 1, sizeof(*own));
	if (own == NULL)
		return NULL;
	*own = world->transport;
	own->ev_count = fault->ev_count;
	own->ev_universe = 0; // no backups
	own->ev_min_active = 0;
	return own;
}

// Whether the place is the switch as a whole.
static bool names(const struct link_location *place, const struct switch_plan *plan)
{
	uint8_t tier = place->where == LINK_AT_T1 ? 1 : 0;
	if (place->plane != PLANE_EACH && plan->plane != place->plane)
		return false;
	return plan->index == place->index && (place->where == LINK_AT_NODE || plan->tier == tier);
}

int setting_build(struct world *world, struct refusal *refusal)
{
	(void)refusal; // it draws nothing
	for (uint32_t f = 0; f < world->scenario->fault_count; f++) {
		const struct fault *fault = &world->scenario->faults[f];
		if (fault->kind != FAULT_ECN)
			continue;
		for (uint32_t i = 0; i < world->topology.switch_count; i++)
			if (names(&fault->at, &world->topology.switches[i]))
				switch_set_ecn(world->switches[i], fault->ecn_low_bytes,
					       fault->ecn_high_bytes, world->fabric.ecn_share_ppb);
	}
	return 0;
}
