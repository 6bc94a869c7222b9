// SPDX-License-Identifier: Apache-2.0
// weft compare: arguments and files. What differs and what is noise is in lib/study.

#include <stdlib.h>
#include <string.h>

#include <weft/files/files.h>
#include <weft/study/run_diff.h>

#include "help.h"
#include "weft-compare_options.h"
#include <weft/run/outcome.h>
#include <weft/run/result_file.h>

// Everything one call of the program holds.
struct call {
	const char *names[2];
	double within; // a share; negative: not asked
	bool is_all, is_json, is_lone;
	struct result_file files[2];
	struct run_diff run_diff;
	struct refusal refusal;
};

static const struct option_row option_rows[] = {COMPARE_OPTIONS(struct call), {NULL}};
static const struct command_line arguments = {
	.help = help_text, .rows = option_rows, .noun = "second result", .least = 2, .most = 2};

static int compare(struct call *call)
{
	for (int i = 0; i < 2; i++) {
		int rc = result_file_read(&call->files[i], call->names[i], call->is_lone,
					  &call->refusal);
		if (rc < 0)
			return rc;
	}
	return run_diff_of(&call->run_diff, call->files[0].result, call->files[1].result,
			   &call->refusal);
}

static int show(struct call *call)
{
	int rc = compare(call);
	if (rc < 0)
		return outcome_refused("compare", &call->refusal, rc);
	if (!call->is_json)
		run_diff_show(stdout, &call->run_diff, call->is_all);
	else if (run_diff_json(stdout, &call->run_diff) < 0)
		return EXIT_ENVIRONMENT;
	if (call->run_diff.is_partial)
		return EXIT_NOT_VALID;
	const char *beyond = call->within < 0 ? NULL
					      : run_diff_beyond(&call->run_diff, call->within);
	if (beyond != NULL)
		fprintf(stderr, "weft compare: too far apart: %s\n", beyond);
	return beyond == NULL ? EXIT_SUCCESS : EXIT_MISSED;
}

int main(int argc, char **argv)
{
	static struct call call = {.within = -1};
	int rc = command_line_read(&arguments, &call, argc, argv, &call.refusal),
	    status = EXIT_SUCCESS;
	if (rc < 0)
		return outcome_refused("compare", &call.refusal, rc);
	call.within /= 100;
	if (rc == 0) {
		call.names[0] = argv[optind];
		call.names[1] = argv[optind + 1];
		status = show(&call);
	}
	run_diff_free(&call.run_diff);
	for (int i = 0; i < 2; i++)
		result_file_free(&call.files[i]);
	return outcome_end("compare", status);
}
