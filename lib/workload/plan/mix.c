// SPDX-License-Identifier: Apache-2.0
// Programs put together: what each does stays as it is, ranks become NICs, rings become groups of
// one job. Jobs never share a NIC, so that tags and buffers cannot meet. See mix.h.

#include <weft/workload/mix.h>

#include <errno.h>

#include <weft/core/check.h>

#include "job.h"

#define GATE_STREAM 0 // nothing else of the rank is ready when a gate is

struct mixing {
	struct program *program; // of all
	struct job *job;	 // of all rings
	struct arena *arena;
	uint32_t *ops;	 // [ops of the part] what each became, in the round in hand
	uint32_t *gates; // [ranks of the part]
	uint32_t nics_per_host;
};

// ---------------------------------------------------------------- sizes

// A gate for each rank and round waits for all that the round before ended with.
static int count_all(const struct mix_part *parts, uint32_t count, uint64_t *ret_ops,
		     uint64_t *ret_edges, struct refusal *refusal)
{
	*ret_ops = *ret_edges = 0;
	for (uint32_t i = 0; i < count; i++) {
		const struct program *program = parts[i].program;
		check(program->is_sealed && parts[i].repeats > 0);
		uint64_t repeats = parts[i].repeats, ops = program->op_count;
		*ret_ops += repeats * (ops + program->ranks);
		*ret_edges += repeats * (program->edge_count + 2 * ops + program->ranks);
	}
	if (*ret_ops < OP_NONE && *ret_edges < OP_NONE)
		return 0;
	return refuse(refusal, -EINVAL, "these jobs have % operations: a program has at most %",
		      (int64_t)*ret_ops, OP_NONE - 1);
}

// ---------------------------------------------------------------- rings

static void count_rings(const struct mix_part *parts, uint32_t count, uint32_t *groups,
			uint64_t *buckets)
{
	*groups = 0;
	*buckets = 0;
	for (uint32_t i = 0; i < count; i++) {
		const struct job *job = parts[i].program->job;
		*groups += job == NULL ? 0 : job->group_count;
		*buckets += job == NULL ? 0 : (uint64_t)job->bucket_count * parts[i].repeats;
	}
}

static int add_group(struct mixing *mixing, const struct mix_part *part, const struct group *of,
		     struct refusal *refusal)
{
	struct job *job = mixing->job;
	const struct job *from = part->program->job;
	struct group *group = &job->groups[job->group_count++];
	int rc = group_draw(group, mixing->arena, of->ranks, refusal);
	if (rc < 0)
		return rc;
	for (uint32_t at = 0; at < of->ranks; at++)
		group->gpus[at] = part->nics[of->gpus[at]];
	group->stage = of->stage;
	group->index = of->index;
	group->bucket_first = job->bucket_count;
	for (uint32_t round = 0; round < part->repeats; round++)
		for (uint32_t i = 0; i < of->bucket_count; i++) {
			struct bucket *bucket = &job->buckets[job->bucket_count++];
			*bucket = from->buckets[of->bucket_first + i];
			bucket->release_ps += part->start_ps;
		}
	group->bucket_count = job->bucket_count - group->bucket_first;
	return group_layout(group, mixing->nics_per_host, refusal);
}

// The rings of all parts, part by part: op.group of a part counts from where its groups begin.
static int mix_groups(struct mixing *mixing, const struct mix_part *parts, uint32_t count,
		      const struct ring_config *ring, struct refusal *refusal)
{
	uint32_t groups;
	uint64_t buckets;
	count_rings(parts, count, &groups, &buckets);
	if (groups == 0)
		return 0;
	if (buckets >= OP_NONE)
		return refuse(refusal, -EINVAL, "more than % collectives", OP_NONE);
	mixing->job = arena_draw(mixing->arena, ARENA_WORKLOAD, 1, sizeof(*mixing->job));
	if (mixing->job == NULL)
		return refuse(refusal, -ENOMEM, "no memory for the rings of jobs");
	*mixing->job = (struct job){.ring = *ring};
	int rc = job_draw(mixing->job, mixing->arena, groups, (uint32_t)buckets, refusal);
	for (uint32_t i = 0; rc == 0 && i < count; i++) {
		const struct job *job = parts[i].program->job;
		for (uint32_t g = 0; rc == 0 && job != NULL && g < job->group_count; g++)
			rc = add_group(mixing, &parts[i], &job->groups[g], refusal);
	}
	if (rc == 0)
		program_use_job(mixing->program, mixing->job);
	return rc;
}

// ---------------------------------------------------------------- operations

static uint32_t add_op(struct mixing *mixing, const struct mix_part *part, const struct op *op,
		       uint32_t group_first, uint32_t round)
{
	struct program *to = mixing->program;
	uint32_t rank = part->nics[op->rank];
	switch ((enum op_kind)op->kind) {
	case OP_COMPUTE:
		return program_compute(to, rank, op->stream, op->compute_ps);
	case OP_SEND:
		return program_send(to, rank, part->nics[op->peer], op->tag, op->bytes, op->offset);
	case OP_RECEIVE:
		return program_receive(to, rank, part->nics[op->peer], op->tag, op->bytes,
				       op->offset, op->is_sum);
	default:
		break;
	}
	check(op->kind == OP_COLLECTIVE);
	uint32_t each = part->program->job->groups[op->group].bucket_count;
	return program_collective(to, rank, group_first + op->group, op->at,
				  round * each + op->bucket);
}

static void add_waits(struct mixing *mixing, const struct program *from)
{
	for (uint32_t i = 0; i < from->op_count; i++) {
		const struct op *op = &from->ops[i];
		for (uint32_t k = 0; k < op->next_count; k++)
			program_wait(mixing->program, mixing->ops[from->next[op->next_first + k]],
				     mixing->ops[i]);
		if (op->waits_for == 0)
			program_wait(mixing->program, mixing->ops[i], mixing->gates[op->rank]);
	}
}

// Where a rank begins a round: at the start, or when all of its round before has ended.
static void add_gates(struct mixing *mixing, const struct mix_part *part, uint32_t round)
{
	const struct program *from = part->program;
	struct program *to = mixing->program;
	for (uint32_t rank = 0; rank < from->ranks; rank++) {
		uint32_t before = mixing->gates[rank];
		bool is_first = round == 0;
		mixing->gates[rank] = OP_NONE;
		if (is_first && part->start_ps == 0)
			continue;
		mixing->gates[rank] = program_compute(to, part->nics[rank], GATE_STREAM,
						      is_first ? part->start_ps : 0);
		program_wait(to, mixing->gates[rank], before);
	}
	for (uint32_t i = 0; round > 0 && i < from->op_count; i++)
		if (from->ops[i].next_count == 0)
			program_wait(to, mixing->gates[from->ops[i].rank], mixing->ops[i]);
}

static int add_part(struct mixing *mixing, const struct mix_part *part, uint32_t group_first,
		    struct refusal *refusal)
{
	const struct program *from = part->program;
	mixing->ops = arena_draw(mixing->arena, ARENA_WORKLOAD, from->op_count, sizeof(uint32_t));
	mixing->gates = arena_draw(mixing->arena, ARENA_WORKLOAD, from->ranks, sizeof(uint32_t));
	if (arena_has_failed(mixing->arena))
		return refuse(refusal, -ENOMEM, "no memory for % operations of a job",
			      from->op_count);
	for (uint32_t rank = 0; rank < from->ranks; rank++)
		mixing->gates[rank] = OP_NONE;
	for (uint32_t round = 0; round < part->repeats; round++) {
		add_gates(mixing, part, round);
		for (uint32_t i = 0; i < from->op_count; i++)
			mixing->ops[i] = add_op(mixing, part, &from->ops[i], group_first, round);
		add_waits(mixing, from);
	}
	return 0;
}

int mix_program(struct program **ret, struct arena *arena, const struct mix_part *parts,
		uint32_t count, uint32_t nics, uint32_t nics_per_host,
		const struct ring_config *ring, struct refusal *refusal)
{
	struct mixing mixing = {.arena = arena, .nics_per_host = nics_per_host};
	uint64_t ops, edges;
	uint32_t group_first = 0;
	int rc = count_all(parts, count, &ops, &edges, refusal);
	if (rc == 0)
		rc = program_create(&mixing.program, arena, nics, (uint32_t)ops, (uint32_t)edges,
				    refusal);
	if (rc == 0)
		rc = mix_groups(&mixing, parts, count, ring, refusal);
	for (uint32_t i = 0; rc == 0 && i < count; i++) {
		const struct job *job = parts[i].program->job;
		rc = add_part(&mixing, &parts[i], group_first, refusal);
		group_first += job == NULL ? 0 : job->group_count;
	}
	if (rc < 0)
		return rc;
	*ret = mixing.program;
	return program_seal(*ret, arena, refusal);
}

// ---------------------------------------------------------------- rings alone

int mix_rings(struct program **ret, struct arena *arena, const struct job *job, uint32_t ranks,
	      struct refusal *refusal)
{
	uint64_t ops = 0;
	for (uint32_t g = 0; g < job->group_count; g++)
		ops += (uint64_t)job->groups[g].ranks * job->groups[g].bucket_count;
	if (ops >= OP_NONE)
		return refuse(refusal, -EINVAL, "more than % parts of collectives", OP_NONE);
	int rc = program_create(ret, arena, ranks, (uint32_t)ops, 0, refusal);
	if (rc < 0)
		return rc;
	program_use_job(*ret, job);
	for (uint32_t g = 0; g < job->group_count; g++) {
		const struct group *group = &job->groups[g];
		for (uint32_t at = 0; at < group->ranks; at++)
			for (uint32_t i = 0; i < group->bucket_count; i++)
				program_collective(*ret, group->gpus[at], g, at, i);
	}
	return program_seal(*ret, arena, refusal);
}
