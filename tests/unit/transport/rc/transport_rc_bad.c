// SPDX-License-Identifier: Apache-2.0
// Requests that RC refuses: which NAK answers them, and that the connection is over.
#include "rc_rig.h"

static void spoil_opcode(struct packet *packet)
{
	packet->opcode = RC_WRITE_MIDDLE; // nothing was begun
}

static void spoil_length(struct packet *packet)
{
	packet->opcode = RC_WRITE_ONLY; // ends before its last byte
}

static void spoil_key(struct packet *packet)
{
	packet->u.data.rkey = 0x1234;
}

static void spoil_bounds(struct packet *packet)
{
	packet->u.data.va = UINT64_MAX - 100;
}

static const struct {
	void (*spoil)(struct packet *);
	enum refused_reason reason;
	uint8_t syndrome;
} spoilers[] = {
	{spoil_opcode, REFUSED_LENGTH, PACKET_NAK_REQUEST},
	{spoil_length, REFUSED_LENGTH, PACKET_NAK_REQUEST},
	{spoil_key, REFUSED_KEY, PACKET_NAK_ACCESS},
	{spoil_bounds, REFUSED_BOUNDS, PACKET_NAK_ACCESS},
};

static void a_bad_request_ends_the_connection(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < sizeof(spoilers) / sizeof(*spoilers); i++) {
		struct bench *bench = open_bench(1, 0);
		uint32_t sent[SENT_MAX];
		send_message(bench, 2, sent);
		spoilers[i].spoil(at(bench, sent[0]));
		give(bench, 1, sent[0]);
		assert_int_equal(counters(bench, 1)->refused[spoilers[i].reason], 1);
		assert_int_equal(counters(bench, 1)->payload_bytes_placed, 0);
		assert_int_equal(endpoint_qp(bench->ends[1], 0)->state, QP_ERROR);
		give(bench, 1, sent[1]);
		assert_int_equal(counters(bench, 1)->no_qp, 1);
		uint32_t nak = take(bench, 1);
		assert_int_equal(at(bench, nak)->u.ack.syndrome, spoilers[i].syndrome);
		give(bench, 0, nak);
		assert_int_equal(bench->log_count[0], 1);
		assert_int_equal(bench->log[0][0].kind, COMPLETION_FLUSHED);
		assert_int_equal(bench_post(bench, 0, 0, 1, 0), -ECONNRESET);
		bench_check_empty(bench);
		bench_close(bench);
	}
}

// It has no region and no length of ours, and is refused for what it is. The NAK names the packet
// and how many messages were done.
static void what_rc_has_beside_writes_is_an_invalid_request(void **state)
{
	(void)state;
	static const uint8_t opcodes[] = {0x00, 0x04, 0x05, 0x0c, 0x13, 0x14, 0x15, 0x17, 0x1f};
	for (uint32_t i = 0; i < sizeof(opcodes); i++) {
		struct bench *bench = open_bench(1, 0xffffff);
		uint32_t sent[SENT_MAX];
		send_message(bench, 1, sent);
		give(bench, 1, sent[0]);
		give(bench, 0, take(bench, 1));
		send_message(bench, 2, sent);
		for (uint32_t k = 0; k < 2; k++) {
			at(bench, sent[k])->opcode = opcodes[i];
			at(bench, sent[k])->u.data.rkey = 0x1234;
		}
		uint32_t placed = counters(bench, 1)->payload_bytes_placed;
		give(bench, 1, sent[1]); // out of order: no more than a gap yet
		uint32_t nak = take(bench, 1);
		assert_int_equal(at(bench, nak)->u.ack.syndrome, PACKET_NAK_SEQUENCE);
		assert_int_equal(endpoint_qp(bench->ends[1], 0)->state, QP_RTS);
		drop(bench, nak);
		give(bench, 1, sent[0]);
		nak = take(bench, 1);
		assert_int_equal(at(bench, nak)->opcode, RC_ACK);
		assert_int_equal(at(bench, nak)->u.ack.syndrome, PACKET_NAK_REQUEST);
		assert_int_equal(at(bench, nak)->psn, 0);
		assert_int_equal(at(bench, nak)->u.ack.msn, 1);
		assert_int_equal(at(bench, nak)->payload_bytes, 0);
		assert_int_equal(counters(bench, 1)->refused[REFUSED_OPCODE], 1);
		assert_int_equal(counters(bench, 1)->payload_bytes_placed, placed);
		assert_int_equal(endpoint_qp(bench->ends[1], 0)->state, QP_ERROR);
		drop(bench, nak);
		assert_int_equal(take(bench, 1), PACKET_NONE);
		bench_close(bench);
	}
}

// Answers to what weft never asks.
static void responses_of_what_was_not_asked_are_dropped(void **state)
{
	(void)state;
	struct bench *bench = open_bench(1, 0);
	uint32_t sent[SENT_MAX];
	send_message(bench, 1, sent);
	at(bench, sent[0])->opcode = 0x10; // READ response only
	give(bench, 1, sent[0]);
	assert_int_equal(take(bench, 1), PACKET_NONE);
	assert_int_equal(endpoint_qp(bench->ends[1], 0)->state, QP_RTS);
	bench_close(bench);
}
