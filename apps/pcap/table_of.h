// SPDX-License-Identifier: Apache-2.0
// Entries that are found by a key, which is their first member. They keep their places in order of
// arrival, and may move in memory when one is added.
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct table_of {
	uint32_t count, room, key_bytes, entry_bytes;
	uint32_t *slots; // [2 * room] index + 1
	uint8_t *entries;
	bool is_short; // of memory: no more are added
};

void table_of_init(struct table_of *table, uint32_t key_bytes, uint32_t entry_bytes);
void table_of_free(struct table_of *table);

// The index of the entry of `key`, which is added if there is none, zero but for its key.
// UINT32_MAX: no memory.
uint32_t table_of_find(struct table_of *table, const void *key);

static inline void *table_of_at(const struct table_of *table, uint32_t index)
{
	return table->entries + (uint64_t)index * table->entry_bytes;
}

static inline uint32_t table_of_index(const struct table_of *table, const void *entry)
{
	return (uint32_t)(((const uint8_t *)entry - table->entries) / table->entry_bytes);
}
