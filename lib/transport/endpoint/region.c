// SPDX-License-Identifier: Apache-2.0
// Filling the table of memory regions; what reads it for each packet is inline in the header.
#include <weft/core/integer.h>

#include "region.h"

uint64_t region_bytes(uint32_t count_max)
{
	return power_of_two(2, 2 * count_max) * sizeof(struct region);
}

int region_init(struct region_table *table, struct arena *arena, uint32_t count_max)
{
	uint32_t places = power_of_two(2, 2 * count_max);
	table->places = arena_draw(arena, ARENA_TRANSPORT, places, sizeof(struct region));
	table->mask = places - 1;
	table->count_max = count_max;
	return table->places ? 0 : -ENOMEM;
}

int region_add(struct region_table *table, uint32_t rkey, uint64_t va, uint64_t bytes)
{
	if (bytes == 0 || bytes - 1 > UINT64_MAX - va)
		return -EINVAL;
	if (region_find(table, rkey))
		return -EEXIST;
	if (table->count == table->count_max)
		return -ENOSPC;
	uint32_t at = rkey & table->mask;
	while (table->places[at].bytes != 0)
		at = (at + 1) & table->mask;
	table->places[at] = (struct region){.va = va, .bytes = bytes, .rkey = rkey};
	table->count++;
	return 0;
}

// Regions that a search finds by passing the free place move into it, so that no search ends early.
static void close_gap(struct region_table *table, uint32_t gap)
{
	for (uint32_t at = (gap + 1) & table->mask; table->places[at].bytes != 0;
	     at = (at + 1) & table->mask) {
		uint32_t from_first = at - table->places[at].rkey;
		if ((from_first & table->mask) < ((at - gap) & table->mask))
			continue; // its search begins behind the gap
		table->places[gap] = table->places[at];
		gap = at;
	}
	table->places[gap] = (struct region){0};
}

int region_remove(struct region_table *table, uint32_t rkey)
{
	const struct region *region = region_find(table, rkey);
	if (region == NULL)
		return -ENOENT;
	close_gap(table, (uint32_t)(region - table->places));
	table->count--;
	return 0;
}
