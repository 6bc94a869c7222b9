// SPDX-License-Identifier: Apache-2.0
// The memory regions of an endpoint: which addresses may be written under which key. There is no
// word for who may do what: WRITE is the only operation, so a region is there to be written. Not in
// here: the memory itself, which is the driver's.
#pragma once

#include <errno.h>
#include <stdint.h>

#include <weft/transport/transport.h>

#define REGIONS_MAX 65536u

struct region {
	uint64_t va;	// first address
	uint64_t bytes; // 0: this place is free
	uint32_t rkey;
	uint32_t unused;
};

// Found by the low bits of the key, then place after place: at most half of the places are taken,
// and keys handed out in a row never meet.
struct region_table {
	struct region *places; // [mask + 1]
	uint32_t mask;
	uint32_t count, count_max;
};

// Draws a table for `count_max` regions. -ENOMEM.
int region_init(struct region_table *table, struct arena *arena, uint32_t count_max);

// What region_init() draws.
uint64_t region_bytes(uint32_t count_max);

// See endpoint_register().
int region_add(struct region_table *table, uint32_t rkey, uint64_t va, uint64_t bytes);

// See endpoint_unregister().
int region_remove(struct region_table *table, uint32_t rkey);

// Where the search for a key begins: nearly always its region, if it has one.
static inline const struct region *region_first(const struct region_table *table, uint32_t rkey)
{
	return &table->places[rkey & table->mask];
}

// The region of a key, NULL when there is none.
static inline const struct region *region_find(const struct region_table *table, uint32_t rkey)
{
	for (uint32_t at = rkey;; at++) {
		const struct region *region = &table->places[at & table->mask];
		if (region->bytes == 0)
			return NULL;
		if (region->rkey == rkey)
			return region;
	}
}

// Whether all of [va, va + bytes), which is not empty, lies in the region; nothing here wraps.
static inline bool region_holds(const struct region *region, uint64_t va, uint64_t bytes)
{
	uint64_t at = va - region->va;
	return at <= region->bytes && bytes <= region->bytes - at;
}
