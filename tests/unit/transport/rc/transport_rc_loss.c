// SPDX-License-Identifier: Apache-2.0
// The baseline, RoCEv2 RC, over wires that lose, double and reorder: every message arrives once,
// its bytes in order; what cannot arrive ends in an error after exactly the tries that were
// configured.
#include "../transport_bench.h"

#include "rc/rc.h"

#include <weft/core/opcode.h>

#define FULL 1024u

static struct transport_config rc_config(void)
{
	struct transport_config config = bench_config();
	config.kind = TRANSPORT_RC;
	config.cc.has_trimming = false;
	return config;
}

// Posts messages of many sizes on each QP, both ways, and runs to the end.
static void talk(struct bench *bench, uint32_t messages)
{
	for (uint32_t i = 0; i < messages; i++) {
		uint32_t qpn = i % bench->qps, bytes = 1 + (i * 2711u) % (12 * FULL);
		assert_int_equal(bench_post(bench, 0, qpn, bytes, 1 + i), 0);
		assert_int_equal(bench_post(bench, 1, qpn, bytes, 1 + i), 0);
	}
	bench_run(bench, BENCH_TO_THE_END);
}

// Each QP of each side has sent and received its messages once, in posting order.
static void check_told(const struct bench *bench, uint32_t messages)
{
	for (uint32_t side = 0; side < 2; side++) {
		uint32_t sent[8], received[8], done = 0;
		for (uint32_t qpn = 0; qpn < bench->qps; qpn++)
			sent[qpn] = received[qpn] = 1 + qpn;
		for (uint32_t i = 0; i < bench->log_count[side]; i++) {
			const struct completion *one = &bench->log[side][i];
			bool is_sent = one->kind == COMPLETION_SENT;
			uint32_t *next = is_sent ? sent : received;
			uint32_t number = is_sent ? (uint32_t)one->cookie : one->imm;
			assert_int_not_equal(one->kind, COMPLETION_FLUSHED);
			assert_int_equal(number, next[one->qp]);
			assert_int_equal(one->bytes, 1 + ((number - 1) * 2711u) % (12 * FULL));
			next[one->qp] += bench->qps;
			done++;
		}
		assert_int_equal(done, 2 * messages);
	}
}

static void check_counters(const struct bench *bench)
{
	const struct transport_counters *a = endpoint_counters(bench->ends[0]);
	const struct transport_counters *b = endpoint_counters(bench->ends[1]);
	for (uint32_t side = 0; side < 2; side++) {
		const struct transport_counters *from = side == 0 ? a : b, *to = side == 0 ? b : a;
		uint64_t again = from->rtx[RTX_NACK] + from->rtx[RTX_TIMEOUT];
		assert_int_equal(from->rtx[RTX_HOLE], 0);
		assert_int_equal(from->data_packets - again,
				 to->data_received - to->duplicates - to->out_of_window);
		assert_int_equal(from->payload_bytes_new, to->payload_bytes_placed);
		assert_int_equal(transport_refused(from) + from->no_qp + from->qps_failed, 0);
	}
}

static void every_message_arrives_once_whatever_the_wire_does(void **state)
{
	(void)state;
	enum { MESSAGES = 48 };
	uint64_t naks = 0, timeouts = 0, lost = 0;
	for (uint64_t seed = 1; seed <= 24; seed++) {
		struct transport_config config = rc_config();
		config.rto_doublings = 18; // reordering looks like loss: some PSNs need many tries
		uint32_t first_psn = seed % 2 == 0 ? 0xffffe0 : UINT32_MAX - 40; // both wraps
		struct bench *bench = bench_open(&config, 1 + seed % 4, first_psn, seed);
		bench->loss_ppm = seed % 3 == 0 ? 0 : 30000;
		bench->control_loss_ppm = seed % 4 == 0 ? 0 : 50000;
		bench->duplicate_ppm = seed % 2 == 0 ? 0 : 20000;
		bench->jitter_ps = seed % 5 == 0 ? 300 * PS_PER_NS : 0;
		bench->trim_ppm = seed % 6 == 1 ? 5000 : 0;
		bench->mark_ppm = 100000;
		talk(bench, MESSAGES);
		check_told(bench, MESSAGES);
		check_counters(bench);
		bench_check_empty(bench);
		naks += endpoint_counters(bench->ends[0])->rtx[RTX_NACK];
		timeouts += endpoint_counters(bench->ends[0])->rtx[RTX_TIMEOUT];
		lost += bench->lost;
		bench_close(bench);
	}
	assert_true(naks > 100 && timeouts > 100 && lost > 100);
}

// ---------------------------------------------------------------- where bytes go

// No frame carries these but that of a first packet: the target must not read them.
static void spoil_what_frames_do_not_carry(struct packet *packet)
{
	if (packet->opcode == RC_WRITE_FIRST || packet->opcode == RC_WRITE_ONLY ||
	    packet->opcode == RC_WRITE_ONLY_IMM)
		return;
	packet->u.data.va = UINT64_MAX;
	packet->u.data.rkey = 0xbad;
	packet->u.data.message_bytes = 1;
}

// Place orders are taken after each arrival, so that their order is that of arrivals.
static void place_orders_cover_each_byte_once_and_in_order(void **state)
{
	(void)state;
	enum { BYTES = 100 * FULL + 7 };
	struct transport_config config = rc_config();
	config.rto_doublings = 18;
	struct bench *bench = bench_open(&config, 1, 0xffffff, 5);
	uint32_t orders = 0;
	uint64_t next_va = BENCH_VA;
	bench_post(bench, 0, 0, BYTES, 3);
	for (uint32_t step = 0; step < 4000 && bench->log_count[0] == 0; step++) {
		uint32_t index;
		for (uint32_t plane = 0; plane < 2; plane++) {
			index = endpoint_next(bench->ends[0], plane, bench->now, &bench->out);
			if (index == PACKET_NONE)
				continue;
			packet_at(&bench->packets, index)->payload = 1; // a frame behind it
			spoil_what_frames_do_not_carry(packet_at(&bench->packets, index));
			if (rng_below(&bench->rng, 10) == 0) {
				packet_put(&bench->packets, index);
				continue;
			}
			endpoint_receive(bench->ends[1], index, bench->now, &bench->out);
			struct dma_write dma_write;
			while (endpoint_poll_dma_writes(bench->ends[1], &dma_write, 1) == 1) {
				assert_int_equal(dma_write.va, next_va);
				assert_int_equal(dma_write.rkey, BENCH_RKEY);
				assert_int_not_equal(dma_write.payload, 0);
				next_va += dma_write.bytes;
				orders++;
			}
			bench_poll(bench, 1);
		}
		for (uint32_t plane = 0; plane < 2; plane++) {
			index = endpoint_next(bench->ends[1], plane, bench->now, &bench->out);
			if (index != PACKET_NONE)
				endpoint_receive(bench->ends[0], index, bench->now, &bench->out);
		}
		bench_poll(bench, 0);
		bench->now += PS_PER_US;
		if (endpoint_wake_at(bench->ends[0]) <= bench->now)
			endpoint_on_time(bench->ends[0], bench->now, &bench->out);
	}
	assert_int_equal(bench->log_count[0], 1);
	assert_int_equal(bench->log_count[1], 1);
	assert_int_equal(next_va, BENCH_VA + BYTES);
	assert_int_equal(orders, 101);
	assert_true(endpoint_counters(bench->ends[0])->rtx[RTX_NACK] > 0);
	bench_close(bench);
}

static void writes_into_a_watched_region_are_told_without_a_payload(void **state)
{
	(void)state;
	struct transport_config config = rc_config();
	struct bench *bench = bench_open(&config, 1, 0, 1);
	struct work credit = {.va = BENCH_VA, .rkey = BENCH_NOTICE_RKEY, .bytes = 64};
	assert_int_equal(endpoint_post(bench->ends[0], 0, &credit, 0), 0);
	bench_run(bench, BENCH_TO_THE_END);
	assert_int_equal(bench->places_count, 1);
	assert_int_equal(bench->log_count[0], 1);
	assert_int_equal(bench->log_count[1], 0); // a plain write completes at its sender only
	bench_close(bench);
}

// ---------------------------------------------------------------- the end of patience

static ps_t sent_at[64];
static uint32_t sent_count;

static void note_sent(struct bench *bench, struct packet *packet)
{
	if (packet->psn == 0 && packet->klass == PACKET_CLASS_DATA)
		sent_at[sent_count++] = bench->now;
}

static void waits_grow_as_configured_and_then_all_requests_are_flushed(void **state)
{
	(void)state;
	struct transport_config config = rc_config();
	config.rto_linear = 3;
	config.rto_doublings = 2;
	struct bench *bench = bench_open(&config, 1, 0, 1);
	bench->loss_ppm = 1000000;
	bench->on_send = note_sent;
	sent_count = 0;
	for (uint32_t i = 1; i <= 5; i++)
		bench_post(bench, 0, 0, 2 * FULL, i);
	ps_t end = bench_run(bench, BENCH_TO_THE_END), rto = config.rto_ps;
	assert_int_equal(sent_count, 5);
	const ps_t waits[] = {rto, rto, rto, 2 * rto, 4 * rto};
	for (uint32_t i = 1; i < 5; i++)
		assert_in_range(sent_at[i] - sent_at[i - 1], waits[i - 1],
				waits[i - 1] + 20 * PS_PER_US);
	assert_int_equal(end, sent_at[4] + waits[4]);
	assert_int_equal(bench->log_count[0], 5);
	for (uint32_t i = 0; i < 5; i++) {
		assert_int_equal(bench->log[0][i].kind, COMPLETION_FLUSHED);
		assert_int_equal(bench->log[0][i].cookie, 1 + i);
	}
	assert_int_equal(endpoint_counters(bench->ends[0])->qps_failed, 1);
	assert_int_equal(endpoint_wake_at(bench->ends[0]), PS_NEVER);
	bench_check_empty(bench);
	bench_close(bench);
}

static void an_acknowledgement_gives_back_all_tries(void **state)
{
	(void)state;
	struct transport_config config = rc_config();
	config.rto_linear = 2;
	config.rto_doublings = 0;
	struct bench *bench = bench_open(&config, 1, 0, 1);
	for (uint32_t i = 0; i < 20; i++) { // one try is lost before each success
		bench->loss_ppm = 1000000;
		assert_int_equal(bench_post(bench, 0, 0, FULL, 1 + i), 0);
		bench_run(bench, bench->now + config.rto_ps / 2);
		bench->loss_ppm = 0;
		bench_run(bench, BENCH_TO_THE_END);
		assert_int_equal(bench->log_count[0], 1 + i);
	}
	assert_int_equal(endpoint_counters(bench->ends[0])->rtx[RTX_TIMEOUT], 20);
	assert_int_equal(endpoint_counters(bench->ends[0])->qps_failed, 0);
	bench_close(bench);
}
