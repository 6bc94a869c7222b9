// SPDX-License-Identifier: Apache-2.0
// The short form of a run's table.
#pragma once

#include <jansson.h>
#include <weft/result/report.h>

// Of a run that has just ended: with what to type next.
void brief_table(FILE *to, const struct report_input *input);

// Of a run's result.json.
void brief_result(FILE *to, struct report_style style, const json_t *result);
