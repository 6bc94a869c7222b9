// SPDX-License-Identifier: Apache-2.0
// What the figures of a result rest on, and warnings about its world.
#pragma once

#include <jansson.h>

#include <weft/result/report.h>

// Adds the lists `inputs` and `taken` (taken.c).
void inputs_json(json_t *root, const struct report_input *input);

// Adds the list `warnings` to `root`, nothing where there is none.
void warnings_json(json_t *root, const struct report_input *input);

// The same for people, a paragraph each.
void warnings_table(FILE *to, const json_t *result);

// The bit 1 << index of each warning about a world; and the list `warnings` of their names in `to`,
// nothing where there is none: for many runs, which have no room for each one's sentences.
uint32_t warnings_bits(const struct world *world);
void warnings_names_json(json_t *to, uint32_t bits);

// Prints `text` as an item, broken at spaces so that each line holds at most `width` characters.
void warnings_wrapped(FILE *to, const char *text, size_t width);
