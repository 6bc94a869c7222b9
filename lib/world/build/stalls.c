// SPDX-License-Identifier: Apache-2.0
// What the scenario's faults say of a host. See stall.h.
#include <errno.h>

#include <weft/host/host.h>

#include "build.h"

static bool hits_host(const struct fault *fault, enum fault_kind kind, uint32_t index)
{
	return fault->kind == kind && (fault->at.where == LINK_AT_ALL || fault->at.index == index);
}

// What a fault leaves of the speed of a host.
static uint32_t speed_left(const void *of, const struct fault *fault)
{
	const uint32_t *index = of;
	if (hits_host(fault, FAULT_STALL, *index))
		return 0;
	return hits_host(fault, FAULT_STRAGGLER, *index) ? fault->rate_ppb : RATE_UNCHANGED;
}

static uint32_t stalls_of(const struct scenario *scenario, uint32_t index, struct cable_fault *ret)
{
	uint32_t count = 0;
	for (uint32_t i = 0; i < scenario->fault_count; i++) {
		const struct fault *fault = &scenario->faults[i];
		if (!hits_host(fault, FAULT_STALL, index))
			continue;
		if (ret != NULL)
			ret[count] = (struct cable_fault){.kind = FAULT_STALL,
							  .from_ps = fault->from_ps,
							  .until_ps = fault->until_ps};
		count++;
	}
	return count;
}

int stall_build(struct world *world, uint32_t index)
{
	const struct scenario *scenario = world->scenario;
	struct host_faults *faults = &world->hosts[index]->faults;
	uint32_t changes = rate_changes(scenario, speed_left, &index, NULL);
	uint32_t stalls = stalls_of(scenario, index, NULL);
	if (changes + stalls == 0)
		return 0;
	struct rate_change *work = arena_draw(world->arena, ARENA_WORLD, changes + 1,
					      sizeof(*work));
	struct cable_fault *list = arena_draw(world->arena, ARENA_WORLD, stalls + 1, sizeof(*list));
	if (arena_has_failed(world->arena))
		return -ENOMEM;
	rate_changes(scenario, speed_left, &index, work);
	stalls_of(scenario, index, list);
	*faults = (struct host_faults){.stalls = stalls > 0 ? list : NULL,
				       .stall_count = stalls,
				       .work = work,
				       .work_count = changes};
	return 0;
}
