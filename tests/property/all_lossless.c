// SPDX-License-Identifier: Apache-2.0
// On a fabric that loses nothing no packet is sent again: incasts of 2:1 to 200:1 over PFC, with
// the timers that follow from the fabric; and on one that trims none that has arrived, however many
// share a line. WEFT_LOSSLESS_FIRST and WEFT_LOSSLESS_COUNT say which worlds, of WEFT_TRIMMING and
// WEFT_DEEP the same.
#include <inttypes.h>

#include "../random_world.h"

#define SPURIOUS_LEAST 1000u // one in so many packets is none

static struct rig rig;
static struct text text;

static void add_fabric(struct rng *rng, uint32_t senders, bool is_mrc)
{
	static const char *const rates[] = {"1", "10", "25", "100", "400", "800"};
	static const uint32_t delays_ns[] = {10, 500, 2000, 10000};
	bool is_tree = pick(rng, 0, 2) == 0;
	uint32_t per_t0 = is_tree ? 4u << pick(rng, 0, 2) : senders + 1;
	uint32_t t0s = (senders + per_t0) / per_t0, delay_ns = delays_ns[pick(rng, 0, 3)];
	uint32_t trunks = 1u << pick(rng, 0, 2);
	add(&text, "fabric: {nics: %u, nics_per_t0: %u, t1_count: %u, ", t0s * per_t0, per_t0,
	    t0s > 1 ? trunks : 0);
	add(&text, "link_rate: %sGb/s, ", rates[pick(rng, 0, 5)]);
	if (is_mrc && pick(rng, 0, 1))
		add(&text, "planes: 2, ");
	add(&text, "nic_delay: %uns, trunk_delay: %uns}\n", delay_ns, delay_ns);
}

// With PFC, or with queues so deep that none is ever full.
static void draw_world(uint64_t seed, bool is_deep)
{
	static const uint32_t fans[] = {2, 3, 4, 8, 16, 32, 64, 100, 150, 200};
	static const char *const mrc[] = {"nscc", "fixed", "swift", "dctcp", "mprdma"};
	static const char *const rc[] = {"fixed", "dcqcn"};
	struct rng rng = rng_of(seed, RNG_TEST, 0x6c6c);
	uint32_t senders = fans[pick(&rng, 0, 9)];
	bool is_mrc = pick(&rng, 0, 2) == 0;
	text.used = 0;
	add(&text, "name: lossless\nseed: %u\n", (uint32_t)seed);
	add_fabric(&rng, senders, is_mrc);
	add(&text, "queue: {%s}\ntransport: {kind: %s, ", is_deep ? "bytes: 1GiB" : "pfc: true",
	    is_mrc ? "mrc" : "rc");
	add(&text, "payload: %uB}\n", 1024u << 2 * pick(&rng, 0, 1));
	const char *name = is_mrc ? mrc[pick(&rng, 0, 4)] : rc[is_deep ? 0 : pick(&rng, 0, 1)];
	add(&text, "cc: {algorithm: %s}\n", name);
	uint32_t bytes = 65536u << pick(&rng, 0, 4);
	if (is_deep && pick(&rng, 0, 1)) {
		add(&text, "traffic: {kind: permutation, bytes: %uB}\n", bytes * 4);
		return;
	}
	if (is_deep && senders <= 32 && pick(&rng, 0, 1)) {
		add(&text, "traffic: {kind: all_to_all, bytes: %uB}\n", bytes);
		return;
	}
	add(&text, "traffic: {kind: incast, senders: %u, bytes: %uB}\n", senders,
	    bytes > 100000000 / senders ? 65536 : bytes);
}

// Runs `text`. Whether a port paused.
static bool run_one(void)
{
	rig_run(&rig, text.at, NULL);
	if (rig.run.end != RUN_DONE)
		fail_msg("ended as %s:\n%s", run_end_name(rig.run.end), text.at);
	for (uint32_t reason = 0; reason < DROP_REASON_COUNT; reason++)
		assert_int_equal(rig.outcome->fabric.dropped[reason], 0);
	for (uint32_t reason = 0; reason < RTX_REASON_COUNT; reason++)
		if (rig.outcome->transport.rtx[reason] > 0)
			fail_msg("%" PRIu64 " packets were sent again, by reason %u:\n%s",
				 rig.outcome->transport.rtx[reason], reason, text.at);
	bool is_paused = rig.outcome->fabric.pause.pauses_sent > 0;
	world_instance_free(&rig.world_instance);
	return is_paused;
}

static uint64_t run_lossless(const char *name, bool is_deep, uint64_t first, uint64_t count)
{
	uint64_t paused = 0;
	for (uint64_t seed = first; seed < first + count; seed++) {
		seed_begin(name, seed);
		draw_world(seed, is_deep);
		paused += run_one();
	}
	seeds_end();
	return paused;
}

static void nothing_is_sent_again(void **)
{
	uint64_t first = number("WEFT_LOSSLESS_FIRST", 1);
	uint64_t count = number("WEFT_LOSSLESS_COUNT", 100);
	uint64_t paused = run_lossless("WEFT_LOSSLESS", false, first, count);
	print_message("%u of %u worlds had pauses\n", (uint32_t)paused, (uint32_t)count);
	assert_true(paused * 2 > count || count < 10); // or nothing was tried
}

static void nor_out_of_a_deep_queue(void **)
{
	run_lossless("WEFT_DEEP", true, number("WEFT_DEEP_FIRST", 1),
		     number("WEFT_DEEP_COUNT", 100));
}

// All NICs of a T0 send over one trunk, that is as fast as they are or slower: what is paused waits
// until the trunk has sent what all of them have out.
static void nor_over_few_or_slow_trunks(void **)
{
	static const char *const controls[] = {"nscc", "fixed", "swift", "dctcp", "mprdma"};
	static const uint32_t nics[] = {1, 4, 16, 32}, slower[] = {1, 10, 40};
	for (uint32_t at = 0; at < 12; at++) {
		uint32_t senders = nics[at % 4], ratio = slower[at / 4];
		text.used = 0;
		add(&text, "name: trunk\nseed: 1\nfabric: {nics: %u, nics_per_t0: %u, ",
		    2 * senders, senders);
		add(&text, "t1_count: 1, planes: 1, link_rate: 400Gb/s, trunk_rate: %uGb/s}\n",
		    400 / ratio);
		add(&text, "queue: {pfc: true}\ncc: {algorithm: %s}\n", controls[at % 5]);
		add(&text, "traffic: {kind: tornado, bytes: 2MB}\n");
		assert_true(run_one() || senders * ratio == 1);
	}
}

// Many to many, so that a NIC serves its QPs in turn and its answers are far apart.
static void draw_trimming_world(uint64_t seed)
{
	static const char *const rates[] = {"1", "2.5", "10", "25", "100", "400"};
	static const char *const kinds[] = {"all_to_all", "all_to_all", "permutation", "tornado"};
	static const char *const controls[] = {"nscc", "fixed", "swift", "dctcp", "mprdma"};
	struct rng rng = rng_of(seed, RNG_TEST, 0x7472696d);
	uint32_t per_t0 = 4u << pick(&rng, 0, 2), t0s = pick(&rng, 2, per_t0 == 16 ? 2 : 4);
	uint32_t delay_ns = 500u << 2 * pick(&rng, 0, 2), planes = 1u << pick(&rng, 0, 2);
	const char *rate = rates[pick(&rng, 0, 5)], *kind = kinds[pick(&rng, 0, 3)];
	const char *control = controls[pick(&rng, 0, 4)];
	text.used = 0;
	add(&text, "name: trimming\nseed: %u\nfabric: {nics: %u, nics_per_t0: %u, t1_count: %u, ",
	    (uint32_t)seed, t0s * per_t0, per_t0, per_t0);
	add(&text, "planes: %u, link_rate: %sGb/s, nic_delay: %uns, trunk_delay: %uns}\n", planes,
	    rate, delay_ns, delay_ns);
	add(&text, "transport: {payload: %uB}\n", 1024u << 2 * pick(&rng, 0, 1));
	add(&text, "cc: {algorithm: %s}\n", control);
	bool is_long = kind[0] != 'a';
	add(&text, "traffic: {kind: %s, bytes: %uB}\n", kind,
	    (is_long ? 524288u : 32768u) << pick(&rng, 0, 1));
}

static void what_arrived_is_not_sent_again(void **state)
{
	(void)state;
	uint64_t first = number("WEFT_TRIMMING_FIRST", 1), trimmed = 0;
	uint64_t count = number("WEFT_TRIMMING_COUNT", 100);
	for (uint64_t seed = first; seed < first + count; seed++) {
		seed_begin("WEFT_TRIMMING", seed);
		draw_trimming_world(seed);
		rig_run(&rig, text.at, NULL);
		if (rig.run.end != RUN_DONE)
			fail_msg("ended as %s:\n%s", run_end_name(rig.run.end), text.at);
		uint64_t sent = rig.outcome->transport.data_packets;
		uint64_t spurious = rig.outcome->transport.rtx_spurious;
		if (spurious > sent / SPURIOUS_LEAST)
			fail_msg("%" PRIu64 " of %" PRIu64 " packets were sent again and had "
				 "arrived:\n%s",
				 spurious, sent, text.at);
		trimmed += rig.outcome->fabric.trimmed > 0;
		world_instance_free(&rig.world_instance);
	}
	seeds_end();
	print_message("%u of %u worlds trimmed\n", (uint32_t)trimmed, (uint32_t)count);
	assert_true(trimmed * 5 > count || count < 10); // or nothing was tried
}

static ps_t rto_with(const char *sections)
{
	text.used = 0;
	add(&text,
	    "name: timer\nseed: 1\nfabric: {nics: 128, nics_per_t0: 16, t1_count: 16, "
	    "link_rate: 10Gb/s}\n%s",
	    sections);
	assert_int_equal(rig_build(&rig, text.at, NULL), 0);
	ps_t ret = rig.world_instance.world.transport.rto_ps;
	world_instance_free(&rig.world_instance);
	return ret;
}

static ps_t rto_of(const char *traffic)
{
	char sections[96];
	snprintf(sections, sizeof(sections), "traffic: {%s, bytes: 8kB}\n", traffic);
	return rto_with(sections);
}

// A queue of 32 MiB drains in 27 ms; what the QPs have out fills little of it.
static void a_timer_does_not_wait_for_an_empty_queue(void **)
{
	static const char *const kinds[] = {"rc}\ncc: {algorithm: fixed", "mrc"};
	char sections[192];
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		snprintf(sections, sizeof(sections),
			 "queue: {bytes: 32MiB}\ntransport: {kind: %s}\n"
			 "traffic: {kind: permutation, bytes: 8kB}\n",
			 kinds[i]);
		assert_true(rto_with(sections) < PS_PER_MS / 2);
	}
}

// Where all send to all a line has as many QPs in one direction as the last one of an incast.
static void a_timer_counts_one_direction(void **state)
{
	(void)state;
	ps_t rto_ps = rto_of("kind: incast, senders: 127");
	assert_true(rto_ps > PS_PER_MS);
	assert_int_equal(rto_of("kind: all_to_all"), rto_ps);
	assert_int_equal(rto_of("kind: outcast, receivers: 127"), rto_ps);
}
