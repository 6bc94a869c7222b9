// SPDX-License-Identifier: Apache-2.0
// Builds what hosts need to run a program: which NICs talk, and over what. See opgraph_host.h.

#include <errno.h>

#include "build.h"
#include "hosts.h"
#include "traffic_engine.h"
#include <weft/host/host.h>
#include <weft/host/opgraph_host.h>

static bool is_local_op(const struct world *world, const struct op *op)
{
	const uint32_t *nics = world->program->nics;
	uint32_t per_host = world->fabric.nics_per_host;
	return nics[op->rank] / per_host == nics[op->peer] / per_host;
}

// ---------------------------------------------------------------- checks

int opgraph_hosts_check_nics(const struct world *world, struct refusal *refusal)
{
	const struct program *program = world->program;
	if (program->ranks > world->fabric.nics)
		return refuse(refusal, -EINVAL,
			      "the program is of % ranks, but fabric.nics is %: each rank needs a "
			      "NIC",
			      program->ranks, world->fabric.nics);
	uint32_t *rank_of = arena_draw(world->arena, ARENA_WORLD, world->fabric.nics,
				       sizeof(*rank_of));
	if (rank_of == NULL)
		return build_no_memory(world, refusal);
	for (uint32_t rank = 0; rank < program->ranks; rank++) {
		uint32_t nic = program->nics[rank];
		check(nic < world->fabric.nics);
		if (rank_of[nic] != 0)
			return refuse(refusal, -EINVAL, "rank % and rank % are both at NIC %",
				      rank_of[nic] - 1, rank, nic);
		rank_of[nic] = rank + 1;
	}
	return 0;
}

// Members of one host are neighbours in a ring.
static int check_rings(const struct world *world, struct refusal *refusal)
{
	const struct job *job = world->program->job;
	for (uint32_t i = 0; job != NULL && i < job->group_count; i++)
		if (job->groups[i].ranks_per_host > 1 && world->scenario->scaleup.rate_bps == 0)
			return refuse(refusal, -EINVAL,
				      "NIC % and NIC % of one host talk, and nothing joins them: "
				      "give scaleup.rate, or fabric.nics_per_host 1",
				      job->groups[i].gpus[0], job->groups[i].gpus[1]);
	return 0;
}

static int check_local(const struct world *world, const struct op *op, struct refusal *refusal)
{
	if (world->scenario->scaleup.rate_bps > 0)
		return 0;
	const uint32_t *nics = world->program->nics;
	return refuse(refusal, -EINVAL,
		      "NIC % and NIC % of one host talk, and nothing joins them: give "
		      "scaleup.rate, or fabric.nics_per_host 1",
		      nics[op->rank], nics[op->peer]);
}

// ---------------------------------------------------------------- lines

// The line of the latest send from the rank in hand to each rank.
struct seen {
	uint32_t from, line; // rank + 1; 0: none
};

// Chains the sends of each rank in their order: line_of[] is the next one.
static void chain_sends(const struct program *program, uint32_t *first, uint32_t *line_of)
{
	for (uint32_t rank = 0; rank < program->ranks; rank++)
		first[rank] = OP_NONE;
	for (uint32_t i = program->op_count; i-- > 0;) {
		if (program->ops[i].kind != OP_SEND)
			continue;
		line_of[i] = first[program->ops[i].rank];
		first[program->ops[i].rank] = i;
	}
}

// Counts the lines; with `lines`, makes them and names each send's.
static uint32_t make_lines(const struct world *world, const uint32_t *first, struct seen *seen,
			   uint32_t *line_of, struct opgraph_connection *lines)
{
	const struct program *program = world->program;
	uint32_t count = 0, rounds = lines == NULL ? 0 : program->ranks;
	for (uint32_t rank = 0; rank < program->ranks; rank++) {
		for (uint32_t i = first[rank], next; i != OP_NONE; i = next) {
			const struct op *op = &program->ops[i];
			struct seen *to = &seen[op->peer];
			bool is_local = is_local_op(world, op);
			next = line_of[i];
			if (!is_local && to->from != rounds + rank + 1) {
				*to = (struct seen){rounds + rank + 1, count++};
				if (lines != NULL)
					lines[to->line] = (struct opgraph_connection){
						.from_nic = program->nics[rank],
						.to_nic = program->nics[op->peer]};
			}
			if (lines != NULL)
				line_of[i] = is_local ? OP_NONE : to->line;
		}
	}
	return count;
}

static int build_lines(struct world *world, struct opgraph_host *opgraph_host)
{
	const struct program *program = world->program;
	struct arena *arena = world->arena;
	uint32_t *first = arena_draw(arena, ARENA_WORLD, program->ranks, sizeof(*first));
	struct seen *seen = arena_draw(arena, ARENA_WORLD, program->ranks, sizeof(*seen));
	if (arena_has_failed(arena))
		return -ENOMEM;
	chain_sends(program, first, opgraph_host->line_of);
	world->line_count = make_lines(world, first, seen, opgraph_host->line_of, NULL);
	world->lines = arena_draw(arena, ARENA_WORLD, world->line_count, sizeof(*world->lines));
	if (world->lines == NULL)
		return -ENOMEM;
	opgraph_host->lines = world->lines;
	opgraph_host->channels = world->scenario->step != NULL
		? world->scenario->traffic.ring.channels
		: world->scenario->traffic.step_channels;
	make_lines(world, first, seen, opgraph_host->line_of, opgraph_host->lines);
	return 0;
}

// A computation for each stream, two ends of each scale-up transfer, and the begin.
static void count_events(const struct world *world, uint64_t *events)
{
	const struct program *program = world->program;
	uint32_t per_host = world->fabric.nics_per_host;
	for (uint32_t rank = 0; rank < program->ranks; rank++)
		events[program->nics[rank] / per_host] += 1 + program->stream_first[rank + 1] -
			program->stream_first[rank];
	for (uint32_t i = 0; i < program->op_count; i++) {
		uint64_t *of = &events[program->nics[program->ops[i].rank] / per_host];
		if (program->ops[i].kind == OP_SEND && is_local_op(world, &program->ops[i]))
			*of += 2;
		*of += external_compute_is(&program->ops[i]);
	}
}

static int draw_times(struct world *world, struct opgraph_host *opgraph_host)
{
	if (!world->scenario->watch.has_operations)
		return 0;
	opgraph_host->times = arena_draw(world->arena, ARENA_MEASURE, world->program->op_count,
					 sizeof(*opgraph_host->times));
	world->op_times = opgraph_host->times;
	if (opgraph_host->times == NULL)
		return -ENOMEM;
	for (uint32_t i = 0; i < world->program->op_count; i++)
		opgraph_host->times[i] = (struct op_time){PS_NEVER, PS_NEVER};
	return 0;
}

static int build_opgraph_host(struct world *world)
{
	const struct program *program = world->program;
	struct arena *arena = world->arena;
	struct opgraph_host *opgraph_host = arena_draw(arena, ARENA_WORLD, 1,
						       sizeof(*opgraph_host));
	if (opgraph_host == NULL)
		return -ENOMEM;
	*opgraph_host = (struct opgraph_host){
		.program = program,
		.owner_of = world->jobs.owner_of,
		.line_of = arena_draw(arena, ARENA_WORLD, program->op_count, sizeof(uint32_t)),
		.next = arena_draw(arena, ARENA_WORLD, program->op_count, sizeof(uint32_t)),
		.events = arena_draw(arena, ARENA_WORLD, world->topology.hosts, sizeof(uint64_t))};
	world->opgraph_host = opgraph_host;
	if (draw_times(world, opgraph_host) < 0)
		return -ENOMEM;
	if (arena_has_failed(arena))
		return -ENOMEM;
	count_events(world, opgraph_host->events);
	if (external_compute_build(world) < 0)
		return -ENOMEM;
	if (write_target_build(&opgraph_host->write_target, world) < 0)
		return -ENOMEM;
	int rc = program_run_create(&opgraph_host->run, arena, program);
	return rc < 0 ? rc : build_lines(world, opgraph_host);
}

static int build(struct world *world, struct refusal *refusal)
{
	const struct program *program = world->program;
	int rc = opgraph_hosts_check_nics(world, refusal);
	if (rc == 0)
		rc = check_rings(world, refusal);
	for (uint32_t i = 0; rc == 0 && i < program->op_count; i++)
		if (program->ops[i].kind == OP_SEND && is_local_op(world, &program->ops[i]))
			rc = check_local(world, &program->ops[i], refusal);
	if (rc < 0)
		return rc;
	return build_opgraph_host(world) < 0 ? build_no_memory(world, refusal) : 0;
}

// ---------------------------------------------------------------- what hosts will have to do

static void join_rings(struct world *world, const struct builder *builder)
{
	world->opgraph_host->rank_of = builder->rank_of;
	world->opgraph_host->group_first = builder->group_first;
}

static uint32_t ranks(const struct world *world)
{
	return world->program->ranks;
}

static uint32_t nic_of(const struct world *world, uint32_t rank)
{
	return world->program->nics[rank];
}

static uint64_t data_bytes(const struct world *world, uint32_t rank)
{
	return world->opgraph_host->write_target.end[rank] + world->program->plain_bytes;
}

static void count_ends(const struct world *world, uint64_t *of_nic)
{
	const struct program *program = world->program;
	for (uint32_t i = 0; i < program->op_count; i++)
		of_nic[program->nics[program->ops[i].rank]]++;
}

static uint64_t work_of(const struct world *world, uint32_t host)
{
	const struct program *program = world->program;
	uint32_t per_host = world->fabric.nics_per_host;
	uint64_t work = 0;
	for (uint32_t i = 0; i < program->op_count; i++)
		work += program->nics[program->ops[i].rank] / per_host == host;
	return work;
}

static uint64_t events(const struct world *world, uint32_t host)
{
	return world->opgraph_host->events[host];
}

static void plan(struct world *world)
{
	const struct program *program = world->program;
	for (uint32_t rank = 0; rank < program->ranks; rank++) {
		uint32_t host = program->nics[rank] / world->fabric.nics_per_host;
		if (program_run_left(world->opgraph_host->run, rank) > 0 && world_has(world, host))
			host_later(world->hosts[host], HOST_OP_BEGIN, rank, 0);
	}
	world->work_total += program->op_count;
}

static uint64_t fabric_bytes(const struct world *world)
{
	const struct program *program = world->program;
	uint64_t bytes = 0;
	for (uint32_t i = 0; i < program->op_count; i++)
		if (program->ops[i].kind == OP_SEND && world->opgraph_host->line_of[i] != OP_NONE)
			bytes += program->ops[i].bytes;
	return bytes;
}

static uint64_t ops_left(const struct world *world, uint32_t shard)
{
	const struct program *program = world->program;
	uint32_t per_host = world->fabric.nics_per_host;
	uint64_t left = 0;
	for (uint32_t rank = 0; rank < program->ranks; rank++)
		if (world->shard_of[program->nics[rank] / per_host] == shard)
			left += program_run_left(world->opgraph_host->run, rank);
	return left;
}

const struct traffic_engine program_engine = {
	.host = &opgraph_host_engine,
	.build = build,
	.join_rings = join_rings,
	.plan = plan,
	.ranks = ranks,
	.nic_of = nic_of,
	.data_bytes = data_bytes,
	.count_ends = count_ends,
	.events = events,
	.work_of = work_of,
	.left = ops_left,
	.fabric_bytes = fabric_bytes,
};
