// SPDX-License-Identifier: Apache-2.0
// Results of runs to which something happened: faults, a limit, a clock, generators, pauses.
#pragma once

#include "result_runs.h"

// The flows with counts over time, of which a part is expected.
static inline struct fake *fake_watched(void)
{
	struct fake *fake = fake_flows();
	fake_series(fake, 4);
	series_add(&fake->outcome.series, SERIES_PLACED, PS_PER_US, 5000);
	series_add(&fake->outcome.series, SERIES_LOST, 2 * PS_PER_US, 7);
	const struct bypass_event event = {.nic = 8, .ev = 5, .cable = 2, .down_ps = PS_PER_MS};
	static uint64_t placed[16 * 4];
	fake->world.shard_count = 2;
	fake->scenario.transport.ev_count = 8;
	fake->scenario.watch = (struct watch_config){.bin_ps = PS_PER_US, .bins = 4};
	fake->world.nic_placed = placed;
	fake_bypasses(fake);
	bypass_lose(fake->world.bypass[1], &event, PS_PER_MS);
	bypass_lose(fake->world.bypass[1], &event, PS_PER_MS + 37 * PS_PER_US);
	strcpy(fake->scenario.expectations[0].name, "in the fault");
	fake->scenario.expectations[0].from_ps = PS_PER_US;
	fake->scenario.expectations[0].until_ps = 2 * PS_PER_US;
	return fake;
}

// The same, but no path led over a cable that went down.
static inline struct fake *fake_unharmed(void)
{
	struct fake *fake = fake_watched();
	fake->world.bypass[1]->count = 0;
	fake->scenario.expectations[0] = (struct scenario_expect){.measure = EXPECT_BYPASS,
								  .formula = EXPECT_LIMIT,
								  .bound = EXPECT_AT_MOST,
								  .limit_ps = 50 * PS_PER_US,
								  .quantile_ppb = 500000000};
	return fake;
}

// Two NICs below one switch; one of them loses packets on its way up.
static inline struct fake *fake_culprit(void)
{
	struct fake *fake = fake_flows();
	struct world *world = &fake->world;
	static struct link_count counts[4];
	static uint32_t spread[32][LINK_SPREAD_CELLS];
	static struct work_count work[4];
	static bool was_down[32];
	fake_bypasses(fake); // for its cables
	check(world->topology.nics * world->topology.planes <= 32 && world->topology.hosts <= 4);
	for (int i = 0; i < 4; i++)
		counts[i] = (struct link_count){
			.packets = 1000, .bytes = 4000000, .first_lost_ps = PS_NEVER};
	static struct switch_ *t0;
	static uint32_t port_links[] = {0, 0, 1};
	world->topology.links[0].rate_bps = world->topology.links[1].rate_bps = UINT64_C(
		100000000000);
	world->topology.port_links = port_links;
	world->topology.switches[0].port_count = 3;
	check(switch_create(&t0, &fake->arena, &world->topology, &world->fabric, 0, 1, NULL) == 0);
	check(switch_watch(t0, &fake->arena, &world->topology, &world->fabric) == 0);
	switch_port_watch(t0, 0)->above_ps = PS_PER_US;
	world->switches = &t0;
	struct racks *racks = &fake->outcome.racks;
	check(racks_init(racks, &fake->arena, 2, 2, 1000000) == 0);
	for (uint32_t i = 0; i < 100; i++)
		racks_add(racks, 0, 3, 1000 * (i + 1));
	racks_add(racks, 2, 1, 77);
	counts[2].lost_random = 12;
	counts[2].first_lost_ps = PS_PER_US;
	world->topology.link_count = 2;
	static struct hist depths[LINK_GROUP_COUNT];
	static struct depth_series series;
	for (int i = 0; i < LINK_GROUP_COUNT; i++)
		check(hist_init(&depths[i], &fake->arena, 2, 1 << 20) == 0);
	hist_add_many(&depths[LINK_NIC_DOWN], 5000, 12);
	depth_series_init(&series);
	for (uint32_t i = 0; i < 3; i++)
		*switch_port_depth(t0, i) = (struct depth_watch){&depths[LINK_NIC_DOWN], &series};
	depth_note(switch_port_depth(t0, 0), PS_PER_US, 9000);
	switch_port_watch(t0, 0)->queue_max_bytes = 9000;
	world->links = (struct world_links){.counts = counts,
					    .spread = spread,
					    .was_down = was_down,
					    .work = work,
					    .depth = depths};
	return fake;
}

// One collective of the ring did not end.
static inline struct fake *fake_unfinished(void)
{
	struct fake *fake = fake_ring();
	fake->collectives[1] = (struct outcome_collective){
		.bucket = 1, .start_ps = 25 * PS_PER_MS, .end_ps = 27 * PS_PER_MS};
	fake->input.end = "time";
	fake->input.is_partial = true;
	return fake;
}

// The ring at the pace of a clock, with frames, two of which came damaged, and both kinds of files.
static inline struct fake *fake_emulated(void)
{
	struct fake *fake = fake_ring();
	check(hist_init(&fake->lateness_ns, &fake->arena, 2, UINT64_C(1) << 40) == 0);
	check(hist_init(&fake->gap_ns, &fake->arena, 2, UINT64_C(1) << 40) == 0);
	hist_add_many(&fake->lateness_ns, 0, 900000);
	hist_add_many(&fake->lateness_ns, 12000, 99900);
	hist_add_many(&fake->lateness_ns, 340000, 99);
	hist_add(&fake->lateness_ns, 5600000);
	hist_add_many(&fake->gap_ns, 40, 2999999);
	hist_add(&fake->gap_ns, 7800000);
	fake->input.pace = (struct report_pace){.dilation_milli = 86200,
						.is_auto = true,
						.lanes = 1,
						.lateness_ns = &fake->lateness_ns,
						.gap_ns = &fake->gap_ns};
	fake->input.ports = (struct report_ports){.name = "net_ring",
						  .ports = 12,
						  .queues = 192,
						  .cables_per_queue_max = 1,
						  .frames = 16384,
						  .frame_bytes_max = 4352,
						  .sent = 5000000,
						  .received = 5000000,
						  .payload_bytes_good = UINT64_C(4000000000),
						  .bad_count = 2,
						  .bad_names = {"bad ICRC", "cut in payload"},
						  .bad = {1500, 2}};
	fake->input.taps = (struct report_taps){.pcap = "out/ring.pcapng",
						.log = "out/ring.csv",
						.frames = 1234567,
						.lost = 3,
						.bytes = 987654321};
	return fake;
}

// The same, but nothing waited for the clock, and it was stopped before the first look.
static inline struct fake *fake_unpaced(void)
{
	struct fake *fake = fake_emulated();
	fake->input.pace.dilation_milli = 0;
	fake->lateness_ns = fake->gap_ns = (struct hist){0};
	return fake;
}

// Gradients from generators, on a device.
static inline struct fake *fake_generated(void)
{
	static const struct report_gpu gpu = {.device = "a device",
					      .ranks = 4,
					      .releases = 64,
					      .elements = 7340032,
					      .wrong = 2,
					      .late_p50_ns = 3000,
					      .late_p99_ns = 17000,
					      .late_max_ns = 21000,
					      .heard_p50_ps = 100000,
					      .heard_p99_ps = 400000,
					      .heard_max_ps = 500000,
					      .clock_error_ns = 800,
					      .clock_offset_ns = -77000,
					      .clock_zero_ns = 123456789,
					      .barrier_ps = 3000000,
					      .exposed_device_ps = 92000000,
					      .exposed_host_ps = 91000000,
					      .exposed_model_ps = 85000000,
					      .fill_bps = 2e12,
					      .reduce_bps = 1e12,
					      .is_whole = true};
	struct fake *fake = fake_emulated();
	fake->input.gpu = &gpu;
	return fake;
}

// One of the generators was lost.
static inline struct fake *fake_lost(void)
{
	static const struct report_gpu gpu = {
		.device = "a device", .ranks = 4, .exposed_host_ps = 91000000};
	struct fake *fake = fake_emulated();
	fake->input.end = "peer lost";
	fake->input.is_partial = true;
	fake->input.gpu = &gpu;
	return fake;
}

// A ring over switches with PFC, of which two NICs' cables are paused and wait for each other.
static inline struct fake *fake_paused(void)
{
	struct fake *fake = fake_ring();
	struct world *world = &fake->world;
	struct world_pauses *pauses = arena_draw(&fake->arena, ARENA_MEASURE, 1, sizeof(*pauses));
	check(pauses != NULL);
	fake_bypasses(fake); // for its cables
	world->pauses = pauses;
	world->fabric.buffer = (struct buffer_config){1000000, ALPHA_WHOLE / 2};
	fake->outcome.fabric.buffer_bytes_max = 800000;
	world->topology.pfc_xoff_bytes = 100000;
	world->topology.pfc_xon_bytes = 90000;
	world->topology.pfc_headroom_low_bytes = 30000;
	world->topology.pfc_headroom_high_bytes = 40000;
	world->topology.pfc_room_bytes = 900000;
	fake->outcome.fabric.pause = (struct pause_counters){.pauses_sent = 70,
							     .resumes_sent = 60,
							     .pauses_received = 40,
							     .resumes_received = 35,
							     .paused_ps = 5 * PS_PER_MS,
							     .watch_fired = 2,
							     .headroom_bytes_max = 12345};
	fake->outcome.fabric.dropped[DROP_HEADROOM_FULL] = 5;
	fake->input.run.sent = 1200000;
	fake->input.run.delivered = 1199950; // 30 + 25 frames, and 5 drops
	pauses->nic_pauses = 30;
	pauses->nic_resumes = 25;
	pauses->nic_paused_ps = 2 * PS_PER_MS;
	pauses->cable_count = 3;
	pauses->listed_count = 2;
	pauses->listed[0] = (struct pause_cable){1, 4 * PS_PER_MS, 25};
	pauses->listed[1] = (struct pause_cable){0, PS_PER_MS, 12};
	pauses->deadlock_count = 2;
	pauses->deadlock[0] = 1;
	pauses->deadlock[1] = 2;
	return fake;
}

// A world in which nothing happened.
static inline struct fake *fake_silence(void)
{
	struct fake *fake = fake_world("silence");
	fake->input.end = "interrupted";
	fake->input.is_partial = true;
	return fake;
}
