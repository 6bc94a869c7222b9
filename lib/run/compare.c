// SPDX-License-Identifier: Apache-2.0
// A scenario with variants: each is a world of its own. They run one after the other, and what they
// came to is shown side by side.

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <weft/run/call.h>

// Runs one variant and takes what it came to. Returns an exit status.
static int run_variant(struct call *call, uint32_t variant, struct report_comparison *comparison)
{
	struct run run;
	int rc = call_read_variant(call, variant);
	if (rc == 0)
		rc = call_jobs_alone(call, variant);
	if (rc == 0)
		rc = call_build(call);
	if (rc < 0)
		return call_say_refusal(call, rc);
	call_say_warnings(call);
	call_run(call, &run); // no captures: nothing that could fail
	struct report_input input = call_report(call, &run);
	report_comparison_take(comparison, &input);
	call_say_end(call, &run);
	bool is_imprecise = report_imprecise_say(stderr, call->options.program, &input);
	world_instance_free(&call->world_instance);
	bool is_valid = run.end == RUN_DONE && run.payload_bytes_wrong == 0 && !is_imprecise;
	return is_valid ? 0 : EXIT_NOT_VALID;
}

static int show(const struct call *call, const struct report_comparison *comparison)
{
	int rc = 0;
	if (call->options.is_json)
		rc = report_comparison_json(stdout, comparison);
	else
		report_comparison_table(stdout, comparison);
	return call_finish_output(call) != 0 || rc < 0 ? EXIT_ENVIRONMENT : 0;
}

// All are read before the first runs: what is wrong with the last is refused now.
static int read_all(struct call *call)
{
	uint32_t count = call->scenario.variant_count;
	for (uint32_t variant = 1; variant <= count; variant++) {
		int rc = call_read_variant(call, variant);
		if (rc < 0)
			return rc;
	}
	return 0;
}

static int run_all(struct call *call, struct report_comparison *comparison)
{
	uint32_t count = call->scenario.variant_count, done = 0;
	int worst = 0;
	for (; done < count && (worst == 0 || worst == EXIT_NOT_VALID); done++) {
		int status = run_variant(call, done + 1, comparison);
		worst = status != 0 ? status : worst;
	}
	bool is_refused = worst != 0 && worst != EXIT_NOT_VALID;
	if (is_refused && done == 1)
		return worst;
	int status = show(call, comparison); // what has run is not lost
	if (status != 0 || worst != 0)
		return worst != 0 ? worst : status;
	if (report_comparison_is_expected(comparison))
		return 0;
	fprintf(stderr, "weft %s: expectations not met\n", call->options.program);
	return EXIT_MISSED;
}

int compare_run(struct call *call)
{
	struct report_comparison *comparison = report_comparison_create();
	if (comparison == NULL) {
		int rc = refuse(&call->refusal, -ENODEV, "not enough memory to compare in");
		return call_say_refusal(call, rc);
	}
	int rc = read_all(call);
	int status = rc < 0 ? call_say_refusal(call, rc) : run_all(call, comparison);
	report_comparison_free(comparison);
	return status;
}
