// SPDX-License-Identifier: Apache-2.0
// Which runs of the default are no comparison.

#include <weft/tune/aim.h>

#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "inside.h"

static const struct tune_aim aim = {.goal_count = 1};

static struct study_run run_of(double value, bool is_complete)
{
	return (struct study_run){
		.figures = {value}, .is_complete = is_complete, .end = "time limit"};
}

static void runs_that_failed_say_nothing_of_zeros(void **state)
{
	const struct study_run cut = run_of(0, false);
	struct refusal refusal = {0};
	(void)state;
	const struct study_run some[] = {cut, run_of(3, true), cut};
	const struct study_run none[] = {cut, run_of(0, true), cut};
	assert_int_equal(tune_aim_check_all(&aim, some, 3, &refusal), 0);
	assert_int_equal(tune_aim_check_all(&aim, none, 3, &refusal), -EINVAL);
	assert_non_null(strstr(refusal.text, "has 0 of it"));
	assert_int_equal(tune_aim_check_all(&aim, &cut, 1, &refusal), -EINVAL);
	assert_non_null(strstr(refusal.text, "time limit, on 1 of 1 seeds"));
}

// Where the default's run failed, times what it has is no bound: that seed says nothing of it.
static void a_failed_default_bounds_nothing(void **state)
{
	const struct study_run failed = run_of(NAN, false), whole = run_of(1, true);
	struct tune_series series = {.count = 2, .limit_count = 1};
	struct tune_aim bounded = aim;
	struct tune_judged judged;
	struct refusal refusal = {0};
	uint32_t breach;
	assert_int_equal(tune_aim_limit(&bounded, "goodput_bps>=2x", &refusal), 0);
	tune_aim_judge(&bounded, &whole, &failed, &judged);
	assert_true(isnan(judged.excess[0]));
	series.excess[0][0] = judged.excess[0];
	tune_aim_judge(&bounded, &whole, &whole, &judged);
	assert_true(judged.excess[0] == 0.5);
	series.excess[1][0] = judged.excess[0];
	assert_true(tune_violation(&series, &breach) == 0.5);
	assert_int_equal(breach, 0);
}
