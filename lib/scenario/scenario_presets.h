// SPDX-License-Identifier: Apache-2.0
// The table of presets: values of transport, control and queues that go together, each with its
// source.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <weft/workload/plan_input.h>

enum scenario_preset {
	PRESET_NONE,
	PRESET_ROCE_DCQCN,
	PRESET_ROCE_PFC,
	PRESET_MRC,
	PRESET_UEC,
	PRESET_MRC_NCCL_PLUGIN,
};

#define PRESET_LINE_BPS UINT64_C(25000000000) // what a value that grows with the line is of

struct preset_row {
	uint32_t presets; // whose value it is: a bit of each enum scenario_preset
	const char *path, *value;
	bool is_of_line; // of a line of PRESET_LINE_BPS; other lines have it in proportion
	enum input_origin origin;
	const char *source;
};

// Ended by one without a path.
extern const struct preset_row preset_rows[];

bool preset_has(uint32_t preset, const struct preset_row *row);

// Its word.
const char *preset_name(uint32_t preset);

struct reader;

// Gives the keys that nobody gave the values of reader->scenario->preset, in place of those of an
// earlier one. After the file, and again after assignments.
int reader_apply_preset(struct reader *reader);

// Refuses a transport that is not the preset's.
int reader_check_preset(struct reader *reader);

// Lists in the scenario's inputs what the preset set, and what the scenario has in its place.
void reader_note_preset(struct reader *reader);

// Writes which keys that `text` names have their value from the preset; "" for none.
void reader_preset_reason(const struct reader *reader, const char *text, char *ret, uint32_t size);
