// SPDX-License-Identifier: Apache-2.0
// One packet, to a NIC whose cables are dead until some time: the time of its arrival follows from
// the waits of its timer alone. A failing seed is run again by
//   WEFT_TIMERS_FIRST=<seed> WEFT_TIMERS_COUNT=1 <this program>

#include "../random_world.h"
#include "waits.h"

// Returns when the try that comes through is sent, in microseconds.
static uint64_t add_world(struct text *text, uint64_t seed)
{
	struct rng rng = rng_of(seed, RNG_TEST, 8);
	uint32_t rto_us = pick(&rng, 20, 200);
	uint32_t rto_linear = pick(&rng, 1, 7), rto_doublings = pick(&rng, 1, 4);
	struct waits waits = {rto_us, rto_linear, rto_doublings};
	uint32_t goes = pick(&rng, 1, rto_linear + rto_doublings - 1);
	uint64_t sent_us = 0;
	for (uint32_t n = 0; n < goes; n++)
		sent_us += wait_us(&waits, n);
	uint32_t bytes = pick(&rng, 1, 4096), early_us = pick(&rng, 1, 15);
	text->used = 0;
	add(text,
	    "name: timer\nseed: %llu\nfabric: {nics: 4, nics_per_t0: 2, t1_count: 1}\n"
	    "transport: {path: single, rto: %uus, rto_linear: %u, rto_doublings: %u, completion: "
	    "sack, hole_age: off}\ntraffic: {kind: flows, flows: [{from: 0, to: 3, bytes: %uB}]}\n"
	    "faults: [{kind: link_down, at: {nic: 0}, until: %lluus}]\nlimits: {memory: 64MiB}\n",
	    (unsigned long long)seed, rto_us, rto_linear, rto_doublings, bytes,
	    (unsigned long long)(sent_us - early_us));
	return sent_us;
}

static void run_seed(uint64_t seed)
{
	static struct rig rig;
	static struct text text;
	uint64_t sent_us = add_world(&text, seed);
	seed_begin("WEFT_TIMERS", seed);
	rig_run(&rig, text.at, NULL);
	double end_us = (double)rig.outcome->end_ps / 1e6;
	if (rig.run.end != RUN_DONE || end_us < (double)sent_us || end_us > (double)sent_us + 12)
		fail_msg("a packet was here after %.3f us; its try after %llu us should have come "
			 "through",
			 end_us, (unsigned long long)sent_us);
	world_instance_free(&rig.world_instance);
}

static void a_packet_is_sent_again_when_its_wait_ends(void **)
{
	uint64_t first = number("WEFT_TIMERS_FIRST", 1), count = number("WEFT_TIMERS_COUNT", 300);
	for (uint64_t seed = first; seed < first + count; seed++)
		run_seed(seed);
	seeds_end();
	printf("%llu worlds from seed %llu\n", (unsigned long long)count,
	       (unsigned long long)first);
}

static void a_seed_is_the_same_world_with_every_compiler(void **)
{
	static struct text text;
	uint64_t digest = 0;
	for (uint64_t seed = 1; seed <= 200; seed++) {
		add_world(&text, seed);
		digest = text_digest(digest, &text);
	}
	assert_int_equal(digest, UINT64_C(0x32a80ac315cbf2d9));
}
