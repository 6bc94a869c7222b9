// SPDX-License-Identifier: Apache-2.0
// The least time of a collective, in memory of its own. See coll.h.

#include "coll.h"

int ideal_find(struct call *call, struct ideal_time *ret)
{
	size_t bytes = call->scenario.memory_bytes_max;
	struct arena arena;
	int rc = memory_arena(&arena, bytes, &call->refusal);
	if (rc < 0)
		return rc;
	rc = ideal_scenario(ret, &arena, &call->scenario, &call->refusal);
	memory_release(arena.base, bytes);
	return rc;
}
