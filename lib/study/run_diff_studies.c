// SPDX-License-Identifier: Apache-2.0
// Two studies: each figure of each point that both have, over the seeds. With the same seeds on
// both sides differences are taken seed by seed (paired t test); else means are held against their
// own spreads (Welch's test: B. L. Welch, Biometrika 34, 1947).

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "study.h"
#include <weft/core/order.h>

// One point of one study: its complete runs, in the order of their seeds.
struct side {
	const json_t **runs;
	uint32_t count;
};

// Both, and where their figures are put.
struct pair {
	struct side a, b;
	double *values_a, *values_b;
	bool same_seeds;
};

static uint64_t seed_of(const json_t *run)
{
	const char *text = json_string_value(json_object_get(run, "seed"));
	return text == NULL ? 0 : strtoull(text, NULL, 10);
}

static int compare_seeds(const void *left, const void *right)
{
	uint64_t a = seed_of(*(const json_t *const *)left);
	uint64_t b = seed_of(*(const json_t *const *)right);
	return ORDER(a, b);
}

static int find_runs(struct side *ret, const json_t *study, size_t point)
{
	const json_t *runs = json_object_get(study, "runs");
	ret->count = 0;
	ret->runs = calloc(json_array_size(runs) + 1, sizeof(*ret->runs));
	if (ret->runs == NULL)
		return -ENOMEM;
	for (size_t i = 0; i < json_array_size(runs); i++) {
		const json_t *run = json_array_get(runs, i);
		const char *end = json_string_value(json_object_get(run, "end"));
		if ((size_t)json_integer_value(json_object_get(run, "point")) == point &&
		    end != NULL && strcmp(end, "done") == 0)
			ret->runs[ret->count++] = run;
	}
	qsort(ret->runs, ret->count, sizeof(*ret->runs), compare_seeds);
	return 0;
}

// Values of one figure; NAN where a run has none.
static void values_of(double *ret, const struct side *side, const char *figure)
{
	for (uint32_t i = 0; i < side->count; i++) {
		const json_t *figures = json_object_get(side->runs[i], "figures");
		const json_t *value = json_object_get(figures, figure);
		ret[i] = json_is_number(value) ? json_number_value(value) : NAN;
	}
}

static void judge_pairs(struct run_diff_row *row, const struct pair *pair, uint32_t comparisons)
{
	struct spread_difference difference;
	spread_difference_of(&difference, pair->values_a, pair->values_b, pair->a.count,
			     comparisons);
	row->verdict = difference.verdict;
	row->chance = difference.chance;
	row->low = difference.spread.mean - difference.spread.half;
	row->high = difference.spread.mean + difference.spread.half;
}

static void judge_means(struct run_diff_row *row, const struct spread_figures *a,
			const struct spread_figures *b, uint32_t comparisons)
{
	if (a->count < 2 || b->count < 2)
		return; // nothing is known of one spread
	double square_a = a->sd * a->sd / a->count, square_b = b->sd * b->sd / b->count;
	double error = sqrt(square_a + square_b), off = b->mean - a->mean;
	if (error == 0) {
		row->verdict = off == 0 ? SPREAD_SAME : SPREAD_DIFFERS;
		row->low = row->high = off;
		row->chance = off == 0 ? 1 : 0;
		return;
	}
	double freedom = (square_a + square_b) * (square_a + square_b) /
		(square_a * square_a / (a->count - 1) + square_b * square_b / (b->count - 1));
	uint32_t whole = freedom < 1 ? 1 : (uint32_t)freedom; // rounded down: to the safe side
	double half = error * student_bound(1 - SPREAD_CONFIDENCE, whole);
	row->low = off - half;
	row->high = off + half;
	row->chance = student_beyond(fabs(off) / error, whole);
	row->verdict = row->chance < (1 - SPREAD_CONFIDENCE) / comparisons ? SPREAD_DIFFERS
									   : SPREAD_NOISE;
}

static int add_figure(struct run_diff *ret, const struct pair *pair, const json_t *figure,
		      const char *point, uint32_t comparisons)
{
	struct spread_figures a, b;
	const char *name = json_string_value(json_object_get(figure, "name"));
	const char *unit = json_string_value(json_object_get(figure, "unit"));
	if (name == NULL)
		return 0;
	values_of(pair->values_a, &pair->a, name);
	values_of(pair->values_b, &pair->b, name);
	spread_of(&a, pair->values_a, pair->a.count);
	spread_of(&b, pair->values_b, pair->b.count);
	if (a.count == 0 && b.count == 0)
		return 0;
	if (a.count == 0 || b.count == 0) {
		*(a.count == 0 ? &ret->only_b : &ret->only_a) += 1;
		return 0;
	}
	struct run_diff_row *row = run_diff_add(ret);
	if (row == NULL)
		return -ENOMEM;
	snprintf(row->name, sizeof(row->name), "%s%s%.60s%s", name, *point == '\0' ? "" : " (",
		 point, *point == '\0' ? "" : ")");
	snprintf(row->unit, sizeof(row->unit), "%s", unit == NULL ? "" : unit);
	row->a = a.mean;
	row->b = b.mean;
	row->runs_a = a.count;
	row->runs_b = b.count;
	if (pair->same_seeds)
		judge_pairs(row, pair, comparisons);
	else
		judge_means(row, &a, &b, comparisons);
	return 0;
}

static bool has_same_seeds(const struct pair *pair)
{
	bool is_same = pair->a.count == pair->b.count;
	for (uint32_t i = 0; is_same && i < pair->a.count; i++)
		is_same = seed_of(pair->a.runs[i]) == seed_of(pair->b.runs[i]);
	return is_same;
}

static int compare_points(struct run_diff *ret, const json_t *a, const json_t *b, size_t at_a,
			  size_t at_b, const char *point)
{
	struct pair pair = {0};
	const json_t *figures = json_object_get(a, "figures");
	size_t points = json_array_size(json_object_get(a, "points"));
	uint32_t comparisons = (uint32_t)(json_array_size(figures) * points);
	int rc = find_runs(&pair.a, a, at_a);
	if (rc == 0)
		rc = find_runs(&pair.b, b, at_b);
	if (rc == 0) {
		pair.values_a = calloc(pair.a.count + 1, sizeof(double));
		pair.values_b = calloc(pair.b.count + 1, sizeof(double));
		pair.same_seeds = has_same_seeds(&pair);
		ret->is_paired |= pair.same_seeds;
		rc = pair.values_a == NULL || pair.values_b == NULL ? -ENOMEM : 0;
	}
	for (size_t i = 0; rc == 0 && i < json_array_size(figures); i++)
		rc = add_figure(ret, &pair, json_array_get(figures, i), point, comparisons);
	free(pair.values_a);
	free(pair.values_b);
	free(pair.a.runs);
	free(pair.b.runs);
	return rc;
}

static const char *point_name(const json_t *points, size_t at)
{
	const char *name = json_string_value(json_object_get(json_array_get(points, at), "name"));
	return name == NULL ? "" : name;
}

int run_diff_studies(struct run_diff *ret, const json_t *a, const json_t *b)
{
	const json_t *points_a = json_object_get(a, "points");
	const json_t *points_b = json_object_get(b, "points");
	size_t count_a = json_array_size(points_a), count_b = json_array_size(points_b), both = 0;
	if (count_a == 1 && count_b == 1) // whatever they are called
		return compare_points(ret, a, b, 0, 0, "");
	for (size_t i = 0; i < count_a; i++) {
		size_t at = 0;
		while (at < count_b &&
		       strcmp(point_name(points_a, i), point_name(points_b, at)) != 0)
			at++;
		if (at == count_b) {
			ret->only_a++;
			continue;
		}
		both++;
		int rc = compare_points(ret, a, b, i, at, point_name(points_a, i));
		if (rc < 0)
			return rc;
	}
	ret->only_b += (uint32_t)(count_b - both);
	return 0;
}
