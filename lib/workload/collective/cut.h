// SPDX-License-Identifier: Apache-2.0
// How one channel of a ring cuts its share of a collective: loops, steps, chunks, slices. It is
// arithmetic alone: both ends of a connection come to the same numbers without a message. Used by
// the ring (what to send), by its plan and by the sample planner (how many packets that makes).
#pragma once

#include <weft/workload/workload.h>

// Slices of one chunk: all of `bytes`, but the last, which has `last_bytes`.
struct cut_chunk {
	uint32_t slices;
	uint64_t bytes, last_bytes;
};

struct cut {
	uint64_t share;	     // bytes this channel carries of each rank's shard
	uint64_t loops_full; // loops of whole chunks
	bool has_tail;	     // one more loop, of a shorter chunk
	uint64_t steps;	     // run in each loop
	struct cut_chunk full, tail;
};

// The cut of `channel` for a collective of `bytes` in all.
void cut_of(struct cut *ret, const struct ring_config *config, enum collective_kind kind,
	    uint64_t bytes, uint32_t channel);

// Slices of all loops: as many are sent as are received.
uint64_t cut_slices(const struct cut *cut);

// Packets of at most `payload_bytes` that the slices of one chunk make, and those of all loops.
uint64_t cut_chunk_packets(const struct cut_chunk *chunk, uint64_t payload_bytes);
uint64_t cut_packets(const struct cut *cut, uint64_t payload_bytes);

// Steps of a loop when nothing is left out.
uint64_t cut_steps_all(uint32_t ranks, enum collective_kind kind);
