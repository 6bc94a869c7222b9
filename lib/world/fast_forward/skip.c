// SPDX-License-Identifier: Apache-2.0
// Jumping over steps of rings: watches fronts (the last rank has a step whole), and when two blocks
// of steps were alike takes all lines so many steps further at once.
//
// Machines are not told. Their clocks, their timers, and what lies on cables stay as they are: a
// steady state is the same at both ends of a jump. What follows from the place in the job (how many
// steps are left, when the next bucket is released) is kept by rings and ranks, and moves.

#include "skip.h"

#include <errno.h>
#include <string.h>

#include <weft/core/check.h>
#include <weft/world/world_signal.h>

#include "build/build.h"

#define PPB_PER_PPM 1000u

static const char *const names[] = {"pace",  "jitter", "apart",	 "queues",
				    "slack", "fault",  "unlike", "short"};
_Static_assert(sizeof(names) / sizeof(*names) == SKIP_REFUSAL_COUNT, "a name for each refusal");

const char *skip_refusal_name(enum skip_refusal refusal)
{
	check((unsigned)refusal < SKIP_REFUSAL_COUNT);
	return names[refusal];
}

ps_t world_skipped_ps(const struct world *world)
{
	return world->skipped == NULL ? 0 : world->skipped->time_ps;
}

struct record *skip_record(const struct world *world)
{
	return world->records[world->shard_count > 1 ? world->own_shard : 0];
}

struct collective_clock *skip_clock(const struct world *world, uint32_t group, uint32_t bucket)
{
	const struct record *record = skip_record(world);
	return &record->clocks[record->clock_of_group[group] + bucket];
}

// ---------------------------------------------------------------- building

static bool is_same(const struct bucket *a, const struct bucket *b)
{
	return a->kind == b->kind && a->bytes == b->bytes && a->release_ps == b->release_ps;
}

// Whether collective `bucket` is the same in all groups.
static bool is_alike(const struct world *world, uint32_t bucket)
{
	const struct job *job = &world->job;
	const struct group *first = &job->groups[0];
	for (uint32_t i = 1; i < job->group_count; i++) {
		const struct group *group = &job->groups[i];
		if (group->ranks != first->ranks || group->bucket_count != first->bucket_count ||
		    !is_same(&job->buckets[group->bucket_first + bucket],
			     &job->buckets[first->bucket_first + bucket]))
			return false;
	}
	return true;
}

static void begin_loop(struct skip *skip)
{
	skip->step = 0;
	skip->has_jumped = false;
}

static void begin_bucket(const struct world *world, struct skip *skip)
{
	const struct group *group = &world->job.groups[0];
	skip->loop = 0;
	skip->pace_ps = 0;
	begin_loop(skip);
	if (skip->bucket == group->bucket_count)
		return;
	const struct bucket *bucket = &world->job.buckets[group->bucket_first + skip->bucket];
	struct ring_config ring = world->job.ring;
	ring.ranks = group->ranks;
	ring_plan(&skip->plan, &ring, bucket->kind, bucket->bytes);
	skip->is_alike = is_alike(world, skip->bucket);
}

static int draw(const struct world *world, struct skip *skip)
{
	int64_t **const of_lines[] = {&skip->begin[0], &skip->begin[1], &skip->now};
	const struct job *job = &world->job;
	for (int i = 0; i < 3; i++) {
		*of_lines[i] = arena_draw(world->arena, ARENA_WORLD, skip->lines, sizeof(int64_t));
		if (*of_lines[i] == NULL)
			return -ENOMEM;
	}
	skip->ranks = arena_draw(world->arena, ARENA_WORLD, job->group_count, sizeof(uint32_t));
	if (skip->ranks == NULL)
		return -ENOMEM;
	for (uint32_t i = 0; i < job->group_count; i++)
		for (uint32_t at = 0; at < job->groups[i].ranks; at++)
			skip->ranks[i] += world_has(
				world, job->groups[i].gpus[at] / world->fabric.nics_per_host);
	return 0;
}

int skip_build(struct world *world, struct refusal *refusal)
{
	const struct skip_config *config = &world->scenario->skip;
	uint32_t lines = 0;
	if (!config->is_on)
		return 0;
	if (world->shard_count > 1 && world->own_shard == WORLD_EVERY_SHARD)
		return refuse(refusal, -EINVAL, "skip.steady needs a run in one thread");
	if (world->scenario->sample.steps > 0)
		return refuse(refusal, -EINVAL,
			      "skip.steady: sample.steps leaves out steps, too; one of both");
	if (world->program != NULL)
		return refuse(refusal, -EINVAL,
			      "skip.steady does not go with a program: its computations do not "
			      "repeat with the rings");
	if (world->flow_count > 0)
		return refuse(refusal, -EINVAL,
			      "skip.steady does not go with traffic.beside: its messages are no "
			      "steps that repeat");
	for (uint32_t i = 0; i < world->topology.hosts; i++)
		lines += world->hosts[i]->rank_count * world->job.ring.channels;
	struct skip *skip = arena_draw(world->arena, ARENA_WORLD, 1, sizeof(*skip));
	if (skip == NULL)
		return build_no_memory(world, refusal);
	*skip = (struct skip){.lines = lines};
	if (draw(world, skip) < 0)
		return build_no_memory(world, refusal);
	steady_init(&skip->steady, config->block, config->tolerance_ppb / PPB_PER_PPM);
	begin_bucket(world, skip);
	world->skipped = &skip->of;
	return 0;
}

// ---------------------------------------------------------------- whether to jump

// Steps that can be left out, so that a block's worth of them is still run behind.
static uint64_t steps_to_leave(const struct skip *skip, const struct skip_extent *extent)
{
	uint64_t last = skip->plan.steps_per_loop - 1, kept = skip->steady.block / 2 + 1;
	return extent->step_max + kept < last ? last - kept - extent->step_max : 0;
}

// Faults are ahead until they are over, and routes are back.
static bool has_fault_ahead(const struct world *world, ps_t now)
{
	const struct reroute_config *reroute = &world->fabric.reroute;
	ps_t back_ps = ps_max(reroute->local_ps, reroute->remote_ps);
	for (uint32_t i = 0; i < world->scenario->fault_count; i++)
		if (world->scenario->faults[i].until_ps > now - back_ps)
			return true;
	return false;
}

// ---------------------------------------------------------------- the jump

// What the line would have sent over the fabric in `steps` steps.
static void account(const struct world *world, struct skip *skip, const struct world_host *host,
		    const struct rank *rank, uint32_t channel, uint64_t steps)
{
	struct ring_place at;
	check(ring_place(rank->ring, channel, &at));
	uint64_t payload = world->transport.payload_bytes;
	if (!rank->to[channel].is_local) {
		skip->of.packets += steps * ring_step_packets(rank->ring, channel, payload);
		skip->of.payload_bytes += steps * at.step_bytes;
	}
	if (skip_has_credits(world) && !rank->from[channel].is_local) { // one for each slice
		skip->of.packets += steps * at.slices;
		skip->of.payload_bytes += steps * at.slices * host->grant_bytes;
	}
}

static void move_lines(struct world *world, struct skip *skip, uint64_t steps)
{
	for (uint32_t i = 0; i < world->topology.hosts; i++) {
		struct world_host *host = world->hosts[i];
		for (uint32_t r = 0; world_has(world, i) && r < host->rank_count; r++) {
			struct rank *rank = &host->ranks[r];
			for (uint32_t c = 0; c < world->job.ring.channels; c++) {
				account(world, skip, host, rank, c, steps);
				ring_skip(rank->ring, c, steps);
				rank->steps_seen[c] += steps;
			}
		}
	}
}

// Steps behind the front that some ranks have whole are now those behind the jump.
static void move_clock(const struct skip *skip, struct collective_clock *clock, uint64_t step_max)
{
	uint64_t base = skip->loop * skip->plan.steps_per_loop, steps = skip->jump.steps;
	for (uint32_t c = 0; c < clock->channels; c++) {
		uint64_t first = (uint64_t)c * clock->steps + base;
		for (uint64_t step = step_max + 1; step > skip->step; step--) {
			uint64_t to = first + step + steps, from = first + step;
			clock->whole_count[to] = clock->whole_count[from];
			clock->front_ps[to] = clock->whole_count[from] > 0
				? clock->front_ps[from] + skip->jump.time_ps
				: 0;
			clock->sum_ps[to] = clock->sum_ps[from] +
				clock->whole_count[from] * skip->jump.time_ps;
			clock->whole_count[from] = 0;
			clock->sum_ps[from] = clock->front_ps[from] = 0;
		}
	}
	clock->steps_skipped += steps;
	clock->error_ps += skip->jump.error_ps;
}

// Takes all lines skip->jump.steps further. The front is step skip->step.
static void jump(struct world *world, struct skip *skip, uint64_t step_max, ps_t at)
{
	uint64_t steps = skip->jump.steps;
	skip->has_jumped = true;
	skip->from = skip->step;
	skip->from_at = at;
	move_lines(world, skip, steps);
	for (uint32_t i = 0; i < world->job.group_count; i++)
		move_clock(skip, skip_clock(world, i, skip->bucket), step_max);
	skip->of.jumps++;
	skip->of.steps += steps;
	skip->of.time_ps += skip->jump.time_ps;
	skip->of.error_ps += skip->jump.error_ps;
	skip->step += steps;
}

// ---------------------------------------------------------------- looking

static enum skip_refusal refusal_of(enum steady_verdict verdict)
{
	static const enum skip_refusal of[STEADY_VERDICT_COUNT] = {[STEADY_PACE] = SKIP_PACE,
								   [STEADY_JITTER] = SKIP_JITTER,
								   [STEADY_APART] = SKIP_APART,
								   [STEADY_QUEUES] = SKIP_QUEUES,
								   [STEADY_SLACK] = SKIP_SLACK};
	return of[verdict];
}

// Two blocks are full: jumps, or says why not.
static void judge(struct world *world, struct skip *skip, const struct skip_view *view)
{
	const struct scenario *scenario = world->scenario;
	const struct skip_extent *extent = &view->extent;
	ps_t at = view->at;
	uint64_t steps = extent->is_inside ? steps_to_leave(skip, extent) : 0;
	skip->jump = (struct steady_jump){.steps = steps > 0 ? steps : 1};
	enum steady_verdict verdict = steady_judge(&skip->steady, &extent->lines, &skip->jump);
	if (!extent->is_inside)
		skip->of.refused[SKIP_UNLIKE]++;
	else if (steps < skip->steady.block || at + skip->jump.time_ps > scenario->time_max_ps)
		skip->of.refused[SKIP_SHORT]++;
	else if (has_fault_ahead(world, at))
		skip->of.refused[SKIP_FAULT]++;
	else if (verdict != STEADY)
		skip->of.refused[refusal_of(verdict)]++;
	else {
		if (skip->loop == 0)
			skip->pace_ps = skip->jump.time_ps / (ps_t)steps;
		if (skip->loop == 0)
			at += skip_whole(world, skip, view);
		jump(world, skip, extent->step_max, at);
	}
	skip_record(world)->skipped_ps = skip->of.time_ps;
}

// What lines have received becomes begin[i]; what that was is free.
static void keep(struct skip *skip, int i, bool is_inside)
{
	int64_t *was = skip->begin[i];
	skip->begin[i] = skip->now;
	skip->now = was;
	skip->has_begin[i] = is_inside;
}

// A block is full.
static void end_block(struct world *world, struct skip *skip, struct skip_view *view)
{
	bool is_inside = view->extent.is_inside;
	if (!steady_has_both(&skip->steady)) {
		keep(skip, 1, is_inside);
		return;
	}
	view->extent.is_inside = is_inside && skip->has_begin[0];
	judge(world, skip, view);
	int64_t *oldest = skip->begin[0];
	skip->begin[0] = skip->begin[1];
	skip->has_begin[0] = skip->has_begin[1];
	skip->begin[1] = oldest;
	keep(skip, 1, is_inside);
}

// Behind a jump the steps must go on as before: else its error is larger than was thought.
static void confirm(struct world *world, struct skip *skip, ps_t at)
{
	uint64_t behind = skip->step - skip->from - skip->jump.steps;
	ps_t expected = skip->jump.time_ps / (ps_t)skip->jump.steps * (ps_t)behind;
	ps_t took = at - skip->from_at - skip->jump.time_ps;
	ps_t off = took > expected ? took - expected : expected - took;
	ps_t least = skip->jump.time_ps / (ps_t)skip->jump.steps / 2; // a front is known so well
	ps_t tolerance = expected / 1000000 * skip->steady.tolerance_ppm;
	if (off <= ps_max(tolerance, least)) {
		skip->of.confirmed++;
		return;
	}
	ps_t more = off / (ps_t)behind * (ps_t)skip->jump.steps;
	skip->of.error_ps += more;
	for (uint32_t i = 0; i < world->job.group_count; i++)
		skip_clock(world, i, skip->bucket)->error_ps += more;
}

// The last rank has step skip->step of the loop whole.
static void end_step(struct world *world, struct skip *skip, struct skip_view *view)
{
	if (skip_begins_block(world, skip)) {
		steady_begin(&skip->steady, view->at);
		keep(skip, 0, view->extent.is_inside);
	} else if (skip_is_in_block(world, skip)) {
		steady_step(&skip->steady, view->at, view->held, view->ahead);
		if (steady_has_block(&skip->steady))
			end_block(world, skip, view);
	} else if (skip->has_jumped && skip->step + 1 == skip->plan.steps_per_loop) {
		confirm(world, skip, view->at);
	}
	skip->step++;
}

static void end_bucket(const struct world *world, struct skip *skip)
{
	skip->last = (struct skip_last){.is_known = skip->is_alike && skip->pace_ps > 0,
					.pace_ps = skip->pace_ps,
					.bucket = skip->bucket};
	skip->bucket++;
	begin_bucket(world, skip);
}

bool world_skip_has_front(const struct world *world)
{
	struct skip_view view;
	if (world->skipped == NULL)
		return false;
	skip_see_front(world, skip_of(world), &view);
	return view.has_front;
}

// What all see together.
static void share_view(const struct world *world, struct skip_view *view, world_share_fn *share,
		       void *context)
{
	struct skip_view views[WORLD_SHARDS_MAX];
	if (share == NULL)
		return;
	share(context, view, views, sizeof(*view));
	*view = views[0];
	for (uint32_t i = 1; i < world->shard_count; i++)
		skip_merge(view, &views[i]);
}

void world_skip_look(struct world *world, world_share_fn *share, void *context)
{
	struct skip *skip = skip_of(world);
	struct skip_view view;
	if (skip == NULL)
		return;
	while (skip->bucket < world->job.groups[0].bucket_count) {
		skip_see(world, skip, &view);
		share_view(world, &view, share, context);
		if (!view.has_front)
			return;
		end_step(world, skip, &view);
		if (skip->step < skip->plan.steps_per_loop)
			continue;
		begin_loop(skip);
		if (++skip->loop == skip->plan.loops)
			end_bucket(world, skip);
	}
}
