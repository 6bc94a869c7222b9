// SPDX-License-Identifier: Apache-2.0
// First in, first out lists of 8-byte entries, kept in chunks of 128 bytes from one pool: cables
// and port queues. Memory follows what is in flight. The pool is sized so that it cannot run dry
// while the packet pool holds (fifo_chunks_for).
#pragma once

#include <assert.h>
#include <stdint.h>

#include <weft/arena.h>
#include <weft/check.h>

#define FIFO_CHUNK_ENTRIES 15

// Filled and emptied from the last entry down: what is left then tells that a chunk is full, or
// used up, by being 0, as in a list without chunks.
struct fifo_chunk {
	uint64_t entries[FIFO_CHUNK_ENTRIES];
	uint32_t next; // chunk behind this one, 0 = last
	uint32_t unused;
};
static_assert(sizeof(struct fifo_chunk) == 128, "two cache lines");

struct fifo_pool {
	struct fifo_chunk *chunks; // [capacity + 1]; index 0 is never given out
	uint32_t free_head;	   // list of chunks given back, through `next`
	uint32_t free_count;	   // free in all
	uint32_t fresh;		   // lowest index that was never given out: memory follows use
	uint32_t capacity;
};

struct fifo {
	uint32_t head, tail; // chunks; 0 = the list has none
	uint32_t count;	     // entries
	uint8_t head_left;   // entries of `head` that were not taken yet, filled or not
	uint8_t tail_room;   // entries of `tail` that are not filled yet
	uint16_t unused;
};
static_assert(sizeof(struct fifo) == 16, "four to a cache line");

#ifdef __cplusplus
extern "C" {
#endif

// Chunks that `fifos` lists holding `entries` entries together can ever need.
uint32_t fifo_chunks_for(uint64_t fifos, uint64_t entries);

// Draws a pool of `capacity` chunks. -ENOMEM when the arena is too small.
int fifo_pool_init(struct fifo_pool *pool, struct arena *arena, uint32_t capacity);

#ifdef __cplusplus
}
#endif

static inline uint32_t fifo_chunk_get(struct fifo_pool *pool)
{
	uint32_t chunk = pool->free_head;
	check(pool->free_count > 0);
	pool->free_count--;
	if (chunk != 0)
		pool->free_head = pool->chunks[chunk].next;
	else
		chunk = pool->fresh++;
	pool->chunks[chunk].next = 0;
	return chunk;
}

static inline void fifo_chunk_put(struct fifo_pool *pool, uint32_t chunk)
{
	pool->chunks[chunk].next = pool->free_head;
	pool->free_head = chunk;
	pool->free_count++;
}

static inline void fifo_push(struct fifo *fifo, struct fifo_pool *pool, uint64_t entry)
{
	if (fifo->tail_room == 0) {
		uint32_t chunk = fifo_chunk_get(pool);
		if (fifo->tail == 0) {
			fifo->head = chunk;
			fifo->head_left = FIFO_CHUNK_ENTRIES;
		} else {
			pool->chunks[fifo->tail].next = chunk;
		}
		fifo->tail = chunk;
		fifo->tail_room = FIFO_CHUNK_ENTRIES;
	}
	pool->chunks[fifo->tail].entries[--fifo->tail_room] = entry;
	fifo->count++;
}

// The oldest entry; the list must not be empty.
static inline uint64_t fifo_peek(const struct fifo *fifo, const struct fifo_pool *pool)
{
	return pool->chunks[fifo->head].entries[fifo->head_left - 1];
}

// The newest entry, for reading or for putting another in its place; the list must not be empty.
static inline uint64_t *fifo_newest(struct fifo *fifo, struct fifo_pool *pool)
{
	return &pool->chunks[fifo->tail].entries[fifo->tail_room];
}

// Takes the oldest entry; the list must not be empty. An empty list holds no chunk.
static inline uint64_t fifo_pop(struct fifo *fifo, struct fifo_pool *pool)
{
	uint32_t head = fifo->head;
	uint64_t entry = pool->chunks[head].entries[--fifo->head_left];
	if (--fifo->count == 0) {
		fifo_chunk_put(pool, head);
		fifo->head = fifo->tail = 0;
		fifo->head_left = fifo->tail_room = 0;
	} else if (fifo->head_left == 0) {
		fifo->head = pool->chunks[head].next;
		fifo->head_left = FIFO_CHUNK_ENTRIES;
		fifo_chunk_put(pool, head);
	}
	return entry;
}
