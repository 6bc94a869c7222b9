// SPDX-License-Identifier: Apache-2.0
// What the machines of a world measured, added up. Everything here is a sum or a maximum: the order
// of machines cannot matter, nor which shard one is in.

#include <errno.h>
#include <string.h>

#include <weft/world/world_ideal.h>

#include "build/build.h"
#include <weft/host/host.h>

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

// Whether a rank of `group` is in `shard`: of other groups it holds no steps.
static bool is_in_shard(const struct world *world, const struct group *group, uint32_t shard)
{
	for (uint32_t at = 0; at < group->ranks; at++)
		if (world->shard_of[group->gpus[at] / world->fabric.nics_per_host] == shard)
			return true;
	return false;
}

static int draw_clock(struct world *world, struct collective_clock *clock, uint64_t steps)
{
	uint64_t cells = steps * world->job.ring.channels;
	clock->start_ps = PS_NEVER;
	clock->steps = (uint32_t)steps;
	clock->channels = world->job.ring.channels;
	clock->front_ps = arena_draw(world->arena, ARENA_MEASURE, cells, sizeof(ps_t));
	clock->sum_ps = arena_draw(world->arena, ARENA_MEASURE, cells, sizeof(ps_t));
	clock->whole_count = arena_draw(world->arena, ARENA_MEASURE, cells, sizeof(uint32_t));
	return arena_has_failed(world->arena) ? -ENOMEM : 0;
}

// The clocks of one shard.
static int build_clocks(struct world *world, uint32_t shard)
{
	struct record *record = world->records[shard];
	record->clocks = arena_draw(world->arena, ARENA_MEASURE, world->outcome->collective_count,
				    sizeof(*record->clocks));
	if (record->clocks == NULL)
		return -ENOMEM;
	for (uint32_t i = 0; i < world->outcome->collective_count; i++) {
		const struct outcome_collective *of = &world->outcome->collectives[i];
		const struct group *group = &world->job.groups[of->group];
		struct collective_clock *clock = &record->clocks[i];
		clock->start_ps = PS_NEVER;
		if (!is_in_shard(world, group, shard))
			continue;
		struct ring_plan plan = plan_of(world, group, &world->job.buckets[of->bucket]);
		if (draw_clock(world, clock, plan.loops * plan.steps_per_loop) < 0)
			return -ENOMEM;
	}
	return 0;
}

// Histograms and series of what hosts write; the world's outcome and those of shards have the same.
static int draw_measures(struct world *world, struct outcome *outcome)
{
	int rc = hist_init(&outcome->flow_ns, world->arena, LATENCY_DIGITS, LATENCY_NS_MAX);
	for (int i = 0; rc == 0 && i < PAIR_CLASS_COUNT; i++)
		rc = hist_init(&outcome->message_ns[i], world->arena, LATENCY_DIGITS,
			       LATENCY_NS_MAX);
	for (int i = 0; rc == 0 && i < PAIR_CLASS_COUNT && world->plan.sample.is_on; i++)
		rc = batches_init(&outcome->message_batches[i], world->arena, LATENCY_NS_MAX);
	const struct watch_config *watch = &world->scenario->watch;
	if (rc == 0 && watch->bin_ps > 0)
		rc = series_init(&outcome->series, world->arena, watch->bins, watch->bin_ps);
	if (rc == 0 && watch->has_racks)
		rc = racks_init(&outcome->racks, world->arena, world->topology.hosts,
				world->topology.nics_per_host, LATENCY_NS_MAX);
	outcome->series.halves = watch->halves;
	return rc;
}

// A path is tried again a retry time after it was left: half of that is silence enough.
static int draw_bypass(struct world *world, uint32_t shard)
{
	struct bypass *bypass = arena_draw(world->arena, ARENA_MEASURE, 1, sizeof(*bypass));
	world->bypass[shard] = bypass;
	return bypass == NULL ? -ENOMEM
			      : bypass_init(bypass, world->arena, world->scenario->watch.bypasses,
					    world->transport.path_retry_ps / 2);
}

static int draw_packet_trace(struct world *world, uint32_t shard)
{
	struct packet_trace *packet_trace = arena_draw(world->arena, ARENA_MEASURE, 1,
						       sizeof(*packet_trace));
	world->packet_traces[shard] = packet_trace;
	return packet_trace == NULL
		? -ENOMEM
		: packet_trace_init(packet_trace, world->arena, world->scenario->watch.packets);
}

// One shard writes into the world's outcome; several have one each.
static int build_record(struct world *world, uint32_t shard, const uint32_t *clock_of_group)
{
	shards_fence(world, ARENA_MEASURE, SHARD_PAGE_BYTES);
	struct record *record = arena_draw(world->arena, ARENA_MEASURE, 1, sizeof(*record));
	if (record == NULL)
		return -ENOMEM;
	world->records[shard] = record;
	record->clock_of_group = clock_of_group;
	record->outcome = world->outcome;
	if (world->shard_count > 1) {
		record->outcome = arena_draw(world->arena, ARENA_MEASURE, 1,
					     sizeof(*record->outcome));
		if (record->outcome == NULL || draw_measures(world, record->outcome) < 0)
			return -ENOMEM;
		record->outcome->flow_end_ps = world->outcome->flow_end_ps;
	}
	if (world->scenario->watch.bin_ps > 0)
		world->series[shard] = &record->outcome->series;
	if (world->scenario->watch.bypasses > 0 && draw_bypass(world, shard) < 0)
		return -ENOMEM;
	if (world->scenario->watch.packets > 0 && draw_packet_trace(world, shard) < 0)
		return -ENOMEM;
	return build_clocks(world, shard);
}

static int build_tally(struct world *world)
{
	uint64_t loop = 0, steps = 0;
	for (uint32_t i = 0; i < world->outcome->collective_count; i++) {
		const struct outcome_collective *of = &world->outcome->collectives[i];
		struct ring_plan plan = plan_of(world, &world->job.groups[of->group],
						&world->job.buckets[of->bucket]);
		loop = plan.steps_per_loop > loop ? plan.steps_per_loop : loop;
		if (plan.loops * plan.steps_per_loop > steps)
			steps = plan.loops * plan.steps_per_loop;
	}
	shards_fence(world, ARENA_MEASURE, SHARD_PAGE_BYTES);
	world->tally = arena_draw(world->arena, ARENA_MEASURE, 1, sizeof(*world->tally));
	if (world->tally == NULL)
		return -ENOMEM;
	world->tally->step_ps = arena_draw(world->arena, ARENA_MEASURE, loop, sizeof(ps_t));
	if (world->tally->step_ps == NULL)
		return -ENOMEM;
	return world->shard_count > 1 ? draw_clock(world, &world->tally->whole, steps) : 0;
}

// Numbers the collectives, group after group.
static int build_collectives(struct world *world, uint32_t *clock_of_group)
{
	const struct job *job = &world->job;
	struct outcome *outcome = world->outcome;
	uint32_t count = 0;
	for (uint32_t i = 0; i < job->group_count; i++) {
		clock_of_group[i] = count;
		count += job->groups[i].bucket_count;
	}
	outcome->collectives = arena_draw(world->arena, ARENA_MEASURE, count,
					  sizeof(*outcome->collectives));
	if (outcome->collectives == NULL)
		return -ENOMEM;
	outcome->collective_count = count;
	for (uint32_t i = 0; i < job->group_count; i++)
		for (uint32_t b = 0; b < job->groups[i].bucket_count; b++)
			outcome->collectives[clock_of_group[i] + b] = (struct outcome_collective){
				.group = i, .bucket = job->groups[i].bucket_first + b};
	return 0;
}

// What its lines carry each collective in, and what no extrapolation may undercut.
static int build_ideals(struct world *world, struct refusal *refusal)
{
	const struct job *job = &world->job;
	struct outcome *outcome = world->outcome;
	struct ideal *ideal;
	bool is_whole = job->ring.steps_max == 0 && !world->scenario->fast_forward.is_on;
	if (outcome->collective_count == 0)
		return 0;
	int rc = ideal_create(&ideal, world->arena, world->scenario, &world->topology, refusal);
	for (uint32_t i = 0; rc == 0 && i < outcome->collective_count; i++) {
		struct outcome_collective *of = &outcome->collectives[i];
		const struct bucket *bucket = &job->buckets[of->bucket];
		ideal_clear(ideal);
		ideal_add_ring(ideal, &job->groups[of->group], &job->ring, bucket->kind,
			       bucket->bytes);
		struct ideal_time time = ideal_time(ideal);
		of->lines_ps = time.lines_ps;
		of->ideal_ps = is_whole ? 0 : time.ps;
	}
	return rc;
}

int outcome_build(struct world *world, struct refusal *refusal)
{
	struct arena *arena = world->arena;
	uint32_t *clock_of_group = arena_draw(arena, ARENA_MEASURE, world->job.group_count,
					      sizeof(uint32_t));
	world->outcome = arena_draw(arena, ARENA_MEASURE, 1, sizeof(*world->outcome));
	if (arena_has_failed(arena))
		return build_no_memory(world, refusal);
	world->outcome->flow_end_ps = arena_draw(arena, ARENA_MEASURE, world->flow_count,
						 sizeof(ps_t));
	int rc = world->outcome->flow_end_ps == NULL ? -ENOMEM : 0;
	const struct watch_config *watch = &world->scenario->watch;
	uint32_t nics = world->topology.nics;
	if (watch->packets > 0 &&
	    (watch->packets_from >= nics || watch->packets_to >= nics ||
	     watch->packets_from == watch->packets_to))
		return refuse(refusal, -EINVAL,
			      "watch.packets_from and packets_to are two of % NICs, not % and %",
			      nics, watch->packets_from, watch->packets_to);
	if (watch->has_nics)
		world->nic_placed = arena_draw(arena, ARENA_MEASURE,
					       (size_t)world->fabric.nics * watch->bins,
					       sizeof(uint64_t));
	if (watch->has_nics && world->nic_placed == NULL)
		rc = -ENOMEM;
	if (rc == 0)
		rc = draw_measures(world, world->outcome);
	if (rc == 0)
		rc = build_collectives(world, clock_of_group);
	for (uint32_t shard = 0; rc == 0 && shard < world->shard_count; shard++)
		rc = build_record(world, shard, clock_of_group);
	if (rc == 0)
		rc = build_tally(world);
	return rc < 0 ? build_no_memory(world, refusal) : build_ideals(world, refusal);
}

// ---------------------------------------------------------------- adding up

static void add_words(void *into, const void *from, size_t bytes)
{
	uint64_t *sum = into;
	const uint64_t *more = from;
	for (size_t i = 0; i < bytes / sizeof(uint64_t); i++)
		sum[i] += more[i];
}

void outcome_add_counters(struct transport_counters *sum, uint64_t *plane_bytes_nic_max,
			  const struct transport_counters *more)
{
	static_assert(sizeof(*sum) % sizeof(uint64_t) == 0, "words only");
	add_words(sum, more, sizeof(*more));
	for (int plane = 0; plane < PLANES_MAX; plane++)
		if (more->plane_bytes[plane] > plane_bytes_nic_max[plane])
			plane_bytes_nic_max[plane] = more->plane_bytes[plane];
}

struct transport_counters outcome_counters(const struct endpoint *endpoint)
{
	struct transport_counters counters = *endpoint_counters(endpoint);
	counters.qps_trying = endpoint_trying(endpoint);
	return counters;
}

static void collect_nic(struct outcome *outcome, const struct nic *nic)
{
	if (nic->endpoint == NULL)
		return;
	struct transport_counters counters = outcome_counters(nic->endpoint);
	outcome_add_counters(&outcome->transport, outcome->plane_bytes_nic_max, &counters);
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

static void add_clock(struct collective_clock *whole, const struct collective_clock *part)
{
	whole->start_ps = ps_min(whole->start_ps, part->start_ps);
	whole->end_ps = ps_max(whole->end_ps, part->end_ps);
	whole->ranks_done += part->ranks_done;
	if (part->steps_skipped > whole->steps_skipped) // all processes know of jumps
		whole->steps_skipped = part->steps_skipped;
	whole->error_ps = ps_max(whole->error_ps, part->error_ps);
	uint64_t cells = (uint64_t)part->channels * part->steps;
	for (uint64_t i = 0; i < cells; i++) {
		whole->front_ps[i] = ps_max(whole->front_ps[i], part->front_ps[i]);
		whole->sum_ps[i] += part->sum_ps[i];
		whole->whole_count[i] += part->whole_count[i];
	}
}

// The clock of collective `index` over all shards; it holds until the next call.
static const struct collective_clock *whole_clock(const struct world *world, uint32_t index)
{
	if (world->shard_count == 1)
		return &world->records[0]->clocks[index];
	struct collective_clock *whole = &world->tally->whole;
	uint64_t cells = 0;
	for (uint32_t shard = 0; shard < world->shard_count; shard++) {
		const struct collective_clock *part = &world->records[shard]->clocks[index];
		if (part->channels == 0)
			continue;
		whole->steps = part->steps; // where there are any they are the same
		cells = (uint64_t)part->channels * part->steps;
	}
	whole->start_ps = PS_NEVER;
	whole->end_ps = 0;
	whole->ranks_done = 0;
	whole->steps_skipped = 0;
	whole->error_ps = 0;
	memset(whole->front_ps, 0, cells * sizeof(*whole->front_ps));
	memset(whole->sum_ps, 0, cells * sizeof(*whole->sum_ps));
	memset(whole->whole_count, 0, cells * sizeof(*whole->whole_count));
	for (uint32_t shard = 0; shard < world->shard_count; shard++)
		add_clock(whole, &world->records[shard]->clocks[index]);
	return whole;
}

static void collect_collectives(struct world *world)
{
	for (uint32_t i = 0; i < world->outcome->collective_count; i++) {
		const struct collective_clock *clock = whole_clock(world, i);
		struct outcome_collective *of = &world->outcome->collectives[i];
		of->start_ps = clock->start_ps;
		of->end_ps = clock->end_ps;
		of->whole_ps = of->whole_error_ps = 0;
		of->window_ps = PS_NEVER;
		of->busbw_bytes_per_s = 0;
		if (clock->ranks_done < world->job.groups[of->group].ranks)
			continue; // not complete: a time would be a lie
		estimate_whole(world, clock, of);
		of->busbw_bytes_per_s = busbw(world, of);
	}
	left_out_find(world);
}

static void add_record(struct outcome *outcome, const struct outcome *more)
{
	for (int i = 0; i < PAIR_CLASS_COUNT; i++) {
		hist_merge(&outcome->message_ns[i], &more->message_ns[i]);
		batches_merge(&outcome->message_batches[i], &more->message_batches[i]);
	}
	hist_merge(&outcome->flow_ns, &more->flow_ns);
	racks_merge(&outcome->racks, &more->racks);
	for (int i = 0; i < DROP_REASON_COUNT; i++)
		outcome->dropped_at_host[i] += more->dropped_at_host[i];
	outcome->end_ps = ps_max(outcome->end_ps, more->end_ps);
	outcome->credits_sent += more->credits_sent;
	for (int i = 0; i < PROGRAM_STREAMS_MAX; i++)
		outcome->stream_end_ps[i] = ps_max(outcome->stream_end_ps[i],
						   more->stream_end_ps[i]);
	add_words(&outcome->program, &more->program, sizeof(outcome->program));
	for (int i = 0; i < MIX_PARTS_MAX; i++) {
		outcome->jobs[i].ended += more->jobs[i].ended;
		outcome->jobs[i].end_ps = ps_max(outcome->jobs[i].end_ps, more->jobs[i].end_ps);
	}
	if (outcome->series.count > 0)
		series_merge(&outcome->series, &more->series);
}

// What hosts wrote; that of a single shard is in the world's outcome already.
static void collect_records(struct world *world)
{
	struct outcome *outcome = world->outcome;
	if (world->shard_count == 1)
		return;
	for (int i = 0; i < PAIR_CLASS_COUNT; i++) {
		hist_empty(&outcome->message_ns[i]);
		batches_empty(&outcome->message_batches[i]);
	}
	hist_empty(&outcome->flow_ns);
	racks_empty(&outcome->racks);
	series_empty(&outcome->series);
	memset(outcome->dropped_at_host, 0, sizeof(outcome->dropped_at_host));
	outcome->end_ps = 0;
	outcome->credits_sent = 0;
	outcome->program = (struct outcome_program){0};
	memset(outcome->stream_end_ps, 0, sizeof(outcome->stream_end_ps));
	memset(outcome->jobs, 0, sizeof(outcome->jobs));
	for (uint32_t shard = 0; shard < world->shard_count; shard++)
		add_record(outcome, world->records[shard]->outcome);
}

void world_settle(struct world *world)
{
	for (uint32_t i = 0; i < world->topology.hosts; i++)
		watched_settle(world->hosts[i]);
	links_settle(world);
	delays_gather(world);
}

void world_collect(struct world *world)
{
	struct outcome *outcome = world->outcome;
	outcome->transport = world->others.transport;
	outcome->fabric = (struct fabric_counters){0};
	memcpy(outcome->plane_bytes_nic_max, world->others.plane_bytes_nic_max,
	       sizeof(outcome->plane_bytes_nic_max));
	for (uint32_t i = 0; i < world->topology.hosts; i++)
		for (uint32_t n = 0; n < world->hosts[i]->nic_count; n++)
			collect_nic(outcome, &world->hosts[i]->nics[n]);
	for (uint32_t i = 0; i < world->topology.switch_count; i++)
		fabric_counters_add(&outcome->fabric, switch_counters(world->switches[i]));
	pauses_collect(world);
	world_settle(world);
	collect_records(world);
	for (int i = 0; i < DROP_REASON_COUNT; i++)
		outcome->dropped[i] = outcome->fabric.dropped[i] + outcome->dropped_at_host[i];
	collect_collectives(world);
	links_collect(world);
	delays_collect(world);
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

uint64_t world_work_done(const struct world *world)
{
	uint64_t done = 0;
	for (uint32_t shard = 0; shard < world->shard_count; shard++)
		done += world->records[shard]->work_done;
	return done;
}

bool world_is_done(const struct world *world)
{
	return world_work_done(world) == world->work_total;
}
