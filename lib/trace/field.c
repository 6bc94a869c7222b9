// SPDX-License-Identifier: Apache-2.0
#include "field.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

// `flags` of jansson, which reads at most 2048 deep.
static json_t *read_root(const struct trace_input *input, size_t flags)
{
	json_error_t error;
	json_t *root = json_loadb(input->text, input->bytes, flags, &error);
	if (root != NULL)
		return root;
	struct refusal *refusal = input->refusal;
	refusal->line = error.line > 0 ? (uint32_t)error.line : 0;
	refusal->column = error.column > 0 ? (uint32_t)error.column : 0;
	const char *twice = json_error_code(&error) == json_error_duplicate_key
		? strstr(error.text, "near ")
		: NULL;
	snprintf(refusal->text, sizeof(refusal->text), "%s%.200s",
		 twice != NULL ? "a name stands twice, " : "not JSON: ",
		 twice != NULL ? twice : error.text);
	for (char *at = refusal->text; *at != '\0'; at++)
		if (*at < ' ' || *at > '~')
			*at = '?';
	return NULL;
}

json_t *field_root(const struct trace_input *input)
{
	return read_root(input, 0);
}

json_t *field_root_once(const struct trace_input *input)
{
	return read_root(input, JSON_REJECT_DUPLICATES);
}

const json_t *field_list(const struct trace_input *input, const json_t *object, const char *name)
{
	const json_t *list = json_object_get(object, name);
	if (json_is_array(list))
		return list;
	snprintf(input->refusal->text, sizeof(input->refusal->text), "there is no list \"%s\"",
		 name);
	return NULL;
}

int field_refuse(const struct trace_input *input, uint32_t place, const char *name,
		 const char *what)
{
	snprintf(input->refusal->text, sizeof(input->refusal->text), "record %u: %.60s %.200s",
		 place, name, what);
	return -EINVAL;
}

int field_each(struct trace_input *input, const char *name,
	       int (*take)(struct trace_input *input, const json_t *from, uint32_t place))
{
	json_t *root = field_root(input);
	const json_t *list = root == NULL ? NULL : field_list(input, root, name), *from;
	int rc = list == NULL ? -EINVAL : 0;
	size_t i;
	json_array_foreach(list, i, from) if (rc == 0)
	{
		struct input_mark mark = input_mark(input);
		rc = input_settle(input, mark, take(input, from, (uint32_t)i + 1));
	}
	input->rank->records = json_array_size(list);
	json_decref(root);
	return rc;
}

int field_number(const struct trace_input *input, uint32_t place, const json_t *value,
		 const char *name, int64_t max, uint64_t *ret)
{
	char what[80];
	if (json_is_integer(value) && json_integer_value(value) >= 0 &&
	    json_integer_value(value) <= max) {
		*ret = (uint64_t)json_integer_value(value);
		return 0;
	}
	snprintf(what, sizeof(what), "must be a whole number from 0 to %lld", (long long)max);
	return field_refuse(input, place, name, what);
}

int field_micros(const struct trace_input *input, uint32_t place, const json_t *value,
		 const char *name, ps_t *ret)
{
	*ret = 0;
	if (value == NULL)
		return 0;
	if (json_is_number(value) && micros_ps(json_number_value(value), ret) == 0)
		return 0;
	return field_refuse(input, place, name, "is not a number of microseconds, 0 to 106 days");
}

bool field_has_parts(const struct trace_node *node, uint64_t ranks, uint64_t in, const json_t *out)
{
	uint64_t elements = (uint64_t)json_integer_value(out);
	if (!json_is_integer(out))
		return true; // not said
	switch (node->collective) {
	case TRACE_COLLECTIVE_ALL_REDUCE:
		return elements == in;
	case TRACE_COLLECTIVE_ALL_GATHER:
		return elements == in * ranks;
	case TRACE_COLLECTIVE_REDUCE_SCATTER:
		return elements * ranks == in;
	default:
		return true;
	}
}

const char *field_text(const json_t *object, const char *name)
{
	const char *text = json_string_value(json_object_get(object, name));
	return text == NULL ? "" : text;
}

uint32_t field_type_bytes(const char *name)
{
	static const struct {
		const char *name;
		uint32_t bytes;
	} types[] = {
		{"Float", 4},	     {"BFloat16", 2},	    {"Half", 2},
		{"Double", 8},	     {"Long", 8},	    {"Int", 4},
		{"Short", 2},	     {"Byte", 1},	    {"Char", 1},
		{"Bool", 1},	     {"Float8_e4m3fn", 1},  {"Float8_e5m2", 1},
		{"ComplexFloat", 8}, {"ComplexDouble", 16},
	};
	for (unsigned i = 0; i < sizeof(types) / sizeof(*types); i++)
		if (strcmp(types[i].name, name) == 0)
			return types[i].bytes;
	return 0;
}
