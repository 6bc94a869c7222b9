// SPDX-License-Identifier: Apache-2.0
// The least time of collectives: their messages go to ideal.c.

#include <errno.h>
#include <string.h>

#include <weft/core/check.h>
#include <weft/world/world.h>

#include "ideal.h"

// ---------------------------------------------------------------- collectives of messages

// Marks of messages are whole nanoseconds, rounded down.
#define MARK_MAX (OP_NONE - 1)

// A walk tells at most about so many messages: beyond, longer ones stand for several.
#define WALK_MESSAGES_MAX (UINT64_C(1) << 24)

struct walk {
	struct ideal *ideal;
	uint64_t chunk_bytes, payload_bytes;
};

// Payload of the last packet of what is no longer than a chunk; what stands for several messages
// has others.
static uint64_t last_packet_bytes(const struct walk *walk, uint64_t bytes)
{
	return bytes > walk->chunk_bytes ? 1 : (bytes - 1) % walk->payload_bytes + 1;
}

// A message of the collective, or several of chunks and the rest.
static uint64_t packets_of(const struct walk *walk, uint64_t bytes)
{
	uint64_t rest = bytes % walk->chunk_bytes;
	return bytes / walk->chunk_bytes * ideal_packets(walk->ideal, walk->chunk_bytes) +
		ideal_packets(walk->ideal, rest);
}

static uint32_t mark_of(ps_t at)
{
	return at / PS_PER_NS < MARK_MAX ? (uint32_t)(at / PS_PER_NS) : MARK_MAX;
}

// A NIC has sent what was acknowledged; a scale-up line what has left, before it is there.
static ps_t sent_ps(struct ideal *ideal, uint32_t from, uint32_t to, ps_t there_ps)
{
	uint32_t per_host = ideal->topology->nics_per_host;
	bool is_near = from / per_host == to / per_host;
	return is_near ? there_ps - ideal->scenario->scaleup.delay_ps
		       : there_ps + ideal_answer_ps(ideal, to, from);
}

static struct coll_marks tell(void *context, const struct coll_message *message)
{
	const struct walk *walk = context;
	uint64_t bytes = message->bytes;
	struct ideal_message added = {
		.from = message->from,
		.to = message->to,
		.bytes = bytes,
		.first_bytes = bytes < walk->chunk_bytes ? bytes : walk->chunk_bytes,
		.packets = packets_of(walk, bytes),
		.packet_bytes = last_packet_bytes(walk, bytes),
		.begin_ps = message->after == OP_NONE ? 0 : message->after * PS_PER_NS,
	};
	ps_t there_ps = ideal_add(walk->ideal, &added);
	uint32_t there = mark_of(there_ps);
	bool is_later = message->before != OP_NONE && message->before > there;
	return (struct coll_marks){
		mark_of(sent_ps(walk->ideal, message->from, message->to, there_ps)),
		is_later ? message->before : there};
}

// Chunks so long that messages are not too many, never shorter than they are. A stretch of longer
// ones begins with what a message is, and is cut at its ends.
static uint32_t walk_chunk_bytes(const struct coll_config *config)
{
	uint64_t chunk_bytes = config->chunk_bytes - config->chunk_bytes % config->element_bytes;
	while (chunk_bytes * 2 <= COLL_CHUNK_BYTES_MAX &&
	       config->bytes / chunk_bytes * config->ranks > WALK_MESSAGES_MAX)
		chunk_bytes *= 2;
	return (uint32_t)chunk_bytes;
}

// Adds all messages of a checked collective (coll_check()) whose rank r is NIC r. -ENOMEM from
// `arena`, which holds coll_bytes() meanwhile.
static int ideal_add_collective(struct ideal *ideal, struct arena *arena,
				const struct coll_config *config, struct refusal *refusal)
{
	struct coll_config coarse = *config;
	struct walk walk = {ideal,
			    config->chunk_bytes - config->chunk_bytes % config->element_bytes,
			    ideal->scenario->transport.payload_bytes};
	coarse.chunk_bytes = walk_chunk_bytes(config);
	check(config->ranks <= ideal->topology->nics);
	return coll_walk(&coarse, arena, tell, &walk, refusal);
}

// ---------------------------------------------------------------- rings with credits

// The first slice of a channel's share.
static uint64_t slice_bytes(const struct ring_config *ring, uint64_t share)
{
	uint64_t chunk = share;
	if (ring->form == RING_BARRIER)
		return share;
	chunk = chunk < ring->chunk_bytes_max ? chunk : ring->chunk_bytes_max;
	uint64_t slice = chunk / ring->slices;
	return slice > 0 ? slice : 1;
}

// A hop of a ring: when what goes over it is there, and what its acknowledgement takes.
struct ring_hop {
	ps_t there_ps, answer_ps;
};

// What a slice that leaves out the hop `now`, of two rounds the one before it, too, takes less than
// all of them: it ends with the hop before, and its acknowledgement.
static ps_t left_out_ps(const struct ring_hop *before, const struct ring_hop *now, bool is_twice)
{
	ps_t hop_ps = now->there_ps + (is_twice ? before[0].there_ps : 0);
	return hop_ps - before[is_twice].answer_ps;
}

// A channel's line around, so many steps, which are `hop` of each rank. A slice goes from its rank
// to the one before it, or twice so far but for one hop: the times of the links on the way add up.
// That of the slice which takes longest counts.
static void add_channel(struct ideal *ideal, const struct group *group, uint32_t channel,
			uint64_t steps, struct ideal_message hop)
{
	bool is_twice = steps >= group->ranks;
	uint32_t per_host = ideal->topology->nics_per_host;
	struct ring_hop first[2], before[2] = {0};
	ps_t around_ps = 0, least_ps = PS_NEVER;
	for (uint32_t at = 0, i = 0; i < group->ranks + 2; i++) {
		struct ring_hop now;
		if (i >= group->ranks) {
			now = first[i - group->ranks];
		} else {
			hop.from = group->gpus[at];
			at = group_next(group, channel, at);
			hop.to = group->gpus[at];
			now.there_ps = ideal_add(ideal, &hop);
			bool is_near = hop.from / per_host == hop.to / per_host;
			now.answer_ps = is_near ? 0 : ideal_answer_ps(ideal, hop.to, hop.from);
			around_ps += now.there_ps;
		}
		if (i < 2)
			first[i] = now;
		if (i >= 2)
			least_ps = ps_min(least_ps, left_out_ps(before, &now, is_twice));
		before[1] = before[0];
		before[0] = now;
	}
	ideal->end_ps = ps_max(ideal->end_ps, (1 + is_twice) * around_ps - least_ps);
}

void ideal_add_ring(struct ideal *ideal, const struct group *group, const struct ring_config *ring,
		    enum collective_kind kind, uint64_t bytes)
{
	uint64_t shard = bytes / group->ranks + (bytes % group->ranks != 0);
	uint64_t steps = (kind == COLLECTIVE_ALL_REDUCE ? 2 : 1) * (uint64_t)(group->ranks - 1);
	uint64_t payload_bytes = ideal->scenario->transport.payload_bytes;
	struct ring_config whole = *ring;
	whole.ranks = group->ranks;
	whole.steps_max = 0;
	for (uint32_t channel = 0; channel < ring->channels; channel++) {
		uint64_t share = shard / ring->channels + (channel < shard % ring->channels);
		struct ideal_message hop = {.bytes = steps * share, .packet_bytes = 1};
		if (share == 0)
			continue;
		hop.first_bytes = slice_bytes(ring, share);
		hop.packets = ring_plan_packets(&whole, kind, bytes, channel, payload_bytes);
		add_channel(ideal, group, channel, steps, hop);
	}
}

// ---------------------------------------------------------------- scenarios

static int add_ring(struct ideal *ideal, struct arena *arena, uint32_t channels,
		    struct refusal *refusal)
{
	const struct scenario *scenario = ideal->scenario;
	const struct traffic_config *traffic = &scenario->traffic;
	enum collective_kind kind = (enum collective_kind)traffic->collective;
	struct ring_config ring = traffic->ring;
	struct job job;
	ring.channels = channels;
	int rc = job_from_ring(&job, arena, kind, traffic->bytes, scenario->fabric.nics_per_host,
			       &ring, refusal);
	if (rc == 0)
		ideal_add_ring(ideal, &job.groups[0], &ring, kind, traffic->bytes);
	return rc;
}

// Rings and trees leave a host by one NIC a channel. The least time is that of the hardware: of as
// many channels as use every NIC alike.
static uint32_t all_channels(const struct coll_config *config, bool is_ring)
{
	uint32_t each = config->domain, channels = (config->channels + each - 1) / each * each;
	bool is_chosen = is_ring || config->algorithm == COLL_RING ||
		config->algorithm == COLL_TREE || config->algorithm == COLL_DOUBLE_TREE;
	return is_chosen && channels <= COLL_CHANNELS_MAX ? channels : config->channels;
}

// All messages, over so many channels. What is drawn meanwhile is given back.
static int add_all(struct ideal *ideal, struct arena *arena, const struct coll_config *config,
		   bool is_ring, uint32_t channels, struct refusal *refusal)
{
	const struct arena before = *arena;
	struct coll_config over = *config;
	over.channels = channels;
	ideal_clear(ideal);
	int rc = is_ring ? add_ring(ideal, arena, channels, refusal)
			 : ideal_add_collective(ideal, arena, &over, refusal);
	memset(arena->base + before.used, 0, arena->used - before.used);
	*arena = before;
	return rc;
}

// Of a scenario whose traffic is one collective, on a topology that stands.
static int take_collective(struct ideal_time *ret, struct arena *arena,
			   const struct scenario *scenario, const struct topology *topology,
			   struct refusal *refusal)
{
	bool is_ring = scenario->traffic.kind == TRAFFIC_RING;
	struct coll_config config;
	struct ideal *ideal;
	int rc = ideal_create(&ideal, arena, scenario, topology, refusal);
	if (rc < 0)
		return rc;
	scenario_collective(&config, scenario);
	rc = is_ring ? 0 : coll_check(&config, refusal);
	if (rc == 0)
		rc = add_all(ideal, arena, &config, is_ring, config.channels, refusal);
	uint64_t packets = ideal->packets; // as it runs
	uint32_t channels = all_channels(&config, is_ring);
	if (rc == 0 && channels != config.channels)
		rc = add_all(ideal, arena, &config, is_ring, channels, refusal);
	if (rc == 0)
		*ret = ideal_time(ideal);
	ret->packets = packets;
	return rc;
}

static bool is_one_collective(const struct traffic_config *traffic)
{
	bool is_ring = traffic->kind == TRAFFIC_RING && traffic->jobs <= 1 && traffic->axes == 0;
	return is_ring || traffic->kind == TRAFFIC_COLLECTIVE;
}

int ideal_scenario(struct ideal_time *ret, struct arena *arena, const struct scenario *scenario,
		   struct refusal *refusal)
{
	struct topology topology;
	if (!is_one_collective(&scenario->traffic))
		return refuse(
			refusal, -EINVAL,
			"this traffic is not a single collective: several rings (traffic.jobs, "
			"traffic.axes), or another traffic.kind");
	int rc = topology_build(&topology, arena, &scenario->fabric, scenario->seed, refusal);
	return rc < 0 ? rc : take_collective(ret, arena, scenario, &topology, refusal);
}

// ---------------------------------------------------------------- worlds

// From the first start on. A flow that waits for others may begin at once, for all that is known.
static ps_t first_start_ps(const struct world *world)
{
	ps_t ret = PS_NEVER;
	for (uint32_t i = 0; i < world->flow_count; i++)
		ret = ps_min(ret, world->flows[i].start_ps);
	return world->trigger_count > 0 || ret == PS_NEVER ? 0 : ret;
}

static int take_flows(struct ideal_time *ret, struct arena *arena, const struct world *world,
		      struct refusal *refusal)
{
	struct ideal *ideal;
	ps_t first_ps = first_start_ps(world);
	int rc = ideal_create(&ideal, arena, world->scenario, &world->topology, refusal);
	for (uint32_t i = 0; rc == 0 && i < world->flow_count; i++) {
		const struct flow *flow = &world->flows[i];
		bool waits = world->trigger_count > 0;
		if (flow->bytes == 0 || flow->from == flow->to)
			continue;
		ideal_add(ideal,
			  &(struct ideal_message){.from = flow->from,
						  .to = flow->to,
						  .bytes = flow->bytes,
						  .first_bytes = flow->bytes,
						  .packet_bytes = 1,
						  .begin_ps = waits ? 0 : flow->start_ps - first_ps,
						  .is_by_nic = true});
	}
	if (rc == 0)
		*ret = ideal_time(ideal);
	return rc;
}

static void add_rings(struct ideal *ideal, const struct job *job)
{
	for (uint32_t i = 0; i < job->group_count; i++) {
		const struct group *group = &job->groups[i];
		for (uint32_t b = 0; b < group->bucket_count; b++) {
			const struct bucket *bucket = &job->buckets[group->bucket_first + b];
			ideal_add_ring(ideal, group, &job->ring, bucket->kind, bucket->bytes);
		}
	}
}

// All collectives of a job at once: what they are under way together, lines carry all of it.
static int take_job(struct ideal_time *ret, struct arena *arena, const struct world *world,
		    struct refusal *refusal)
{
	struct ideal *ideal;
	int rc = ideal_create(&ideal, arena, world->scenario, &world->topology, refusal);
	if (rc < 0)
		return rc;
	add_rings(ideal, &world->job);
	*ret = ideal_time(ideal);
	return 0;
}

// ---------------------------------------------------------------- programs

// What a stream computes one after the other.
struct ideal_stream {
	ps_t first_ps, compute_ps;
};

// Since when an operation may begin at the earliest, how many it waits for, and those that wait for
// none any more.
struct chain {
	ps_t *begin_ps;
	uint32_t *left, *ready, ready_count;
	struct ideal_stream *streams; // [streams of all ranks]
};

static void chain_after(struct chain *chain, uint32_t op, ps_t end_ps)
{
	chain->begin_ps[op] = ps_max(chain->begin_ps[op], end_ps);
	if (--chain->left[op] == 0)
		chain->ready[chain->ready_count++] = op;
}

// Of a message; its receive may end when it is there.
static ps_t send_end_ps(struct ideal *ideal, const struct program *program, struct chain *chain,
			uint32_t index)
{
	const struct op *op = &program->ops[index];
	uint32_t from = program->nics[op->rank], to = program->nics[op->peer];
	ps_t begin_ps = chain->begin_ps[index], there_ps = begin_ps;
	if (from != to)
		there_ps = ideal_add(ideal,
				     &(struct ideal_message){.from = from,
							     .to = to,
							     .bytes = op->bytes,
							     .first_bytes = op->bytes,
							     .packet_bytes = 1,
							     .begin_ps = begin_ps});
	if (op->twin != OP_NONE)
		chain_after(chain, op->twin, there_ps);
	return from == to ? begin_ps : ps_max(begin_ps, sent_ps(ideal, from, to, there_ps));
}

// A computation takes what it takes, a part of a collective nothing: its lines are added apart.
static ps_t op_end_ps(struct ideal *ideal, const struct program *program, struct chain *chain,
		      uint32_t index)
{
	const struct op *op = &program->ops[index];
	bool is_known = op->kind == OP_COMPUTE && op->compute_ps != OP_EXTERNAL_COMPUTE_PS;
	ps_t begin_ps = chain->begin_ps[index];
	if (op->kind == OP_SEND)
		return send_end_ps(ideal, program, chain, index);
	if (!is_known)
		return begin_ps;
	struct ideal_stream *stream = &chain->streams[program->stream_first[op->rank] + op->stream];
	if (stream->compute_ps == 0 || begin_ps < stream->first_ps)
		stream->first_ps = begin_ps;
	stream->compute_ps += op->compute_ps;
	return begin_ps + op->compute_ps;
}

static void add_program(struct ideal *ideal, const struct program *program, struct chain *chain)
{
	for (uint32_t i = 0; i < program->op_count; i++) {
		const struct op *op = &program->ops[i];
		chain->left[i] = op->waits_for + (op->kind == OP_RECEIVE && op->twin != OP_NONE);
		if (chain->left[i] == 0)
			chain->ready[chain->ready_count++] = i;
	}
	for (uint32_t at = 0; at < chain->ready_count; at++) {
		uint32_t index = chain->ready[at];
		const struct op *op = &program->ops[index];
		ps_t end_ps = op_end_ps(ideal, program, chain, index);
		ideal->end_ps = ps_max(ideal->end_ps, end_ps);
		for (uint32_t i = 0; i < op->next_count; i++)
			chain_after(chain, program->next[op->next_first + i], end_ps);
	}
}

// Its longest chain of computations and messages, all that a stream computes, and all messages on
// their lines.
static int take_program(struct ideal_time *ret, struct arena *arena, const struct world *world,
			struct refusal *refusal)
{
	const struct program *program = world->program;
	size_t count = program->op_count, streams = program->stream_first[program->ranks];
	struct ideal *ideal;
	int rc = ideal_create(&ideal, arena, world->scenario, &world->topology, refusal);
	if (rc < 0)
		return rc;
	struct chain chain = {
		.begin_ps = arena_draw(arena, ARENA_WORLD, count, sizeof(ps_t)),
		.left = arena_draw(arena, ARENA_WORLD, count, sizeof(uint32_t)),
		.ready = arena_draw(arena, ARENA_WORLD, count, sizeof(uint32_t)),
		.streams = arena_draw(arena, ARENA_WORLD, streams, sizeof(struct ideal_stream))};
	if (arena_has_failed(arena))
		return refuse(refusal, -ENOMEM, "no memory for the chains of % operations", count);
	add_rings(ideal, &world->job);
	add_program(ideal, program, &chain);
	for (size_t i = 0; i < streams; i++)
		ideal->end_ps = ps_max(ideal->end_ps,
				       chain.streams[i].first_ps + chain.streams[i].compute_ps);
	*ret = ideal_time(ideal);
	return 0;
}

int ideal_world(struct ideal_time *ret, struct arena *arena, const struct world *world,
		struct refusal *refusal)
{
	const struct traffic_config *traffic = &world->scenario->traffic;
	bool is_several = world->jobs.bytes != NULL;
	if (is_one_collective(traffic) && traffic->beside_bytes == 0 && !is_several)
		return world->fabric.trunk_sample_kept < world->fabric.trunk_sample_of
			? ideal_scenario(ret, arena, world->scenario, refusal)
			: take_collective(ret, arena, world->scenario, &world->topology, refusal);
	bool is_flows = world->flow_count > 0 && world->program == NULL &&
		world->coll_stream == NULL && world->job.group_count == 0;
	if (is_flows && !is_several)
		return take_flows(ret, arena, world, refusal);
	bool is_job = world->job.group_count > 0 && world->program == NULL &&
		!world->plan.sample.is_on && world->line_count == 0 && world->flow_count == 0;
	if (is_job && !is_several)
		return take_job(ret, arena, world, refusal);
	if (world->plan.sample.is_on)
		return refuse(refusal, -EINVAL, IDEAL_OF_SAMPLE);
	if (world->program != NULL && world->coll_stream == NULL)
		return take_program(ret, arena, world, refusal);
	return refuse(refusal, -EINVAL, IDEAL_NONE);
}
