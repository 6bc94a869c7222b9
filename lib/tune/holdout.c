// SPDX-License-Identifier: Apache-2.0
// Scenarios that the search does not see. Before it only the default and the corners of the space
// run there, on the search's seeds, so that a scenario that can say nothing is refused; in the last
// round the default and the finalists meet it on fresh seeds. Nothing is chosen by what comes out.

#include "inside.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define PROBE_SEEDS 2
#define PROBES 3 // all knobs at their lower ends, in the middle, at their upper ends

// tune_runs_fn of a hold-out: the suite's, for which it is another scenario.
static int runs_there(void *context, const struct tune_request *requests, uint32_t count,
		      tune_take_fn *take, void *take_context, struct refusal *refusal)
{
	const struct tune *there = context;
	const struct tune_plan *plan = &there->suite->plan;
	struct tune_request *asked = calloc(count, sizeof(*asked));
	if (asked == NULL)
		return refuse(refusal, -ENODEV, "not enough memory for % runs", count);
	memcpy(asked, requests, count * sizeof(*asked));
	for (uint32_t i = 0; i < count; i++)
		asked[i].scenario = there->scenario;
	int rc = plan->runs(plan->runs_context, asked, count, take, take_context, refusal);
	free(asked);
	return rc;
}

static struct tune *create_there(struct tune *suite, uint32_t scenario)
{
	struct tune_plan plan = suite->plan;
	plan.scenarios[0] = plan.scenarios[scenario];
	plan.fabrics[0] = plan.fabrics[scenario];
	plan.scenario_count = 1;
	plan.holdout_count = 0;
	plan.runs = runs_there;
	plan.progress = NULL;
	struct tune *there = tune_create(&plan);
	if (there == NULL)
		return NULL;
	there->plan.runs_context = there;
	there->suite = suite;
	there->scenario = scenario;
	there->refusal = suite->refusal;
	return there;
}

// What it ran counts as the suite's.
static void count_runs(struct tune *there)
{
	struct tune_result *result = &there->suite->result, *own = &there->result;
	result->runs += own->runs;
	result->runs_made += own->runs_made;
	result->ended_early += own->ended_early;
	result->cpu_s += own->cpu_s;
	own->runs = own->runs_made = own->ended_early = 0;
	own->cpu_s = 0;
}

static int refuse_memory(struct tune *tune)
{
	return refuse(tune->refusal, -ENODEV, "not enough memory for a hold-out");
}

static int probe(struct tune *there)
{
	for (uint32_t i = 0; i < PROBES; i++) {
		double at[TUNE_KNOBS_MAX];
		bool is_new;
		for (uint32_t j = 0; j < there->plan.space.count; j++)
			at[j] = (double)i / (PROBES - 1);
		struct tune_candidate *corner = tune_propose(there, at, &is_new);
		if (corner == NULL)
			return refuse_memory(there);
		int rc = tune_meet(there, &corner, 1, false, PROBE_SEEDS);
		if (rc < 0)
			return rc;
		for (uint32_t j = 0; j < corner->met.count; j++)
			if (corner->met.cost[j] != 0) // or none
				return 0;
	}
	int rc = refuse(there->refusal, -EINVAL,
			"the knobs change the aim in no run of this hold-out: it can say nothing "
			"of them");
	refusal_name(there->refusal, there->plan.scenarios[0]);
	return rc;
}

int tune_holdouts_begin(struct tune *tune)
{
	const struct tune_plan *plan = &tune->plan;
	int rc = 0;
	for (uint32_t i = 0; rc == 0 && i < plan->holdout_count; i++) {
		struct tune *there = create_there(tune, plan->scenario_count + i);
		tune->holdouts[i] = there;
		if (there == NULL)
			return refuse_memory(tune);
		rc = tune_meet_default(there, false, PROBE_SEEDS);
		if (rc == 0)
			rc = probe(there);
		count_runs(there);
	}
	return rc;
}

// ---------------------------------------------------------------- last round

static bool is_risk(const struct tune_standing *standing)
{
	return standing->violation > 0 || standing->low > 1 ||
		(standing->count > 0 && isnan(standing->low) && standing->ratio > 1);
}

static int meet(struct tune *there, struct tune_candidate *candidate, struct tune_standing *ret)
{
	int rc = tune_meet(there, &candidate, 1, true, there->plan.fresh_seeds);
	if (rc == 0)
		tune_standing_of(ret, &candidate->fresh, TUNE_CONFIDENCE);
	return rc;
}

// What is to be set, where that is rounded.
static int meet_rounded(struct tune *there, struct tune_standing *ret)
{
	const struct tune_result *result = &there->suite->result;
	struct tune_rounding *own = &there->result.rounds[0];
	if (result->round_count == 0 || !result->rounds[result->round_count - 1].is_taken)
		return 0;
	own->digits = result->digits;
	own->candidate = calloc(1, sizeof(*own->candidate));
	if (own->candidate == NULL)
		return refuse_memory(there);
	const struct tune_candidate *rounded = result->rounds[result->round_count - 1].candidate;
	memcpy(own->candidate->at, rounded->at, sizeof(rounded->at));
	memcpy(own->candidate->name, rounded->name, sizeof(rounded->name));
	return meet(there, own->candidate, ret);
}

static int judge(struct tune *there, struct tune_holdout *ret)
{
	const struct tune_result *result = &there->suite->result;
	struct tune_series of_default;
	int rc = 0;
	for (uint32_t i = 0; rc == 0 && i < result->finalist_count; i++) {
		bool is_new;
		struct tune_candidate *finalist = tune_propose(there, result->finalists[i]->at,
							       &is_new);
		rc = finalist == NULL ? refuse_memory(there)
				      : meet(there, finalist, &ret->standings[i]);
	}
	if (rc == 0)
		rc = meet_rounded(there, &ret->round);
	if (rc < 0)
		return rc;
	ret->default_breach = tune_default_series(there, &of_default);
	ret->is_worse = result->verdict == TUNE_BETTER &&
		(is_risk(&ret->standings[0]) || is_risk(&ret->round));
	return 0;
}

int tune_holdouts_judge(struct tune *tune)
{
	struct tune_result *result = &tune->result;
	int rc = 0;
	for (uint32_t i = 0; rc == 0 && i < tune->plan.holdout_count; i++) {
		rc = judge(tune->holdouts[i], &result->holdouts[i]);
		count_runs(tune->holdouts[i]);
	}
	if (rc == 0)
		result->holdout_count = tune->plan.holdout_count;
	return rc;
}

uint64_t tune_holdout_runs_first(void)
{
	return (uint64_t)(PROBES + 1) * PROBE_SEEDS;
}

uint64_t tune_holdout_runs_last(const struct tune_plan *plan)
{
	return (uint64_t)(TUNE_FINALISTS + 2) * plan->fresh_seeds;
}

// ---------------------------------------------------------------- in words

static void standing_text(FILE *to, const struct tune_plan *plan,
			  const struct tune_standing *standing)
{
	char ratio[64];
	tune_ratio_text(standing, ratio, sizeof(ratio));
	fprintf(to, "%s of the default", ratio);
	if (standing->violation > 0) {
		fputs(", and breaks ", to);
		tune_breach_text(to, plan, standing);
	}
}

static void holdout_line(FILE *to, const struct tune_plan *plan, const struct tune_result *result,
			 uint32_t index)
{
	const struct tune_holdout *holdout = &result->holdouts[index];
	fprintf(to, "%s %s, which the search did not see: ", holdout->is_worse ? "worse on" : "on",
		plan->scenarios[plan->scenario_count + index]);
	standing_text(to, plan, &holdout->standings[0]);
	if (holdout->round.count > 0) {
		fputs("; as it is set, rounded, ", to);
		standing_text(to, plan, &holdout->round);
	}
	if (holdout->default_breach != TUNE_BREACH_NONE)
		fprintf(to, "; the default breaks %s there",
			tune_aim_breach(&plan->aim, holdout->default_breach));
	fprintf(to, " (%u fresh seeds)\n", plan->fresh_seeds);
}

void tune_holdout_lines(FILE *to, const char *before, const struct tune_plan *plan,
			const struct tune_result *result)
{
	if (result->verdict != TUNE_BETTER)
		return;
	for (uint32_t i = 0; i < result->holdout_count; i++) {
		fputs(before, to);
		holdout_line(to, plan, result, i);
	}
}

void tune_show_holdouts(FILE *to, const struct tune_plan *plan, const struct tune_result *result)
{
	tune_holdout_lines(to, "", plan, result);
}

void tune_show_alerts(FILE *to, const struct tune_plan *plan, const struct tune_result *result)
{
	for (uint32_t i = 0; i < result->holdout_count; i++)
		if (result->holdouts[i].is_worse)
			holdout_line(to, plan, result, i);
}
