// SPDX-License-Identifier: Apache-2.0
// What of a run was jumped over (fast_forward.steady).
#pragma once

#include <jansson.h>
#include <stdio.h>

#include <weft/result/report.h>

// "fast_forward" of result.json; left out when the scenario skips nothing.
void fast_forward_json(json_t *root, const struct report_input *input);

// The same in the table; nothing when the scenario skips nothing.
void fast_forward_table(FILE *to, const struct report_input *input);
