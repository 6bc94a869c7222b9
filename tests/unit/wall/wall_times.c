// SPDX-License-Identifier: Apache-2.0
// The times of a transport that follow from round trips and lateness.

#include <cmocka.h>

#include <weft/wall/times.h>

static void a_timer_is_ten_times_what_is_waited_for(void **)
{
	struct wall_times late = wall_times(100 * PS_PER_US, 3 * PS_PER_MS);
	assert_int_equal(late.hole_age_ps, 6125 * PS_PER_US);
	assert_int_equal(late.rto_ps, 30 * PS_PER_MS);
	assert_false(late.is_rto_short);
	struct wall_times far = wall_times(5 * PS_PER_MS, PS_PER_US);
	assert_int_equal(far.rto_ps, 50 * PS_PER_MS);
	assert_false(far.is_rto_short);
}

static void a_quick_loop_has_a_timer_of_a_millisecond(void **)
{
	struct wall_times quick = wall_times(10 * PS_PER_US, 5 * PS_PER_US);
	assert_int_equal(quick.rto_ps, PS_PER_MS);
	assert_false(quick.is_rto_short);
}

static void what_the_longest_timer_is_too_short_for_is_said(void **)
{
	struct wall_times just = wall_times(PS_PER_US, 200 * PS_PER_MS);
	assert_int_equal(just.rto_ps, 2 * PS_PER_S);
	assert_false(just.is_rto_short);
	struct wall_times late = wall_times(PS_PER_US, 200 * PS_PER_MS + PS_PER_US);
	assert_int_equal(late.rto_ps, 2 * PS_PER_S);
	assert_true(late.is_rto_short);
	struct wall_times far = wall_times(PS_PER_S, PS_PER_S);
	assert_int_equal(far.hole_age_ps, PS_PER_S);
	assert_true(far.is_rto_short);
}
