// SPDX-License-Identifier: Apache-2.0
// The run over virtual time: goodput, queues and losses, the collectives of a step, and when faults
// struck.

#include "report_model.h"

#include <string.h>

#define PS_PER_US_REAL 1e6
#define SPAN_ROWS_MAX 48 // collectives shown; the table of the result has all

static double at_us(const json_t *from, const char *key, double otherwise)
{
	double ps = document_number_or(from, key, -1);
	return ps < 0 ? otherwise : ps / PS_PER_US_REAL;
}

// ---------------------------------------------------------------- faults

static void bands(json_t *chart, const json_t *result)
{
	const json_t *list = json_object_get(result, "faults"), *each;
	double end_us = at_us(result, "run.virtual_time_ps", 0);
	json_t *to = json_array();
	size_t i;
	json_array_foreach(list, i, each)
	{
		json_t *band = json_object();
		char name[160];
		snprintf(name, sizeof(name), "%s at %s", document_text(each, "kind"),
			 document_text(each, "at"));
		json_object_set_new(band, "name", json_string(name));
		json_object_set_new(band, "from", json_real(at_us(each, "from_ps", 0)));
		json_object_set_new(band, "to", json_real(at_us(each, "until_ps", end_us)));
		json_array_append_new(to, band);
	}
	json_object_set_new(chart, "bands", to);
}

static void faults(json_t *section, const json_t *result)
{
	static const char *const head[] = {"fault", "at", "from", "until", "figures", NULL};
	const json_t *list = json_object_get(result, "faults"), *each;
	size_t i;
	if (!json_is_array(list)) {
		report_model_missing(section, "Faults", "the result does not list them");
		return;
	}
	if (json_array_size(list) == 0) {
		report_model_note(section, "The scenario has no faults.");
		return;
	}
	json_t *table = report_model_table(section, "Faults of the scenario", head);
	json_array_foreach(list, i, each)
	{
		json_t *row = report_model_row(table);
		report_model_cell(row, "%s", document_text(each, "kind"));
		report_model_cell(row, "%s", document_text(each, "at"));
		report_model_figure(row, each, "from_ps", UNIT_PS);
		if (json_is_number(json_object_get(each, "until_ps")))
			report_model_figure(row, each, "until_ps", UNIT_PS);
		else
			report_model_cell(row, "for good");
		report_model_cell(row, "%s", document_text(each, "text"));
	}
}

// ---------------------------------------------------------------- series

// One figure of the series, each bin times `factor`.
static void series_chart(json_t *section, const json_t *result, const char *id, const char *key,
			 const char *title, const char *unit, double factor)
{
	const json_t *series = json_object_get(result, "series"), *each;
	double bin_us = at_us(series, "bin_ps", 1);
	size_t i;
	json_t *chart = report_model_chart(section, id, "line", title);
	report_model_axis(chart, "x", "virtual time (us)", false);
	report_model_axis(chart, "y", unit, false);
	json_t *points = report_model_series(chart, title);
	json_array_foreach(json_object_get(series, key), i, each)
	{
		report_model_bin(points, i, bin_us, json_number_value(each) * factor);
	}
	bands(chart, result);
}

static void series(json_t *section, const json_t *result)
{
	const json_t *from = json_object_get(result, "series");
	double nics = document_number_or(result, "goodput.nics_receiving", 0);
	double bin_us = at_us(from, "bin_ps", 1);
	if (!json_is_object(from)) {
		report_model_missing(
			section, "Goodput and losses over time",
			"the scenario asks for no series: watch.bin says how long a bin is");
		return;
	}
	if (nics > 0)
		series_chart(section, result, "goodput", "payload_bytes",
			     "Goodput per receiving NIC", "Gb/s", 8 / (bin_us * 1e3) / nics);
	series_chart(section, result, "arrivals", "data_packets", "Data packets that came to NICs",
		     "packets in a bin", 1);
	series_chart(section, result, "losses", "lost_packets", "Data packets lost on cables",
		     "packets in a bin", 1);
}

// Why there are no queues over time.
static const char *no_queues(const json_t *result)
{
	const json_t *links = json_object_get(result, "links");
	const char *reason = json_is_object(links) ? document_text(links, "depth_series_reason")
						   : document_text(result, "links_reason");
	return *reason != '\0' ? reason : "nothing had to wait";
}

// The ports with the deepest queues, a line for each.
static void queues(json_t *section, const json_t *result)
{
	const json_t *from = document_at(result, "links.depth_series");
	const json_t *list = json_object_get(from, "ports"), *each, *bytes;
	double bin_us = at_us(from, "bin_ps", 1);
	size_t i, bin;
	if (json_array_size(list) == 0) {
		report_model_missing(section, "Queues over time", no_queues(result));
		return;
	}
	json_t *chart = report_model_chart(section, "queues", "line",
					   "Queues over time: the ports with the deepest");
	report_model_axis(chart, "x", "virtual time (us)", false);
	report_model_axis(chart, "y", "most in a bin (kB)", false);
	json_array_foreach(list, i, each)
	{
		json_t *points = report_model_series(chart, document_text(each, "cable"));
		json_array_foreach(json_object_get(each, "most_bytes"), bin, bytes)
		{
			report_model_bin(points, bin, bin_us, json_number_value(bytes) / 1e3);
		}
	}
	bands(chart, result);
}

// The NICs with the deepest incasts, a line for each.
static void incasts(json_t *section, const json_t *result)
{
	const json_t *from = document_at(result, "delays.incast_series"), *each, *count;
	const json_t *delays = json_object_get(result, "delays");
	const char *reason = json_is_object(delays) ? document_text(delays, "incast_series_reason")
						    : document_text(result, "delays_reason");
	const json_t *list = json_object_get(from, "nics");
	double bin_us = at_us(from, "bin_ps", 1);
	size_t i, bin;
	if (json_array_size(list) == 0) {
		report_model_missing(section, "Incast over time",
				     *reason != '\0' ? reason : "no messages");
		return;
	}
	json_t *chart = report_model_chart(
		section, "incasts", "line",
		"Incast over time: the NICs with the most senders at once");
	report_model_axis(chart, "x", "virtual time (us)", false);
	report_model_axis(chart, "y", "connections in the middle of a message, most in a bin",
			  false);
	json_array_foreach(list, i, each)
	{
		char name[32];
		snprintf(name, sizeof(name), "nic %.0f", document_number_or(each, "nic", 0));
		json_t *points = report_model_series(chart, name);
		json_array_foreach(json_object_get(each, "most_connections"), bin, count)
		{
			report_model_bin(points, bin, bin_us, json_number_value(count));
		}
	}
	bands(chart, result);
}

// ---------------------------------------------------------------- step

static void span(json_t *spans, size_t row, double from, double to, const char *name)
{
	json_t *one = json_array();
	json_array_append_new(one, json_integer((json_int_t)row));
	json_array_append_new(one, json_real(from));
	json_array_append_new(one, json_real(to));
	json_array_append_new(one, json_string(name));
	json_array_append_new(spans, one);
}

// A list whose elements have a beginning and an end, in picoseconds, a row for each. Returns how
// many were drawn.
static size_t spans_of(json_t *chart, const json_t *list, const char *name_key, bool has_groups,
		       const char *end_key)
{
	json_t *rows = json_array(), *spans = json_array();
	const json_t *each;
	size_t i, drawn = 0;
	json_array_foreach(list, i, each)
	{
		char name[96];
		if (drawn == SPAN_ROWS_MAX || !json_is_number(json_object_get(each, end_key)))
			continue;
		double from = at_us(each, "start_ps", 0), to = at_us(each, end_key, 0);
		if (strcmp(end_key, "time_ps") == 0)
			to += from;
		snprintf(name, sizeof(name), "%s", document_text(each, name_key));
		if (has_groups)
			snprintf(name, sizeof(name), "stage %d group %d %s",
				 (int)document_number_or(each, "stage", 0),
				 (int)document_number_or(each, "group", 0),
				 document_text(each, name_key));
		json_array_append_new(rows, json_string(name));
		span(spans, drawn++, from, to, document_text(each, name_key));
	}
	json_object_set_new(chart, "rows", rows);
	json_object_set_new(chart, "spans", spans);
	return drawn;
}

static json_t *span_chart(json_t *section, const json_t *result, const char *id, const char *title)
{
	json_t *chart = report_model_chart(section, id, "spans", title);
	report_model_axis(chart, "x", "virtual time (us)", false);
	report_model_axis(chart, "y", "", false);
	bands(chart, result);
	return chart;
}

static void collectives(json_t *section, const json_t *result)
{
	static const struct report_model_column columns[] = {
		{"label", "label", UNIT_TEXT},
		{"kind", "kind", UNIT_TEXT},
		{"buffer", "bytes", UNIT_BYTES},
		{"ranks", "ranks", UNIT_COUNT},
		{"start", "start_ps", UNIT_PS},
		{"time", "time_ps", UNIT_PS},
		{"error", "time_error_ps", UNIT_PS},
		{"busbw", "busbw_bytes_per_s", UNIT_GBS},
		{NULL}};
	const json_t *list = json_object_get(result, "collectives");
	size_t count = json_array_size(list);
	if (count == 0) {
		report_model_missing(section, "Collectives of a step",
				     "the traffic has no collectives");
		return;
	}
	size_t drawn = spans_of(
		span_chart(section, result, "step", "Collectives of the step, and faults on them"),
		list, "label", true, "end_ps");
	if (drawn < count)
		report_model_note(section, "%zu of %zu collectives are drawn.", drawn, count);
	report_model_is_more(report_model_list(section, "Collectives", list, columns));
}

static void jobs(json_t *section, const json_t *result)
{
	static const struct report_model_column columns[] = {
		{"job", "name", UNIT_TEXT},
		{"ranks", "ranks", UNIT_COUNT},
		{"start", "start_ps", UNIT_PS},
		{"time", "time_ps", UNIT_PS},
		{"alone", "alone_ps", UNIT_PS},
		{"ideal", "ideal_ps", UNIT_PS},
		{"factor", "interference_factor", UNIT_FACTOR},
		{NULL}};
	const json_t *list = json_object_get(result, "jobs");
	if (json_array_size(list) == 0)
		return;
	spans_of(span_chart(section, result, "jobs", "Jobs on the fabric"), list, "name", false,
		 "time_ps");
	report_model_list(section, "Jobs", list, columns);
}

void report_model_time(struct report_model *report_model)
{
	json_t *section = report_model_section(report_model, "time", "Over time");
	faults(section, report_model->result);
	collectives(section, report_model->result);
	jobs(section, report_model->result);
	series(section, report_model->result);
	queues(section, report_model->result);
	incasts(section, report_model->result);
}
