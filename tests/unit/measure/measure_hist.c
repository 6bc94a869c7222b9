// SPDX-License-Identifier: Apache-2.0
// Tests of the log-linear histogram against exact sorting of the raw values.

#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <weft/core/order.h>
#include <weft/core/rng.h>
#include <weft/measure/measure.h>

#define ARENA_BYTES ((size_t)32 << 20)
#define SAMPLES 20000

static void *base;
static struct arena arena;

static int set_up(void **)
{
	base = aligned_alloc(64, ARENA_BYTES);
	assert_non_null(base);
	memset(base, 0, ARENA_BYTES);
	arena_init(&arena, base, ARENA_BYTES);
	return 0;
}

static int tear_down(void **)
{
	free(base);
	return 0;
}

static struct hist fresh(unsigned digits, uint64_t value_max)
{
	struct hist hist;
	assert_int_equal(hist_init(&hist, &arena, digits, value_max), 0);
	return hist;
}

static uint64_t power_of_ten(unsigned digits)
{
	uint64_t power = 1;
	while (digits-- > 0)
		power *= 10;
	return power;
}

// Nearest rank on sorted raw values, counted up one by one: no formula in common with the code.
static int64_t sorted_quantile(const int64_t *sorted, uint64_t count, uint32_t parts)
{
	uint64_t rank = 1;
	while (rank < count && rank * 1000000 < (uint64_t)parts * count)
		rank++;
	return sorted[rank - 1];
}

static const uint32_t quantiles[] = {0,	     1,	     1000,   10000,  250000, 500000, 900000,
				     950000, 990000, 999000, 999900, 999999, 1000000};

// Every quantile is at or above the exact one, by less than one part in 10^digits, never above the
// maximum.
static void quantiles_match(const struct hist *hist, unsigned digits, int64_t *values,
			    uint64_t count)
{
	qsort(values, count, sizeof(*values), order_int64);
	for (size_t i = 0; i < sizeof(quantiles) / sizeof(*quantiles); i++) {
		int64_t exact = sorted_quantile(values, count, quantiles[i]);
		int64_t got = hist_quantile(hist, quantiles[i]);
		assert_true(got >= exact && got <= values[count - 1]);
		if (exact <= (int64_t)hist->value_max)
			assert_true((uint64_t)(got - exact) * power_of_ten(digits) <=
				    (uint64_t)exact);
	}
	assert_int_equal(hist_quantile(hist, 1000000), values[count - 1]);
}

enum shape { UNIFORM_SMALL, UNIFORM, LOG_UNIFORM, TWO_PEAKS, CONSTANT, POWERS, SHAPE_COUNT };

static int64_t draw(enum shape shape, struct rng *rng)
{
	uint64_t random = rng_next(rng);
	switch (shape) {
	case UNIFORM_SMALL:
		return (int64_t)(random % 100);
	case UNIFORM:
		return (int64_t)(random % 10000000);
	case LOG_UNIFORM:
		return (int64_t)(rng_next(rng) >> (24 + random % 40));
	case TWO_PEAKS:
		return (int64_t)(random % 1000 == 0 ? 90000000 + random % 1000 : 7000 + random % 9);
	case CONSTANT:
		return 123456789;
	default: // powers of two and their neighbours: where buckets and cells meet
		return (int64_t)((UINT64_C(1) << (1 + random % 38)) + random / 64 % 3 - 1);
	}
}

static void quantiles_match_sorting_for_every_shape_and_precision(void **)
{
	int64_t *values = malloc(SAMPLES * sizeof(*values));
	assert_non_null(values);
	for (unsigned digits = 1; digits <= 4; digits++) {
		for (enum shape shape = 0; shape < SHAPE_COUNT; shape++) {
			struct rng rng = rng_of(7, RNG_TEST, shape * 10 + digits);
			uint64_t count = shape == UNIFORM ? SAMPLES : 1 + rng_below(&rng, SAMPLES);
			struct hist hist = fresh(digits, UINT64_C(1) << 40);
			uint64_t sum = 0;
			for (uint64_t i = 0; i < count; i++) {
				values[i] = draw(shape, &rng);
				sum += (uint64_t)values[i];
				hist_add(&hist, values[i]);
			}
			quantiles_match(&hist, digits, values, count);
			assert_int_equal(hist.total, count);
			assert_int_equal(hist.over, 0);
			assert_int_equal(hist.min, values[0]);
			assert_int_equal(hist.max, values[count - 1]);
			assert_int_equal(hist.sum, sum);
			assert_int_equal(hist_mean(&hist), (int64_t)(sum / count));
		}
	}
	free(values);
}

static void small_counts_follow_the_nearest_rank(void **)
{
	struct hist hist = fresh(3, 1000000);
	for (int64_t value = 1; value <= 10; value++)
		hist_add(&hist, value);
	assert_int_equal(hist_quantile(&hist, 0), 1);
	assert_int_equal(hist_quantile(&hist, 100000), 1);
	assert_int_equal(hist_quantile(&hist, 100001), 2);
	assert_int_equal(hist_quantile(&hist, 500000), 5);
	assert_int_equal(hist_quantile(&hist, 500001), 6);
	assert_int_equal(hist_quantile(&hist, 999000), 10);
}

static void an_empty_histogram_has_no_quantile_and_no_mean(void **)
{
	struct hist hist = fresh(3, 1000);
	assert_int_equal(hist_quantile(&hist, 500000), -1);
	assert_int_equal(hist_mean(&hist), -1);
	struct hist other = fresh(3, 1000);
	hist_merge(&hist, &other);
	assert_int_equal(hist.total, 0);
	hist_add(&hist, 0);
	assert_int_equal(hist_quantile(&hist, 500000), 0);
	assert_int_equal(hist_mean(&hist), 0);
	assert_int_equal(hist.min, 0);
	assert_int_equal(hist.max, 0);
}

static void values_of_the_first_bucket_are_exact(void **)
{
	for (int64_t value = 0; value < 2000; value++) {
		struct hist hist = {0};
		arena_init(&arena, base, ARENA_BYTES);
		memset(base, 0, 1 << 18);
		hist = fresh(3, 1000000);
		hist_add(&hist, value);
		hist_add(&hist, 999999);
		assert_int_equal(hist_quantile(&hist, 500000), value);
	}
}

static void cells_tile_the_values_without_gap(void **)
{
	for (unsigned digits = 1; digits <= 4; digits++) {
		struct hist hist = fresh(digits, UINT64_C(1) << 36);
		uint64_t next = 0;
		for (uint32_t cell = 0; cell < hist.cells; cell++) {
			uint64_t width;
			uint64_t low = hist_cell_low(&hist, cell, &width);
			assert_int_equal(low, next);
			assert_true(width == 1 || width * power_of_ten(digits) <= low);
			next = low + width;
		}
		assert_true(next > UINT64_C(1) << 36);
	}
}

// Adds both ends of each cell and looks where they were counted.
static void both_ends_of_a_cell_fall_into_it(void **)
{
	struct hist hist = fresh(2, 1 << 24);
	for (uint32_t cell = 0; cell + 1 < hist.cells; cell++) {
		uint64_t width;
		uint64_t low = hist_cell_low(&hist, cell, &width);
		hist_add(&hist, (int64_t)low);
		hist_add(&hist, (int64_t)(low + width - 1));
		assert_int_equal(hist.counts[cell], 2);
		assert_int_equal(hist.total, 2 * ((uint64_t)cell + 1));
	}
}

static void the_largest_value_is_told_apart_and_more_is_counted_over(void **)
{
	struct hist hist = fresh(3, 1000003);
	hist_add(&hist, 1000003);
	assert_int_equal(hist.over, 0);
	assert_int_equal(hist_quantile(&hist, 500000), 1000003);
	hist_add(&hist, 1000004);
	hist_add(&hist, INT64_MAX);
	assert_int_equal(hist.over, 2);
	assert_int_equal(hist.total, 3);
	assert_int_equal(hist.counts[hist.cells - 1], 3);
	assert_int_equal(hist_quantile(&hist, 333333), 1000003);
	assert_int_equal(hist_quantile(&hist, 500000), INT64_MAX); // bounded by the maximum only
	assert_int_equal(hist.max, INT64_MAX);
}

static void the_whole_range_of_times_fits(void **)
{
	struct hist hist = fresh(4, INT64_MAX);
	hist_add(&hist, INT64_MAX);
	assert_int_equal(hist.over, 0);
	assert_int_equal(hist_quantile(&hist, 1000000), INT64_MAX);
	hist_add(&hist, INT64_MAX);
	hist_add(&hist, INT64_MAX);
	assert_true(hist.sum == UINT64_MAX); // stays at the top, does not start again
}

static void merging_equals_adding_everything_to_one(void **)
{
	struct hist one = fresh(3, 1000000), parts[3];
	for (int i = 0; i < 3; i++)
		parts[i] = fresh(3, 1000000);
	struct rng rng = rng_of(1, RNG_TEST, 99);
	for (int i = 0; i < 5000; i++) {
		int64_t value = rng_below(&rng, 1200000);
		hist_add(&one, value);
		hist_add(&parts[rng_below(&rng, 2)], value); // the third stays empty
	}
	hist_merge(&parts[2], &parts[0]);
	hist_merge(&parts[2], &parts[1]);
	assert_memory_equal(one.counts, parts[2].counts, one.cells * sizeof(*one.counts));
	assert_int_equal(one.total, parts[2].total);
	assert_true(one.over > 0);
	assert_int_equal(one.over, parts[2].over);
	assert_int_equal(one.min, parts[2].min);
	assert_int_equal(one.max, parts[2].max);
	assert_int_equal(one.sum, parts[2].sum);
}

static void it_draws_what_it_said_it_would(void **)
{
	for (unsigned digits = 1; digits <= 4; digits++) {
		for (uint64_t value_max = 1; value_max < UINT64_C(1) << 40; value_max *= 37) {
			size_t before = arena.drawn_bytes[ARENA_MEASURE];
			struct hist hist = fresh(digits, value_max);
			assert_int_equal(arena.drawn_bytes[ARENA_MEASURE] - before,
					 hist_bytes(digits, value_max));
			assert_true(hist.cells * sizeof(uint64_t) <= hist_bytes(digits, value_max));
		}
	}
	// 10 s in ns at three digits: what a message histogram costs
	assert_true(hist_bytes(3, UINT64_C(10000000000)) < 256 * 1024);
}

static void a_wrong_shape_or_too_little_memory_is_refused(void **)
{
	struct hist hist = {.cells = 77};
	assert_int_equal(hist_init(&hist, &arena, 0, 1000), -EINVAL);
	assert_int_equal(hist_init(&hist, &arena, 5, 1000), -EINVAL);
	assert_int_equal(hist_init(&hist, &arena, 3, (uint64_t)INT64_MAX + 1), -EINVAL);
	assert_int_equal(hist_bytes(5, 1000), 0);
	arena_init(&arena, base, 1024);
	assert_int_equal(hist_init(&hist, &arena, 3, 1000000), -ENOMEM);
	assert_int_equal(hist.cells, 77);
}
