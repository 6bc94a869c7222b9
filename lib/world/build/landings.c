// SPDX-License-Identifier: Apache-2.0
// Addresses of a program's messages.

#include <weft/world/world_landing.h>

#include <errno.h>

#include <weft/host/agent.h>
#include <weft/world/world.h>

#include "agents.h"
#include "build.h"

static int draw(struct landing *landing, const struct world *world, uint64_t receives)
{
	const struct program *program = world->program;
	struct arena *arena = world->arena;
	landing->va = arena_draw(arena, ARENA_WORLD, program->op_count, sizeof(uint64_t));
	landing->receives = arena_draw(arena, ARENA_WORLD, receives, sizeof(uint32_t));
	landing->first = arena_draw(arena, ARENA_WORLD, program->ranks + 1u, sizeof(uint64_t));
	landing->rank_of = arena_draw(arena, ARENA_WORLD, world->fabric.nics, sizeof(uint32_t));
	landing->end = arena_draw(arena, ARENA_WORLD, program->ranks, sizeof(uint64_t));
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
static void count_moves(struct landing *landing, const struct world *world)
{
	for (uint32_t host = 0; host < world->topology.hosts; host++) {
		uint64_t moves = agents_events(world, host);
		if (moves > landing->moves_max)
			landing->moves_max = (uint32_t)moves;
	}
}

int landing_build(struct landing *ret, const struct world *world)
{
	const struct program *program = world->program;
	struct landing landing = {0};
	if (draw(&landing, world, count(program, NULL)) < 0)
		return -ENOMEM;
	count(program, landing.first);
	for (uint32_t i = 0; i < world->fabric.nics; i++)
		landing.rank_of[i] = OP_NONE;
	for (uint32_t rank = 0; rank < program->ranks; rank++)
		landing.rank_of[program->nics[rank]] = rank;
	for (uint32_t i = 0; i < program->op_count; i++) {
		const struct op *op = &program->ops[i];
		if (op->kind != OP_RECEIVE)
			continue;
		landing.va[i] = landing.end[op->rank];
		landing.end[op->rank] += op->bytes;
		landing.receives[landing.first[op->rank]++] = i;
	}
	for (uint32_t rank = program->ranks; rank > 0; rank--) // filled: each is where the next was
		landing.first[rank] = landing.first[rank - 1];
	landing.first[0] = 0;
	count_moves(&landing, world);
	*ret = landing;
	return 0;
}

uint32_t world_moves_max(const struct world *world)
{
	return world->program == NULL ? 0 : world->agent->landing.moves_max;
}

bool world_landing(const struct world *world, uint32_t nic, uint64_t va, uint32_t *ret_receive,
		   uint64_t *ret_offset)
{
	const struct landing *landing = &world->agent->landing;
	uint32_t rank = nic < world->fabric.nics ? landing->rank_of[nic] : OP_NONE;
	if (rank == OP_NONE || va >= landing->end[rank])
		return false;
	uint64_t low = landing->first[rank], high = landing->first[rank + 1];
	while (high - low > 1) { // the last that begins at `va` or before
		uint64_t middle = low + (high - low) / 2;
		if (landing->va[landing->receives[middle]] <= va)
			low = middle;
		else
			high = middle;
	}
	*ret_receive = landing->receives[low];
	*ret_offset = va - landing->va[*ret_receive];
	return true;
}
