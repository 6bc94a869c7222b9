// SPDX-License-Identifier: Apache-2.0
// A study of settings as a report: what to set and how sure that is, what each knob does, where
// good settings lie, what they cost each other, and how soon the search came near its end.

#include "report_model.h"
#include "story.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <weft/core/check.h>
#include <weft/core/check_memory.h>
#include <weft/core/order.h>

static json_t *list_of(const json_t *from, const char *key)
{
	return json_object_get(from, key);
}

static void notes(json_t *section, const json_t *lines)
{
	const json_t *each;
	size_t i;
	json_array_foreach(lines, i, each)
		report_model_note(section, "%s", json_string_value(each));
}

// ---------------------------------------------------------------- what to set

static void sets(json_t *section, const json_t *study)
{
	static const char *const head[] = {"scenario", "as found", "to be set", NULL};
	const json_t *best = json_array_get(list_of(study, "finalists"), 0), *each;
	const json_t *round = document_at(study, "rounded.sets");
	size_t i, j;
	if (strcmp(document_text(study, "verdict"), "better") != 0)
		return;
	json_t *table = report_model_table(section, "What to set", head);
	json_array_foreach(list_of(best, "sets"), i, each)
	{
		const json_t *set;
		json_array_foreach(list_of(each, "set"), j, set)
		{
			const char *rounded = json_string_value(
				json_array_get(list_of(json_array_get(round, i), "set"), j));
			json_t *row = report_model_row(table);
			report_model_cell(row, "%s", document_text(each, "scenario"));
			report_model_cell(row, "%s", json_string_value(set));
			report_model_cell(row, "%s", rounded != NULL ? rounded : "round as it is");
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
	json_t *chart = report_model_chart(section, id, "spans", title);
	report_model_axis(chart, "x", axis, false);
	report_model_axis(chart, "y", "", false);
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
	json_t *table = report_model_table(section, "On seeds that the search never met", head),
	       *chart = NULL;
	json_array_foreach(list, i, each)
	{
		const json_t *fresh = list_of(each, "fresh");
		json_t *row = report_model_row(table);
		report_model_cell(row, "%zu", i + 1);
		report_model_ratio_cell(row, fresh);
		report_model_cell(row, "%.0f", document_number_or(fresh, "seeds", 0));
		report_model_cell(row, "%s", document_text(fresh, "binding"));
		report_model_ratio_cell(row, list_of(each, "search"));
		report_model_cell(row, "%s", document_text(each, "setting"));
		if (!json_is_number(json_object_get(fresh, "low")))
			continue;
		if (chart == NULL)
			chart = span_chart(section, "finalists",
					   "Interval of the ratio to the default with the same "
					   "seed (they hold together, 95 %)",
					   "ratio; the default is 1");
		char name[24];
		snprintf(name, sizeof(name), "%zu", i + 1);
		span(chart, document_number_or(fresh, "low", 1),
		     document_number_or(fresh, "high", 1), name,
		     document_number_or(fresh, "high", 1) < 1 ? 0 : 1);
	}
}

static void summary(struct report_model *report_model)
{
	const json_t *study = report_model->result;
	json_t *section = report_model_section(report_model, "summary", "Summary");
	if (report_model->state[0] != '\0')
		report_model_note(section,
				  "NOT AT ITS END: what follows is the search's, without proof.");
	if (json_object_get(study, "other_version") != NULL)
		report_model_note(section, "The runs are of %s, this page is not.",
				  document_text(study, "other_version"));
	notes(section, list_of(study, "alerts"));
	notes(section, list_of(study, "words"));
	if (json_array_size(list_of(study, "words")) == 0)
		notes(section, list_of(study, "says"));
	notes(section, list_of(study, "head"));
	sets(section, study);
	finalists(section, study);
	report_model_holdouts(section, study);
}

// ---------------------------------------------------------------- knobs

static void indices(struct report_model *report_model)
{
	static const char *const head[] = {"knob",
					   "share of the variance (95 %)",
					   "moves the aim by",
					   "chance that it does nothing",
					   "flat",
					   NULL};
	const json_t *list = list_of(report_model->result, "knobs"), *each;
	json_t *section = report_model_section(report_model, "knobs", "Which knobs matter");
	size_t i;
	if (json_array_size(list) == 0) {
		report_model_missing(section, "Indices", "knobs were not screened (--screen)");
		return;
	}
	json_t *table = report_model_table(
		section, "Sobol's total index and Morris's mean effect, over the whole space",
		head);
	json_t *chart = span_chart(section, "indices",
				   "Share of the aim's variance: interval, 95 %", "share");
	json_array_foreach(list, i, each)
	{
		json_t *row = report_model_row(table);
		double low = document_number_or(each, "low", 0),
		       high = document_number_or(each, "high", 0);
		report_model_cell(row, "%s", document_text(each, "knob"));
		report_model_cell(row, "%.2f (%.2f to %.2f)", document_number_or(each, "share", 0),
				  low, high);
		report_model_cell(row, "%.1f %%",
				  expm1(document_number_or(each, "effect", 0)) * 100);
		report_model_cell(row, "%.3f", document_number_or(each, "chance", 1));
		report_model_cell(row, "%s",
				  json_is_true(list_of(each, "flat")) ? "flat: left as it is" : "");
		span(chart, low, high, document_text(each, "knob"),
		     json_is_true(list_of(each, "flat")) ? 1 : 0);
	}
}

// One curve; words are rows of intervals, numbers lie along their axis.
static void curve(json_t *section, const json_t *knob, const char *title)
{
	char id[80];
	const json_t *points = list_of(knob, "points"), *each;
	size_t i;
	snprintf(id, sizeof(id), "curve-%.60s", document_text(knob, "knob"));
	if (json_is_true(list_of(knob, "words"))) {
		json_t *chart = span_chart(section, id, title, "ratio to the default");
		json_array_foreach(points, i, each)
		{
			double ratio = document_number(each, "ratio");
			if (!isnan(ratio))
				span(chart, document_number_or(each, "low", ratio),
				     document_number_or(each, "high", ratio),
				     document_text(each, "value"), 0);
		}
		return;
	}
	json_t *chart = report_model_chart(section, id, "points", title);
	char axis[128];
	snprintf(axis, sizeof(axis), "%.80s%s%.20s", document_text(knob, "knob"),
		 *document_text(knob, "axis") != '\0' ? ", " : "", document_text(knob, "axis"));
	report_model_axis(chart, "x", axis, json_is_true(list_of(knob, "log")));
	report_model_axis(chart, "y", "ratio to the default", false);
	json_object_set_new(list_of(chart, "y"), "scale", json_true());
	json_object_set_new(list_of(chart, "x"), "scale", json_true());
	json_t *series = report_model_series(chart, "mean and 95 %");
	report_model_is_joined(chart);
	json_array_foreach(points, i, each)
	{
		double ratio = document_number(each, "ratio");
		if (!isnan(ratio))
			report_model_point_between(series, document_number_or(each, "x", 0), ratio,
						   document_number_or(each, "low", ratio),
						   document_number_or(each, "high", ratio));
	}
}

static void curve_table(json_t *section, const json_t *knob, const char *of)
{
	const char *const head[] = {"value", "ratio to the default (95 %)", of, "breaks", NULL};
	const json_t *each;
	size_t i;
	json_t *table = report_model_table(section, document_text(knob, "knob"), head);
	report_model_is_more(table);
	json_array_foreach(list_of(knob, "points"), i, each)
	{
		json_t *row = report_model_row(table);
		report_model_cell(row, "%s", document_text(each, "value"));
		report_model_ratio_cell(row, each);
		report_model_cell(row, "%.0f", document_number_or(each, "count", 0));
		report_model_cell(row, "%s", document_text(each, "breaks"));
	}
}

static bool has_ratio(const json_t *points)
{
	const json_t *each;
	size_t i;
	json_array_foreach(points, i, each) if (json_is_number(list_of(each, "ratio"))) return true;
	return false;
}

static void curves(struct report_model *report_model)
{
	const json_t *of = list_of(report_model->result, "curves"), *each;
	json_t *section = report_model_section(report_model, "curves", "What each knob does");
	bool is_alone = json_is_true(list_of(of, "alone"));
	size_t i;
	if (is_alone)
		report_model_note(
			section,
			"Each knob alone, from %s; on the same %.0f fresh seeds as the default. "
			"Where a point has no ratio, a run broke a constraint.",
			document_text(of, "from"), document_number_or(of, "seeds", 0));
	else
		report_model_note(
			section,
			"As the search met them: in each part of a range the mean over settings "
			"whose other knobs differ, too, and which lie where the search "
			"looked. Settings that break a constraint are left out. weft tune "
			"report STUDY --curves 7 moves each knob alone.");
	json_array_foreach(list_of(of, "knobs"), i, each)
	{
		char title[160];
		snprintf(title, sizeof(title), "%.60s, %.80s", document_text(each, "knob"),
			 document_text(each, "range"));
		if (!has_ratio(list_of(each, "points"))) {
			report_model_missing(section, document_text(each, "knob"),
					     "no run of it finished within the constraints, or it "
					     "cannot be set alone");
			continue;
		}
		curve(section, each, title);
		curve_table(section, each, is_alone ? "seeds" : "settings");
	}
}

// ---------------------------------------------------------------- settings

static double best_tenth(const json_t *settings)
{
	const json_t *each;
	size_t i, count = 0;
	double *ratios = calloc(json_array_size(settings) + 1, sizeof(*ratios)), ret = -INFINITY;
	check_memory(ratios != NULL);
	json_array_foreach(settings, i, each) if (json_is_number(list_of(each, "ratio")))
		ratios[count++] = document_number_or(each, "ratio", 0);
	qsort(ratios, count, sizeof(*ratios), order_double);
	if (count > 0)
		ret = ratios[(count - 1) / 10];
	free(ratios);
	return ret;
}

static void settings(struct report_model *report_model)
{
	static const char *const head[] = {"setting", "ratio in the search", NULL};
	json_t *section = report_model_section(report_model, "settings", "Settings");
	const json_t *list = list_of(report_model->result, "settings"),
		     *knobs = document_at(report_model->result, "curves.knobs"), *each;
	double good = best_tenth(list);
	size_t i;
	json_t *table;
	if (json_array_size(list) == 0) {
		report_model_missing(section, "Settings", "none has run yet");
		return;
	}
	report_model_note(
		section,
		"Each line is a setting: where it lies in the range of each knob, from 0 to 1, "
		"and its ratio to the default on the search's seeds. "
		"Those that broke a constraint have none.");
	json_t *chart = report_model_chart(section, "parallel", "parallel",
					   "Settings over all knobs");
	json_t *axes = json_array();
	json_object_set_new(chart, "labels", axes);
	json_array_foreach(knobs, i, each)
		json_array_append_new(axes, json_string(document_text(each, "knob")));
	json_array_append_new(axes, json_string("ratio"));
	json_t *series[] = {report_model_series(chart, "all others"),
			    report_model_series(chart, "broke a constraint"),
			    report_model_series(chart, "best tenth")};
	table = report_model_table(section, "All settings, in the order of the search", head);
	report_model_is_more(table);
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
		json_t *row = report_model_row(table);
		report_model_cell(row, "%s", document_text(each, "setting"));
		report_model_ratio_cell(row, each);
	}
}

// ---------------------------------------------------------------- Pareto

static const char *front_axis(const json_t *front, size_t index, char *ret, size_t bytes)
{
	const json_t *figure = json_array_get(list_of(front, "figures"), index);
	snprintf(ret, bytes, "%.60s%s", document_text(figure, "figure"),
		 json_is_true(list_of(figure, "ratio")) ? ", of the default" : "");
	return ret;
}

static void front_chart(json_t *section, const json_t *front)
{
	char name[96];
	const json_t *each;
	size_t i, unbeaten = (size_t)document_number_or(front, "unbeaten", 0);
	json_t *chart = report_model_chart(section, "pareto", "points",
					   "Settings in the first two figures");
	report_model_axis(chart, "x", front_axis(front, 0, name, sizeof(name)), false);
	report_model_axis(chart, "y", front_axis(front, 1, name, sizeof(name)), false);
	json_object_set_new(list_of(chart, "x"), "scale", json_true());
	json_object_set_new(list_of(chart, "y"), "scale", json_true());
	json_t *series[] = {report_model_series(chart, "beaten"),
			    report_model_series(chart, "not beaten"),
			    report_model_series(chart, "the default")};
	json_array_foreach(list_of(front, "points"), i, each)
	{
		const json_t *values = list_of(each, "values");
		if (!json_is_number(json_array_get(values, 0)) ||
		    !json_is_number(json_array_get(values, 1)))
			continue;
		report_model_point(series[json_is_null(list_of(each, "setting")) ? 2
						  : i < unbeaten		 ? 1
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
		     unbeaten = (size_t)document_number_or(front, "unbeaten", 0);
	check(count <= 8);
	head[0] = "setting";
	for (i = 0; i < count; i++)
		head[i + 1] = front_axis(front, i, names[i], sizeof(names[i]));
	head[count + 1] = "seeds";
	json_t *table = report_model_table(
		section, "Settings that no other beats in all of these at once", head);
	json_array_foreach(list_of(front, "points"), i, each)
	{
		const json_t *value;
		if (i == unbeaten)
			break;
		json_t *row = report_model_row(table);
		report_model_cell(row, "%s",
				  json_is_null(list_of(each, "setting"))
					  ? "the default"
					  : document_text(each, "setting"));
		json_array_foreach(list_of(each, "values"), j, value) report_model_cell(
			row, "%.4g", json_is_number(value) ? json_number_value(value) : NAN);
		report_model_cell(row, "%.0f%s", document_number_or(each, "seeds", 0),
				  json_is_true(list_of(each, "fresh")) ? " fresh" : "");
	}
}

static void pareto(struct report_model *report_model)
{
	const json_t *front = list_of(report_model->result, "pareto");
	json_t *section = report_model_section(report_model, "pareto", "What they cost each other");
	if (!json_is_object(front)) {
		report_model_missing(section, "Pareto set",
				     document_text(report_model->result, "pareto_reason"));
		return;
	}
	report_model_note(
		section,
		"%.0f of %.0f settings are beaten by no other. Seeds that are not fresh are the "
		"search's: the luckiest of many look better there than they are.",
		document_number_or(front, "unbeaten", 0), document_number_or(front, "compared", 0));
	front_chart(section, front);
	front_table(section, front);
}

// ---------------------------------------------------------------- the search

static void search(struct report_model *report_model)
{
	static const char *const head[] = {"within", "runs", NULL};
	const json_t *of = list_of(report_model->result, "search"),
		     *steps = list_of(of, "best_so_far"), *each;
	json_t *section = report_model_section(report_model, "search", "How soon");
	double last = NAN;
	size_t i;
	if (json_array_size(steps) == 0) {
		report_model_missing(section, "Search",
				     "no setting has kept to the constraints yet");
		return;
	}
	report_model_note(
		section,
		"Of %.0f settings %.0f kept to the constraints on the search's seeds, and %.0f lie "
		"within 2 %% of the best of them: where these are many, "
		"nothing was hard to find. Which of them is the luckiest is not told apart here.",
		document_number_or(of, "settings", 0),
		document_number_or(of, "kept_constraints", 0),
		document_number_or(of, "within_2_percent", 0));
	json_t *chart = report_model_chart(section, "so-far", "line",
					   "Best so far, on the search's seeds");
	report_model_axis(chart, "x", "runs", false);
	report_model_axis(chart, "y", "ratio to the default", false);
	json_object_set_new(list_of(chart, "y"), "scale", json_true());
	json_t *series = report_model_series(chart, "best so far");
	json_array_foreach(steps, i, each)
	{
		double runs = json_number_value(json_array_get(each, 0));
		if (i > 0)
			report_model_point(series, runs, last);
		last = json_number_value(json_array_get(each, 1));
		report_model_point(series, runs, last);
	}
	report_model_point(series, document_number_or(of, "runs", 0), last);
	json_t *table = report_model_table(
		section, "Runs until the search was so near the best that it saw", head);
	json_array_foreach(list_of(of, "runs_to"), i, each)
	{
		json_t *row = report_model_row(table);
		report_model_cell(row, "%.0f %%", document_number_or(each, "within", 0) * 100);
		report_model_figure(row, each, "runs", UNIT_COUNT);
	}
}

// ---------------------------------------------------------------- whole

int report_model_create_tune(struct report_model **ret, const json_t *study,
			     struct refusal *refusal)
{
	struct report_model *report_model = calloc(1, sizeof(*report_model));
	if (report_model == NULL)
		return refuse(refusal, -ENODEV, "no memory for a report");
	report_model->kind = RESULT_STUDY;
	report_model->result = json_incref((json_t *)(uintptr_t)study);
	report_model->sections = json_array();
	check_memory(report_model->sections != NULL);
	snprintf(report_model->title, sizeof(report_model->title), "Settings for %.80s",
		 json_string_value(json_array_get(list_of(study, "scenarios"), 0)));
	const char *verdict = document_text(study, "verdict");
	if (strcmp(verdict, "unfinished") == 0 || strcmp(verdict, "part") == 0)
		strcpy(report_model->state, "partial");
	summary(report_model);
	indices(report_model);
	curves(report_model);
	settings(report_model);
	pareto(report_model);
	search(report_model);
	report_model_again(report_model);
	story_of_tune(report_model);
	*ret = report_model;
	return 0;
}
