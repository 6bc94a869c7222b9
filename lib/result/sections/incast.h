// SPDX-License-Identifier: Apache-2.0
// How many met at a receiver over time, and how far apart packets came there.
#pragma once

#include <stdio.h>

#include <jansson.h>
#include <weft/result/report.h>

#define INCASTS_WORST 8u // NICs that are listed

// `delays.incast_series` and `delays.gaps`, with watch.delays.
void incast_json(json_t *to, const struct report_input *input);

// Their lines of the table.
void incast_table(FILE *to, const struct report_input *input);
