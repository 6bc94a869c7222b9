// SPDX-License-Identifier: Apache-2.0
// Text of others (names of scenarios, files, traces, words of a command line) made fit to be shown.
// A character that moves a cursor, changes a colour or turns the direction of writing could make a
// terminal, a page or a table say what is not there; it is shown by its number: [U+202E]. A byte
// that is no UTF-8 is shown as [0x9B].
#pragma once

#include <stdbool.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

// A stream that writes to `to` what it is given, made visible; line ends and tabs stay. To be
// closed by escape_close(), which leaves `to` open. NULL: the system has no memory.
FILE *escape_open(FILE *to);

// Ends it. -EIO when not all could be written.
int escape_close(FILE *escape);

// Writes a code of a terminal's colours, "1;32", as it is; "0": plain again. Of the program's own
// alone, never of a text that was read.
void escape_code(FILE *to, const char *code);

// Writes a text on one line: line ends and tabs are made visible, too.
void escape_line(FILE *to, const char *text);

// The same as a text; the caller frees it.
char *escape_text(const char *text);

// The same inside of XML or HTML, in an attribute too.
void escape_xml(FILE *to, const char *text);

// The same in Markdown, as text and in a cell of a table: a backslash stands before each character
// that would be markup (CommonMark, and tables as GitHub reads them).
void escape_markdown(FILE *to, const char *text);

// Writes a text as a cell of CSV (RFC 4180): in quotes where it needs them, with an apostrophe
// before what a spreadsheet would take for a formula. Numbers stay numbers.
void escape_cell(FILE *to, const char *text);

// Writes one word of a command as a shell reads it, in quotes where it needs them, and cut to
// `bytes` bytes as snprintf() does.
void escape_shell(char *ret, size_t bytes, const char *word);

#ifdef __cplusplus
}
#endif
