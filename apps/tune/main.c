// SPDX-License-Identifier: Apache-2.0
// weft tune: settings of congestion control, load balancing and switches, with proof. The search is
// in room tune, the runs are in room run.

#include "call.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "help.h"
#include "weft_version.h"
#include <weft/files/clock.h>
#include <weft/files/files.h>
#include <weft/result/report_escape.h>
#include <weft/run/outcome.h>
#include <weft/tune/export.h>
#include <weft/tune/pareto.h>
#include <weft/tune/report.h>

#define IMPORT_BYTES_MAX ((size_t)1 << 20)

// tune_progress_fn.
static void show_progress(void *context, uint64_t done, uint64_t planned)
{
	static double start;
	if (start == 0)
		start = clock_s(CLOCK_MONOTONIC);
	double left = done > 0
		? (clock_s(CLOCK_MONOTONIC) - start) * (double)(planned - done) / (double)done
		: 0;
	outcome_bar("\r%" PRIu64 " of at most %" PRIu64 " runs, %.0f s left ", done, planned, left);
}

// tune_runs_fn of a reader: it runs nothing.
static int no_runs(void *context, const struct tune_request *requests, uint32_t count,
		   tune_take_fn *take, void *take_context, struct refusal *refusal)
{
	return refuse(refusal, -ENODATA,
		      "this study is not at its end; go on with it: weft tune resume");
}

static int show_front(struct call *call)
{
	struct tune_front front;
	struct tune_aim *aim = &call->options.front;
	if (aim->goal_count == 0)
		*aim = call->plan.aim;
	if (aim->goal_count < 2)
		return outcome_bad_line(&call->refusal,
					"one figure has a best; give two or more with --aim");
	int rc = tune_front_of(&front, call->tune, aim->goals, aim->goal_count, &call->refusal);
	if (rc < 0)
		return rc;
	if (call->options.is_json)
		rc = tune_front_json(stdout, &front);
	else
		tune_front_show(stdout, &front);
	tune_front_free(&front);
	return rc;
}

static int show_best(struct call *call, const struct tune_result *result)
{
	if (result->verdict == TUNE_UNFINISHED)
		return -ENODATA;
	printf("%s\n", result->recommended != NULL ? result->recommended->name : "default");
	if (result->verdict == TUNE_INFEASIBLE)
		fputs("weft tune: no setting meets all constraints; this is the smallest breach\n",
		      stderr);
	else if (result->is_kept_by_chance && result->verdict == TUNE_NOT_BETTER)
		fprintf(stderr,
			"weft tune: the default breaks %s; what keeps to it does so by chance\n",
			tune_aim_breach(&call->plan.aim, result->default_breach));
	if (call->plan.holdout_count > 0)
		tune_show_holdouts(stdout, &call->plan, result);
	return 0;
}

static int export(struct call *call, const struct tune_result *result)
{
	const struct words *options = &call->options;
	uint32_t scenario = 0;
	char *version;
	if (result->verdict == TUNE_UNFINISHED)
		return -ENODATA;
	while (options->from != NULL && scenario < call->plan.scenario_count &&
	       strcmp(call->plan.scenarios[scenario], options->from) != 0)
		scenario++;
	if (scenario == call->plan.scenario_count)
		return outcome_bad_word(&call->refusal, "this study has no scenario",
					options->from);
	int rc = tune_store_fact(call->store, "version", &version, &call->refusal);
	if (rc == 0)
		rc = tune_export(stdout, &call->plan, result, options->format, scenario,
				 options->is_round, version, &call->refusal);
	free(version);
	return rc;
}

// What export wrote, as words for --set.
static int import(struct call *call)
{
	char *text;
	size_t bytes;
	int rc = file_read(call->options.study, IMPORT_BYTES_MAX, &text, &bytes, &call->refusal);
	if (rc < 0)
		return rc;
	rc = tune_export_read(stdout, call->options.format, call->options.study, text,
			      &call->refusal);
	free(text);
	return rc;
}

// With the Pareto set, where that was searched for.
static int show_all(struct call *call, const struct tune_result *result)
{
	tune_show(stdout, &call->plan, result);
	bool is_whole = result->verdict != TUNE_UNFINISHED && result->verdict != TUNE_PART;
	if (call->options.verb == VERB_RUN && is_whole) {
		char study[16384];
		escape_shell(study, sizeof(study), call->study);
		printf("\nNext: weft tune report %s\n", study);
	}
	if (!call->plan.aim.is_front || result->verdict == TUNE_UNFINISHED)
		return 0;
	putchar('\n');
	return show_front(call);
}

static int show(struct call *call)
{
	const struct tune_result *result = tune_result(call->tune);
	enum verb verb = call->options.verb;
	int rc = 0;
	if (verb == VERB_PARETO)
		rc = show_front(call);
	else if (verb == VERB_EXPORT)
		rc = export(call, result);
	else if (verb == VERB_REPORT)
		rc = study_report(call);
	else if (call->options.is_json)
		rc = tune_show_json(stdout, &call->plan, result);
	else if (verb == VERB_BEST)
		rc = show_best(call, result);
	else
		rc = show_all(call, result);
	if (rc < 0) {
		int status = outcome_refused("tune", &call->refusal, rc);
		return rc == -ENODATA ? EXIT_NOT_VALID : status;
	}
	if (verb != VERB_PARETO &&
	    (result->verdict == TUNE_INFEASIBLE || result->verdict == TUNE_CONSTANT))
		return EXIT_MISSED;
	return result->verdict == TUNE_UNFINISHED ? EXIT_NOT_VALID : EXIT_SUCCESS;
}

// Runs a study, or reads what it came to.
static int perform(struct call *call)
{
	bool has_bar = !call->options.is_quiet && call->pool != NULL && isatty(STDERR_FILENO);
	// a report makes no more than its curves
	bool has_runs = call->pool != NULL && call->options.verb != VERB_REPORT;
	bool is_spread = has_runs && call->ranks.count > 1;
	call->plan.runs = !has_runs ? no_runs : is_spread ? ranks_runs : tune_pool_runs;
	call->plan.runs_context = is_spread ? (void *)call : (void *)call->pool;
	call->plan.progress = has_bar ? show_progress : NULL;
	call->tune = tune_create(&call->plan);
	if (call->tune == NULL)
		return refuse(&call->refusal, -ENODEV, "not enough memory for a study");
	int rc = tune_run(call->tune, &call->refusal);
	if (has_bar)
		outcome_bar("\r%60s\r", "");
	return rc;
}

// A new study that the default's runs refuse has met no candidate: nothing is lost, and the file
// would be in the way of the next call.
static void drop_refused(struct call *call)
{
	if (call->options.verb != VERB_RUN || call->tune == NULL ||
	    tune_result(call->tune)->different > 0)
		return;
	tune_store_close(call->store); // takes away what SQLite has beside it
	call->store = NULL;
	unlink(call->study);
}

// A study that is under way is shown as far as it is.
static int run_and_show(struct call *call)
{
	int rc = study_open(call);
	if (rc == 0)
		rc = ranks_open(call);
	if (rc == 0)
		rc = perform(call);
	if (rc == 0 ||
	    (rc == -ENODATA && call->options.verb != VERB_BEST &&
	     call->options.verb != VERB_EXPORT))
		return show(call);
	if (rc == -EINVAL)
		drop_refused(call);
	int status = outcome_refused("tune", &call->refusal, rc);
	return rc == -ENODATA ? EXIT_NOT_VALID : status;
}

static int compare(struct call *calls)
{
	struct tune_ab ab;
	calls[1].options = calls[0].options;
	calls[1].options.study = calls[0].options.more[0];
	for (int i = 0; i < 2; i++) {
		int rc = study_open(&calls[i]);
		if (rc == 0)
			rc = perform(&calls[i]);
		if (rc < 0)
			return outcome_refused("tune", &calls[i].refusal, rc);
	}
	int rc = tune_ab_of(&ab, calls[0].tune, calls[1].tune, &calls[0].refusal);
	if (rc < 0)
		return outcome_refused("tune", &calls[0].refusal, rc);
	if (calls[0].options.is_json)
		rc = tune_ab_json(stdout, &ab);
	else
		tune_ab_show(stdout, &ab);
	tune_ab_free(&ab);
	return rc < 0 ? EXIT_ENVIRONMENT : EXIT_SUCCESS;
}

static int run_verb(struct call *calls)
{
	struct call *call = calls;
	int rc = 0;
	switch (call->options.verb) {
	case VERB_AB:
		return compare(calls);
	case VERB_MERGE:
		rc = study_merge(call);
		break;
	case VERB_IMPORT:
		rc = import(call);
		break;
	default:
		return run_and_show(call);
	}
	return rc < 0 ? outcome_refused("tune", &call->refusal, rc) : EXIT_SUCCESS;
}

int main(int argc, char **argv)
{
	static struct call calls[2]; // large: kept off the stack
	struct call *call = calls;
	bool is_other = ranks_launched_index() > 0; // says nothing: the first one does
	int status = EXIT_SUCCESS;
	int rc = words_parse(&call->options, argc, argv, is_other, &call->refusal);
	bool is_done = rc == COMMAND_LINE_DONE;
	if (rc == 0)
		rc = ranks_begin(call, argv);
	bool is_refused = rc < 0; // before it knows of the others
	if (rc == 0)
		rc = ranks_meet(call);
	if (rc < 0 && is_other)
		status = is_refused ? outcome_refused_beside("tune", &call->refusal, rc)
				    : EXIT_BAD_INPUT;
	else if (rc < 0)
		status = outcome_refused("tune", &call->refusal, rc);
	else if (!is_done)
		status = is_other ? ranks_serve(call) : run_verb(calls);
	ranks_close(call);
	study_close(&calls[0]);
	study_close(&calls[1]);
	return outcome_end("tune", status);
}
