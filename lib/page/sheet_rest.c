// SPDX-License-Identifier: Apache-2.0
// What the figures rest on, all parameters and counters, what could not be measured, and the
// command that gives the same result again.

#include "sheet.h"

#include <string.h>

#define PATH_BYTES 256

// ---------------------------------------------------------------- inputs

static void inputs(json_t *section, const json_t *result)
{
	static const char *const head[] = {"origin", "what", NULL};
	// what a reader must doubt comes first
	static const char *const order[] = {"calibrated", "assumed", "measured", "fact"};
	const json_t *list = json_object_get(result, "inputs"), *each;
	size_t i;
	if (json_array_size(list) == 0) {
		sheet_note(section, "The scenario says of no input where it is from.");
		return;
	}
	json_t *table = sheet_table(section, "Assumptions", head);
	for (size_t k = 0; k < sizeof(order) / sizeof(*order); k++)
		json_array_foreach(list, i, each)
		{
			if (strcmp(sheet_text(each, "origin"), order[k]) != 0)
				continue;
			json_t *row = sheet_row(table);
			sheet_cell(row, "%s", order[k]);
			sheet_cell(row, "%s", sheet_text(each, "text"));
		}
}

// ---------------------------------------------------------------- fields

static void leaf(json_t *table, const char *path, const json_t *value)
{
	json_t *row = sheet_row(table);
	sheet_cell(row, "%s", path);
	if (json_is_string(value))
		sheet_cell(row, "%s", json_string_value(value));
	else if (json_is_integer(value))
		sheet_cell(row, "%lld", (long long)json_integer_value(value));
	else if (json_is_real(value))
		sheet_cell(row, "%.12g", json_real_value(value));
	else
		sheet_cell(row, "%s",
			   json_is_null(value)		 ? "none"
				   : json_is_true(value) ? "yes"
							 : "no");
}

// Every field below `value` that is no list, with its way as docs/result.md has it.
static void leaves(json_t *table, const char *path, json_t *value)
{
	const char *key;
	json_t *each;
	if (!json_is_object(value)) {
		if (!json_is_array(value))
			leaf(table, path, value);
		return;
	}
	json_object_foreach(value, key, each)
	{
		char name[PATH_BYTES];
		snprintf(name, sizeof(name), "%s.%s", path, key);
		leaves(table, name, each);
	}
}

static void fields(json_t *section, const json_t *result, const char *caption,
		   const char *const keys[])
{
	static const char *const head[] = {"field", "value", NULL};
	json_t *table = sheet_table(section, caption, head);
	sheet_is_more(table);
	for (size_t i = 0; keys[i] != NULL; i++) {
		json_t *value = json_object_get(result, keys[i]);
		if (json_is_object(value))
			leaves(table, keys[i], value);
	}
}

// ---------------------------------------------------------------- unavailable

// Every "<key>_reason" below `value`: what could not be given, and why. Elements of a list that say
// the same are one row.
static void reasons(json_t *rows, const char *path, json_t *value)
{
	const char *key;
	json_t *each;
	size_t i;
	if (json_is_array(value))
		json_array_foreach(value, i, each)
		{
			char name[PATH_BYTES];
			snprintf(name, sizeof(name), "%s[]", path);
			reasons(rows, name, each);
		}
	if (!json_is_object(value))
		return;
	json_object_foreach(value, key, each)
	{
		char name[PATH_BYTES];
		size_t length = strlen(key);
		snprintf(name, sizeof(name), "%s%s%s", path, *path != '\0' ? "." : "", key);
		if (length > 7 && strcmp(key + length - 7, "_reason") == 0 &&
		    json_is_string(each)) {
			name[strlen(name) - 7] = '\0';
			json_object_set(rows, name, each);
		} else {
			reasons(rows, name, each);
		}
	}
}

static void unavailable(json_t *section, json_t *result)
{
	static const char *const head[] = {"figure", "why there is none", NULL};
	json_t *rows = json_object(), *each;
	const char *key;
	reasons(rows, "", result);
	if (json_object_size(rows) == 0) {
		sheet_note(section, "Every figure of the result could be measured.");
	} else {
		json_t *table = sheet_table(section, "Unavailable", head);
		json_object_foreach(rows, key, each)
		{
			json_t *row = sheet_row(table);
			sheet_cell(row, "%s", key);
			sheet_cell_state(row, json_string_value(each), "unavailable");
		}
	}
	json_decref(rows);
}

void sheet_again(struct sheet *sheet)
{
	json_t *section = sheet_section(sheet, "again", "Reproduce");
	const char *command = sheet_text(sheet->result, "command");
	if (*command != '\0')
		sheet_note(section, "%s", command);
	else
		sheet_missing(section, "Command", "the result has none");
	sheet_note(section, "Same commit (%s), scenario and seeds: the same digests.",
		   sheet_text(sheet->result, "weft"));
	if (sheet->kind == RESULT_RUN)
		sheet_note(section, "Its digest is %s.", sheet_text(sheet->result, "run.digest"));
}

void sheet_rest(struct sheet *sheet)
{
	static const char *const parameters[] = {"scenario", "network", "mrc_ctl",
						 "plan",     "buffer",	NULL};
	static const char *const counters[] = {"goodput",  "congestion",   "cables", "transport",
					       "switches", "conservation", "pfc",    "program",
					       "bypass",   "pace",	   "ports",  "capture",
					       "fidelity", "wall",	   "speed",  NULL};
	json_t *section = sheet_section(sheet, "inputs", "Parameters");
	const json_t *warning;
	size_t i;
	json_array_foreach(json_object_get(sheet->result, "warnings"), i, warning)
		sheet_note(section, "Warning: %s", sheet_text(warning, "text"));
	inputs(section, sheet->result);
	fields(section, sheet->result, "All parameters of the result", parameters);
	section = sheet_section(sheet, "unavailable", "What could not be measured");
	unavailable(section, sheet->result);
	section = sheet_section(sheet, "counters", "All counters");
	fields(section, sheet->result, "Counters", counters);
	sheet_again(sheet);
}
