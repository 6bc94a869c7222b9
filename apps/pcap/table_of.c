// SPDX-License-Identifier: Apache-2.0
// A hash table with open slots, at most half full.

#include <stdlib.h>
#include <string.h>

#include "table_of.h"

#define ROOM_MIN 64 // a power of 2

void table_of_init(struct table_of *table, uint32_t key_bytes, uint32_t entry_bytes)
{
	memset(table, 0, sizeof(*table));
	table->key_bytes = key_bytes;
	table->entry_bytes = entry_bytes;
}

void table_of_free(struct table_of *table)
{
	free(table->slots);
	free(table->entries);
}

static uint64_t hash_of(const struct table_of *table, const uint8_t *key)
{
	uint64_t hash = UINT64_C(0xcbf29ce484222325); // FNV-1a
	for (uint32_t i = 0; i < table->key_bytes; i++)
		hash = (hash ^ key[i]) * UINT64_C(0x100000001b3);
	return hash ^ hash >> 32;
}

// The slot of `key`: its own, or the open one where it belongs.
static uint32_t *slot_of(const struct table_of *table, const void *key)
{
	uint32_t mask = 2 * table->room - 1;
	uint32_t at = (uint32_t)hash_of(table, key) & mask;
	while (table->slots[at] != 0 &&
	       memcmp(table_of_at(table, table->slots[at] - 1), key, table->key_bytes) != 0)
		at = (at + 1) & mask;
	return &table->slots[at];
}

static bool grow(struct table_of *table)
{
	uint32_t room = table->room == 0 ? ROOM_MIN : 2 * table->room;
	uint32_t *slots = calloc(2 * (size_t)room, sizeof(*slots));
	uint8_t *entries = realloc(table->entries, (size_t)room * table->entry_bytes);
	table->entries = entries != NULL ? entries : table->entries;
	if (slots == NULL || entries == NULL || room > UINT32_MAX / 4) {
		free(slots);
		table->is_short = true;
		return false;
	}
	free(table->slots);
	table->slots = slots;
	table->room = room;
	for (uint32_t i = 0; i < table->count; i++)
		*slot_of(table, table_of_at(table, i)) = i + 1;
	return true;
}

uint32_t table_of_find(struct table_of *table, const void *key)
{
	if (table->count == table->room && !grow(table))
		return UINT32_MAX;
	uint32_t *slot = slot_of(table, key);
	if (*slot != 0)
		return *slot - 1;
	uint8_t *entry = table_of_at(table, table->count);
	memset(entry, 0, table->entry_bytes);
	memcpy(entry, key, table->key_bytes);
	*slot = ++table->count;
	return table->count - 1;
}
