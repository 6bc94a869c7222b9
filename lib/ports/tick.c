// SPDX-License-Identifier: Apache-2.0
// How long a tick is.

#include <weft/ports/tick.h>

#include <time.h>

#define GAUGE_NS 20000000

static uint64_t clock_ns(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

#if !defined(__x86_64__)
uint64_t ticks(void)
{
	return clock_ns();
}
#endif

uint64_t ticks_per_s(void)
{
	uint64_t start = ticks(), start_ns = clock_ns(), end_ns;
	while ((end_ns = clock_ns()) < start_ns + GAUGE_NS)
		;
	return (uint64_t)((unsigned __int128)(ticks() - start) * 1000000000u / (end_ns - start_ns));
}
