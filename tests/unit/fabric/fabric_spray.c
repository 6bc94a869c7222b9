// SPDX-License-Identifier: Apache-2.0
// Switches that choose among their up ports: in turn, or by the shortest queue.
#include "fabric_rig.h"

#include "../../../lib/fabric/switch/port.h"

static struct rig rig;
static struct topology topology;
static struct switch_ *t0;

// A T0 of the usual Clos: NICs 0 to 7 below it, eight up ports (8 to 15).
static void open_t0(enum fabric_spray spray)
{
	struct fabric_config config = rig_clos();
	rig_open(&rig);
	config.spray = spray;
	assert_int_equal(topology_build(&topology, &rig.arena, &config, 1, &rig.refusal), 0);
	assert_int_equal(switch_create(&t0, &rig.arena, &topology, &config, 0, 1, &rig.refusal), 0);
}

// Gives `count` packets for NIC 30 of `bytes`, `gap_ps` apart from `from_ps` on, from in-port 0;
// runs to `until`.
static void give(uint32_t count, uint32_t bytes, ps_t from_ps, ps_t gap_ps, ps_t until)
{
	static struct arrival arrivals[512], scratch[2][512];
	for (uint32_t i = 0; i < count; i++)
		arrivals[i] = (struct arrival){
			from_ps + i * gap_ps,
			rig_packet(&rig, PACKET_CLASS_DATA, bytes, PACKET_TRIMMABLE, 30), 0};
	struct arrival_run run = {arrivals, count};
	struct inbox in = {&run, count > 0, count, {scratch[0], scratch[1]}};
	switch_run(t0, &in, until, &rig.out);
}

static void in_turn_each_round_takes_each_up_port_once(void **)
{
	open_t0(FABRIC_SPRAY_ROUND_ROBIN);
	give(400, 4150, 1000, 400000, PS_PER_S); // slower than a line: departures as they came
	assert_int_equal(rig.out.count, 400);
	uint32_t same = 0;
	for (uint32_t round = 0; round < 50; round++) {
		uint32_t seen = 0;
		for (uint32_t i = 0; i < 8; i++) {
			uint32_t port = rig.departures[round * 8 + i].port;
			assert_in_range(port, 8, 15);
			seen |= 1u << (port - 8);
			same += round > 0 && port == rig.departures[(round - 1) * 8 + i].port;
		}
		assert_int_equal(seen, 255);
	}
	assert_in_range(same, 15, 100); // another order each round: one in eight is the same
	rig_close(&rig);
}

static void small_packets_are_hashed(void **)
{
	open_t0(FABRIC_SPRAY_ROUND_ROBIN);
	give(50, 127, 1000, 400000, PS_PER_S);
	for (uint32_t i = 1; i < 50; i++) // one flow, one EV: one port
		assert_int_equal(rig.departures[i].port, rig.departures[0].port);
	rig_close(&rig);
}

static void the_shortest_queue_leaves_none_behind(void **)
{
	static const enum fabric_spray kinds[] = {FABRIC_SPRAY_ADAPTIVE, FABRIC_SPRAY_HASH};
	uint64_t deepest[2];
	for (int i = 0; i < 2; i++) {
		open_t0(kinds[i]);
		give(160, 4150, 1000, 1, 100000); // all at once: 20 per port
		deepest[i] = switch_counters(t0)->queue_bytes_max;
		give(0, 0, 0, 0, PS_PER_S);
		assert_int_equal(rig.out.count, 160);
		assert_int_equal(switch_held(t0), 0);
		rig_close(&rig);
	}
	assert_in_range(deepest[0], 19 * 4150, 20 * 4150);
	assert_int_equal(deepest[1], topology.queue_bytes); // one EV, one port: full, rest trimmed
}

static void ports_that_are_alike_all_get_packets(void **)
{
	uint32_t seen[8] = {0};
	open_t0(FABRIC_SPRAY_ADAPTIVE);
	give(400, 4150, 1000, 400000, PS_PER_S); // every queue is empty every time
	for (uint32_t i = 0; i < 400; i++)
		seen[rig.departures[i].port - 8]++;
	for (uint32_t i = 0; i < 8; i++) // 50 each; sd 6.6
		assert_in_range(seen[i], 20, 80);
	rig_close(&rig);
}

// Packets of one flow, less than the gap apart, stay on a port; each burst behind a pause draws
// one.
static void a_flowlet_stays_on_its_port_until_the_flow_pauses(void **)
{
	open_t0(FABRIC_SPRAY_FLOWLET);
	const ps_t gap_ps = topology.base_rtt_ps / 2;
	uint32_t seen = 0, same = 0, last = 0;
	for (uint32_t burst = 0; burst < 64; burst++) {
		uint32_t first = rig.out.count;
		ps_t start = burst * 20 * gap_ps + 1000;
		give(10, 4150, start, gap_ps - 1, start + 19 * gap_ps);
		assert_int_equal(rig.out.count, first + 10);
		uint32_t port = rig.departures[first].port;
		assert_in_range(port, 8, 15);
		for (uint32_t i = 1; i < 10; i++)
			assert_int_equal(rig.departures[first + i].port, port);
		seen |= 1u << (port - 8);
		same += burst > 0 && port == last;
		last = port;
	}
	assert_int_equal(seen, 255);
	assert_in_range(same, 1, 20); // one in eight
	rig_close(&rig);
}

static void what_goes_down_has_no_choice(void **)
{
	open_t0(FABRIC_SPRAY_ROUND_ROBIN);
	struct arrival arrival = {1000, rig_packet(&rig, PACKET_CLASS_DATA, 4150, 0, 5), 9};
	struct arrival scratch[2][1];
	struct arrival_run run = {&arrival, 1};
	struct inbox in = {&run, 1, 1, {scratch[0], scratch[1]}};
	switch_run(t0, &in, PS_PER_S, &rig.out);
	assert_int_equal(rig.departures[0].port, 5);
	rig_close(&rig);
}
