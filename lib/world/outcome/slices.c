// SPDX-License-Identifier: Apache-2.0
// The slices of rings are kept, with watch.messages: a log for each rank, which its host writes.

#include <errno.h>

#include <weft/measure/measure_slices.h>

#include "build/build.h"
#include <weft/host/host.h>

static int check_rings(const struct world *world, struct refusal *refusal)
{
	if (world->job.group_count == 0)
		return refuse(refusal, -EINVAL,
			      "watch.messages: this traffic has no rings; ring, model, trace and "
			      "jobs of rings have. Programs are watched by watch.operations");
	if (world->scenario->fast_forward.is_on)
		return refuse(refusal, -EINVAL,
			      "watch.messages: messages of steps that are left out are never made; "
			      "fast_forward.steady false goes with it");
	return 0;
}

// Logs of all ranks, group by group; each is drawn beside others of its shard.
static int draw(struct world *world)
{
	uint32_t max = world->scenario->watch.messages, channels = world->job.ring.channels;
	uint64_t ranks = 0;
	for (uint32_t i = 0; i < world->job.group_count; i++)
		ranks += world->job.groups[i].ranks;
	world->slices = arena_draw(world->arena, ARENA_MEASURE, ranks, sizeof(*world->slices));
	uint64_t *first = arena_draw(world->arena, ARENA_MEASURE, world->job.group_count,
				     sizeof(*first));
	if (arena_has_failed(world->arena))
		return -ENOMEM;
	for (uint32_t i = 1; i < world->job.group_count; i++)
		first[i] = first[i - 1] + world->job.groups[i - 1].ranks;
	for (uint32_t i = 0; i < world->topology.hosts; i++) {
		struct world_host *host = world->hosts[i];
		shards_fence(world, ARENA_MEASURE, SHARD_LINE_BYTES);
		for (uint32_t j = 0; j < host->rank_count; j++) {
			struct rank *rank = &host->ranks[j];
			rank->slices = &world->slices[first[rank->group_index] + rank->at];
			if (slices_init(rank->slices, world->arena, channels, max,
					rank->group->bucket_count) < 0)
				return -ENOMEM;
		}
	}
	return 0;
}

int slices_build(struct world *world, struct refusal *refusal)
{
	if (world->scenario->watch.messages == 0)
		return 0;
	int rc = check_rings(world, refusal);
	if (rc == 0 && draw(world) < 0)
		rc = build_no_memory(world, refusal);
	return rc;
}
