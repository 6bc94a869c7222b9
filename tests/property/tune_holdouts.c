// SPDX-License-Identifier: Apache-2.0
// Whole studies with a scenario that the search does not see, whose best lies elsewhere: no
// candidate runs there before the last round, nor there on a seed that the search had; all else is
// as without.

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include <weft/tune/tune.h>

#include "../rig_tune.h"

#define KNOBS 3
#define BUDGET 700
#define RUNS_MAX 2000
#define HELD 1 // place of the hold-out among the scenarios

static const double best[] = {0.25, 0.75}; // of the suite, of the hold-out

struct runs_seen {
	const struct tune_plan *plan;
	uint32_t figure, count;
	struct tune_request runs[RUNS_MAX];
	double at[RUNS_MAX][KNOBS];
};

static void note(struct runs_seen *seen, const struct tune_request *request)
{
	assert_true(seen->count < RUNS_MAX);
	if (request->at != NULL)
		memcpy(seen->at[seen->count], request->at, sizeof(seen->at[0]));
	seen->runs[seen->count++] = *request;
}

// tune_runs_fn.
static int runs(void *context, const struct tune_request *requests, uint32_t count,
		tune_take_fn *take, void *take_context, struct refusal *refusal)
{
	struct runs_seen *seen = context;
	for (uint32_t i = 0; i < count; i++) {
		struct study_run run = {.is_complete = true};
		double value = 1;
		for (uint32_t j = 0; j < KNOBS; j++) {
			double x = requests[i].at == NULL
				? 0.5
				: tune_space_value(&seen->plan->space, requests[i].at, j);
			value += (x - best[requests[i].scenario]) *
				(x - best[requests[i].scenario]);
		}
		note(seen, &requests[i]);
		run.figures[seen->figure] = value + 0.005 * noise_of(&requests[i], KNOBS);
		assert_int_equal(take(take_context, i, &run), 0);
	}
	return 0;
}

static struct tune *study(struct runs_seen *ret, struct tune_plan *plan, uint64_t seed,
			  uint32_t holdouts, uint64_t budget)
{
	plan_functions(plan, knobs, KNOBS, "cmaes", seed, budget, runs);
	plan->holdout_count = holdouts;
	plan->scenarios[HELD] = "another";
	plan->fabrics[HELD] = plan->fabrics[0];
	*ret = (struct runs_seen){.plan = plan, .figure = plan->aim.goals[0].figure};
	plan->runs_context = ret;
	return study_functions(plan);
}

// ---------------------------------------------------------------- what was run

static bool is_corner(const double *at)
{
	return (at[0] == 0 || at[0] == 0.5 || at[0] == 1) && at[1] == at[0] && at[2] == at[0];
}

static bool is_finalist(const struct tune_result *result, const double *at)
{
	bool is_one = false;
	for (uint32_t i = 0; i < result->finalist_count; i++)
		is_one |= memcmp(result->finalists[i]->at, at, KNOBS * sizeof(*at)) == 0;
	return is_one;
}

// Whether one that came to the last round nowhere had this seed.
static bool is_of_search(const struct runs_seen *seen, const struct tune_result *result,
			 uint64_t seed)
{
	for (uint32_t i = 0; i < seen->count; i++)
		if (seen->runs[i].scenario != HELD && seen->runs[i].at != NULL &&
		    seen->runs[i].seed == seed && !is_finalist(result, seen->at[i]))
			return true;
	return false;
}

static void check_runs(const struct runs_seen *seen, const struct tune_result *result)
{
	uint32_t of_points = 0, last = 0, rounds = 0;
	for (uint32_t i = 0; i < seen->count; i++) {
		if (seen->runs[i].scenario != HELD)
			continue;
		if (is_of_search(seen, result, seen->runs[i].seed)) {
			bool is_point = seen->runs[i].at == NULL || is_corner(seen->at[i]);
			if (!is_point && !is_finalist(result, seen->at[i]))
				fail_msg("the search sees a hold-out");
			if (!is_point)
				fail_msg("a hold-out has a seed of the search");
			of_points++;
		} else {
			last++;
		}
	}
	for (uint32_t i = 0; i < result->round_count; i++)
		rounds += result->rounds[i].is_taken;
	assert_int_equal(seen->count, result->runs);
	assert_in_range(of_points, 4, 8); // the default and at most three points, on two seeds
	assert_int_equal(last, (result->finalist_count + 1 + rounds) * 15);
}

static void check_same(const struct tune_result *with, const struct tune_result *without)
{
	bool is_same = with->different == without->different &&
		with->finalist_count == without->finalist_count &&
		strcmp(with->recommended->name, without->recommended->name) == 0;
	for (uint32_t i = 0; is_same && i < with->different; i++)
		is_same = strcmp(with->candidates[i]->name, without->candidates[i]->name) == 0;
	for (uint32_t i = 0; is_same && i < with->finalist_count; i++)
		is_same = strcmp(with->finalists[i]->name, without->finalists[i]->name) == 0 &&
			with->standings[i].ratio == without->standings[i].ratio;
	if (!is_same)
		fail_msg("a hold-out has a say in what is chosen");
}

static void the_search_does_not_see_it(void **state)
{
	static struct runs_seen seen;
	for (uint64_t seed = 1; seed <= 5; seed++) {
		struct tune_plan plan;
		struct tune *tune = study(&seen, &plan, seed, 1, BUDGET);
		const struct tune_result *result = tune_result(tune);
		check_runs(&seen, result);
		assert_int_equal(result->verdict, TUNE_BETTER);
		assert_int_equal(result->holdout_count, 1);
		assert_true(result->holdouts[0].is_worse);
		tune_free(tune);
	}
}

static void nothing_is_chosen_by_it(void **state)
{
	static struct runs_seen seen, other;
	for (uint64_t seed = 1; seed <= 5; seed++) {
		struct tune_plan plan, other_plan;
		struct tune *with = study(&seen, &plan, seed, 1, BUDGET);
		uint64_t there = 0, reserved = (TUNE_FINALISTS + 2) * 15;
		for (uint32_t i = 0; i < seen.count; i++)
			there += seen.runs[i].scenario == HELD &&
				is_of_search(&seen, tune_result(with), seen.runs[i].seed);
		struct tune *without = study(&other, &other_plan, seed, 0,
					     BUDGET - reserved - there);
		check_same(tune_result(with), tune_result(without));
		tune_free(with);
		tune_free(without);
	}
}
