// SPDX-License-Identifier: Apache-2.0
// Files of several jobs on one fabric (traffic.kind jobs).

#include <errno.h>
#include <stdio.h>

#include <weft/run/call.h>
#include <weft/workload/workload_goal.h>

// The program of GOAL text, in memory of its own.
static int parse_goal(struct job_set_file *file, const struct scenario_job *job,
		      const struct program **ret, struct refusal *refusal)
{
	struct program *program;
	struct arena arena;
	file->memory_bytes = workload_room(TRAFFIC_GOAL, file->workload.bytes);
	file->memory = memory_reserve(file->memory_bytes);
	if (file->memory == NULL)
		return refuse(refusal, -ENODEV, "the system gives no memory for a job's file");
	arena_init(&arena, file->memory, file->memory_bytes);
	int rc = goal_parse(&program, &arena, file->workload.text, file->workload.bytes,
			    job->unit_ps, refusal);
	*ret = rc < 0 ? NULL : program;
	return rc;
}

// A trace of nodes, for the ranks and the hosts of its job.
static int expand_trace(struct call *call, struct job_set_file *file, struct scenario_job *job)
{
	const struct scenario *scenario = &call->scenario;
	uint32_t per_host = mix_per_host(&job->placement, scenario->fabric.nics_per_host);
	const struct trace_run run = {
		.ranks = job->placement.ranks,
		.rank_host = per_host > 0 ? per_host : 1,
		.ring = scenario->traffic.ring,
	};
	int rc = file->workload.has_set
		? 0
		: workload_read_nodes(&file->workload, job->file, &call->refusal);
	if (rc < 0)
		return rc;
	rc = trace_expand(&file->workload.program, &file->workload.set, &run, &call->refusal);
	job->program = file->workload.program.program;
	return rc;
}

static int read_file(struct call *call, struct job_set_file *file, struct scenario_job *job)
{
	char path[2 * SCENARIO_PATH_BYTES];
	uint32_t ranks;
	bool is_goal = job->kind == JOB_GOAL;
	file_beside(call->scenario.path, job->file, path, sizeof(path));
	int rc = workload_read(&file->workload, is_goal ? TRAFFIC_GOAL : TRAFFIC_TRACE, path,
			       &ranks, &call->refusal);
	if (rc == 0 && is_goal)
		rc = parse_goal(file, job, &job->program, &call->refusal);
	else if (rc == 0)
		rc = expand_trace(call, file, job);
	if (rc < 0 && call->refusal.file[0] == '\0') {
		snprintf(call->refusal.file, sizeof(call->refusal.file), "%s", call->scenario.path);
		call->refusal.line = job->line;
	}
	return rc;
}

int job_set_read(struct call *call)
{
	struct scenario *scenario = &call->scenario;
	int rc = 0;
	job_set_free(call);
	if (scenario->traffic.kind != TRAFFIC_JOBS)
		return 0;
	for (uint32_t i = 0; rc == 0 && i < scenario->job_count; i++)
		if (scenario->jobs[i].kind >= JOB_GOAL)
			rc = read_file(call, &call->job_set.files[i], &scenario->jobs[i]);
	return rc;
}

void job_set_free(struct call *call)
{
	for (uint32_t i = 0; i < SCENARIO_JOBS_MAX; i++) {
		struct job_set_file *file = &call->job_set.files[i];
		workload_free(&file->workload);
		if (file->memory != NULL)
			memory_release(file->memory, file->memory_bytes);
		*file = (struct job_set_file){0};
	}
}
