// SPDX-License-Identifier: Apache-2.0
// A hash of GIDs with places in a row; a NIC has an entry for each GID of its own. See host.h.
#include "host.h"

#include <errno.h>
#include <string.h>

#include <weft/core/rng.h>

#define GID_BYTES 16

static uint32_t power_of_two_above(uint64_t count)
{
	uint32_t power = 4;
	while (power < count)
		power *= 2;
	return power;
}

static uint32_t places_for(uint32_t count_max, uint32_t planes)
{
	return power_of_two_above(2 * (uint64_t)count_max * planes);
}

static uint64_t rounded(uint64_t bytes, uint32_t align)
{
	return (bytes + align - 1) / align * align;
}

uint64_t host_table_bytes(uint32_t count_max, uint32_t planes, uint32_t align)
{
	return rounded(count_max * sizeof(struct host), align) +
		rounded((uint64_t)count_max * planes * sizeof(struct wire_end), align) +
		rounded(places_for(count_max, planes) * sizeof(uint32_t), align);
}

int host_table_init(struct host_table *table, struct arena *arena, uint32_t count_max,
		    uint32_t planes)
{
	uint32_t places = places_for(count_max, planes);
	*table = (struct host_table){
		.mask = places - 1, .planes = planes, .count_max = count_max, .place_bits = 1};
	table->hosts = arena_draw(arena, ARENA_DRIVE, count_max, sizeof(struct host));
	table->ends = arena_draw(arena, ARENA_DRIVE, (size_t)count_max * planes,
				 sizeof(struct wire_end));
	table->places = arena_draw(arena, ARENA_DRIVE, places, sizeof(uint32_t));
	while (count_max > UINT32_C(1) << table->place_bits)
		table->place_bits++;
	return arena_has_failed(arena) ? -ENOMEM : 0;
}

static uint32_t bucket_of(const struct host_table *table, const uint8_t gid[16])
{
	uint64_t halves[2];
	memcpy(halves, gid, GID_BYTES);
	return (uint32_t)rng_mix(halves[0] ^ rng_mix(halves[1])) & table->mask;
}

static const uint8_t *gid_at(const struct host_table *table, uint32_t entry)
{
	return table->ends[entry - 1].gid;
}

// The bucket that has the GID, or the free one where it would be.
static uint32_t *find(const struct host_table *table, const uint8_t gid[16])
{
	for (uint32_t at = bucket_of(table, gid);; at = (at + 1) & table->mask) {
		uint32_t *bucket = &table->places[at];
		if (*bucket == 0 || memcmp(gid_at(table, *bucket), gid, GID_BYTES) == 0)
			return bucket;
	}
}

static uint32_t number_of(const struct host_table *table, uint32_t place)
{
	return table->hosts[place].life << table->place_bits | place;
}

static uint32_t place_of(const struct host_table *table, uint32_t number)
{
	return number & ((1u << table->place_bits) - 1);
}

uint32_t host_find(const struct host_table *table, const uint8_t gid[16])
{
	uint32_t entry = *find(table, gid);
	return entry == 0 ? HOST_NONE : number_of(table, (entry - 1) / table->planes);
}

// ---------------------------------------------------------------- entries

static void add_gids(struct host_table *table, uint32_t place)
{
	for (uint32_t plane = 0; plane < table->planes; plane++) {
		uint32_t entry = place * table->planes + plane + 1;
		uint32_t *bucket = find(table, gid_at(table, entry));
		if (*bucket == 0) // else another plane of the same NIC has it, too
			*bucket = entry;
	}
}

// Takes an entry out. Those that a search finds by passing its bucket move into it, so that no
// search ends early.
static void remove_gid(struct host_table *table, uint32_t place, const uint8_t gid[16])
{
	uint32_t mask = table->mask, gap = (uint32_t)(find(table, gid) - table->places);
	if (table->places[gap] == 0 || (table->places[gap] - 1) / table->planes != place)
		return; // went with that of another plane, or is of another NIC by now
	for (uint32_t at = (gap + 1) & mask; table->places[at] != 0; at = (at + 1) & mask) {
		uint32_t first = bucket_of(table, gid_at(table, table->places[at]));
		if (((at - first) & mask) < ((at - gap) & mask))
			continue; // its search begins behind the gap
		table->places[gap] = table->places[at];
		gap = at;
	}
	table->places[gap] = 0;
}

static void forget(struct host_table *table, uint32_t place)
{
	for (uint32_t plane = 0; plane < table->planes; plane++)
		remove_gid(table, place, table->ends[place * table->planes + plane].gid);
	table->hosts[place].life++;
}

// ---------------------------------------------------------------- those without users

static void idle_push(struct host_table *table, uint32_t place)
{
	struct host *host = &table->hosts[place];
	host->next = 0;
	host->prev = table->idle_tail;
	if (table->idle_tail != 0)
		table->hosts[table->idle_tail - 1].next = place + 1;
	else
		table->idle_head = place + 1;
	table->idle_tail = place + 1;
}

static void idle_remove(struct host_table *table, uint32_t place)
{
	struct host *host = &table->hosts[place];
	if (host->prev != 0)
		table->hosts[host->prev - 1].next = host->next;
	else
		table->idle_head = host->next;
	if (host->next != 0)
		table->hosts[host->next - 1].prev = host->prev;
	else
		table->idle_tail = host->prev;
}

// ---------------------------------------------------------------- giving and taking

// Whether a place's NIC has the given GIDs, each in its plane.
static bool has_gids(const struct host_table *table, uint32_t place, const struct host_given *given)
{
	const struct wire_end *ends = &table->ends[place * table->planes];
	for (uint32_t plane = 0; plane < table->planes; plane++)
		if (memcmp(ends[plane].gid, given->ends[plane].gid, GID_BYTES) != 0)
			return false;
	return true;
}

// Lets those without users that have one of the given GIDs forget theirs. False: one in use has.
static bool clear_gids(struct host_table *table, const struct host_given *given)
{
	for (uint32_t plane = 0; plane < table->planes; plane++) {
		uint32_t entry = *find(table, given->ends[plane].gid);
		if (entry != 0 && table->hosts[(entry - 1) / table->planes].users > 0)
			return false;
	}
	for (uint32_t plane = 0; plane < table->planes; plane++) {
		uint32_t entry = *find(table, given->ends[plane].gid);
		if (entry != 0)
			forget(table, (entry - 1) / table->planes);
	}
	return true;
}

// A place without a NIC: a new one, or that of the one without users for longest.
static uint32_t free_place(struct host_table *table)
{
	if (table->count < table->count_max)
		return table->count++;
	check(table->idle_head != 0);
	uint32_t place = table->idle_head - 1;
	idle_remove(table, place);
	forget(table, place);
	return place;
}

int host_take(struct host_table *table, const struct host_given *given, uint32_t *ret_number)
{
	uint32_t entry = *find(table, given->ends[0].gid);
	uint32_t place = entry == 0 ? HOST_NONE : (entry - 1) / table->planes;
	bool is_known = place != HOST_NONE && has_gids(table, place, given);
	if (!is_known && !clear_gids(table, given))
		return -EADDRINUSE;
	if (!is_known)
		place = free_place(table);
	else if (table->hosts[place].users == 0)
		idle_remove(table, place);
	struct host *host = &table->hosts[place];
	struct wire_end *ends = &table->ends[place * table->planes];
	memcpy(ends, given->ends, table->planes * sizeof(*ends));
	host->nic = given->nic;
	host->port = given->port;
	host->users++;
	if (!is_known)
		add_gids(table, place);
	*ret_number = number_of(table, place);
	return 0;
}

void host_drop(struct host_table *table, uint32_t number)
{
	uint32_t place = place_of(table, number);
	check(table->hosts[place].users > 0);
	if (--table->hosts[place].users == 0)
		idle_push(table, place);
}
