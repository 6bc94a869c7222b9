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
	enum drop_reason fate = cable_fate(&cable, &flap, &rng, start, at).drop;
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

// The failure that takes a packet is the first one that it meets.
static void a_loss_belongs_to_the_failure_that_caused_it(void **)
{
	struct cable cable = {.fault_count = 1};
	const struct cable_fault down = {.kind = FAULT_LINK_DOWN, .from_ps = 100, .until_ps = 200};
	for (ps_t start = 0; start < 230; start++) {
		if (!is_taken(start, start + 20))
			continue;
		ps_t since = start < 130 ? 100 : start < 180 ? 150 : 200;
		assert_int_equal(cable_down_since(&cable, &flap, start, start + 20), since);
	}
	assert_int_equal(cable_down_since(&cable, &down, 90, 110), 100);
	assert_int_equal(cable_down_since(&cable, &down, 199, 219), 100);
}

static void a_flap_ends_when_it_says(void **)
{
	assert_true(is_taken(219, 400));
	assert_false(is_taken(220, 400));
	assert_false(is_taken(90, 99));
	assert_true(is_taken(90, 100));
}

static struct cable_fate fate_of(const struct cable_fault *fault, struct rng *rng, ps_t start)
{
	const struct cable cable = {.fault_count = 1};
	return cable_fate(&cable, fault, rng, start, start + 10);
}

static void dice_are_thrown_only_while_a_fault_is_active(void **)
{
	for (enum fault_kind kind = 0; kind < FAULT_KIND_COUNT; kind++) {
		struct cable_fault fault = flap;
		fault.kind = kind;
		fault.threshold = UINT32_MAX;
		fault.delay_ps = 50;
		struct rng rng = rng_of(1, RNG_CABLE, 0), untouched = rng;
		fate_of(&fault, &rng, 80);
		fate_of(&fault, &rng, 220);
		assert_int_equal(rng.state, untouched.state);
		fate_of(&fault, &rng, 100);
		bool has_share = kind != FAULT_LINK_DOWN && kind != FAULT_FLAP &&
			kind != FAULT_SLOW;
		assert_int_equal(rng.state != untouched.state, has_share);
		assert_int_equal(fault_has_share(kind), has_share);
	}
}

static void a_packet_is_held_back_for_at_most_the_delay(void **)
{
	struct cable_fault fault = {.kind = FAULT_REORDER,
				    .until_ps = PS_NEVER,
				    .threshold = UINT32_MAX / 2,
				    .delay_ps = 1000};
	struct rng rng = rng_of(1, RNG_CABLE, 0);
	ps_t longest = 0, sum = 0;
	uint32_t hits = 0;
	for (int i = 0; i < 10000; i++) {
		struct cable_fate fate = fate_of(&fault, &rng, i);
		assert_int_equal(fate.drop, DROP_REASON_COUNT);
		assert_in_range(fate.held_ps, 0, 1000);
		hits += fate.held_ps > 0;
		sum += fate.held_ps;
		longest = ps_max(longest, fate.held_ps);
	}
	assert_in_range(hits, 4800, 5200);
	assert_in_range(sum / hits, 480, 520);
	assert_true(longest > 990);
	fault.delay_ps = 1; // the shortest: what leaves in the same moment overtakes it, no more
	fault.threshold = UINT32_MAX;
	assert_int_equal(fate_of(&fault, &rng, 0).held_ps, 1);
}

// ---------------------------------------------------------------- beside the list

static struct late late;

static void what_is_late_comes_in_order_of_arrival(void **)
{
	late = (struct late){0};
	assert_int_equal(late_first_at(&late), PS_NEVER);
	const ps_t at[] = {50, 30, 50, 10, 30, 90};
	for (uint64_t i = 0; i < 6; i++)
		late_push(&late, at[i], i);
	const uint64_t order[] = {3, 1, 4, 0, 2, 5};
	for (int i = 0; i < 6; i++) {
		assert_int_equal(late_first_at(&late), at[order[i]]);
		assert_int_equal(late_pop(&late), order[i]);
	}
	assert_int_equal(late.count, 0);
}

static void a_cable_has_room_again_when_late_ones_have_arrived(void **)
{
	late = (struct late){0};
	for (int i = 0; i < LATE_MAX; i++)
		assert_true(late_send(&late, i, 1000 + i));
	assert_false(late_send(&late, 999, 5000));
	assert_true(late_send(&late, 1000, 5000)); // the first one is there
	assert_false(late_send(&late, 1000, 5000));
	assert_true(late_send(&late, 4999, 6000));
	for (int i = 0; i < LATE_MAX - 2; i++)
		assert_true(late_send(&late, 4999, 6000));
	assert_false(late_send(&late, 4999, 6000));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_flap_takes_what_is_on_the_cable_while_it_is_down),
		cmocka_unit_test(a_flap_ends_when_it_says),
		cmocka_unit_test(a_loss_belongs_to_the_failure_that_caused_it),
		cmocka_unit_test(dice_are_thrown_only_while_a_fault_is_active),
		cmocka_unit_test(a_packet_is_held_back_for_at_most_the_delay),
		cmocka_unit_test(what_is_late_comes_in_order_of_arrival),
		cmocka_unit_test(a_cable_has_room_again_when_late_ones_have_arrived),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
