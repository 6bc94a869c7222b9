// SPDX-License-Identifier: Apache-2.0
// Fields of result.json.

#include <weft/result/put.h>

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <weft/core/check.h>
#include <weft/core/check_memory.h>

#include "sections/sections.h"

#define PATH_BYTES 128

// What jansson reads without memory would seem damaged, and what it writes would have holes.
static void *take_memory(size_t bytes)
{
	void *ret = malloc(bytes);
	check_memory(ret != NULL);
	return ret;
}

__attribute__((constructor)) static void end_without_memory(void)
{
	json_set_alloc_funcs(take_memory, free);
}

void put(json_t *to, const char *key, json_t *value)
{
	int failed = json_object_set_new(to, key, value);
	check(failed == 0);
}

void put_count(json_t *to, const char *key, uint64_t value)
{
	check(value <= INT64_MAX);
	put(to, key, json_integer((json_int_t)value));
}

void put_text(json_t *to, const char *key, const char *text)
{
	json_t *value = text == NULL ? json_null() : json_string(text);
	put(to, key, value != NULL ? value : json_string("(not UTF-8)"));
}

void put_real(json_t *to, const char *key, double value)
{
	put(to, key, isfinite(value) ? json_real(value) : json_null());
}

void put_time(json_t *to, const char *key, ps_t value)
{
	put(to, key, value == PS_NEVER ? json_null() : json_integer(value));
}

void put_known(json_t *to, const char *key, bool is_known, int64_t value)
{
	put(to, key, is_known ? json_integer(value) : json_null());
}

// A null, and why in `<key>_reason`.
void put_reason(json_t *to, const char *key, const char *reason)
{
	char name[64];
	snprintf(name, sizeof(name), "%s_reason", key);
	put(to, key, json_null());
	put_text(to, name, reason);
}

void put_figure(json_t *to, const char *key, const struct figure *figure)
{
	if (figure->reason != NULL)
		put_reason(to, key, figure->reason);
	else
		put(to, key, json_integer(figure->value));
}

void put_origin(json_t *to, const char *from, enum input_origin origin)
{
	bool is_known = from != NULL;
	put_text(to, "times_from", from);
	put_text(to, "times_origin", is_known ? origin_name(origin) : NULL);
	put(to, "times_assumed", is_known ? json_boolean(origin == INPUT_ASSUMED) : json_null());
}

json_t *object_in(json_t *to, const char *key)
{
	json_t *object = json_object();
	put(to, key, object);
	return object;
}

json_t *array_in(json_t *to, const char *key)
{
	json_t *array = json_array();
	put(to, key, array);
	return array;
}

json_t *row_in(json_t *array)
{
	json_t *row = json_object();
	int failed = json_array_append_new(array, row);
	check(failed == 0);
	return row;
}

const json_t *document_at(const json_t *from, const char *path)
{
	char name[PATH_BYTES];
	while (from != NULL && *path != '\0') {
		size_t length = strcspn(path, ".");
		snprintf(name, sizeof(name), "%.*s", (int)length, path);
		from = json_object_get(from, name);
		path += length + (path[length] == '.');
	}
	return from;
}

double document_number_or(const json_t *from, const char *path, double otherwise)
{
	const json_t *value = document_at(from, path);
	return json_is_number(value) ? json_number_value(value) : otherwise;
}

double document_number(const json_t *from, const char *path)
{
	return document_number_or(from, path, NAN);
}

const char *document_text(const json_t *from, const char *path)
{
	const char *text = json_string_value(document_at(from, path));
	return text != NULL ? text : "";
}

const char *document_reason(const json_t *from, const char *path)
{
	char name[PATH_BYTES];
	snprintf(name, sizeof(name), "%s_reason", path);
	return document_text(from, name);
}

const char *table_figure(struct text *ret, const json_t *result, const char *path,
			 enum table_form form)
{
	double value = document_number(result, path);
	if (isnan(value))
		return document_reason(result, path);
	switch (form) {
	case TABLE_GROUPED:
		return number_grouped(ret, (uint64_t)value);
	case TABLE_COUNT:
		return number_count(ret, (uint64_t)value);
	case TABLE_BYTES:
		return number_bytes(ret, (uint64_t)value);
	case TABLE_RATE:
		return number_rate(ret, value);
	case TABLE_TIME:
		return number_time(ret, (ps_t)value);
	case TABLE_NS:
		return number_time(ret, (ps_t)value * PS_PER_NS);
	case TABLE_MEMORY:
		return number_memory(ret, (uint64_t)value);
	case TABLE_PLAIN:
		snprintf(ret->at, sizeof(ret->at), "%.0f", value);
		return ret->at;
	case TABLE_SHARE:
		return number_share(ret, value);
	}
	return "";
}

// By a word, or by the end of a key.
static enum table_form form_of(const char *word)
{
	static const char *const ends[] = {
		[TABLE_GROUPED] = "grouped", [TABLE_COUNT] = "short",	[TABLE_BYTES] = "bytes",
		[TABLE_RATE] = "_bps",	     [TABLE_TIME] = "_ps",	[TABLE_SHARE] = "share",
		[TABLE_NS] = "_ns",	     [TABLE_MEMORY] = "memory", [TABLE_PLAIN] = "plain",
	};
	for (uint32_t i = 0; i < sizeof(ends) / sizeof(*ends); i++) {
		size_t length = strlen(word), end = strlen(ends[i]);
		if (length >= end && strcmp(word + length - end, ends[i]) == 0)
			return (enum table_form)i;
	}
	return TABLE_GROUPED;
}

void table_say(FILE *to, const json_t *of, const char *sentence)
{
	while (*sentence != '\0') {
		char key[PATH_BYTES], *width = NULL, *form = NULL;
		size_t plain = strcspn(sentence, "{"), length = strcspn(sentence + plain, "}");
		struct text text;
		fprintf(to, "%.*s", (int)plain, sentence);
		sentence += plain + length;
		if (*sentence != '}')
			return;
		snprintf(key, sizeof(key), "%.*s", (int)length - 1, sentence++ - length + 1);
		if ((form = strchr(key, ':')) != NULL)
			*form++ = '\0';
		if (form != NULL && (width = strchr(form, ',')) != NULL)
			*width++ = '\0';
		fprintf(to, "%*s", width != NULL ? atoi(width) : 0,
			json_is_string(document_at(of, key))
				? document_text(of, key)
				: table_figure(
					  &text, of, key,
					  form_of(form != NULL && *form != '\0' ? form : key)));
	}
}

void table_put_row(FILE *to, const char *name, const json_t *from, const char *path,
		   enum table_form form)
{
	struct text text;
	fprintf(to, "  %-28s %17s\n", name, table_figure(&text, from, path, form));
}

int document_print(FILE *to, json_t *root, size_t flags)
{
	errno = 0;
	bool has_failed = json_dumpf(root, to, JSON_INDENT(2) | flags) != 0;
	has_failed |= fputc('\n', to) == EOF || fflush(to) != 0;
	int error = errno != 0 ? errno : EIO;
	json_decref(root);
	return has_failed ? -error : 0;
}
