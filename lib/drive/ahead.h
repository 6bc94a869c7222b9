// SPDX-License-Identifier: Apache-2.0
// What a machine reads of its cables lies all over memory, and each step to it needs the one
// before. So it is brought into the cache step by step, while the machines before it run.
//
// These functions have no effect that the compiler knows of, and gcc leaves out calls of such: they
// are inlined always.
#pragma once

#include <weft/bitmap.h>

#include "lane.h"

#define MACHINE_NONE UINT32_MAX

enum ahead_step {
	AHEAD_MACHINE,	   // the machine, and which of its cables hold packets
	AHEAD_CABLES,	   // these cables
	AHEAD_CHUNKS,	   // their oldest packets' numbers
	AHEAD_MORE_CHUNKS, // the chunks behind those
	AHEAD_STEPS
};

static inline __attribute__((always_inline)) void
ahead_cable(const struct lane *lane, const struct cable *cable, enum ahead_step step)
{
	if (step == AHEAD_CABLES)
		__builtin_prefetch(cable, 1);
	else if (step == AHEAD_CHUNKS)
		fifo_fetch(&cable->fifo, lane->out.chunks);
	else
		fifo_fetch_next(&cable->fifo, lane->out.chunks);
}

// Does one step for machine `m`, for which those before were done a while ago.
static inline __attribute__((always_inline)) void ahead_fetch(const struct lane *lane, uint32_t m,
							      enum ahead_step step)
{
	if (m == MACHINE_NONE)
		return;
	const struct machine *machine = &lane->world->machines[m];
	const struct cable *cables = lane->cables.cables + lane->cables.base[m];
	const uint64_t *waiting = lane->cables.waiting[m];
	if (step == AHEAD_MACHINE) {
		__builtin_prefetch(waiting);
		__builtin_prefetch(machine->self);
		return;
	}
	for (uint32_t word = 0; word < BITMAP_WORDS(machine->port_count); word++) {
		for (uint64_t rest = waiting[word]; rest != 0; rest &= rest - 1) {
			uint32_t port = (word << 6) + (uint32_t)__builtin_ctzll(rest);
			ahead_cable(lane, &cables[port], step);
		}
	}
}
