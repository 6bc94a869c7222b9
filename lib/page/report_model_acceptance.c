// SPDX-License-Identifier: Apache-2.0
// book.json of weft validate-fabric as a report: what the whole comes to, the device and how it was
// tested, a section for each category of the book, anomalies, repeatability, comparability.

#include "report_model.h"

#include <math.h>
#include <string.h>

#define COLOUR_PASS 2 // of the page's colours
#define COLOUR_FAIL 1

static const char *word_of(const char *state)
{
	static const char *const words[][2] = {
		{"pass", "PASS"},	    {"fail", "FAIL"},	      {"not_valid", "NOT VALID"},
		{"not_asked", "not asked"}, {"left_out", "left out"}, {"open", "open"}};
	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		if (strcmp(words[i][0], state) == 0)
			return words[i][1];
	return state;
}

static void state_cell(json_t *row, const json_t *of)
{
	const char *state = document_text(of, "state");
	const char *look = strcmp(state, "pass") == 0 ? "met"
		: strcmp(state, "fail") == 0	      ? "missed"
		: strcmp(state, "not_asked") == 0     ? "skipped"
		: strcmp(state, "left_out") == 0      ? "skipped"
						      : "unavailable";
	report_model_cell_state(row, word_of(state), look);
}

// ---------------------------------------------------------------- summary

static void by_section(json_t *section, const json_t *acceptance)
{
	static const char *const head[] = {"section",	"verdict",  "passed", "failed", "not valid",
					   "not asked", "left out", "open",   NULL};
	static const char *const states[] = {"pass",	  "fail",     "not_valid",
					     "not_asked", "left_out", "open"};
	const json_t *each, *one;
	size_t i, k;
	json_t *table = report_model_table(section, "Sections", head);
	json_array_foreach(json_object_get(acceptance, "sections"), i, each)
	{
		json_t *row = report_model_row(table);
		report_model_cell(row, "%zu. %s", i + 1, document_text(each, "title"));
		state_cell(row, each);
		for (size_t s = 0; s < sizeof(states) / sizeof(*states); s++) {
			size_t count = 0;
			json_array_foreach(json_object_get(acceptance, "cases"), k, one)
				count += strcmp(document_text(one, "section"),
						document_text(each, "name")) == 0 &&
				strcmp(document_text(one, "state"), states[s]) == 0;
			report_model_cell(row, "%zu", count);
		}
	}
}

static bool has_figures(const json_t *one)
{
	return strcmp(document_text(one, "state"), "pass") == 0 ||
		strcmp(document_text(one, "state"), "fail") == 0;
}

// A bar for each case that has the figure, coloured by its verdict.
static void case_bars(json_t *section, const json_t *acceptance, const char *id, const char *title,
		      const char *key, const char *axis, double unit)
{
	const json_t *each;
	size_t i;
	json_t *rows = json_array(), *spans = json_array();
	json_array_foreach(json_object_get(acceptance, "cases"), i, each)
	{
		double value = document_number(each, key);
		if (!has_figures(each) || isnan(value))
			continue;
		bool is_pass = strcmp(document_text(each, "state"), "pass") == 0;
		json_t *one = json_array();
		json_array_append_new(one, json_integer((json_int_t)json_array_size(rows)));
		json_array_append_new(one, json_real(0));
		json_array_append_new(one, json_real(value / unit));
		json_array_append_new(one, json_string(document_text(each, "name")));
		json_array_append_new(one, json_integer(is_pass ? COLOUR_PASS : COLOUR_FAIL));
		json_array_append_new(spans, one);
		json_array_append_new(rows, json_string(document_text(each, "name")));
	}
	if (json_array_size(spans) == 0) {
		report_model_missing(section, title, "no case has this figure yet");
		json_decref(rows);
		json_decref(spans);
		return;
	}
	json_t *chart = report_model_chart(section, id, "spans", title);
	report_model_axis(chart, "x", axis, false);
	report_model_axis(chart, "y", "", false);
	json_object_set_new(chart, "rows", rows);
	json_object_set_new(chart, "spans", spans);
}

// Who stands out, of the first case in which somebody does.
static void culprit(json_t *section, const json_t *acceptance)
{
	const json_t *each;
	size_t i;
	json_array_foreach(json_object_get(acceptance, "cases"), i,
			   each) if (*document_text(each, "culprit") != '\0')
	{
		report_model_note(section, "Look at: %s", document_text(each, "culprit"));
		return;
	}
	report_model_note(section, "Nobody stands out in any case.");
}

static void summary(struct report_model *report_model)
{
	const json_t *acceptance = report_model->result, *each;
	size_t i, open = 0, count = json_array_size(json_object_get(acceptance, "cases"));
	json_t *section = report_model_section(report_model, "summary", "Summary");
	const char *verdict = document_text(acceptance, "verdict_text");
	json_array_foreach(json_object_get(acceptance, "cases"), i, each)
		open += strcmp(document_text(each, "state"), "open") == 0;
	report_model_note(
		section,
		"Verdict %s of %zu case%s. Acceptance profiles give it, not the BMWG draft whose "
		"categories these are: the draft only measures.",
		verdict, count, count == 1 ? "" : "s");
	if (json_is_true(document_at(acceptance, "partial")))
		report_model_note(
			section,
			"PARTIAL RESULT: %zu of %zu cases have not run; the same call goes on "
			"from here.",
			open, count);
	report_model_note(
		section,
		"Goodput of a case is that of its last window with an expectation, such as "
		"after a fault; of one without, that of the whole run. A dash: the case has no "
		"such figure; book.json says why.");
	culprit(section, acceptance);
	by_section(section, acceptance);
	case_bars(section, acceptance, "goodput", "Goodput of a NIC, case by case",
		  "goodput_per_nic_bps", "Gb/s", 1e9);
	case_bars(section, acceptance, "busbw", "Bus bandwidth of collectives", "busbw_bps", "GB/s",
		  8e9);
	case_bars(section, acceptance, "fct", "Flow completion time, p99, case by case",
		  "fct_p99_s", "us", 1e-6);
}

// ---------------------------------------------------------------- facts

struct fact {
	const char *name, *key;
	enum unit unit; // of a number
};

// A table of fields: texts and flags as they are, numbers in their units.
static json_t *facts(json_t *section, const char *caption, const json_t *of,
		     const struct fact *list)
{
	static const char *const head[] = {"what", "figure", NULL};
	json_t *table = report_model_table(section, caption, head);
	for (; list->name != NULL; list++) {
		const json_t *value = json_object_get(of, list->key);
		json_t *row = report_model_row(table);
		report_model_cell(row, "%s", list->name);
		if (json_is_string(value))
			report_model_cell(row, "%s", json_string_value(value));
		else if (json_is_boolean(value))
			report_model_cell(row, "%s", json_is_true(value) ? "yes" : "no");
		else
			report_model_figure(row, of, list->key, list->unit);
	}
	return table;
}

// A row for each text of a list, below those of `table`.
static void words(json_t *table, const char *what, const json_t *list)
{
	const json_t *each;
	size_t i;
	json_array_foreach(list, i, each)
	{
		json_t *row = report_model_row(table);
		report_model_cell(row, "%s", what);
		report_model_cell(row, "%s", json_string_value(each));
	}
}

static void device(struct report_model *report_model)
{
	static const struct fact of_device[] = {
		{"topology and cabling", "topology", UNIT_COUNT},
		{"NICs", "nics", UNIT_COUNT},
		{"NICs of a host", "nics_per_host", UNIT_COUNT},
		{"planes", "planes", UNIT_COUNT},
		{"rate of a NIC", "nic_rate_bps", UNIT_BPS},
		{"of it for payload, in full packets", "payload_rate_bps", UNIT_BPS},
		{"T0 switches of a plane", "t0_count", UNIT_COUNT},
		{"NICs of a T0", "nics_per_t0", UNIT_COUNT},
		{"links of a T0 upwards, in a plane", "t0_links_up", UNIT_COUNT},
		{"capacity above a T0 over that below", "share_above_t0", UNIT_FACTOR},
		{"delay of the cable of a NIC", "nic_delay_ps", UNIT_PS},
		{"delay of a cable between switches", "trunk_delay_ps", UNIT_PS},
		{"delay of a switch", "switch_delay_ps", UNIT_PS},
		{"idle round trip", "base_rtt_ps", UNIT_PS},
		{NULL, NULL, UNIT_COUNT}};
	static const struct fact of_settings[] = {
		{"transport", "transport", UNIT_COUNT},
		{"congestion control", "cc", UNIT_COUNT},
		{"entropy values", "entropy_values", UNIT_COUNT},
		{"payload of a full packet", "payload_bytes", UNIT_BYTES},
		{"load balancing", "balance", UNIT_COUNT},
		{"ECN", "ecn", UNIT_COUNT},
		{"marks from", "ecn_low_bytes", UNIT_BYTES},
		{"marks of all packets from", "ecn_high_bytes", UNIT_BYTES},
		{"data queue of a port", "queue_bytes", UNIT_BYTES},
		{"trimming", "trimming", UNIT_COUNT},
		{"PFC", "pfc", UNIT_COUNT},
		{"tester", "tester", UNIT_COUNT},
		{"driven by gradients of a GPU", "gradient_driven", UNIT_COUNT},
		{NULL, NULL, UNIT_COUNT}};
	const json_t *result = report_model->result,
		     *settings = json_object_get(result, "settings");
	json_t *section = report_model_section(report_model, "device", "Device under test");
	json_t *table = facts(section, "Device under test", json_object_get(result, "device"),
			      of_device);
	json_t *row = report_model_row(table);
	report_model_cell(row, "scenario");
	report_model_cell(row, "%s", document_text(result, "scenario"));
	words(table, "set", json_object_get(result, "sets"));
	words(table, "fault", json_object_get(result, "faults"));
	section = report_model_section(report_model, "settings", "Test configuration");
	facts(section, "Test configuration", settings, of_settings);
	section = report_model_section(report_model, "host", "Host configuration");
	report_model_note(section, "%s.", document_text(settings, "host"));
}

// ---------------------------------------------------------------- cases

static void case_row(json_t *table, const json_t *one)
{
	static const struct {
		const char *key;
		enum unit unit;
		double factor;
	} figures[] = {{"goodput_per_nic_bps", UNIT_BPS, 1},  {"busbw_bps", UNIT_GBS, 0.125},
		       {"fct_p50_s", UNIT_PS, 1e12},	      {"fct_p99_s", UNIT_PS, 1e12},
		       {"marked_share", UNIT_SHARE, 1},	      {"trimmed_share", UNIT_SHARE, 1},
		       {"retransmitted_share", UNIT_SHARE, 1}};
	json_t *row = report_model_row(table);
	char text[64];
	if (has_figures(one))
		report_model_cell_link(row, document_text(one, "name"),
				       document_text(one, "folder"));
	else
		report_model_cell(row, "%s", document_text(one, "name"));
	report_model_cell(row, "%s", document_text(one, "asks"));
	state_cell(row, one);
	for (size_t i = 0; i < sizeof(figures) / sizeof(*figures); i++) {
		double value = document_number(one, figures[i].key);
		report_model_cell(row, "%s",
				  !has_figures(one) || isnan(value)
					  ? "-"
					  : report_model_number_text(text, sizeof(text),
								     value * figures[i].factor,
								     figures[i].unit));
	}
	report_model_cell(row, "%s", document_text(one, "reason"));
}

static void cases(struct report_model *report_model)
{
	static const char *const head[] = {"case",    "asks",	       "verdict", "goodput",
					   "busbw",   "FCT p50",       "p99",	  "marked",
					   "trimmed", "retransmitted", "why",	  NULL};
	const json_t *each, *one;
	size_t i, k;
	json_array_foreach(json_object_get(report_model->result, "sections"), i, each)
	{
		char title[112], id[48];
		snprintf(title, sizeof(title), "%zu. %.80s", i + 1, document_text(each, "title"));
		snprintf(id, sizeof(id), "section-%.32s", document_text(each, "name"));
		json_t *section = report_model_section(report_model, id, title);
		report_model_note(section, "Section %s: %s.", document_text(each, "name"),
				  word_of(document_text(each, "state")));
		json_t *table = report_model_table(section, document_text(each, "title"), head);
		json_array_foreach(json_object_get(report_model->result, "cases"), k,
				   one) if (strcmp(document_text(one, "section"),
						   document_text(each, "name")) == 0)
			case_row(table, one);
		report_model_measures(section, report_model->result, document_text(each, "name"));
	}
}

// A table of the cases that `is_listed` names, with their culprits where `head` has a column for
// them. Returns whether there is any.
static bool listed(json_t *section, const json_t *cases, const char *title,
		   const char *const head[], bool (*is_listed)(const json_t *one))
{
	json_t *table = NULL;
	const json_t *each;
	size_t i;
	json_array_foreach(cases, i, each)
	{
		if (!is_listed(each))
			continue;
		if (table == NULL)
			table = report_model_table(section, title, head);
		json_t *row = report_model_row(table);
		report_model_cell(row, "%s, %s", document_text(each, "section"),
				  document_text(each, "name"));
		state_cell(row, each);
		report_model_cell(row, "%s", document_text(each, "reason"));
		if (head[3] != NULL)
			report_model_cell(row, "%s", document_text(each, "culprit"));
	}
	return table != NULL;
}

static bool has_failed(const json_t *one)
{
	const char *state = document_text(one, "state");
	return strcmp(state, "fail") == 0 || strcmp(state, "not_valid") == 0;
}

static void anomalies(struct report_model *report_model)
{
	static const char *const head[] = {"case", "verdict", "why", "look at", NULL};
	json_t *section = report_model_section(report_model, "anomalies", "Anomalies");
	const json_t *all = json_object_get(report_model->result, "cases");
	if (!listed(section, all, "Anomalies", head, has_failed))
		report_model_note(section,
				  "None: no case that was asked failed, or was not valid.");
}

static bool has_no_verdict(const json_t *one)
{
	return !has_figures(one);
}

static void coverage(struct report_model *report_model)
{
	static const char *const head[] = {"case", "verdict", "why", NULL};
	json_t *section = report_model_section(report_model, "coverage", "Coverage");
	const json_t *of = json_object_get(report_model->result, "coverage"),
		     *all = json_object_get(report_model->result, "cases");
	report_model_note(section, "%.0f of %.0f cases have a verdict.",
			  document_number_or(of, "cases", 0), document_number_or(of, "of", 0));
	listed(section, all, "Cases without a verdict", head, has_no_verdict);
}

// How far samples of its goodput lie from each other in each case that has some.
static void samples(json_t *section, const json_t *acceptance)
{
	const json_t *each;
	size_t i;
	json_array_foreach(json_object_get(acceptance, "cases"), i,
			   each) if (document_number_or(each, "samples", 0) > 0)
		report_model_note(section,
				  "%s: %.0f samples of its goodput, coefficient of "
				  "variation %.3g %%.",
				  document_text(each, "name"),
				  document_number_or(each, "samples", 0),
				  document_number_or(each, "variation", 0) * 100);
}

static void again(struct report_model *report_model)
{
	const json_t *acceptance = report_model->result,
		     *repeats = json_object_get(acceptance, "repeatability");
	json_t *section = report_model_section(report_model, "repeatability", "Repeatability");
	if (json_is_object(repeats))
		report_model_note(
			section,
			"Goodput of %.0f permutations: mean %.5g Gb/s per NIC, coefficient of "
			"variation %.3g %%. The same scenario, seed and commit always give the "
			"same digest.",
			document_number_or(repeats, "permutations", 0),
			document_number_or(repeats, "mean_bps", 0) / 1e9,
			document_number_or(repeats, "variation", 0) * 100);
	else
		report_model_missing(section, "Repeatability",
				     document_text(acceptance, "repeatability_reason"));
	samples(section, acceptance);
	section = report_model_section(report_model, "comparability", "Comparability");
	report_model_note(section, "Only with books of the same: %s.",
			  document_text(acceptance, "comparable"));
	report_model_again(report_model);
}

void report_model_acceptance(struct report_model *report_model)
{
	summary(report_model);
	device(report_model);
	cases(report_model);
	coverage(report_model);
	anomalies(report_model);
	again(report_model);
}
