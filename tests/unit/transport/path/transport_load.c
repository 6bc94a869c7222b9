// SPDX-License-Identifier: Apache-2.0
// Shares of a QP's window per plane: what marks and clean SACKs do to weights, and which lines a QP
// leaves idle.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "path/load.h"

#define PLANES 4u
#define FULL 4258u

struct rig {
	struct path_shape shape;
	struct qp qp;
	uint32_t memory[1024];
};

static struct rig *open_rig(enum plane_share share)
{
	struct transport_config config = {.planes = PLANES,
					  .ev_count = 32,
					  .path_policy = PATH_MRC,
					  .plane_share = share,
					  .path_retry_ps = 100 * PS_PER_US};
	struct rig *rig = aligned_alloc(64, (sizeof(*rig) + 63) / 64 * 64);
	assert_non_null(rig);
	*rig = (struct rig){.qp = {.full_bytes = FULL}};
	rig->qp.cc.window_bytes = 40 * FULL;
	rig->shape = path_shape_of(&config);
	assert_true(path_bytes(&rig->shape) <= sizeof(rig->memory));
	path_init(&rig->qp.path, &rig->shape, rig->memory, rng_of(9, RNG_QP, 1));
	return rig;
}

// Sends on a plane until the QP leaves its line alone; returns how many packets that took.
static uint32_t fill(struct rig *rig, uint32_t plane)
{
	uint32_t packets = 0;
	for (; !load_is_full(&rig->qp, plane) && packets < 1000; packets++)
		load_add(&rig->qp.path, plane, FULL);
	return packets;
}

static uint32_t weight_of(const struct rig *rig, uint32_t plane)
{
	return rig->qp.path.load->planes[plane].weight;
}

static void without_shares_a_line_is_all_there_is(void **)
{
	struct rig *rig = open_rig(PLANE_SHARE_LINE);
	assert_null(rig->qp.path.load);
	assert_int_equal(load_bytes(&rig->shape), 0);
	assert_int_equal(fill(rig, 0), 1000);
	free(rig);
}

static void a_plane_holds_twice_its_share_and_a_packet(void **)
{
	struct rig *rig = open_rig(PLANE_SHARE_MARKS);
	assert_int_equal(fill(rig, 2), LOAD_SLACK * 40 / PLANES + 1);
	load_take(&rig->qp.path, PLANES + 2, FULL); // number 6 is on plane 2
	assert_false(load_is_full(&rig->qp, 2));
	rig->qp.heard_bytes = 4 * FULL; // in flight by PSNs, and heard of
	assert_int_equal(fill(rig, 2), 1 + LOAD_SLACK * 4 / PLANES);
	rig->qp.heard_bytes = 8 * FULL;
	rig->qp.settled_bytes = 4 * FULL; // known by PSN as well: no more than before
	assert_int_equal(fill(rig, 2), 0);
	assert_int_equal(load_bytes(&rig->shape), 40); // one sum and four planes, to whole words
	free(rig);
}

// It has to let the packet out that asks for a SACK, on whichever line comes first.
static void a_closed_window_is_no_matter_of_shares(void **)
{
	struct rig *rig = open_rig(PLANE_SHARE_MARKS);
	load_add(&rig->qp.path, 2, 40 * FULL);
	rig->qp.inflight = 40 * FULL - 1;
	assert_true(load_is_full(&rig->qp, 2));
	rig->qp.inflight = 40 * FULL;
	assert_false(load_is_full(&rig->qp, 2));
	rig->qp.heard_bytes = 1; // in flight by PSNs, and heard of
	assert_true(load_is_full(&rig->qp, 2));
	free(rig);
}

static void two_packets_pass_any_share(void **)
{
	struct rig *rig = open_rig(PLANE_SHARE_MARKS);
	rig->qp.cc.window_bytes = FULL;
	assert_int_equal(fill(rig, 1), LOAD_PACKETS);
	free(rig);
}

static void marks_lower_a_weight_and_clean_sacks_raise_it(void **)
{
	struct rig *rig = open_rig(PLANE_SHARE_MARKS);
	load_weigh(&rig->qp.path, 3, false);
	assert_int_equal(weight_of(rig, 3), LOAD_FULL);
	load_weigh(&rig->qp.path, 3, true);
	assert_int_equal(weight_of(rig, 3), LOAD_FULL / 16 * 15);
	for (int i = 0; i < 8; i++)
		load_weigh(&rig->qp.path, 3, false);
	assert_int_equal(weight_of(rig, 3), LOAD_FULL);
	for (int i = 0; i < 1000; i++)
		load_weigh(&rig->qp.path, 3, true);
	assert_int_equal(weight_of(rig, 3), LOAD_LEAST);
	assert_int_equal(rig->qp.path.load->weights, 3 * LOAD_FULL + LOAD_LEAST);
	assert_true(fill(rig, 3) < fill(rig, 0) / 4);
	free(rig);
}

static void what_all_planes_lose_none_loses(void **)
{
	struct rig *rig = open_rig(PLANE_SHARE_MARKS);
	for (uint32_t i = 0; i < 400; i++)
		load_weigh(&rig->qp.path, i % PLANES, true);
	assert_int_equal(fill(rig, 0), LOAD_SLACK * 40 / PLANES + 1);
	free(rig);
}

// However a plane is shut, the three others share what four had: twice 13 of 39 packets each.
static void open_planes_share_what_a_shut_one_had(void **)
{
	for (int i = 0; i < 5; i++) {
		struct rig *rig = open_rig(PLANE_SHARE_MARKS);
		struct path_set *path = &rig->qp.path;
		uint32_t behind = (uint32_t)(path_bytes(&rig->shape) + 3) / 4;
		for (uint32_t at = behind; at < 1024; at++) { // nobody reads or writes there
			assert_int_equal(rig->memory[at], 0);
			rig->memory[at] = LOAD_FULL;
		}
		uint32_t shut = i == 3 ? 0 : 3;
		rig->qp.cc.window_bytes = 39 * FULL;
		if (i == 1) {
			path->closed = 1;
			path->planes[shut].is_closed = true;
		} else if (i == 2) {
			path->bad = path->planes[shut].bad = rig->shape.per_plane;
		} else if (i == 3) {
			path->peer_down = 1;
		} else if (i == 4) {
			rig->shape.ports_down = 1u << shut;
		}
		assert_int_equal(fill(rig, 1), i == 0 ? 20 : 27);
		assert_int_equal(fill(rig, 2), i == 0 ? 20 : 27);
		free(rig);
	}
}

// However weights are and whichever planes are down: as long as the window has room, so has a plane
// that is open.
static void a_window_with_room_has_an_open_plane_with_room(void **)
{
	struct rng dice = rng_of(4, RNG_QP, 7);
	for (uint32_t round = 0; round < 2000; round++) {
		struct rig *rig = open_rig(PLANE_SHARE_MARKS);
		uint32_t down = rng_below(&dice, (1u << PLANES) - 1);
		uint32_t window = 1 + rng_below(&dice, 60);
		rig->qp.path.peer_down = down;
		rig->qp.cc.window_bytes = window * FULL;
		for (uint32_t i = rng_below(&dice, 300); i > 0; i--) {
			uint32_t index = rng_below(&dice, PLANES);
			load_weigh(&rig->qp.path, index, rng_below(&dice, 2) != 0);
		}
		for (uint32_t sent = 0; sent < window; sent++) {
			uint32_t plane = rng_below(&dice, PLANES), left = PLANES;
			while (left > 0 && (down >> plane & 1 || load_is_full(&rig->qp, plane))) {
				plane = (plane + 1) % PLANES;
				left--;
			}
			assert_true(left > 0);
			load_add(&rig->qp.path, plane, FULL);
		}
		free(rig);
	}
}
