// SPDX-License-Identifier: Apache-2.0
// The least time of a collective, in memory of its own. See coll.h.

#include <errno.h>

#include "coll.h"

int ideal_find(struct call *call, struct ideal_time *ret)
{
	size_t bytes = call->scenario.memory_bytes_max;
	struct arena arena;
	void *memory = memory_reserve(bytes);
	if (memory == NULL)
		return refuse(&call->refusal, -ENODEV,
			      "the system does not give % MiB: lower limits.memory",
			      (int64_t)(bytes >> 20));
	arena_init(&arena, memory, bytes);
	int rc = ideal_scenario(ret, &arena, &call->scenario, &call->refusal);
	memory_release(memory, bytes);
	return rc;
}
