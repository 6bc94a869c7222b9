// SPDX-License-Identifier: Apache-2.0
// What two results differ in, as a table and as JSON.

#include <errno.h>
#include <math.h>
#include <string.h>

#include <jansson.h>

#include <weft/study/run_diff.h>

#include <weft/result/number.h>
#include <weft/result/put.h>

static const char *value_text(struct text *ret, double value, const char *word, const char *unit)
{
	if (word[0] != '\0' || isnan(value)) {
		snprintf(ret->at, sizeof(ret->at), "%s", word[0] != '\0' ? word : "-");
		return ret->at;
	}
	if (strcmp(unit, "bits per second") == 0)
		return number_rate(ret, value);
	if (strcmp(unit, "seconds") == 0)
		return number_time(ret, (ps_t)llround(value * 1e12));
	if (strcmp(unit, "share") == 0)
		return number_share(ret, value);
	snprintf(ret->at, sizeof(ret->at), "%.12g", value);
	return ret->at;
}

static const char *over_text(struct text *ret, const struct run_diff_row *row)
{
	if (isnan(row->a) || isnan(row->b))
		strcpy(ret->at, "");
	else if (row->a == row->b)
		strcpy(ret->at, "0 %");
	else if (row->a == 0)
		strcpy(ret->at, "from 0");
	else
		snprintf(ret->at, sizeof(ret->at), "%+.3g %%", (row->b / row->a - 1) * 100);
	return ret->at;
}

static void show_row(FILE *to, const struct run_diff *run_diff, const struct run_diff_row *row)
{
	struct text a, b, over;
	fprintf(to, "%-46s %20s %20s %10s", row->name,
		value_text(&a, row->a, row->word_a, row->unit),
		value_text(&b, row->b, row->word_b, row->unit), over_text(&over, row));
	if (run_diff->is_study && isnan(row->chance))
		fprintf(to, "  %s", spread_verdict_name(row->verdict));
	else if (run_diff->is_study)
		fprintf(to, "  %s, p %.2g", spread_verdict_name(row->verdict), row->chance);
	fputc('\n', to);
}

static void show_end(FILE *to, const struct run_diff *run_diff)
{
	uint32_t equal = run_diff->count - run_diff->differing - run_diff->unknown;
	if (run_diff->is_study)
		fprintf(to,
			"%u figures: %u differ beyond noise, %u do not, of %u nothing is known; "
			"%s\n",
			run_diff->count, run_diff->differing, equal, run_diff->unknown,
			run_diff->is_paired ? "differences were taken seed by seed"
					    : "seeds are not the same: means were compared");
	else
		fprintf(to,
			"%u fields: %u differ. One run of each says nothing of noise: compare "
			"studies "
			"(--seeds N --out DIR)\n",
			run_diff->count, run_diff->unknown);
	if (run_diff->only_a + run_diff->only_b > 0)
		fprintf(to, "%u are in the first alone, %u in the second alone\n", run_diff->only_a,
			run_diff->only_b);
	if (run_diff->is_partial)
		fputs("PARTIAL: on one side runs are missing or did not finish\n", to);
}

void run_diff_show(FILE *to, const struct run_diff *run_diff, bool is_all)
{
	fprintf(to, "%-46s %20s %20s %10s%s\n", "", "first", "second", "second by",
		run_diff->is_study ? "  beyond noise?" : "");
	for (uint32_t i = 0; i < run_diff->count; i++) {
		const struct run_diff_row *row = &run_diff->rows[i];
		if (is_all || row->verdict != SPREAD_SAME)
			show_row(to, run_diff, row);
	}
	fputc('\n', to);
	show_end(to, run_diff);
}

static void put_number(json_t *row, const char *key, double value, const char *word)
{
	if (!isnan(value))
		put_real(row, key, value);
	else if (word[0] != '\0' && strcmp(word, "null") != 0)
		put_text(row, key, word);
	else
		put(row, key, json_null());
}

static void put_row(json_t *to, const struct run_diff_row *row)
{
	put_text(to, "name", row->name);
	put_text(to, "unit", row->unit[0] != '\0' ? row->unit : NULL);
	put_number(to, "first", row->a, row->word_a);
	put_number(to, "second", row->b, row->word_b);
	put_number(to, "low", row->low, "");
	put_number(to, "high", row->high, "");
	put_number(to, "chance", row->chance, "");
	put_text(to, "verdict", spread_verdict_name(row->verdict));
	put_count(to, "runs_first", row->runs_a);
	put_count(to, "runs_second", row->runs_b);
}

int run_diff_json(FILE *to, const struct run_diff *run_diff)
{
	json_t *root = json_object();
	if (root == NULL)
		return -EIO;
	put_count(root, "schema", 1);
	put(root, "study", json_boolean(run_diff->is_study));
	put(root, "paired", json_boolean(run_diff->is_paired));
	put(root, "partial", json_boolean(run_diff->is_partial));
	put_count(root, "differing", run_diff->differing);
	put_count(root, "unknown", run_diff->unknown);
	put_count(root, "only_first", run_diff->only_a);
	put_count(root, "only_second", run_diff->only_b);
	json_t *rows = array_in(root, "rows");
	for (uint32_t i = 0; i < run_diff->count; i++)
		put_row(row_in(rows), &run_diff->rows[i]);
	return document_print(to, root, JSON_ENSURE_ASCII | JSON_REAL_PRECISION(12));
}
