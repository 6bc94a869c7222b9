// SPDX-License-Identifier: Apache-2.0
// What the tests of the fabric build again and again: memory, a packet pool, an outbox, two usual
// topologies. Included before cmocka's own needs are met, so it includes cmocka itself.
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <weft/core/arena.h>
#include <weft/core/machine.h>
#include <weft/core/packet.h>
#include <weft/fabric/fabric.h>

#define RIG_ARENA_BYTES ((size_t)48 << 20)
#define RIG_PACKETS 20000u
#define RIG_DEPARTURES 20000u

struct rig {
	void *memory;
	struct arena arena;
	struct packet_pool packets;
	struct fifo_pool chunks;
	struct departure *departures;
	struct outbox out;
	struct refusal refusal;
};

static inline void rig_open(struct rig *rig)
{
	memset(rig, 0, sizeof *rig);
	rig->memory = aligned_alloc(64, RIG_ARENA_BYTES);
	assert_non_null(rig->memory);
	memset(rig->memory, 0, RIG_ARENA_BYTES);
	arena_init(&rig->arena, rig->memory, RIG_ARENA_BYTES);
	assert_int_equal(packet_pool_init(&rig->packets, &rig->arena, RIG_PACKETS), 0);
	uint32_t chunks = fifo_chunks_for(1024, RIG_PACKETS);
	assert_int_equal(fifo_pool_init(&rig->chunks, &rig->arena, chunks), 0);
	rig->departures = calloc(RIG_DEPARTURES, sizeof *rig->departures);
	assert_non_null(rig->departures);
	rig->out = (struct outbox){
		.departures = rig->departures,
		.capacity = RIG_DEPARTURES,
		.packets = &rig->packets,
		.chunks = &rig->chunks,
	};
}

static inline void rig_close(struct rig *rig)
{
	free(rig->departures);
	free(rig->memory);
}

// A test whose state is a fresh rig.
#define WITH_RIG(test) cmocka_unit_test_setup_teardown(test, rig_setup, rig_teardown)

static inline int rig_setup(void **state)
{
	static struct rig rig;
	rig_open(&rig);
	*state = &rig;
	return 0;
}

static inline int rig_teardown(void **state)
{
	rig_close(*state);
	return 0;
}

// A packet of `bytes` from NIC 0 to NIC `target`; flags as given.
static inline uint32_t rig_packet(struct rig *rig, enum packet_class klass, uint32_t bytes,
				  uint8_t flags, uint32_t target)
{
	uint32_t index = packet_get(&rig->packets);
	assert_int_not_equal(index, PACKET_NONE);
	struct packet *packet = packet_at(&rig->packets, index);
	memset(packet, 0, sizeof *packet);
	packet->target = target;
	packet->wire_bytes = (uint16_t)bytes;
	packet->payload_bytes = (uint16_t)(bytes > 64 ? bytes - 64 : 0);
	packet->klass = (uint8_t)klass;
	packet->flags = flags;
	return index;
}

// Four T0 with eight NICs, four T1, bundles of two, two planes; 100 Gb/s, 1 us; htsim's packets.
static inline struct fabric_config rig_clos(void)
{
	return (struct fabric_config){
		.kind = TOPOLOGY_CLOS,
		.nics = 32,
		.nics_per_host = 4,
		.planes = 2,
		.link_rate_bps = UINT64_C(100000000000),
		.nic_delay_ps = PS_PER_US,
		.trunk_delay_ps = PS_PER_US,
		.nics_per_t0 = 8,
		.t1_count = 4,
		.bundle = 2,
		.mtu_bytes = 4150,
		.control_bytes = 64,
		.ecn_on = true,
		.trim_on = true,
		.trim_bytes = 64,
		.trunk_sample_kept = 1,
		.trunk_sample_of = 1,
	};
}

// htsim's fat_tree_128_1os: 32 ToRs with 4 hosts, 8 pods of 4 ToRs and 4 aggregation switches, 16
// cores.
static inline struct fabric_config rig_fat_tree(uint64_t rate_bps)
{
	struct fabric_config config = rig_clos();
	config.kind = TOPOLOGY_FAT_TREE;
	config.nics = 128;
	config.nics_per_host = 1;
	config.planes = 1;
	config.link_rate_bps = rate_bps;
	config.tor_nics = config.pod_tors = config.pod_aggs = 4;
	config.cores = 16;
	return config;
}
