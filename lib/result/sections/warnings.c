// SPDX-License-Identifier: Apache-2.0
// What a reader of the figures must know: what they rest on, and warnings about the world.
#include <weft/result/warnings.h>

#include <string.h>

#include "sections.h"
#include <weft/result/put.h>

#include <weft/world/world_warning.h>

void inputs_json(json_t *root, const struct report_input *input)
{
	json_t *array = array_in(root, "inputs");
	struct scenario_input one;
	for (uint32_t i = 0; scenario_input_at(input->world->scenario, i, &one); i++) {
		json_t *row = row_in(array);
		put_text(row, "origin", origin_name(one.origin));
		put_text(row, "text", one.text);
	}
	taken_json(root, input);
}

void warnings_json(json_t *root, const struct report_input *input)
{
	struct world_warning of[WORLD_WARNINGS_MAX];
	uint32_t count = world_warnings(input->world, of);
	if (count == 0)
		return;
	json_t *array = array_in(root, "warnings");
	for (uint32_t i = 0; i < count; i++) {
		json_t *row = row_in(array);
		put_text(row, "name", of[i].name);
		put_text(row, "text", of[i].text);
	}
}

uint32_t warnings_bits(const struct world *world)
{
	struct world_warning of[WORLD_WARNINGS_MAX];
	uint32_t bits = 0;
	for (uint32_t i = world_warnings(world, of); i > 0; i--)
		bits |= 1u << of[i - 1].index;
	return bits;
}

void warnings_names_json(json_t *to, uint32_t bits)
{
	if (bits == 0)
		return;
	json_t *array = array_in(to, "warnings");
	for (uint32_t i = 0; world_warning_name(i) != NULL; i++)
		if (bits & 1u << i)
			json_array_append_new(array, json_string(world_warning_name(i)));
}

void warnings_wrapped(FILE *to, const char *text, size_t width)
{
	bool is_first = true;
	while (*text != '\0') {
		size_t take = strlen(text);
		if (take > width) {
			take = width;
			while (take > 0 && text[take] != ' ')
				take--;
			if (take == 0)
				take = width;
		}
		fprintf(to, "%s%.*s\n", is_first ? "    - " : "      ", (int)take, text);
		text += take + (text[take] == ' ');
		is_first = false;
	}
}

void warnings_table(FILE *to, const json_t *result)
{
	const json_t *row;
	size_t i;
	json_array_foreach(json_object_get(result, "warnings"), i, row)
	{
		fprintf(to, "WARNING %s\n", document_text(row, "name"));
		warnings_wrapped(to, document_text(row, "text"), 94);
	}
}

void report_warnings(FILE *to, const char *before, const struct world *world)
{
	struct world_warning of[WORLD_WARNINGS_MAX];
	uint32_t count = world_warnings(world, of);
	for (uint32_t i = 0; i < count; i++)
		fprintf(to, "%swarning: %s: %s\n", before, of[i].name, of[i].text);
}
