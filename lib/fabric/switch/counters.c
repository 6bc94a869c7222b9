// SPDX-License-Identifier: Apache-2.0
// What switches count, added up.

#include <weft/fabric/fabric_counters.h>

static uint64_t larger(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

void fabric_counters_add(struct fabric_counters *sum, const struct fabric_counters *more)
{
	static_assert(sizeof(*sum) % sizeof(uint64_t) == 0, "words only");
	const struct fabric_counters was = *sum;
	uint64_t *to = (uint64_t *)sum;
	const uint64_t *from = (const uint64_t *)more;
	for (size_t i = 0; i < sizeof(*sum) / sizeof(uint64_t); i++)
		to[i] += from[i];
	sum->queue_bytes_max = larger(was.queue_bytes_max, more->queue_bytes_max);
	sum->buffer_bytes_max = larger(was.buffer_bytes_max, more->buffer_bytes_max);
	sum->pause.headroom_bytes_max = larger(was.pause.headroom_bytes_max,
					       more->pause.headroom_bytes_max);
}
