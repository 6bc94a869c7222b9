// SPDX-License-Identifier: Apache-2.0
// Late packets by the cables of their ways. Few packets are late, so that what this costs is not
// paid by the others: of those a host compares the age alone, which it does anyhow.

#include <weft/host/tail.h>

#include <errno.h>
#include <string.h>

#include <weft/fabric/fabric_way.h>
#include <weft/world/world_delays.h>

#include "build/build.h"

static uint32_t *draw_first_links(struct world *world)
{
	const struct topology *topology = &world->topology;
	uint32_t *ret = arena_draw(world->arena, ARENA_MEASURE,
				   (size_t)topology->nics * topology->planes, sizeof(*ret));
	for (uint32_t i = 0; ret != NULL && i < topology->link_count; i++) {
		const struct link_plan *link = &topology->links[i];
		uint32_t ports = topology->nics_per_host * topology->planes;
		if (link->tier == 0)
			ret[link->node_a * ports + link->port_a] = i;
	}
	return ret;
}

static struct tail *draw(struct world *world, const uint32_t *first_links)
{
	struct tail *tail = arena_draw(world->arena, ARENA_MEASURE, 1, sizeof(*tail));
	if (tail == NULL)
		return NULL;
	*tail = (struct tail){.late_ps = (uint64_t)world->topology.base_rtt_ps * 5 / 4,
			      .topology = &world->topology,
			      .first_links = first_links,
			      .cables = world->cable_count,
			      .counts = arena_draw(world->arena, ARENA_MEASURE,
						   (size_t)TAIL_LEVELS * world->cable_count,
						   sizeof(uint64_t))};
	return tail->counts == NULL ? NULL : tail;
}

int tail_build(struct world *world)
{
	struct world_delays *delays = world->delays;
	if (world->fabric.spray != FABRIC_SPRAY_HASH)
		delays->tail_reason = "switches choose ports by what went before: a packet does "
				      "not say which way it took";
	else if (world->fabric.reroute.local_ps > 0 && world->scenario->fault_count > 0)
		delays->tail_reason = "routes change after failures: a packet does not say which "
				      "way it took";
	else if (world->cable_count > TAIL_CABLES_MAX)
		delays->tail_reason =
			"more than 32,768 cables: late packets are not counted by them";
	if (delays->tail_reason != NULL)
		return 0;
	const uint32_t *first_links = draw_first_links(world);
	if (first_links == NULL)
		return -ENOMEM;
	for (uint32_t i = 0; i < world->shard_count; i++) {
		shards_fence(world, ARENA_MEASURE, SHARD_LINE_BYTES);
		delays->tails[i] = draw(world, first_links);
		if (delays->tails[i] == NULL)
			return -ENOMEM;
	}
	delays->tail = world->shard_count > 1 ? draw(world, first_links) : delays->tails[0];
	return delays->tail == NULL ? -ENOMEM : 0;
}

void tail_collect(struct world *world)
{
	struct world_delays *delays = world->delays;
	struct tail *whole = delays->tail;
	if (whole == NULL || world->shard_count == 1)
		return;
	memset(whole->packets, 0, sizeof(whole->packets));
	memset(whole->counts, 0, TAIL_LEVELS * (size_t)whole->cables * sizeof(*whole->counts));
	for (uint32_t i = 0; i < world->shard_count; i++) {
		const struct tail *from = delays->tails[i];
		for (uint32_t level = 0; level < TAIL_LEVELS; level++)
			whole->packets[level] += from->packets[level];
		for (size_t cell = 0; cell < (size_t)TAIL_LEVELS * whole->cables; cell++)
			whole->counts[cell] += from->counts[cell];
	}
}
