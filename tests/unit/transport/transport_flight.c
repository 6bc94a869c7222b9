// SPDX-License-Identifier: Apache-2.0
// Bytes in flight by what the receiver counts, and when it answers (sack_rule): both ends by hand.
#include "transport_bench.h"

#define START 0xfffff0u // a few packets before the wrap
#define FULL 1088u

static struct cc_ack last_ack;
static uint64_t acked_bytes;

static void record_ack(struct cc *cc, const struct cc_ack *ack, ps_t now)
{
	(void)cc;
	(void)now;
	last_ack = *ack;
	acked_bytes += ack->newly_bytes;
}

static struct cc_ops recorder;

static struct bench *open_one(enum sack_rule rule)
{
	struct transport_config config = bench_config();
	config.sack_rule = rule;
	struct bench *bench = bench_open(&config, 1, START, 1);
	recorder = *cc_find("fixed");
	recorder.on_ack = record_ack;
	endpoint_qp(bench->ends[0], 0)->cc.ops = &recorder;
	acked_bytes = 0;
	return bench;
}

// ---------------------------------------------------------------- the sender

// How many packets leave now, 1 us apart.
static uint32_t send_all(struct bench *bench)
{
	uint32_t count = 0;
	for (;; count++) {
		bench->now += PS_PER_US;
		uint32_t index = endpoint_next(bench->ends[0], 0, bench->now, &bench->out);
		if (index == PACKET_NONE)
			return count;
		packet_put(&bench->packets, index);
	}
}

// All before START + edge and START + trigger are here; and so many packets, as far as is counted.
static void give_sack(struct bench *bench, uint32_t edge, uint32_t trigger, uint32_t counted)
{
	uint32_t index = packet_get(&bench->packets);
	*packet_at(&bench->packets, index) = (struct packet){
		.source = 1,
		.opcode = PACKET_SACK,
		.klass = PACKET_CLASS_CONTROL,
		.psn = (START + edge - 1) & PSN_MASK,
		.u.sack = {.bitmap = 1,
			   .offset = (int16_t)(trigger - edge + 1),
			   .trigger_offset = (int16_t)(trigger - edge + 1),
			   .rcvd_256 = (counted * FULL + 255) / 256 & PSN_MASK}};
	endpoint_receive(bench->ends[0], index, bench->now, &bench->out);
	bench_poll(bench, 0);
}

// Four packets came; which ones, but for one, is not told. The window of 64 is open by four.
static void what_is_counted_is_not_in_flight(void **state)
{
	(void)state;
	for (int rule = SACK_MRC; rule <= SACK_HTSIM; rule++) {
		struct bench *bench = open_one((enum sack_rule)rule);
		bench_post(bench, 0, 0, 100 * 1024, 1);
		assert_int_equal(send_all(bench), 64);
		give_sack(bench, 0, 40, 4);
		assert_in_range(last_ack.newly_bytes, 4 * FULL, 4 * FULL + 255);
		assert_in_range(last_ack.inflight_bytes, 60 * FULL - 255, 60 * FULL);
		assert_int_equal(endpoint_qp(bench->ends[0], 0)->inflight, 63 * FULL); // by PSNs
		assert_int_equal(send_all(bench), 4);
		bench_close(bench);
	}
}

// PSNs that are told later were counted before: nothing is counted twice, and an overtaken SACK
// takes nothing back.
static void nothing_is_counted_twice(void **state)
{
	(void)state;
	struct bench *bench = open_one(SACK_MRC);
	bench_post(bench, 0, 0, 100 * 1024, 1);
	assert_int_equal(send_all(bench), 64);
	give_sack(bench, 0, 40, 4);
	give_sack(bench, 3, 40, 4);
	assert_int_equal(last_ack.newly_bytes, 0);
	give_sack(bench, 3, 20, 2);
	assert_in_range(acked_bytes, 5 * FULL, 5 * FULL + 255); // the fifth is told by its PSN
	assert_int_equal(endpoint_qp(bench->ends[0], 0)->inflight, 59 * FULL);
	bench_close(bench);
}

static void no_more_is_believed_than_is_out(void **state)
{
	(void)state;
	struct bench *bench = open_one(SACK_MRC);
	bench_post(bench, 0, 0, 10 * 1024, 1);
	assert_int_equal(send_all(bench), 10);
	give_sack(bench, 0, 5, 4000);
	assert_int_equal(last_ack.newly_bytes, 10 * FULL);
	assert_int_equal(last_ack.inflight_bytes, 0);
	assert_int_equal(endpoint_qp(bench->ends[0], 0)->inflight, 9 * FULL);
	bench_close(bench);
}

// What a SACK says of bytes, made what another receiver would say who counts a packet otherwise.
static struct {
	uint32_t of, as; // so many bytes as so many
	uint64_t bytes;	 // that were truly counted
	uint32_t inflight_max;
} other;

static void count_otherwise(struct bench *bench, struct packet *packet)
{
	const struct qp *qp = endpoint_qp(bench->ends[0], 0);
	if (packet->opcode != PACKET_SACK)
		return;
	uint32_t before = (uint32_t)((other.bytes + 255) >> 8);
	int32_t more = (int32_t)((packet->u.sack.rcvd_256 - before) << 8) >> 8;
	other.bytes += (int64_t)more << 8;
	packet->u.sack.rcvd_256 = (uint32_t)((other.bytes / other.of * other.as + 255) >> 8) &
		PSN_MASK;
	if (qp->inflight > other.inflight_max)
		other.inflight_max = qp->inflight;
}

// Sends so much to a receiver that counts so, with jitter or without; returns the most that was in
// flight at a time, by PSN.
static uint32_t most_out(uint32_t as, ps_t jitter_ps)
{
	struct transport_config config = bench_config();
	config.cc.window_bytes = 16 * FULL; // less than the lines hold: it is what limits
	struct bench *bench = bench_open(&config, 1, START, 1);
	memset(&other, 0, sizeof(other));
	other.of = FULL;
	other.as = as;
	bench->on_send = count_otherwise;
	bench->jitter_ps = jitter_ps;
	for (uint32_t i = 0; i < 20; i++) {
		assert_int_equal(bench_post(bench, 0, 0, 2048 * 1024, i + 1), 0);
		bench_run(bench, BENCH_TO_THE_END);
	}
	assert_int_equal(endpoint_counters(bench->ends[0])->messages_sent, 20);
	int32_t found = endpoint_qp(bench->ends[0], 0)->count_more, more = (int32_t)as - FULL;
	assert_true(found >= more - 1 && found <= more + 1);
	bench_close(bench);
	return other.inflight_max;
}

// 40,000 packets. Nothing agrees the two ends on what a packet counts.
static void a_receiver_that_counts_otherwise_does_not_move_the_window(void **state)
{
	(void)state;
	for (ps_t jitter_ps = 0; jitter_ps < 3 * PS_PER_US; jitter_ps += 2 * PS_PER_US) {
		uint32_t alike = most_out(FULL, jitter_ps);
		assert_in_range(most_out(FULL + 38, jitter_ps), alike - 2 * FULL, alike + 4 * FULL);
		assert_in_range(most_out(FULL - 38, jitter_ps), alike - 4 * FULL, alike + 4 * FULL);
	}
}

// What it lags behind must not pass for a lead when numbers come round.
static void a_count_far_behind_is_no_lead(void **state)
{
	(void)state;
	for (uint32_t lag = 0x40000000u; lag != 0; lag += 0x10000000u) {
		struct bench *bench = open_one(SACK_MRC);
		struct qp *qp = endpoint_qp(bench->ends[0], 0);
		qp->heard_bytes = qp->settled_bytes = lag;
		bench_post(bench, 0, 0, 100 * 1024, 1);
		assert_int_equal(send_all(bench), 64);
		give_sack(bench, 10, 9, 10);
		assert_in_range(last_ack.newly_bytes, 10 * FULL, 10 * FULL + 255);
		give_sack(bench, 20, 19, 20);
		assert_in_range(acked_bytes, 20 * FULL, 20 * FULL + 255);
		assert_in_range(last_ack.inflight_bytes, 44 * FULL - 255, 44 * FULL);
		bench_close(bench);
	}
}

// ---------------------------------------------------------------- the receiver

// Whether the packet START + n, of so many others, is answered.
static bool is_answered(struct bench *bench, uint32_t n, uint8_t bth)
{
	uint32_t index = packet_get(&bench->packets);
	*packet_at(&bench->packets, index) = (struct packet){.source = 0,
							     .target = 1,
							     .wire_bytes = FULL,
							     .payload_bytes = 1024,
							     .klass = PACKET_CLASS_DATA,
							     .opcode = PACKET_WRITE_MIDDLE,
							     .bth = bth,
							     .psn = (START + n) & PSN_MASK,
							     .u.data = {.va = BENCH_VA + 1024 * n,
									.rkey = BENCH_RKEY,
									.message_bytes = 1 << 20}};
	endpoint_receive(bench->ends[1], index, bench->now, &bench->out);
	bench_poll(bench, 1);
	index = endpoint_next(bench->ends[1], 0, bench->now, &bench->out);
	if (index != PACKET_NONE)
		packet_put(&bench->packets, index);
	return index != PACKET_NONE;
}

static void arrivals_far_apart_are_no_reason(void **state)
{
	(void)state;
	for (int rule = SACK_MRC; rule <= SACK_HTSIM; rule++) {
		struct bench *bench = open_one((enum sack_rule)rule);
		assert_int_equal(is_answered(bench, 0, 0), rule == SACK_HTSIM); // the first
		assert_false(is_answered(bench, 2, 0));
		assert_int_equal(is_answered(bench, 150, 0), rule == SACK_MRC);
		bench_close(bench);
	}
}

// 0 is here, 1 and 3 are not, 2 asks: by MRC's rule it is answered again with 1, by htsim's when
// nothing is missing at all.
static void a_request_is_answered_again_when_no_hole_is_left(void **state)
{
	(void)state;
	for (int rule = SACK_MRC; rule <= SACK_HTSIM; rule++) {
		struct bench *bench = open_one((enum sack_rule)rule);
		is_answered(bench, 0, 0);
		assert_true(is_answered(bench, 2, PACKET_AR));
		assert_false(is_answered(bench, 4, 0));
		assert_int_equal(is_answered(bench, 1, 0), rule == SACK_MRC);
		assert_int_equal(is_answered(bench, 3, 0), rule == SACK_HTSIM);
		bench_close(bench);
	}
}
