// SPDX-License-Identifier: Apache-2.0
// Routes that change after failures, and come back.
#include "fabric_rig.h"

#include <errno.h>

#include "../../../lib/fabric/switch/switch.h"
#include "../../../lib/fabric/topology/route.h"

#define LOCAL_PS (50 * PS_PER_US)
#define REMOTE_PS (200 * PS_PER_US)
#define DOWN_AT (200 * PS_PER_US)
#define GAP_PS (400 * PS_PER_NS) // slower than a line: departures come as arrivals did
#define SWITCHES_MAX 256

static struct rig rig;
static struct topology topology;
static struct switch_ *switches[SWITCHES_MAX];

static struct fault trunk_down(uint32_t t0, uint32_t port, ps_t until)
{
	return (struct fault){.kind = FAULT_LINK_DOWN,
			      .at = {.where = LINK_AT_TRUNK, .index = t0, .port = port},
			      .from_ps = DOWN_AT,
			      .until_ps = until};
}

// Builds the fabric; returns what handing out the routes gave.
static int open(struct fabric_config config, const struct fault *faults, uint32_t count)
{
	uint32_t fault = count;
	rig_open(&rig);
	config.reroute = (struct reroute_config){LOCAL_PS, REMOTE_PS};
	assert_int_equal(topology_build(&topology, &rig.arena, &config, 1, &rig.refusal), 0);
	assert_true(topology.switch_count <= SWITCHES_MAX);
	for (uint32_t i = 0; i < topology.switch_count; i++)
		assert_int_equal(switch_create(&switches[i], &rig.arena, &topology, &config, i, 1,
					       &rig.refusal),
				 0);
	return switches_reroute(switches, &rig.arena, &topology, &config, faults, count, &fault,
				&rig.refusal);
}

// The route of a switch for what arrives at `at`, without moving on.
static const struct route *route_at(uint32_t place, ps_t at)
{
	const struct route *route = &switches[place]->route;
	for (const struct route_epoch *epoch = switches[place]->next;
	     epoch != NULL && epoch->at < at; epoch = epoch->next)
		route = &epoch->route;
	return route;
}

// The ports, as bits, that `values` entropy values find from a switch to a NIC.
static uint64_t ports_at(uint32_t place, uint32_t target, ps_t at)
{
	uint64_t found = 0;
	struct packet packet = {.target = target, .source = 1};
	for (uint32_t ev = 0; ev < 2000; ev++) {
		packet.ev = ev;
		uint32_t port = route_port(route_at(place, at), &packet);
		found |= port == ROUTE_NONE ? UINT64_C(1) << 63 : UINT64_C(1) << port;
	}
	return found;
}

#define NONE (UINT64_C(1) << 63)

// Gives T0 0 `count` packets for NIC 30, one after the other from `from_ps` on, with EVs 0, 1, ...;
// runs in windows of `window_ps`.
static void give(uint32_t count, ps_t from_ps, ps_t window_ps)
{
	static struct arrival arrivals[1024], scratch[2][1024];
	uint32_t given = 0;
	for (ps_t until = from_ps + window_ps; given < count || until < from_ps + count * GAP_PS;
	     until += window_ps) {
		uint32_t in_window = 0;
		for (; given < count && from_ps + given * GAP_PS < until; given++, in_window++) {
			uint32_t packet = rig_packet(&rig, PACKET_CLASS_DATA, 4150,
						     PACKET_TRIMMABLE, 30);
			packet_at(&rig.packets, packet)->ev = given;
			arrivals[in_window] = (struct arrival){from_ps + given * GAP_PS, packet, 0};
		}
		struct arrival_run run = {arrivals, in_window};
		struct inbox in = {&run, in_window > 0, in_window, {scratch[0], scratch[1]}};
		switch_run(switches[0], &in, until, &rig.out);
	}
}

// T0 0 of the usual Clos has NICs 0 to 7 below it and eight up ports, 8 to 15, two to each T1; up
// port 3 goes down. Its share goes to the others after exactly the delay, whatever the window.
static void a_dead_links_share_goes_to_others_after_exactly_the_delay(void **)
{
	static const ps_t windows_ps[] = {PS_PER_US, 7 * PS_PER_US, PS_PER_S};
	struct fault fault = trunk_down(0, 3, PS_NEVER);
	for (int i = 0; i < 3; i++) {
		assert_int_equal(open(rig_clos(), &fault, 1), 0);
		ps_t from_ps = DOWN_AT + LOCAL_PS - 200 * GAP_PS;
		give(401, from_ps, windows_ps[i]); // the 201st arrives at that moment
		assert_int_equal(rig.out.count, 401);
		uint32_t before = 0, after = 0;
		for (uint32_t d = 0; d < rig.out.count; d++) {
			bool is_late = rig.departures[d].start > DOWN_AT + LOCAL_PS;
			assert_in_range(rig.departures[d].port, 8, 15);
			if (rig.departures[d].port == 11)
				*(is_late ? &after : &before) += 1;
		}
		assert_in_range(before, 12, 50);
		assert_int_equal(after, 0);
		rig_close(&rig);
	}
}

static void a_link_that_comes_back_is_used_after_the_delay(void **)
{
	struct fault fault = trunk_down(0, 3, 300 * PS_PER_US);
	assert_int_equal(open(rig_clos(), &fault, 1), 0);
	assert_int_equal(ports_at(0, 30, DOWN_AT + LOCAL_PS), 0xff00);
	assert_int_equal(ports_at(0, 30, DOWN_AT + LOCAL_PS + 1), 0xf700);
	assert_int_equal(ports_at(0, 30, 300 * PS_PER_US + LOCAL_PS), 0xf700);
	assert_int_equal(ports_at(0, 30, 300 * PS_PER_US + LOCAL_PS + 1), 0xff00);
	assert_null(route_at(0, PS_PER_S)->table); // and costs nothing any more
	assert_true(route_at(0, PS_PER_S)->up_count == 8);
	assert_int_equal(ports_at(0, 5, 280 * PS_PER_US), 1 << 5); // down as ever
	rig_close(&rig);
}

// The bundle of T0 0 to T1 1 (up ports 2 and 3, T1 port 0 and 1) goes down: T1 1 loses its ways to
// NICs 0 to 7, which the other T0s hear after the remote delay. Plane 1 hears nothing.
static void remote_switches_avoid_a_next_hop_without_a_way(void **)
{
	struct fault faults[] = {trunk_down(0, 2, 600 * PS_PER_US),
				 trunk_down(0, 3, 600 * PS_PER_US)};
	assert_int_equal(open(rig_clos(), faults, 2), 0);
	uint32_t t0s = 4, t1 = t0s + 1;
	assert_int_equal(ports_at(t1, 3, DOWN_AT + LOCAL_PS), 3);
	assert_int_equal(ports_at(t1, 3, DOWN_AT + LOCAL_PS + 1), NONE);
	assert_int_equal(ports_at(t1, 9, DOWN_AT + LOCAL_PS + 1), 0xc);
	for (uint32_t t0 = 1; t0 < t0s; t0++) {
		assert_int_equal(ports_at(t0, 3, DOWN_AT + REMOTE_PS), 0xff00);
		assert_int_equal(ports_at(t0, 3, DOWN_AT + REMOTE_PS + 1), 0xf300);
		uint32_t other = t0 == 1 ? 30 : 9;
		assert_int_equal(ports_at(t0, other, DOWN_AT + REMOTE_PS + 1), 0xff00);
		assert_int_equal(ports_at(t0, 3, 600 * PS_PER_US + REMOTE_PS), 0xf300);
		assert_int_equal(ports_at(t0, 3, 600 * PS_PER_US + REMOTE_PS + 1), 0xff00);
	}
	uint32_t plane = topology.switch_count / 2;
	for (uint32_t i = plane; i < topology.switch_count; i++)
		assert_null(switches[i]->next);
	rig_close(&rig);
}

// Of a bundle one link is left: nobody far away has to know.
static void a_next_hop_with_a_way_left_is_not_avoided(void **)
{
	struct fault fault = trunk_down(0, 3, PS_NEVER);
	assert_int_equal(open(rig_clos(), &fault, 1), 0);
	for (uint32_t t0 = 1; t0 < 4; t0++)
		assert_null(switches[t0]->next);
	assert_int_equal(ports_at(5, 3, PS_PER_S), 1);
	rig_close(&rig);
}

// A core that dies leaves its ports; an aggregation switch that dies is known to its ToRs at once,
// and to those of other pods, for its part of the cores, after the remote delay.
static void switches_of_three_tiers_that_die_are_avoided(void **)
{
	struct fabric_config config = rig_fat_tree(UINT64_C(100000000000));
	struct fault fault = {.kind = FAULT_LINK_DOWN,
			      .at = {.where = LINK_AT_T1, .index = 1}, // of pod 0
			      .from_ps = DOWN_AT,
			      .until_ps = PS_NEVER};
	assert_int_equal(open(config, &fault, 1), 0);
	uint32_t tors = 32, aggs = 32;
	uint32_t up = topology.switches[0].up_first;
	assert_int_equal(ports_at(0, 100, DOWN_AT + LOCAL_PS + 1), UINT64_C(0xd) << up);
	assert_int_equal(ports_at(0, 100, DOWN_AT + LOCAL_PS), UINT64_C(0xf) << up);
	// ToR 4 is of pod 1: its aggregation switch 1 reaches pod 0 only over the dead one
	assert_int_equal(ports_at(4, 0, DOWN_AT + REMOTE_PS), UINT64_C(0xf) << up);
	assert_int_equal(ports_at(4, 0, DOWN_AT + REMOTE_PS + 1), UINT64_C(0xd) << up);
	assert_int_equal(ports_at(4, 100, DOWN_AT + REMOTE_PS + 1), UINT64_C(0xf) << up);
	assert_int_equal(ports_at(tors + 5, 0, DOWN_AT + REMOTE_PS + 1), NONE);
	// a core of it has lost its only way down to pod 0
	bool has_lost = false;
	for (uint32_t core = 0; core < config.cores; core++)
		has_lost |= ports_at(tors + aggs + core, 0, DOWN_AT + LOCAL_PS + 1) == NONE;
	assert_true(has_lost);
	rig_close(&rig);
}

// A graph: of four links between the two sides of a dumbbell one goes down; then its two last ones.
static void a_dumbbell_leaves_links_and_comes_to_have_no_way(void **)
{
	struct fabric_config config = rig_clos();
	config.kind = TOPOLOGY_DUMBBELL;
	config.bundle = 4;
	struct fault faults[4];
	for (uint32_t i = 0; i < 4; i++) {
		faults[i] = trunk_down(0, i, PS_NEVER);
		faults[i].from_ps += i < 2 ? i * PS_PER_MS : 2 * PS_PER_MS;
	}
	assert_int_equal(open(config, faults, 4), 0);
	assert_int_equal(ports_at(0, 30, DOWN_AT + LOCAL_PS), 0xf0000);
	assert_int_equal(ports_at(0, 30, DOWN_AT + LOCAL_PS + 1), 0xe0000);
	assert_int_equal(ports_at(1, 3, DOWN_AT + LOCAL_PS + 1), 0xe0000);
	assert_int_equal(ports_at(0, 30, PS_PER_MS + DOWN_AT + LOCAL_PS + 1), 0xc0000);
	assert_int_equal(ports_at(0, 30, 2 * PS_PER_MS + DOWN_AT + LOCAL_PS + 1), NONE);
	assert_int_equal(ports_at(0, 3, PS_PER_S), 1 << 3);
	rig_close(&rig);
}

// What is shorter than the delay was never seen, and what comes back for less neither.
static void states_that_do_not_last_are_not_seen(void **)
{
	struct fault flap = {.kind = FAULT_FLAP,
			     .at = {.where = LINK_AT_TRUNK, .port = 3},
			     .from_ps = DOWN_AT,
			     .until_ps = DOWN_AT + 90 * LOCAL_PS,
			     .down_ps = LOCAL_PS,
			     .up_ps = LOCAL_PS};
	assert_int_equal(open(rig_clos(), &flap, 1), 0);
	assert_null(switches[0]->next);
	rig_close(&rig);
	flap.down_ps += 1;
	assert_int_equal(open(rig_clos(), &flap, 1), 0);
	assert_int_equal(ports_at(0, 30, DOWN_AT + LOCAL_PS + 1), 0xf700);
	assert_int_equal(ports_at(0, 30, flap.until_ps), 0xf700); // up for too short all the while
	assert_int_equal(ports_at(0, 30, flap.until_ps + 2 * LOCAL_PS), 0xff00);
	assert_ptr_equal(switches[0]->next->next->next, NULL);
	rig_close(&rig);
	flap.up_ps += 1;
	assert_int_equal(open(rig_clos(), &flap, 1), 0);
	assert_int_equal(ports_at(0, 30, DOWN_AT + LOCAL_PS + 1), 0xf700);
	assert_int_equal(ports_at(0, 30, DOWN_AT + 2 * LOCAL_PS + 2), 0xff00);
	assert_int_equal(ports_at(0, 30, DOWN_AT + 3 * LOCAL_PS + 3), 0xf700);
	rig_close(&rig);
}

static void flaps_without_end_and_too_many_changes_are_refused(void **)
{
	struct fault flap = {.kind = FAULT_FLAP,
			     .at = {.where = LINK_AT_TRUNK, .port = 3},
			     .until_ps = PS_NEVER,
			     .down_ps = 2 * LOCAL_PS,
			     .up_ps = 2 * LOCAL_PS};
	assert_int_equal(open(rig_clos(), &flap, 1), -EINVAL);
	rig_close(&rig);
	struct fault both[] = {flap, trunk_down(0, 3, PS_NEVER)}; // never up again, and no edge
	both[1].from_ps = 0;
	assert_int_equal(open(rig_clos(), both, 2), -EINVAL);
	rig_close(&rig);
	flap.until_ps = 4 * REROUTE_TIMES_MAX * LOCAL_PS;
	assert_int_equal(open(rig_clos(), &flap, 1), -EINVAL);
	rig_close(&rig);
	flap.until_ps /= 4; // two changes in four delays
	assert_int_equal(open(rig_clos(), &flap, 1), 0);
	rig_close(&rig);
}

static void a_link_that_is_down_from_the_start_is_known(void **)
{
	struct fault fault = trunk_down(0, 3, PS_NEVER);
	fault.from_ps = 0;
	assert_int_equal(open(rig_clos(), &fault, 1), 0);
	assert_int_equal(ports_at(0, 30, 1), 0xf700);
	rig_close(&rig);
}

// Where routes did not change a table finds the same port for every packet as arithmetic does.
static void tables_agree_with_arithmetic_where_nothing_is_wrong(void **)
{
	struct fault fault = trunk_down(0, 3, PS_NEVER);
	struct fabric_config configs[] = {rig_clos(), rig_fat_tree(UINT64_C(100000000000))};
	for (int i = 0; i < 2; i++) {
		assert_int_equal(open(configs[i], &fault, 1), 0);
		for (uint32_t place = 0; place < topology.switch_count; place++) {
			const struct route *later = route_at(place, PS_PER_S);
			if (later->table == NULL)
				continue;
			for (uint32_t ev = 0; ev < 20000; ev++) {
				struct packet packet = {.target = ev % topology.nics, .ev = ev};
				uint32_t at = topology_switch(&topology, packet.target);
				uint16_t now[MACHINE_PORTS_MAX];
				uint32_t all = topology_ports(&topology, place, packet.target, now);
				uint32_t left = at == place
					? all
					: later->table->sets[later->table->set_of[at]].count;
				if (left == all)
					assert_int_equal(
						route_port(later, &packet),
						route_port(&switches[place]->route, &packet));
			}
		}
		rig_close(&rig);
	}
}

// Switches that spray by themselves leave a dead port alone, too.
static void no_kind_of_spray_takes_a_dead_port(void **)
{
	struct fault fault = trunk_down(0, 3, PS_NEVER);
	for (int spray = FABRIC_SPRAY_ROUND_ROBIN; spray <= FABRIC_SPRAY_FLOWLET; spray++) {
		struct fabric_config config = rig_clos();
		config.spray = (enum fabric_spray)spray;
		config.flowlet_gap_ps = 1;
		assert_int_equal(open(config, &fault, 1), 0);
		give(800, DOWN_AT + LOCAL_PS - 400 * GAP_PS, PS_PER_US);
		uint32_t count[16] = {0}, before = 0;
		for (uint32_t d = 0; d < rig.out.count; d++)
			if (rig.departures[d].start > DOWN_AT + LOCAL_PS)
				count[rig.departures[d].port]++;
			else
				before += rig.departures[d].port == 11;
		assert_in_range(before, 20, 80);
		for (uint32_t port = 8; port < 16; port++)
			assert_in_range(count[port], port == 11 ? 0 : 30, port == 11 ? 0 : 90);
		rig_close(&rig);
	}
}
