// SPDX-License-Identifier: Apache-2.0
// Clocks of the system: CLOCK_MONOTONIC for what lasts, CLOCK_PROCESS_CPUTIME_ID for what it costs.
#pragma once

#include <stdint.h>
#include <time.h>

static inline int64_t clock_ns(clockid_t clock)
{
	struct timespec now;
	clock_gettime(clock, &now);
	return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

static inline int64_t clock_ms(clockid_t clock)
{
	return clock_ns(clock) / 1000000;
}

static inline double clock_s(clockid_t clock)
{
	return (double)clock_ns(clock) * 1e-9;
}
