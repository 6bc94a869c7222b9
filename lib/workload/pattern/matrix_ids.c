// SPDX-License-Identifier: Apache-2.0
// The ids of connections: each is there once. A hash table, as a matrix may have a million.

#include <errno.h>

#include <weft/core/rng.h>

#include "matrix.h"

int matrix_ids_add(struct matrix_ids *ids, struct arena *arena, uint32_t flows, uint32_t id,
		   uint32_t line, uint32_t *ret_first)
{
	if (ids->slots == NULL) {
		uint64_t room = 4;
		while (room < 2 * (uint64_t)flows)
			room *= 2;
		ids->slots = arena_draw(arena, ARENA_WORKLOAD, room, sizeof(*ids->slots));
		ids->mask = room - 1;
	}
	if (ids->slots == NULL)
		return -ENOMEM;
	uint64_t at = rng_mix(id) & ids->mask;
	for (; ids->slots[at] != 0; at = (at + 1) & ids->mask) {
		if ((uint32_t)ids->slots[at] != id)
			continue;
		*ret_first = (uint32_t)(ids->slots[at] >> 32);
		return -EEXIST;
	}
	ids->slots[at] = (uint64_t)line << 32 | id;
	return 0;
}
