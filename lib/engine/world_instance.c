// SPDX-License-Identifier: Apache-2.0
// A world with its memory and its driver.

#include <weft/engine/engine.h>

#include "stop.h"

int world_instance_build(struct world_instance *ret, const struct scenario *scenario,
			 const char *trace_text, size_t trace_bytes,
			 const struct sim_options *options, struct refusal *refusal)
{
	size_t bytes = scenario->memory_bytes_max;
	int rc = memory_arena(&ret->arena, bytes, refusal);
	if (rc < 0)
		return rc;
	ret->memory = ret->arena.base;
	ret->memory_bytes = bytes;
	struct world_shards shards = {.count = options->lanes > 1 ? options->lanes : 1};
	if (options->ranks != NULL)
		shards = (struct world_shards){options->ranks->count, .are_processes = true,
					       .index = options->ranks->index};
	ret->sim = NULL;
	rc = world_build_shards(&ret->world, &ret->arena, scenario, trace_text, trace_bytes, shards,
				refusal);
	if (rc == 0)
		rc = sim_create(&ret->sim, &ret->world, options, refusal);
	if (rc < 0)
		world_instance_free(ret);
	return rc;
}

void world_instance_free(struct world_instance *world_instance)
{
	struct refusal refusal;
	struct run run;
	stop_place_set(&(struct stop_place){0}); // it pointed into the memory
	if (world_instance->sim != NULL)
		sim_end(world_instance->sim, &run, &refusal);
	if (world_instance->memory != NULL)
		memory_release(world_instance->memory, world_instance->memory_bytes);
	*world_instance = (struct world_instance){0};
}
