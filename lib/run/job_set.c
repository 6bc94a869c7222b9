// SPDX-License-Identifier: Apache-2.0
// Files of several jobs on one fabric (traffic.kind jobs).

#include <errno.h>
#include <stdio.h>

#include <weft/files/files.h>
#include <weft/run/workload.h>
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
		return refuse(refusal, -ENODEV, "not enough memory for a job's file");
	arena_init(&arena, file->memory, file->memory_bytes);
	int rc = goal_parse(&program, &arena, file->workload.text, file->workload.bytes,
			    job->unit_ps, refusal);
	*ret = rc < 0 ? NULL : program;
	return rc;
}

// A trace of nodes, for the ranks and the hosts of its job.
static int expand_trace(const struct scenario *scenario, struct job_set_file *file,
			struct scenario_job *job, struct refusal *refusal)
{
	uint32_t per_host = mix_per_host(&job->placement, scenario->fabric.nics_per_host);
	const struct trace_run run = {
		.ranks = job->placement.ranks,
		.rank_host = per_host > 0 ? per_host : 1,
		.ring = scenario->traffic.ring,
	};
	int rc = file->workload.has_set ? 0
					: workload_read_nodes(&file->workload, job->file, refusal);
	if (rc < 0)
		return rc;
	rc = trace_expand(&file->workload.program, &file->workload.set, &run, refusal);
	job->program = file->workload.program.program;
	return rc;
}

static int read_file(const struct scenario *scenario, struct job_set_file *file,
		     struct scenario_job *job, struct refusal *refusal)
{
	char path[2 * SCENARIO_PATH_BYTES];
	uint32_t ranks;
	bool is_goal = job->kind == JOB_GOAL;
	file_beside(scenario->path, job->file, path, sizeof(path));
	int rc = workload_read(&file->workload, is_goal ? TRAFFIC_GOAL : TRAFFIC_TRACE, path,
			       &ranks, refusal);
	if (rc == 0 && is_goal)
		rc = parse_goal(file, job, &job->program, refusal);
	else if (rc == 0)
		rc = expand_trace(scenario, file, job, refusal);
	if (rc < 0 && refusal->file[0] == '\0') {
		refusal_name(refusal, scenario->path);
		refusal->line = job->line;
	}
	return rc;
}

int job_set_read(struct job_set_file *files, struct scenario *scenario, struct refusal *refusal)
{
	int rc = 0;
	job_set_free(files);
	if (scenario->traffic.kind != TRAFFIC_JOBS)
		return 0;
	for (uint32_t i = 0; rc == 0 && i < scenario->job_count; i++)
		if (scenario->jobs[i].kind >= JOB_GOAL)
			rc = read_file(scenario, &files[i], &scenario->jobs[i], refusal);
	return rc;
}

void job_set_free(struct job_set_file *files)
{
	for (uint32_t i = 0; i < SCENARIO_JOBS_MAX; i++) {
		workload_free(&files[i].workload);
		if (files[i].memory != NULL)
			memory_release(files[i].memory, files[i].memory_bytes);
		files[i] = (struct job_set_file){0};
	}
}
