// SPDX-License-Identifier: Apache-2.0
// What a page of a book says first: the verdict with whom most missed cases name, three figures, a
// grid of cases by category, and what was missed. A case that missed by a figure stands before one
// that only lost a packet or has somebody who stands out.
//
//   grid [{title, sum, cases [{name, look, sign, asks, why}]}]

#include "story.h"

#include <math.h>
#include <string.h>

#include <weft/result/put.h>
#include <weft/result/result.h>

#define MISSED_SHOWN 5
#define CULPRIT_BYTES 128

static bool is_state(const json_t *one, const char *state)
{
	return strcmp(document_text(one, "state"), state) == 0;
}

static size_t count_of(const json_t *cases, const char *state)
{
	const json_t *each;
	size_t i, count = 0;
	json_array_foreach(cases, i, each) count += is_state(each, state);
	return count;
}

// Who a case names, without its evidence: "t0 0 up 1 plane 1 - t1 1 (lossy)".
static void culprit_of(char ret[CULPRIT_BYTES], const json_t *one)
{
	const char *text = document_text(one, "culprit"), *end = strstr(text, "): ");
	snprintf(ret, CULPRIT_BYTES, "%.*s", end != NULL ? (int)(end + 1 - text) : 100, text);
}

static size_t naming(const json_t *cases, const char *culprit, const char *state)
{
	const json_t *each;
	size_t i, count = 0;
	json_array_foreach(cases, i, each)
	{
		char own[CULPRIT_BYTES];
		culprit_of(own, each);
		count += (state == NULL || is_state(each, state)) && strcmp(own, culprit) == 0;
	}
	return count;
}

// The place that most missed cases name; if none does, that most of all cases name.
static const json_t *most_named(const json_t *cases)
{
	const json_t *each, *most = NULL;
	size_t i, best = 0;
	json_array_foreach(cases, i, each)
	{
		char own[CULPRIT_BYTES];
		culprit_of(own, each);
		size_t count = own[0] == '\0'
			? 0
			: naming(cases, own, NULL) + 1000 * naming(cases, own, "fail");
		if (count > best) {
			best = count;
			most = each;
		}
	}
	return most;
}

// ---------------------------------------------------------------- verdict

static void headline(json_t *story, const json_t *acceptance, const json_t *most)
{
	const json_t *cases = json_object_get(acceptance, "cases");
	size_t met = count_of(cases, "pass"), missed = count_of(cases, "fail");
	size_t bad = count_of(cases, "not_valid"), open = count_of(cases, "open");
	char text[400], own[CULPRIT_BYTES];
	int used = snprintf(text, sizeof(text), "%zu of %zu cases met, %zu missed", met,
			    met + missed + bad + open, missed);
	if (bad > 0)
		used += snprintf(text + used, sizeof(text) - (size_t)used, ", %zu not valid", bad);
	if (open > 0)
		used += snprintf(text + used, sizeof(text) - (size_t)used, ", %zu have not run",
				 open);
	if (most != NULL) {
		culprit_of(own, most);
		size_t of_missed = naming(cases, own, "fail");
		if (of_missed > 0)
			snprintf(text + used, sizeof(text) - (size_t)used,
				 "; %zu of the missed name the same place", of_missed);
	}
	strncat(text, ".", sizeof(text) - strlen(text) - 1);
	put_text(story, "headline", text);
}

static void lead(json_t *story, const json_t *acceptance, const json_t *most)
{
	const json_t *cases = json_object_get(acceptance, "cases");
	char text[512], own[CULPRIT_BYTES] = "";
	size_t not_asked = count_of(cases, "not_asked") + count_of(cases, "left_out");
	if (most != NULL)
		culprit_of(own, most);
	if (most != NULL)
		put_text(story, "culprit", own);
	int used = most == NULL
		? snprintf(text, sizeof(text), "Nobody stands out in any case. ")
		: snprintf(text, sizeof(text), "named by %zu cases, %zu of them missed. ",
			   naming(cases, own, NULL), naming(cases, own, "fail"));
	snprintf(text + used, sizeof(text) - (size_t)used,
		 "%zu of %zu cases %s not asked; why stands beside %s.", not_asked,
		 json_array_size(cases), not_asked == 1 ? "was" : "were",
		 not_asked == 1 ? "it" : "them");
	put_text(story, "lead", text);
}

static void ending(json_t *story, const json_t *acceptance)
{
	const char *verdict = document_text(acceptance, "verdict");
	bool is_partial = json_is_true(json_object_get(acceptance, "partial"));
	put_text(story, "state",
		 is_partial				? "warn"
			 : strcmp(verdict, "pass") == 0 ? "good"
			 : strcmp(verdict, "fail") == 0 ? "bad"
							: "warn");
	put_text(story, "badge",
		 is_partial ? "PARTIAL RESULT" : document_text(acceptance, "verdict_text"));
}

static void about(json_t *story, const json_t *acceptance)
{
	char rate[64], text[300];
	const json_t *device = json_object_get(acceptance, "device");
	report_model_number_text(rate, sizeof(rate), document_number_or(device, "nic_rate_bps", 0),
				 UNIT_BPS);
	snprintf(text, sizeof(text),
		 "acceptance report \xc2\xb7 %.0f NICs, %.0f per host \xc2\xb7 %.0f planes, %s a "
		 "NIC "
		 "\xc2\xb7 %s with %s%s",
		 document_number_or(device, "nics", 0),
		 document_number_or(device, "nics_per_host", 0),
		 document_number_or(device, "planes", 0), rate,
		 document_text(acceptance, "settings.transport"),
		 document_text(acceptance, "settings.cc"),
		 json_is_true(json_object_get(acceptance, "quick")) ? " \xc2\xb7 quick book" : "");
	put_text(story, "about", text);
}

// ---------------------------------------------------------------- figures

// Goodput of the worst case of that name, or with that beginning, against what a NIC's line
// carries beside headers.
static bool goodput(json_t *story, const json_t *acceptance, const char *name, const char *label)
{
	const json_t *each, *worst = NULL;
	double rate = document_number_or(acceptance, "device.payload_rate_bps", 0),
	       least = HUGE_VAL;
	size_t i;
	json_array_foreach(json_object_get(acceptance, "cases"), i, each)
	{
		double value = document_number_or(each, "goodput_per_nic_bps", HUGE_VAL);
		const char *own = document_text(each, "name");
		size_t length = strlen(name); // of a word that ends with a dash: all that begin so
		bool is_one = strncmp(own, name, length) == 0 &&
			(own[length] == '\0' || name[length - 1] == '-');
		if (is_one && (is_state(each, "pass") || is_state(each, "fail")) && value < least) {
			least = value;
			worst = each;
		}
	}
	if (worst == NULL || rate <= 0)
		return false;
	const char *why = document_text(worst, "reason");
	char note[300], best[64];
	json_t *one = story_figure(story, label, least, UNIT_BPS);
	story_against(one, least / rate, "payload rate");
	report_model_number_text(best, sizeof(best), rate, UNIT_BPS);
	if (is_state(worst, "pass"))
		snprintf(note, sizeof(note), "payload rate %s; case %s met what was asked", best,
			 document_text(worst, "name"));
	else // the goodput may be fine, and something else be missed
		snprintf(note, sizeof(note), "payload rate %s; case %s missed: %.*s", best,
			 document_text(worst, "name"), (int)strcspn(why, ";"), why);
	put_text(one, "note", note);
	put_text(one, "state", is_state(worst, "pass") ? "good" : "bad");
	return true;
}

static void figures(json_t *story, const json_t *acceptance)
{
	static const char *const wanted[][2] = {
		{"permutation-", "Permutation, the worst: goodput of a NIC"},
		{"all-reduce", "Large all-reduce: goodput of a NIC"},
		{"plane-down", "After a plane was down: goodput of a NIC"},
		{"trunk-down", "After a link was down: goodput of a NIC"},
		{"sustained", "For long: goodput of a NIC"},
		{"pair-far", "Two NICs, far: goodput of a NIC"},
	};
	size_t count = 0;
	array_in(story, "figures");
	for (size_t i = 0; i < sizeof(wanted) / sizeof(*wanted) && count < 3; i++)
		count += goodput(story, acceptance, wanted[i][0], wanted[i][1]);
}

// ---------------------------------------------------------------- grid

static void chip(json_t *list, const json_t *one)
{
	static const char *const looks[][3] = {{"pass", "met", "\xe2\x9c\x93"},
					       {"fail", "missed", "\xe2\x9c\x95"},
					       {"not_valid", "unavailable", "?"},
					       {"not_asked", "skipped", "\xe2\x80\x93"},
					       {"left_out", "skipped", "\xe2\x80\x93"}};
	json_t *row = row_in(list);
	const char *look = "skipped", *sign = "\xe2\x80\xa6";
	for (size_t i = 0; i < sizeof(looks) / sizeof(*looks); i++)
		if (is_state(one, looks[i][0])) {
			look = looks[i][1];
			sign = looks[i][2];
		}
	put_text(row, "name", document_text(one, "name"));
	put_text(row, "look", look);
	put_text(row, "sign", sign);
	put_text(row, "asks", document_text(one, "asks"));
	bool is_out = is_state(one, "not_asked") || is_state(one, "left_out");
	put_text(row, "why",
		 is_out				 ? document_text(one, "reason")
			 : is_state(one, "open") ? "open"
						 : "");
}

static void grid(json_t *story, const json_t *acceptance)
{
	json_t *list = array_in(story, "grid");
	const json_t *section, *one;
	size_t i, k;
	json_array_foreach(json_object_get(acceptance, "sections"), i, section)
	{
		json_t *row = row_in(list), *cases = array_in(row, "cases");
		size_t met = 0, asked = 0;
		char sum[64];
		json_array_foreach(json_object_get(acceptance, "cases"), k, one)
		{
			if (strcmp(document_text(one, "section"), document_text(section, "name")) !=
			    0)
				continue;
			chip(cases, one);
			met += is_state(one, "pass");
			asked += !is_state(one, "not_asked") && !is_state(one, "left_out");
		}
		snprintf(sum, sizeof(sum), asked > 0 ? "%zu of %zu met" : "none asked", met, asked);
		put_text(row, "title", document_text(section, "title"));
		put_text(row, "sum", sum);
	}
}

// ---------------------------------------------------------------- missed

// Whether a reason has more than packets that were lost and places that stand out.
static bool is_by_figure(const char *reason)
{
	static const char *const minor[] = {"nobody stands out", "no drops on cables",
					    "no EV held bad"};
	while (*reason != '\0') {
		bool is_minor = false;
		for (size_t i = 0; i < sizeof(minor) / sizeof(*minor); i++)
			is_minor |= strncmp(reason, minor[i], strlen(minor[i])) == 0;
		if (!is_minor)
			return true;
		reason += strcspn(reason, ";");
		reason += strspn(reason, "; ");
	}
	return false;
}

static void missed(json_t *story, const json_t *acceptance)
{
	json_t *list = array_in(story, "first");
	const json_t *each;
	size_t i;
	put_text(story, "first_title", "What was missed");
	for (int pass = 0; pass < 2; pass++)
		json_array_foreach(json_object_get(acceptance, "cases"), i, each)
		{
			bool is_out = is_state(each, "fail") || is_state(each, "not_valid");
			char what[200], own[CULPRIT_BYTES];
			if (!is_out || json_array_size(list) == MISSED_SHOWN ||
			    is_by_figure(document_text(each, "reason")) != (pass == 0))
				continue;
			json_t *row = row_in(list);
			snprintf(what, sizeof(what), "%s (%s)", document_text(each, "name"),
				 document_text(each, "asks"));
			culprit_of(own, each);
			put_text(row, "when", is_state(each, "fail") ? "missed" : "not valid");
			put_text(row, "what", what);
			put_text(row, "why", document_text(each, "reason"));
			put_text(row, "look", own[0] != '\0' ? own : document_text(each, "folder"));
		}
}

const json_t *story_case(const json_t *acceptance)
{
	const json_t *one = most_named(json_object_get(acceptance, "cases"));
	return one != NULL && *document_text(one, "folder") != '\0' ? one : NULL;
}

void story_of_acceptance(struct report_model *report_model, const struct html_input *input)
{
	const json_t *acceptance = report_model->result,
		     *most = most_named(json_object_get(acceptance, "cases"));
	json_t *story = json_object();
	report_model->story = story;
	ending(story, acceptance);
	about(story, acceptance);
	headline(story, acceptance, most);
	lead(story, acceptance, most);
	figures(story, acceptance);
	grid(story, acceptance);
	missed(story, acceptance);
	if (input->example != NULL) {
		report_model->picture = picture_create(input->cables, input->example->fields);
		put_text(story, "example", document_text(story_case(acceptance), "name"));
	}
}
