// SPDX-License-Identifier: Apache-2.0
// The end of what a QP has to send: what is lost there is found without a retransmit timer, by one
// packet that goes again, a round trip and a hole's age after all was quiet.
#include "transport_bench.h"

#define FULL 1024u
#define HOLE_PS (5 * PS_PER_US)
#define QUIET_PS (HOLE_PS + 3 * PS_PER_US) // and the bench's base round trip

static uint32_t drops_left;
static uint8_t dropped_opcode;

static bool drops_opcode(struct bench *, const struct packet *packet)
{
	bool is_dropped = drops_left > 0 && packet->opcode == dropped_opcode;
	drops_left -= is_dropped;
	return is_dropped;
}

// The last three packets of a message of ten, once.
static bool drops_end(struct bench *, const struct packet *packet)
{
	bool is_end = packet->klass == PACKET_CLASS_DATA && packet->psn >= 7;
	bool is_dropped = is_end && drops_left > 0;
	drops_left -= is_dropped;
	return is_dropped;
}

static struct bench *open_tail(bool (*drops)(struct bench *, const struct packet *), uint32_t count,
			       ps_t hole_age_ps)
{
	struct transport_config config = bench_config();
	config.completion = COMPLETION_BY_ACK;
	config.hole_age_ps = hole_age_ps;
	config.rto_ps = PS_PER_MS;
	config.path_retry_ps = 2 * PS_PER_US;
	struct bench *bench = bench_open(&config, 1, 0, 1);
	bench->drops = drops;
	drops_left = count;
	return bench;
}

static const uint64_t *rtx_of(const struct bench *bench)
{
	return endpoint_counters(bench->ends[0])->rtx;
}

static void a_lost_ack_is_asked_for_when_all_is_quiet(void **)
{
	dropped_opcode = PACKET_ACK;
	struct bench *bench = open_tail(drops_opcode, 1, HOLE_PS);
	assert_int_equal(bench_post(bench, 0, 0, 10 * FULL, 1), 0);
	bench_run(bench, QUIET_PS + PS_PER_US);
	assert_int_equal(rtx_of(bench)[RTX_ACK], 0);
	bench_run(bench, QUIET_PS + 10 * PS_PER_US);
	assert_int_equal(rtx_of(bench)[RTX_ACK], 1);
	assert_int_equal(bench->log_count[0], 1);
	assert_int_equal(endpoint_counters(bench->ends[1])->duplicates, 1);
	bench_run(bench, BENCH_TO_THE_END);
	bench_check_empty(bench);
	bench_close(bench);
}

// The first of the three goes again by its age, once the last has come to be newer.
static void lost_last_packets_need_no_timer(void **)
{
	struct bench *bench = open_tail(drops_end, 3, HOLE_PS);
	assert_int_equal(bench_post(bench, 0, 0, 10 * FULL, 1), 0);
	bench_run(bench, 3 * QUIET_PS);
	assert_int_equal(bench->log_count[0], 1);
	assert_int_equal(bench->log_count[1], 1);
	assert_int_equal(rtx_of(bench)[RTX_ACK], 1);
	assert_int_equal(rtx_of(bench)[RTX_HOLE], 2);
	assert_int_equal(rtx_of(bench)[RTX_TIMEOUT], 0);
	bench_run(bench, BENCH_TO_THE_END);
	bench_check_empty(bench);
	bench_close(bench);
}

// Its first try and its repair are lost, and the repair left last.
static bool drops_twice(struct bench *, const struct packet *packet)
{
	bool is_dropped = packet->klass == PACKET_CLASS_DATA && packet->psn == 2 && drops_left > 0;
	drops_left -= is_dropped;
	return is_dropped;
}

static void a_repair_that_is_lost_needs_no_timer(void **)
{
	struct bench *bench = open_tail(drops_twice, 2, HOLE_PS);
	assert_int_equal(bench_post(bench, 0, 0, 400 * FULL, 1), 0);
	bench_run(bench, 12 * QUIET_PS);
	assert_int_equal(bench->log_count[0], 1);
	assert_int_equal(rtx_of(bench)[RTX_HOLE], 1);
	assert_int_equal(rtx_of(bench)[RTX_ACK], 1);
	assert_int_equal(rtx_of(bench)[RTX_TIMEOUT], 0);
	assert_int_equal(endpoint_counters(bench->ends[1])->duplicates, 0);
	bench_run(bench, BENCH_TO_THE_END);
	bench_check_empty(bench);
	bench_close(bench);
}

// The range of PSNs is full of packets of one request, and nothing is heard: the request has not
// left whole, so what goes again is its oldest packet.
static void a_full_range_is_a_tail(void **)
{
	struct transport_config config = bench_config();
	config.hole_age_ps = HOLE_PS;
	config.rto_ps = PS_PER_MS;
	config.cc.window_bytes = 300 * 1088;
	struct bench *bench = bench_open(&config, 1, 0, 1);
	dropped_opcode = PACKET_SACK;
	drops_left = UINT32_MAX;
	bench->drops = drops_opcode;
	assert_int_equal(bench_post(bench, 0, 0, 1000 * FULL, 1), 0);
	bench_run(bench, 60 * PS_PER_US);
	assert_int_equal(rtx_of(bench)[RTX_ACK], 1);
	assert_int_equal(endpoint_counters(bench->ends[1])->duplicates, 1);
	drops_left = 0;
	bench_run(bench, BENCH_TO_THE_END);
	assert_int_equal(bench->log_count[0], 1);
	bench_check_empty(bench);
	bench_close(bench);
}

// A target that says nothing is asked once, and then waited for.
static void one_packet_asks_until_something_comes(void **)
{
	dropped_opcode = PACKET_ACK;
	struct bench *bench = open_tail(drops_opcode, 2, HOLE_PS);
	bench->control_loss_ppm = 1000000;
	assert_int_equal(bench_post(bench, 0, 0, 10 * FULL, 1), 0);
	bench_run(bench, PS_PER_MS);
	assert_int_equal(rtx_of(bench)[RTX_ACK], 1);
	assert_int_equal(bench->log_count[0], 0);
	bench->control_loss_ppm = 0;
	bench_run(bench, BENCH_TO_THE_END);
	assert_int_equal(bench->log_count[0], 1);
	assert_true(rtx_of(bench)[RTX_TIMEOUT] > 0);
	bench_check_empty(bench);
	bench_close(bench);
}

static void where_holes_are_off_a_timer_is_waited_for(void **)
{
	dropped_opcode = PACKET_ACK;
	struct bench *bench = open_tail(drops_opcode, 1, 0);
	assert_int_equal(bench_post(bench, 0, 0, 10 * FULL, 1), 0);
	bench_run(bench, PS_PER_MS);
	assert_int_equal(bench->log_count[0], 0);
	bench_run(bench, BENCH_TO_THE_END);
	assert_int_equal(bench->log_count[0], 1);
	bench_close(bench);
}

// EVs are probed all the while, and each answer says that nothing new has come.
static void answers_to_probes_are_no_news(void **)
{
	struct bench *bench = open_tail(drops_end, 3, HOLE_PS);
	struct qp *qp = endpoint_qp(bench->ends[0], 0);
	assert_int_equal(bench_post(bench, 0, 0, 10 * FULL, 1), 0);
	for (uint32_t i = 0; i < 16; i++) {
		probe_retire(bench->ends[0], qp, i, bench->now);
		bench_run(bench, bench->now + 2 * PS_PER_US);
	}
	assert_true(endpoint_counters(bench->ends[0])->probes_answered > 2);
	assert_int_equal(rtx_of(bench)[RTX_ACK], 1);
	assert_int_equal(rtx_of(bench)[RTX_TIMEOUT], 0);
	bench_run(bench, BENCH_TO_THE_END);
	assert_int_equal(bench->log_count[0], 1);
	bench_close(bench);
}

// What comes in time is never asked for, however many messages end.
static void nothing_is_asked_for_that_is_not_late(void **)
{
	struct bench *bench = open_tail(NULL, 0, HOLE_PS);
	for (uint32_t i = 0; i < 50; i++) {
		assert_int_equal(bench_post(bench, 0, 0, 3 * FULL, i + 1), 0);
		bench_run(bench, bench->now + (i % 7) * 3 * PS_PER_US);
	}
	bench_run(bench, BENCH_TO_THE_END);
	assert_int_equal(bench->log_count[0], 50);
	assert_int_equal(endpoint_counters(bench->ends[1])->duplicates, 0);
	bench_check_empty(bench);
	bench_close(bench);
}

// ---------------------------------------------------------------- the timer, by hand

#define UNIT_PS (INT64_C(1) << SENT_SHIFT)
#define WAIT_PS ((QUIET_PS + UNIT_PS - 1) / UNIT_PS * UNIT_PS)

static void give(struct bench *bench, const struct packet *content)
{
	uint32_t index = packet_get(&bench->packets);
	*packet_at(&bench->packets, index) = *content;
	endpoint_receive(bench->ends[0], index, bench->now, &bench->out);
}

// One packet is out, the last of its message, and the tail's timer is the next to ring.
static struct qp *send_one(struct bench **ret_bench)
{
	struct transport_config config = bench_config();
	config.hole_age_ps = HOLE_PS;
	config.rto_ps = PS_PER_MS;
	struct bench *bench = *ret_bench = bench_open(&config, 1, 0, 1);
	bench->now = 3 * UNIT_PS;
	assert_int_equal(bench_post(bench, 0, 0, FULL, 1), 0);
	uint32_t index = endpoint_next(bench->ends[0], 0, bench->now, &bench->out);
	assert_int_not_equal(index, PACKET_NONE);
	packet_put(&bench->packets, index);
	assert_int_equal(endpoint_wake_at(bench->ends[0]), bench->now + WAIT_PS);
	return endpoint_qp(bench->ends[0], 0);
}

// Lets the tail's timer ring. Whether a packet is to go again for it.
static bool rings(struct bench *bench, const struct qp *qp)
{
	bool was_due = qp->is_ack_due;
	assert_true(qp->has_tail_timer);
	bench->now = 3 * UNIT_PS + WAIT_PS;
	endpoint_on_time(bench->ends[0], bench->now, &bench->out);
	assert_true(qp->is_ack_due == (was_due || qp->tail_probes));
	return qp->tail_probes;
}

static void the_wait_is_a_round_trip_and_the_age_of_a_hole(void **)
{
	struct bench *bench;
	struct qp *qp = send_one(&bench);
	assert_true(rings(bench, qp));
	assert_false(qp->has_tail_timer);
	bench_close(bench);
}

static void what_was_heard_puts_it_off_by_as_much(void **)
{
	struct bench *bench;
	struct qp *qp = send_one(&bench);
	qp->heard_at += 100;
	assert_false(rings(bench, qp));
	assert_true(qp->has_tail_timer);
	assert_int_equal(endpoint_wake_at(bench->ends[0]), bench->now + 100 * UNIT_PS);
	bench->now += 100 * UNIT_PS;
	endpoint_on_time(bench->ends[0], bench->now, &bench->out);
	assert_true(qp->tail_probes && qp->is_ack_due);
	bench_close(bench);
}

static void it_is_not_for_what_something_else_repairs(void **)
{
	for (int i = 0; i < 5; i++) {
		struct bench *bench;
		struct qp *qp = send_one(&bench);
		switch (i) {
		case 0: // more is to be sent
			assert_int_equal(bench_post(bench, 0, 0, FULL, 2), 0);
			break;
		case 1: // one is known to be lost
			qp->lost_count = 1;
			break;
		case 2: // it has arrived
			give(bench,
			     &(struct packet){.source = 1,
					      .opcode = PACKET_SACK,
					      .klass = PACKET_CLASS_CONTROL,
					      .u.sack = {.offset = 1}});
			assert_int_equal(qp->inflight, 0);
			break;
		case 3: // the last packet goes again in any case
			qp->is_ack_due = true;
			break;
		default:
			qp->state = QP_ERROR;
		}
		assert_false(rings(bench, qp));
		assert_false(qp->has_tail_timer);
		bench_close(bench);
	}
}

// Each message has a tail of its own.
static void a_later_end_is_looked_at_as_well(void **)
{
	dropped_opcode = PACKET_ACK;
	struct bench *bench = open_tail(drops_opcode, 1, HOLE_PS);
	for (uint32_t i = 1; i <= 3; i++) {
		drops_left = 1;
		assert_int_equal(bench_post(bench, 0, 0, 10 * FULL, i), 0);
		bench_run(bench, bench->now + 4 * QUIET_PS);
		assert_int_equal(rtx_of(bench)[RTX_ACK], i);
		assert_int_equal(bench->log_count[0], i);
	}
	bench_close(bench);
}

#define WINDOW_PACKETS 4u

static uint32_t sent_now(struct bench *bench, bool *ret_asks)
{
	uint32_t sent = 0, index;
	while ((index = endpoint_next(bench->ends[0], 0, bench->now, &bench->out)) != PACKET_NONE) {
		*ret_asks = packet_at(&bench->packets, index)->bth & PACKET_AR;
		packet_put(&bench->packets, index);
		sent++;
	}
	return sent;
}

// All that a window holds is lost, and more waits: one packet at a time leaves all the same and
// asks, three times, before a timer rings.
static void a_window_full_of_lost_packets_is_a_tail(void **)
{
	struct transport_config config = bench_config();
	config.hole_age_ps = HOLE_PS;
	config.rto_ps = PS_PER_MS;
	config.cc.window_bytes = WINDOW_PACKETS * (FULL + config.header_bytes);
	struct bench *bench = bench_open(&config, 1, 0, 1);
	bool asks = false;
	assert_int_equal(bench_post(bench, 0, 0, 20 * FULL, 1), 0);
	assert_int_equal(sent_now(bench, &asks), WINDOW_PACKETS);
	for (uint32_t i = 0; i < 3; i++) {
		bench->now += QUIET_PS - PS_PER_US;
		endpoint_on_time(bench->ends[0], bench->now, &bench->out);
		assert_int_equal(sent_now(bench, &asks), 0);
		bench->now += 2 * PS_PER_US;
		endpoint_on_time(bench->ends[0], bench->now, &bench->out);
		asks = false;
		assert_int_equal(sent_now(bench, &asks), 1);
		assert_true(asks);
	}
	bench->now += 10 * QUIET_PS;
	endpoint_on_time(bench->ends[0], bench->now, &bench->out);
	assert_int_equal(sent_now(bench, &asks), 0);
	bench_close(bench);
}
