// SPDX-License-Identifier: Apache-2.0
// One list of the report as CSV: a line for each of its rows, whose fields are those of --json.

#include "analyze.h"

#include <string.h>

#include <jansson.h>

#include "analyze/figures.h"
#include "analyze/lists.h"

static const struct {
	const char *name;
	json_t *(*blank)(const struct call *call); // its fields, where there are no rows
} lists[] = {
	{"streams", json_stream_blank},	 {"connections", figures_connection_blank},
	{"dscp", figures_dscp_blank},	 {"priorities", figures_priority_blank},
	{"repairs", json_repair_blank},	 {"bursts", bursts_blank},
	{"dscp_changes", changes_blank}, {"rules", rules_blank},
};
#define LISTS (sizeof(lists) / sizeof(lists[0]))

static size_t list_of(const char *name)
{
	size_t at = 0;
	while (at < LISTS && strcmp(lists[at].name, name) != 0)
		at++;
	return at;
}

static void put_quoted(FILE *to, const char *text)
{
	fputc('"', to);
	for (; *text != '\0'; text++)
		fprintf(to, *text == '"' ? "\"\"" : "%c", *text);
	fputc('"', to);
}

static void put_value(FILE *to, const json_t *value)
{
	if (json_is_string(value))
		put_quoted(to, json_string_value(value));
	else if (!json_is_null(value)) // what was not seen is empty
		json_dumpf(value, to, JSON_ENCODE_ANY);
}

void rows_print(FILE *to, const struct call *call)
{
	size_t at = list_of(call->rows != NULL ? call->rows : "streams"), index;
	json_t *all = json_make(call), *blank = lists[at].blank(call), *row, *value;
	const char *key, *comma = "";
	json_object_foreach(blank, key, value)
	{
		fprintf(to, "%s%s", comma, key);
		comma = ",";
	}
	fputc('\n', to);
	json_array_foreach(json_object_get(all, lists[at].name), index, row)
	{
		comma = "";
		json_object_foreach(row, key, value)
		{
			fputs(comma, to);
			put_value(to, value);
			comma = ",";
		}
		fputc('\n', to);
	}
	json_decref(blank);
	json_decref(all);
}
