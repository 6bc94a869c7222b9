// SPDX-License-Identifier: Apache-2.0
// Packets that a fault holds back on a cable, and copies that it makes: what does not arrive in the
// order in which it was sent. They wait beside the cable's list, in order of their arrival. The
// sending end counts how many are under way: so whether there is room does not depend on when the
// receiving end looks.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <weft/core/arena.h>
#include <weft/core/time.h>

#define REORDER_QUEUE_MAX 32 // under way on one cable
#define REORDER_QUEUE_ROOM \
	(2 * REORDER_QUEUE_MAX) // at the receiver, which takes them once in a window

struct reorder_queue_entry {
	ps_t at;
	uint64_t what; // packet, or frame
};

struct reorder_queue {
	// receiving end
	uint32_t count;
	struct reorder_queue_entry
		entries[REORDER_QUEUE_ROOM]; // by time; at equal time as they were sent
	// sending end
	ps_t in_flight[REORDER_QUEUE_MAX] __attribute__((aligned(64))); // arrivals
	uint32_t in_flight_count;
} __attribute__((aligned(64))); // the ends may be two threads'

// Whether one more that is sent at `start` may be under way until `at`; then it is.
bool reorder_queue_send(struct reorder_queue *reorder_queue, ps_t start, ps_t at);

// Puts what was sent so where it belongs.
void reorder_queue_push(struct reorder_queue *reorder_queue, ps_t at, uint64_t what);

// Takes the first one.
uint64_t reorder_queue_pop(struct reorder_queue *reorder_queue);

// When the first one arrives; PS_NEVER: there is none.
static inline ps_t reorder_queue_first_at(const struct reorder_queue *reorder_queue)
{
	return reorder_queue->count > 0 ? reorder_queue->entries[0].at : PS_NEVER;
}
