// SPDX-License-Identifier: Apache-2.0
// The least time of what ran, in memory of its own.

#include <errno.h>

#include <weft/run/call.h>
#include <weft/world/world_ideal.h>

#define NO_MEMORY "no memory for the closed form"

void call_ideal(const struct world *world, struct report_ideal *ret)
{
	size_t bytes = world->scenario->memory_bytes_max;
	struct ideal_time time = {0};
	struct arena arena;
	void *memory = memory_reserve(bytes);
	*ret = (struct report_ideal){.reason = NO_MEMORY};
	if (memory == NULL)
		return;
	arena_init(&arena, memory, bytes);
	int rc = ideal_world(&time, &arena, world, NULL);
	memory_release(memory, bytes);
	if (rc == 0)
		*ret = (struct report_ideal){.ps = time.ps};
	else if (rc != -ENOMEM)
		ret->reason = world->plan.sample.is_on ? IDEAL_OF_SAMPLE : IDEAL_NONE;
}
