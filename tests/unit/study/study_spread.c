// SPDX-License-Identifier: Apache-2.0
// Tests of the statistics over seeds. Quantiles of Student's t are those of printed tables
// (Abramowitz and Stegun, 26.10) and of closed forms: one degree of freedom is Cauchy's
// distribution.

#include <math.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <weft/study/report_spread.h>

static void assert_near(double value, double expected, double tolerance)
{
	if (!(fabs(value - expected) <= tolerance))
		fail_msg("%.12g is not %.12g", value, expected);
}

static void bounds_are_those_of_the_tables(void **)
{
	static const struct {
		uint32_t freedom;
		double t95, t99;
	} rows[] = {{1, 12.70620474, 63.65674116}, {2, 4.30265273, 9.92484320},
		    {3, 3.18244631, 5.84090931},   {4, 2.77644511, 4.60409487},
		    {9, 2.26215716, 3.24983554},   {10, 2.22813885, 3.16927267},
		    {29, 2.04522964, 2.75638590},  {120, 1.97993041, 2.61742115}};
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		assert_near(student_bound(0.05, rows[i].freedom), rows[i].t95, 1e-7);
		assert_near(student_bound(0.01, rows[i].freedom), rows[i].t99, 1e-7);
	}
	assert_near(student_bound(0.05, 9999), 1.96020126, 1e-7);
}

static void chances_have_closed_forms_at_one_and_two_degrees(void **)
{
	for (double t = -3; t <= 3; t += 0.5) {
		assert_near(student_beyond(t, 1), 1 - 2 / M_PI * atan(fabs(t)), 1e-14);
		assert_near(student_beyond(t, 2), 1 - fabs(t) / sqrt(2 + t * t), 1e-14);
	}
	assert_true(student_beyond(0, 7) == 1);
	assert_true(student_beyond(1e9, 30) == 0);
}

static void an_interval_of_five_values_is_exact(void **)
{
	const double values[] = {10, 12, NAN, 14, 16, 18};
	struct spread_figures spread;
	spread_of(&spread, values, 6);
	assert_int_equal(spread.count, 5);
	assert_true(spread.mean == 14 && spread.min == 10 && spread.max == 18);
	assert_near(spread.sd, sqrt(10), 1e-14);
	assert_near(spread.half, 2.7764451051978 * sqrt(2), 1e-9);
}

static void one_value_has_no_interval_and_none_no_mean(void **)
{
	const double values[] = {NAN, 3};
	struct spread_figures spread;
	spread_of(&spread, values, 2);
	assert_int_equal(spread.count, 1);
	assert_true(spread.mean == 3 && isnan(spread.half));
	spread_of(&spread, values, 1);
	assert_int_equal(spread.count, 0);
}

// A sum of ten tenths is not 1: values that are alike must not get a spread of their own.
static void equal_values_have_no_spread_at_all(void **)
{
	double values[10];
	for (int i = 0; i < 10; i++)
		values[i] = 0.1;
	struct spread_figures spread;
	spread_of(&spread, values, 10);
	assert_true(spread.mean == 0.1 && spread.sd == 0 && spread.half == 0);
}

static enum spread_verdict verdict_of(const double *a, const double *b, uint32_t count,
				      uint32_t comparisons)
{
	struct spread_difference difference;
	spread_difference_of(&difference, a, b, count, comparisons);
	return difference.verdict;
}

// Seeds move both sides alike: what is left is the difference, seed by seed.
static void pairs_are_compared_seed_by_seed(void **)
{
	const double a[] = {100, 200, 300, 400}, b[] = {101, 201.1, 301, 400.9};
	struct spread_difference difference;
	spread_difference_of(&difference, a, b, 4, 1);
	assert_near(difference.spread.mean, 1, 1e-9);
	assert_int_equal(difference.verdict, SPREAD_DIFFERS);
	const double far[] = {400, 100, 200, 301}; // the same spread, other seeds
	assert_int_equal(verdict_of(a, far, 4, 1), SPREAD_NOISE);
}

static void the_more_verdicts_the_stricter_each(void **)
{
	// mean 1, sd 1, n 5: t = 2.236, chance 0.089; with sd 0.7: t = 3.19, chance 0.033
	const double zero[5] = {0}, b[] = {0.3, 0.3, 1, 1.7, 1.7};
	struct spread_difference difference;
	spread_difference_of(&difference, zero, b, 5, 1);
	assert_near(difference.chance, student_beyond(1 / difference.spread.sd * sqrt(5), 4),
		    1e-14);
	assert_int_equal(difference.verdict, SPREAD_DIFFERS);
	assert_int_equal(verdict_of(zero, b, 5, 2), SPREAD_NOISE);
}

static void what_has_no_noise_is_same_or_differs(void **)
{
	const double a[] = {5, 6, 7}, more[] = {6, 7, 8}, none[] = {NAN, NAN, 7};
	assert_int_equal(verdict_of(a, a, 3, 1), SPREAD_SAME);
	assert_int_equal(verdict_of(a, more, 3, 100), SPREAD_DIFFERS);
	assert_int_equal(verdict_of(a, none, 3, 1), SPREAD_UNKNOWN); // one pair
	assert_string_equal(spread_verdict_name(SPREAD_NOISE), "noise");
}
