// SPDX-License-Identifier: Apache-2.0
// Studies of functions: knobs that are ratios from 0 to 1, and noise that a point and a seed have.
// Behind <cmocka.h>.
#pragma once

#include <math.h>

#include <weft/core/rng.h>
#include <weft/tune/tune.h>

// Ratios from 0 to 1: as many as there are dimensions.
static const char *const knobs[] = {
	"cc.target_delay=0.001rtt..1rtt:linear", "cc.adjust_period=0.001rtt..1rtt:linear",
	"cc.qa_threshold=0.001rtt..1rtt:linear", "cc.base_rtt=0.001rtt..1rtt:linear",
	"cc.max_window=0.001bdp..1bdp:linear",	 "queue.ecn_low=0.001bdp..1bdp:linear",
	"queue.ecn_high=0.001bdp..1bdp:linear",	 "cc.adjust_bytes=0.001bdp..1bdp:linear",
};

// The same point and seed have the same noise.
static double noise_of(const struct tune_request *request, uint32_t n)
{
	uint64_t id = request->at == NULL ? 7 : 0;
	for (uint32_t i = 0; request->at != NULL && i < n; i++)
		id = rng_mix(id ^ (isnan(request->at[i]) ? 1 : (uint64_t)(request->at[i] * 1e9)));
	struct rng rng = rng_of(request->seed, RNG_TEST, id);
	double sum = 0;
	for (int i = 0; i < 12; i++)
		sum += (double)(rng_next(&rng) >> 11) * 0x1p-53;
	return sum - 6;
}

// A plan over `n` knobs of a list, whose runs `runs` makes.
static void plan_functions(struct tune_plan *ret, const char *const *list, uint32_t n,
			   const char *engine, uint64_t seed, uint64_t budget, tune_runs_fn *runs)
{
	struct refusal refusal = {0};
	*ret = (struct tune_plan){.scenario_count = 1,
				  .scenarios = {"function"},
				  .seed = seed * 1000,
				  .budget = budget,
				  .search_seeds = 3,
				  .race_seeds = 6,
				  .fresh_seeds = 15,
				  .engine = search_engine(engine),
				  .runs = runs};
	for (uint32_t i = 0; i < n; i++)
		assert_int_equal(tune_space_add(&ret->space, list[i], &refusal), 0);
	assert_int_equal(tune_aim_goal(&ret->aim, "done_s", &refusal), 0);
}

// The study of a plan, which is within its budget. tune_free() gives it back.
static struct tune *study_functions(const struct tune_plan *plan)
{
	struct refusal refusal = {0};
	struct tune *tune = tune_create(plan);
	assert_non_null(tune);
	assert_int_equal(tune_run(tune, &refusal), 0);
	assert_true(tune_result(tune)->runs <= plan->budget);
	return tune;
}
