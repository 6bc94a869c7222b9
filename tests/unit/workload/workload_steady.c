// SPDX-License-Identifier: Apache-2.0
// When a ring's state is steady: what repeats is; what only seems to is told apart, and by what.

#include <stdint.h>

#include <cmocka.h>

#include <weft/core/rng.h>
#include <weft/workload/workload_steady.h>

#define BLOCK 8u
#define LINES 100u
#define SLICES 2u
#define STEP_PS INT64_C(50000000)

static const uint64_t even = (uint64_t)LINES * SLICES * 2 * BLOCK; // slices of all lines

// Two blocks of steps of these times and packets under way.
static struct steady seen(const ps_t *step_ps, const uint64_t *held)
{
	struct steady steady;
	ps_t at = 7 * PS_PER_MS;
	steady_init(&steady, BLOCK, 20000); // 2 %
	steady_begin(&steady, at);
	for (uint32_t i = 0; i < 2 * BLOCK; i++) {
		at += step_ps[i];
		steady_step(&steady, at, held[i], LINES);
		assert_int_equal(steady_has_block(&steady), (i + 1) % BLOCK == 0);
	}
	assert_true(steady_has_both(&steady));
	return steady;
}

static enum steady_verdict judge(const ps_t *step_ps, const uint64_t *held,
				 struct steady_lines lines, struct steady_jump *jump)
{
	struct steady steady = seen(step_ps, held);
	*jump = (struct steady_jump){.steps = 100};
	return steady_judge(&steady, &lines, jump);
}

static void fill(ps_t *step_ps, uint64_t *held)
{
	for (uint32_t i = 0; i < 2 * BLOCK; i++) {
		step_ps[i] = STEP_PS;
		held[i] = 5000;
	}
}

static void what_repeats_is_steady(void **)
{
	struct steady_jump jump;
	ps_t step_ps[2 * BLOCK];
	uint64_t held[2 * BLOCK];
	fill(step_ps, held);
	assert_int_equal(
		judge(step_ps, held, (struct steady_lines){LINES, SLICES, even, 1, STEP_PS}, &jump),
		STEADY);
	assert_int_equal(jump.time_ps, 100 * STEP_PS);
	assert_int_equal(jump.error_ps, 100 * STEP_PS / (4 * 2 * BLOCK)); // a quarter of a step
}

// Single steps may be long and short in turn, as slices come: the mean is what counts.
static void a_pattern_shorter_than_a_block_is_steady(void **)
{
	struct steady_jump jump;
	ps_t step_ps[2 * BLOCK];
	uint64_t held[2 * BLOCK];
	fill(step_ps, held);
	for (uint32_t i = 0; i < 2 * BLOCK; i++)
		step_ps[i] += i % 2 == 0 ? STEP_PS / 100 : -STEP_PS / 100;
	assert_int_equal(
		judge(step_ps, held, (struct steady_lines){LINES, SLICES, even, 1, STEP_PS}, &jump),
		STEADY);
	assert_int_equal(jump.time_ps, 100 * STEP_PS);
}

static void a_pattern_longer_than_a_block_is_not(void **)
{
	struct steady_jump jump;
	ps_t step_ps[2 * BLOCK];
	uint64_t held[2 * BLOCK];
	fill(step_ps, held);
	for (uint32_t i = BLOCK; i < 2 * BLOCK; i++)
		step_ps[i] += STEP_PS * 3 / 100;
	assert_int_equal(
		judge(step_ps, held, (struct steady_lines){LINES, SLICES, even, 1, STEP_PS}, &jump),
		STEADY_PACE);
}

static void steps_that_jitter_are_not(void **)
{
	struct steady_jump jump;
	ps_t step_ps[2 * BLOCK];
	uint64_t held[2 * BLOCK];
	struct rng rng = rng_of(1, RNG_FAULT, 3);
	uint32_t refused = 0;
	for (uint32_t round = 0; round < 50; round++) {
		fill(step_ps, held);
		for (uint32_t i = 0; i < 2 * BLOCK; i++)
			step_ps[i] += (ps_t)(rng_next(&rng) % (STEP_PS / 2)) - STEP_PS / 4;
		refused += judge(step_ps, held,
				 (struct steady_lines){LINES, SLICES, even, 1, STEP_PS},
				 &jump) != STEADY;
	}
	assert_in_range(refused, 45, 50); // few numbers may lie near each other by chance
	// the mean of the blocks agrees, and each step is far from it
	fill(step_ps, held);
	for (uint32_t i = 0; i < 2 * BLOCK; i++)
		step_ps[i] += (i / 4) % 2 == 0 ? STEP_PS / 5 : -STEP_PS / 5;
	assert_int_equal(
		judge(step_ps, held, (struct steady_lines){LINES, SLICES, even, 1, STEP_PS}, &jump),
		STEADY_JITTER);
}

// Steps that all take the same time, and a state that does not repeat behind them: a false period.
static void a_false_period_is_found_by_its_state(void **)
{
	struct steady_jump jump;
	ps_t step_ps[2 * BLOCK];
	uint64_t held[2 * BLOCK];
	const struct steady_lines alike = {LINES, SLICES, even, 1, STEP_PS};
	fill(step_ps, held);
	for (uint32_t i = 0; i < 2 * BLOCK; i++)
		held[i] += i * 100; // a queue that fills
	assert_int_equal(judge(step_ps, held, alike, &jump), STEADY_QUEUES);
	fill(step_ps, held);
	for (uint32_t i = 0; i < 2 * BLOCK; i++)
		held[i] -= i * 100; // one that empties
	assert_int_equal(judge(step_ps, held, alike, &jump), STEADY_QUEUES);
	fill(step_ps, held);
	const struct steady_lines ahead = {LINES, SLICES, even + even / 40, 1, STEP_PS};
	assert_int_equal(judge(step_ps, held, ahead, &jump), STEADY_APART); // the last falls back
	const struct steady_lines behind = {LINES, SLICES, even - even / 40, 1, STEP_PS};
	assert_int_equal(judge(step_ps, held, behind, &jump), STEADY_APART);
	const struct steady_lines one = {LINES, SLICES, even, SLICES + 1, STEP_PS};
	assert_int_equal(judge(step_ps, held, one, &jump), STEADY_APART); // a single line drifts
}

// What is left out may be off by the drift that was seen, even within the tolerance.
static void a_drift_within_the_tolerance_is_in_the_error(void **)
{
	struct steady_jump jump;
	ps_t step_ps[2 * BLOCK];
	uint64_t held[2 * BLOCK];
	fill(step_ps, held);
	const struct steady_lines ahead = {LINES, SLICES, even + even / 52, 1, STEP_PS};
	assert_int_equal(judge(step_ps, held, ahead, &jump), STEADY);
	assert_int_equal(jump.error_ps, 100 * STEP_PS / 3200 * 61); // 61 of 3,200 slices too far
}

static void the_oldest_block_is_forgotten(void **)
{
	struct steady_jump jump = {.steps = 10};
	ps_t step_ps[2 * BLOCK];
	uint64_t held[2 * BLOCK];
	fill(step_ps, held);
	for (uint32_t i = 0; i < BLOCK; i++)
		step_ps[i] *= 2; // it fills
	struct steady steady = seen(step_ps, held);
	const struct steady_lines alike = {LINES, SLICES, even, 1, 2 * STEP_PS};
	assert_int_equal(steady_judge(&steady, &alike, &jump), STEADY_PACE);
	for (uint32_t i = 0; i < BLOCK; i++) {
		steady_step(&steady, steady.last_at + STEP_PS, 5000, LINES);
		assert_int_equal(steady_has_both(&steady), i + 1 == BLOCK);
	}
	assert_int_equal(steady_judge(&steady, &alike, &jump), STEADY);
	assert_int_equal(jump.time_ps, 10 * STEP_PS);
}

// So many blocks of even steps, with the lead of all lines growing by `more` slices from each block
// to the next, on lines that a step fills for `line_ps`.
static enum steady_verdict judge_drift(uint32_t blocks, uint64_t more, ps_t line_ps, ps_t *error)
{
	struct steady steady;
	struct steady_jump jump = {.steps = 100};
	const struct steady_lines lines = {LINES, SLICES, even, 1, line_ps};
	steady_init(&steady, BLOCK, 20000);
	steady_begin(&steady, 0);
	for (uint32_t i = 0; i < blocks * BLOCK; i++)
		steady_step(&steady, (i + 1) * STEP_PS, 5000, 150 + i / BLOCK * more);
	enum steady_verdict verdict = steady_judge(&steady, &lines, &jump);
	*error = jump.error_ps;
	return verdict;
}

// Two blocks are alike to the slice, and the last rank falls behind all the same.
static void where_lines_have_room_a_slow_drift_is_found(void **)
{
	const ps_t room = STEP_PS * 9 / 10;
	const uint64_t slices = (uint64_t)LINES * SLICES * BLOCK; // of a block
	const ps_t least = 100 * STEP_PS / (8 * BLOCK);		  // resolution: a quarter of a step
	ps_t error;
	assert_int_equal(judge_drift(4, 0, room, &error), STEADY_SLACK);
	assert_int_equal(judge_drift(5, 0, room, &error), STEADY);
	assert_int_equal(error, least);
	assert_int_equal(judge_drift(5, slices / 80, room, &error), STEADY_APART);
	assert_int_equal(judge_drift(5, slices / 200, room, &error), STEADY);
	assert_int_equal(judge_drift(50, slices / 80, room, &error), STEADY_APART);
	// nobody is faster than a full line
	assert_int_equal(judge_drift(2, slices / 80, STEP_PS * 99 / 100, &error), STEADY);
	assert_int_equal(judge_drift(2, slices / 80, STEP_PS * 97 / 100, &error), STEADY_SLACK);
}

// A lull between two times of drift: what counts is how far they came since long before.
static void a_lull_in_a_drift_is_not_steady(void **)
{
	struct steady steady;
	struct steady_jump jump = {.steps = 100};
	const struct steady_lines lines = {LINES, SLICES, even, 1, STEP_PS / 2};
	steady_init(&steady, BLOCK, 20000);
	steady_begin(&steady, 0);
	for (uint32_t i = 0; i < 9 * BLOCK; i++) {
		uint64_t grown = i < 6 * BLOCK ? i : 6 * BLOCK;
		steady_step(&steady, (i + 1) * STEP_PS, 5000, 150 + 4 * grown);
	}
	assert_int_equal(steady_judge(&steady, &lines, &jump), STEADY_APART);
	for (uint32_t i = 9 * BLOCK; i < 17 * BLOCK; i++)
		steady_step(&steady, (i + 1) * STEP_PS, 5000, 150 + 4 * 6 * BLOCK);
	assert_int_equal(steady_judge(&steady, &lines, &jump), STEADY);
}
