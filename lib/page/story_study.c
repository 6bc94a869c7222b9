// SPDX-License-Identifier: Apache-2.0
// What the page of a study says first: which point is ahead and whether that is more than noise,
// three figures over all points, and what to do next.

#include "story.h"

#include <math.h>
#include <string.h>

#include <weft/result/put.h>
#include <weft/study/report_study.h>

#define FIGURES_SHOWN 3

static const char *name_of(const json_t *study, size_t point)
{
	const char *name = document_text(json_array_get(json_object_get(study, "points"), point),
					 "name");
	return *name != '\0' ? name : "as it is";
}

static const json_t *figure_named(const json_t *study, const char *name)
{
	const json_t *each;
	size_t i;
	json_array_foreach(json_object_get(study, "figures"), i,
			   each) if (strcmp(document_text(each, "name"), name) == 0) return each;
	return NULL;
}

// The points with the least and the most of a figure, by their means. False: none has it.
static bool ends_of(const json_t *figure, size_t *least, size_t *most)
{
	const json_t *points = json_object_get(figure, "points"), *each;
	double low = HUGE_VAL, high = -HUGE_VAL;
	size_t i;
	json_array_foreach(points, i, each)
	{
		double mean = document_number(each, "mean");
		if (mean < low) {
			low = mean;
			*least = i;
		}
		if (mean > high) {
			high = mean;
			*most = i;
		}
	}
	return high > -HUGE_VAL;
}

static double part_of(const json_t *figure, size_t point, const char *key)
{
	return document_number(json_array_get(json_object_get(figure, "points"), point), key);
}

// ---------------------------------------------------------------- verdict

static size_t missed_of(const json_t *study)
{
	const json_t *each;
	size_t i, missed = 0;
	json_array_foreach(json_object_get(study, "expect"), i, each)
		missed += document_number_or(each, "inside", 0) <
		document_number_or(each, "runs", 0);
	return missed;
}

static void ending(json_t *story, const json_t *study, const struct verdict *verdict)
{
	static const char *const ends[][2] = {
		{"good", "PASS"}, {"bad", "FAIL"}, {"warn", "NOT VALID"}};
	bool is_partial = json_is_true(json_object_get(study, "partial"));
	bool is_missed = missed_of(study) > 0;
	const char *state = is_partial ? "warn" : is_missed ? "bad" : "good";
	const char *badge = is_partial ? "PARTIAL RESULT" : is_missed ? "MISSED" : "COMPLETE";
	put_text(story, "state", verdict != NULL && !is_partial ? ends[verdict->end][0] : state);
	put_text(story, "badge", verdict != NULL && !is_partial ? ends[verdict->end][1] : badge);
}

// Whether the interval of one point lies wholly above that of the other.
static bool is_apart(const json_t *figure, size_t least, size_t most)
{
	return part_of(figure, most, "low") > part_of(figure, least, "high");
}

static void headline(json_t *story, const json_t *study)
{
	const json_t *goodput = figure_named(study, "goodput_bps");
	size_t least = 0, most = 0, count = json_array_size(json_object_get(study, "points"));
	double seeds = document_number_or(study, "seeds", 1);
	char text[400];
	if (!ends_of(goodput, &least, &most))
		snprintf(text, sizeof(text), "No run of %zu points has a goodput.", count);
	else if (count == 1)
		snprintf(text, sizeof(text), "One setting on %.0f seed%s.", seeds,
			 seeds == 1 ? "" : "s");
	else if (part_of(goodput, most, "mean") == part_of(goodput, least, "mean"))
		snprintf(text, sizeof(text), "All %zu points have the same goodput.", count);
	else if (seeds > 1 && !is_apart(goodput, least, most))
		snprintf(text, sizeof(text),
			 "No point stands apart: the most goodput, of %.100s, lies within the "
			 "noise of the least.",
			 name_of(study, most));
	else
		snprintf(text, sizeof(text), "%.100s has the most goodput of %zu points%s.",
			 name_of(study, most), count,
			 seeds > 1 ? "" : "; with one seed each nobody knows the noise");
	put_text(story, "headline", text);
}

static void lead(json_t *story, const json_t *study)
{
	size_t all = json_array_size(json_object_get(study, "expect")), missed = missed_of(study);
	char text[200];
	snprintf(text, sizeof(text),
		 all == 0 ? "The scenario expects nothing."
			  : "Expectations met in all runs: %zu of %zu.",
		 all - missed, all);
	put_text(story, "lead", text);
	snprintf(text, sizeof(text), "study of %zu point%s, %.0f seed%s each, %zu runs",
		 json_array_size(json_object_get(study, "points")),
		 json_array_size(json_object_get(study, "points")) == 1 ? "" : "s",
		 document_number_or(study, "seeds", 0),
		 document_number_or(study, "seeds", 0) == 1 ? "" : "s",
		 json_array_size(json_object_get(study, "runs")));
	put_text(story, "about", text);
}

// ---------------------------------------------------------------- figures

// `is_less`: less of it is better.
static bool figure(json_t *story, const json_t *study, const char *name, enum unit unit,
		   double factor, bool is_less)
{
	const json_t *of = figure_named(study, name);
	size_t least = 0, most = 0;
	char text[64], note[300];
	if (!ends_of(of, &least, &most))
		return false;
	size_t best = is_less ? least : most, worst = is_less ? most : least;
	double value = part_of(of, best, "mean"), last = part_of(of, worst, "mean");
	json_t *one = story_figure(story, document_text(of, "title"), value * factor, unit);
	report_model_rounded_text(text, sizeof(text), last * factor, unit);
	if (value == last)
		snprintf(note, sizeof(note), "the same at all points");
	else
		snprintf(note, sizeof(note), "at best, with %.100s; at worst %s, with %.100s",
			 name_of(study, best), text, name_of(study, worst));
	put_text(one, "note", note);
	put_text(one, "state", "plain");
	return true;
}

static void figures(json_t *story, const json_t *study)
{
	static const struct {
		const char *name;
		enum unit unit;
		double factor;
		bool is_less;
	} wanted[] = {
		{"goodput_bps", UNIT_BPS, 1, false},	      {"collective_s", UNIT_PS, 1e12, true},
		{"fct_p99_s", UNIT_PS, 1e12, true},	      {"ideal_share", UNIT_SHARE, 1, false},
		{"retransmitted_share", UNIT_SHARE, 1, true}, {"done_s", UNIT_PS, 1e12, true}};
	size_t count = 0;
	array_in(story, "figures");
	for (size_t i = 0; i < sizeof(wanted) / sizeof(*wanted) && count < FIGURES_SHOWN; i++)
		count += figure(story, study, wanted[i].name, wanted[i].unit, wanted[i].factor,
				wanted[i].is_less);
}

// ---------------------------------------------------------------- the same with more seeds

// Its bytes up to the next word; a quoted word may have spaces.
static size_t word_bytes(const char *at)
{
	bool is_quoted = false;
	size_t bytes = 0;
	for (; at[bytes] != '\0' && (is_quoted || at[bytes] != ' '); bytes++)
		if (at[bytes] == '\'')
			is_quoted = !is_quoted;
		else if (!is_quoted && at[bytes] == '\\' && at[bytes + 1] != '\0')
			bytes++;
	return bytes;
}

// Whether it is this option. `ret_words`: with its value, if that is a word of its own.
static bool is_option(const char *at, size_t bytes, const char *option, int *ret_words)
{
	size_t length = strlen(option);
	if (bytes < length || strncmp(at, option, length) != 0 ||
	    (bytes > length && at[length] != '='))
		return false;
	*ret_words = bytes == length ? 2 : 1;
	return true;
}

// The command of the study on `seeds` seeds, its files in a folder of their own.
static void seeds_command(char *ret, size_t bytes, const json_t *study, double seeds)
{
	const char *at = document_text(study, "command");
	size_t used = (size_t)snprintf(ret, bytes, "weft sim");
	if (strncmp(at, "weft sim ", 9) != 0) {
		snprintf(ret, bytes, "--seeds %.0f", seeds);
		return;
	}
	for (at += 9; *at != '\0' && used < bytes; at += *at == ' ') {
		size_t length = word_bytes(at);
		int left_out = 0;
		if (!is_option(at, length, "--seeds", &left_out))
			is_option(at, length, "--out", &left_out);
		if (left_out == 0)
			used += (size_t)snprintf(ret + used, bytes - used, " %.*s", (int)length,
						 at);
		at += length;
		if (left_out == 2 && *at == ' ')
			at += 1 + word_bytes(at + 1);
	}
	if (used < bytes)
		used += (size_t)snprintf(ret + used, bytes - used, " --seeds %.0f --out seeds-%.0f",
					 seeds, seeds);
	if (used >= bytes) // no half of a command
		snprintf(ret, bytes, "--seeds %.0f", seeds);
}

// ---------------------------------------------------------------- what to do next

#define STEPS_MAX 5
#define COMMAND_BYTES 2048
#define SEEDS_FIRST 5
#define SEEDS_MORE 20

static void step(json_t *list, const char *what, const char *why, const char *look)
{
	if (json_array_size(list) < STEPS_MAX)
		story_step(list, what, why, look);
}

static void missed_steps(json_t *list, const json_t *study)
{
	const json_t *each;
	char what[160], why[80];
	size_t i;
	json_array_foreach(json_object_get(study, "expect"), i, each)
	{
		double runs = document_number_or(each, "runs", 0),
		       inside = document_number_or(each, "inside", 0);
		if (inside == runs)
			continue;
		snprintf(what, sizeof(what), "%.70s: missed", document_text(each, "name"));
		snprintf(why, sizeof(why), "%.0f of %.0f runs inside", inside, runs);
		step(list, what, why, document_text(each, "run"));
	}
}

static void next(json_t *story, const json_t *study)
{
	json_t *list = array_in(story, "first");
	const json_t *goodput = figure_named(study, "goodput_bps"), *each;
	size_t i, least = 0, most = 0;
	char what[200], command[COMMAND_BYTES];
	double seeds = document_number_or(study, "seeds", 1);
	put_text(story, "first_title", "What to do next");
	missed_steps(list, study);
	bool has_ends = ends_of(goodput, &least, &most);
	seeds_command(command, sizeof(command), study,
		      seeds < 2 ? SEEDS_FIRST : fmin(STUDY_SEEDS_MAX, fmax(SEEDS_MORE, 2 * seeds)));
	if (seeds < 2)
		step(list, "Repeat it on more seeds",
		     "one run of a point does not tell a difference from noise", command);
	else if (has_ends && least != most && is_apart(goodput, least, most)) {
		snprintf(what, sizeof(what), "Look at one run of %.100s", name_of(study, most));
		step(list, what, "it has the most goodput, beyond the noise",
		     "its keys with --set, and --out FOLDER");
	} else if (has_ends && least != most)
		step(list, "Take more seeds, or leave it as it is",
		     "the intervals of the means overlap", command);
	json_array_foreach(json_object_get(study, "sweeps"), i, each)
	{
		snprintf(what, sizeof(what), "%.60s: %.80s", document_text(each, "key"),
			 study_effect_words(document_text(each, "effect")));
		step(list, what, "what the swept key does to the figures", "What swept keys do");
	}
}

void story_of_study(struct report_model *report_model, const struct html_input *input)
{
	const json_t *study = report_model->result;
	json_t *story = json_object();
	report_model->story = story;
	ending(story, study, input->verdict);
	headline(story, study);
	lead(story, study);
	figures(story, study);
	next(story, study);
}
