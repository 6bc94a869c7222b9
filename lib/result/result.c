// SPDX-License-Identifier: Apache-2.0
// A result read again: the one way to it.

#include <weft/result/result.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <weft/core/check.h>

#include "agreement.h"
#include <weft/result/schema.h>

// A kind of result: lists or objects that it alone has, and its schema.
static const struct {
	const char *marks[2];
	json_type type;
	const char *schema;
} kinds[] = {
	[RESULT_RUN] = {{"run", "scenario"}, JSON_OBJECT, schema_result},
	[RESULT_STUDY] = {{"points", "runs"}, JSON_ARRAY, schema_study},
	[RESULT_ACCEPTANCE] = {{"cases", "sections"}, JSON_ARRAY, schema_book},
};

#define KINDS (sizeof(kinds) / sizeof(kinds[0]))

static bool has(const json_t *fields, const char *name, json_type type)
{
	const json_t *value = json_object_get(fields, name);
	return value != NULL && json_typeof(value) == type;
}

static bool find_kind(struct result *result)
{
	for (size_t i = KINDS; i-- > 0;)
		if (has(result->fields, kinds[i].marks[0], kinds[i].type) &&
		    has(result->fields, kinds[i].marks[1], kinds[i].type)) {
			result->kind = (enum result_kind)i;
			return true;
		}
	return false;
}

static int refuse_fault(struct refusal *refusal, const char *path, const struct schema_fault *fault)
{
	char text[REFUSAL_TEXT_BYTES];
	snprintf(text, sizeof(text), "%s%s%s", fault->path, *fault->path == '\0' ? "" : " ",
		 fault->text);
	return refuse_file(refusal, -EINVAL, path, text);
}

static int check_version(const struct result *result, const json_t *schema, struct refusal *refusal)
{
	char text[REFUSAL_TEXT_BYTES];
	const json_t *said = json_object_get(result->fields, "schema");
	const json_t *known = json_object_get(
		json_object_get(json_object_get(schema, "properties"), "schema"), "const");
	if (!json_is_integer(said))
		return refuse_file(refusal, -EINVAL, result->path,
				   "schema, the version of its fields, is missing");
	if (json_equal(said, known))
		return 0;
	snprintf(text, sizeof(text),
		 "its fields are of version %" JSON_INTEGER_FORMAT "; this program knows version "
		 "%" JSON_INTEGER_FORMAT,
		 json_integer_value(said), json_integer_value(known));
	return refuse_file(refusal, -EINVAL, result->path, text);
}

static int check_fields(struct result *result, struct refusal *refusal)
{
	struct schema_fault fault;
	json_t *schema = json_loads(kinds[result->kind].schema, 0, NULL);
	if (schema == NULL)
		return refuse(refusal, -ENODEV, "not enough memory");
	int rc = check_version(result, schema, refusal);
	if (rc == 0 && !schema_holds(&fault, schema, result->fields))
		rc = refuse_fault(refusal, result->path, &fault);
	if (rc == 0 && !agreement_holds(&fault, result->kind, result->fields))
		rc = refuse_fault(refusal, result->path, &fault);
	if (rc == 0)
		result->is_partial = agreement_is_partial(result->kind, result->fields);
	json_decref(schema);
	return rc;
}

static int read_result(struct result *result, const char *text, size_t bytes,
		       struct refusal *refusal)
{
	json_error_t error;
	result->fields = json_loadb(text, bytes, JSON_REJECT_DUPLICATES, &error);
	if (result->fields == NULL) {
		int rc = refuse_file(refusal, -EINVAL, result->path, error.text);
		refusal->line = error.line > 0 ? (uint32_t)error.line : 0;
		return rc;
	}
	if (!has(result->fields, "weft", JSON_STRING) || !find_kind(result))
		return refuse_file(refusal, -EINVAL, result->path, "this is not a result of weft");
	return check_fields(result, refusal);
}

static struct result *make(const char *path)
{
	struct result *result = calloc(1, sizeof(*result));
	if (result != NULL)
		snprintf(result->path, sizeof(result->path), "%s", path);
	return result;
}

int result_parse(struct result **ret, const char *path, const char *text, size_t bytes,
		 struct refusal *refusal)
{
	struct result *result = make(path);
	*ret = NULL;
	if (result == NULL)
		return refuse(refusal, -ENODEV, "not enough memory");
	int rc = read_result(result, text, bytes, refusal);
	if (rc < 0)
		result_free(result);
	else
		*ret = result;
	return rc;
}

struct result *result_unchecked(json_t *fields, const char *path)
{
	struct result *result = make(path);
	if (result == NULL)
		return NULL;
	result->fields = fields;
	find_kind(result);
	const json_t *run = json_object_get(fields, "run");
	result->is_partial = json_is_true(json_object_get(fields, "partial")) ||
		json_is_true(json_object_get(run, "partial"));
	return result;
}

void result_free(struct result *result)
{
	if (result != NULL)
		json_decref(result->fields);
	free(result);
}

enum result_kind result_kind(const struct result *result)
{
	return result->kind;
}

const json_t *result_fields(const struct result *result)
{
	return result->fields;
}
