// SPDX-License-Identifier: Apache-2.0
// Building blocks of a report, and reading the result that it is about.

#include "sheet.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <weft/core/check.h>
#include <weft/result/metrics.h>

#include <weft/result/expect.h>
#include <weft/result/number.h>
#include <weft/result/put.h>
#include <weft/result/result.h>

#define CELL_BYTES 512

// ---------------------------------------------------------------- reading

const json_t *sheet_at(const json_t *from, const char *path)
{
	char key[64];
	while (from != NULL && *path != '\0') {
		size_t length = strcspn(path, ".");
		check(length < sizeof(key));
		memcpy(key, path, length);
		key[length] = '\0';
		from = json_object_get(from, key);
		path += length + (path[length] == '.');
	}
	return from;
}

double sheet_number(const json_t *from, const char *path, double otherwise)
{
	const json_t *value = sheet_at(from, path);
	return json_is_number(value) ? json_number_value(value) : otherwise;
}

const char *sheet_text(const json_t *from, const char *path)
{
	const char *text = json_string_value(sheet_at(from, path));
	return text != NULL ? text : "";
}

// ---------------------------------------------------------------- writing

json_t *sheet_section(struct sheet *sheet, const char *id, const char *title)
{
	json_t *section = row_in(sheet->sections);
	put_text(section, "id", id);
	put_text(section, "title", title);
	array_in(section, "notes");
	array_in(section, "tables");
	array_in(section, "charts");
	return section;
}

static void append_text(json_t *array, const char *format, va_list words)
{
	char text[CELL_BYTES];
	vsnprintf(text, sizeof(text), format, words);
	json_t *value = json_string(text);
	int failed = json_array_append_new(array,
					   value != NULL ? value : json_string("(not UTF-8)"));
	check(failed == 0);
}

void sheet_note(json_t *section, const char *format, ...)
{
	va_list words;
	va_start(words, format);
	append_text(json_object_get(section, "notes"), format, words);
	va_end(words);
}

json_t *sheet_table(json_t *section, const char *caption, const char *const head[])
{
	json_t *table = row_in(json_object_get(section, "tables"));
	put_text(table, "caption", caption);
	json_t *names = array_in(table, "head");
	for (size_t i = 0; head[i] != NULL; i++)
		json_array_append_new(names, json_string(head[i]));
	array_in(table, "rows");
	return table;
}

void sheet_is_more(json_t *table)
{
	put(table, "more", json_true());
}

json_t *sheet_row(json_t *table)
{
	json_t *row = json_array();
	int failed = json_array_append_new(json_object_get(table, "rows"), row);
	check(failed == 0);
	return row;
}

void sheet_cell(json_t *row, const char *format, ...)
{
	va_list words;
	va_start(words, format);
	append_text(row, format, words);
	va_end(words);
}

void sheet_cell_state(json_t *row, const char *text, const char *state)
{
	json_t *cell = row_in(row);
	put_text(cell, "text", text);
	put_text(cell, "state", state);
}

void sheet_cell_link(json_t *row, const char *text, const char *path)
{
	json_t *cell = row_in(row);
	put_text(cell, "text", text);
	put_text(cell, "link", path);
}

// ---------------------------------------------------------------- figures

const char *sheet_number_text(char *ret, size_t bytes, double value, enum unit unit)
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
	}
	snprintf(ret, bytes, "%s", text.at);
	return ret;
}

void sheet_figure(json_t *row, const json_t *from, const char *key, enum unit unit)
{
	char text[CELL_BYTES], name[96];
	const json_t *value = sheet_at(from, key);
	if (json_is_number(value)) {
		sheet_cell(row, "%s",
			   sheet_number_text(text, sizeof(text), json_number_value(value), unit));
		return;
	}
	snprintf(name, sizeof(name), "%s_reason", key);
	const char *reason = sheet_text(from, name);
	if (*reason == '\0')
		reason = value == NULL ? "the result does not have it" : "not of this run";
	snprintf(text, sizeof(text), "unavailable: %s", reason);
	sheet_cell_state(row, text, "unavailable");
}

void sheet_expected(json_t *row, const json_t *expectation, const char *key)
{
	const json_t *value = sheet_at(expectation, key);
	struct text text;
	for (uint32_t i = 0; i < EXPECT_MEASURE_COUNT && json_is_number(value); i++) {
		enum expect_measure measure = (enum expect_measure)i;
		if (strcmp(expect_measure_name(measure), sheet_text(expectation, "measure")) != 0)
			continue;
		sheet_cell(row, "%s", expect_value_text(&text, measure, json_number_value(value)));
		return;
	}
	sheet_figure(row, expectation, key, UNIT_FACTOR);
}

void sheet_fact(json_t *table, const char *name, const json_t *from, const char *key,
		enum unit unit)
{
	json_t *row = sheet_row(table);
	sheet_cell(row, "%s", name);
	sheet_figure(row, from, key, unit);
}

void sheet_row_figure(json_t *table, const json_t *result, const struct figure_row *row)
{
	static const enum unit units[] = {
		[FIGURE_COUNT] = UNIT_COUNT,   [FIGURE_BYTES] = UNIT_BYTES,
		[FIGURE_PS] = UNIT_PS,	       [FIGURE_SHARE] = UNIT_SHARE,
		[FIGURE_FACTOR] = UNIT_FACTOR, [FIGURE_RATE] = UNIT_BPS,
		[FIGURE_NS] = UNIT_NS,
	};
	sheet_fact(table, row->label, sheet_at(result, row->section), row->key, units[row->unit]);
}

// ---------------------------------------------------------------- charts

json_t *sheet_chart(json_t *section, const char *id, const char *kind, const char *title)
{
	json_t *chart = row_in(json_object_get(section, "charts"));
	put_text(chart, "id", id);
	put_text(chart, "kind", kind);
	put_text(chart, "title", title);
	return chart;
}

void sheet_axis(json_t *chart, const char *axis, const char *name, bool is_log)
{
	json_t *object = object_in(chart, axis);
	put_text(object, "name", name);
	put(object, "log", json_boolean(is_log));
}

json_t *sheet_series(json_t *chart, const char *name)
{
	json_t *list = json_object_get(chart, "series");
	json_t *series = row_in(list != NULL ? list : array_in(chart, "series"));
	put_text(series, "name", name);
	return array_in(series, "points");
}

void sheet_point(json_t *points, double x, double y)
{
	json_t *point = json_array();
	json_array_append_new(point, json_real(x));
	json_array_append_new(point, json_real(y));
	int failed = json_array_append_new(points, point);
	check(failed == 0);
}

void sheet_point_between(json_t *points, double x, double y, double low, double high)
{
	sheet_point(points, x, y);
	json_t *point = json_array_get(points, json_array_size(points) - 1);
	json_array_append_new(point, json_real(low));
	json_array_append_new(point, json_real(high));
}

void sheet_is_joined(json_t *chart)
{
	put(chart, "joined", json_true());
}

void sheet_missing(json_t *section, const char *what, const char *reason)
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

static void fill_result(struct sheet *sheet, const struct html_input *input)
{
	sheet_summary(sheet, input);
	sheet_culprits(sheet);
	sheet_latency(sheet, input);
	sheet_load(sheet);
	sheet_time(sheet);
	sheet_rest(sheet);
}

static void fill(struct sheet *sheet, const struct html_input *input)
{
	static const char *const ends[] = {"pass", "fail", "not_valid"};
	static const char *const names[] = {[RESULT_RUN] = "scenario.name",
					    [RESULT_STUDY] = "scenario",
					    [RESULT_BOOK] = "name"};
	snprintf(sheet->title, sizeof(sheet->title), "%.95s",
		 sheet_text(sheet->result, names[sheet->kind]));
	if (sheet->kind == RESULT_BOOK)
		snprintf(sheet->state, sizeof(sheet->state), "%.15s",
			 sheet_text(sheet->result, "verdict"));
	if (sheet->kind == RESULT_BOOK)
		snprintf(sheet->state_text, sizeof(sheet->state_text), "%.127s",
			 sheet_text(sheet->result, "verdict_text"));
	if (input->result->is_partial)
		strcpy(sheet->state, "partial");
	if (input->verdict != NULL)
		strcpy(sheet->state, ends[input->verdict->end]);
	if (sheet->kind == RESULT_STUDY)
		sheet_study(sheet, input);
	else if (sheet->kind == RESULT_BOOK)
		sheet_book(sheet);
	else
		fill_result(sheet, input);
}

bool sheet_is_result(const struct sheet *sheet)
{
	return sheet->kind == RESULT_RUN;
}

bool sheet_takes_profile(const struct sheet *sheet)
{
	return sheet->kind != RESULT_BOOK;
}

int sheet_create(struct sheet **ret, const struct html_input *input, struct refusal *refusal)
{
	struct sheet *sheet = calloc(1, sizeof(*sheet));
	if (sheet == NULL)
		return refuse(refusal, -ENODEV, "no memory for a report");
	sheet->kind = input->result->kind;
	sheet->result = json_incref(input->result->fields);
	int rc = check_files(input, refusal);
	if (rc == 0) {
		sheet->sections = json_array();
		check(sheet->sections != NULL);
		fill(sheet, input);
		*ret = sheet;
		return 0;
	}
	sheet_free(sheet);
	return rc;
}

void sheet_free(struct sheet *sheet)
{
	if (sheet == NULL)
		return;
	json_decref(sheet->result);
	json_decref(sheet->sections);
	free(sheet);
}

int sheet_metrics(FILE *to, const struct sheet *sheet)
{
	return metrics_write(to, sheet->result);
}

int sheet_csv(FILE *to, const struct sheet *sheet)
{
	return metrics_csv(to, sheet->result);
}
