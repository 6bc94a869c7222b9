// SPDX-License-Identifier: Apache-2.0
// A QP with entropy values of its own: its data take these alone, whatever is lost, and of these as
// of all some may be given up.
#include "transport_bench.h"

#include <errno.h>

#include <weft/measure/measure_evs.h>

#include "../../../lib/transport/path/control_path.h"
#include "../../../lib/transport/path/ev_slot.h"

#define PLANES 4u
#define PER_PLANE 16u

struct rig {
	struct path_shape shape;
	struct path_set set;
	uint8_t memory[8 * PLANES * PER_PLANE];
};

static void open_rig(struct rig *rig, enum path_policy policy)
{
	*rig = (struct rig){.shape = {.planes = PLANES,
				      .per_plane = PER_PLANE,
				      .universe = PLANES * PER_PLANE,
				      .min_active = PLANES * PER_PLANE / 4,
				      .index_mask = 63,
				      .policy = policy,
				      .retry_ps = PS_PER_US}};
	assert_true(path_bytes(&rig->shape) <= sizeof(rig->memory));
	path_init(&rig->set, &rig->shape, rig->memory, rng_of(7, RNG_QP, 1));
}

// Picks of a plane, counted by EV number.
static void pick(struct rig *rig, uint32_t plane, uint32_t picks, uint32_t seen[64])
{
	memset(seen, 0, 64 * sizeof(seen[0]));
	for (uint32_t i = 0; i < picks; i++)
		seen[path_pick(&rig->set, plane, PATH_NO_EV).index]++;
}

static void a_round_visits_each_ev_of_the_set_once(void **state)
{
	static const uint16_t numbers[] = {61, 1, 5, 2};
	static const enum path_policy policies[] = {PATH_ROTATE, PATH_MRC};
	uint32_t seen[64];
	(void)state;
	for (uint32_t p = 0; p < 2; p++) {
		struct rig rig;
		open_rig(&rig, policies[p]);
		ev_slot_keep(&rig.set, numbers, 4);
		pick(&rig, 1, 30, seen);
		assert_int_equal(seen[1], 10);
		assert_int_equal(seen[5], 10);
		assert_int_equal(seen[61], 10);
		pick(&rig, 2, 9, seen);
		assert_int_equal(seen[2], 9);
		assert_true(path_is_closed(&rig.set, 0));
		assert_true(path_is_closed(&rig.set, 3));
		assert_false(path_is_closed(&rig.set, 1));
		assert_int_equal(path_control_plane(&rig.set, 3), 1);
		assert_int_equal(path_control(&rig.set, 2), 2);
	}
}

static void the_first_are_kept_where_no_list_is(void **state)
{
	uint32_t seen[64];
	struct rig rig;
	(void)state;
	open_rig(&rig, PATH_MRC);
	ev_slot_keep(&rig.set, NULL, 8);
	for (uint32_t plane = 0; plane < PLANES; plane++) {
		pick(&rig, plane, 6, seen);
		assert_int_equal(seen[plane], 3);
		assert_int_equal(seen[plane + PLANES], 3);
	}
	assert_int_equal(rig.set.denied, PLANES * PER_PLANE - 8);
}

// A quarter of them stays, as a quarter of all would.
static void an_ev_of_the_set_is_given_up_when_it_loses(void **state)
{
	uint32_t seen[64];
	struct rig rig;
	(void)state;
	open_rig(&rig, PATH_MRC);
	ev_slot_keep(&rig.set, NULL, 12); // three on each plane
	assert_int_equal(path_retire(&rig.set, 4, 0), PATH_CHANGED);
	assert_int_equal(path_retire(&rig.set, 20, 0), PATH_SAME); // is not of the set
	pick(&rig, 0, 10, seen);
	assert_int_equal(seen[0], 5);
	assert_int_equal(seen[8], 5);
	assert_int_equal(path_probed(&rig.set, 4, false, 1), PATH_CHANGED);
	pick(&rig, 0, 9, seen);
	assert_int_equal(seen[4], 3);
	uint32_t given_up = 0;
	for (uint32_t index = 0; index < 12; index++)
		given_up += path_retire(&rig.set, index, 0) == PATH_CHANGED;
	assert_int_equal(given_up, 9);
}

static void the_last_of_a_set_stays_in_use(void **state)
{
	static const uint16_t one[] = {9};
	struct rig rig;
	(void)state;
	open_rig(&rig, PATH_MRC);
	ev_slot_keep(&rig.set, one, 1);
	for (uint32_t i = 0; i < 3 * PATH_PLANE_LOSSES; i++) {
		(void)path_lose(&rig.set, 9, i);
		assert_int_equal(path_pick(&rig.set, 1, 9).index, 9);
		assert_false(path_is_closed(&rig.set, 1));
	}
}

// ---------------------------------------------------------------- at an endpoint

static uint64_t used[64]; // data packets by EV number
static const struct endpoint *sender;
static uint32_t qp_of_sender;

static void note(struct bench *bench, struct packet *packet)
{
	uint32_t ev;
	if (packet->source != 0 || packet->payload_bytes == 0)
		return;
	for (uint32_t index = 0; index < bench->config.ev_count; index++)
		if (endpoint_ev(sender, qp_of_sender, index, &ev) == 0 && ev == packet->ev)
			used[index]++;
}

static void all_data_take_the_set_whatever_is_lost(void **state)
{
	static const uint16_t numbers[] = {0, 3, 6};
	struct transport_config config = bench_config();
	struct bench *bench = bench_open(&config, 1, 0, 1);
	(void)state;
	memset(used, 0, sizeof(used));
	sender = bench->ends[0];
	qp_of_sender = 0;
	bench->on_send = note;
	bench->loss_ppm = 20000;
	bench->mark_ppm = 20000;
	assert_int_equal(endpoint_ev_keep(bench->ends[0], 0, numbers, 3), 0);
	assert_int_equal(endpoint_ev_keep(bench->ends[1], 0, numbers, 3), 0);
	assert_int_equal(bench_post(bench, 0, 0, 4000000, 1), 0);
	bench_run(bench, BENCH_TO_THE_END);
	uint64_t all = 0, rtx = 0;
	for (uint32_t i = 0; i < config.ev_count; i++)
		all += used[i];
	for (int i = 0; i < RTX_REASON_COUNT; i++)
		rtx += endpoint_counters(sender)->rtx[i];
	assert_true(rtx > 0);
	assert_int_equal(used[0] + used[3] + used[6], all);
	assert_int_equal(all, endpoint_counters(sender)->data_packets);
	assert_true(used[0] > 0 && used[3] > 0 && used[6] > 0);
	bench_check_empty(bench);
	bench_close(bench);
}

// What goes again, and what probes whether a receiver is there, too.
static void all_that_leaves_is_counted_by_its_ev(void **state)
{
	static const uint16_t numbers[] = {0, 3, 6};
	static const uint32_t losses_ppm[] = {0, 20000, 200000};
	struct transport_config config = bench_config();
	(void)state;
	for (uint32_t run = 0; run < 3; run++) {
		struct bench *bench = bench_open(&config, 2, 0, 1 + run);
		struct ev_count counts[64] = {0}, sum = {0};
		struct ev_count *const rows[] = {NULL, counts};
		check(ev_universe(&config) <= 64);
		memset(used, 0, sizeof(used));
		sender = bench->ends[0];
		qp_of_sender = 1;
		bench->on_send = note;
		bench->loss_ppm = losses_ppm[run];
		bench->control_loss_ppm = losses_ppm[run];
		endpoint_count_evs(bench->ends[0], rows);
		assert_int_equal(endpoint_ev_keep(bench->ends[0], 1, numbers, 3), 0);
		assert_int_equal(bench_post(bench, 0, 1, 3000000, 1), 0);
		bench_run(bench, BENCH_TO_THE_END);
		for (uint32_t i = 0; i < 64; i++) {
			assert_int_equal(counts[i].packets, used[i]);
			sum.packets += counts[i].packets;
			sum.bytes += counts[i].bytes;
		}
		assert_int_equal(sum.packets, endpoint_counters(sender)->data_packets);
		assert_int_equal(sum.bytes, endpoint_counters(sender)->data_bytes);
		assert_int_equal(counts[0].packets + counts[3].packets + counts[6].packets,
				 sum.packets);
		bench_close(bench);
	}
}

static int keep(const struct transport_config *config, uint32_t qps, uint16_t number)
{
	struct bench *bench = bench_open(config, qps, 0, 1);
	int rc = endpoint_ev_keep(bench->ends[0], 0, &number, 1);
	bench_close(bench);
	return rc;
}

static void a_set_that_cannot_be_is_refused(void **state)
{
	struct transport_config config = bench_config();
	(void)state;
	assert_int_equal(keep(&config, 1, (uint16_t)(config.ev_count - 1)), 0);
	assert_int_equal(keep(&config, 1, (uint16_t)config.ev_count), -ENOENT);
	config.path_policy = PATH_RANDOM;
	assert_int_equal(keep(&config, 1, 0), -EOPNOTSUPP);
	config = bench_config();
	config.contexts = 2;
	assert_int_equal(keep(&config, 4, 0), -EOPNOTSUPP);
	struct bench *bench = bench_open(&config, 1, 0, 1);
	assert_int_equal(endpoint_ev_keep(bench->ends[0], 1, NULL, 1), -ENOENT);
	assert_int_equal(endpoint_ev_keep(bench->ends[0], 0, NULL, 0), -ENOENT);
	bench_close(bench);
}
