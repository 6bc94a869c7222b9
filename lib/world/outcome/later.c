// SPDX-License-Identifier: Apache-2.0
// Times that a host wrote down by its own clock, as those of all by one.

#include <weft/world/world_pieces.h>

#include <weft/host/host.h>

static void move(ps_t *at, ps_t by_ps)
{
	if (*at != PS_NEVER)
		*at += by_ps;
}

// A time that is 0 until there is one.
static void move_end(ps_t *at, ps_t by_ps)
{
	if (*at != 0)
		move(at, by_ps);
}

static void move_clock(struct collective_clock *clock, ps_t by_ps)
{
	size_t cells = (size_t)clock->channels * clock->steps;
	move(&clock->start_ps, by_ps);
	if (clock->ranks_done > 0)
		move(&clock->end_ps, by_ps);
	for (size_t i = 0; i < cells; i++) {
		if (clock->whole_count[i] == 0)
			continue;
		clock->front_ps[i] += by_ps;
		clock->sum_ps[i] += by_ps * clock->whole_count[i];
	}
}

void world_move_times(struct world *world, uint32_t shard, ps_t by_ps)
{
	struct record *record = world->records[shard];
	struct outcome *outcome = record->outcome;
	uint32_t per_host = world->fabric.nics_per_host;
	for (uint32_t i = 0; i < world->outcome->collective_count; i++)
		move_clock(&record->clocks[i], by_ps);
	for (uint32_t i = 0; i < world->flow_count; i++) {
		if (world->shard_of[world->flows[i].from / per_host] != shard)
			continue;
		move(&world->flows[i].start_ps, by_ps);
		move_end(&world->outcome->flow_end_ps[i], by_ps);
	}
	for (uint32_t i = 0; world->op_times != NULL && i < world->program->op_count; i++) {
		uint32_t nic = world->program->nics[world->program->ops[i].rank];
		if (world->shard_of[nic / per_host] != shard || world->op_times[i].end_ps == 0)
			continue;
		move(&world->op_times[i].begin_ps, by_ps);
		move(&world->op_times[i].end_ps, by_ps);
	}
	move_end(&outcome->end_ps, by_ps);
	for (uint32_t i = 0; i < MIX_PARTS_MAX; i++)
		move_end(&outcome->jobs[i].end_ps, by_ps);
}
