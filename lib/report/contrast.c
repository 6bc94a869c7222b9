// SPDX-License-Identifier: Apache-2.0
// Two results side by side. Studies: figure by figure over their seeds. Single runs: field by
// field.

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include <weft/report_contrast.h>

#include "contrast.h"

#define SCHEMA_KNOWN 1

// ---------------------------------------------------------------- rows

struct contrast_row *contrast_add(struct contrast *contrast)
{
	if ((contrast->count & (contrast->count - 1)) == 0) { // a power of two, or none: full
		size_t room = contrast->count == 0 ? 1 : 2 * (size_t)contrast->count;
		struct contrast_row *rows = realloc(contrast->rows, room * sizeof(*rows));
		if (rows == NULL)
			return NULL;
		contrast->rows = rows;
	}
	struct contrast_row *row = &contrast->rows[contrast->count++];
	*row = (struct contrast_row){.low = NAN, .high = NAN, .chance = NAN};
	return row;
}

void contrast_free(struct contrast *contrast)
{
	free(contrast->rows);
	contrast->rows = NULL;
	contrast->count = 0;
}

// How far apart, as a share of a; what is nothing on one side alone is infinitely far.
static double apart(const struct contrast_row *row)
{
	if (isnan(row->a) != isnan(row->b) || strcmp(row->word_a, row->word_b) != 0)
		return INFINITY;
	if (row->a == row->b || (isnan(row->a) && isnan(row->b)))
		return 0;
	return row->a != 0 ? fabs(row->b / row->a - 1) : INFINITY;
}

static int rank_of(const struct contrast_row *row)
{
	static const int ranks[] = {
		[SPREAD_DIFFERS] = 0, [SPREAD_UNKNOWN] = 1, [SPREAD_NOISE] = 2, [SPREAD_SAME] = 3};
	return ranks[row->verdict];
}

static int compare_rows(const void *left, const void *right)
{
	const struct contrast_row *a = left, *b = right;
	double apart_a = apart(a), apart_b = apart(b);
	if (rank_of(a) != rank_of(b))
		return rank_of(a) - rank_of(b);
	if (apart_a != apart_b)
		return apart_a > apart_b ? -1 : 1;
	return strcmp(a->name, b->name);
}

bool contrast_is_within(const struct contrast *contrast, double share)
{
	for (uint32_t i = 0; i < contrast->count; i++) {
		const struct contrast_row *row = &contrast->rows[i];
		bool is_open = row->verdict == SPREAD_DIFFERS || row->verdict == SPREAD_UNKNOWN;
		if (is_open && !(apart(row) <= share))
			return false;
	}
	return contrast->only_a == 0 && contrast->only_b == 0;
}

// ---------------------------------------------------------------- reading

static int refuse_side(struct refusal *refusal, const struct contrast_side *side, int line,
		       const char *what)
{
	snprintf(refusal->file, sizeof(refusal->file), "%s", side->path);
	refusal->line = line > 0 ? (uint32_t)line : 0;
	snprintf(refusal->text, sizeof(refusal->text), "%s", what);
	return -EINVAL;
}

static int load(json_t **ret, const struct contrast_side *side, struct refusal *refusal)
{
	json_error_t error;
	*ret = json_loadb(side->text, side->bytes, JSON_REJECT_DUPLICATES, &error);
	if (*ret == NULL)
		return refuse_side(refusal, side, error.line, error.text);
	const json_t *schema = json_object_get(*ret, "schema");
	if (!json_is_object(*ret) || !json_is_string(json_object_get(*ret, "weft")) ||
	    !json_is_integer(schema))
		return refuse_side(refusal, side, 0, "this is no result of weft");
	if (json_integer_value(schema) != SCHEMA_KNOWN)
		return refuse_side(refusal, side, 0,
				   "the fields of this result are of another version than 1");
	return 0;
}

static bool is_study(const json_t *result)
{
	return json_is_array(json_object_get(result, "runs")) &&
		json_is_array(json_object_get(result, "points"));
}

static bool is_partial(const json_t *result)
{
	const json_t *run = json_object_get(result, "run");
	return json_is_true(json_object_get(result, "partial")) ||
		json_is_true(json_object_get(run, "partial"));
}

static int compare(struct contrast *ret, const json_t *a, const json_t *b,
		   const struct contrast_side *side, struct refusal *refusal)
{
	if (is_study(a) != is_study(b))
		return refuse_side(refusal, side, 0,
				   "one is a study of many runs, the other is not");
	if (!is_study(a) && !json_is_object(json_object_get(a, "run")))
		return refuse_side(refusal, side, 0, "this is neither result.json nor study.json");
	ret->is_study = is_study(a);
	ret->is_partial = is_partial(a) || is_partial(b);
	int rc = ret->is_study ? contrast_studies(ret, a, b) : contrast_runs(ret, a, b);
	if (rc < 0)
		return refuse(refusal, -ENODEV, "the system gives no memory", 0, 0, 0);
	for (uint32_t i = 0; i < ret->count; i++) {
		ret->differing += ret->rows[i].verdict == SPREAD_DIFFERS;
		ret->unknown += ret->rows[i].verdict == SPREAD_UNKNOWN;
	}
	if (ret->count > 0)
		qsort(ret->rows, ret->count, sizeof(*ret->rows), compare_rows);
	return 0;
}

int contrast_of(struct contrast *ret, const struct contrast_side *a, const struct contrast_side *b,
		struct refusal *refusal)
{
	json_t *json_a = NULL, *json_b = NULL;
	memset(ret, 0, sizeof(*ret));
	int rc = load(&json_a, a, refusal);
	if (rc == 0)
		rc = load(&json_b, b, refusal);
	if (rc == 0)
		rc = compare(ret, json_a, json_b, b, refusal);
	json_decref(json_a);
	json_decref(json_b);
	return rc;
}
