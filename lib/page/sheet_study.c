// SPDX-License-Identifier: Apache-2.0
// study.json as a report: expectations, each figure over the points with its spread, what swept
// keys do, all runs, and the command.

#include "sheet.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static enum unit unit_of(const json_t *figure, double *ret_factor)
{
	static const struct {
		const char *word;
		enum unit unit;
		double factor; // to that unit
	} units[] = {{"bits per second", UNIT_BPS, 1},
		     {"seconds", UNIT_PS, 1e12},
		     {"count", UNIT_FACTOR, 1},
		     {"bytes", UNIT_BYTES, 1},
		     {"share", UNIT_SHARE, 1}};
	*ret_factor = 1;
	for (size_t i = 0; i < sizeof(units) / sizeof(*units); i++)
		if (strcmp(units[i].word, sheet_text(figure, "unit")) == 0) {
			*ret_factor = units[i].factor;
			return units[i].unit;
		}
	return UNIT_FACTOR;
}

static const char *point_name(const json_t *study, size_t index)
{
	const char *name = sheet_text(json_array_get(json_object_get(study, "points"), index),
				      "name");
	return *name != '\0' ? name : "as it is";
}

// ---------------------------------------------------------------- summary

static void facts(json_t *section, const json_t *study)
{
	static const char *const head[] = {"what", "figure", NULL};
	json_t *table = sheet_table(section, "The study", head);
	const char *const rows[][2] = {
		{"scenario", "scenario"}, {"first seed", "seed_first"}, {"made by", "weft"}};
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		json_t *row = sheet_row(table);
		sheet_cell(row, "%s", rows[i][0]);
		sheet_cell(row, "%s", sheet_text(study, rows[i][1]));
	}
	sheet_fact(table, "seeds of each point", study, "seeds", UNIT_COUNT);
	json_t *row = sheet_row(table);
	sheet_cell(row, "points");
	sheet_cell(row, "%zu", json_array_size(json_object_get(study, "points")));
	row = sheet_row(table);
	sheet_cell(row, "runs that are here");
	sheet_cell(row, "%zu", json_array_size(json_object_get(study, "runs")));
}

static void expectations(json_t *section, const json_t *study)
{
	static const char *const head[] = {"state",    "expectation", "variant", "inside",
					   "measured", "expected",    NULL};
	const json_t *list = json_object_get(study, "expect"), *each;
	size_t i;
	if (json_array_size(list) == 0) {
		sheet_note(section, "The scenario expects nothing.");
		return;
	}
	json_t *table = sheet_table(section, "As the scenario expects", head);
	json_array_foreach(list, i, each)
	{
		double runs = sheet_number(each, "runs", 0),
		       inside = sheet_number(each, "inside", 0);
		const char *word = runs == 0 ? "unavailable" : inside == runs ? "met" : "missed";
		json_t *row = sheet_row(table);
		sheet_cell_state(row, word, word);
		sheet_cell(row, "%s", sheet_text(each, "name"));
		sheet_cell(row, "%s", sheet_text(each, "run"));
		sheet_cell(row, "%.0f of %.0f runs", inside, runs);
		sheet_expected(row, each, "measured");
		sheet_expected(row, each, "expected");
	}
}

static void sweeps(json_t *section, const json_t *study)
{
	static const char *const head[] = {"key", "values", "it", NULL};
	const json_t *list = json_object_get(study, "sweeps"), *each;
	size_t i;
	if (json_array_size(list) == 0)
		return;
	json_t *table = sheet_table(section, "What swept keys do", head);
	json_array_foreach(list, i, each)
	{
		json_t *row = sheet_row(table);
		sheet_cell(row, "%s", sheet_text(each, "key"));
		sheet_cell(row, "%zu", json_array_size(json_object_get(each, "values")));
		sheet_cell(row, "%s", sheet_text(each, "effect"));
	}
}

// ---------------------------------------------------------------- figures

static void cell_of(json_t *row, const json_t *point, const char *key, enum unit unit,
		    double factor)
{
	char text[64];
	const json_t *value = sheet_at(point, key);
	if (json_is_number(value))
		sheet_cell(row, "%s",
			   sheet_number_text(text, sizeof(text), json_number_value(value) * factor,
					     unit));
	else
		sheet_figure(row, point, key, unit); // why there is none
}

static void figure_table(json_t *section, const json_t *study, const json_t *figure)
{
	static const char *const head[] = {"point", "runs", "mean",	    "low (95 %)", "high",
					   "least", "most", "to the first", NULL};
	static const char *const keys[] = {"mean", "low", "high", "min", "max"};
	char caption[128];
	double factor;
	enum unit unit = unit_of(figure, &factor);
	const json_t *each;
	size_t i;
	snprintf(caption, sizeof(caption), "%.120s", sheet_text(figure, "title"));
	json_t *table = sheet_table(section, caption, head);
	json_array_foreach(json_object_get(figure, "points"), i, each)
	{
		json_t *row = sheet_row(table);
		sheet_cell(row, "%s", point_name(study, i));
		sheet_cell(row, "%.0f", sheet_number(each, "runs", 0));
		for (size_t k = 0; k < sizeof(keys) / sizeof(*keys); k++)
			cell_of(row, each, keys[k], unit, factor);
		sheet_cell(row, "%s", i == 0 ? "" : sheet_text(each, "from_first.verdict"));
	}
}

// The unit of a drawing, and its factor.
static const char *axis_of(const json_t *figure, double *ret_factor)
{
	static const struct {
		const char *word, *axis;
		double factor;
	} units[] = {{"bits per second", "Gb/s", 1e-9},
		     {"seconds", "us", 1e6},
		     {"bytes", "kB", 1e-3},
		     {"share", "%", 100}};
	for (size_t i = 0; i < sizeof(units) / sizeof(*units); i++)
		if (strcmp(units[i].word, sheet_text(figure, "unit")) == 0) {
			*ret_factor = units[i].factor;
			return units[i].axis;
		}
	return sheet_text(figure, "unit");
}

// A bar for each point: its interval of confidence, or from zero to its mean where it has none.
static void figure_chart(json_t *section, const json_t *study, const json_t *figure)
{
	char id[80], title[160];
	const json_t *each;
	size_t i;
	double scale = 1;
	const char *axis = axis_of(figure, &scale);
	snprintf(id, sizeof(id), "figure-%.60s", sheet_text(figure, "name"));
	bool has_spread = sheet_number(study, "seeds", 1) > 1;
	snprintf(title, sizeof(title), "%.100s: %s", sheet_text(figure, "title"),
		 has_spread ? "interval of confidence of its mean, 95 %" : "by point");
	json_t *chart = sheet_chart(section, id, "spans", title);
	sheet_axis(chart, "x", axis, false);
	sheet_axis(chart, "y", "", false);
	json_object_set_new(json_object_get(chart, "x"), "scale", json_boolean(has_spread));
	json_t *rows = json_array(), *spans = json_array();
	json_array_foreach(json_object_get(figure, "points"), i, each)
	{
		if (!json_is_number(json_object_get(each, "mean")))
			continue;
		double mean = sheet_number(each, "mean", 0);
		double low = has_spread ? sheet_number(each, "low", mean) : fmin(0, mean);
		double high = has_spread ? sheet_number(each, "high", mean) : fmax(0, mean);
		json_t *one = json_array();
		json_array_append_new(one, json_integer((json_int_t)json_array_size(rows)));
		json_array_append_new(one, json_real(low * scale));
		json_array_append_new(one, json_real(high * scale));
		json_array_append_new(one, json_string(point_name(study, i)));
		json_array_append_new(spans, one);
		json_array_append_new(rows, json_string(point_name(study, i)));
	}
	json_object_set_new(chart, "rows", rows);
	json_object_set_new(chart, "spans", spans);
}

// A figure that is the same and zero everywhere draws nothing.
static bool is_drawn(const json_t *figure)
{
	const json_t *each;
	size_t i;
	json_array_foreach(json_object_get(figure, "points"), i,
			   each) if (sheet_number(each, "mean", 0) != 0) return true;
	return false;
}

static void figures(struct sheet *sheet)
{
	json_t *section = sheet_section(sheet, "figures", "Figures");
	const json_t *list = json_object_get(sheet->result, "figures"), *each;
	size_t i;
	if (json_array_size(list) == 0)
		sheet_missing(section, "Figures", "no run finished");
	json_array_foreach(list, i, each)
	{
		if (is_drawn(each))
			figure_chart(section, sheet->result, each);
		figure_table(section, sheet->result, each);
	}
}

// Figures that no run has, and why.
static void missing(struct sheet *sheet)
{
	static const char *const head[] = {"figure", "why there is none", NULL};
	json_t *section = sheet_section(sheet, "unavailable", "What could not be measured");
	const json_t *list = json_object_get(sheet->result, "missing"), *each;
	size_t i;
	if (json_array_size(list) == 0) {
		sheet_note(section, "Every figure of a study was measured.");
		return;
	}
	json_t *table = sheet_table(section, "Unavailable", head);
	json_array_foreach(list, i, each)
	{
		json_t *row = sheet_row(table);
		sheet_cell(row, "%s", sheet_text(each, "title"));
		sheet_cell_state(row, sheet_text(each, "reason"), "unavailable");
	}
}

// ---------------------------------------------------------------- runs

static void runs(struct sheet *sheet)
{
	static const char *const head[] = {"point", "seed", "end", "digest", NULL};
	json_t *section = sheet_section(sheet, "runs", "Runs");
	const json_t *list = json_object_get(sheet->result, "runs"), *each;
	size_t i;
	sheet_note(section, "Each of %zu runs is the one that its seed and keys give alone.",
		   json_array_size(list));
	json_t *table = sheet_table(section, "Runs", head);
	sheet_is_more(table);
	json_array_foreach(list, i, each)
	{
		json_t *row = sheet_row(table);
		sheet_cell(row, "%s",
			   point_name(sheet->result, (size_t)sheet_number(each, "point", 0)));
		sheet_cell(row, "%s", sheet_text(each, "seed"));
		sheet_cell(row, "%s", sheet_text(each, "end"));
		sheet_cell(row, "%s", sheet_text(each, "digest"));
	}
}

static void warnings(json_t *section, const json_t *study)
{
	const json_t *points = json_object_get(study, "points"), *point, *name;
	size_t i, j;
	json_array_foreach(points, i, point)
		json_array_foreach(json_object_get(point, "warnings"), j, name)
			sheet_note(section, "Warning: %s: %s", sheet_text(point, "name"),
				   json_string_value(name));
}

void sheet_study(struct sheet *sheet, const struct html_input *input)
{
	json_t *section = sheet_section(sheet, "summary", "Summary");
	bool is_partial = json_is_true(sheet_at(sheet->result, "partial"));
	if (is_partial)
		sheet_note(section,
			   "PARTIAL RESULT: runs are missing, or did not come to their "
			   "end; they are in no figure.");
	warnings(section, sheet->result);
	sheet_verdict(section, input);
	expectations(section, sheet->result);
	sweeps(section, sheet->result);
	facts(section, sheet->result);
	figures(sheet);
	missing(sheet);
	runs(sheet);
	sheet_again(sheet);
}
