// SPDX-License-Identifier: Apache-2.0
// The NICs at the other ends of an endpoint's QPs, each once, however many QPs lead there: what is
// known of their ports, and what they know of ours. What is said to them is in status.c.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <weft/core/arena.h>
#include <weft/core/time.h>

#define WORD_UNKNOWN UINT32_MAX // it may have forgotten

struct peer {
	uint32_t nic;
	uint32_t first_qp;    // of the QPs that lead there, number + 1, linked through qp.peer_next
	uint32_t knower;      // of its QPs, the one that last lost an EV, number + 1; 0 = none
	uint32_t down;	      // bits of its ports that are down, as it says
	uint32_t word;	      // bits of ours that are down, as it last heard them, or WORD_UNKNOWN
	uint32_t ask_next;    // peer behind this one among those to be informed, index + 1
	uint16_t request_id;  // of the last request to it; the first is 1
	uint16_t heard_id;    // of the newest request from it
	uint8_t tries;	      // is_out: waits that ended
	bool has_heard : 1;   // heard_id means something
	bool is_out : 1;      // a request is not answered yet
	bool is_queued : 1;   // is among those to be informed
	bool has_timer : 1;   // has a place in the heap
	bool has_all_ids : 1; // request_id came round: each number was one
	ps_t deadline_ps;     // is_out: when its answer is waited for no longer
};

// What one more draws, its place included.
#define PEER_BYTES (sizeof(struct peer) + 2 * sizeof(uint32_t))

// Found by the low bits of the NIC's number, then place after place; at most half of them are
// taken.
struct peers {
	struct peer *peers; // [count_max]
	uint32_t *places;   // [mask + 1] index + 1; 0 = free
	uint32_t mask;
	uint32_t count, count_max;
};

// Draws a table for `count_max` peers, which may be 0. -ENOMEM.
int peers_init(struct peers *table, struct arena *arena, uint32_t count_max);

// What peers_init() draws, a multiple of 64.
uint64_t peers_bytes(uint32_t count_max);

// The peer of that NIC, NULL when there is none.
struct peer *peers_find(const struct peers *table, uint32_t nic);

// Adds a peer; there must be room.
struct peer *peers_add(struct peers *table, uint32_t nic);

// Whether there is room for none more.
static inline bool peers_are_full(const struct peers *table)
{
	return table->count == table->count_max;
}

// Puts another NIC in the place of a peer, of which nothing is kept.
void peers_replace(struct peers *table, struct peer *peer, uint32_t nic);

static inline uint32_t peers_index(const struct peers *table, const struct peer *peer)
{
	return (uint32_t)(peer - table->peers);
}
