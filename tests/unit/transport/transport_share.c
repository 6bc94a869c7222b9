// SPDX-License-Identifier: Apache-2.0
// One window for all QPs to a NIC (UEC 1.0 section 3.6.13: a congestion control context is of a
// source and a destination): together they have what one has alone, feedback to one is feedback to
// all, and room that one leaves goes to the others.
#include "transport_bench.h"

#include <errno.h>

#include <weft/transport/transport_profiles.h>

#define FULL 1088u
#define WINDOW_PACKETS 10u

static struct transport_config shared_config(void)
{
	struct transport_config config = bench_config();
	config.planes = 1;
	config.shares_cc = true;
	config.cc.window_bytes = WINDOW_PACKETS * FULL;
	return config;
}

static uint32_t flight_of(const struct bench *bench, uint32_t qps)
{
	uint32_t bytes = 0;
	for (uint32_t qpn = 0; qpn < qps; qpn++)
		bytes += endpoint_qp(bench->ends[0], qpn)->inflight;
	return bytes;
}

// Sends all that may leave; counts those of each QP.
static uint32_t send_all(struct bench *bench, uint32_t counts[4])
{
	uint32_t all = 0;
	for (uint32_t index;
	     (index = endpoint_next(bench->ends[0], 0, bench->now, &bench->out)) != PACKET_NONE;
	     all++) {
		counts[packet_at(&bench->packets, index)->qpn]++;
		packet_put(&bench->packets, index);
	}
	return all;
}

// A SACK of the first `count` packets of a QP.
static void give_sack(struct bench *bench, uint32_t qpn, uint32_t count)
{
	uint32_t index = packet_get(&bench->packets);
	*packet_at(&bench->packets, index) = (struct packet){.source = 1,
							     .opcode = PACKET_SACK,
							     .klass = PACKET_CLASS_CONTROL,
							     .qpn = qpn,
							     .psn = (count - 1) & PSN_MASK};
	endpoint_receive(bench->ends[0], index, bench->now, &bench->out);
	bench_poll(bench, 0);
}

static void four_qps_have_the_window_of_one(void **state)
{
	(void)state;
	struct transport_config config = shared_config();
	struct bench *bench = bench_open(&config, 4, 0, 1);
	uint32_t counts[4] = {0};
	for (uint32_t qpn = 0; qpn < 4; qpn++)
		bench_post(bench, 0, qpn, 50 * 1024, 0);
	assert_int_equal(send_all(bench, counts), WINDOW_PACKETS);
	for (uint32_t qpn = 0; qpn < 4; qpn++) // in turn
		assert_in_range(counts[qpn], 2, 3);
	assert_int_equal(flight_of(bench, 4), WINDOW_PACKETS * FULL);
	bench_close(bench);
}

static void room_that_one_leaves_goes_to_the_others(void **state)
{
	(void)state;
	struct transport_config config = shared_config();
	struct bench *bench = bench_open(&config, 2, 0, 1);
	uint32_t counts[4] = {0};
	bench_post(bench, 0, 0, WINDOW_PACKETS * 1024, 0);
	assert_int_equal(send_all(bench, counts), WINDOW_PACKETS);
	bench_post(bench, 0, 1, 50 * 1024, 0);
	assert_int_equal(send_all(bench, counts), 0);
	give_sack(bench, 0, 4);
	assert_int_equal(send_all(bench, counts), 4);
	assert_int_equal(counts[1], 4);
	endpoint_fail(bench->ends[0], 0); // six more
	assert_int_equal(send_all(bench, counts), 6);
	assert_int_equal(counts[1], WINDOW_PACKETS);
	bench_close(bench);
}

static void a_qp_that_was_reset_takes_part_again(void **state)
{
	(void)state;
	struct transport_config config = shared_config();
	struct bench *bench = bench_open(&config, 3, 0, 1);
	uint32_t counts[4] = {0};
	bench_post(bench, 0, 1, 50 * 1024, 0);
	assert_int_equal(send_all(bench, counts), WINDOW_PACKETS);
	bench_post(bench, 0, 0, 50 * 1024, 0);
	assert_int_equal(endpoint_reset(bench->ends[0], 1), 0);
	assert_int_equal(send_all(bench, counts), WINDOW_PACKETS);
	assert_int_equal(counts[0], WINDOW_PACKETS);
	assert_int_equal(endpoint_connect(bench->ends[0], 1,
					  &(struct qp_config){.remote_nic = 1, .remote_qpn = 1},
					  bench->now),
			 0);
	bench_post(bench, 0, 1, 50 * 1024, 0);
	assert_int_equal(send_all(bench, counts), 0);
	give_sack(bench, 0, 2);
	assert_int_equal(send_all(bench, counts), 2);
	bench_close(bench);
}

static void another_nic_has_a_window_of_its_own(void **state)
{
	(void)state;
	struct transport_config config = shared_config();
	struct bench *bench = bench_open(&config, 2, 0, 1);
	uint32_t counts[4] = {0};
	assert_int_equal(endpoint_reset(bench->ends[0], 1), 0);
	assert_int_equal(endpoint_connect(bench->ends[0], 1,
					  &(struct qp_config){.remote_nic = 77, .remote_qpn = 1},
					  bench->now),
			 0);
	for (uint32_t qpn = 0; qpn < 2; qpn++)
		bench_post(bench, 0, qpn, 50 * 1024, 0);
	assert_int_equal(send_all(bench, counts), 2 * WINDOW_PACKETS);
	bench_close(bench);
}

// However many NICs there were before.
static void nics_of_earlier_lives_take_no_place(void **state)
{
	(void)state;
	struct transport_config config = shared_config();
	struct bench *bench = bench_open(&config, 2, 0, 1);
	uint32_t counts[4] = {0};
	for (uint32_t nic = 100; nic < 200; nic++) {
		const struct qp_config there = {.remote_nic = nic, .remote_qpn = 1};
		endpoint_reset(bench->ends[0], 1);
		assert_int_equal(endpoint_connect(bench->ends[0], 1, &there, bench->now), 0);
	}
	for (uint32_t qpn = 0; qpn < 2; qpn++)
		bench_post(bench, 0, qpn, 50 * 1024, 0);
	assert_int_equal(send_all(bench, counts), 2 * WINDOW_PACKETS);
	bench_close(bench);
}

// Two QPs to one NIC with one profile share its window; a third, with the endpoint's own, has that.
static void windows_of_two_profiles_are_two(void **state)
{
	(void)state;
	struct transport_config config = shared_config();
	config.cc_profiles_max = 1;
	struct bench *bench = bench_open(&config, 3, 0, 1);
	uint32_t counts[4] = {0};
	struct cc_config cc = config.cc;
	struct refusal refusal;
	cc.window_bytes = 4 * FULL;
	assert_int_equal(endpoint_cc_profile(bench->ends[0], 1, &cc, &refusal), 0);
	for (uint32_t qpn = 0; qpn < 2; qpn++) {
		const struct qp_config there = {
			.remote_nic = 1, .remote_qpn = qpn, .id = qpn, .cc_profile = 1};
		endpoint_reset(bench->ends[0], qpn);
		assert_int_equal(endpoint_connect(bench->ends[0], qpn, &there, bench->now), 0);
	}
	for (uint32_t qpn = 0; qpn < 3; qpn++)
		bench_post(bench, 0, qpn, 50 * 1024, 0);
	assert_int_equal(send_all(bench, counts), 4 + WINDOW_PACKETS);
	assert_int_equal(counts[0] + counts[1], 4);
	bench_close(bench);
}

// A trim that one hears of takes its size off the window of all, once.
static void feedback_to_one_is_feedback_to_all(void **state)
{
	(void)state;
	struct transport_config config = shared_config();
	uint32_t counts[4] = {0};
	config.cc.name = "mprdma";
	config.cc.max_cwnd_bytes = WINDOW_PACKETS * FULL;
	struct bench *bench = bench_open(&config, 2, 0, 1);
	bench_post(bench, 0, 0, 5 * 1024, 0);
	bench_post(bench, 0, 1, 50 * 1024, 0);
	assert_int_equal(send_all(bench, counts), WINDOW_PACKETS);
	uint32_t index = packet_get(&bench->packets);
	*packet_at(&bench->packets, index) = (struct packet){
		.source = 1,
		.opcode = PACKET_NACK,
		.klass = PACKET_CLASS_CONTROL,
		.qpn = 0,
		.u.nack = {.ev_echo = path_value(&endpoint_qp(bench->ends[0], 0)->path,
						 endpoint_qp(bench->ends[0], 0)->slots[0].ev_index),
			   .reason = PACKET_NACK_TRIMMED}};
	endpoint_receive(bench->ends[0], index, bench->now, &bench->out);
	assert_int_equal(endpoint_counters(bench->ends[0])->refused[REFUSED_NACK], 0);
	// nine of ten are left: the lost one is not in flight, so it goes again, and no more
	assert_int_equal(flight_of(bench, 2), (WINDOW_PACKETS - 1) * FULL);
	assert_int_equal(send_all(bench, counts), 0);
	give_sack(bench, 1, 2);
	assert_int_equal(send_all(bench, counts), 2);
	assert_true(flight_of(bench, 2) <= WINDOW_PACKETS * FULL);
	bench_close(bench);
}

// Over random wires all is delivered, and what is in flight to the NIC never passes the window but
// by the packet that asks.
static void on_send(struct bench *bench, struct packet *packet)
{
	(void)packet;
	assert_true(flight_of(bench, 4) <= (WINDOW_PACKETS + 1) * FULL);
	for (uint32_t side = 0; side < 2; side++) // the sum that is kept is that of all
		share_audit(bench->ends[side], endpoint_qp(bench->ends[side], 0));
}

static void random_wires_deliver_all_within_one_window(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 60; seed++) {
		struct transport_config config = shared_config();
		config.sack_bytes = 4 * FULL;
		struct bench *bench = bench_open(&config, 4, 0, seed);
		bench->jitter_ps = (ps_t)(seed % 4) * PS_PER_US;
		bench->loss_ppm = seed % 3 * 5000;
		bench->trim_ppm = seed % 5 * 3000;
		bench->control_loss_ppm = seed % 2 * 5000;
		bench->on_send = on_send;
		for (uint32_t i = 0; i < 40; i++)
			assert_int_equal(bench_post(bench, 0, i % 4, 1 + 977 * i, 0), 0);
		bench_run(bench, BENCH_TO_THE_END);
		assert_int_equal(endpoint_counters(bench->ends[0])->messages_sent, 40);
		bench_check_empty(bench);
		bench_close(bench);
	}
}

static void what_cannot_be_shared_is_refused(void **state)
{
	(void)state;
	static _Alignas(64) uint8_t memory[1 << 20];
	struct endpoint *endpoint;
	struct refusal refusal;
	struct arena arena;
	for (int i = 0; i < 6; i++) {
		struct transport_config config = shared_config();
		arena_init(&arena, memory, sizeof(memory));
		config.kind = i == 1 ? TRANSPORT_RC : TRANSPORT_MRC;
		config.contexts = i == 2 ? 2 : 0;
		config.sleek = i == 3;
		config.cc.name = i == 4 ? "rccc" : i == 5 ? "nscc_rccc" : "fixed";
		assert_int_equal(endpoint_create(&endpoint, &arena, &config, 0, 4, 1, &refusal),
				 i == 0 ? 0 : -EINVAL);
	}
}
