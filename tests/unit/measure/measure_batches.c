// SPDX-License-Identifier: Apache-2.0
// The error of a quantile from its parts: by hand, how often it covers, and when there is none.

#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include <weft/core/rng.h>
#include <weft/measure/measure_batches.h>

#define VALUE_MAX (UINT64_C(1) << 30)

static _Alignas(64) uint8_t memory[1 << 20];

static void fresh(struct batches *batches)
{
	struct arena arena;
	memset(memory, 0, sizeof(memory));
	arena_init(&arena, memory, sizeof(memory));
	assert_int_equal(batches_init(batches, &arena, VALUE_MAX), 0);
}

// Part i holds 100 (i + 1) alone: s = 244.95, times 2.365 / sqrt(8). Of the first four: 129.10 and
// 3.182 / 2.
static void the_error_is_that_of_the_mean_of_the_parts(void **)
{
	struct batches batches;
	fresh(&batches);
	for (uint32_t i = 0; i < 4; i++)
		batches_add(&batches, i, 0, 100 * (i + 1));
	assert_int_equal(batches_error(&batches, 990000, 1), 206);
	for (uint32_t i = 4; i < BATCH_COUNT; i++)
		batches_add(&batches, i, 0, 100 * (i + 1));
	assert_int_equal(batches_error(&batches, 990000, 1), 205);
	assert_int_equal(batches_error(&batches, 500000, 1), 205);
}

static void parts_that_are_alike_have_the_grain_of_their_histograms(void **)
{
	struct batches batches;
	fresh(&batches);
	for (uint32_t i = 0; i < BATCH_COUNT; i++)
		batches_add(&batches, i, 0, 5000);
	assert_int_equal(batches_error(&batches, 990000, 1), 50);
}

// From 1000 over 1100 to 1300: 200 more may follow, and the first part pulls by 300.
static void a_quantile_that_moves_drifts(void **)
{
	struct batches batches;
	fresh(&batches);
	assert_int_equal(batches_drift(&batches, 500000, 1), -1);
	for (uint32_t phase = 0; phase < PHASE_COUNT; phase++) {
		static const int64_t values[PHASE_COUNT] = {1000, 1100, 1300};
		assert_int_equal(batches_drift(&batches, 500000, 1), -1);
		batches_add(&batches, phase, phase, values[phase]);
	}
	assert_int_equal(batches_drift(&batches, 500000, 1), 500);
	assert_int_equal(batches_drift(&batches, 500000, 2), -1);
	const struct batches same = batches;
	batches_merge(&batches, &same);
	assert_int_equal(batches_drift(&batches, 500000, 2), 500);
	batches_empty(&batches);
	assert_int_equal(batches_drift(&batches, 500000, 0), -1);
}

static void parts_with_few_values_count_for_nothing(void **)
{
	struct batches batches, other, none = {0};
	fresh(&batches);
	for (uint32_t i = 0; i < BATCH_COUNT * 10; i++)
		batches_add(&batches, i % 3, 0, 1000);
	assert_int_equal(batches_error(&batches, 990000, 1), -1);
	batches_add(&batches, 3, 0, 1000);
	assert_int_equal(batches_error(&batches, 990000, 2), -1);
	assert_int_equal(batches_error(&batches, 990000, 1), 10);
	batches_add(&none, 0, 0, 1000);
	assert_int_equal(none.of[0].total, 0);
	batches_merge(&batches, &none);
	other = batches;
	batches_merge(&other, &batches); // the same cells: each count is doubled
	assert_int_equal(other.of[3].total, 2);
	batches_empty(&batches);
	assert_int_equal(batches_error(&batches, 990000, 0), -1);
}

// A value of a part: 10,000 and up to as much more, and what all of the part have in common, up to
// 1,000. The quantile of all parts together stands for that of more parts: 19,802 + 500 or so.
static int64_t covered(uint64_t seed)
{
	struct batches batches;
	int64_t sum = 0;
	fresh(&batches);
	struct rng rng = rng_of(seed, RNG_TEST, 1);
	for (uint32_t i = 0; i < BATCH_COUNT; i++) {
		int64_t common = (int64_t)rng_below(&rng, 1000);
		for (int j = 0; j < 2000; j++)
			batches_add(&batches, i, 0,
				    10000 + common + (int64_t)rng_below(&rng, 10000));
		sum += hist_quantile(&batches.of[i], 990000);
	}
	int64_t off = sum / BATCH_COUNT - 20400, error = batches_error(&batches, 990000, 100);
	assert_true(error < 1000);
	return (off < 0 ? -off : off) <= error;
}

static void nineteen_of_twenty_are_covered(void **)
{
	int64_t count = 0;
	for (uint64_t seed = 1; seed <= 400; seed++)
		count += covered(seed);
	print_message("%d of 400 are covered\n", (int)count);
	assert_in_range(count, 360, 396);
}
