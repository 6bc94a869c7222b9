// SPDX-License-Identifier: Apache-2.0
// What the tests of a responder share: packets made by hand, given to side 1 one at a time, and its
// answers. For the unit tests of transport only.
#pragma once

#include "transport_bench.h"

#define START 0xfffff0u // a few packets before the wrap

static inline struct bench *open_one(struct transport_config config)
{
	return bench_open(&config, 1, START, 1);
}

// A middle packet START + n on plane 1 with EV 1000 + n.
static inline uint32_t data(struct bench *bench, uint32_t n)
{
	uint32_t index = packet_get(&bench->packets);
	*packet_at(&bench->packets, index) = (struct packet){
		.source = 0,
		.target = 1,
		.ev = 1000 + n,
		.wire_bytes = 1088,
		.payload_bytes = 1024,
		.klass = PACKET_CLASS_DATA,
		.flags = PACKET_ECT | PACKET_TRIMMABLE,
		.plane = 1,
		.opcode = PACKET_WRITE_MIDDLE,
		.timestamp = (uint16_t)(100 + n),
		.psn = (START + n) & PSN_MASK,
		.u.data = {.va = BENCH_VA + 1024 * n, .rkey = BENCH_RKEY, .message_bytes = 1 << 20},
	};
	return index;
}

static inline void give(struct bench *bench, uint32_t index)
{
	endpoint_receive(bench->ends[1], index, bench->now, &bench->out);
	bench_poll(bench, 1);
}

static inline void give_plain(struct bench *bench, uint32_t n)
{
	give(bench, data(bench, n));
}

static inline void give_with(struct bench *bench, uint32_t n, uint8_t bth, uint8_t flags)
{
	uint32_t index = data(bench, n);
	packet_at(&bench->packets, index)->bth = bth;
	packet_at(&bench->packets, index)->flags |= flags;
	give(bench, index);
}

// The answer that waits on plane 1, put back at once; only valid until the next call.
static inline const struct packet *answer(struct bench *bench)
{
	assert_int_equal(endpoint_next(bench->ends[1], 0, bench->now, &bench->out), PACKET_NONE);
	uint32_t index = endpoint_next(bench->ends[1], 1, bench->now, &bench->out);
	if (index == PACKET_NONE)
		return NULL;
	packet_put(&bench->packets, index);
	return packet_at(&bench->packets, index);
}
