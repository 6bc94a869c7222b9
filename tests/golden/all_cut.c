// SPDX-License-Identifier: Apache-2.0
// Cut-through switches against the closed form. A flow of N full packets over H lines of one rate,
// s for a packet and s_h for what a switch reads of it:
//   T = (N-1) s + (H-1) s_h + s + delays, and the acknowledgement back likewise.
// Tolerance: 1 ns.

#include <errno.h>

#include "../rig.h"

#define FULL_PS ((ps_t)4150 * 80)
#define ACK_PS ((ps_t)64 * 80)
#define BYTE_PS ((ps_t)80)

static const char world[] =
	"name: cut\n"
	"fabric: {topology: %s, nics: 8, nics_per_t0: 2, t1_count: 2, link_rate: 100Gb/s, "
	"nic_delay: 1us, trunk_delay: 2us, switch_delay: 300ns, switching: %s}\n"
	"queue: {bytes: 1MB, trim_bytes: 64B}\n"
	"transport: {payload: 4086B, header: 64B, control: 64B, evs: 16, path: rotate, "
	"sack_rule: htsim, completion: sack, hole_age: off, rto: 2s}\n"
	"cc: {algorithm: fixed, window: 4MB}\n"
	"traffic: {kind: flows, flows: [{from: 0, to: %u, bytes: %uB}]}\n";

static struct rig rig;

// The flow's time.
static ps_t flow_ps(const char *switching, uint32_t to, uint32_t bytes, const char *const *sets)
{
	char text[2048];
	snprintf(text, sizeof(text), world, "leaf-spine", switching, to, bytes);
	rig_run(&rig, text, sets);
	return rig_flow_ps(&rig);
}

// `lines` lines, of which `lines` - 1 lead into switches that read `head` bytes.
static ps_t closed_form(uint32_t lines, uint32_t packets, ps_t head_ps)
{
	ps_t delays = 2 * PS_PER_US + (lines - 2) * 2 * PS_PER_US + (lines - 1) * 300 * PS_PER_NS;
	ps_t ack_head_ps = head_ps < ACK_PS ? head_ps : ACK_PS;
	ps_t there = (packets - 1) * FULL_PS + (lines - 1) * head_ps + FULL_PS + delays;
	return there + (lines - 1) * ack_head_ps + ACK_PS + delays;
}

static void a_flow_takes_what_the_closed_form_says(void **state)
{
	(void)state;
	static const uint32_t packets[] = {1, 2, 50, 400};
	for (int i = 0; i < 4; i++) {
		uint32_t bytes = packets[i] * 4086;
		for (uint32_t to = 1; to < 8; to += 6) { // below the same T0, and across T1
			uint32_t lines = to == 1 ? 2 : 4;
			assert_time(flow_ps("store_and_forward", to, bytes, NULL),
				    closed_form(lines, packets[i], FULL_PS));
			assert_time(flow_ps("cut_through", to, bytes, NULL),
				    closed_form(lines, packets[i], 128 * BYTE_PS));
			assert_time(flow_ps("cut_through", to, bytes,
					    (const char *const[]){"fabric.cut=40B", NULL}),
				    closed_form(lines, packets[i], 40 * BYTE_PS));
		}
	}
}

// The base round trip is that of one packet: trees say it by a formula, graphs by their ways.
static void the_base_round_trip_is_that_of_one_packet(void **state)
{
	(void)state;
	static const char *const switchings[] = {"store_and_forward", "cut_through"};
	// two switches with a NIC each: three lines
	static const char graph[] = "name: graph\n"
				    "fabric: {topology: graph, nics: 2, link_rate: 100Gb/s, "
				    "nic_delay: 1us, trunk_delay: "
				    "2us, switch_delay: 300ns, switching: %s, nodes: [{name: a, "
				    "nics: 1}, {name: b, nics: "
				    "1}], links: [{from: a, to: b}]}\n"
				    "transport: {payload: 4086B, header: 64B, control: 64B}\n"
				    "queue: {trim_bytes: 64B}\n"
				    "traffic: {kind: permutation, bytes: 1MB}\n";
	for (int i = 0; i < 2; i++) {
		ps_t head_ps = i == 0 ? FULL_PS : 128 * BYTE_PS;
		char text[2048];
		snprintf(text, sizeof(text), world, "leaf-spine", switchings[i], 7, 4086);
		assert_int_equal(rig_build(&rig, text, NULL), 0);
		assert_time(rig.world_instance.world.topology.base_rtt_ps,
			    closed_form(4, 1, head_ps));
		world_instance_free(&rig.world_instance);
		snprintf(text, sizeof(text), graph, switchings[i]);
		assert_int_equal(rig_build(&rig, text, NULL), 0);
		assert_time(rig.world_instance.world.topology.base_rtt_ps,
			    closed_form(3, 1, head_ps));
		world_instance_free(&rig.world_instance);
	}
}

static const char busy[] =
	"name: busy\n"
	"fabric: {topology: clos, nics: 16, nics_per_t0: 4, t1_count: 2, planes: 2, link_rate: "
	"100Gb/s, nic_delay: 420ns, trunk_delay: 700ns, switching: cut_through}\n"
	"transport: {evs: 16, rto: 300us}\n"
	"queue: {bytes: 30kB}\n"
	"traffic: {kind: incast, senders: 9, bytes: 150kB}\n";

// Windows cut time, faults make copies and hold packets back: nothing of it may show.
static void windows_change_nothing(void **state)
{
	(void)state;
	static const char *const queues[] = {"queue.trim=true", "queue.pfc=true",
					     "queue.shared=50kB"};
	static const char *const faults[] = {
		"",
		"faults: [{kind: loss, at: all, probability: 0.5%}, {kind: reorder, at: all, "
		"probability: 1%, delay: 2us}, {kind: duplicate, at: all, probability: 1%}]\n"};
	static const char *const windows[] = {"limits.window=420ns", "limits.window=210ns",
					      "limits.window=60ns", "limits.window=333ns"};
	for (int queue = 0; queue < 3; queue++) {
		for (int fault = 0; fault < 2; fault++) {
			uint64_t digest = 0;
			char text[2048];
			snprintf(text, sizeof(text), "%s%s", busy, faults[fault]);
			for (int w = 0; w < 4; w++) {
				rig_run(&rig, text,
					(const char *const[]){queues[queue], windows[w], NULL});
				assert_int_equal(rig.run.end, RUN_DONE);
				digest = w == 0 ? rig.run.digest : digest;
				assert_int_equal(rig.run.digest, digest);
				uint64_t dropped = rig.outcome->fabric.dropped[DROP_HEADROOM_FULL];
				if (fault == 0)
					assert_int_equal(dropped, 0);
				world_instance_free(&rig.world_instance);
			}
		}
	}
}

static void what_a_switch_could_not_do_is_refused(void **state)
{
	(void)state;
	static const struct {
		const char *more;
		const char *const sets[3];
		const char *reason;
	} cases[] = {
		{"", {"fabric.trunk_rate=200Gb/s"}, "all links have one rate"},
		{"", {"fabric.switching=store_and_forward", "fabric.cut=64B"}, "cut_through"},
		{"", {"fabric.cut=256B"}, "too large"},
		{"faults: [{kind: slow, at: all, rate: 50%}]\n", {NULL}, "a slow line"},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		char text[2048];
		snprintf(text, sizeof(text), "%s%s", busy, cases[i].more);
		assert_int_equal(rig_build(&rig, text, cases[i].sets), -EINVAL);
		assert_non_null(strstr(rig.refusal.text, cases[i].reason));
		assert_true(rig.refusal.line > 0);
	}
	static const char graph[] =
		"name: mixed\n"
		"fabric: {topology: graph, nics: 2, link_rate: 100Gb/s, switching: cut_through, "
		"nodes: [{name: a, nics: 1}, {name: b, nics: 1}], links: [{from: a, to: b, rate: "
		"200Gb/s}]}\n"
		"traffic: {kind: permutation, bytes: 1MB}\n";
	assert_int_equal(rig_build(&rig, graph, NULL), -EINVAL);
	assert_non_null(strstr(rig.refusal.text, "one rate for all links"));
}
