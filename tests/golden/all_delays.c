// SPDX-License-Identifier: Apache-2.0
// What watch.delays says, where it is known beforehand: the delays of one packet on an idle
// network, how many meet at a receiver, which repeats were needed, and messages that are slow
// between two NICs.

#include "../rig.h"

#include <weft/world/world_delays.h>

static struct rig rig;

#define FABRIC \
	"name: a\nfabric: {topology: clos, nics: 16, nics_per_t0: 8, t1_count: 4, planes: 2, " \
	"link_rate: 100Gb/s, nic_delay: 1us, trunk_delay: 1us, switch_delay: 0s}\n" \
	"watch: {delays: true}\n"
#define SMALL FABRIC "transport: {evs: 16}\n"

static const struct delays *delays_of(const char *yaml, const char *const *sets)
{
	rig_run(&rig, yaml, sets);
	assert_int_equal(rig.run.end, RUN_DONE);
	return rig.world_instance.world.delays->whole;
}

static void is_near(int64_t ns, ps_t expected_ps)
{
	if (llabs(ns * PS_PER_NS - expected_ps) > 3 * PS_PER_NS)
		fail_msg("%lld ns, expected %lld ps", (long long)ns, (long long)expected_ps);
}

// A packet of one message: 4 lines and cables there (2 below one T0), 4 of an answer back.
static void one_packet_takes_as_long_as_the_closed_form(void **)
{
	static const struct {
		const char *flow;
		enum pair_class pair;
		int hops;
	} cases[] = {{"{from: 0, to: 15, bytes: 4000B}", PAIR_ACROSS_T1, 4},
		     {"{from: 0, to: 1, bytes: 4000B}", PAIR_SAME_T0, 2}};
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		char yaml[1024];
		snprintf(yaml, sizeof(yaml), SMALL "traffic: {kind: flows, flows: [%s]}\n",
			 cases[i].flow);
		const struct delays *delays = delays_of(yaml, NULL);
		const struct transport_config *sizes = &rig.world_instance.world.transport;
		ps_t there = cases[i].hops * ((4000 + sizes->header_bytes) * 80 + PS_PER_US);
		ps_t back = cases[i].hops * (sizes->control_bytes * 80 + PS_PER_US);
		const struct hist *one_way = &delays->one_way_ns[cases[i].pair];
		assert_int_equal(one_way->total, 1);
		is_near(one_way->max, there);
		uint64_t trips = 0;
		for (int plane = 0; plane < 2; plane++)
			trips += delays->rtt_plane_ns[plane].total;
		assert_int_equal(trips, 1);
		is_near(ps_max(delays->rtt_plane_ns[0].max, delays->rtt_plane_ns[1].max),
			there + back);
		assert_int_equal(delays->order_packets.total, 1);
		assert_int_equal(delays->order_packets.max, 0);
		assert_int_equal(delays->incast.max, 1);
		world_instance_free(&rig.world_instance);
	}
}

// All begin at once, and none is done before the last has begun.
static void an_incast_has_as_many_senders_as_there_are(void **)
{
	const struct delays *delays = delays_of(
		SMALL "traffic: {kind: incast, senders: 9, bytes: 200kB}\n", NULL);
	assert_int_equal(delays->incast.total, 9);
	assert_int_equal(delays->incast.max, 9);
	for (uint32_t i = 1; i <= 9; i++)
		assert_int_equal(delays->incast.counts[i], 1);
	assert_int_equal(rig.world_instance.world.delays->pair_count, 9);
	world_instance_free(&rig.world_instance);
}

// From when all have begun until the first is done each bin has them all.
static void an_incast_is_as_deep_all_the_time(void **)
{
	const ps_t begun_ps = 14 * PS_PER_US; // of most the first packets are trimmed
	delays_of(SMALL "traffic: {kind: incast, senders: 9, bytes: 200kB}\n", NULL);
	const struct world *world = &rig.world_instance.world;
	ps_t done_ps = PS_NEVER;
	uint32_t busy = 0, bins = 0;
	for (uint32_t i = 0; i < world->flow_count; i++)
		done_ps = ps_min(done_ps, rig.outcome->flow_end_ps[i]);
	done_ps -= begun_ps; // heard at the sender
	for (uint32_t nic = 0; nic < 16; nic++) {
		const struct nic_incast *incast = &world->delays->incasts[nic];
		const struct depth_series *series = &incast->most;
		assert_int_equal(incast->now, 0);
		if (series->at == 0)
			continue;
		busy++;
		for (uint32_t bin = 0; bin < DEPTH_BINS; bin++) {
			assert_true(series->most_bytes[bin] <= 9);
			if (bin * series->bin_ps < begun_ps || (bin + 1) * series->bin_ps > done_ps)
				continue;
			assert_int_equal(series->most_bytes[bin], 9);
			bins++;
		}
	}
	assert_int_equal(busy, 1);
	assert_true(bins > 10);
	world_instance_free(&rig.world_instance);
}

// One behind the other over one line: what lies between two is a packet's time on it.
static void packets_of_a_message_come_a_packet_apart(void **)
{
	static const char *const one_line[] = {"fabric.planes=1", "watch.gaps=true", NULL};
	const struct delays *delays = delays_of(
		SMALL "traffic: {kind: flows, flows: [{from: 0, to: 1, bytes: 40960B}]}\n",
		one_line);
	const struct transport_config *sizes = &rig.world_instance.world.transport;
	const struct hist *gaps = &delays->gap_ns[PAIR_SAME_T0];
	int64_t gap_ns = (sizes->payload_bytes + sizes->header_bytes) * 80 / PS_PER_NS;
	assert_int_equal(sizes->payload_bytes, 4096);
	assert_int_equal(gaps->total, 9);
	assert_int_equal(gaps->min, gap_ns);
	assert_int_equal(gaps->max, gap_ns);
	assert_int_equal(delays->gap_ns[PAIR_ACROSS_T1].total, 0);
	world_instance_free(&rig.world_instance);
}

// A ring's credits come back on connections of their own: these have no gaps, nor has the first
// packet of the 16 that carry data.
static void credits_are_no_gaps(void **)
{
	static const char *const gaps[] = {"watch.gaps=true", NULL};
	const struct delays *delays = delays_of(
		SMALL "traffic: {kind: ring, collective: all_gather, bytes: 4MiB, channels: 1}\n",
		gaps);
	uint64_t came = 0, found = 0, credits = rig.outcome->credits_sent;
	for (int i = 0; i < PAIR_CLASS_COUNT; i++) {
		came += delays->one_way_ns[i].total;
		found += delays->gap_ns[i].total;
	}
	assert_int_equal(rig.outcome->transport.data_packets, rig.outcome->transport.data_received);
	assert_true(credits > 0 && came == rig.outcome->transport.data_received);
	assert_int_equal(found, came - credits - 16);
	world_instance_free(&rig.world_instance);
}

// A pair's slowest message is the flow between the two; flows are timed from their start on.
static void messages_belong_to_their_two_nics(void **)
{
	const struct delays *delays = delays_of(
		SMALL "traffic: {kind: permutation, bytes: 300kB}\n", NULL);
	const struct world *world = &rig.world_instance.world;
	assert_int_equal(world->delays->pair_count, world->flow_count);
	for (uint32_t i = 0; i < world->flow_count; i++) {
		const struct flow *flow = &world->flows[i];
		uint32_t found = 0;
		for (uint32_t at = 0; at < world->delays->pair_count; at++) {
			const struct pair_delay *pair = &world->delays->pairs[at];
			if (pair->from_nic != flow->from || pair->to_nic != flow->to)
				continue;
			found++;
			assert_int_equal(pair->message_ns.total, 1);
			assert_int_equal(pair->message_ns.max,
					 (rig.outcome->flow_end_ps[i] - flow->start_ps) /
						 PS_PER_NS);
		}
		assert_int_equal(found, 1);
	}
	assert_true(delays->order_packets.counts[0] < delays->order_packets.total);
	world_instance_free(&rig.world_instance);
}

// A timer shorter than a round trip repeats what is on its way: none is needed. Trims are.
static void repeats_are_needed_or_not(void **)
{
	static const char *const short_timer[] = {"transport.rto=6us", "transport.hole_age=off",
						  NULL};
	const char *flow = SMALL
		"traffic: {kind: flows, flows: [{from: 0, to: 15, bytes: 4000B}]}\n";
	delays_of(flow, short_timer);
	const struct transport_counters *counters = &rig.outcome->transport;
	assert_true(counters->rtx_spurious > 0);
	assert_int_equal(counters->rtx_placed, 0);
	assert_int_equal(counters->rtx_spurious, counters->rtx[RTX_TIMEOUT]);
	world_instance_free(&rig.world_instance);
	delays_of(SMALL "queue: {bytes: 20000B}\n"
			"traffic: {kind: incast, senders: 9, bytes: 200kB}\n",
		  NULL);
	counters = &rig.outcome->transport;
	uint32_t payload = rig.world_instance.world.transport.payload_bytes;
	uint64_t packets = 9 * ((200000 + payload - 1) / payload);
	assert_int_equal(counters->data_received - counters->duplicates, packets);
	assert_true(counters->rtx_placed > 0 && counters->rtx_placed < packets);
	assert_int_equal(counters->rtx_spurious, counters->duplicates);
	world_instance_free(&rig.world_instance);
}

// A plane's line is slow: each of its EVs is slower than any of the other plane, and EVs, planes
// and classes have the same packets.
static void a_slow_plane_shows_in_its_evs(void **)
{
	const struct delays *delays = delays_of(
		SMALL "traffic: {kind: flows, flows: [{from: 0, to: 15, bytes: 1MB}]}\n"
		      "faults: [{kind: slow, at: {nic: 15, plane: 1}, rate: 30%}]\n",
		NULL);
	int64_t slowest = 0, fastest = INT64_MAX;
	uint64_t packets = 0;
	for (uint32_t ev = 0; ev < 16; ev++) {
		const struct hist_sum *sum = &delays->one_way_paths_ns.sums[ev];
		assert_true(sum->total > 0);
		packets += sum->total;
		if (ev % 2 == 0 && sum->max > slowest)
			slowest = sum->max;
		if (ev % 2 == 1 && sum->min < fastest)
			fastest = sum->min;
	}
	assert_true(slowest < fastest);
	assert_int_equal(packets, delays->one_way_ns[PAIR_ACROSS_T1].total);
	assert_int_equal(packets, rig.outcome->transport.data_received);
	assert_int_equal(delays->one_way_plane_ns[0].max, slowest);
	assert_int_equal(delays->one_way_plane_ns[1].min, fastest);
	assert_int_equal(delays->one_way_paths_ns.count, 16);
	world_instance_free(&rig.world_instance);
}

// A receiver does not guess: of EVs that others drew it tells planes alone.
static void evs_that_cannot_be_told_are_not(void **)
{
	static const char *const cases[] = {
		"transport: {evs: 16}\n",
		"transport: {evs: 16, ev_profile: generated, ev_fields: [{bits: 16, max: "
		"60000}]}\n",
		"transport: {evs: 16, kind: rc}\ncc: {algorithm: fixed}\n",
		"transport: {evs: 16}\nfaults: [{kind: evs, at: {host: 3}, evs: 4}]\n"};
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		char yaml[1024];
		snprintf(yaml, sizeof(yaml),
			 FABRIC
			 "%straffic: {kind: flows, flows: [{from: 0, to: 15, bytes: 1MB}]}\n",
			 cases[i]);
		const struct delays *delays = delays_of(yaml, NULL);
		uint64_t all = delays->one_way_ns[PAIR_ACROSS_T1].total;
		assert_int_equal(delays->one_way_paths_ns.count, i == 0 ? 16 : 2); // or planes
		assert_int_equal(delays->ev_mask, i == 0 ? 15 : 0);
		assert_int_equal(
			delays->one_way_plane_ns[0].total + delays->one_way_plane_ns[1].total, all);
		world_instance_free(&rig.world_instance);
	}
}

// What is measured changes nothing.
static void a_digest_is_the_same_with_and_without(void **)
{
	static const char *const sets[][4] = {
		{"watch.delays=false", NULL},
		{"watch.links=true", NULL},
		{"watch.gaps=true", NULL},
		{"watch.bin=1us", "watch.halve=true", "watch.bins=8", NULL}};
	const char *yaml = SMALL "traffic: {kind: incast, senders: 9, bytes: 200kB}\n"
				 "faults: [{kind: loss, at: all, probability: 1%}]\n";
	delays_of(yaml, NULL);
	uint64_t digest = rig.run.digest;
	world_instance_free(&rig.world_instance);
	for (size_t i = 0; i < sizeof(sets) / sizeof(*sets); i++) {
		rig_run(&rig, yaml, sets[i]);
		assert_int_equal(rig.run.digest, digest);
		world_instance_free(&rig.world_instance);
	}
}
