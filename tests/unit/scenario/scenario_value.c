// SPDX-License-Identifier: Apache-2.0
// Units of a scenario's values: every factor, exactness, overflow, and the words for 0.

// clang-format off
#include <stddef.h>
#include <cmocka.h>
// clang-format on

#include <errno.h>
#include <string.h>

#include "scenario_reader.h"

struct reading {
	const char *text;
	uint64_t value;
};

static const struct scenario_key time_key = {.unit = "time", .max = INT64_MAX};
static const struct scenario_key bytes_key = {.unit = "bytes", .max = INT64_MAX};
static const struct scenario_key rate_key = {.unit = "rate", .max = INT64_MAX};
static const struct scenario_key share_key = {.unit = "share", .max = 1000000000};
static const struct scenario_key count_key = {.unit = "count", .max = INT64_MAX};

static int read_plain(uint64_t *ret, const struct scenario_key *key, const char *text,
		      struct refusal *refusal)
{
	const struct scalar scalar = {text, strlen(text), true};
	return value_parse(ret, key, &scalar, refusal);
}

static void assert_readings(const struct scenario_key *key, const struct reading *readings)
{
	for (; readings->text != NULL; readings++) {
		struct refusal refusal = {0};
		uint64_t value = 0;
		if (read_plain(&value, key, readings->text, &refusal) != 0)
			fail_msg("%s: %s", readings->text, refusal.text);
		if (value != readings->value)
			fail_msg("%s is read as %llu", readings->text, (unsigned long long)value);
	}
}

static void assert_refusals(const struct scenario_key *key, const char *const *texts)
{
	for (; *texts != NULL; texts++) {
		struct refusal refusal = {0};
		uint64_t value = 4711;
		assert_int_equal(read_plain(&value, key, *texts, &refusal), -EINVAL);
		assert_int_equal(value, 4711); // untouched
		assert_true(strlen(refusal.text) > 10);
	}
}

static void times_are_exact(void **)
{
	static const struct reading readings[] = {
		{"0s", 0},
		{"1ps", 1},
		{"500ns", 500000},
		{"1.5us", 1500000},
		{"262.144us", 262144000},
		{"20ms", 20000000000},
		{"1s", 1000000000000},
		{"0.000000000001s", 1},
		{"1.50us", 1500000},
		{"0.001ns", 1},
		{"9223372s", 9223372000000000000},
		{NULL, 0},
	};
	assert_readings(&time_key, readings);
}

static void times_that_are_not_whole_or_too_long_are_refused(void **)
{
	static const char *const texts[] = {"0.5ps",
					    "0.0001ns",
					    "1.0000000000001s",
					    "9223373s",
					    "999999999999999999s",
					    "1",
					    "1 s",
					    "1h",
					    "1m",
					    "1sec",
					    "s",
					    "1.s",
					    ".5s",
					    "1..5s",
					    "1.5.0s",
					    "+1s",
					    "-1s",
					    "1e3s",
					    "0x1s",
					    "01s",
					    "00s",
					    "1,5us",
					    "inf",
					    NULL};
	assert_refusals(&time_key, texts);
}

static void sizes_are_exact(void **)
{
	static const struct reading readings[] = {
		{"4096B", 4096},
		{"1kB", 1000},
		{"2MB", 2000000},
		{"3GB", 3000000000},
		{"1TB", 1000000000000},
		{"64KiB", 65536},
		{"2MiB", 2097152},
		{"1GiB", 1073741824},
		{"1TiB", 1099511627776},
		{"0.5KiB", 512},
		{"1.5kB", 1500},
		{"0.0009765625KiB", 1},
		{"8388607TiB", UINT64_C(8388607) << 40},
		{NULL, 0},
	};
	assert_readings(&bytes_key, readings);
}

static void sizes_that_are_not_whole_or_too_large_are_refused(void **)
{
	static const char *const texts[] = {"0.5B", "0.0001kB", "0.3KiB", "8388608TiB", "1KB",
					    "1K",   "1M",	"1Gb",	  "1b",		"1 B",
					    "4096", "1kiB",	"1mb",	  "1Bytes",	NULL};
	assert_refusals(&bytes_key, texts);
}

static void rates_are_exact(void **)
{
	static const struct reading readings[] = {
		{"1b/s", 1},
		{"1kb/s", 1000},
		{"2.5Mb/s", 2500000},
		{"100Gb/s", 100000000000},
		{"1.6Tb/s", 1600000000000},
		{"1B/s", 8},
		{"1kB/s", 8000},
		{"1MB/s", 8000000},
		{"900GB/s", 7200000000000},
		{"1TB/s", 8000000000000},
		{"0.125B/s", 1},
		{NULL, 0},
	};
	assert_readings(&rate_key, readings);
}

static void other_spellings_of_rates_are_refused(void **)
{
	static const char *const texts[] = {"100",     "100G",	   "100Gbps", "100Gbit/s",
					    "100gb/s", "100GBps",  "100Gb",   "100Gb/S",
					    "0.5b/s",  "100Gb/s ", "1GiB/s",  NULL};
	assert_refusals(&rate_key, texts);
}

static void shares_are_parts_in_a_billion(void **)
{
	static const struct reading readings[] = {
		{"0.1%", 1000000},    {"0.001", 1000000}, {"1%", 10000000},
		{"100%", 1000000000}, {"1", 1000000000},  {"0.000000001", 1},
		{"0.0000001%", 1},    {"0", 0},		  {NULL, 0},
	};
	static const char *const texts[] = {"0.0000000001", "101%", "2", "1 %",
					    "1%%",	    "1ppm", NULL};
	assert_readings(&share_key, readings);
	assert_refusals(&share_key, texts);
}

static void counts_are_plain_decimal_integers(void **)
{
	static const struct reading readings[] = {
		{"0", 0},
		{"7", 7},
		{"999999999999999999", 999999999999999999},
		{NULL, 0},
	};
	static const char *const texts[] = {"010",
					    "00",
					    "0x10",
					    "0b1",
					    "0o7",
					    "1e3",
					    "1E3",
					    "4Gb",
					    "-1",
					    "+1",
					    "1_000",
					    "1,000",
					    "1'000",
					    "1.0",
					    "1.",
					    "true",
					    "yes",
					    "null",
					    "~",
					    "",
					    " 1",
					    "1 ",
					    "9999999999999999999",
					    NULL};
	assert_readings(&count_key, readings);
	assert_refusals(&count_key, texts);
}

// As JSON writes them.
static void words_and_units_may_stand_in_quotes(void **)
{
	static const char *const words[] = {"rc", "mrc", NULL};
	static const struct scenario_key kind = {.unit = "word", .words = words};
	static const struct scenario_key rate = {
		.unit = "rate", .min = 1, .max = INT64_MAX, .value = "auto", .zero = "none"};
	struct refusal refusal = {0};
	uint64_t value;
	assert_int_equal(value_parse(&value, &kind, &(struct scalar){"mrc", 3, false}, &refusal),
			 0);
	assert_int_equal(value, 1);
	assert_int_equal(value_parse(&value, &rate, &(struct scalar){"2Gb/s", 5, false}, &refusal),
			 0);
	assert_int_equal(value, 2000000000);
	assert_int_equal(value_parse(&value, &rate, &(struct scalar){"none", 4, false}, &refusal),
			 0);
	assert_int_equal(value, 0);
	assert_int_equal(value_parse(&value, &rate, &(struct scalar){"auto", 4, false}, &refusal),
			 0);
	assert_int_equal(value, UINT64_MAX);
}

static void a_number_in_quotes_is_refused(void **)
{
	struct refusal refusal = {0};
	uint64_t value;
	const struct scalar scalar = {"8", 1, false};
	assert_int_equal(value_parse(&value, &count_key, &scalar, &refusal), -EINVAL);
	assert_non_null(strstr(refusal.text, "quotes"));
}

static void a_range_is_told_in_the_units_of_people(void **)
{
	static const struct scenario_key key = {
		.unit = "bytes", .min = 1024, .max = UINT64_C(1) << 30, .zero = "auto"};
	struct refusal refusal = {0};
	uint64_t value = 1;
	assert_int_equal(read_plain(&value, &key, "auto", &refusal), 0);
	assert_int_equal(value, 0);
	assert_int_equal(read_plain(&value, &key, "0B", &refusal), -EINVAL);
	assert_string_equal(refusal.text, "`0B` is too small; write auto, or 1KiB to 1GiB");
	assert_int_equal(read_plain(&value, &key, "2GiB", &refusal), -EINVAL);
	assert_string_equal(refusal.text, "`2GiB` is too large; it may be 1KiB to 1GiB");
}

static void a_value_fills_its_own_field_only(void **)
{
	struct {
		uint32_t before, count, after;
	} row = {1, 2, 3};
	static const struct scenario_key key = {.unit = "count", .offset = 4, .size = 4, .max = 99};
	struct refusal refusal = {0};
	assert_int_equal(value_store(&row, &key, &(struct scalar){"77x", 2, true}, &refusal), 0);
	assert_int_equal(row.before, 1);
	assert_int_equal(row.count, 77);
	assert_int_equal(row.after, 3);
}

static void quoting_never_cuts_a_character(void **)
{
	char quoted[SCALAR_QUOTE_BYTES];
	char text[80];
	for (size_t i = 0; i + 1 < sizeof(text); i += 2)
		memcpy(text + i, "\xc3\xa9", 2);
	scalar_quote(quoted, &(struct scalar){text + 1, 79, true}); // begins inside one
	assert_int_equal(strlen(quoted), 59 + 3);
	scalar_quote(quoted, &(struct scalar){text, 80, true});
	assert_int_equal(strlen(quoted), 60 + 3);
	scalar_quote(quoted, &(struct scalar){"a\nb", 3, true});
	assert_string_equal(quoted, "a?b");
}
