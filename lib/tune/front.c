// SPDX-License-Identifier: Apache-2.0
// A search for the Pareto set of the aims. It goes in directions, one after the other: first to the
// best of each aim alone, then between them. A direction makes one value of all aims, the weighted
// distance from the best of each (Chebyshev's, with a little of their sum, so that also settings in
// a dent of the front are the best of some direction), in units of the front as far as it is known;
// and it starts from the best setting in it that has been met.

#include "inside.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <weft/core/check_memory.h>

#define SUM_PART 0.05	   // of the sum of all aims
#define STEP 0.1	   // of a search that starts from a good setting
#define CANDIDATES_EACH 10 // that a direction takes for each knob, and as many more
#define BETWEEN_MAX 31	   // directions between the ends
#define SPAN_MIN 1e-6	   // of a front in one aim: below, it is a point

static double goal_of(const struct tune_series *series, uint32_t goal)
{
	return series->goals[goal] / series->count;
}

static bool beats(const struct tune_series *a, const struct tune_series *b, uint32_t goals)
{
	bool is_better = false;
	for (uint32_t i = 0; i < goals; i++) {
		double over = goal_of(a, i) - goal_of(b, i);
		if (over > 0)
			return false;
		is_better |= over < 0;
	}
	return is_better;
}

static bool is_good(const struct tune_series *series, uint32_t seeds)
{
	uint32_t breach;
	return series->count >= seeds && tune_violation(series, &breach) == 0;
}

// The set as it grows: who is not beaten comes in, and those that it beats go.
uint32_t tune_front_members(const struct tune *tune, uint32_t seeds, struct tune_candidate **ret)
{
	uint32_t goals = tune->plan.aim.goal_count, count = 0;
	for (uint32_t i = 0; i < tune->result.different; i++) {
		struct tune_candidate *one = tune->result.candidates[i];
		bool is_beaten = !is_good(&one->met, seeds) || !tune_is_known(tune, one);
		for (uint32_t j = 0; j < count && !is_beaten; j++)
			is_beaten = beats(&ret[j]->met, &one->met, goals);
		if (is_beaten)
			continue;
		uint32_t left = 0;
		for (uint32_t j = 0; j < count; j++)
			if (!beats(&one->met, &ret[j]->met, goals))
				ret[left++] = ret[j];
		ret[left] = one;
		count = left + 1;
	}
	return count;
}

// ---------------------------------------------------------------- directions

double tune_direction_value(const struct tune_direction *direction,
			    const struct tune_series *series)
{
	double most = -INFINITY, sum = 0;
	if (!is_good(series, 1))
		return tune_value(series);
	for (uint32_t i = 0; i < direction->goals; i++) {
		double over = direction->weights[i] * (goal_of(series, i) - direction->best[i]) /
			direction->span[i];
		most = fmax(most, over);
		sum += (goal_of(series, i) - direction->best[i]) / direction->span[i];
	}
	double value = most + SUM_PART * sum;
	return value > 0 ? 9 * value / (1 + value)
			 : value; // below that of any that breaks a constraint
}

// The best and the span of each aim over the front.
static void measure_front(struct tune_direction *ret, const struct tune *tune,
			  struct tune_candidate **room)
{
	uint32_t count = tune_front_members(tune, 1, room);
	for (uint32_t i = 0; i < ret->goals; i++) {
		double low = INFINITY, high = -INFINITY;
		for (uint32_t j = 0; j < count; j++) {
			low = fmin(low, goal_of(&room[j]->met, i));
			high = fmax(high, goal_of(&room[j]->met, i));
		}
		ret->best[i] = count > 0 ? low : 0;
		ret->span[i] = count > 1 && high - low > SPAN_MIN ? high - low : 1;
	}
}

// The ends first, then between them, evenly at any time.
static void aim_at(struct tune_direction *ret, uint32_t index, uint64_t seed)
{
	struct sobol sobol;
	double at[SOBOL_DIMENSIONS_MAX], sum = 0;
	if (index < ret->goals) {
		for (uint32_t i = 0; i < ret->goals; i++)
			ret->weights[i] = i == index;
		return;
	}
	sobol_init(&sobol, ret->goals, seed);
	sobol_point(&sobol, index - ret->goals, at);
	if (ret->goals == 2)
		at[1] = 1 - at[0];
	for (uint32_t i = 0; i < ret->goals; i++)
		sum += ret->weights[i] = ret->goals == 2 ? at[i]
							 : -log(1 - at[i]); // evenly on the simplex
	for (uint32_t i = 0; i < ret->goals; i++)
		ret->weights[i] /= sum;
}

uint32_t tune_directions(const struct tune_plan *plan, uint32_t knobs, uint64_t runs)
{
	uint64_t each = (uint64_t)plan->search_seeds * plan->scenario_count * CANDIDATES_EACH *
		(knobs + 1);
	uint64_t count = runs / each, goals = plan->aim.goal_count;
	if (count > goals + BETWEEN_MAX)
		count = goals + BETWEEN_MAX;
	return count > goals ? (uint32_t)count : (uint32_t)goals + 1;
}

int tune_direction_of(struct tune_direction *ret, const struct tune *tune, uint32_t index,
		      uint64_t seed)
{
	struct tune_candidate **room = calloc(tune->result.different + 1, sizeof(*room));
	if (room == NULL)
		return refuse(tune->refusal, -ENODEV, "not enough memory for candidates");
	*ret = (struct tune_direction){.goals = tune->plan.aim.goal_count,
				       .step = index > 0 ? STEP : 0};
	measure_front(ret, tune, room);
	free(room);
	aim_at(ret, index, seed);
	return 0;
}

// ---------------------------------------------------------------- those that stand for the front

// How far a setting is from the nearest of those that were taken, in spans of the front.
static double apart(const struct tune_direction *front, const struct tune_candidate *one,
		    struct tune_candidate *const *taken, uint32_t count)
{
	double nearest = INFINITY;
	for (uint32_t i = 0; i < count; i++) {
		double squares = 0;
		for (uint32_t j = 0; j < front->goals; j++) {
			double over = (goal_of(&one->met, j) - goal_of(&taken[i]->met, j)) /
				front->span[j];
			squares += over * over;
		}
		nearest = fmin(nearest, squares);
	}
	return nearest;
}

uint32_t tune_front_spread(const struct tune *tune, struct tune_candidate **members, uint32_t count,
			   uint32_t room)
{
	struct tune_direction front = {.goals = tune->plan.aim.goal_count};
	uint32_t taken = count > 0;
	struct tune_candidate **all = calloc(tune->result.different + 1, sizeof(*all));
	check_memory(all != NULL);
	measure_front(&front, tune, all);
	free(all);
	if (count > 0)
		qsort(members, count, sizeof(*members), tune_by_value);
	for (uint32_t goal = 0; taken < count && taken < room && goal < front.goals;
	     goal++) { // the ends
		uint32_t best = 0;
		for (uint32_t i = 1; i < count; i++)
			if (goal_of(&members[i]->met, goal) < goal_of(&members[best]->met, goal))
				best = i;
		if (best < taken)
			continue;
		struct tune_candidate *one = members[best];
		members[best] = members[taken];
		members[taken++] = one;
	}
	for (; taken < count && taken < room; taken++) { // then what is farthest from all of them
		uint32_t farthest = taken;
		for (uint32_t i = taken + 1; i < count; i++)
			if (apart(&front, members[i], members, taken) >
			    apart(&front, members[farthest], members, taken))
				farthest = i;
		struct tune_candidate *one = members[farthest];
		members[farthest] = members[taken];
		members[taken] = one;
	}
	return taken;
}
