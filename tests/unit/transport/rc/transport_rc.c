// SPDX-License-Identifier: Apache-2.0
// The baseline, RoCEv2 RC, packet by packet: what leaves, what a gap, a duplicate or a mark
// is answered by, and what the sender does with the answer.
#include "rc_rig.h"

// ---------------------------------------------------------------- what leaves

static void only_the_first_packet_of_a_message_tells_its_length(void **state)
{
	(void)state;
	struct bench *bench = open_bench(1, 0xfffffe);
	const uint8_t plain[4] = {RC_WRITE_FIRST, RC_WRITE_MIDDLE, RC_WRITE_MIDDLE, RC_WRITE_LAST};
	bench_post(bench, 0, 0, 3 * FULL + 1, 0);
	bench_post(bench, 0, 0, 3 * FULL + 1, 77);
	for (uint32_t i = 0; i < 8; i++) {
		const struct packet *packet = at(bench, take(bench, 0));
		bool is_first = i % 4 == 0, is_last = i % 4 == 3;
		assert_int_equal(packet->opcode, i == 7 ? RC_WRITE_LAST_IMM : plain[i % 4]);
		assert_int_equal(packet->psn, (0xfffffe + i) & 0xffffff);
		assert_int_equal(packet->payload_bytes, is_last ? 1 : FULL);
		assert_int_equal(packet->wire_bytes, packet->payload_bytes + 64);
		assert_int_equal(packet->u.data.va, BENCH_VA + i % 4 * FULL); // where it is read
		assert_int_equal(packet->u.data.rkey, BENCH_RKEY);
		assert_int_equal(packet->u.data.message_bytes, is_first ? 3 * FULL + 1 : 0);
		assert_int_equal(packet->u.data.imm, i == 7 ? 77 : 0);
		assert_int_equal(packet->flags, PACKET_ECT); // never trimmed
		assert_int_equal(packet->bth, is_last ? PACKET_AR : 0);
	}
	assert_int_equal(take(bench, 0), PACKET_NONE);
	bench_post(bench, 0, 0, FULL, 0);
	bench_post(bench, 0, 0, 1, 5);
	assert_int_equal(at(bench, take(bench, 0))->opcode, RC_WRITE_ONLY);
	const struct packet *only = at(bench, take(bench, 0));
	assert_int_equal(only->opcode, RC_WRITE_ONLY_IMM);
	assert_int_equal(only->u.data.rkey, BENCH_RKEY);
	bench_close(bench);
}

static void a_qp_has_one_path_and_its_ends_one_plane(void **state)
{
	(void)state;
	enum { QPS = 32 };
	struct transport_config config = rc_config();
	config.planes = 4;
	struct bench *bench = bench_open(&config, QPS, 0, 1);
	uint32_t on_plane[4] = {0}, evs[QPS], planes[QPS];
	for (uint32_t qpn = 0; qpn < QPS; qpn++) {
		bench_post(bench, 0, qpn, 2 * FULL, 0);
		bench_post(bench, 1, qpn, 1, 0);
		const struct packet *packet = at(bench, take(bench, 0));
		uint32_t ev = packet->ev, plane = packet->plane;
		assert_int_equal(packet->qpn, qpn);
		evs[qpn] = ev;
		planes[qpn] = plane;
		on_plane[plane]++;
		packet = at(bench, take(bench, 0));
		assert_int_equal(packet->ev, ev);
		assert_int_equal(packet->plane, plane);
		uint32_t back = take(bench, 1);
		assert_int_equal(at(bench, back)->plane, plane);
		give(bench, 0, back);
		assert_int_equal(at(bench, take(bench, 0))->ev, ev); // the ACK goes the same way
	}
	for (uint32_t plane = 0; plane < 4; plane++)
		assert_in_range(on_plane[plane], 2, 16); // a hash: not even, but nowhere nothing
	for (uint32_t qpn = 1; qpn < QPS; qpn++)
		assert_true(evs[qpn] != evs[0] || planes[qpn] != planes[0]);
	bench_close(bench);
}

static void the_qps_of_a_plane_take_turns(void **state)
{
	(void)state;
	struct transport_config config = rc_config();
	config.planes = 1;
	struct bench *bench = bench_open(&config, 3, 0, 1);
	for (uint32_t qpn = 0; qpn < 3; qpn++)
		bench_post(bench, 0, qpn, 10 * FULL, 0);
	for (uint32_t i = 0; i < 30; i++)
		assert_int_equal(at(bench, take(bench, 0))->qpn, i % 3);
	assert_int_equal(take(bench, 0), PACKET_NONE);
	bench_close(bench);
}

static void acks_are_asked_for_every_so_many_bytes_and_when_the_window_closes(void **state)
{
	(void)state;
	struct transport_config config = rc_config();
	config.cc.window_bytes = 10 * 1088;
	struct bench *bench = bench_open(&config, 1, 0, 1);
	bench_post(bench, 0, 0, 100 * FULL, 0);
	for (uint32_t i = 0; i < 10; i++) { // sack_bytes are four packets
		bool asks = i == 3 || i == 7 || i == 9;
		assert_int_equal(at(bench, take(bench, 0))->bth, asks ? PACKET_AR : 0);
	}
	assert_int_equal(take(bench, 0), PACKET_NONE);
	assert_int_equal(counters(bench, 0)->window_stalls, 1);
	bench_close(bench);
}

// ---------------------------------------------------------------- what arrives

static void packets_in_order_are_acknowledged_together(void **state)
{
	(void)state;
	struct bench *bench = open_bench(1, 0xffffff);
	uint32_t sent[SENT_MAX];
	send_message(bench, 3, sent);
	give(bench, 1, sent[0]);
	give(bench, 1, sent[1]);
	assert_int_equal(take(bench, 1), PACKET_NONE);
	assert_int_equal(bench->log_count[1], 0);
	give(bench, 1, sent[2]);
	assert_int_equal(bench->log_count[1], 1);
	assert_int_equal(bench->log[1][0].imm, 9);
	assert_int_equal(bench->log[1][0].bytes, 3 * FULL);
	uint32_t ack = take(bench, 1);
	assert_int_equal(at(bench, ack)->opcode, RC_ACK);
	assert_int_equal(at(bench, ack)->psn, 1); // 0xffffff, 0, 1
	assert_int_equal(at(bench, ack)->u.ack.syndrome, 0x1f);
	assert_int_equal(at(bench, ack)->u.ack.msn, 1);
	give(bench, 0, ack);
	assert_int_equal(bench->log_count[0], 1);
	assert_int_equal(bench->log[0][0].kind, COMPLETION_SENT);
	bench_check_empty(bench);
	bench_close(bench);
}

static void a_gap_is_answered_by_one_nak(void **state)
{
	(void)state;
	struct bench *bench = open_bench(1, 0);
	uint32_t sent[SENT_MAX];
	send_message(bench, 8, sent);
	give(bench, 1, sent[0]);
	for (uint32_t i = 2; i < 5; i++) // PSN 1 is missing
		give(bench, 1, sent[i]);
	uint32_t nak = take(bench, 1);
	assert_int_equal(at(bench, nak)->opcode, RC_ACK);
	assert_int_equal(at(bench, nak)->u.ack.syndrome, 0x60);
	assert_int_equal(at(bench, nak)->psn, 1);
	assert_int_equal(take(bench, 1), PACKET_NONE);
	assert_int_equal(counters(bench, 1)->out_of_window, 3);
	assert_int_equal(counters(bench, 1)->payload_bytes_placed, FULL);
	give(bench, 1, sent[1]); // the gap closes; the next one is told again
	give(bench, 1, sent[6]);
	give(bench, 1, sent[7]);
	assert_int_equal(counters(bench, 1)->nacks_sent, 2);
	assert_int_equal(at(bench, take(bench, 1))->psn, 2);
	assert_int_equal(take(bench, 1), PACKET_NONE);
	bench_close(bench);
}

static void a_duplicate_is_acknowledged_again_and_not_placed(void **state)
{
	(void)state;
	struct bench *bench = open_bench(1, 0);
	uint32_t sent[SENT_MAX], copy = packet_get(&bench->packets);
	send_message(bench, 2, sent);
	*at(bench, copy) = *at(bench, sent[0]);
	give(bench, 1, sent[0]);
	give(bench, 1, sent[1]);
	drop(bench, take(bench, 1)); // the ACK
	give(bench, 1, copy);
	uint32_t again = take(bench, 1);
	assert_int_equal(at(bench, again)->psn, 1); // all that is here, not only the duplicate
	assert_int_equal(counters(bench, 1)->duplicates, 1);
	assert_int_equal(counters(bench, 1)->payload_bytes_placed, 2 * FULL);
	assert_int_equal(bench->log_count[1], 1);
	give(bench, 0, again);
	assert_int_equal(bench->log_count[0], 1);
	bench_check_empty(bench);
	bench_close(bench);
}

static void a_trimmed_packet_is_as_good_as_lost(void **state)
{
	(void)state;
	struct bench *bench = open_bench(1, 0);
	uint32_t sent[SENT_MAX];
	send_message(bench, 2, sent);
	at(bench, sent[0])->flags |= PACKET_TRIMMED | PACKET_TRIMMED_LAST;
	at(bench, sent[0])->payload_bytes = 0;
	give(bench, 1, sent[0]);
	assert_int_equal(take(bench, 1), PACKET_NONE);
	assert_int_equal(counters(bench, 1)->trims_received, 1);
	assert_int_equal(counters(bench, 1)->trims_last_hop, 1);
	assert_int_equal(counters(bench, 1)->data_received, 0);
	give(bench, 1, sent[1]);
	assert_int_equal(at(bench, take(bench, 1))->u.ack.syndrome, 0x60);
	bench_close(bench);
}

static uint32_t cnp_count;

// Halves the window, as an algorithm that listens might.
static void halve(struct cc *cc, ps_t now)
{
	(void)now;
	cnp_count++;
	cc->window_bytes /= 2;
}

static void congestion_control_hears_of_each_cnp(void **state)
{
	(void)state;
	struct bench *bench = open_bench(1, 0);
	struct qp *qp = endpoint_qp(bench->ends[0], 0);
	struct cc_ops listening = *cc_find("fixed");
	listening.on_cnp = halve;
	qp->cc.ops = &listening;
	cnp_count = 0;
	uint32_t window_bytes = qp->cc.window_bytes;
	bench_post(bench, 0, 0, 1, 0);
	uint32_t index = take(bench, 0);
	at(bench, index)->flags |= PACKET_CE;
	give(bench, 1, index);
	while ((index = take(bench, 1)) != PACKET_NONE)
		give(bench, 0, index);
	assert_int_equal(cnp_count, 1);
	assert_int_equal(qp->cc.window_bytes, window_bytes / 2);
	for (int i = 0; cc_all[i] != NULL; i++) { // nobody moves a window then
		struct cc cc = {.ops = cc_all[i], .window_bytes = 7, .wake_at = PS_NEVER};
		cc_all[i]->on_cnp(&cc, 1);
		assert_int_equal(cc.window_bytes, 7);
	}
	bench_check_empty(bench);
	bench_close(bench);
}

// ---------------------------------------------------------------- what is answered

static void a_nak_resends_exactly_from_the_gap(void **state)
{
	(void)state;
	struct bench *bench = open_bench(1, 0xfffffa);
	uint32_t sent[SENT_MAX];
	send_message(bench, 12, sent);
	for (uint32_t i = 0; i < 12; i++)
		if (i == 7)
			drop(bench, sent[i]);
		else
			give(bench, 1, sent[i]);
	for (uint32_t index; (index = take(bench, 1)) != PACKET_NONE;)
		give(bench, 0, index);
	for (uint32_t i = 7; i < 12; i++) {
		uint32_t index = take(bench, 0);
		assert_int_equal(at(bench, index)->psn, (0xfffffa + i) & 0xffffff);
		assert_int_equal(at(bench, index)->opcode,
				 i == 11 ? RC_WRITE_LAST_IMM : RC_WRITE_MIDDLE);
		give(bench, 1, index);
	}
	assert_int_equal(take(bench, 0), PACKET_NONE);
	assert_int_equal(counters(bench, 0)->rtx[RTX_NACK], 5);
	assert_int_equal(counters(bench, 0)->nacks_received, 1);
	assert_int_equal(counters(bench, 1)->payload_bytes_placed, 12 * FULL);
	for (uint32_t index; (index = take(bench, 1)) != PACKET_NONE;)
		give(bench, 0, index);
	assert_int_equal(bench->log_count[0], 1);
	bench_check_empty(bench);
	bench_close(bench);
}

static void what_was_sent_again_without_need_is_not_sent_on(void **state)
{
	(void)state;
	struct bench *bench = open_bench(1, 0);
	uint32_t sent[SENT_MAX];
	send_message(bench, 8, sent);
	for (uint32_t i = 0; i < 8; i++)
		give(bench, 1, sent[i]);
	uint32_t asked = take(bench, 1), last = take(bench, 1);
	bench->now = bench->config.rto_ps; // both ACKs are late: everything begins again
	endpoint_on_time(bench->ends[0], bench->now, &bench->out);
	uint32_t again = take(bench, 0);
	assert_int_equal(at(bench, again)->psn, 0);
	give(bench, 0, asked);
	assert_int_equal(at(bench, take(bench, 0))->psn, 4); // PSN 3 is acknowledged
	give(bench, 0, last);
	assert_int_equal(take(bench, 0), PACKET_NONE);
	assert_int_equal(bench->log_count[0], 1);
	assert_int_equal(counters(bench, 0)->rtx[RTX_TIMEOUT], 2);
	bench_check_qp(bench, bench->ends[0], endpoint_qp(bench->ends[0], 0));
	bench_close(bench);
}

static void answers_that_cannot_be_are_refused(void **state)
{
	(void)state;
	struct bench *bench = open_bench(1, 0);
	uint32_t sent[SENT_MAX], index;
	send_message(bench, 2, sent);
	const struct {
		uint32_t psn;
		uint8_t syndrome;
	} lies[] = {{2, 0x1f}, {0x7fffff, 0x1f}, {2, 0x60}, {0, 0x20}, {0, 0x7f}, {0, 0xff}};
	for (uint32_t i = 0; i < 6; i++) {
		index = packet_get(&bench->packets);
		*at(bench, index) = *at(bench, sent[0]);
		at(bench, index)->source = 1;
		at(bench, index)->opcode = RC_ACK;
		at(bench, index)->psn = lies[i].psn;
		at(bench, index)->u.ack = (struct packet_ack){.syndrome = lies[i].syndrome};
		give(bench, 0, index);
	}
	assert_int_equal(counters(bench, 0)->refused[REFUSED_SACK], 2);
	assert_int_equal(counters(bench, 0)->refused[REFUSED_NACK], 4);
	assert_int_equal(bench->log_count[0], 0);
	assert_int_equal(endpoint_qp(bench->ends[0], 0)->state, QP_RTS);
	index = packet_get(&bench->packets); // a packet of MRC
	*at(bench, index) = *at(bench, sent[0]);
	at(bench, index)->opcode = PACKET_WRITE_FIRST;
	give(bench, 1, index);
	assert_int_equal(counters(bench, 1)->refused[REFUSED_OPCODE], 1);
	bench_close(bench);
}

static void a_message_may_be_one_byte(void **state)
{
	(void)state;
	struct bench *bench = open_bench(1, 0);
	assert_int_equal(bench_post(bench, 0, 0, 1, 0), 0);
	assert_int_equal(at(bench, take(bench, 0))->payload_bytes, 1);
	bench_close(bench);
}
