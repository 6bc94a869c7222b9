// SPDX-License-Identifier: Apache-2.0
// study.json as a report: expectations, each figure over the points with its spread, what swept
// keys do, all runs, and the command.

#include "report_model.h"
#include "story.h"

#include <math.h>
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
		if (strcmp(units[i].word, document_text(figure, "unit")) == 0) {
			*ret_factor = units[i].factor;
			return units[i].unit;
		}
	return UNIT_FACTOR;
}

static const char *point_name(const json_t *study, size_t index)
{
	const char *name = document_text(json_array_get(json_object_get(study, "points"), index),
					 "name");
	return *name != '\0' ? name : "as it is";
}

// ---------------------------------------------------------------- summary

static void facts(json_t *section, const json_t *study)
{
	static const char *const head[] = {"what", "figure", NULL};
	json_t *table = report_model_table(section, "The study", head);
	const char *const rows[][2] = {
		{"scenario", "scenario"}, {"first seed", "seed_first"}, {"made by", "weft"}};
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		json_t *row = report_model_row(table);
		report_model_cell(row, "%s", rows[i][0]);
		report_model_cell(row, "%s", document_text(study, rows[i][1]));
	}
	report_model_fact(table, "seeds of each point", study, "seeds", UNIT_COUNT);
	json_t *row = report_model_row(table);
	report_model_cell(row, "points");
	report_model_cell(row, "%zu", json_array_size(json_object_get(study, "points")));
	row = report_model_row(table);
	report_model_cell(row, "runs that are here");
	report_model_cell(row, "%zu", json_array_size(json_object_get(study, "runs")));
}

static void expectations(json_t *section, const json_t *study)
{
	static const char *const head[] = {"state",    "expectation", "variant", "inside",
					   "measured", "expected",    NULL};
	const json_t *list = json_object_get(study, "expect"), *each;
	size_t i;
	if (json_array_size(list) == 0) {
		report_model_note(section, "The scenario expects nothing.");
		return;
	}
	json_t *table = report_model_table(section, "As the scenario expects", head);
	json_array_foreach(list, i, each)
	{
		double runs = document_number_or(each, "runs", 0),
		       inside = document_number_or(each, "inside", 0);
		const char *word = runs == 0 ? "unavailable" : inside == runs ? "met" : "missed";
		json_t *row = report_model_row(table);
		report_model_cell_state(row, word, word);
		report_model_cell(row, "%s", document_text(each, "name"));
		report_model_cell(row, "%s", document_text(each, "run"));
		report_model_cell(row, "%.0f of %.0f runs", inside, runs);
		report_model_expected(row, each, "measured");
		report_model_expected(row, each, "expected");
	}
}

const char *study_effect_words(const char *effect)
{
	static const char *const words[][2] = {
		{"changes", "changes figures in this range"},
		{"noise", "no effect beyond noise"},
		{"flat", "no effect on any figure in this range"},
		{"nothing", "no effect in this range, nor on the digest"},
		{"unknown", "not known: too few runs finished"}};
	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		if (strcmp(words[i][0], effect) == 0)
			return words[i][1];
	return effect;
}

static void sweeps(json_t *section, const json_t *study)
{
	static const char *const head[] = {"key", "values", "effect", NULL};
	const json_t *list = json_object_get(study, "sweeps"), *each;
	size_t i;
	if (json_array_size(list) == 0)
		return;
	json_t *table = report_model_table(section, "What swept keys do", head);
	json_array_foreach(list, i, each)
	{
		json_t *row = report_model_row(table);
		report_model_cell(row, "%s", document_text(each, "key"));
		report_model_cell(row, "%zu", json_array_size(json_object_get(each, "values")));
		report_model_cell(row, "%s", study_effect_words(document_text(each, "effect")));
	}
}

// ---------------------------------------------------------------- figures

static void cell_of(json_t *row, const json_t *point, const char *key, enum unit unit,
		    double factor)
{
	char text[64];
	const json_t *value = document_at(point, key);
	if (json_is_number(value))
		report_model_cell(row, "%s",
				  report_model_rounded_text(text, sizeof(text),
							    json_number_value(value) * factor,
							    unit));
	else
		report_model_figure(row, point, key, unit); // why there is none
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
	snprintf(caption, sizeof(caption), "%.120s", document_text(figure, "title"));
	json_t *table = report_model_table(section, caption, head);
	json_array_foreach(json_object_get(figure, "points"), i, each)
	{
		json_t *row = report_model_row(table);
		report_model_cell(row, "%s", point_name(study, i));
		report_model_cell(row, "%.0f", document_number_or(each, "runs", 0));
		for (size_t k = 0; k < sizeof(keys) / sizeof(*keys); k++)
			cell_of(row, each, keys[k], unit, factor);
		report_model_cell(row, "%s",
				  i == 0 ? "" : document_text(each, "from_first.verdict"));
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
		if (strcmp(units[i].word, document_text(figure, "unit")) == 0) {
			*ret_factor = units[i].factor;
			return units[i].axis;
		}
	return document_text(figure, "unit");
}

// What an interval of a mean may reach: not below zero where no run was, and a share and Jain's
// index no further than one.
static double within(const json_t *figure, const json_t *point, double value)
{
	const char *name = document_text(figure, "name");
	size_t length = strlen(name);
	bool is_share = strcmp(document_text(figure, "unit"), "share") == 0 ||
		(length >= 4 && strcmp(name + length - 4, "jain") == 0);
	if (document_number_or(point, "min", -1) >= 0)
		value = fmax(0, value);
	return is_share ? fmin(1, value) : value;
}

// A bar for each point: its interval of confidence, or from zero to its mean where it has none.
static void figure_chart(json_t *section, const json_t *study, const json_t *figure)
{
	char id[80], title[160];
	const json_t *each;
	size_t i;
	double scale = 1;
	const char *axis = axis_of(figure, &scale);
	snprintf(id, sizeof(id), "figure-%.60s", document_text(figure, "name"));
	bool has_spread = document_number_or(study, "seeds", 1) > 1;
	snprintf(title, sizeof(title), "%.100s: %s", document_text(figure, "title"),
		 has_spread ? "interval of confidence of its mean, 95 %" : "by point");
	json_t *chart = report_model_chart(section, id, "spans", title);
	report_model_axis(chart, "x", axis, false);
	report_model_axis(chart, "y", "", false);
	json_object_set_new(json_object_get(chart, "x"), "scale", json_boolean(has_spread));
	json_t *rows = json_array(), *spans = json_array();
	json_array_foreach(json_object_get(figure, "points"), i, each)
	{
		if (!json_is_number(json_object_get(each, "mean")))
			continue;
		double mean = document_number_or(each, "mean", 0);
		double low = has_spread
			? within(figure, each, document_number_or(each, "low", mean))
			: fmin(0, mean);
		double high = has_spread
			? within(figure, each, document_number_or(each, "high", mean))
			: fmax(0, mean);
		json_t *one = json_array();
		json_array_append_new(one, json_integer((json_int_t)json_array_size(rows)));
		json_array_append_new(one, json_real(low * scale));
		json_array_append_new(one, json_real(high * scale));
		json_array_append_new(one, json_string(point_name(study, i)));
		if (has_spread) {
			json_array_append_new(one, json_integer(0));
			json_array_append_new(one, json_real(mean * scale));
		}
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
			   each) if (document_number_or(each, "mean", 0) != 0) return true;
	return false;
}

// All runs have it, and in none of them it is anything but 0: a line says that.
static bool is_zero(const json_t *figure)
{
	const json_t *each;
	size_t i;
	json_array_foreach(json_object_get(figure, "points"), i,
			   each) if (document_number(each, "min") != 0 ||
				     document_number(each, "max") != 0) return false;
	return true;
}

static void zeros(json_t *section, const json_t *list)
{
	const json_t *each;
	size_t i, used = 0;
	char text[4096];
	json_array_foreach(list, i, each) if (is_zero(each) && used < sizeof(text))
		used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%s",
					 used > 0 ? "; " : "", document_text(each, "title"));
	if (used > 0)
		report_model_note(section, "0 in all runs: %s.", text);
}

static void figures(struct report_model *report_model)
{
	json_t *section = report_model_section(report_model, "figures", "Figures");
	const json_t *list = json_object_get(report_model->result, "figures"), *each;
	size_t i;
	if (json_array_size(list) == 0)
		report_model_missing(section, "Figures", "no run finished");
	json_array_foreach(list, i, each)
	{
		if (is_drawn(each))
			figure_chart(section, report_model->result, each);
		if (!is_zero(each))
			figure_table(section, report_model->result, each);
	}
	zeros(section, list);
}

// Figures that no run has, and why.
static void missing(struct report_model *report_model)
{
	static const char *const head[] = {"figure", "why there is none", NULL};
	json_t *section = report_model_section(report_model, "unavailable",
					       "What could not be measured");
	const json_t *list = json_object_get(report_model->result, "missing"), *each;
	size_t i;
	if (json_array_size(list) == 0) {
		report_model_note(section, "Every figure of a study was measured.");
		return;
	}
	json_t *table = report_model_table(section, "Unavailable", head);
	json_array_foreach(list, i, each)
	{
		json_t *row = report_model_row(table);
		report_model_cell(row, "%s", document_text(each, "title"));
		report_model_cell_state(row, document_text(each, "reason"), "unavailable");
	}
}

// ---------------------------------------------------------------- runs

static void runs(struct report_model *report_model)
{
	static const char *const head[] = {"point", "seed", "end", "digest", NULL};
	json_t *section = report_model_section(report_model, "runs", "Runs");
	const json_t *list = json_object_get(report_model->result, "runs"), *each;
	size_t i;
	report_model_note(section, "Each of %zu runs is the one that its seed and keys give alone.",
			  json_array_size(list));
	json_t *table = report_model_table(section, "Runs", head);
	report_model_is_more(table);
	json_array_foreach(list, i, each)
	{
		json_t *row = report_model_row(table);
		report_model_cell(row, "%s",
				  point_name(report_model->result,
					     (size_t)document_number_or(each, "point", 0)));
		report_model_cell(row, "%s", document_text(each, "seed"));
		report_model_cell(row, "%s", document_text(each, "end"));
		report_model_cell(row, "%s", document_text(each, "digest"));
	}
}

static void warnings(json_t *section, const json_t *study)
{
	const json_t *points = json_object_get(study, "points"), *point, *name;
	size_t i, j;
	json_array_foreach(points, i, point)
		json_array_foreach(json_object_get(point, "warnings"), j, name)
			report_model_note(section, "Warning: %s: %s", document_text(point, "name"),
					  json_string_value(name));
}

void report_model_study(struct report_model *report_model, const struct html_input *input)
{
	json_t *section = report_model_section(report_model, "summary", "Summary");
	bool is_partial = json_is_true(document_at(report_model->result, "partial"));
	if (is_partial)
		report_model_note(section,
				  "PARTIAL RESULT: runs are missing, or did not come to their "
				  "end; they are in no figure.");
	warnings(section, report_model->result);
	report_model_verdict(section, input);
	expectations(section, report_model->result);
	sweeps(section, report_model->result);
	facts(section, report_model->result);
	figures(report_model);
	missing(report_model);
	runs(report_model);
	report_model_again(report_model);
}
