// SPDX-License-Identifier: Apache-2.0
// The NICs at the other ends by address, each once, however many QPs lead there. The endpoint knows
// them by numbers that this table gives out. One that no QP leads to any more keeps its number
// until the place is needed: what the endpoint knows of its ports stays true meanwhile.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <weft/core/arena.h>
#include <weft/transport/transport.h>
#include <weft/wire/wire_ends.h>

#define HOST_NONE UINT32_MAX // no NIC has this number

// A NIC as it is described to its peer.
struct host_given {
	struct wire_end ends[PLANES_MAX]; // by own plane: where what leaves there goes
	uint32_t nic;			  // the number that it tells, or HOST_NONE
	uint16_t port;			  // UDP destination port of what is sent to it
};

struct host {
	uint32_t nic;
	uint32_t life;	     // of this place: how many NICs it had before
	uint32_t users;	     // QPs that lead there
	uint32_t next, prev; // among those without users, place + 1; 0 = none
	uint16_t port;
};

struct host_table {
	struct host *hosts;    // [count_max]
	struct wire_end *ends; // [count_max][planes]
	uint32_t *places;      // hash of GIDs: place * planes + plane + 1; 0 = none
	uint32_t mask, planes;
	uint32_t count, count_max; // places that were ever used
	uint32_t place_bits;	   // of a number; above them is the life
	uint32_t idle_head, idle_tail;
};

// Draws a table for `count_max` NICs with an address for each of `planes`. -ENOMEM.
int host_table_init(struct host_table *table, struct arena *arena, uint32_t count_max,
		    uint32_t planes);

// Bytes that it draws, each part rounded up to `align`.
uint64_t host_table_bytes(uint32_t count_max, uint32_t planes, uint32_t align);

// One QP more leads to this NIC, whose MACs and port are those that were given last. There must be
// fewer users than places. -EADDRINUSE, nothing changed: another NIC has one of its addresses.
int host_take(struct host_table *table, const struct host_given *given, uint32_t *ret_number);

// One less.
void host_drop(struct host_table *table, uint32_t number);

// The number of the NIC with this GID, HOST_NONE when there is none.
uint32_t host_find(const struct host_table *table, const uint8_t gid[16]);

static inline const struct host *host_at(const struct host_table *table, uint32_t number)
{
	return &table->hosts[number & ((1u << table->place_bits) - 1)];
}

// Where a frame goes that leaves by `plane`.
static inline const struct wire_end *host_end(const struct host_table *table, uint32_t number,
					      uint32_t plane)
{
	return &table->ends[(number & ((1u << table->place_bits) - 1)) * table->planes + plane];
}
