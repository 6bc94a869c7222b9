// SPDX-License-Identifier: Apache-2.0
// Which machines have something to do in which window: a wheel of bitmaps for the near windows, a
// heap for far timers. A window is [index * length, (index + 1) * length). Idle machines and idle
// windows cost nothing.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <weft/core/arena.h>
#include <weft/core/time.h>

// Machines that sleep long: each with the earliest time at which it wants to be run, at most one
// entry a machine, so that its room is known. A heap of machines that knows where each one stands.

struct sleep_heap_set {
	uint32_t *heap;	 // [machines] numbers of machines, earliest first
	uint32_t *place; // [machines] where a machine stands in `heap`, plus one; 0 = not there
	ps_t *at;	 // [machines]
	uint32_t count;
};

// Draws a set for `machines` machines. -ENOMEM.
int sleep_heap_init(struct sleep_heap_set *set, struct arena *arena, uint32_t machines);

// `machine` wants to be run at `at`, or at the time it already stands with when that is earlier.
void sleep_heap_add(struct sleep_heap_set *set, uint32_t machine, ps_t at);

// Takes the machine with the earliest time (the lowest number at equal time); the set must not be
// empty.
uint32_t sleep_heap_take(struct sleep_heap_set *set);

// The earliest time, PS_NEVER when the set is empty.
static inline ps_t sleep_heap_first_at(const struct sleep_heap_set *set)
{
	return set->count == 0 ? PS_NEVER : set->at[set->heap[0]];
}

struct window_set {
	ps_t length_ps;
	uint64_t slot_mask; // slots - 1; slots is a power of two
	uint32_t words;	    // 64-bit words of one slot's bitmap
	uint32_t machines;
	uint64_t *bits;			  // [slots][words]
	uint64_t *used;			  // bit per slot: has a machine in it
	int64_t index;			  // window being run; marks for it or earlier are a bug
	ps_t start;			  // of it
	struct sleep_heap_set sleep_heap; // machines beyond the wheel
};

// Draws a set for `machines` machines whose wheel spans at least `span_ps`. -ENOMEM.
int window_set_init(struct window_set *set, struct arena *arena, uint32_t machines, ps_t length_ps,
		    ps_t span_ps);

// Machine `machine` has something to do at `at`, in the running window or later. Only its earliest
// far time is kept: a machine that is run says again when it wants to be run next. Returns the end
// of the window that `at` is in.
ps_t window_mark(struct window_set *set, uint32_t machine, ps_t at);

// The next window that has a machine in it, at or after the running one; INT64_MAX = none.
int64_t window_peek(const struct window_set *set);

// Goes to window `index`, which is not after the one that window_peek() says.
void window_go(struct window_set *set, int64_t index);

// The bitmap of the running window.
static inline uint64_t *window_bits(const struct window_set *set)
{
	return set->bits + ((uint64_t)set->index & set->slot_mask) * set->words;
}
