// SPDX-License-Identifier: Apache-2.0
// A report model as one page of HTML. Its policy forbids every request, so that it shows the same
// everywhere, also without a network.

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <weft/core/check_memory.h>
#include <weft/page/html_page.h>

#include "html_plot.h"
#include "report_model.h"

#define ROWS_ABOVE \
	20 // of a map above the sections: what comes before them is three screens at most
#define COLUMNS_MAX 16
#define ROWS_SHOWN 200 // of a table; longer ones say how many they leave out

// ---------------------------------------------------------------- tables

// A number, with its unit: they stand at the right of their column.
static bool is_figure(const char *text)
{
	size_t digits = strspn(text, "+-0123456789.,");
	return digits > 0 && strpbrk(text, "0123456789") < text + digits &&
		strpbrk(text, "0123456789") != NULL &&
		(text[digits] == '\0' || text[digits] == ' ') && strlen(text) < 20;
}

// Whether a column has figures and dashes alone.
static bool is_numbers(const json_t *table, size_t column)
{
	const json_t *row;
	size_t i, figures = 0;
	json_array_foreach(json_object_get(table, "rows"), i, row)
	{
		const json_t *of = json_array_get(row, column);
		const char *text = json_is_string(of) ? json_string_value(of)
						      : document_text(of, "text");
		bool is_none = strcmp(text, "-") == 0 || *text == '\0' ||
			strncmp(text, "unavailable", 11) == 0;
		if (!is_none && !is_figure(text))
			return false;
		figures += !is_none;
	}
	return column > 0 && figures > 0;
}

static void cell(FILE *to, const json_t *of, bool is_first, bool is_number)
{
	const char *tag = is_first ? "th scope=\"row\"" : "td";
	if (*document_text(of, "link") != '\0') {
		fprintf(to, "<%s><a href=\"", tag);
		html_text(to, document_text(of, "link"));
		fputs("\">", to);
		html_text(to, document_text(of, "text"));
		fputs("</a>", to);
	} else if (json_is_object(of)) {
		fprintf(to, "<%s class=\"%s\">", tag, document_text(of, "state"));
		html_text(to, document_text(of, "text"));
	} else {
		fprintf(to, is_number ? "<%s class=\"n\">" : "<%s>", tag);
		html_text(to, json_string_value(of));
	}
	fputs(is_first ? "</th>" : "</td>", to);
}

static void rows(FILE *to, const json_t *table)
{
	const json_t *row, *each;
	bool numbers[COLUMNS_MAX];
	size_t i, k;
	for (k = 0; k < COLUMNS_MAX; k++)
		numbers[k] = is_numbers(table, k);
	json_array_foreach(json_object_get(table, "rows"), i, row)
	{
		if (i == ROWS_SHOWN)
			break;
		fputs("<tr>", to);
		json_array_foreach(row, k, each)
			cell(to, each, k == 0, k < COLUMNS_MAX && numbers[k]);
		fputs("</tr>\n", to);
	}
}

static void table_of(FILE *to, const json_t *table)
{
	const json_t *each;
	size_t i, count = json_array_size(json_object_get(table, "rows"));
	bool is_more = json_is_true(json_object_get(table, "more"));
	if (is_more) {
		fputs("<details><summary>", to);
		html_text(to, document_text(table, "caption"));
		fprintf(to, ": %zu rows</summary>", count);
	}
	fputs("<div class=\"wide\" tabindex=\"0\"><table><caption>", to);
	html_text(to, document_text(table, "caption"));
	fputs("</caption><thead><tr>", to);
	json_array_foreach(json_object_get(table, "head"), i, each)
	{
		bool is_number = i < COLUMNS_MAX && is_numbers(table, i);
		fputs(is_number ? "<th scope=\"col\" class=\"n\">" : "<th scope=\"col\">", to);
		html_text(to, json_string_value(each));
		fputs("</th>", to);
	}
	fputs("</tr></thead><tbody>\n", to);
	rows(to, table);
	fputs("</tbody></table></div>\n", to);
	if (count > ROWS_SHOWN)
		fprintf(to, "<p>%zu more rows are in %s.</p>\n", count - ROWS_SHOWN,
			*document_text(table, "all") != '\0' ? document_text(table, "all")
							     : "result.json");
	if (is_more)
		fputs("</details>\n", to);
}

// ---------------------------------------------------------------- charts

// Names of series, below the title: words are no part of a drawing that gets narrow.
static void series_names(FILE *to, const json_t *chart)
{
	const json_t *list = json_object_get(chart, "series"), *each;
	size_t i;
	if (json_array_size(list) < 2)
		return;
	fputs("<p class=\"legend names\">", to);
	json_array_foreach(list, i, each)
	{
		fprintf(to, "<span><i class=\"b%zu\"></i> ", i % 8);
		html_words(to, document_text(each, "name"));
		fputs("</span>", to);
	}
	fputs("</p>\n", to);
}

static void chart_of(FILE *to, const json_t *chart)
{
	const char *id = document_text(chart, "id");
	const json_t *each;
	size_t i;
	fprintf(to,
		"<figure class=\"chart\" id=\"chart-%s\" data-points=\"%zu\">"
		"<figcaption id=\"name-%s\">",
		id, html_points(chart), id);
	html_text(to, document_text(chart, "title"));
	json_array_foreach(json_object_get(chart, "bands"), i, each)
	{
		fputs(i == 0 ? " (faults: " : "; ", to);
		html_text(to, document_text(each, "name"));
		if (i + 1 == json_array_size(json_object_get(chart, "bands")))
			fputs(")", to);
	}
	fputs("</figcaption>\n", to);
	if (strcmp(document_text(chart, "kind"), "heat") == 0) {
		html_heat(to, chart);
		fputs("</figure>\n", to);
		return;
	}
	fprintf(to,
		"<div class=\"live\" tabindex=\"0\" role=\"img\" aria-labelledby=\"name-%s\" "
		"hidden></div>",
		id);
	series_names(to, chart);
	html_svg(to, chart, true);
	html_svg(to, chart, false);
	fputs("</figure>\n", to);
}

// ---------------------------------------------------------------- sections

// Charts that stand above the sections, in this order.
static const char *const above[] = {"goodput", "racks-p99", "depths"};

static bool is_above(const struct report_model *report_model, const json_t *chart)
{
	bool is_one = false;
	for (size_t i = 0; i < sizeof(above) / sizeof(*above); i++)
		is_one |= strcmp(above[i], document_text(chart, "id")) == 0;
	return is_one && report_model->kind == RESULT_RUN && report_model->story != NULL &&
		json_array_size(json_object_get(chart, "rows")) <= ROWS_ABOVE;
}

static void charts_above(FILE *to, const struct report_model *report_model)
{
	const json_t *section, *chart;
	size_t i, k, count = 0;
	for (size_t n = 0; n < sizeof(above) / sizeof(*above); n++)
		json_array_foreach(report_model->sections, i, section)
			json_array_foreach(json_object_get(section, "charts"), k, chart)
		{
			if (!is_above(report_model, chart) ||
			    strcmp(above[n], document_text(chart, "id")) != 0)
				continue;
			if (count++ == 0)
				fputs("<div class=\"card\" id=\"over\"><h2>When and where</h2>\n"
				      "<div class=\"over\">\n",
				      to);
			chart_of(to, chart);
		}
	fputs(count > 0 ? "</div></div>\n" : "", to);
}

// What is in a section, for those who do not open it.
static void content(FILE *to, const json_t *section)
{
	static const char *const keys[][2] = {
		{"tables", "table"}, {"charts", "chart"}, {"missing", "figure not measured"}};
	const char *between = "";
	for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++) {
		size_t count = json_array_size(json_object_get(section, keys[i][0]));
		if (count == 0)
			continue;
		fprintf(to, "%s%zu ", between, count);
		if (i == 2)
			fputs(count == 1 ? "figure not measured" : "figures not measured", to);
		else
			fprintf(to, "%s%s", keys[i][1], count == 1 ? "" : "s");
		between = ", ";
	}
}

static void section_of(FILE *to, const struct report_model *report_model, const json_t *section)
{
	const json_t *each;
	size_t i;
	const char *id = document_text(section, "id");
	bool is_folded = report_model->story != NULL;
	fprintf(to, "<section id=\"%s\" aria-labelledby=\"title-%s\">%s<h2 id=\"title-%s\">", id,
		id, is_folded ? "<details class=\"part\"><summary>" : "", id);
	html_text(to, document_text(section, "title"));
	fputs("</h2>", to);
	if (is_folded) {
		fputs("<span>", to);
		content(to, section);
		fputs("</span></summary>", to);
	}
	fputs("\n", to);
	json_array_foreach(json_object_get(section, "notes"), i, each)
	{
		fputs(strcmp(id, "again") == 0 && i == 0 ? "<pre tabindex=\"0\">" : "<p>", to);
		html_text(to, json_string_value(each));
		fputs(strcmp(id, "again") == 0 && i == 0 ? "</pre>\n" : "</p>\n", to);
	}
	json_array_foreach(json_object_get(section, "missing"), i, each)
	{
		fputs("<p class=\"unavailable\">", to);
		html_text(to, document_text(each, "what"));
		fputs(": unavailable: ", to);
		html_text(to, document_text(each, "reason"));
		fputs("</p>\n", to);
	}
	json_array_foreach(json_object_get(section, "charts"), i,
			   each) if (!is_above(report_model, each)) chart_of(to, each);
	json_array_foreach(json_object_get(section, "tables"), i, each) table_of(to, each);
	fputs(is_folded ? "</details></section>\n" : "</section>\n", to);
}

static void head(FILE *to, const struct report_model *report_model, const struct html_input *input)
{
	char title[sizeof(report_model->title) + 16];
	snprintf(title, sizeof(title), "%s - report", report_model->title);
	html_page_begin(to, title, input->style);
}

static void top(FILE *to, const struct report_model *report_model)
{
	static const char *const words[][2] = {{"pass", "PASS"},
					       {"fail", "FAIL"},
					       {"not_valid", "NOT VALID"},
					       {"partial", "PARTIAL RESULT"}};
	const json_t *each;
	size_t i;
	fputs("<body>\n<a class=\"skip\" href=\"#main\">To the report</a>\n<header><h1>", to);
	html_text(to, report_model->title);
	fputs("</h1>", to);
	if (report_model->story != NULL) {
		fputs("<p class=\"about\">", to);
		html_text(to, document_text(report_model->story, "about"));
		fputs("</p></header>\n<main id=\"main\">\n", to);
		return;
	}
	for (i = 0; i < sizeof(words) / sizeof(*words); i++)
		if (strcmp(report_model->state, words[i][0]) == 0) {
			bool is_partial = strcmp(report_model->state, "partial") == 0;
			bool has_more = report_model->state_text[0] != '\0' && !is_partial;
			fprintf(to, "<p class=\"verdict %s\">", words[i][0]);
			html_text(to, has_more ? report_model->state_text : words[i][1]);
			fputs("</p>", to);
		}
	fputs("<nav aria-label=\"Sections\"><ul>", to);
	json_array_foreach(report_model->sections, i, each)
	{
		fprintf(to, "<li><a href=\"#%s\">", document_text(each, "id"));
		html_text(to, document_text(each, "title"));
		fputs("</a></li>", to);
	}
	fputs("</ul></nav></header>\n<main id=\"main\">\n", to);
}

// The charts as data for the script. A '<' could end the element that they are in.
static void data(FILE *to, const struct report_model *report_model)
{
	const json_t *section, *chart;
	json_t *all = json_array();
	size_t i, k;
	json_array_foreach(report_model->sections, i, section)
		json_array_foreach(json_object_get(section, "charts"), k, chart)
			json_array_append(all, (json_t *)(uintptr_t)chart);
	char *text = json_dumps(all, JSON_ENSURE_ASCII | JSON_COMPACT | JSON_REAL_PRECISION(9));
	json_decref(all);
	check_memory(text != NULL);
	fputs("<script type=\"application/json\" id=\"charts\">", to);
	for (const char *at = text; *at != '\0'; at++) {
		if (*at == '<')
			fputs("\\u003c", to);
		else
			fputc(*at, to);
	}
	fputs("</script>\n", to);
	free(text);
}

int html_write(FILE *to, const struct report_model *report_model, const struct html_input *input)
{
	const json_t *each;
	size_t i;
	errno = 0;
	head(to, report_model, input);
	top(to, report_model);
	html_story(to, report_model);
	charts_above(to, report_model);
	json_array_foreach(report_model->sections, i, each) section_of(to, report_model, each);
	fputs("</main>\n<footer><p>", to);
	html_text(to, input->version);
	fprintf(to, "; charts: %s</p></footer>\n",
		input->charts != NULL ? "Apache ECharts, in this file" : "SVG");
	data(to, report_model);
	if (input->charts != NULL)
		fprintf(to, "<script>%s</script>\n<script>\n%s</script>\n", input->charts,
			input->script);
	fputs("</body>\n</html>\n", to);
	return ferror(to) != 0 || fflush(to) != 0 ? -EIO : 0;
}
