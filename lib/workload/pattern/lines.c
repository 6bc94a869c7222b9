// SPDX-License-Identifier: Apache-2.0
// Lines, words and numbers of a text, each refused with its place. See lines.h.
#include "lines.h"

#include <errno.h>
#include <string.h>

int lines_refuse(const struct lines *lines, uint32_t column, const char *text, int64_t first,
		 int64_t second)
{
	if (lines->refusal != NULL) {
		lines->refusal->line = lines->line;
		lines->refusal->column = column;
	}
	return refuse(lines->refusal, -EINVAL, text, first, second);
}

uint32_t lines_column(const struct lines *lines, const char *at)
{
	return (uint32_t)(at - lines->line_start) + 1;
}

int lines_next(struct lines *lines)
{
	if (lines->at == lines->end)
		return 0;
	lines->line++;
	lines->line_start = lines->at;
	while (lines->at < lines->end && *lines->at != '\n') {
		unsigned char c = (unsigned char)*lines->at;
		bool is_line_end = c == '\r' && lines->at + 1 < lines->end && lines->at[1] == '\n';
		if ((c < ' ' && c != '\t' && !is_line_end) || c > '~')
			return lines_refuse(lines, lines_column(lines, lines->at),
					    "a byte of value % is not text", c, 0);
		lines->at++;
	}
	lines->line_end = lines->at;
	if (lines->at < lines->end)
		lines->at++;
	if (lines->line_end > lines->line_start && lines->line_end[-1] == '\r')
		lines->line_end--;
	return 1;
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

struct lines_word lines_take(const struct lines *lines, const char **at)
{
	while (*at < lines->line_end && is_blank(**at))
		(*at)++;
	struct lines_word word = {.at = *at, .column = lines_column(lines, *at)};
	while (*at < lines->line_end && !is_blank(**at))
		(*at)++;
	word.length = (size_t)(*at - word.at);
	return word;
}

bool lines_word_is(const struct lines_word *word, const char *text)
{
	return strlen(text) == word->length && memcmp(word->at, text, word->length) == 0;
}

int lines_number(const struct lines *lines, const struct lines_word *word, uint64_t max,
		 uint64_t *ret)
{
	uint64_t value = 0;
	if (word->length == 0)
		return lines_refuse(lines, word->column, "a number is missing here", 0, 0);
	if (word->at[0] == '-')
		return lines_refuse(lines, word->column, "a number here must not be negative", 0,
				    0);
	for (size_t i = 0; i < word->length; i++) {
		if (word->at[i] < '0' || word->at[i] > '9')
			return lines_refuse(lines, word->column + (uint32_t)i,
					    "a whole number is wanted here, digits alone", 0, 0);
		uint64_t digit = (uint64_t)(word->at[i] - '0');
		if (digit > max || value > (max - digit) / 10)
			return lines_refuse(lines, word->column, "the number is above %",
					    (int64_t)max, 0);
		value = value * 10 + digit;
	}
	*ret = value;
	return 0;
}

int lines_next_filled(struct lines *lines, const char **at, struct lines_word *ret)
{
	int rc;
	while ((rc = lines_next(lines)) > 0) {
		*at = lines->line_start;
		*ret = lines_take(lines, at);
		if (ret->length > 0 && ret->at[0] != '#')
			return 1;
	}
	return rc;
}
