// SPDX-License-Identifier: Apache-2.0
// Credits packet by packet: whose turn it is, how far apart they leave, and what a credit that was
// lost, overtaken or made up does.
#include "transport_bench.h"

#include <errno.h>

#include <weft/core/opcode.h>

#define FULL 1024u
#define WIRE 1088u
#define RATE_BPS 100000000000u

static struct bench *open_window(uint32_t qps, uint64_t window_bytes)
{
	struct transport_config config = bench_config();
	config.planes = 1;
	config.cc = (struct cc_config){.name = "rccc",
				       .rate_bps = RATE_BPS,
				       .base_rtt_ps = 3 * PS_PER_US,
				       .mtu_bytes = WIRE,
				       .max_cwnd_bytes = window_bytes,
				       .has_trimming = true};
	return bench_open(&config, qps, 0, 1);
}

static struct bench *open_bench(uint32_t qps)
{
	return open_window(qps, 0);
}

// What NIC 1 has to say at once: counts credits, and gives all of it to NIC 0 or drops the credits.
static uint32_t pass_answers(struct bench *bench, bool has_credits, uint32_t *ret_qpn)
{
	uint32_t credits = 0;
	for (uint32_t index;
	     (index = endpoint_next(bench->ends[1], 0, bench->now, &bench->out)) != PACKET_NONE;) {
		const struct packet *packet = packet_at(&bench->packets, index);
		bool is_credit = packet->opcode == PACKET_CREDIT;
		if (is_credit) {
			assert_int_equal(packet->klass, PACKET_CLASS_CONTROL);
			credits++;
			*ret_qpn = packet->qpn;
		}
		if (is_credit && !has_credits)
			packet_put(&bench->packets, index);
		else
			endpoint_receive(bench->ends[0], index, bench->now, &bench->out);
		bench_poll(bench, 0);
	}
	return credits;
}

// All that NIC 0 may send now reaches NIC 1. Returns how many packets that were.
static uint32_t send_all(struct bench *bench)
{
	uint32_t count = 0;
	for (uint32_t index;
	     (index = endpoint_next(bench->ends[0], 0, bench->now, &bench->out)) != PACKET_NONE;) {
		endpoint_receive(bench->ends[1], index, bench->now, &bench->out);
		bench_poll(bench, 1);
		count++;
	}
	return count;
}

static void credits_leave_in_turn_at_the_pace_of_the_lines(void **state)
{
	(void)state;
	enum { QPS = 3 };
	struct bench *bench = open_bench(QPS);
	uint32_t last = QPS, seen = 0;
	ps_t gap = (ps_t)(4.0 * WIRE * 8e12 / (0.99 * RATE_BPS));
	for (uint32_t qpn = 0; qpn < QPS; qpn++)
		assert_int_equal(bench_post(bench, 0, qpn, 40 * FULL, 0), 0);
	assert_int_equal(send_all(bench), QPS * (56250 / WIRE > 40 ? 40 : 56250 / WIRE));
	for (ps_t at = bench->now; seen < 24; at += gap) {
		uint32_t qpn = QPS;
		ps_t wake_at = endpoint_wake_at(bench->ends[1]);
		assert_in_range(wake_at + 2 - at, 0, 4); // rounding
		bench->now = at = wake_at;
		endpoint_on_time(bench->ends[1], bench->now, &bench->out);
		assert_int_equal(pass_answers(bench, true, &qpn), 1);
		assert_int_not_equal(qpn, last);
		last = qpn;
		seen++;
	}
	assert_int_equal(endpoint_counters(bench->ends[1])->grants_sent, 24);
	assert_int_equal(endpoint_counters(bench->ends[0])->grants_received, 24);
	bench_close(bench);
}

// Half of what comes is trimmed before the last hop: the receiver grants at half of its pace then,
// and at all of it where nobody controls that.
static ps_t gap_behind_trims(enum throttle_rule rule, uint8_t trim_flags)
{
	struct transport_config config = bench_config();
	config.planes = 1;
	config.throttle = rule;
	config.trunk_ppb = 250000000;
	config.cc = (struct cc_config){.name = "rccc",
				       .rate_bps = RATE_BPS,
				       .base_rtt_ps = 3 * PS_PER_US,
				       .mtu_bytes = WIRE,
				       .has_trimming = true};
	struct bench *bench = bench_open(&config, 1, 0, 1);
	uint32_t index, count = 0, qpn;
	bench_post(bench, 0, 0, 40 * FULL, 0);
	while ((index = endpoint_next(bench->ends[0], 0, bench->now, &bench->out)) != PACKET_NONE) {
		packet_at(&bench->packets, index)->flags |= count++ % 2 ? trim_flags : 0;
		endpoint_receive(bench->ends[1], index, bench->now, &bench->out);
		bench_poll(bench, 1);
	}
	assert_int_equal(count, 40);
	bench->now += 6 * PS_PER_US; // one step of 3.4 to 5.6 us
	endpoint_on_time(bench->ends[1], bench->now, &bench->out);
	assert_int_equal(pass_answers(bench, true, &qpn), 1);
	ps_t gap = endpoint_wake_at(bench->ends[1]) - bench->now;
	bench_close(bench);
	return gap;
}

static void a_receiver_grants_less_when_trunks_trim(void **state)
{
	(void)state;
	const uint8_t trunk = PACKET_TRIMMED, last = PACKET_TRIMMED | PACKET_TRIMMED_LAST;
	ps_t plain = (ps_t)(4.0 * WIRE * 8e12 / (0.99 * RATE_BPS));
	assert_in_range(gap_behind_trims(THROTTLE_OFF, trunk) - plain, 0, 1);
	assert_in_range(gap_behind_trims(THROTTLE_AUTO, trunk) - 2 * plain, 0, 2);
	assert_in_range(gap_behind_trims(THROTTLE_ON, trunk) - 2 * plain, 0, 2);
	assert_in_range(gap_behind_trims(THROTTLE_AUTO, last) - plain, 0, 1);
}

// NIC 1 says what it owes until it owes nothing more: all in one turn each, with credits or
// without.
static uint32_t settle(struct bench *bench, bool has_credits)
{
	uint32_t credits = 0, qpn;
	for (int i = 0; i < 100 && endpoint_wake_at(bench->ends[1]) != PS_NEVER; i++) {
		bench->now = ps_max(bench->now, endpoint_wake_at(bench->ends[1]));
		endpoint_on_time(bench->ends[1], bench->now, &bench->out);
		credits += pass_answers(bench, has_credits, &qpn);
	}
	return credits;
}

// With all credits lost the sender comes to a stand. After a while it sends a packet without, and
// the credit for that tells all that was granted.
static void a_later_credit_makes_up_for_lost_ones(void **state)
{
	(void)state;
	struct bench *bench = open_bench(1);
	struct qp *qp = endpoint_qp(bench->ends[0], 0);
	bench_post(bench, 0, 0, 1000 * FULL, 0);
	uint32_t first = send_all(bench);
	assert_int_equal(first, 56250 / WIRE);
	assert_int_equal(settle(bench, false), (first + 3) / 4);
	assert_int_equal(send_all(bench), 0);
	assert_true(qp->inflight == 0 && qp->cc.window_bytes < WIRE);
	assert_in_range(endpoint_wake_at(bench->ends[0]), bench->now, PS_PER_MS + bench->now);
	while (qp->cc.wake_at != PS_NEVER) {
		bench->now = endpoint_wake_at(bench->ends[0]);
		endpoint_on_time(bench->ends[0], bench->now, &bench->out);
	}
	assert_int_equal(send_all(bench), 1);
	settle(bench, true);
	assert_in_range(qp->cc.window_bytes, 50 * WIRE, 52 * WIRE);
	bench_close(bench);
}

// A credit of whole packets is used up by the last of them, and only that one asks for a SACK.
static void only_the_last_packet_of_a_credit_asks(void **state)
{
	(void)state;
	enum { PACKETS = 8 };
	struct bench *bench = open_window(1, PACKETS * WIRE);
	bench_post(bench, 0, 0, 1000 * FULL, 0);
	for (uint32_t i = 1; i <= PACKETS; i++) {
		uint32_t index = endpoint_next(bench->ends[0], 0, bench->now, &bench->out);
		assert_int_not_equal(index, PACKET_NONE);
		assert_int_equal((packet_at(&bench->packets, index)->bth & PACKET_AR) != 0,
				 i == PACKETS);
		packet_put(&bench->packets, index);
	}
	assert_int_equal(endpoint_next(bench->ends[0], 0, bench->now, &bench->out), PACKET_NONE);
	bench_close(bench);
}

static uint32_t credit(struct bench *bench, uint32_t granted)
{
	uint32_t index = packet_get(&bench->packets);
	*packet_at(&bench->packets, index) = (struct packet){
		.source = 1, .target = 0, .opcode = PACKET_CREDIT, .u.credit.granted = granted};
	endpoint_receive(bench->ends[0], index, bench->now, &bench->out);
	return endpoint_qp(bench->ends[0], 0)->cc.window_bytes;
}

static void an_overtaken_or_made_up_credit_does_no_harm(void **state)
{
	(void)state;
	struct bench *bench = open_bench(1);
	struct qp *qp = endpoint_qp(bench->ends[0], 0);
	uint32_t most = qp->cc.window_bytes;
	qp->cc.credit_bytes = 0;
	assert_int_equal(credit(bench, 5000), 5000);
	assert_int_equal(credit(bench, 3000), 5000); // older
	assert_int_equal(credit(bench, 5000), 5000); // twice
	assert_int_equal(credit(bench, 7000), 7000);
	assert_int_equal(credit(bench, 7000u + INT32_MAX), 2 * most);
	qp->credited = UINT32_MAX - 1000;
	qp->cc.credit_bytes = 0;
	assert_int_equal(credit(bench, 999), 2000); // the count comes round
	bench_close(bench);
}

static void who_knows_no_credits_refuses_them(void **state)
{
	(void)state;
	struct transport_config config = bench_config();
	struct bench *bench = bench_open(&config, 1, 0, 1);
	uint32_t window = endpoint_qp(bench->ends[0], 0)->cc.window_bytes;
	assert_int_equal(credit(bench, 5000), window);
	assert_int_equal(endpoint_counters(bench->ends[0])->refused[REFUSED_OPCODE], 1);
	bench_close(bench);
}

static void a_qp_that_is_owed_can_be_reset(void **state)
{
	(void)state;
	struct bench *bench = open_bench(3);
	uint32_t qpn;
	for (uint32_t i = 0; i < 3; i++)
		bench_post(bench, 0, i, FULL, 0);
	send_all(bench);
	assert_int_equal(endpoint_reset(bench->ends[1], 1), 0);
	for (uint32_t seen = 0; seen < 2; seen++) {
		bench->now = ps_max(bench->now, endpoint_wake_at(bench->ends[1]));
		endpoint_on_time(bench->ends[1], bench->now, &bench->out);
		assert_int_equal(pass_answers(bench, true, &qpn), 1);
		assert_int_not_equal(qpn, 1);
	}
	bench_close(bench);
}

static void contexts_that_are_taken_away_are_refused(void **state)
{
	(void)state;
	static uint8_t memory[1 << 20];
	struct transport_config config = bench_config();
	struct arena arena;
	struct endpoint *endpoint;
	struct refusal refusal;
	arena_init(&arena, memory, sizeof(memory));
	config.cc.name = "rccc";
	config.contexts = 2;
	assert_int_equal(endpoint_create(&endpoint, &arena, &config, 0, 4, 1, &refusal), -EINVAL);
	config.contexts = 0;
	config.kind = TRANSPORT_RC;
	assert_int_equal(endpoint_create(&endpoint, &arena, &config, 0, 4, 1, &refusal), -EINVAL);
}

// The last in the row of those that are owed leaves it; who is owed next has its turn all the same.
static void who_comes_behind_one_that_left_has_its_turn(void **state)
{
	(void)state;
	struct bench *bench = open_bench(3);
	uint32_t qpn, seen = 0;
	for (uint32_t i = 0; i < 2; i++)
		bench_post(bench, 0, i, FULL, 0);
	send_all(bench);
	assert_int_equal(endpoint_reset(bench->ends[1], 1), 0);
	bench_post(bench, 0, 2, FULL, 0);
	send_all(bench);
	for (uint32_t turn = 0; turn < 2; turn++) {
		assert_true(endpoint_wake_at(bench->ends[1]) != PS_NEVER);
		bench->now = ps_max(bench->now, endpoint_wake_at(bench->ends[1]));
		endpoint_on_time(bench->ends[1], bench->now, &bench->out);
		assert_int_equal(pass_answers(bench, true, &qpn), 1);
		seen |= 1u << qpn;
	}
	assert_int_equal(seen, 1u << 0 | 1u << 2);
	bench_close(bench);
}
