// SPDX-License-Identifier: Apache-2.0
// Tests of numbers as people read them.

#include <stdint.h>

#include <cmocka.h>

#include <weft/result/number.h>

static struct text text;

static void digits_stand_in_groups_of_three(void **)
{
	assert_string_equal(number_grouped(&text, 0), "0");
	assert_string_equal(number_grouped(&text, 999), "999");
	assert_string_equal(number_grouped(&text, 1000), "1,000");
	assert_string_equal(number_grouped(&text, 123456), "123,456");
	assert_string_equal(number_grouped(&text, UINT64_MAX), "18,446,744,073,709,551,615");
}

static void large_counts_are_millions(void **)
{
	assert_string_equal(number_count(&text, 9999999), "9,999,999");
	assert_string_equal(number_count(&text, 10000000), "10.0 M");
	assert_string_equal(number_count(&text, 17200000), "17.2 M");
	assert_string_equal(number_count(&text, UINT64_C(51000000000)), "51,000 M");
	assert_string_equal(number_count(&text, UINT64_MAX), "18,446,744,073,710 M");
}

static void units_keep_four_digits(void **)
{
	assert_string_equal(number_time(&text, 0), "0 ps");
	assert_string_equal(number_time(&text, 999), "999 ps");
	assert_string_equal(number_time(&text, 1000), "1.000 ns");
	assert_string_equal(number_time(&text, 12345678), "12.35 us");
	assert_string_equal(number_time(&text, INT64_C(1271200000000)), "1.271 s");
	assert_string_equal(number_time(&text, INT64_C(4000000000000000)), "4000 s");
	assert_string_equal(number_bytes(&text, 512), "512 B");
	assert_string_equal(number_bytes(&text, 3187802112), "3.188 GB");
	assert_string_equal(number_memory(&text, 1 << 20), "1.000 MiB");
	assert_string_equal(number_rate(&text, 4e11), "400.0 Gb/s");
}

static void a_small_share_is_not_nothing(void **)
{
	assert_string_equal(number_share(&text, 0), "0.000 %");
	assert_string_equal(number_share(&text, 1e-9), "< 0.001 %");
	assert_string_equal(number_share(&text, 0.00012), "0.012 %");
	assert_string_equal(number_share(&text, 1), "100.000 %");
	assert_string_equal(number_share(&text, -0.05), "-5.000 %");
}
