// SPDX-License-Identifier: Apache-2.0
// PFC at one switch: what a pause is, in which order ports come, when a peer is told to stop and to
// go on, how much comes in after that, and what becomes of a port that is paused for too long. The
// test plays the peers.
#include "../../../lib/fabric/switch/pfc.h"
#include "fabric_rig.h"

#define MTU 4150u
#define FULL_PS (MTU * 80)
#define FRAME_PS (PAUSE_FRAME_BYTES * 80)
#define XOFF (10 * MTU)

static struct rig rig;
static struct topology topology;
static struct switch_ *machine;

// One switch with four NICs.
static void open_switch(struct pfc_config pfc)
{
	struct fabric_config config = rig_clos();
	rig_open(&rig);
	config.nics = config.nics_per_t0 = 4;
	config.t1_count = 0;
	config.planes = config.bundle = 1;
	config.ecn_on = config.trim_on = false;
	config.pfc = pfc;
	config.pfc.is_on = true;
	config.pfc.xoff_bytes = XOFF;
	assert_int_equal(topology_build(&topology, &rig.arena, &config, 1, &rig.refusal), 0);
	assert_int_equal(
		switch_create(&machine, &rig.arena, &topology, &config, 0, 1, &rig.refusal), 0);
}

// Gives one packet that arrives on `port` at `at`, and runs up to `until`.
static ps_t give(uint32_t port, ps_t at, uint32_t packet, ps_t until)
{
	struct arrival arrival = {at, packet, port}, scratch[2];
	struct arrival_run run = {&arrival, 1};
	struct inbox in = {&run, 1, 1, {&scratch[0], &scratch[1]}};
	return switch_run(machine, &in, until, &rig.out);
}

static ps_t run_to(ps_t until)
{
	struct arrival scratch[2];
	struct inbox in = {NULL, 0, 0, {&scratch[0], &scratch[1]}};
	return switch_run(machine, &in, until, &rig.out);
}

static uint32_t pause_frame(uint32_t quanta)
{
	uint32_t index = rig_packet(&rig, PACKET_CLASS_CONTROL, PAUSE_FRAME_BYTES, 0, 0);
	packet_at(&rig.packets, index)->opcode = PACKET_PAUSE;
	packet_at(&rig.packets, index)->timestamp = (uint16_t)quanta;
	return index;
}

static uint32_t data_to(uint32_t target)
{
	return rig_packet(&rig, PACKET_CLASS_DATA, MTU, 0, target);
}

// The first pause frame among the departures from `from` on; its index, or UINT32_MAX.
static uint32_t find_frame(uint32_t from)
{
	for (uint32_t i = from; i < rig.out.count; i++)
		if (packet_at(&rig.packets, rig.departures[i].packet)->opcode == PACKET_PAUSE)
			return i;
	return UINT32_MAX;
}

static uint32_t quanta_of(uint32_t departure)
{
	return packet_at(&rig.packets, rig.departures[departure].packet)->timestamp;
}

static const struct pause_counters *pauses(void)
{
	return &switch_counters(machine)->pause;
}

// ---------------------------------------------------------------- nouns

static void a_pause_ends_by_itself_or_when_told(void **)
{
	struct pause pause = {0};
	assert_int_equal(pause_total_ps(&pause, 1000), 0);
	pause_take(&pause, 500, 1000);
	assert_int_equal(pause.until, 1500);
	assert_int_equal(pause_total_ps(&pause, 1200), 200);
	assert_int_equal(pause_total_ps(&pause, 9000), 500);
	pause_take(&pause, 500, 1400); // again, before it ended
	assert_int_equal(pause_total_ps(&pause, 1400), 400);
	assert_int_equal(pause_total_ps(&pause, 9000), 900);
	pause_take(&pause, 0, 1600); // go on
	assert_int_equal(pause.until, 1600);
	assert_int_equal(pause_total_ps(&pause, 9000), 600);
	pause_take(&pause, 100, 5000); // it had ended long before
	assert_int_equal(pause_total_ps(&pause, 5050), 650);
	pause_take(&pause, 0, 7000);
	assert_int_equal(pause_total_ps(&pause, 9000), 700);
	assert_int_equal(pause.pauses, 3);
	assert_int_equal(pause.resumes, 2);
	// 65,535 quanta of 512 bits at 100 Gb/s: the longest pause of 802.1Qbb
	assert_int_equal(pause_length_ps(line_of(UINT64_C(100000000000)), PAUSE_QUANTA),
			 INT64_C(65535) * 5120);
}

static void the_port_that_is_due_first_is_found(void **)
{
	struct due due;
	struct rng rng = rng_of(1, RNG_PORT, 0);
	rig_open(&rig);
	ps_t at[37];
	assert_int_equal(due_init(&due, &rig.arena, 37), 0);
	assert_int_equal(due_at(&due), PS_NEVER);
	for (int i = 0; i < 37; i++)
		at[i] = PS_NEVER;
	for (int turn = 0; turn < 20000; turn++) {
		uint32_t port = rng_below(&rng, 37), when = rng_below(&rng, 40), first = 0;
		at[port] = when == 0 ? PS_NEVER : when;
		due_set(&due, port, at[port]);
		for (uint32_t i = 1; i < 37; i++)
			first = at[i] < at[first] ? i : first;
		assert_int_equal(due_at(&due), at[first]);
		if (at[first] != PS_NEVER)
			assert_int_equal(due_port(&due), first); // the lower one at equal time
	}
	rig_close(&rig);
}

// ---------------------------------------------------------------- telling

// Port 1 is paused, so that what comes in at port 0 for NIC 1 stays.
static void the_peer_stops_at_xoff_and_goes_on_at_xon(void **)
{
	open_switch((struct pfc_config){0});
	assert_int_equal(topology.pfc_xon_bytes, XOFF - 2 * MTU); // two packets below
	give(1, 1000, pause_frame(PAUSE_QUANTA), 2000);
	ps_t at = 10000;
	for (int i = 0; i < 10; i++, at += FULL_PS) {
		assert_int_equal(find_frame(0), UINT32_MAX);
		give(0, at, data_to(1), at + 1);
	}
	// the tenth reached xoff: the frame leaves at once by the port where it came in
	assert_int_equal(rig.out.count, 1);
	assert_int_equal(rig.departures[0].port, 0);
	assert_int_equal(rig.departures[0].start, at - FULL_PS);
	assert_int_equal(rig.departures[0].bytes, PAUSE_FRAME_BYTES);
	assert_int_equal(quanta_of(0), PAUSE_QUANTA);
	assert_int_equal(switch_counters(machine)->pause.pauses_sent, 1);
	// one more comes in; then port 1 may send. Told to go on when eight are left
	give(0, at, data_to(1), at + 1);
	ps_t free_at = at + 2 * FULL_PS;
	give(1, free_at, pause_frame(0), free_at + 20 * FULL_PS);
	uint32_t frame = find_frame(1);
	assert_int_equal(rig.departures[frame].port, 0);
	assert_int_equal(rig.departures[frame].start, free_at + 2 * FULL_PS); // the third leaves
	assert_int_equal(quanta_of(frame), 0);
	assert_int_equal(rig.out.count, 2 + 11);
	assert_int_equal(pauses()->pauses_sent, 1);
	assert_int_equal(pauses()->resumes_sent, 1);
	assert_int_equal(pauses()->pauses_received, 1);
	assert_int_equal(pauses()->resumes_received, 1);
	assert_int_equal(pauses()->headroom_bytes_max, MTU);
	assert_int_equal(pause_total_ps(switch_pause(machine, 1), free_at), free_at - 1000);
	rig_close(&rig);
}

static void a_pause_is_said_again_until_it_is_over(void **)
{
	open_switch((struct pfc_config){0});
	ps_t length = pause_length_ps(line_of(UINT64_C(100000000000)), PAUSE_QUANTA);
	give(1, 1000, pause_frame(PAUSE_QUANTA), 2000);
	for (int i = 0; i < 10; i++)
		give(0, 10000 + i, data_to(1), 10001 + i);
	assert_int_equal(rig.out.count, 1);
	ps_t said_at = rig.departures[0].start;
	assert_int_equal(run_to(said_at + 1), said_at + length / 2); // when it wants to be run
	run_to(said_at + length / 2 + 1);
	assert_int_equal(rig.out.count, 2);
	assert_int_equal(rig.departures[1].start, said_at + length / 2);
	assert_int_equal(quanta_of(1), PAUSE_QUANTA);
	// port 1's own pause was not said again and ends by itself: the first packet leaves then
	run_to(1000 + length + 1);
	assert_int_equal(rig.departures[rig.out.count - 1].port, 1);
	assert_int_equal(rig.departures[rig.out.count - 1].start, 1000 + length);
	rig_close(&rig);
}

static void control_packets_are_never_paused(void **)
{
	open_switch((struct pfc_config){0});
	give(1, 1000, pause_frame(PAUSE_QUANTA), 2000);
	give(0, 5000, data_to(1), 5001);
	give(2, 6000, rig_packet(&rig, PACKET_CLASS_CONTROL, 64, 0, 1), 6001);
	assert_int_equal(rig.out.count, 1);
	assert_int_equal(rig.departures[0].start, 6000);
	assert_int_equal(rig.departures[0].bytes, 64);
	rig_close(&rig);
}

// ---------------------------------------------------------------- headroom

// A peer sends full packets without a break, the first arriving at `phase`; port 0 is busy with a
// packet of its own that left `ahead` before xoff was reached. Delays: 1 us each way. Returns what
// came in beyond xoff.
static uint32_t beyond_xoff(ps_t phase, ps_t ahead, uint64_t headroom)
{
	open_switch((struct pfc_config){.headroom_bytes = headroom});
	const ps_t delay = PS_PER_US, first = 40 * PS_PER_US + phase;
	const ps_t reached = first + 9 * FULL_PS;
	ps_t stops = PS_NEVER;
	bool is_given = false;
	give(1, 1000, pause_frame(PAUSE_QUANTA), 2000);
	for (ps_t at = first; at - FULL_PS - delay <= stops; at += FULL_PS) {
		if (!is_given && at >= reached) {
			give(3, reached - ahead, data_to(0), reached - ahead + 1);
			is_given = true;
		}
		give(0, at, data_to(1), at + 1);
		run_to(at + FULL_PS);
		uint32_t frame = find_frame(0);
		if (frame != UINT32_MAX)
			stops = rig.departures[frame].start + FRAME_PS + delay;
	}
	uint32_t used = (uint32_t)pauses()->headroom_bytes_max;
	used += (uint32_t)switch_counters(machine)->dropped[DROP_HEADROOM_FULL] << 20;
	rig_close(&rig);
	return used;
}

// The closed form holds for every phase of what is in its way, and is reached within a packet.
static void what_is_under_way_fits_into_the_headroom(void **)
{
	uint64_t room = pfc_headroom_bytes(UINT64_C(100000000000), 2 * PS_PER_US, MTU);
	// 25,000 B on the cables, the frame, and three packets: the one that reaches xoff, the one
	// before the frame, the one that has just begun
	assert_int_equal(room, 25000 + 84 + 3 * 4150);
	uint32_t most = 0;
	for (ps_t ahead = 0; ahead <= FULL_PS; ahead += FULL_PS / 12) {
		uint32_t used = beyond_xoff(0, ahead, 0);
		assert_true(used <= room);
		most = used > most ? used : most;
	}
	assert_true(most > room - 2 * MTU); // whole packets; xoff was met exactly
	for (ps_t phase = 0; phase < FULL_PS; phase += FULL_PS / 4)
		assert_true(beyond_xoff(phase, 1, 0) <= room);
}

static void too_little_headroom_drops(void **)
{
	uint32_t most = beyond_xoff(0, 0, 0);
	assert_int_equal(most >> 20, 0);
	assert_int_equal(beyond_xoff(0, 0, most) >> 20, 0);
	assert_int_equal(beyond_xoff(0, 0, most - 1) >> 20, 1);
	assert_int_equal(beyond_xoff(0, 0, most - 3 * MTU) >> 20, 3);
}

// ---------------------------------------------------------------- watch

static void a_long_pause_is_counted(void **)
{
	open_switch((struct pfc_config){.watch_ps = 50 * PS_PER_US});
	give(1, 1000, pause_frame(PAUSE_QUANTA), 2000);
	give(0, 5000, data_to(1), 6000);
	run_to(1000 + 50 * PS_PER_US);
	assert_int_equal(pauses()->watch_fired, 0);
	run_to(1000 + 50 * PS_PER_US + 1);
	assert_int_equal(pauses()->watch_fired, 1);
	give(1, 100 * PS_PER_US, pause_frame(PAUSE_QUANTA), 101 * PS_PER_US);
	run_to(300 * PS_PER_US); // it is still the same pause
	assert_int_equal(pauses()->watch_fired, 1);
	assert_int_equal(switch_held(machine), 1); // nothing is dropped
	give(1, 310 * PS_PER_US, pause_frame(0), 311 * PS_PER_US);
	give(1, 320 * PS_PER_US, pause_frame(PAUSE_QUANTA), 321 * PS_PER_US);
	give(1, 340 * PS_PER_US, pause_frame(0), 400 * PS_PER_US); // too short
	assert_int_equal(pauses()->watch_fired, 1);
	rig_close(&rig);
}

static void a_watch_that_drops_empties_the_port(void **)
{
	open_switch(
		(struct pfc_config){.watch_ps = 50 * PS_PER_US, .watch_action = PAUSE_WATCH_DROP});
	const struct fabric_counters *counters = switch_counters(machine);
	give(1, 1000, pause_frame(PAUSE_QUANTA), 2000);
	for (int i = 0; i < 10; i++)
		give(0, 5000 + i, data_to(1), 5001 + i);
	assert_int_equal(pauses()->pauses_sent, 1);
	run_to(60 * PS_PER_US);
	assert_int_equal(counters->dropped[DROP_PAUSE_WATCH], 10);
	assert_int_equal(switch_held(machine), 0);
	assert_int_equal(pauses()->resumes_sent, 1); // and the peer may go on
	give(0, 61 * PS_PER_US, data_to(1), 62 * PS_PER_US);
	assert_int_equal(counters->dropped[DROP_PAUSE_WATCH], 11);
	give(0, 63 * PS_PER_US, data_to(2), 64 * PS_PER_US); // another way is open
	assert_int_equal(counters->dropped[DROP_PAUSE_WATCH], 11);
	give(1, 70 * PS_PER_US, pause_frame(0), 71 * PS_PER_US);
	give(0, 72 * PS_PER_US, data_to(1), 73 * PS_PER_US);
	assert_int_equal(counters->dropped[DROP_PAUSE_WATCH], 11);
	assert_int_equal(switch_held(machine), 0);
	rig_close(&rig);
}

// ---------------------------------------------------------------- refusals

static void thresholds_that_make_no_sense_are_refused(void **)
{
	static const struct {
		struct pfc_config pfc;
		bool trims;
	} cases[] = {
		{{.is_on = true, .xoff_bytes = MTU - 1}, false},
		{{.is_on = true, .xoff_bytes = 50000, .xon_bytes = 50000}, false},
		{{.is_on = true, .headroom_bytes = UINT64_C(1) << 31}, false}, // of many ports
		{{.is_on = true}, true},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct fabric_config config = rig_clos();
		rig_open(&rig);
		config.pfc = cases[i].pfc;
		config.trim_on = cases[i].trims;
		assert_int_equal(topology_build(&topology, &rig.arena, &config, 1, &rig.refusal),
				 -22);
		assert_true(rig.refusal.text[0] != '\0');
		rig_close(&rig);
	}
}
