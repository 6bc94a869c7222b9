// SPDX-License-Identifier: Apache-2.0
// Many runs on both fabrics, with the same failures in runs of one number.

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "goodput.h"

#define SEARCH_RUNS_MAX 200 // the best interval hardly moves with more

const char *fabric_name(enum fabric fabric)
{
	return fabric == FABRIC_MRC ? "mrc" : "roce";
}

static void add_share(double *to, double time_s, double all_s)
{
	*to += time_s / all_s;
}

static void add_run(struct side *side, const struct goodput_run *run, double all_s)
{
	add_share(&side->saves, run->saves_s, all_s);
	for (uint32_t i = 0; i < side->setup.count; i++) {
		const struct goodput_loss *from = &run->losses[i];
		struct goodput_loss *to = &side->losses[i];
		add_share(&to->repeated_s, from->repeated_s, all_s);
		add_share(&to->notice_s, from->notice_s, all_s);
		add_share(&to->wait_s, from->wait_s, all_s);
		add_share(&to->restart_s, from->restart_s, all_s);
		add_share(&to->slow_s, from->slow_s, all_s);
		add_share(&to->stall_s, from->stall_s, all_s);
		side->events[i] += from->events;
	}
}

static void find_interval(const struct call *call, struct side *side)
{
	struct goodput_setup *setup = &side->setup;
	uint32_t runs = call->numbers.runs;
	double mtbf_s = goodput_mtbf_s(setup);
	side->young_s = goodput_young_s(setup->save_s, mtbf_s);
	side->daly_s = goodput_daly_s(setup->save_s, mtbf_s);
	side->closed_interval_s = goodput_closed_interval_s(setup);
	if (call->is_auto)
		setup->interval_s = goodput_best_interval_s(
			setup, runs < SEARCH_RUNS_MAX ? runs : SEARCH_RUNS_MAX);
	bool has_enough = setup->spares == GOODPUT_ENOUGH_SPARES; // the form knows no waiting
	side->closed = has_enough ? goodput_closed(setup) : NAN;
}

static int run_side(struct call *call, struct side *side)
{
	struct goodput_run run;
	uint32_t runs = call->numbers.runs;
	double length_s = side->setup.length_s;
	side->kept = calloc(runs, sizeof(*side->kept));
	if (side->kept == NULL)
		return refuse(&call->refusal, -ENODEV, "not enough memory for % runs", runs);
	find_interval(call, side);
	for (uint32_t i = 0; i < runs; i++) {
		goodput_run(&run, &side->setup, i);
		side->kept[i] = run.kept_s / length_s;
		add_run(side, &run, length_s * runs);
	}
	spread_of(&side->spread, side->kept, runs);
	return 0;
}

int study_run(struct call *call)
{
	int rc = 0;
	for (int i = 0; rc == 0 && i < FABRIC_COUNT; i++)
		rc = run_side(call, &call->sides[i]);
	if (rc < 0)
		return rc;
	spread_difference_of(&call->worth, call->sides[FABRIC_ROCE].kept,
			     call->sides[FABRIC_MRC].kept, call->numbers.runs, 1);
	return 0;
}

void study_free(struct call *call)
{
	for (int i = 0; i < FABRIC_COUNT; i++)
		free(call->sides[i].kept);
}
