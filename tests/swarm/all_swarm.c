// SPDX-License-Identifier: Apache-2.0
// Random worlds from a seed: topology, planes, queues, traffic, loss and flaps; then the checkers.
// A failing seed is run again by
//   WEFT_SWARM_FIRST=<seed> WEFT_SWARM_COUNT=1 <this program>
// The checkers: the run completes and drains; every message completes exactly once at both ends, in
// order; every payload byte is placed exactly once; nothing is left in a pool; same seed, same
// digest, also with other windows, with switches in the order of time, without huge pages, and by
// whatever compiler. Conservation, time and order of completions are checked inside every run.

#include <sys/prctl.h>

#include "../swarm_world.h"

#include <weft/world/world_ideal.h>

#define WORLDS 150

// Of the runs of these worlds, by every compiler, optimised or not, and under sanitisers. What is
// meant to change runs changes it.
#define DIGEST_OF_ALL UINT64_C(0x463a6ed47aa50a51)

static void check_flows(const struct rig *rig, const struct expectation *expected)
{
	const struct transport_counters *transport = &rig->outcome->transport;
	assert_int_equal(transport->messages_sent, expected->flows);
	assert_int_equal(transport->messages_received, expected->flows);
	assert_int_equal(transport->payload_bytes_new, expected->flow_bytes);
	assert_int_equal(transport->payload_bytes_placed, expected->flow_bytes);
	assert_int_equal(rig->outcome->flow_ns.total, expected->flows);
	for (uint64_t i = 0; i < expected->flows; i++)
		assert_true(rig->outcome->flow_end_ps[i] > 0);
}

// No ring is done before its lines can have carried it.
static void check_ring(const struct rig *rig)
{
	ps_t ideal_ps = rig_ideal_ps(rig);
	assert_true(ideal_ps > 0 && rig->outcome->collectives[0].whole_ps >= ideal_ps);
}

static void check_world(const struct rig *rig, const struct expectation *expected)
{
	const struct transport_counters *transport = &rig->outcome->transport;
	if (rig->run.is_drained && transport->qps_failed == 0 &&
	    transport->payload_bytes_placed != transport->payload_bytes_new)
		fail_msg("%llu payload bytes sent, %llu placed: not placed exactly once",
			 (unsigned long long)transport->payload_bytes_new,
			 (unsigned long long)transport->payload_bytes_placed);
	check_run_end(rig, RUN_DONE);
	assert_int_equal(transport->payload_bytes_new, transport->payload_bytes_placed);
	assert_int_equal(transport->qps_failed, 0);
	uint64_t by_plane = 0;
	for (int plane = 0; plane < PLANES_MAX; plane++)
		by_plane += transport->plane_bytes[plane];
	assert_int_equal(by_plane, transport->data_bytes);
	if (expected->is_ring)
		check_ring(rig);
	else
		check_flows(rig, expected);
}

// The same world in another way: its digest.
static uint64_t other_digest(const char *yaml, uint32_t window_ns)
{
	static struct rig rig;
	char window[64];
	snprintf(window, sizeof(window), "limits.window=%uns", window_ns);
	assert_int_equal(prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0), 0);
	rig_run(&rig, yaml, (const char *const[]){window, "limits.order=time", NULL});
	assert_int_equal(prctl(PR_SET_THP_DISABLE, 0, 0, 0, 0), 0);
	uint64_t digest = rig.run.digest;
	world_instance_free(&rig.world_instance);
	return digest;
}

static uint64_t run_seed(uint64_t seed)
{
	static struct rig rig;
	static struct text text;
	struct expectation expected;
	add_world(&text, seed, &expected);
	seed_begin("WEFT_SWARM", seed);
	if (getenv("WEFT_SWARM_PRINT") != NULL)
		puts(text.at);
	rig_run(&rig, text.at, NULL);
	check_world(&rig, &expected);
	uint64_t digest = rig.run.digest;
	world_instance_free(&rig.world_instance);
	if (other_digest(text.at, expected.window_ns) != digest)
		fail_msg("another run in the order of time with windows of %u ns",
			 expected.window_ns);
	return digest;
}

static void a_seed_is_the_same_world_with_every_compiler(void **)
{
	static struct text text;
	struct expectation expected;
	uint64_t digest = 0;
	for (uint64_t seed = 1; seed <= 200; seed++) {
		add_world(&text, seed, &expected);
		digest = text_digest(digest, &text);
	}
	assert_int_equal(digest, UINT64_C(0x799d3abdc92b88b6));
}

static void random_worlds_keep_their_promises(void **state)
{
	uint64_t first = number("WEFT_SWARM_FIRST", 1), count = number("WEFT_SWARM_COUNT", WORLDS);
	uint64_t digest = 0;
	for (uint64_t seed = first; seed < first + count; seed++)
		digest = (digest ^ run_seed(seed)) * UINT64_C(0x100000001b3);
	seeds_end();
	printf("%llu worlds from seed %llu, digest of all %016llx\n", (unsigned long long)count,
	       (unsigned long long)first, (unsigned long long)digest);
	if (first == 1 && count == WORLDS)
		assert_int_equal(digest, DIGEST_OF_ALL);
}
