// SPDX-License-Identifier: Apache-2.0
// Tests of counts over time: where a bin ends, what a window holds, what comes after the last bin.

#include "measure_rig.h"

#include <weft/measure/measure_add.h>

#define BIN PS_PER_US

static struct series fresh(uint32_t count)
{
	struct series series;
	assert_int_equal(series_init(&series, &arena, count, BIN), 0);
	return series;
}

static void a_bin_begins_with_its_first_picosecond_and_ends_before_its_last(void **)
{
	struct series series = fresh(3);
	series_add(&series, SERIES_PLACED, 0, 1);
	series_add(&series, SERIES_PLACED, BIN - 1, 2);
	series_add(&series, SERIES_PLACED, BIN, 4);
	series_add(&series, SERIES_PLACED, 3 * BIN - 1, 8);
	assert_int_equal(series_sum(&series, SERIES_PLACED, 0, BIN), 3);
	assert_int_equal(series_sum(&series, SERIES_PLACED, BIN, 2 * BIN), 4);
	assert_int_equal(series_sum(&series, SERIES_PLACED, BIN, 3 * BIN), 12);
	assert_int_equal(series_sum(&series, SERIES_PLACED, BIN, BIN), 0);
	assert_int_equal(series_sum(&series, SERIES_LOST, 0, 3 * BIN), 0);
}

static void what_comes_after_the_last_bin_is_kept_apart(void **)
{
	struct series series = fresh(3);
	series_add(&series, SERIES_LOST, 3 * BIN, 1);
	series_add(&series, SERIES_LOST, INT64_MAX, 1);
	assert_int_equal(series_sum(&series, SERIES_LOST, 0, 3 * BIN), 0);
	assert_int_equal(series.after[SERIES_LOST], 2);
}

static void several_add_up_and_are_emptied(void **)
{
	struct series one = fresh(2), other = fresh(2);
	series_add(&one, SERIES_ARRIVED, 0, 1);
	series_add(&other, SERIES_ARRIVED, 0, 2);
	series_add(&other, SERIES_ARRIVED, BIN, 4);
	series_add(&other, SERIES_ARRIVED, 2 * BIN, 8);
	series_merge(&one, &other);
	assert_int_equal(series_sum(&one, SERIES_ARRIVED, 0, 2 * BIN), 7);
	assert_int_equal(one.after[SERIES_ARRIVED], 8);
	series_empty(&one);
	assert_int_equal(series_sum(&one, SERIES_ARRIVED, 0, 2 * BIN), 0);
	assert_int_equal(one.after[SERIES_ARRIVED], 0);
	series_empty(&(struct series){0}); // where none is kept
}

static void more_bins_than_memory_are_refused(void **)
{
	struct series series;
	assert_int_equal(series_init(&series, &arena, 1u << 20, BIN), -ENOMEM);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_bin_begins_with_its_first_picosecond_and_ends_before_its_last),
		cmocka_unit_test(what_comes_after_the_last_bin_is_kept_apart),
		cmocka_unit_test(several_add_up_and_are_emptied),
		cmocka_unit_test(more_bins_than_memory_are_refused),
	};
	return cmocka_run_group_tests(tests, rig_open, rig_close);
}
