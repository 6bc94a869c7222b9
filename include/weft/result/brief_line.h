// SPDX-License-Identifier: Apache-2.0
// Lines of the short form: segments that go to the next line, below the first, where they no longer
// fit; with colours on a terminal that wants them.
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <weft/result/report.h>

#define BRIEF_COLUMNS 100

enum brief_colour {
	BRIEF_PLAIN,
	BRIEF_DIM,
	BRIEF_BOLD,
	BRIEF_GOOD,
	BRIEF_WARN,
	BRIEF_BAD,
	BRIEF_TYPE
};

struct brief_line {
	FILE *to;
	struct report_style style;
	uint32_t used, pad;   // columns that are taken, and those to leave in front of what follows
	uint32_t gap, indent; // between segments; of lines that follow
};

// Begins a line with the name of its row.
void brief_begin(struct brief_line *line, const char *name);

// Adds a segment, `width` columns wide at least where more follows.
void brief_add(struct brief_line *line, enum brief_colour colour, uint32_t width, const char *form,
	       ...) __attribute__((format(printf, 4, 5)));

// Adds words one by one.
void brief_words(struct brief_line *line, enum brief_colour colour, const char *text);

void brief_end(struct brief_line *line);
