// SPDX-License-Identifier: Apache-2.0
// One flow on an idle fabric of any kind takes a time that can be said beforehand: each link sends
// a packet when it has it whole and the one before is gone. Where all links are equal that has the
// closed form T = (N-1 + H-1) s + s_last + D + H s_ack + D back. Tolerance: 1 ns.

#include "../rig.h"

#define FULL 4150 // bytes on the line: payload 4086 and header 64
#define ACK 64

struct leg {
	double gbps;
	ps_t delay_ps; // cable, and the switch at its end
};

struct way {
	const char *name, *fabric;
	uint32_t from, to, nics, links;
	struct leg legs[8];
};

#define US PS_PER_US
#define NIC \
	{ \
		100, 1 * US \
	}

static const struct way ways[] = {
	{"dumbbell", "  topology: dumbbell\n  bundle: 1\n", 1, 6, 8, 3, {NIC, NIC, NIC}},
	{"dumbbell, slow trunk",
	 "  topology: dumbbell\n  trunk_rate: 40Gb/s\n",
	 1,
	 6,
	 8,
	 3,
	 {NIC, {40, US}, NIC}},
	{"dumbbell, one side", "  topology: dumbbell\n", 0, 3, 8, 2, {NIC, NIC}},
	{"torus, a wrap link along x",
	 "  topology: torus\n  nics_per_t0: 1\n  torus_x: 4\n  torus_y: 4\n",
	 0,
	 3,
	 16,
	 3,
	 {NIC, NIC, NIC}},
	{"torus, x then y then z",
	 "  topology: torus\n  nics_per_t0: 1\n  torus_x: 3\n  torus_y: 3\n  torus_z: 3\n",
	 0,
	 26,
	 27,
	 5,
	 {NIC, NIC, NIC, NIC, NIC}},
	{"torus, neighbours at a router",
	 "  topology: torus\n  nics_per_t0: 4\n  torus_x: 4\n  torus_y: 2\n",
	 0,
	 3,
	 32,
	 2,
	 {NIC, NIC}},
	{"rail, the same",
	 "  topology: rail\n  nics_per_host: 4\n  t1_count: 0\n",
	 1,
	 13,
	 16,
	 2,
	 {NIC, NIC}},
	{"rail, another",
	 "  topology: rail\n  nics_per_host: 4\n  t1_count: 2\n",
	 1,
	 14,
	 16,
	 4,
	 {NIC, NIC, NIC, NIC}},
	{"graph",
	 "  topology: graph\n"
	 "  nodes: [{name: a, nics: 1}, {name: b}, {name: c}, {name: d}]\n"
	 "  links:\n"
	 "    - {from: a, to: b, rate: 200Gb/s, delay: 3us}\n"
	 "    - {from: b, to: c, rate: 50Gb/s, delay: 250ns}\n"
	 "    - {from: a, to: d}\n"
	 "    - {from: c, nic: 1, delay: 7us}\n",
	 0,
	 1,
	 2,
	 4,
	 {NIC, {200, 3 * US}, {50, 250 * PS_PER_NS}, {100, 7 * US}}},
	{"over-subscribed clos",
	 "  topology: clos\n  nics_per_t0: 8\n  oversubscription: 4\n  trunk_rate: 200Gb/s\n",
	 0,
	 15,
	 16,
	 4,
	 {NIC, {200, US}, {200, US}, NIC}},
	{"over-subscribed fat tree",
	 "  topology: fat-tree\n  tor_nics: 4\n  pod_tors: 2\n  oversubscription: 2\n",
	 0,
	 15,
	 16,
	 6,
	 {NIC, NIC, NIC, NIC, NIC, NIC}},
};

static const char head[] =
	"name: way\nfabric:\n  nics: %u\n  link_rate: 100Gb/s\n  nic_delay: 1us\n"
	"  trunk_delay: 1us\n  switch_delay: 0ns\n%s"
	"queue: {bytes: 4MB, ecn: false, trim_bytes: 64B}\n"
	"transport: {payload: 4086B, header: 64B, control: 64B, path: rotate, evs: 16,\n"
	"  sack_rule: htsim, completion: sack, sack_bytes: 16384B, hole_age: off}\n"
	"cc: {algorithm: fixed, window: 100MB}\n"
	"traffic: {kind: flows, flows: [{from: %u, to: %u, bytes: %uB}]}\n";

static ps_t time_of(const struct leg *leg, uint32_t bytes)
{
	return (ps_t)(bytes * 8000 / leg->gbps);
}

// When the sender knows that the last packet is there.
static ps_t expected_end(const struct way *way, uint32_t bytes)
{
	uint32_t packets = (bytes + 4085) / 4086, last = bytes - (packets - 1) * 4086 + 64;
	ps_t free_at[8] = {0}, at = 0, back = 0;
	for (uint32_t packet = 0; packet < packets; packet++) {
		at = 0;
		for (uint32_t i = 0; i < way->links; i++) {
			const struct leg *leg = &way->legs[i];
			free_at[i] = (at > free_at[i] ? at : free_at[i]) +
				time_of(leg, packet + 1 < packets ? FULL : last);
			at = free_at[i] + leg->delay_ps;
		}
	}
	for (uint32_t i = 0; i < way->links; i++)
		back += time_of(&way->legs[i], ACK) + way->legs[i].delay_ps;
	return at + back;
}

// The closed form, where all links are those of NICs.
static ps_t closed_form(const struct way *way, uint32_t bytes)
{
	uint32_t packets = (bytes + 4085) / 4086, last = bytes - (packets - 1) * 4086 + 64;
	const struct leg *leg = &way->legs[0];
	ps_t there = packets == 1
		? way->links * time_of(leg, last)
		: (packets - 1 + way->links - 1) * time_of(leg, FULL) + time_of(leg, last);
	return there + way->links * (time_of(leg, ACK) + 2 * leg->delay_ps);
}

static bool is_even(const struct way *way)
{
	for (uint32_t i = 1; i < way->links; i++)
		if (memcmp(&way->legs[i], &way->legs[0], sizeof(struct leg)) != 0)
			return false;
	return true;
}

static void run_way(const struct way *way, uint32_t bytes)
{
	static struct rig rig;
	char text[2048];
	snprintf(text, sizeof(text), head, way->nics, way->fabric, way->from, way->to, bytes);
	rig_run(&rig, text, NULL);
	ps_t measured = rig.outcome->flow_end_ps[0], expected = expected_end(way, bytes);
	printf("%-30s %8u B: %11.4f us, expected %11.4f, %lld ps off\n", way->name, bytes,
	       (double)measured / 1e6, (double)expected / 1e6, (long long)(measured - expected));
	assert_int_equal(rig.run.end, RUN_DONE);
	assert_true(llabs(measured - expected) <= PS_PER_NS);
	if (is_even(way))
		assert_int_equal(expected, closed_form(way, bytes));
	world_instance_free(&rig.world_instance);
}

static void single_flows_take_as_long_as_expected_on_every_kind(void **)
{
	for (size_t i = 0; i < sizeof(ways) / sizeof(*ways); i++) {
		run_way(&ways[i], 4086);
		run_way(&ways[i], 100);
		run_way(&ways[i], 40860);
		run_way(&ways[i], 1000000);
	}
}

// One full packet out and one acknowledgement back over the longest way is what the fabric calls
// its base round trip.
static void the_base_round_trip_is_measured_where_the_way_is_longest(void **)
{
	static const uint32_t longest[] = {0, 4, 8, 9, 10};
	for (size_t i = 0; i < sizeof(longest) / sizeof(*longest); i++) {
		static struct rig rig;
		const struct way *way = &ways[longest[i]];
		char text[2048];
		snprintf(text, sizeof(text), head, way->nics, way->fabric, way->from, way->to,
			 4086);
		rig_run(&rig, text, NULL);
		assert_int_equal(rig.world_instance.world.topology.base_rtt_ps,
				 rig.outcome->flow_end_ps[0]);
		world_instance_free(&rig.world_instance);
	}
}

// A world that a .topo file describes and one with the same counts are the same, packet by packet.
static void a_world_from_a_file_is_the_world_of_its_counts(void **)
{
	static struct rig rig;
	static const char file[] =
		"Nodes 16\nTiers 3\nPodsize 4\n"
		"Tier 0\nDownlink_speed_Gbps 100\nRadix_Up 2\nRadix_Down 2\nDownlink_Latency_ns "
		"1000\n"
		"Tier 1\nDownlink_speed_Gbps 100\nRadix_Up 2\nRadix_Down 2\nDownlink_Latency_ns "
		"1000\n"
		"Tier 2\nDownlink_speed_Gbps 100\nRadix_Down 4\nDownlink_Latency_ns 1000\n";
	static const char *const counts =
		"  topology: fat-tree\n  nic_delay: 1us\n"
		"  trunk_delay: 1us\n  switch_delay: 0ns\n"
		"  tor_nics: 2\n  pod_tors: 2\n  pod_aggs: 2\n  cores: 4\n";
	const char *const fabrics[] = {counts, "  topology: file\n  file: x.topo\n"};
	uint64_t digests[2], hops[2];
	for (int i = 0; i < 2; i++) {
		char text[1024];
		static const struct sim_options options;
		snprintf(text, sizeof(text),
			 "fabric:\n  nics: 16\n%straffic: {kind: permutation, bytes: 300kB}\n"
			 "faults: [{kind: loss, at: {t0: 3, up: 1, plane: 0}, probability: 5%%}]\n",
			 fabrics[i]);
		memset(&rig, 0, sizeof(rig));
		assert_int_equal(scenario_parse(&rig.scenario, "test", text, strlen(text), NULL, 0,
						&rig.refusal),
				 0);
		if (i == 1)
			assert_int_equal(tree_parse(&rig.scenario.fabric.tree, file, strlen(file),
						    &rig.refusal),
					 0);
		assert_int_equal(world_instance_build(&rig.world_instance, &rig.scenario, NULL, 0,
						      &options, &rig.refusal),
				 0);
		sim_run(rig.world_instance.sim, &rig.run);
		assert_int_equal(rig.run.end, RUN_DONE);
		digests[i] = rig.run.digest;
		hops[i] = rig.run.hops;
		world_instance_free(&rig.world_instance);
	}
	assert_int_equal(digests[0], digests[1]);
	assert_int_equal(hops[0], hops[1]);
}
