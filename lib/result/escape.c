// SPDX-License-Identifier: Apache-2.0
// The one place that knows which characters are not shown as they are.

#include <weft/result/report_escape.h>

#include <ctype.h>
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <weft/core/check_memory.h>

#define SHOWN_BYTES 16 // "[U+E0001]"
#define HELD_MAX 3     // of a character whose end has not come

// Ranges of code points that have no shape of their own, or change how others are shown.
static const uint32_t hidden[][2] = {
	{0x00, 0x1f},	    // controls: ESC, CR, ...
	{0x7f, 0x9f},	    // DEL, and controls that are ESC and a letter in one
	{0xad, 0xad},	    // soft hyphen
	{0x61c, 0x61c},	    // marks of direction
	{0x180e, 0x180e},   // no width
	{0x200b, 0x200f},   // no width, joiners, marks of direction
	{0x2028, 0x202e},   // ends of lines and paragraphs; embedding and override of direction
	{0x2060, 0x206f},   // joiners, isolates
	{0xd800, 0xdfff},   // no characters
	{0xfeff, 0xfeff},   // byte order mark
	{0xfff9, 0xfffb},   // annotations
	{0xfffe, 0xffff},   // no characters, and XML has none of them
	{0xe0000, 0xe0fff}, // tags
};

static bool is_hidden(uint32_t code)
{
	for (size_t i = 0; i < sizeof(hidden) / sizeof(hidden[0]); i++)
		if (code >= hidden[i][0] && code <= hidden[i][1])
			return true;
	return false;
}

// Bytes of the UTF-8 character at `text`, of `bytes`, and its code. 0: its end has not come; -1: it
// is none.
static int decode(const char *text, size_t bytes, uint32_t *ret)
{
	static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
	uint8_t first = (uint8_t)text[0];
	int length = first < 0x80 ? 1 : first < 0xc2 ? -1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
	if (first >= 0xf5)
		length = -1;
	if (length < 0)
		return -1;
	*ret = length == 1 ? first : first & (0x7f >> length);
	for (int i = 1; i < length; i++) {
		if ((size_t)i == bytes)
			return 0;
		if ((text[i] & 0xc0) != 0x80)
			return -1;
		*ret = *ret << 6 | (text[i] & 0x3f);
	}
	return length > 1 && (*ret < least[length] || *ret > 0x10ffff) ? -1 : length;
}

// Writes the first character of `text` as it is shown. Returns its bytes; 0 when its end has not
// come.
static size_t put_first(FILE *to, const char *text, size_t bytes, const char *as_they_are)
{
	uint32_t code;
	int length = decode(text, bytes, &code);
	if (length == 0)
		return 0;
	if (length < 0)
		fprintf(to, "[0x%02X]", (uint8_t)text[0]);
	else if (is_hidden(code) && (code == 0 || code > 0x7f || !strchr(as_they_are, (int)code)))
		fprintf(to, "[U+%04X]", code);
	else
		fwrite(text, 1, (size_t)length, to);
	return length < 0 ? 1 : (size_t)length;
}

void escape_line(FILE *to, const char *text)
{
	size_t length = strlen(text);
	while (length > 0) {
		size_t used = put_first(to, text, length, "");
		if (used == 0) { // cut within a character
			fprintf(to, "[0x%02X]", (uint8_t)text[0]);
			used = 1;
		}
		text += used;
		length -= used;
	}
}

char *escape_text(const char *text)
{
	char *shown = NULL;
	size_t bytes;
	FILE *memory = open_memstream(&shown, &bytes);
	check_memory(memory != NULL);
	escape_line(memory, text);
	check_memory(fclose(memory) == 0);
	return shown;
}

void escape_xml(FILE *to, const char *text)
{
	char *shown = escape_text(text);
	for (const char *at = shown; *at != '\0'; at++) {
		const char *name = *at == '<' ? "&lt;"
			: *at == '>'	      ? "&gt;"
			: *at == '&'	      ? "&amp;"
			: *at == '"'	      ? "&quot;"
			: *at == '\''	      ? "&#39;"
					      : NULL;
		if (name != NULL)
			fputs(name, to);
		else
			fputc(*at, to);
	}
	free(shown);
}

// An underscore within a word is no markup; there it stays as it is, as in the names of keys.
static bool is_markup(const char *text, const char *at)
{
	if (*at != '_')
		return strchr("\\`*[]<>|&~", *at) != NULL;
	return at == text || !isalnum((unsigned char)at[-1]) || !isalnum((unsigned char)at[1]);
}

void escape_markdown(FILE *to, const char *text)
{
	char *shown = escape_text(text);
	for (const char *at = shown; *at != '\0'; at++)
		fprintf(to, is_markup(shown, at) ? "\\%c" : "%c", *at);
	free(shown);
}

// Whether a spreadsheet would compute it.
static bool is_formula(const char *text)
{
	char *end;
	strtod(text, &end);
	bool is_number = *end == '\0' && end != text;
	return text[0] != '\0' && strchr("=+-@\t\r", text[0]) != NULL && !is_number;
}

void escape_cell(FILE *to, const char *text)
{
	char *shown = escape_text(text);
	const char *quote = strpbrk(shown, ",\"") == NULL ? "" : "\"";
	fprintf(to, "%s%s", quote, is_formula(text) ? "'" : "");
	for (const char *at = shown; *at != '\0'; at++)
		fprintf(to, *at == '"' ? "\"\"" : "%c", *at);
	fputs(quote, to);
	free(shown);
}

// ---------------------------------------------------------------- streams

struct stream {
	struct stream *next; // of those that are open: some stay so until the program ends
	FILE *to;
	FILE *escape; // that writes into it
	size_t held_bytes;
	char held[HELD_MAX + 1];
};

static struct stream *streams;

static void forget(const struct stream *stream)
{
	struct stream **at = &streams;
	while (*at != stream)
		at = &(*at)->next;
	*at = stream->next;
}

// The character that was held back, now that more of it has come. Returns how much of `text` it
// took.
static size_t end_held(struct stream *stream, const char *text, size_t bytes)
{
	size_t taken = 0;
	while (stream->held_bytes > 0) {
		size_t used = put_first(stream->to, stream->held, stream->held_bytes, "\n\t");
		if (used == 0 && taken == bytes)
			break;
		if (used == 0)
			stream->held[stream->held_bytes++] = text[taken++];
		stream->held_bytes -= used;
		memmove(stream->held, stream->held + used, stream->held_bytes);
	}
	return taken;
}

static ssize_t stream_write(void *cookie, const char *text, size_t bytes)
{
	struct stream *stream = cookie;
	size_t at = end_held(stream, text, bytes);
	while (at < bytes) {
		size_t used = put_first(stream->to, text + at, bytes - at, "\n\t");
		if (used == 0) {
			stream->held_bytes = bytes - at;
			memcpy(stream->held, text + at, bytes - at);
			break;
		}
		at += used;
	}
	return fflush(stream->to) == 0 && ferror(stream->to) == 0 ? (ssize_t)bytes : 0;
}

static int stream_close(void *cookie)
{
	struct stream *stream = cookie;
	for (size_t i = 0; i < stream->held_bytes; i++)
		fprintf(stream->to, "[0x%02X]", (uint8_t)stream->held[i]);
	int failed = fflush(stream->to);
	forget(stream);
	free(stream);
	return failed;
}

FILE *escape_open(FILE *to)
{
	const cookie_io_functions_t calls = {.write = stream_write, .close = stream_close};
	struct stream *stream = calloc(1, sizeof(*stream));
	if (stream == NULL)
		return NULL;
	stream->to = to;
	FILE *escape = fopencookie(stream, "w", calls);
	if (escape == NULL) {
		free(stream);
		return NULL;
	}
	stream->escape = escape;
	stream->next = streams;
	streams = stream;
	return escape;
}

void escape_code(FILE *to, const char *code)
{
	const struct stream *stream = streams;
	while (stream != NULL && stream->escape != to)
		stream = stream->next;
	if (stream != NULL)
		fflush(to); // what stands before the code
	fprintf(stream != NULL ? stream->to : to, "\033[%sm", code);
}

int escape_close(FILE *escape)
{
	bool has_failed = fflush(escape) != 0 || ferror(escape) != 0;
	return fclose(escape) != 0 || has_failed ? -EIO : 0;
}

void escape_shell(char *ret, size_t bytes, const char *word)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				    "0123456789-_=./,:%@+";
	bool is_plain = word[0] != '\0' && word[strspn(word, plain)] == '\0';
	const char *mark = is_plain ? "" : "'";
	size_t used = (size_t)snprintf(ret, bytes, "%s", mark);
	for (const char *at = word; *at != '\0' && used < bytes; at++)
		used += (size_t)snprintf(ret + used, bytes - used, *at == '\'' ? "'\\''" : "%c",
					 *at);
	if (used < bytes)
		snprintf(ret + used, bytes - used, "%s", mark);
}
