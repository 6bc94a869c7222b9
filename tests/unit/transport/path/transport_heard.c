// SPDX-License-Identifier: Apache-2.0
// Where EVs of a plane are lost: what must come through takes the one that was heard of last, and
// those that are kept whatever they lose rest the longer the more they lost.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "../../../../lib/transport/path/place.h"

#define EVS 16u
#define RETRY_PS (100 * PS_PER_US)

static struct path_shape shape;
static struct path_set set;
static uint8_t memory[6 * EVS + 1024];

static void open_set(uint32_t planes)
{
	shape = (struct path_shape){.planes = planes,
				    .per_plane = EVS / planes,
				    .universe = EVS,
				    .min_active = EVS / 4,
				    .index_mask = 255,
				    .drawn_mask = ~UINT32_C(255),
				    .policy = PATH_MRC,
				    .retry_ps = RETRY_PS};
	memset(memory, 0, sizeof(memory));
	path_init(&set, &shape, memory, rng_of(1, RNG_QP, 1));
}

// Each but the last few of plane 0, which the last one tells is alive.
static void lose_all_but(uint32_t kept)
{
	for (uint32_t index = 0; index + kept * shape.planes < EVS; index += shape.planes) {
		path_lose(&set, index, 0);
		path_heard(&set, EVS - shape.planes);
	}
}

static void what_must_come_through_takes_the_ev_that_was_heard_of_last(void **state)
{
	(void)state;
	for (uint32_t planes = 1; planes <= 2; planes++) {
		open_set(planes);
		lose_all_but(6);
		path_heard(&set, EVS - 2 * planes);
		if (planes == 2)
			path_heard(&set, EVS - 1); // of the other plane
		for (uint32_t i = 0; i < EVS; i++)
			assert_int_equal(path_pick_heard(&set, 0, PATH_NO_EV).index,
					 EVS - 2 * planes);
		uint32_t again = path_pick_heard(&set, 0, EVS - 2 * planes).index;
		if (planes == 1) // its answer may be what was lost
			assert_int_equal(again, EVS - 2 * planes);
		else
			assert_int_not_equal(again, EVS - 2 * planes);
		path_lose(&set, EVS - 2 * planes, 0);
		for (uint32_t i = 0; i < EVS; i++)
			assert_int_not_equal(path_pick_heard(&set, 0, PATH_NO_EV).index,
					     EVS - 2 * planes);
	}
}

static void it_takes_its_turn_where_none_is_lost(void **state)
{
	(void)state;
	open_set(1);
	uint32_t seen = 0;
	for (uint32_t i = 0; i < EVS; i++)
		seen |= 1u << path_pick_heard(&set, 0, PATH_NO_EV).index;
	assert_int_equal(seen, (1u << EVS) - 1);
}

// Which of the last four EVs 64 picks take: a bit of each of them, and how often the last one.
static uint32_t picks(uint32_t *ret_last)
{
	uint32_t seen = 0;
	*ret_last = 0;
	for (uint32_t i = 0; i < 64; i++) {
		uint32_t index = path_pick(&set, 0, PATH_NO_EV).index;
		assert_true(index >= EVS - 4);
		seen |= 1u << (index - (EVS - 4));
		*ret_last += index == EVS - 1;
	}
	return seen;
}

static void those_that_are_kept_rest_the_longer_the_more_they_lost(void **state)
{
	(void)state;
	open_set(1);
	lose_all_but(4);
	uint32_t last, before = 64 / 4;
	assert_int_equal(picks(&last), 15);
	assert_int_equal(last, before);
	for (uint32_t losses = 1; losses <= 3; losses++) {
		for (uint32_t index = EVS - 4; index + 1 < EVS; index++) {
			assert_int_equal(path_lose(&set, index, 0), PATH_SAME);
			path_heard(&set, EVS - 1);
		}
		picks(&last);
		assert_true(last > before);
		before = last;
	}
	assert_true(before > 40);
	path_heard(&set, EVS - 2); // which is alive, too
	picks(&last);
	assert_in_range(last, 20, 32);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_must_come_through_takes_the_ev_that_was_heard_of_last),
		cmocka_unit_test(it_takes_its_turn_where_none_is_lost),
		cmocka_unit_test(those_that_are_kept_rest_the_longer_the_more_they_lost),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
