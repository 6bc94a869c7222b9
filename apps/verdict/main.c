// SPDX-License-Identifier: Apache-2.0
// weft verdict: arguments and files. What a bound is and whether it holds is in lib/verdict.

#include <dirent.h>
#include <errno.h>
#include <limits.h>
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

// The shipped profiles, listed.

#define PROFILE_BYTES_MAX ((size_t)1 << 20)

static int is_profile(const struct dirent *entry)
{
	size_t length = strlen(entry->d_name);
	return length > 5 && strcmp(entry->d_name + length - 5, ".yaml") == 0;
}

static int list_one(FILE *to, const char *folder, const char *file, struct refusal *refusal)
{
	static struct profile profile; // large: kept off the stack
	char path[PATH_MAX + 1024], *text;
	size_t bytes;
	snprintf(path, sizeof(path), "%s/%s", folder, file);
	int rc = file_read(path, PROFILE_BYTES_MAX, &text, &bytes, refusal);
	if (rc < 0)
		return rc;
	rc = profile_parse(&profile, path, text, bytes, refusal);
	free(text);
	if (rc == 0)
		folder_list_line(to, 20, profile.name, profile.description);
	return rc;
}

// A line for each: its name and its description. -errno with a reason when there is no folder of
// them, or one of them is no profile.
static int profiles_list(FILE *to, struct refusal *refusal)
{
	char folder[PATH_MAX + 512];
	for (unsigned i = 0; data_path_folder(DATA_PATH_PROFILES, i) != NULL; i++) {
		struct dirent **entries;
		snprintf(folder, sizeof(folder), "%s", data_path_folder(DATA_PATH_PROFILES, i));
		int count = scandir(folder, &entries, is_profile, alphasort), rc = 0;
		if (count < 0)
			continue;
		for (int each = 0; each < count; each++) {
			if (rc == 0)
				rc = list_one(to, folder, entries[each]->d_name, refusal);
			free(entries[each]);
		}
		free(entries);
		return rc;
	}
	return refuse(refusal, -ENODEV, "the folder of shipped profiles is not there");
}

#define PROFILE_BYTES_MAX ((size_t)1 << 20)
#define PATH_BYTES 4096

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

static int read_profile(struct call *call)
{
	char path[PATH_BYTES], *text;
	size_t bytes;
	int rc = data_path_find(DATA_PATH_PROFILES, call->profile_name, path, sizeof(path),
				&call->refusal);
	if (rc == 0)
		rc = file_read(path, PROFILE_BYTES_MAX, &text, &bytes, &call->refusal);
	if (rc < 0)
		return rc;
	rc = profile_parse(&call->profile, path, text, bytes, &call->refusal);
	free(text);
	return rc;
}

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
	int rc = read_profile(call);
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

static int list(struct call *call)
{
	int rc = profiles_list(stdout, &call->refusal);
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
