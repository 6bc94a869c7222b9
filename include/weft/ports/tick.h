// SPDX-License-Identifier: Apache-2.0
// The finest tick there is: the CPU's time stamp counter, or nanoseconds where this program knows
// of none. For stages of a few cycles; whoever wants time takes a clock.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#if defined(__x86_64__)

#define TICK_IS_CYCLE true

static inline uint64_t ticks(void)
{
	return __builtin_ia32_rdtsc();
}

#else

#define TICK_IS_CYCLE false

uint64_t ticks(void);

#endif

// Ticks in a second of the system's clock; looks at it for a few milliseconds.
uint64_t ticks_per_s(void);
