// SPDX-License-Identifier: Apache-2.0
// Tests of a trail of packets: the first ones are kept, the rest is counted.

#include <weft/measure/measure_trail.h>

#include "measure_rig.h"

static void the_first_are_kept_and_the_rest_is_counted(void **)
{
	struct trail trail;
	assert_int_equal(trail_init(&trail, &arena, 2), 0);
	for (uint32_t i = 0; i < 5; i++)
		trail_add(&trail, &(struct trail_step){.at = 10 * i, .psn = i});
	assert_int_equal(trail.count, 2);
	assert_int_equal(trail.missed, 3);
	assert_int_equal(trail.steps[1].at, 10);
	assert_int_equal(trail.steps[1].psn, 1);
}

static void more_than_memory_is_refused(void **)
{
	struct trail trail;
	assert_int_equal(trail_init(&trail, &arena, 1u << 20), -ENOMEM);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_first_are_kept_and_the_rest_is_counted),
		cmocka_unit_test(more_than_memory_is_refused),
	};
	return cmocka_run_group_tests(tests, rig_open, rig_close);
}
