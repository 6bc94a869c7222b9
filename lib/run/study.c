// SPDX-License-Identifier: Apache-2.0
// weft sim with --seeds or --sweep: one scenario, many runs. Each point (a variant, a value of each
// swept key) runs with each seed, so that points can be compared seed by seed.

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "jobs.h"
#include "weft_version.h"
#include <weft/run/call.h>

#define WORD_BYTES 512

struct study_work {
	struct call *call;
	struct study_plan plan;
	struct scenario scenario; // as it was read first
	struct report_study *study;
	uint32_t kept[STUDY_POINTS_MAX];    // places of the grid whose values go together
	struct refusal left_out;	    // why the first of the others is not there
	uint32_t refused[STUDY_POINTS_MAX]; // runs of each point that its world refused
	char refused_why[160];		    // the first of them
	uint32_t refused_point;		    // its point
	char left_out_why[STUDY_NAME_BYTES + REFUSAL_TEXT_BYTES + 4];
	uint32_t taken, all;
	int status; // of the first run that died
	bool has_bar;
};

static struct study_plan plan_of(const struct call *call)
{
	const struct options *options = &call->options;
	bool has_all = call->variant == 0 && call->scenario.variant_count > 1;
	struct study_plan plan = {
		.seed_first = call->scenario.seed,
		.seeds = options->seed_count > 0 ? options->seed_count : 1,
		.variants = has_all ? call->scenario.variant_count : 1,
		.sweep_count = options->sweep_count,
	};
	memcpy(plan.sweeps, options->sweeps, sizeof(plan.sweeps));
	return plan;
}

// Reads the scenario as it is at this point and seed.
static int read_run(struct study_work *work, uint32_t point, uint32_t seed)
{
	static char words[STUDY_SWEEPS_MAX + 1][WORD_BYTES];
	const char *sets[STUDY_SWEEPS_MAX + 1];
	const struct study_plan *plan = &work->plan;
	uint32_t count = 0, variant = work->call->variant;
	if (plan->variants > 1)
		variant = study_variant_at(plan, point) + 1;
	else if (work->scenario.variant_count == 1)
		variant = 1;
	for (; count < plan->sweep_count; count++)
		snprintf(words[count], WORD_BYTES, "%s=%s", plan->sweeps[count].key,
			 plan->sweeps[count].values[study_value_at(plan, point, count)]);
	bool has_seeds = plan->seeds > 1;
	if (has_seeds)
		snprintf(words[count++], WORD_BYTES, "seed=%" PRIu64, plan->seed_first + seed);
	for (uint32_t i = 0; i < count; i++)
		sets[i] = words[i];
	return call_read_point(work->call, variant, sets, count, !has_seeds);
}

// Says which run was refused: the others are as good as it is, so it must be named.
static int say_run(struct study_work *work, uint32_t point, uint32_t seed, int rc)
{
	char name[STUDY_NAME_BYTES];
	struct refusal *refusal = &work->call->refusal;
	size_t used = strnlen(refusal->text, sizeof(refusal->text));
	study_point_name(&work->plan, &work->scenario, point, name, sizeof(name));
	snprintf(refusal->text + used, sizeof(refusal->text) - used, " (run: %s, seed %" PRIu64 ")",
		 name, work->plan.seed_first + seed);
	return call_say_refusal(work->call, rc);
}

// Of several swept keys a world may refuse values that go together with others.
static int refuse_run(const struct study_work *work, uint32_t point, uint32_t seed,
		      struct study_run *ret)
{
	*ret = (struct study_run){.point = point, .seed = seed, .dead = EXIT_BAD_INPUT};
	snprintf(ret->end, sizeof(ret->end), "%.159s", work->call->refusal.text);
	return 0;
}

// jobs_work_fn: point by point, then seed by seed.
static int work_run(void *context, uint32_t index, struct study_run *ret)
{
	struct study_work *work = context;
	struct call *call = work->call;
	struct run run;
	uint32_t point = index / work->plan.seeds, seed = index % work->plan.seeds;
	int rc = read_run(work, point, seed);
	if (rc == 0)
		rc = call_build(call);
	if (rc == -EINVAL && work->plan.sweep_count > 1)
		return refuse_run(work, point, seed, ret);
	if (rc < 0)
		return say_run(work, point, seed, rc);
	if (seed == 0)
		call_say_warnings(call);
	call_run(call, &run); // no captures: nothing that could fail
	struct report_input input = call_report(call, &run);
	report_study_measure(ret, &input);
	ret->point = point;
	ret->seed = seed;
	ret->is_interrupted = run.end == RUN_INTERRUPTED;
	world_instance_free(&call->world_instance);
	return 0;
}

// Names a run of which there is nothing.
static void say_dead(const struct study_work *work, const struct study_run *run)
{
	char name[STUDY_NAME_BYTES];
	study_point_name(&work->plan, &work->scenario, run->point, name, sizeof(name));
	fprintf(stderr, "weft sim: run %s, seed %" PRIu64 ": %s\n", name,
		work->plan.seed_first + run->seed, run->end);
}

// The first refusal, in order of the points, is the one that is printed.
static void note_refused(struct study_work *work, const struct study_run *run)
{
	if (work->refused[run->point]++ > 0 ||
	    (work->refused_why[0] != '\0' && run->point > work->refused_point))
		return;
	snprintf(work->refused_why, sizeof(work->refused_why), "%s", run->end);
	work->refused_point = run->point;
}

static void work_take(void *context, uint32_t index, const struct study_run *run)
{
	struct study_work *work = context;
	struct study_run dead = *run;
	if (run->dead != 0) {
		dead.point = index / work->plan.seeds;
		dead.seed = index % work->plan.seeds;
		for (uint32_t i = 0; i < STUDY_FIGURES_MAX; i++)
			dead.figures[i] = NAN;
		if (run->dead != EXIT_BAD_INPUT) // else it has said so itself
			say_dead(work, &dead);
		else if (work->plan.sweep_count > 1)
			note_refused(work, &dead);
		if (work->status == 0 && work->refused[dead.point] == 0)
			work->status = run->dead;
	}
	report_study_take(work->study, &dead);
	work->taken++;
	if (work->has_bar)
		outcome_bar("\r%u of %u runs ", work->taken, work->all);
}

// Notes the first place of the grid that is left out.
static void leave_out(struct study_work *work, uint32_t place)
{
	char name[STUDY_NAME_BYTES];
	if (work->left_out_why[0] != '\0')
		return;
	work->left_out = work->call->refusal;
	study_point_name(&work->plan, &work->scenario, place, name, sizeof(name));
	snprintf(work->left_out_why, sizeof(work->left_out_why), "%s: %s", name,
		 work->call->refusal.text);
}

// Everything is parsed before anything is run: a wrong word is refused now. Of a grid of several
// keys places are left out where each value is one, but not with the others.
static int read_all(struct study_work *work)
{
	uint32_t places = (uint32_t)study_places(&work->plan), kept = 0;
	for (uint32_t place = 0; place < places; place++) {
		int rc = read_run(work, place, 0);
		if (rc == 0)
			work->kept[kept++] = place;
		else if (work->plan.sweep_count < 2 || !work->call->scenario.is_contradiction)
			return rc;
		else
			leave_out(work, place);
	}
	if (kept == 0) {
		work->call->refusal = work->left_out;
		return -EINVAL;
	}
	if (kept < places) {
		work->plan.kept = work->kept;
		work->plan.kept_count = kept;
		work->plan.left_out_why = work->left_out_why;
	}
	return 0;
}

static int show(const struct call *call, const struct report_study *study)
{
	int rc = 0;
	if (call->options.is_json)
		rc = report_study_json(stdout, study);
	else
		report_study_table(stdout, study, call->options.is_quiet);
	return call_finish_output(call) != 0 || rc < 0 ? EXIT_ENVIRONMENT : 0;
}

// What the runs came to. Returns the exit status.
static int finish(struct study_work *work)
{
	struct call *call = work->call;
	int rc = 0;
	if (call->options.out != NULL)
		rc = out_end(call,
			     report_study_write(work->study, call->staging.part, &call->refusal));
	int status = show(call, work->study);
	if (rc < 0)
		status = call_say_refusal(call, rc);
	if (status != 0)
		return status;
	if (call_is_stopped() && report_study_taken(work->study) < work->all)
		fprintf(stderr, "weft sim: interrupted\n");
	else if (report_study_complete(work->study) < work->all)
		fprintf(stderr, "weft sim: %u of %u runs did not finish\n",
			work->all - report_study_complete(work->study), work->all);
	if (work->status != 0)
		return work->status;
	if (report_study_complete(work->study) < work->all)
		return EXIT_NOT_VALID;
	if (report_study_imprecise(work->study) > 0) {
		fprintf(stderr,
			"weft sim: in %u of %u runs a collective has no time: its stated error is "
			"above 10 %%, or a fault begins or ends in what was left out; raise "
			"sample.steps (--sample steps=N)\n",
			report_study_imprecise(work->study), work->all);
		return EXIT_NOT_VALID;
	}
	if (report_study_is_expected(work->study))
		return 0;
	fprintf(stderr, "weft sim: expectations not met\n");
	return EXIT_MISSED;
}

// Points all of whose runs were refused are left out, as those whose values do not go together.
// Where none would be left, the first refusal is the study's: its exit status, or 0.
static int leave_out_refused(struct study_work *work)
{
	static uint32_t list[STUDY_POINTS_MAX];
	uint32_t points = (uint32_t)study_points(&work->plan), seeds = work->plan.seeds, kept = 0;
	struct refusal *refusal = &work->call->refusal;
	snprintf(refusal->text, sizeof(refusal->text), "%s", work->refused_why);
	for (uint32_t point = 0; point < points; point++) {
		if (work->refused[point] < seeds)
			list[kept++] = point;
		else
			leave_out(work, point);
		if (work->refused[point] > 0 && work->refused[point] < seeds && work->status == 0)
			work->status = EXIT_BAD_INPUT;
	}
	if (kept == points)
		return 0;
	if (kept == 0)
		return say_run(work, 0, 0, -EINVAL);
	for (uint32_t i = 0; i < kept; i++)
		work->kept[i] = study_place(&work->plan, list[i]);
	report_study_keep(work->study, list, kept, work->kept, work->left_out_why);
	work->all = kept * seeds;
	return 0;
}

static int run_all(struct study_work *work)
{
	struct call *call = work->call;
	bool is_quiet = call->options.is_quiet;
	work->has_bar = !is_quiet && isatty(STDERR_FILENO);
	call->options.is_quiet = true; // no bar of each run
	int status = jobs_run(work->all, call->options.job_count, work_run, work_take, work);
	call->options.is_quiet = is_quiet;
	if (work->has_bar)
		outcome_bar("\r%30s\r", "");
	if (status != 0 && report_study_taken(work->study) == 0)
		return status;
	int refused = leave_out_refused(work);
	if (refused != 0)
		return refused;
	int finished = finish(work); // what has run is not lost
	return status != 0 ? status : finished;
}

static int prepare(struct study_work *work)
{
	struct call *call = work->call;
	if (study_places(&work->plan) > STUDY_POINTS_MAX)
		return refuse(&call->refusal, -EINVAL,
			      "these sweeps have more than % points together", STUDY_POINTS_MAX);
	if (work->plan.seed_first > UINT64_MAX - work->plan.seeds)
		return refuse(&call->refusal, -EINVAL, "the last seeds would be beyond 64 bits");
	int rc = read_all(work);
	if (rc < 0)
		return rc;
	work->all = (uint32_t)study_points(&work->plan) * work->plan.seeds;
	work->study = report_study_create(&work->plan, &work->scenario, WEFT_VERSION_TEXT,
					  call->command);
	if (work->study == NULL)
		return refuse(&call->refusal, -ENODEV, "not enough memory for % runs", work->all);
	return 0;
}

int study_run(struct call *call)
{
	static struct study_work work;
	work.call = call;
	work.plan = plan_of(call);
	work.scenario = call->scenario;
	int rc = prepare(&work);
	int status = rc < 0 ? call_say_refusal(call, rc) : run_all(&work);
	report_study_free(work.study);
	return status;
}
