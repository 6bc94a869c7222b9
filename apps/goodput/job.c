// SPDX-License-Identifier: Apache-2.0
// From a scenario and the facts to a job that fails: how often what fails, and what that does to a
// job on either fabric.

#include <math.h>
#include <string.h>

#include <weft/core/check.h>
#include <weft/world/world_step.h>

#include "goodput.h"
#include <weft/run/input_files.h>
#include <weft/run/outcome.h>
#include <weft/run/schedule.h>

#define DAY_S 86400.0
#define IB_TIMEOUT_S 4.096e-6 // times 2^timeout: InfiniBand's local ACK timeout

static double given_or(double value, double otherwise)
{
	return isnan(value) ? otherwise : value;
}

// ---------------------------------------------------------------- the step

static double seconds(const struct step_exposed *times)
{
	return (double)times->with.step_ps / PS_PER_S;
}

// The step as it is, and while one plane of a group's NIC is gone: at the pace of the slowest.
static int run_steps(struct call *call, const struct world_step *world)
{
	struct step_setup setup = world->setup;
	struct step_exposed times;
	uint32_t planes = world->planes;
	int rc = schedule_expose(&times, &world->plan, &setup, NULL, &call->refusal);
	call->step_s = seconds(&times);
	if (rc < 0 || planes < 2)
		return rc;
	setup.dense.network_Bps = setup.dense.network_Bps * (planes - 1) / planes;
	setup.experts.network_Bps = setup.experts.network_Bps * (planes - 1) / planes;
	rc = schedule_expose(&times, &world->plan, &setup, NULL, &call->refusal);
	call->slow_step_s = seconds(&times);
	return rc;
}

static int work_out_step(struct call *call)
{
	struct world_step world;
	int rc = world_step(&world, &call->scenario, NULL, &call->refusal);
	if (rc < 0)
		return rc;
	call->gpus = plan_ranks(&world.plan);
	call->planes = world.planes;
	call->timing = world.plan.timing;
	call->checkpoint_bytes = CHECKPOINT_BYTES_PER_PARAM *
		(double)architecture_params(world.plan.architecture);
	call->step_s = call->slow_step_s = NAN;
	if (!call->has_slow)
		rc = run_steps(call, &world);
	call->slow = 1 - call->step_s / call->slow_step_s;
	if (call->has_slow)
		call->slow = call->numbers.slow_ppu / (1 + call->numbers.slow_ppu);
	return rc;
}

// ---------------------------------------------------------------- failures

double job_rate(const struct call *call, uint32_t component)
{
	double all = 0;
	for (uint32_t i = 0; components[i].name != NULL; i++)
		all += components[i].count;
	double share = components[component].count / all;
	double total = call->rates->per_million_gpu_days > 0 ? call->rates->per_million_gpu_days
							     : all / FACTS_GPU_DAYS * 1e6;
	return given_or(call->rate_of[component], total * share);
}

// A cable of MRC's is one of many.
static void survive(const struct call *call, struct failure *failure)
{
	failure->reaction = FAILURE_SLOW;
	failure->slow = call->slow;
	failure->rate_per_s *= call->numbers.cables;
}

// RoCE's is the only one, and waits as long as the transport tries.
static void wait_or_end(const struct call *call, struct failure *failure)
{
	bool is_short = failure->outage_s < call->give_up_s;
	failure->reaction = is_short ? FAILURE_STALL : FAILURE_RESTART;
	failure->notice_s = call->give_up_s + call->numbers.crash_s;
}

static struct failure failure_of(const struct call *call, uint32_t component, enum fabric fabric)
{
	const struct component *what = &components[component];
	const struct numbers *numbers = &call->numbers;
	struct failure failure = {
		.rate_per_s = job_rate(call, component) / 1e6 * call->gpus / DAY_S,
		.notice_s = numbers->crash_s,
		.takes_host = what->takes_host,
	};
	bool is_survivor = fabric == FABRIC_MRC && !isnan(call->slow);
	switch (what->sign) {
	case SIGN_CRASH:
		break;
	case SIGN_HANG:
		failure.notice_s = numbers->hang_s;
		break;
	case SIGN_TRANSPORT:
		failure.notice_s = call->give_up_s + numbers->crash_s;
		break;
	case SIGN_CABLE:
	case SIGN_FLAP:
		failure.outage_s = what->sign == SIGN_FLAP ? numbers->flap_s : numbers->outage_s;
		if (is_survivor)
			survive(call, &failure);
		else
			wait_or_end(call, &failure);
		break;
	}
	return failure;
}

static void fill_setup(struct call *call, enum fabric fabric)
{
	const struct numbers *numbers = &call->numbers;
	struct goodput_setup *setup = &call->sides[fabric].setup;
	*setup = (struct goodput_setup){
		.length_s = numbers->days * DAY_S,
		.interval_s = given_or(numbers->checkpoint_s, numbers->days * DAY_S),
		.save_s = numbers->save_s,
		.restart_s = numbers->restart_s + numbers->load_s,
		.spares = numbers->spares,
		.repair_s = numbers->repair_s,
		.seed = call->scenario.seed,
	};
	for (; components[setup->count].name != NULL; setup->count++) {
		check(setup->count < GOODPUT_FAILURES_MAX);
		setup->failures[setup->count] = failure_of(call, setup->count, fabric);
	}
}

// ---------------------------------------------------------------- words that others give

static void fill_numbers(struct call *call)
{
	struct numbers *numbers = &call->numbers;
	const struct recovery *recovery = call->recovery;
	double save_s = call->checkpoint_bytes / STORAGE_BPS;
	call->has_own_recovery = !isnan(numbers->crash_s) || !isnan(numbers->hang_s) ||
		!isnan(numbers->restart_s);
	numbers->crash_s = given_or(numbers->crash_s, recovery->crash_s);
	numbers->hang_s = given_or(numbers->hang_s, recovery->hang_s);
	numbers->restart_s = given_or(numbers->restart_s, recovery->restart_s);
	numbers->save_s = given_or(numbers->save_s, save_s);
	numbers->load_s = given_or(numbers->load_s, save_s);
	numbers->repair_s = given_or(numbers->repair_s, DEFAULT_REPAIR_S);
	numbers->flap_s = given_or(numbers->flap_s, DEFAULT_FLAP_S);
	numbers->cables = numbers->cables > 0 ? numbers->cables : call->planes;
	call->give_up_s = fmin(numbers->hang_s,
			       IB_TIMEOUT_S * exp2(numbers->ib_timeout) * numbers->ib_retry);
}

// Words that change nothing here.
static int check_words(struct call *call)
{
	const struct numbers *numbers = &call->numbers;
	uint32_t flap = 0;
	while (components[flap].sign != SIGN_FLAP)
		flap++;
	if (!isnan(numbers->flap_s) && job_rate(call, flap) == 0)
		return outcome_bad_line(&call->refusal, "--flap needs --rate flap=RATE");
	if (isnan(call->slow) && numbers->cables > 0)
		return outcome_bad_word(&call->refusal,
					"NICs of this scenario have one port, whose loss nothing "
					"survives (unless --slow says at what speed):",
					"--cables");
	return 0;
}

int job_make(struct call *call)
{
	struct refusal *refusal = &call->refusal;
	if (call->seed_text != NULL) {
		snprintf(call->seed_set, sizeof(call->seed_set), "seed=%.50s", call->seed_text);
		call->sets[call->set_count++] = call->seed_set;
	}
	int rc = scenario_file_read(&call->scenario, call->scenario_name, call->sets,
				    call->set_count, refusal);
	if (rc == 0) {
		rc = work_out_step(call);
		if (rc < 0 && refusal->file[0] == '\0')
			refusal_name(refusal, call->scenario.path);
	}
	if (rc == 0)
		rc = check_words(call);
	if (rc < 0)
		return rc;
	fill_numbers(call);
	for (int i = 0; rc == 0 && i < FABRIC_COUNT; i++) {
		fill_setup(call, (enum fabric)i);
		rc = goodput_check(&call->sides[i].setup, refusal);
	}
	return rc;
}
