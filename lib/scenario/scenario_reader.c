// SPDX-License-Identifier: Apache-2.0
// What every part of reading a scenario asks of the reader: where a key stands, whether it was
// given, its default; and how a scenario is refused.

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <weft/core/check.h>

#include "scenario_presets.h"
#include "scenario_reader.h"

int reader_refuse(struct reader *reader, struct mark mark, const char *format, ...)
{
	struct refusal *refusal = reader->refusal;
	va_list arguments;
	refusal_name(refusal, mark.is_set ? "--set" : reader->path);
	refusal->line = mark.line;
	refusal->column = mark.column;
	va_start(arguments, format);
	vsnprintf(refusal->text, sizeof(refusal->text), format, arguments);
	va_end(arguments);
	if (reader->scenario != NULL && reader->scenario->preset != PRESET_NONE) {
		size_t used = strlen(refusal->text);
		char reason[160];
		reader_preset_reason(reader, refusal->text, reason, sizeof(reason));
		snprintf(refusal->text + used, sizeof(refusal->text) - used, "%s", reason);
	}
	return -EINVAL;
}

bool reader_is_given(const struct reader *reader, const char *path)
{
	int index = key_find(reader->table, path);
	check(index >= 0);
	return reader->is_given[index];
}

struct mark reader_mark(const struct reader *reader, const char *path)
{
	return reader_is_given(reader, path) ? reader->value_marks[key_find(reader->table, path)]
					     : reader->root;
}

int reader_store(struct reader *reader, void *base, const struct scenario_key *key,
		 const struct scalar *scalar, struct mark mark)
{
	struct refusal reason;
	int rc = value_store(base, key, scalar, &reason);
	if (rc != 0)
		return reader_refuse(reader, mark, "%s: %s", key->path, reason.text);
	return 0;
}

// Whether the table's default of this key can be read as a value.
static bool has_default(const struct scenario_key *key)
{
	bool is_nothing = strcmp(key->value, "-") == 0 || strcmp(key->unit, "list") == 0;
	return !is_nothing && !scenario_key_is_required(key) && !scenario_key_is_element(key);
}

static void store_default(void *base, const struct scenario_key *key)
{
	const struct scalar value = {key->value, strlen(key->value), true};
	struct refusal refusal;
	if (has_default(key)) {
		int rc = value_store(base, key, &value, &refusal);
		check(rc == 0); // the table keeps to its own rules
	}
}

void reader_forget(struct reader *reader, int index)
{
	reader->is_given[index] = false;
	reader->is_preset[index] = false;
	reader->lists[index] = NULL;
	const struct scenario_key *key = &scenario_keys()[index];
	memset((uint8_t *)reader->scenario + key->offset, 0, key->size); // not all have a default
	store_default(reader->scenario, key);
}

void reader_defaults(const struct key_table *table, void *base)
{
	for (const struct scenario_key *key = table->keys; key->path != NULL; key++)
		store_default(base, key);
}

void scenario_defaults(struct scenario *ret)
{
	memset(ret, 0, sizeof(*ret));
	reader_defaults(&scenario_table, ret);
	ret->traffic.flows = ret->flows;
	ret->fabric.graph.names = ret->node_names;
	ret->fabric.graph.links = ret->graph_links;
	ret->fabric.trunk_sample_kept = 1;
	ret->fabric.trunk_sample_of = 1;
}

struct mark document_mark(const yaml_node_t *node)
{
	return (struct mark){(uint32_t)node->start_mark.line + 1,
			     (uint32_t)node->start_mark.column + 1, false};
}

struct mark reader_element_mark(const struct reader *reader, const yaml_node_t *node,
				const char *path)
{
	return reader_is_given(reader, path) ? reader_mark(reader, path) : document_mark(node);
}

int reader_read_list(struct reader *reader, yaml_document_t *document, const char *path,
		     uint32_t count_max, read_element_fn *read_element)
{
	int key = key_find(reader->table, path);
	const yaml_node_t *node = reader->lists[key];
	if (!reader->is_given[key])
		return 0;
	uint32_t index = 0;
	const yaml_node_item_t *item = node->data.sequence.items.start;
	for (; item < node->data.sequence.items.top; item++, index++) {
		const yaml_node_t *element = yaml_document_get_node(document, *item);
		if (index == count_max)
			return reader_refuse(reader, document_mark(element),
					     "%s: there are more than %u", path, count_max);
		if (element == node)
			return reader_refuse(reader, document_mark(element),
					     "%s: an alias leads back to what contains it", path);
		int rc = read_element(reader, document, element, index);
		if (rc != 0)
			return rc;
	}
	return 0;
}
