// SPDX-License-Identifier: Apache-2.0
// From a result to its leaves.

#include "flatten.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

struct walk {
	void (*take)(const struct flatten_leaf *leaf, void *context);
	void *context;
	struct flatten_leaf leaf;
	char path[FLATTEN_PATH_BYTES];
	char indexes[FLATTEN_LABELS_MAX][24];
};

static void walk_object(struct walk *walk, const json_t *object, bool has_labels);

static bool is_reason(const char *key)
{
	size_t length = strlen(key);
	return length > 7 && strcmp(key + length - 7, "_reason") == 0;
}

static void add_label(struct walk *walk, const char *key, const char *value)
{
	struct flatten_leaf *leaf = &walk->leaf;
	if (leaf->label_count < FLATTEN_LABELS_MAX)
		leaf->labels[leaf->label_count++] = (struct flatten_label){key, value};
}

// The words of an element, or its place in the list where it has none.
static void label_element(struct walk *walk, const json_t *element, size_t index)
{
	const char *key;
	json_t *value;
	uint32_t first = walk->leaf.label_count;
	json_object_foreach((json_t *)element, key, value)
	{
		if (json_is_string(value) && !is_reason(key))
			add_label(walk, key, json_string_value(value));
	}
	uint32_t depth = first < FLATTEN_LABELS_MAX ? first : FLATTEN_LABELS_MAX - 1;
	snprintf(walk->indexes[depth], sizeof(walk->indexes[depth]), "%zu", index);
	add_label(walk, "index", walk->indexes[depth]);
}

static void walk_list(struct walk *walk, const json_t *list)
{
	const json_t *each;
	size_t i, used = strlen(walk->path);
	uint32_t labels = walk->leaf.label_count;
	snprintf(walk->path + used, sizeof(walk->path) - used, "[]");
	json_array_foreach(list, i, each)
	{
		if (!json_is_object(each))
			continue;
		label_element(walk, each, i);
		walk_object(walk, each, true);
		walk->leaf.label_count = labels;
	}
}

static void walk_leaf(struct walk *walk, const json_t *object, const char *key, const json_t *value)
{
	char name[96];
	snprintf(name, sizeof(name), "%s_reason", key);
	walk->leaf.path = walk->path;
	walk->leaf.value = value;
	walk->leaf.reason = json_string_value(json_object_get(object, name));
	walk->take(&walk->leaf, walk->context);
}

static void walk_object(struct walk *walk, const json_t *object, bool has_labels)
{
	const char *key;
	json_t *value;
	size_t used = strlen(walk->path);
	json_object_foreach((json_t *)object, key, value)
	{
		if (is_reason(key) || (has_labels && json_is_string(value)))
			continue;
		snprintf(walk->path + used, sizeof(walk->path) - used, "%s%s", used > 0 ? "." : "",
			 key);
		if (json_is_object(value))
			walk_object(walk, value, false);
		else if (json_is_array(value))
			walk_list(walk, value);
		else
			walk_leaf(walk, object, key, value);
		walk->path[used] = '\0';
	}
}

void flatten_walk(const json_t *result,
		  void (*take)(const struct flatten_leaf *leaf, void *context), void *context)
{
	struct walk walk = {.take = take, .context = context};
	walk_object(&walk, result, false);
}
