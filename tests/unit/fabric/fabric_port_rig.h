// SPDX-License-Identifier: Apache-2.0
// One port of 100 Gb/s, alone, and packets for it.
#pragma once

#include "fabric_rig.h"

#include "switch/port.h"

#define PACKET_BYTES 1000u
#define PACKET_PS 80000
#define QUEUE_PACKETS 10u

struct bench {
	struct rig rig;
	struct port port;
	struct fabric_counters counters;
};

static struct bench bench;

// Marks never, trims nothing, holds 10 data packets and 10 control packets of 64 bytes.
static void port_reset(uint8_t special)
{
	memset(&bench.port, 0, sizeof bench.port);
	memset(&bench.counters, 0, sizeof bench.counters);
	bench.port.line = line_of(UINT64_C(100000000000));
	bench.port.limit_bytes[PACKET_CLASS_DATA] = QUEUE_PACKETS * PACKET_BYTES;
	bench.port.limit_bytes[PACKET_CLASS_CONTROL] = 640;
	bench.port.ecn_low_bytes = bench.port.ecn_high_bytes = UINT32_MAX;
	bench.port.index = 5;
	bench.port.rng = rng_of(11, RNG_PORT, 5);
	bench.port.special = special;
	bench.rig.out.count = 0;
	bench.rig.out.limit = OUTBOX_WITHIN;
}

static uint32_t accept(ps_t at, enum packet_class klass, uint32_t bytes, uint8_t flags)
{
	uint32_t index = rig_packet(&bench.rig, klass, bytes, flags, 0);
	port_accept(&bench.port, &bench.rig.out, &bench.counters, index, at);
	return index;
}

static uint32_t data(ps_t at, uint8_t flags)
{
	return accept(at, PACKET_CLASS_DATA, PACKET_BYTES, flags);
}

static void advance(ps_t last)
{
	port_advance(&bench.port, &bench.rig.out, &bench.counters, last);
}
