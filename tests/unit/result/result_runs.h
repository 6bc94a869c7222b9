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
