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

#define LATE_MAX 32		 // under way on one cable
#define LATE_ROOM (2 * LATE_MAX) // at the receiver, which takes them once in a window

struct late_entry {
	ps_t at;
	uint64_t what; // packet, or frame
};

struct late {
	// receiving end
	uint32_t count;
	struct late_entry entries[LATE_ROOM]; // by time; at equal time as they were sent
	// sending end
	ps_t under_way[LATE_MAX] __attribute__((aligned(64))); // arrivals
	uint32_t under_way_count;
} __attribute__((aligned(64))); // the ends may be two threads'

// Whether one more that is sent at `start` may be under way until `at`; then it is.
bool late_send(struct late *late, ps_t start, ps_t at);

// Puts what was sent so where it belongs.
void late_push(struct late *late, ps_t at, uint64_t what);

// Takes the first one.
uint64_t late_pop(struct late *late);

// When the first one arrives; PS_NEVER: there is none.
static inline ps_t late_first_at(const struct late *late)
{
	return late->count > 0 ? late->entries[0].at : PS_NEVER;
}
