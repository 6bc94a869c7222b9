// SPDX-License-Identifier: Apache-2.0
// Flows that wait for others begin when those are done, to the picosecond: at once at their own
// host, a signal's delay later at another.

#include <errno.h>

#include "../rig.h"

#define FABRIC \
	"name: triggers\n" \
	"fabric: {topology: leaf-spine, nics: 16, nics_per_t0: 16, t1_count: 1, link_rate: " \
	"100Gb/s, nic_delay: 1us, trunk_delay: 1us, switch_delay: 0ns}\n" \
	"transport: {payload: 4086B, header: 64B, control: 64B, evs: 16, path: rotate, " \
	"sack_bytes: 1B, completion: sack}\n" \
	"queue: {trim_bytes: 64B}\ncc: {algorithm: fixed, window: 4MB}\n"

// One packet over two links of 1 us at 80 ps a byte, and its answer: the closed form.
#define THERE_PS (2 * 4150 * 80 + 2000000)
#define BACK_PS (2 * 64 * 80 + 2000000)
#define SIGNAL_PS 100000

static struct rig rig;

static const char *more; // an assignment, or NULL

static int build_matrix(const char *matrix, struct refusal *refusal)
{
	static const struct sim_options options;
	const char *const sets[] = {"traffic.kind=matrix", "traffic.matrix=as-given", more};
	assert_int_equal(scenario_parse(&rig.scenario, "triggers", FABRIC, strlen(FABRIC), sets,
					more == NULL ? 2 : 3, refusal),
			 0);
	return world_instance_build(&rig.world_instance, &rig.scenario, matrix, strlen(matrix),
				    &options, refusal);
}

static void run_matrix(const char *matrix)
{
	struct refusal refusal = {0};
	if (build_matrix(matrix, &refusal) < 0)
		fail_msg("%u:%u: %s", refusal.line, refusal.column, refusal.text);
	sim_run(rig.world_instance.sim, &rig.run);
	rig.outcome = rig.world_instance.world.outcome;
	assert_int_equal(rig.run.end, RUN_DONE);
}

static void assert_flow(uint32_t index, ps_t start, ps_t end)
{
	assert_int_equal(rig.world_instance.world.flows[index].start_ps, start);
	assert_int_equal(rig.outcome->flow_end_ps[index], end);
}

static void a_flow_begins_when_the_one_before_is_done(void **state)
{
	(void)state;
	run_matrix("Nodes 16\nConnections 3\nTriggers 2\n"
		   "0->1 start 5000000 size 4086 send_done_trigger 1 recv_done_trigger 2\n"
		   "0->2 trigger 1 size 4086\n"
		   "1->3 trigger 2 size 4086\n"
		   "trigger id 1 oneshot\ntrigger id 2 oneshot\n");
	ps_t received = 5000000 + THERE_PS, sent = received + BACK_PS;
	assert_flow(0, 5000000, sent);
	assert_flow(1, sent, sent + THERE_PS + BACK_PS);
	// its first packet waits for the answer, which was there first: 64 bytes
	assert_flow(2, received, received + 64 * 80 + THERE_PS + BACK_PS);
	assert_int_equal(rig.outcome->flow_ns.max, (THERE_PS + BACK_PS + 64 * 80) / PS_PER_NS);
	world_instance_free(&rig.world_instance);
}

static void a_barrier_waits_for_the_last(void **state)
{
	(void)state;
	run_matrix("Nodes 16\nConnections 4\nTriggers 1\n"
		   "0->1 start 0 size 4086 recv_done_trigger 1\n"
		   "2->1 start 90000000 size 4086 recv_done_trigger 1\n"
		   "1->4 start 0 size 4086 send_done_trigger 1\n"
		   "1->5 trigger 1 size 4086\n"
		   "trigger id 1 barrier\n");
	ps_t last = 90000000 + THERE_PS;
	assert_flow(3, last, last + 64 * 80 + THERE_PS + BACK_PS);
	world_instance_free(&rig.world_instance);
}

// The ring of htsim's generator: a step is started at its sender, the receiver of the step before,
// by that one's sender. Each takes a flow's time, and in between the signal's.
static void a_ring_of_other_hosts_takes_its_steps_and_signals(void **state)
{
	(void)state;
	char text[4096] = "Nodes 16\nConnections 16\nTriggers 15\n";
	for (int i = 0; i < 16; i++) {
		char line[128], begin[32], end[64] = "";
		snprintf(begin, sizeof(begin), i == 0 ? "start %d" : "trigger %d", i);
		if (i < 15)
			snprintf(end, sizeof(end), " send_done_trigger %d", i + 1);
		snprintf(line, sizeof(line), "%d->%d %s size 4086%s\n", i, (i + 1) % 16, begin,
			 end);
		strcat(text, line);
	}
	for (int i = 1; i < 16; i++) {
		char line[64];
		snprintf(line, sizeof(line), "trigger id %d oneshot\n", i);
		strcat(text, line);
	}
	run_matrix(text);
	ps_t step = THERE_PS + BACK_PS + SIGNAL_PS;
	for (uint32_t i = 0; i < 16; i++)
		assert_flow(i, i * step, i * step + THERE_PS + BACK_PS);
	world_instance_free(&rig.world_instance);
}

// Two connections with a receiver each, and all four kinds of flow behind them: at a host that was
// the first, the last, both, or none. Each host goes by what it knows: the time of an end of its
// own, or that of another and the delay.
static void a_barrier_over_hosts_opens_for_each_when_it_knows(void **state)
{
	(void)state;
	run_matrix("Nodes 16\nConnections 6\nTriggers 2\n"
		   "0->1 start 0 size 4086 recv_done_trigger 1\n"
		   "2->3 start 30000 size 4086 recv_done_trigger 1 send_done_trigger 2\n"
		   "1->8 trigger 1 size 4086\n" // its own end was the first
		   "3->9 trigger 1 size 4086\n" // the last is its own, of 30 ns: less than a signal
		   "10->4 trigger 1 size 4086\n" // neither
		   "11->5 trigger 2 size 4086\n"
		   "trigger id 1 barrier\ntrigger id 2 oneshot\n");
	ps_t first = THERE_PS, last = 30000 + THERE_PS;
	assert_flow(2, last + SIGNAL_PS, last + SIGNAL_PS + THERE_PS + BACK_PS);
	assert_flow(3, first + SIGNAL_PS, first + SIGNAL_PS + THERE_PS + BACK_PS);
	assert_flow(4, last + SIGNAL_PS, last + SIGNAL_PS + THERE_PS + BACK_PS);
	assert_flow(5, last + BACK_PS + SIGNAL_PS, last + BACK_PS + SIGNAL_PS + THERE_PS + BACK_PS);
	world_instance_free(&rig.world_instance);
}

// Each time the next of the file, here or elsewhere; a firing that finds none left is nothing.
static void a_multishot_starts_one_after_the_other(void **state)
{
	(void)state;
	run_matrix("Nodes 16\nConnections 7\nTriggers 1\n"
		   "0->1 start 0 size 4086 send_done_trigger 1\n"
		   "0->2 start 50000000 size 4086 send_done_trigger 1\n"
		   "0->3 start 100000000 size 4086 send_done_trigger 1\n"
		   "0->4 start 150000000 size 4086 send_done_trigger 1\n"
		   "5->6 trigger 1 size 4086\n"
		   "0->7 trigger 1 size 4086\n"
		   "8->9 trigger 1 size 4086\n"
		   "trigger id 1 multishot\n");
	ps_t flow = THERE_PS + BACK_PS;
	assert_flow(4, flow + SIGNAL_PS, 2 * flow + SIGNAL_PS);
	assert_flow(5, 50000000 + flow, 50000000 + 2 * flow);
	assert_flow(6, 100000000 + flow + SIGNAL_PS, 100000000 + 2 * flow + SIGNAL_PS);
	world_instance_free(&rig.world_instance);
}

// Any delay from a nanosecond on: shorter than all cables, and longer. One that nothing needs is
// refused.
static void the_delay_of_a_signal_is_what_the_scenario_says(void **state)
{
	(void)state;
	static const struct {
		const char *text;
		ps_t delay;
	} cases[] = {{"traffic.signal_delay=1ns", 1000},
		     {"traffic.signal_delay=1001ps", 1001},
		     {"traffic.signal_delay=7us", 7000000}};
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		more = cases[i].text;
		run_matrix("Nodes 16\nConnections 2\nTriggers 1\n"
			   "0->1 start 0 size 4086 recv_done_trigger 1\n"
			   "2->3 trigger 1 size 4086\ntrigger id 1 oneshot\n");
		assert_flow(1, THERE_PS + cases[i].delay, 2 * THERE_PS + BACK_PS + cases[i].delay);
		world_instance_free(&rig.world_instance);
	}
	struct refusal refusal = {0};
	assert_int_equal(build_matrix("Nodes 16\nConnections 2\nTriggers 1\n"
				      "0->1 start 0 size 4086 recv_done_trigger 1\n"
				      "1->3 trigger 1 size 4086\ntrigger id 1 oneshot\n",
				      &refusal),
			 -EINVAL);
	assert_non_null(strstr(refusal.text, "traffic.signal_delay has no effect"));
	more = NULL;
}

// Serial all-to-all as htsim has it: each NIC's flows one after the other.
static void a_chain_of_flows_takes_their_sum(void **state)
{
	(void)state;
	char text[4096] = "Nodes 16\nConnections 15\nTriggers 14\n";
	for (int i = 1; i < 16; i++) {
		char line[128], begin[32], end[64] = "";
		snprintf(begin, sizeof(begin), i == 1 ? "start %d" : "trigger %d", i - 1);
		if (i < 15)
			snprintf(end, sizeof(end), " send_done_trigger %d", i);
		snprintf(line, sizeof(line), "0->%d %s size 4086%s\n", i, begin, end);
		strcat(text, line);
	}
	for (int i = 1; i < 15; i++) {
		char line[64];
		snprintf(line, sizeof(line), "trigger id %d oneshot\n", i);
		strcat(text, line);
	}
	run_matrix(text);
	for (uint32_t i = 0; i < 15; i++)
		assert_flow(i, (ps_t)i * (THERE_PS + BACK_PS),
			    (ps_t)(i + 1) * (THERE_PS + BACK_PS));
	world_instance_free(&rig.world_instance);
}

// Four rounds. Each NIC sends a packet and its answer in each: the answer goes first where both are
// ready, and both NICs do the same at the same time, so a round takes a flow's time and the answer
// of the twin, which waits for nothing.
static void a_butterfly_takes_its_rounds(void **state)
{
	(void)state;
	const char *const sets[] = {"traffic.kind=butterfly", "traffic.bytes=4086B", NULL};
	rig_run(&rig, FABRIC, sets);
	assert_int_equal(rig.run.end, RUN_DONE);
	assert_int_equal(rig.world_instance.world.flow_count, 64);
	for (uint32_t i = 0; i < 64; i++)
		assert_flow(i, (ps_t)(i / 16) * (THERE_PS + BACK_PS),
			    (ps_t)(i / 16 + 1) * (THERE_PS + BACK_PS));
	world_instance_free(&rig.world_instance);
}
