// SPDX-License-Identifier: Apache-2.0
// Lines that faults slow, and faults of one way of a cable, against closed forms. A flow of N full
// packets over H queues whose lines take s_j for a packet:
//   T = s_1 + ... + s_H + (N-1) max s_j + delays, and the acknowledgement back.
// Tolerance: 1 ns.

#include "../rig.h"

#define PACKETS 50
#define FULL_PS (4150 * 80)
#define ACK_PS (64 * 80)
#define LINK_PS PS_PER_US

static const char world[] =
	"name: slow\n"
	"fabric: {topology: leaf-spine, nics: 4, nics_per_t0: 2, t1_count: 1, link_rate: 100Gb/s, "
	"nic_delay: 1us, trunk_delay: 1us, switch_delay: 0ns}\n"
	"queue: {bytes: 1MB, trim_bytes: 64B}\n"
	"transport: {payload: 4086B, header: 64B, control: 64B, evs: 16, path: rotate, "
	"sack_rule: htsim, completion: sack, hole_age: off, rto: 2s}\n"
	"cc: {algorithm: fixed, window: 4MB}\n"
	"traffic: {kind: flows, flows: [{from: 0, to: 3, bytes: 204300B}]}\n"; // 50 packets

static struct rig rig;

// The flow's time with these faults.
static ps_t flow_ps(const char *faults)
{
	char text[2048];
	snprintf(text, sizeof(text), "%sfaults:\n%s", world, faults);
	rig_run(&rig, text, NULL);
	return rig_flow_ps(&rig);
}

static ps_t closed_form(ps_t slow_ps, ps_t ack_slow_ps)
{
	ps_t there = 3 * FULL_PS + slow_ps + (PACKETS - 1) * slow_ps + 4 * LINK_PS;
	return there + 3 * ACK_PS + ack_slow_ps + 4 * LINK_PS;
}

static void a_slow_line_is_the_bottleneck_wherever_it_is(void **state)
{
	(void)state;
	static const char *const places[] = {"nic: 0, plane: 0", "nic: 3, plane: 0",
					     "t0: 0, up: 0, plane: 0", "t0: 1, up: 0, plane: 0"};
	static const char *const ways[] = {"up", "down", "up", "down"};
	for (int i = 0; i < 4; i++) {
		char fault[256];
		snprintf(fault, sizeof(fault), "  - {kind: slow, at: {%s}, way: %s, rate: 25%%}\n",
			 places[i], ways[i]);
		assert_time(flow_ps(fault), closed_form(4 * FULL_PS, ACK_PS));
		snprintf(fault, sizeof(fault), "  - {kind: slow, at: {%s}, rate: 25%%}\n",
			 places[i]); // both ways: the answer, too
		assert_time(flow_ps(fault), closed_form(4 * FULL_PS, 4 * ACK_PS));
		snprintf(fault, sizeof(fault), "  - {kind: slow, at: {%s}, way: %s, rate: 25%%}\n",
			 places[i], ways[i][0] == 'u' ? "down" : "up"); // the answer alone
		assert_time(flow_ps(fault), closed_form(FULL_PS, 4 * ACK_PS));
	}
}

static void the_slowest_of_several_counts(void **state)
{
	(void)state;
	ps_t both = flow_ps("  - {kind: slow, at: {nic: 0, plane: 0}, way: up, rate: 50%}\n"
			    "  - {kind: slow, at: {nic: 0}, way: up, rate: 20%}\n");
	assert_time(both, closed_form(5 * FULL_PS, ACK_PS));
}

// The first line slows and recovers while packets leave: the one on the line keeps its time.
static void a_line_that_recovers_costs_what_it_was_slow(void **state)
{
	(void)state;
	const ps_t from = 4 * PS_PER_US, until = 9 * PS_PER_US;
	ps_t at = 0;
	for (int i = 0; i < PACKETS; i++)
		at += at >= from && at < until ? 10 * FULL_PS : FULL_PS;
	ps_t expected = at + 3 * FULL_PS + 4 * LINK_PS + 4 * ACK_PS + 4 * LINK_PS;
	assert_time(flow_ps("  - {kind: slow, at: {nic: 0, plane: 0}, way: up, rate: 10%, from: "
			    "4us, until: 9us}\n"),
		    expected);
}

static void a_switch_port_recovers_too(void **state)
{
	(void)state;
	// long after it was full speed again, nothing is left of it but the delay of the queue
	ps_t plain = closed_form(FULL_PS, ACK_PS);
	ps_t measured = flow_ps("  - {kind: slow, at: {t0: 0, up: 0, plane: 0}, way: up, rate: "
				"10%, from: 5us, until: 8us}\n");
	assert_true(measured > plain && measured < plain + 10 * FULL_PS);
	assert_time(flow_ps("  - {kind: slow, at: {t0: 0, up: 0, plane: 0}, rate: 10%, from: "
			    "900us}\n"),
		    plain);
}

// A cable that is dead one way only carries the other: data come through, answers do not.
static void a_fault_of_one_way_leaves_the_other_alone(void **state)
{
	(void)state;
	static const struct {
		const char *way;
		uint64_t received; // until the cable is whole
	} cases[] = {{"up", 0}, {"down", PACKETS}};
	for (int i = 0; i < 2; i++) {
		char text[2048];
		snprintf(text, sizeof(text),
			 "%sfaults:\n  - {kind: link_down, at: {nic: 0, plane: 0}, way: %s}\n"
			 "limits: {time: 100us}\n",
			 world, cases[i].way);
		rig_run(&rig, text, NULL);
		assert_int_equal(rig.run.end, RUN_TIME);
		assert_int_equal(rig.outcome->transport.data_received, cases[i].received);
		assert_int_equal(rig.outcome->transport.messages_sent, 0);
		assert_true(rig.run.dropped[DROP_LINK_DOWN] > 0);
		world_instance_free(&rig.world_instance);
	}
}
