// SPDX-License-Identifier: Apache-2.0
// What was measured over time, as result.json and series.csv have it.
#pragma once

#include <stdbool.h>
#include <stdio.h>

#include <jansson.h>
#include <weft/result/report.h>

// Sets what the run watched; nothing when it watched nothing.
void watch_json(json_t *root, const struct report_input *input);

// Who stands out, and dead paths, in the table; and the files that there are, a line for each.
void watch_table(FILE *to, const struct report_input *input);
void watch_files(FILE *to, const struct report_input *input);

// Whether there is a series, and the series as lines of text.
bool watch_has_series(const struct report_input *input);
void watch_series_write(FILE *to, const struct report_input *input);
