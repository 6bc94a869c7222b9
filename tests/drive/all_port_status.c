// SPDX-License-Identifier: Apache-2.0
// The cable of a NIC goes dark and has light again, while two NICs write to each other as fast as
// they can: what its endpoint does when told, seen from outside. The same as frames and as
// descriptors. What is said on the wire, and when, is in the unit tests of transport.
#include "truth.h"

#define PLANES 4u
#define DOWN (100 * PS_PER_US)
#define UP (250 * PS_PER_US)
#define DETECT (10 * PS_PER_US)
#define ONE_WAY (10 * PS_PER_US) // to the peer, and what is on its way from there: generously
#define BACK (20 * PS_PER_US)	 // until windows have grown again
#define END (390 * PS_PER_US)
#define BIN (5 * PS_PER_US)

// Both directions of the cable are used, so both ends must leave it.
#define YAML(faults, more) \
	"name: port\n" \
	"fabric: {nics: 8, nics_per_t0: 4, t1_count: 4, planes: 4, link_rate: 100Gb/s, " \
	"nic_delay: 350ns, trunk_delay: 700ns, switch_delay: 140ns}\n" \
	"transport: {evs: 64, " more "}\n" \
	"traffic: {kind: flows, flows: [{from: 0, to: 4, bytes: 18MB}, {from: 4, to: 0, bytes: " \
	"18MB}]}\n" \
	"faults: [" faults "]\n" \
	"watch: {bin: 5us, bins: 120, nics: true}\n" \
	"limits: {packets: 20000, memory: 256MiB}\n"
#define TOLD "port_detect: 10us"
#define DARK "{kind: link_down, at: {nic: 0, plane: 1}, from: 100us, until: 250us}"

static uint64_t shows_a_port(const struct rig *rig)
{
	const struct transport_counters *of = &rig->outcome->transport;
	return of->port_downs * of->responses_received * rig->run.dropped[DROP_LINK_DOWN];
}

static const struct truth_case dark = {"a port without light", YAML(DARK, TOLD), shows_a_port,
				       RUN_DONE};
static const struct truth_case flap = {
	"a port that flaps",
	YAML("{kind: flap, at: {nic: 4, plane: 3}, from: 50us, until: 350us, down: 40us, up: "
	     "40us}",
	     TOLD),
	shows_a_port, RUN_DONE};
static struct rig rig;

static void frames_and_descriptors_agree(void **state)
{
	(void)state;
	static struct rig truth;
	static const struct sim_options options = {.ports.kind = PORTS_MEMORY};
	static const struct truth_case *const cases[] = {&dark, &flap};
	for (uint32_t i = 0; i < 2; i++) {
		truth_sim(cases[i], &truth);
		rig_run_with(&rig, cases[i]->yaml, NULL, &options);
		truth_same(cases[i]->name, &rig, &truth);
		truth_frames(cases[i]->name, &rig);
		world_instance_free(&truth.world_instance);
		world_instance_free(&rig.world_instance);
	}
}

static uint64_t sum(enum series_figure figure, ps_t from, ps_t until)
{
	return series_sum(&rig.outcome->series, figure, from, until);
}

// Payload of one NIC, in bytes per bin.
static uint64_t goodput(uint32_t nic, ps_t from, ps_t until)
{
	const struct series *series = &rig.outcome->series;
	const uint64_t *placed = rig.world_instance.world.nic_placed + (size_t)nic * series->count;
	uint64_t total = 0;
	for (ps_t at = from; at < until; at += series->bin_ps)
		total += placed[at / series->bin_ps];
	return total * (uint64_t)series->bin_ps / (uint64_t)(until - from);
}

static void nothing_is_lost_once_both_ends_know(void **state)
{
	(void)state;
	truth_sim(&dark, &rig);
	const struct transport_counters *of = &rig.outcome->transport;
	ps_t known = DOWN + DETECT + ONE_WAY;
	assert_true(sum(SERIES_LOST, DOWN, known) > 20);
	assert_int_equal(sum(SERIES_LOST, 0, DOWN - BIN), 0); // the last bin's were on the way
	assert_int_equal(sum(SERIES_LOST, known, 600 * PS_PER_US), 0);
	assert_int_equal(of->port_downs, 1);
	assert_int_equal(of->requests_sent, 2); // down, and up
	assert_int_equal(of->requests_received, 2);
	assert_int_equal(of->qps_failed, 0);
	world_instance_free(&rig.world_instance);
}

static void the_planes_that_are_left_are_full(void **state)
{
	(void)state;
	truth_sim(&dark, &rig);
	for (uint32_t nic = 0; nic < 8; nic += 4) {
		uint64_t before = goodput(nic, 50 * PS_PER_US, DOWN);
		uint64_t meanwhile = goodput(nic, DOWN + DETECT + BACK, UP);
		uint64_t after = goodput(nic, UP + DETECT + BACK, END - 30 * PS_PER_US);
		uint64_t left = before * (PLANES - 1) / PLANES;
		printf("NIC %u: %llu, %llu, %llu bytes in 5 us\n", nic, (unsigned long long)before,
		       (unsigned long long)meanwhile, (unsigned long long)after);
		assert_in_range(meanwhile, left * 99 / 100, left * 101 / 100);
		assert_in_range(after, before * 99 / 100, before * 101 / 100); // all carry again
	}
	world_instance_free(&rig.world_instance);
}

// The same cable, when no port is looked at: losses go on for as long as it is dark, for each plane
// that is held dead is tried again.
static void without_port_status_paths_have_to_be_lost_first(void **state)
{
	(void)state;
	static const struct truth_case blind = {"no port status", YAML(DARK, "port_status: false"),
						shows_link_down, RUN_DONE};
	truth_sim(&dark, &rig);
	uint64_t told = rig.run.dropped[DROP_LINK_DOWN];
	world_instance_free(&rig.world_instance);
	truth_sim(&blind, &rig);
	assert_int_equal(rig.outcome->transport.port_downs, 0);
	assert_int_equal(rig.outcome->transport.requests_sent, 0);
	assert_true(rig.run.dropped[DROP_LINK_DOWN] > told);
	world_instance_free(&rig.world_instance);
}

// What is shorter than the time of detection is never known, and repaired as losses are.
static void light_that_blinks_is_not_noticed(void **state)
{
	(void)state;
	rig_run(&rig,
		YAML("{kind: flap, at: {nic: 0, plane: 1}, from: 100us, until: 200us, down: 2us, "
		     "up: 8us}",
		     TOLD),
		NULL);
	assert_int_equal(rig.run.end, RUN_DONE);
	assert_true(rig.run.dropped[DROP_LINK_DOWN] > 0);
	assert_int_equal(rig.outcome->transport.port_downs, 0);
	assert_int_equal(rig.outcome->transport.requests_sent, 0);
	world_instance_free(&rig.world_instance);
}

static void a_port_that_never_had_light_is_known_from_the_start(void **state)
{
	(void)state;
	rig_run(&rig, YAML("{kind: link_down, at: {nic: 0, plane: 1}}", TOLD), NULL);
	assert_int_equal(rig.run.end, RUN_DONE);
	assert_int_equal(rig.outcome->transport.port_downs, 1);
	assert_true(sum(SERIES_LOST, 0, ONE_WAY) > 0); // the peer has to be told
	assert_int_equal(sum(SERIES_LOST, ONE_WAY, 600 * PS_PER_US), 0);
	world_instance_free(&rig.world_instance);
}

// Every port goes dark for good while answers wait for a line: they are dropped, and the run ends
// with all packets back in the pool.
static void ports_that_are_dark_for_good_keep_no_packets(void **state)
{
	(void)state;
	static const char yaml[] =
		"name: dark\nfabric: {planes: 1, nics: 16, nics_per_t0: 4, t1_count: 2}\n"
		"transport: {rto: 80us, rto_linear: 2, rto_doublings: 1, port_detect: 0s}\n"
		"traffic: {kind: permutation, bytes: 60kB}\n"
		"faults: [{kind: link_down, at: {plane: 0}, from: %uns}]\n";
	uint64_t dropped = 0;
	for (uint32_t from_ns = 3000; from_ns < 9000; from_ns += 250) {
		char text[1024];
		snprintf(text, sizeof(text), yaml, from_ns);
		rig_run(&rig, text, NULL);
		assert_int_equal(rig.run.end, RUN_STALLED);
		assert_true(rig.run.is_drained);
		assert_int_equal(rig.run.held, 0);
		dropped += rig.outcome->transport.answers_dropped;
		world_instance_free(&rig.world_instance);
	}
	assert_true(dropped > 0);
}
