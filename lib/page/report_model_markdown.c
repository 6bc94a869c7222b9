// SPDX-License-Identifier: Apache-2.0
// A report model as Markdown: all sections with their notes and tables, without charts.

#include <errno.h>
#include <string.h>

#include "report_model.h"

#include <weft/result/report_escape.h>

// A link is one, and what was missed is bold.
static void cell(FILE *to, const json_t *cell)
{
	const char *text = json_is_object(cell) ? document_text(cell, "text")
						: json_string_value(cell);
	const char *link = document_text(cell, "link");
	bool is_missed = strcmp(document_text(cell, "state"), "missed") == 0;
	fputs(*link != '\0' ? " [" : is_missed ? " **" : " ", to);
	escape_markdown(to, text);
	if (*link != '\0')
		fprintf(to, "](%s)", link);
	fputs(is_missed ? "** |" : " |", to);
}

static void table(FILE *to, const json_t *table)
{
	const json_t *row, *one, *head = json_object_get(table, "head");
	size_t i, k;
	if (json_array_size(json_object_get(table, "rows")) == 0)
		return;
	fputs("\n|", to);
	json_array_foreach(head, i, one) cell(to, one);
	fputs("\n|", to);
	for (i = 0; i < json_array_size(head); i++)
		fputs("---|", to);
	fputc('\n', to);
	json_array_foreach(json_object_get(table, "rows"), i, row)
	{
		fputc('|', to);
		json_array_foreach(row, k, one) cell(to, one);
		fputc('\n', to);
	}
}

static void section(FILE *to, const json_t *section)
{
	const json_t *each;
	size_t i;
	fprintf(to, "\n## %s\n", document_text(section, "title"));
	json_array_foreach(json_object_get(section, "notes"), i, each)
	{
		fputc('\n', to);
		escape_markdown(to, json_string_value(each));
		fputc('\n', to);
	}
	json_array_foreach(json_object_get(section, "missing"), i, each)
	{
		fprintf(to, "\n%s: unavailable: ", document_text(each, "what"));
		escape_markdown(to, document_text(each, "reason"));
		fputc('\n', to);
	}
	json_array_foreach(json_object_get(section, "tables"), i, each) table(to, each);
}

int report_model_markdown(FILE *to, const struct report_model *report_model)
{
	const json_t *each;
	size_t i;
	errno = 0;
	json_array_foreach(report_model->sections, i, each) section(to, each);
	return ferror(to) != 0 || fflush(to) != 0 ? -EIO : 0;
}
