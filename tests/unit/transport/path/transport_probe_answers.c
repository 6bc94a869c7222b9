// SPDX-License-Identifier: Apache-2.0
// Answers to probes one by one: late ones, lost ones between, and the round trips that they tell.
#include "../transport_bench.h"

// Two probes are given up, and answered too late; the wire doubles the answers.
static void a_late_answer_counts_once(void **state)
{
	(void)state;
	struct transport_config config = bench_config();
	config.rto_ps = 20 * PS_PER_US;
	struct bench *bench = bench_open(&config, 1, 0, 7);
	struct qp *qp = endpoint_qp(bench->ends[0], 0);
	probe_retire(bench->ends[0], qp, 5, 0);
	probe_retire(bench->ends[0], qp, 7, 0);
	bench->now = 300 * PS_PER_US;
	assert_int_equal(bench_post(bench, 0, 0, 1, 1), 0);
	endpoint_on_time(bench->ends[0], bench->now, &bench->out);
	assert_int_equal(qp->probes.out_count, 2);
	uint16_t ids[2] = {qp->probes.out[0].id, qp->probes.out[1].id};
	while (qp->probes.out_count > 0) {
		bench->now = endpoint_wake_at(bench->ends[0]);
		endpoint_on_time(bench->ends[0], bench->now, &bench->out);
	}
	for (uint32_t i = 0; i < 4; i++) {
		bench_give(bench,
			   &(struct packet){
				   .source = 1,
				   .opcode = PACKET_SACK,
				   .klass = PACKET_CLASS_CONTROL,
				   .psn = (qp->una - 1) & PSN_MASK,
				   .timestamp = (uint16_t)(300 * PS_PER_US / TIMESTAMP_PS),
				   .u.sack = {.is_probe = 1,
					      .probe_id = ids[i % 2],
					      .ev_echo = path_value(&qp->path, 5 + 2 * (i % 2))}});
		assert_int_equal(bench_counters(bench)->probes_late, i < 2 ? i + 1 : 2);
		assert_int_equal(bench_counters(bench)->refused[REFUSED_PROBE], i < 2 ? 0 : i - 1);
	}
	bench_give(bench,
		   &(struct packet){.source = 1,
				    .opcode = PACKET_SACK,
				    .klass = PACKET_CLASS_CONTROL,
				    .psn = (qp->una - 1) & PSN_MASK,
				    .u.sack = {.is_probe = 1, .probe_id = 1}}); // never sent
	assert_int_equal(bench_counters(bench)->refused[REFUSED_PROBE], 3);
	bench_close(bench);
}

static ps_t told_rtt_ps;

static void take_rtt(struct cc *cc, const struct cc_ack *ack, ps_t now)
{
	(void)cc;
	(void)now;
	told_rtt_ps = ack->rtt_ps;
}

// Answers the one probe that is out after `wait_ps`; what congestion control is told of it.
static ps_t rtt_of_probe(ps_t wait_ps)
{
	static struct cc_ops ops;
	struct transport_config config = bench_config();
	config.rto_ps = 20 * PS_PER_MS;
	config.cc.base_rtt_ps = 5 * PS_PER_US;
	struct bench *bench = bench_open(&config, 1, 0, 7);
	struct qp *qp = endpoint_qp(bench->ends[0], 0);
	ops = *qp->cc.ops;
	ops.on_ack = take_rtt;
	qp->cc.ops = &ops;
	probe_retire(bench->ends[0], qp, 5, 0);
	bench->now = 300 * PS_PER_US;
	assert_int_equal(bench_post(bench, 0, 0, 1, 1), 0);
	endpoint_on_time(bench->ends[0], bench->now, &bench->out);
	uint16_t stamp = (uint16_t)(bench->now / TIMESTAMP_PS);
	bench->now += wait_ps;
	bench_give(bench,
		   &(struct packet){.source = 1,
				    .opcode = PACKET_SACK,
				    .klass = PACKET_CLASS_CONTROL,
				    .psn = (qp->una - 1) & PSN_MASK,
				    .timestamp = stamp,
				    .u.sack = {.is_probe = 1,
					       .probe_id = qp->probes.out[0].id,
					       .ev_echo = path_value(&qp->path, 5)}});
	assert_int_equal(bench_counters(bench)->probes_answered, 1);
	assert_int_equal(bench_counters(bench)->stamps_stale, wait_ps > 4 * PS_PER_MS);
	bench_close(bench);
	return told_rtt_ps;
}

// Its packets are shorter than data: a probe may not lower the base. Stamps of 16 bits of 128 ns
// come round after 8.4 ms.
static void a_probes_round_trip_is_no_shorter_than_the_base(void **state)
{
	(void)state;
	assert_int_equal(rtt_of_probe(3 * PS_PER_US), 5 * PS_PER_US);
	assert_in_range(rtt_of_probe(9 * PS_PER_US), 9 * PS_PER_US - TIMESTAMP_PS,
			9 * PS_PER_US + TIMESTAMP_PS);
	assert_int_equal(rtt_of_probe(9 * PS_PER_MS), -1);
}

static uint32_t probes_seen;
static uint32_t probes_to_lose; // bits: the wire takes the probes of these numbers, from 0

static bool loses_some_probes(struct bench *bench, const struct packet *packet)
{
	(void)bench;
	return packet->opcode == PACKET_PROBE && probes_to_lose >> probes_seen++ & 1;
}

// The EV comes back after two answers in a row: one that is lost between them begins the row anew.
static void a_lost_probe_begins_the_row_anew(void **state)
{
	(void)state;
	struct transport_config config = bench_config(); // path_retry 200 us
	config.probe_successes = 2;
	struct bench *bench = bench_open(&config, 1, 0, 7);
	bench->drops = loses_some_probes;
	probes_seen = 0;
	probes_to_lose = 1u << 1;
	probe_retire(bench->ends[0], endpoint_qp(bench->ends[0], 0), 5, 0);
	while (bench_counters(bench)->probes_answered < 2)
		bench_keep_busy(bench, bench->now + 10 * PS_PER_US);
	assert_int_equal(bench_counters(bench)->probes_lost, 1);
	assert_int_equal(path_state(&endpoint_qp(bench->ends[0], 0)->path, 5), PATH_ASSUMED_BAD);
	while (bench_counters(bench)->probes_answered < 3)
		bench_keep_busy(bench, bench->now + 10 * PS_PER_US);
	assert_int_equal(path_state(&endpoint_qp(bench->ends[0], 0)->path, 5), PATH_GOOD);
	bench_close(bench);
}
