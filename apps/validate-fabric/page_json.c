// SPDX-License-Identifier: Apache-2.0
// The report for programs: book.json, and JUnit XML with a suite for each section.

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "acceptance.h"
#include "page.h"
#include "weft_version.h"
#include <weft/core/check_memory.h>
#include <weft/run/host_info.h>
#include <weft/run/outcome.h>

#define BOOK_SCHEMA 4

static const char *const states[] = {[CASE_OPEN] = "open",	     [CASE_PASS] = "pass",
				     [CASE_FAIL] = "fail",	     [CASE_NOT_VALID] = "not_valid",
				     [CASE_NOT_ASKED] = "not_asked", [CASE_LEFT_OUT] = "left_out"};

// The worst of a section's cases; open when it is not through.
static enum case_state state_of(const struct acceptance *acceptance, enum section section)
{
	static const enum case_state worst_first[] = {CASE_FAIL, CASE_NOT_VALID, CASE_OPEN,
						      CASE_PASS, CASE_LEFT_OUT,	 CASE_NOT_ASKED};
	for (uint32_t w = 0; w < sizeof(worst_first) / sizeof(worst_first[0]); w++)
		for (uint32_t i = 0; i < acceptance->case_count; i++)
			if (acceptance->cases[i].of->section == section &&
			    acceptance->cases[i].state == worst_first[w])
				return worst_first[w];
	return CASE_NOT_ASKED;
}

#define NO_COLLECTIVE "the case runs no collective"
#define NO_JOB "the case has no steps of computation and collectives"
#define NO_FLOWS "the case has no flows"
#define NO_DATA "no data were sent"

// A number, or null and why it is none.
static void put_number(json_t *to, const char *key, double value, const char *reason)
{
	char name[64];
	snprintf(name, sizeof(name), "%s_reason", key);
	json_object_set_new(to, key, isnan(value) ? json_null() : json_real(value));
	if (isnan(value))
		json_object_set_new(to, name, json_string(reason));
}

// What `put` writes of the run book, or `put_case` of a case of it; null where that is nothing.
static json_t *text_json(const struct acceptance *acceptance, const struct case_run *run,
			 void (*put)(FILE *, const struct acceptance *),
			 void (*put_case)(FILE *, const struct acceptance *,
					  const struct case_run *))
{
	char *text;
	size_t bytes;
	FILE *to = open_memstream(&text, &bytes);
	check_memory(to != NULL);
	if (put != NULL)
		put(to, acceptance);
	else
		put_case(to, acceptance, run);
	check(fclose(to) == 0);
	json_t *ret = bytes == 0 ? json_null() : json_string(text);
	free(text);
	return ret;
}

static uint32_t count_of(const struct acceptance *acceptance, enum section section,
			 enum case_state state)
{
	uint32_t count = 0;
	for (uint32_t i = 0; i < acceptance->case_count; i++)
		count += (section == SECTION_COUNT ||
			  acceptance->cases[i].of->section == section) &&
			acceptance->cases[i].state == state;
	return count;
}

static json_t *coverage_json(const struct acceptance *acceptance)
{
	json_t *required = json_array(), *missed = json_array();
	for (uint32_t i = 0; i < acceptance->required_count; i++) {
		const char *word = acceptance->required[i];
		json_array_append_new(required, json_string(word));
		if (!coverage_holds(acceptance, word))
			json_array_append_new(missed, json_string(word));
	}
	return json_pack("{si si si si so so}", "cases", coverage_count(acceptance), "of",
			 acceptance->case_count, "not_asked",
			 count_of(acceptance, SECTION_COUNT, CASE_NOT_ASKED), "left_out",
			 count_of(acceptance, SECTION_COUNT, CASE_LEFT_OUT), "required", required,
			 "missed", missed);
}

// What a case was thought to take; null: it was not asked.
static void put_estimate(json_t *to, const struct acceptance *acceptance,
			 const struct case_run *run)
{
	const struct cost *cost = &run->cost;
	if (cost->hops == 0) {
		json_object_set_new(to, "estimate", json_null());
		json_object_set_new(to, "estimate_reason", json_string("the case is not asked"));
		return;
	}
	json_object_set_new(to, "estimate",
			    json_pack("{sf sf sf sf sf}", "packets", cost->packets, "hops",
				      cost->hops, "hops_given_up", cost_hops_given_up(cost),
				      "memory_bytes",
				      cost_memory_bytes(&acceptance->fabric_facts, cost),
				      "processor_s", run->estimate_s));
}

static json_t *text_of(const struct acceptance *acceptance, const struct case_run *run)
{
	return text_json(acceptance, run, NULL, page_missed);
}

// Those of its section that it has.
static json_t *measures_json(const struct case_run *run)
{
	json_t *ret = json_array();
	for (uint32_t i = 0; i < MEASURE_COUNT; i++) {
		double value = run->figures.more[i];
		if (!measure_is_of(&measures[i], run->of->section) || isnan(value))
			continue;
		json_array_append_new(ret,
				      json_pack("{ss ss sf}", "name", measures[i].name, "unit",
						measures[i].unit, "value", value));
	}
	return ret;
}

static void put_asked(json_t *to, const struct case_run *run)
{
	const struct asked *asked = &run->asked;
	if (asked->kind == NULL) {
		json_object_set_new(to, "collective", json_null());
		json_object_set_new(to, "collective_reason", json_string(NO_COLLECTIVE));
	} else {
		json_t *of = json_pack("{ss ss sI}", "kind", asked->kind, "algorithm",
				       asked->algorithm, "bytes", (json_int_t)asked->bytes);
		put_number(of, "efficiency", run->figures.busbw_bps / run->figures.nic_rate_bps,
			   "not all of it was done");
		json_object_set_new(to, "collective", of);
	}
	put_number(to, "overlap_fraction", page_overlap(run), NO_JOB);
	put_number(to, "jct_ratio", page_jct_ratio(run), NO_JOB);
}

static void put_samples(json_t *to, const struct case_figures *figures)
{
	json_object_set_new(to, "samples", json_integer(figures->samples.count));
	put_number(to, "variation", figures->samples.count > 0 ? figures->samples.variation : NAN,
		   "the case has no samples of its goodput");
}

static void put_figures(json_t *to, const struct case_figures *figures)
{
	json_object_set_new(to, "hops", json_integer((json_int_t)figures->hops));
	put_number(to, "goodput_per_nic_bps", figures->goodput_bps, "no payload arrived");
	put_number(to, "busbw_bps", figures->busbw_bps, NO_COLLECTIVE);
	put_number(to, "fct_p50_s", figures->fct_p50_s, NO_FLOWS);
	put_number(to, "fct_p99_s", figures->fct_p99_s, NO_FLOWS);
	put_number(to, "marked_share", figures->marked, NO_DATA);
	put_number(to, "trimmed_share", figures->trimmed, NO_DATA);
	put_number(to, "retransmitted_share", figures->resent, NO_DATA);
	put_number(to, "queue_bytes_max", figures->queue_bytes, NO_DATA);
}

static json_t *case_json(const struct acceptance *acceptance, const struct case_run *run)
{
	const struct case_figures *figures = &run->figures;
	char folder[64];
	snprintf(folder, sizeof(folder), "cases/%s", case_home(run));
	json_t *ret = json_pack("{ss ss ss ss ss? so}", "name", run->of->name, "section",
				section_word(run->of->section), "asks", run->of->asks, "state",
				states[run->state], "profile", run->of->profile, "reason",
				text_of(acceptance, run));
	put_estimate(ret, acceptance, run);
	if (run->state != CASE_PASS && run->state != CASE_FAIL)
		return ret;
	json_object_set_new(ret, "folder", json_string(folder));
	json_object_set_new(ret, "digest", json_string(figures->digest));
	json_object_set_new(ret, "culprit",
			    figures->culprit[0] != '\0' ? json_string(figures->culprit)
							: json_null());
	put_figures(ret, figures);
	json_object_set_new(ret, "measures", measures_json(run));
	put_asked(ret, run);
	put_samples(ret, figures);
	return ret;
}

static json_t *list_of(const char *const words[], uint32_t count)
{
	json_t *ret = json_array();
	for (uint32_t i = 0; i < count; i++)
		json_array_append_new(ret, json_string(words[i]));
	return ret;
}

static json_t *device_json(const struct acceptance *acceptance)
{
	const struct fabric_config *fabric = &acceptance->scenario.fabric;
	const struct fabric_facts *fabric_facts = &acceptance->fabric_facts;
	return json_pack("{ss si si si sf sf si si si sf sI sI sI sI}", "topology",
			 page_topology(acceptance), "nics", fabric_facts->nics, "nics_per_host",
			 fabric_facts->nics_per_host, "planes", fabric_facts->planes,
			 "nic_rate_bps", fabric_facts->nic_rate_bps, "payload_rate_bps",
			 fabric_facts->nic_rate_bps * fabric_facts->wire_share, "t0_count",
			 fabric_facts->t0_count, "nics_per_t0", fabric_facts->nics_per_t0,
			 "t0_links_up", fabric_facts->ups, "share_above_t0", fabric_facts->up_share,
			 "nic_delay_ps", (json_int_t)fabric->nic_delay_ps, "trunk_delay_ps",
			 (json_int_t)fabric->trunk_delay_ps, "switch_delay_ps",
			 (json_int_t)fabric->switch_delay_ps, "base_rtt_ps",
			 (json_int_t)fabric_facts->base_rtt_ps);
}

static json_t *settings_json(const struct acceptance *acceptance)
{
	const struct fabric_facts *fabric_facts = &acceptance->fabric_facts;
	return json_pack("{ss sI sI sI ss ss ss si sI sb sb sb ss sb}", "balance",
			 page_balance(acceptance), "ecn_low_bytes",
			 (json_int_t)(fabric_facts->has_ecn ? fabric_facts->ecn_low_bytes : 0),
			 "ecn_high_bytes",
			 (json_int_t)(fabric_facts->has_ecn ? fabric_facts->ecn_high_bytes : 0),
			 "queue_bytes", (json_int_t)fabric_facts->queue_bytes, "host",
			 page_host(acceptance), "transport", fabric_facts->is_mrc ? "mrc" : "rc",
			 "cc", acceptance->scenario.transport.cc.name, "entropy_values",
			 acceptance->scenario.transport.ev_count, "payload_bytes",
			 (json_int_t)fabric_facts->payload_bytes, "ecn", fabric_facts->has_ecn,
			 "trimming", fabric_facts->has_trim, "pfc", fabric_facts->has_pfc, "tester",
			 page_tester(acceptance), "gradient_driven", false);
}

// Null, with the reason beside it, where fewer than two permutations have run.
static void put_repeats(json_t *to, const struct acceptance *acceptance)
{
	struct page_repeats repeats;
	if (page_repeats(&repeats, acceptance)) {
		json_object_set_new(to, "repeatability",
				    json_pack("{si sf sf}", "permutations", repeats.count,
					      "mean_bps", repeats.mean_bps, "variation",
					      repeats.variation));
		return;
	}
	json_object_set_new(to, "repeatability", json_null());
	json_object_set_new(to, "repeatability_reason",
			    json_string("fewer than two permutations have run"));
}

int page_json(FILE *to, const struct acceptance *acceptance)
{
	static const char *const ends[] = {"pass", "fail"};
	int status = acceptance_status(acceptance);
	json_t *cases = json_array(), *sections = json_array();
	for (uint32_t i = 0; i < SECTION_COUNT; i++)
		json_array_append_new(sections,
				      json_pack("{ss ss ss}", "name", section_word(i), "title",
						section_title(i), "state",
						states[state_of(acceptance, i)]));
	for (uint32_t i = 0; i < acceptance->case_count; i++)
		json_array_append_new(cases, case_json(acceptance, &acceptance->cases[i]));
	json_t *all = json_pack(
		"{si ss so ss ss ss sb sb ss so so so so so so so so sf}", "schema", BOOK_SCHEMA,
		"weft", WEFT_VERSION_TEXT, "command",
		text_json(acceptance, NULL, page_command, NULL), "name", page_name(acceptance),
		"scenario", acceptance->fabric_file.path, "with", acceptance->with, "quick",
		acceptance->is_quick, "partial", !acceptance->is_done, "verdict",
		status <= EXIT_MISSED ? ends[status] : "not_valid", "verdict_text",
		text_json(acceptance, NULL, page_verdict, NULL), "coverage",
		coverage_json(acceptance), "device", device_json(acceptance), "settings",
		settings_json(acceptance), "sets", list_of(acceptance->sets, acceptance->set_count),
		"faults", list_of(acceptance->faults, acceptance->fault_count), "sections",
		sections, "cases", cases, "hops_max", cost_hops_max(&acceptance->fabric_facts));
	if (all != NULL) {
		put_repeats(all, acceptance);
		json_object_set_new(all, "comparable", json_string(page_comparable(acceptance)));
	}
	int rc = all == NULL ? -1 : json_dumpf(all, to, JSON_ENSURE_ASCII | JSON_INDENT(1));
	json_decref(all);
	fputc('\n', to);
	return rc;
}

// ---------------------------------------------------------------- JUnit

static void say_test(struct junit *junit, const struct acceptance *acceptance,
		     const struct case_run *run)
{
	static const enum junit_end junit_ends[] = {
		[CASE_OPEN] = JUNIT_ERROR,	  [CASE_PASS] = JUNIT_PASSED,
		[CASE_FAIL] = JUNIT_FAILED,	  [CASE_NOT_VALID] = JUNIT_ERROR,
		[CASE_NOT_ASKED] = JUNIT_SKIPPED, [CASE_LEFT_OUT] = JUNIT_SKIPPED};
	json_t *reason = text_of(acceptance, run);
	const char *why = json_string_value(reason);
	struct junit_case one = {.suite = section_word(run->of->section),
				 .name = run->of->name,
				 .end = junit_ends[run->state],
				 .why = why == NULL ? "it has not run" : why,
				 .time_s = run->figures.wall_s};
	junit_case(junit, &one);
	json_decref(reason);
}

static void say_suite(struct junit *junit, const struct acceptance *acceptance,
		      enum section section)
{
	struct junit_suite suite = {.name = section_word(section),
				    .failures = count_of(acceptance, section, CASE_FAIL),
				    .errors = count_of(acceptance, section, CASE_NOT_VALID) +
					    count_of(acceptance, section, CASE_OPEN),
				    .skipped = count_of(acceptance, section, CASE_NOT_ASKED) +
					    count_of(acceptance, section, CASE_LEFT_OUT)};
	for (uint32_t i = 0; i < acceptance->case_count; i++)
		if (acceptance->cases[i].of->section == section) {
			double wall_s = acceptance->cases[i].figures.wall_s;
			suite.tests++;
			suite.time_s += isnan(wall_s) ? 0 : wall_s;
		}
	junit_suite(junit, &suite);
	for (uint32_t i = 0; i < acceptance->case_count; i++)
		if (acceptance->cases[i].of->section == section)
			say_test(junit, acceptance, &acceptance->cases[i]);
	junit_suite_end(junit);
}

void page_junit(FILE *to, const struct acceptance *acceptance)
{
	struct junit junit;
	struct junit_origin origin;
	host_info(&origin);
	junit_open(&junit, to, &origin);
	for (uint32_t section = 0; section < SECTION_COUNT; section++)
		say_suite(&junit, acceptance, section);
	junit_close(&junit);
}
