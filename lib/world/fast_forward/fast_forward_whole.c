// SPDX-License-Identifier: Apache-2.0
// Jumping over whole collectives. The place in a collective at which two blocks were alike was
// passed in the one before, too, at the same pace: then what lies between is a period, and those
// that follow and are the same are jumped over, but for the last.

#include <weft/core/check.h>

#include "fast_forward.h"

#define PPM 1000000

// From one collective to the next.
struct fast_forward_period {
	bool is_apart;	 // the next one waits for its release; else for the end of this one
	ps_t whole_ps;	 // of a collective
	ps_t between_ps; // from start to start, where none waits for its release
	ps_t error_ps;	 // of whole_ps
};

static const struct bucket *bucket_at(const struct world *world, uint32_t bucket)
{
	return &world->job.buckets[world->job.groups[0].bucket_first + bucket];
}

bool fast_forward_is_done(const struct world *world, const struct fast_forward *fast_forward,
			  uint32_t bucket)
{
	for (uint32_t i = 0; i < world->job.group_count; i++)
		if (fast_forward_clock(world, i, bucket)->ranks_done < fast_forward->ranks[i])
			return false;
	return true;
}

struct fast_forward_span fast_forward_span(const struct world *world, uint32_t bucket)
{
	struct fast_forward_span span = {PS_NEVER, 0};
	for (uint32_t i = 0; i < world->job.group_count; i++) {
		const struct collective_clock *clock = fast_forward_clock(world, i, bucket);
		span.start = ps_min(span.start, clock->start_ps);
		span.end = ps_max(span.end, clock->end_ps);
	}
	return span;
}

// All processes know the errors of all collectives.
static ps_t error_of(const struct world *world, uint32_t bucket)
{
	ps_t error_ps = 0;
	for (uint32_t i = 0; i < world->job.group_count; i++)
		error_ps = ps_max(error_ps, fast_forward_clock(world, i, bucket)->error_ps);
	return error_ps;
}

// Whether the collective before the running one was the same, and what lies between them.
static bool find_period(const struct world *world, const struct fast_forward *fast_forward,
			const struct fast_forward_view *view, struct fast_forward_period *ret)
{
	const struct fast_forward_last *last = &fast_forward->last;
	if (!last->is_known || last->bucket + 1 != fast_forward->bucket || !view->is_done)
		return false;
	const struct bucket *before = bucket_at(world, last->bucket);
	const struct bucket *here = bucket_at(world, fast_forward->bucket);
	ps_t off = last->pace_ps > fast_forward->pace_ps ? last->pace_ps - fast_forward->pace_ps
							 : fast_forward->pace_ps - last->pace_ps;
	if (before->kind != here->kind || before->bytes != here->bytes ||
	    off > last->pace_ps / PPM * fast_forward->steady.tolerance_ppm)
		return false;
	ps_t whole_ps = view->before.end - view->before.start;
	ps_t drift = (ps_t)((unsigned __int128)whole_ps * (uint64_t)off / (uint64_t)last->pace_ps);
	*ret = (struct fast_forward_period){.is_apart = view->here.start >= view->before.end,
					    .whole_ps = whole_ps,
					    .between_ps = view->here.start - view->before.start,
					    .error_ps = error_of(world, last->bucket) + drift};
	return true;
}

// When the collective behind `bucket`, which starts at `start`, starts; PS_NEVER when it is another
// one, or begins otherwise.
static ps_t next_start(const struct world *world, uint32_t bucket, ps_t start,
		       const struct fast_forward_period *period)
{
	const struct bucket *here = bucket_at(world, bucket), *next = here + 1;
	if (bucket + 1 == world->job.groups[0].bucket_count || next->kind != here->kind ||
	    next->bytes != here->bytes)
		return PS_NEVER;
	for (uint32_t i = 1; i < world->job.group_count; i++) {
		const struct group *group = &world->job.groups[i];
		const struct bucket *other = &world->job.buckets[group->bucket_first + bucket + 1];
		if (other->kind != next->kind || other->bytes != next->bytes ||
		    other->release_ps != next->release_ps)
			return PS_NEVER;
	}
	bool is_apart = next->release_ps >= start + period->whole_ps;
	if (is_apart != period->is_apart)
		return PS_NEVER;
	if (is_apart)
		return next->release_ps;
	return next->release_ps > start + period->between_ps ? PS_NEVER
							     : start + period->between_ps;
}

// The lines' whole collectives, as many as are left out.
static void account(struct world *world, struct fast_forward *fast_forward, uint32_t count)
{
	uint64_t payload = world->transport.payload_bytes;
	const struct ring_plan *plan = &fast_forward->plan;
	for (uint32_t i = 0; i < world->topology.hosts; i++) {
		const struct world_host *host = world->hosts[i];
		for (uint32_t r = 0; world_has(world, i) && r < host->rank_count; r++) {
			const struct rank *rank = &host->ranks[r];
			for (uint32_t c = 0; c < world->job.ring.channels; c++) {
				uint64_t packets = ring_packets(rank->ring, c, payload);
				uint64_t credits = plan->slices_per_channel;
				bool sends = !rank->to[c].is_local;
				bool owes = fast_forward_has_credits(world) &&
					!rank->from[c].is_local;
				fast_forward->of.packets += count *
					(sends * packets + owes * credits);
				fast_forward->of.payload_bytes += count *
					(sends * plan->bytes_per_channel +
					 owes * credits * host->grant_bytes);
			}
		}
	}
}

// A collective that is left out takes as long as the one before.
static void write_down(struct world *world, const struct fast_forward *fast_forward,
		       uint32_t bucket, ps_t start, const struct fast_forward_period *period)
{
	for (uint32_t i = 0; i < world->job.group_count; i++) {
		struct collective_clock *clock = fast_forward_clock(world, i, bucket);
		clock->start_ps = start;
		clock->end_ps = start + period->whole_ps;
		clock->ranks_done = fast_forward->ranks[i];
		clock->steps_skipped = fast_forward->plan.loops * fast_forward->plan.steps_per_loop;
		clock->error_ps = period->error_ps;
		fast_forward_record(world)->work_done += fast_forward->ranks[i];
	}
}

// The running collective is number `to` from now on: what was seen of it is taken over.
static void take_over(struct world *world, struct fast_forward *fast_forward, uint32_t to,
		      ps_t later_ps)
{
	for (uint32_t i = 0; i < world->job.group_count; i++) {
		const struct collective_clock *old = fast_forward_clock(world, i,
									fast_forward->bucket);
		struct collective_clock *clock = fast_forward_clock(world, i, to);
		uint64_t cells = (uint64_t)old->channels * old->steps;
		check(clock->steps == old->steps && clock->channels == old->channels);
		if (old->start_ps != PS_NEVER) // the group has ranks here, and one has begun
			clock->start_ps = old->start_ps + later_ps;
		for (uint64_t cell = 0; cell < cells; cell++) {
			clock->whole_count[cell] = old->whole_count[cell];
			clock->front_ps[cell] = old->front_ps[cell] + later_ps;
			clock->sum_ps[cell] = old->sum_ps[cell] + old->whole_count[cell] * later_ps;
		}
	}
	for (uint32_t i = 0; i < world->topology.hosts; i++) {
		for (uint32_t r = 0; world_has(world, i) && r < world->hosts[i]->rank_count; r++) {
			struct rank *rank = &world->hosts[i]->ranks[r];
			rank->bucket += to - fast_forward->bucket;
			rank->clock += to - fast_forward->bucket;
		}
	}
}

ps_t fast_forward_whole(struct world *world, struct fast_forward *fast_forward,
			const struct fast_forward_view *view)
{
	struct fast_forward_period period;
	ps_t first = view->here.start, start = first, at;
	uint32_t to = fast_forward->bucket;
	if (!find_period(world, fast_forward, view, &period))
		return 0;
	while ((at = next_start(world, to, start, &period)) < world->scenario->time_max_ps) {
		to++;
		start = at;
	}
	uint32_t count = to - fast_forward->bucket;
	if (count == 0)
		return 0;
	take_over(world, fast_forward, to, start - first);
	account(world, fast_forward, count);
	at = first;
	for (uint32_t bucket = fast_forward->bucket; bucket < to; bucket++) {
		ps_t next = next_start(world, bucket, at, &period);
		write_down(world, fast_forward, bucket, at, &period);
		at = next;
	}
	fast_forward->of.jumps++;
	fast_forward->of.confirmed++; // by the pace of two collectives
	fast_forward->of.collectives += (uint64_t)count * world->job.group_count;
	fast_forward->of.steps += count * fast_forward->plan.loops *
		fast_forward->plan.steps_per_loop;
	fast_forward->of.time_ps += start - first;
	fast_forward->of.error_ps += period.is_apart ? 0 : count * period.error_ps;
	fast_forward->bucket = to;
	return start - first;
}
