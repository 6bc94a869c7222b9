// SPDX-License-Identifier: Apache-2.0
// The race. Candidates meet one more block after the other, all of them the same; after each block
// those that are worse than the leader beyond chance are dropped (Student's t of the paired
// differences, Holm's correction for all that are compared). Nobody is dropped in the middle of a
// block, nor before the least number of seeds.

#include "inside.h"
#include <weft/core/order.h>

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RACERS_MAX 24

struct racer {
	struct tune_candidate *candidate;
	double chance; // that it is as good as the leader, and only looks worse
};

// One-sided. Where the leader meets all constraints and this one does not, it is worse without a
// test.
static double chance_of(const struct tune_candidate *leader, const struct tune_candidate *other)
{
	double pairs[TUNE_BLOCKS_MAX];
	struct spread_figures apart;
	uint32_t breach;
	if (tune_violation(&other->met, &breach) > 0 && tune_violation(&leader->met, &breach) == 0)
		return 0;
	for (uint32_t i = 0; i < other->met.count; i++)
		pairs[i] = other->met.cost[i] - leader->met.cost[i];
	spread_of(&apart, pairs, other->met.count);
	if (apart.count < 2 || apart.mean <= 0)
		return 1;
	if (apart.sd == 0)
		return 0;
	return student_beyond(apart.mean / apart.sd * sqrt(apart.count), apart.count - 1) / 2;
}

static int least_chance_first(const void *a, const void *b)
{
	const struct racer *first = a, *second = b;
	return ORDER(first->chance, second->chance)
		?: ORDER(first->candidate->number, second->candidate->number);
}

// Drops those that are beyond chance. Returns how many are left, the best first.
static uint32_t drop(struct tune_candidate **alive, uint32_t count)
{
	struct racer racers[RACERS_MAX];
	uint32_t left = 0;
	qsort(alive, count, sizeof(*alive), tune_by_guarded_value);
	for (uint32_t i = 1; i < count; i++)
		racers[i - 1] = (struct racer){alive[i], chance_of(alive[0], alive[i])};
	qsort(racers, count - 1, sizeof(*racers), least_chance_first);
	for (uint32_t i = 0; i + 1 < count; i++) { // Holm: as long as each is beyond its share
		if (racers[i].chance >= (1 - TUNE_CONFIDENCE) / (count - 1 - i))
			break;
		racers[i].candidate->is_dropped = true;
	}
	for (uint32_t i = 0; i < count; i++)
		if (!alive[i]->is_dropped)
			alive[left++] = alive[i];
	return left;
}

// Whether it moves a knob that screening called flat: one of the points that were screened.
static bool moves_flat(const struct tune *tune, const struct tune_candidate *candidate)
{
	for (uint32_t i = 0; i < tune->plan.space.count; i++)
		if (tune->result.indices[i].is_flat && !isnan(candidate->at[i]))
			return true;
	return false;
}

// The best of those that met most seeds in the search: on few seeds the luckiest of many look
// better than they are. Then the others, and those that move flat knobs at last.
static uint32_t best_known(const struct tune *tune, struct tune_candidate **ret)
{
	const struct tune_result *result = &tune->result;
	uint32_t count = 0, most = 0;
	for (uint32_t i = 0; i < result->different; i++)
		if (result->candidates[i]->met.count > most)
			most = result->candidates[i]->met.count;
	qsort(result->candidates, result->different, sizeof(*result->candidates),
	      tune_by_guarded_value);
	for (int turn = 0; turn < 3; turn++)
		for (uint32_t i = 0; i < result->different && count < RACERS_MAX; i++) {
			struct tune_candidate *one = result->candidates[i];
			int own = moves_flat(tune, one) ? 2 : one->met.count < most;
			if (own == turn && (turn < 2 || count < TUNE_FINALISTS))
				ret[count++] = one;
		}
	return count;
}

// Who races: the best, or of several aims those that stand for the Pareto set, none of which is
// dropped: each is the best of something. Returns how many they are; -errno.
static int racers(struct tune *tune, struct tune_candidate **ret)
{
	struct tune_result *result = &tune->result;
	uint32_t count = result->different < RACERS_MAX ? result->different : RACERS_MAX;
	if (!tune->plan.aim.is_front)
		return (int)best_known(tune, ret);
	struct tune_candidate **members = calloc(result->different + 1, sizeof(*members));
	if (members == NULL)
		return refuse(tune->refusal, -ENODEV, "not enough memory for candidates");
	uint32_t of_front = tune_front_members(tune, 1, members);
	of_front = tune_front_spread(tune, members, of_front, RACERS_MAX);
	memcpy(ret, of_front > 0 ? members : result->candidates,
	       (of_front > 0 ? of_front : count) * sizeof(*ret));
	count = of_front > 0 ? of_front : count;
	free(members);
	return (int)count;
}

int tune_race(struct tune *tune, uint64_t runs)
{
	struct tune_result *result = &tune->result;
	struct tune_candidate *alive[RACERS_MAX];
	int found = racers(tune, alive);
	if (found < 0)
		return found;
	uint64_t first = result->runs, scenarios = tune->plan.scenario_count;
	uint32_t count = (uint32_t)found, least = tune->plan.race_seeds;
	uint32_t block = TUNE_BLOCKS_MAX;
	for (uint32_t i = 0; i < count; i++)
		block = alive[i]->met.count < block ? alive[i]->met.count : block;
	while (count > TUNE_FINALISTS && least > block &&
	       runs < count * (least - block) * scenarios)
		count--; // all that start have to reach the first test
	result->raced = count;
	for (uint32_t i = 0; i < count; i++)
		alive[i]->is_raced = true;
	while (count > 1 && block < TUNE_BLOCKS_MAX &&
	       result->runs - first + (count + 1) * scenarios <= runs) {
		int rc = tune_meet(tune, alive, count, false, ++block);
		if (rc < 0)
			return rc;
		if (block >= least && !tune->plan.aim.is_front)
			count = drop(alive, count);
	}
	return 0;
}

// ---------------------------------------------------------------- fresh seeds

static int by_fresh_value(const void *a, const void *b)
{
	const struct tune_candidate *first = *(struct tune_candidate *const *)a;
	const struct tune_candidate *second = *(struct tune_candidate *const *)b;
	return ORDER(tune_value(&first->fresh), tune_value(&second->fresh))
		?: ORDER(first->number, second->number);
}

// Those that raced to the end, then the best of those that were dropped. Of several aims those that
// stand for the Pareto set, now that it was met on more seeds.
static void pick(struct tune *tune)
{
	struct tune_result *result = &tune->result;
	struct tune_candidate **members = tune->plan.aim.is_front
		? calloc(result->different + 1, sizeof(*members))
		: NULL;
	if (members != NULL) {
		uint32_t most = 0;
		for (uint32_t i = 0; i < result->different; i++)
			if (result->candidates[i]->met.count > most)
				most = result->candidates[i]->met.count;
		uint32_t count = tune_front_members(tune, most, members);
		result->finalist_count = tune_front_spread(tune, members, count, TUNE_FINALISTS);
		memcpy(result->finalists, members, result->finalist_count * sizeof(*members));
		free(members);
	}
	if (result->finalist_count > 0)
		return;
	for (int is_dropped = 0; is_dropped <= 1; is_dropped++)
		for (uint32_t i = 0;
		     i < result->different && result->finalist_count < TUNE_FINALISTS; i++)
			if ((result->candidates[i]->is_raced || !result->is_random) &&
			    result->candidates[i]->is_dropped == is_dropped)
				result->finalists[result->finalist_count++] = result->candidates[i];
}

// The best lie at their bounds, and these are noisy: the last of the five is the one farthest
// within, of those that raced and were better than the default.
static void pick_safest(struct tune *tune)
{
	struct tune_result *result = &tune->result;
	struct tune_candidate *safest = NULL;
	uint32_t breach;
	if (tune->plan.aim.limit_count == 0 || tune->plan.aim.is_front ||
	    result->finalist_count < TUNE_FINALISTS)
		return;
	for (uint32_t i = 0; i < result->different; i++) {
		struct tune_candidate *one = result->candidates[i];
		if (one->is_raced && tune_violation(&one->met, &breach) == 0 &&
		    tune_value(&one->met) < 0 &&
		    (safest == NULL || tune_margin(&one->met) > tune_margin(&safest->met)))
			safest = one;
	}
	for (uint32_t i = 0; safest != NULL && i < TUNE_FINALISTS; i++)
		if (result->finalists[i] == safest)
			safest = NULL;
	if (safest != NULL)
		result->finalists[TUNE_FINALISTS - 1] = safest;
}

// Without the controller. What it is held against is the best finalist, seed by seed.
static int judge_off(struct tune *tune)
{
	struct tune_result *result = &tune->result;
	const struct tune_candidate *best = result->finalists[0];
	struct spread_difference apart;
	if (!tune->plan.has_off)
		return 0;
	result->off = calloc(1, sizeof(*result->off));
	if (result->off == NULL)
		return refuse(tune->refusal, -ENODEV, "not enough memory for candidates");
	snprintf(result->off->name, sizeof(result->off->name), "without the controller");
	int rc = tune_meet(tune, &result->off, 1, true, tune->plan.fresh_seeds);
	if (rc < 0)
		return rc;
	tune_standing_of(&result->off_standing, &result->off->fresh, TUNE_CONFIDENCE);
	spread_difference_of(&apart, result->off->fresh.cost, best->fresh.cost, best->fresh.count,
			     1);
	result->off_chance = apart.chance;
	result->off_cost = exp(-apart.spread.mean);
	result->off_high = exp(apart.spread.half - apart.spread.mean);
	for (uint32_t i = 0; i < best->fresh.count; i++)
		result->off_same += result->off->fresh.cost[i] == best->fresh.cost[i];
	result->is_off_best = result->off_standing.violation == 0 &&
		(apart.verdict != SPREAD_DIFFERS || result->off_high <= 1 + TUNE_OFF_SHARE);
	return 0;
}

// Whether these digits are others in any scenario.
static bool is_changed(const struct tune_plan *plan, const double *at, enum tune_digits from,
		       enum tune_digits to)
{
	char first[TUNE_VALUE_BYTES], second[TUNE_VALUE_BYTES];
	for (uint32_t i = 0; i < plan->scenario_count; i++)
		for (uint32_t j = 0; j < plan->space.count; j++)
			if (tune_space_set_to(&plan->space, at, j, &plan->fabrics[i], from,
					      first) &&
			    tune_space_set_to(&plan->space, at, j, &plan->fabrics[i], to, second) &&
			    strcmp(first, second) != 0)
				return true;
	return false;
}

static int judge_rounding(struct tune *tune, struct tune_rounding *rounding)
{
	static const char *const names[] = {
		[TUNE_ROUND] = "rounded", [TUNE_TWO_DIGITS] = "two digits of"};
	const struct tune_candidate *best = tune->result.recommended;
	struct spread_difference apart;
	rounding->candidate = calloc(1, sizeof(*rounding->candidate));
	if (rounding->candidate == NULL)
		return refuse(tune->refusal, -ENODEV, "not enough memory for candidates");
	memcpy(rounding->candidate->at, best->at, sizeof(best->at));
	snprintf(rounding->candidate->name, TUNE_NAME_BYTES, "%s %.1000s", names[rounding->digits],
		 best->name);
	int rc = tune_meet(tune, &rounding->candidate, 1, true, tune->plan.fresh_seeds);
	if (rc < 0)
		return rc;
	tune_standing_of(&rounding->standing, &rounding->candidate->fresh, TUNE_CONFIDENCE);
	spread_difference_of(&apart, best->fresh.cost, rounding->candidate->fresh.cost,
			     best->fresh.count, 1);
	rounding->cost = exp(apart.spread.mean);
	rounding->low = exp(apart.spread.mean - apart.spread.half);
	rounding->high = exp(apart.spread.mean + apart.spread.half);
	const struct tune_standing *standing = &tune->result.standings[0];
	rounding->share = standing->high < 1 ? apart.spread.mean / -log(standing->ratio) : NAN;
	rounding->is_taken = rounding->standing.violation == 0 &&
		!(rounding->share > TUNE_ROUND_SHARE);
	return 0;
}

// Round numbers, or where they cost too much of what is bought, two digits, or none.
static int judge_round(struct tune *tune)
{
	static const enum tune_digits digits[TUNE_ROUNDS_MAX] = {TUNE_ROUND, TUNE_TWO_DIGITS};
	struct tune_result *result = &tune->result;
	if (result->verdict != TUNE_BETTER)
		return 0;
	for (uint32_t i = 0; i < TUNE_ROUNDS_MAX; i++) {
		struct tune_rounding *rounding = &result->rounds[result->round_count];
		if (!is_changed(&tune->plan, result->recommended->at, TUNE_AS_FOUND, digits[i]))
			return 0;
		rounding->digits = digits[i];
		int rc = judge_rounding(tune, rounding);
		if (rc < 0)
			return rc;
		result->round_count++;
		if (rounding->is_taken) {
			result->digits = digits[i];
			return 0;
		}
	}
	return 0;
}

// The chance that a default which breaks a constraint, and a setting that meets it, are alike:
// whether a run ends is asked by the signs of the seeds on which one of them alone fails, a bound
// by the differences seed by seed. One-sided.
static double chance_of_breach(const struct tune_series *of_default, const struct tune_series *best,
			       uint32_t breach)
{
	struct spread_figures apart;
	double pairs[TUNE_BLOCKS_MAX];
	uint32_t alone = 0;
	for (uint32_t i = 0; i < best->count; i++) {
		alone += of_default->violation[i] > 0; // the other breaks it nowhere
		pairs[i] = breach < TUNE_LIMITS_MAX
			? of_default->excess[i][breach] - best->excess[i][breach]
			: 0;
	}
	if (breach >= TUNE_LIMITS_MAX)
		return pow(0.5, alone);
	spread_of(&apart, pairs, best->count);
	if (apart.count < 2 || apart.mean <= 0)
		return 1;
	return apart.sd > 0
		? student_beyond(apart.mean / apart.sd * sqrt(apart.count), apart.count - 1) / 2
		: 0;
}

static void judge_default(struct tune *tune)
{
	struct tune_result *result = &tune->result;
	struct tune_series of_default;
	result->default_breach = tune_default_series(tune, &of_default);
	result->default_failed = tune_series_failed(&of_default);
	if (result->default_breach != TUNE_BREACH_NONE && result->standings[0].violation == 0)
		result->is_kept_by_chance = chance_of_breach(&of_default,
							     &result->finalists[0]->fresh,
							     result->default_breach) >
			(1 - TUNE_CONFIDENCE) / 2 / result->finalist_count;
}

int tune_judge_finalists(struct tune *tune)
{
	struct tune_result *result = &tune->result;
	qsort(result->candidates, result->different, sizeof(*result->candidates),
	      tune_by_guarded_value);
	pick(tune);
	pick_safest(tune);
	qsort(result->candidates, result->different, sizeof(*result->candidates), tune_by_value);
	int rc = tune_meet(tune, result->finalists, result->finalist_count, true,
			   tune->plan.fresh_seeds);
	if (rc < 0)
		return rc;
	qsort(result->finalists, result->finalist_count, sizeof(*result->finalists),
	      by_fresh_value);
	// together they hold with that confidence, whichever is picked
	for (uint32_t i = 0; i < result->finalist_count; i++)
		tune_standing_of(&result->standings[i], &result->finalists[i]->fresh,
				 1 - (1 - TUNE_CONFIDENCE) / result->finalist_count);
	const struct tune_standing *best = &result->standings[0];
	judge_default(tune);
	bool is_default_out = result->default_breach != TUNE_BREACH_NONE &&
		!result->is_kept_by_chance;
	if (best->violation > 0)
		result->verdict = TUNE_INFEASIBLE;
	else if (best->high < 1 || is_default_out)
		result->verdict = TUNE_BETTER;
	else
		result->verdict = TUNE_NOT_BETTER;
	if (result->verdict != TUNE_NOT_BETTER)
		result->recommended = result->finalists[0];
	rc = judge_off(tune);
	if (rc == 0)
		rc = judge_round(tune);
	return rc < 0 ? rc : tune_holdouts_judge(tune);
}
