// SPDX-License-Identifier: Apache-2.0
// A chart of a report model as SVG inside a page: what is printed, and what is seen without
// scripts.
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

// Text with the characters that mean something in HTML taken out of harm's way.
void html_text(FILE *to, const char *text);

// The same, with a space for each underscore.
void html_words(FILE *to, const char *text);

// How many figures the chart shows.
size_t html_points(const json_t *chart);

// For a wide screen, or a narrow one: words have the same size on both.
void html_svg(FILE *to, const json_t *chart, bool is_wide);
