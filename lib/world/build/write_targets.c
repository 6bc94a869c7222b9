// SPDX-License-Identifier: Apache-2.0
// Addresses of a program's messages.

#include <weft/world/world_write_target.h>

#include <errno.h>

#include <weft/host/opgraph_host.h>
#include <weft/world/world.h>

#include "build.h"

static int draw(struct write_target *write_target, const struct world *world, uint64_t receives)
{
	const struct program *program = world->program;
	struct arena *arena = world->arena;
	write_target->va = arena_draw(arena, ARENA_WORLD, program->op_count, sizeof(uint64_t));
	write_target->receives = arena_draw(arena, ARENA_WORLD, receives, sizeof(uint32_t));
	write_target->first = arena_draw(arena, ARENA_WORLD, program->ranks + 1u, sizeof(uint64_t));
	write_target->rank_of = arena_draw(arena, ARENA_WORLD, world->fabric.nics,
					   sizeof(uint32_t));
	write_target->end = arena_draw(arena, ARENA_WORLD, program->ranks, sizeof(uint64_t));
	return arena_has_failed(arena) ? -ENOMEM : 0;
}

// Counts receives into first[rank + 1], and makes of them where each rank's begin.
static uint64_t count(const struct program *program, uint64_t *first)
{
	uint64_t receives = 0;
	for (uint32_t i = 0; i < program->op_count; i++) {
		receives += program->ops[i].kind == OP_RECEIVE;
		if (first != NULL && program->ops[i].kind == OP_RECEIVE)
			first[program->ops[i].rank + 1]++;
	}
	for (uint32_t rank = 0; first != NULL && rank < program->ranks; rank++)
		first[rank + 1] += first[rank];
	return receives;
}

// Inside a host, a call may end at most all that the host moves.
static void count_moves(struct write_target *write_target, const struct world *world)
{
	for (uint32_t host = 0; host < world->topology.hosts; host++) {
		uint64_t moves = world->opgraph_host->events[host];
		if (moves > write_target->moves_max)
			write_target->moves_max = (uint32_t)moves;
	}
}

int write_target_build(struct write_target *ret, const struct world *world)
{
	const struct program *program = world->program;
	struct write_target write_target = {0};
	if (draw(&write_target, world, count(program, NULL)) < 0)
		return -ENOMEM;
	count(program, write_target.first);
	for (uint32_t i = 0; i < world->fabric.nics; i++)
		write_target.rank_of[i] = OP_NONE;
	for (uint32_t rank = 0; rank < program->ranks; rank++)
		write_target.rank_of[program->nics[rank]] = rank;
	for (uint32_t i = 0; i < program->op_count; i++) {
		const struct op *op = &program->ops[i];
		if (op->kind != OP_RECEIVE)
			continue;
		write_target.va[i] = write_target.end[op->rank];
		write_target.end[op->rank] += op->bytes;
		write_target.receives[write_target.first[op->rank]++] = i;
	}
	for (uint32_t rank = program->ranks; rank > 0; rank--) // filled: each is where the next was
		write_target.first[rank] = write_target.first[rank - 1];
	write_target.first[0] = 0;
	count_moves(&write_target, world);
	*ret = write_target;
	return 0;
}

uint32_t world_moves_max(const struct world *world)
{
	return world->program == NULL ? 0 : world->opgraph_host->write_target.moves_max;
}

bool world_write_target(const struct world *world, uint32_t nic, uint64_t va, uint32_t *ret_receive,
			uint64_t *ret_offset)
{
	const struct write_target *write_target = &world->opgraph_host->write_target;
	uint32_t rank = nic < world->fabric.nics ? write_target->rank_of[nic] : OP_NONE;
	if (rank == OP_NONE || va >= write_target->end[rank])
		return false;
	uint64_t low = write_target->first[rank], high = write_target->first[rank + 1];
	while (high - low > 1) { // the last that begins at `va` or before
		uint64_t middle = low + (high - low) / 2;
		if (write_target->va[write_target->receives[middle]] <= va)
			low = middle;
		else
			high = middle;
	}
	*ret_receive = write_target->receives[low];
	*ret_offset = va - write_target->va[*ret_receive];
	return true;
}
