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

enum ahead_step {
	AHEAD_WAITING,		      // which of its cables hold packets
	AHEAD_CABLES,		      // these cables
	AHEAD_CHUNKS,		      // their oldest packets' numbers
	AHEAD_MORE_CHUNKS,	      // the chunks behind those
	AHEAD_STEPS = MACHINE_FETCHES // meanwhile machines have their own, and one more
};

#define AHEAD_PACKETS 16384 // 1 MiB of them

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
static inline __attribute__((always_inline)) void ahead_step(const struct lane *lane, uint32_t m,
							     enum ahead_step step)
{
	if (m == MACHINE_NONE)
		return;
	const struct machine *machine = &lane->world->machines[m];
	const struct cable *cables = lane->cables.cables + lane->cables.base[m];
	const uint64_t *waiting = lane->cables.waiting[m];
	if (machine->fetch != NULL)
		machine->fetch(machine->self, waiting, step);
	if (step == AHEAD_WAITING)
		__builtin_prefetch(waiting);
	if (step == AHEAD_WAITING || step == AHEAD_STEPS - 1)
		return;
	for (uint32_t word = 0; word < BITMAP_WORDS(machine->port_count); word++) {
		for (uint64_t rest = waiting[word]; rest != 0; rest &= rest - 1) {
			uint32_t port = (word << 6) + (uint32_t)__builtin_ctzll(rest);
			ahead_cable(lane, &cables[port], step);
		}
	}
}

// Does a step for each of the machines that run after the present one: the last one for the first.
static inline __attribute__((always_inline)) void ahead_fetch(const struct lane *lane,
							      const uint32_t machines[AHEAD_STEPS])
{
	ahead_step(lane, machines[4], AHEAD_WAITING);
	ahead_step(lane, machines[3], AHEAD_CABLES);
	ahead_step(lane, machines[2], AHEAD_CHUNKS);
	ahead_step(lane, machines[1], AHEAD_MORE_CHUNKS);
	ahead_step(lane, machines[0], AHEAD_STEPS - 1);
}

// Whether it pays: packets, and what belongs to them, are more than a core's cache has room for.
static inline bool ahead_pays(const struct lane *lane)
{
	return lane->out.packets->fresh > AHEAD_PACKETS;
}
