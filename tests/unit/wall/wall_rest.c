// SPDX-License-Identifier: Apache-2.0
// What an idle loop does: yields first, then sleeps that grow and are bounded.

#include <stdint.h>

#include <cmocka.h>

#include "loop.h"

#define US INT64_C(1000)
#define LONG_NS (1000 * US)

static struct rest begin(void)
{
	struct rest rest;
	rest_init(&rest, false, 40 * US);
	assert_in_range(rest.least_ns, 1, 100000 * US);
	rest.least_ns = 25 * US; // whatever this machine takes
	return rest;
}

static void it_yields_until_a_sleep_is_worth_it(void **)
{
	struct rest rest = begin();
	for (int i = 1; i < 25; i++) {
		rest_take(&rest, LONG_NS);
		assert_int_equal(rest.yields, i);
	}
	assert_int_equal(rest.sleeps, 0);
	assert_int_equal(rest.asleep_ns, 0);
	rest_take(&rest, LONG_NS);
	assert_int_equal(rest.sleeps, 1);
	assert_true(rest.asleep_ns >= 25 * US);
	assert_int_equal(rest.yields, 24);
}

static void sleeps_grow_to_a_bound(void **)
{
	struct rest rest = begin();
	int64_t before = 0;
	for (int i = 1; i <= 60; i++) {
		rest_take(&rest, LONG_NS);
		int64_t asked = (i < 40 ? i : 40) * US;
		assert_int_equal(rest.allowed_ns, asked);
		assert_true(i < 25 || rest.asleep_ns - before >= asked);
		before = rest.asleep_ns;
	}
	assert_int_equal(rest.sleeps, 36);
}

static void a_timer_that_is_due_keeps_it_awake(void **)
{
	struct rest rest = begin();
	for (int i = 0; i < 60; i++)
		rest_take(&rest, 24 * US);
	assert_int_equal(rest.sleeps, 0);
	assert_int_equal(rest.yields, 60);
	rest_take(&rest, 30 * US);
	assert_int_equal(rest.sleeps, 1);
}

static void a_busy_turn_ends_it(void **)
{
	struct rest rest = begin();
	for (int i = 0; i < 30; i++)
		rest_take(&rest, LONG_NS);
	assert_int_equal(rest.sleeps, 6);
	rest_end(&rest);
	for (int i = 0; i < 24; i++)
		rest_take(&rest, LONG_NS);
	assert_int_equal(rest.sleeps, 6);
}

static void who_owns_its_core_keeps_it(void **)
{
	struct rest rest;
	rest_init(&rest, true, 40 * US);
	for (int i = 0; i < 1000; i++)
		rest_take(&rest, LONG_NS);
	assert_int_equal(rest.yields + rest.sleeps, 0);
	assert_int_equal(rest.asleep_ns, 0);
}
