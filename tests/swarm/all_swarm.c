// SPDX-License-Identifier: Apache-2.0
// Random worlds from a seed: topology, planes, queues, traffic, loss and flaps; then the checkers.
// A failing seed is run again by
//   WEFT_SWARM_FIRST=<seed> WEFT_SWARM_COUNT=1 <this program>
// The checkers: the run completes and drains; every message completes exactly once at both ends, in
// order; every payload byte is placed exactly once; nothing is left in a pool; same seed, same
// digest. Conservation, time and order of completions are checked inside every run.

#include "../random_world.h"

// What the checkers must find.
struct expectation {
	uint32_t nics, planes;
	uint64_t flows, flow_bytes;
	bool is_ring, has_scaleup;
	uint32_t window_ns; // of another run of the same world
};

static void add_fabric(struct text *text, struct rng *rng, struct expectation *expected)
{
	static const char *const rates[] = {"25Gb/s", "100Gb/s", "200Gb/s", "400Gb/s", "800Gb/s"};
	uint32_t planes = 1u << pick(rng, 0, 2);
	expected->planes = planes;
	add(text, "fabric:\n  planes: %u\n  link_rate: %s\n", planes, rates[pick(rng, 0, 4)]);
	uint32_t nic_ns = pick(rng, 40, 900), trunk_ns = pick(rng, 40, 1900);
	add(text, "  nic_delay: %uns\n  trunk_delay: %uns\n  switch_delay: %uns\n", nic_ns,
	    trunk_ns, pick(rng, 0, 600));
	expected->has_scaleup = pick(rng, 0, 1) == 0;
	if (expected->has_scaleup) // two GPUs a host, joined by NVLink
		add(text, "  nics_per_host: 2\n");
	if (pick(rng, 0, 2) == 0) {
		expected->nics = 16;
		add(text,
		    "  topology: fat-tree\n  nics: 16\n  tor_nics: 2\n  pod_tors: 2\n  pod_aggs: "
		    "2\n"
		    "  cores: 4\n");
		return;
	}
	uint32_t per_t0 = 2u << pick(rng, 0, 2), t0s = pick(rng, 2, 5);
	uint32_t t1s = pick(rng, 1, 4), bundle = pick(rng, 1, 2);
	expected->nics = per_t0 * t0s;
	add(text, "  topology: clos\n  nics: %u\n  nics_per_t0: %u\n  t1_count: %u\n  bundle: %u\n",
	    expected->nics, per_t0, t1s, bundle);
}

// With trimming, strict priority of headers and senders that do not slow down, overload by more
// than a full packet over a trimmed one lets no payload through at all (congestion collapse; a
// closed form, not a bug). So packets here are several times a header, and fixed windows hold two
// of them.
static void add_transport(struct text *text, struct rng *rng, const struct expectation *expected)
{
	static const char *const paths[] = {"rotate", "mrc", "mrc", "single"};
	uint32_t payload = pick(rng, 0, 1) ? 1024 : 4096;
	uint32_t evs = expected->planes << pick(rng, 0, 5);
	const char *path = paths[pick(rng, 0, 3)];
	uint32_t mpr = 64u << pick(rng, 0, 4), sack_bytes = pick(rng, 1, 20000);
	add(text,
	    "transport:\n  payload: %uB\n  evs: %u\n  path: %s\n  mpr: %u\n  sack_bytes: %uB\n",
	    payload, evs, path, mpr, sack_bytes);
	add(text, "  rto: %uus\n  rto_linear: 7\n  rto_doublings: 12\n", pick(rng, 40, 300));
	if (pick(rng, 0, 1) == 0)
		add(text, "  hole_age: %uus\n", pick(rng, 5, 60));
	add_acknowledgement(text, rng, false);
	if (pick(rng, 0, 2) > 0)
		add(text, "cc: {algorithm: nscc}\n");
	else
		add(text, "cc: {algorithm: fixed, window: %uB}\n", 2 * (payload + 162));
}

static void add_queue(struct text *text, struct rng *rng)
{
	static const char *const choices[] = {"coin", "arriving", "newest"};
	bool trims = pick(rng, 0, 3) > 0;
	add(text, "queue:\n  trim: %s\n", trims ? "true" : "false");
	if (trims)
		add(text, "  trim_choice: %s\n", choices[pick(rng, 0, 2)]);
	if (pick(rng, 0, 1) == 0)
		add_queue_bytes(text, rng, 60000, 30000);
	if (pick(rng, 0, 3) == 0)
		add(text, "  ecn: false\n");
}

static void add_faults(struct text *text, struct rng *rng, const struct expectation *expected)
{
	uint32_t count = pick(rng, 0, 3);
	if (count > 0)
		add(text, "faults:\n");
	for (uint32_t i = 0; i < count; i++) {
		uint32_t from = pick(rng, 0, 30);
		if (pick(rng, 0, 1) > 0) {
			add_link_down(text, rng, expected->nics, expected->planes, from, 120);
			continue;
		}
		uint32_t until = from + pick(rng, 10, 200), permille = pick(rng, 1, 50);
		add(text,
		    "  - {kind: loss, at: all, from: %uus, until: %uus, probability: 0.%03u}\n",
		    from, until, permille);
	}
	add_rare_faults(text, rng, count);
}

static void add_flows(struct text *text, struct rng *rng, struct expectation *expected)
{
	expected->flows = pick(rng, 1, 40);
	add(text, "traffic:\n  kind: flows\n  flows:\n");
	for (uint64_t i = 0; i < expected->flows; i++) {
		uint32_t from = pick(rng, 0, expected->nics - 1);
		uint32_t to = (from + pick(rng, 1, expected->nics - 1)) % expected->nics;
		uint32_t bytes = pick(rng, 0, 3) == 0 ? pick(rng, 1, 300) : pick(rng, 1, 200000);
		expected->flow_bytes += bytes;
		add(text, "    - {from: %u, to: %u, bytes: %uB, start: %uns}\n", from, to, bytes,
		    pick(rng, 0, 40000));
	}
}

static void add_ring(struct text *text, struct rng *rng, uint32_t ranks)
{
	const char *collective = pick(rng, 0, 1) ? "reduce_scatter" : "all_reduce";
	uint32_t kib = pick(rng, 64, 1500), channels = pick(rng, 1, 4);
	add(text, "traffic: {kind: ring, collective: %s, ranks: %u, bytes: %uKiB, channels: %u}\n",
	    collective, ranks, kib, channels);
}

static void add_traffic(struct text *text, struct rng *rng, struct expectation *expected)
{
	uint32_t bytes = pick(rng, 1, 150000);
	switch (pick(rng, 0, 4)) {
	case 0:
		expected->flows = expected->nics;
		add(text, "traffic: {kind: permutation, bytes: %uB}\n", bytes);
		break;
	case 1:
		expected->flows = pick(rng, 1, expected->nics - 2);
		add(text, "traffic: {kind: incast, senders: %u, bytes: %uB}\n",
		    (uint32_t)expected->flows, bytes);
		break;
	case 2:
		expected->is_ring = true;
		add_ring(text, rng, expected->nics);
		return;
	default:
		add_flows(text, rng, expected);
		return;
	}
	expected->flow_bytes = expected->flows * bytes;
}

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
		assert_true(rig->outcome->collectives[0].whole_ps > 0);
	else
		check_flows(rig, expected);
}

static void add_world(struct text *text, uint64_t seed, struct expectation *ret)
{
	struct rng rng = rng_of(seed, RNG_TEST, 0);
	*ret = (struct expectation){0};
	text->used = 0;
	add(text, "name: swarm\nseed: %llu\n", (unsigned long long)seed);
	add_fabric(text, &rng, ret);
	add_queue(text, &rng);
	add_transport(text, &rng, ret);
	add_traffic(text, &rng, ret);
	add_faults(text, &rng, ret);
	if (ret->has_scaleup)
		add_scaleup(text, &rng, 4000);
	add(text, "limits: {memory: 512MiB, time: 5s}\n");
	ret->window_ns = pick(&rng, 3, 39);
	add_wire(text, &rng);
}

static void run_seed(uint64_t seed)
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
	stage_free(&rig.stage);
	char window[64];
	snprintf(window, sizeof(window), "limits.window=%uns", expected.window_ns);
	rig_run(&rig, text.at, (const char *const[]){window, NULL});
	assert_int_equal(rig.run.digest, digest);
	stage_free(&rig.stage);
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
	uint64_t first = number("WEFT_SWARM_FIRST", 1), count = number("WEFT_SWARM_COUNT", 150);
	for (uint64_t seed = first; seed < first + count; seed++)
		run_seed(seed);
	seeds_end();
	printf("%llu worlds from seed %llu\n", (unsigned long long)count,
	       (unsigned long long)first);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_seed_is_the_same_world_with_every_compiler),
		cmocka_unit_test(random_worlds_keep_their_promises),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
