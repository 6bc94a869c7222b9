// SPDX-License-Identifier: Apache-2.0
// Machines that sleep long: each with the earliest time at which it wants to be run, at most one
// entry a machine, so that its room is known. A heap of machines that knows where each one stands.
#pragma once

#include <stdint.h>

#include <weft/core/arena.h>
#include <weft/core/time.h>

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
