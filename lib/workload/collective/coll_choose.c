// SPDX-License-Identifier: Apache-2.0
// The algorithm that is likely to be the fastest, of those that NCCL would choose among: ring
// against double tree for all_reduce, ring against PAT for reduce_scatter and all_gather (PAT only
// with one rank a domain), a ring's chain for broadcast and reduce, sends and receives for the
// others.
//
// The model has the form of NCCL's (src/graph/tuning.cc, 2.28), latency and bytes over bandwidth,
// with the hops and lines of the fabric in place of its constants, which are those of GPUs:
//   ring         its bytes, and its steps' hops: a message goes on once it is whole. Both overlap,
//                the less the nearer they are to each other
//   double tree  the hops up and down, at each of a domain the pieces of both trees whole before
//                they go on; over the network the bytes of the domain that has most edges, and what
//                the first pieces take at the other levels: few pieces are no pipeline
//   PAT          log2 n hops, and the bytes
// Where a part of the fabric has more to send than leads up from it, that is what bytes take: of a
// ring one hop of each channel leaves a part, and on rails each hop between domains; of trees the
// edges that join it to other parts, and on rails none; of PAT the steps of ranks whose partner is
// in another part. The shares are those that choose best among packets of runs (program_nics).

#include <weft/workload/coll.h>

#include <weft/core/check.h>

#include "coll_put.h"

#define RING_OVERLAP 0.2
#define TREE_SHARE 0.98
#define TREE_UP_SHARE 0.9  // of what leads up from a part: both trees meet there
#define PARTS_LOOKED_AT 32 // of a tier, at least where there are so many
#define PAT_HOP 1.15	   // several blocks follow each other
#define PAT_SHARE 0.92	   // a step of PAT has its blocks whole before it goes on
#define NEAR_TIMES 2	   // of two times; with 1.5 the slower one was taken in one of 2,400 worlds

static uint32_t floor_log2(uint32_t number)
{
	return 31u - (uint32_t)__builtin_clz(number);
}

static double longer(double us, double other_us)
{
	return us > other_us ? us : other_us;
}

// The bytes that pass a domain's NICs, or its lines inside where it is the only one.
static double bus_us(const struct coll_config *config, const struct coll_lines *lines)
{
	double bus = (double)config->bytes * coll_bus_factor(config->kind, config->ranks);
	return bus * 8e6 / (double)lines->bus_bps;
}

// Whether messages between domains may leave this part of the fabric.
static bool is_left(const struct coll_config *config, const struct coll_lines *lines, size_t i)
{
	uint32_t ranks = lines->parts[i].ranks;
	bool is_cut = lines->is_rail || (ranks >= config->domain && ranks < config->ranks);
	return lines->parts[i].up_bps > 0 && config->ranks > config->domain && is_cut;
}

static double ring_up_us(const struct coll_config *config, const struct coll_lines *lines)
{
	double us = 0, edges = 1,
	       bus = (double)config->bytes * coll_bus_factor(config->kind, config->ranks);
	if (lines->is_rail) // by one rail to the next
		edges = config->domain > 1 ? (double)config->ranks / config->domain / config->domain
					   : 0;
	for (size_t i = 0; i < COLL_PARTS; i++)
		if (is_left(config, lines, i))
			us = longer(us, edges * bus * 8e6 / (double)lines->parts[i].up_bps);
	return us;
}

// The hops of a round. Where some lead from part to part the slowest message meets them all, though
// a round leaves out one hop.
static double ring_hops_us(const struct coll_config *config, const struct coll_lines *lines)
{
	double hops_us = (config->ranks / config->domain - 1) * lines->ring_us;
	if (lines->ring_us < lines->network_us)
		hops_us += lines->ring_us - lines->near_us;
	return hops_us;
}

static double ring_us(const struct coll_config *config, const struct coll_lines *lines)
{
	uint32_t domains = config->ranks / config->domain;
	uint32_t rounds = config->kind == COLL_ALL_REDUCE ? 2 : 1;
	double network = domains > 1 ? rounds * (domains - 1) : 0;
	double inside = rounds * (config->ranks - 1) - network;
	double bytes_us = longer(bus_us(config, lines), ring_up_us(config, lines));
	double message = (double)config->bytes / config->channels / config->ranks, whole = 1;
	if (message > config->chunk_bytes)
		whole = config->chunk_bytes / message;
	double hops_us = inside * lines->inside_us + whole * bytes_us / config->channels;
	if (network > 0)
		hops_us += rounds * ring_hops_us(config, lines);
	if (inside > 0)
		hops_us += inside * whole * message * 8e6 / (double)lines->inside_bps;
	double most_us = longer(bytes_us, hops_us), less_us = bytes_us + hops_us - most_us;
	return most_us + less_us * less_us / most_us * RING_OVERLAP;
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

// Edges of both trees between domains [first, first + count) and others.
static uint32_t edges_across(uint32_t domains, uint32_t first, uint32_t count)
{
	uint32_t edges = 0;
	for (uint32_t tree = 0; tree < 2; tree++)
		for (uint32_t domain = 0; domain < domains; domain++) {
			uint32_t above = coll_tree_parent(domain, domains, tree, 0);
			edges += above != OP_NONE &&
				(domain - first < count) != (above - first < count);
		}
	return edges;
}

// Each edge carries half of the bytes up and half down.
static double tree_up_us(const struct coll_config *config, const struct coll_lines *lines)
{
	uint32_t domains = config->ranks / config->domain;
	double us = 0;
	for (size_t i = 0; i < COLL_PARTS && !lines->is_rail; i++) {
		if (!is_left(config, lines, i))
			continue;
		uint32_t count = lines->parts[i].ranks / config->domain, edges = 0;
		uint32_t stride = domains / PARTS_LOOKED_AT / count * count + count;
		for (uint32_t first = 0; first < domains; first += stride) {
			uint32_t across = edges_across(domains, first, count);
			edges = across > edges ? across : edges;
		}
		us = longer(us,
			    edges * (double)config->bytes / 2 * 8e6 /
				    (double)lines->parts[i].up_bps);
	}
	return us;
}

// What is longest in a tree, and in the other, which has the same shape: levels, and pieces that
// NICs on the way up take, one after the other.
struct tree_path {
	uint32_t levels, turns;
};

// Domains right below one of the first tree.
static uint32_t tree_children(uint32_t domain, uint32_t domains)
{
	if (domain == 0)
		return 1;
	return domain % 2 != 0 ? 0 : 1 + (domain + 1 < domains);
}

static struct tree_path tree_path(uint32_t domains)
{
	struct tree_path most = {0};
	for (uint32_t domain = 0; domain < domains; domain++) {
		struct tree_path path = {0};
		uint32_t at = domain;
		while ((at = coll_tree_parent(at, domains, 0, 0)) != OP_NONE) {
			path.levels++;
			path.turns += tree_children(at, domains);
		}
		most.levels = path.levels > most.levels ? path.levels : most.levels;
		most.turns = path.turns > most.turns ? path.turns : most.turns;
	}
	return most;
}

// Levels of a tree, of as many, whose edges are inside the lowest parts: the highest of a part's
// goes to another.
static uint32_t near_levels(const struct coll_config *config, const struct coll_lines *lines,
			    uint32_t depth)
{
	uint32_t below = lines->is_rail ? 0 : lines->parts[0].ranks / config->domain;
	uint32_t near = below > 1 ? floor_log2(below) - 1 : 0;
	return near < depth ? near : depth;
}

static double tree_hops_us(const struct coll_config *config, const struct coll_lines *lines,
			   uint32_t depth)
{
	uint32_t near = near_levels(config, lines, depth);
	return near * lines->near_us + (depth - near) * lines->network_us;
}

// What the first pieces take up and down beyond the busiest domain's share.
static double tree_fill_us(const struct coll_config *config, const struct coll_lines *lines,
			   const struct tree_path *path, uint32_t edges)
{
	double piece = (double)config->bytes / config->channels / 2;
	double near = 4.0 * near_levels(config, lines, path->levels),
	       far = 2.0 * path->turns - near;
	uint64_t far_bps = lines->bus_bps;
	if (piece > config->chunk_bytes)
		piece = config->chunk_bytes;
	if (is_left(config, lines, 0) && !lines->is_rail && lines->parts[0].up_bps < far_bps)
		far_bps = lines->parts[0].up_bps;
	double us = near / (double)lines->bus_bps + (far - edges) / (double)far_bps;
	return us > 0 ? us * piece * config->domain * 8e6 : 0;
}

static double tree_us(const struct coll_config *config, const struct coll_lines *lines)
{
	uint32_t domains = config->ranks / config->domain, edges = 0;
	const struct tree_path path = tree_path(domains);
	double bytes_per_us = (double)lines->bus_bps / 8e6, bytes = (double)config->bytes;
	double hops_us = tree_inside_us(config, lines) + tree_hops_us(config, lines, path.levels);
	uint32_t stride = domains / PARTS_LOOKED_AT + 1;
	for (uint32_t domain = 0; domain < domains; domain += stride) {
		uint32_t own = edges_across(domains, domain, 1);
		edges = own > edges ? own : edges;
	}
	double bytes_us = longer(edges / 2.0 * bytes / bytes_per_us / TREE_SHARE,
				 tree_up_us(config, lines) / TREE_UP_SHARE);
	return 2 * hops_us + bytes_us + tree_fill_us(config, lines, &path, edges);
}

// What steps of PAT take longer since their blocks leave a part of the fabric.
static double pat_up_us(const struct coll_config *config, const struct coll_lines *lines)
{
	double block_us = (double)config->bytes / config->ranks * 8e6, us = 0;
	for (uint32_t far = 1; far < config->ranks && !lines->is_rail; far *= 2) {
		uint32_t blocks = (config->ranks - far - 1) / (2 * far) + 1;
		double nic_us = block_us / (double)lines->bus_bps, longest_us = nic_us;
		for (size_t i = 0; i < COLL_PARTS; i++) {
			uint32_t near = far < lines->parts[i].ranks ? far : lines->parts[i].ranks;
			if (is_left(config, lines, i))
				longest_us = longer(longest_us,
						    near * block_us /
							    (double)lines->parts[i].up_bps);
		}
		us += blocks * (longest_us - nic_us);
	}
	return us;
}

static double pat_us(const struct coll_config *config, const struct coll_lines *lines)
{
	return tree_hops_us(config, lines, floor_log2(config->ranks)) * PAT_HOP +
		(bus_us(config, lines) + pat_up_us(config, lines)) / PAT_SHARE;
}

// Another one than the ring, and its time. COLL_RING: there is none.
static enum coll_algorithm beside_ring(const struct coll_config *config,
				       const struct coll_lines *lines, double *ret_us)
{
	bool is_half = config->kind == COLL_REDUCE_SCATTER || config->kind == COLL_ALL_GATHER;
	if (config->kind == COLL_ALL_REDUCE) {
		*ret_us = tree_us(config, lines);
		return COLL_DOUBLE_TREE;
	}
	if (!is_half || config->domain > 1)
		return COLL_RING;
	*ret_us = pat_us(config, lines);
	return COLL_PAT;
}

enum coll_algorithm coll_choose(const struct coll_config *config, const struct coll_lines *lines,
				enum coll_algorithm *ret_other)
{
	check(config->ranks >= 2 && config->domain > 0 && lines->bus_bps > 0);
	double own_us, other_us;
	enum coll_algorithm other = beside_ring(config, lines, &other_us);
	bool has_ring = config->kind <= COLL_ALL_REDUCE || config->kind == COLL_BROADCAST ||
		config->kind == COLL_REDUCE;
	*ret_other = has_ring ? COLL_RING : COLL_DIRECT;
	if (other == COLL_RING)
		return *ret_other;
	own_us = ring_us(config, lines);
	bool is_near = longer(own_us, other_us) <
		NEAR_TIMES * (own_us + other_us - longer(own_us, other_us));
	if (other_us < own_us) {
		*ret_other = is_near ? COLL_RING : other;
		return other;
	}
	*ret_other = is_near ? other : COLL_RING;
	return COLL_RING;
}
