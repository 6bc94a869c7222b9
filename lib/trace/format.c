// SPDX-License-Identifier: Apache-2.0
// Which format a text has: by what it begins with, never by its name.

#include <errno.h>
#include <string.h>

#include <weft/core/check.h>
#include <weft/trace/trace.h>

static const char *const names[] = {"chakra", "chakra-json", "pytorch",	 "kineto", "simai",
				    "aicb",   "micro",	     "aicb-csv", "goal"};
_Static_assert(sizeof(names) / sizeof(*names) == TRACE_FORMAT_COUNT, "a name for each");

const char *trace_format_name(enum trace_format format)
{
	check((unsigned)format < TRACE_FORMAT_COUNT);
	return names[format];
}

bool trace_is_packed(const char *text, size_t bytes)
{
	return bytes >= 2 && (uint8_t)text[0] == 0x1f && (uint8_t)text[1] == 0x8b;
}

static bool holds(const char *text, size_t bytes, const char *word)
{
	return memmem(text, bytes, word, strlen(word)) != NULL;
}

static bool begins(const char *text, size_t bytes, const char *word)
{
	return bytes >= strlen(word) && memcmp(text, word, strlen(word)) == 0;
}

static size_t first_line(const char *text, size_t bytes)
{
	const char *end = memchr(text, '\n', bytes);
	return end == NULL ? bytes : (size_t)(end - text);
}

// A file of Chakra begins with a short message of metadata: its length, then field 1 or 2, whose
// own length fits into it. Blank lines of a text look alike, up to there.
static bool is_chakra(const char *text, size_t bytes)
{
	size_t at = 0, length = 0;
	if (bytes > 0 && text[0] == 0) // metadata without a field
		return true;
	for (; at < bytes && at < 4 && (uint8_t)text[at] >= 0x80; at++)
		length |= ((size_t)text[at] & 0x7f) << (7 * at);
	length |= at < bytes ? ((size_t)text[at] & 0x7f) << (7 * at) : 0;
	if (at + 2 >= bytes || (text[at + 1] != 0x0a && text[at + 1] != 0x12))
		return false;
	uint8_t field = (uint8_t)text[at + 2];
	return field >= 0x80 || field + (size_t)2 <= length;
}

static bool is_json(enum trace_format *ret, const char *text, size_t bytes)
{
	size_t at = 0;
	while (at < bytes && strchr(" \t\r\n", text[at]) != NULL && text[at] != '\0')
		at++;
	if (at == bytes || text[at] != '{')
		return false;
	if (holds(text, bytes, "\"workload_graph\""))
		*ret = TRACE_FORMAT_CHAKRA_JSON;
	else if (holds(text, bytes, "\"traceEvents\""))
		*ret = TRACE_FORMAT_KINETO;
	else if (holds(text, bytes, "\"nodes\""))
		*ret = TRACE_FORMAT_PYTORCH;
	else
		return false;
	return true;
}

// GOAL begins with num_ranks, behind blanks and comments.
static bool is_goal(const char *text, size_t bytes)
{
	size_t at = 0;
	while (at < bytes) {
		bool is_line = begins(text + at, bytes - at, "//");
		const char *ending = is_line ? "\n" : "*/";
		if (text[at] != '\0' && strchr(" \t\r\n", text[at]) != NULL) {
			at++;
		} else if (is_line || begins(text + at, bytes - at, "/*")) {
			const char *end = memmem(text + at, bytes - at, ending, strlen(ending));
			at = end == NULL ? bytes : (size_t)(end - text) + strlen(ending);
		} else {
			break;
		}
	}
	return begins(text + at, bytes - at, "num_ranks");
}

// AICB's "[ pp_stage0: [rank0, rank1] ]".
static bool is_section(const char *text, size_t line)
{
	return begins(text, line, "[") && holds(text, line, ": [rank");
}

int trace_recognise(enum trace_format *ret, const char *text, size_t bytes, struct refusal *refusal)
{
	size_t line = first_line(text, bytes);
	if (bytes == 0)
		return refuse(refusal, -EINVAL, "the file is empty");
	if (is_json(ret, text, bytes))
		return 0;
	if (begins(text, bytes, "MICRO"))
		*ret = TRACE_FORMAT_MICRO;
	else if (begins(text, bytes, "HYBRID_TRANSFORMER"))
		*ret = holds(text, line, "all_gpus") ? TRACE_FORMAT_SIMAI : TRACE_FORMAT_AICB;
	else if (begins(text, bytes, "comm_type,") || begins(text, bytes, "[rank") ||
		 is_section(text, line))
		*ret = TRACE_FORMAT_AICB_CSV;
	else if (is_goal(text, bytes))
		*ret = TRACE_FORMAT_GOAL;
	else if (is_chakra(text, bytes))
		*ret = TRACE_FORMAT_CHAKRA;
	else
		return refuse(refusal, -EINVAL,
			      "not a trace of a known format: Chakra (messages or JSON), "
			      "execution trace of PyTorch, Kineto, text of SimAI or AICB, CSV of "
			      "AICB, GOAL; name it with --format if it is one");
	return 0;
}
