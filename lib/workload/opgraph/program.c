// SPDX-License-Identifier: Apache-2.0
// Programs while they grow: operations and what waits for what. See program.h.

#include <weft/workload/program.h>

#include <errno.h>

#include <weft/core/check.h>
#include <weft/workload/workload.h>

static const char *const kind_names[] = {"compute", "send", "receive", "collective"};
_Static_assert(sizeof(kind_names) / sizeof(*kind_names) == OP_KIND_COUNT, "a name for each kind");

const char *op_kind_name(enum op_kind kind)
{
	check((unsigned)kind < OP_KIND_COUNT);
	return kind_names[kind];
}

int program_create(struct program **ret, struct arena *arena, uint32_t ranks, uint32_t op_max,
		   uint32_t edge_max, struct refusal *refusal)
{
	if (ranks == 0)
		return refuse(refusal, -EINVAL, "a program needs 1 rank or more");
	struct program *program = arena_draw(arena, ARENA_WORKLOAD, 1, sizeof(*program));
	if (program != NULL)
		*program = (struct program){
			.ranks = ranks,
			.op_max = op_max,
			.ops = arena_draw(arena, ARENA_WORKLOAD, op_max, sizeof(struct op)),
			.edge_max = edge_max,
			.edge_from = arena_draw(arena, ARENA_WORKLOAD, edge_max, sizeof(uint32_t)),
			.edge_to = arena_draw(arena, ARENA_WORKLOAD, edge_max, sizeof(uint32_t)),
			.nics = arena_draw(arena, ARENA_WORKLOAD, ranks, sizeof(uint32_t)),
			.refused_op = OP_NONE};
	if (arena_has_failed(arena))
		return refuse(refusal, -ENOMEM,
			      "no memory for a program of % ranks, % operations and % dependencies",
			      ranks, op_max, edge_max);
	for (uint32_t i = 0; i < ranks; i++)
		program->nics[i] = i;
	*ret = program;
	return 0;
}

static uint32_t add(struct program *program, const struct op *op)
{
	check(!program->is_sealed && program->op_count < program->op_max);
	check(op->rank < program->ranks);
	program->ops[program->op_count] = *op;
	return program->op_count++;
}

uint32_t program_compute(struct program *program, uint32_t rank, uint16_t stream, ps_t compute_ps)
{
	check(compute_ps >= 0);
	return add(program,
		   &(struct op){.kind = OP_COMPUTE,
				.stream = stream,
				.rank = rank,
				.compute_ps = compute_ps});
}

static uint32_t add_message(struct program *program, const struct op *op)
{
	check(op->bytes > 0 && op->peer < program->ranks && op->peer != op->rank);
	check(op->offset <= INT64_MAX);
	uint64_t end = op->offset + op->bytes;
	program->buffer_bytes = end > program->buffer_bytes ? end : program->buffer_bytes;
	return add(program, op);
}

uint32_t program_send(struct program *program, uint32_t rank, uint32_t to, uint32_t tag,
		      uint32_t bytes, uint64_t offset)
{
	return add_message(program,
			   &(struct op){.kind = OP_SEND,
					.rank = rank,
					.peer = to,
					.tag = tag,
					.bytes = bytes,
					.twin = OP_NONE,
					.offset = offset});
}

uint32_t program_receive(struct program *program, uint32_t rank, uint32_t from, uint32_t tag,
			 uint32_t bytes, uint64_t offset, bool is_sum)
{
	return add_message(program,
			   &(struct op){.kind = OP_RECEIVE,
					.is_sum = is_sum,
					.rank = rank,
					.peer = from,
					.tag = tag,
					.bytes = bytes,
					.twin = OP_NONE,
					.offset = offset});
}

void program_use_job(struct program *program, const struct job *job)
{
	check(!program->is_sealed && program->job == NULL);
	program->job = job;
}

uint32_t program_collective(struct program *program, uint32_t rank, uint32_t group, uint32_t at,
			    uint32_t bucket)
{
	check(program->job != NULL && group < program->job->group_count);
	const struct group *of = &program->job->groups[group];
	check(at < of->ranks && bucket < of->bucket_count);
	check(program->nics[rank] == of->gpus[at]);
	return add(program,
		   &(struct op){.kind = OP_COLLECTIVE,
				.rank = rank,
				.group = group,
				.at = at,
				.bucket = bucket});
}

void program_wait(struct program *program, uint32_t op, uint32_t before)
{
	if (before == OP_NONE)
		return;
	check(!program->is_sealed && program->edge_count < program->edge_max);
	check(op < program->op_count && before < program->op_count);
	check(program->ops[op].rank == program->ops[before].rank);
	program->edge_from[program->edge_count] = before;
	program->edge_to[program->edge_count++] = op;
	program->ops[op].waits_for++;
	program->ops[before].next_count++;
}
