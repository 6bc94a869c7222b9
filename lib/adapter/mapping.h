// SPDX-License-Identifier: Apache-2.0
// Where registered memory is. Whether a packet may write to it is the endpoint's to say; here is
// the program's address for the peer's.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <weft/core/arena.h>
#include <weft/core/check.h>

struct mapping {
	uint8_t *base;
	uint64_t va; // what peers call the byte at `base`
	uint64_t bytes;
	uint32_t rkey;
};

struct mapping_table {
	struct mapping *mappings; // [capacity] in ascending order of rkey
	uint32_t count, capacity;
};

// Draws a table. -ENOMEM.
int mapping_table_init(struct mapping_table *table, struct arena *arena, uint32_t capacity);

// Adds a mapping whose rkey is not there; there must be room.
void mapping_add(struct mapping_table *table, const struct mapping *mapping);

// Takes out the mapping of an rkey, which must be there.
void mapping_remove(struct mapping_table *table, uint32_t rkey);

// The mapping of an rkey, NULL when there is none.
const struct mapping *mapping_find(const struct mapping_table *table, uint32_t rkey);

// Where `bytes` bytes at `va` are; they must be in the mapping.
static inline uint8_t *mapping_at(const struct mapping *mapping, uint64_t va, uint64_t bytes)
{
	uint64_t at = va - mapping->va;
	check(at <= mapping->bytes && bytes <= mapping->bytes - at);
	return mapping->base + at;
}
