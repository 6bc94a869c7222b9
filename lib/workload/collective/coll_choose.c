// SPDX-License-Identifier: Apache-2.0
// The algorithm that is likely to be the fastest, of those that NCCL would choose among: ring
// against double tree for all_reduce, ring against PAT for reduce_scatter and all_gather (PAT only
// with one rank a domain), a ring's chain for broadcast and reduce, sends and receives for the
// others.
//
// The model has the form of NCCL's (src/graph/tuning.cc, 2.28), latency and bytes over bandwidth,
// with the hops and lines of the fabric in place of its constants, which are those of GPUs:
//   ring         its steps' hops overlap with its bytes: the longer of the two, and a third of the
//                other, which fills and drains it
//   double tree  the hops up and down, the bytes twice at 0.92 of the bandwidth (NCCL's share), and
//                a wave of chunks that each domain on the way has whole before it goes on
//   PAT          log2 n hops, and the bytes at 0.99 of the bandwidth

#include <weft/workload/coll.h>

#include <weft/core/check.h>

#define TREE_SHARE 0.92
#define PAT_SHARE 0.99 // a step of PAT has its blocks whole before it goes on

static double log2_of(uint32_t number)
{
	return 31u - (uint32_t)__builtin_clz(number);
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
	return hops_us > bytes_us ? hops_us + bytes_us / 3 : bytes_us + hops_us / 3;
}

static double tree_us(const struct coll_config *config, const struct coll_lines *lines)
{
	uint32_t domains = config->ranks / config->domain;
	double bytes_per_us = (double)lines->bus_bps / 8e6, bytes = (double)config->bytes;
	double hops_us = (config->domain - 1) * lines->inside_us +
		log2_of(domains) * lines->network_us;
	double wave = (double)config->chunk_bytes * config->channels;
	if (wave > bytes / 2)
		wave = bytes / 2;
	return 2 * hops_us + 2 * bytes / (bytes_per_us * TREE_SHARE) +
		2 * log2_of(domains) * wave / bytes_per_us;
}

static double pat_us(const struct coll_config *config, const struct coll_lines *lines)
{
	return log2_of(config->ranks) * lines->network_us + bus_us(config, lines) / PAT_SHARE;
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
