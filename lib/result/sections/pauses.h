// SPDX-License-Identifier: Apache-2.0
// What PFC came to, as result.json and the table have it. Nothing of it where the run had no PFC.
#pragma once

#include <stdio.h>

#include <jansson.h>
#include <weft/result/report.h>

void pauses_json(json_t *root, const struct report_input *input);
void pauses_table(FILE *to, const struct report_input *input);
