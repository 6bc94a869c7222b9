// SPDX-License-Identifier: Apache-2.0
// A step of a scenario from its schedule: what all fidelities share, from the options to
// the parts of their tables.

#include <errno.h>
#include <inttypes.h>
#include <math.h>

#include <weft/files/files.h>
#include <weft/result/figures.h>
#include <weft/run/fidelity.h>
#include <weft/scenario/plan_file.h>
#include <weft/workload/plan_memory.h>

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
		return refuse(
			refusal, -EINVAL,
			"replicas that differ (--jitter, --slow gpuN) are known where a step "
			"gathers and reduces once, not between the units of each micro-batch");
	return 0;
}

int fidelity_say_refusal(struct call *call, int rc)
{
	struct refusal *refusal = &call->refusal;
	bool is_order = call->options.order != NULL && refusal->column > 0 && refusal->line == 0;
	if (refusal->file[0] == '\0')
		refusal_name(refusal, is_order ? "--order" : call->scenario.path);
	if (is_order)
		refusal->line = 1;
	return call_say_refusal(call, rc);
}

// ---------------------------------------------------------------- the table

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
		       of->messages.count, (double)of->messages.bytes / 1e6,
		       fidelity_ms(of->message_ps));
		if (of->forward_ps > 0)
			printf(": %.3f ms longer forwards, %.3f ms longer backwards",
			       fidelity_ms(of->forward_ps), fidelity_ms(of->backward_ps));
		printf("\n");
	}
}

void fidelity_print_job(const struct world_step *world)
{
	char site[200];
	const struct parallel *cut = &world->plan.parallel;
	const struct ring_time *ring = &world->setup.dense;
	printf("  %" PRIu32 " GPUs, %" PRIu32 " in a domain: tp %" PRIu32 ", cp %" PRIu32
	       ", pp %" PRIu32 "%s, vpp %" PRIu32 ", dp %" PRIu32 ", %" PRIu32 " micro-batches\n",
	       plan_ranks(&world->plan), world->gpu_layout.gpus_per_domain, cut->tp, cut->cp,
	       cut->pp, plan_schedule(cut), cut->vpp, cut->dp, cut->micro_batches);
	printf("  rings of %" PRIu32 " ranks, %" PRIu32 " NICs of %.2f GB/s in a domain%s\n",
	       ring->ranks, world->nics_per_group, (double)world->nic_Bps / 1e9,
	       world->even_ppb < SHARE_WHOLE ? ", some of it lost to faults" : "");
	if (exposure_other_site(world, site, sizeof(site)))
		printf("  %s\n", site);
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
			       dimension_name((enum dimension)i), fidelity_ms(longer_ps[i]),
			       fidelity_percent(longer_ps[i], step_ps));
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

bool fidelity_is_times(const struct plan *plan, uint32_t input)
{
	return &plan->inputs[input] ==
		plan_input_of(plan, plan->timing.has_parts ? "times.measured" : "times.forward");
}

void fidelity_print_inputs(const struct call *call, const struct plan *plan)
{
	const struct scenario *scenario = &call->scenario;
	printf("\n  It rests on\n    %-11s %s\n", origin_name(plan->timing.rests_on),
	       plan->timing.origin);
	for (uint32_t i = 0; i < plan->input_count; i++)
		if (!fidelity_is_times(plan, i))
			printf("    %-11s %s: %s\n", origin_name(plan->inputs[i].origin),
			       plan->inputs[i].of, plan->inputs[i].text);
	for (uint32_t i = 0; i < scenario->input_count; i++)
		printf("    %-11s %s\n", origin_name(scenario->inputs[i].origin),
		       scenario->inputs[i].text);
	for (const struct fidelity_input *at = fidelity_inputs; at->text != NULL; at++)
		if (!at->is_timed || !plan_has_roofline(plan))
			printf("    %-11s %s\n", origin_name(at->origin), at->text);
}

// ---------------------------------------------------------------- the file

int fidelity_keep(struct call *call, fidelity_write *write, const void *fidelity)
{
	char path[STAGING_PATH_BYTES + 16];
	struct atomic_file atomic_file;
	if (call->options.out == NULL)
		return 0;
	snprintf(path, sizeof(path), "%s/step.json", call->staging.part);
	int rc = atomic_file_begin(&atomic_file, path, &call->refusal);
	if (rc == 0) {
		write(atomic_file.to, call, fidelity);
		rc = atomic_file_end(&atomic_file, 0, &call->refusal);
	}
	return out_end(call, rc);
}

int fidelity_end(struct call *call, int kept)
{
	int status = call_finish_output(call);
	return kept < 0 ? call_say_refusal(call, kept) : status;
}
