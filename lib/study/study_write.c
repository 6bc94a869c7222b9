// SPDX-License-Identifier: Apache-2.0
// A study as study.json, study.csv (a line per figure and point) and runs.csv (a line per run);
// fields in docs/result.md.

#include "study.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

#include <weft/result/report_escape.h>

#include <weft/result/expect.h>
#include <weft/result/put.h>
#include <weft/result/warnings.h>
#include <weft/result/write.h>

#define STUDY_SCHEMA 2	// raised when a field or a figure changes its meaning or goes away
#define PATH_BYTES 4096 // as long as the system takes

// ---------------------------------------------------------------- JSON

#define ONE_RUN "one run has no spread"
#define ONE_PAIR "one pair of runs has no spread"
#define NO_PAIR "no seed has both"

// A number, or null and why it is none.
static void put_number(json_t *to, const char *key, double value, const char *reason)
{
	if (isnan(value))
		put_reason(to, key, reason);
	else
		put_real(to, key, value);
}

// `missing`: why there is nothing, where there is not.
static void put_spread(json_t *to, const struct spread_figures *spread, const char *missing)
{
	bool is_there = spread->count > 0;
	const char *alone = is_there ? ONE_RUN : missing;
	put_count(to, "runs", spread->count);
	put_number(to, "mean", is_there ? spread->mean : NAN, missing);
	put_number(to, "low", is_there ? spread->mean - spread->half : NAN, alone);
	put_number(to, "high", is_there ? spread->mean + spread->half : NAN, alone);
	put_number(to, "sd", spread->count > 1 ? spread->sd : NAN, alone);
	put_number(to, "min", is_there ? spread->min : NAN, missing);
	put_number(to, "max", is_there ? spread->max : NAN, missing);
}

static void put_difference(json_t *to, const struct report_study *study, uint32_t point,
			   uint32_t figure)
{
	struct spread_difference difference;
	study_difference(study, point, figure, &difference);
	const struct spread_figures *spread = &difference.spread;
	bool is_there = spread->count > 0;
	const char *alone = is_there ? ONE_PAIR : NO_PAIR;
	json_t *object = object_in(to, "from_first");
	put_number(object, "mean", is_there ? spread->mean : NAN, NO_PAIR);
	put_number(object, "low", is_there ? spread->mean - spread->half : NAN, alone);
	put_number(object, "high", is_there ? spread->mean + spread->half : NAN, alone);
	put_number(object, "chance", difference.chance, alone);
	put_text(object, "verdict", spread_verdict_name(difference.verdict));
}

static const char *unit_name(enum study_unit unit)
{
	static const char *const names[] = {"bits per second", "seconds", "count",
					    "bytes",	       "share",	  "factor"};
	return names[unit];
}

static void put_figures(json_t *root, const struct report_study *study)
{
	json_t *array = array_in(root, "figures");
	for (uint32_t figure = 0; figure < study_figure_count(); figure++) {
		if (!study_has(study, figure))
			continue;
		json_t *row = row_in(array);
		put_text(row, "name", study_figure(figure)->name);
		put_text(row, "title", study_figure(figure)->title);
		put_text(row, "unit", unit_name(study_figure(figure)->unit));
		json_t *points = array_in(row, "points");
		for (uint32_t point = 0; point < study->points; point++) {
			struct spread_figures spread;
			json_t *at = row_in(points);
			study_spread(study, point, figure, &spread);
			put_spread(at, &spread, study_missing(study, point, figure));
			if (point > 0)
				put_difference(at, study, point, figure);
		}
	}
}

// Figures that no run has, and why.
static void put_missing(json_t *root, const struct report_study *study)
{
	json_t *array = array_in(root, "missing");
	for (uint32_t figure = 0; figure < study_figure_count(); figure++) {
		if (study_has(study, figure))
			continue;
		json_t *row = row_in(array);
		put_text(row, "name", study_figure(figure)->name);
		put_text(row, "title", study_figure(figure)->title);
		put_text(row, "reason", study_missing_all(study, figure));
	}
}

static void put_points(json_t *root, const struct report_study *study)
{
	char name[STUDY_NAME_BYTES];
	json_t *array = array_in(root, "points");
	for (uint32_t point = 0; point < study->points; point++) {
		json_t *row = row_in(array);
		uint32_t variant = study_variant_at(&study->plan, point);
		study_name(study, point, name);
		put_text(row, "name", name);
		put_text(row, "variant",
			 study->plan.variants > 1 ? study->variants[variant].name : NULL);
		json_t *values = object_in(row, "values");
		for (uint32_t i = 0; i < study->plan.sweep_count; i++)
			put_text(values, study->plan.sweeps[i].key,
				 study->plan.sweeps[i]
					 .values[study_value_at(&study->plan, point, i)]);
		put_count(row, "complete", study_complete_at(study, point));
		warnings_names_json(row, study_warned_at(study, point));
	}
}

static void put_left_out(json_t *root, const struct study_plan *plan)
{
	if (plan->kept == NULL)
		return;
	json_t *row = object_in(root, "left_out");
	put_count(row, "points", study_places(plan) - study_points(plan));
	put_text(row, "first", plan->left_out_why);
}

static void put_runs(json_t *root, const struct report_study *study)
{
	char text[24];
	json_t *array = array_in(root, "runs");
	for (uint32_t at = 0; at < study->points * study->plan.seeds; at++) {
		uint32_t point = at / study->plan.seeds, seed = at % study->plan.seeds;
		const struct study_run *run = study_run_at(study, point, seed);
		if (run == NULL)
			continue;
		json_t *row = row_in(array);
		put_count(row, "point", point);
		snprintf(text, sizeof(text), "%" PRIu64, study->plan.seed_first + seed);
		put_text(row, "seed", text);
		put_text(row, "end", run->end);
		snprintf(text, sizeof(text), "%016" PRIx64, run->digest);
		put_text(row, "digest", text);
		json_object_set_new(row, "sample", json_boolean(run->is_sample));
		json_t *values = object_in(row, "figures");
		for (uint32_t i = 0; i < study_figure_count(); i++)
			if (study_has(study, i))
				put_number(values, study_figure(i)->name, run->figures[i],
					   study_missing_in(run, i));
	}
}

static void put_sweeps(json_t *root, const struct report_study *study)
{
	json_t *array = array_in(root, "sweeps");
	for (uint32_t i = 0; i < study->plan.sweep_count; i++) {
		json_t *row = row_in(array);
		put_text(row, "key", study->plan.sweeps[i].key);
		json_t *values = array_in(row, "values");
		for (uint32_t v = 0; v < study->plan.sweeps[i].count; v++)
			json_array_append_new(values, json_string(study->plan.sweeps[i].values[v]));
		put_text(row, "effect", study_flatness_name(study_flatness_of(study, i)));
	}
}

static void put_expectations(json_t *root, const struct report_study *study)
{
	json_t *array = array_in(root, "expect");
	for (uint32_t i = 0; i < study->expectation_count; i++) {
		struct study_expected expected;
		json_t *row = row_in(array);
		study_expected(study, i, &expected);
		put_text(row, "name", expected.name);
		put_text(row, "measure", expect_measure_name(expected.measure));
		put_text(row, "run", expected.variant[0] != '\0' ? expected.variant : NULL);
		put_count(row, "runs", expected.runs);
		put_count(row, "inside", expected.inside);
		put_number(row, "expected", expected.runs > 0 ? expected.expected.mean : NAN,
			   "no run finished");
		put_number(row, "measured",
			   expected.measured.count > 0 ? expected.measured.mean : NAN,
			   expected.runs > 0 ? "no run has it" : "no run finished");
	}
}

int report_study_json(FILE *to, const struct report_study *study)
{
	char text[24];
	json_t *root = json_object();
	if (root == NULL)
		return -ENOMEM;
	put_count(root, "schema", STUDY_SCHEMA);
	put_text(root, "weft", study->version);
	put_text(root, "command", study->command);
	put_text(root, "scenario", study->scenario);
	snprintf(text, sizeof(text), "%" PRIu64, study->plan.seed_first);
	put_text(root, "seed_first", text);
	put_count(root, "seeds", study->plan.seeds);
	put(root, "partial", json_boolean(study->complete < study->points * study->plan.seeds));
	put_real(root, "confidence", SPREAD_CONFIDENCE);
	put_left_out(root, &study->plan);
	put_points(root, study);
	put_figures(root, study);
	put_missing(root, study);
	put_sweeps(root, study);
	put_expectations(root, study);
	put_runs(root, study);
	return document_print(to, root, JSON_ENSURE_ASCII | JSON_REAL_PRECISION(12));
}

// ---------------------------------------------------------------- CSV

// Empty when there is no number.
static void cell(FILE *to, double value)
{
	if (!isnan(value))
		fprintf(to, ",%.12g", value);
	else
		fputc(',', to);
}

static void name_cell(FILE *to, const char *name)
{
	fputc(',', to);
	escape_cell(to, name);
}

// Columns that name a point: its variant, then the value of each swept key.
static void point_heads(FILE *to, const struct report_study *study)
{
	if (study->plan.variants > 1)
		fprintf(to, ",variant");
	for (uint32_t i = 0; i < study->plan.sweep_count; i++)
		fprintf(to, ",%s", study->plan.sweeps[i].key);
}

static void point_cells(FILE *to, const struct report_study *study, uint32_t point)
{
	const struct study_plan *plan = &study->plan;
	if (plan->variants > 1)
		name_cell(to, study->variants[study_variant_at(plan, point)].name);
	for (uint32_t i = 0; i < plan->sweep_count; i++)
		name_cell(to, plan->sweeps[i].values[study_value_at(plan, point, i)]);
}

static void write_spreads(FILE *to, const struct report_study *study)
{
	fprintf(to, "figure,unit");
	point_heads(to, study);
	fprintf(to, ",runs,mean,low,high,sd,min,max,from_first,chance,verdict,reason\n");
	for (uint32_t at = 0; at < study_figure_count() * study->points; at++) {
		uint32_t figure = at / study->points, point = at % study->points;
		struct spread_difference difference;
		struct spread_figures spread;
		study_spread(study, point, figure, &spread);
		study_difference(study, point, figure, &difference);
		fprintf(to, "%s,%s", study_figure(figure)->name,
			unit_name(study_figure(figure)->unit));
		point_cells(to, study, point);
		fprintf(to, ",%u", spread.count);
		bool is_there = spread.count > 0,
		     has_other = point > 0 && difference.spread.count > 0;
		cell(to, is_there ? spread.mean : NAN);
		cell(to, is_there ? spread.mean - spread.half : NAN);
		cell(to, is_there ? spread.mean + spread.half : NAN);
		cell(to, spread.count > 1 ? spread.sd : NAN);
		cell(to, is_there ? spread.min : NAN);
		cell(to, is_there ? spread.max : NAN);
		cell(to, has_other ? difference.spread.mean : NAN);
		cell(to, has_other ? difference.chance : NAN);
		fprintf(to, ",%s", has_other ? spread_verdict_name(difference.verdict) : "");
		name_cell(to, is_there ? "" : study_missing(study, point, figure));
		fputc('\n', to);
	}
}

// What a run has not, and why; ends the line.
static void reason_cell(FILE *to, const struct report_study *study, const struct study_run *run)
{
	const char *between = "";
	fputs(",\"", to);
	for (uint32_t i = 0; i < study_figure_count(); i++) {
		if (!study_has(study, i) || !isnan(run->figures[i]))
			continue;
		fprintf(to, "%s%s: %s", between, study_figure(i)->name, study_missing_in(run, i));
		between = "; ";
	}
	fputs("\"\n", to);
}

static void write_runs(FILE *to, const struct report_study *study)
{
	fprintf(to, "seed");
	point_heads(to, study);
	fprintf(to, ",end,digest,sample");
	for (uint32_t i = 0; i < study_figure_count(); i++)
		if (study_has(study, i))
			fprintf(to, ",%s", study_figure(i)->name);
	fputs(",reason\n", to);
	for (uint32_t at = 0; at < study->points * study->plan.seeds; at++) {
		uint32_t point = at / study->plan.seeds, seed = at % study->plan.seeds;
		const struct study_run *run = study_run_at(study, point, seed);
		if (run == NULL)
			continue;
		fprintf(to, "%" PRIu64, study->plan.seed_first + seed);
		point_cells(to, study, point);
		fprintf(to, ",%s,%016" PRIx64 ",%s", run->end, run->digest,
			run->is_sample ? "true" : "false");
		for (uint32_t i = 0; i < study_figure_count(); i++)
			if (study_has(study, i))
				cell(to, run->figures[i]);
		reason_cell(to, study, run);
	}
}

// ---------------------------------------------------------------- files

enum { FILE_JSON, FILE_SPREADS, FILE_RUNS, FILE_COUNT };
static const char *const names[FILE_COUNT] = {"study.json", "study.csv", "runs.csv"};

static int path_of(char ret[PATH_BYTES], const char *dir, int file, bool is_temporary)
{
	int length = is_temporary
		? snprintf(ret, PATH_BYTES, "%s/.%s.%ld", dir, names[file], (long)getpid())
		: snprintf(ret, PATH_BYTES, "%s/%s", dir, names[file]);
	return length < PATH_BYTES ? 0 : -ENAMETOOLONG;
}

static int content_write(const char *path, const struct report_study *study, int which)
{
	int code = 0;
	unlink(path); // of a process that had our number and was killed
	FILE *file = fopen(path, "wx");
	if (file == NULL)
		return -errno;
	errno = 0;
	if (which == FILE_JSON)
		code = report_study_json(file, study);
	else if (which == FILE_SPREADS)
		write_spreads(file, study);
	else
		write_runs(file, study);
	if (code == 0 && (ferror(file) != 0 || fflush(file) != 0))
		code = errno != 0 ? -errno : -EIO;
	if (fclose(file) != 0 && code == 0)
		code = -errno;
	return code;
}

int report_study_write(const struct report_study *study, const char *dir, struct refusal *refusal)
{
	char path[PATH_BYTES], temporary[PATH_BYTES];
	int code = 0;
	for (int file = 0; file < FILE_COUNT && code == 0; file++) {
		code = path_of(temporary, dir, file, true);
		if (code == 0)
			code = content_write(temporary, study, file);
	}
	for (int file = 0; file < FILE_COUNT; file++) {
		if (path_of(temporary, dir, file, true) < 0 || path_of(path, dir, file, false) < 0)
			continue;
		if (code == 0 && rename(temporary, path) != 0)
			code = -errno;
		if (code < 0)
			unlink(temporary);
	}
	return code == 0 ? 0 : write_failed(refusal, dir, code);
}
