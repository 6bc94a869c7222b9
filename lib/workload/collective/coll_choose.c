// SPDX-License-Identifier: Apache-2.0
// The algorithm that NCCL would take, by its model of times (src/graph/tuning.cc, 2.28): latency
// plus bytes over bandwidth, the least of what a collective has. As there: ring against tree for
// all_reduce (a tree has 0.92 of the bandwidth); ring against PAT for reduce_scatter and
// all_gather, PAT only with one rank a domain and at 0.75 of the bandwidth; a ring's chain for
// broadcast and reduce; sends and receives for the others. What NCCL has beyond (the LL and LL128
// protocols of small messages, corrections for trees of medium size, limits of GPUs) is left out.

#include <weft/workload/coll.h>

#include <weft/core/check.h>

// Protocol Simple, in us. A hop of NVLink, of the network; what a collective takes at least.
#define BASE_US 8.4
#define INSIDE_US 3.4
#define NETWORK_US 14.0
#define PAT_RANK_US 2.8 // PAT's part that grows with the ranks
#define PAT_NETWORK_US (NETWORK_US / 3.5)
#define TREE_SHARE 0.92
#define PAT_SHARE 0.75

static uint32_t log2_of(uint32_t number)
{
	return 31u - (uint32_t)__builtin_clz(number);
}

static double ring_us(const struct coll_config *config, double bytes_per_us)
{
	uint32_t domains = config->ranks / config->domain;
	uint32_t rounds = config->kind == COLL_ALL_REDUCE ? 2 : 1;
	double network = domains > 1 ? rounds * (domains - 1) : 0;
	double inside = rounds * (config->ranks - 1) - network;
	double bus = (double)config->bytes * coll_bus_factor(config->kind, config->ranks);
	return BASE_US + inside * INSIDE_US + network * NETWORK_US + bus / bytes_per_us;
}

static double tree_us(const struct coll_config *config, double bytes_per_us)
{
	uint32_t domains = config->ranks / config->domain;
	double hops_us = (config->domain - 1) * INSIDE_US + log2_of(domains) * NETWORK_US;
	return BASE_US + 2 * hops_us + 2 * (double)config->bytes / (bytes_per_us * TREE_SHARE);
}

static double pat_us(const struct coll_config *config, double bytes_per_us)
{
	double bus = (double)config->bytes * coll_bus_factor(config->kind, config->ranks);
	return BASE_US + log2_of(config->ranks) * PAT_NETWORK_US + config->ranks * PAT_RANK_US +
		bus / (bytes_per_us * PAT_SHARE);
}

enum coll_algorithm coll_choose(const struct coll_config *config, uint64_t bus_bps)
{
	double bytes_per_us = (double)bus_bps / 8e6;
	check(config->ranks >= 2 && config->domain > 0 && bus_bps > 0);
	switch (config->kind) {
	case COLL_ALL_REDUCE:
		return tree_us(config, bytes_per_us) < ring_us(config, bytes_per_us)
			? COLL_DOUBLE_TREE
			: COLL_RING;
	case COLL_REDUCE_SCATTER:
	case COLL_ALL_GATHER:
		return config->domain == 1 &&
				pat_us(config, bytes_per_us) < ring_us(config, bytes_per_us)
			? COLL_PAT
			: COLL_RING;
	case COLL_BROADCAST:
	case COLL_REDUCE:
		return COLL_RING;
	default:
		return COLL_DIRECT;
	}
}
