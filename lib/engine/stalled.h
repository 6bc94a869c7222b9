// SPDX-License-Identifier: Apache-2.0
// What came over a cable to a host that does nothing: it waits in the receive queue of its port, up
// to a limit, and is taken when the host works again. Packets, or frames.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <weft/core/fifo.h>
#include <weft/world/world.h>

struct stalled {
	const struct cable_fault *faults; // of the cable
	uint32_t fault_count;
	uint32_t packets_max;
	struct fifo fifo;
	ps_t until; // of what waits: when the host takes it
};

enum stalled_answer {
	STALLED_NOT,  // the host works: it takes it
	STALLED_WAIT, // it waits now
	STALLED_FULL, // there is no room: it is lost
};

void stalled_init(struct stalled *stalled, const struct cable_fault *faults, uint32_t count);

// What becomes of something that comes at `at`, after all that came before was taken.
enum stalled_answer stalled_put(struct stalled *stalled, struct fifo_pool *chunks, ps_t at,
				uint64_t what);

// Whether something that waits is taken at or before `at`, and before `end`.
static inline bool stalled_is_due(const struct stalled *stalled, ps_t at, ps_t end)
{
	return stalled->fifo.count > 0 && stalled->until <= at && stalled->until < end;
}
