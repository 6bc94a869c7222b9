// SPDX-License-Identifier: Apache-2.0
// What a machine reads of its cables lies all over memory, and each step to it needs the one
// before. So it is brought into the cache step by step, while the machines before it run.
//
// These functions have no effect that the compiler knows of, and gcc leaves out calls of such: they
// are inlined always.
#pragma once

#include <weft/core/bitmap.h>

#include "lane.h"

#define MACHINE_NONE UINT32_MAX

enum prefetch_step {
	PREFETCH_WAITING,		 // which of its cables hold packets
	PREFETCH_CABLES,		 // these cables
	PREFETCH_CHUNKS,		 // their oldest packets' numbers
	PREFETCH_MORE_CHUNKS,		 // the chunks behind those
	PREFETCH_STEPS = MACHINE_FETCHES // meanwhile machines have their own, and one more
};

#define PREFETCH_PACKETS 16384 // 1 MiB of them

static inline __attribute__((always_inline)) void
prefetch_cable(const struct lane *lane, const struct cable *cable, enum prefetch_step step)
{
	if (step == PREFETCH_CABLES)
		__builtin_prefetch(cable, 1);
	else if (step == PREFETCH_CHUNKS)
		fifo_fetch(&cable->fifo, lane->out.chunks);
	else
		fifo_fetch_next(&cable->fifo, lane->out.chunks);
}

// Does one step for machine `m`, for which those before were done a while ago.
static inline __attribute__((always_inline)) void prefetch_step(const struct lane *lane, uint32_t m,
								enum prefetch_step step)
{
	if (m == MACHINE_NONE)
		return;
	const struct machine *machine = &lane->world->machines[m];
	const struct cable *cables = lane->cables.cables + lane->cables.base[m];
	const uint64_t *waiting = lane->cables.waiting[m];
	if (machine->fetch != NULL)
		machine->fetch(machine->self, waiting, step);
	if (step == PREFETCH_WAITING)
		__builtin_prefetch(waiting);
	if (step == PREFETCH_WAITING || step == PREFETCH_STEPS - 1)
		return;
	for (uint32_t word = 0; word < BITMAP_WORDS(machine->port_count); word++) {
		for (uint64_t rest = waiting[word]; rest != 0; rest &= rest - 1) {
			uint32_t port = (word << 6) + (uint32_t)__builtin_ctzll(rest);
			prefetch_cable(lane, &cables[port], step);
		}
	}
}

// Does a step for each of the machines that run after the present one: the last one for the first.
static inline __attribute__((always_inline)) void
prefetch_next(const struct lane *lane, const uint32_t machines[PREFETCH_STEPS])
{
	prefetch_step(lane, machines[4], PREFETCH_WAITING);
	prefetch_step(lane, machines[3], PREFETCH_CABLES);
	prefetch_step(lane, machines[2], PREFETCH_CHUNKS);
	prefetch_step(lane, machines[1], PREFETCH_MORE_CHUNKS);
	prefetch_step(lane, machines[0], PREFETCH_STEPS - 1);
}

// Whether it pays: packets, and what belongs to them, are more than a core's cache has room for.
static inline bool prefetch_pays(const struct lane *lane)
{
	return lane->out.packets->fresh > PREFETCH_PACKETS;
}
