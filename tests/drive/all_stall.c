// SPDX-License-Identifier: Apache-2.0
// Hosts that faults hit: one that stalls sends nothing and loses nothing before its receive queues
// are full; one that is slow at its own work posts late by exactly that.

#include "../rig.h"

#define WORLD \
	"name: stall\nfabric: {nics: 8, nics_per_t0: 4, t1_count: 2, planes: 2, link_rate: " \
	"100Gb/s}\n" \
	"transport: {evs: 32, hole_age: off}\n"
#define STALL_FROM_PS (5 * PS_PER_US)
#define STALL_UNTIL_PS (35 * PS_PER_US)
#define STALL(more) "faults: [{kind: stall, at: {host: 3}, from: 5us, until: 35us" more "}]\n"

// What the host sent, by when it left.
struct sent {
	uint32_t before, in, after;
	ps_t first_after;
};

static void see(void *context, const struct cable_plan *cable, ps_t at, uint8_t *, uint32_t bytes)
{
	struct sent *sent = context;
	if (cable->from_machine != 3)
		return;
	ps_t start = at - cable->delay_ps - line_ps(cable->line, bytes);
	sent->before += start < STALL_FROM_PS - PS_PER_US;
	sent->in += start >= STALL_FROM_PS && start < STALL_UNTIL_PS - PS_PER_US;
	sent->after += start >= STALL_UNTIL_PS - PS_PER_US;
	if (start >= STALL_UNTIL_PS - PS_PER_US && sent->first_after == 0)
		sent->first_after = at;
}

// With frames, seen as they leave. What the line is charged differs from a frame by less than 1 us.
static void run_seen(struct rig *rig, const char *yaml, struct sent *sent)
{
	*sent = (struct sent){0};
	const struct sim_options options = {
		.ports = {.kind = PORTS_MEMORY, .watch = see, .watch_context = sent}};
	rig_run_with(rig, yaml, NULL, &options);
}

static void a_host_that_stalls_sends_nothing_and_loses_nothing(void **)
{
	static struct rig rig, calm;
	struct sent sent;
	const char *const text = WORLD "traffic: {kind: permutation, bytes: 200kB}\n";
	char stalled[1024];
	snprintf(stalled, sizeof(stalled), "%s%s", text, STALL(""));
	rig_run(&calm, text, NULL);
	run_seen(&rig, stalled, &sent);
	assert_int_equal(rig.run.end, RUN_DONE);
	assert_true(sent.before > 0 && sent.after > 0);
	assert_int_equal(sent.in, 0);
	assert_true(sent.first_after > STALL_UNTIL_PS);
	for (int i = 0; i < DROP_REASON_COUNT; i++)
		assert_int_equal(rig.run.dropped[i], 0);
	// later than without, by at most the stall, as nothing was lost and no timer had to repair
	ps_t later = rig.outcome->end_ps - calm.outcome->end_ps;
	assert_true(later > 0 && later <= STALL_UNTIL_PS - STALL_FROM_PS);
	assert_int_equal(rig.outcome->transport.rtx[RTX_TIMEOUT], 0);
	world_instance_free(&rig.world_instance);
	world_instance_free(&calm.world_instance);
}

static void a_full_receive_queue_loses_packets_and_counts_them(void **)
{
	static struct rig rig;
	rig_run(&rig, WORLD "traffic: {kind: permutation, bytes: 200kB}\n" STALL(", queue: 3"),
		NULL);
	assert_int_equal(rig.run.end, RUN_DONE);
	assert_true(rig.run.dropped[DROP_HOST_FULL] > 10);
	assert_int_equal(rig.run.sent, rig.run.delivered + rig.run.dropped[DROP_HOST_FULL]);
	world_instance_free(&rig.world_instance);
}

// Three packets wait at each of two ports: with as many in flight nothing is lost, with one more
// there is. One window of packets, all on their way before the stall.
static void a_receive_queue_holds_what_it_says(void **)
{
	static struct rig rig;
	for (uint32_t packets = 6; packets <= 8; packets += 2) {
		char text[1024];
		snprintf(text, sizeof(text),
			 WORLD "traffic: {kind: flows, flows: [{from: 0, to: 3, bytes: %uB}]}\n"
			       "cc: {algorithm: fixed, window: 1MB}\n"
			       "faults: [{kind: stall, at: {host: 3}, until: 90us, queue: 3}]\n",
			 packets * 4096);
		rig_run(&rig, text, NULL);
		assert_int_equal(rig.run.end, RUN_DONE);
		assert_int_equal(rig.run.dropped[DROP_HOST_FULL], packets - 6);
		world_instance_free(&rig.world_instance);
	}
}

// A run that its limit of time ends in a stall: what waits is held.
static void a_run_may_end_while_a_host_stalls(void **)
{
	static struct rig rig;
	rig_run(&rig,
		WORLD
		"traffic: {kind: permutation, bytes: 200kB}\n" STALL("") "limits: {time: 30us}\n",
		NULL);
	assert_int_equal(rig.run.end, RUN_TIME);
	assert_true(rig.run.held > 0);
	world_instance_free(&rig.world_instance);
}

// ---------------------------------------------------------------- work

#define FLOW "traffic: {kind: flows, flows: [{from: 0, to: 7, bytes: 64kB, start: 10us}]}\n"

static ps_t end_of(const char *text)
{
	static struct rig rig;
	rig_run(&rig, text, NULL);
	assert_int_equal(rig.run.end, RUN_DONE);
	ps_t end_ps = rig.outcome->end_ps;
	world_instance_free(&rig.world_instance);
	return end_ps;
}

static void a_straggler_posts_late_by_what_its_work_takes_longer(void **)
{
	ps_t plain = end_of(WORLD FLOW);
	ps_t half = end_of(WORLD FLOW "faults: [{kind: straggler, at: {host: 0}, rate: 50%}]\n");
	assert_int_equal(half - plain, 10 * PS_PER_US);
	// 2 us as usual, 4 us at a quarter of the speed, and the rest as usual: 3 us late
	ps_t part = end_of(WORLD FLOW "faults: [{kind: straggler, at: {host: 0}, rate: 25%, from: "
				      "2us, until: 6us}]\n");
	assert_int_equal(part - plain, 3 * PS_PER_US);
	// of two faults the slowest counts; a stall holds up work, too
	ps_t both = end_of(WORLD FLOW
			   "faults: [{kind: straggler, at: {host: 0}, rate: 50%, until: 4us}, "
			   "{kind: straggler, at: all, rate: 80%, until: 4us}, {kind: stall, at: "
			   "{host: 0}, from: 5us, until: 8us}]\n");
	assert_int_equal(both - plain, 5 * PS_PER_US);
	ps_t late = end_of(WORLD FLOW
			   "faults: [{kind: straggler, at: {host: 0}, rate: 1%, from: 10us}]\n");
	assert_int_equal(late, plain); // its work was done by then
}

#define TRACE \
	"HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: 1 ep: 1 pp: 1 vpp: 1 ga: 1 " \
	"all_gpus: 8 checkpoints: 0 checkpoint_initiates: 0 pp_comm 0\n2\n" \
	"layer\t-1\t1000000\tNONE\t0\t1000000\tNONE\t0\t1\tNONE\t0\t100\n" \
	"reduce\t-1\t1000000\tNONE\t0\t1000000\tNONE\t0\t1000000\tREDUCESCATTER\t2097152\t100\n"

// Starts and end of the collective of that trace.
static struct outcome_collective collective_of(const char *yaml)
{
	static struct rig rig;
	static const struct sim_options options;
	memset(&rig, 0, sizeof(rig));
	int rc = scenario_parse(&rig.scenario, "test", yaml, strlen(yaml), NULL, 0, &rig.refusal);
	if (rc == 0)
		rc = world_instance_build(&rig.world_instance, &rig.scenario, TRACE, strlen(TRACE),
					  &options, &rig.refusal);
	if (rc < 0)
		fail_msg("refused: %s", rig.refusal.text);
	sim_run(rig.world_instance.sim, &rig.run);
	assert_int_equal(rig.run.end, RUN_DONE);
	struct outcome_collective ret = rig.world_instance.world.outcome->collectives[0];
	world_instance_free(&rig.world_instance);
	return ret;
}

// A collective is released by the computation before it; the ring waits for the last one.
static void a_straggler_holds_up_the_collectives_of_its_group(void **)
{
	const char *const text = WORLD "traffic: {kind: trace}\n";
	char slow[1024];
	snprintf(slow, sizeof(slow), "%sfaults: [{kind: straggler, at: {host: 5}, rate: 80%%}]\n",
		 text);
	struct outcome_collective plain = collective_of(text), late = collective_of(slow);
	assert_true(plain.start_ps >= PS_PER_MS);
	assert_int_equal(late.start_ps, plain.start_ps); // of those that are on time
	ps_t held_up = plain.start_ps / 4;		 // 1 / 0.8 of the work before it
	assert_in_range(late.end_ps - plain.end_ps, held_up - 100 * PS_PER_US,
			held_up + 100 * PS_PER_US);
}
