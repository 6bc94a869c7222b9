// SPDX-License-Identifier: Apache-2.0
// What is remembered of an EV, byte by byte: how marks raise a row and uses lower it, in which
// rounds a row rests, and how waits grow.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "path/history.h"

#define PLANES 2u
#define MANY 20u // entropy values of a plane, of which the first few are looked at
#define LEVELS 4 // bits below those of waits
#define RETRY_PS (100 * PS_PER_US)

static struct path_shape shape;
static struct path_set set;
static uint32_t retry_at[16];
static uint8_t states[16], history[16];

static int set_up(void **)
{
	shape = (struct path_shape){.planes = PLANES, .per_plane = MANY, .retry_ps = RETRY_PS};
	set = (struct path_set){
		.shape = &shape, .retry_at = retry_at, .states = states, .history = history};
	for (int i = 0; i < 16; i++)
		history[i] = states[i] = 0, retry_at[i] = 0;
	return 0;
}

// Twenty EVs: a mean of 20 of 160 is an eighth, of 32 a fifth.
static void a_mark_counts_by_how_common_marks_are(void **)
{
	static const struct {
		uint16_t mean;
		uint8_t step;
	} cases[] = {{0, 3}, {20, 3}, {21, 2}, {32, 2}, {33, 0}, {160, 0}};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		set_up(NULL);
		set.planes[1].marked_mean = cases[i].mean;
		history_mark(&set, 3);
		assert_int_equal(history[3], cases[i].step);
		assert_int_equal(set.planes[1].rows, cases[i].step > 0);
		assert_int_equal(set.planes[1].marked, 1);
		assert_int_equal(set.planes[0].rows + set.planes[0].marked, 0);
	}
}

static void a_row_grows_to_nine_and_uses_lower_it(void **)
{
	history[3] = 2 << LEVELS;
	for (uint32_t i = 1; i <= 5; i++) {
		history_mark(&set, 3);
		assert_int_equal(history[3], (2 << LEVELS) + (i < 3 ? 3 * i : 9));
		assert_int_equal(set.planes[1].rows, 1);
		assert_int_equal(set.planes[1].marked, i);
	}
	history_mark(&set, 5);
	assert_int_equal(set.planes[1].rows, 2);
	for (uint32_t i = 1; i <= 12; i++) {
		history_use(&set, 3);
		assert_int_equal(history[3], (2 << LEVELS) + (i < 9 ? 9 - i : 0));
		assert_int_equal(set.planes[1].rows, i < 9 ? 2 : 1);
	}
	history_excuse(&set, 3);
	assert_int_equal(history[3], 0);
	history_excuse(&set, 5);
	assert_int_equal(history[5], 3);
}

// Of few EVs one that is marked again soon rests, for the longer the fewer there are.
static void one_of_few_rests_at_its_second_mark(void **)
{
	static const struct {
		uint32_t evs;
		uint8_t row;
	} cases[] = {{1, 13}, {2, 13}, {3, 12}, {4, 12}};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		set_up(NULL);
		shape.per_plane = cases[i].evs;
		set.planes[1].marked_mean = (uint16_t)(cases[i].evs * ROUNDS_MEAN / 2);
		history_mark(&set, 3);
		assert_int_equal(history[3], 2);
		history_use(&set, 3);
		history_use(&set, 3);
		history_mark(&set, 3); // too late to be again
		assert_int_equal(history[3], 2);
		history_mark(&set, 3);
		assert_int_equal(history[3], cases[i].row);
		assert_int_equal(set.planes[1].rows, 1);
	}
}

// Where all of few are marked there is nothing to turn to.
static void few_rest_while_another_is_without_marks(void **)
{
	shape.per_plane = 2;
	set.planes[1].round = 1;
	history_mark(&set, 3);
	history_mark(&set, 3);
	assert_true(history_skips_on(&set, 3));
	history_mark(&set, 5);
	assert_false(history_skips_on(&set, 3));
	history_use(&set, 5);
	history_use(&set, 5);
	assert_true(history_skips_on(&set, 3));
}

static void marks_of_rounds_are_averaged(void **)
{
	struct path_plane *plane = &set.planes[0];
	static const uint16_t marks[] = {16, 0, 0, 8}, means[] = {16, 14, 13, 20};
	for (uint32_t i = 0; i < 4; i++) {
		plane->marked = marks[i];
		history_round(plane);
		assert_int_equal(plane->round, i + 1);
		assert_int_equal(plane->marked, 0);
		assert_int_equal(plane->marked_mean, means[i]);
	}
}

// From a row of four on, of 2, 4, ... 64 rounds all but one are lost, another one for each EV.
static void a_row_rests_for_rounds(void **)
{
	for (uint32_t index = 1; index < 10; index += 2)
		for (uint32_t row = 0; row <= 9; row++) {
			uint32_t turns = row > 3 ? 1u << (row - 3) : 1, used = 0;
			history[index] = (uint8_t)(1 << LEVELS | row);
			for (uint32_t round = 0; round < 64; round++) {
				set.planes[1].round = (uint16_t)round;
				bool rests = history_skips_on(&set, index);
				assert_int_equal(rests, (round + index / PLANES) % turns != 0);
				used += !rests;
			}
			assert_int_equal(used, 64 / turns);
		}
}

static void a_quarter_of_a_plane_does_not_rest(void **)
{
	shape.per_plane = 8;
	history[3] = 9;
	set.planes[1].unusable = 6;
	assert_true(history_skips_on(&set, 3));
	set.planes[1].unusable = 7;
	assert_false(history_skips_on(&set, 3));
	set.planes[1].unusable = 0;
	history[3] = 3; // a row that is a turn
	assert_false(history_skips_on(&set, 3));
}

// How long after its probe came back it is "soon": 16 waits, whatever the last one was.
static uint32_t soon_units(uint32_t level)
{
	return (uint32_t)(16 * (RETRY_PS << (level - 1)) >> PATH_UNIT_SHIFT);
}

static void a_wait_doubles_when_it_was_short_of_it(void **)
{
	const uint32_t back = 0xffffff00u; // units come round on the way
	history[3] = 5;
	for (uint32_t level = 1; level <= 7; level++) {
		retry_at[3] = back;
		uint32_t now = back + (level > 1 ? soon_units(level - 1) - 1 : 0);
		assert_int_equal(history_lose(&set, 3, now), (RETRY_PS << (level - 1)) - RETRY_PS);
		assert_int_equal(history[3], level << LEVELS | 5);
	}
	assert_int_equal(history_lose(&set, 3, back), 63 * RETRY_PS); // no longer than that
	assert_int_equal(history_lose(&set, 3, back + soon_units(7)), 0);
	assert_int_equal(history[3], 1 << LEVELS | 5);
	assert_int_equal(history_lose(&set, 3, back + soon_units(1)), 0);
	assert_int_equal(history_lose(&set, 3, back + soon_units(1) - 1), RETRY_PS);
}

// Units come round: no wait grows beyond 100 s.
static void a_wait_that_is_long_grows_no_more(void **)
{
	shape.retry_ps = 50 * PS_PER_S;
	for (uint32_t i = 0; i < 8; i++) {
		ps_t more = history_lose(&set, 3, retry_at[3] + 1000 * (i > 1));
		assert_int_equal(more / PS_PER_S, i == 0 ? 0 : 50);
	}
	assert_int_equal(history_lose(&set, 3, retry_at[3] + (1600 * PS_PER_S >> PATH_UNIT_SHIFT)),
			 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(a_mark_counts_by_how_common_marks_are, set_up),
		cmocka_unit_test_setup(a_row_grows_to_nine_and_uses_lower_it, set_up),
		cmocka_unit_test_setup(marks_of_rounds_are_averaged, set_up),
		cmocka_unit_test_setup(one_of_few_rests_at_its_second_mark, set_up),
		cmocka_unit_test_setup(few_rest_while_another_is_without_marks, set_up),
		cmocka_unit_test_setup(a_row_rests_for_rounds, set_up),
		cmocka_unit_test_setup(a_quarter_of_a_plane_does_not_rest, set_up),
		cmocka_unit_test_setup(a_wait_doubles_when_it_was_short_of_it, set_up),
		cmocka_unit_test_setup(a_wait_that_is_long_grows_no_more, set_up),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
