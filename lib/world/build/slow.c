// SPDX-License-Identifier: Apache-2.0
// Lines that faults slow: for each out-port that is hit, the rate over time, handed to the switch
// or the NIC that sends there. Where several faults hit a line at once the slowest counts.

#include <errno.h>

#include "build.h"
#include <weft/host/host.h>

// Whether a fault slows the way up (else down) of a link.
static bool slows(const struct world *world, const struct fault *fault, uint32_t link, bool is_up)
{
	return fault->kind == FAULT_SLOW && fault->direction != (is_up ? FAULT_DOWN : FAULT_UP) &&
		link_location_hits(&fault->at, &world->topology, link);
}

// What is left of the rate at `at`.
static uint32_t rate_at(const struct world *world, uint32_t link, bool is_up, ps_t at)
{
	const struct scenario *scenario = world->scenario;
	uint32_t rate_ppb = SHARE_WHOLE;
	for (uint32_t i = 0; i < scenario->fault_count; i++) {
		const struct fault *fault = &scenario->faults[i];
		if (fault->rate_ppb < rate_ppb && at >= fault->from_ps && at < fault->until_ps &&
		    slows(world, fault, link, is_up))
			rate_ppb = fault->rate_ppb;
	}
	return rate_ppb;
}

// The next time after `after` at which a fault of this line begins or ends, or PS_NEVER.
static ps_t next_edge(const struct world *world, uint32_t link, bool is_up, ps_t after)
{
	const struct scenario *scenario = world->scenario;
	ps_t next = PS_NEVER;
	for (uint32_t i = 0; i < scenario->fault_count; i++) {
		const struct fault *fault = &scenario->faults[i];
		if (!slows(world, fault, link, is_up))
			continue;
		if (fault->from_ps > after)
			next = ps_min(next, fault->from_ps);
		if (fault->until_ps > after)
			next = ps_min(next, fault->until_ps);
	}
	return next;
}

// The changes of a line, oldest first; `ret` may be NULL. Returns how many there are.
static uint32_t changes_of(const struct world *world, uint32_t link, bool is_up,
			   struct rate_change *ret)
{
	uint32_t count = 0, last = SHARE_WHOLE;
	for (ps_t at = -1; (at = next_edge(world, link, is_up, at)) != PS_NEVER;) {
		uint32_t rate_ppb = rate_at(world, link, is_up, at);
		if (rate_ppb == last)
			continue;
		if (ret != NULL)
			ret[count] = (struct rate_change){at, rate_ppb};
		last = rate_ppb;
		count++;
	}
	return count;
}

static int slow_nic(struct world *world, const struct link_plan *link,
		    const struct rate_change *changes, uint32_t count)
{
	struct world_host *host = world->hosts[link->node_a];
	struct nic *nic = &host->nics[host->nic_of_port[link->port_a]];
	if (nic->slow == NULL) {
		nic->slow = arena_draw(world->arena, ARENA_WORLD, nic->planes, sizeof(*nic->slow));
		if (nic->slow == NULL)
			return -ENOMEM;
		for (uint32_t plane = 0; plane < nic->planes; plane++)
			nic->slow[plane].line = nic->line;
	}
	struct nic_slow *slow = &nic->slow[link->port_a - nic->first_port];
	slow->changes = changes;
	slow->count = count;
	return 0;
}

static int slow_line(struct world *world, uint32_t index, bool is_up)
{
	const struct link_plan *link = &world->topology.links[index];
	uint32_t count = changes_of(world, index, is_up, NULL);
	if (count == 0)
		return 0;
	struct rate_change *changes = arena_draw(world->arena, ARENA_WORLD, count,
						 sizeof(*changes));
	if (changes == NULL)
		return -ENOMEM;
	changes_of(world, index, is_up, changes);
	uint32_t node = is_up ? link->node_a : link->node_b;
	if (node < world->topology.hosts)
		return slow_nic(world, link, changes, count);
	return switch_slow(world->switches[node - world->topology.hosts], world->arena,
			   is_up ? link->port_a : link->port_b, changes, count,
			   world->fabric.slow_scaled);
}

int slow_build(struct world *world, struct refusal *refusal)
{
	bool has_slow = false;
	for (uint32_t i = 0; i < world->scenario->fault_count; i++)
		has_slow |= world->scenario->faults[i].kind == FAULT_SLOW;
	for (uint32_t link = 0; has_slow && link < world->topology.link_count; link++)
		if (slow_line(world, link, true) < 0 || slow_line(world, link, false) < 0)
			return build_no_memory(world, refusal);
	return 0;
}
