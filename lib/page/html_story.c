// SPDX-License-Identifier: Apache-2.0
// A story as HTML: cards from the verdict to what failed first. See story.h.

#include <string.h>

#include <weft/page/html_page.h>

#include "html_plot.h"
#include "report_model.h"

static void element(FILE *to, const char *begin, const char *text, const char *end)
{
	fputs(begin, to);
	html_text(to, text);
	fputs(end, to);
}

static void verdict(FILE *to, const json_t *story)
{
	html_verdict_begin(to, document_text(story, "state"), document_text(story, "badge"),
			   document_text(story, "headline"));
	fputs("<p>", to);
	if (*document_text(story, "culprit") != '\0')
		element(to, "<b id=\"culprit\">", document_text(story, "culprit"), "</b>: ");
	html_text(to, document_text(story, "lead"));
	fputs("</p>", to);
	html_verdict_end(to);
}

static void figure(FILE *to, const json_t *of)
{
	const json_t *share = json_object_get(of, "share");
	fprintf(to, "<div class=\"card tile %s\">", document_text(of, "state"));
	if (*document_text(of, "of") != '\0')
		element(to, "<p class=\"of\">", document_text(of, "of"), "</p>");
	element(to, "<p class=\"label\">", document_text(of, "label"), "</p>");
	element(to, "<p class=\"value\">", document_text(of, "value"), "");
	element(to, " <small>", document_text(of, "unit"), "</small></p>\n");
	if (share != NULL)
		fprintf(to,
			"<div class=\"gauge\" role=\"img\" aria-label=\"%.0f %% of 100\"><i "
			"style=\"width:%.1f%%\"></i></div>\n",
			json_number_value(share) * 100, json_number_value(share) * 100);
	element(to, "<p class=\"note\">", document_text(of, "note"), "</p></div>\n");
}

static void figures(FILE *to, const json_t *story)
{
	const json_t *each;
	size_t i;
	fputs("<div class=\"tiles\" id=\"figures\">\n", to);
	json_array_foreach(json_object_get(story, "figures"), i, each) figure(to, each);
	fputs("</div>\n", to);
}

static void picture(FILE *to, const struct report_model *report_model)
{
	char text[512];
	const char *example = document_text(report_model->story, "example");
	if (report_model->picture == NULL && report_model->kind != RESULT_RUN)
		return;
	fputs("<div class=\"card\" id=\"fabric\"><h2>The fabric</h2>\n", to);
	if (report_model->picture == NULL) {
		fputs("<p class=\"lead\">It is drawn with its load where each link was counted: "
		      "<code>--set watch.links=true</code>, with an output folder.</p></div>\n",
		      to);
		return;
	}
	picture_sentence(report_model->picture, text, sizeof(text));
	element(to, *example != '\0' ? "<p class=\"lead\">Case " : "", example, "");
	element(to, *example != '\0' ? ": " : "<p class=\"lead\">", text, "</p>\n");
	picture_write(to, report_model->picture);
	fputs("</div>\n", to);
}

static void first(FILE *to, const json_t *story)
{
	const json_t *list = json_object_get(story, "first"), *each;
	size_t i;
	if (json_array_size(list) == 0)
		return;
	element(to, "<div class=\"card\" id=\"first\"><h2>", document_text(story, "first_title"),
		"</h2>\n<ol class=\"first\">\n");
	json_array_foreach(list, i, each)
	{
		element(to, "<li><span class=\"when\">", document_text(each, "when"), "</span>");
		element(to, "<span><b>", document_text(each, "what"), "</b><br>");
		element(to, "", document_text(each, "why"), "</span>");
		if (*document_text(each, "look") != '\0')
			element(to,
				strncmp(document_text(each, "look"), "weft ", 5) == 0
					? "<span class=\"look\"><b>Run</b> "
					: "<span class=\"look\"><b>Look at</b> ",
				document_text(each, "look"), "</span>");
		fputs("</li>\n", to);
	}
	fputs("</ol></div>\n", to);
}

// Cases by category: a chip each, with a sign and a word for its state.
static void grid(FILE *to, const json_t *story)
{
	const json_t *row, *each;
	size_t i, k;
	if (json_array_size(json_object_get(story, "grid")) == 0)
		return;
	fputs("<div class=\"card\" id=\"cases\"><h2>Cases by category</h2>\n<p class=\"lead\">"
	      "\xe2\x9c\x93 met &nbsp; \xe2\x9c\x95 missed &nbsp; ? not valid &nbsp; \xe2\x80\x93 "
	      "not asked, and why</p>\n<div class=\"cases\">\n",
	      to);
	json_array_foreach(json_object_get(story, "grid"), i, row)
	{
		element(to, "<div class=\"category\"><h3>", document_text(row, "title"),
			"</h3><p>");
		json_array_foreach(json_object_get(row, "cases"), k, each)
		{
			fprintf(to, "<span class=\"chip %s\" title=\"",
				document_text(each, "look"));
			html_text(to, document_text(each, "asks"));
			fprintf(to, "\"><span aria-hidden=\"true\">%s</span> ",
				document_text(each, "sign"));
			element(to, "", document_text(each, "name"), "");
			if (*document_text(each, "why") != '\0')
				element(to, " <small>", document_text(each, "why"), "</small>");
			fputs("</span>\n", to);
		}
		element(to, "</p><p class=\"sum\">", document_text(row, "sum"), "</p></div>\n");
	}
	fputs("</div></div>\n", to);
}

void html_story(FILE *to, const struct report_model *report_model)
{
	const json_t *story = report_model->story;
	if (story == NULL)
		return;
	verdict(to, story);
	figures(to, story);
	grid(to, story);
	if (report_model->kind == RESULT_RUN)
		picture(to, report_model);
	first(to, story);
	if (report_model->kind != RESULT_RUN)
		picture(to, report_model);
}
