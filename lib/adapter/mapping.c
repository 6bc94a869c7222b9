// SPDX-License-Identifier: Apache-2.0
// Registered memory: a sorted table, as programs register few regions and rarely.
#include "mapping.h"

#include <errno.h>
#include <string.h>

int mapping_table_init(struct mapping_table *table, struct arena *arena, uint32_t capacity)
{
	*table = (struct mapping_table){.capacity = capacity};
	table->mappings = arena_draw(arena, ARENA_DRIVE, capacity, sizeof(struct mapping));
	return table->mappings == NULL ? -ENOMEM : 0;
}

// The first place whose rkey is not below `rkey`.
static uint32_t place_of(const struct mapping_table *table, uint32_t rkey)
{
	uint32_t low = 0, high = table->count;
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		if (table->mappings[middle].rkey < rkey)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

void mapping_add(struct mapping_table *table, const struct mapping *mapping)
{
	uint32_t place = place_of(table, mapping->rkey);
	struct mapping *at = &table->mappings[place];
	check(table->count < table->capacity);
	memmove(at + 1, at, (table->count - place) * sizeof(*at));
	*at = *mapping;
	table->count++;
}

void mapping_remove(struct mapping_table *table, uint32_t rkey)
{
	uint32_t place = place_of(table, rkey);
	struct mapping *at = &table->mappings[place];
	check(place < table->count && at->rkey == rkey);
	table->count--;
	memmove(at, at + 1, (table->count - place) * sizeof(*at));
}

const struct mapping *mapping_find(const struct mapping_table *table, uint32_t rkey)
{
	uint32_t place = place_of(table, rkey);
	if (place == table->count || table->mappings[place].rkey != rkey)
		return NULL;
	return &table->mappings[place];
}
