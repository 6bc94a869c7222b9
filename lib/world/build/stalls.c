// SPDX-License-Identifier: Apache-2.0
// What the scenario's faults say of a host. See stall.h.
#include <errno.h>

#include <weft/host/host.h>

#include "build.h"

static bool hits_host(const struct fault *fault, enum fault_kind kind, uint32_t index)
{
	return fault->kind == kind && (fault->at.where == LINK_AT_ALL || fault->at.index == index);
}

// The speed of host `index` at `at`: of several faults the slowest counts.
static uint32_t speed_at(const struct scenario *scenario, uint32_t index, ps_t at)
{
	uint32_t rate_ppb = SHARE_WHOLE;
	for (uint32_t i = 0; i < scenario->fault_count; i++) {
		const struct fault *fault = &scenario->faults[i];
		if (at < fault->from_ps || at >= fault->until_ps)
			continue;
		if (hits_host(fault, FAULT_STALL, index))
			return 0;
		if (hits_host(fault, FAULT_STRAGGLER, index) && fault->rate_ppb < rate_ppb)
			rate_ppb = fault->rate_ppb;
	}
	return rate_ppb;
}

// The next time after `after` at which a fault of the host begins or ends, or PS_NEVER.
static ps_t next_edge(const struct scenario *scenario, uint32_t index, ps_t after)
{
	ps_t next = PS_NEVER;
	for (uint32_t i = 0; i < scenario->fault_count; i++) {
		const struct fault *fault = &scenario->faults[i];
		if (!hits_host(fault, FAULT_STALL, index) &&
		    !hits_host(fault, FAULT_STRAGGLER, index))
			continue;
		if (fault->from_ps > after)
			next = ps_min(next, fault->from_ps);
		if (fault->until_ps > after)
			next = ps_min(next, fault->until_ps);
	}
	return next;
}

// The changes of a host's speed; `ret` may be NULL. Returns how many there are.
static uint32_t changes_of(const struct scenario *scenario, uint32_t index, struct rate_change *ret)
{
	uint32_t count = 0, last = SHARE_WHOLE;
	for (ps_t at = -1; (at = next_edge(scenario, index, at)) != PS_NEVER;) {
		uint32_t rate_ppb = speed_at(scenario, index, at);
		if (rate_ppb == last)
			continue;
		if (ret != NULL)
			ret[count] = (struct rate_change){at, rate_ppb};
		last = rate_ppb;
		count++;
	}
	return count;
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
	uint32_t changes = changes_of(scenario, index, NULL);
	uint32_t stalls = stalls_of(scenario, index, NULL);
	if (changes + stalls == 0)
		return 0;
	struct rate_change *work = arena_draw(world->arena, ARENA_WORLD, changes + 1,
					      sizeof(*work));
	struct cable_fault *list = arena_draw(world->arena, ARENA_WORLD, stalls + 1, sizeof(*list));
	if (arena_has_failed(world->arena))
		return -ENOMEM;
	changes_of(scenario, index, work);
	stalls_of(scenario, index, list);
	*faults = (struct host_faults){.stalls = stalls > 0 ? list : NULL,
				       .stall_count = stalls,
				       .work = work,
				       .work_count = changes};
	return 0;
}
