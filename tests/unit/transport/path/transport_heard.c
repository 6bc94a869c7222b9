// SPDX-License-Identifier: Apache-2.0
// Where EVs of a plane are lost: what must come through takes the one that was heard of last, and
// those that are kept whatever they lose rest the longer the more they lost.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "../../../../lib/transport/path/control_path.h"
#include "../../../../lib/transport/path/ev_slot.h"

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

static void nothing_was_heard_of_at_first(void **state)
{
	(void)state;
	open_set(1);
	path_lose(&set, 3, 0);
	uint32_t seen = 0;
	for (uint32_t i = 0; i < EVS; i++)
		seen |= 1u << path_pick_heard(&set, 0, PATH_NO_EV).index;
	assert_int_equal(seen, ((1u << EVS) - 1) & ~(1u << 3));
}

// Of 64 picks, how many are the EV heard of last; `ret_seen`: a bit of each that comes.
static uint32_t picks_heard(uint32_t *ret_seen)
{
	uint32_t ret = 0;
	*ret_seen = 0;
	for (uint32_t i = 0; i < 64; i++) {
		uint32_t index = path_pick_heard(&set, 0, PATH_NO_EV).index;
		*ret_seen |= 1u << index;
		ret += index == EVS - 1;
	}
	return ret;
}

static void of_the_only_plane_it_takes_every_other_one_when_an_answer_was_lost(void **state)
{
	(void)state;
	uint32_t seen;
	open_set(1);
	lose_all_but(4);
	assert_int_equal(picks_heard(&seen), 64);
	path_lose(&set, EVS - 1, 0);
	assert_in_range(picks_heard(&seen), 24, 56);
	for (uint32_t i = 0; i < 4 * PATH_PLANE_LOSSES;
	     i++) // of the others nothing is known either
		path_lose(&set, EVS - 1 - i % 4, 0);
	assert_int_equal(set.closed, 1);
	assert_in_range(picks_heard(&seen), 24, 48);
	assert_int_equal(seen, (1u << EVS) - 1); // nothing else is known good
	path_deny(&set, EVS - 1);
	assert_int_equal(picks_heard(&seen), 0);
}

static void of_the_only_plane_every_ev_is_probed_when_it_is_closed(void **state)
{
	(void)state;
	for (uint32_t planes = 1; planes <= 2; planes++) {
		uint32_t from = 0, due = 0, seen = 0, index;
		open_set(planes);
		for (uint32_t i = 0; i < EVS; i += planes)
			path_lose(&set, i, 0);
		assert_int_equal(set.closed, 1);
		assert_true(set.held < EVS / planes); // the others are kept
		ps_t now = 10 * RETRY_PS;
		for (; (index = path_due(&set, &from, now)) != PATH_NO_EV; due++)
			seen |= 1u << index;
		if (planes == 1)
			assert_int_equal(seen, (1u << EVS) - 1);
		else
			assert_int_equal(due, 1);
	}
}

static void control_packets_take_any_ev_of_the_only_plane_when_it_is_closed(void **state)
{
	(void)state;
	open_set(1);
	for (uint32_t index = 0; index < EVS; index++)
		path_lose(&set, index, 0);
	assert_int_equal(set.closed, 1);
	uint32_t blocked = 0, seen = 0;
	for (uint32_t i = 0; i < 512; i++) {
		uint32_t index = path_control(&set, 0);
		seen |= 1u << index;
		blocked += ev_slot_is_blocked(&set, index);
	}
	assert_int_equal(seen, (1u << EVS) - 1);
	assert_in_range(blocked, 512 * 2 / 3, 512 * 5 / 6); // 12 of 16 are
}

static void where_an_only_plane_is_in_doubt_one_of_four_control_packets_takes_any(void **state)
{
	(void)state;
	uint32_t blocked = 0;
	open_set(1);
	lose_all_but(4);
	assert_int_equal(set.closed, 0);
	for (uint32_t i = 0; i < 512; i++)
		blocked += ev_slot_is_blocked(&set, path_control(&set, 0));
	assert_in_range(blocked, 512 / 8, 512 / 4);
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

static void of_the_only_plane_a_slow_ev_is_not_the_one_heard_of_last(void **state)
{
	(void)state;
	for (uint32_t planes = 1; planes <= 2; planes++) {
		uint32_t slow = EVS - planes, sound = EVS - 2 * planes;
		open_set(planes);
		shape.has_rows = true;
		lose_all_but(EVS / planes / 2 + 1);
		set.history[slow] = HISTORY_ROW;
		path_heard(&set, sound);
		path_heard(&set, slow);
		assert_int_equal(path_last_heard(&set, 0), planes == 1 ? sound : slow);
		path_forget(&set, planes == 1 ? slow : sound); // not the one
		assert_int_equal(path_last_heard(&set, 0), planes == 1 ? sound : slow);
		path_forget(&set, planes == 1 ? sound : slow);
		assert_int_equal(path_last_heard(&set, 0), planes == 1 ? PATH_NO_EV : slow);
		path_heard(&set, sound);
		lose_all_but(EVS / planes / 2); // and slow ones are better than none
		path_heard(&set, slow);
		path_forget(&set, slow);
		assert_int_equal(path_last_heard(&set, 0), slow);
	}
}
