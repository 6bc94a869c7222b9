// SPDX-License-Identifier: Apache-2.0
// A space as a file: YAML, by libyaml's documents, whose nodes keep line and column.

#include <weft/tune/space.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <yaml.h>

#define WORD_BYTES 512

struct reader {
	yaml_document_t document;
	const char *path;
	tune_word_fn *take;
	void *context;
	struct refusal *refusal;
};

static int refuse_at(struct reader *reader, yaml_mark_t mark, const char *what, const char *word)
{
	struct refusal *refusal = reader->refusal;
	refusal_name(refusal, reader->path);
	refusal->line = (uint32_t)mark.line + 1;
	refusal->column = (uint32_t)mark.column + 1;
	snprintf(refusal->text, sizeof(refusal->text), "%s `%.80s`", what, word);
	return -EINVAL;
}

static const char *text_of(const yaml_node_t *node)
{
	return node->type == YAML_SCALAR_NODE ? (const char *)node->data.scalar.value : NULL;
}

// What a word of the space says, with its place where that is refused.
static int give(struct reader *reader, const yaml_node_t *node, const char *option,
		const char *word)
{
	char text[sizeof(reader->refusal->text)];
	int rc = reader->take(reader->context, option, word, reader->refusal);
	if (rc == 0)
		return 0;
	snprintf(text, sizeof(text), "%.400s", reader->refusal->text);
	refuse_at(reader, node->start_mark, "", "");
	memcpy(reader->refusal->text, text, sizeof(text));
	return rc;
}

// The fields of a knob, in the order in which the command line has them.
static const struct {
	const char *name, *before;
} fields[] = {{"key", ""},    {"range", "="},	    {"words", "="},
	      {"scale", ":"}, {"above", ":above="}, {"when", ":when="}};
#define FIELD_COUNT (sizeof(fields) / sizeof(*fields))

// A value as a word of the command line: text, or a list of texts. NULL: it is neither.
static const char *value_of(struct reader *reader, const yaml_node_t *node, char list[WORD_BYTES])
{
	size_t used = 0;
	if (node->type != YAML_SEQUENCE_NODE)
		return text_of(node);
	list[0] = '\0';
	for (yaml_node_item_t *item = node->data.sequence.items.start;
	     item < node->data.sequence.items.top; item++) {
		const char *text = text_of(yaml_document_get_node(&reader->document, *item));
		if (text == NULL || used + strlen(text) + 2 > WORD_BYTES)
			return NULL;
		used += (size_t)snprintf(list + used, WORD_BYTES - used, "%s%s",
					 used > 0 ? "," : "", text);
	}
	return list;
}

static int read_knob(struct reader *reader, const yaml_node_t *node)
{
	const char *values[FIELD_COUNT] = {NULL};
	char word[WORD_BYTES], list[WORD_BYTES];
	size_t used = 0;
	if (node->type != YAML_MAPPING_NODE)
		return refuse_at(reader, node->start_mark, "a knob is keys and values, not",
				 "this");
	for (yaml_node_pair_t *pair = node->data.mapping.pairs.start;
	     pair < node->data.mapping.pairs.top; pair++) {
		yaml_node_t *key = yaml_document_get_node(&reader->document, pair->key);
		yaml_node_t *node_of = yaml_document_get_node(&reader->document, pair->value);
		const char *name = text_of(key), *value;
		size_t i = 0;
		while (i < FIELD_COUNT && (name == NULL || strcmp(fields[i].name, name) != 0))
			i++;
		if (i == FIELD_COUNT)
			return refuse_at(
				reader, key->start_mark,
				"a knob has key, range or words, scale, above and when, not",
				name != NULL ? name : "this");
		if (values[i] != NULL)
			return refuse_at(reader, key->start_mark, "given twice:", name);
		bool is_list = node_of->type == YAML_SEQUENCE_NODE;
		value = is_list && strcmp(name, "words") != 0 ? NULL
							      : value_of(reader, node_of, list);
		if (value == NULL)
			return refuse_at(reader, node_of->start_mark,
					 is_list && strcmp(name, "words") == 0
						 ? "not a short list of words:"
						 : "not one word:",
					 name);
		values[i] = value;
	}
	if (values[0] == NULL || (values[1] == NULL) == (values[2] == NULL))
		return refuse_at(reader, node->start_mark, "a knob has a key, and a range or",
				 "words");
	for (size_t i = 0; i < FIELD_COUNT && used < sizeof(word); i++)
		if (values[i] != NULL)
			used += (size_t)snprintf(word + used, sizeof(word) - used, "%s%s",
						 fields[i].before, values[i]);
	return give(reader, node, "knob", word);
}

static int read_knobs(struct reader *reader, const yaml_node_t *node)
{
	int rc = 0;
	if (node->type != YAML_SEQUENCE_NODE)
		return refuse_at(reader, node->start_mark, "knobs are a list, not", "this");
	for (yaml_node_item_t *item = node->data.sequence.items.start;
	     rc == 0 && item < node->data.sequence.items.top; item++)
		rc = read_knob(reader, yaml_document_get_node(&reader->document, *item));
	return rc;
}

static int read_top(struct reader *reader)
{
	yaml_node_t *root = yaml_document_get_root_node(&reader->document);
	int rc = 0;
	if (root == NULL || root->type != YAML_MAPPING_NODE)
		return refuse_at(reader, (yaml_mark_t){0}, "a space is keys and values, not",
				 "this");
	for (yaml_node_pair_t *pair = root->data.mapping.pairs.start;
	     rc == 0 && pair < root->data.mapping.pairs.top; pair++) {
		yaml_node_t *key = yaml_document_get_node(&reader->document, pair->key);
		yaml_node_t *value = yaml_document_get_node(&reader->document, pair->value);
		const char *name = text_of(key), *text = text_of(value);
		if (name != NULL && strcmp(name, "knobs") == 0)
			rc = read_knobs(reader, value);
		else if (name != NULL && strcmp(name, "off") == 0 && text != NULL)
			rc = give(reader, value, "off", text);
		else if (name == NULL || text == NULL ||
			 (strcmp(name, "name") != 0 && strcmp(name, "description") != 0))
			rc = refuse_at(reader, key->start_mark,
				       "a space has name, description, off and knobs, not",
				       name != NULL ? name : "this");
	}
	return rc;
}

int tune_space_read(const char *path, const char *text, size_t bytes, tune_word_fn *take,
		    void *context, struct refusal *refusal)
{
	struct reader reader = {.path = path, .take = take, .context = context, .refusal = refusal};
	yaml_parser_t parser;
	if (!yaml_parser_initialize(&parser))
		return refuse(refusal, -ENODEV, "not enough memory for a space");
	yaml_parser_set_input_string(&parser, (const unsigned char *)text, bytes);
	int rc;
	if (yaml_parser_load(&parser, &reader.document)) {
		rc = read_top(&reader);
		yaml_document_delete(&reader.document);
	} else {
		rc = refuse_at(&reader, parser.problem_mark,
			       "no YAML:", parser.problem != NULL ? parser.problem : "");
	}
	yaml_parser_delete(&parser);
	return rc;
}
