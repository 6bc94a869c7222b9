// SPDX-License-Identifier: Apache-2.0
// Extrapolation of a sampled collective, channel by channel.
//
// What is measured per step is the front: the time at which the last rank had the step. The mean
// over ranks would be steadier but wrong: a ring is a chain of waits (each step starts when the
// neighbour's and the own last one are done), so ranks drift apart while it runs, and the
// collective ends with the last of them.

#include "estimate.h"

// When the last rank of a channel had step `step` whole.
static ps_t front_ps(const struct collective_clock *clock, uint32_t channel, uint64_t step)
{
	uint64_t at = (uint64_t)channel * clock->steps + step;
	check(clock->whole_count[at] == clock->ranks_done);
	return clock->front_ps[at];
}

// Times per step after the fill of the loop that begins at step `first`. Returns how many were
// written.
static uint32_t loop_steps(const struct collective_clock *clock, uint32_t channel, uint64_t first,
			   uint64_t fill, const struct ring_plan *plan, ps_t *ret)
{
	uint32_t count = 0;
	for (uint64_t step = fill > 0 ? fill : 1; step < plan->steps_per_loop; step++)
		ret[count++] = front_ps(clock, channel, first + step) -
			front_ps(clock, channel, first + step - 1);
	return count;
}

// What the steps left out of all loops add on one channel.
static ps_t added_ps(const struct world *world, const struct collective_clock *clock,
		     uint32_t channel, const struct ring_plan *plan, ps_t *ret_error_ps)
{
	ps_t *step_ps = world->tally->step_ps, added = 0;
	*ret_error_ps = 0;
	for (uint64_t loop = 0; loop < plan->loops; loop++) {
		ps_t error_ps = 0;
		uint32_t count = loop_steps(clock, channel, loop * plan->steps_per_loop,
					    world->plan.sample.fill, plan, step_ps);
		added += sample_extrapolate(0, step_ps, count,
					    plan->steps_per_loop_all - plan->steps_per_loop,
					    &error_ps);
		*ret_error_ps += error_ps;
	}
	return added;
}

void estimate_whole(const struct world *world, const struct collective_clock *clock,
		    struct outcome_collective *of)
{
	const struct bucket *bucket = &world->job.buckets[of->bucket];
	struct ring_plan plan;
	struct ring_config ring = world->job.ring;
	ring.ranks = world->job.groups[of->group].ranks;
	ring_plan(&plan, &ring, bucket->kind, bucket->bytes);
	of->whole_ps = of->end_ps - of->start_ps;
	of->whole_error_ps = clock->error_ps;
	of->steps_skipped = clock->steps_skipped / plan.loops;
	if (plan.steps_per_loop == plan.steps_per_loop_all)
		return;
	for (uint32_t channel = 0; channel < clock->channels; channel++) {
		ps_t error_ps;
		ps_t whole_ps = front_ps(clock, channel, clock->steps - 1) - of->start_ps +
			added_ps(world, clock, channel, &plan, &error_ps);
		if (whole_ps > of->whole_ps) {
			of->whole_ps = whole_ps;
			of->whole_error_ps = error_ps;
		}
	}
}
