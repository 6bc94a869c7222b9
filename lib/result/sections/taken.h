// SPDX-License-Identifier: Apache-2.0
// What a run took where its scenario says auto, or nothing.
#pragma once

#include <jansson.h>

#include <weft/result/report.h>

// Adds the list `taken` to `root`, nothing where all was given. A value is written as --set takes
// it: with all of them set the run is the same, but for NSCC's cc.max_window, which auto lets
// shrink.
void taken_json(json_t *root, const struct report_input *input);

// The same for people, under a head of its own.
void taken_table(FILE *to, const struct report_input *input);
