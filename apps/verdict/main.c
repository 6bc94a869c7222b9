// SPDX-License-Identifier: Apache-2.0
// weft verdict: arguments and files. What a bound is and whether it holds is in lib/verdict.

#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include <weft/files/files.h>
#include <weft/verdict/report_verdict.h>

#include "help.h"
#include "profiles.h"
#include "weft_version.h"
#include <weft/run/here.h>
#include <weft/run/outcome.h>
#include <weft/run/result_file.h>

enum {
	OPT_PROFILE = 256,
	OPT_BASELINE,
	OPT_JUNIT,
	OPT_JSON,
	OPT_LIST,
	OPT_NO_MANIFEST,
	OPT_FORCE,
	OPT_VERSION
};

#define PROFILE_BYTES_MAX ((size_t)1 << 20)
#define PATH_BYTES 4096

static const struct option longs[] = {
	{"profile", required_argument, NULL, OPT_PROFILE},
	{"baseline", required_argument, NULL, OPT_BASELINE},
	{"junit", required_argument, NULL, OPT_JUNIT},
	{"force", no_argument, NULL, OPT_FORCE},
	{"json", no_argument, NULL, OPT_JSON},
	{"list", no_argument, NULL, OPT_LIST},
	{"no-manifest", no_argument, NULL, OPT_NO_MANIFEST},
	{"help", no_argument, NULL, 'h'},
	{"version", no_argument, NULL, OPT_VERSION},
	{NULL, 0, NULL, 0},
};

// Everything one call of the program holds.
struct call {
	const char *result, *profile_name, *baseline, *junit;
	bool is_json, is_lone, wants_list, wants_help, wants_version;
	struct profile profile;
	struct verdict verdict;
	struct refusal refusal;
};

static int take(struct call *call, int option)
{
	switch (option) {
	case OPT_PROFILE:
		return outcome_once(&call->refusal, &call->profile_name, "--profile", optarg);
	case OPT_BASELINE:
		return outcome_once(&call->refusal, &call->baseline, "--baseline", optarg);
	case OPT_JUNIT:
		return outcome_once(&call->refusal, &call->junit, "--junit", optarg);
	case OPT_FORCE:
		files_force();
		return 0;
	case OPT_JSON:
		call->is_json = true;
		return 0;
	case OPT_LIST:
		call->wants_list = true;
		return 0;
	case OPT_NO_MANIFEST:
		call->is_lone = true;
		return 0;
	case OPT_VERSION:
		call->wants_version = true;
		return 0;
	default:
		call->wants_help = true;
		return 0;
	}
}

static int parse(struct call *call, int argc, char **argv)
{
	int option, rc;
	opterr = 0;
	while ((option = getopt_long(argc, argv, "h", longs, NULL)) != -1) {
		if (option == '?')
			return outcome_bad_word(&call->refusal, "unknown option or missing value:",
						argv[optind - 1]);
		if ((rc = take(call, option)) < 0)
			return rc;
	}
	if (call->wants_help || call->wants_version)
		return 0;
	if (call->wants_list)
		return outcome_alone(&call->refusal, "--list", argc, argv);
	if (optind == argc)
		return outcome_bad_line(&call->refusal, "no result given");
	call->result = argv[optind++];
	if (optind < argc)
		return outcome_bad_word(&call->refusal, "unexpected argument", argv[optind]);
	if (files_are_forced() && call->junit == NULL)
		return outcome_bad_word(&call->refusal, "needs --junit:", "--force");
	return call->profile_name != NULL
		? 0
		: outcome_bad_line(&call->refusal, "no profile given: --profile is needed");
}

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
	struct draft draft;
	struct junit_origin origin;
	int rc = draft_begin(&draft, call->junit, &call->refusal);
	if (rc < 0)
		return rc;
	here(&origin);
	rc = verdict_junit(draft.to, &origin, &call->profile, &call->verdict);
	return draft_end(&draft, rc, &call->refusal);
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
	int rc = parse(&call, argc, argv), status = EXIT_SUCCESS;
	if (rc < 0)
		return outcome_refused("verdict", &call.refusal, rc);
	if (call.wants_help)
		fputs(help_text, stdout);
	else if (call.wants_version)
		puts(WEFT_VERSION_TEXT);
	else
		status = call.wants_list ? list(&call) : show(&call);
	return outcome_end("verdict", status);
}
