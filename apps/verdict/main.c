// SPDX-License-Identifier: Apache-2.0
// weft verdict: arguments and files. What a bound is and whether it holds is in lib/verdict.

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <weft/core/refusal.h>
#include <weft/files/files.h>
#include <weft/run/folder.h>
#include <weft/run/host_info.h>
#include <weft/run/outcome.h>
#include <weft/run/result_file.h>
#include <weft/verdict/report_verdict.h>

#include "help.h"
#include "weft-verdict_options.h"

static int list_one(void *context, const char *name)
{
	static struct profile profile; // large: kept off the stack
	int rc = profile_read(&profile, name, context);
	if (rc == 0)
		folder_list_line(stdout, 20, profile.name, profile.description);
	return rc;
}

// Everything one call of the program holds.
struct call {
	const char *result, *profile_name, *baseline, *junit;
	bool is_json, is_lone, wants_list;
	struct profile profile;
	struct verdict verdict;
	struct refusal refusal;
};

static const struct option_row option_rows[] = {VERDICT_OPTIONS(struct call), {NULL}};
static const struct command_line arguments = {
	.help = help_text, .rows = option_rows, .noun = "result", .least = 1, .most = 1};

// ---------------------------------------------------------------- files

static bool wants_baseline(const struct profile *profile)
{
	for (uint32_t i = 0; i < profile->check_count; i++)
		if (strcmp(profile->checks[i].bound.of, "baseline") == 0)
			return true;
	return false;
}

static int read_results(struct call *call)
{
	struct result_file file = {0}, beside = {0};
	int rc = 0;
	if (call->baseline != NULL && !wants_baseline(&call->profile))
		rc = outcome_bad_word(&call->refusal,
				      "no bound of this profile is a share of a baseline; profile",
				      call->profile_name);
	if (rc == 0)
		rc = result_file_read(&file, call->result, call->is_lone, &call->refusal);
	if (rc == 0 && call->baseline != NULL)
		rc = result_file_read(&beside, call->baseline, call->is_lone, &call->refusal);
	if (rc == 0)
		rc = verdict_of(&call->verdict, &call->profile, file.result, beside.result,
				&call->refusal);
	result_file_free(&file);
	result_file_free(&beside);
	return rc;
}

static int write_junit(struct call *call)
{
	struct atomic_file atomic_file;
	struct junit_origin origin;
	int rc = atomic_file_begin(&atomic_file, call->junit, &call->refusal);
	if (rc < 0)
		return rc;
	host_info(&origin);
	rc = verdict_junit(atomic_file.to, &origin, &call->profile, &call->verdict);
	return atomic_file_end(&atomic_file, rc, &call->refusal);
}

static int show(struct call *call)
{
	static const int statuses[] = {EXIT_SUCCESS, EXIT_MISSED, EXIT_NOT_VALID};
	int rc = profile_read(&call->profile, call->profile_name, &call->refusal);
	if (rc == 0)
		rc = read_results(call);
	if (rc == 0 && call->junit != NULL)
		rc = files_check_output(call->junit, &call->refusal);
	if (rc < 0)
		return outcome_refused("verdict", &call->refusal, rc);
	if (!call->is_json)
		verdict_show(stdout, &call->profile, &call->verdict);
	else if (verdict_json(stdout, &call->profile, &call->verdict) < 0)
		return EXIT_ENVIRONMENT;
	if (call->junit != NULL)
		rc = write_junit(call);
	return rc < 0 ? outcome_refused("verdict", &call->refusal, rc)
		      : statuses[call->verdict.end];
}

// The shipped profiles: a line for each, its name and its description.
static int list(struct call *call)
{
	int rc = data_path_each(DATA_PATH_PROFILES, list_one, &call->refusal);
	if (rc == -ENOENT && call->refusal.text[0] == '\0')
		rc = refuse(&call->refusal, -ENODEV, "the folder of shipped profiles is not there");
	return rc < 0 ? outcome_refused("verdict", &call->refusal, rc) : EXIT_SUCCESS;
}

int main(int argc, char **argv)
{
	static struct call call; // large: kept off the stack
	int rc = command_line_read(&arguments, &call, argc, argv, &call.refusal),
	    status = EXIT_SUCCESS;
	call.result = argv[optind];
	if (rc == 0 && !call.wants_list && call.profile_name == NULL)
		rc = outcome_bad_line(&call.refusal, "no profile given: --profile is needed");
	if (rc < 0)
		return outcome_refused("verdict", &call.refusal, rc);
	if (rc == 0)
		status = call.wants_list ? list(&call) : show(&call);
	return outcome_end("verdict", status);
}
