// SPDX-License-Identifier: Apache-2.0
// The course of trees, as coll_tree.c puts them: a piece goes up when the pieces of all children
// are there, and down at once. How many children of a rank have sent is counted piece by piece.

#include <errno.h>

#include <weft/core/check.h>

#include "course_form.h"

// What a number says.
struct leaf {
	uint32_t tree, piece; // tree: channel, then first or second
	bool is_down;
};

static uint32_t trees_of_channel(const struct course *course)
{
	return course->config.algorithm == COLL_DOUBLE_TREE ? 2 : 1;
}

static struct coll_part share_of(const struct course *course, uint32_t tree)
{
	uint32_t trees = trees_of_channel(course);
	struct coll_part share = coll_share(&course->config, tree / trees);
	return coll_cut(&course->config, share, tree % trees, trees);
}

static uint32_t pieces_of(const struct course *course, uint32_t tree)
{
	return (uint32_t)coll_pieces(&course->config, share_of(course, tree).bytes);
}

static struct leaf leaf_of(const struct course *course, uint32_t number)
{
	uint32_t at = number >> 1;
	return (struct leaf){at / course->pieces, at % course->pieces, number & 1};
}

static struct course_message message_to(const struct course *course, uint32_t to, struct leaf leaf)
{
	struct coll_part piece = coll_piece(&course->config, share_of(course, leaf.tree),
					    leaf.piece);
	uint32_t at = leaf.tree * course->pieces + leaf.piece;
	return (struct course_message){to, at << 1 | leaf.is_down, (uint32_t)piece.bytes,
				       piece.offset};
}

static struct course_message message(const struct course *course, uint32_t from, uint32_t to,
				     uint32_t number)
{
	(void)from;
	return message_to(course, to, leaf_of(course, number));
}

static size_t cell(const struct course *course, uint32_t tree, uint32_t rank)
{
	return (size_t)tree * course->config.ranks + rank;
}

// ---------------------------------------------------------------- building

// Children in the order of their ranks.
static void hang(struct course *course, uint32_t tree)
{
	for (uint32_t i = 0; i < course->config.ranks; i++)
		course->child[cell(course, tree, i)] = OP_NONE;
	for (uint32_t rank = course->config.ranks; rank-- > 0;) {
		uint32_t parent = course->parent[cell(course, tree, rank)];
		if (parent == OP_NONE)
			continue;
		uint32_t *first = &course->child[cell(course, tree, parent)];
		course->sibling[cell(course, tree, rank)] = *first;
		*first = rank;
	}
}

static int draw(struct course *course, struct arena *arena)
{
	size_t seats = cell(course, course->trees, 0);
	course->parent = arena_draw(arena, ARENA_WORKLOAD, seats, sizeof(uint32_t));
	course->child = arena_draw(arena, ARENA_WORKLOAD, seats, sizeof(uint32_t));
	course->sibling = arena_draw(arena, ARENA_WORKLOAD, seats, sizeof(uint32_t));
	course->summed = arena_draw(arena, ARENA_WORKLOAD, seats * course->pieces, 1);
	return arena_has_failed(arena) ? -ENOMEM : 0;
}

static int create(struct course *course, struct arena *arena)
{
	const struct coll_config *config = &course->config;
	uint32_t ways = config->kind == COLL_ALL_REDUCE ? 2 : 1, each = trees_of_channel(course);
	course->trees = config->channels * each;
	course->pieces = 1;
	for (uint32_t tree = 0; tree < course->trees; tree++) {
		uint64_t pieces = coll_pieces(config, share_of(course, tree).bytes);
		course->pieces = pieces > course->pieces ? course_capped(pieces) : course->pieces;
		course_add(course, share_of(course, tree), (uint64_t)ways * (config->ranks - 1));
	}
	course->numbers = 2ull * course->trees * course->pieces;
	course->ready_max = course->messages;
	if (course->numbers >= OP_NONE)
		return -EINVAL;
	if (draw(course, arena) < 0)
		return -ENOMEM;
	for (uint32_t tree = 0; tree < course->trees; tree++) {
		coll_seat_tree(config, tree / each, tree % each,
			       course->parent + cell(course, tree, 0));
		hang(course, tree);
	}
	return 0;
}

// ---------------------------------------------------------------- events

static void tell_up(const struct course *course, uint32_t rank, struct leaf leaf,
		    const struct course_listener *to)
{
	struct course_message up = message_to(course, course->parent[cell(course, leaf.tree, rank)],
					      leaf);
	course_tell(to, &up);
}

static void tell_down(const struct course *course, uint32_t rank, struct leaf leaf,
		      const struct course_listener *to)
{
	leaf.is_down = true;
	for (uint32_t child = course->child[cell(course, leaf.tree, rank)]; child != OP_NONE;
	     child = course->sibling[cell(course, leaf.tree, child)]) {
		struct course_message down = message_to(course, child, leaf);
		course_tell(to, &down);
	}
}

static uint32_t children_of(const struct course *course, uint32_t tree, uint32_t rank)
{
	uint32_t count = 0;
	for (uint32_t child = course->child[cell(course, tree, rank)]; child != OP_NONE;
	     child = course->sibling[cell(course, tree, child)])
		count++;
	return count;
}

static void begin(struct course *course, uint32_t rank, const struct course_listener *to)
{
	bool is_broadcast = course->config.kind == COLL_BROADCAST;
	for (uint32_t tree = 0; tree < course->trees; tree++) {
		size_t seat = cell(course, tree, rank);
		for (uint32_t i = 0; i < pieces_of(course, tree); i++) {
			struct leaf leaf = {tree, i, false};
			if (is_broadcast && course->parent[seat] == OP_NONE)
				tell_down(course, rank, leaf, to);
			else if (!is_broadcast && course->child[seat] == OP_NONE)
				tell_up(course, rank, leaf, to);
		}
	}
}

static void arrived(struct course *course, uint32_t rank, uint32_t number,
		    const struct course_listener *to)
{
	struct leaf leaf = leaf_of(course, number);
	if (leaf.is_down) {
		tell_down(course, rank, leaf, to);
		return;
	}
	size_t at = ((size_t)rank * course->trees + leaf.tree) * course->pieces + leaf.piece;
	uint32_t children = children_of(course, leaf.tree, rank);
	check(course->summed[at] < children && "each child sends a piece once");
	if (++course->summed[at] < children)
		return;
	if (course->parent[cell(course, leaf.tree, rank)] != OP_NONE)
		tell_up(course, rank, leaf, to);
	else if (course->config.kind == COLL_ALL_REDUCE)
		tell_down(course, rank, leaf, to);
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

static uint32_t peers(const struct course *course, uint32_t rank, uint32_t *ret)
{
	enum coll_kind kind = course->config.kind;
	uint32_t count = 0;
	for (uint32_t tree = 0; tree < course->trees; tree++) {
		uint32_t parent = course->parent[cell(course, tree, rank)];
		if (pieces_of(course, tree) == 0)
			continue;
		if (parent != OP_NONE && kind != COLL_BROADCAST)
			count = list(parent, count, ret);
		if (kind == COLL_REDUCE)
			continue;
		for (uint32_t child = course->child[cell(course, tree, rank)]; child != OP_NONE;
		     child = course->sibling[cell(course, tree, child)])
			count = list(child, count, ret);
	}
	return count;
}

const struct course_form course_tree = {create, begin, arrived, message, peers};
