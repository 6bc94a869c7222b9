// SPDX-License-Identifier: Apache-2.0
// Whole studies of functions whose best is known, with noise, in 2 to 8 dimensions. Searches end
// nearer to it than random search with as many runs in nine of ten; a constant is told as one, and
// noise alone is called better than the default in one study of twenty at most.

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include <weft/tune/tune.h>

#include "../rig_tune.h"
#include "inside.h"

#define DONE_S 1 // place of done_s among the figures; asserted below
#define FCT_P99_S 3

// What 15 fresh seeds with a noise of 0.01 can tell apart, at 95 %: nobody can end nearer but by
// luck.
#define RESOLUTION 0.005

typedef double function_fn(const double *x, uint32_t n); // 0 at its best

// Centre of the functions: not the middle, where searches begin.
static double centre(uint32_t i)
{
	return 0.3 + 0.05 * i;
}

static double sphere(const double *x, uint32_t n)
{
	double sum = 0;
	for (uint32_t i = 0; i < n; i++)
		sum += (x[i] - centre(i)) * (x[i] - centre(i));
	return sum;
}

static double rosenbrock(const double *x, uint32_t n)
{
	double sum = 0;
	for (uint32_t i = 0; i + 1 < n; i++) {
		double a = 1 + 2 * (x[i] - centre(i)), b = 1 + 2 * (x[i + 1] - centre(i + 1));
		sum += 5 * (b - a * a) * (b - a * a) + (1 - a) * (1 - a);
	}
	return sum / 4;
}

static double rastrigin(const double *x, uint32_t n)
{
	double sum = 0;
	for (uint32_t i = 0; i < n; i++) {
		double d = x[i] - centre(i);
		sum += d * d + 0.02 * (1 - cos(10 * M_PI * d));
	}
	return sum;
}

static double step(const double *x, uint32_t n)
{
	double sum = 0;
	for (uint32_t i = 0; i < n; i++)
		sum += floor(fabs(x[i] - centre(i)) * 16) / 16;
	return sum / 4;
}

// Two of the knobs matter, and no other.
static double ridge(const double *x, uint32_t n)
{
	double first = x[0] - centre(0), second = x[3] - centre(3);
	return first * first + second * second;
}

static double rest_of_first(const double *x, uint32_t n)
{
	return 1 - x[0];
}

static double constant(const double *x, uint32_t n)
{
	return 0;
}

struct noisy {
	function_fn *function;
	double noise;
	const struct tune_space *space;
	double time_max_s; // a run that takes longer does not come to its end; 0: none is
	double edge; // noise of fct_p99_s, which is the first knob otherwise; 0: there is none
};

static double value_at(const struct noisy *noisy, const double *at)
{
	double x[TUNE_KNOBS_MAX];
	uint32_t n = noisy->space->count;
	for (uint32_t i = 0; i < n; i++)
		x[i] = at == NULL || isnan(at[i]) ? 0.5 : tune_space_value(noisy->space, at, i);
	return noisy->function(x, n);
}

static double first_of(const struct noisy *noisy, const double *at)
{
	return at == NULL || isnan(at[0]) ? 0.5 : tune_space_value(noisy->space, at, 0);
}

// tune_runs_fn.
static int runs(void *context, const struct tune_request *requests, uint32_t count,
		tune_take_fn *take, void *take_context, struct refusal *refusal)
{
	const struct noisy *noisy = context;
	for (uint32_t i = 0; i < count; i++) {
		struct study_run run = {.is_complete = true};
		double done_s = 1 + value_at(noisy, requests[i].at) +
			noisy->noise * noise_of(&requests[i], noisy->space->count);
		run.is_complete = noisy->time_max_s == 0 || done_s <= noisy->time_max_s;
		run.figures[DONE_S] = run.is_complete ? done_s : NAN;
		if (noisy->edge > 0)
			run.figures[FCT_P99_S] = first_of(noisy, requests[i].at) +
				noisy->edge * noise_of(&requests[i], noisy->space->count);
		assert_int_equal(take(take_context, i, &run), 0);
	}
	return 0;
}

struct ended {
	double value;  // of the function, at what the study ends with
	uint32_t flat; // knobs, a bit each
	bool is_screened;
	enum tune_verdict verdict;
	uint32_t different;
};

static struct ended study_screened(function_fn *function, double noise, const char *engine,
				   uint32_t n, uint64_t seed, uint64_t budget, uint32_t screen)
{
	struct tune_plan plan;
	plan_functions(&plan, knobs, n, engine, seed, budget, runs);
	plan.screen = screen;
	assert_int_equal(plan.aim.goals[0].figure, DONE_S);
	struct noisy noisy = {function, noise, &plan.space, 0, 0};
	plan.runs_context = &noisy;
	struct tune *tune = study_functions(&plan);
	const struct tune_result *result = tune_result(tune);
	struct ended ended = {.value = NAN,
			      .verdict = result->verdict,
			      .different = result->different,
			      .is_screened = result->screened > 0};
	for (uint32_t i = 0; i < n; i++)
		ended.flat |= (uint32_t)result->indices[i].is_flat << i;
	if (result->finalist_count > 0)
		ended.value = value_at(&noisy, result->finalists[0]->at);
	tune_free(tune);
	return ended;
}

static struct ended study(function_fn *function, double noise, const char *engine, uint32_t n,
			  uint64_t seed, uint64_t budget)
{
	return study_screened(function, noise, engine, n, seed, budget, 0);
}

// ---------------------------------------------------------------- tests

static void beats_random(const char *name, function_fn *function, const char *engine)
{
	static const uint32_t dimensions[] = {2, 4, 8};
	for (size_t d = 0; d < sizeof(dimensions) / sizeof(*dimensions); d++) {
		uint32_t nearer = 0, n = dimensions[d];
		double worst = 0;
		for (uint64_t seed = 1; seed <= 10; seed++) {
			double own = study(function, 0.01, engine, n, seed, 1500).value;
			double random = study(function, 0.01, "random", n, seed, 1500).value;
			nearer += own <= fmax(random, RESOLUTION);
			worst = fmax(worst, own);
		}
		print_message("%s, %u dimensions: %s nearer than random in %u of 10, worst %.4f\n",
			      name, n, engine, nearer, worst);
		assert_true(nearer >= 9);
	}
}

static void all_engines_beat_random_on_noisy_functions(void **state)
{
	for (const struct search_engine *engine = search_engines(); engine->name != NULL;
	     engine++) {
		if (strcmp(engine->name, "random") == 0)
			continue;
		if (engine->run == NULL) {
			print_message("no NLopt: %s is left out\n", engine->name);
			continue;
		}
		beats_random("sphere", sphere, engine->name);
		beats_random("Rosenbrock", rosenbrock, engine->name);
		beats_random("Rastrigin", rastrigin, engine->name);
		beats_random("step", step, engine->name);
	}
}

static void noise_alone_is_rarely_better_than_the_default(void **state)
{
	uint32_t better = 0, studies = 400;
	for (uint64_t seed = 1; seed <= studies; seed++)
		better += study(constant, 0.05, seed % 2 ? "cmaes" : "random", 3, seed, 400)
				  .verdict == TUNE_BETTER;
	print_message("noise alone was better than the default in %u of %u studies\n", better,
		      studies);
	assert_true(better <= studies / 20);
}

// 2 of 8 knobs matter: most of the others are called flat, those two in one study of 20 at most,
// and the search comes as near as without.
static void screening_finds_the_knobs_that_matter(void **state)
{
	uint32_t found = 0, nearer = 0, wrong = 0;
	for (uint64_t seed = 1; seed <= 20; seed++) {
		struct ended screened = study_screened(ridge, 0.01, "cmaes", 8, seed, 1500,
						       TUNE_SCREEN_AUTO);
		struct ended plain = study(ridge, 0.01, "cmaes", 8, seed, 1500);
		assert_true(screened.is_screened);
		wrong += (screened.flat & 0x9) != 0;
		found += __builtin_popcount(screened.flat & ~UINT32_C(0x9)) >= 4;
		nearer += screened.value <= fmax(plain.value, RESOLUTION);
	}
	print_message("screening: 4 to 6 of 6 flat knobs in %u of 20, one that matters in %u, as "
		      "near in %u\n",
		      found, wrong, nearer);
	assert_true(found >= 18);
	assert_true(wrong <= 1);
	assert_true(nearer >= 18);
}

// How many of so many studies say that a setting is better, where runs are held to a bound on their
// mean, or end at a time.
static uint32_t better_within(function_fn *function, double noise, const char *limit,
			      double time_max_s, uint64_t studies)
{
	uint32_t better = 0;
	for (uint64_t seed = 1; seed <= studies; seed++) {
		struct refusal refusal = {0};
		struct tune_plan plan;
		plan_functions(&plan, knobs, 3, "cmaes", seed, 400, runs);
		if (limit != NULL)
			assert_int_equal(tune_aim_limit(&plan.aim, limit, &refusal), 0);
		struct noisy noisy = {function, noise, &plan.space, time_max_s, 0};
		plan.runs_context = &noisy;
		struct tune *tune = study_functions(&plan);
		better += tune_result(tune)->verdict == TUNE_BETTER;
		tune_free(tune);
	}
	return better;
}

// A bound that lies where all settings do, or a time at which one run of ten ends: the default
// breaks it by chance, and a setting that meets it does by chance.
static void noise_alone_keeps_no_constraint_better_than_the_default(void **state)
{
	uint32_t studies = 200;
	uint32_t bound = better_within(constant, 0.05, "done_s<=1s", 0, studies);
	uint32_t time = better_within(constant, 0.05, NULL, 1 + 1.28 * 0.05, studies);
	print_message(
		"noise alone met a bound, or ended in time, better than the default in %u and "
		"%u of %u studies\n",
		bound, time, studies);
	assert_true(bound <= studies / 20);
	assert_true(time <= studies / 20);
}

// Where the default really breaks it, a setting that meets it is found; and a default that does not
// end on some seeds is no reason to refuse.
static void what_the_default_breaks_is_met(void **state)
{
	double of_default = 1 + 0.2 * 0.2 + 0.15 * 0.15 + 0.1 * 0.1;
	assert_true(better_within(sphere, 0.01, "done_s<=1.05s", 0, 20) >= 19);
	assert_true(better_within(sphere, 0.01, NULL, of_default + 0.002, 20) >= 19);
}

// Better the further the first knob goes, up to a bound that is as noisy: the best of many on few
// seeds lie beyond it, and were lucky. What is recommended keeps it.
static void a_noisy_bound_is_kept_where_the_best_lies_on_it(void **state)
{
	uint32_t better = 0;
	for (uint64_t seed = 1; seed <= 20; seed++) {
		struct refusal refusal = {0};
		struct tune_plan plan;
		plan_functions(&plan, knobs, 3, "cmaes", seed, 600, runs);
		assert_string_equal(report_study_figure_name(FCT_P99_S), "fct_p99_s");
		assert_int_equal(tune_aim_limit(&plan.aim, "fct_p99_s<=0.7s", &refusal), 0);
		struct noisy noisy = {rest_of_first, 0.01, &plan.space, 0, 0.2};
		plan.runs_context = &noisy;
		struct tune *tune = study_functions(&plan);
		better += tune_result(tune)->verdict == TUNE_BETTER;
		tune_free(tune);
	}
	print_message("a setting kept a noisy bound in %u of 20 studies\n", better);
	assert_true(better >= 19);
}

// The best lie at the bound, where a few seeds of a noisy figure do not tell who keeps it: one of
// the last five is the one that raced and is farthest within.
static void one_of_the_last_five_is_the_farthest_within(void **state)
{
	for (uint64_t seed = 1; seed <= 20; seed++) {
		struct refusal refusal = {0};
		struct tune_plan plan;
		uint32_t breach, found = 0;
		double most = -INFINITY;
		plan_functions(&plan, knobs, 3, "cmaes", seed, 600, runs);
		assert_int_equal(tune_aim_limit(&plan.aim, "fct_p99_s<=0.7s", &refusal), 0);
		struct noisy noisy = {rest_of_first, 0.01, &plan.space, 0, 0.2};
		plan.runs_context = &noisy;
		struct tune *tune = study_functions(&plan);
		const struct tune_result *result = tune_result(tune);
		for (uint32_t i = 0; i < result->different; i++) {
			const struct tune_candidate *one = result->candidates[i];
			if (one->is_raced && tune_violation(&one->met, &breach) == 0 &&
			    tune_value(&one->met) < 0)
				most = fmax(most, tune_margin(&one->met));
		}
		for (uint32_t i = 0; i < result->finalist_count; i++)
			found += tune_margin(&result->finalists[i]->met) == most;
		assert_true(found > 0);
		tune_free(tune);
	}
}

// What is called flat is left as it is: nothing that moves it comes to the last round, be it the
// luckiest point of the screening.
static void no_finalist_moves_a_flat_knob(void **state)
{
	uint32_t flat = 0;
	for (uint64_t seed = 1; seed <= 10; seed++) {
		struct tune_plan plan;
		plan_functions(&plan, knobs, 8, "cmaes", seed, 900, runs);
		plan.screen = TUNE_SCREEN_AUTO;
		struct noisy noisy = {ridge, 0.2, &plan.space, 0, 0};
		plan.runs_context = &noisy;
		struct tune *tune = study_functions(&plan);
		const struct tune_result *result = tune_result(tune);
		for (uint32_t i = 0; i < plan.space.count; i++) {
			flat += result->indices[i].is_flat;
			for (uint32_t j = 0; j < result->finalist_count; j++)
				if (result->indices[i].is_flat)
					assert_true(isnan(result->finalists[j]->at[i]));
		}
		tune_free(tune);
	}
	assert_true(flat > 10);
}

// The bound is broken far beyond all that counts wherever the first knob is above 0.3, and
// elsewhere it is the second one that keeps it.
static int runs_behind_a_bound(void *context, const struct tune_request *requests, uint32_t count,
			       tune_take_fn *take, void *take_context, struct refusal *refusal)
{
	const struct noisy *noisy = context;
	for (uint32_t i = 0; i < count; i++) {
		const double *at = requests[i].at;
		double first = first_of(noisy, at), noise = noise_of(&requests[i], 4);
		double second = at == NULL || isnan(at[1]) ? 0.5
							   : tune_space_value(noisy->space, at, 1);
		struct study_run run = {.is_complete = true};
		run.figures[DONE_S] = 2 - first + 0.01 * noise;
		run.figures[FCT_P99_S] = at == NULL ? 1 : first > 0.3 ? 9 : 1.2 - 0.3 * second;
		assert_int_equal(take(take_context, i, &run), 0);
	}
	return 0;
}

// Moves between settings that are both broken beyond what counts say nothing of a knob.
static void a_knob_that_keeps_the_bound_is_not_flat(void **state)
{
	for (uint64_t seed = 1; seed <= 20; seed++) {
		struct refusal refusal = {0};
		struct tune_plan plan;
		plan_functions(&plan, knobs, 4, "cmaes", seed, 600, runs_behind_a_bound);
		assert_int_equal(tune_aim_limit(&plan.aim, "fct_p99_s<=1x", &refusal), 0);
		plan.screen = 4;
		struct noisy noisy = {.space = &plan.space};
		plan.runs_context = &noisy;
		struct tune *tune = study_functions(&plan);
		assert_false(tune_result(tune)->indices[1].is_flat);
		tune_free(tune);
	}
}

static void all_flat_fixes_nothing_and_errs_rarely(void **state)
{
	uint32_t better = 0, studies = 100;
	for (uint64_t seed = 1; seed <= studies; seed++) {
		struct ended ended = study_screened(constant, 0.05, "cmaes", 4, seed, 600,
						    TUNE_SCREEN_AUTO);
		assert_true(ended.flat != 0xf);
		better += ended.verdict == TUNE_BETTER;
	}
	print_message("screened, noise alone was better in %u of %u studies\n", better, studies);
	assert_true(better <= studies / 20);
}

static void a_constant_is_told_as_one(void **state)
{
	for (uint64_t seed = 1; seed <= 10; seed++)
		assert_int_equal(study(constant, 0, "cmaes", 3, seed, 400).verdict, TUNE_CONSTANT);
}

static void a_better_setting_is_found_and_said(void **state)
{
	uint32_t better = 0;
	for (uint64_t seed = 1; seed <= 20; seed++)
		better += study(sphere, 0.01, "cmaes", 4, seed, 600).verdict == TUNE_BETTER;
	assert_true(better >= 19);
}

// Where noise rules, the luckiest on few seeds look better than what raced: they are no part of the
// last round, and a search with runs enough goes on with more seeds.
static void the_last_five_have_raced(void **state)
{
	for (uint64_t seed = 1; seed <= 5; seed++) {
		struct tune_plan plan;
		plan_functions(&plan, knobs, 2, "cmaes", seed, 1500, runs);
		struct noisy noisy = {sphere, 0.2, &plan.space, 0, 0};
		plan.runs_context = &noisy;
		struct tune *tune = study_functions(&plan);
		const struct tune_result *result = tune_result(tune);
		uint32_t on_more = 0;
		for (uint32_t i = 0; i < result->finalist_count; i++) {
			assert_true(result->finalists[i]->is_raced);
			assert_true(result->finalists[i]->met.count >= plan.race_seeds);
		}
		for (uint32_t i = 0; i < result->different; i++)
			on_more += result->candidates[i]->seeds > plan.search_seeds;
		assert_in_range(on_more, 9, result->different * 2 / 3);
		tune_free(tune);
	}
}

struct bounds {
	uint32_t tried;
	bool is_inside, has_end;
};

// search_try_fn: the best lies in a corner, so that points come to lie on the bounds.
static int corner(void *context, const double (*points)[TUNE_KNOBS_MAX], uint32_t count,
		  double *values)
{
	struct bounds *bounds = context;
	for (uint32_t i = 0; i < count; i++) {
		values[i] = points[i][0] + (1 - points[i][1]);
		for (uint32_t j = 0; j < 2; j++)
			bounds->is_inside &= points[i][j] >= 0 && points[i][j] <= 1;
		bounds->has_end |= points[i][0] < 0.01 && points[i][1] > 0.99;
	}
	bounds->tried += count;
	return bounds->tried > 600;
}

static void no_engine_leaves_the_bounds(void **state)
{
	for (const struct search_engine *engine = search_engines(); engine->name != NULL;
	     engine++) {
		struct bounds bounds = {.is_inside = true};
		const struct search search = {
			.dimensions = 2, .seed = 1, .attempt = corner, .context = &bounds};
		if (engine->run == NULL)
			continue;
		assert_int_equal(engine->run(&search), 0);
		assert_true(bounds.is_inside);
		assert_true(bounds.has_end || strcmp(engine->name, "random") == 0);
	}
}

// After 2^k points each dimension has one in each of 2^k equal parts, and each pair of the first
// two as many in each quarter.
static void points_of_sobol_are_spread_evenly(void **state)
{
	enum { POINTS = 256 };
	static struct sobol sobol;
	for (uint64_t seed = 1; seed <= 5; seed++) {
		static bool is_there[SOBOL_DIMENSIONS_MAX][POINTS];
		uint32_t quarters[4] = {0};
		memset(is_there, 0, sizeof(is_there));
		sobol_init(&sobol, SOBOL_DIMENSIONS_MAX, seed);
		for (uint32_t i = 0; i < POINTS; i++) {
			double at[SOBOL_DIMENSIONS_MAX];
			sobol_point(&sobol, i, at);
			for (uint32_t j = 0; j < SOBOL_DIMENSIONS_MAX; j++) {
				bool *part = &is_there[j][(uint32_t)(at[j] * POINTS)];
				assert_false(*part);
				*part = true;
			}
			quarters[2 * (at[0] >= 0.5) + (at[1] >= 0.5)]++;
		}
		for (uint32_t i = 0; i < 4; i++)
			assert_int_equal(quarters[i], POINTS / 4);
	}
}
