// SPDX-License-Identifier: Apache-2.0
// The order of a study: the default, the search, the race, the last round. What each may cost is
// fixed before it begins.

#include "inside.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define REPEATS_MAX 2000 // proposals in a row that are nothing new: the space is exhausted
#define ROUNDS_MAX 3	 // of a search, each on twice the seeds
#define ROUND_POINTS 12	 // that a round has at least for each knob, of three at least
#define ROUND_STEP 0.1	 // of the range: what a round begins with around the best
#define PROMOTED 8	 // of a round that the next one begins with
#define RACE_PART 4	 // one part in so many of what is left for the search is the race's
#define PART_SEEDS (UINT64_C(1) << 40)	    // between what the parts of a search draw from
#define DIRECTION_SEEDS (UINT64_C(1) << 34) // the same of directions

struct attempt {
	struct tune *tune;
	uint32_t count;			// of knobs that are searched over
	uint32_t knobs[TUNE_KNOBS_MAX]; // those
	uint64_t runs, runs_max; // of this part of the search, as if it were alone; of this search
	uint32_t seeds;		 // that its points meet
	const struct tune_direction *direction; // to the Pareto set; NULL: to the best
	uint32_t repeats;
};

struct batch {
	uint32_t count;
	struct tune_candidate **candidates;
};

static int refuse_memory(struct tune *tune)
{
	return refuse(tune->refusal, -ENODEV, "not enough memory for candidates");
}

static uint64_t runs_of_last_round(const struct tune_plan *plan)
{
	return (uint64_t)(TUNE_FINALISTS + 1 + TUNE_ROUNDS_MAX + plan->has_off) *
		plan->fresh_seeds * plan->scenario_count +
		plan->holdout_count * tune_holdout_runs_last(plan);
}

uint64_t tune_budget_min(const struct tune_plan *plan)
{
	uint64_t race = (uint64_t)(TUNE_FINALISTS + 1) * plan->race_seeds * plan->scenario_count;
	uint64_t screen = plan->screen == TUNE_SCREEN_AUTO ? 0
							   : (uint64_t)plan->screen *
			(plan->space.count + 1) * plan->search_seeds * plan->scenario_count;
	return race + runs_of_last_round(plan) + plan->holdout_count * tune_holdout_runs_first() +
		screen + (screen + 2) / (RACE_PART - 1);
}

// ---------------------------------------------------------------- search

// A point of the search as one of the space: flat knobs stay as they are.
static void spread_out(const struct attempt *attempt, const double *point, double *ret)
{
	for (uint32_t i = 0; i < attempt->tune->plan.space.count; i++)
		ret[i] = NAN;
	for (uint32_t i = 0; i < attempt->count; i++)
		ret[attempt->knobs[i]] = point[i];
}

// What this part of the search may know of it: another part may have met it on more seeds.
static uint32_t seeds_known(const struct tune *tune, const struct tune_candidate *candidate)
{
	if (tune->part == 0)
		return candidate->met.count;
	uint32_t own = candidate->part == tune->part ? candidate->seeds : 0;
	return own > candidate->screened ? own : candidate->screened;
}

static double value_of(const struct attempt *attempt, const struct tune_candidate *candidate)
{
	struct tune_series met = candidate->met;
	uint32_t known = seeds_known(attempt->tune, candidate);
	if (attempt->direction != NULL)
		return tune_direction_value(attempt->direction, &candidate->met);
	if (met.count > known)
		met.count = known;
	return tune_value_guarded(&met);
}

// Takes a point as this part's own candidate, and notes it where it has to meet seeds. Returns
// whether there was room for it; -errno.
static int take_point(struct attempt *attempt, struct tune_candidate *candidate, bool is_new,
		      struct batch *batch)
{
	struct tune *tune = attempt->tune;
	struct tune_result *result = &tune->result;
	uint32_t known = seeds_known(tune, candidate);
	uint64_t each = (uint64_t)(attempt->seeds - known) * tune->plan.scenario_count;
	if (known >= attempt->seeds) {
		attempt->repeats++;
		return 1;
	}
	attempt->repeats = 0;
	if (attempt->runs + each > attempt->runs_max) {
		if (is_new)
			free(result->candidates[--result->different]);
		result->candidate_count--;
		return 0;
	}
	if (is_new)
		candidate->run = result->runs + (batch->count + 1) * each;
	candidate->part = tune->part;
	candidate->seeds = attempt->seeds;
	attempt->runs += each;
	batch->candidates[batch->count++] = candidate;
	return 1;
}

static struct tune_candidate *candidate_at(const struct attempt *attempt, const double *point,
					   bool *ret_new)
{
	double at[TUNE_KNOBS_MAX];
	spread_out(attempt, point, at);
	return tune_propose(attempt->tune, at, ret_new);
}

// search_try_fn: meets the new ones among these points, as far as the budget goes.
static int try_points(void *context, const double (*points)[TUNE_KNOBS_MAX], uint32_t count,
		      double *ret_values)
{
	struct attempt *attempt = context;
	struct tune *tune = attempt->tune;
	struct tune_result *result = &tune->result;
	struct batch batch = {.candidates = calloc(count, sizeof(*batch.candidates))};
	bool is_new;
	int rc = batch.candidates != NULL ? 1 : refuse_memory(tune);
	for (uint32_t i = 0; rc == 1 && i < count; i++) {
		struct tune_candidate *candidate = candidate_at(attempt, points[i], &is_new);
		rc = candidate != NULL ? take_point(attempt, candidate, is_new, &batch)
				       : refuse_memory(tune);
	}
	uint64_t one = (uint64_t)attempt->seeds * tune->plan.scenario_count;
	bool is_last = rc == 0 || attempt->runs + one > attempt->runs_max;
	if (rc >= 0)
		rc = tune_meet(tune, batch.candidates, batch.count, false, attempt->seeds);
	free(batch.candidates);
	if (rc < 0 || is_last)
		return rc < 0 ? rc : 1;
	for (uint32_t i = 0; i < count; i++) {
		ret_values[i] = value_of(attempt, candidate_at(attempt, points[i], &is_new));
		result->candidate_count--;
	}
	result->is_exhausted = result->different == tune_space_settings(&tune->plan.space) ||
		attempt->repeats >= REPEATS_MAX;
	return result->is_exhausted ? 1 : 0;
}

// Those that were met, by value.
static void settle(struct tune_result *result)
{
	uint32_t met = 0;
	for (uint32_t i = 0; i < result->different; i++)
		if (result->candidates[i]->met.count > 0)
			result->candidates[met++] = result->candidates[i];
		else
			free(result->candidates[i]);
	result->different = met;
	if (met > 0)
		qsort(result->candidates, met, sizeof(*result->candidates), tune_by_value);
	result->best_seen = met > 0 ? result->candidates[0] : NULL;
}

// The best that is known before, in the knobs that are searched over: that was screened, or met in
// other directions.
static const double *start_of(const struct attempt *attempt, double *ret)
{
	const struct tune_result *result = &attempt->tune->result;
	const struct tune_candidate *best = NULL;
	bool is_known = result->screened > 0 || attempt->direction != NULL;
	for (uint32_t i = 0; is_known && i < result->different; i++)
		if (tune_is_known(attempt->tune, result->candidates[i]) &&
		    (best == NULL ||
		     value_of(attempt, result->candidates[i]) < value_of(attempt, best)))
			best = result->candidates[i];
	for (uint32_t i = 0; best != NULL && i < attempt->count; i++)
		ret[i] = best->at[attempt->knobs[i]];
	return best != NULL ? ret : NULL;
}

static int search_once(struct attempt *context, uint64_t seed, const double *start, double step)
{
	const struct search search = {
		.dimensions = context->count,
		.seed = seed,
		.start = start,
		.step = step,
		.attempt = try_points,
		.context = context,
	};
	return context->tune->plan.engine->run(&search);
}

// One direction after the other, each with as many runs.
static int search_front(struct attempt *context, uint64_t seed, uint64_t runs)
{
	struct tune *tune = context->tune;
	struct tune_direction direction;
	uint32_t count = tune_directions(&tune->plan, context->count, runs);
	int rc = 0;
	context->direction = &direction;
	for (uint32_t i = 0; rc == 0 && i < count && !tune->result.is_exhausted; i++) {
		rc = tune_direction_of(&direction, tune, i, seed);
		double start[TUNE_KNOBS_MAX];
		context->runs_max = context->runs + (runs - context->runs) / (count - i);
		if (rc == 0)
			rc = search_once(context, seed + i * DIRECTION_SEEDS,
					 start_of(context, start), direction.step);
	}
	return rc;
}

// ---------------------------------------------------------------- rounds

// How many rounds so many runs are enough for, each on twice as many seeds as the one before.
static uint32_t rounds_of(const struct attempt *attempt, uint64_t runs)
{
	const struct tune_plan *plan = &attempt->tune->plan;
	uint32_t rounds = 1;
	uint64_t least = ROUND_POINTS * (attempt->count > 3 ? attempt->count : 3);
	if (!plan->engine->has_start || !attempt->tune->result.is_random)
		return 1;
	while (rounds < ROUNDS_MAX && plan->search_seeds << rounds <= TUNE_BLOCKS_MAX / 2 &&
	       runs / (rounds + 1) >= least * (plan->search_seeds << rounds) * plan->scenario_count)
		rounds++;
	return rounds;
}

// Has the best ones that are known meet this round's seeds. Returns how many there were room for, 0
// at the end of the search; -errno. `ret` is the best of them.
static int promote(struct attempt *attempt, double *ret)
{
	const struct tune_result *result = &attempt->tune->result;
	uint32_t best[PROMOTED], count = 0;
	double points[PROMOTED][TUNE_KNOBS_MAX] = {0}, values[PROMOTED];
	for (uint32_t i = 0; i < result->different; i++) {
		const struct tune_candidate *one = result->candidates[i];
		uint32_t at = count;
		if (seeds_known(attempt->tune, one) < attempt->seeds / 2)
			continue;
		while (at > 0 &&
		       value_of(attempt, one) < value_of(attempt, result->candidates[best[at - 1]]))
			at--;
		if (at == PROMOTED)
			continue;
		count += count < PROMOTED;
		memmove(best + at + 1, best + at, (count - at - 1) * sizeof(*best));
		best[at] = i;
	}
	for (uint32_t i = 0; i < count; i++)
		for (uint32_t j = 0; j < attempt->count; j++)
			points[i][j] = result->candidates[best[i]]->at[attempt->knobs[j]];
	int rc = try_points(attempt, (const double(*)[TUNE_KNOBS_MAX])points, count, values);
	uint32_t first = 0;
	for (uint32_t i = 0; rc == 0 && i < count; i++)
		if (values[i] < values[first])
			first = i;
	memcpy(ret, points[first], sizeof(points[first]));
	return rc;
}

static int search_rounds(struct attempt *context, uint64_t seed, uint64_t runs)
{
	double start[TUNE_KNOBS_MAX];
	uint32_t rounds = rounds_of(context, runs);
	context->runs_max = runs / rounds;
	int rc = search_once(context, seed, start_of(context, start), 0);
	for (uint32_t i = 1; rc == 0 && i < rounds && !context->tune->result.is_exhausted; i++) {
		context->seeds *= 2;
		context->runs_max = runs * (i + 1) / rounds;
		rc = promote(context, start);
		if (rc == 0)
			rc = search_once(context, seed + i * DIRECTION_SEEDS, start, ROUND_STEP);
	}
	return rc < 0 ? rc : 0;
}

// Each part draws for itself, and knows nothing of what the others found: so it may be done
// elsewhere.
static int search_part(struct tune *tune, uint32_t part, uint64_t runs)
{
	const struct tune_plan *plan = &tune->plan;
	struct attempt context = {.tune = tune, .seeds = plan->search_seeds};
	uint64_t seed = plan->seed + part * PART_SEEDS;
	tune->part = part + 1;
	for (uint32_t i = 0; i < plan->space.count; i++)
		if (!tune->result.indices[i].is_flat)
			context.knobs[context.count++] = i;
	return plan->aim.is_front ? search_front(&context, seed, runs)
				  : search_rounds(&context, seed, runs);
}

static int search(struct tune *tune, uint64_t runs)
{
	struct tune_result *result = &tune->result;
	const struct tune_plan *plan = &tune->plan;
	uint64_t end = result->runs + runs;
	int rc = tune_screen(tune, runs);
	for (uint32_t i = 0; i < result->different; i++)
		result->candidates[i]->screened = result->candidates[i]->met.count;
	uint64_t each = (end - result->runs) / plan->parts;
	for (uint32_t i = 0; rc == 0 && i < plan->parts && !result->is_exhausted; i++)
		if (plan->part == 0 || plan->part == i + 1)
			rc = search_part(tune, i, each);
	tune->part = 0;
	if (rc == 0)
		settle(result);
	return rc;
}

// ---------------------------------------------------------------- what is known before and behind
// it

// Whether the default's figures differ from seed to seed.
static bool is_random(const struct tune *tune)
{
	const struct tune_aim *aim = &tune->plan.aim;
	for (uint32_t i = 0; i < tune->plan.scenario_count; i++) {
		const struct study_run *runs = &tune->defaults[0][i * TUNE_BLOCKS_MAX];
		for (uint32_t block = 1; block < tune->default_blocks[0]; block++) {
			for (uint32_t j = 0; j < aim->goal_count; j++)
				if (runs[block].figures[aim->goals[j].figure] !=
				    runs[0].figures[aim->goals[j].figure])
					return true;
			for (uint32_t j = 0; j < aim->limit_count; j++)
				if (runs[block].figures[aim->limits[j].figure] !=
				    runs[0].figures[aim->limits[j].figure])
					return true;
		}
	}
	return false;
}

// Whether no candidate was other than the default in any run.
static bool is_constant(const struct tune_result *result)
{
	for (uint32_t i = 0; i < result->different; i++) {
		const struct tune_series *met = &result->candidates[i]->met;
		uint32_t breach;
		for (uint32_t block = 0; block < met->count; block++)
			if (met->cost[block] != 0 && !isnan(met->cost[block]))
				return false;
		if (tune_violation(met, &breach) > 0)
			return false;
	}
	return true;
}

static int study(struct tune *tune)
{
	struct tune_plan *plan = &tune->plan;
	struct tune_result *result = &tune->result;
	uint64_t last = runs_of_last_round(plan);
	int rc = tune_meet_default(tune, false, plan->race_seeds);
	if (rc == 0)
		rc = tune_holdouts_begin(tune);
	if (rc < 0)
		return rc;
	result->is_random = is_random(tune);
	if (!result->is_random)
		plan->search_seeds = 1;
	uint64_t rest = plan->budget - last - result->runs;
	rc = search(tune, result->is_random ? rest - rest / RACE_PART : rest);
	if (rc < 0)
		return rc;
	if (plan->part > 0 || is_constant(result)) {
		result->verdict = plan->part > 0 ? TUNE_PART : TUNE_CONSTANT;
		return 0;
	}
	result->raced = result->different;
	if (result->is_random)
		rc = tune_race(tune, plan->budget - last - result->runs);
	return rc < 0 ? rc : tune_judge_finalists(tune);
}

int tune_run(struct tune *tune, struct refusal *refusal)
{
	uint64_t least = tune_budget_min(&tune->plan);
	tune->refusal = refusal;
	if (tune->plan.budget < least)
		return refuse(refusal, -EINVAL,
			      "a budget of % runs is too small; this plan needs %",
			      (int64_t)tune->plan.budget, (int64_t)least);
	int rc = study(tune);
	if (rc == -ENODATA) {
		settle(&tune->result);
		tune->result.verdict = TUNE_UNFINISHED;
	}
	return rc;
}
