// SPDX-License-Identifier: Apache-2.0
// What the figures of a result rest on, and warnings about its world.
#pragma once

#include <jansson.h>

#include <weft/report.h>

// Adds the list `inputs`.
void inputs_json(json_t *root, const struct report_input *input);

// Adds the list `warnings` to `root`, nothing where there is none.
void warnings_json(json_t *root, const struct report_input *input);

// The same for people, a paragraph each.
void warnings_table(FILE *to, const struct report_input *input);

// Prints `text` as an item, broken at spaces so that each line holds at most `width` characters.
void warnings_wrapped(FILE *to, const char *text, size_t width);
