// SPDX-License-Identifier: Apache-2.0
// What a reader wants first: how the run ended, the verdict, the figures that acceptance is about,
// and what to look at.

#include "report_model.h"

#include <math.h>
#include <string.h>

#include <weft/verdict/verdict_show.h>

static const char *const facts_head[] = {"what", "figure", NULL};

static void identity(json_t *section, const json_t *result)
{
	json_t *table = report_model_table(section, "The run", facts_head);
	const char *const rows[][2] = {
		{"scenario", "scenario.name"},
		{"description", "scenario.description"},
		{"traffic", "scenario.traffic"},
		{"transport", "scenario.transport"},
		{"congestion control", "scenario.cc"},
		{"seed", "scenario.seed"},
		{"ended", "run.end"},
		{"digest", "run.digest"},
		{"made by", "weft"},
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		json_t *row = report_model_row(table);
		report_model_cell(row, "%s", rows[i][0]);
		report_model_cell(row, "%s", document_text(result, rows[i][1]));
	}
	report_model_fact(table, "NICs", result, "network.nics", UNIT_COUNT);
	report_model_fact(table, "planes", result, "network.planes", UNIT_COUNT);
	report_model_fact(table, "rate of a NIC", result, "network.nic_rate_bps", UNIT_BPS);
	report_model_fact(table, "base round trip", result, "network.base_rtt_ps", UNIT_PS);
	report_model_fact(table, "last completion at", result, "run.last_completion_ps", UNIT_PS);
}

// The slowest collective by bus bandwidth; its figures, or why there are none.
static void slowest_collective(json_t *table, const json_t *result)
{
	const json_t *each, *slowest = NULL;
	size_t i;
	json_array_foreach(json_object_get(result, "collectives"), i, each)
	{
		double rate = document_number_or(each, "busbw_bytes_per_s", HUGE_VAL);
		if (slowest == NULL ||
		    rate < document_number_or(slowest, "busbw_bytes_per_s", HUGE_VAL))
			slowest = each;
	}
	if (slowest == NULL)
		return;
	report_model_fact(table, "bus bandwidth of the slowest collective", slowest,
			  "busbw_bytes_per_s", UNIT_GBS);
	report_model_fact(table, "its time", slowest, "time_ps", UNIT_PS);
}

static void figures(json_t *section, const json_t *result)
{
	static const char *const rest[] = {
		"congestion.marked_share",
		"congestion.trimmed_share",
		"congestion.retransmitted_share",
		"congestion.queue_bytes_max",
		"planes.max_to_mean",
		"planes.jain",
		"transport.qps_failed",
	};
	json_t *table = report_model_table(section, "Figures", facts_head);
	const json_t *flows = json_object_get(result, "flows");
	report_model_row_figure(table, result, figure_find("goodput.per_nic_bps"));
	report_model_row_figure(table, result, figure_find("goodput.total_bps"));
	slowest_collective(table, result);
	if (json_is_object(flows)) {
		report_model_fact(table, "flow completion time, median", flows, "p50_ns", UNIT_NS);
		report_model_fact(table, "flow completion time, p99", flows, "p99_ns", UNIT_NS);
		report_model_fact(table, "flow completion time, longest", flows, "max_ns", UNIT_NS);
	}
	for (size_t i = 0; i < sizeof(rest) / sizeof(*rest); i++)
		report_model_row_figure(table, result, figure_find(rest[i]));
}

// ---------------------------------------------------------------- verdict

static void check_row(json_t *table, const struct profile_check *check,
		      const struct finding *finding)
{
	static const char *const states[] = {"met", "missed", "unavailable", "skipped", "skipped"};
	bool is_indicative = finding->state == FINDING_INDICATIVE;
	json_t *row = report_model_row(table);
	struct text text;
	report_model_cell_state(row, states[finding->state],
				!is_indicative		     ? states[finding->state]
					: finding->is_inside ? "indicative: inside"
							     : "indicative: outside");
	report_model_cell(row, "%s", check->name);
	if (finding->state == FINDING_MET || finding->state == FINDING_MISSED || is_indicative)
		report_model_cell(row, "%s",
				  check->bound.is_word
					  ? finding->word
					  : verdict_figure(&text, finding->measured,
							   finding->dimension, &check->bound));
	else
		report_model_cell(row, "unavailable: %s", finding->reason);
	report_model_cell(row, "%s", check->bound_text);
	report_model_cell(row, "%s", finding->where);
}

void report_model_verdict(json_t *section, const struct html_input *input)
{
	static const char *const head[] = {"state", "check", "measured", "bound", "where", NULL};
	static const char *const ends[] = {"PASS", "FAIL", "NOT VALID"};
	const struct verdict *of = input->verdict;
	if (of == NULL) {
		report_model_note(section, "No verdict: no acceptance profile was named.");
		return;
	}
	report_model_note(
		section,
		"Verdict %s, held against %s: %u met, %u missed, %u unavailable, %u skipped.",
		ends[of->end], input->profile->name, of->met, of->missed, of->unavailable,
		of->skipped);
	json_t *table = report_model_table(section, "Verdict", head);
	for (uint32_t i = 0; i < input->profile->check_count; i++)
		check_row(table, &input->profile->checks[i], &of->findings[i]);
}

// What the scenario itself expects.
static void expected(json_t *section, const json_t *result)
{
	static const char *const head[] = {"state",    "expectation", "measured",
					   "expected", "formula",     NULL};
	const json_t *list = json_object_get(result, "expect"), *each;
	size_t i;
	if (json_array_size(list) == 0)
		return;
	json_t *table = report_model_table(section, "As the scenario expects", head);
	json_array_foreach(list, i, each)
	{
		json_t *row = report_model_row(table);
		bool is_met = json_is_true(json_object_get(each, "inside"));
		report_model_cell_state(row, is_met ? "met" : "missed", is_met ? "met" : "missed");
		report_model_cell(row, "%s", document_text(each, "name"));
		report_model_expected(row, each, "measured");
		report_model_expected(row, each, "expected");
		report_model_cell(row, "%s", document_text(each, "text"));
	}
}

void report_model_summary(struct report_model *report_model, const struct html_input *input)
{
	json_t *section = report_model_section(report_model, "summary", "Summary");
	const json_t *result = report_model->result;
	if (json_is_true(document_at(result, "run.partial")))
		report_model_note(
			section,
			"PARTIAL RESULT: the run ended with \"%s\" before the workload was "
			"complete; latencies are of what was completed.",
			document_text(result, "run.end"));
	if (json_is_false(document_at(result, "conservation.holds")))
		report_model_note(section, "BROKEN RESULT: packets are missing or counted twice.");
	report_model_verdict(section, input);
	figures(section, result);
	expected(section, result);
	identity(section, result);
}

// ---------------------------------------------------------------- culprits

static void culprit_table(json_t *section, const json_t *list)
{
	static const char *const head[] = {"look at",  "finding", "evidence", "measured",
					   "expected", "unit",	  NULL};
	const json_t *each;
	size_t i;
	json_t *table = report_model_table(section, "Culprits, the likeliest first", head);
	json_array_foreach(list, i, each)
	{
		json_t *row = report_model_row(table);
		report_model_cell(row, "%s", document_text(each, "name"));
		report_model_cell_state(row, document_text(each, "finding"), "missed");
		report_model_cell(row, "%s", document_text(each, "evidence"));
		report_model_figure(row, each, "measured", UNIT_FACTOR);
		report_model_figure(row, each, "expected", UNIT_FACTOR);
		report_model_cell(row, "%s", document_text(each, "unit"));
	}
}

// What could not be looked for, and why.
static void not_looked_for(json_t *section, const json_t *findings)
{
	const char *key;
	json_t *value;
	json_object_foreach((json_t *)(uintptr_t)findings, key, value)
	{
		char what[96], reason[80];
		if (!json_is_null(value))
			continue;
		snprintf(reason, sizeof(reason), "%.60s_reason", key);
		snprintf(what, sizeof(what), "Culprits of finding %.60s", key);
		report_model_missing(section, what, document_text(findings, reason));
	}
}

void report_model_culprits(struct report_model *report_model)
{
	// What of the slowest is theirs, and what of all is: what chance would have.
	static const struct report_model_column shares[] = {
		{"look at", "name", UNIT_TEXT},
		{"of the tail", "tail_share", UNIT_SHARE},
		{"of all", "pairs_share", UNIT_SHARE},
		{"of the worst steps", "worst_steps_share", UNIT_SHARE},
		{"of all steps", "steps_share", UNIT_SHARE},
		{NULL}};
	// Where the slowest were, whoever is to blame.
	static const struct report_model_column places[] = {
		{"place", "name", UNIT_TEXT},	     {"of the slowest", "what", UNIT_TEXT},
		{"it has", "count", UNIT_COUNT},     {"share", "share", UNIT_SHARE},
		{"of all", "all_share", UNIT_SHARE}, {NULL}};
	json_t *section = report_model_section(report_model, "culprits", "What to look at");
	const json_t *culprits = json_object_get(report_model->result, "culprits");
	const json_t *list = json_object_get(culprits, "list");
	if (!json_is_array(list)) {
		report_model_missing(
			section, "Ranking of stragglers",
			*document_text(report_model->result, "culprits_reason") != '\0'
				? document_text(report_model->result, "culprits_reason")
				: "not measured: watch.links is false");
		return;
	}
	if (json_array_size(list) > 0) {
		culprit_table(section, list);
		report_model_list(section, "Their shares of the slowest", list, shares);
	} else {
		report_model_note(section, "No culprit among %.0f links, %.0f NICs, %.0f hosts.",
				  document_number_or(culprits, "links", 0),
				  document_number_or(culprits, "nics", 0),
				  document_number_or(culprits, "hosts", 0));
	}
	if (json_array_size(json_object_get(culprits, "slowest")) > 0)
		report_model_list(section, "Where the slowest were",
				  json_object_get(culprits, "slowest"), places);
	not_looked_for(section, json_object_get(culprits, "findings"));
}
