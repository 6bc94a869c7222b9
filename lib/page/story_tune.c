// SPDX-License-Identifier: Apache-2.0
// What the page of a study of settings says first: whether something better was found, how sure
// that is, and what to set.

#include "story.h"

#include <math.h>
#include <string.h>

#include <weft/result/put.h>

static const char *text_at(const json_t *study, const char *key, size_t index)
{
	const char *text = json_string_value(json_array_get(json_object_get(study, key), index));
	return text != NULL ? text : "";
}

// What it risks, as the words of the study have it.
static const char *risk_of(const json_t *study)
{
	const json_t *each;
	size_t i;
	json_array_foreach(json_object_get(study, "words"), i,
			   each) if (strncmp(json_string_value(each), "It risks", 8) ==
				     0) return json_string_value(each);
	return text_at(study, "head", 0);
}

static void better(json_t *story, const json_t *study)
{
	const json_t *best = json_array_get(json_object_get(study, "finalists"), 0);
	char text[400];
	if (!(document_number(best, "fresh.high") < 1)) { // what it meets is what counts
		put_text(story, "headline", text_at(study, "says", 0));
		return;
	}
	snprintf(text, sizeof(text),
		 "%.200s: the aim is %.1f %% less than the default's, at least %.1f %%.",
		 document_text(best, "setting"),
		 100 * (1 - document_number_or(best, "fresh.ratio", 1)),
		 100 * (1 - document_number_or(best, "fresh.high", 1)));
	put_text(story, "headline", text);
}

static void ending(json_t *story, const json_t *study)
{
	const char *verdict = document_text(study, "verdict");
	bool is_better = strcmp(verdict, "better") == 0;
	bool is_open = strcmp(verdict, "unfinished") == 0 || strcmp(verdict, "part") == 0;
	put_text(story, "state", is_better ? "good" : "warn");
	put_text(story, "badge",
		 is_better	   ? "BETTER"
			 : is_open ? "NOT AT ITS END"
				   : "NOTHING BETTER PROVED");
	if (is_better)
		better(story, study);
	else
		put_text(story, "headline", text_at(study, "says", 0));
	put_text(story, "lead", risk_of(study));
	put_text(story, "about", "settings searched for over many runs");
}

// A ratio to the default, below 1 where it is better.
static void ratio(json_t *story, const char *label, const json_t *of, const char *note)
{
	double value = document_number(of, "ratio"), low = document_number(of, "low"),
	       high = document_number(of, "high");
	char text[160];
	if (isnan(value))
		return;
	json_t *one = story_figure(story, label, value, UNIT_FACTOR);
	snprintf(text, sizeof(text), "%s", note);
	if (!isnan(low))
		snprintf(text, sizeof(text), "%s; %.4f to %.4f with 95 %% confidence", note, low,
			 high);
	put_text(one, "note", text);
	put_text(one, "state", high < 1 ? "good" : "plain");
}

static void figures(json_t *story, const json_t *study)
{
	const json_t *best = json_array_get(json_object_get(study, "finalists"), 0);
	char note[160];
	array_in(story, "figures");
	snprintf(note, sizeof(note), "the default is 1; %.0f seeds that the search never met",
		 document_number_or(best, "fresh.seeds", 0));
	ratio(story, "Aim of the best over that of the default", json_object_get(best, "fresh"),
	      note);
	ratio(story, "The same on the seeds of the search", json_object_get(best, "search"),
	      "the luckiest of many look better there than they are");
	double runs = document_number_or(study, "search.runs", -1);
	if (runs < 0)
		return;
	json_t *one = story_figure(story, "Runs", document_number_or(study, "runs", runs),
				   UNIT_COUNT);
	snprintf(note, sizeof(note),
		 "%.0f in the search, with %.0f settings, of which %.0f kept to the constraints%s",
		 runs, document_number_or(study, "search.settings", 0),
		 document_number_or(study, "search.kept_constraints", 0),
		 document_number_or(study, "runs", runs) > runs ? "; all others to prove it" : "");
	put_text(one, "note", note);
	put_text(one, "state", "plain");
}

// What to set, scenario by scenario; without a proof what would give one.
static void next(json_t *story, const json_t *study)
{
	const json_t *best = json_array_get(json_object_get(study, "finalists"), 0), *each, *set;
	const char *verdict = document_text(study, "verdict");
	json_t *list = array_in(story, "first");
	char what[200];
	size_t i, j;
	put_text(story, "first_title", "What to do next");
	if (strcmp(verdict, "unfinished") == 0 || strcmp(verdict, "part") == 0)
		story_step(list, "Let it come to its end",
			   "runs are missing: the proof is made last",
			   "the same command again goes on where it stopped");
	else if (strcmp(verdict, "better") != 0)
		story_step(list, "Leave the settings as they are",
			   "on seeds that the search never met nothing was better beyond the noise",
			   "more runs (--budget), or other knobs");
	json_array_foreach(json_object_get(best, "sets"), i, each)
		json_array_foreach(json_object_get(each, "set"), j, set)
	{
		if (strcmp(verdict, "better") != 0 || json_array_size(list) == 5)
			return;
		snprintf(what, sizeof(what), "Set %.120s", json_string_value(set));
		story_step(list, what, document_text(each, "scenario"),
			   "weft tune export, as a file");
	}
}

void story_of_tune(struct report_model *report_model)
{
	const json_t *study = report_model->result;
	json_t *story = json_object();
	report_model->story = story;
	ending(story, study);
	figures(story, study);
	next(story, study);
}
