// SPDX-License-Identifier: Apache-2.0
// Rotation and health of entropy values: equal shares, one lost turn, retirement and its limits.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../../../../lib/transport/path/control_path.h"
#include "../../../../lib/transport/path/ev_slot.h"

#define RETRY_PS (100 * PS_PER_US)

struct rig {
	struct path_shape shape;
	struct path_set set;
	uint8_t memory[6 * 16384 + 1024]; // what 16384 EVs take, and shares of planes
};

static struct rig *open_rig(enum path_policy policy, uint32_t planes, uint32_t per_plane,
			    uint64_t seed)
{
	struct rig *rig = calloc(1, sizeof(*rig));
	assert_non_null(rig);
	rig->shape = (struct path_shape){.planes = planes,
					 .per_plane = per_plane,
					 .universe = planes * per_plane,
					 .min_active = (planes * per_plane + 3) / 4,
					 .index_mask = 255,
					 .drawn_mask = ~UINT32_C(255),
					 .policy = policy,
					 .retry_ps = RETRY_PS};
	assert_true(path_bytes(&rig->shape) <= sizeof(rig->memory));
	path_init(&rig->set, &rig->shape, rig->memory, rng_of(seed, RNG_QP, 1));
	return rig;
}

// Counts a round of picks on `plane` per EV number; returns how many different ones came.
static uint32_t round_of(struct rig *rig, uint32_t plane, uint32_t picks, uint32_t seen[256])
{
	uint32_t different = 0;
	memset(seen, 0, 256 * sizeof(seen[0]));
	for (uint32_t i = 0; i < picks; i++) {
		uint32_t index = path_pick(&rig->set, plane, PATH_NO_EV).index;
		assert_true(index < rig->shape.universe);
		assert_int_equal(index % rig->shape.planes, plane);
		different += seen[index]++ == 0;
	}
	return different;
}

static void each_round_visits_each_ev_of_a_plane_once(void **state)
{
	(void)state;
	const uint32_t planes[] = {1, 2, 3, 8, 16};
	uint32_t seen[256];
	for (uint32_t p = 0; p < 5; p++) {
		struct rig *rig = open_rig(PATH_MRC, planes[p], 16, p);
		for (uint32_t i = 0; i < 40; i++)
			assert_int_equal(round_of(rig, i % planes[p], 16, seen), 16);
		free(rig);
	}
}

static void rounds_differ_from_each_other(void **state)
{
	(void)state;
	struct rig *rig = open_rig(PATH_ROTATE, 1, 64, 3);
	uint32_t firsts[64] = {0};
	uint32_t different = 0;
	for (uint32_t round = 0; round < 64; round++) {
		uint32_t first = path_pick(&rig->set, 0, PATH_NO_EV).index;
		different += firsts[first]++ == 0;
		for (uint32_t i = 1; i < 64; i++)
			(void)path_pick(&rig->set, 0, PATH_NO_EV);
	}
	assert_true(different > 20); // 64 draws of 64 values: about 40 are different
	free(rig);
}

static void a_marked_ev_loses_exactly_one_turn(void **state)
{
	(void)state;
	uint32_t seen[256];
	struct rig *rig = open_rig(PATH_MRC, 2, 16, 9);
	assert_true(path_skip(&rig->set, 7));
	assert_false(path_skip(&rig->set, 7)); // a second mark in the same turn changes nothing
	assert_int_equal(round_of(rig, 1, 15, seen), 15);
	assert_int_equal(seen[7], 0);
	assert_int_equal(round_of(rig, 1, 16, seen), 16);
	assert_int_equal(seen[7], 1);
	assert_int_equal(round_of(rig, 0, 16, seen), 16); // the other plane never noticed
	free(rig);
}

static void a_lost_ev_carries_no_data_until_a_probe_comes_back(void **state)
{
	(void)state;
	uint32_t seen[256], from = 0;
	struct rig *rig = open_rig(PATH_MRC, 1, 16, 9);
	const ps_t due = RETRY_PS + 2 * PS_PER_US;
	assert_int_equal(path_retire(&rig->set, 5, 0), PATH_CHANGED);
	assert_int_equal(path_retire(&rig->set, 5, 0), PATH_SAME);
	assert_false(path_skip(&rig->set, 5));
	assert_int_equal(path_arrived(&rig->set, 5), PATH_SAME); // sent before it was lost
	assert_int_equal(round_of(rig, 0, 64, seen), 15);
	assert_int_equal(seen[5], 0);
	assert_int_equal(path_due(&rig->set, &from, RETRY_PS - 1), PATH_NO_EV);
	assert_in_range(path_due_at(&rig->set, 0), RETRY_PS, due);
	from = 0;
	assert_int_equal(path_due(&rig->set, &from, due), 5);
	from = 0;
	assert_int_equal(path_due(&rig->set, &from, due), PATH_NO_EV); // one, not a stream
	assert_in_range(path_due_at(&rig->set, due), due + RETRY_PS, 2 * due);
	assert_int_equal(path_probed(&rig->set, 5, false, 1), PATH_CHANGED);
	assert_int_equal(rig->set.planes[0].bad, 0);
	assert_int_equal(rig->set.planes[0].unusable, 0);
	assert_int_equal(rig->set.held, 0);
	assert_true(path_due_at(&rig->set, due) == PS_NEVER);
	assert_int_equal(round_of(rig, 0, 64, seen), 16);
	free(rig);
}

static void as_many_probes_as_asked_for_must_come_back_in_a_row(void **state)
{
	(void)state;
	struct rig *rig = open_rig(PATH_MRC, 1, 16, 9);
	path_retire(&rig->set, 5, 0);
	assert_int_equal(path_probed(&rig->set, 5, false, 3), PATH_SAME);
	assert_int_equal(path_probed(&rig->set, 5, false, 3), PATH_SAME);
	path_unanswered(&rig->set, 5); // from the first again
	assert_int_equal(path_probed(&rig->set, 5, false, 3), PATH_SAME);
	assert_int_equal(path_probed(&rig->set, 5, true, 3), PATH_SAME);
	assert_int_equal(path_probed(&rig->set, 5, true, 3), PATH_CHANGED);
	assert_int_equal(path_state(&rig->set, 5), PATH_SKIP); // the last one was marked
	path_retire(&rig->set, 5, 0);
	for (uint32_t i = 0; i < PROBE_SUCCESSES_MAX; i++) {
		assert_int_equal(path_state(&rig->set, 5), PATH_ASSUMED_BAD);
		path_probed(&rig->set, 5, false, PROBE_SUCCESSES_MAX);
	}
	assert_int_equal(path_state(&rig->set, 5), PATH_GOOD);
	assert_int_equal(path_probed(&rig->set, 6, true, 3),
			 PATH_CHANGED); // a good one loses a turn
	assert_int_equal(path_state(&rig->set, 6), PATH_SKIP);
	free(rig);
}

static void a_quarter_of_the_evs_is_never_retired(void **state)
{
	(void)state;
	const uint32_t counts[] = {1, 2, 4, 8, 16, 64};
	for (uint32_t c = 0; c < 6; c++) {
		struct rig *rig = open_rig(PATH_MRC, 2, counts[c], 4);
		uint32_t retired = 0, all = 2 * counts[c];
		for (uint32_t i = 0; i < all; i++)
			retired += path_retire(&rig->set, i, 0) != PATH_SAME;
		assert_int_equal(all - retired, all < 4 ? 1 : all / 4);
		free(rig);
	}
}

static void a_plane_without_good_evs_carries_no_data(void **state)
{
	(void)state;
	struct rig *rig = open_rig(PATH_MRC, 2, 16, 4);
	rig->shape.min_active = rig->set.min_active = 1; // else a quarter of each plane stays
	for (uint32_t i = 0; i < 16; i++) {
		assert_false(path_is_closed(&rig->set, 1));
		assert_int_equal(path_lose(&rig->set, 2 * i + 1, 0), PATH_CHANGED);
		if (i < 15)
			path_arrived(&rig->set, 31); // the plane itself is not dead
	}
	assert_true(path_is_closed(&rig->set, 1));
	assert_false(path_is_closed(&rig->set, 0));
	assert_int_equal(path_probed(&rig->set, 7, false, 1), PATH_CHANGED);
	assert_false(path_is_closed(&rig->set, 1));
	assert_int_equal(path_pick(&rig->set, 1, PATH_NO_EV).index, 7);
	assert_false(
		path_pick(&rig->set, 1, 7).is_trial); // the only one, though it is to be avoided
	free(rig);
}

static void the_last_evs_of_a_plane_go_when_nothing_arrives_over_them(void **state)
{
	(void)state;
	struct rig *rig = open_rig(PATH_MRC, 2, 16, 5);
	for (uint32_t i = 0; i < 12; i++)
		path_lose(&rig->set, 2 * i + 1, 0);
	for (uint32_t i = 0; i < 3 * PATH_EV_LOSSES; i++) {
		assert_int_equal(path_lose(&rig->set, 25, 0), PATH_SAME);
		path_arrived(&rig->set, i % 2 ? 31 : 25);
	}
	for (uint32_t left = PATH_EV_LOSSES; left > 0; left--)
		assert_int_equal(path_lose(&rig->set, 25, 0), left > 1 ? PATH_SAME : PATH_CHANGED);
	free(rig);
}

// Such a plane is not probed, and nothing would set the timer of probes when it may be used again.
static void a_dead_plane_that_was_denied_whole_is_used_once_it_is_allowed(void **state)
{
	(void)state;
	struct rig *rig = open_rig(PATH_MRC, 2, 16, 4);
	for (uint32_t i = 0; i < PATH_PLANE_LOSSES; i++)
		path_lose(&rig->set, 2 * i + 1, 0);
	for (uint32_t i = 0; i < 16; i++)
		assert_true(path_deny(&rig->set, 2 * i + 1));
	assert_int_equal(path_due_at(&rig->set, 0), PS_NEVER);
	path_allow(&rig->set, 5);
	assert_false(path_is_closed(&rig->set, 1));
	assert_int_equal(rig->set.closed, 0);
	assert_int_equal(path_pick(&rig->set, 1, PATH_NO_EV).index, 5);
	free(rig);
}

static void data_try_bad_evs_where_nothing_else_is_left(void **state)
{
	(void)state;
	struct rig *rig = open_rig(PATH_MRC, 2, 16, 4);
	for (uint32_t plane = 0; plane < 2; plane++)
		for (uint32_t i = 0; i < PATH_PLANE_LOSSES; i++)
			path_lose(&rig->set, 2 * i + plane, 0);
	assert_false(path_is_closed(&rig->set, 0));
	assert_false(path_is_closed(&rig->set, 1));
	uint32_t bad = PATH_NO_EV;
	for (uint32_t i = 0; i < 16; i++) {
		struct path_choice choice = path_pick(&rig->set, 1, PATH_NO_EV);
		assert_true(choice.is_trial);
		if (path_state(&rig->set, choice.index) == PATH_ASSUMED_BAD)
			bad = choice.index;
	}
	assert_int_equal(path_arrived(&rig->set, bad), PATH_CHANGED); // the answer decides
	assert_int_equal(path_state(&rig->set, bad), PATH_GOOD);
	assert_false(path_is_closed(&rig->set, 1));
	assert_true(path_is_closed(&rig->set, 0));
	free(rig);
}

static void a_closed_plane_is_probed_over_one_ev_at_a_time(void **state)
{
	(void)state;
	struct rig *rig = open_rig(PATH_MRC, 4, 16, 4);
	const ps_t due = RETRY_PS + 2 * PS_PER_US;
	uint32_t from = 0;
	for (uint32_t i = 0; i < 10; i++)
		path_lose(&rig->set, 2 + 4 * i, 0);
	assert_int_equal(rig->set.closed, 1);
	uint32_t index = path_due(&rig->set, &from, due);
	assert_int_equal(index % 4, 2);
	assert_int_equal(path_due(&rig->set, &from, due), PATH_NO_EV);
	assert_in_range(path_due_at(&rig->set, due), due + RETRY_PS, 2 * due);
	path_probed(&rig->set, index, false, 1);
	assert_int_equal(rig->set.closed, 0);
	assert_false(path_is_closed(&rig->set, 2));
	uint32_t probed = 0;
	for (from = 0; path_due(&rig->set, &from, due) != PATH_NO_EV;) // now each of its bad ones
		probed++;
	assert_int_equal(probed, rig->set.held);
	assert_in_range(probed, 8, 10);
	free(rig);
}

static void a_packet_that_is_heard_of_opens_its_plane_but_mends_no_ev(void **state)
{
	(void)state;
	struct rig *rig = open_rig(PATH_MRC, 4, 32, 3);
	for (uint32_t i = 0; i < PATH_PLANE_LOSSES; i++)
		path_lose(&rig->set, 2 + 4 * i, 0);
	assert_true(path_is_closed(&rig->set, 2));
	path_heard(&rig->set, 1); // another plane says nothing of this one
	assert_true(path_is_closed(&rig->set, 2));
	path_heard(&rig->set, 2);
	assert_false(path_is_closed(&rig->set, 2));
	assert_int_equal(rig->set.lost, 0);
	assert_int_equal(rig->set.planes[2].bad, PATH_PLANE_LOSSES);
	path_lose(&rig->set, 2 + 4 * PATH_PLANE_LOSSES, 0); // counted from the first again
	assert_false(path_is_closed(&rig->set, 2));
	free(rig);
}

static void losses_in_a_row_close_a_plane_until_one_arrives(void **state)
{
	(void)state;
	struct rig *rig = open_rig(PATH_MRC, 4, 16, 4);
	for (uint32_t i = 0; i < PATH_PLANE_LOSSES; i++) {
		assert_false(path_is_closed(&rig->set, 2));
		path_lose(&rig->set, 2, 0); // the same EV again and again
	}
	assert_true(path_is_closed(&rig->set, 2));
	// the plane is alive, and this EV with it: it need not wait for a probe
	assert_int_equal(path_arrived(&rig->set, 2), PATH_CHANGED);
	assert_int_equal(path_state(&rig->set, 2), PATH_GOOD);
	assert_false(path_is_closed(&rig->set, 2));
	for (uint32_t i = 0; i < 100; i++) { // an arrival in between starts the count again
		path_lose(&rig->set, 6, 0);
		if (i % 5 == 4)
			path_arrived(&rig->set, 10);
	}
	assert_false(path_is_closed(&rig->set, 2));
	for (uint32_t plane = 0; plane < 4; plane++)
		for (uint32_t i = 0; i < 10; i++)
			path_lose(&rig->set, plane, 0);
	uint32_t open = 0;
	for (uint32_t plane = 0; plane < 4; plane++)
		open += !path_is_closed(&rig->set, plane);
	assert_int_equal(open, 4); // somewhere packets must go
	free(rig);
}

static void there_is_an_ev_even_when_all_are_skipped(void **state)
{
	(void)state;
	struct rig *rig = open_rig(PATH_MRC, 1, 8, 4);
	for (uint32_t i = 0; i < 8; i++) {
		path_lose(&rig->set, i, 0);
		path_skip(&rig->set, i);
	}
	for (uint32_t i = 0; i < 100; i++)
		assert_true(path_pick(&rig->set, 0, PATH_NO_EV).index < 8);
	assert_true(path_pick(&rig->set, 0, 7).index < 8);
	free(rig);
}

static void a_repair_takes_another_ev(void **state)
{
	(void)state;
	struct rig *rig = open_rig(PATH_MRC, 2, 4, 4);
	for (uint32_t i = 0; i < 200; i++)
		assert_int_not_equal(path_pick(&rig->set, 1, 2 * (i % 4) + 1).index,
				     2 * (i % 4) + 1);
	free(rig);
	rig = open_rig(PATH_MRC, 1, 1, 4); // there is no other
	assert_int_equal(path_pick(&rig->set, 0, 0).index, 0);
	free(rig);
}

static void oblivious_rotation_ignores_feedback(void **state)
{
	(void)state;
	uint32_t seen[256];
	struct rig *rig = open_rig(PATH_ROTATE, 1, 16, 4);
	assert_false(path_skip(&rig->set, 3));
	assert_false(path_retire(&rig->set, 4, 0));
	assert_int_equal(round_of(rig, 0, 16, seen), 16);
	free(rig);
}

static void a_single_path_is_one_ev_for_ever(void **state)
{
	(void)state;
	struct rig *rig = open_rig(PATH_SINGLE, 4, 16, 4);
	uint32_t index = path_pick(&rig->set, 0, PATH_NO_EV).index;
	for (uint32_t i = 0; i < 50; i++)
		assert_int_equal(path_pick(&rig->set, i % 4, index).index, index);
	assert_int_equal(path_control(&rig->set, 1), index);
	free(rig);
}

static void an_ev_of_another_qp_is_not_ours(void **state)
{
	(void)state;
	struct rig *rig = open_rig(PATH_MRC, 3, 64, 4); // 192 EVs in 8 bits
	for (uint32_t i = 0; i < 192; i++)
		assert_int_equal(path_index(&rig->set, path_value(&rig->set, i)), i);
	assert_int_equal(path_index(&rig->set, rig->set.upper | 192), PATH_NO_EV);
	assert_int_equal(path_index(&rig->set, (rig->set.upper ^ 256) | 1), PATH_NO_EV);
	for (uint32_t i = 0; i < 100; i++)
		assert_int_equal(path_control(&rig->set, 2) % 3, 2);
	free(rig);
}

// A set of 16-bit EVs, shaped as an endpoint shapes it.
static void open_port_set(struct rig *rig, uint32_t planes, uint32_t ev_count, uint64_t seed)
{
	struct transport_config config = {.planes = planes,
					  .ev_count = ev_count,
					  .ev_bits = 16,
					  .path_policy = PATH_MRC,
					  .path_retry_ps = RETRY_PS};
	rig->shape = path_shape_of(&config);
	assert_true(path_bytes(&rig->shape) <= sizeof(rig->memory));
	path_init(&rig->set, &rig->shape, rig->memory, rng_of(seed, RNG_QP, 1));
}

static void evs_of_16_bits_are_different_ephemeral_ports(void **state)
{
	(void)state;
	const uint32_t shapes[][2] = {{1, 1}, {1, 256}, {3, 192}, {2, 2}, {3, 12288}, {8, 16384}};
	static uint8_t seen[65536];
	struct rig *rig = calloc(1, sizeof(*rig));
	assert_non_null(rig);
	for (uint32_t s = 0; s < 6; s++) {
		for (uint64_t seed = 0; seed < 50; seed++) {
			open_port_set(rig, shapes[s][0], shapes[s][1], seed);
			memset(seen, 0, sizeof(seen));
			for (uint32_t i = 0; i < shapes[s][1]; i++) {
				uint32_t ev = path_value(&rig->set, i);
				assert_in_range(ev, 49152, 65535);
				assert_int_equal(seen[ev]++, 0);
				assert_int_equal(path_index(&rig->set, ev), i);
			}
			uint32_t answer = path_value(&rig->set, path_control(&rig->set, 0));
			assert_in_range(answer, 49152, 65535);
			assert_int_equal(path_index(&rig->set, answer) % shapes[s][0], 0);
			assert_int_equal(path_index(&rig->set, rig->set.upper ^ 0x8000),
					 PATH_NO_EV);
			assert_int_equal(path_index(&rig->set, rig->set.upper | 0x10000),
					 PATH_NO_EV);
		}
	}
	free(rig);
}

static void qps_draw_all_sets_of_16_bits_alike(void **state)
{
	(void)state;
	uint32_t counts[64] = {0};
	struct rig *rig = calloc(1, sizeof(*rig));
	assert_non_null(rig);
	for (uint64_t seed = 0; seed < 6400; seed++) { // 256 EVs leave 6 bits to draw
		open_port_set(rig, 4, 256, seed);
		counts[(path_value(&rig->set, 0) - 49152) / 256]++;
	}
	for (uint32_t i = 0; i < 64; i++)
		assert_in_range(counts[i], 55, 145); // 100 and 4.5 deviations of 10
	free(rig);
}

static void evs_of_32_bits_use_them_all(void **state)
{
	(void)state;
	const struct transport_config config = {.planes = 2, .ev_count = 256, .ev_bits = 32};
	struct path_shape shape = path_shape_of(&config);
	uint32_t ones = 0, zeros = 0;
	struct rig *rig = calloc(1, sizeof(*rig));
	assert_non_null(rig);
	for (uint64_t seed = 0; seed < 100; seed++) {
		path_init(&rig->set, &shape, rig->memory, rng_of(seed, RNG_QP, 1));
		assert_int_equal(path_value(&rig->set, 0) & 255, 0);
		ones |= path_value(&rig->set, 0);
		zeros |= ~path_value(&rig->set, 0);
	}
	assert_int_equal(ones, 0xffffff00);
	assert_int_equal(zeros, 0xffffffff);
	free(rig);
}

// What a first window is for REPS of htsim's old kind: that of the configuration, else one and a
// half bandwidth-delay products, in packets; and no more than there are EVs.
static void a_first_window_is_one_and_a_half_bdp(void **state)
{
	(void)state;
	struct transport_config config = {
		.planes = 1,
		.ev_count = 256,
		.payload_bytes = 1024,
		.header_bytes = 64,
		.path_policy = PATH_REPS_LEGACY,
		.cc = {.rate_bps = 100000000000, .base_rtt_ps = 10 * PS_PER_US}};
	assert_int_equal(path_shape_of(&config).first_window, 187500 / 1088);
	config.ev_count = 128;
	assert_int_equal(path_shape_of(&config).first_window, 128);
	config.cc.max_cwnd_bytes = 10 * 1088;
	assert_int_equal(path_shape_of(&config).first_window, 10);
	config.path_policy = PATH_REPS;
	assert_int_equal(path_shape_of(&config).first_window, 0);
}
