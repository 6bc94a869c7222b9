// SPDX-License-Identifier: Apache-2.0
// What the figures rest on, all parameters and counters, what could not be measured, and the
// command that gives the same result again.

#include "report_model.h"

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
		report_model_note(section, "The scenario says of no input where it is from.");
		return;
	}
	json_t *table = report_model_table(section, "Assumptions", head);
	for (size_t k = 0; k < sizeof(order) / sizeof(*order); k++)
		json_array_foreach(list, i, each)
		{
			if (strcmp(document_text(each, "origin"), order[k]) != 0)
				continue;
			json_t *row = report_model_row(table);
			report_model_cell(row, "%s", order[k]);
			report_model_cell(row, "%s", document_text(each, "text"));
		}
}

// ---------------------------------------------------------------- fields

static void leaf(json_t *table, const char *path, const json_t *value)
{
	json_t *row = report_model_row(table);
	report_model_cell(row, "%s", path);
	if (json_is_string(value))
		report_model_cell(row, "%s", json_string_value(value));
	else if (json_is_integer(value))
		report_model_cell(row, "%lld", (long long)json_integer_value(value));
	else if (json_is_real(value))
		report_model_cell(row, "%.12g", json_real_value(value));
	else
		report_model_cell(row, "%s",
				  json_is_null(value)		? "none"
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
	json_t *table = report_model_table(section, caption, head);
	report_model_is_more(table);
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
		report_model_note(section, "Every figure of the result could be measured.");
	} else {
		json_t *table = report_model_table(section, "Unavailable", head);
		json_object_foreach(rows, key, each)
		{
			json_t *row = report_model_row(table);
			report_model_cell(row, "%s", key);
			report_model_cell_state(row, json_string_value(each), "unavailable");
		}
	}
	json_decref(rows);
}

void report_model_again(struct report_model *report_model)
{
	json_t *section = report_model_section(report_model, "again", "Reproduce");
	const char *command = document_text(report_model->result, "command");
	if (*command != '\0')
		report_model_note(section, "%s", command);
	else
		report_model_missing(section, "Command", "the result has none");
	report_model_note(section, "Same commit (%s), scenario and seeds: the same digests.",
			  document_text(report_model->result, "weft"));
	if (report_model->kind == RESULT_RUN)
		report_model_note(section, "Its digest is %s.",
				  document_text(report_model->result, "run.digest"));
}

void report_model_rest(struct report_model *report_model)
{
	static const char *const parameters[] = {"scenario", "network", "mrc_ctl",
						 "plan",     "buffer",	NULL};
	static const char *const counters[] = {"goodput",  "congestion",   "cables", "transport",
					       "switches", "conservation", "pfc",    "program",
					       "bypass",   "pace",	   "ports",  "capture",
					       "fidelity", "wall",	   "speed",  NULL};
	json_t *section = report_model_section(report_model, "inputs", "Parameters");
	const json_t *warning;
	size_t i;
	json_array_foreach(json_object_get(report_model->result, "warnings"), i, warning)
		report_model_note(section, "Warning: %s", document_text(warning, "text"));
	inputs(section, report_model->result);
	fields(section, report_model->result, "All parameters of the result", parameters);
	section = report_model_section(report_model, "unavailable", "What could not be measured");
	unavailable(section, report_model->result);
	section = report_model_section(report_model, "counters", "All counters");
	fields(section, report_model->result, "Counters", counters);
	report_model_again(report_model);
}
