// SPDX-License-Identifier: Apache-2.0
// Jumping over steps of rings: watches fronts (the last rank has a step whole), and when two blocks
// of steps were alike takes all lines so many steps further at once.
//
// Machines do not notice. Their clocks, their timers, and what lies on cables stay as they are: a
// steady state is the same at both ends of a jump. What follows from the place in the job (how many
// steps are left, when the next bucket is released) is kept by rings and ranks, and moves.

#include "fast_forward.h"

#include <errno.h>
#include <string.h>

#include <weft/core/check.h>
#include <weft/world/world_signal.h>

#include "build/build.h"

#define PPB_PER_PPM 1000u

static const char *const names[] = {"pace",  "jitter", "apart",	 "queues",
				    "slack", "fault",  "unlike", "short"};
_Static_assert(sizeof(names) / sizeof(*names) == FAST_FORWARD_REFUSAL_COUNT,
	       "a name for each refusal");

const char *fast_forward_refusal_name(enum fast_forward_refusal refusal)
{
	check((unsigned)refusal < FAST_FORWARD_REFUSAL_COUNT);
	return names[refusal];
}

ps_t world_skipped_ps(const struct world *world)
{
	return world->skipped == NULL ? 0 : world->skipped->time_ps;
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

static void begin_loop(struct fast_forward *fast_forward)
{
	fast_forward->step = 0;
	fast_forward->has_jumped = false;
}

static void begin_bucket(const struct world *world, struct fast_forward *fast_forward)
{
	const struct group *group = &world->job.groups[0];
	fast_forward->loop = 0;
	fast_forward->pace_ps = 0;
	begin_loop(fast_forward);
	if (fast_forward->bucket == group->bucket_count)
		return;
	const struct bucket *bucket =
		&world->job.buckets[group->bucket_first + fast_forward->bucket];
	struct ring_config ring = world->job.ring;
	ring.ranks = group->ranks;
	ring_plan(&fast_forward->plan, &ring, bucket->kind, bucket->bytes);
	fast_forward->is_alike = is_alike(world, fast_forward->bucket);
}

static int draw(const struct world *world, struct fast_forward *fast_forward)
{
	int64_t **const of_lines[] = {&fast_forward->begin[0], &fast_forward->begin[1],
				      &fast_forward->now};
	const struct job *job = &world->job;
	for (int i = 0; i < 3; i++) {
		*of_lines[i] = arena_draw(world->arena, ARENA_WORLD, fast_forward->lines,
					  sizeof(int64_t));
		if (*of_lines[i] == NULL)
			return -ENOMEM;
	}
	fast_forward->ranks = arena_draw(world->arena, ARENA_WORLD, job->group_count,
					 sizeof(uint32_t));
	if (fast_forward->ranks == NULL)
		return -ENOMEM;
	for (uint32_t i = 0; i < job->group_count; i++)
		for (uint32_t at = 0; at < job->groups[i].ranks; at++)
			fast_forward->ranks[i] += world_has(
				world, job->groups[i].gpus[at] / world->fabric.nics_per_host);
	return 0;
}

int fast_forward_build(struct world *world, struct refusal *refusal)
{
	const struct fast_forward_config *config = &world->scenario->fast_forward;
	uint32_t lines = 0;
	if (!config->is_on)
		return 0;
	if (world->shard_count > 1 && world->own_shard == WORLD_EVERY_SHARD)
		return refuse(refusal, -EINVAL, "fast_forward.steady needs a run in one thread");
	if (world->scenario->sample.steps > 0)
		return refuse(
			refusal, -EINVAL,
			"fast_forward.steady: sample.steps leaves out steps, too; one of both");
	if (world->program != NULL)
		return refuse(
			refusal, -EINVAL,
			"fast_forward.steady does not go with a program: its computations do not "
			"repeat with the rings");
	if (world->flow_count > 0)
		return refuse(
			refusal, -EINVAL,
			"fast_forward.steady does not go with traffic.beside: its messages are no "
			"steps that repeat");
	for (uint32_t i = 0; i < world->topology.hosts; i++)
		lines += world->hosts[i]->rank_count * world->job.ring.channels;
	struct fast_forward *fast_forward = arena_draw(world->arena, ARENA_WORLD, 1,
						       sizeof(*fast_forward));
	if (fast_forward == NULL)
		return build_no_memory(world, refusal);
	*fast_forward = (struct fast_forward){.lines = lines};
	if (draw(world, fast_forward) < 0)
		return build_no_memory(world, refusal);
	steady_init(&fast_forward->steady, config->block, config->tolerance_ppb / PPB_PER_PPM);
	begin_bucket(world, fast_forward);
	world->skipped = &fast_forward->of;
	return 0;
}

// ---------------------------------------------------------------- whether to jump

// Steps that can be left out, so that a block's worth of them is still run behind.
static uint64_t steps_to_leave(const struct fast_forward *fast_forward,
			       const struct fast_forward_extent *extent)
{
	uint64_t last = fast_forward->plan.steps_per_loop - 1,
		 kept = fast_forward->steady.block / 2 + 1;
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
static void account(const struct world *world, struct fast_forward *fast_forward,
		    const struct world_host *host, const struct rank *rank, uint32_t channel,
		    uint64_t steps)
{
	struct ring_place at;
	check(ring_place(rank->ring, channel, &at));
	uint64_t payload = world->transport.payload_bytes;
	if (!rank->to[channel].is_local) {
		fast_forward->of.packets += steps * ring_step_packets(rank->ring, channel, payload);
		fast_forward->of.payload_bytes += steps * at.step_bytes;
	}
	if (fast_forward_has_credits(world) &&
	    !rank->from[channel].is_local) { // one for each slice
		fast_forward->of.packets += steps * at.slices;
		fast_forward->of.payload_bytes += steps * at.slices * host->grant_bytes;
	}
}

static void move_lines(struct world *world, struct fast_forward *fast_forward, uint64_t steps)
{
	for (uint32_t i = 0; i < world->topology.hosts; i++) {
		struct world_host *host = world->hosts[i];
		for (uint32_t r = 0; world_has(world, i) && r < host->rank_count; r++) {
			struct rank *rank = &host->ranks[r];
			for (uint32_t c = 0; c < world->job.ring.channels; c++) {
				account(world, fast_forward, host, rank, c, steps);
				ring_fast_forward(rank->ring, c, steps);
				rank->steps_seen[c] += steps;
			}
		}
	}
}

// Steps behind the front that some ranks have whole are now those behind the jump.
static void move_clock(const struct fast_forward *fast_forward, struct collective_clock *clock,
		       uint64_t step_max)
{
	uint64_t base = fast_forward->loop * fast_forward->plan.steps_per_loop,
		 steps = fast_forward->jump.steps;
	for (uint32_t c = 0; c < clock->channels; c++) {
		uint64_t first = (uint64_t)c * clock->steps + base;
		for (uint64_t step = step_max + 1; step > fast_forward->step; step--) {
			uint64_t to = first + step + steps, from = first + step;
			clock->whole_count[to] = clock->whole_count[from];
			clock->front_ps[to] = clock->whole_count[from] > 0
				? clock->front_ps[from] + fast_forward->jump.time_ps
				: 0;
			clock->sum_ps[to] = clock->sum_ps[from] +
				clock->whole_count[from] * fast_forward->jump.time_ps;
			clock->whole_count[from] = 0;
			clock->sum_ps[from] = clock->front_ps[from] = 0;
		}
	}
	clock->steps_skipped += steps;
	clock->error_ps += fast_forward->jump.error_ps;
}

// Takes all lines skip->jump.steps further. The front is step skip->step.
static void jump(struct world *world, struct fast_forward *fast_forward, uint64_t step_max, ps_t at)
{
	uint64_t steps = fast_forward->jump.steps;
	fast_forward->has_jumped = true;
	fast_forward->from = fast_forward->step;
	fast_forward->from_at = at;
	move_lines(world, fast_forward, steps);
	for (uint32_t i = 0; i < world->job.group_count; i++)
		move_clock(fast_forward, fast_forward_clock(world, i, fast_forward->bucket),
			   step_max);
	fast_forward->of.jumps++;
	fast_forward->of.steps += steps;
	fast_forward->of.time_ps += fast_forward->jump.time_ps;
	fast_forward->of.error_ps += fast_forward->jump.error_ps;
	fast_forward->step += steps;
}

// ---------------------------------------------------------------- looking

static enum fast_forward_refusal refusal_of(enum steady_verdict verdict)
{
	static const enum fast_forward_refusal of[STEADY_VERDICT_COUNT] = {
		[STEADY_PACE] = FAST_FORWARD_PACE,
		[STEADY_JITTER] = FAST_FORWARD_JITTER,
		[STEADY_APART] = FAST_FORWARD_APART,
		[STEADY_QUEUES] = FAST_FORWARD_QUEUES,
		[STEADY_SLACK] = FAST_FORWARD_SLACK};
	return of[verdict];
}

// Two blocks are full: jumps, or says why not.
static void judge(struct world *world, struct fast_forward *fast_forward,
		  const struct fast_forward_view *view)
{
	const struct scenario *scenario = world->scenario;
	const struct fast_forward_extent *extent = &view->extent;
	ps_t at = view->at;
	uint64_t steps = extent->is_inside ? steps_to_leave(fast_forward, extent) : 0;
	fast_forward->jump = (struct steady_jump){.steps = steps > 0 ? steps : 1};
	enum steady_verdict verdict = steady_judge(&fast_forward->steady, &extent->lines,
						   &fast_forward->jump);
	if (!extent->is_inside)
		fast_forward->of.refused[FAST_FORWARD_UNLIKE]++;
	else if (steps < fast_forward->steady.block ||
		 at + fast_forward->jump.time_ps > scenario->time_max_ps)
		fast_forward->of.refused[FAST_FORWARD_SHORT]++;
	else if (has_fault_ahead(world, at))
		fast_forward->of.refused[FAST_FORWARD_FAULT]++;
	else if (verdict != STEADY)
		fast_forward->of.refused[refusal_of(verdict)]++;
	else {
		if (fast_forward->loop == 0)
			fast_forward->pace_ps = fast_forward->jump.time_ps / (ps_t)steps;
		if (fast_forward->loop == 0)
			at += fast_forward_whole(world, fast_forward, view);
		jump(world, fast_forward, extent->step_max, at);
	}
	fast_forward_record(world)->skipped_ps = fast_forward->of.time_ps;
}

// What lines have received becomes begin[i]; what that was is free.
static void keep(struct fast_forward *fast_forward, int i, bool is_inside)
{
	int64_t *was = fast_forward->begin[i];
	fast_forward->begin[i] = fast_forward->now;
	fast_forward->now = was;
	fast_forward->has_begin[i] = is_inside;
}

// A block is full.
static void end_block(struct world *world, struct fast_forward *fast_forward,
		      struct fast_forward_view *view)
{
	bool is_inside = view->extent.is_inside;
	if (!steady_has_both(&fast_forward->steady)) {
		keep(fast_forward, 1, is_inside);
		return;
	}
	view->extent.is_inside = is_inside && fast_forward->has_begin[0];
	judge(world, fast_forward, view);
	int64_t *oldest = fast_forward->begin[0];
	fast_forward->begin[0] = fast_forward->begin[1];
	fast_forward->has_begin[0] = fast_forward->has_begin[1];
	fast_forward->begin[1] = oldest;
	keep(fast_forward, 1, is_inside);
}

// Behind a jump the steps must go on as before: else its error is larger than was thought.
static void confirm(struct world *world, struct fast_forward *fast_forward, ps_t at)
{
	uint64_t behind = fast_forward->step - fast_forward->from - fast_forward->jump.steps;
	ps_t expected = fast_forward->jump.time_ps / (ps_t)fast_forward->jump.steps * (ps_t)behind;
	ps_t took = at - fast_forward->from_at - fast_forward->jump.time_ps;
	ps_t off = took > expected ? took - expected : expected - took;
	ps_t least = fast_forward->jump.time_ps / (ps_t)fast_forward->jump.steps /
		2; // a front is known so well
	ps_t tolerance = expected / 1000000 * fast_forward->steady.tolerance_ppm;
	if (off <= ps_max(tolerance, least)) {
		fast_forward->of.confirmed++;
		return;
	}
	ps_t more = off / (ps_t)behind * (ps_t)fast_forward->jump.steps;
	fast_forward->of.error_ps += more;
	for (uint32_t i = 0; i < world->job.group_count; i++)
		fast_forward_clock(world, i, fast_forward->bucket)->error_ps += more;
}

// The last rank has step skip->step of the loop whole.
static void end_step(struct world *world, struct fast_forward *fast_forward,
		     struct fast_forward_view *view)
{
	if (fast_forward_begins_block(world, fast_forward)) {
		steady_begin(&fast_forward->steady, view->at);
		keep(fast_forward, 0, view->extent.is_inside);
	} else if (fast_forward_is_in_block(world, fast_forward)) {
		steady_step(&fast_forward->steady, view->at, view->held, view->ahead);
		if (steady_has_block(&fast_forward->steady))
			end_block(world, fast_forward, view);
	} else if (fast_forward->has_jumped &&
		   fast_forward->step + 1 == fast_forward->plan.steps_per_loop) {
		confirm(world, fast_forward, view->at);
	}
	fast_forward->step++;
}

static void end_bucket(const struct world *world, struct fast_forward *fast_forward)
{
	fast_forward->last = (struct fast_forward_last){.is_known = fast_forward->is_alike &&
								fast_forward->pace_ps > 0,
							.pace_ps = fast_forward->pace_ps,
							.bucket = fast_forward->bucket};
	fast_forward->bucket++;
	begin_bucket(world, fast_forward);
}

bool world_fast_forward_has_front(const struct world *world)
{
	struct fast_forward_view view;
	if (world->skipped == NULL)
		return false;
	fast_forward_see_front(world, fast_forward_of(world), &view);
	return view.has_front;
}

// What all see together.
static void share_view(const struct world *world, struct fast_forward_view *view,
		       world_share_fn *share, void *context)
{
	struct fast_forward_view views[WORLD_SHARDS_MAX];
	if (share == NULL)
		return;
	share(context, view, views, sizeof(*view));
	*view = views[0];
	for (uint32_t i = 1; i < world->shard_count; i++)
		fast_forward_merge(view, &views[i]);
}

void world_fast_forward_look(struct world *world, world_share_fn *share, void *context)
{
	struct fast_forward *fast_forward = fast_forward_of(world);
	struct fast_forward_view view;
	if (fast_forward == NULL)
		return;
	while (fast_forward->bucket < world->job.groups[0].bucket_count) {
		fast_forward_see(world, fast_forward, &view);
		share_view(world, &view, share, context);
		if (!view.has_front)
			return;
		end_step(world, fast_forward, &view);
		if (fast_forward->step < fast_forward->plan.steps_per_loop)
			continue;
		begin_loop(fast_forward);
		if (++fast_forward->loop == fast_forward->plan.loops)
			end_bucket(world, fast_forward);
	}
}
