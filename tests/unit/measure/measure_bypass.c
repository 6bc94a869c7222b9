// SPDX-License-Identifier: Apache-2.0
// Tests of the log of paths over dead cables: what is one event, when a path was left, what is a
// try, and what happens when there are too many.

#include "measure_rig.h"

#define SILENCE (500 * PS_PER_US)

static struct bypass fresh(uint32_t max)
{
	struct bypass bypass;
	assert_int_equal(bypass_init(&bypass, &arena, max, SILENCE), 0);
	return bypass;
}

static const struct bypass_event some = {
	.nic = 3, .qpn = 1, .ev = 77, .cable = 12, .down_ps = PS_PER_MS};

static void a_path_is_used_from_its_first_loss_to_its_last_one(void **)
{
	struct bypass bypass = fresh(8);
	for (int i = 0; i < 4; i++)
		bypass_lose(&bypass, &some, PS_PER_MS + i * 10 * PS_PER_US);
	assert_int_equal(bypass.count, 1);
	assert_int_equal(bypass.events[0].lost, 4);
	assert_int_equal(bypass.events[0].tries, 0);
	assert_true(bypass.events[0].first_ps == PS_PER_MS);
	assert_true(bypass.events[0].last_ps == PS_PER_MS + 30 * PS_PER_US);
}

static void what_comes_after_a_silence_is_a_try(void **)
{
	struct bypass bypass = fresh(8);
	bypass_lose(&bypass, &some, PS_PER_MS);
	bypass_lose(&bypass, &some, PS_PER_MS + SILENCE - 1);
	bypass_lose(&bypass, &some, PS_PER_MS + 2 * SILENCE - 1); // as long as a silence
	bypass_lose(&bypass, &some, PS_PER_MS + 2 * SILENCE);	  // and at once again
	assert_int_equal(bypass.events[0].lost, 2);
	assert_int_equal(bypass.events[0].tries, 2);
	assert_true(bypass.events[0].last_ps == PS_PER_MS + SILENCE - 1);
}

static void another_path_qp_cable_or_failure_is_another_event(void **)
{
	struct bypass bypass = fresh(8);
	struct bypass_event others[] = {some, some, some, some, some, some};
	others[1].nic++;
	others[2].qpn++;
	others[3].ev++;
	others[4].cable++;
	others[5].down_ps++;
	for (int round = 0; round < 3; round++)
		for (uint32_t i = 0; i < 6; i++)
			bypass_lose(&bypass, &others[i], 2 * PS_PER_MS + round);
	assert_int_equal(bypass.count, 6);
	for (uint32_t i = 0; i < 6; i++)
		assert_int_equal(bypass.events[i].lost, 3);
}

static void an_event_without_room_is_missed_and_those_that_are_kept_go_on(void **)
{
	struct bypass bypass = fresh(3);
	struct bypass_event what = some;
	for (int round = 0; round < 2; round++) {
		for (what.ev = 0; what.ev < 10; what.ev++)
			bypass_lose(&bypass, &what, PS_PER_MS + round);
	}
	assert_int_equal(bypass.count, 3);
	assert_int_equal(bypass.missed, 14);
	assert_int_equal(bypass.events[2].lost, 2);
}

static void many_events_are_told_apart(void **)
{
	struct bypass bypass = fresh(1000);
	struct bypass_event what = some;
	for (int round = 1; round <= 2; round++) {
		for (uint32_t i = 0; i < 1000; i++) {
			what.ev = i % 10;
			what.cable = i / 10 % 10;
			what.qpn = i / 100;
			bypass_lose(&bypass, &what, round * PS_PER_MS + i);
		}
	}
	assert_int_equal(bypass.count, 1000);
	for (uint32_t i = 0; i < 1000; i++)
		assert_true(bypass.events[i].first_ps == PS_PER_MS + i);
}

static void more_events_than_memory_are_refused(void **)
{
	struct bypass bypass;
	assert_int_equal(bypass_init(&bypass, &arena, 1u << 20, SILENCE), -ENOMEM);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_path_is_used_from_its_first_loss_to_its_last_one),
		cmocka_unit_test(what_comes_after_a_silence_is_a_try),
		cmocka_unit_test(another_path_qp_cable_or_failure_is_another_event),
		cmocka_unit_test(an_event_without_room_is_missed_and_those_that_are_kept_go_on),
		cmocka_unit_test(many_events_are_told_apart),
		cmocka_unit_test(more_events_than_memory_are_refused),
	};
	return cmocka_run_group_tests(tests, rig_open, rig_close);
}
