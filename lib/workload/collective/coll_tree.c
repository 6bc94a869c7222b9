// SPDX-License-Identifier: Apache-2.0
// Trees: a piece is summed on its way up and distributed on its way down, each piece on its own.
// The shape is NCCL's (src/graph/trees.cc): ranks in order of their numbers, leaves every second
// one, rank 0 on top with one child; the second tree of a double tree is the first in the mirror
// (an even number of ranks) or one place on (odd), so that a leaf of one is inside the other.
// Sanders, Speck, Traeff: Two-tree algorithms for full bandwidth broadcast, reduction and scan,
// 2009. The trees join domains; inside one, the members hang behind each other.

#include "coll_put.h"

#include <weft/core/check.h>

// In the tree over 0 .. count-1 with root 0, node `at` > 0: its lowest bit says how high it is, and
// the bit above which of two parents it has; where that one is not there, the other is.
static uint32_t parent_in_tree(uint32_t at, uint32_t count)
{
	uint32_t bit = at & -at;
	uint32_t upper = (at - bit) | bit << 1;
	return upper < count ? upper : at - bit;
}

// The place of a domain in tree 0 or 1; and back.
static uint32_t place_of(uint32_t domain, uint32_t domains, uint32_t tree, uint32_t root)
{
	uint32_t at = (domain + domains - root) % domains;
	if (tree == 0)
		return at;
	return domains % 2 == 0 ? domains - 1 - at : (at + domains - 1) % domains;
}

static uint32_t domain_at(uint32_t place, uint32_t domains, uint32_t tree, uint32_t root)
{
	uint32_t at = place;
	if (tree != 0)
		at = domains % 2 == 0 ? domains - 1 - place : (place + 1) % domains;
	return (at + root) % domains;
}

uint32_t coll_tree_parent(uint32_t domain, uint32_t domains, uint32_t tree, uint32_t root)
{
	uint32_t place = place_of(domain, domains, tree, root);
	return place == 0 ? OP_NONE
			  : domain_at(parent_in_tree(place, domains), domains, tree, root);
}

// Member (channel + root's member) of a domain is its head, the others follow it in a chain.
void coll_seat_tree(const struct coll_config *config, uint32_t channel, uint32_t tree,
		    uint32_t *ret_parent)
{
	uint32_t members = config->domain, domains = config->ranks / members;
	bool has_root = config->kind != COLL_ALL_REDUCE;
	uint32_t root = has_root ? config->root / members : 0;
	uint32_t head = has_root ? config->root % members : channel % members;
	for (uint32_t rank = 0; rank < config->ranks; rank++) {
		uint32_t domain = rank / members, behind = (rank + members - head) % members;
		uint32_t above = coll_tree_parent(domain, domains, tree, root);
		if (behind > 0)
			ret_parent[rank] = domain * members + (rank + members - 1) % members;
		else
			ret_parent[rank] = above == OP_NONE ? OP_NONE : above * members + head;
	}
}

static uint32_t depth_of(const struct coll_writer *writer, uint32_t rank)
{
	uint32_t depth = 0;
	for (; writer->parent[rank] != OP_NONE; rank = writer->parent[rank])
		check(++depth < writer->config->ranks);
	return depth;
}

// writer->rank_at: ranks from the top down (by counting depths; stable).
static void sort_by_depth(struct coll_writer *writer)
{
	uint32_t ranks = writer->config->ranks, filled = 0;
	for (uint32_t depth = 0; filled < ranks; depth++)
		for (uint32_t rank = 0; rank < ranks; rank++)
			if (depth_of(writer, rank) == depth)
				writer->rank_at[filled++] = rank;
}

// From the deepest up: by the time that a rank's turn comes, its children have sent.
static void put_up(struct coll_writer *writer, uint32_t channel, struct coll_part piece)
{
	for (uint32_t i = writer->config->ranks - 1; i > 0; i--) {
		uint32_t rank = writer->rank_at[i], up = writer->parent[rank];
		struct coll_hop hop = {rank, up, channel, true};
		writer->last[up] = coll_send(writer, hop, piece, writer->last[rank],
					     writer->last[up]);
	}
}

static void put_down(struct coll_writer *writer, uint32_t channel, struct coll_part piece)
{
	for (uint32_t i = 1; i < writer->config->ranks; i++) {
		uint32_t rank = writer->rank_at[i], up = writer->parent[rank];
		struct coll_hop hop = {up, rank, channel, false};
		writer->last[rank] = coll_send(writer, hop, piece, writer->last[up], OP_NONE);
	}
}

static void put_tree(struct coll_writer *writer, uint32_t channel, struct coll_part share)
{
	const struct coll_config *config = writer->config;
	for (uint64_t i = 0; i < coll_pieces(config, share.bytes); i++) {
		struct coll_part piece = coll_piece(config, share, i);
		coll_forget(writer);
		if (config->kind != COLL_BROADCAST)
			put_up(writer, channel, piece);
		if (config->kind != COLL_REDUCE)
			put_down(writer, channel, piece);
	}
}

void coll_put_tree(struct coll_writer *writer)
{
	const struct coll_config *config = writer->config;
	uint32_t trees = config->algorithm == COLL_DOUBLE_TREE ? 2 : 1;
	for (uint32_t channel = 0; channel < config->channels; channel++)
		for (uint32_t tree = 0; tree < trees; tree++) {
			struct coll_part share = coll_share(config, channel);
			coll_seat_tree(config, channel, tree, writer->parent);
			sort_by_depth(writer);
			put_tree(writer, channel, coll_cut(config, share, tree, trees));
		}
}
