// SPDX-License-Identifier: Apache-2.0
// Room for what is counted link by link, and queues that are measured. Nothing is drawn without
// watch.links.

#include <errno.h>

#include "build.h"

int links_build(struct world *world, struct refusal *refusal)
{
	const struct topology *topology = &world->topology;
	struct world_links *links = &world->links;
	uint32_t cables = 2 * topology->link_count, ports = topology->nics * topology->planes;
	if (!world->scenario->watch.has_links)
		return 0;
	links->counts = arena_draw(world->arena, ARENA_MEASURE, cables, sizeof(*links->counts));
	links->spread = arena_draw(world->arena, ARENA_MEASURE, ports, sizeof(*links->spread));
	links->work = arena_draw(world->arena, ARENA_MEASURE, topology->hosts,
				 sizeof(*links->work));
	if (links->counts == NULL || links->spread == NULL || links->work == NULL)
		return build_no_memory(world, refusal);
	for (uint32_t i = 0; i < cables; i++)
		links->counts[i].first_lost_ps = PS_NEVER;
	return 0;
}

int links_watch(struct world *world, struct refusal *refusal)
{
	const struct topology *topology = &world->topology;
	if (!world->scenario->watch.has_links)
		return 0;
	for (uint32_t i = 0; i < topology->switch_count; i++)
		if (switch_watch(world->switches[i], world->arena, topology, &world->fabric) < 0)
			return build_no_memory(world, refusal);
	return 0;
}
