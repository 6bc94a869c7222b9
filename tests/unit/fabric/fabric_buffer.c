// SPDX-License-Identifier: Apache-2.0
// A buffer that all ports of a switch share: how much each queue may take, who gives way, and what
// PFC makes of it.
#include "fabric_rig.h"

#define MTU 4150u
#define FULL_PS (MTU * 80)
#define BUFFER (100 * MTU)
#define NICS 8u

static struct rig rig;
static struct topology topology;
static struct switch_ *machine;

static void open_switch(uint64_t alpha_ppb, bool trims, bool has_pfc)
{
	struct fabric_config config = rig_clos();
	rig_open(&rig);
	config.nics = config.nics_per_t0 = NICS;
	config.t1_count = 0;
	config.planes = config.bundle = 1;
	config.ecn_on = false;
	config.trim_on = trims;
	config.trim_choice = TRIM_COIN;
	config.buffer = (struct buffer_config){BUFFER, alpha_ppb};
	config.pfc.is_on = has_pfc;
	assert_int_equal(topology_build(&topology, &rig.arena, &config, 1, &rig.refusal), 0);
	assert_int_equal(
		switch_create(&machine, &rig.arena, &topology, &config, 0, 1, &rig.refusal), 0);
}

static void give(uint32_t port, ps_t at, uint32_t packet)
{
	struct arrival arrival = {at, packet, port}, scratch[2];
	struct arrival_run run = {&arrival, 1};
	struct inbox in = {&run, 1, 1, {&scratch[0], &scratch[1]}};
	switch_run(machine, &in, at + 1, &rig.out);
}

static uint32_t data_to(uint32_t target)
{
	return rig_packet(&rig, PACKET_CLASS_DATA, MTU, PACKET_TRIMMABLE, target);
}

// `count` packets at once for each of the NICs [0, targets), in turn. Returns what they left to
// wait.
static uint32_t flood(uint32_t targets, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		for (uint32_t target = 0; target < targets; target++)
			give(NICS - 1, 1000, data_to(target));
	return switch_held(machine);
}

// n queues at their limit have alpha B / (1 + n alpha) each: within a packet, the one that came
// last. One packet of each is on the line.
static void each_of_n_queues_has_its_share(void **)
{
	static const uint64_t alphas[] = {250000000, 500000000, 1000000000, 2000000000, 8000000000};
	for (size_t a = 0; a < sizeof(alphas) / sizeof(*alphas); a++) {
		for (uint32_t n = 1; n < NICS; n++) {
			double alpha = (double)alphas[a] / 1e9;
			double share = alpha * BUFFER / (1 + n * alpha) / MTU;
			open_switch(alphas[a], false, false);
			uint32_t held = flood(n, 120);
			assert_true(held >= (uint32_t)(n * share) && held <= n * (share + 1));
			assert_true(switch_counters(machine)->buffer_bytes_max <= BUFFER);
			assert_true(switch_counters(machine)->queue_bytes_max <= (share + n) * MTU);
			assert_int_equal(switch_counters(machine)->dropped[DROP_QUEUE_FULL],
					 n * 119 - held);
			rig_close(&rig);
		}
	}
}

// What a queue that empties gives back is there for another one.
static void room_that_is_given_back_is_used(void **)
{
	open_switch(1000000000, false, false);
	uint32_t alone = flood(1, 120); // half of the buffer
	assert_int_equal(alone, 50);
	for (uint32_t i = 0; i < 120; i++)
		give(NICS - 1, 2000, data_to(1));
	assert_int_equal(switch_held(machine) - alone, 25); // half of the rest
	ps_t later = 1000 + 60 * FULL_PS;		    // both are empty
	for (uint32_t i = 0; i < 120; i++)
		give(NICS - 1, later, data_to(2));
	assert_int_equal(switch_held(machine), 50);
	rig_close(&rig);
}

// One that is trimmed gives its place to another; the books stay right, and nothing is lost.
static void a_full_share_trims(void **)
{
	open_switch(1000000000, true, false);
	flood(2, 120);
	const struct fabric_counters *counters = switch_counters(machine);
	assert_int_equal(counters->dropped[DROP_QUEUE_FULL], 0);
	assert_in_range(counters->trimmed, 2 * (119 - 35), 2 * (119 - 32)); // a third of the buffer
	assert_true(counters->buffer_bytes_max <= BUFFER);
	struct arrival scratch[2];
	struct inbox in = {NULL, 0, 0, {&scratch[0], &scratch[1]}};
	switch_run(machine, &in, PS_PER_S, &rig.out);
	assert_int_equal(switch_held(machine), 0);
	assert_int_equal(rig.out.count + counters->dropped[DROP_CONTROL_FULL], 240);
	for (uint32_t i = 0; i < 120; i++) // it is all free again: half of it for one
		give(NICS - 1, 2 * PS_PER_S, data_to(3));
	assert_int_equal(switch_held(machine), 50 + 69); // and the headers of the others
	rig_close(&rig);
}

static uint32_t pause_frame(uint32_t quanta)
{
	uint32_t index = rig_packet(&rig, PACKET_CLASS_CONTROL, PAUSE_FRAME_BYTES, 0, 0);
	packet_at(&rig.packets, index)->opcode = PACKET_PAUSE;
	packet_at(&rig.packets, index)->timestamp = (uint16_t)quanta;
	return index;
}

// With PFC in-ports share it: each peer is told to pause at alpha times what is free, headroom is
// apart, and a peer goes on when others have left room.
static void in_ports_share_it_with_pfc(void **)
{
	open_switch(1000000000, false, true);
	const struct fabric_counters *counters = switch_counters(machine);
	give(0, 500, pause_frame(PAUSE_QUANTA)); // NIC 0 takes nothing
	for (uint32_t i = 0; i < 50; i++)
		give(1, 1000 + i, data_to(0));
	assert_int_equal(counters->pause.pauses_sent, 1); // half is held, half is free
	for (uint32_t i = 0; i < 6; i++)
		give(1, 2000 + i, data_to(0)); // under way: the headroom holds it
	assert_int_equal(counters->pause.headroom_bytes_max, 6 * MTU);
	assert_int_equal(counters->buffer_bytes_max, 50 * MTU);
	for (uint32_t i = 0; i < 25; i++)
		give(2, 3000 + i, data_to(0));
	assert_int_equal(counters->pause.pauses_sent, 2);
	assert_int_equal(counters->buffer_bytes_max, 75 * MTU);
	assert_int_equal(counters->dropped[DROP_HEADROOM_FULL], 0);
	assert_int_equal(counters->pause.resumes_sent, 0);
	give(0, 4000, pause_frame(0));
	struct arrival scratch[2];
	struct inbox in = {NULL, 0, 0, {&scratch[0], &scratch[1]}};
	switch_run(machine, &in, PS_PER_MS, &rig.out);
	assert_int_equal(counters->pause.resumes_sent, 2);
	assert_int_equal(switch_held(machine), 0);
	rig_close(&rig);
}
