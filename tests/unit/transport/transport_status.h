// SPDX-License-Identifier: Apache-2.0
// What the tests of port status share: two ends that have it, what went over the wires between
// them, and packets that nobody sent. For the unit tests of transport only.
#pragma once

#include "../../../lib/transport/path/status.h"
#include "transport_bench.h"

#define BOTH 3u // ports of a NIC, as a mask
#define ID_AT 1 // psn of the first request

// What went over the wires, by opcode, plane and sender.
static uint32_t seen[256][4][2];
static struct packet last_request, last_response;
static uint32_t drops_left; // requests that the wire takes

static inline void watch(struct bench *bench, struct packet *packet)
{
	(void)bench;
	seen[packet->opcode][packet->plane][packet->source]++;
	if (packet->opcode == PACKET_ENDPOINT_REQUEST)
		last_request = *packet;
	if (packet->opcode == PACKET_ENDPOINT_RESPONSE)
		last_response = *packet;
	if (packet->opcode == PACKET_ENDPOINT_REQUEST && drops_left > 0) {
		drops_left--;
		packet->target = packet->source; // where it is for nobody
	}
}

static inline struct transport_config status_config(void)
{
	struct transport_config config = bench_config();
	config.port_status = true;
	config.hole_age_ps = 5 * PS_PER_US;
	return config;
}

static inline struct bench *open_with(const struct transport_config *config, uint32_t qps)
{
	struct bench *bench = bench_open(config, qps, 0xfffff0, 5);
	bench->on_send = watch;
	memset(seen, 0, sizeof(seen));
	drops_left = 0;
	return bench;
}

static inline struct bench *open_two(uint32_t qps)
{
	struct transport_config config = status_config();
	return open_with(&config, qps);
}

static inline void close_done(struct bench *bench)
{
	bench_check_empty(bench);
	bench_close(bench);
}

// The port of `side` loses its light, or has it again, and its NIC knows.
static inline void set_port(struct bench *bench, uint32_t side, uint32_t plane, bool is_up)
{
	uint32_t bit = UINT32_C(1) << plane;
	bench->dark[side] = is_up ? bench->dark[side] & ~bit : bench->dark[side] | bit;
	endpoint_port(bench->ends[side], plane, is_up, bench->now, &bench->out);
}

static inline uint32_t data_seen(uint32_t plane, uint32_t side)
{
	uint32_t count = 0;
	for (uint32_t opcode = PACKET_WRITE_FIRST; opcode <= PACKET_WRITE_ONLY_IMM; opcode++)
		count += seen[opcode][plane][side];
	return count;
}

static inline const struct transport_counters *counters_of(const struct bench *bench, uint32_t side)
{
	return endpoint_counters(bench->ends[side]);
}

// Posts on QP 0 from side 0 and runs until all is done.
static inline void send_all(struct bench *bench, uint32_t side, uint32_t bytes)
{
	assert_int_equal(bench_post(bench, side, 0, bytes, 1), 0);
	bench_run(bench, BENCH_TO_THE_END);
}

// Gives `side` a packet that the other end did not send.
static inline void forge(struct bench *bench, uint32_t side, const struct packet *packet)
{
	uint32_t index = packet_get(&bench->packets);
	*packet_at(&bench->packets, index) = *packet;
	packet_at(&bench->packets, index)->target = side;
	endpoint_receive(bench->ends[side], index, bench->now, &bench->out);
}

static inline struct packet request_of(uint32_t source, uint32_t mask, uint16_t id)
{
	return (struct packet){.source = source,
			       .klass = PACKET_CLASS_CONTROL,
			       .wire_bytes = 64,
			       .opcode = PACKET_ENDPOINT_REQUEST,
			       .qpn = PACKET_ENDPOINT_QPN,
			       .psn = id,
			       .timestamp = 77,
			       .u.request = {.port_status_mask = mask}};
}
