// SPDX-License-Identifier: Apache-2.0
// How long messages and flows took: quantiles, tails, and between which racks.

#include "report_model.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <weft/result/latency_table.h>

// ---------------------------------------------------------------- quantiles

static void quantile_row(json_t *table, const char *name, const json_t *of)
{
	const struct latency_row *each;
	json_t *row = report_model_row(table);
	report_model_cell(row, "%s", name);
	report_model_figure(row, of, "count", UNIT_COUNT);
	if (document_number_or(of, "count", 0) == 0) {
		report_model_cell_state(row, "unavailable: no messages", "unavailable");
		return;
	}
	for (uint32_t i = 0; (each = latency_row_at(i)) != NULL; i++)
		if (each->page != NULL)
			report_model_figure(row, of, each->key, UNIT_NS);
}

static void quantiles(json_t *section, const json_t *result)
{
	const char *head[16] = {"of", "count"};
	const struct latency_row *column;
	for (uint32_t at = 2, k = 0; (column = latency_row_at(k)) != NULL; k++)
		if (column->page != NULL)
			head[at++] = column->page;
	json_t *table = report_model_table(section, "Latency, posted to completed at the sender",
					   head);
	const json_t *list = json_object_get(result, "messages"), *each,
		     *flows = json_object_get(result, "flows");
	size_t i;
	json_array_foreach(list, i, each)
	{
		char name[64];
		snprintf(name, sizeof(name), "messages, %s", document_text(each, "pair"));
		for (char *at = name; *at != '\0'; at++)
			*at = *at == '_' ? ' ' : *at;
		quantile_row(table, name, each);
	}
	if (json_is_object(flows))
		quantile_row(table, "flows (FCT)", flows);
}

// ---------------------------------------------------------------- tails

// A histogram's lines "Value Percentile TotalCount ...", of values in us, as the share that is
// longer. The last level, 1, has no share.
static void tail_series(json_t *chart, const char *name, const char *text)
{
	json_t *points = report_model_series(chart, name);
	for (const char *line = text; line != NULL && *line != '\0';) {
		char *end;
		if (isdigit((unsigned char)line[strspn(line, " ")])) {
			double value = strtod(line, &end), level = strtod(end, NULL);
			if (level < 1)
				report_model_point(points, value, 1 - level);
		}
		line = strchr(line, '\n');
		line = line == NULL ? NULL : line + 1;
	}
}

static bool is_latency(const char *name)
{
	return strncmp(name, "message_", 8) == 0 || strcmp(name, "flow.hdr") == 0;
}

static void tails(json_t *section, const struct html_input *input)
{
	uint32_t count = 0;
	for (uint32_t i = 0; i < input->file_count; i++)
		count += is_latency(input->files[i].name);
	if (count == 0) {
		report_model_missing(
			section, "Tails of latency",
			"there is no histogram beside the result: no message was completed");
		return;
	}
	json_t *chart = report_model_chart(
		section, "tails", "line",
		"Tails of latency: the share of messages that took longer");
	report_model_axis(chart, "x", "latency (us)", true);
	report_model_axis(chart, "y", "share that took longer", true);
	for (uint32_t i = 0; i < input->file_count; i++) {
		char name[64];
		if (!is_latency(input->files[i].name))
			continue;
		snprintf(name, sizeof(name), "%.60s", input->files[i].name);
		name[strcspn(name, ".")] = '\0';
		tail_series(chart, name, input->files[i].text);
	}
}

// Histograms of single packets and of queues, where they were measured: those of a beginning, by EV
// or by something else.
static void more_tails(json_t *section, const struct html_input *input, const char *id,
		       const char *title, const char *axis, const char *const beginnings[2],
		       bool is_ev)
{
	json_t *chart = NULL;
	for (uint32_t i = 0; i < input->file_count; i++) {
		const char *file = input->files[i].name;
		char name[64];
		if (strncmp(file, beginnings[0], strlen(beginnings[0])) != 0 &&
		    strncmp(file, beginnings[1], strlen(beginnings[1])) != 0)
			continue;
		if (is_ev != (strstr(file, "_ev_") != NULL))
			continue;
		if (chart == NULL) {
			chart = report_model_chart(section, id, "line", title);
			report_model_axis(chart, "x", axis, true);
			report_model_axis(chart, "y", "share above", true);
		}
		snprintf(name, sizeof(name), "%.60s", file);
		name[strcspn(name, ".")] = '\0';
		tail_series(chart, name, input->files[i].text);
	}
}

// ---------------------------------------------------------------- racks

static void label(json_t *list, const char *format, size_t first, size_t last)
{
	char text[48];
	snprintf(text, sizeof(text), first == last ? "%s %zu" : "%s %zu-%zu", format, first, last);
	json_array_append_new(list, json_string(text));
}

// Where the palest look of latencies is: somewhat below the least, which can be seen from no value,
// and no higher than four fifths of the most, so that what is nearly alike looks alike.
static double coolest(const json_t *cells)
{
	double least = INFINITY, most = 0;
	const json_t *each;
	size_t i;
	json_array_foreach(cells, i, each)
	{
		double value = json_number_value(json_array_get(each, 2));
		least = fmin(least, value);
		most = fmax(most, value);
	}
	return fmin(least - 0.15 * (most - least), 0.8 * most);
}

// One quantile of all pairs.
static void racks_chart(json_t *section, const json_t *racks, const char *id, const char *title,
			const char *key)
{
	const json_t *each;
	json_t *chart = report_model_chart(section, id, "heat", title);
	report_model_axis(chart, "x", "to rack", false);
	report_model_axis(chart, "y", "from rack", false);
	json_t *columns = json_array(), *rows = json_array(), *cells = json_array();
	size_t count = (size_t)document_number_or(racks, "groups", 0), i;
	size_t per = (size_t)document_number_or(racks, "hosts_per_group", 1);
	for (i = 0; i < count; i++) {
		label(columns, "rack", i * per, i * per + per - 1);
		label(rows, "rack", i * per, i * per + per - 1);
	}
	json_array_foreach(json_object_get(racks, "pairs"), i, each)
	{
		report_model_heat(cells, (size_t)document_number_or(each, "to", 0),
				  (size_t)document_number_or(each, "from", 0),
				  document_number_or(each, key, 0) / 1000);
	}
	json_object_set_new(chart, "labels", columns);
	json_object_set_new(chart, "rows", rows);
	json_object_set_new(chart, "cool", json_real(coolest(cells)));
	json_object_set_new(chart, "cells", cells);
}

static void racks(json_t *section, const json_t *result)
{
	const json_t *racks = json_object_get(result, "racks");
	const char *reason = document_text(result, "racks_reason");
	if (!json_is_object(racks)) {
		report_model_missing(section, "Latency between racks",
				     *reason != '\0' ? reason : "the result does not have it");
		return;
	}
	if (json_array_size(json_object_get(racks, "pairs")) == 0) {
		report_model_missing(section, "Latency between racks", "no messages");
		return;
	}
	racks_chart(section, racks, "racks", "Median latency of messages between racks (us)",
		    "p50_ns");
	racks_chart(section, racks, "racks-p99", "p99 of latency between racks (us)", "p99_ns");
}

void report_model_latency(struct report_model *report_model, const struct html_input *input)
{
	json_t *section = report_model_section(report_model, "latency", "Latency");
	quantiles(section, report_model->result);
	static const char *const packets[] = {"one_way_", "round_trip_"},
				 *const queues[] = {"depth_", "depth_"};
	tails(section, input);
	more_tails(section, input, "delays",
		   "Tails of single packets: one way by distance, round trips by plane",
		   "time (us)", packets, false);
	more_tails(section, input, "ev-tails", "Tails of single packets over the slowest EVs",
		   "time (us)", packets, true);
	static const char *const gaps[] = {"packet_gap_", "packet_gap_"};
	more_tails(section, input, "gaps", "Gaps between packets of a connection at its receiver",
		   "time (us)", gaps, false);
	more_tails(section, input, "depth-tails", "Tails of queue depth, as packets found it",
		   "bytes", queues, false);
	racks(section, report_model->result);
}
