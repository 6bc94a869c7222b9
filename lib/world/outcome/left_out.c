// SPDX-License-Identifier: Apache-2.0
// Faults that begin or end in what a sample leaves out. Their times are those of the whole job. Of
// a sample they hold up to the first step that stands for others; from there on it is ahead of the
// job, and what ran knows nothing of a change that comes while the rest of the job would run.

#include "build/build.h"

// Buckets that are left out, or stand for others, came later in the job: nothing holds from here.
static ps_t merged_ps(const struct world *world, const struct outcome_collective *of)
{
	if (world->job.buckets[of->bucket].siblings > 1)
		return of->start_ps;
	return world->plan.sample.buckets > 0 ? 0 : PS_NEVER;
}

// The first time in the run from which on it is ahead of the job. PS_NEVER: all was run.
static ps_t ahead_from(const struct world *world)
{
	ps_t from = PS_NEVER;
	for (uint32_t i = 0; i < world->outcome->collective_count; i++) {
		const struct outcome_collective *of = &world->outcome->collectives[i];
		from = ps_min(from, ps_min(of->window_ps, merged_ps(world, of)));
	}
	return from;
}

// The latest time at which the job may be done with a collective: those before it in its group, and
// those that it stands for, took their whole time.
static ps_t end_ps(const struct world *world, uint32_t index)
{
	const struct outcome_collective *all = world->outcome->collectives, *of = &all[index];
	ps_t end = of->start_ps;
	for (uint32_t i = 0; i <= index; i++) {
		const uint32_t times = world->job.buckets[all[i].bucket].siblings;
		if (all[i].group != of->group)
			continue;
		end += (all[i].whole_ps + all[i].whole_error_ps) * times;
		end -= i < index ? all[i].end_ps - all[i].start_ps : 0;
	}
	return end;
}

void left_out_find(struct world *world)
{
	const struct scenario *scenario = world->scenario;
	const ps_t from = ahead_from(world);
	for (uint32_t i = 0; i < world->outcome->collective_count; i++) {
		struct outcome_collective *of = &world->outcome->collectives[i];
		of->fault_left_out = 0;
		if (from == PS_NEVER || of->whole_ps == 0)
			continue;
		const ps_t seen = of->end_ps -
			(of->window_ps < PS_NEVER ? of->window_ps : of->start_ps);
		uint32_t fault = scenario_fault_between(scenario, from, end_ps(world, i), seen);
		if (fault < scenario->fault_count)
			of->fault_left_out = fault + 1;
	}
}
