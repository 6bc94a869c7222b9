// SPDX-License-Identifier: Apache-2.0
// The algorithm that is likely to be the fastest, of those that NCCL would choose among: ring
// against double tree for all_reduce, ring against PAT for reduce_scatter and all_gather (PAT only
// with one rank a domain), a ring's chain for broadcast and reduce, sends and receives for the
// others.
//
// The model has the form of NCCL's (src/graph/tuning.cc, 2.28), latency and bytes over bandwidth,
// with the hops and lines of the fabric in place of its constants, which are those of GPUs:
//   ring         its steps' hops overlap with its bytes: the longer of the two, and four fifths of
//                the other, since a step waits for the one before; a third in one round alone
//   double tree  the hops up and down, at each of a domain the pieces of both trees whole before
//                they go on; over the network the bytes twice (between two domains once: each tree
//                has one edge there) at 0.92 of the bandwidth (NCCL's share), and the levels where
//                a domain waits for two children
//   PAT          log2 n hops, and the bytes at 0.85 of the bandwidth
// The shares are those that choose best among packets of runs (program_nics).

#include <weft/workload/coll.h>

#include <weft/core/check.h>

#define RING_OVERLAP 0.8	// of an all-reduce, whose second round waits for the first
#define ROUND_OVERLAP (1 / 3.0) // of one round
#define TREE_SHARE 0.92
#define TREE_FILL 0.75 // of the pieces at each level beyond the first two
#define PAT_SHARE 0.85 // a step of PAT has its blocks whole before it goes on

static uint32_t floor_log2(uint32_t number)
{
	return 31u - (uint32_t)__builtin_clz(number);
}

static uint32_t ceil_log2(uint32_t number)
{
	return number < 2 ? 0 : floor_log2(number - 1) + 1;
}

// The bytes that pass a domain's NICs, or its lines inside where it is the only one.
static double bus_us(const struct coll_config *config, const struct coll_lines *lines)
{
	double bus = (double)config->bytes * coll_bus_factor(config->kind, config->ranks);
	return bus * 8e6 / (double)lines->bus_bps;
}

static double ring_us(const struct coll_config *config, const struct coll_lines *lines)
{
	uint32_t domains = config->ranks / config->domain;
	uint32_t rounds = config->kind == COLL_ALL_REDUCE ? 2 : 1;
	double network = domains > 1 ? rounds * (domains - 1) : 0;
	double inside = rounds * (config->ranks - 1) - network;
	double hops_us = inside * lines->inside_us + network * lines->network_us;
	double bytes_us = bus_us(config, lines);
	double overlap = rounds == 2 ? RING_OVERLAP : ROUND_OVERLAP;
	return hops_us > bytes_us ? hops_us + bytes_us * overlap : bytes_us + hops_us * overlap;
}

// Both trees' pieces of one channel at each GPU of a domain but its head.
static double tree_inside_us(const struct coll_config *config, const struct coll_lines *lines)
{
	double pieces = (double)config->bytes / config->channels;
	if (config->domain == 1)
		return 0;
	if (pieces > 2.0 * config->chunk_bytes)
		pieces = 2.0 * config->chunk_bytes;
	return (config->domain - 1) * (lines->inside_us + pieces * 8e6 / (double)lines->inside_bps);
}

static double tree_us(const struct coll_config *config, const struct coll_lines *lines)
{
	uint32_t domains = config->ranks / config->domain;
	double bytes_per_us = (double)lines->bus_bps / 8e6, bytes = (double)config->bytes;
	double hops_us = tree_inside_us(config, lines) + ceil_log2(domains) * lines->network_us;
	double wave = 2.0 * config->chunk_bytes * config->channels;
	double passes = domains == 2 ? 1 : 2;
	double levels = floor_log2(domains) + ceil_log2(domains) - 3.0; // twice, beyond the first
	double fill = levels > 0 ? levels * TREE_FILL : 0;
	if (wave > bytes)
		wave = bytes;
	return 2 * hops_us + (passes * bytes / TREE_SHARE + fill * wave) / bytes_per_us;
}

static double pat_us(const struct coll_config *config, const struct coll_lines *lines)
{
	return floor_log2(config->ranks) * lines->network_us + bus_us(config, lines) / PAT_SHARE;
}

enum coll_algorithm coll_choose(const struct coll_config *config, const struct coll_lines *lines)
{
	check(config->ranks >= 2 && config->domain > 0 && lines->bus_bps > 0);
	switch (config->kind) {
	case COLL_ALL_REDUCE:
		return tree_us(config, lines) < ring_us(config, lines) ? COLL_DOUBLE_TREE
								       : COLL_RING;
	case COLL_REDUCE_SCATTER:
	case COLL_ALL_GATHER:
		return config->domain == 1 && pat_us(config, lines) < ring_us(config, lines)
			? COLL_PAT
			: COLL_RING;
	case COLL_BROADCAST:
	case COLL_REDUCE:
		return COLL_RING;
	default:
		return COLL_DIRECT;
	}
}
