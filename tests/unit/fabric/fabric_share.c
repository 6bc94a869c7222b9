// SPDX-License-Identifier: Apache-2.0
// Two classes that share a line by bytes, and the queue of the last hop.
#include <errno.h>

#include "../../../lib/fabric/switch/port.h"
#include "fabric_rig.h"

#define CONTROL_BYTES 64u
#define DATA_BYTES 4150u

static struct rig rig;
static struct port port;
static struct fabric_counters counters;

static void port_reset(uint32_t share_ppb)
{
	rig_open(&rig);
	memset(&port, 0, sizeof(port));
	memset(&counters, 0, sizeof(counters));
	port.line = line_of(UINT64_C(100000000000));
	port.limit_bytes[PACKET_CLASS_DATA] = port.limit_bytes[PACKET_CLASS_CONTROL] = UINT32_MAX;
	port.ecn_low_bytes = port.ecn_high_bytes = UINT32_MAX;
	port.control_share_ppb = share_ppb;
	port.special = share_ppb > 0 ? PORT_SHARES : 0;
}

static void give(enum packet_class klass, uint32_t bytes, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		port_accept(&port, &rig.out, &counters, rig_packet(&rig, klass, bytes, 0, 0), 0);
}

// Bytes of control among the departures [from, to).
static uint64_t control_in(uint32_t from, uint32_t to, uint64_t *ret_all)
{
	uint64_t control = 0;
	for (uint32_t i = from; i < to; i++) {
		control += rig.departures[i].bytes == CONTROL_BYTES ? CONTROL_BYTES : 0;
		*ret_all += rig.departures[i].bytes;
	}
	return control;
}

static void while_both_wait_control_has_its_share_of_the_bytes(void **)
{
	static const uint32_t shares[] = {100000000, 250000000, 500000000};
	for (int i = 0; i < 3; i++) {
		port_reset(shares[i]);
		give(PACKET_CLASS_CONTROL, CONTROL_BYTES, 9000);
		give(PACKET_CLASS_DATA, DATA_BYTES, 300);
		port_advance(&port, &rig.out, &counters, 50 * PS_PER_US); // both still wait then
		assert_true(port.queues[PACKET_CLASS_CONTROL].count > 0);
		assert_true(port.queues[PACKET_CLASS_DATA].count > 0);
		uint64_t all = 0, control = control_in(1, rig.out.count, &all);
		// at no time further off than one packet of data
		assert_in_range(control, all * (shares[i] / 1000000) / 1000 - DATA_BYTES,
				all * (shares[i] / 1000000) / 1000 + DATA_BYTES);
		rig_close(&rig);
	}
}

static void a_class_alone_has_the_whole_line(void **)
{
	port_reset(250000000);
	give(PACKET_CLASS_DATA, DATA_BYTES, 10);
	port_advance(&port, &rig.out, &counters, PS_PER_S);
	give(PACKET_CLASS_CONTROL, CONTROL_BYTES, 10);
	port_advance(&port, &rig.out, &counters, PS_PER_S);
	assert_int_equal(rig.out.count, 20);
	for (uint32_t i = 1; i < 20; i++) // back to back
		assert_int_equal(rig.departures[i].start,
				 rig.departures[i - 1].start +
					 line_ps(port.line, rig.departures[i - 1].bytes));
	rig_close(&rig);
}

static void a_share_is_no_credit_for_later(void **)
{
	port_reset(250000000);
	give(PACKET_CLASS_DATA, DATA_BYTES, 101); // long alone
	port_advance(&port, &rig.out, &counters, 99 * line_ps(port.line, DATA_BYTES));
	assert_int_equal(rig.out.count, 100);
	give(PACKET_CLASS_CONTROL, CONTROL_BYTES, 200);
	give(PACKET_CLASS_DATA, DATA_BYTES, 10);
	port_advance(&port, &rig.out, &counters, PS_PER_S);
	// 22 headers are a quarter beside one data packet, and the first one goes ahead
	uint32_t before = 0;
	for (uint32_t i = 100; rig.departures[i].bytes == CONTROL_BYTES; i++)
		before++;
	assert_in_range(before, 1, 2);
	rig_close(&rig);
}

// Weighted round robin: as long as both wait every round is the same.
static void in_rounds_each_class_has_its_packets(void **)
{
	static const uint8_t weights[][2] = {{1, 1}, {10, 1}, {1, 3}, {255, 255}};
	for (int i = 0; i < 4; i++) {
		uint32_t round = (uint32_t)weights[i][0] + weights[i][1];
		port_reset(0);
		port.special = PORT_ROUNDS;
		port.round_control = weights[i][0];
		port.round_data = weights[i][1];
		give(PACKET_CLASS_DATA, DATA_BYTES, 1); // is on the line when the others come
		give(PACKET_CLASS_DATA, DATA_BYTES, 1000);
		give(PACKET_CLASS_CONTROL, CONTROL_BYTES, 1000);
		port_advance(&port, &rig.out, &counters, PS_PER_S);
		assert_int_equal(rig.out.count, 2001);
		uint32_t rounds = 1000 /
			(weights[i][0] > weights[i][1] ? weights[i][0] : weights[i][1]);
		for (uint32_t k = 0; k < rounds * round; k++) {
			bool is_control = rig.departures[k + 1].bytes == CONTROL_BYTES;
			assert_int_equal(is_control, k % round < weights[i][0]);
		}
		rig_close(&rig);
	}
}

static void the_last_hop_may_have_a_deeper_queue(void **)
{
	rig_open(&rig);
	struct fabric_config config = rig_clos();
	struct topology topology;
	config.queue_bytes = 40000;
	config.last_hop_queue_bytes = 60000;
	assert_int_equal(topology_build(&topology, &rig.arena, &config, 1, &rig.refusal), 0);
	assert_int_equal(topology.queue_bytes, 40000);
	assert_int_equal(topology.last_hop_queue_bytes, 60000);
	config.last_hop_queue_bytes = 0;
	assert_int_equal(topology_build(&topology, &rig.arena, &config, 1, &rig.refusal), 0);
	assert_int_equal(topology.last_hop_queue_bytes, 40000);
	config.last_hop_queue_bytes = 100; // no packet fits
	assert_int_equal(topology_build(&topology, &rig.arena, &config, 1, &rig.refusal), -EINVAL);
	config.last_hop_queue_bytes = 0;
	config.control_share_ppb = 1000000000;
	assert_int_equal(topology_build(&topology, &rig.arena, &config, 1, &rig.refusal), -EINVAL);
	rig_close(&rig);
}

// A T0 gets `count` packets for `target` at once; returns how many it trimmed.
static uint64_t trimmed_of(uint32_t target, uint32_t count)
{
	struct fabric_config config = rig_clos();
	struct topology topology;
	struct switch_ *t0;
	struct arrival arrivals[32], scratch[2][32];
	rig_open(&rig);
	config.queue_bytes = 10 * config.mtu_bytes;
	config.last_hop_queue_bytes = 15 * config.mtu_bytes;
	config.trim_on = true;
	config.trim_bytes = 64;
	assert_int_equal(topology_build(&topology, &rig.arena, &config, 1, &rig.refusal), 0);
	assert_int_equal(switch_create(&t0, &rig.arena, &topology, &config, 0, 1, &rig.refusal), 0);
	for (uint32_t i = 0; i < count; i++)
		arrivals[i] = (struct arrival){1000,
					       rig_packet(&rig, PACKET_CLASS_DATA, config.mtu_bytes,
							  PACKET_TRIMMABLE, target),
					       0};
	struct arrival_run run = {arrivals, count};
	struct inbox in = {&run, 1, count, {scratch[0], scratch[1]}};
	switch_run(t0, &in, 2000, &rig.out);
	uint64_t trimmed = switch_counters(t0)->trimmed;
	rig_close(&rig);
	return trimmed;
}

static void each_hop_trims_at_its_own_depth(void **)
{
	uint32_t near = 1, far = 30;		       // below this T0, and below another one
	assert_int_equal(trimmed_of(near, 1 + 15), 0); // one is on the line
	assert_int_equal(trimmed_of(near, 1 + 15 + 3), 3);
	assert_int_equal(trimmed_of(far, 1 + 10), 0);
	assert_int_equal(trimmed_of(far, 1 + 10 + 3), 3);
}
