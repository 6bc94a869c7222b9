// SPDX-License-Identifier: Apache-2.0
// The table of peers. See peers.h.
#include "peers.h"

#include <errno.h>
#include <string.h>

#include <weft/core/check.h>
#include <weft/core/integer.h>

#define LINE_BYTES 64u

uint64_t peers_bytes(uint32_t count_max)
{
	uint64_t bytes = count_max * sizeof(struct peer);
	if (count_max > 0)
		bytes += power_of_two(1, 2 * count_max) * sizeof(uint32_t);
	return (bytes + LINE_BYTES - 1) / LINE_BYTES * LINE_BYTES;
}

int peers_init(struct peers *table, struct arena *arena, uint32_t count_max)
{
	*table = (struct peers){0};
	if (count_max == 0)
		return 0;
	table->count_max = count_max;
	table->mask = power_of_two(1, 2 * count_max) - 1;
	table->peers = arena_draw(arena, ARENA_TRANSPORT, peers_bytes(count_max) / LINE_BYTES,
				  LINE_BYTES);
	if (table->peers == NULL)
		return -ENOMEM;
	table->places = (uint32_t *)(table->peers + count_max);
	return 0;
}

// Where a NIC stands, or the free place where it would.
static uint32_t *place_of(const struct peers *table, uint32_t nic)
{
	for (uint32_t at = nic;; at++) {
		uint32_t *place = &table->places[at & table->mask];
		if (*place == 0 || table->peers[*place - 1].nic == nic)
			return place;
	}
}

struct peer *peers_find(const struct peers *table, uint32_t nic)
{
	if (table->count == 0)
		return NULL;
	uint32_t place = *place_of(table, nic);
	return place == 0 ? NULL : &table->peers[place - 1];
}

struct peer *peers_add(struct peers *table, uint32_t nic)
{
	uint32_t *place = place_of(table, nic);
	check(*place == 0 && !peers_are_full(table));
	table->peers[table->count].nic = nic;
	*place = ++table->count;
	return &table->peers[*place - 1];
}

void peers_replace(struct peers *table, struct peer *peer, uint32_t nic)
{
	*peer = (struct peer){.nic = nic};
	memset(table->places, 0, ((size_t)table->mask + 1) * sizeof(*table->places));
	for (uint32_t index = 0; index < table->count; index++)
		*place_of(table, table->peers[index].nic) = index + 1;
}
