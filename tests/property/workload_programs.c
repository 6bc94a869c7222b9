// SPDX-License-Identifier: Apache-2.0
// Random programs without circles end, whatever order their events come in, and no operation begins
// before all that it waits for has ended. With a circle put in they are refused.
//
//   WEFT_PROGRAMS_FIRST=1 WEFT_PROGRAMS_COUNT=300     the seeds

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <weft/core/rng.h>
#include <weft/workload/program.h>

#include "../seeds.h"

#define ARENA_BYTES (4u << 20)
#define OPS_MAX 400u
#define EDGES_MAX 1200u

static uint8_t memory[ARENA_BYTES] __attribute__((aligned(64)));
static struct arena arena;

// What this test knows of a program, kept apart from it.
static struct {
	uint32_t edges, from[EDGES_MAX], to[EDGES_MAX];
	bool has_ended[OPS_MAX], has_arrived[OPS_MAX];
} known;

static uint32_t pick(struct rng *rng, uint32_t low, uint32_t high)
{
	return low + rng_below(rng, high - low + 1);
}

static void wait_for(struct program *program, uint32_t op, uint32_t before)
{
	program_wait(program, op, before);
	known.from[known.edges] = before;
	known.to[known.edges++] = op;
}

// A message: its receive may wait for operations that are older than its send, and the reverse.
static void add_pair(struct program *program, struct rng *rng)
{
	uint32_t from = pick(rng, 0, program->ranks - 1);
	uint32_t to = (from + pick(rng, 1, program->ranks - 1)) % program->ranks;
	uint32_t tag = pick(rng, 0, 2), bytes = pick(rng, 1, 100);
	if (pick(rng, 0, 1)) {
		program_send(program, from, to, tag, bytes, 0);
		program_receive(program, to, from, tag, bytes, 0, false);
	} else {
		program_receive(program, to, from, tag, bytes, 0, false);
		program_send(program, from, to, tag, bytes, 0);
	}
}

// All edges lead from older to younger, and messages between operations that stand together.
static struct program *draw(struct rng *rng)
{
	struct program *program;
	uint32_t ranks = pick(rng, 2, 9), ops = pick(rng, 2, OPS_MAX);
	uint32_t edges = pick(rng, 0, 3 * ops);
	memset(memory, 0, sizeof(memory));
	memset(&known, 0, sizeof(known));
	arena_init(&arena, memory, sizeof(memory));
	assert_int_equal(program_create(&program, &arena, ranks, ops, EDGES_MAX, NULL), 0);
	while (program->op_count < ops) {
		uint32_t rank = pick(rng, 0, ranks - 1);
		if (program->op_count + 1 < ops && pick(rng, 0, 2) > 0)
			add_pair(program, rng);
		else
			program_compute(program, rank, (uint16_t)pick(rng, 0, 2), 10);
	}
	for (uint32_t i = 0; i < edges; i++) {
		uint32_t to = pick(rng, 1, ops - 1), from = pick(rng, 0, to - 1);
		bool is_pair = program->ops[to].kind == OP_SEND &&
			program->ops[from].kind == OP_RECEIVE && from + 1 == to;
		if (program->ops[to].rank == program->ops[from].rank && !is_pair)
			wait_for(program, to, from);
	}
	return program;
}

static void expect_may_begin(uint32_t op)
{
	for (uint32_t i = 0; i < known.edges; i++)
		if (known.to[i] == op)
			assert_true(known.has_ended[known.from[i]]);
}

// What may end now: computations and sends that were told, messages that were sent.
struct bag {
	uint32_t count, ops[2 * OPS_MAX];
};

static void tell(struct program_run *run, const struct program *program, struct bag *bag)
{
	for (uint32_t rank = 0; rank < program->ranks; rank++) {
		for (uint32_t op; (op = program_run_next(run, rank)) != OP_NONE;) {
			assert_int_equal(program->ops[op].rank, rank);
			expect_may_begin(op);
			bag->ops[bag->count++] = op;
			if (program->ops[op].kind == OP_SEND)
				bag->ops[bag->count++] = program->ops[op].twin;
		}
	}
}

// Receives end by themselves: once their message is there and all before them has ended.
static void end_receives(const struct program *program)
{
	bool has_changed = true;
	while (has_changed) {
		has_changed = false;
		for (uint32_t op = 0; op < program->op_count; op++) {
			bool may = program->ops[op].kind == OP_RECEIVE && known.has_arrived[op] &&
				!known.has_ended[op];
			for (uint32_t i = 0; may && i < known.edges; i++)
				may = known.to[i] != op || known.has_ended[known.from[i]];
			known.has_ended[op] |= may;
			has_changed |= may;
		}
	}
}

static uint32_t left(const struct program_run *run, const struct program *program)
{
	uint32_t count = 0;
	for (uint32_t rank = 0; rank < program->ranks; rank++)
		count += program_run_left(run, rank);
	return count;
}

static void expect_ends(const struct program *program, struct rng *rng)
{
	struct program_run *run;
	struct bag bag = {0};
	assert_int_equal(program_run_create(&run, &arena, program), 0);
	tell(run, program, &bag);
	while (bag.count > 0) {
		uint32_t at = pick(rng, 0, bag.count - 1), op = bag.ops[at], ended = 0;
		bag.ops[at] = bag.ops[--bag.count];
		if (program->ops[op].kind == OP_RECEIVE) {
			program_run_arrived(run, op);
			known.has_arrived[op] = true;
		} else {
			program_run_ended(run, op);
			known.has_ended[op] = true;
		}
		end_receives(program);
		for (uint32_t i = 0; i < program->op_count; i++)
			ended += known.has_ended[i];
		assert_int_equal(left(run, program), program->op_count - ended);
		tell(run, program, &bag);
	}
	assert_int_equal(left(run, program), 0);
}

// Closes a circle: the first operation of a chain waits for the last.
static bool close_circle(struct program *program, struct rng *rng)
{
	if (known.edges == 0 || known.edges == EDGES_MAX)
		return false;
	uint32_t edge = pick(rng, 0, known.edges - 1);
	wait_for(program, known.from[edge], known.to[edge]);
	return true;
}

static void random_programs_end(void **)
{
	uint64_t first = number("WEFT_PROGRAMS_FIRST", 1);
	uint64_t count = number("WEFT_PROGRAMS_COUNT", 300), circles = 0;
	for (uint64_t seed = first; seed < first + count; seed++) {
		struct rng rng = rng_of(seed, RNG_TEST, 0);
		struct refusal refusal = {0};
		seed_begin("WEFT_PROGRAMS", seed);
		struct program *program = draw(&rng);
		if (program_seal(program, &arena, &refusal) < 0)
			fail_msg("refused: %s", refusal.text);
		expect_ends(program, &rng);
		rng = rng_of(seed, RNG_TEST, 0);
		program = draw(&rng);
		if (!close_circle(program, &rng))
			continue;
		circles++;
		assert_true(program_seal(program, &arena, &refusal) < 0);
		assert_non_null(strstr(refusal.text, "it waits for itself"));
	}
	seeds_end();
	assert_true(circles > count / 2 || count < 20);
}
