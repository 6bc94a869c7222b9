// SPDX-License-Identifier: Apache-2.0
// First in, first out lists of 8-byte entries, kept in chunks of 128 bytes from one pool: cables
// and port queues. Memory follows what is in flight. The pool is sized so that it cannot run dry
// while the packet pool holds (fifo_chunks_for).
//
// A place in a list is the number of a word in the pool, so that putting and taking an entry needs
// no arithmetic but the word's address.
#pragma once

#include <assert.h>
#include <stdint.h>

#include <weft/core/arena.h>
#include <weft/core/check.h>

#define FIFO_CHUNK_ENTRIES 15u
#define FIFO_CHUNK_WORDS (FIFO_CHUNK_ENTRIES + 1u) // a power of two
#define FIFO_CHUNK_BYTES (FIFO_CHUNK_WORDS * 8u)
#define FIFO_CHUNKS_MAX (UINT32_MAX / FIFO_CHUNK_WORDS)

struct fifo_pool {
	// [capacity + 1] chunks; chunk 0 is never given out. Entries fill a chunk from the last one
	// down. The word behind them is the number of the next chunk, 0 = last.
	uint64_t *words;
	uint32_t free_head;  // list of chunks given back
	uint32_t free_count; // free in all
	uint32_t fresh;	     // lowest index that was never given out: memory follows use
	uint32_t capacity;
};

// Of an empty list, which has no chunk unless it keeps one, both places are 0.
struct fifo {
	uint32_t get;	// the oldest entry is the word before this one
	uint32_t put;	// the newest entry
	uint32_t count; // entries
	uint32_t unused;
};
static_assert(sizeof(struct fifo) == 16, "four to a cache line");

#ifdef __cplusplus
extern "C" {
#endif

// Chunks that `fifos` lists holding `entries` entries together can ever need; more than
// FIFO_CHUNKS_MAX when no pool is so large.
uint32_t fifo_chunks_for(uint64_t fifos, uint64_t entries);

// Draws a pool of `capacity` chunks. -ENOMEM when the arena is too small, or for more than
// FIFO_CHUNKS_MAX.
int fifo_pool_init(struct fifo_pool *pool, struct arena *arena, uint32_t capacity);

#ifdef __cplusplus
}
#endif

static inline uint64_t *fifo_link(const struct fifo_pool *pool, uint32_t chunk)
{
	return &pool->words[chunk * FIFO_CHUNK_WORDS + FIFO_CHUNK_ENTRIES];
}

static inline uint32_t fifo_chunk_get(struct fifo_pool *pool)
{
	uint32_t chunk = pool->free_head;
	check(pool->free_count > 0);
	pool->free_count--;
	if (chunk != 0)
		pool->free_head = (uint32_t)*fifo_link(pool, chunk);
	else
		chunk = pool->fresh++;
	*fifo_link(pool, chunk) = 0;
	return chunk;
}

static inline void fifo_chunk_put(struct fifo_pool *pool, uint32_t chunk)
{
	*fifo_link(pool, chunk) = pool->free_head;
	pool->free_head = chunk;
	pool->free_count++;
}

// Gives a list whose last chunk is full, or that has none, another one.
static inline void fifo_grow(struct fifo *fifo, struct fifo_pool *pool)
{
	uint32_t chunk = fifo_chunk_get(pool);
	uint32_t last = fifo->put / FIFO_CHUNK_WORDS;
	fifo->put = chunk * FIFO_CHUNK_WORDS + FIFO_CHUNK_ENTRIES;
	if (last == 0)
		fifo->get = fifo->put;
	else
		*fifo_link(pool, last) = chunk;
}

static inline void fifo_push(struct fifo *fifo, struct fifo_pool *pool, uint64_t entry)
{
	if (fifo->put % FIFO_CHUNK_WORDS == 0)
		fifo_grow(fifo, pool);
	pool->words[--fifo->put] = entry;
	fifo->count++;
}

// The oldest entry; the list must not be empty.
static inline uint64_t fifo_peek(const struct fifo *fifo, const struct fifo_pool *pool)
{
	return pool->words[fifo->get - 1];
}

// The newest entry, for reading or for putting another in its place; the list must not be empty.
static inline uint64_t *fifo_newest(const struct fifo *fifo, const struct fifo_pool *pool)
{
	return &pool->words[fifo->put];
}

// Entry after entry, oldest first, as many as the list has: `*at` begins as fifo->get.
static inline uint64_t fifo_walk(const struct fifo_pool *pool, uint32_t *at)
{
	if (*at % FIFO_CHUNK_WORDS == 0)
		*at = (uint32_t)*fifo_link(pool, *at / FIFO_CHUNK_WORDS) * FIFO_CHUNK_WORDS +
			FIFO_CHUNK_ENTRIES;
	return pool->words[--*at];
}

// The first chunk has nothing left: goes to the next, or to none.
static inline void fifo_shrink(struct fifo *fifo, struct fifo_pool *pool)
{
	uint32_t chunk = fifo->get / FIFO_CHUNK_WORDS;
	if (fifo->count == 0)
		fifo->get = fifo->put = 0;
	else
		fifo->get = (uint32_t)*fifo_link(pool, chunk) * FIFO_CHUNK_WORDS +
			FIFO_CHUNK_ENTRIES;
	fifo_chunk_put(pool, chunk);
}

// Takes the oldest entry; the list must not be empty. An empty list holds no chunk.
static inline uint64_t fifo_pop(struct fifo *fifo, struct fifo_pool *pool)
{
	uint64_t entry = pool->words[--fifo->get];
	fifo->count--;
	if (fifo->count == 0 || fifo->get % FIFO_CHUNK_WORDS == 0)
		fifo_shrink(fifo, pool);
	return entry;
}

// The same, but an empty list keeps its last chunk for what comes next, until fifo_release().
static inline uint64_t fifo_pop_keep(struct fifo *fifo, struct fifo_pool *pool)
{
	uint64_t entry = pool->words[--fifo->get];
	fifo->count--;
	if (fifo->count == 0)
		fifo->get = fifo->put |= FIFO_CHUNK_ENTRIES; // the chunk's end: all of it is free
	else if (fifo->get % FIFO_CHUNK_WORDS == 0)
		fifo_shrink(fifo, pool);
	return entry;
}

// Gives back the chunk that a list keeps, if it is empty.
static inline void fifo_release(struct fifo *fifo, struct fifo_pool *pool)
{
	if (fifo->count == 0 && fifo->put != 0)
		fifo_shrink(fifo, pool);
}

// How many entries lie in a row from the oldest on: &pool->words[fifo->get - 1] and downwards.
static inline uint32_t fifo_row(const struct fifo *fifo)
{
	uint32_t row = fifo->get % FIFO_CHUNK_WORDS;
	return row < fifo->count ? row : fifo->count;
}

// Takes the first `count` entries of that row, which may be none.
static inline void fifo_skip(struct fifo *fifo, struct fifo_pool *pool, uint32_t count)
{
	if (count == 0)
		return;
	fifo->get -= count;
	fifo->count -= count;
	if (fifo->count == 0 || fifo->get % FIFO_CHUNK_WORDS == 0)
		fifo_shrink(fifo, pool);
}

// Brings the chunk with the oldest entry into the cache.
static inline void fifo_fetch(const struct fifo *fifo, const struct fifo_pool *pool)
{
	uint32_t first = fifo->get & ~(FIFO_CHUNK_WORDS - 1);
	__builtin_prefetch(&pool->words[first], 1);
	__builtin_prefetch(&pool->words[first + FIFO_CHUNK_WORDS / 2], 1);
}

// Brings the chunk behind that one into the cache; reads that one.
static inline void fifo_fetch_next(const struct fifo *fifo, const struct fifo_pool *pool)
{
	uint32_t next = (uint32_t)*fifo_link(pool, fifo->get / FIFO_CHUNK_WORDS) * FIFO_CHUNK_WORDS;
	__builtin_prefetch(&pool->words[next], 1);
	__builtin_prefetch(&pool->words[next + FIFO_CHUNK_WORDS / 2], 1);
}
