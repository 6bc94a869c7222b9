// SPDX-License-Identifier: Apache-2.0
// Switches that all processes have. The top of a tree only sends down, and which way a packet goes
// is known from its target alone; its out-ports do not depend on each other. So each process runs
// the out-ports that lead to machines of its own, and a packet crosses once, to where its target
// is, instead of twice by a switch in the middle. What such a switch counts is added up at the end.

#include <errno.h>

#include <weft/world/world_signal.h>

#include "build.h"

static bool is_top(const struct switch_plan *plan)
{
	return plan->route.up_count == 0 && plan->route.table == NULL;
}

// Neighbours below a switch, each with the same number of NICs in a row.
static uint32_t groups_of(const struct route *route)
{
	return (route->high - route->low + route->span - 1) / route->span;
}

int shared_draw(struct world *world)
{
	const struct topology *topology = &world->topology;
	if (switch_needs_order(&world->fabric))
		return 0;
	world->shared = arena_draw(world->arena, ARENA_WORLD, topology->switch_count,
				   sizeof(*world->shared));
	if (world->shared == NULL)
		return -ENOMEM;
	for (uint32_t i = 0; i < topology->switch_count; i++) {
		const struct route *route = &topology->switches[i].route;
		if (!is_top(&topology->switches[i]))
			continue;
		uint8_t *shards = arena_draw(world->arena, ARENA_WORLD, groups_of(route), 1);
		if (shards == NULL)
			return -ENOMEM;
		world->shared[i] = (struct shared_switch){route->low, route->high, route->span,
							  groups_of(route), shards};
	}
	return 0;
}

void shared_build(struct world *world)
{
	const struct topology *topology = &world->topology;
	for (uint32_t i = 0; world->shared != NULL && i < topology->switch_count; i++) {
		const struct route *route = &topology->switches[i].route;
		const struct shared_switch *shared = &world->shared[i];
		for (uint32_t group = 0; shared->shards != NULL && group < shared->groups;
		     group++) {
			uint32_t port = group * route->down_links;
			uint32_t neighbour = topology_behind(topology, i, port);
			shared->shards[group] = (uint8_t)world->shard_of[neighbour];
		}
	}
}

const struct shared_switch *world_shared(const struct world *world, uint32_t machine)
{
	uint32_t hosts = world->topology.hosts;
	if (world->shared == NULL || machine < hosts ||
	    world->shared[machine - hosts].shards == NULL)
		return NULL;
	return &world->shared[machine - hosts];
}

bool world_is_in(const struct world *world, uint32_t machine, uint32_t shard)
{
	return world->shard_of[machine] == shard || world_shared(world, machine) != NULL;
}

bool world_has(const struct world *world, uint32_t machine)
{
	return world->own_shard == WORLD_EVERY_SHARD ||
		world_is_in(world, machine, world->own_shard);
}

uint32_t world_sender_of(const struct world *world, uint32_t cable)
{
	const struct cable_plan *plan = &world->cables[cable];
	bool is_shared = world_shared(world, plan->from_machine) != NULL;
	return world->shard_of[is_shared ? plan->to_machine : plan->from_machine];
}
