// SPDX-License-Identifier: Apache-2.0
// What is seen of rings before it is said whether they jump (skip.c): of the lines of this process,
// and of all processes together. Everything is a sum, an extreme, or holds for all.

#include "skip.h"

// ---------------------------------------------------------------- the front

// Whether all ranks of this process have the step that is waited for, and since when.
void skip_see_front(const struct world *world, const struct skip *skip, struct skip_view *ret)
{
	uint64_t step = skip->loop * skip->plan.steps_per_loop + skip->step;
	*ret = (struct skip_view){0};
	for (uint32_t i = 0; i < world->job.group_count; i++) {
		if (skip->bucket >= world->job.groups[i].bucket_count)
			return;
		const struct collective_clock *clock = skip_clock(world, i, skip->bucket);
		if (skip->ranks[i] > 0 && step >= clock->steps)
			return;
		for (uint32_t c = 0; c < clock->channels; c++) {
			uint64_t cell = (uint64_t)c * clock->steps + step;
			if (clock->whole_count[cell] < skip->ranks[i])
				return;
			ret->at = ps_max(ret->at, clock->front_ps[cell]);
		}
	}
	ret->has_front = true;
}

bool skip_begins_block(const struct world *world, const struct skip *skip)
{
	return skip->step + 1 == world->scenario->skip.fill;
}

bool skip_is_in_block(const struct world *world, const struct skip *skip)
{
	return skip->step >= world->scenario->skip.fill && skip->is_alike && !skip->has_jumped;
}

// ---------------------------------------------------------------- the state of all lines

// Adds a line that has come to `at`, and had received *from two blocks before.
static void add_line(const struct skip *skip, const struct ring_place *at, const int64_t *from,
		     struct skip_extent *ret)
{
	uint64_t has = ((uint64_t)at->received + at->slices - 1) / at->slices;
	uint64_t most = at->step > has ? at->step : has;
	ret->step_max = most > ret->step_max ? most : ret->step_max;
	ret->lines.step_slices = at->slices;
	if (from == NULL)
		return;
	uint64_t expected = 2 * (uint64_t)skip->steady.block * at->slices;
	uint64_t gain = (uint64_t)(at->received - *from);
	uint64_t off = gain > expected ? gain - expected : expected - gain;
	ret->lines.gain += gain;
	ret->lines.off_most = off > ret->lines.off_most ? off : ret->lines.off_most;
}

// Looks at all lines. What they have received goes to received[], and is compared with from[], two
// blocks before; NULL: it is not.
static void look_at_lines(const struct world *world, const struct skip *skip, const int64_t *from,
			  int64_t *received, struct skip_extent *ret)
{
	uint64_t index = 0;
	*ret = (struct skip_extent){.is_inside = true, .lines = {.lines = skip->lines}};
	for (uint32_t i = 0; i < world->topology.hosts; i++) {
		const struct world_host *host = world->hosts[i];
		for (uint32_t r = 0; world_has(world, i) && r < host->rank_count; r++) {
			const struct rank *rank = &host->ranks[r];
			for (uint32_t c = 0; c < world->job.ring.channels; c++, index++) {
				struct ring_place at = {0};
				if (rank->bucket != skip->bucket + 1 ||
				    !ring_place(rank->ring, c, &at) || at.loop != skip->loop ||
				    at.received < 0) {
					ret->is_inside = false;
					return;
				}
				add_line(skip, &at, from == NULL ? NULL : &from[index], ret);
				received[index] = at.received;
			}
		}
	}
}

static void see_block(const struct world *world, const struct skip *skip, struct skip_view *ret)
{
	bool ends_second = skip->steady.count + 1 >= 2 * skip->steady.block;
	look_at_lines(world, skip, ends_second ? skip->begin[0] : NULL, skip->now, &ret->extent);
	ret->extent.lines.line_ps = skip_line_ps(world);
	ret->here = skip_span(world, skip->bucket);
	if (!skip->last.is_known)
		return;
	ret->before = skip_span(world, skip->last.bucket);
	ret->is_done = skip_is_done(world, skip, skip->last.bucket);
}

void skip_see(const struct world *world, const struct skip *skip, struct skip_view *ret)
{
	skip_see_front(world, skip, ret);
	if (!ret->has_front)
		return;
	if (skip_begins_block(world, skip)) {
		look_at_lines(world, skip, NULL, skip->now, &ret->extent);
		return;
	}
	if (!skip_is_in_block(world, skip))
		return;
	ret->held = packet_pool_taken(&world->packets);
	ret->ahead = skip_ahead(world, skip);
	if ((skip->steady.count + 1) % skip->steady.block == 0)
		see_block(world, skip, ret);
}

// ---------------------------------------------------------------- all together

static void merge_span(struct skip_span *all, const struct skip_span *more)
{
	all->start = ps_min(all->start, more->start);
	all->end = ps_max(all->end, more->end);
}

static void merge_extent(struct skip_extent *all, const struct skip_extent *more)
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

void skip_merge(struct skip_view *all, const struct skip_view *more)
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
