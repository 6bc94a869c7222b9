// SPDX-License-Identifier: Apache-2.0
// Time is signed 64-bit picoseconds and always an argument: no room below drive knows a clock.
// One byte at 800 Gb/s is 10 ps; 63 bits last 106 days. Signed, so that differences are safe.
#pragma once

#include <stdint.h>

typedef int64_t ps_t;

#define PS_NEVER INT64_MAX // "no deadline": later than any time of a run
#define PS_PER_NS INT64_C(1000)
#define PS_PER_US INT64_C(1000000)
#define PS_PER_MS INT64_C(1000000000)
#define PS_PER_S INT64_C(1000000000000)

static inline ps_t ps_min(ps_t a, ps_t b)
{
	return a < b ? a : b;
}

static inline ps_t ps_max(ps_t a, ps_t b)
{
	return a > b ? a : b;
}

// A line rate as picoseconds per byte in 44.20 fixed point, so that serialisation needs no
// division. 100, 200, 400 and 800 Gb/s are exact (80, 40, 20, 10 ps a byte).
typedef uint64_t line_t;

// The line that carries `rate_bps` bits per second (not zero).
static inline line_t line_of(uint64_t rate_bps)
{
	return ((UINT64_C(8) * (uint64_t)PS_PER_S << 20) / rate_bps); // 8e12 * 2^20 = 8.4e18 < 2^63
}

// How long `bytes` (below 2^33 at 1 Gb/s and up) occupy the line.
static inline ps_t line_ps(line_t line, uint64_t bytes)
{
	return (ps_t)((bytes * line) >> 20);
}
