// SPDX-License-Identifier: Apache-2.0
// Computations that end outside. See weft/world/world_external_compute.h.

#include "build/build.h"

#include <errno.h>

#include <weft/world/world_external_compute.h>

#include <weft/host/host.h>

int external_compute_build(const struct world *world)
{
	const struct program *program = world->program;
	bool has_any = world->scenario->traffic.kind == TRAFFIC_GRADIENTS; // to be recorded
	for (uint32_t i = 0; i < program->op_count; i++)
		has_any |= external_compute_is(&program->ops[i]);
	if (!has_any)
		return 0;
	world->opgraph_host->begun_ps = arena_draw(world->arena, ARENA_WORLD, program->op_count,
						   sizeof(ps_t));
	return world->opgraph_host->begun_ps == NULL ? -ENOMEM : 0;
}

bool world_external_compute_has_begun(const struct world *world, uint32_t op, ps_t *ret_at)
{
	const struct opgraph_host *opgraph_host = world->opgraph_host;
	if (!program_run_has_begun(opgraph_host->run, op))
		return false;
	*ret_at = opgraph_host->begun_ps[op];
	return true;
}

void world_external_compute_end(const struct world *world, uint32_t op, ps_t at,
				world_wake_fn *wake, void *context)
{
	const struct program *program = world->program;
	check(external_compute_is(&program->ops[op]) && at >= world->opgraph_host->begun_ps[op]);
	uint32_t host = program->nics[program->ops[op].rank] / world->fabric.nics_per_host;
	host_later(world->hosts[host], HOST_OP_ENDED, op, at);
	wake(context, host, at);
}
