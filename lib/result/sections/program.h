// SPDX-License-Identifier: Apache-2.0
// What a program had to do and what went over which lines, as result.json and the table have it.
// Nothing of it where no program ran.
#pragma once

#include <stdio.h>

#include <jansson.h>
#include <weft/result/report.h>

void program_json(json_t *root, const struct report_input *input);
#define PROGRAM_STEP_BYTES 96

// "21.4 ms, of which 3.1 ms exposed (14.5 %)": a step, and what of it is communication that
// computations wait for. False where nothing is computed, or not all of it ended.
bool program_step_text(const struct report_input *input, char ret[PROGRAM_STEP_BYTES]);

void program_table(FILE *to, const struct report_input *input);
