// SPDX-License-Identifier: Apache-2.0
// What hosts write down while they run: additions only, so that the order of hosts cannot matter.
#pragma once

#include <stdint.h>

#include <weft/world.h>

// Times of one collective (a bucket of a group), summed over its ranks.
struct collective_clock {
	ps_t start_ps; // earliest start of a rank
	ps_t end_ps;   // latest end of a rank
	uint32_t ranks_done;
	uint32_t steps;	      // length of the arrays: ring steps over all loops, as run
	int64_t *step_sum_ps; // [steps] times at which a rank's channel had the step whole,
			      // relative to origin_ps
	uint32_t *step_count; // [steps] how many
	ps_t origin_ps;	      // the bucket's release: keeps the sums small
};

// Everything that hosts share. Never read while the world runs, but for work_done by the driver.
struct record {
	struct outcome *outcome;
	uint64_t work_done;
	struct collective_clock *clocks; // [collectives]
	uint32_t *clock_of_group;	 // [groups] first clock of a group; its buckets follow
};

// A rank has received step `step` (counted over loops, from 0) on one channel.
static inline void record_step(struct collective_clock *clock, uint64_t step, ps_t now)
{
	if (step < clock->steps) {
		clock->step_sum_ps[step] += now - clock->origin_ps;
		clock->step_count[step]++;
	}
}
