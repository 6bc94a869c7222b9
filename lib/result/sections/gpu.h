// SPDX-License-Identifier: Apache-2.0
// What generators and the run measured of gradients, in the table and in result.json.
#pragma once

#include <jansson.h>
#include <stdio.h>

#include <weft/result/report.h>

// "gpu": an object, or null where no generators took part.
void gpu_json(json_t *root, const struct report_input *input);
void gpu_table(FILE *to, const struct report_input *input);
