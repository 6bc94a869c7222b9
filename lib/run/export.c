// SPDX-License-Identifier: Apache-2.0
#include <weft/run/export.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <weft/files/files.h>
#include <weft/files/staging.h>

#define PATH_BYTES (STAGING_PATH_BYTES + 64)
#define UNIT_PS PS_PER_NS // of calc in GOAL, as its users have it

enum export_form export_find(const char *name)
{
	static const char *const names[] = {
		[EXPORT_CHAKRA] = "chakra", [EXPORT_GOAL] = "goal", [EXPORT_SIMAI] = "simai"};
	for (int form = EXPORT_CHAKRA; form <= EXPORT_SIMAI; form++)
		if (strcmp(name, names[form]) == 0)
			return (enum export_form)form;
	return EXPORT_NONE;
}

static int write_file(const char *out, const char *name, const char *text, size_t bytes,
		      struct refusal *refusal)
{
	char path[PATH_BYTES];
	snprintf(path, sizeof(path), "%s/%s", out, name);
	struct atomic_file atomic_file;
	int rc = atomic_file_begin(&atomic_file, path, refusal);
	if (rc < 0)
		return rc;
	rc = fwrite(text, 1, bytes, atomic_file.to) == bytes ? 0 : -EIO;
	return atomic_file_end(&atomic_file, rc, refusal);
}

// ---------------------------------------------------------------- forms

static int write_chakra(const struct trace_set *set, const char *out, struct refusal *refusal)
{
	char name[64], *text;
	size_t bytes;
	int rc = 0;
	for (uint32_t rank = 0; rc == 0 && rank < set->rank_count; rank++) {
		if ((rc = trace_chakra_text(&text, &bytes, set, rank, refusal)) < 0)
			return rc;
		snprintf(name, sizeof(name), "rank.%u.et", rank);
		rc = write_file(out, name, text, bytes, refusal);
		free(text);
	}
	if (rc == 0 && (rc = trace_groups_text(&text, &bytes, set)) == 0) {
		rc = write_file(out, "comm_group.json", text, bytes, refusal);
		free(text);
	}
	return rc;
}

static int write_goal(struct trace_set *set, const char *out, uint32_t ranks,
		      const struct export_rings *rings, struct refusal *refusal)
{
	const struct trace_run run = {.ranks = ranks,
				      .rank_host = rings->rank_host,
				      .ring = rings->ring,
				      .has_messages_only = true};
	struct trace_program program;
	char *text;
	size_t bytes;
	int rc = trace_expand(&program, set, &run, refusal);
	if (rc < 0)
		return rc;
	rc = trace_goal_text(&text, &bytes, program.program, UNIT_PS);
	trace_program_free(&program);
	if (rc < 0)
		return refuse(refusal, rc, "no memory for the text");
	rc = write_file(out, "program.goal", text, bytes, refusal);
	free(text);
	return rc;
}

int export_write(struct trace_set *set, enum export_form form, const char *out, uint32_t ranks,
		 const struct export_rings *rings, struct refusal *refusal)
{
	static struct staging staging; // large: kept off the stack
	if (form == EXPORT_SIMAI)
		return refuse(refusal, -EINVAL,
			      "--export simai: its text has a training step, and this is none: "
			      "weft sim SCENARIO --fidelity full");
	if (ranks > 0 && trace_ranks(set) > 0 && ranks != trace_ranks(set))
		return refuse(refusal, -EINVAL, "--ranks %: the trace is of % ranks", ranks,
			      trace_ranks(set));
	int rc = form == EXPORT_CHAKRA ? trace_spread(set, ranks, refusal) : 0;
	if (rc < 0)
		return rc;
	rc = staging_begin(&staging, out, NULL, refusal);
	if (rc < 0)
		return rc;
	rc = form == EXPORT_CHAKRA ? write_chakra(set, staging.part, refusal)
				   : write_goal(set, staging.part, ranks, rings, refusal);
	if (rc == 0)
		rc = staging_end(&staging, refusal);
	staging_abandon(&staging);
	return rc;
}

int export_write_step(const struct step_text *step, const char *folder, const char *name,
		      struct refusal *refusal)
{
	char *text;
	size_t bytes;
	int rc = trace_simai_text(&text, &bytes, step);
	if (rc < 0)
		return refuse(refusal, rc, "no memory for the text");
	rc = write_file(folder, name, text, bytes, refusal);
	free(text);
	return rc;
}
