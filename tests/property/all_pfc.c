// SPDX-License-Identifier: Apache-2.0
// PFC in worlds that a seed draws: nothing is lost for want of room, no in-port holds more than the
// closed form says, no tree comes to a deadlock, what was sent comes through; and cutting time into
// other windows changes nothing, whatever cables lose. WEFT_PFC_FIRST
// and WEFT_PFC_COUNT say which worlds.
#include "../random_world.h"

#define LOOKAHEAD_NS 420

static struct rig rig;
static struct text text;

static void add_tree(struct rng *rng)
{
	uint32_t t0_nics = pick(rng, 1, 5), t0s = pick(rng, 2, 4), planes = 1u << pick(rng, 0, 1);
	uint32_t rate = 100u << pick(rng, 0, 2), trunk = 50u << pick(rng, 0, 3);
	add(&text, "fabric: {nics: %u, nics_per_t0: %u, planes: %u, link_rate: %uGb/s, ",
	    t0_nics * t0s, t0_nics, planes, rate);
	add(&text, "t1_count: %u, trunk_rate: %uGb/s, nic_delay: %uns, ", pick(rng, 1, 3), trunk,
	    LOOKAHEAD_NS);
	add(&text, "trunk_delay: %uns, switch_delay: 200ns", pick(rng, 300, 3000));
	static const char *const sprays[] = {"hash", "round_robin", "adaptive", "flowlet"};
	add(&text, ", spray: %s}\n", sprays[pick(rng, 0, 3)]);
}

static void add_lossless(struct rng *rng)
{
	add(&text, "queue: {pfc: true, bytes: %uB, ", pick(rng, 9000, 40000));
	bool is_shared = pick(rng, 0, 2) == 0;
	if (is_shared)
		add(&text, "shared: %uB, alpha: 50%%, ", pick(rng, 60000, 300000));
	else if (pick(rng, 0, 1))
		add(&text, "pfc_xoff: 30000B, pfc_xon: %uB, ", pick(rng, 1, 29999));
	if (pick(rng, 0, 2) == 0)
		add(&text, "pfc_watch: 30us, ");
}

// A tree with PFC, or with shared buffers. Ones with losses lose pause frames, too.
static void draw_world(uint64_t seed, bool is_lossless, bool has_loss)
{
	struct rng rng = rng_of(seed, RNG_TEST, 0x706663);
	static const struct traffic_range range = {1, 512, 400000};
	text.used = 0;
	add(&text, "name: pfc\nseed: %u\n", (uint32_t)seed);
	size_t before = text.used;
	add_tree(&rng);
	uint32_t nics = (uint32_t)atoi(strstr(text.at + before, "nics: ") + 6);
	if (is_lossless)
		add_lossless(&rng);
	else
		add(&text, "queue: {shared: %uB, ", pick(&rng, 20000, 60000));
	if (pick(&rng, 0, 3) == 0)
		add(&text, "control_share: 25%%, ");
	else if (pick(&rng, 0, 2) == 0)
		add(&text, "control_packets: %u, data_packets: 2, ", pick(&rng, 1, 9));
	add(&text, "ecn: %s}\n", pick(&rng, 0, 1) ? "true" : "false");
	bool is_rc = pick(&rng, 0, 1);
	add(&text, "transport: {kind: %s, evs: 32, rto: %s}\n", is_rc ? "rc" : "mrc",
	    has_loss ? "400us" : "20ms");
	if (pick(&rng, 0, 1))
		add(&text, "cc: {algorithm: fixed, window: 400kB}\n");
	else if (is_rc)
		add(&text, "cc: {algorithm: fixed}\n");
	if (nics < 3)
		add(&text, "traffic: {kind: permutation, bytes: 300kB}\n");
	else
		add_some_traffic(&text, &rng, nics, &range);
	if (has_loss)
		add(&text, "faults: [{kind: loss, at: all, probability: 0.5%%}]\n");
	add(&text, "limits: {time: 60ms}\n");
}

static void no_room_is_missing(void)
{
	const struct topology *topology = &rig.world_instance.world.topology;
	const struct fabric_counters *fabric = &rig.outcome->fabric;
	if (fabric->dropped[DROP_HEADROOM_FULL] > 0)
		fail_msg("packets found no headroom:\n%s", text.at);
	assert_int_equal(fabric->dropped[DROP_QUEUE_FULL], 0);
	assert_int_equal(fabric->dropped[DROP_PAUSE_WATCH], 0);
	assert_true(fabric->pause.headroom_bytes_max <= topology->pfc_headroom_high_bytes);
	assert_int_equal(rig.world_instance.world.pauses->deadlock_count, 0);
}

static void what_is_sent_comes_through_a_tree(void **state)
{
	(void)state;
	uint64_t first = number("WEFT_PFC_FIRST", 1), count = number("WEFT_PFC_COUNT", 24);
	uint64_t paused = 0;
	for (uint64_t seed = first; seed < first + count; seed++) {
		seed_begin("WEFT_PFC", seed);
		draw_world(seed, true, false);
		rig_run(&rig, text.at, NULL);
		const struct world_pauses *pauses = rig.world_instance.world.pauses;
		const struct pause_counters *pause = &rig.outcome->fabric.pause;
		if (rig.run.end != RUN_DONE)
			fail_msg("ended as %s:\n%s", run_end_name(rig.run.end), text.at);
		no_room_is_missing();
		assert_int_equal(rig.run.held, 0);
		assert_int_equal(pause->pauses_sent, pause->pauses_received + pauses->nic_pauses);
		assert_int_equal(pause->resumes_sent,
				 pause->resumes_received + pauses->nic_resumes);
		paused += pause->pauses_sent > 0;
		world_instance_free(&rig.world_instance);
	}
	seeds_end();
	print_message("%u of %u worlds had pauses\n", (uint32_t)paused, (uint32_t)count);
	assert_true(paused * 3 > count || count < 10); // or nothing was tried
}

static void windows_change_nothing(void **state)
{
	(void)state;
	static const char *const windows[] = {"limits.window=210ns", "limits.window=60ns",
					      "limits.window=333ns"};
	uint64_t first = number("WEFT_PFC_FIRST", 1), count = number("WEFT_PFC_COUNT", 24);
	for (uint64_t seed = first; seed < first + (count + 1) / 2; seed++) {
		seed_begin("WEFT_PFC", seed);
		draw_world(seed, true, seed % 2 == 0);
		rig_run(&rig, text.at, NULL);
		uint64_t digest = rig.run.digest;
		ps_t paused_ps = (ps_t)rig.outcome->fabric.pause.paused_ps;
		if (seed % 2 != 0) // else a pause may have been lost
			no_room_is_missing();
		world_instance_free(&rig.world_instance);
		for (size_t w = 0; w < sizeof(windows) / sizeof(*windows); w++) {
			rig_run(&rig, text.at, (const char *const[]){windows[w], NULL});
			if (rig.run.digest != digest)
				fail_msg("%s makes another run of\n%s", windows[w], text.at);
			assert_int_equal(rig.outcome->fabric.pause.paused_ps, paused_ps);
			world_instance_free(&rig.world_instance);
		}
	}
	seeds_end();
}

// A shared buffer without PFC: what is let in depends on all ports.
static void shared_buffers_do_not_see_windows_either(void **state)
{
	(void)state;
	static const char *const windows[] = {"limits.window=210ns", "limits.window=60ns", NULL};
	uint64_t first = number("WEFT_PFC_FIRST", 1), count = number("WEFT_PFC_COUNT", 24),
		 full = 0;
	for (uint64_t seed = first; seed < first + (count + 1) / 2; seed++) {
		seed_begin("WEFT_PFC", seed);
		draw_world(seed, false, seed % 3 == 0);
		uint64_t digest = 0;
		for (int w = 2; w >= 0; w--) {
			rig_run(&rig, text.at, (const char *const[]){windows[w], NULL});
			if (w == 2)
				digest = rig.run.digest;
			if (rig.run.digest != digest)
				fail_msg("%s makes another run of\n%s", windows[w], text.at);
			assert_true(rig.outcome->fabric.buffer_bytes_max <=
				    rig.world_instance.world.fabric.buffer.bytes);
			full += rig.outcome->fabric.trimmed > 0;
			world_instance_free(&rig.world_instance);
		}
	}
	seeds_end();
	assert_true(full > 0 || count < 10);
}
