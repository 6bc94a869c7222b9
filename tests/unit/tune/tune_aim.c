// SPDX-License-Identifier: Apache-2.0
// Which runs of the default are no comparison.

#include <weft/tune/aim.h>

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

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
