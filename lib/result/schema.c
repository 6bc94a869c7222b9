// SPDX-License-Identifier: Apache-2.0
// A JSON text held against a schema.

#include <weft/result/schema.h>

#include <stdio.h>
#include <string.h>

#include <weft/core/check.h>

static bool holds(struct schema_fault *fault, const json_t *schema, const json_t *value);

static bool is_of(const char *type, const json_t *value)
{
	static const struct {
		const char *name;
		json_type type;
	} types[] = {{"object", JSON_OBJECT},	{"array", JSON_ARRAY},	 {"string", JSON_STRING},
		     {"integer", JSON_INTEGER}, {"number", JSON_REAL},	 {"number", JSON_INTEGER},
		     {"boolean", JSON_TRUE},	{"boolean", JSON_FALSE}, {"null", JSON_NULL}};
	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
		if (strcmp(types[i].name, type) == 0 && types[i].type == json_typeof(value))
			return true;
	return false;
}

static bool type_holds(struct schema_fault *fault, const json_t *type, const json_t *value)
{
	size_t i;
	const json_t *each;
	const char *first = json_string_value(type);
	if (type == NULL || (first != NULL && is_of(first, value)))
		return true;
	json_array_foreach(type, i, each)
	{
		first = first == NULL ? json_string_value(each) : first;
		if (is_of(json_string_value(each), value))
			return true;
	}
	snprintf(fault->text, sizeof(fault->text), "is of a wrong type: %s is needed", first);
	return false;
}

static bool step_holds(struct schema_fault *fault, const json_t *schema, const json_t *value,
		       const char *step)
{
	size_t used = strlen(fault->path);
	snprintf(fault->path + used, sizeof(fault->path) - used, "%s%s",
		 used > 0 && *step != '[' ? "." : "", step);
	if (!holds(fault, schema, value))
		return false;
	fault->path[used] = '\0';
	return true;
}

static bool lacks(struct schema_fault *fault, const char *name)
{
	size_t used = strlen(fault->path);
	snprintf(fault->path + used, sizeof(fault->path) - used, "%s%.80s", used > 0 ? "." : "",
		 name);
	return false;
}

static bool object_holds(struct schema_fault *fault, const json_t *schema, const json_t *value)
{
	const json_t *known = json_object_get(schema, "properties"), *each;
	const json_t *others = json_object_get(schema, "additionalProperties");
	const char *name;
	json_t *field;
	size_t i;
	json_array_foreach(json_object_get(schema, "required"), i, each)
	{
		if (json_object_get(value, json_string_value(each)) != NULL)
			continue;
		snprintf(fault->text, sizeof(fault->text), "is missing");
		return lacks(fault, json_string_value(each));
	}
	json_object_foreach((json_t *)value, name, field)
	{
		const json_t *one = json_object_get(known, name);
		if (one == NULL && json_is_false(others)) {
			snprintf(fault->text, sizeof(fault->text), "is not a known field");
			return lacks(fault, name);
		}
		one = one == NULL && json_is_object(others) ? others : one;
		if (one != NULL && !step_holds(fault, one, field, name))
			return false;
	}
	return true;
}

static bool array_holds(struct schema_fault *fault, const json_t *schema, const json_t *value)
{
	const json_t *items = json_object_get(schema, "items"), *each;
	size_t i;
	char step[32];
	if (items == NULL)
		return true;
	json_array_foreach(value, i, each)
	{
		snprintf(step, sizeof(step), "[%zu]", i);
		if (!step_holds(fault, items, each, step))
			return false;
	}
	return true;
}

static bool holds(struct schema_fault *fault, const json_t *schema, const json_t *value)
{
	const json_t *is = json_object_get(schema, "const");
	const json_t *least = json_object_get(schema, "minimum");
	if (!type_holds(fault, json_object_get(schema, "type"), value))
		return false;
	if (is != NULL && !json_equal(is, value)) {
		snprintf(fault->text, sizeof(fault->text), "is not what it has to be");
		return false;
	}
	if (least != NULL && json_is_number(value) &&
	    !(json_number_value(value) >= json_number_value(least))) {
		snprintf(fault->text, sizeof(fault->text), "is below %g", json_number_value(least));
		return false;
	}
	if (json_is_object(value))
		return object_holds(fault, schema, value);
	return !json_is_array(value) || array_holds(fault, schema, value);
}

bool schema_holds(struct schema_fault *ret, const json_t *schema, const json_t *value)
{
	check(json_is_object(schema));
	*ret = (struct schema_fault){0};
	return holds(ret, schema, value);
}
