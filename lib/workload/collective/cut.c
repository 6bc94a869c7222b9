// SPDX-License-Identifier: Apache-2.0
// The arithmetic of cutting a collective for a ring. Facts: NCCL 2.28.3, ring algorithm with the
// Simple protocol: a channel's share goes in loops of chunks of at most 2 MiB, the last loop is
// shorter; a chunk is two slices, and a slice is one message on the network.
//
// What it is not: NCCL counts in elements and gives each channel a multiple of its grain. Here the
// unit is the byte; slices alone are aligned (128 bytes), and the totals are exact.

#include "cut.h"

#define SLICE_ALIGN UINT64_C(128)

static uint64_t divide_up(uint64_t value, uint64_t by)
{
	return value / by + (value % by != 0);
}

// No slice is empty: a chunk too small for `slices` aligned slices has fewer.
static struct cut_chunk cut_chunk(uint64_t chunk, uint32_t slices)
{
	struct cut_chunk ret = {0};
	if (chunk == 0)
		return ret;
	ret.bytes = divide_up(divide_up(chunk, slices), SLICE_ALIGN) * SLICE_ALIGN;
	ret.slices = (uint32_t)divide_up(chunk, ret.bytes);
	ret.last_bytes = chunk - (ret.slices - 1) * ret.bytes;
	if (ret.slices == 1)
		ret.bytes = chunk;
	return ret;
}

uint64_t cut_steps_all(uint32_t ranks, enum collective_kind kind)
{
	uint64_t steps = ranks - 1;
	return kind == COLLECTIVE_ALL_REDUCE ? 2 * steps : steps;
}

// A buffer that does not divide by the ranks is padded to the next size that does, as the
// frameworks do before they call a reduce-scatter. What does not divide by the channels is spread:
// the first channels carry one byte more.
void cut_of(struct cut *ret, const struct ring_config *config, enum collective_kind kind,
	    uint64_t bytes, uint32_t channel)
{
	uint64_t shard = divide_up(bytes, config->ranks);
	uint64_t share = shard / config->channels + (channel < shard % config->channels);
	bool is_barrier = config->form == RING_BARRIER;
	uint64_t chunk = is_barrier ? share : config->chunk_bytes_max;
	uint32_t slices = is_barrier ? 1 : config->slices;
	uint64_t steps = cut_steps_all(config->ranks, kind);
	*ret = (struct cut){.share = share, .steps = steps};
	if (config->steps_max > 0 && config->steps_max < steps)
		ret->steps = config->steps_max;
	if (share == 0)
		return;
	ret->loops_full = share / chunk;
	ret->has_tail = share % chunk != 0;
	ret->full = cut_chunk(chunk, slices);
	ret->tail = cut_chunk(share % chunk, slices);
}

uint64_t cut_slices(const struct cut *cut)
{
	return cut->steps * (cut->loops_full * cut->full.slices + cut->tail.slices);
}

uint64_t cut_chunk_packets(const struct cut_chunk *chunk, uint64_t payload_bytes)
{
	if (chunk->slices == 0)
		return 0;
	return (chunk->slices - 1) * divide_up(chunk->bytes, payload_bytes) +
		divide_up(chunk->last_bytes, payload_bytes);
}

uint64_t cut_packets(const struct cut *cut, uint64_t payload_bytes)
{
	return cut->steps *
		(cut->loops_full * cut_chunk_packets(&cut->full, payload_bytes) +
		 cut_chunk_packets(&cut->tail, payload_bytes));
}
