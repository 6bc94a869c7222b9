// SPDX-License-Identifier: Apache-2.0
// How long a tick is.

#include <weft/files/clock.h>
#include <weft/ports/tick.h>

#include <time.h>

#define GAUGE_NS 20000000

#if !defined(__x86_64__)
uint64_t ticks(void)
{
	return (uint64_t)clock_ns(CLOCK_MONOTONIC);
}
#endif

uint64_t ticks_per_s(void)
{
	uint64_t start = ticks(), start_ns = (uint64_t)clock_ns(CLOCK_MONOTONIC), end_ns;
	while ((end_ns = (uint64_t)clock_ns(CLOCK_MONOTONIC)) < start_ns + GAUGE_NS)
		;
	return (uint64_t)((unsigned __int128)(ticks() - start) * 1000000000u / (end_ns - start_ns));
}
