// SPDX-License-Identifier: Apache-2.0
// The result.json of a fake run, and its fields by their way.
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <jansson.h>

#include "result_timed.h"

__attribute__((unused)) static json_t *json_of(const struct fake *fake)
{
	char *text = NULL;
	size_t bytes = 0;
	FILE *to = open_memstream(&text, &bytes);
	assert_non_null(to);
	assert_int_equal(report_json(to, &fake->input), 0);
	fclose(to);
	json_error_t error;
	json_t *root = json_loads(text, JSON_REJECT_DUPLICATES, &error);
	assert_non_null(root);
	free(text);
	return root;
}

// The value at "a.b.2.c".
__attribute__((unused)) static const json_t *at(const json_t *root, const char *path)
{
	char copy[128], *rest = copy;
	snprintf(copy, sizeof(copy), "%s", path);
	for (char *key = strsep(&rest, "."); key != NULL; key = strsep(&rest, ".")) {
		root = json_is_array(root) ? json_array_get(root, strtoul(key, NULL, 10))
					   : json_object_get(root, key);
		assert_non_null(root);
	}
	return root;
}

__attribute__((unused)) static int64_t number_at(const json_t *root, const char *path)
{
	assert_true(json_is_integer(at(root, path)));
	return json_integer_value(at(root, path));
}

__attribute__((unused)) static const char *text_at(const json_t *root, const char *path)
{
	assert_true(json_is_string(at(root, path)));
	return json_string_value(at(root, path));
}

__attribute__((unused)) static void reason_is(const json_t *root, const char *path,
					      const char *reason)
{
	char name[128];
	snprintf(name, sizeof(name), "%s_reason", path);
	assert_true(json_is_null(at(root, path)));
	assert_string_equal(text_at(root, name), reason);
}
