// SPDX-License-Identifier: Apache-2.0
// Ways to choose EVs other than MRC's: recycled ones, punished ones, random ones. Each rule is
// played by hand here.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../../../../lib/transport/path/balance.h"

struct rig {
	struct path_shape shape;
	struct path_set set;
	uint8_t *memory;
};

static void open_rig(struct rig *rig, enum path_policy policy, uint32_t planes, uint32_t per_plane)
{
	memset(rig, 0, sizeof(*rig));
	rig->shape = (struct path_shape){.planes = planes,
					 .per_plane = per_plane,
					 .universe = planes * per_plane,
					 .index_mask = 255,
					 .drawn_mask = ~UINT32_C(255),
					 .policy = policy};
	rig->memory = calloc(1, path_bytes(&rig->shape)); // not a byte more
	assert_non_null(rig->memory);
	path_init(&rig->set, &rig->shape, rig->memory, rng_of(5, RNG_QP, 1));
}

static uint32_t next(struct rig *rig, uint32_t plane)
{
	struct path_choice choice = path_pick(&rig->set, plane, PATH_NO_EV);
	assert_false(choice.is_trial);
	assert_true(choice.index < rig->shape.universe);
	assert_int_equal(choice.index % rig->shape.planes, plane);
	return choice.index;
}

static void feed(struct rig *rig, uint32_t index, enum balance_feedback feedback, ps_t now)
{
	balance_feed(&rig->set, index, feedback, now);
}

static void random_takes_every_ev_about_as_often(void **)
{
	struct rig rig;
	uint32_t seen[64] = {0};
	open_rig(&rig, PATH_RANDOM, 2, 32);
	for (int i = 0; i < 32000; i++)
		seen[next(&rig, 1)]++;
	for (uint32_t i = 1; i < 64; i += 2) // 1000 each; sd 31
		assert_in_range(seen[i], 850, 1150);
	free(rig.memory);
}

static void a_bitmap_rotates_and_passes_over_what_pays(void **)
{
	struct rig rig;
	uint32_t seen[16];
	open_rig(&rig, PATH_BITMAP, 1, 16);
	feed(&rig, 3, BALANCE_MARKED, 0);  // 1 turn
	feed(&rig, 7, BALANCE_TRIMMED, 0); // 4 turns
	feed(&rig, 9, BALANCE_LOST, 0);	   // 15 turns
	feed(&rig, 9, BALANCE_LOST, 0);	   // no more than 15
	for (uint32_t round = 0; round < 18; round++) {
		bool is_out[16] = {[3] = round < 1, [7] = round < 4, [9] = round < 15};
		uint32_t left = 16 - is_out[3] - is_out[7] - is_out[9];
		memset(seen, 0, sizeof(seen));
		for (uint32_t i = 0; i < left; i++)
			seen[next(&rig, 0)]++;
		for (uint32_t i = 0; i < 16; i++)
			if (is_out[i] && round != 0 && round != 3 && round != 14)
				assert_int_equal(seen[i], 0);
	}
	memset(seen, 0, sizeof(seen));
	for (uint32_t i = 0; i < 160; i++)
		seen[next(&rig, 0)]++;
	for (uint32_t i = 0; i < 16; i++) // all debts are paid
		assert_in_range(seen[i], 9, 11);
	free(rig.memory);
}

static void a_bitmap_with_every_ev_punished_still_gives_one(void **)
{
	struct rig rig;
	uint32_t paid = 0;
	open_rig(&rig, PATH_BITMAP, 1, 8);
	for (uint32_t i = 0; i < 8; i++)
		feed(&rig, i, BALANCE_LOST, 0);
	next(&rig, 0);
	for (uint32_t i = 0; i < 8; i++) // a round was passed over for it, and one EV paid
		paid += 15u - rig.set.balance->penalties[i];
	assert_int_equal(paid, 1);
	free(rig.memory);
}

// Of EVs that are punished side by side only the first pays for the packet that passes over them.
static void of_evs_passed_over_together_the_first_pays(void **)
{
	struct rig rig;
	uint32_t order[16], debts = 0;
	open_rig(&rig, PATH_BITMAP, 1, 16);
	for (uint32_t i = 0; i < 16; i++) // without a penalty: the order of the first round
		order[i] = next(&rig, 0);
	free(rig.memory);
	open_rig(&rig, PATH_BITMAP, 1, 16);
	for (uint32_t i = 4; i < 8; i++)
		feed(&rig, order[i], BALANCE_TRIMMED, 0);
	for (uint32_t i = 0; i < 4; i++)
		assert_int_equal(next(&rig, 0), order[i]);
	assert_int_equal(next(&rig, 0), order[8]); // four were passed over
	assert_int_equal(rig.set.balance->penalties[order[4]], 3);
	for (uint32_t i = 5; i < 8; i++)
		debts += rig.set.balance->penalties[order[i]];
	assert_int_equal(debts, 12);
	free(rig.memory);
}

static void reps_uses_clean_evs_once_each_oldest_first(void **)
{
	struct rig rig;
	open_rig(&rig, PATH_REPS, 1, 64);
	for (uint32_t i = 10; i < 14; i++)
		feed(&rig, i, BALANCE_CLEAN, 0);
	feed(&rig, 20, BALANCE_MARKED, 0); // is forgotten
	for (uint32_t i = 10; i < 14; i++)
		assert_int_equal(next(&rig, 0), i);
	uint32_t again = 0;
	for (int i = 0; i < 640; i++) { // then random ones: each in 64
		uint32_t index = next(&rig, 0);
		again += index >= 10 && index < 14;
	}
	assert_in_range(again, 15, 70);
	free(rig.memory);
}

static void reps_remembers_eight(void **)
{
	struct rig rig;
	open_rig(&rig, PATH_REPS, 1, 64);
	for (uint32_t i = 0; i < 20; i++)
		feed(&rig, i, BALANCE_CLEAN, 0);
	for (uint32_t i = 12; i < 20; i++)
		assert_int_equal(next(&rig, 0), i);
	free(rig.memory);
}

static void after_a_loss_reps_explores_nothing_for_10_ms(void **)
{
	struct rig rig;
	open_rig(&rig, PATH_REPS, 1, 64);
	for (uint32_t i = 1; i <= 3; i++)
		feed(&rig, i, BALANCE_CLEAN, 0);
	feed(&rig, 50, BALANCE_LOST, PS_PER_MS);
	for (uint32_t round = 0; round < 40; round++) // used ones again and again
		assert_in_range(next(&rig, 0), 1, 3);
	feed(&rig, 9, BALANCE_CLEAN, 10 * PS_PER_MS);
	assert_int_equal(next(&rig, 0), 9); // new ones first
	for (uint32_t round = 0; round < 40; round++)
		assert_true(next(&rig, 0) <= 9);
	feed(&rig, 9, BALANCE_CLEAN, 11 * PS_PER_MS); // the time is over
	uint32_t others = 0;
	for (uint32_t i = 0; i < 16; i++) // 16 random ones first
		others += next(&rig, 0) != 9;
	assert_true(others >= 12);
	assert_int_equal(next(&rig, 0), 9);
	free(rig.memory);
}

static void the_legacy_list_walks_the_first_window_then_recycles_without_end(void **)
{
	struct rig rig;
	open_rig(&rig, PATH_REPS_LEGACY, 1, 64);
	rig.shape.first_window = 20;
	for (uint32_t i = 0; i < 20; i++)
		assert_int_equal(next(&rig, 0), i);
	for (uint32_t i = 0; i < 100; i++)
		feed(&rig, i % 50, BALANCE_CLEAN, 0);
	for (uint32_t i = 0; i < 100; i++)
		assert_int_equal(next(&rig, 0), i % 50);
	free(rig.memory);
}

static void mixed_recycles_first_and_rotates_when_it_has_nothing(void **)
{
	struct rig rig;
	uint32_t seen[16] = {0};
	open_rig(&rig, PATH_MIXED, 1, 16);
	for (uint32_t i = 0; i < 16; i++)
		seen[next(&rig, 0)]++;
	for (uint32_t i = 0; i < 16; i++)
		assert_int_equal(seen[i], 1);
	feed(&rig, 5, BALANCE_TRIMMED, 0);
	feed(&rig, 5, BALANCE_CLEAN, 0);
	feed(&rig, 6, BALANCE_CLEAN, 0);
	assert_int_equal(next(&rig, 0), 5); // what came back clean is good, whatever it owes
	assert_int_equal(next(&rig, 0), 6);
	for (uint32_t i = 0; i < 15; i++)
		assert_int_not_equal(next(&rig, 0), 5);
	free(rig.memory);
}

// A QP that pauses for longer than the gap may take another EV; till then it keeps its own, on each
// plane by itself.
static void a_flowlet_ends_with_a_pause_of_its_plane(void **)
{
	struct rig rig;
	open_rig(&rig, PATH_FLOWLET, 2, 64);
	rig.shape.flowlet_gap_ps = 5 * PS_PER_US;
	uint32_t changes = 0, last = UINT32_MAX, other = 0;
	for (ps_t round = 0; round < 500; round++) {
		ps_t start = round * 100 * PS_PER_US;
		balance_at(&rig.set, start);
		uint32_t index = next(&rig, 0);
		for (ps_t at = 1; at <= 10; at++) { // pauses of exactly the gap do not end it
			balance_at(&rig.set, start + at * 5 * PS_PER_US);
			assert_int_equal(next(&rig, 0), index);
			if (round % 2 == 0 && at == 5)
				other = next(&rig, 1);
			feed(&rig, index, BALANCE_LOST, 0); // moves nothing
		}
		changes += index != last;
		last = index;
	}
	assert_true(other % 2 == 1);
	assert_in_range(changes, 480, 500); // one in 64 draws is the same again
	free(rig.memory);
}

static void planes_keep_their_evs_apart(void **)
{
	struct rig rig;
	open_rig(&rig, PATH_MIXED, 4, 8);
	for (uint32_t i = 0; i < 32; i++)
		feed(&rig, i, BALANCE_CLEAN, 0);
	for (uint32_t i = 0; i < 32; i++)
		assert_int_equal(next(&rig, i % 4), i);
	free(rig.memory);
}
