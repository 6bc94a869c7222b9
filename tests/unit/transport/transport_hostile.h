// SPDX-License-Identifier: Apache-2.0
// A transfer under way and a way to lie to its two ends. Each lie is a packet that is true but for
// one field; nothing of it may be placed or acknowledged, no window may move, and it is counted by
// its reason. For the unit tests of transport only.
#pragma once

#include "transport_bench.h"

#define START 0xfffff0u
#define FULL 1024u
#define SENT 8u // packets of the transfer under way

static struct transport_config config;
static struct bench *bench;

// What must not change: both halves of the QP of `side`.
struct books {
	uint32_t una, psn_next, inflight, lost_count, acked_count, asks_out, send_done, wimm_count;
	uint32_t window_bytes, rcv_next, ooo_count, pending_imm_count;
	uint64_t rcvd_bytes, placed, messages;
	uint16_t rqmsn_wanted;
	uint8_t state;
};

static inline struct books books_of(uint32_t side)
{
	const struct qp *qp = endpoint_qp(bench->ends[side], 0);
	const struct transport_counters *counters = endpoint_counters(bench->ends[side]);
	struct books books;
	memset(&books, 0, sizeof(books)); // they are compared with their padding
	books.una = qp->una, books.psn_next = qp->psn_next, books.inflight = qp->inflight;
	books.lost_count = qp->lost_count, books.acked_count = qp->acked_count;
	books.asks_out = qp->asks_out, books.send_done = qp->send_done;
	books.wimm_count = qp->wimm_count, books.window_bytes = qp->cc.window_bytes;
	books.rcv_next = qp->rcv_next, books.ooo_count = qp->ooo_count;
	books.pending_imm_count = qp->pending_imm_count, books.rcvd_bytes = qp->rcvd_bytes;
	books.rqmsn_wanted = qp->rqmsn_wanted, books.state = qp->state;
	books.placed = counters->payload_bytes_placed;
	books.messages = counters->messages_sent + counters->messages_received;
	return books;
}

// Side 0 has a message of SENT full packets under way; side 1 has none of it.
static inline int open_transfer(void **state)
{
	(void)state;
	config = bench_config();
	config.cc.name = "nscc";
	bench = bench_open(&config, 1, START, 1);
	assert_int_equal(bench_post(bench, 0, 0, SENT * FULL, 1), 0);
	for (uint32_t n = 0; n < SENT; n++) {
		bench->now += PS_PER_US;
		uint32_t index = endpoint_next(bench->ends[0], 0, bench->now, &bench->out);
		assert_int_not_equal(index, PACKET_NONE);
		packet_put(&bench->packets, index);
	}
	return 0;
}

static inline int close_transfer(void **state)
{
	(void)state;
	assert_int_equal(packet_pool_taken(&bench->packets),
			 endpoint_held(bench->ends[0]) + endpoint_held(bench->ends[1]));
	bench_close(bench);
	return 0;
}

// A packet START + 1 that side 1 would place: the middle of a message of 4 packets.
static inline struct packet honest_data(void)
{
	return (struct packet){
		.source = 0,
		.target = 1,
		.ev = 77,
		.wire_bytes = 1088,
		.payload_bytes = FULL,
		.klass = PACKET_CLASS_DATA,
		.flags = PACKET_ECT | PACKET_TRIMMABLE,
		.plane = 1,
		.opcode = PACKET_WRITE_MIDDLE,
		.bth = PACKET_AR,
		.psn = (START + 1) & PSN_MASK,
		.u.data = {.va = BENCH_VA + FULL, .rkey = BENCH_RKEY, .message_bytes = 4 * FULL},
	};
}

// A SACK that side 0 would believe: packet START arrived and caused it.
static inline struct packet honest_sack(void)
{
	return (struct packet){
		.source = 1,
		.opcode = PACKET_SACK,
		.klass = PACKET_CLASS_CONTROL,
		.psn = START,
		.u.sack = {.offset = 1, .ev_echo = 77},
	};
}

static inline void give(uint32_t side, const struct packet *content)
{
	uint32_t index = packet_get(&bench->packets);
	*packet_at(&bench->packets, index) = *content;
	endpoint_receive(bench->ends[side], index, bench->now, &bench->out);
	bench_poll(bench, side);
	bench_check_qp(bench, bench->ends[side], endpoint_qp(bench->ends[side], 0));
}

// Gives a lie; nothing may change but one counter of `reason`, by one, and no answer may wait.
static inline void give_lie(uint32_t side, const struct packet *lie, enum refused_reason reason)
{
	struct endpoint *endpoint = bench->ends[side];
	struct books before = books_of(side);
	uint64_t refused = endpoint_counters(endpoint)->refused[reason];
	uint64_t all = transport_refused(endpoint_counters(endpoint));
	uint32_t places = bench->places_count, held = endpoint_held(endpoint);
	give(side, lie);
	struct books after = books_of(side);
	assert_memory_equal(&before, &after, sizeof(before));
	assert_int_equal(endpoint_counters(endpoint)->refused[reason], refused + 1);
	assert_int_equal(transport_refused(endpoint_counters(endpoint)), all + 1);
	assert_int_equal(bench->places_count, places);
	assert_int_equal(endpoint_held(endpoint), held);
}

#define LIE(test) cmocka_unit_test_setup_teardown(test, open_transfer, close_transfer)
