// SPDX-License-Identifier: Apache-2.0
// A text file of lines of words, as the workload files of other programs are: read line by line,
// word by word, with the place of whatever is wrong.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <weft/core/refusal.h>

struct lines_word {
	const char *at;
	size_t length;	 // 0: there was none left on the line
	uint32_t column; // 1-based, in bytes
};

// One line under the reader's finger.
struct lines {
	const char *at, *end;		   // of the text
	const char *line_start, *line_end; // of the line
	uint32_t line;			   // 1-based
	struct refusal *refusal;
};

// Fills the refusal with the line and `column`; -EINVAL.
int lines_refuse(const struct lines *lines, uint32_t column, const char *text, int64_t first,
		 int64_t second);

uint32_t lines_column(const struct lines *lines, const char *at);

// Moves to the next line, whose end may be the text's. 1 when there is one, 0 at the end, -EINVAL
// when it holds a byte that is no text.
int lines_next(struct lines *lines);

// Takes the next word off the line, from *at on.
struct lines_word lines_take(const struct lines *lines, const char **at);

bool lines_word_is(const struct lines_word *word, const char *text);

// A whole number from 0 to `max`, or -EINVAL.
int lines_number(const struct lines *lines, const struct lines_word *word, uint64_t max,
		 uint64_t *ret);

// The next line with a word on it, that word in `ret`, what follows from *at on. 1; 0 at the end;
// -EINVAL.
int lines_next_filled(struct lines *lines, const char **at, struct lines_word *ret);
