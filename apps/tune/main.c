// SPDX-License-Identifier: Apache-2.0
// weft tune: settings of congestion control, load balancing and switches, with proof. The search is
// in room tune, the runs are in room run.

#include "call.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "help.h"
#include "weft_version.h"
#include <weft/run/outcome.h>

static double now_s(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

// tune_progress_fn.
static void show_progress(void *context, uint64_t done, uint64_t planned)
{
	static double start;
	if (start == 0)
		start = now_s();
	double left = done > 0 ? (now_s() - start) * (double)(planned - done) / (double)done : 0;
	outcome_bar("\r%" PRIu64 " of at most %" PRIu64 " runs, %.0f s left ", done, planned, left);
}

// tune_runs_fn of a reader: it runs nothing.
static int no_runs(void *context, const struct tune_request *requests, uint32_t count,
		   tune_take_fn *take, void *take_context, struct refusal *refusal)
{
	return refuse(refusal, -ENODATA,
		      "this study is not at its end; go on with it: weft tune resume", 0, 0, 0);
}

static int show(struct call *call, const struct tune_result *result)
{
	int rc = 0;
	if (call->options.is_json)
		rc = tune_show_json(stdout, &call->plan, result);
	else if (call->options.verb == VERB_BEST)
		printf("%s\n", result->recommended != NULL ? result->recommended->name : "default");
	else
		tune_show(stdout, &call->plan, result);
	if (rc < 0)
		return EXIT_ENVIRONMENT;
	return result->verdict == TUNE_INFEASIBLE || result->verdict == TUNE_CONSTANT
		? EXIT_MISSED
		: EXIT_SUCCESS;
}

static int perform(struct call *call)
{
	bool has_bar = !call->options.is_quiet && call->pool != NULL && isatty(STDERR_FILENO);
	call->plan.runs = call->pool != NULL ? tune_pool_runs : no_runs;
	call->plan.runs_context = call->pool;
	call->plan.progress = has_bar ? show_progress : NULL;
	struct tune *tune = tune_create(&call->plan);
	if (tune == NULL)
		return outcome_refused("tune", &call->refusal,
				       refuse(&call->refusal, -ENODEV,
					      "the system gives no memory for a study", 0, 0, 0));
	int rc = tune_run(tune, &call->refusal);
	if (has_bar)
		outcome_bar("\r%60s\r", "");
	int status = rc < 0 ? outcome_refused("tune", &call->refusal, rc)
			    : show(call, tune_result(tune));
	if (rc == -ENODATA)
		status = EXIT_NOT_VALID;
	tune_free(tune);
	return status;
}

int main(int argc, char **argv)
{
	static struct call call; // large: kept off the stack
	int rc = words_parse(&call.options, argc, argv, &call.refusal), status = EXIT_SUCCESS;
	if (rc == 0 && call.options.wants_help) {
		fputs(help_text, stdout);
	} else if (rc == 0 && call.options.wants_version) {
		puts(WEFT_VERSION_TEXT);
	} else {
		if (rc == 0)
			rc = study_open(&call);
		status = rc < 0 ? outcome_refused("tune", &call.refusal, rc) : perform(&call);
		study_close(&call);
	}
	return outcome_end("tune", status);
}
