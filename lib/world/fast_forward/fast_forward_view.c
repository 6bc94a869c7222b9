// SPDX-License-Identifier: Apache-2.0
// What is seen of rings before it is said whether they jump (fast_forward.c): of the lines of this
// process, and of all processes together. Everything is a sum, an extreme, or holds for all.

#include "fast_forward.h"

// ---------------------------------------------------------------- the front

// Whether all ranks of this process have the step that is waited for, and since when.
void fast_forward_see_front(const struct world *world, const struct fast_forward *fast_forward,
			    struct fast_forward_view *ret)
{
	uint64_t step = fast_forward->loop * fast_forward->plan.steps_per_loop + fast_forward->step;
	*ret = (struct fast_forward_view){0};
	for (uint32_t i = 0; i < world->job.group_count; i++) {
		if (fast_forward->bucket >= world->job.groups[i].bucket_count)
			return;
		const struct collective_clock *clock = fast_forward_clock(world, i,
									  fast_forward->bucket);
		if (fast_forward->ranks[i] > 0 && step >= clock->steps)
			return;
		for (uint32_t c = 0; c < clock->channels; c++) {
			uint64_t cell = (uint64_t)c * clock->steps + step;
			if (clock->whole_count[cell] < fast_forward->ranks[i])
				return;
			ret->at = ps_max(ret->at, clock->front_ps[cell]);
		}
	}
	ret->has_front = true;
}

bool fast_forward_begins_block(const struct world *world, const struct fast_forward *fast_forward)
{
	return fast_forward->step + 1 == world->scenario->fast_forward.fill;
}

bool fast_forward_is_in_block(const struct world *world, const struct fast_forward *fast_forward)
{
	return fast_forward->step >= world->scenario->fast_forward.fill && fast_forward->is_alike &&
		!fast_forward->has_jumped;
}

// ---------------------------------------------------------------- the state of all lines

// Adds a line that has come to `at`, and had received *from two blocks before.
static void add_line(const struct fast_forward *fast_forward, const struct ring_place *at,
		     const int64_t *from, struct fast_forward_extent *ret)
{
	uint64_t has = ((uint64_t)at->received + at->slices - 1) / at->slices;
	uint64_t most = at->step > has ? at->step : has;
	ret->step_max = most > ret->step_max ? most : ret->step_max;
	ret->lines.step_slices = at->slices;
	if (from == NULL)
		return;
	uint64_t expected = 2 * (uint64_t)fast_forward->steady.block * at->slices;
	uint64_t gain = (uint64_t)(at->received - *from);
	uint64_t off = gain > expected ? gain - expected : expected - gain;
	ret->lines.gain += gain;
	ret->lines.off_most = off > ret->lines.off_most ? off : ret->lines.off_most;
}

// Looks at all lines. What they have received goes to received[], and is compared with from[], two
// blocks before; NULL: it is not.
static void look_at_lines(const struct world *world, const struct fast_forward *fast_forward,
			  const int64_t *from, int64_t *received, struct fast_forward_extent *ret)
{
	uint64_t index = 0;
	*ret = (struct fast_forward_extent){.is_inside = true,
					    .lines = {.lines = fast_forward->lines}};
	for (uint32_t i = 0; i < world->topology.hosts; i++) {
		const struct world_host *host = world->hosts[i];
		for (uint32_t r = 0; world_has(world, i) && r < host->rank_count; r++) {
			const struct rank *rank = &host->ranks[r];
			for (uint32_t c = 0; c < world->job.ring.channels; c++, index++) {
				struct ring_place at = {0};
				if (rank->bucket != fast_forward->bucket + 1 ||
				    !ring_place(rank->ring, c, &at) ||
				    at.loop != fast_forward->loop || at.received < 0) {
					ret->is_inside = false;
					return;
				}
				add_line(fast_forward, &at, from == NULL ? NULL : &from[index],
					 ret);
				received[index] = at.received;
			}
		}
	}
}

static void see_block(const struct world *world, const struct fast_forward *fast_forward,
		      struct fast_forward_view *ret)
{
	bool ends_second = fast_forward->steady.count + 1 >= 2 * fast_forward->steady.block;
	look_at_lines(world, fast_forward, ends_second ? fast_forward->begin[0] : NULL,
		      fast_forward->now, &ret->extent);
	ret->extent.lines.line_ps = fast_forward_line_ps(world);
	ret->here = fast_forward_span(world, fast_forward->bucket);
	if (!fast_forward->last.is_known)
		return;
	ret->before = fast_forward_span(world, fast_forward->last.bucket);
	ret->is_done = fast_forward_is_done(world, fast_forward, fast_forward->last.bucket);
}

void fast_forward_see(const struct world *world, const struct fast_forward *fast_forward,
		      struct fast_forward_view *ret)
{
	fast_forward_see_front(world, fast_forward, ret);
	if (!ret->has_front)
		return;
	if (fast_forward_begins_block(world, fast_forward)) {
		look_at_lines(world, fast_forward, NULL, fast_forward->now, &ret->extent);
		return;
	}
	if (!fast_forward_is_in_block(world, fast_forward))
		return;
	ret->held = packet_pool_taken(&world->packets);
	ret->ahead = fast_forward_ahead(world, fast_forward);
	if ((fast_forward->steady.count + 1) % fast_forward->steady.block == 0)
		see_block(world, fast_forward, ret);
}

// ---------------------------------------------------------------- all together

static void merge_span(struct fast_forward_span *all, const struct fast_forward_span *more)
{
	all->start = ps_min(all->start, more->start);
	all->end = ps_max(all->end, more->end);
}

static void merge_extent(struct fast_forward_extent *all, const struct fast_forward_extent *more)
{
	struct steady_lines *lines = &all->lines;
	all->is_inside &= more->is_inside;
	all->step_max = more->step_max > all->step_max ? more->step_max : all->step_max;
	if (more->lines.step_slices > 0) // that of the last line
		lines->step_slices = more->lines.step_slices;
	lines->gain += more->lines.gain;
	if (more->lines.off_most > lines->off_most)
		lines->off_most = more->lines.off_most;
	lines->line_ps = ps_max(lines->line_ps, more->lines.line_ps);
}

void fast_forward_merge(struct fast_forward_view *all, const struct fast_forward_view *more)
{
	all->has_front &= more->has_front;
	all->at = ps_max(all->at, more->at);
	all->held += more->held;
	all->ahead += more->ahead;
	all->is_done &= more->is_done;
	merge_extent(&all->extent, &more->extent);
	merge_span(&all->before, &more->before);
	merge_span(&all->here, &more->here);
}
