// SPDX-License-Identifier: Apache-2.0
// Rings: each block goes around once to be summed, once to be distributed; every piece of it on its
// own. Chains: broadcast and reduce, as NCCL's rings do them. Patarasuk, Yuan: Bandwidth optimal
// all-reduce algorithms for clusters of workstations, 2009.

#include "coll_put.h"

// Ranks in the order of a channel's ring: domains in order, members of each rotated by the channel,
// so that each member's NIC carries its share of what leaves the domain (workload.h, group_next()).
static void seat_ring(struct coll_writer *writer, uint32_t channel)
{
	uint32_t members = writer->config->domain;
	for (uint32_t at = 0; at < writer->config->ranks; at++)
		writer->rank_at[at] = at / members * members + (at + channel) % members;
}

// A piece goes `hops` places on from position `at`. The first hop waits for `after`; returns the
// last receive.
static uint32_t walk(struct coll_writer *writer, struct coll_part piece, uint32_t channel,
		     uint32_t at, uint32_t hops, bool is_sum, uint32_t after)
{
	uint32_t ranks = writer->config->ranks;
	for (uint32_t i = 0; i < hops; i++) {
		uint32_t next = (at + 1) % ranks;
		struct coll_hop hop = {writer->rank_at[at], writer->rank_at[next], channel, is_sum};
		after = coll_send(writer, hop, piece, after, OP_NONE);
		at = next;
	}
	return after;
}

// The block of position `home`: it is summed from the place behind home around to home, and told
// from home around to the place before.
static void put_block(struct coll_writer *writer, uint32_t channel, uint32_t home)
{
	const struct coll_config *config = writer->config;
	uint32_t hops = config->ranks - 1, behind = (home + 1) % config->ranks;
	struct coll_part block = coll_block(config, channel, writer->rank_at[home]);
	for (uint64_t i = 0; i < coll_pieces(config, block.bytes); i++) {
		struct coll_part piece = coll_piece(config, block, i);
		uint32_t after = OP_NONE;
		if (config->kind != COLL_ALL_GATHER)
			after = walk(writer, piece, channel, behind, hops, true, after);
		if (config->kind != COLL_REDUCE_SCATTER)
			walk(writer, piece, channel, home, hops, false, after);
	}
}

void coll_put_ring(struct coll_writer *writer)
{
	for (uint32_t channel = 0; channel < writer->config->channels; channel++) {
		seat_ring(writer, channel);
		for (uint32_t home = 0; home < writer->config->ranks; home++)
			put_block(writer, channel, home);
	}
}

static uint32_t position_of(const struct coll_writer *writer, uint32_t rank)
{
	uint32_t at = 0;
	while (writer->rank_at[at] != rank)
		at++;
	return at;
}

void coll_put_chain(struct coll_writer *writer)
{
	const struct coll_config *config = writer->config;
	bool is_sum = config->kind == COLL_REDUCE;
	for (uint32_t channel = 0; channel < config->channels; channel++) {
		seat_ring(writer, channel);
		struct coll_part share = coll_share(config, channel);
		uint32_t root = position_of(writer, config->root);
		uint32_t first = is_sum ? (root + 1) % config->ranks : root;
		for (uint64_t i = 0; i < coll_pieces(config, share.bytes); i++)
			walk(writer, coll_piece(config, share, i), channel, first,
			     config->ranks - 1, is_sum, OP_NONE);
	}
}
