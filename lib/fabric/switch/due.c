// SPDX-License-Identifier: Apache-2.0
// See due.h.

#include "pfc.h"

#include <errno.h>

int due_init(struct due *due, struct arena *arena, uint32_t ports)
{
	due->leaves = 2;
	while (due->leaves < ports)
		due->leaves *= 2;
	due->at = arena_draw(arena, ARENA_FABRIC, due->leaves, sizeof(*due->at));
	due->winner = arena_draw(arena, ARENA_FABRIC, 2 * (size_t)due->leaves,
				 sizeof(*due->winner));
	if (arena_has_failed(arena))
		return -ENOMEM;
	for (uint32_t i = 0; i < due->leaves; i++) {
		due->at[i] = PS_NEVER;
		due->winner[due->leaves + i] = (uint16_t)i;
	}
	for (uint32_t i = due->leaves - 1; i > 0; i--)
		due->winner[i] = due->winner[(size_t)2 * i];
	return 0;
}

void due_set(struct due *due, uint32_t port, ps_t at)
{
	if (due->at[port] == at)
		return;
	due->at[port] = at;
	for (uint32_t i = (due->leaves + port) / 2; i > 0; i /= 2) {
		uint16_t left = due->winner[2 * (size_t)i], right = due->winner[2 * (size_t)i + 1];
		uint16_t first = due->at[right] < due->at[left] ? right : left;
		if (due->winner[i] == first && first != port)
			return; // further up nothing changes
		due->winner[i] = first;
	}
}
