// SPDX-License-Identifier: Apache-2.0
// Several jobs as the traffic of a world: each is seated and becomes a program of its own, then one
// program of all. A job that does not run has its NICs all the same, so that each is where it
// sits with the others.

#include <errno.h>
#include <string.h>

#include <weft/workload/step_program.h>
#include <weft/world/world_step.h>

#include "build.h"

struct jobs_build {
	struct world *world;
	struct refusal *refusal;
	struct mix_room room;
	struct mix_part parts[MIX_PARTS_MAX];
	uint32_t count;
};

static struct ring_config ring_for(const struct scenario *scenario, uint32_t ranks)
{
	struct ring_config ring = scenario->traffic.ring;
	ring.ranks = ranks;
	return ring;
}

// NICs that the job has of its first host, which all have.
static uint32_t per_host_of(const struct jobs_build *build, const struct scenario_job *job,
			    const uint32_t *nics)
{
	uint32_t per_host = build->room.nics_per_host, count = 1;
	while (count < job->placement.ranks && nics[count] / per_host == nics[0] / per_host)
		count++;
	return count;
}

// ---------------------------------------------------------------- what a job is

static int build_ring(struct jobs_build *build, const struct scenario_job *job, uint32_t per_host,
		      struct program **ret)
{
	struct arena *arena = build->world->arena;
	const struct ring_config ring = ring_for(build->world->scenario, job->placement.ranks);
	struct job *rings = arena_draw(arena, ARENA_WORKLOAD, 1, sizeof(*rings));
	if (rings == NULL)
		return -ENOMEM;
	int rc = job_from_ring(rings, arena, (enum collective_kind)job->collective, job->bytes,
			       per_host, &ring, build->refusal);
	if (rc < 0)
		return rc;
	char *label = rings->buckets[0].label;
	memcpy(label, job->name, sizeof(rings->buckets[0].label));
	label[sizeof(rings->buckets[0].label) - 1] = '\0';
	return mix_rings(ret, arena, rings, job->placement.ranks, build->refusal);
}

static int build_collective(struct jobs_build *build, const struct scenario_job *job,
			    uint32_t per_host, struct program **ret)
{
	const struct scenario *scenario = build->world->scenario;
	const struct coll_lines lines = scenario_lines(scenario, per_host);
	struct coll_config config = {
		.kind = job->collective,
		.algorithm = job->algorithm,
		.ranks = job->placement.ranks,
		.bytes = job->bytes,
		.element_bytes = scenario->traffic.element_bytes,
		.channels = scenario->traffic.ring.channels,
		.chunk_bytes = (uint32_t)scenario->traffic.ring.chunk_bytes_max,
		.domain = per_host,
	};
	enum coll_algorithm other;
	if (job->algorithm == TRAFFIC_ALGORITHM_AUTO)
		config.algorithm = coll_choose(&config, &lines, &other);
	return coll_program(ret, build->world->arena, &config, build->refusal);
}

// A whole step, on a fabric that is as large as the job. Faults are those of the packets.
static int build_model(struct jobs_build *build, const struct scenario_job *job, uint32_t per_host,
		       struct program **ret)
{
	struct arena *arena = build->world->arena;
	struct scenario *own = arena_draw(arena, ARENA_WORKLOAD, 1, sizeof(*own));
	struct world_step *step = arena_draw(arena, ARENA_WORKLOAD, 1, sizeof(*step));
	if (arena_has_failed(arena))
		return -ENOMEM;
	*own = *build->world->scenario;
	own->traffic.kind = TRAFFIC_MODEL;
	own->traffic.plan = job->plan;
	own->fabric.nics = job->placement.ranks;
	own->fabric.nics_per_host = per_host;
	own->fault_count = 0;
	int rc = world_step(step, own, NULL, build->refusal);
	return rc < 0 ? rc : build_step_program(ret, build->world, step, build->refusal);
}

static int build_program(struct jobs_build *build, const struct scenario_job *job,
			 const uint32_t *nics, const struct program **ret)
{
	uint32_t per_host = per_host_of(build, job, nics);
	struct program *program = NULL;
	int rc = 0;
	if (job->kind == JOB_RING)
		rc = build_ring(build, job, per_host, &program);
	else if (job->kind == JOB_COLLECTIVE)
		rc = build_collective(build, job, per_host, &program);
	else if (job->kind == JOB_MODEL)
		rc = build_model(build, job, per_host, &program);
	*ret = program;
	if (job->kind < JOB_GOAL)
		return rc;
	*ret = job->program;
	if (*ret == NULL)
		return refuse(build->refusal, -EINVAL, "the job's file was not read");
	if ((*ret)->ranks != job->placement.ranks)
		return refuse(build->refusal, -EINVAL,
			      "its file is of % ranks, but jobs[].ranks is %", (*ret)->ranks,
			      job->placement.ranks);
	return 0;
}

// ---------------------------------------------------------------- all of them

static int add_job(struct jobs_build *build, uint32_t index)
{
	const struct scenario *scenario = build->world->scenario;
	const struct scenario_job *job = &scenario->jobs[index];
	struct mix_part *part = &build->parts[build->count];
	struct mix_placement placement = job->placement;
	uint32_t *nics = arena_draw(build->world->arena, ARENA_WORKLOAD, placement.ranks,
				    sizeof(*nics));
	if (nics == NULL)
		return -ENOMEM;
	placement.nics = job->nics;
	int rc = mix_place(&build->room, (uint8_t)index, &placement, nics, build->refusal);
	if (rc < 0 || (scenario->job_only > 0 && scenario->job_only != index + 1))
		return rc;
	rc = build_program(build, job, nics, &part->program);
	part->nics = nics;
	part->start_ps = job->start_ps;
	part->repeats = job->repeats;
	build->count++;
	return rc;
}

int jobs_draw_counts(struct world *world, struct refusal *refusal)
{
	uint64_t cells = (uint64_t)world->cable_count * world->scenario->job_count;
	if (world->jobs.owner_of == NULL)
		return 0;
	world->jobs.bytes = arena_draw(world->arena, ARENA_MEASURE, cells, sizeof(uint64_t));
	return world->jobs.bytes == NULL ? build_no_memory(world, refusal) : 0;
}

static void count_ops(struct world *world)
{
	const struct program *program = world->program;
	for (uint32_t i = 0; i < program->op_count; i++)
		world->jobs.ops[world->jobs.owner_of[program->ops[i].rank]]++;
}

int build_jobs(struct world *world, struct refusal *refusal)
{
	const struct scenario *scenario = world->scenario;
	struct jobs_build build = {.world = world, .refusal = refusal};
	struct program *program;
	int rc = mix_room_draw(&build.room, world->arena, scenario->fabric.nics,
			       scenario->fabric.nics_per_host, refusal);
	for (uint32_t i = 0; rc == 0 && i < scenario->job_count; i++) {
		rc = add_job(&build, i);
		if (rc == -EINVAL && refusal->line == 0)
			refusal->line = scenario->jobs[i].line;
	}
	if (rc == 0) {
		const struct ring_config ring = ring_for(scenario, 0);
		rc = mix_program(&program, world->arena, build.parts, build.count,
				 scenario->fabric.nics, scenario->fabric.nics_per_host, &ring,
				 refusal);
	}
	if (rc < 0)
		return rc == -ENOMEM ? build_no_memory(world, refusal) : rc;
	world->program = program;
	world->jobs.owner_of = build.room.owner;
	count_ops(world);
	if (scenario->traffic.beside_bytes > 0) {
		world->jobs.beside_qpn = arena_draw(world->arena, ARENA_WORLD,
						    scenario->fabric.nics,
						    sizeof(*world->jobs.beside_qpn));
		if (world->jobs.beside_qpn == NULL)
			return build_no_memory(world, refusal);
	}
	if (program->job != NULL)
		world->job = *program->job;
	return 0;
}
