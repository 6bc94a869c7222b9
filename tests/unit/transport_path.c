// SPDX-License-Identifier: Apache-2.0
// Rotation and health of entropy values: equal shares, one lost turn, retirement and its limits.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../../lib/transport/path.h"

#define RETRY_PS (100 * PS_PER_US)

struct rig {
	struct path_shape shape;
	struct path_set set;
	uint8_t memory[5 * 16384]; // what 16384 EVs take
};

static struct rig *open_rig(enum path_policy policy, uint32_t planes, uint32_t per_plane,
			    uint64_t seed)
{
	struct rig *rig = calloc(1, sizeof(*rig));
	assert_non_null(rig);
	rig->shape = (struct path_shape){.planes = planes,
					 .per_plane = per_plane,
					 .index_mask = 255,
					 .drawn_mask = ~UINT32_C(255),
					 .policy = policy,
					 .retry_ps = RETRY_PS};
	assert_true(path_bytes(&rig->shape) <= sizeof(rig->memory));
	path_init(&rig->set, &rig->shape, rig->memory, rng_of(seed, RNG_QP, 1));
	return rig;
}

// Counts a round of picks on `plane` per EV number; returns how many different ones came.
static uint32_t round_of(struct rig *rig, uint32_t plane, uint32_t picks, uint32_t seen[256],
			 ps_t now)
{
	uint32_t different = 0;
	memset(seen, 0, 256 * sizeof(seen[0]));
	for (uint32_t i = 0; i < picks; i++) {
		uint32_t index = path_pick(&rig->set, plane, PATH_NO_EV, now).index;
		assert_true(index < rig->shape.planes * rig->shape.per_plane);
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
			assert_int_equal(round_of(rig, i % planes[p], 16, seen, 0), 16);
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
		uint32_t first = path_pick(&rig->set, 0, PATH_NO_EV, 0).index;
		different += firsts[first]++ == 0;
		for (uint32_t i = 1; i < 64; i++)
			(void)path_pick(&rig->set, 0, PATH_NO_EV, 0);
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
	assert_int_equal(round_of(rig, 1, 15, seen, 0), 15);
	assert_int_equal(seen[7], 0);
	assert_int_equal(round_of(rig, 1, 16, seen, 0), 16);
	assert_int_equal(seen[7], 1);
	assert_int_equal(round_of(rig, 0, 16, seen, 0), 16); // the other plane never noticed
	free(rig);
}

static void a_lost_ev_is_tried_again_by_one_packet_at_a_time(void **state)
{
	(void)state;
	uint32_t seen[256];
	struct rig *rig = open_rig(PATH_MRC, 1, 16, 9);
	assert_true(path_retire(&rig->set, 5, 0));
	assert_false(path_retire(&rig->set, 5, 0));
	assert_false(path_skip(&rig->set, 5));
	for (uint32_t round = 0; round < 10; round++) {
		assert_int_equal(round_of(rig, 0, 15, seen, RETRY_PS - 1), 15);
		assert_int_equal(seen[5], 0);
	}
	assert_int_equal(round_of(rig, 0, 64, seen, RETRY_PS + 2 * PS_PER_US), 16);
	assert_int_equal(seen[5], 1); // the trial; until it is answered the EV stays out
	assert_int_equal(rig->set.planes[0].bad, 1);
	assert_true(path_arrived(&rig->set, 5));
	assert_false(path_arrived(&rig->set, 5));
	assert_int_equal(rig->set.planes[0].bad, 0);
	assert_int_equal(rig->set.planes[0].unusable, 0);
	assert_int_equal(round_of(rig, 0, 64, seen, RETRY_PS + 2 * PS_PER_US), 16);
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
			retired += path_retire(&rig->set, i, 0);
		assert_int_equal(all - retired, all < 4 ? 1 : all / 4);
		free(rig);
	}
}

static void a_plane_without_good_evs_is_closed_but_for_trials(void **state)
{
	(void)state;
	struct rig *rig = open_rig(PATH_MRC, 2, 16, 4);
	for (uint32_t i = 0; i < 16; i++) {
		assert_false(path_is_closed(&rig->set, 1, 0));
		assert_true(path_retire(&rig->set, 2 * i + 1, 0));
		if (i < 15)
			path_arrived(&rig->set, 31); // the plane itself is not dead
	}
	ps_t due = RETRY_PS + 2 * PS_PER_US;
	assert_true(path_is_closed(&rig->set, 1, RETRY_PS - 1));
	assert_false(path_is_closed(&rig->set, 0, 0));
	assert_false(path_is_closed(&rig->set, 1, due));
	struct path_choice trial = path_pick(&rig->set, 1, PATH_NO_EV, due);
	assert_true(trial.is_trial);
	assert_true(path_is_closed(&rig->set, 1, due)); // one packet, not a stream
	assert_true(path_arrived(&rig->set, trial.index));
	assert_false(path_is_closed(&rig->set, 1, due));
	free(rig);
}

static void a_packet_that_is_heard_of_opens_its_plane_but_mends_no_ev(void **state)
{
	(void)state;
	struct rig *rig = open_rig(PATH_MRC, 4, 32, 3);
	for (uint32_t i = 0; i < PATH_PLANE_LOSSES; i++)
		path_retire(&rig->set, 2 + 4 * i, 0);
	assert_true(path_is_closed(&rig->set, 2, 0));
	path_heard(&rig->set, 1); // another plane says nothing of this one
	assert_true(path_is_closed(&rig->set, 2, 0));
	path_heard(&rig->set, 2);
	assert_false(path_is_closed(&rig->set, 2, 0));
	assert_int_equal(rig->set.lost, 0);
	assert_int_equal(rig->set.planes[2].bad, PATH_PLANE_LOSSES);
	path_retire(&rig->set, 2 + 4 * PATH_PLANE_LOSSES, 0); // counted from the first again
	assert_false(path_is_closed(&rig->set, 2, 0));
	free(rig);
}

static void losses_in_a_row_close_a_plane_until_one_arrives(void **state)
{
	(void)state;
	struct rig *rig = open_rig(PATH_MRC, 4, 16, 4);
	for (uint32_t i = 0; i < PATH_PLANE_LOSSES; i++) {
		assert_false(path_is_closed(&rig->set, 2, 0));
		path_retire(&rig->set, 2, 0); // the same EV again and again
	}
	assert_true(path_is_closed(&rig->set, 2, 0));
	assert_true(path_arrived(&rig->set, 2));
	assert_false(path_is_closed(&rig->set, 2, 0));
	for (uint32_t i = 0; i < 100; i++) { // an arrival in between starts the count again
		path_retire(&rig->set, 6, 0);
		if (i % 5 == 4)
			path_arrived(&rig->set, 10);
	}
	assert_false(path_is_closed(&rig->set, 2, 0));
	for (uint32_t plane = 0; plane < 4; plane++)
		for (uint32_t i = 0; i < 10; i++)
			path_retire(&rig->set, plane, 0);
	uint32_t open = 0;
	for (uint32_t plane = 0; plane < 4; plane++)
		open += !path_is_closed(&rig->set, plane, 0);
	assert_int_equal(open, 4); // somewhere packets must go
	free(rig);
}

static void there_is_an_ev_even_when_all_are_skipped(void **state)
{
	(void)state;
	struct rig *rig = open_rig(PATH_MRC, 1, 8, 4);
	for (uint32_t i = 0; i < 8; i++) {
		path_retire(&rig->set, i, 0);
		path_skip(&rig->set, i);
	}
	for (uint32_t i = 0; i < 100; i++)
		assert_true(path_pick(&rig->set, 0, PATH_NO_EV, 0).index < 8);
	assert_true(path_pick(&rig->set, 0, 7, 0).index < 8);
	free(rig);
}

static void a_repair_takes_another_ev(void **state)
{
	(void)state;
	struct rig *rig = open_rig(PATH_MRC, 2, 4, 4);
	for (uint32_t i = 0; i < 200; i++)
		assert_int_not_equal(path_pick(&rig->set, 1, 2 * (i % 4) + 1, 0).index,
				     2 * (i % 4) + 1);
	free(rig);
	rig = open_rig(PATH_MRC, 1, 1, 4); // there is no other
	assert_int_equal(path_pick(&rig->set, 0, 0, 0).index, 0);
	free(rig);
}

static void oblivious_rotation_ignores_feedback(void **state)
{
	(void)state;
	uint32_t seen[256];
	struct rig *rig = open_rig(PATH_ROTATE, 1, 16, 4);
	assert_false(path_skip(&rig->set, 3));
	assert_false(path_retire(&rig->set, 4, 0));
	assert_int_equal(round_of(rig, 0, 16, seen, 0), 16);
	free(rig);
}

static void a_single_path_is_one_ev_for_ever(void **state)
{
	(void)state;
	struct rig *rig = open_rig(PATH_SINGLE, 4, 16, 4);
	uint32_t index = path_pick(&rig->set, 0, PATH_NO_EV, 0).index;
	for (uint32_t i = 0; i < 50; i++)
		assert_int_equal(path_pick(&rig->set, i % 4, index, 0).index, index);
	assert_int_equal(path_control(&rig->set, 1), path_value(&rig->set, index));
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
		assert_int_equal(path_index(&rig->set, path_control(&rig->set, 2)) % 3, 2);
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
			uint32_t answer = path_control(&rig->set, 0);
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_round_visits_each_ev_of_a_plane_once),
		cmocka_unit_test(rounds_differ_from_each_other),
		cmocka_unit_test(a_marked_ev_loses_exactly_one_turn),
		cmocka_unit_test(a_lost_ev_is_tried_again_by_one_packet_at_a_time),
		cmocka_unit_test(a_quarter_of_the_evs_is_never_retired),
		cmocka_unit_test(a_plane_without_good_evs_is_closed_but_for_trials),
		cmocka_unit_test(a_packet_that_is_heard_of_opens_its_plane_but_mends_no_ev),
		cmocka_unit_test(losses_in_a_row_close_a_plane_until_one_arrives),
		cmocka_unit_test(there_is_an_ev_even_when_all_are_skipped),
		cmocka_unit_test(a_repair_takes_another_ev),
		cmocka_unit_test(oblivious_rotation_ignores_feedback),
		cmocka_unit_test(a_single_path_is_one_ev_for_ever),
		cmocka_unit_test(an_ev_of_another_qp_is_not_ours),
		cmocka_unit_test(evs_of_16_bits_are_different_ephemeral_ports),
		cmocka_unit_test(qps_draw_all_sets_of_16_bits_alike),
		cmocka_unit_test(evs_of_32_bits_use_them_all),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
