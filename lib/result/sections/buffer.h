// SPDX-License-Identifier: Apache-2.0
// The buffer that the ports of a switch share, as result.json and the table have it. Nothing of it
// where each port has its own queue.
#pragma once

#include <stdio.h>

#include <jansson.h>
#include <weft/result/report.h>

void buffer_json(json_t *root, const struct report_input *input);
void buffer_table(FILE *to, const struct report_input *input);
