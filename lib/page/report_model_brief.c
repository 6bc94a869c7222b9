// SPDX-License-Identifier: Apache-2.0
// A report in at most 28 lines: of a run what weft sim said of it, of all others what their page
// says first (story.h).

#include <errno.h>
#include <string.h>

#include <weft/result/brief.h>
#include <weft/result/brief_line.h>

#include "report_model.h"

#define FIRST_SHOWN 5

static enum brief_colour colour_of(const char *state)
{
	return strcmp(state, "good") == 0    ? BRIEF_GOOD
		: strcmp(state, "bad") == 0  ? BRIEF_BAD
		: strcmp(state, "warn") == 0 ? BRIEF_WARN
					     : BRIEF_PLAIN;
}

static void verdict(struct brief_line *line, const struct report_model *report_model)
{
	const json_t *story = report_model->story,
		     *summary = json_array_get(report_model->sections, 0);
	char badge[160];
	brief_begin(line, "verdict");
	snprintf(badge, sizeof(badge), "%s:", document_text(story, "badge"));
	brief_words(line, colour_of(document_text(story, "state")), badge);
	if (report_model->kind == RESULT_RUN && *report_model->state != '\0' &&
	    strcmp(report_model->state, "partial") != 0) {
		const json_t *note = json_array_get(json_object_get(summary, "notes"), 0);
		const char *text = json_string_value(note),
			   *held = text == NULL ? NULL : strchr(text, ',');
		brief_words(line, BRIEF_PLAIN, held != NULL ? held + 2 : "");
	} else {
		brief_words(line, BRIEF_PLAIN, document_text(story, "headline"));
	}
	brief_end(line);
}

static void figures(struct brief_line *line, const json_t *story)
{
	const json_t *each;
	size_t i;
	json_array_foreach(json_object_get(story, "figures"), i, each)
	{
		brief_begin(line, i == 0 ? "figures" : " ");
		brief_add(line, BRIEF_BOLD, 14, "%s %s", document_text(each, "value"),
			  document_text(each, "unit"));
		brief_add(line, BRIEF_PLAIN, 0, "%s", document_text(each, "label"));
		if (*document_text(each, "of") != '\0')
			brief_add(line, colour_of(document_text(each, "state")), 0, "%s",
				  document_text(each, "of"));
		brief_end(line);
	}
}

static void first(struct brief_line *line, const json_t *story)
{
	const json_t *each;
	size_t i;
	json_array_foreach(json_object_get(story, "first"), i, each)
	{
		if (i == FIRST_SHOWN)
			break;
		brief_begin(line,
			    *document_text(each, "when") != '\0' ? document_text(each, "when")
								 : "look");
		brief_words(line, BRIEF_PLAIN, document_text(each, "what"));
		if (*document_text(each, "look") != '\0') {
			brief_words(line, BRIEF_DIM, "->");
			brief_words(line, BRIEF_TYPE, document_text(each, "look"));
		}
		brief_end(line);
	}
}

int report_model_brief(FILE *to, const struct report_model *report_model, struct report_style style)
{
	struct brief_line line = {.to = to, .style = style};
	const json_t *story = report_model->story;
	errno = 0;
	if (report_model->kind == RESULT_RUN) {
		brief_result(to, style, report_model->result);
		fputc('\n', to);
		verdict(&line, report_model);
	} else {
		brief_begin(&line, "");
		line.gap = 2;
		brief_add(&line, BRIEF_BOLD, 0, "%s", report_model->title);
		brief_words(&line, BRIEF_DIM, document_text(story, "about"));
		brief_end(&line);
		fputc('\n', to);
		verdict(&line, report_model);
		figures(&line, story);
		first(&line, story);
	}
	return ferror(to) != 0 || fflush(to) != 0 ? -EIO : 0;
}
