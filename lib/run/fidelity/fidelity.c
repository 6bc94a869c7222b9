// SPDX-License-Identifier: Apache-2.0
// One step of a scenario from its schedule: what it takes, how much of it is exposed communication,
// and what would change that.

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "record.h"
#include <weft/run/fidelity.h>
#include <weft/run/plan_files.h>
#include <weft/workload/plan_memory.h>

#define LOGS_PLAN "llama-3.1-405b-gb200-2560" // its times are fitted to two logs of GB200 alone

const struct fidelity_input fidelity_inputs[] = {
	{INPUT_ASSUMED, "9 us for a slice from rank to rank over the network (NCCL's tuner: 14 us)",
	 false},
	{INPUT_ASSUMED, "50 us for activations to the next stage inside a domain", false},
	{INPUT_ASSUMED, "the loss takes as long as 1.1 layers on the last stage", true},
	{INPUT_ASSUMED, "attention takes 30 % of a layer's forward and 24 % of its backward",
	 false},
	{INPUT_ASSUMED, "rings at the line rate of the NICs, one slice of 1 MiB behind the other",
	 false},
	{0, NULL, false},
};

ps_t fidelity_exposed(const struct step_exposed *times)
{
	return times->with.step_ps - times->without.step_ps;
}

// ---------------------------------------------------------------- runs

// Mean and spread over steps with seeds of their own (Welford: the deviation loses no digits).
void fidelity_run_steps(struct fidelity_steps *steps, const struct schedule *schedule,
			const struct step_setup *of, uint32_t count)
{
	struct step_setup setup = *of;
	double squares = 0;
	*steps = (struct fidelity_steps){.count = count, .min_s = INFINITY};
	for (uint32_t i = 0; i < count; i++) {
		struct step_times times;
		setup.seed = of->seed + i;
		step_run(schedule->step, &setup, &times, NULL);
		double time_s = (double)times.step_ps / PS_PER_S, off = time_s - steps->mean_s;
		steps->mean_s += off / (i + 1);
		squares += off * (time_s - steps->mean_s);
		steps->min_s = fmin(steps->min_s, time_s);
		steps->max_s = fmax(steps->max_s, time_s);
	}
	steps->cv = sqrt(squares / (count - 1)) / steps->mean_s;
}

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

// A stage of all replicas, or that of one GPU: those that compute with it wait for it.
static int take_slow(const struct options *options, struct world_step *world,
		     struct refusal *refusal)
{
	uint32_t gpu = options->slow_gpu, ranks = plan_ranks(&world->plan);
	bool is_gpu = gpu != UINT32_MAX;
	if (is_gpu && gpu >= ranks)
		return refuse(refusal, -EINVAL, "--slow: there is no GPU % of %", gpu, ranks);
	if (!is_gpu && options->slow != NULL && options->slow_stage >= world->plan.parallel.pp)
		return refuse(refusal, -EINVAL, "--slow: there is no stage % of %",
			      options->slow_stage, world->plan.parallel.pp);
	world->setup.slow_stage = is_gpu ? order_stage(&world->order, &world->plan, gpu)
					 : options->slow_stage;
	world->setup.slow_replica = is_gpu ? order_replica(&world->order, &world->plan, gpu) + 1
					   : 0;
	world->setup.slow_ppb = options->slow_ppb;
	return 0;
}

int fidelity_prepare(struct call *call, struct world_step *world)
{
	const struct options *options = &call->options;
	struct refusal *refusal = &call->refusal;
	if (call->is_comparison)
		return refuse(refusal, -EINVAL, "name one of its variants by --variant");
	if (call->scenario.traffic.beside_bytes > 0)
		return refuse(
			refusal, -EINVAL,
			"a step's time is worked out of the step alone: --fidelity does not go "
			"with traffic.beside");
	int rc = world_step(world, &call->scenario, options->order, refusal);
	if (rc < 0)
		return rc;
	rc = take_slow(options, world, refusal);
	if (rc < 0)
		return rc;
	rc = jitter_take(&world->setup, &options->jitter_choice, refusal);
	if (rc < 0)
		return rc;
	if (step_has_jitter(&world->setup) || world->setup.slow_replica > 0)
		world->setup.replicas = world->plan.parallel.dp;
	if (world->setup.replicas > 1 && plan_is_interleaved(&world->plan))
		return refuse(refusal, -EINVAL,
			      "replicas that differ (--jitter, --slow gpuN) are known where a step "
			      "gathers and reduces once, not between the units of each micro-batch",
			      0, 0, 0);
	return 0;
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
		return refuse(&call->refusal, -ENODEV, "the system gives no memory");
	rc = run_cases(fidelity, &call->refusal);
	if (rc == 0 && options->step_count > 1 && options->jitter != NULL)
		rc = run_steps(fidelity, options->step_count, &call->refusal);
	return rc;
}

int fidelity_say_refusal(struct call *call, int rc)
{
	struct refusal *refusal = &call->refusal;
	bool is_order = call->options.order != NULL && refusal->column > 0 && refusal->line == 0;
	if (refusal->file[0] == '\0')
		snprintf(refusal->file, sizeof(refusal->file), "%s",
			 is_order ? "--order" : call->scenario.path);
	if (is_order)
		refusal->line = 1;
	return call_say_refusal(call, rc);
}

// ---------------------------------------------------------------- the table

static double ms(ps_t time)
{
	return (double)time / PS_PER_MS;
}

static double percent(ps_t part, ps_t whole)
{
	return (double)part / (double)whole * 100;
}

// Activations that leave their domain, and what the step would be if they did not.
static void print_off_domain(const struct world_step *world)
{
	for (uint32_t i = 0; i < DIMENSION_COUNT; i++) {
		const struct world_off_domain *of = &world->off_domain[i];
		if (!of->is_off_domain)
			continue;
		printf("  %s leaves its domain: groups of %" PRIu32 " ranks in %" PRIu32
		       " domains, %" PRIu64 " messages of %.3f MB a rank,\n    %.3f ms each",
		       dimension_name((enum dimension)i), of->spread.ranks, of->spread.domains_max,
		       of->messages.count, (double)of->messages.bytes / 1e6, ms(of->message_ps));
		if (of->forward_ps > 0)
			printf(": %.3f ms longer forwards, %.3f ms longer backwards",
			       ms(of->forward_ps), ms(of->backward_ps));
		printf("\n");
	}
}

void fidelity_print_job(const struct world_step *world)
{
	const struct parallel *cut = &world->plan.parallel;
	const struct ring_time *ring = &world->setup.dense;
	printf("  %" PRIu32 " GPUs, %" PRIu32 " in a domain: tp %" PRIu32 ", cp %" PRIu32
	       ", pp %" PRIu32 ", vpp %" PRIu32 ", dp %" PRIu32 ", %" PRIu32 " micro-batches\n",
	       plan_ranks(&world->plan), world->gpu_layout.gpus_per_domain, cut->tp, cut->cp,
	       cut->pp, cut->vpp, cut->dp, cut->micro_batches);
	printf("  rings of %" PRIu32 " ranks, %" PRIu32 " NICs of %.2f GB/s in a domain%s\n",
	       ring->ranks, world->nics_per_group, (double)world->nic_Bps / 1e9,
	       world->even_ppb < SHARE_WHOLE ? ", some of it lost to faults" : "");
	if (cut->outer_steps > 1)
		printf("  an outer step: one of %" PRIu32 " in which replicas meet\n",
		       cut->outer_steps);
	print_off_domain(world);
	printf("\n");
}

void fidelity_print_culprits(const ps_t longer_ps[DIMENSION_COUNT], ps_t step_ps)
{
	for (uint32_t i = 0; i < DIMENSION_COUNT; i++)
		if (longer_ps[i] != 0)
			printf("      because of %-10s %9.3f ms  %.2f %% of the step: it leaves "
			       "its domain\n",
			       dimension_name((enum dimension)i), ms(longer_ps[i]),
			       percent(longer_ps[i], step_ps));
}

static void print_step(const struct fidelity *fidelity)
{
	const struct plan *plan = &fidelity->world.plan;
	const struct step_exposed *times = &fidelity->rows[0].times;
	ps_t step = times->with.step_ps, exposed = fidelity_exposed(times);
	ps_t pipeline = times->without.backward_ps, ideal = step_pipeline_ps(plan);
	printf("  step                    %10.3f ms\n", ms(step));
	printf("    ideal pipeline        %10.3f ms  %" PRIu32 " slots of %.3f ms\n", ms(ideal),
	       plan->parallel.micro_batches * plan->parallel.vpp + plan->parallel.pp - 1,
	       ms(plan->timing.forward_ps + plan->timing.backward_ps));
	printf("    what it lacks         %10.3f ms  loss, sends, uneven cells\n",
	       ms(pipeline - ideal));
	printf("    exposed communication %10.3f ms  %.2f %%: head %.3f, tail %.3f\n", ms(exposed),
	       percent(exposed, step), ms(times->head_ps), ms(times->tail_ps));
	fidelity_print_culprits(fidelity->longer_ps, step);
	printf("    other                 %10.3f ms\n", ms(plan->timing.other_ps));
	printf("  stage 0 alone sees      %10.3f ms  %.3f before forwards, %.3f behind the last "
	       "backward\n\n",
	       ms(fidelity->stages[0].gather_wait_ps +
		  ps_max(0, fidelity->stages[0].reduce_ps - fidelity->stages[0].backward_ps)),
	       ms(fidelity->stages[0].gather_wait_ps),
	       ms(ps_max(0, fidelity->stages[0].reduce_ps - fidelity->stages[0].backward_ps)));
}

static void print_cases(const struct fidelity *fidelity)
{
	ps_t before = fidelity->rows[0].times.with.step_ps;
	printf("  %-42s %10s %8s %8s %8s %9s\n", "case", "step ms", "exposed", "head", "tail",
	       "change");
	for (uint32_t i = 0; i < fidelity->row_count; i++) {
		const struct step_exposed *times = &fidelity->rows[i].times;
		printf("  %-42s %10.3f %8.3f %8.3f %8.3f %+8.3f%%\n", fidelity->rows[i].of.name,
		       ms(times->with.step_ps), ms(fidelity_exposed(times)), ms(times->head_ps),
		       ms(times->tail_ps), percent(times->with.step_ps - before, before));
	}
}

void fidelity_print_steps(const struct fidelity_steps *steps)
{
	if (steps->count == 0)
		return;
	printf("\n  %" PRIu32
	       " steps with jitter: mean %.3f ms, CV %.3f %%, from %.3f to %.3f ms\n",
	       steps->count, steps->mean_s * 1e3, steps->cv * 100, steps->min_s * 1e3,
	       steps->max_s * 1e3);
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
		printf("\n  published: %.1f ms, %s\n", ms(published), plan->source);
	if (!fidelity->has_prediction)
		return;
	printf("\n  with times fitted to two logs of GB200 alone %.3f ms", ms(step));
	if (published > 0)
		printf(", %+.2f %% off the published %.1f ms", percent(step - published, published),
		       ms(published));
	printf("\n    exposed %.3f ms, other %.3f ms, %.3f ms a slot\n",
	       ms(fidelity_exposed(&fidelity->predicted)), ms(fidelity->logs->timing.other_ps),
	       ms(fidelity->logs->timing.forward_ps + fidelity->logs->timing.backward_ps));
}

void fidelity_print_inputs(const struct call *call, const struct plan *plan)
{
	static const char *const names[] = {"fact", "assumed", "calibrated"};
	const struct scenario *scenario = &call->scenario;
	printf("\n  It rests on\n    %-11s %s\n",
	       plan->timing.is_assumed ? "assumed" : "calibrated", plan->timing.origin);
	for (uint32_t i = 0; i < plan->input_count; i++)
		if (!plan_input_is_of(&plan->inputs[i], "times.forward"))
			printf("    %-11s %s: %s\n", names[plan->inputs[i].origin],
			       plan->inputs[i].of, plan->inputs[i].text);
	for (uint32_t i = 0; i < scenario->input_count; i++)
		printf("    %-11s %s\n", names[scenario->inputs[i].origin],
		       scenario->inputs[i].text);
	for (const struct fidelity_input *at = fidelity_inputs; at->text != NULL; at++)
		if (!at->is_timed || !plan_has_roofline(plan))
			printf("    %-11s %s\n", names[at->origin], at->text);
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
