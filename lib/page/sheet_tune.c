// SPDX-License-Identifier: Apache-2.0
// A study of settings as a report: what to set and how sure that is, what each knob does, where
// good settings lie, what they cost each other, and how soon the search came near its end.

#include "sheet.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <weft/core/check.h>

static json_t *list_of(const json_t *from, const char *key)
{
	return json_object_get(from, key);
}

static void notes(json_t *section, const json_t *lines)
{
	const json_t *each;
	size_t i;
	json_array_foreach(lines, i, each) sheet_note(section, "%s", json_string_value(each));
}

// ---------------------------------------------------------------- what to set

static void sets(json_t *section, const json_t *study)
{
	static const char *const head[] = {"scenario", "as found", "to be set", NULL};
	const json_t *best = json_array_get(list_of(study, "finalists"), 0), *each;
	const json_t *round = sheet_at(study, "rounded.sets");
	size_t i, j;
	if (strcmp(sheet_text(study, "verdict"), "better") != 0)
		return;
	json_t *table = sheet_table(section, "What to set", head);
	json_array_foreach(list_of(best, "sets"), i, each)
	{
		const json_t *set;
		json_array_foreach(list_of(each, "set"), j, set)
		{
			const char *rounded = json_string_value(
				json_array_get(list_of(json_array_get(round, i), "set"), j));
			json_t *row = sheet_row(table);
			sheet_cell(row, "%s", sheet_text(each, "scenario"));
			sheet_cell(row, "%s", json_string_value(set));
			sheet_cell(row, "%s", rounded != NULL ? rounded : "round as it is");
		}
	}
}

static void span(json_t *chart, double low, double high, const char *name, int colour)
{
	json_t *rows = list_of(chart, "rows"), *one = json_array();
	json_array_append_new(one, json_integer((json_int_t)json_array_size(rows)));
	json_array_append_new(one, json_real(low));
	json_array_append_new(one, json_real(high));
	json_array_append_new(one, json_string(name));
	json_array_append_new(one, json_integer(colour));
	json_array_append_new(list_of(chart, "spans"), one);
	json_array_append_new(rows, json_string(name));
}

static json_t *span_chart(json_t *section, const char *id, const char *title, const char *axis)
{
	json_t *chart = sheet_chart(section, id, "spans", title);
	sheet_axis(chart, "x", axis, false);
	sheet_axis(chart, "y", "", false);
	json_object_set_new(list_of(chart, "x"), "scale", json_true());
	json_object_set_new(chart, "rows", json_array());
	json_object_set_new(chart, "spans", json_array());
	return chart;
}

static void finalists(json_t *section, const json_t *study)
{
	static const char *const head[] = {"place",
					   "ratio to the default (95 %)",
					   "seeds",
					   "breaks",
					   "in the search",
					   "setting",
					   NULL};
	const json_t *list = list_of(study, "finalists"), *each;
	size_t i;
	if (json_array_size(list) == 0)
		return;
	json_t *table = sheet_table(section, "On seeds that the search never met", head),
	       *chart = NULL;
	json_array_foreach(list, i, each)
	{
		const json_t *fresh = list_of(each, "fresh");
		json_t *row = sheet_row(table);
		sheet_cell(row, "%zu", i + 1);
		sheet_ratio_cell(row, fresh);
		sheet_cell(row, "%.0f", sheet_number(fresh, "seeds", 0));
		sheet_cell(row, "%s", sheet_text(fresh, "binding"));
		sheet_ratio_cell(row, list_of(each, "search"));
		sheet_cell(row, "%s", sheet_text(each, "setting"));
		if (!json_is_number(json_object_get(fresh, "low")))
			continue;
		if (chart == NULL)
			chart = span_chart(section, "finalists",
					   "Interval of the ratio to the default with the same "
					   "seed (they hold together, 95 %)",
					   "ratio; the default is 1");
		char name[24];
		snprintf(name, sizeof(name), "%zu", i + 1);
		span(chart, sheet_number(fresh, "low", 1), sheet_number(fresh, "high", 1), name,
		     sheet_number(fresh, "high", 1) < 1 ? 0 : 1);
	}
}

static void summary(struct sheet *sheet)
{
	const json_t *study = sheet->result;
	json_t *section = sheet_section(sheet, "summary", "Summary");
	if (sheet->state[0] != '\0')
		sheet_note(section, "NOT AT ITS END: what follows is the search's, without proof.");
	if (json_object_get(study, "other_version") != NULL)
		sheet_note(section, "The runs are of %s, this page is not.",
			   sheet_text(study, "other_version"));
	notes(section, list_of(study, "alerts"));
	notes(section, list_of(study, "words"));
	if (json_array_size(list_of(study, "words")) == 0)
		notes(section, list_of(study, "says"));
	notes(section, list_of(study, "head"));
	sets(section, study);
	finalists(section, study);
	sheet_holdouts(section, study);
}

// ---------------------------------------------------------------- knobs

static void indices(struct sheet *sheet)
{
	static const char *const head[] = {"knob",
					   "share of the variance (95 %)",
					   "moves the aim by",
					   "chance that it does nothing",
					   "flat",
					   NULL};
	const json_t *list = list_of(sheet->result, "knobs"), *each;
	json_t *section = sheet_section(sheet, "knobs", "Which knobs matter");
	size_t i;
	if (json_array_size(list) == 0) {
		sheet_missing(section, "Indices", "knobs were not screened (--screen)");
		return;
	}
	json_t *table = sheet_table(
		section, "Sobol's total index and Morris's mean effect, over the whole space",
		head);
	json_t *chart = span_chart(section, "indices",
				   "Share of the aim's variance: interval, 95 %", "share");
	json_array_foreach(list, i, each)
	{
		json_t *row = sheet_row(table);
		double low = sheet_number(each, "low", 0), high = sheet_number(each, "high", 0);
		sheet_cell(row, "%s", sheet_text(each, "knob"));
		sheet_cell(row, "%.2f (%.2f to %.2f)", sheet_number(each, "share", 0), low, high);
		sheet_cell(row, "%.1f %%", expm1(sheet_number(each, "effect", 0)) * 100);
		sheet_cell(row, "%.3f", sheet_number(each, "chance", 1));
		sheet_cell(row, "%s",
			   json_is_true(list_of(each, "flat")) ? "flat: left as it is" : "");
		span(chart, low, high, sheet_text(each, "knob"),
		     json_is_true(list_of(each, "flat")) ? 1 : 0);
	}
}

// One curve; words are rows of intervals, numbers lie along their axis.
static void curve(json_t *section, const json_t *knob, const char *title)
{
	char id[80];
	const json_t *points = list_of(knob, "points"), *each;
	size_t i;
	snprintf(id, sizeof(id), "curve-%.60s", sheet_text(knob, "knob"));
	if (json_is_true(list_of(knob, "words"))) {
		json_t *chart = span_chart(section, id, title, "ratio to the default");
		json_array_foreach(points, i, each)
		{
			double ratio = sheet_number(each, "ratio", NAN);
			if (!isnan(ratio))
				span(chart, sheet_number(each, "low", ratio),
				     sheet_number(each, "high", ratio), sheet_text(each, "value"),
				     0);
		}
		return;
	}
	json_t *chart = sheet_chart(section, id, "points", title);
	char axis[128];
	snprintf(axis, sizeof(axis), "%.80s%s%.20s", sheet_text(knob, "knob"),
		 *sheet_text(knob, "axis") != '\0' ? ", " : "", sheet_text(knob, "axis"));
	sheet_axis(chart, "x", axis, json_is_true(list_of(knob, "log")));
	sheet_axis(chart, "y", "ratio to the default", false);
	json_object_set_new(list_of(chart, "y"), "scale", json_true());
	json_object_set_new(list_of(chart, "x"), "scale", json_true());
	json_t *series = sheet_series(chart, "mean and 95 %");
	sheet_is_joined(chart);
	json_array_foreach(points, i, each)
	{
		double ratio = sheet_number(each, "ratio", NAN);
		if (!isnan(ratio))
			sheet_point_between(series, sheet_number(each, "x", 0), ratio,
					    sheet_number(each, "low", ratio),
					    sheet_number(each, "high", ratio));
	}
}

static void curve_table(json_t *section, const json_t *knob, const char *of)
{
	const char *const head[] = {"value", "ratio to the default (95 %)", of, "breaks", NULL};
	const json_t *each;
	size_t i;
	json_t *table = sheet_table(section, sheet_text(knob, "knob"), head);
	sheet_is_more(table);
	json_array_foreach(list_of(knob, "points"), i, each)
	{
		json_t *row = sheet_row(table);
		sheet_cell(row, "%s", sheet_text(each, "value"));
		sheet_ratio_cell(row, each);
		sheet_cell(row, "%.0f", sheet_number(each, "count", 0));
		sheet_cell(row, "%s", sheet_text(each, "breaks"));
	}
}

static bool has_ratio(const json_t *points)
{
	const json_t *each;
	size_t i;
	json_array_foreach(points, i, each) if (json_is_number(list_of(each, "ratio"))) return true;
	return false;
}

static void curves(struct sheet *sheet)
{
	const json_t *of = list_of(sheet->result, "curves"), *each;
	json_t *section = sheet_section(sheet, "curves", "What each knob does");
	bool is_alone = json_is_true(list_of(of, "alone"));
	size_t i;
	if (is_alone)
		sheet_note(section,
			   "Each knob alone, from %s; on the same %.0f fresh seeds as the default. "
			   "Where a point has no ratio, a run broke a constraint.",
			   sheet_text(of, "from"), sheet_number(of, "seeds", 0));
	else
		sheet_note(section,
			   "As the search met them: in each part of a range the mean over settings "
			   "whose other knobs differ, too, and which lie where the search "
			   "looked. Settings that break a constraint are left out. weft tune "
			   "report STUDY --curves 7 moves each knob alone.");
	json_array_foreach(list_of(of, "knobs"), i, each)
	{
		char title[160];
		snprintf(title, sizeof(title), "%.60s, %.80s", sheet_text(each, "knob"),
			 sheet_text(each, "range"));
		if (!has_ratio(list_of(each, "points"))) {
			sheet_missing(section, sheet_text(each, "knob"),
				      "no run of it finished within the constraints, or it "
				      "cannot be set alone");
			continue;
		}
		curve(section, each, title);
		curve_table(section, each, is_alone ? "seeds" : "settings");
	}
}

// ---------------------------------------------------------------- settings

// A line for each setting over all knobs, the last axis its ratio; the best tenth apart.
static int double_up(const void *a, const void *b)
{
	double first = *(const double *)a, second = *(const double *)b;
	return (first > second) - (first < second);
}

static double best_tenth(const json_t *settings)
{
	const json_t *each;
	size_t i, count = 0;
	double *ratios = calloc(json_array_size(settings) + 1, sizeof(*ratios)), ret = -INFINITY;
	check(ratios != NULL);
	json_array_foreach(settings, i, each) if (json_is_number(list_of(each, "ratio")))
		ratios[count++] = sheet_number(each, "ratio", 0);
	qsort(ratios, count, sizeof(*ratios), double_up);
	if (count > 0)
		ret = ratios[(count - 1) / 10];
	free(ratios);
	return ret;
}

static void settings(struct sheet *sheet)
{
	static const char *const head[] = {"setting", "ratio in the search", NULL};
	json_t *section = sheet_section(sheet, "settings", "Settings");
	const json_t *list = list_of(sheet->result, "settings"),
		     *knobs = sheet_at(sheet->result, "curves.knobs"), *each;
	double good = best_tenth(list);
	size_t i;
	json_t *table;
	if (json_array_size(list) == 0) {
		sheet_missing(section, "Settings", "none has run yet");
		return;
	}
	sheet_note(section,
		   "Each line is a setting: where it lies in the range of each knob, from 0 to 1, "
		   "and its ratio to the default on the search's seeds. "
		   "Those that broke a constraint have none.");
	json_t *chart = sheet_chart(section, "parallel", "parallel", "Settings over all knobs");
	json_t *axes = json_array();
	json_object_set_new(chart, "labels", axes);
	json_array_foreach(knobs, i, each)
		json_array_append_new(axes, json_string(sheet_text(each, "knob")));
	json_array_append_new(axes, json_string("ratio"));
	json_t *series[] = {sheet_series(chart, "all others"),
			    sheet_series(chart, "broke a constraint"),
			    sheet_series(chart, "best tenth")};
	table = sheet_table(section, "All settings, in the order of the search", head);
	sheet_is_more(table);
	json_object_set_new(table, "all", json_string("what weft tune report --json prints"));
	json_array_foreach(list, i, each)
	{
		const json_t *ratio = list_of(each, "ratio");
		json_t *line = json_copy(list_of(each, "places"));
		json_array_append(line, (json_t *)(uintptr_t)ratio);
		json_array_append_new(series[json_is_null(ratio)		      ? 1
						     : json_real_value(ratio) <= good ? 2
										      : 0],
				      line);
		json_t *row = sheet_row(table);
		sheet_cell(row, "%s", sheet_text(each, "setting"));
		sheet_ratio_cell(row, each);
	}
}

// ---------------------------------------------------------------- Pareto

static const char *front_axis(const json_t *front, size_t index, char *ret, size_t bytes)
{
	const json_t *figure = json_array_get(list_of(front, "figures"), index);
	snprintf(ret, bytes, "%.60s%s", sheet_text(figure, "figure"),
		 json_is_true(list_of(figure, "ratio")) ? ", of the default" : "");
	return ret;
}

static void front_chart(json_t *section, const json_t *front)
{
	char name[96];
	const json_t *each;
	size_t i, unbeaten = (size_t)sheet_number(front, "unbeaten", 0);
	json_t *chart = sheet_chart(section, "pareto", "points",
				    "Settings in the first two figures");
	sheet_axis(chart, "x", front_axis(front, 0, name, sizeof(name)), false);
	sheet_axis(chart, "y", front_axis(front, 1, name, sizeof(name)), false);
	json_object_set_new(list_of(chart, "x"), "scale", json_true());
	json_object_set_new(list_of(chart, "y"), "scale", json_true());
	json_t *series[] = {sheet_series(chart, "beaten"), sheet_series(chart, "not beaten"),
			    sheet_series(chart, "the default")};
	json_array_foreach(list_of(front, "points"), i, each)
	{
		const json_t *values = list_of(each, "values");
		if (!json_is_number(json_array_get(values, 0)) ||
		    !json_is_number(json_array_get(values, 1)))
			continue;
		sheet_point(series[json_is_null(list_of(each, "setting")) ? 2
					   : i < unbeaten		  ? 1
									  : 0],
			    json_number_value(json_array_get(values, 0)),
			    json_number_value(json_array_get(values, 1)));
	}
}

static void front_table(json_t *section, const json_t *front)
{
	const char *head[12] = {NULL};
	char names[10][96];
	const json_t *each;
	size_t i, j, count = json_array_size(list_of(front, "figures")),
		     unbeaten = (size_t)sheet_number(front, "unbeaten", 0);
	check(count <= 8);
	head[0] = "setting";
	for (i = 0; i < count; i++)
		head[i + 1] = front_axis(front, i, names[i], sizeof(names[i]));
	head[count + 1] = "seeds";
	json_t *table = sheet_table(section, "Settings that no other beats in all of these at once",
				    head);
	json_array_foreach(list_of(front, "points"), i, each)
	{
		const json_t *value;
		if (i == unbeaten)
			break;
		json_t *row = sheet_row(table);
		sheet_cell(row, "%s",
			   json_is_null(list_of(each, "setting")) ? "the default"
								  : sheet_text(each, "setting"));
		json_array_foreach(list_of(each, "values"), j, value) sheet_cell(
			row, "%.6g", json_is_number(value) ? json_number_value(value) : NAN);
		sheet_cell(row, "%.0f%s", sheet_number(each, "seeds", 0),
			   json_is_true(list_of(each, "fresh")) ? " fresh" : "");
	}
}

static void pareto(struct sheet *sheet)
{
	const json_t *front = list_of(sheet->result, "pareto");
	json_t *section = sheet_section(sheet, "pareto", "What they cost each other");
	if (!json_is_object(front)) {
		sheet_missing(section, "Pareto set", sheet_text(sheet->result, "pareto_reason"));
		return;
	}
	sheet_note(section,
		   "%.0f of %.0f settings are beaten by no other. Seeds that are not fresh are the "
		   "search's: the luckiest of many look better there than they are.",
		   sheet_number(front, "unbeaten", 0), sheet_number(front, "compared", 0));
	front_chart(section, front);
	front_table(section, front);
}

// ---------------------------------------------------------------- the search

static void search(struct sheet *sheet)
{
	static const char *const head[] = {"within", "runs", NULL};
	const json_t *of = list_of(sheet->result, "search"), *steps = list_of(of, "best_so_far"),
		     *each;
	json_t *section = sheet_section(sheet, "search", "How soon");
	double last = NAN;
	size_t i;
	if (json_array_size(steps) == 0) {
		sheet_missing(section, "Search", "no setting has kept to the constraints yet");
		return;
	}
	sheet_note(
		section,
		"Of %.0f settings %.0f kept to the constraints on the search's seeds, and %.0f lie "
		"within 2 %% of the best of them: where these are many, "
		"nothing was hard to find. Which of them is the luckiest is not told apart here.",
		sheet_number(of, "settings", 0), sheet_number(of, "kept_constraints", 0),
		sheet_number(of, "within_2_percent", 0));
	json_t *chart = sheet_chart(section, "so-far", "line",
				    "Best so far, on the search's seeds");
	sheet_axis(chart, "x", "runs", false);
	sheet_axis(chart, "y", "ratio to the default", false);
	json_object_set_new(list_of(chart, "y"), "scale", json_true());
	json_t *series = sheet_series(chart, "best so far");
	json_array_foreach(steps, i, each)
	{
		double runs = json_number_value(json_array_get(each, 0));
		if (i > 0)
			sheet_point(series, runs, last);
		last = json_number_value(json_array_get(each, 1));
		sheet_point(series, runs, last);
	}
	sheet_point(series, sheet_number(of, "runs", 0), last);
	json_t *table = sheet_table(section,
				    "Runs until the search was so near the best that it saw", head);
	json_array_foreach(list_of(of, "runs_to"), i, each)
	{
		json_t *row = sheet_row(table);
		sheet_cell(row, "%.0f %%", sheet_number(each, "within", 0) * 100);
		sheet_figure(row, each, "runs", UNIT_COUNT);
	}
}

// ---------------------------------------------------------------- whole

int sheet_create_tune(struct sheet **ret, const json_t *study, struct refusal *refusal)
{
	struct sheet *sheet = calloc(1, sizeof(*sheet));
	if (sheet == NULL)
		return refuse(refusal, -ENODEV, "no memory for a report");
	sheet->kind = RESULT_STUDY;
	sheet->result = json_incref((json_t *)(uintptr_t)study);
	sheet->sections = json_array();
	check(sheet->sections != NULL);
	snprintf(sheet->title, sizeof(sheet->title), "Settings for %.80s",
		 json_string_value(json_array_get(list_of(study, "scenarios"), 0)));
	const char *verdict = sheet_text(study, "verdict");
	if (strcmp(verdict, "unfinished") == 0 || strcmp(verdict, "part") == 0)
		strcpy(sheet->state, "partial");
	summary(sheet);
	indices(sheet);
	curves(sheet);
	settings(sheet);
	pareto(sheet);
	search(sheet);
	sheet_again(sheet);
	*ret = sheet;
	return 0;
}
