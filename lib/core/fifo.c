// SPDX-License-Identifier: Apache-2.0
// The pool of chunks behind every first-in-first-out list.

#include <weft/core/fifo.h>

#include <errno.h>

uint32_t fifo_chunks_for(uint64_t fifos, uint64_t entries)
{
	// A list of n entries spans at most n / 15 + 2 chunks (a part at each end); one without may
	// keep a chunk.
	uint64_t lists = fifos < entries ? fifos : entries;
	uint64_t chunks = entries / FIFO_CHUNK_ENTRIES + lists + fifos + 1;
	return chunks > UINT32_MAX - 1 ? UINT32_MAX - 1 : (uint32_t)chunks;
}

int fifo_pool_init(struct fifo_pool *pool, struct arena *arena, uint32_t capacity)
{
	uint64_t *words = NULL;
	if (capacity < FIFO_CHUNKS_MAX)
		words = arena_draw(arena, ARENA_CORE, (size_t)capacity + 1, FIFO_CHUNK_BYTES);
	if (words == NULL)
		return -ENOMEM;
	*pool = (struct fifo_pool){
		.words = words, .free_count = capacity, .fresh = 1, .capacity = capacity};
	return 0;
}
