// SPDX-License-Identifier: Apache-2.0
// How even the load was, over planes and links, and what was lost.

#include "report_model.h"

#include <stdlib.h>
#include <string.h>

#define SWITCH_ROWS_MAX 48 // of a drawing

static json_t *labelled_bars(json_t *section, const char *id, const char *title, const char *y_name,
			     json_t **ret_labels)
{
	json_t *chart = report_model_chart(section, id, "bar", title);
	report_model_axis(chart, "x", "", false);
	report_model_axis(chart, "y", y_name, false);
	*ret_labels = json_array();
	json_object_set_new(chart, "labels", *ret_labels);
	return chart;
}

static void planes(json_t *section, const json_t *result)
{
	static const char *const head[] = {"plane", "wire bytes of data", "most of one NIC", NULL};
	const json_t *each;
	json_t *labels;
	size_t i;
	json_t *chart = labelled_bars(section, "planes", "Load of the planes",
				      "wire bytes of data (GB)", &labels);
	json_t *points = report_model_series(chart, "all NICs");
	json_t *table = report_model_table(section, "Planes", head);
	json_array_foreach(document_at(result, "planes.each"), i, each)
	{
		char name[32];
		snprintf(name, sizeof(name), "plane %zu", i);
		json_array_append_new(labels, json_string(name));
		report_model_point(points, (double)i, document_number_or(each, "bytes", 0) / 1e9);
		json_t *row = report_model_row(table);
		report_model_cell(row, "%zu", i);
		report_model_figure(row, each, "bytes", UNIT_BYTES);
		report_model_figure(row, each, "bytes_nic_max", UNIT_BYTES);
	}
}

static void congestion(json_t *section, const json_t *result)
{
	static const char *const head[] = {"what", "figure", NULL};
	const json_t *from = json_object_get(result, "congestion");
	json_t *table = report_model_table(section, "Congestion and repair", head);
	for (uint32_t i = 0; i < figure_count(); i++)
		if (figure_at(i)->on_page)
			report_model_row_figure(table, result, figure_at(i));
	if (strcmp(document_text(from, "share_quality"), "indication") == 0)
		report_model_note(section, "Shares of a sample are an indication only.");
}

static void drops(json_t *section, const json_t *result)
{
	static const char *const head[] = {"reason", "switches", "hosts", "cables", NULL};
	static const char *const keys[] = {"switches", "hosts", "cables"};
	const json_t *list = json_object_get(result, "drops"), *each;
	size_t i, lost = 0;
	json_t *table = NULL;
	json_array_foreach(list, i, each)
	{
		double sum = 0;
		for (size_t k = 0; k < 3; k++)
			sum += document_number_or(each, keys[k], 0);
		if (sum == 0)
			continue;
		lost++;
		if (table == NULL)
			table = report_model_table(section, "Drops, by reason", head);
		json_t *row = report_model_row(table);
		report_model_cell(row, "%s", document_text(each, "reason"));
		for (size_t k = 0; k < 3; k++)
			report_model_figure(row, each, keys[k], UNIT_COUNT);
	}
	if (lost == 0)
		report_model_note(section, "No packet was dropped.");
}

// ---------------------------------------------------------------- links

// Index of `name` in `names`, which it joins when it is new.
static size_t place_of(json_t *names, const char *name)
{
	const json_t *each;
	size_t i;
	json_array_foreach(names, i, each) if (strcmp(json_string_value(each), name) == 0) return i;
	json_array_append_new(names, json_string(name));
	return json_array_size(names) - 1;
}

static void link_tables(json_t *section, const json_t *links)
{
	static const struct report_model_column groups[] = {
		{"links", "group", UNIT_TEXT},
		{"cables", "cables", UNIT_COUNT},
		{"wire bytes of data", "data_bytes", UNIT_BYTES},
		{"busiest to mean", "max_to_mean", UNIT_FACTOR},
		{"Jain", "jain", UNIT_FACTOR},
		{"deepest queue", "queue_bytes_max", UNIT_BYTES},
		{"longest above threshold", "above_threshold_max_ps", UNIT_PS},
		{NULL}};
	static const struct report_model_column busiest[] = {
		{"cable", "cable", UNIT_TEXT},
		{"above threshold", "above_threshold_ps", UNIT_PS},
		{"deepest queue", "queue_bytes_max", UNIT_BYTES},
		{"wire bytes of data", "data_bytes", UNIT_BYTES},
		{NULL}};
	report_model_list(section, "Links, by group", json_object_get(links, "groups"), groups);
	report_model_list(section, "Links whose queues were above the marking threshold longest",
			  json_object_get(links, "busiest"), busiest);
}

static void link_heat(json_t *section, const json_t *list)
{
	const json_t *each;
	size_t i;
	json_t *chart = report_model_chart(
		section, "links", "heat",
		"Load of the links: wire bytes of data of the busiest cable (MB)");
	report_model_axis(chart, "x", "plane", false);
	report_model_axis(chart, "y", "links", false);
	json_t *columns = json_array(), *rows = json_array(), *cells = json_array();
	json_array_foreach(list, i, each)
	{
		char plane[32];
		snprintf(plane, sizeof(plane), "plane %d",
			 (int)document_number_or(each, "plane", 0));
		size_t column = place_of(columns, plane);
		report_model_heat(cells, column, place_of(rows, document_text(each, "group")),
				  document_number_or(each, "data_bytes_max", 0) / 1e6);
	}
	json_object_set_new(chart, "labels", columns);
	json_object_set_new(chart, "rows", rows);
	json_object_set_new(chart, "cells", cells);
}

// Rows of a drawing of all switches: neighbours of a tier share one where there are many.
static void switch_row(char ret[64], const char *name, size_t per)
{
	const char *space = strrchr(name, ' ');
	char *end = "";
	unsigned long number = space == NULL ? 0 : strtoul(space + 1, &end, 10);
	if (per == 1 || space == NULL || *end != '\0')
		snprintf(ret, 64, "%.60s", name);
	else
		snprintf(ret, 64, "%.*s %lu-%lu", (int)(space - name > 24 ? 24 : space - name),
			 name, number / per * per, number / per * per + per - 1);
}

// The cell at (column, row), made if there is none, is at least `value`.
static void cell_at_least(json_t *cells, size_t column, size_t row, double value)
{
	json_t *each;
	size_t i;
	json_array_foreach(cells, i, each)
	{
		if ((size_t)json_integer_value(json_array_get(each, 0)) != column ||
		    (size_t)json_integer_value(json_array_get(each, 1)) != row)
			continue;
		if (json_real_value(json_array_get(each, 2)) < value)
			json_array_set_new(each, 2, json_real(value));
		return;
	}
	report_model_heat(cells, column, row, value);
}

// The topology as a map: a row for each switch, a column for each plane.
static void switch_heat(json_t *section, const json_t *list, const char *id, const char *title,
			const char *key, double unit)
{
	const json_t *each;
	size_t i, planes = 1;
	json_array_foreach(list, i,
			   each) if (document_number_or(each, "plane", 0) >= (double)planes)
		planes = (size_t)document_number_or(each, "plane", 0) + 1;
	size_t per = (json_array_size(list) / planes + SWITCH_ROWS_MAX) / SWITCH_ROWS_MAX;
	json_t *chart = report_model_chart(section, id, "heat", title);
	report_model_axis(chart, "x", "plane", false);
	report_model_axis(chart, "y", "switch", false);
	json_t *columns = json_array(), *rows = json_array(), *cells = json_array();
	json_array_foreach(list, i, each)
	{
		char plane[32], row[64];
		snprintf(plane, sizeof(plane), "plane %d",
			 (int)document_number_or(each, "plane", 0));
		switch_row(row, document_text(each, "switch"), per);
		cell_at_least(cells, place_of(columns, plane), place_of(rows, row),
			      document_number_or(each, key, 0) / unit);
	}
	json_object_set_new(chart, "labels", columns);
	json_object_set_new(chart, "rows", rows);
	json_object_set_new(chart, "cells", cells);
}

static void switches(json_t *section, const json_t *list)
{
	if (json_array_size(list) == 0) {
		report_model_missing(section, "Load of the switches",
				     "the result does not have it");
		return;
	}
	switch_heat(section, list, "switches",
		    "Load of the switches: wire bytes of data on their busiest cable (MB)",
		    "data_bytes_max", 1e6);
	switch_heat(section, list, "depths", "Queues of the switches: the deepest (kB)",
		    "queue_bytes_max", 1e3);
}

static void links(json_t *section, const json_t *result)
{
	const json_t *of = json_object_get(result, "links");
	const char *reason = document_text(result, "links_reason");
	if (!json_is_object(of)) {
		report_model_missing(section, "Load of the links",
				     *reason != '\0' ? reason
						     : "not measured: watch.links is false");
		return;
	}
	if (json_array_size(json_object_get(of, "planes")) > 0)
		link_heat(section, json_object_get(of, "planes"));
	switches(section, json_object_get(of, "switches"));
	link_tables(section, of);
}

void report_model_load(struct report_model *report_model)
{
	json_t *section = report_model_section(report_model, "load", "Load and loss");
	congestion(section, report_model->result);
	drops(section, report_model->result);
	planes(section, report_model->result);
	links(section, report_model->result);
}
