// SPDX-License-Identifier: Apache-2.0
// Tests of a study: the grid of points, which swept keys are flat, what a run that did not come to
// its end does to figures.

#include <math.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "study.h"

static struct scenario scenario;

static const struct study_plan grid = {
	.seed_first = 7,
	.seeds = 3,
	.variants = 2,
	.sweep_count = 2,
	.sweeps = {{"a", 2, {"1", "2"}}, {"b", 3, {"x", "y", "z"}}},
};

static struct report_study *create(const struct study_plan *plan)
{
	scenario.variant_count = 2;
	strcpy(scenario.name, "test");
	strcpy(scenario.variants[0].name, "one");
	strcpy(scenario.variants[1].name, "two");
	return report_study_create(plan, &scenario, "weft 0", "weft sim test");
}

// A run whose first figure is `value`; all others have none.
static struct study_run run_of(uint32_t point, uint32_t seed, double value)
{
	struct study_run run = {.point = point, .seed = seed, .digest = 1, .is_complete = true};
	strcpy(run.end, "done");
	for (int i = 0; i < STUDY_FIGURES_MAX; i++)
		run.figures[i] = NAN;
	for (int i = 0; i < SCENARIO_EXPECTATIONS_MAX; i++)
		run.expected[i] = run.measured[i] = NAN;
	run.figures[0] = value;
	return run;
}

static void points_go_round_variants_first_then_the_last_key(void **)
{
	char name[STUDY_NAME_BYTES];
	assert_int_equal(study_points(&grid), 12);
	struct report_study *study = create(&grid);
	static const char *const names[] = {"one a=1 b=x", "two a=1 b=x", "one a=1 b=y",
					    "two a=1 b=y", "one a=1 b=z", "two a=1 b=z",
					    "one a=2 b=x", "two a=2 b=x"};
	for (uint32_t i = 0; i < 8; i++) {
		study_name(study, i, name);
		assert_string_equal(name, names[i]);
	}
	study_label(study, 11, name);
	assert_string_equal(name, "two 2 z");
	report_study_free(study);
}

// Figure 0 by point and seed; digests as told.
typedef double value_fn(uint32_t point, uint32_t seed);

static struct report_study *filled(value_fn *value, bool has_digests)
{
	struct report_study *study = create(&grid);
	for (uint32_t point = 0; point < 12; point++) {
		for (uint32_t seed = 0; seed < 3; seed++) {
			struct study_run run = run_of(point, seed, value(point, seed));
			run.digest = has_digests ? 100 + point * 3 + seed : 5;
			report_study_take(study, &run);
		}
	}
	return study;
}

static double by_a(uint32_t point, uint32_t seed)
{
	return (point / 6 == 0 ? 1000 : 2000) + seed; // and by seed
}

static double by_chance(uint32_t point, uint32_t seed)
{
	return 1000 + (point * point * 7 + seed * seed * 13 + point * seed * 5) % 11;
}

static double by_seed(uint32_t point, uint32_t seed)
{
	(void)point;
	return 10.0 * seed;
}

static void a_key_without_effect_is_flat(void **)
{
	struct report_study *study = filled(by_a, true);
	assert_int_equal(study_flatness_of(study, 0), STUDY_CHANGES);
	assert_int_equal(study_flatness_of(study, 1), STUDY_FLAT); // digests differ
	report_study_free(study);
	study = filled(by_seed, false);
	assert_int_equal(study_flatness_of(study, 0), STUDY_NOTHING);
	report_study_free(study);
	study = filled(by_chance, true);
	assert_int_equal(study_flatness_of(study, 0), STUDY_NOISE);
	assert_int_equal(study_flatness_of(study, 1), STUDY_NOISE);
	report_study_free(study);
}

static void the_same_digest_with_other_figures_is_not_flat(void **)
{
	struct report_study *study = filled(by_a, false);
	assert_int_equal(study_flatness_of(study, 0), STUDY_CHANGES);
	report_study_free(study);
}

// Later by 1 with a deviation of 0.32 on five seeds: p 0.002, which two points are enough for, and
// all figures together are not.
static void what_a_line_calls_different_its_key_changes(void **)
{
	static const double more[] = {1, 1.4, 0.8, 1.2, 0.6};
	struct study_plan plan = {
		.seeds = 5, .variants = 1, .sweep_count = 1, .sweeps = {{"a", 2, {"1", "2"}}}};
	struct report_study *study = create(&plan);
	struct spread_difference difference;
	uint32_t done = 0;
	while (strcmp(study_figure(done)->name, "done_s") != 0)
		done++;
	for (uint32_t point = 0; point < 2; point++) {
		for (uint32_t seed = 0; seed < 5; seed++) {
			struct study_run run = run_of(point, seed, NAN);
			run.figures[done] = 100 + seed + (point == 0 ? 0 : more[seed]);
			run.digest = 10 * point + seed;
			report_study_take(study, &run);
		}
	}
	study_difference(study, 1, done, &difference);
	assert_int_equal(difference.verdict, SPREAD_DIFFERS);
	assert_true(difference.chance > 0.05 / study_figure_count());
	assert_int_equal(study_flatness_of(study, 0), STUDY_CHANGES);
	report_study_free(study);
}

static void a_run_without_end_is_in_no_figure(void **)
{
	struct study_plan plan = {.seeds = 3, .variants = 2};
	struct report_study *study = create(&plan);
	struct spread_figures spread;
	for (uint32_t seed = 0; seed < 3; seed++) {
		struct study_run run = run_of(0, seed, 100 + seed);
		run.is_complete = seed != 1;
		report_study_take(study, &run);
	}
	struct study_run interrupted = run_of(1, 0, 3);
	interrupted.is_interrupted = true;
	report_study_take(study, &interrupted);
	study_spread(study, 0, 0, &spread);
	assert_int_equal(spread.count, 2);
	assert_true(spread.mean == 101);
	assert_int_equal(report_study_taken(study), 3);
	assert_int_equal(report_study_complete(study), 2);
	study_spread(study, 1, 0, &spread);
	assert_int_equal(spread.count, 0);
	report_study_free(study);
}

static void a_ratio_takes_both_variants_of_a_seed(void **)
{
	struct study_plan plan = {.seeds = 2, .variants = 2};
	memset(&scenario, 0, sizeof(scenario));
	scenario.expectation_count = 1;
	scenario.expectations[0] = (struct scenario_expect){
		.measure = EXPECT_RATIO, .bound = EXPECT_AT_LEAST, .run = "two", .to = "one"};
	struct report_study *study = create(&plan);
	const double values[2][2] = {{100, 200}, {150, 190}};
	for (uint32_t point = 0; point < 2; point++) {
		for (uint32_t seed = 0; seed < 2; seed++) {
			struct study_run run = run_of(point, seed, values[point][seed]);
			if (point == 1) {
				run.expected[0] = 1;
				run.measured[0] = values[point][seed];
			}
			report_study_take(study, &run);
		}
	}
	struct study_expected expected;
	study_expected(study, 0, &expected);
	assert_int_equal(expected.runs, 2);
	assert_int_equal(expected.inside, 1); // 1.5, and 0.95
	assert_true(fabs(expected.measured.mean - 1.225) < 1e-12);
	assert_false(report_study_is_expected(study));
	report_study_free(study);
	memset(&scenario, 0, sizeof(scenario));
}

static void figures_have_names_of_their_own(void **)
{
	for (uint32_t i = 0; i < study_figure_count(); i++)
		for (uint32_t other = 0; other < i; other++)
			assert_string_not_equal(study_figure(i)->name, study_figure(other)->name);
	assert_string_equal(study_figure(0)->name, "goodput_bps"); // ratios rely on it
}
