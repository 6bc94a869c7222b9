// SPDX-License-Identifier: Apache-2.0
// What is set is rounded as far as that costs no more than a quarter of what is bought: of a
// function that is flat around its best, round numbers are taken, of a steep one two digits, of a
// steeper one what was found.

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <weft/tune/tune.h>

#include "../rig_tune.h"

#define RTT_PS 10e6
#define BEST_US 1.37 // the nearest round number is 1.5, of two digits 1.4
#define DEFAULT 2    // what the default takes; 1 is the best

struct steep {
	double steep;
	const struct tune_plan *plan;
};

// "cc.target_delay=1500ns"
static double us_of(const char *set)
{
	char *end;
	double value = strtod(strchr(set, '=') + 1, &end);
	return value *
		(strcmp(end, "us") == 0		  ? 1
			 : strcmp(end, "ns") == 0 ? 1e-3
			 : strcmp(end, "ps") == 0 ? 1e-6
						  : NAN);
}

static double value_of(const struct steep *steep, const double *at, enum tune_digits digits)
{
	char set[TUNE_VALUE_BYTES];
	assert_true(tune_space_set_to(&steep->plan->space, at, 0, &steep->plan->fabrics[0], digits,
				      set));
	return 1 + steep->steep * fabs(log(us_of(set) / BEST_US));
}

// tune_runs_fn.
static int runs(void *context, const struct tune_request *requests, uint32_t count,
		tune_take_fn *take, void *take_context, struct refusal *refusal)
{
	const struct steep *steep = context;
	for (uint32_t i = 0; i < count; i++) {
		struct study_run run = {.is_complete = true};
		double value = requests[i].at == NULL
			? DEFAULT
			: value_of(steep, requests[i].at, requests[i].digits);
		run.figures[steep->plan->aim.goals[0].figure] = value +
			0.001 * noise_of(&requests[i], 1);
		assert_int_equal(take(take_context, i, &run), 0);
	}
	return 0;
}

static void study(double how_steep, uint64_t seed, enum tune_digits wanted)
{
	static const char *const knob[] = {"cc.target_delay=0.05rtt..1rtt"};
	struct tune_plan plan;
	plan_functions(&plan, knob, 1, "cmaes", seed, 400, runs);
	plan.fabrics[0].rtt_ps = RTT_PS;
	struct steep steep = {how_steep, &plan};
	plan.runs_context = &steep;
	struct tune *tune = study_functions(&plan);
	const struct tune_result *result = tune_result(tune);
	assert_int_equal(result->verdict, TUNE_BETTER);
	if (result->digits != wanted)
		fail_msg("seed %llu: digits %d, not %d, of %s", (unsigned long long)seed,
			 (int)result->digits, (int)wanted, result->recommended->name);
	for (uint32_t i = 0; i < result->round_count; i++) {
		const struct tune_rounding *one = &result->rounds[i];
		double found = value_of(&steep, result->recommended->at, TUNE_AS_FOUND);
		double cost = value_of(&steep, result->recommended->at, one->digits) / found;
		assert_true(fabs(one->cost - cost) < 0.003);
		assert_true(fabs(one->share - log(cost) / log(DEFAULT / found)) < 0.01);
		assert_int_equal(one->is_taken, one->share <= TUNE_ROUND_SHARE);
		assert_int_equal(one->is_taken, one->digits == wanted);
	}
	tune_free(tune);
}

static void rounding_is_as_coarse_as_a_quarter_of_the_gain_lets_it(void **state)
{
	static const struct {
		double steep;
		enum tune_digits wanted;
	} cases[] = {{1, TUNE_ROUND}, {4, TUNE_TWO_DIGITS}, {40, TUNE_AS_FOUND}};
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		for (uint64_t seed = 1; seed <= 10; seed++)
			study(cases[i].steep, seed, cases[i].wanted);
}

static double kilobytes_of(const char *set)
{
	char *end;
	double value = strtod(strchr(set, '=') + 1, &end);
	assert_true(strcmp(end, "B") == 0 || strcmp(end, "kB") == 0 || strcmp(end, "MB") == 0);
	return *end == 'B' ? value / 1e3 : *end == 'k' ? value : value * 1e3;
}

static void rounding_keeps_what_is_above_above(void **state)
{
	static const char *const pair[] = {
		"queue.ecn_low=0.02portbdp..0.5portbdp:log",
		"queue.ecn_high=0.02portbdp..1portbdp:log:above=queue.ecn_low"};
	struct tune_plan plan;
	struct rng rng = rng_of(1, RNG_TEST, 2);
	const struct tune_fabric fabric = {.port_bdp_bytes = 200e3};
	(void)state;
	plan_functions(&plan, pair, 2, "random", 1, 400, runs);
	for (int i = 0; i < 3000; i++) {
		double at[TUNE_KNOBS_MAX];
		for (int j = 0; j < 2; j++)
			at[j] = (double)(rng_next(&rng) >> 11) * 0x1p-53 *
				(j + i % 2 > 0 ? 1 : 0.1);
		for (int digits = TUNE_AS_FOUND; digits <= TUNE_TWO_DIGITS; digits++) {
			char low[TUNE_VALUE_BYTES], high[TUNE_VALUE_BYTES];
			tune_space_set_to(&plan.space, at, 0, &fabric, (enum tune_digits)digits,
					  low);
			tune_space_set_to(&plan.space, at, 1, &fabric, (enum tune_digits)digits,
					  high);
			if (!(kilobytes_of(low) < kilobytes_of(high)))
				fail_msg("digits %d: %s is not below %s", digits, low, high);
		}
	}
}
