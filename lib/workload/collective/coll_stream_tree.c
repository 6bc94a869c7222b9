// SPDX-License-Identifier: Apache-2.0
// The collective stream of trees, as coll_tree.c puts them: a piece goes up when the pieces of all
// children are there, and down at once. How many children of a rank have sent is counted piece by
// piece.

#include <errno.h>

#include <weft/core/check.h>

#include "coll_stream_form.h"

// What a number says.
struct leaf {
	uint32_t tree, piece; // tree: channel, then first or second
	bool is_down;
};

static uint32_t trees_of_channel(const struct coll_stream *coll_stream)
{
	return coll_stream->config.algorithm == COLL_DOUBLE_TREE ? 2 : 1;
}

static struct coll_part share_of(const struct coll_stream *coll_stream, uint32_t tree)
{
	uint32_t trees = trees_of_channel(coll_stream);
	struct coll_part share = coll_share(&coll_stream->config, tree / trees);
	return coll_cut(&coll_stream->config, share, tree % trees, trees);
}

static uint32_t pieces_of(const struct coll_stream *coll_stream, uint32_t tree)
{
	return (uint32_t)coll_pieces(&coll_stream->config, share_of(coll_stream, tree).bytes);
}

static struct leaf leaf_of(const struct coll_stream *coll_stream, uint32_t number)
{
	uint32_t at = number >> 1;
	return (struct leaf){at / coll_stream->pieces, at % coll_stream->pieces, number & 1};
}

static struct coll_stream_message message_to(const struct coll_stream *coll_stream, uint32_t to,
					     struct leaf leaf)
{
	struct coll_part piece = coll_piece(&coll_stream->config, share_of(coll_stream, leaf.tree),
					    leaf.piece);
	uint32_t at = leaf.tree * coll_stream->pieces + leaf.piece;
	return (struct coll_stream_message){to, at << 1 | leaf.is_down, (uint32_t)piece.bytes,
					    piece.offset};
}

static struct coll_stream_message message(const struct coll_stream *coll_stream, uint32_t from,
					  uint32_t to, uint32_t number)
{
	(void)from;
	return message_to(coll_stream, to, leaf_of(coll_stream, number));
}

static size_t cell(const struct coll_stream *coll_stream, uint32_t tree, uint32_t rank)
{
	return (size_t)tree * coll_stream->config.ranks + rank;
}

// ---------------------------------------------------------------- building

// Children in the order of their ranks.
static void hang(struct coll_stream *coll_stream, uint32_t tree)
{
	for (uint32_t i = 0; i < coll_stream->config.ranks; i++)
		coll_stream->child[cell(coll_stream, tree, i)] = OP_NONE;
	for (uint32_t rank = coll_stream->config.ranks; rank-- > 0;) {
		uint32_t parent = coll_stream->parent[cell(coll_stream, tree, rank)];
		if (parent == OP_NONE)
			continue;
		uint32_t *first = &coll_stream->child[cell(coll_stream, tree, parent)];
		coll_stream->sibling[cell(coll_stream, tree, rank)] = *first;
		*first = rank;
	}
}

static int draw(struct coll_stream *coll_stream, struct arena *arena)
{
	size_t cells = cell(coll_stream, coll_stream->trees, 0);
	coll_stream->parent = arena_draw(arena, ARENA_WORKLOAD, cells, sizeof(uint32_t));
	coll_stream->child = arena_draw(arena, ARENA_WORKLOAD, cells, sizeof(uint32_t));
	coll_stream->sibling = arena_draw(arena, ARENA_WORKLOAD, cells, sizeof(uint32_t));
	coll_stream->summed = arena_draw(arena, ARENA_WORKLOAD, cells * coll_stream->pieces, 1);
	return arena_has_failed(arena) ? -ENOMEM : 0;
}

static int create(struct coll_stream *coll_stream, struct arena *arena)
{
	const struct coll_config *config = &coll_stream->config;
	uint32_t ways = config->kind == COLL_ALL_REDUCE ? 2 : 1,
		 each = trees_of_channel(coll_stream);
	coll_stream->trees = config->channels * each;
	coll_stream->pieces = 1;
	for (uint32_t tree = 0; tree < coll_stream->trees; tree++) {
		uint64_t pieces = coll_pieces(config, share_of(coll_stream, tree).bytes);
		coll_stream->pieces = pieces > coll_stream->pieces ? coll_stream_capped(pieces)
								   : coll_stream->pieces;
		coll_stream_add(coll_stream, share_of(coll_stream, tree),
				(uint64_t)ways * (config->ranks - 1));
	}
	coll_stream->numbers = 2ull * coll_stream->trees * coll_stream->pieces;
	coll_stream->ready_max = coll_stream->messages;
	if (coll_stream->numbers >= OP_NONE)
		return -EINVAL;
	if (draw(coll_stream, arena) < 0)
		return -ENOMEM;
	for (uint32_t tree = 0; tree < coll_stream->trees; tree++) {
		coll_seat_tree(config, tree / each, tree % each,
			       coll_stream->parent + cell(coll_stream, tree, 0));
		hang(coll_stream, tree);
	}
	return 0;
}

// ---------------------------------------------------------------- events

static void tell_up(const struct coll_stream *coll_stream, uint32_t rank, struct leaf leaf,
		    const struct coll_stream_listener *to)
{
	struct coll_stream_message up = message_to(
		coll_stream, coll_stream->parent[cell(coll_stream, leaf.tree, rank)], leaf);
	coll_stream_tell(to, &up);
}

static void tell_down(const struct coll_stream *coll_stream, uint32_t rank, struct leaf leaf,
		      const struct coll_stream_listener *to)
{
	leaf.is_down = true;
	for (uint32_t child = coll_stream->child[cell(coll_stream, leaf.tree, rank)];
	     child != OP_NONE; child = coll_stream->sibling[cell(coll_stream, leaf.tree, child)]) {
		struct coll_stream_message down = message_to(coll_stream, child, leaf);
		coll_stream_tell(to, &down);
	}
}

static uint32_t children_of(const struct coll_stream *coll_stream, uint32_t tree, uint32_t rank)
{
	uint32_t count = 0;
	for (uint32_t child = coll_stream->child[cell(coll_stream, tree, rank)]; child != OP_NONE;
	     child = coll_stream->sibling[cell(coll_stream, tree, child)])
		count++;
	return count;
}

static void begin(struct coll_stream *coll_stream, uint32_t rank,
		  const struct coll_stream_listener *to)
{
	bool is_broadcast = coll_stream->config.kind == COLL_BROADCAST;
	for (uint32_t tree = 0; tree < coll_stream->trees; tree++) {
		size_t gpu_location = cell(coll_stream, tree, rank);
		for (uint32_t i = 0; i < pieces_of(coll_stream, tree); i++) {
			struct leaf leaf = {tree, i, false};
			if (is_broadcast && coll_stream->parent[gpu_location] == OP_NONE)
				tell_down(coll_stream, rank, leaf, to);
			else if (!is_broadcast && coll_stream->child[gpu_location] == OP_NONE)
				tell_up(coll_stream, rank, leaf, to);
		}
	}
}

static void arrived(struct coll_stream *coll_stream, uint32_t rank, uint32_t number,
		    const struct coll_stream_listener *to)
{
	struct leaf leaf = leaf_of(coll_stream, number);
	if (leaf.is_down) {
		tell_down(coll_stream, rank, leaf, to);
		return;
	}
	size_t at = ((size_t)rank * coll_stream->trees + leaf.tree) * coll_stream->pieces +
		leaf.piece;
	uint32_t children = children_of(coll_stream, leaf.tree, rank);
	check(coll_stream->summed[at] < children && "each child sends a piece once");
	if (++coll_stream->summed[at] < children)
		return;
	if (coll_stream->parent[cell(coll_stream, leaf.tree, rank)] != OP_NONE)
		tell_up(coll_stream, rank, leaf, to);
	else if (coll_stream->config.kind == COLL_ALL_REDUCE)
		tell_down(coll_stream, rank, leaf, to);
}

// ---------------------------------------------------------------- peers

// Lists a rank that is not listed yet; returns how many are.
static uint32_t list(uint32_t rank, uint32_t count, uint32_t *ret)
{
	for (uint32_t i = 0; i < count; i++)
		if (ret[i] == rank)
			return count;
	ret[count] = rank;
	return count + 1;
}

static uint32_t peers(const struct coll_stream *coll_stream, uint32_t rank, uint32_t *ret)
{
	enum coll_kind kind = coll_stream->config.kind;
	uint32_t count = 0;
	for (uint32_t tree = 0; tree < coll_stream->trees; tree++) {
		uint32_t parent = coll_stream->parent[cell(coll_stream, tree, rank)];
		if (pieces_of(coll_stream, tree) == 0)
			continue;
		if (parent != OP_NONE && kind != COLL_BROADCAST)
			count = list(parent, count, ret);
		if (kind == COLL_REDUCE)
			continue;
		for (uint32_t child = coll_stream->child[cell(coll_stream, tree, rank)];
		     child != OP_NONE; child = coll_stream->sibling[cell(coll_stream, tree, child)])
			count = list(child, count, ret);
	}
	return count;
}

const struct coll_stream_form coll_stream_tree = {create, begin, arrived, message, peers};
