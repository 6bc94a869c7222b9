// SPDX-License-Identifier: Apache-2.0
// What was measured over time, as result.json and series.csv have it.
#pragma once

#include <stdbool.h>
#include <stdio.h>

#include <jansson.h>
#include <weft/report.h>

// Sets what the run watched; nothing when it watched nothing.
void watch_json(json_t *root, const struct report_input *input);

// Whether there is a series, and the series as lines of text.
bool watch_has_series(const struct report_input *input);
void watch_series_write(FILE *to, const struct report_input *input);
