// SPDX-License-Identifier: Apache-2.0
// --fidelity model: one step of a scenario from its schedule: what it takes, how much of it is
// exposed communication, and what would change that.

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "run_parts.h"
#include <weft/run/fidelity.h>
#include <weft/run/input_files.h>

#define LOGS_PLAN "llama-3.1-405b-gb200-2560" // its times are fitted to two logs of GB200 alone

// ---------------------------------------------------------------- runs

static int run_steps(struct fidelity *fidelity, uint32_t count, struct refusal *refusal)
{
	struct schedule schedule;
	const struct step_case *of = &fidelity->rows[0].of;
	int rc = schedule_make(&schedule, &of->plan, refusal);
	if (rc < 0)
		return rc;
	fidelity_run_steps(&fidelity->steps, &schedule, &of->setup, count);
	schedule_free(&schedule);
	return 0;
}

static void find_culprits(struct fidelity *fidelity)
{
	ps_t step_ps = fidelity->rows[0].times.with.step_ps;
	for (uint32_t i = 0; i < fidelity->row_count; i++) {
		const struct fidelity_row *row = &fidelity->rows[i];
		if (row->of.inside != DIMENSION_COUNT)
			fidelity->longer_ps[row->of.inside] = step_ps - row->times.with.step_ps;
	}
}

static int run_cases(struct fidelity *fidelity, struct refusal *refusal)
{
	struct step_case cases[STEP_CASES_MAX];
	struct step_case predicted;
	int rc = 0;
	fidelity->row_count = world_step_cases(&fidelity->world, cases);
	for (uint32_t i = 0; rc == 0 && i < fidelity->row_count; i++) {
		fidelity->rows[i].of = cases[i];
		rc = schedule_expose(&fidelity->rows[i].times, &cases[i].plan, &cases[i].setup,
				     i == 0 ? fidelity->stages : NULL, refusal);
	}
	find_culprits(fidelity);
	predicted = cases[0];
	if (rc == 0)
		rc = plan_files_find(&fidelity->logs, LOGS_PLAN, NULL, refusal);
	fidelity->has_prediction = rc == 0 && plan_is_cut_as(&fidelity->world.plan, fidelity->logs);
	if (rc < 0 || !fidelity->has_prediction)
		return rc;
	predicted.plan.timing = fidelity->logs->timing;
	return schedule_expose(&fidelity->predicted, &predicted.plan, &predicted.setup, NULL,
			       refusal);
}

static int work_out(struct call *call, struct fidelity *fidelity)
{
	const struct options *options = &call->options;
	struct world_step *world = &fidelity->world;
	int rc = fidelity_prepare(call, world);
	if (rc == 0 && options->measured != NULL)
		rc = fidelity_measured(world, options->measured, &call->refusal);
	if (rc < 0)
		return rc;
	fidelity->stages = calloc(world->plan.parallel.pp, sizeof(*fidelity->stages));
	if (fidelity->stages == NULL)
		return refuse(&call->refusal, -ENODEV, "not enough memory");
	rc = run_cases(fidelity, &call->refusal);
	if (rc == 0)
		rc = fidelity_find_bounds(&fidelity->bounds, call, world, &call->refusal);
	if (rc == 0 && options->step_count > 1 && options->jitter != NULL)
		rc = run_steps(fidelity, options->step_count, &call->refusal);
	return rc;
}

// ---------------------------------------------------------------- the table

static void print_step(const struct fidelity *fidelity)
{
	const struct plan *plan = &fidelity->world.plan;
	const struct step_exposed *times = &fidelity->rows[0].times;
	ps_t step = times->with.step_ps, exposed = fidelity_exposed(times);
	ps_t pipeline = times->without.backward_ps, ideal = step_pipeline_ps(plan);
	printf("  step                    %10.3f ms\n", fidelity_ms(step));
	printf("    ideal pipeline        %10.3f ms  %" PRIu32 " slots of %.3f ms%s\n",
	       fidelity_ms(ideal),
	       plan->parallel.micro_batches * plan->parallel.vpp + plan->parallel.pp - 1,
	       fidelity_ms(plan->timing.forward_ps + plan->timing.backward_ps),
	       step_late_ps(plan, plan->timing.backward_ps) > 0 ? ", less by zb-h1" : "");
	printf("    what it lacks         %10.3f ms  loss, sends, uneven cells\n",
	       fidelity_ms(pipeline - ideal));
	printf("    exposed communication %10.3f ms  %.2f %%: head %.3f, tail %.3f\n",
	       fidelity_ms(exposed), fidelity_percent(exposed, step), fidelity_ms(times->head_ps),
	       fidelity_ms(times->tail_ps));
	fidelity_print_error(&fidelity->bounds, times);
	fidelity_print_culprits(fidelity->longer_ps, step);
	printf("    other                 %10.3f ms\n", fidelity_ms(plan->timing.other_ps));
	printf("  stage 0 alone sees      %10.3f ms  %.3f before forwards, %.3f behind the last "
	       "backward\n\n",
	       fidelity_ms(
		       fidelity->stages[0].gather_wait_ps +
		       ps_max(0, fidelity->stages[0].reduce_ps - fidelity->stages[0].backward_ps)),
	       fidelity_ms(fidelity->stages[0].gather_wait_ps),
	       fidelity_ms(
		       ps_max(0, fidelity->stages[0].reduce_ps - fidelity->stages[0].backward_ps)));
}

static void print_cases(const struct fidelity *fidelity)
{
	ps_t before = fidelity->rows[0].times.with.step_ps;
	printf("  %-42s %10s %8s %8s %8s %9s\n", "case", "step ms", "exposed", "head", "tail",
	       "change");
	for (uint32_t i = 0; i < fidelity->row_count; i++) {
		const struct step_exposed *times = &fidelity->rows[i].times;
		printf("  %-42s %10.3f %8.3f %8.3f %8.3f %+8.3f%%\n", fidelity->rows[i].of.name,
		       fidelity_ms(times->with.step_ps), fidelity_ms(fidelity_exposed(times)),
		       fidelity_ms(times->head_ps), fidelity_ms(times->tail_ps),
		       fidelity_percent(times->with.step_ps - before, before));
	}
}

static void print_measured(const struct call *call, const struct fidelity *fidelity)
{
	if (fidelity->world.is_measured)
		printf("\n  collectives took %+.2f %% against their closed form: %s\n",
		       (double)fidelity->world.measured_ppb / 1e7, call->options.measured);
}

static void print_published(const struct fidelity *fidelity)
{
	const struct plan *plan = &fidelity->world.plan;
	ps_t published = plan->published_ps, step = fidelity->predicted.with.step_ps;
	if (!fidelity->has_prediction && published > 0)
		printf("\n  published: %.1f ms, %s\n", fidelity_ms(published), plan->source);
	if (!fidelity->has_prediction)
		return;
	printf("\n  with times fitted to two logs of GB200 alone %.3f ms", fidelity_ms(step));
	if (published > 0)
		printf(", %+.2f %% off the published %.1f ms",
		       fidelity_percent(step - published, published), fidelity_ms(published));
	printf("\n    exposed %.3f ms, other %.3f ms, %.3f ms a slot\n",
	       fidelity_ms(fidelity_exposed(&fidelity->predicted)),
	       fidelity_ms(fidelity->logs->timing.other_ps),
	       fidelity_ms(fidelity->logs->timing.forward_ps + fidelity->logs->timing.backward_ps));
}

static void print_table(const struct call *call, const struct fidelity *fidelity)
{
	printf("%s: one step from its schedule, no packets\n", call->scenario.name);
	fidelity_print_job(&fidelity->world);
	print_step(fidelity);
	print_cases(fidelity);
	print_measured(call, fidelity);
	fidelity_print_steps(&fidelity->steps);
	print_published(fidelity);
	fidelity_print_inputs(call, &fidelity->world.plan);
	printf("  Not in it: packets, congestion, losses. With --fidelity sample the collectives "
	       "that "
	       "the step waits for run packet by packet.\n");
}

static void write_fidelity(FILE *to, const struct call *call, const void *fidelity)
{
	fidelity_write_json(to, call, fidelity);
}

int fidelity_run(struct call *call)
{
	static struct fidelity fidelity; // large: kept off the stack
	int rc = work_out(call, &fidelity);
	if (rc == 0 && call->options.record_rank != NULL)
		rc = record_step(call, &fidelity);
	if (rc < 0) {
		free(fidelity.stages);
		return fidelity_say_refusal(call, rc);
	}
	int kept = fidelity_keep(call, write_fidelity, &fidelity);
	if (call->options.is_json)
		fidelity_write_json(stdout, call, &fidelity);
	else
		print_table(call, &fidelity);
	free(fidelity.stages);
	return fidelity_end(call, kept);
}
