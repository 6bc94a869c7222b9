// SPDX-License-Identifier: Apache-2.0
// Flows that wait for others begin when those are done, to the picosecond, at their own NIC.

#include "../rig.h"

#define FABRIC \
	"name: triggers\n" \
	"fabric: {topology: leaf-spine, nics: 16, nics_per_t0: 16, t1_count: 1, link_rate: " \
	"100Gb/s, nic_delay: 1us, trunk_delay: 1us, switch_delay: 0ns}\n" \
	"transport: {payload: 4086B, header: 64B, control: 64B, evs: 16, path: rotate, " \
	"sack_bytes: 1B, completion: sack}\n" \
	"queue: {trim_bytes: 64B}\ncc: {algorithm: fixed, window: 4MB}\n"

// One packet over two links of 1 us at 80 ps a byte, and its answer: cc.md's closed form.
#define THERE_PS (2 * 4150 * 80 + 2000000)
#define BACK_PS (2 * 64 * 80 + 2000000)

static struct rig rig;

static void run_matrix(const char *matrix)
{
	struct refusal refusal = {0};
	static const struct sim_options options;
	const char *const sets[] = {"traffic.kind=matrix", "traffic.matrix=as-given"};
	assert_int_equal(scenario_parse(&rig.scenario, "triggers", FABRIC, strlen(FABRIC), sets, 2,
					&refusal),
			 0);
	if (stage_build(&rig.stage, &rig.scenario, matrix, strlen(matrix), &options, &refusal) < 0)
		fail_msg("%u:%u: %s", refusal.line, refusal.column, refusal.text);
	sim_run(rig.stage.sim, &rig.run);
	rig.outcome = rig.stage.world.outcome;
	assert_int_equal(rig.run.end, RUN_DONE);
}

static void assert_flow(uint32_t index, ps_t start, ps_t end)
{
	assert_int_equal(rig.stage.world.flows[index].start_ps, start);
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
	stage_free(&rig.stage);
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
	stage_free(&rig.stage);
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
	stage_free(&rig.stage);
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
	assert_int_equal(rig.stage.world.flow_count, 64);
	for (uint32_t i = 0; i < 64; i++)
		assert_flow(i, (ps_t)(i / 16) * (THERE_PS + BACK_PS),
			    (ps_t)(i / 16 + 1) * (THERE_PS + BACK_PS));
	stage_free(&rig.stage);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_flow_begins_when_the_one_before_is_done),
		cmocka_unit_test(a_barrier_waits_for_the_last),
		cmocka_unit_test(a_chain_of_flows_takes_their_sum),
		cmocka_unit_test(a_butterfly_takes_its_rounds),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
