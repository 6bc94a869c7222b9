// SPDX-License-Identifier: Apache-2.0
// A program written as GOAL text and read again is the same program: operation by operation of each
// rank, with what waits for what and who is matched with whom. GOAL has no word for where in memory
// a message lies. Random programs, and the files of others.
//
//   WEFT_PROGRAMS_FIRST=1 WEFT_PROGRAMS_COUNT=200     the seeds

#include "../random_world.h"

#include "../given.h"

#include <weft/trace/trace_run.h>
#include <weft/workload/workload_goal.h>

#define ARENA_BYTES (8u << 20)
#define OPS_MAX 300u
#define EDGES_MAX (4 * OPS_MAX)

static uint8_t memory[2][ARENA_BYTES] __attribute__((aligned(64)));
static struct arena arenas[2];

static struct arena *fresh(int which)
{
	memset(memory[which], 0, ARENA_BYTES);
	arena_init(&arenas[which], memory[which], ARENA_BYTES);
	return &arenas[which];
}

static void add_message(struct program *program, struct rng *rng)
{
	uint32_t from = pick(rng, 0, program->ranks - 1);
	uint32_t to = (from + pick(rng, 1, program->ranks - 1)) % program->ranks;
	uint32_t tag = pick(rng, 0, 3), bytes = pick(rng, 1, UINT32_MAX - 1);
	if (tag == 3)
		tag = UINT32_MAX;
	program_send(program, from, to, tag, bytes, 0);
	program_receive(program, to, from, tag, bytes, 0, false);
}

static struct program *draw(struct rng *rng)
{
	struct program *program;
	struct arena *arena = fresh(0);
	uint32_t ranks = pick(rng, 2, 9), ops = pick(rng, 2, OPS_MAX);
	assert_int_equal(program_create(&program, arena, ranks, ops + 1, EDGES_MAX, NULL), 0);
	while (program->op_count < ops) {
		uint32_t rank = pick(rng, 0, ranks - 1), stream = pick(rng, 0, 3);
		uint32_t ns = pick(rng, 0, 1000000);
		if (pick(rng, 0, 1))
			add_message(program, rng);
		else
			program_compute(program, rank, (uint16_t)(stream * 5000),
					ns * 7 * PS_PER_NS + stream);
	}
	for (uint32_t i = pick(rng, 0, 3 * ops); i > 0; i--) {
		uint32_t to = pick(rng, 1, ops - 1), from = pick(rng, 0, to - 1);
		if (program->ops[to].rank == program->ops[from].rank)
			program_wait(program, to, from);
	}
	assert_int_equal(program_seal(program, arena, NULL), 0);
	return program;
}

// ---------------------------------------------------------------- comparison

// By rank and number within the rank: op_of[first[rank] + number].
struct places {
	uint32_t number[OPS_MAX + 1], first[80], op_of[OPS_MAX + 1];
};

static void number_ops(struct places *ret, const struct program *program)
{
	uint32_t count = 0;
	for (uint32_t rank = 0; rank < program->ranks; rank++) {
		ret->first[rank] = count;
		for (uint32_t i = 0; i < program->op_count; i++) {
			if (program->ops[i].rank != rank)
				continue;
			ret->number[i] = count - ret->first[rank];
			ret->op_of[count++] = i;
		}
	}
}

static void same_op(const struct program *a, uint32_t i, const struct program *b, uint32_t k,
		    const struct places *of_a, const struct places *of_b)
{
	const struct op *one = &a->ops[i], *other = &b->ops[k];
	assert_int_equal(one->kind, other->kind);
	assert_int_equal(one->rank, other->rank);
	assert_int_equal(one->waits_for, other->waits_for);
	assert_int_equal(one->next_count, other->next_count);
	for (uint32_t n = 0; n < one->next_count; n++)
		assert_int_equal(of_a->number[a->next[one->next_first + n]],
				 of_b->number[b->next[other->next_first + n]]);
	if (one->kind == OP_COMPUTE) {
		assert_int_equal(one->compute_ps, other->compute_ps);
		assert_int_equal(one->stream, other->stream);
		return;
	}
	assert_int_equal(one->peer, other->peer);
	assert_int_equal(one->tag, other->tag);
	assert_int_equal(one->bytes, other->bytes);
	assert_int_equal(of_a->number[one->twin], of_b->number[other->twin]);
}

static void expect_round_trip(const struct program *program)
{
	static struct places before, after;
	struct program *again;
	struct refusal refusal = {0};
	char *text;
	size_t bytes;
	assert_int_equal(trace_goal_text(&text, &bytes, program, 1), 0);
	if (goal_parse(&again, fresh(1), text, bytes, 1, &refusal) < 0)
		fail_msg("%u:%u: %s", refusal.line, refusal.column, refusal.text);
	free(text);
	assert_int_equal(again->ranks, program->ranks);
	assert_int_equal(again->op_count, program->op_count);
	assert_int_equal(again->edge_count, program->edge_count);
	number_ops(&before, program);
	number_ops(&after, again);
	for (uint32_t i = 0; i < program->op_count; i++)
		same_op(program, before.op_of[i], again, after.op_of[i], &before, &after);
}

// ---------------------------------------------------------------- tests

static void random_programs_come_back_as_they_were(void **)
{
	uint64_t first = number("WEFT_PROGRAMS_FIRST", 1);
	uint64_t count = number("WEFT_PROGRAMS_COUNT", 200);
	for (uint64_t seed = first; seed < first + count; seed++) {
		struct rng rng = rng_of(seed, RNG_TEST, 0);
		seed_begin("WEFT_PROGRAMS", seed);
		expect_round_trip(draw(&rng));
	}
	seeds_end();
}

static void files_of_others_come_back_as_they_were(void **)
{
	static const char *const names[] = {"Financial_1", "binary_tree_32", "incast_8_1_2MiB",
					    "perm64"};
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		static char text[1 << 20];
		char path[256];
		struct program *program;
		snprintf(path, sizeof(path), "traces/given/goal/%s.goal", names[i]);
		size_t bytes = given_read(text, sizeof(text), path);
		assert_int_equal(goal_parse(&program, fresh(0), text, bytes, PS_PER_NS, NULL), 0);
		expect_round_trip(program);
	}
}
