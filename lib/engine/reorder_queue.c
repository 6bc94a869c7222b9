// SPDX-License-Identifier: Apache-2.0
// Two short arrays for each cable that needs them; the faults that fill them are rare.

#include "reorder_queue.h"

#include <string.h>

#include <weft/core/check.h>

bool reorder_queue_send(struct reorder_queue *reorder_queue, ps_t start, ps_t at)
{
	uint32_t kept = 0;
	for (uint32_t i = 0; i < reorder_queue->in_flight_count; i++)
		if (reorder_queue->in_flight[i] > start)
			reorder_queue->in_flight[kept++] = reorder_queue->in_flight[i];
	reorder_queue->in_flight_count = kept;
	if (kept == REORDER_QUEUE_MAX)
		return false;
	reorder_queue->in_flight[reorder_queue->in_flight_count++] = at;
	return true;
}

void reorder_queue_push(struct reorder_queue *reorder_queue, ps_t at, uint64_t what)
{
	check(reorder_queue->count <
	      REORDER_QUEUE_ROOM); // half of them the sender let go by a window ago
	uint32_t place = reorder_queue->count++;
	for (; place > 0 && reorder_queue->entries[place - 1].at > at; place--)
		reorder_queue->entries[place] = reorder_queue->entries[place - 1];
	reorder_queue->entries[place] = (struct reorder_queue_entry){at, what};
}

uint64_t reorder_queue_pop(struct reorder_queue *reorder_queue)
{
	check(reorder_queue->count > 0);
	uint64_t what = reorder_queue->entries[0].what;
	reorder_queue->count--;
	memmove(reorder_queue->entries, reorder_queue->entries + 1,
		reorder_queue->count * sizeof(*reorder_queue->entries));
	return what;
}
