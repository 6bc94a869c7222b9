// SPDX-License-Identifier: Apache-2.0
// Two runs, field by field. Elements of lists are matched by what they are called, and by their
// place where they have no name.

#include <errno.h>
#include <math.h>
#include <string.h>

#include "study.h"

#define LIST_NAMES 7

struct walk {
	struct run_diff *run_diff;
	int rc;
};

// What is of the machine or of the call, and not of the network.
static bool is_left_out(const char *name)
{
	static const char *const names[] = {"speed",   "pace", "capture", "fidelity",
					    "command", "weft", "schema"};
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strcmp(name, names[i]) == 0)
			return true;
	return false;
}

static void take_word(char ret[48], const json_t *value)
{
	if (json_is_string(value))
		snprintf(ret, 48, "%.47s", json_string_value(value));
	else if (json_is_boolean(value))
		strcpy(ret, json_is_true(value) ? "true" : "false");
	else if (json_is_null(value))
		strcpy(ret, "null");
}

static void add_leaf(struct walk *walk, const char *name, const json_t *a, const json_t *b)
{
	struct run_diff_row *row = run_diff_add(walk->run_diff);
	if (row == NULL) {
		walk->rc = -ENOMEM;
		return;
	}
	snprintf(row->name, sizeof(row->name), "%s", name);
	take_word(row->word_a, a);
	take_word(row->word_b, b);
	row->a = json_is_number(a) ? json_number_value(a) : NAN;
	row->b = json_is_number(b) ? json_number_value(b) : NAN;
	row->runs_a = row->runs_b = 1;
	bool are_numbers = json_is_number(a) && json_is_number(b);
	bool is_equal = are_numbers ? row->a == row->b : json_equal(a, b);
	row->are_words_other = !are_numbers && !is_equal;
	row->verdict = is_equal ? SPREAD_SAME : SPREAD_UNKNOWN;
}

// What an element of a list is called; NULL: nothing.
static const char *element_name(const json_t *element)
{
	static const char *const names[LIST_NAMES] = {"name", "pair", "reason", "label",
						      "text", "key",  "group"};
	for (size_t i = 0; i < LIST_NAMES; i++) {
		const json_t *value = json_object_get(element, names[i]);
		if (json_is_string(value))
			return json_string_value(value);
	}
	return NULL;
}

// Names are not always one of their kind: buckets may share a label.
static bool has_names(const json_t *list)
{
	for (size_t i = 0; i < json_array_size(list); i++) {
		const char *name = element_name(json_array_get(list, i));
		for (size_t j = 0; name != NULL && j < i; j++)
			if (strcmp(name, element_name(json_array_get(list, j))) == 0)
				return false;
		if (name == NULL)
			return false;
	}
	return json_array_size(list) <= 64;
}

static const json_t *element_of(const json_t *list, const char *name)
{
	for (size_t i = 0; i < json_array_size(list); i++)
		if (strcmp(element_name(json_array_get(list, i)), name) == 0)
			return json_array_get(list, i);
	return NULL;
}

static void walk_values(struct walk *walk, const char *name, const json_t *a, const json_t *b);

static void walk_lists(struct walk *walk, const char *name, const json_t *a, const json_t *b)
{
	char longer[RUN_DIFF_NAME_BYTES];
	bool is_named = has_names(a) && has_names(b);
	size_t both = 0;
	for (size_t i = 0; i < json_array_size(a); i++) {
		const json_t *element = json_array_get(a, i);
		const json_t *other = is_named ? element_of(b, element_name(element))
					       : json_array_get(b, i);
		if (other == NULL) {
			walk->run_diff->only_a++;
			continue;
		}
		both++;
		if (is_named)
			snprintf(longer, sizeof(longer), "%.90s[%.60s]", name,
				 element_name(element));
		else
			snprintf(longer, sizeof(longer), "%.130s[%zu]", name, i);
		walk_values(walk, longer, element, other);
	}
	walk->run_diff->only_b += (uint32_t)(json_array_size(b) - both);
}

static void walk_objects(struct walk *walk, const char *name, const json_t *a, const json_t *b)
{
	char longer[RUN_DIFF_NAME_BYTES];
	const char *key;
	json_t *value;
	json_object_foreach((json_t *)a, key, value)
	{
		const json_t *other = json_object_get(b, key);
		if (*name == '\0' && is_left_out(key))
			continue;
		if (other == NULL) {
			walk->run_diff->only_a++;
			continue;
		}
		snprintf(longer, sizeof(longer), "%.100s%s%.50s", name, *name == '\0' ? "" : ".",
			 key);
		walk_values(walk, longer, value, other);
	}
	json_object_foreach((json_t *)b, key, value)
	{
		bool is_out = *name == '\0' && is_left_out(key);
		walk->run_diff->only_b += !is_out && json_object_get(a, key) == NULL;
	}
}

static void walk_values(struct walk *walk, const char *name, const json_t *a, const json_t *b)
{
	if (walk->rc < 0)
		return;
	if (json_is_object(a) && json_is_object(b))
		walk_objects(walk, name, a, b);
	else if (json_is_array(a) && json_is_array(b))
		walk_lists(walk, name, a, b);
	else
		add_leaf(walk, name, a, b);
}

int run_diff_runs(struct run_diff *ret, const json_t *a, const json_t *b)
{
	struct walk walk = {.run_diff = ret};
	walk_values(&walk, "", a, b);
	return walk.rc;
}
