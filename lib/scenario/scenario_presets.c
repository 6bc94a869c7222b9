// SPDX-License-Identifier: Apache-2.0
// How the reader gives the values of a preset to the keys that nobody gave. A key of the scenario
// wins over its preset; only the transport is the preset's own.

#include "scenario_presets.h"

#include <stdio.h>
#include <string.h>

#include <weft/core/check.h>

#include "scenario_reader.h"

static struct mark preset_mark(const struct reader *reader)
{
	return reader->value_marks[scenario_key_find("preset")];
}

// The value as the line has it: `100kB` of 25 Gb/s are `1600000B` of 400.
static void write_value(const struct reader *reader, const struct preset_row *row, char ret[32])
{
	const struct scenario_key *key = &scenario_keys()[scenario_key_find(row->path)];
	uint64_t value = 0;
	if (!row->is_of_line) {
		snprintf(ret, 32, "%s", row->value);
		return;
	}
	int rc = scenario_value_of(&value, key, row->value, NULL);
	check(rc == 0); // the table keeps to the keys' rules
	uint64_t line_bps = reader->scenario->fabric.link_rate_bps;
	value = (uint64_t)((unsigned __int128)value * line_bps / PRESET_LINE_BPS);
	bool is_rate = strcmp(key->unit, "rate") == 0;
	uint32_t scale = value % 1000000 == 0 ? 1000000 : value % 1000 == 0 ? 1000 : 1;
	snprintf(ret, 32, "%llu%s%s", (unsigned long long)(value / scale),
		 scale == 1000000    ? "M"
			 : scale > 1 ? "k"
				     : "",
		 is_rate ? "b/s" : "B");
}

// Whether what the file says of the key yields to the preset of an assignment: its transport, and a
// control that does not run there.
static bool file_yields(const struct reader *reader, const struct preset_row *row, int index)
{
	const struct mark mark = preset_mark(reader);
	bool is_rc = preset_has(PRESET_ROCE_PFC, row) || preset_has(PRESET_ROCE_DCQCN, row);
	uint32_t transport = is_rc ? CC_ON_RC : CC_ON_MRC;
	if (!mark.is_set || reader_is_own(reader, reader->key_marks[index]) ||
	    (reader->key_marks[index].is_set && !reader_is_own(reader, mark)))
		return false;
	if (strcmp(row->path, "transport.kind") == 0)
		return true;
	return strcmp(row->path, "cc.algorithm") == 0 &&
		(cc_find(reader->scenario->transport.cc.name)->transports & transport) == 0;
}

static int apply_row(struct reader *reader, const struct preset_row *row)
{
	const struct scenario_key *keys = scenario_keys();
	int index = scenario_key_find(row->path);
	if (reader->is_given[index] && !file_yields(reader, row, index))
		return 0;
	char text[32];
	write_value(reader, row, text);
	const struct scalar value = {text, strlen(text), true};
	const struct mark mark = preset_mark(reader);
	reader->is_given[index] = true;
	reader->is_preset[index] = true;
	reader->key_marks[index] = reader->value_marks[index] = mark;
	return reader_store(reader, reader->scenario, &keys[index], &value, mark);
}

int reader_apply_preset(struct reader *reader)
{
	int rc = 0;
	for (int i = 0; scenario_keys()[i].path != NULL; i++)
		if (reader->is_preset[i])
			reader_forget(reader, i);
	uint32_t preset = reader->scenario->preset;
	for (const struct preset_row *row = preset_rows; row->path != NULL && rc == 0; row++)
		if (preset_has(preset, row))
			rc = apply_row(reader, row);
	return rc;
}

int reader_check_preset(struct reader *reader)
{
	uint32_t preset = reader->scenario->preset;
	int kind = scenario_key_find("transport.kind");
	const struct preset_row *row = preset_rows;
	while (row->path != NULL && !preset_has(preset, row))
		row++; // the first row of each is the transport
	if (row->path == NULL || !reader->is_given[kind] || reader->is_preset[kind])
		return 0;
	const char *own = scenario_word("transport.kind", reader->scenario->transport.kind);
	if (strcmp(own, row->value) == 0)
		return 0;
	return reader_refuse(reader, reader->key_marks[kind],
			     "transport.kind: %s contradicts preset %s, which is of transport.kind "
			     "%s; leave one of them out, or set preset none",
			     own, preset_name(preset), row->value);
}

// ---------------------------------------------------------------- what a reader is shown

static void add_input(struct scenario *scenario, enum input_origin origin, const char *text)
{
	struct scenario_input *input = &scenario->inputs[scenario->input_count];
	if (scenario->input_count == SCENARIO_INPUTS_MAX + SCENARIO_PRESET_INPUTS_MAX)
		return;
	input->origin = origin;
	snprintf(input->text, sizeof(input->text), "%s", text);
	scenario->input_count++;
}

void reader_note_preset(struct reader *reader)
{
	struct scenario *scenario = reader->scenario;
	const char *name = preset_name(scenario->preset);
	char own[sizeof(scenario->inputs[0].text)] = "", line[sizeof(own)];
	size_t used = 0;
	if (scenario->preset == PRESET_NONE)
		return;
	for (const struct preset_row *row = preset_rows; row->path != NULL; row++) {
		if (!preset_has(scenario->preset, row))
			continue;
		int index = scenario_key_find(row->path);
		char value[32];
		write_value(reader, row, value);
		snprintf(line, sizeof(line), "preset %s: %s %s: %s", name, row->path, value,
			 row->source);
		if (reader->is_preset[index])
			add_input(scenario, row->origin, line);
		else if (reader->is_given[index] && used < sizeof(own))
			used += (size_t)snprintf(own + used, sizeof(own) - used, "%s %s",
						 used == 0 ? "" : ",", row->path);
	}
	snprintf(line, sizeof(line), "preset %s: the scenario has values of its own for%s", name,
		 own);
	if (used > 0)
		add_input(scenario, INPUT_FACT, line);
}

void scenario_preset_reason(const struct scenario *scenario, struct refusal *refusal)
{
	const char *name = preset_name(scenario->preset);
	char origin[64], found[sizeof(origin)];
	if (scenario->preset == PRESET_NONE || strstr(refusal->text, name) != NULL)
		return;
	for (const struct preset_row *row = preset_rows; row->path != NULL; row++) {
		snprintf(origin, sizeof(origin), "preset %s: %s ", name, row->path);
		snprintf(found, sizeof(found), "%s:", row->path);
		bool is_named = preset_has(scenario->preset, row) &&
			strncmp(refusal->text, found, strlen(found)) == 0;
		for (uint32_t i = 0; is_named && i < scenario->input_count; i++) {
			size_t used = strlen(refusal->text);
			if (strncmp(scenario->inputs[i].text, origin, strlen(origin)) != 0)
				continue;
			snprintf(refusal->text + used, sizeof(refusal->text) - used,
				 "; preset %s sets %s", name, row->path);
			return;
		}
	}
}
