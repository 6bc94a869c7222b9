// SPDX-License-Identifier: Apache-2.0
// Random worlds of the swarm: topology, planes, queues, traffic, loss and flaps, and what is known
// of each before it runs.
#pragma once

#include "random_world.h"

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
