// SPDX-License-Identifier: Apache-2.0
// A small world with an outcome for the tests of the report. It holds no machines; every figure is
// given here, so that tests can do the sums by hand. What ran in it: result_runs.h.
#pragma once

#include <stdlib.h>
#include <string.h>

#include <weft/result/report.h>

#ifndef RIG_DIAGNOSIS // who stands out is told by a room above this one
#define RIG_DIAGNOSIS NULL
#endif

#define FAKE_ARENA_BYTES ((size_t)8 << 20)

struct fake {
	void *base;
	struct arena arena;
	struct scenario scenario;
	struct world world;
	struct outcome outcome;
	struct group groups[2];
	uint32_t gpus[2][256]; // of groups
	struct bucket buckets[2];
	struct outcome_collective collectives[3];
	struct flow flows[4];
	ps_t flow_end_ps[4];		 // 0: not yet
	struct hist lateness_ns, gap_ns; // of a run with a clock
	struct report_input input;
};

// Adds `count` latencies of low_ns, low_ns + step_ns, ...
static inline void fake_latencies(struct hist *hist, uint32_t count, int64_t low_ns,
				  int64_t step_ns)
{
	for (uint32_t i = 0; i < count; i++)
		hist_add(hist, low_ns + i * step_ns);
}

// The group's ranks are NICs `first` and those behind it on as many of the small world's hosts as
// it takes.
static inline void fake_gpus(struct fake *fake, uint32_t group, uint32_t first)
{
	struct group *of = &fake->groups[group];
	of->gpus = fake->gpus[group];
	for (uint32_t i = 0; i < of->ranks; i++)
		of->gpus[i] = i / of->ranks_per_host * fake->world.fabric.nics_per_host + first +
			i % of->ranks_per_host;
}

static inline struct fake *fake_world(const char *name)
{
	struct fake *fake = calloc(1, sizeof(*fake));
	check(fake != NULL);
	fake->base = aligned_alloc(64, FAKE_ARENA_BYTES);
	check(fake->base != NULL);
	memset(fake->base, 0, FAKE_ARENA_BYTES);
	arena_init(&fake->arena, fake->base, FAKE_ARENA_BYTES);
	for (int i = 0; i < PAIR_CLASS_COUNT; i++)
		check(hist_init(&fake->outcome.message_ns[i], &fake->arena, 3, 1000000000) == 0);
	check(hist_init(&fake->outcome.flow_ns, &fake->arena, 3, 1000000000) == 0);
	strcpy(fake->scenario.name, name);
	strcpy(fake->scenario.description, "made by hand");
	strcpy(fake->scenario.path, "fake.yaml");
	fake->scenario.seed = UINT64_MAX; // does not fit a JSON integer
	fake->scenario.scaleup.rate_bps = UINT64_C(7200000000000);
	struct world *world = &fake->world;
	world->scenario = &fake->scenario;
	world->arena = &fake->arena;
	world->outcome = &fake->outcome;
	world->fabric.link_rate_bps = UINT64_C(100000000000);
	world->fabric.trunk_sample_kept = world->fabric.trunk_sample_of = 1;
	world->transport.cc.name = "nscc";
	fake->scenario.transport.cc.name = "nscc";
	world->transport.payload_bytes = 4096;
	fake->scenario.qps_per_connection = 1;
	world->transport.planes = 2;
	world->fabric.nics = 16;
	world->fabric.nics_per_host = 4;
	world->topology.nics = 16;
	world->topology.hosts = 4;
	world->topology.nics_per_host = 4;
	world->topology.planes = 2;
	world->topology.links_max = 4;
	static struct switch_plan switches[12];
	static uint32_t port_links[16];
	world->topology.switch_count = 12;
	world->topology.switches = switches;
	world->topology.port_links = port_links;
	world->fabric.ecn_on = true; // which nscc works on
	world->topology.base_rtt_ps = 8123456;
	world->transport.rto_ps = 262144000;
	world->job.groups = fake->groups;
	world->job.buckets = fake->buckets;
	fake->outcome.collectives = fake->collectives;
	fake->input = (struct report_input){
		.world = world, .version = "weft 0.1.0 (abc)", .diagnosis = RIG_DIAGNOSIS};
	return fake;
}

static inline void fake_free(struct fake *fake)
{
	free(fake->base);
	free(fake);
}

// A series of bins of 1 us.
static inline void fake_series(struct fake *fake, uint32_t bins)
{
	check(series_init(&fake->outcome.series, &fake->arena, bins, PS_PER_US) == 0);
}

// A log of dead paths for each of two shards, and cables that they may name: of NICs 0 and 1 in
// plane 0, there and back.
static inline void fake_bypasses(struct fake *fake)
{
	static struct link_plan links[2];
	static struct switch_plan switches[12];
	struct world *world = &fake->world;
	links[0] = (struct link_plan){.node_b = world->topology.hosts};
	links[1] = links[0];
	links[1].port_a = links[1].port_b = 2;
	world->fabric.planes = world->topology.planes;
	world->topology.links = links;
	check(world->topology.switch_count <= 12);
	world->topology.switches = switches;
	world->cable_count = 4;
	for (uint32_t i = 0; i < 2; i++) {
		world->bypass[i] = arena_draw(&fake->arena, ARENA_MEASURE, 1,
					      sizeof(struct bypass));
		check(world->bypass[i] != NULL);
		check(bypass_init(world->bypass[i], &fake->arena, 64, PS_PER_MS / 2) == 0);
	}
}

// What a fabric with a little congestion counts; sums that hold.
static inline void fake_counters(struct fake *fake)
{
	struct outcome *outcome = &fake->outcome;
	outcome->transport.data_packets = 1000000;
	outcome->transport.plane_bytes[0] = UINT64_C(2200000000);
	outcome->transport.plane_bytes[1] = UINT64_C(1800000000);
	outcome->plane_bytes_nic_max[0] = 300000000;
	outcome->plane_bytes_nic_max[1] = 200000000;
	outcome->transport.rtx[RTX_NACK] = 1500;
	outcome->transport.rtx[RTX_HOLE] = 500;
	outcome->fabric.marked = 25000;
	outcome->fabric.trimmed = 1600;
	outcome->fabric.trimmed_last_hop = 600;
	outcome->fabric.queue_bytes_max = 270000;
	outcome->fabric.dropped[DROP_QUEUE_FULL] = 40;
	outcome->dropped_at_host[DROP_UNKNOWN_QP] = 3;
	fake->input.run.dropped[DROP_RANDOM_LOSS] = 60;
	fake->input.run.dropped[DROP_QUEUE_FULL] = 0;
	fake->input.run.sent = 1200000;
	fake->input.run.delivered = 1199900;
	fake->input.run.data_packets = 1000000;
	fake->input.run.hops = 5000000;
	fake->input.run.data_hops = 4200000;
	fake->input.run.cpu_s = 0.5;
	fake->input.run.wall_s = 0.625;
	fake->input.memory_peak_bytes = 96 << 20;
	fake->input.run.digest = UINT64_C(0x0123456789abcdef);
}
