// SPDX-License-Identifier: Apache-2.0
// Where check() and check_memory() end: the message and the exit. The driver tells it the run's
// seed and the virtual time it has reached.

#include "stop.h"

#include <stdio.h>
#include <stdlib.h>

#include <weft/core/check.h>
#include <weft/core/check_memory.h>

static struct stop_place place;

void stop_place_set(const struct stop_place *where)
{
	place = *where;
}

void check_failed(const char *file, int line, const char *condition)
{
	fprintf(stderr, "weft: bug: %s:%d: check(%s) failed, seed %llu, virtual time %lld ps\n",
		file, line, condition, (unsigned long long)place.seed,
		place.now_ps == NULL ? -1LL : (long long)*place.now_ps);
	exit(70);
}

void check_memory_failed(void)
{
	fputs("weft: not enough memory\n", stderr);
	exit(3);
}
