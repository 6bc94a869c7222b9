// SPDX-License-Identifier: Apache-2.0
// What a program had to do and what went over which lines, as result.json and the table have it.
// Nothing of it where no program ran.
#pragma once

#include <stdio.h>

#include <jansson.h>
#include <weft/result/report.h>

void program_json(json_t *root, const struct report_input *input);
void program_table(FILE *to, const struct report_input *input);
