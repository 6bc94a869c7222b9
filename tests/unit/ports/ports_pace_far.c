// SPDX-License-Identifier: Apache-2.0
// When far virtual times are due at large dilations: later than any clock will tell, but never in
// the past.

#include <stdint.h>

#include <cmocka.h>

#include <weft/ports/pace.h>

#define DILATION_MILLI_MAX UINT64_C(1000000000000) // a thousand million, as weft emu takes it

static void what_is_later_is_not_due_earlier(void **state)
{
	int64_t before = 0;
	for (ps_t at = PS_PER_S; at < INT64_C(100000) * PS_PER_S; at += at / 3) {
		int64_t due = pace_due_ns(DILATION_MILLI_MAX, at);
		assert_true(due >= before);
		before = due;
	}
	assert_true(before > INT64_C(4000000000000000000)); // a century and more
}

static void what_is_never_due_can_be_added_to_a_clock(void **state)
{
	int64_t clock = INT64_MAX / 2;
	assert_true(pace_due_ns(DILATION_MILLI_MAX, INT64_MAX) > 0);
	assert_true(clock + pace_due_ns(DILATION_MILLI_MAX, INT64_MAX) > clock);
}

static void what_fits_is_exact(void **state)
{
	assert_int_equal(pace_due_ns(DILATION_MILLI_MAX, 4 * PS_PER_S),
			 INT64_C(4000000000000000000));
	assert_int_equal(pace_due_ns(1500, 2 * PS_PER_S), 3000000000);
	assert_int_equal(pace_due_ns(0, INT64_MAX), 0);
}
