// SPDX-License-Identifier: Apache-2.0
// Computations that end outside. See weft/world/world_outside.h.

#include "outside.h"

#include <errno.h>

#include <weft/world/world_outside.h>

#include <weft/host/host.h>

int outside_build(const struct world *world)
{
	const struct program *program = world->program;
	bool has_any = world->scenario->traffic.kind == TRAFFIC_GRADIENTS; // to be recorded
	for (uint32_t i = 0; i < program->op_count; i++)
		has_any |= outside_is(&program->ops[i]);
	if (!has_any)
		return 0;
	world->agent->begun_ps = arena_draw(world->arena, ARENA_WORLD, program->op_count,
					    sizeof(ps_t));
	return world->agent->begun_ps == NULL ? -ENOMEM : 0;
}

bool world_outside_has_begun(const struct world *world, uint32_t op, ps_t *ret_at)
{
	const struct agent *agent = world->agent;
	if (!program_run_has_begun(agent->run, op))
		return false;
	*ret_at = agent->begun_ps[op];
	return true;
}

void world_outside_end(const struct world *world, uint32_t op, ps_t at, world_wake_fn *wake,
		       void *context)
{
	const struct program *program = world->program;
	check(outside_is(&program->ops[op]) && at >= world->agent->begun_ps[op]);
	uint32_t host = program->nics[program->ops[op].rank] / world->fabric.nics_per_host;
	host_later(world->hosts[host], HOST_OP_ENDED, op, at);
	wake(context, host, at);
}
