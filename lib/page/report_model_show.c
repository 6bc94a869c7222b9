// SPDX-License-Identifier: Apache-2.0
// A report model as text for a terminal.

#include <errno.h>
#include <string.h>

#include "report_model.h"

#define WIDTH 100
#define COLUMNS_MAX 16

static const char *cell_text(const json_t *cell)
{
	const char *text = json_is_object(cell) ? json_string_value(json_object_get(cell, "text"))
						: json_string_value(cell);
	return text != NULL ? text : "";
}

// Prints `text`, broken at spaces, behind `indent` spaces; the first line goes on where it is.
static void wrapped(FILE *to, const char *text, int indent)
{
	int room = WIDTH - indent;
	while ((int)strlen(text) > room) {
		int take = room;
		while (take > 0 && text[take] != ' ')
			take--;
		if (take == 0)
			take = room;
		fprintf(to, "%.*s\n%*s", take, text, indent, "");
		text += take + (text[take] == ' ');
	}
	fprintf(to, "%s\n", text);
}

static int widest(const json_t *table, size_t column)
{
	const json_t *row;
	size_t i, most = strlen(cell_text(json_array_get(json_object_get(table, "head"), column)));
	json_array_foreach(json_object_get(table, "rows"), i, row)
	{
		size_t length = strlen(cell_text(json_array_get(row, column)));
		most = length > most ? length : most;
	}
	return (int)most;
}

// All columns but the last at their width, as long as the line holds them; what does not fit goes
// below, with the name of its column.
static void row_show(FILE *to, const json_t *table, const json_t *row, const int widths[])
{
	const json_t *head = json_object_get(table, "head");
	size_t count = json_array_size(row);
	int used = 2;
	fputs("  ", to);
	for (size_t i = 0; i < count; i++) {
		const char *text = cell_text(json_array_get(row, i));
		if (i > 0 && i + 1 < count && used + widths[i] > WIDTH) {
			fprintf(to, "\n      %s: ", cell_text(json_array_get(head, i)));
			used = 8 + (int)strlen(cell_text(json_array_get(head, i)));
		}
		if (i + 1 == count) {
			if (used > WIDTH - 24) {
				fputs("\n      ", to);
				used = 6;
			}
			wrapped(to, text, used);
		} else {
			fprintf(to, "%-*s  ", widths[i], text);
			used += 2 + (widths[i] > (int)strlen(text) ? widths[i] : (int)strlen(text));
		}
	}
}

static void table_show(FILE *to, const json_t *table)
{
	const json_t *rows = json_object_get(table, "rows"), *row;
	size_t i, columns = json_array_size(json_object_get(table, "head"));
	int widths[COLUMNS_MAX] = {0};
	if (json_is_true(json_object_get(table, "more")))
		return;
	for (i = 0; i < columns && i < COLUMNS_MAX; i++)
		widths[i] = widest(table, i);
	fprintf(to, "\n%s\n", json_string_value(json_object_get(table, "caption")));
	if (columns > 2)
		row_show(to, table, json_object_get(table, "head"), widths);
	json_array_foreach(rows, i, row) row_show(to, table, row, widths);
}

static void section_show(FILE *to, const json_t *section)
{
	const json_t *each;
	size_t i;
	const char *title = json_string_value(json_object_get(section, "title"));
	fprintf(to, "\n%s\n", title);
	for (i = 0; i < strlen(title); i++)
		fputc('-', to);
	fputc('\n', to);
	json_array_foreach(json_object_get(section, "notes"), i, each)
		wrapped(to, json_string_value(each), 0);
	json_array_foreach(json_object_get(section, "missing"), i, each)
	{
		char text[512];
		snprintf(text, sizeof(text), "%s: unavailable: %s",
			 json_string_value(json_object_get(each, "what")),
			 json_string_value(json_object_get(each, "reason")));
		wrapped(to, text, 0);
	}
	json_array_foreach(json_object_get(section, "tables"), i, each) table_show(to, each);
}

int report_model_show(FILE *to, const struct report_model *report_model)
{
	const json_t *each;
	size_t i;
	errno = 0;
	fprintf(to, "%s\n", report_model->title);
	json_array_foreach(report_model->sections, i, each)
	{
		const char *id = json_string_value(json_object_get(each, "id"));
		if (strcmp(id, "counters") != 0)
			section_show(to, each);
	}
	return ferror(to) != 0 || fflush(to) != 0 ? -EIO : 0;
}
