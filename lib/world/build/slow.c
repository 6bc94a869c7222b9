// SPDX-License-Identifier: Apache-2.0
// Lines that faults slow: for each out-port that is hit, the rate over time, handed to the switch
// or the NIC that sends there.

#include <errno.h>

#include "build.h"
#include <weft/host/host.h>

// One way of a link: up, else down.
struct way {
	const struct world *world;
	uint32_t link;
	bool is_up;
};

static uint32_t share_left(const void *of, const struct fault *fault)
{
	const struct way *way = of;
	bool is_hit = fault->kind == FAULT_SLOW &&
		fault->direction != (way->is_up ? FAULT_DOWN : FAULT_UP) &&
		link_location_hits(&fault->at, &way->world->topology, way->link);
	return is_hit ? fault->rate_ppb : RATE_UNCHANGED;
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
	const struct way way = {world, index, is_up};
	uint32_t count = rate_changes(world->scenario, share_left, &way, NULL);
	if (count == 0)
		return 0;
	struct rate_change *changes = arena_draw(world->arena, ARENA_WORLD, count,
						 sizeof(*changes));
	if (changes == NULL)
		return -ENOMEM;
	rate_changes(world->scenario, share_left, &way, changes);
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
