// SPDX-License-Identifier: Apache-2.0
// Reads files of jobs, each once. See input_files.h.

#include <weft/run/input_files.h>

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <weft/engine/engine.h>

#define FILE_BYTES_MAX ((size_t)1 << 20)

// Those that were read.
struct known {
	struct known *next;
	char path[2 * SCENARIO_PATH_BYTES];
	struct plan_file file;
};

static struct known *all;

static int read_new(struct known *known, struct refusal *refusal)
{
	char *text;
	size_t bytes;
	int rc = file_read(known->path, FILE_BYTES_MAX, &text, &bytes, refusal);
	if (rc < 0)
		return rc;
	rc = plan_file_read(&known->file, known->path, text, bytes, refusal);
	free(text);
	return rc;
}

static int find_path(const struct plan **ret, const char *path, struct refusal *refusal)
{
	for (const struct known *at = all; at != NULL; at = at->next)
		if (strcmp(at->path, path) == 0) {
			*ret = &at->file.plan;
			return 0;
		}
	struct known *known = malloc(sizeof(*known));
	if (known == NULL)
		return refuse(refusal, -ENOMEM, "no memory for a job's file");
	snprintf(known->path, sizeof(known->path), "%s", path);
	int rc = read_new(known, refusal);
	if (rc < 0) {
		free(known);
		return rc;
	}
	known->next = all;
	all = known;
	*ret = &known->file.plan;
	return 0;
}

int plan_files_find(const struct plan **ret, const char *name, const char *beside,
		    struct refusal *refusal)
{
	char path[SCENARIO_PATH_BYTES], full[2 * SCENARIO_PATH_BYTES];
	int rc = data_path_find(DATA_PATH_MODELS, name, path, sizeof(path), refusal);
	if (rc < 0)
		return rc;
	file_beside(beside != NULL ? beside : "", path, full, sizeof(full));
	return find_path(ret, full, refusal);
}

// What is not there is refused where it is named.
static int find_for(const struct scenario *scenario, const char *key, const char *name,
		    uint32_t line, const struct plan **ret, struct refusal *refusal)
{
	struct refusal own = {0};
	int rc = plan_files_find(ret, name, scenario->path, &own);
	if (rc < 0 && rc != -ENOENT)
		*refusal = own;
	if (rc != -ENOENT)
		return rc;
	snprintf(refusal->text, sizeof(refusal->text), "%s: %.200s%s%.200s", key, own.file,
		 own.file[0] != '\0' ? ": " : "", own.text);
	if (line == 0) {
		scenario_model_location(scenario, refusal);
		return -EINVAL;
	}
	refusal_name(refusal, scenario->path);
	refusal->line = line;
	return -EINVAL;
}

int plan_files_read(struct scenario *scenario, struct refusal *refusal)
{
	struct traffic_config *traffic = &scenario->traffic;
	const struct plan *plan = NULL;
	int rc = 0;
	if (traffic->kind == TRAFFIC_MODEL) {
		rc = find_for(scenario, "traffic.model", traffic->model, 0, &plan, refusal);
		if (rc == 0)
			scenario_take_plan(scenario, plan);
	}
	for (uint32_t i = 0; i < scenario->job_count && rc == 0; i++) {
		struct scenario_job *job = &scenario->jobs[i];
		if (job->kind == JOB_MODEL)
			rc = find_for(scenario, "jobs[].model", job->model, job->line, &job->plan,
				      refusal);
	}
	return rc;
}

int scenario_file_read(struct scenario *ret, const char *name, const char *const *sets,
		       uint32_t set_count, struct refusal *refusal)
{
	struct data_file file;
	int rc = data_file_read(&file, DATA_PATH_SCENARIOS, name, refusal);
	if (rc < 0)
		return rc;
	rc = scenario_parse(ret, file.path, file.text, file.bytes, sets, set_count, refusal);
	free(file.text);
	return rc < 0 ? rc : plan_files_read(ret, refusal);
}

// ---------------------------------------------------------------- those that are shipped

struct each_job {
	void (*visit)(const struct plan *plan);
	struct refusal *refusal;
};

static int visit_job(void *context, const char *name)
{
	const struct each_job *each = context;
	const struct plan *plan;
	int rc = plan_files_find(&plan, name, NULL, each->refusal);
	if (rc == 0)
		each->visit(plan);
	return rc;
}

int plan_files_each(void (*visit)(const struct plan *plan), struct refusal *refusal)
{
	int rc = data_path_each(DATA_PATH_MODELS, visit_job, &(struct each_job){visit, refusal});
	return rc == -ENOENT && refusal->text[0] == '\0'
		? refuse(refusal, rc, "no jobs are installed")
		: rc;
}
