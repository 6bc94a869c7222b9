// SPDX-License-Identifier: Apache-2.0
// The parts of a page that are its own: the story at its head, and maps that a small screen can
// show.
#pragma once

#include <jansson.h>
#include <stdio.h>

struct report_model;

// Verdict, figures, picture, and what failed first.
void html_story(FILE *to, const struct report_model *report_model);

// A chart of kind heat as a grid of cells, in place of a drawing.
void html_heat(FILE *to, const json_t *chart);
