// SPDX-License-Identifier: Apache-2.0
// Two results side by side. Studies: figure by figure over their seeds. Single runs: field by
// field.

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <weft/core/order.h>
#include <weft/study/run_diff.h>

#include "study.h"
#include <weft/result/result.h>

// How far apart, as a share of a; what is nothing on one side alone is infinitely far.
static double apart(const struct run_diff_row *row)
{
	if (isnan(row->a) != isnan(row->b) || row->are_words_other)
		return INFINITY;
	if (row->a == row->b || (isnan(row->a) && isnan(row->b)))
		return 0;
	return row->a != 0 ? fabs(row->b / row->a - 1) : INFINITY;
}

static int rank_of(const struct run_diff_row *row)
{
	static const int ranks[] = {
		[SPREAD_DIFFERS] = 0, [SPREAD_UNKNOWN] = 1, [SPREAD_NOISE] = 2, [SPREAD_SAME] = 3};
	return ranks[row->verdict];
}

static int compare_rows(const void *left, const void *right)
{
	const struct run_diff_row *a = left, *b = right;
	double apart_a = apart(a), apart_b = apart(b);
	if (rank_of(a) != rank_of(b))
		return rank_of(a) - rank_of(b);
	return ORDER(apart_b, apart_a) ?: strcmp(a->name, b->name);
}

// What a run is called and made from: it differs where runs do, and is no figure.
static bool is_identity(const char *name)
{
	static const char *const names[] = {"run.digest", "scenario.seed", "scenario.file",
					    "scenario.name", "scenario.description"};
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strcmp(name, names[i]) == 0)
			return true;
	return false;
}

const char *run_diff_beyond(const struct run_diff *run_diff, double share)
{
	for (uint32_t i = 0; i < run_diff->count; i++) {
		const struct run_diff_row *row = &run_diff->rows[i];
		bool is_open = row->verdict == SPREAD_DIFFERS || row->verdict == SPREAD_UNKNOWN;
		if (is_open && !is_identity(row->name) && !(apart(row) <= share))
			return row->name;
	}
	return run_diff->only_a + run_diff->only_b > 0 ? "what one side alone has" : NULL;
}

// ---------------------------------------------------------------- both

static int compare(struct run_diff *ret, const struct result *a, const struct result *b)
{
	ret->is_study = a->kind == RESULT_STUDY;
	ret->is_partial = a->is_partial || b->is_partial;
	int rc = ret->is_study ? run_diff_studies(ret, a->fields, b->fields)
			       : run_diff_runs(ret, a->fields, b->fields);
	if (rc < 0)
		return rc;
	for (uint32_t i = 0; i < ret->count; i++) {
		ret->differing += ret->rows[i].verdict == SPREAD_DIFFERS;
		ret->unknown += ret->rows[i].verdict == SPREAD_UNKNOWN;
	}
	if (ret->count > 0)
		qsort(ret->rows, ret->count, sizeof(*ret->rows), compare_rows);
	return 0;
}

int run_diff_of(struct run_diff *ret, const struct result *a, const struct result *b,
		struct refusal *refusal)
{
	const struct result *const both[] = {a, b};
	memset(ret, 0, sizeof(*ret));
	for (int i = 0; i < 2; i++)
		if (both[i]->kind == RESULT_ACCEPTANCE)
			return refuse_file(refusal, -EINVAL, both[i]->path,
					   "this is a book: runs and studies are compared");
	if (a->kind != b->kind)
		return refuse_file(refusal, -EINVAL, b->path,
				   "one is a study of many runs, the other is not");
	if (compare(ret, a, b) < 0)
		return refuse(refusal, -ENODEV, "not enough memory");
	if (ret->count == 0)
		return refuse_file(refusal, -EINVAL, b->path,
				   "there is no figure that both have: nothing can be compared");
	return 0;
}
