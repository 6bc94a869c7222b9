// SPDX-License-Identifier: Apache-2.0
// What hosts write down while they run: additions only, so that the order of hosts cannot matter.
#pragma once

#include <stdint.h>

#include <weft/check.h>
#include <weft/world.h>

// Times of one collective (a bucket of a group), over its ranks.
struct collective_clock {
	ps_t start_ps; // earliest start of a rank
	ps_t end_ps;   // latest end of a rank
	uint32_t ranks_done;
	uint32_t steps; // ring steps over all loops, as run
	uint32_t channels;
	ps_t *front_ps;	       // [channels][steps] when the last rank had the step whole
	uint32_t *whole_count; // [channels][steps] ranks that had it
};

// Everything that hosts share. Never read while the world runs, but for work_done by the driver.
struct record {
	struct outcome *outcome;
	uint64_t work_done;
	struct collective_clock *clocks; // [collectives]
	ps_t *step_ps;			 // room for the steps of the longest loop
	uint32_t *clock_of_group;	 // [groups] first clock of a group; its buckets follow
};

// A rank has received step `step` (counted over loops, from 0) whole on one channel.
static inline void record_step(struct collective_clock *clock, uint32_t channel, uint64_t step,
			       ps_t now)
{
	check(channel < clock->channels && step < clock->steps);
	uint64_t at = (uint64_t)channel * clock->steps + step;
	clock->front_ps[at] = ps_max(clock->front_ps[at], now);
	clock->whole_count[at]++;
}
