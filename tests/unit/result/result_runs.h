// SPDX-License-Identifier: Apache-2.0
// What ran in the small world of result_world.h: a ring that ran whole, a sample of a model's job,
// flows that were cut off.
#pragma once

#include "result_world.h"

// Two buckets over one group of 16 ranks on 4 hosts, all of it run; the second starts while the
// first runs.
static inline struct fake *fake_ring(void)
{
	struct fake *fake = fake_world("ring-16");
	struct world *world = &fake->world;
	fake_counters(fake);
	fake->scenario.traffic.kind = TRAFFIC_RING;
	fake->groups[0] = (struct group){.ranks = 16, .ranks_per_host = 4, .bucket_count = 2};
	fake_gpus(fake, 0, 0);
	fake->buckets[0] = (struct bucket){.kind = COLLECTIVE_ALL_REDUCE,
					   .bytes = UINT64_C(1000000000),
					   .siblings = 1,
					   .label = "first"};
	fake->buckets[1] = (struct bucket){.kind = COLLECTIVE_ALL_GATHER,
					   .bytes = UINT64_C(16000000),
					   .siblings = 1,
					   .label = "second"};
	world->job.group_count = 1;
	world->job.bucket_count = 2;
	world->job.ring.channels = 2;
	world->plan = (struct sample_plan){.groups_all = 1,
					   .buckets_all = 2,
					   .packets = 1000000,
					   .packets_all = 1000000,
					   .bytes_run = 1016000000,
					   .bytes_all = 1016000000};
	// 10 ms .. 30 ms and 25 ms .. 50 ms: traffic for 40 ms; then 5 ms of silence
	fake->collectives[0] = (struct outcome_collective){
		.start_ps = 10 * PS_PER_MS,
		.end_ps = 30 * PS_PER_MS,
		.whole_ps = 20 * PS_PER_MS,
		.lines_ps = 15 * PS_PER_MS,
		.busbw_bytes_per_s = UINT64_C(93750000000)};
	fake->collectives[1] = (struct outcome_collective){
		.bucket = 1,
		.start_ps = 25 * PS_PER_MS,
		.end_ps = 50 * PS_PER_MS,
		.whole_ps = 25 * PS_PER_MS,
		.busbw_bytes_per_s = UINT64_C(600000000)};
	fake->outcome.collective_count = 2;
	fake->outcome.end_ps = 50 * PS_PER_MS;
	fake->outcome.transport.payload_bytes_placed = UINT64_C(4000000000);
	fake_latencies(&fake->outcome.message_ns[PAIR_SAME_T0], 200, 10000, 100);
	fake_latencies(&fake->outcome.message_ns[PAIR_ACROSS_T1], 20000, 12000, 1);
	fake->input.end = "done";
	fake->input.run.now_ps = 55 * PS_PER_MS;
	fake->scenario.input_count = 3;
	fake->scenario.inputs[0].origin = INPUT_FACT;
	strcpy(fake->scenario.inputs[0].text, "planes: 2");
	fake->scenario.inputs[1].origin = INPUT_ASSUMED;
	strcpy(fake->scenario.inputs[1].text,
	       "cable lengths: 5 m to the rack's switches and 50 m above them, because no source "
	       "gives any; 5 ns a metre");
	fake->scenario.inputs[2].origin = INPUT_CALIBRATED;
	strcpy(fake->scenario.inputs[2].text, "forward time of a chunk: 5.3 ms");
	fake->input.command = "weft sim ring-16.yaml --seed 18446744073709551615";
	return fake;
}

// Two ranks of one host and one of another: 300 bytes between hosts, 20 within one.
static inline struct fake *fake_program(void)
{
	struct fake *fake = fake_world("program-3");
	struct program *program;
	struct opgraph_connection *line = arena_draw(&fake->arena, ARENA_WORLD, 1, sizeof(*line));
	check(line != NULL && program_create(&program, &fake->arena, 3, 5, 1, NULL) == 0);
	program_send(program, 0, 1, 0, 20, 0);
	program_receive(program, 1, 0, 0, 20, 0, false);
	uint32_t send = program_send(program, 1, 2, 0, 300, 0);
	program_receive(program, 2, 1, 0, 300, 0, false);
	program_wait(program, send, program_compute(program, 1, 0, 10));
	check(program_seal(program, &fake->arena, NULL) == 0);
	*line = (struct opgraph_connection){.from_nic = 1, .to_nic = 4};
	fake->world.program = program;
	fake->world.lines = line;
	fake->world.line_count = 1;
	fake->scenario.traffic.kind = TRAFFIC_GOAL;
	fake->outcome.program = (struct outcome_program){1, 300, 1, 20, 0};
	fake->outcome.transport.payload_bytes_placed = 300;
	fake->outcome.end_ps = 4 * PS_PER_US;
	fake->input.end = "done";
	fake->input.run.now_ps = 5 * PS_PER_US;
	return fake;
}

// Two jobs of the program above: hosts 0 and 1 below leaves 2 and 3 below spine 4. Both cross it;
// of the second one operation has not ended.
static inline struct fake *fake_jobs(void)
{
	static struct cable_plan cables[] = {{.from_machine = 0, .to_machine = 2},
					     {.from_machine = 2, .to_machine = 4},
					     {.from_machine = 4, .to_machine = 3},
					     {.from_machine = 3, .to_machine = 1}};
	static uint64_t bytes[4][2] = {{300, 0}, {300, 100}, {300, 100}, {300, 0}};
	static uint8_t owner_of[4] = {0, 0, 1, MIX_NOBODY};
	static const ps_t alone_ps[2] = {2 * PS_PER_US, 0};
	struct fake *fake = fake_program();
	struct world *world = &fake->world;
	world->fabric.nics = 4;
	world->fabric.nics_per_host = 2;
	world->fabric.planes = 1;
	fake->scenario.traffic.kind = TRAFFIC_JOBS;
	fake->scenario.job_count = 2;
	strcpy(fake->scenario.jobs[0].name, "first");
	strcpy(fake->scenario.jobs[1].name, "second");
	fake->outcome.jobs[0] = (struct outcome_job){3 * PS_PER_US, 4};
	fake->outcome.jobs[1] = (struct outcome_job){4 * PS_PER_US, 0};
	world->jobs = (struct world_jobs){
		.owner_of = owner_of, .bytes = &bytes[0][0], .ops = {4, 1}};
	world->cables = cables;
	world->cable_count = 4;
	world->machine_count = 5;
	world->topology.hosts = 2;
	fake->input.alone_ps = alone_ps;
	return fake;
}

// The latencies of fake_latencies() as messages of a sample, dealt out to its parts.
static inline void fake_batches(struct fake *fake, enum pair_class pair, uint32_t count,
				int64_t low_ns, int64_t step_ns)
{
	struct batches *batches = &fake->outcome.message_batches[pair];
	check(batches_init(batches, &fake->arena, 1 << 20) == 0);
	for (uint32_t i = 0; i < count; i++)
		batches_add(batches, i % BATCH_COUNT, i / BATCH_COUNT % PHASE_COUNT,
			    low_ns + i * step_ns);
}

// A sample of a model's job: 2 of 32 groups, 2 of 22 buckets, 12 of 255 steps.
static inline struct fake *fake_sample(void)
{
	struct fake *fake = fake_ring();
	struct world *world = &fake->world;
	strcpy(fake->scenario.name, "model-sample");
	fake->scenario.traffic.kind = TRAFFIC_MODEL;
	strcpy(fake->scenario.traffic.model, "llama-3.1-405b-azure");
	fake->buckets[1].kind = COLLECTIVE_REDUCE_SCATTER;
	fake->buckets[1].siblings = 7;
	for (uint32_t i = 0; i < 2; i++)
		fake->groups[i] = (struct group){.ranks = 256,
						 .ranks_per_host = 2,
						 .bucket_first = i,
						 .bucket_count = 1,
						 .stage = 3,
						 .index = 4 + i};
	world->fabric.nics = 512; // of which the sample keeps these
	for (uint32_t i = 0; i < 2; i++)
		fake_gpus(fake, i, 2 * i);
	world->job.group_count = 2;
	world->job.ring.steps_max = 12;
	world->job.leaves = 1u << 3; // stages, MESSAGE_PP
	world->topology.nics = 8192;
	world->topology.hosts = 128;
	world->fabric.trunk_sample_kept = 2;
	world->fabric.trunk_sample_of = 32;
	world->plan = (struct sample_plan){.sample = {.is_on = true, .steps = 8, .fill = 4},
					   .groups_all = 32,
					   .buckets_all = 22,
					   .packets = 17200000,
					   .packets_all = UINT64_C(51000000000),
					   .bytes_run = UINT64_C(1112000000),
					   .bytes_all = UINT64_C(32000000000)};
	fake->collectives[0].whole_ps = 16 * PS_PER_MS;
	fake->collectives[0].whole_error_ps = PS_PER_MS / 4;
	fake_batches(fake, PAIR_SAME_T0, 200, 10000, 100);
	fake_batches(fake, PAIR_ACROSS_T1, 20000, 12000, 1);
	fake->collectives[1].group = 1;
	return fake;
}

// The ring, of which 480 steps and the second collective were jumped over.
static inline struct fake *fake_skipped(void)
{
	struct fake *fake = fake_ring();
	struct world_fast_forward *fast_forward = arena_draw(&fake->arena, ARENA_WORLD, 1,
							     sizeof(*fast_forward));
	check(fast_forward != NULL);
	*fast_forward = (struct world_fast_forward){
		.jumps = 3,
		.steps = 480,
		.collectives = 1,
		.packets = 4000000,
		.payload_bytes = UINT64_C(12000000000),
		.time_ps = 39 * PS_PER_MS,
		.error_ps = PS_PER_MS / 5,
		.confirmed = 2,
		.refused = {[FAST_FORWARD_PACE] = 4, [FAST_FORWARD_FAULT] = 2}};
	fake->world.skipped = fast_forward;
	fake->scenario.fast_forward = (struct fast_forward_config){true, 4, 8, 20000000};
	fake->collectives[0].steps_skipped = 12;
	fake->collectives[0].whole_error_ps = PS_PER_MS / 5;
	return fake;
}

// Four flows to two receivers, cut off by a limit while two packets wait in switches and one in a
// host; one collective that never ends beside them would not be a flow: there is none.
static inline struct fake *fake_flows(void)
{
	struct fake *fake = fake_world("flows-4");
	fake_counters(fake);
	fake->scenario.traffic.kind = TRAFFIC_FLOWS;
	const struct flow flows[] = {
		{.from = 0, .to = 8, .bytes = 1000000, .start_ps = 2 * PS_PER_MS},
		{.from = 1, .to = 8, .bytes = 1000000, .start_ps = PS_PER_MS},
		{.from = 2, .to = 8, .bytes = 1000000, .start_ps = PS_PER_MS},
		{.from = 0, .to = 9, .bytes = 1000000, .start_ps = PS_PER_MS}};
	memcpy(fake->flows, flows, sizeof(flows));
	fake->world.flows = fake->flows;
	fake->world.flow_count = 4;
	fake->outcome.flow_end_ps = fake->flow_end_ps;
	fake->outcome.transport.payload_bytes_placed = 3000000;
	fake->outcome.end_ps = 2 * PS_PER_MS;
	fake->outcome.plane_bytes_nic_max[0] = 800000000;
	fake_latencies(&fake->outcome.flow_ns, 3, 700000, 50000);
	fake_latencies(&fake->outcome.message_ns[PAIR_SAME_RACK], 3, 700000, 50000);
	hist_add(&fake->outcome.message_ns[PAIR_SAME_RACK], 1500000000); // above the range
	fake->input.run.delivered -= 2;
	fake->input.run.held = 3;
	fake->input.run.held_unsent = 1;
	fake->input.end = "limit";
	fake->input.is_partial = true;
	fake->input.limit_option = "limits.packets";
	fake->input.run.now_ps = 3 * PS_PER_MS;
	fake->scenario.fabric.planes = 2;
	fake->scenario.fabric.link_rate_bps = UINT64_C(100000000000);
	fake->scenario.transport.payload_bytes = 4000;
	fake->scenario.transport.header_bytes = 1000;
	fake->world.topology.t0_nics = 8;
	fake->scenario.expectation_count = 1;
	fake->scenario.expectations[0].tolerance_ppb = 10000000;
	fake->scenario.fault_count = 2;
	fake->scenario.faults[0] = (struct fault){.kind = FAULT_LOSS,
						  .at = {LINK_AT_NIC, .index = 3, .plane = 1},
						  .direction = FAULT_UP,
						  .from_ps = PS_PER_US,
						  .until_ps = 2 * PS_PER_US,
						  .share_ppb = 10000000};
	fake->scenario.faults[1] = (struct fault){.kind = FAULT_LINK_DOWN,
						  .at = {LINK_AT_TRUNK, .index = 1, .port = 5},
						  .until_ps = PS_NEVER};
	return fake;
}

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
