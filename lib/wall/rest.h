// SPDX-License-Identifier: Apache-2.0
// What a loop does that found nothing to do. One that owns its core looks again. Others let the
// kernel run who waits for the core, and after many empty turns sleep: each one lets a sleep be
// 1 us longer, up to what fills half the receive ring, half of what is a stall, and the next timer.
// A sleep that the kernel would stretch to more than twice what is asked for is not begun.
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct rest {
	bool owns_core;
	int64_t allowed_ns; // grows with each empty turn
	int64_t least_ns;   // what the shortest sleep takes here
	int64_t most_ns;
	uint64_t yields, sleeps;
	int64_t asleep_ns; // in all of them
};

// Sleeps a few times to see how long the shortest one is, unless the core is its own.
void rest_init(struct rest *ret, bool owns_core, int64_t most_ns);

// An empty turn; there is nothing to do for `idle_ns` unless something comes.
void rest_take(struct rest *rest, int64_t idle_ns);

// A turn that found something.
static inline void rest_end(struct rest *rest)
{
	rest->allowed_ns = 0;
}
