// SPDX-License-Identifier: Apache-2.0
// The list `jobs` of a scenario: several jobs on one fabric. What a job has depends on what it is.
// Whether there is room for all is for the world to say, which places them.

#include <string.h>

#include <weft/core/near_word.h>

#include "scenario_reader.h"

#define KIND(kind) (1u << (kind))
#define PLACED(placement) (1u << (placement))

// The keys that some kinds of job may have, and which of these need them.
static const struct {
	const char *path;
	uint32_t may, must;
	const char *needs;
} kind_keys[] = {
	{"jobs[].collective", KIND(JOB_RING) | KIND(JOB_COLLECTIVE), 0, "ring or collective"},
	{"jobs[].algorithm", KIND(JOB_COLLECTIVE), 0, "collective"},
	{"jobs[].bytes", KIND(JOB_RING) | KIND(JOB_COLLECTIVE),
	 KIND(JOB_RING) | KIND(JOB_COLLECTIVE), "ring or collective"},
	{"jobs[].model", KIND(JOB_MODEL), KIND(JOB_MODEL), "model"},
	{"jobs[].file", KIND(JOB_GOAL) | KIND(JOB_TRACE), KIND(JOB_GOAL) | KIND(JOB_TRACE),
	 "goal or trace"},
	{"jobs[].unit", KIND(JOB_GOAL), 0, "goal"},
};

// The same of placements.
static const struct {
	const char *path;
	uint32_t may, must;
	const char *needs;
} placement_keys[] = {
	{"jobs[].per_host",
	 PLACED(PLACEMENT_PACKED) | PLACED(PLACEMENT_SPREAD) | PLACED(PLACEMENT_RANDOM), 0,
	 "packed, spread or random"},
	{"jobs[].first", PLACED(PLACEMENT_PACKED) | PLACED(PLACEMENT_SPREAD), 0,
	 "packed or spread"},
	{"jobs[].stride", PLACED(PLACEMENT_SPREAD), 0, "spread"},
	{"jobs[].seed", PLACED(PLACEMENT_RANDOM), 0, "random"},
	{"jobs[].nics", PLACED(PLACEMENT_LIST), PLACED(PLACEMENT_LIST), "list"},
};

static int check_key(struct reader *reader, const yaml_node_t *node, const char *path, bool may,
		     bool must, const char *of, const char *needs)
{
	bool is_given = reader_is_given(reader, path);
	if (!is_given && must)
		return reader_refuse(reader, document_mark(node), "%s is missing; %s %s needs it",
				     path, of, needs);
	if (is_given && !may)
		return reader_refuse(reader, reader_mark(reader, path),
				     "%s has no effect here; it needs %s %s", path, of, needs);
	return 0;
}

static int check_keys(struct reader *reader, const yaml_node_t *node,
		      const struct scenario_job *job)
{
	uint32_t kind = KIND(job->kind), placed = PLACED(job->placement.kind);
	int rc = 0;
	for (size_t i = 0; rc == 0 && i < sizeof(kind_keys) / sizeof(*kind_keys); i++)
		rc = check_key(reader, node, kind_keys[i].path, kind_keys[i].may & kind,
			       kind_keys[i].must & kind, "jobs[].kind", kind_keys[i].needs);
	for (size_t i = 0; rc == 0 && i < sizeof(placement_keys) / sizeof(*placement_keys); i++)
		rc = check_key(reader, node, placement_keys[i].path, placement_keys[i].may & placed,
			       placement_keys[i].must & placed, "jobs[].placement",
			       placement_keys[i].needs);
	return rc;
}

static int check_name(struct reader *reader, uint32_t index)
{
	const struct scenario_job *jobs = reader->scenario->jobs;
	const char *name = jobs[index].name;
	if (name[0] == '\0' || strchr(name, ' ') != NULL)
		return reader_refuse(reader, reader_mark(reader, "jobs[].name"),
				     "jobs[].name: a name is one word");
	for (uint32_t i = 0; i < index; i++)
		if (strcmp(jobs[i].name, name) == 0)
			return reader_refuse(reader, reader_mark(reader, "jobs[].name"),
					     "jobs[].name: %s appears twice", name);
	return 0;
}

static int check_what(struct reader *reader, const struct scenario_job *job)
{
	uint32_t nics = reader->scenario->fabric.nics;
	if (job->placement.ranks > nics)
		return reader_refuse(reader, reader_mark(reader, "jobs[].ranks"),
				     "jobs[].ranks: %u is more than fabric.nics, %u",
				     job->placement.ranks, nics);
	if (job->kind == JOB_RING && job->collective > COLL_ALL_REDUCE)
		return reader_refuse(reader, reader_mark(reader, "jobs[].collective"),
				     "jobs[].collective: a ring does no %s; jobs[].kind collective "
				     "has it",
				     coll_kind_name(job->collective));
	return 0;
}

static int read_job(struct reader *reader, yaml_document_t *document, const yaml_node_t *node,
		    uint32_t index)
{
	struct scenario *scenario = reader->scenario;
	struct scenario_job *job = &scenario->jobs[index];
	*job = (struct scenario_job){
		.placement = {.stride = 2, .seed = scenario->seed},
		.repeats = 1,
		.algorithm = (enum coll_algorithm)TRAFFIC_ALGORITHM_AUTO,
		.unit_ps = PS_PER_NS,
		.line = document_mark(node).line,
	};
	int rc = document_read_element(reader, document, node, "jobs[]", job);
	if (rc != 0)
		return rc;
	scenario->job_count = index + 1;
	if (job->placement.seed == 0)
		job->placement.seed = scenario->seed;
	rc = check_name(reader, index);
	if (rc == 0)
		rc = check_keys(reader, node, job);
	return rc == 0 ? check_what(reader, job) : rc;
}

// traffic.placement in place of what each job says; dealt out in turns over all.
static void take_placement(struct reader *reader)
{
	struct scenario *scenario = reader->scenario;
	if (!reader_is_given(reader, "traffic.placement"))
		return;
	for (uint32_t i = 0; i < scenario->job_count; i++) {
		struct mix_placement *placement = &scenario->jobs[i].placement;
		placement->kind = scenario->traffic.placement;
		placement->first_host = 0;
		placement->stride = scenario->job_count;
	}
}

static int find_only(struct reader *reader)
{
	struct scenario *scenario = reader->scenario;
	scenario->job_only = 0;
	if (!reader_is_given(reader, "traffic.only"))
		return 0;
	for (uint32_t i = 0; i < scenario->job_count; i++)
		if (strcmp(scenario->jobs[i].name, scenario->only) == 0)
			scenario->job_only = i + 1;
	if (scenario->job_only > 0)
		return 0;
	char meant[NEAR_WORD_BYTES + 24] = "";
	struct near_word near_word = near_word_of(scenario->only);
	for (uint32_t i = 0; i < scenario->job_count; i++)
		near_word_see(&near_word, scenario->jobs[i].name);
	near_word_append(&near_word, meant, sizeof(meant));
	return reader_refuse(reader, reader_mark(reader, "traffic.only"),
			     "traffic.only: there is no job %s%s", scenario->only, meant);
}

int reader_read_jobs(struct reader *reader, yaml_document_t *document)
{
	int rc = reader_read_list(reader, document, "jobs", SCENARIO_JOBS_MAX, read_job);
	if (rc == 0 && reader->scenario->traffic.kind == TRAFFIC_JOBS &&
	    reader->scenario->job_count == 0)
		rc = reader_refuse(reader, reader_mark(reader, "jobs"),
				   "jobs: at least one job is needed");
	if (rc != 0)
		return rc;
	take_placement(reader);
	return find_only(reader);
}

bool scenario_jobs_compute(const struct scenario *scenario)
{
	for (uint32_t i = 0; i < scenario->job_count; i++)
		if (scenario->jobs[i].kind >= JOB_MODEL)
			return true;
	return false;
}
