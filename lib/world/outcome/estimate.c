// SPDX-License-Identifier: Apache-2.0
// Extrapolation of a sampled collective, channel by channel
// (docs/decisions/0027-a-sample-grows-by-the-mean-of-its-ranks.md).
//
// A ring is a chain of waits: a rank starts a step when its neighbour's and its own last one are
// done. The time at which the *mean* rank has a step grows by the same amount in each step once the
// ring is full: each rank sees each hop in turn. The front, the time of the *last* rank, grows
// unevenly, since slow hops (between racks, say) lie apart; it ends the collective. So the steps
// left out add the growth of the mean, and how far the front strays from the mean is an error.
// Where the front moves away from the mean for good (one hop is slow all the time, and holds up
// more ranks with each step) the truth lies between the two: the middle is taken.

#include "build/build.h"

#define PARTS 4u	// of a window
#define LATER_STEPS 16u // of a part, at least: fewer may be even by chance

// When the last rank of a channel had the step in cell `at`, and the mean rank.
static ps_t front_ps(const struct collective_clock *clock, uint64_t at)
{
	check(clock->whole_count[at] == clock->ranks_done);
	return clock->front_ps[at];
}

static ps_t mean_ps(const struct collective_clock *clock, uint64_t at)
{
	check(clock->whole_count[at] == clock->ranks_done);
	return clock->sum_ps[at] / clock->ranks_done;
}

// Steps of a loop that are measured: after the fill, without the last one, in which the ring runs
// empty; that one alone where there is no other.
struct window {
	uint64_t first, end;
};

static struct window window_of(const struct ring_plan *plan, uint64_t fill)
{
	struct window window = {fill > 0 ? fill : 1, plan->steps_per_loop};
	if (window.end > window.first + 1)
		window.end--;
	return window;
}

// By how much the mean grew in each step of the window, which begins in cell `at` of its channel.
// Returns their count.
static uint32_t steps_of(const struct collective_clock *clock, uint64_t at,
			 const struct window *window, ps_t *ret)
{
	uint32_t count = 0;
	for (uint64_t step = window->first; step < window->end; step++)
		ret[count++] = mean_ps(clock, at + step) - mean_ps(clock, at + step - 1);
	return count;
}

// Front less mean.
static ps_t gap_ps(const struct collective_clock *clock, uint64_t at)
{
	return front_ps(clock, at) - mean_ps(clock, at);
}

// How far apart the least and the largest gap lie.
static ps_t gap_range_ps(const struct collective_clock *clock, uint64_t at,
			 const struct window *window)
{
	ps_t least = PS_NEVER, largest = 0;
	for (uint64_t step = window->first - 1; step < window->end; step++) {
		least = ps_min(least, gap_ps(clock, at + step));
		largest = ps_max(largest, gap_ps(clock, at + step));
	}
	return largest - least;
}

// By how much the gap grows in `steps` steps as it grew between the halves of the window.
static ps_t gap_growth_ps(const struct collective_clock *clock, uint64_t at,
			  const struct window *window, uint64_t steps)
{
	uint64_t count = window->end - window->first, half = count / 2;
	ps_t later = 0;
	for (uint64_t i = 0; i < half; i++)
		later += gap_ps(clock, at + window->end - 1 - i) -
			gap_ps(clock, at + window->first + i);
	if (later <= 0)
		return 0;
	return (ps_t)((__int128)later * 2 * steps / (half * count));
}

// What `left_out` steps add, by one window. A third is put on the gap: a window seldom shows all of
// it.
static ps_t added_by_ps(const struct world *world, const struct collective_clock *clock,
			uint64_t at, const struct window *window, uint64_t left_out,
			ps_t *ret_error_ps)
{
	ps_t *step_ps = world->tally->step_ps, error_ps = 0;
	uint32_t count = steps_of(clock, at, window, step_ps);
	ps_t added = sample_extrapolate(0, step_ps, count, left_out, &error_ps);
	ps_t growth = gap_growth_ps(clock, at, window, left_out);
	*ret_error_ps = error_ps + growth / 2 + gap_range_ps(clock, at, window) / 3 * 4;
	return added + growth / 2;
}

// Loops of a channel: where the last one of the plan is of a byte, the later channels do not have
// it.
static uint64_t loops_of(const struct collective_clock *clock, uint32_t channel,
			 const struct ring_plan *plan)
{
	uint64_t at = (uint64_t)channel * clock->steps, loops = plan->loops;
	while (loops > 0 && clock->whole_count[at + loops * plan->steps_per_loop - 1] == 0)
		loops--;
	return loops;
}

// The last front of a channel; 0 where it has no loop.
static ps_t last_ps(const struct collective_clock *clock, uint32_t channel,
		    const struct ring_plan *plan)
{
	uint64_t steps = loops_of(clock, channel, plan) * plan->steps_per_loop;
	return steps > 0 ? front_ps(clock, (uint64_t)channel * clock->steps + steps - 1) : 0;
}

// What the steps left out of all loops add on one channel. A ring that fills more slowly than
// sample.fill says drifts at first: a later part of the window is taken where that halves the
// error.
static ps_t added_ps(const struct world *world, const struct collective_clock *clock,
		     uint32_t channel, const struct ring_plan *plan, ps_t *ret_error_ps)
{
	const struct window all = window_of(plan, world->plan.sample.fill);
	const uint64_t left_out = plan->steps_per_loop_all - plan->steps_per_loop;
	const uint64_t loops = loops_of(clock, channel, plan);
	ps_t added = 0;
	*ret_error_ps = 0;
	for (uint64_t loop = 0; loop < loops; loop++) {
		uint64_t at = (uint64_t)channel * clock->steps + loop * plan->steps_per_loop;
		ps_t error_ps, best_ps = added_by_ps(world, clock, at, &all, left_out, &error_ps);
		for (uint64_t part = 1; part < PARTS; part++) {
			struct window later = all;
			later.first += (all.end - all.first) * part / PARTS;
			ps_t other_ps, by_ps;
			if (later.end - later.first < LATER_STEPS)
				break;
			by_ps = added_by_ps(world, clock, at, &later, left_out, &other_ps);
			if (other_ps < error_ps / 2) { // more than chance
				error_ps = other_ps;
				best_ps = by_ps;
			}
		}
		added += best_ps;
		*ret_error_ps += error_ps;
	}
	return added;
}

// From the last front to the end: ranks wait for the completion of what they sent last, which a
// front does not see.
static ps_t tail_ps(const struct collective_clock *clock, const struct ring_plan *plan, ps_t end_ps)
{
	ps_t last = 0;
	for (uint32_t channel = 0; channel < clock->channels; channel++)
		last = ps_max(last, last_ps(clock, channel, plan));
	check(end_ps >= last);
	return end_ps - last;
}

// When the last step before the window was whole, at the rank that had it last, on the channel that
// was first.
static ps_t window_ps(const struct world *world, const struct collective_clock *clock,
		      const struct ring_plan *plan)
{
	const struct window window = window_of(plan, world->plan.sample.fill);
	ps_t first = PS_NEVER;
	for (uint32_t channel = 0; channel < clock->channels; channel++)
		if (loops_of(clock, channel, plan) > 0)
			first = ps_min(
				first,
				front_ps(clock,
					 (uint64_t)channel * clock->steps + window.first - 1));
	return first;
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
	of->window_ps = window_ps(world, clock, &plan);
	const ps_t tail = tail_ps(clock, &plan, of->end_ps);
	for (uint32_t channel = 0; channel < clock->channels; channel++) {
		ps_t error_ps, last = last_ps(clock, channel, &plan);
		ps_t whole_ps = last + tail - of->start_ps +
			added_ps(world, clock, channel, &plan, &error_ps);
		if (whole_ps > of->whole_ps) {
			of->whole_ps = whole_ps;
			of->whole_error_ps = error_ps;
		}
	}
}
