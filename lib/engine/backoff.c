// SPDX-License-Identifier: Apache-2.0
// Waiting for another rank.

#include "backoff.h"

#include <sched.h>
#include <stdio.h>
#include <time.h>

#include <weft/files/clock.h>
#include <weft/ports/pace.h>

#define SPIN_TRIES 2000 // some 20 us: shorter than a switch to another process and back
#define LOOK_TRIES 4096 // tries between two looks at the clock
#define LOST_S 2.0
#define EXIT_PEER_LOST 4

void backoff_take(struct backoff *backoff, struct ranks *ranks)
{
	if (backoff->tries == 0)
		backoff->cpu_s = clock_s(CLOCK_PROCESS_CPUTIME_ID);
	if (backoff->tries++ < SPIN_TRIES) {
		pace_relax();
		return;
	}
	sched_yield();
	if (backoff->tries % LOOK_TRIES != 0 || ranks->stop == NULL || *ranks->stop == 0)
		return;
	if (backoff->asked_s == 0)
		backoff->asked_s = clock_s(CLOCK_MONOTONIC);
	if (clock_s(CLOCK_MONOTONIC) - backoff->asked_s < LOST_S)
		return;
	fprintf(stderr, "weft: rank %u was asked to stop, and another rank does not answer\n",
		ranks->index);
	ranks->ops->give_up(ranks, EXIT_PEER_LOST);
}

void backoff_end(const struct backoff *backoff, struct ranks *ranks)
{
	if (backoff->tries > 0)
		ranks->waited_cpu_s += clock_s(CLOCK_PROCESS_CPUTIME_ID) - backoff->cpu_s;
}
