// SPDX-License-Identifier: Apache-2.0
// Collectives as programs: what is refused, shapes of trees, the algorithm that NCCL would take,
// joins, and places in a larger program. What they compute: tests/property/workload_coll.c.

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <weft/workload/coll.h>

#define ARENA_BYTES ((size_t)8 << 20)

static const struct coll_config usual = {
	.kind = COLL_ALL_REDUCE,
	.algorithm = COLL_RING,
	.ranks = 8,
	.bytes = 1 << 20,
	.element_bytes = 4,
	.channels = 1,
	.chunk_bytes = 1 << 20,
	.domain = 1,
};

static void refused(const struct coll_config *config, const char *why)
{
	struct refusal refusal = {0};
	assert_true(coll_check(config, &refusal) < 0);
	assert_non_null(strstr(refusal.text, why));
}

static void what_makes_no_sense_is_refused(void **state)
{
	(void)state;
	struct refusal refusal;
	struct coll_config config = usual;
	assert_int_equal(coll_check(&config, &refusal), 0);
	config.algorithm = COLL_PAT;
	refused(&config, "no such algorithm");
	config = usual;
	config.algorithm = COLL_HALVING_DOUBLING;
	config.ranks = 6;
	assert_int_equal(coll_check(&config, &refusal), 0); // folded
	config.kind = COLL_ALL_GATHER;
	refused(&config, "power of two of ranks, not 6");
	config.algorithm = COLL_PAT;
	assert_int_equal(coll_check(&config, &refusal), 0);
	config.domain = 2;
	refused(&config, "one rank a scale-up domain");
	config = usual;
	config.domain = 3;
	refused(&config, "whole scale-up domains of 3");
	config = usual;
	config.bytes = 1023;
	refused(&config, "whole elements of 4");
	config = usual;
	config.element_bytes = 3;
	refused(&config, "1, 2, 4 or 8 bytes, not 3");
	config = usual;
	config.root = 1;
	refused(&config, "rank 1 cannot be the root");
	config = usual;
	config.chunk_bytes = 3;
	refused(&config, "a chunk has 4");
	config = usual;
	config.ranks = 1;
	refused(&config, "not 1");
}

// ---------------------------------------------------------------- trees

static struct program *program_of(struct arena *arena, void *memory,
				  const struct coll_config *config)
{
	struct refusal refusal = {0};
	struct program *program;
	memset(memory, 0, ARENA_BYTES);
	arena_init(arena, memory, ARENA_BYTES);
	if (coll_program(&program, arena, config, &refusal) < 0)
		fail_msg("%s", refusal.text);
	return program;
}

// Whom each rank sends sums to in one tree. Trees take turns: tree `tree` has the bytes from
// `first` on.
static void parents(const struct program *program, uint64_t first, uint64_t end, int64_t *ret)
{
	for (uint32_t rank = 0; rank < program->ranks; rank++)
		ret[rank] = -1;
	for (uint32_t i = 0; i < program->op_count; i++) {
		const struct op *op = &program->ops[i];
		if (op->kind == OP_RECEIVE && op->is_sum && op->offset >= first && op->offset < end)
			ret[op->peer] = op->rank;
	}
}

// NCCL draws them so (src/graph/trees.cc): of 14 ranks, and the shifted second of an odd number.
static void trees_are_those_of_nccl(void **state)
{
	static const int64_t of_14[] = {-1, 2, 4, 2, 8, 6, 4, 6, 0, 10, 12, 10, 8, 12};
	static const int64_t of_7[] = {-1, 2, 4, 2, 0, 6, 4};
	struct coll_config config = usual;
	struct arena arena;
	void *memory = aligned_alloc(64, ARENA_BYTES);
	int64_t is[14];
	(void)state;
	config.algorithm = COLL_DOUBLE_TREE;
	config.ranks = 14;
	struct program *program = program_of(&arena, memory, &config);
	parents(program, 0, config.bytes / 2, is);
	assert_memory_equal(is, of_14, sizeof(of_14));
	parents(program, config.bytes / 2, config.bytes, is); // in the mirror
	for (uint32_t rank = 0; rank < 14; rank++)
		assert_int_equal(is[13 - rank], of_14[rank] < 0 ? -1 : 13 - of_14[rank]);
	config.ranks = 7;
	program = program_of(&arena, memory, &config);
	parents(program, 0, config.bytes / 2, is);
	assert_memory_equal(is, of_7, sizeof(of_7));
	parents(program, config.bytes / 2, config.bytes, is);
	for (uint32_t rank = 0; rank < 7; rank++)
		assert_int_equal(is[(rank + 1) % 7], of_7[rank] < 0 ? -1 : (of_7[rank] + 1) % 7);
	free(memory);
}

// A leaf of one tree has children in the other: nobody but the two tops sends less than it may.
static void every_rank_works_in_one_tree(void **state)
{
	struct coll_config config = usual;
	struct arena arena;
	void *memory = aligned_alloc(64, ARENA_BYTES);
	(void)state;
	config.algorithm = COLL_DOUBLE_TREE;
	for (config.ranks = 2; config.ranks <= 40; config.ranks++) {
		struct program *program = program_of(&arena, memory, &config);
		uint64_t sent[40] = {0};
		for (uint32_t i = 0; i < program->op_count; i++)
			if (program->ops[i].kind == OP_SEND)
				sent[program->ops[i].rank] += program->ops[i].bytes;
		for (uint32_t rank = 0; rank < config.ranks; rank++)
			assert_in_range(sent[rank], config.bytes / 2, 2 * config.bytes);
	}
	free(memory);
}

// ---------------------------------------------------------------- in a larger program

// Two collectives of half of the ranks each, one behind the other: the second waits for the first.
static void places_are_kept(void **state)
{
	static const uint32_t ranks[] = {1, 3, 5, 7};
	struct coll_config config = usual;
	struct refusal refusal = {0};
	struct arena arena;
	struct program *program;
	struct program_run *run;
	void *memory = aligned_alloc(64, ARENA_BYTES);
	uint32_t after[4] = {OP_NONE, OP_NONE, OP_NONE, OP_NONE}, ops, edges;
	(void)state;
	memset(memory, 0, ARENA_BYTES);
	arena_init(&arena, memory, ARENA_BYTES);
	config.ranks = 4;
	assert_int_equal(coll_count(&config, &arena, true, &ops, &edges, &refusal), 0);
	assert_int_equal(program_create(&program, &arena, 8, 2 * ops, 2 * edges, &refusal), 0);
	struct coll_place place = {.ranks = ranks, .after = after, .tag = 5, .offset = 64};
	assert_int_equal(coll_put(program, &arena, &config, &place, &refusal), 0);
	assert_int_equal(program->op_count, ops);
	uint32_t half = program->op_count;
	place.tag = 9;
	assert_int_equal(coll_put(program, &arena, &config, &place, &refusal), 0);
	assert_int_equal(program->buffer_bytes, 64 + config.bytes);
	assert_int_equal(program_seal(program, &arena, &refusal), 0);
	assert_int_equal(program_run_create(&run, &arena, program), 0);
	for (uint32_t rank = 0; rank < 8; rank++)
		for (uint32_t op; (op = program_run_next(run, rank)) != OP_NONE;) {
			assert_true(op < half); // the second has nothing to do yet
			assert_true(rank % 2 == 1);
			assert_int_equal(program->ops[op].kind, OP_SEND);
			assert_int_equal(program->ops[op].tag, 5);
			assert_true(program->ops[op].offset >= 64);
		}
	free(memory);
}

// ---------------------------------------------------------------- choices and figures

static enum coll_algorithm chosen(const struct coll_config *config, const struct coll_lines *lines)
{
	enum coll_algorithm other;
	return coll_choose(config, lines, &other);
}

static void what_may_be_as_quick_is_told(void **)
{
	struct coll_config config = usual;
	const struct coll_lines lines = {
		.bus_bps = UINT64_C(400000000000), .network_us = 3.5, .ring_us = 3.5};
	enum coll_algorithm other;
	config.ranks = 8;
	config.bytes = 1 << 17;
	assert_int_equal(coll_choose(&config, &lines, &other), COLL_DOUBLE_TREE);
	assert_int_equal(other, COLL_RING);
	config.bytes = 1 << 21;
	assert_int_equal(coll_choose(&config, &lines, &other), COLL_RING);
	assert_int_equal(other, COLL_DOUBLE_TREE);
	config.bytes = 8;
	config.ranks = 128;
	assert_int_equal(coll_choose(&config, &lines, &other), COLL_DOUBLE_TREE);
	assert_int_equal(other, COLL_DOUBLE_TREE);
	config.kind = COLL_ALL_TO_ALL;
	assert_int_equal(coll_choose(&config, &lines, &other), COLL_DIRECT);
	assert_int_equal(other, COLL_DIRECT);
}

static void what_is_likely_quicker_is_taken(void **state)
{
	struct coll_config config = usual;
	const struct coll_lines lines = {.bus_bps = UINT64_C(400000000000),
					 .inside_us = 3,
					 .network_us = 3.5,
					 .ring_us = 3.5};
	(void)state;
	config.ranks = 64;
	config.bytes = 1 << 10; // latency decides: 126 hops of a ring, 12 of a tree
	assert_int_equal(chosen(&config, &lines), COLL_DOUBLE_TREE);
	config.bytes = UINT64_C(1) << 33; // bandwidth
	assert_int_equal(chosen(&config, &lines), COLL_RING);
	config.kind = COLL_REDUCE_SCATTER;
	assert_int_equal(chosen(&config, &lines), COLL_RING);
	config.bytes = 1 << 10;
	assert_int_equal(chosen(&config, &lines), COLL_PAT);
	config.domain = 2; // PAT has one rank a node
	assert_int_equal(chosen(&config, &lines), COLL_RING);
	config.kind = COLL_ALL_TO_ALL;
	assert_int_equal(chosen(&config, &lines), COLL_DIRECT);
	// 32 ranks on hosts of eight: 4 MiB by a tree, 64 MiB by a ring, as they run
	const struct coll_lines eight = {.bus_bps = UINT64_C(3200000000000),
					 .inside_bps = UINT64_C(3600000000000),
					 .inside_us = 3,
					 .network_us = 3.5,
					 .ring_us = 3.5};
	config.kind = COLL_ALL_REDUCE;
	config.ranks = 32;
	config.domain = config.channels = 8;
	config.chunk_bytes = 2 << 20;
	config.bytes = 4 << 20;
	assert_int_equal(chosen(&config, &eight), COLL_DOUBLE_TREE);
	config.bytes = 64 << 20;
	assert_int_equal(chosen(&config, &eight), COLL_RING);
	config.ranks = 16; // between two hosts a tree sends the bytes once: where NICs are slow
	assert_int_equal(chosen(&config, &eight), COLL_RING);
	struct coll_lines slow = eight;
	slow.bus_bps /= 4;
	assert_int_equal(chosen(&config, &slow), COLL_DOUBLE_TREE);
	// over-subscribed: of rails every hop of a ring goes up, of T0s one edge of it and more of
	// trees
	struct coll_lines over = eight;
	config.ranks = 64;
	assert_int_equal(chosen(&config, &over), COLL_RING);
	over.is_rail = true;
	over.parts[0].ranks = 8;
	over.parts[0].up_bps = UINT64_C(8) * 400000000000 / 4;
	assert_int_equal(chosen(&config, &over), COLL_DOUBLE_TREE);
	over.is_rail = false;
	config.bytes = 16 << 20;
	over.parts[0].up_bps = 0;
	assert_int_equal(chosen(&config, &over), COLL_DOUBLE_TREE);
	over.parts[0].up_bps = UINT64_C(3200000000000) / 4;
	assert_int_equal(chosen(&config, &over), COLL_RING);
}

static void assert_near(double is, double should)
{
	assert_true(is > should - 1e-12 && is < should + 1e-12);
}

// nccl-tests, doc/PERFORMANCE.md.
static void bus_bandwidth_is_that_of_nccl_tests(void **state)
{
	(void)state;
	assert_near(coll_bus_factor(COLL_ALL_REDUCE, 8), 2 * 7.0 / 8);
	assert_near(coll_bus_factor(COLL_REDUCE_SCATTER, 8), 7.0 / 8);
	assert_near(coll_bus_factor(COLL_ALL_GATHER, 8), 7.0 / 8);
	assert_near(coll_bus_factor(COLL_ALL_TO_ALL, 8), 7.0 / 8);
	assert_near(coll_bus_factor(COLL_GATHER, 8), 7.0 / 8);
	assert_near(coll_bus_factor(COLL_SCATTER, 8), 7.0 / 8);
	assert_near(coll_bus_factor(COLL_BROADCAST, 8), 1);
	assert_near(coll_bus_factor(COLL_REDUCE, 8), 1);
	assert_near(coll_bus_factor(COLL_SEND_RECEIVE, 8), 1);
}

// Not after its memory is full: that takes seconds where there is much of it.
static void a_program_that_has_no_room_is_refused_at_once(void **state)
{
	(void)state;
	static _Alignas(64) uint8_t memory[ARENA_BYTES];
	struct coll_config config = usual;
	struct refusal refusal = {0};
	struct program *program;
	struct arena arena;
	config.chunk_bytes = 64;
	arena_init(&arena, memory, ARENA_BYTES);
	assert_int_equal(coll_program(&program, &arena, &config, &refusal), -ENOMEM);
	assert_non_null(strstr(refusal.text, "take larger chunks"));
	assert_true(arena.used < 1024); // the scratch of counting
	config.chunk_bytes = 1 << 14;
	assert_int_equal(coll_program(&program, &arena, &config, &refusal), 0);
}
