// SPDX-License-Identifier: Apache-2.0
// A rate paces: when a QP of RC may send its next packet, who may send meanwhile, and that a QP
// which waits ends like any other.
#include "../transport_bench.h"

#include "rc/rc.h"

#include <errno.h>

#include <weft/core/opcode.h>

#define FULL 1024u
#define WIRE 1088u
#define LINE_BPS 100000000000u

static struct bench *open_bench(uint32_t qps, uint32_t cnp_us)
{
	struct transport_config config = bench_config();
	config.kind = TRANSPORT_RC;
	config.planes = 1;
	config.cnp_ps = cnp_us * PS_PER_US;
	config.rto_ps = 200 * PS_PER_US;
	config.cc = (struct cc_config){.name = "dcqcn",
				       .rate_bps = LINE_BPS,
				       .base_rtt_ps = 3 * PS_PER_US,
				       .mtu_bytes = WIRE};
	return bench_open(&config, qps, 0, 1);
}

static struct qp *qp_of(struct bench *bench, uint32_t qpn)
{
	return endpoint_qp(bench->ends[0], qpn);
}

static uint32_t take(struct bench *bench, uint32_t side)
{
	return endpoint_next(bench->ends[side], 0, bench->now, &bench->out);
}

static void give(struct bench *bench, uint32_t side, uint32_t index)
{
	endpoint_receive(bench->ends[side], index, bench->now, &bench->out);
	bench_poll(bench, side);
}

// Takes a packet that must be there, and loses it; returns whose it was.
static uint32_t take_one(struct bench *bench)
{
	uint32_t index = take(bench, 0);
	assert_int_not_equal(index, PACKET_NONE);
	uint32_t qpn = packet_at(&bench->packets, index)->qpn;
	packet_put(&bench->packets, index);
	return qpn;
}

static ps_t gap_ps(uint64_t rate_bps)
{
	return (ps_t)(UINT64_C(8000000000000) * WIRE / rate_bps);
}

static void packets_leave_at_the_rate_and_not_before(void **state)
{
	(void)state;
	static const uint64_t rates[] = {LINE_BPS, LINE_BPS / 2, 12345678901, 100000000};
	for (int i = 0; i < 4; i++) {
		struct bench *bench = open_bench(1, 50);
		struct endpoint *endpoint = bench->ends[0];
		ps_t gap = gap_ps(rates[i]);
		qp_of(bench, 0)->cc.rate_bps = rates[i];
		bench_post(bench, 0, 0, 40 * FULL, 0);
		assert_true(endpoint_next_at(endpoint) == PS_NEVER); // nobody waits yet
		for (int n = 0; n < 40; n++) {
			take_one(bench);
			if (n == 39)
				break;
			bench->now += gap - 1;
			assert_int_equal(take(bench, 0), PACKET_NONE);
			assert_true(endpoint_has_work(endpoint));
			assert_true(endpoint_next_at(endpoint) == bench->now + 1);
			bench->now++;
		}
		assert_int_equal(take(bench, 0), PACKET_NONE);
		assert_true(endpoint_next_at(endpoint) == PS_NEVER && !endpoint_has_work(endpoint));
		bench_close(bench);
	}
}

static void a_qp_that_idled_has_saved_nothing_up(void **state)
{
	(void)state;
	struct bench *bench = open_bench(1, 50);
	qp_of(bench, 0)->cc.rate_bps = LINE_BPS / 10;
	bench_post(bench, 0, 0, FULL, 0);
	take_one(bench);
	bench->now = 100 * PS_PER_US;
	bench_post(bench, 0, 0, 2 * FULL, 0);
	take_one(bench); // one at once, the next at the rate
	assert_int_equal(take(bench, 0), PACKET_NONE);
	assert_true(endpoint_next_at(bench->ends[0]) == bench->now + gap_ps(LINE_BPS / 10));
	bench_close(bench);
}

static void others_send_while_one_waits(void **state)
{
	(void)state;
	struct bench *bench = open_bench(3, 50);
	uint32_t count[3] = {0};
	qp_of(bench, 0)->cc.rate_bps = LINE_BPS / 10;
	qp_of(bench, 1)->cc.rate_bps = LINE_BPS / 5;
	for (uint32_t qpn = 0; qpn < 3; qpn++)
		bench_post(bench, 0, qpn, 200 * FULL, 0);
	for (int n = 0; n < 100; n++) {
		count[take_one(bench)]++;
		bench->now += gap_ps(LINE_BPS);
	}
	assert_in_range(count[0], 9, 11);
	assert_in_range(count[1], 19, 21);
	assert_int_equal(count[0] + count[1] + count[2], 100);
	bench_close(bench);
}

static void a_post_does_not_hurry_a_qp_that_waits(void **state)
{
	(void)state;
	struct bench *bench = open_bench(1, 50);
	qp_of(bench, 0)->cc.rate_bps = LINE_BPS / 10;
	bench_post(bench, 0, 0, 2 * FULL, 0);
	take_one(bench);
	for (int i = 0; i < 3; i++) {
		assert_int_equal(take(bench, 0), PACKET_NONE);
		bench_post(bench, 0, 0, FULL, 0);
	}
	assert_int_equal(take(bench, 0), PACKET_NONE);
	for (int left = 4; left > 0; left--) {
		bench->now = endpoint_next_at(bench->ends[0]);
		take_one(bench);
		assert_int_equal(take(bench, 0), PACKET_NONE);
	}
	assert_false(endpoint_has_work(bench->ends[0]));
	bench_close(bench);
}

static void a_qp_that_waits_can_be_reset(void **state)
{
	(void)state;
	struct bench *bench = open_bench(2, 50);
	qp_of(bench, 0)->cc.rate_bps = LINE_BPS / 10;
	bench_post(bench, 0, 0, 2 * FULL, 0);
	take_one(bench);
	assert_int_equal(take(bench, 0), PACKET_NONE);
	assert_int_equal(endpoint_reset(bench->ends[0], 0), 0);
	assert_false(endpoint_has_work(bench->ends[0]));
	assert_true(endpoint_next_at(bench->ends[0]) == PS_NEVER);
	bench_close(bench);
}

static void a_qp_that_failed_while_it_waits_sends_nothing(void **state)
{
	(void)state;
	struct bench *bench = open_bench(1, 50);
	qp_of(bench, 0)->cc.rate_bps = LINE_BPS / 10;
	bench_post(bench, 0, 0, 2 * FULL, 0);
	take_one(bench);
	assert_int_equal(take(bench, 0), PACKET_NONE);
	qp_fail(bench->ends[0], qp_of(bench, 0), QP_FAILURE_REMOTE);
	bench->now = endpoint_next_at(bench->ends[0]);
	assert_int_equal(take(bench, 0), PACKET_NONE);
	assert_false(endpoint_has_work(bench->ends[0]));
	bench_poll(bench, 0);
	bench_close(bench);
}

// The timers of congestion control are brought up when a packet leaves, so none is in the
// endpoint's heap, and the rate is what it would be.
static void the_rate_grows_between_departures(void **state)
{
	(void)state;
	struct bench *bench = open_bench(1, 50);
	struct qp *qp = qp_of(bench, 0);
	bench_post(bench, 0, 0, 3 * FULL, 0);
	rc_send_on_cnp(bench->ends[0], qp, 0);
	assert_int_equal(qp->cc.rate_bps, LINE_BPS / 2);
	bench->now = 111 * PS_PER_US; // two increases, by time
	take_one(bench);
	assert_int_equal(qp->cc.rate_bps, LINE_BPS / 8 * 7);
	assert_true(rc_of(qp)->next_at_ps == bench->now + gap_ps(LINE_BPS / 8 * 7));
	assert_false(qp->has_cc_timer);
	bench_close(bench);
}

// A QP at 10 Mb/s sends a packet per 870 us: each asks for its ACK, else the timer, of 200 us,
// would ring before the four come together that cause one.
static void a_slow_qp_asks_for_an_ack_each_time(void **state)
{
	(void)state;
	struct bench *bench = open_bench(1, 50);
	qp_of(bench, 0)->cc.rate_bps = 10000000;
	bench_post(bench, 0, 0, 20 * FULL, 0);
	bench->now = PS_PER_S;
	for (int n = 0; n < 20; n++) {
		uint32_t index = take(bench, 0);
		assert_int_not_equal(index, PACKET_NONE);
		assert_true(packet_at(&bench->packets, index)->bth & PACKET_AR);
		packet_put(&bench->packets, index);
		bench->now += gap_ps(10000000);
	}
	bench_close(bench);
}

// A marked packet on each of two QPs every microsecond, for 200 us.
static void check_cnps(uint32_t interval_us)
{
	struct bench *bench = open_bench(2, interval_us);
	for (uint32_t qpn = 0; qpn < 2; qpn++) { // nobody is to slow down
		qp_of(bench, qpn)->cc.ops = cc_find("fixed");
		qp_of(bench, qpn)->cc.rate_bps = 0;
	}
	uint32_t seen[2] = {0};
	for (uint32_t us = 0; us < 200; us++) {
		bench->now = us * PS_PER_US;
		for (uint32_t qpn = 0; qpn < 2; qpn++)
			bench_post(bench, 0, qpn, 1, 0);
		for (uint32_t i = 0; i < 2; i++) {
			uint32_t index = take(bench, 0);
			packet_at(&bench->packets, index)->flags |= PACKET_CE;
			give(bench, 1, index);
		}
		for (uint32_t index; (index = take(bench, 1)) != PACKET_NONE;) {
			const struct packet *packet = packet_at(&bench->packets, index);
			if (packet->opcode == RC_CNP) {
				assert_int_equal(us % interval_us, 0);
				assert_int_equal(packet->klass, PACKET_CLASS_CONTROL);
				assert_int_equal(packet->flags, 0);
				seen[packet->qpn]++;
			}
			give(bench, 0, index);
		}
	}
	assert_int_equal(seen[0], 200 / interval_us);
	assert_int_equal(seen[1], 200 / interval_us);
	assert_int_equal(endpoint_counters(bench->ends[1])->marks_received, 400);
	assert_int_equal(endpoint_counters(bench->ends[1])->cnps_sent, 400 / interval_us);
	assert_int_equal(endpoint_counters(bench->ends[0])->cnps_received, 400 / interval_us);
	bench_check_empty(bench);
	bench_close(bench);
}

static void marks_cause_one_cnp_per_qp_and_interval(void **state)
{
	(void)state;
	check_cnps(50);
	check_cnps(8);
}

static void mrc_is_refused_an_algorithm_with_a_rate(void **state)
{
	(void)state;
	static _Alignas(64) uint8_t memory[1 << 20];
	struct transport_config config = bench_config();
	struct arena arena;
	struct endpoint *endpoint;
	struct refusal refusal;
	arena_init(&arena, memory, sizeof(memory));
	config.cc.name = "dcqcn";
	assert_int_equal(endpoint_create(&endpoint, &arena, &config, 0, 1, 1, &refusal), -EINVAL);
}
