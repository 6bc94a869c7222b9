// SPDX-License-Identifier: Apache-2.0
// How long an EV rests: skips that take a time (transport.skip_time), or more turns for each mark
// in a row; longer waits for one that is lost again; planes left to what waits for long.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "path/doubt.h"

#define UNIT_PS (INT64_C(1) << PATH_UNIT_SHIFT)

struct rig {
	struct path_shape shape;
	struct path_set set;
	uint32_t memory[1024];
};

// One plane, whose skips take ten units of time: 10.5 us.
static struct rig *open_rig(uint32_t evs)
{
	struct transport_config config = {.planes = 1,
					  .ev_count = evs,
					  .path_policy = PATH_MRC,
					  .skip_ps = 10 * UNIT_PS,
					  .path_retry_ps = 100 * PS_PER_US};
	struct rig *rig = calloc(1, sizeof(*rig));
	assert_non_null(rig);
	rig->shape = path_shape_of(&config);
	assert_true(path_bytes(&rig->shape) <= sizeof(rig->memory));
	path_init(&rig->set, &rig->shape, rig->memory, rng_of(9, RNG_QP, 1));
	return rig;
}

// Counts picks per EV number; returns how many different ones came.
static uint32_t round_of(struct rig *rig, uint32_t picks, uint32_t seen[256])
{
	uint32_t different = 0;
	memset(seen, 0, 256 * sizeof(seen[0]));
	for (uint32_t i = 0; i < picks; i++)
		different += seen[path_pick(&rig->set, 0, PATH_NO_EV).index]++ == 0;
	return different;
}

static void a_timed_skip_loses_every_turn_until_it_ends(void **state)
{
	(void)state;
	// the second begins before units come round, after 2^32 of them, and ends behind that
	const ps_t starts[] = {5 * UNIT_PS, (INT64_C(1) << 32) * UNIT_PS - 3 * UNIT_PS};
	uint32_t seen[256];
	for (size_t i = 0; i < 2; i++) {
		struct rig *rig = open_rig(16);
		path_at(&rig->set, starts[i]);
		assert_true(path_skip(&rig->set, 7));
		path_at(&rig->set, starts[i] + 10 * UNIT_PS);
		assert_int_equal(round_of(rig, 64, seen), 15);
		assert_int_equal(seen[7], 0);
		assert_false(path_skip(&rig->set, 7)); // the time begins anew
		path_at(&rig->set, starts[i] + 20 * UNIT_PS);
		assert_int_equal(round_of(rig, 64, seen), 15);
		path_at(&rig->set, starts[i] + 21 * UNIT_PS);
		assert_int_equal(round_of(rig, 64, seen), 16);
		assert_int_equal(path_state(&rig->set, 7), PATH_GOOD);
		free(rig);
	}
}

// Units come round after 75 minutes: a set that was quiet for so long must not skip on.
// Marks the EV at each use where `is_marked`. Uses of EV `index` in `rounds` rounds of picks.
static uint32_t uses_of(struct rig *rig, uint32_t index, uint32_t rounds, bool is_marked)
{
	uint32_t uses = 0;
	for (uint32_t i = 0; i < rounds * rig->shape.per_plane; i++) {
		if (path_pick(&rig->set, 0, PATH_NO_EV).index != index)
			continue;
		uses++;
		if (is_marked)
			path_skip(&rig->set, index);
	}
	return uses;
}

static struct rig *open_rig_by_marks(uint32_t evs)
{
	struct rig *rig = open_rig(evs);
	rig->shape.skip_ps = 0;
	rig->shape.has_rows = true;
	return rig;
}

// With one lost turn it would be half of the rounds.
static void an_ev_marked_again_and_again_rests_for_longer(void **state)
{
	(void)state;
	struct rig *rig = open_rig_by_marks(16);
	assert_in_range(uses_of(rig, 7, 640, true), 5, 40);
	(void)uses_of(rig, 7, 100, false);
	path_skip(&rig->set, 7); // unmarked uses let it forget: a mark is a turn again
	assert_in_range(uses_of(rig, 7, 100, false), 97, 101);
	free(rig);
}

// Where every use of every EV is marked there is nothing to turn to.
static void where_all_are_marked_alike_none_rests_for_long(void **state)
{
	(void)state;
	struct rig *rig = open_rig_by_marks(16);
	uint32_t uses[16] = {0};
	for (uint32_t i = 0; i < 16 * 640; i++) {
		uint32_t index = path_pick(&rig->set, 0, PATH_NO_EV).index;
		uses[index]++;
		path_skip(&rig->set, index);
	}
	for (uint32_t i = 0; i < 16; i++)
		assert_in_range(uses[i], 560, 720);
	free(rig);
}

// Loses EV 5 at `now` and has a probe bring it back. When that left.
static ps_t lose_and_mend(struct rig *rig, ps_t now)
{
	uint32_t from = 0;
	path_retire(&rig->set, 5, now);
	ps_t at = path_due_at(&rig->set, now);
	assert_int_equal(path_due(&rig->set, &from, at), 5);
	path_probed(&rig->set, 5, false, 1);
	return at;
}

static void an_ev_lost_again_soon_waits_twice_as_long(void **state)
{
	(void)state;
	struct rig *rig = open_rig(16);
	const ps_t retry = 100 * PS_PER_US;
	ps_t now = 50 * PS_PER_US, waits[9];
	for (uint32_t i = 0; i < 9; i++) {
		ps_t at = lose_and_mend(rig, now);
		waits[i] = at - now;
		now = at + retry;
	}
	for (uint32_t i = 0; i < 9; i++)
		assert_in_range(waits[i], retry << (i < 6 ? i : 6),
				(retry << (i < 6 ? i : 6)) + 3 * UNIT_PS);
	now += 2000 * retry; // it was well for long
	assert_in_range(lose_and_mend(rig, now) - now, retry, retry + 3 * UNIT_PS);
	free(rig);
}

static void half_a_plane_bad_leaves_it_to_what_waits_for_long(void **state)
{
	(void)state;
	struct rig *rig = open_rig(16);
	rig->shape.planes = 2;
	rig->shape.per_plane = 8;
	path_init(&rig->set, &rig->shape, rig->memory, rng_of(9, RNG_QP, 1));
	for (uint32_t i = 0; i < 8; i++) {
		path_arrived(&rig->set, 1); // the plane is alive
		assert_int_equal(path_is_doubtful(&rig->set, 1), i >= 4);
		path_lose(&rig->set, 2 * i + 1, 0);
	}
	assert_int_equal(rig->set.planes[1].bad, 6); // a quarter of a plane stays in use
	assert_true(path_is_left(&rig->set, 1, 1000, 1000));
	assert_false(path_is_left(&rig->set, 1, 1001, 1000));
	for (uint32_t i = 0; i < 4; i++) // and where no plane is sound none is left
		path_retire(&rig->set, 2 * i, 0);
	assert_false(path_is_left(&rig->set, 1, 0, 1000));
	free(rig);
}

static void a_timed_skip_of_long_ago_is_over(void **state)
{
	(void)state;
	uint32_t seen[256];
	struct rig *rig = open_rig(16);
	path_skip(&rig->set, 7);
	path_at(&rig->set, (INT64_C(1) << 31) * UNIT_PS + 30 * UNIT_PS);
	assert_int_equal(round_of(rig, 16, seen), 16);
	free(rig);
}

static void where_all_are_in_timed_skips_one_is_used_all_the_same(void **state)
{
	(void)state;
	struct rig *rig = open_rig(8);
	for (uint32_t i = 0; i < 8; i++)
		path_skip(&rig->set, i);
	path_retire(&rig->set, 3, 0);
	for (uint32_t i = 0; i < 100; i++) {
		struct path_choice choice = path_pick(&rig->set, 0, i % 8);
		assert_false(choice.is_trial);
		assert_true(choice.index < 8 && choice.index != i % 8 && choice.index != 3);
	}
	for (uint32_t i = 0; i < 8; i++)
		assert_int_equal(path_state(&rig->set, i), i == 3 ? PATH_ASSUMED_BAD : PATH_SKIP);
	free(rig);
}

static void a_probe_that_was_marked_begins_a_timed_skip(void **state)
{
	(void)state;
	uint32_t seen[256];
	struct rig *rig = open_rig(16);
	path_retire(&rig->set, 5, 0);
	path_at(&rig->set, 100 * UNIT_PS);
	assert_int_equal(path_probed(&rig->set, 5, true, 1), PATH_CHANGED);
	path_at(&rig->set, 110 * UNIT_PS);
	assert_int_equal(round_of(rig, 32, seen), 15);
	path_at(&rig->set, 111 * UNIT_PS);
	assert_int_equal(round_of(rig, 16, seen), 16);
	free(rig);
}

// Only the paths of MRC have states.
static void other_policies_keep_no_time(void **state)
{
	(void)state;
	struct transport_config config = {
		.planes = 1, .ev_count = 8, .path_policy = PATH_ROTATE, .skip_ps = 10 * UNIT_PS};
	assert_int_equal(path_shape_of(&config).skip_ps, 0);
	config.path_policy = PATH_MRC;
	assert_int_equal(path_shape_of(&config).skip_ps, 10 * UNIT_PS);
	config.kind = TRANSPORT_RC; // whose one path stands where the time would
	assert_int_equal(path_shape_of(&config).skip_ps, 0);
}
