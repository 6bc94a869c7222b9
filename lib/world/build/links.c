// SPDX-License-Identifier: Apache-2.0
// Room for what is counted link by link, and queues that are measured. Nothing is drawn without
// watch.links.

#include <errno.h>

#include <weft/core/check.h>

#include "build.h"

#define DEPTH_BYTES_MAX (UINT64_C(1) << 28)

enum link_group world_link_group(const struct world *world, uint32_t cable)
{
	bool is_nic = world->topology.links[cable / 2].tier == 0, is_up = cable % 2 == 0;
	if (is_nic)
		return is_up ? LINK_NIC_UP : LINK_NIC_DOWN;
	return is_up || topology_has_names(world->topology.kind) ? LINK_TRUNK_UP : LINK_TRUNK_DOWN;
}

static int draw_depths(struct world *world)
{
	struct world_links *links = &world->links;
	uint32_t rows = world->shard_count > 1 ? world->shard_count + 1 : 1;
	links->depths = arena_draw(world->arena, ARENA_MEASURE, rows, sizeof(*links->depths));
	if (links->depths == NULL)
		return -ENOMEM;
	links->depth = links->depths[rows - 1]; // of one shard its own
	for (uint32_t i = 0; i < rows * LINK_GROUP_COUNT; i++) {
		struct hist *hist = &links->depths[i / LINK_GROUP_COUNT][i % LINK_GROUP_COUNT];
		if (hist_init(hist, world->arena, DEPTH_DIGITS, DEPTH_BYTES_MAX) < 0)
			return -ENOMEM;
	}
	return 0;
}

int links_build(struct world *world, struct refusal *refusal)
{
	const struct topology *topology = &world->topology;
	struct world_links *links = &world->links;
	uint32_t cables = 2 * topology->link_count, ports = topology->nics * topology->planes;
	if (!world->scenario->watch.has_links)
		return 0;
	links->counts = arena_draw(world->arena, ARENA_MEASURE, cables, sizeof(*links->counts));
	links->spread = arena_draw(world->arena, ARENA_MEASURE, ports, sizeof(*links->spread));
	links->was_down = arena_draw(world->arena, ARENA_MEASURE, ports, sizeof(*links->was_down));
	links->work = arena_draw(world->arena, ARENA_MEASURE, topology->hosts,
				 sizeof(*links->work));
	if (arena_has_failed(world->arena) || draw_depths(world) < 0)
		return build_no_memory(world, refusal);
	for (uint32_t i = 0; i < cables; i++)
		links->counts[i].first_lost_ps = links->counts[i].first_odd_ps = PS_NEVER;
	return 0;
}

// Where the depths of each of a switch's queues go.
static int watch_depths(struct world *world, uint32_t index, bool has_series)
{
	const struct topology *topology = &world->topology;
	const struct switch_plan *plan = &topology->switches[index];
	uint32_t node = topology->hosts + index;
	bool is_shared = world_shared(world, node) !=
		NULL; // its ports are run by whom they lead to
	for (uint32_t i = 0; i < plan->port_count; i++) {
		uint32_t link = topology->port_links[plan->port_first + i];
		uint32_t cable = 2 * link + (topology->links[link].node_a != node);
		struct depth_watch *depth = switch_port_depth(world->switches[index], i);
		uint32_t of = is_shared ? topology_behind(topology, index, i) : node;
		depth->bytes =
			&world->links.depths[world->shard_of[of]][world_link_group(world, cable)];
		check(depth->bytes->half_bits == DEPTH_HALF_BITS);
		if (!has_series)
			continue;
		depth->series = arena_draw(world->arena, ARENA_MEASURE, 1, sizeof(*depth->series));
		if (depth->series == NULL)
			return -ENOMEM;
		depth_series_init(depth->series);
	}
	return 0;
}

int links_watch(struct world *world, struct refusal *refusal)
{
	const struct topology *topology = &world->topology;
	uint64_t ports = 0;
	if (!world->scenario->watch.has_links)
		return 0;
	for (uint32_t i = 0; i < topology->switch_count; i++)
		ports += topology->switches[i].port_count;
	for (uint32_t i = 0; i < topology->switch_count; i++)
		if (switch_watch(world->switches[i], world->arena, topology, &world->fabric) < 0 ||
		    watch_depths(world, i, ports <= DEPTH_PORTS_MAX) < 0)
			return build_no_memory(world, refusal);
	return 0;
}

void links_settle(struct world *world)
{
	if (world->links.depths == NULL)
		return;
	for (uint32_t i = 0; i < world->topology.switch_count; i++)
		switch_settle(world->switches[i]);
}

void links_collect(struct world *world)
{
	const struct world_links *links = &world->links;
	if (links->depths == NULL || world->shard_count == 1)
		return;
	for (int group = 0; group < LINK_GROUP_COUNT; group++) {
		hist_empty(&links->depth[group]);
		for (uint32_t shard = 0; shard < world->shard_count; shard++)
			hist_merge(&links->depth[group], &links->depths[shard][group]);
	}
}
