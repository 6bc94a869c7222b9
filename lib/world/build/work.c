// SPDX-License-Identifier: Apache-2.0
// How much of a world's work is one host's. See world_work.h.

#include <weft/world/world_work.h>

#include <weft/core/check.h>
#include <weft/world/world.h>

#include "hosts.h"
#include "traffic_engine.h"

uint64_t world_work_of(const struct world *world, uint32_t host)
{
	uint32_t per_host = world->fabric.nics_per_host;
	uint64_t work = 0;
	const struct traffic_engine *engine = traffic_engine_of(world);
	check(engine == NULL || engine->work_of != NULL);
	for (uint32_t i = 0; i < world->flow_count; i++)
		work += (world->flows[i].from / per_host == host) +
			(world->flows[i].to / per_host == host);
	for (uint32_t i = 0; i < world->job.group_count; i++) {
		const struct group *group = &world->job.groups[i];
		for (uint32_t at = 0; at < group->ranks; at++)
			if (group->gpus[at] / per_host == host)
				work += group->bucket_count;
	}
	return work + (engine != NULL ? engine->work_of(world, host) : 0);
}

// Of one host, in the making.
struct peers {
	uint32_t host;
	bool *marks;
};

static int mark(struct world *world, void *context, const struct connection *connection)
{
	const struct peers *peers = context;
	uint32_t per_host = world->fabric.nics_per_host;
	uint32_t from = connection->from_nic / per_host, to = connection->to_nic / per_host;
	if (from == peers->host)
		peers->marks[to] = true;
	if (to == peers->host)
		peers->marks[from] = true;
	return 0;
}

void world_peers(struct world *world, uint32_t host, bool *ret)
{
	struct peers peers = {host, ret};
	connections_visit(world, mark, &peers);
	ret[host] = false;
}
