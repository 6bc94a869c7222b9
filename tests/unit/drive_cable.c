// SPDX-License-Identifier: Apache-2.0
// What a fault does to a packet on a cable: when a flap takes it, and when it does not.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "cable.h"

// Down in [100, 130), [150, 180), [200, 230), up in between, over at 220.
static const struct cable_fault flap = {
	.kind = FAULT_FLAP, .from_ps = 100, .until_ps = 220, .down_ps = 30, .up_ps = 20};

static bool is_taken(ps_t start, ps_t at)
{
	struct cable cable = {.fault_count = 1};
	struct rng rng = rng_of(1, RNG_CABLE, 0);
	enum drop_reason fate = cable_fate(&cable, &flap, &rng, start, at);
	assert_true(fate == DROP_LINK_DOWN || fate == DROP_REASON_COUNT);
	return fate == DROP_LINK_DOWN;
}

// Time by time, for packets of several lengths.
static void a_flap_takes_what_is_on_the_cable_while_it_is_down(void **)
{
	for (ps_t start = 0; start < 300; start++) {
		for (ps_t length = 1; length < 60; length += 7) {
			bool is_down = false;
			for (ps_t t = start; t <= start + length; t++)
				is_down |= t >= 100 && t < 220 && (t - 100) % 50 < 30;
			assert_int_equal(is_taken(start, start + length), is_down);
		}
	}
}

static void a_flap_ends_when_it_says(void **)
{
	assert_true(is_taken(219, 400));
	assert_false(is_taken(220, 400));
	assert_false(is_taken(90, 99));
	assert_true(is_taken(90, 100));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_flap_takes_what_is_on_the_cable_while_it_is_down),
		cmocka_unit_test(a_flap_ends_when_it_says),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
