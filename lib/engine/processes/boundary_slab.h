// SPDX-License-Identifier: Apache-2.0
// What crosses lies in slabs, which are messages to other ranks. Seen by the boundary alone.
#pragma once

#include <weft/world/world_signal.h>

#include "boundary.h"

#ifndef SLAB_CROSSINGS	    // tests have small ones: many in a window
#define SLAB_CROSSINGS 1024 // 72 kB: a window of eight thousand busy NICs has some twenty
#endif

// Eight crossings: one cache line of entries, and one for each packet.
#define BLOCK_CROSSINGS 8u
struct block {
	uint64_t entries[BLOCK_CROSSINGS];
	union {
		struct packet packet;
		struct signal signal;
	} what[BLOCK_CROSSINGS];
};
static_assert(sizeof(struct block) == 9 * 64, "whole lines");
static_assert(SLAB_CROSSINGS % BLOCK_CROSSINGS == 0, "whole blocks");

struct slab {
	_Alignas(64) uint32_t count;
	uint32_t is_last;
	_Alignas(64) struct block blocks[SLAB_CROSSINGS / BLOCK_CROSSINGS];
};

struct peer {
	struct slab *out[RANKS_SLOTS];
	struct slab *filling; // one of these
	uint32_t slot;	      // its number
	bool is_in_flight[RANKS_SLOTS];
	struct slab *in;
	bool is_awaited; // more of this window is to come
};

struct boundary {
	struct ranks *ranks;
	struct lane *lane;
	uint64_t *machines;
	struct peer *peers;	     // [ranks]
	struct boundary_news *views; // [ranks]
	uint64_t stranded;
	uint32_t stream_peer; // of a stream: its bytes lie in the slabs
	size_t stream_at, stream_end;
};

// Waits until a slot of `rank` is free.
void boundary_free_slot(struct boundary *boundary, uint32_t rank, uint32_t slot);

// Sends `bytes` of the slab that is being filled to `rank`, and goes to the next one.
void boundary_send_slab(struct boundary *boundary, uint32_t rank, size_t bytes);
