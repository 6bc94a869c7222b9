// SPDX-License-Identifier: Apache-2.0
// A timer heap of (time, key) with a fixed number of places; at equal time the smaller key comes
// first. Used inside a machine for its own timers, and by the driver for machines that sleep long.
// Not for packets.
#pragma once

#include <stdint.h>

#include <weft/core/arena.h>
#include <weft/core/time.h>

struct heap_item {
	ps_t at;
	uint64_t key; // meaning and tie-break are the owner's: (kind << 56 | id) gives "timers by
		      // (kind, id)"
};

struct heap {
	struct heap_item *items;
	uint32_t count;
	uint32_t capacity;
};

#ifdef __cplusplus
extern "C" {
#endif

// Draws `capacity` places from `room`. -ENOMEM when the arena is too small.
int heap_init(struct heap *heap, struct arena *arena, enum arena_room room, uint32_t capacity);

// Adds an item; a full heap is a bug of its owner.
void heap_push(struct heap *heap, ps_t at, uint64_t key);

// Takes the earliest item; the heap must not be empty.
struct heap_item heap_pop(struct heap *heap);

// Takes the item of `key` out, if it is there. Looks at all: for what happens rarely.
void heap_remove(struct heap *heap, uint64_t key);

// Time of the earliest item, PS_NEVER when there is none.
static inline ps_t heap_next_at(const struct heap *heap)
{
	return heap->count == 0 ? PS_NEVER : heap->items[0].at;
}

#ifdef __cplusplus
}
#endif
