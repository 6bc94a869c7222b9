// SPDX-License-Identifier: Apache-2.0
// Tests of two results side by side, on studies and runs small enough to work out by hand.

#include <errno.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include <weft/study/run_diff.h>

#include <weft/result/result.h>

static struct run_diff run_diff;
static struct refusal refusal;

static int compare(const char *a, const char *b)
{
	struct result *left = result_unchecked(json_loads(a, 0, NULL), "a.json");
	struct result *right = result_unchecked(json_loads(b, 0, NULL), "b.json");
	run_diff_free(&run_diff);
	refusal = (struct refusal){0};
	int rc = run_diff_of(&run_diff, left, right, &refusal);
	result_free(left);
	result_free(right);
	return rc;
}

// A study of one point and one figure, with these values and seeds from `seed` on.
static const char *study(char ret[2048], int seed, const double *values, int count)
{
	int used = snprintf(
		ret, 2048,
		"{\"schema\": 2, \"weft\": \"w\", \"partial\": false,"
		"\"points\": [{\"name\": \"all\"}],"
		"\"figures\": [{\"name\": \"time\", \"unit\": \"seconds\"}], \"runs\": [");
	for (int i = 0; i < count; i++)
		used += snprintf(ret + used, 2048 - (size_t)used,
				 "%s{\"point\": 0, \"seed\": \"%d\", \"end\": \"done\","
				 "\"figures\": {\"time\": %.17g}}",
				 i > 0 ? "," : "", seed + i, values[i]);
	snprintf(ret + used, 2048 - (size_t)used, "]}");
	return ret;
}

static const struct run_diff_row *row_of(int seed_a, const double *a, int count_a, int seed_b,
					 const double *b, int count_b)
{
	static char text_a[2048], text_b[2048];
	assert_int_equal(
		compare(study(text_a, seed_a, a, count_a), study(text_b, seed_b, b, count_b)), 0);
	assert_int_equal(run_diff.count, 1);
	return &run_diff.rows[0];
}

// t = 3 / sqrt(2.5 / 5 + 10 / 5) = 1.897; Welch's degrees of freedom 2.5^2 / (0.5^2 / 4 + 2^2 / 4)
// = 5.88, of which 5 are taken.
static void other_seeds_are_compared_by_their_means(void **state)
{
	const double a[] = {1, 2, 3, 4, 5}, b[] = {2, 4, 6, 8, 10}, far[] = {30, 31, 32, 33, 34};
	const struct run_diff_row *row = row_of(1, a, 5, 100, b, 5);
	(void)state;
	assert_false(run_diff.is_paired);
	assert_true(row->a == 3 && row->b == 6);
	assert_int_equal(row->verdict, SPREAD_NOISE);
	assert_true(fabs(row->chance - student_beyond(3 / sqrt(2.5), 5)) < 1e-12);
	assert_true(fabs(row->chance - 0.1163) < 0.0005); // tables of Student's t
	assert_true(row->low < 0 && row->high > 6);	  // 3 +- 2.571 x 1.581
	assert_true(fabs(row->high - (3 + 2.5706 * sqrt(2.5))) < 0.001);
	row = row_of(1, a, 5, 100, far, 5);
	assert_int_equal(row->verdict, SPREAD_DIFFERS);
	assert_int_equal(run_diff.differing, 1);
}

// The scatter of seeds is on both sides: pairs see through it.
static void the_same_seeds_are_compared_seed_by_seed(void **state)
{
	const double a[] = {1, 20, 3, 40, 5}, b[] = {1.5, 20.6, 3.5, 40.4, 5.5};
	(void)state;
	assert_int_equal(row_of(1, a, 5, 1, b, 5)->verdict, SPREAD_DIFFERS);
	assert_true(run_diff.is_paired);
	assert_int_equal(row_of(1, a, 5, 100, b, 5)->verdict, SPREAD_NOISE);
	assert_int_equal(row_of(1, a, 5, 1, a, 5)->verdict, SPREAD_SAME);
	assert_null(run_diff_beyond(&run_diff, 0));
}

static void one_value_says_nothing_of_noise(void **state)
{
	const double a[] = {1}, b[] = {2};
	(void)state;
	assert_int_equal(row_of(1, a, 1, 2, b, 1)->verdict, SPREAD_UNKNOWN);
	assert_int_equal(run_diff.unknown, 1);
	assert_non_null(run_diff_beyond(&run_diff, 0.99));
	assert_null(run_diff_beyond(&run_diff, 1));
}

static void runs_are_compared_field_by_field(void **state)
{
	static const char a[] =
		"{\"schema\": 1, \"weft\": \"w\", \"run\": {\"end\": \"done\", \"digest\": \"1\"},"
		"\"speed\": {\"wall_s\": 1}, \"x\": [{\"pair\": \"p\", \"n\": 10}, {\"pair\": "
		"\"q\", \"n\": 5}],"
		"\"y\": [1, 2], \"gone\": 1, \"z\": null}";
	static const char b[] =
		"{\"schema\": 1, \"weft\": \"v\", \"run\": {\"end\": \"done\", \"digest\": \"2\"},"
		"\"speed\": {\"wall_s\": 2}, \"x\": [{\"pair\": \"q\", \"n\": 5}, {\"pair\": "
		"\"p\", \"n\": 11}],"
		"\"y\": [1, 2, 3], \"z\": 4}";
	(void)state;
	assert_int_equal(compare(a, b), 0);
	assert_false(run_diff.is_study);
	assert_int_equal(run_diff.unknown, 3); // digest, x[p].n, z
	assert_int_equal(run_diff.only_a, 1);
	assert_int_equal(run_diff.only_b, 1);
	assert_string_equal(run_diff.rows[2].name, "x[p].n"); // the others are infinitely far
	assert_true(run_diff.rows[2].a == 10 && run_diff.rows[2].b == 11);
	assert_non_null(run_diff_beyond(&run_diff, 100));
	assert_int_equal(compare(a, a), 0);
	assert_null(run_diff_beyond(&run_diff, 0));
}

// The same file under another name, or another seed: within what the figures are.
static void what_a_run_is_called_is_no_figure(void **state)
{
	static const char a[] = "{\"run\": {\"digest\": \"1\"}, \"scenario\": {\"seed\": \"1\", "
				"\"file\": \"a\", \"nics\": 4}, \"x\": 10}";
	static const char b[] = "{\"run\": {\"digest\": \"2\"}, \"scenario\": {\"seed\": \"2\", "
				"\"file\": \"b\", \"nics\": 4}, \"x\": 11}";
	(void)state;
	assert_int_equal(compare(a, b), 0);
	assert_int_equal(run_diff.unknown, 4);
	assert_null(run_diff_beyond(&run_diff, 0.11));
	assert_string_equal(run_diff_beyond(&run_diff, 0.09), "x");
}

// A table has room for the beginning of a text alone.
static void texts_are_compared_to_their_end(void **state)
{
#define LONG "a text that is longer than what a table has room for, and ends in "
	static const char a[] = "{\"run\": {\"end\": \"done\"}, \"x\": \"" LONG "a\"}";
	static const char b[] = "{\"run\": {\"end\": \"done\"}, \"x\": \"" LONG "b\"}";
	(void)state;
	assert_int_equal(compare(a, b), 0);
	assert_int_equal(run_diff.unknown, 1);
	assert_non_null(run_diff_beyond(&run_diff, 100));
	assert_int_equal(compare(a, a), 0);
	assert_null(run_diff_beyond(&run_diff, 0));
}

// What was taken for auto: one less on one side moves no other.
static void parameters_are_compared_by_their_keys(void **state)
{
	static const char a[] = "{\"run\": {\"end\": \"done\"}, \"taken\": ["
				"{\"key\": \"x.a\", \"value\": \"1B\"},"
				"{\"key\": \"x.b\", \"value\": \"2B\"},"
				"{\"key\": \"x.c\", \"value\": \"3B\"}]}";
	static const char b[] = "{\"run\": {\"end\": \"done\"}, \"taken\": ["
				"{\"key\": \"x.b\", \"value\": \"2B\"},"
				"{\"key\": \"x.c\", \"value\": \"4B\"}]}";
	(void)state;
	assert_int_equal(compare(a, b), 0);
	assert_int_equal(run_diff.unknown, 1);
	assert_int_equal(run_diff.only_a, 1);
	assert_int_equal(run_diff.only_b, 0);
	assert_string_equal(run_diff.rows[0].name, "taken[x.c].value");
}

static void what_cannot_be_compared_is_refused(void **state)
{
	static const char run[] = "{\"run\": {\"end\": \"done\"}}";
	static const char *const bad[] = {"{\"cases\": [], \"sections\": []}",
					  "{\"runs\": [], \"points\": []}", "{\"run\": {}}",
					  "{\"other\": 1}"};
	(void)state;
	assert_int_equal(compare(run, run), 0);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		assert_int_equal(compare(run, bad[i]), -EINVAL);
		assert_string_equal(refusal.file, "b.json");
	}
}

static int tear_down_all(void **)
{
	run_diff_free(&run_diff);
	return 0;
}
