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
		ev_slot_begin_round(&set, plane);
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

// Answers of its plane that took 20 us each.
static void answer(uint32_t index, uint32_t count)
{
	shape.has_rows = true;
	for (uint32_t i = 0; i < count; i++)
		assert_int_equal(history_late(&set, index, 20 * PS_PER_US), 0);
}

static void an_answer_is_late_against_others_of_its_plane(void **)
{
	static const struct {
		ps_t rtt_ps;
		uint32_t step;
	} cases[] = {
		{29 * PS_PER_US, 0}, {31 * PS_PER_US, 3}, {39 * PS_PER_US, 3},	{41 * PS_PER_US, 6},
		{PS_PER_S, 6},	     {10 * PS_PER_US, 0}, {3600 * PS_PER_S, 6}, {-1, 0}};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		set_up(NULL);
		answer(1, 20);
		assert_int_equal(history_late_beside(&set, 3, cases[i].rtt_ps), cases[i].step);
		assert_int_equal(history_late_beside(&set, 3, cases[i].rtt_ps), cases[i].step);
		assert_int_equal(history_late(&set, 3, cases[i].rtt_ps), cases[i].step);
		assert_int_equal(history_late_beside(&set, 2, cases[i].rtt_ps), 0); // not known
		shape.has_rows = false;
		assert_int_equal(history_late(&set, 3, cases[i].rtt_ps), 0);
		assert_int_equal(history_late_beside(&set, 3, cases[i].rtt_ps), 0);
	}
}

// By what it would have taken at least, and on the only plane by what it took.
static void a_trim_is_late_as_an_answer_is(void **)
{
	static const struct {
		uint32_t planes, bad, base_us, rtt_us, step;
	} cases[] = {{2, 0, 10, 90, 0}, {2, 0, 13, 0, 3},  {2, 0, 17, 0, 6},
		     {2, 1, 9, 0, 3},	{2, 1, 11, 0, 6},  {1, 0, 10, 29, 0},
		     {1, 0, 10, 31, 3}, {1, 0, 10, 41, 6}, {1, 0, 17, 1, 6}};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		set_up(NULL);
		shape.planes = cases[i].planes;
		answer(1, 20);
		set.planes[1 % shape.planes].bad = (uint16_t)cases[i].bad;
		assert_int_equal(history_late_trim(&set, 3, cases[i].base_us * PS_PER_US,
						   cases[i].rtt_us * PS_PER_US),
				 cases[i].step);
	}
}

// Half of the EVs that take a hundred times as long do not hide each other.
static void half_of_a_plane_may_be_late(void **)
{
	answer(1, 1);
	uint32_t late = 0;
	for (uint32_t i = 0; i < 400; i++)
		late += history_late(&set, 1, (i % 2 == 0 ? 20 : 2000) * PS_PER_US) ==
			HISTORY_LATER;
	assert_in_range(late, 195, 200);
}

// What is late three times in a row is no matter of an EV: all answers take longer now.
static void a_whole_plane_is_never_late(void **)
{
	answer(1, 20);
	assert_int_equal(history_late(&set, 3, 400 * PS_PER_US), HISTORY_LATER);
	assert_int_equal(history_late(&set, 5, 400 * PS_PER_US), HISTORY_LATER);
	for (uint32_t i = 0; i < 30; i++)
		assert_int_equal(history_late(&set, 7, 400 * PS_PER_US), 0);
	answer(1, 8);
	assert_int_equal(history_late(&set, 3, 400 * PS_PER_US), HISTORY_LATER);
}

static void what_is_late_raises_a_row_at_once(void **)
{
	set.planes[1].marked_mean = MANY * ROUNDS_MEAN; // all are marked
	shape.has_rows = true;
	history_mark(&set, 3);
	history_raise(&set, 3, 0);
	assert_int_equal(history[3], 0);
	assert_int_equal(set.planes[1].rows, 0);
	history_raise(&set, 3, 3);
	assert_int_equal(history[3], 3);
	assert_false(history_stands_out(&set, 3));
	history_raise(&set, 3, 3);
	assert_int_equal(history[3], 6);
	assert_true(history_stands_out(&set, 3)); // though they are
	history_raise(&set, 3, 6);
	assert_int_equal(history[3], 9);
	assert_int_equal(set.planes[1].rows, 1);
	assert_int_equal(set.planes[1].marked, 1);
	shape.per_plane = 4; // of few another rule says how long one rests
	history_raise(&set, 5, 6);
	assert_int_equal(history[5], 0);
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
