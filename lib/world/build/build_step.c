// SPDX-License-Identifier: Apache-2.0
// A whole step as the traffic of a world: the program of its schedule for every rank.

#include <errno.h>

#include <weft/workload/step_program.h>
#include <weft/world/world_step.h>

#include "build.h"

#define PACKETS_MAX_DEFAULT UINT64_C(40000000)

// Refuses what would run for hours.
static int check_packets(const struct world *world, const struct step_program *of,
			 struct refusal *refusal)
{
	struct step_program_size size;
	uint64_t most = world->scenario->sample.packets_max;
	int rc = step_program_size(&size, of, world->arena, refusal);
	most = most > 0 ? most : PACKETS_MAX_DEFAULT;
	if (rc == -ENOMEM)
		return build_no_memory(world, refusal);
	if ((rc < 0 && rc != -E2BIG) || (rc == 0 && size.packets <= most))
		return rc;
	return refuse(refusal, -EINVAL,
		      "all packets of this step would be % of data in % operations, over the % "
		      "allowed: allow more by --sample packets=N, or take --fidelity sample or "
		      "model",
		      (int64_t)size.packets, (int64_t)size.ops, (int64_t)most);
}

int build_step_program(struct program **ret, struct world *world, const struct world_step *step,
		       struct refusal *refusal)
{
	struct job job;
	int rc = job_from_plan(&job, world->arena, &step->plan, step->gpu_layout.gpus_per_domain,
			       &world->scenario->traffic.ring, refusal);
	if (rc < 0)
		return rc;
	const struct step_program of = {.plan = &step->plan,
					.setup = &step->setup,
					.job = &job,
					.order = &step->order,
					.gpu_layout = step->gpu_layout,
					.payload_bytes = world->transport.payload_bytes};
	rc = check_packets(world, &of, refusal);
	return rc < 0 ? rc : step_program_create(ret, world->arena, &of, refusal);
}

int build_step(struct world *world, struct refusal *refusal)
{
	struct program *program = NULL;
	int rc = build_step_program(&program, world, world->scenario->step, refusal);
	world->program = program;
	return rc == -ENOMEM ? build_no_memory(world, refusal) : rc;
}
