// SPDX-License-Identifier: Apache-2.0
// Two NICs with QPs of RoCEv2's RC, packet by packet.
#pragma once

#include "../transport_bench.h"

#include "rc/rc.h"

#include <errno.h>

#include <weft/core/opcode.h>

#define FULL 1024u
#define SENT_MAX 64u

static inline struct transport_config rc_config(void)
{
	struct transport_config config = bench_config();
	config.kind = TRANSPORT_RC;
	config.cc.has_trimming = false;
	return config;
}

static inline struct bench *open_bench(uint32_t qps, uint32_t first_psn)
{
	struct transport_config config = rc_config();
	return bench_open(&config, qps, first_psn, 1);
}

// The next packet that `side` sends on any plane, PACKET_NONE when there is none.
static inline uint32_t take(struct bench *bench, uint32_t side)
{
	for (uint32_t plane = 0; plane < bench->config.planes; plane++) {
		uint32_t index = endpoint_next(bench->ends[side], plane, bench->now, &bench->out);
		if (index != PACKET_NONE)
			return index;
	}
	return PACKET_NONE;
}

static inline struct packet *at(struct bench *bench, uint32_t index)
{
	assert_int_not_equal(index, PACKET_NONE);
	return packet_at(&bench->packets, index);
}

static inline void give(struct bench *bench, uint32_t side, uint32_t index)
{
	assert_int_not_equal(index, PACKET_NONE);
	endpoint_receive(bench->ends[side], index, bench->now, &bench->out);
	bench_poll(bench, side);
}

static inline void drop(struct bench *bench, uint32_t index)
{
	packet_put(&bench->packets, index);
}

// Posts a message of `packets` on QP 0 of NIC 0 and takes them all.
static inline void send_message(struct bench *bench, uint32_t packets, uint32_t ret_sent[SENT_MAX])
{
	assert_true(packets <= SENT_MAX);
	assert_int_equal(bench_post(bench, 0, 0, packets * FULL, 9), 0);
	for (uint32_t i = 0; i < packets; i++)
		ret_sent[i] = take(bench, 0);
	assert_int_equal(take(bench, 0), PACKET_NONE);
}

static inline const struct transport_counters *counters(const struct bench *bench, uint32_t side)
{
	return endpoint_counters(bench->ends[side]);
}
