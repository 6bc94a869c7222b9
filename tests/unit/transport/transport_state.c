// SPDX-License-Identifier: Apache-2.0
// The states of a QP: which way leads where, what is done in each, and that nothing of an old life
// reaches a new one.

#include <errno.h>

#include "transport_bench.h"

static struct qp_config peer_of(uint32_t side, uint32_t first_psn)
{
	return (struct qp_config){
		.local_nic = side, .remote_nic = 1 - side, .id = side, .first_psn = first_psn};
}

static struct bench *bench_in_reset(uint64_t seed)
{
	struct transport_config config = bench_config();
	struct bench *bench = bench_open(&config, 1, 0, seed);
	assert_int_equal(endpoint_reset(bench->ends[0], 0), 0);
	assert_int_equal(endpoint_reset(bench->ends[1], 0), 0);
	return bench;
}

static enum qp_state state_of(const struct bench *bench, uint32_t side)
{
	struct qp_view view;
	assert_int_equal(endpoint_query(bench->ends[side], 0, &view), 0);
	return view.state;
}

static void enter(struct bench *bench, uint32_t side, enum qp_state state)
{
	struct qp_config config = peer_of(side, 100);
	assert_int_equal(endpoint_reset(bench->ends[side], 0), 0);
	if (state != QP_RESET)
		assert_int_equal(endpoint_open(bench->ends[side], 0), 0);
	if (state == QP_ERROR)
		assert_int_equal(endpoint_fail(bench->ends[side], 0), 0);
	if (state == QP_RTR || state == QP_RTS)
		assert_int_equal(
			endpoint_ready_to_receive(bench->ends[side], 0, &config, bench->now), 0);
	if (state == QP_RTS)
		assert_int_equal(endpoint_ready_to_send(bench->ends[side], 0, bench->now), 0);
	assert_int_equal(state_of(bench, side), state);
}

// What each call returns in each state, and where it leads.
static void only_the_ways_there_are_lead_on(void **state)
{
	static const struct {
		enum qp_state from, open, receive, send, connect, fail;
		int post;
	} ways[] = {
		{QP_RESET, QP_INIT, QP_RESET, QP_RESET, QP_RTS, QP_RESET, -ENOTCONN},
		{QP_INIT, QP_INIT, QP_RTR, QP_INIT, QP_INIT, QP_ERROR, -ENOTCONN},
		{QP_RTR, QP_RTR, QP_RTR, QP_RTS, QP_RTR, QP_ERROR, -ENOTCONN},
		{QP_RTS, QP_RTS, QP_RTS, QP_RTS, QP_RTS, QP_ERROR, 0},
		{QP_ERROR, QP_ERROR, QP_ERROR, QP_ERROR, QP_ERROR, QP_ERROR, -ECONNRESET},
	};
	struct bench *bench = bench_in_reset(1);
	struct endpoint *endpoint = bench->ends[0];
	struct qp_config config = peer_of(0, 100);
	for (uint32_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
		enum qp_state from = ways[i].from;
		enter(bench, 0, from);
		int rc = endpoint_open(endpoint, 0);
		assert_int_equal(rc, ways[i].open == from ? -EINVAL : 0);
		assert_int_equal(state_of(bench, 0), ways[i].open);
		enter(bench, 0, from);
		rc = endpoint_ready_to_receive(endpoint, 0, &config, 0);
		assert_int_equal(rc, ways[i].receive == from ? -EINVAL : 0);
		assert_int_equal(state_of(bench, 0), ways[i].receive);
		enter(bench, 0, from);
		rc = endpoint_ready_to_send(endpoint, 0, 0);
		assert_int_equal(rc, ways[i].send == from ? -EINVAL : 0);
		assert_int_equal(state_of(bench, 0), ways[i].send);
		enter(bench, 0, from);
		rc = endpoint_connect(endpoint, 0, &config, 0);
		assert_int_equal(rc, ways[i].connect == from ? -EINVAL : 0);
		assert_int_equal(state_of(bench, 0), ways[i].connect);
		enter(bench, 0, from);
		rc = endpoint_fail(endpoint, 0);
		assert_int_equal(rc, from == QP_RESET ? -EINVAL : 0);
		assert_int_equal(state_of(bench, 0), ways[i].fail);
		enter(bench, 0, from);
		assert_int_equal(bench_post(bench, 0, 0, 1000, 0), ways[i].post);
	}
	bench_close(bench);
}

static void a_qp_that_cannot_be_is_refused(void **state)
{
	struct bench *bench = bench_in_reset(1);
	struct endpoint *endpoint = bench->ends[0];
	struct qp_config foreign = peer_of(0, 0), long_id = foreign, long_qpn = foreign;
	struct qp_view view;
	foreign.local_nic = 1;
	long_id.id = UINT64_C(1) << 56;
	long_qpn.remote_qpn = 1u << 24;
	assert_int_equal(endpoint_connect(endpoint, 0, &foreign, 0), -EINVAL);
	assert_int_equal(endpoint_connect(endpoint, 0, &long_id, 0), -EINVAL);
	assert_int_equal(endpoint_connect(endpoint, 0, &long_qpn, 0), -EINVAL);
	assert_int_equal(state_of(bench, 0), QP_RESET);
	assert_int_equal(endpoint_open(endpoint, 1), -EINVAL);
	assert_int_equal(endpoint_ready_to_send(endpoint, 1, 0), -EINVAL);
	assert_int_equal(endpoint_fail(endpoint, 1), -EINVAL);
	assert_int_equal(endpoint_reset(endpoint, 1), -EINVAL);
	assert_int_equal(endpoint_query(endpoint, 1, &view), -EINVAL);
	bench_close(bench);
}

static void ready_to_receive_takes_and_answers_but_does_not_send(void **state)
{
	struct bench *bench = bench_in_reset(2);
	enter(bench, 0, QP_RTS);
	enter(bench, 1, QP_RTR);
	assert_int_equal(bench_post(bench, 0, 0, 20000, 7), 0);
	assert_int_equal(bench_post(bench, 1, 0, 1000, 8), -ENOTCONN);
	bench_run(bench, BENCH_TO_THE_END);
	assert_int_equal(bench->log_count[0], 1);
	assert_int_equal(bench->log[0][0].kind, COMPLETION_SENT);
	assert_int_equal(bench->log_count[1], 1);
	assert_int_equal(bench->log[1][0].imm, 7);
	assert_int_equal(endpoint_counters(bench->ends[1])->data_packets, 0);
	assert_int_equal(endpoint_ready_to_send(bench->ends[1], 0, bench->now), 0);
	assert_int_equal(bench_post(bench, 1, 0, 1000, 8), 0);
	bench_run(bench, BENCH_TO_THE_END);
	assert_int_equal(bench->log_count[0], 2);
	assert_int_equal(bench->log[0][1].imm, 8);
	bench_check_empty(bench);
	bench_close(bench);
}

static void before_and_after_life_packets_are_dropped(void **state)
{
	static const enum qp_state dead[] = {QP_RESET, QP_INIT, QP_ERROR};
	for (uint32_t i = 0; i < sizeof(dead) / sizeof(dead[0]); i++) {
		struct bench *bench = bench_in_reset(3);
		enter(bench, 0, QP_RTS);
		enter(bench, 1, dead[i]);
		assert_int_equal(bench_post(bench, 0, 0, 1000, 7), 0);
		bench_run(bench, 30 * PS_PER_US);
		assert_int_equal(endpoint_counters(bench->ends[1])->no_qp, 1);
		assert_int_equal(endpoint_counters(bench->ends[1])->sacks_sent, 0);
		assert_int_equal(bench->log_count[0], 0);
		bench_close(bench);
	}
}

static void a_qp_that_is_failed_gives_back_what_was_posted(void **state)
{
	struct bench *bench = bench_in_reset(4);
	enter(bench, 0, QP_RTS);
	enter(bench, 1, QP_RTS);
	for (uint32_t imm = 1; imm <= 3; imm++)
		assert_int_equal(bench_post(bench, 0, 0, 50000, imm), 0);
	bench_run(bench, 2 * PS_PER_US);
	assert_int_equal(endpoint_fail(bench->ends[0], 0), 0);
	assert_int_equal(endpoint_fail(bench->ends[0], 0), 0); // once more changes nothing
	bench_run(bench, BENCH_TO_THE_END);
	assert_int_equal(bench->log_count[0], 3);
	for (uint32_t i = 0; i < 3; i++) {
		assert_int_equal(bench->log[0][i].kind, COMPLETION_FLUSHED);
		assert_int_equal(bench->log[0][i].failure, QP_FAILURE_PROGRAM);
		assert_int_equal(bench->log[0][i].cookie, i + 1);
	}
	assert_int_equal(endpoint_counters(bench->ends[0])->qps_failed, 1);
	bench_check_empty(bench);
	bench_close(bench);
}

// Resets both ends at `at`, with everything under way, and lets a new life begin at once: packets
// of the old one are still on the wire.
static void live_again(struct bench *bench, ps_t at, uint32_t first_psn)
{
	for (uint32_t imm = 1; imm <= 10; imm++)
		assert_int_equal(bench_post(bench, 0, 0, 30000, imm), 0);
	bench_run(bench, at);
	for (uint32_t side = 0; side < 2; side++) {
		struct qp_config config = peer_of(side, first_psn);
		assert_int_equal(endpoint_reset(bench->ends[side], 0), 0);
		assert_false(endpoint_has_events(bench->ends[side]));
		assert_int_equal(endpoint_wake_at(bench->ends[side]), PS_NEVER);
		assert_int_equal(endpoint_connect(bench->ends[side], 0, &config, bench->now), 0);
		bench->log_count[side] = 0;
	}
}

static void a_new_life_sees_nothing_of_the_old_one(void **state)
{
	for (uint64_t seed = 1; seed <= 20; seed++) {
		struct transport_config config = bench_config();
		struct bench *bench = bench_open(&config, 1, 7, seed);
		bench->loss_ppm = bench->duplicate_ppm = 50000;
		bench->jitter_ps = PS_PER_US;
		for (uint32_t life = 1; life <= 5; life++) {
			ps_t at = bench->now + (ps_t)life * 3 * PS_PER_US;
			live_again(bench, at, 100000 * life);
			assert_int_equal(bench_post(bench, 0, 0, 30000, 77), 0);
			assert_int_equal(bench_post(bench, 1, 0, 30000, 88), 0);
			bench_run(bench, BENCH_TO_THE_END);
			assert_int_equal(bench->log_count[0], 2);
			assert_int_equal(bench->log_count[1], 2);
			for (uint32_t i = 0; i < 2; i++) { // one is RECEIVED, one SENT
				assert_true(bench->log[0][i].kind == COMPLETION_SENT ||
					    bench->log[0][i].imm == 88);
				assert_true(bench->log[1][i].kind == COMPLETION_SENT ||
					    bench->log[1][i].imm == 77);
			}
			bench_check_empty(bench);
			bench->log_count[0] = bench->log_count[1] = 0;
		}
		assert_int_equal(endpoint_counters(bench->ends[0])->qps_failed, 0);
		bench_close(bench);
	}
}

static void completions_that_were_not_polled_are_forgotten(void **state)
{
	struct transport_config config = bench_config();
	struct bench *bench = bench_open(&config, 3, 0, 1);
	for (uint32_t qpn = 0; qpn < 3; qpn++)
		assert_int_equal(bench_post(bench, 0, qpn, 1000, qpn + 1), 0);
	for (uint32_t qpn = 0; qpn < 3; qpn++)
		assert_int_equal(endpoint_fail(bench->ends[0], qpn), 0);
	assert_int_equal(endpoint_reset(bench->ends[0], 1), 0); // in the middle of the list
	bench_poll(bench, 0);
	assert_int_equal(bench->log_count[0], 2);
	assert_int_equal(bench->log[0][0].qp, 0);
	assert_int_equal(bench->log[0][1].qp, 2);
	bench_close(bench);
}

static void a_reset_leaves_the_queue_of_the_others_whole(void **state)
{
	for (uint32_t which = 0; which < 4; which++) {
		struct transport_config config = bench_config();
		struct bench *bench = bench_open(&config, 4, 0, 1);
		for (uint32_t qpn = 0; qpn < 4; qpn++)
			assert_int_equal(bench_post(bench, 0, qpn, 5000, qpn + 1), 0);
		assert_int_equal(endpoint_reset(bench->ends[0], which), 0);
		bench_run(bench, BENCH_TO_THE_END);
		assert_int_equal(bench->log_count[0], 3);
		assert_int_equal(bench->log_count[1], 3);
		for (uint32_t i = 0; i < 3; i++)
			assert_int_not_equal(bench->log[1][i].imm, which + 1);
		bench_check_empty(bench);
		bench_close(bench);
	}
}

// ---------------------------------------------------------------- what both ends agree on

static void the_smaller_side_rules(void **state)
{
	struct bench *bench = bench_in_reset(5);
	struct qp_config config = peer_of(0, 0);
	struct qp_view view;
	assert_int_equal(endpoint_connect(bench->ends[0], 0, &config, 0), 0);
	assert_int_equal(endpoint_query(bench->ends[0], 0, &view), 0);
	assert_int_equal(view.mtu, 1024); // nothing was told
	assert_int_equal(view.mpr, 256);
	assert_int_equal(view.wimm_max, 32);
	assert_int_equal(view.capabilities, QP_CAN_TRIM_NACK);
	config.mtu = 512;
	config.mpr_dest = 100;
	config.wimm_max_dest = 5;
	config.capabilities = QP_NOTIFIED | QP_CAN_DYNAMIC_MPR;
	assert_int_equal(endpoint_reset(bench->ends[0], 0), 0);
	assert_int_equal(endpoint_connect(bench->ends[0], 0, &config, 0), 0);
	assert_int_equal(endpoint_query(bench->ends[0], 0, &view), 0);
	assert_int_equal(view.mtu, 512);
	assert_int_equal(view.mpr, 100);
	assert_int_equal(view.wimm_max, 5);
	assert_int_equal(view.capabilities, 0);
	config.mtu = 9000;
	config.mpr_dest = 1u << 20;
	config.wimm_max_dest = 1u << 20;
	assert_int_equal(endpoint_reset(bench->ends[0], 0), 0);
	assert_int_equal(endpoint_connect(bench->ends[0], 0, &config, 0), 0);
	assert_int_equal(endpoint_query(bench->ends[0], 0, &view), 0);
	assert_int_equal(view.mtu, 1024);
	assert_int_equal(view.mpr, 256);
	assert_int_equal(view.wimm_max, 32);
	bench_close(bench);
}

static uint32_t longest_payload, imms_out, imms_out_most;

static void watch(struct bench *bench, struct packet *packet)
{
	if (packet->klass == PACKET_CLASS_DATA && packet->payload_bytes > longest_payload)
		longest_payload = packet->payload_bytes;
	const struct qp *qp = endpoint_qp(bench->ends[0], 0);
	if (qp->wimm_count > imms_out_most)
		imms_out_most = qp->wimm_count;
}

static void two_unequal_ends_work_together(void **state)
{
	struct transport_config large = bench_config(), small = large;
	small.payload_bytes = 500;
	small.cc.mtu_bytes = 564;
	small.mpr = 64;
	large.wimm_max = 64;
	longest_payload = imms_out = imms_out_most = 0;
	struct bench *bench = bench_open_two(&large, &small, 1, 0, 6);
	for (uint32_t side = 0; side < 2; side++) {
		struct qp_config config = peer_of(side, 500);
		config.mtu = side == 0 ? 500 : 1024;
		config.mpr_dest = side == 0 ? 64 : 256;
		config.wimm_max_dest = side == 0 ? 32 : 64;
		assert_int_equal(endpoint_reset(bench->ends[side], 0), 0);
		assert_int_equal(endpoint_connect(bench->ends[side], 0, &config, 0), 0);
	}
	bench->on_send = watch;
	bench->loss_ppm = 10000;
	bench->jitter_ps = PS_PER_US;
	for (uint32_t imm = 1; imm <= 60; imm++) {
		assert_int_equal(bench_post(bench, 0, 0, imm * 300, imm), 0);
		assert_int_equal(bench_post(bench, 1, 0, imm * 300, imm), 0);
	}
	bench_run(bench, BENCH_TO_THE_END);
	assert_int_equal(bench->log_count[0], 120);
	assert_int_equal(bench->log_count[1], 120);
	assert_int_equal(longest_payload, 500);
	assert_in_range(imms_out_most, 2, 32);
	for (uint32_t side = 0; side < 2; side++) {
		const struct transport_counters *counters = endpoint_counters(bench->ends[side]);
		assert_int_equal(counters->out_of_window, 0);
		assert_int_equal(transport_refused(counters), 0);
		assert_int_equal(counters->qps_failed, 0);
	}
	bench_check_empty(bench);
	bench_close(bench);
}

// The target answers trims only where the requester understands it.
static void trims_are_answered_when_both_ends_can(void **state)
{
	for (uint32_t can = 0; can < 2; can++) {
		struct bench *bench = bench_in_reset(7);
		for (uint32_t side = 0; side < 2; side++) {
			struct qp_config config = peer_of(side, 0);
			config.capabilities = QP_NOTIFIED | (can ? QP_CAN_TRIM_NACK : 0);
			assert_int_equal(endpoint_connect(bench->ends[side], 0, &config, 0), 0);
		}
		bench->trim_ppm = 100000;
		assert_int_equal(bench_post(bench, 0, 0, 60000, 1), 0);
		bench_run(bench, BENCH_TO_THE_END);
		assert_true(endpoint_counters(bench->ends[1])->trims_received > 0);
		assert_int_equal(endpoint_counters(bench->ends[1])->nacks_sent > 0, can);
		assert_int_equal(bench->log_count[1], 1);
		bench_close(bench);
	}
}
