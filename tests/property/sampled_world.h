// SPDX-License-Identifier: Apache-2.0
// Random rings on random fabrics, small enough to run whole, for tests of what their samples state.
#pragma once

#include "../random_world.h"

// Hosts of one GPU on a Clos, hosts of several beside it, rails, losses, or RoCE.
static void draw_fabric(struct text *text, struct rng *rng, uint32_t *ret_ranks)
{
	static const uint32_t sizes[] = {8, 16, 24, 32, 48, 64, 96, 128};
	static const uint32_t rates[] = {100, 200, 400, 800};
	uint32_t nics = sizes[pick(rng, 0, 7)], planes = 1u << pick(rng, 0, 3);
	uint32_t rate = rates[pick(rng, 0, 3)], per_t0 = nics / (1u << pick(rng, 0, 2));
	uint32_t t1 = per_t0 / (1u << pick(rng, 0, 1)), delay = 100 * pick(rng, 1, 20);
	uint32_t kind = pick(rng, 0, 5);
	add(text, "name: sample-error\nfabric: {nics: %u, planes: %u, link_rate: %uGb/s, ", nics,
	    planes, rate);
	if (kind == 0)
		add(text, "topology: rail, nics_per_host: 4, t1_count: %u, ", t1 > 1 ? t1 / 2 : 1);
	else
		add(text, "nics_per_t0: %u, t1_count: %u, ", per_t0, t1);
	bool has_hosts = kind == 0 || (kind == 1 && per_t0 % 4 == 0);
	if (kind == 1 && has_hosts)
		add(text, "nics_per_host: 4, ");
	add(text, "trunk_delay: %uns}\n", delay);
	if (has_hosts)
		add(text, "scaleup: {rate: %uGB/s}\n", 100 * pick(rng, 1, 9));
	if (kind == 2)
		add(text, "faults: [{kind: loss, at: all, probability: 0.0%u%%}]\n",
		    pick(rng, 1, 9));
	if (kind == 3)
		add(text,
		    "transport: {kind: rc, qps_per_connection: %u}\ncc: {algorithm: fixed}\n"
		    "queue: {bytes: 32MiB}\n",
		    1u << pick(rng, 0, 3));
	*ret_ranks = nics;
}

static void draw_ring(struct text *text, struct rng *rng, uint32_t ranks)
{
	static const char *const kinds[] = {"reduce_scatter", "all_gather", "all_reduce"};
	uint32_t packets_max = 400000, loops = 1u << pick(rng, 0, 1);
	uint32_t channels = 1u << pick(rng, 0, 4), chunk_kib = 16u << pick(rng, 0, 7);
	uint32_t slices = pick(rng, 1, 2), credits = slices * (1u << pick(rng, 1, 3));
	const char *kind = kinds[pick(rng, 0, 2)];
	uint64_t bytes = (uint64_t)channels * chunk_kib * 1024 * ranks * loops;
	bytes = bytes / 8 * pick(rng, 1, 8);
	while (bytes * ranks / 4096 > packets_max)
		bytes /= 2;
	add(text,
	    "traffic: {kind: ring, collective: %s, bytes: %lluB, channels: %u, chunk: %uKiB, ",
	    kind, (unsigned long long)bytes, channels, chunk_kib);
	add(text, "slices: %u, credits: %u}\n", slices, credits);
}
