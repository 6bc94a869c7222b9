// SPDX-License-Identifier: Apache-2.0
// Building blocks of a report, and reading the result that it is about.

#include "report_model.h"

#include "story.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <weft/core/check.h>
#include <weft/core/check_memory.h>
#include <weft/result/metrics.h>

#include <weft/result/expect.h>
#include <weft/result/number.h>
#include <weft/result/result.h>

#define CELL_BYTES 512

// ---------------------------------------------------------------- writing

json_t *report_model_section(struct report_model *report_model, const char *id, const char *title)
{
	json_t *section = row_in(report_model->sections);
	put_text(section, "id", id);
	put_text(section, "title", title);
	array_in(section, "notes");
	array_in(section, "tables");
	array_in(section, "charts");
	return section;
}

static void append_text(json_t *array, const char *format, va_list words)
{
	char *text;
	int length = vasprintf(&text, format, words);
	check(length >= 0);
	json_t *value = json_string(text);
	free(text);
	int failed = json_array_append_new(array,
					   value != NULL ? value : json_string("(not UTF-8)"));
	check(failed == 0);
}

void report_model_note(json_t *section, const char *format, ...)
{
	va_list words;
	va_start(words, format);
	append_text(json_object_get(section, "notes"), format, words);
	va_end(words);
}

json_t *report_model_table(json_t *section, const char *caption, const char *const head[])
{
	json_t *table = row_in(json_object_get(section, "tables"));
	put_text(table, "caption", caption);
	json_t *names = array_in(table, "head");
	for (size_t i = 0; head[i] != NULL; i++)
		json_array_append_new(names, json_string(head[i]));
	array_in(table, "rows");
	return table;
}

void report_model_is_more(json_t *table)
{
	put(table, "more", json_true());
}

json_t *report_model_row(json_t *table)
{
	json_t *row = json_array();
	int failed = json_array_append_new(json_object_get(table, "rows"), row);
	check(failed == 0);
	return row;
}

void report_model_cell(json_t *row, const char *format, ...)
{
	va_list words;
	va_start(words, format);
	append_text(row, format, words);
	va_end(words);
}

void report_model_cell_state(json_t *row, const char *text, const char *state)
{
	json_t *cell = row_in(row);
	put_text(cell, "text", text);
	put_text(cell, "state", state);
}

void report_model_cell_link(json_t *row, const char *text, const char *path)
{
	json_t *cell = row_in(row);
	put_text(cell, "text", text);
	put_text(cell, "link", path);
}

// ---------------------------------------------------------------- figures

const char *report_model_number_text(char *ret, size_t bytes, double value, enum unit unit)
{
	struct text text = {.at = ""};
	switch (unit) {
	case UNIT_PS:
		number_time(&text, (ps_t)llround(value));
		break;
	case UNIT_NS:
		number_time(&text, (ps_t)llround(value * 1000));
		break;
	case UNIT_BPS:
		number_rate(&text, value);
		break;
	case UNIT_BYTES:
		number_bytes(&text, (uint64_t)llround(value));
		break;
	case UNIT_SHARE:
		number_share(&text, value);
		break;
	case UNIT_GBS:
		snprintf(text.at, sizeof(text.at), "%.3f GB/s", value / 1e9);
		break;
	case UNIT_COUNT:
		number_grouped(&text, (uint64_t)llround(value));
		break;
	case UNIT_FACTOR:
		snprintf(text.at, sizeof(text.at), "%.6g", value);
		break;
	case UNIT_TEXT:
		break;
	}
	snprintf(ret, bytes, "%s", text.at);
	return ret;
}

const char *report_model_rounded_text(char *ret, size_t bytes, double value, enum unit unit)
{
	char text[64];
	double size = fabs(value);
	struct text grouped;
	bool is_near_one = size < 1 && size >= 0.9995;
	report_model_number_text(text, sizeof(text), size, unit);
	if (unit == UNIT_SHARE && (size == 0 || size >= 0.01) && !is_near_one)
		snprintf(text, sizeof(text), "%.1f %%", size * 100);
	else if (unit == UNIT_FACTOR && size >= 1000)
		snprintf(text, sizeof(text), "%s",
			 number_grouped(&grouped, (uint64_t)llround(size)));
	else if (unit == UNIT_FACTOR && !is_near_one)
		snprintf(text, sizeof(text), "%.4g", size);
	snprintf(ret, bytes, "%s%s", value < 0 ? "-" : "", text);
	return ret;
}

void report_model_figure(json_t *row, const json_t *from, const char *key, enum unit unit)
{
	char text[CELL_BYTES], name[96];
	const json_t *value = document_at(from, key);
	if (json_is_number(value)) {
		report_model_cell(row, "%s",
				  report_model_number_text(text, sizeof(text),
							   json_number_value(value), unit));
		return;
	}
	snprintf(name, sizeof(name), "%s_reason", key);
	const char *reason = document_text(from, name);
	if (*reason == '\0')
		reason = value == NULL ? "the result does not have it" : "not of this run";
	snprintf(text, sizeof(text), "unavailable: %s", reason);
	report_model_cell_state(row, text, "unavailable");
}

void report_model_expected(json_t *row, const json_t *expectation, const char *key)
{
	const json_t *value = document_at(expectation, key);
	struct text text;
	const char *shown = json_is_number(value) ? expect_row_text(&text, expectation, key) : NULL;
	if (shown != NULL)
		report_model_cell(row, "%s", shown);
	else
		report_model_figure(row, expectation, key, UNIT_FACTOR);
}

json_t *report_model_list(json_t *section, const char *caption, const json_t *list,
			  const struct report_model_column *columns)
{
	const char *heads[16] = {NULL};
	const json_t *each;
	size_t i;
	for (uint32_t at = 0; columns[at].head != NULL; at++)
		heads[at] = columns[at].head;
	json_t *table = report_model_table(section, caption, heads);
	json_array_foreach(list, i, each)
	{
		json_t *row = report_model_row(table);
		for (const struct report_model_column *at = columns; at->head != NULL; at++)
			if (at->unit == UNIT_TEXT)
				report_model_cell(row, "%s", document_text(each, at->key));
			else
				report_model_figure(row, each, at->key, at->unit);
	}
	return table;
}

void report_model_fact(json_t *table, const char *name, const json_t *from, const char *key,
		       enum unit unit)
{
	json_t *row = report_model_row(table);
	report_model_cell(row, "%s", name);
	report_model_figure(row, from, key, unit);
}

void report_model_row_figure(json_t *table, const json_t *result, const struct figure_row *row)
{
	static const enum unit units[] = {
		[FIGURE_COUNT] = UNIT_COUNT,   [FIGURE_BYTES] = UNIT_BYTES,
		[FIGURE_PS] = UNIT_PS,	       [FIGURE_SHARE] = UNIT_SHARE,
		[FIGURE_FACTOR] = UNIT_FACTOR, [FIGURE_RATE] = UNIT_BPS,
		[FIGURE_NS] = UNIT_NS,
	};
	report_model_fact(table, row->label, document_at(result, row->section), row->key,
			  units[row->unit]);
}

// ---------------------------------------------------------------- charts

json_t *report_model_chart(json_t *section, const char *id, const char *kind, const char *title)
{
	json_t *chart = row_in(json_object_get(section, "charts"));
	put_text(chart, "id", id);
	put_text(chart, "kind", kind);
	put_text(chart, "title", title);
	return chart;
}

void report_model_axis(json_t *chart, const char *axis, const char *name, bool is_log)
{
	json_t *object = object_in(chart, axis);
	put_text(object, "name", name);
	put(object, "log", json_boolean(is_log));
}

json_t *report_model_series(json_t *chart, const char *name)
{
	json_t *list = json_object_get(chart, "series");
	json_t *series = row_in(list != NULL ? list : array_in(chart, "series"));
	put_text(series, "name", name);
	return array_in(series, "points");
}

void report_model_heat(json_t *cells, size_t column, size_t row, double value)
{
	json_t *cell = json_array();
	json_array_append_new(cell, json_integer((json_int_t)column));
	json_array_append_new(cell, json_integer((json_int_t)row));
	json_array_append_new(cell, json_real(value));
	json_array_append_new(cells, cell);
}

void report_model_point(json_t *points, double x, double y)
{
	json_t *point = json_array();
	json_array_append_new(point, json_real(x));
	json_array_append_new(point, json_real(y));
	int failed = json_array_append_new(points, point);
	check(failed == 0);
}

void report_model_bin(json_t *points, size_t index, double width, double value)
{
	report_model_point(points, (double)index * width, value);
	report_model_point(points, (double)(index + 1) * width, value);
}

void report_model_point_between(json_t *points, double x, double y, double low, double high)
{
	report_model_point(points, x, y);
	json_t *point = json_array_get(points, json_array_size(points) - 1);
	json_array_append_new(point, json_real(low));
	json_array_append_new(point, json_real(high));
}

void report_model_is_joined(json_t *chart)
{
	put(chart, "joined", json_true());
}

void report_model_missing(json_t *section, const char *what, const char *reason)
{
	json_t *list = json_object_get(section, "missing");
	json_t *row = row_in(list != NULL ? list : array_in(section, "missing"));
	put_text(row, "what", what);
	put_text(row, "reason", reason);
}

// ---------------------------------------------------------------- whole

// The histograms beside it.
static int check_files(const struct html_input *input, struct refusal *refusal)
{
	char path[4096];
	const char *own = input->result->path, *slash = strrchr(own, '/');
	for (uint32_t i = 0; i < input->file_count; i++) {
		const struct html_file *file = &input->files[i];
		snprintf(path, sizeof(path), "%.*s%s", slash == NULL ? 0 : (int)(slash + 1 - own),
			 own, file->name);
		int rc = result_check_histogram(input->result, path, file->text, file->bytes,
						refusal);
		if (rc < 0)
			return rc;
	}
	return 0;
}

static void fill_result(struct report_model *report_model, const struct html_input *input)
{
	report_model_summary(report_model, input);
	report_model_culprits(report_model);
	report_model_latency(report_model, input);
	report_model_load(report_model);
	report_model_time(report_model);
	report_model_rest(report_model);
	story_of_run(report_model, input);
}

static void fill(struct report_model *report_model, const struct html_input *input)
{
	static const char *const ends[] = {"pass", "fail", "not_valid"};
	static const char *const names[] = {[RESULT_RUN] = "scenario.name",
					    [RESULT_STUDY] = "scenario",
					    [RESULT_ACCEPTANCE] = "name"};
	snprintf(report_model->title, sizeof(report_model->title), "%.95s",
		 document_text(report_model->result, names[report_model->kind]));
	if (report_model->kind == RESULT_ACCEPTANCE)
		snprintf(report_model->state, sizeof(report_model->state), "%.15s",
			 document_text(report_model->result, "verdict"));
	if (report_model->kind == RESULT_ACCEPTANCE)
		snprintf(report_model->state_text, sizeof(report_model->state_text), "%.127s",
			 document_text(report_model->result, "verdict_text"));
	if (input->result->is_partial)
		strcpy(report_model->state, "partial");
	if (input->verdict != NULL)
		strcpy(report_model->state, ends[input->verdict->end]);
	if (report_model->kind == RESULT_STUDY)
		report_model_study(report_model, input), story_of_study(report_model, input);
	else if (report_model->kind == RESULT_ACCEPTANCE)
		report_model_acceptance(report_model), story_of_acceptance(report_model, input);
	else
		fill_result(report_model, input);
}

bool report_model_is_result(const struct report_model *report_model)
{
	return report_model->kind == RESULT_RUN;
}

bool report_model_takes_profile(const struct report_model *report_model)
{
	return report_model->kind != RESULT_ACCEPTANCE;
}

// ---------------------------------------------------------------- charts of nothing

// Whether a chart of lines or bars has points, and all of them are zero.
static bool is_zero(const json_t *chart)
{
	const json_t *series, *point;
	const char *kind = document_text(chart, "kind");
	size_t i, k, count = 0;
	if (strcmp(kind, "line") != 0 && strcmp(kind, "bar") != 0)
		return false;
	json_array_foreach(json_object_get(chart, "series"), i, series)
		json_array_foreach(json_object_get(series, "points"), k, point)
	{
		count++;
		if (json_number_value(json_array_get(point, 1)) != 0)
			return false;
	}
	return count > 0;
}

// Says in a sentence what a chart would show as a line at zero.
static void fold_zeros(struct report_model *report_model)
{
	json_t *section;
	size_t i;
	json_array_foreach(report_model->sections, i, section)
	{
		json_t *charts = json_object_get(section, "charts");
		for (size_t k = json_array_size(charts); k-- > 0;) {
			const json_t *chart = json_array_get(charts, k);
			if (!is_zero(chart))
				continue;
			report_model_note(section, "None, all the time: %s.",
					  document_text(chart, "title"));
			json_array_remove(charts, k);
		}
	}
}

int report_model_create(struct report_model **ret, const struct html_input *input,
			struct refusal *refusal)
{
	struct report_model *report_model = calloc(1, sizeof(*report_model));
	if (report_model == NULL)
		return refuse(refusal, -ENODEV, "no memory for a report");
	report_model->kind = input->result->kind;
	report_model->result = json_incref(input->result->fields);
	int rc = check_files(input, refusal);
	if (rc == 0) {
		report_model->sections = json_array();
		check_memory(report_model->sections != NULL);
		fill(report_model, input);
		fold_zeros(report_model);
		*ret = report_model;
		return 0;
	}
	report_model_free(report_model);
	return rc;
}

void report_model_example(char *ret, size_t bytes, const struct result *acceptance)
{
	const json_t *one = acceptance->kind == RESULT_ACCEPTANCE ? story_case(acceptance->fields)
								  : NULL;
	snprintf(ret, bytes, "%s", one != NULL ? document_text(one, "folder") : "");
}

void report_model_free(struct report_model *report_model)
{
	if (report_model == NULL)
		return;
	json_decref(report_model->result);
	json_decref(report_model->sections);
	json_decref(report_model->story);
	picture_free(report_model->picture);
	free(report_model);
}

int report_model_metrics(FILE *to, const struct report_model *report_model)
{
	return metrics_write(to, report_model->result);
}

int report_model_csv(FILE *to, const struct report_model *report_model)
{
	return metrics_csv(to, report_model->result);
}
