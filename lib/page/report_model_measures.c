// SPDX-License-Identifier: Apache-2.0
// What a section of a book has of its cases beside the figures of all: a table of its measures, the
// conditions of collectives, and the distribution of flow completion times.

#include <math.h>
#include <string.h>

#include "report_model.h"

#define COLUMNS_MAX 32

static bool is_of(const json_t *one, const char *section)
{
	return strcmp(document_text(one, "section"), section) == 0 &&
		json_array_size(json_object_get(one, "measures")) > 0;
}

static const json_t *measure_of(const json_t *one, const char *name)
{
	const json_t *each;
	size_t i;
	json_array_foreach(json_object_get(one, "measures"), i,
			   each) if (strcmp(document_text(each, "name"), name) == 0) return each;
	return NULL;
}

// Names of measures in the order in which cases have them; returns how many.
static size_t names_of(const char *ret[COLUMNS_MAX + 2], const json_t *acceptance,
		       const char *section)
{
	const json_t *one, *each;
	size_t i, k, count = 1, known;
	ret[0] = "case";
	json_array_foreach(json_object_get(acceptance, "cases"), i, one)
	{
		if (!is_of(one, section))
			continue;
		json_array_foreach(json_object_get(one, "measures"), k, each)
		{
			const char *name = document_text(each, "name");
			for (known = 1; known < count && strcmp(ret[known], name) != 0;)
				known++;
			if (known == count && count <= COLUMNS_MAX)
				ret[count++] = name;
		}
	}
	ret[count] = NULL;
	return count;
}

static void measure_cell(json_t *row, const json_t *measure)
{
	static const struct {
		const char *name;
		enum unit unit;
		double factor;
	} units[] = {{"s", UNIT_PS, 1e12},
		     {"bit/s", UNIT_BPS, 1},
		     {"byte", UNIT_BYTES, 1},
		     {"count", UNIT_COUNT, 1},
		     {"", UNIT_FACTOR, 1}};
	char text[64];
	for (size_t i = 0; measure != NULL && i < sizeof(units) / sizeof(units[0]); i++)
		if (strcmp(document_text(measure, "unit"), units[i].name) == 0) {
			double value = document_number(measure, "value") * units[i].factor;
			report_model_cell(
				row, "%s",
				report_model_number_text(text, sizeof(text), value, units[i].unit));
			return;
		}
	report_model_cell(row, "-");
}

static void table_of(json_t *section, const json_t *acceptance, const char *word)
{
	const char *head[COLUMNS_MAX + 2];
	const json_t *one;
	size_t i, columns = names_of(head, acceptance, word);
	if (columns == 1)
		return;
	json_t *table = report_model_table(section, "Measures", head);
	report_model_is_more(table);
	json_array_foreach(json_object_get(acceptance, "cases"), i, one)
	{
		if (!is_of(one, word))
			continue;
		json_t *row = report_model_row(table);
		report_model_cell(row, "%s", document_text(one, "name"));
		for (size_t column = 1; column < columns; column++)
			measure_cell(row, measure_of(one, head[column]));
	}
}

static void collectives_of(json_t *section, const json_t *acceptance, const char *word)
{
	static const char *const head[] = {
		"case",	     "collective",	 "S", "algorithm (what ran)", "busbw over NIC rate",
		"JCT Ratio", "Overlap_Fraction", NULL};
	json_t *table = NULL;
	const json_t *one;
	char text[64];
	size_t i;
	json_array_foreach(json_object_get(acceptance, "cases"), i, one)
	{
		const json_t *of = json_object_get(one, "collective");
		if (!is_of(one, word) || !json_is_object(of))
			continue;
		if (table == NULL)
			table = report_model_table(section, "Conditions of collectives", head);
		json_t *row = report_model_row(table);
		report_model_cell(row, "%s", document_text(one, "name"));
		report_model_cell(row, "%s", document_text(of, "kind"));
		report_model_cell(row, "%s",
				  report_model_number_text(text, sizeof(text),
							   document_number_or(of, "bytes", 0),
							   UNIT_BYTES));
		report_model_cell(row, "%s", document_text(of, "algorithm"));
		double shares[] = {document_number(of, "efficiency"),
				   document_number(one, "jct_ratio"),
				   document_number(one, "overlap_fraction")};
		for (size_t k = 0; k < sizeof(shares) / sizeof(shares[0]); k++)
			report_model_cell(row, "%s",
					  isnan(shares[k]) ? "-"
							   : report_model_number_text(
								     text, sizeof(text), shares[k],
								     UNIT_FACTOR));
	}
}

// A line for each case through the quantiles that its result has.
static void distribution_of(json_t *section, const json_t *acceptance, const char *word)
{
	static const struct {
		const char *name;
		double share;
	} quantiles[] = {{"FCT min", 0}, {"P50", 0.5},	   {"P95", 0.95},
			 {"P99", 0.99},	 {"P99.9", 0.999}, {"max", 1}};
	char id[48];
	json_t *chart = NULL;
	const json_t *one;
	size_t i;
	snprintf(id, sizeof(id), "cdf-%.32s", word);
	json_array_foreach(json_object_get(acceptance, "cases"), i, one)
	{
		if (!is_of(one, word) || measure_of(one, quantiles[0].name) == NULL)
			continue;
		if (chart == NULL) {
			chart = report_model_chart(
				section, id, "line",
				"Flow completion times: the share that is done (CDF)");
			report_model_axis(chart, "x", "FCT (us)", true);
			report_model_axis(chart, "y", "share", false);
		}
		json_t *points = report_model_series(chart, document_text(one, "name"));
		for (size_t k = 0; k < sizeof(quantiles) / sizeof(quantiles[0]); k++) {
			const json_t *at = measure_of(one, quantiles[k].name);
			if (at != NULL)
				report_model_point(points, document_number_or(at, "value", 0) * 1e6,
						   quantiles[k].share);
		}
	}
	if (chart != NULL)
		report_model_note(
			section,
			"Whole histograms are in the folder of each case (flow.hdr), and weft "
			"report draws them.");
}

void report_model_measures(json_t *section, const json_t *acceptance, const char *word)
{
	collectives_of(section, acceptance, word);
	table_of(section, acceptance, word);
	distribution_of(section, acceptance, word);
}
