// SPDX-License-Identifier: Apache-2.0
// What the machines of a world measured, added up. Everything here is a sum or a maximum: the order
// of machines cannot matter.

#include <errno.h>

#include "build.h"
#include "estimate.h"
#include "host.h"

#define LATENCY_NS_MAX (UINT64_C(1) << 36) // 68 s
#define LATENCY_DIGITS 3

// ---------------------------------------------------------------- building

// The plan of one bucket of a group, as run.
static struct ring_plan plan_of(const struct world *world, const struct group *group,
				const struct bucket *bucket)
{
	struct ring_plan plan;
	struct ring_config ring = world->job.ring;
	ring.ranks = group->ranks;
	ring_plan(&plan, &ring, bucket->kind, bucket->bytes);
	return plan;
}

static int build_clock(struct world *world, uint32_t group, uint32_t bucket, uint32_t index)
{
	struct collective_clock *clock = &world->record->clocks[index];
	const struct bucket *of = &world->job.buckets[bucket];
	struct ring_plan plan = plan_of(world, &world->job.groups[group], of);
	uint64_t steps = plan.loops * plan.steps_per_loop;
	clock->start_ps = PS_NEVER;
	uint64_t cells = steps * world->job.ring.channels;
	clock->steps = (uint32_t)steps;
	clock->channels = world->job.ring.channels;
	clock->front_ps = arena_draw(world->arena, ARENA_MEASURE, cells, sizeof(ps_t));
	clock->whole_count = arena_draw(world->arena, ARENA_MEASURE, cells, sizeof(uint32_t));
	world->outcome->collectives[index] = (struct outcome_collective){.group = group,
									 .bucket = bucket};
	return clock->front_ps == NULL || clock->whole_count == NULL ? -ENOMEM : 0;
}

static uint64_t longest_loop(const struct world *world)
{
	uint64_t longest = 0;
	for (uint32_t i = 0; i < world->job.group_count; i++) {
		const struct group *group = &world->job.groups[i];
		for (uint32_t b = 0; b < group->bucket_count; b++) {
			struct ring_plan plan = plan_of(
				world, group, &world->job.buckets[group->bucket_first + b]);
			longest = plan.steps_per_loop > longest ? plan.steps_per_loop : longest;
		}
	}
	return longest;
}

static int build_clocks(struct world *world)
{
	struct arena *arena = world->arena;
	const struct job *job = &world->job;
	uint32_t count = 0;
	struct record *record = world->record;
	record->clock_of_group = arena_draw(arena, ARENA_MEASURE, job->group_count,
					    sizeof(uint32_t));
	if (record->clock_of_group == NULL)
		return -ENOMEM;
	for (uint32_t i = 0; i < job->group_count; i++) {
		record->clock_of_group[i] = count;
		count += job->groups[i].bucket_count;
	}
	record->clocks = arena_draw(arena, ARENA_MEASURE, count, sizeof(*record->clocks));
	world->outcome->collectives = arena_draw(arena, ARENA_MEASURE, count,
						 sizeof(*world->outcome->collectives));
	if (record->clocks == NULL || world->outcome->collectives == NULL)
		return -ENOMEM;
	record->step_ps = arena_draw(arena, ARENA_MEASURE, longest_loop(world), sizeof(ps_t));
	if (record->step_ps == NULL)
		return -ENOMEM;
	world->outcome->collective_count = count;
	for (uint32_t i = 0; i < job->group_count; i++)
		for (uint32_t b = 0; b < job->groups[i].bucket_count; b++)
			if (build_clock(world, i, job->groups[i].bucket_first + b,
					record->clock_of_group[i] + b) < 0)
				return -ENOMEM;
	return 0;
}

int outcome_build(struct world *world, struct refusal *refusal)
{
	struct arena *arena = world->arena;
	world->outcome = arena_draw(arena, ARENA_MEASURE, 1, sizeof(*world->outcome));
	world->record = arena_draw(arena, ARENA_MEASURE, 1, sizeof(*world->record));
	if (world->outcome == NULL || world->record == NULL)
		return build_no_memory(world, refusal);
	world->record->outcome = world->outcome;
	int rc = hist_init(&world->outcome->flow_ns, arena, LATENCY_DIGITS, LATENCY_NS_MAX);
	for (int i = 0; rc == 0 && i < PAIR_CLASS_COUNT; i++)
		rc = hist_init(&world->outcome->message_ns[i], arena, LATENCY_DIGITS,
			       LATENCY_NS_MAX);
	world->outcome->flow_end_ps = arena_draw(arena, ARENA_MEASURE, world->flow_count,
						 sizeof(ps_t));
	if (rc < 0 || world->outcome->flow_end_ps == NULL || build_clocks(world) < 0)
		return build_no_memory(world, refusal);
	return 0;
}

// ---------------------------------------------------------------- adding up

static void add_words(void *into, const void *from, size_t bytes)
{
	uint64_t *sum = into;
	const uint64_t *more = from;
	for (size_t i = 0; i < bytes / sizeof(uint64_t); i++)
		sum[i] += more[i];
}

static void collect_nic(struct outcome *outcome, const struct nic *nic)
{
	static_assert(sizeof(struct transport_counters) % sizeof(uint64_t) == 0, "words only");
	if (nic->endpoint == NULL)
		return;
	const struct transport_counters *counters = endpoint_counters(nic->endpoint);
	add_words(&outcome->transport, counters, sizeof(*counters));
	for (int plane = 0; plane < PLANES_MAX; plane++)
		if (counters->plane_bytes[plane] > outcome->plane_bytes_nic_max[plane])
			outcome->plane_bytes_nic_max[plane] = counters->plane_bytes[plane];
}

static void collect_switch(struct outcome *outcome, const struct switch_ *from)
{
	static_assert(sizeof(struct fabric_counters) % sizeof(uint64_t) == 0, "words only");
	const struct fabric_counters *counters = switch_counters(from);
	uint64_t deepest = outcome->fabric.queue_bytes_max;
	add_words(&outcome->fabric, counters, sizeof(*counters));
	outcome->fabric.queue_bytes_max = counters->queue_bytes_max > deepest
		? counters->queue_bytes_max
		: deepest;
}

// nccl-tests: algbw = S / t, busbw = algbw (n-1)/n, twice that for all-reduce.
static uint64_t busbw(const struct world *world, const struct outcome_collective *of)
{
	const struct bucket *bucket = &world->job.buckets[of->bucket];
	uint64_t n = world->job.groups[of->group].ranks;
	uint64_t factor = bucket->kind == COLLECTIVE_ALL_REDUCE ? 2 : 1;
	if (of->whole_ps <= 0)
		return 0;
	return (uint64_t)((unsigned __int128)bucket->bytes * factor * (n - 1) * PS_PER_S / n /
			  (uint64_t)of->whole_ps);
}

static void collect_collectives(struct world *world)
{
	for (uint32_t i = 0; i < world->outcome->collective_count; i++) {
		const struct collective_clock *clock = &world->record->clocks[i];
		struct outcome_collective *of = &world->outcome->collectives[i];
		of->start_ps = clock->start_ps;
		of->end_ps = clock->end_ps;
		of->whole_ps = of->whole_error_ps = 0;
		of->busbw_bytes_per_s = 0;
		if (clock->ranks_done < world->job.groups[of->group].ranks)
			continue; // not complete: a time would be a lie
		estimate_whole(world, clock, of);
		of->busbw_bytes_per_s = busbw(world, of);
	}
}

void world_collect(struct world *world)
{
	struct outcome *outcome = world->outcome;
	outcome->transport = (struct transport_counters){0};
	outcome->fabric = (struct fabric_counters){0};
	for (uint32_t i = 0; i < world->topology.hosts; i++)
		for (uint32_t n = 0; n < world->hosts[i]->nic_count; n++)
			collect_nic(outcome, &world->hosts[i]->nics[n]);
	for (uint32_t i = 0; i < world->topology.switch_count; i++)
		collect_switch(outcome, world->switches[i]);
	for (int i = 0; i < DROP_REASON_COUNT; i++)
		outcome->dropped[i] = outcome->fabric.dropped[i] + outcome->dropped_at_host[i];
	collect_collectives(world);
}

void world_held(const struct world *world, uint64_t *ret_hosts, uint64_t *ret_switches)
{
	uint64_t hosts = 0, switches = 0;
	for (uint32_t i = 0; i < world->topology.hosts; i++)
		for (uint32_t n = 0; n < world->hosts[i]->nic_count; n++)
			if (world->hosts[i]->nics[n].endpoint != NULL)
				hosts += endpoint_held(world->hosts[i]->nics[n].endpoint);
	for (uint32_t i = 0; i < world->topology.switch_count; i++)
		switches += switch_held(world->switches[i]);
	*ret_hosts = hosts;
	*ret_switches = switches;
}
