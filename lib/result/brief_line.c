// SPDX-License-Identifier: Apache-2.0
// See brief_line.h.

#include <weft/result/brief_line.h>

#include <stdarg.h>
#include <string.h>

#include <weft/result/report_escape.h>

#define SEGMENT_BYTES 512
#define GAP 3
#define INDENT 12 // of a row's values

static uint32_t columns_of(const struct brief_line *line)
{
	uint32_t columns = line->style.columns;
	return columns == 0 || columns > BRIEF_COLUMNS ? BRIEF_COLUMNS : columns;
}

static void put(struct brief_line *line, enum brief_colour colour, const char *text, size_t length)
{
	static const char *const codes[] = {"", "2", "1", "1;32", "1;33", "1;31", "36"};
	bool has_code = line->style.is_coloured && colour != BRIEF_PLAIN;
	if (has_code)
		escape_code(line->to, codes[colour]);
	fprintf(line->to, "%.*s", (int)length, text);
	if (has_code)
		escape_code(line->to, "0");
	line->used += (uint32_t)length;
}

// What is left to leave out, or a new line where `length` columns do not fit.
static void go_to(struct brief_line *line, size_t length)
{
	if (line->used > line->indent && line->used + line->pad + length > columns_of(line)) {
		fputc('\n', line->to);
		line->used = 0;
		line->pad = line->indent;
	}
	fprintf(line->to, "%*s", (int)line->pad, "");
	line->used += line->pad;
	line->pad = 0;
}

void brief_begin(struct brief_line *line, const char *name)
{
	line->used = line->pad = 0;
	line->gap = GAP;
	line->indent = INDENT;
	if (name[0] == '\0')
		return;
	fputs("  ", line->to);
	line->used = 2;
	put(line, BRIEF_DIM, name, strlen(name));
	line->pad = line->used < INDENT ? INDENT - line->used : 1;
}

void brief_add(struct brief_line *line, enum brief_colour colour, uint32_t width, const char *form,
	       ...)
{
	char text[SEGMENT_BYTES];
	va_list list;
	va_start(list, form);
	vsnprintf(text, sizeof(text), form, list);
	va_end(list);
	size_t length = strlen(text);
	go_to(line, length);
	put(line, colour, text, length);
	line->pad = length < width ? width - (uint32_t)length : line->gap;
}

// Bytes of the words that fit behind what stands on the line; of one at least.
static size_t fitting(const struct brief_line *line, const char *text)
{
	size_t length = strcspn(text, " "), next = length;
	while (text[next] != '\0') {
		next += 1 + strcspn(text + next + 1, " ");
		if (line->used + next > columns_of(line))
			break;
		length = next;
	}
	return length;
}

void brief_words(struct brief_line *line, enum brief_colour colour, const char *text)
{
	while (*text != '\0') {
		go_to(line, strcspn(text, " "));
		size_t length = fitting(line, text);
		put(line, colour, text, length);
		line->pad = 1;
		text += length + (text[length] == ' ');
	}
}

void brief_end(struct brief_line *line)
{
	fputc('\n', line->to);
}
