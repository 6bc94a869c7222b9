// SPDX-License-Identifier: Apache-2.0
// Yields and sleeps. See loop.h.

#include "loop.h"

#include <sched.h>
#include <sys/prctl.h>
#include <time.h>
#include <weft/files/clock.h>

#define STEP_NS 1000
#define SLACK_NS \
	1000UL // by which the kernel may be late on purpose; it takes 50 us unless asked for less
#define TRIES 8

// Returns how long it was.
static int64_t sleep_for(int64_t ns)
{
	int64_t start_ns = clock_ns(CLOCK_MONOTONIC);
	const struct timespec time = {.tv_nsec = ns};
	nanosleep(&time, NULL); // a signal ends it, and the loop looks at those
	return clock_ns(CLOCK_MONOTONIC) - start_ns;
}

void rest_init(struct rest *ret, bool owns_core, int64_t most_ns)
{
	*ret = (struct rest){.owns_core = owns_core, .most_ns = most_ns, .least_ns = INT64_MAX};
	if (owns_core)
		return;
	prctl(PR_SET_TIMERSLACK, SLACK_NS, 0, 0, 0);
	for (int i = 0; i < TRIES; i++) {
		int64_t took_ns = sleep_for(STEP_NS);
		if (took_ns < ret->least_ns)
			ret->least_ns = took_ns;
	}
}

void rest_take(struct rest *rest, int64_t idle_ns)
{
	if (rest->owns_core)
		return;
	if (rest->allowed_ns < rest->most_ns)
		rest->allowed_ns += STEP_NS;
	int64_t ns = rest->allowed_ns < idle_ns ? rest->allowed_ns : idle_ns;
	if (ns < rest->least_ns) { // it would be twice as long, or more
		rest->yields++;
		sched_yield();
		return;
	}
	rest->sleeps++;
	rest->asleep_ns += sleep_for(ns);
}
