// SPDX-License-Identifier: Apache-2.0
// YAML to keys and values. Uses libyaml's documents, whose nodes keep line and column; what they
// mean is for scenario_keys.c and scenario_value.c. YAML's own types are not used: every value is
// read by the type of its key. Aliases are followed, merge keys and tags are refused.

#include "scenario_reader.h"

#include <errno.h>
#include <string.h>

#define TEXT_BYTES_MAX (1u << 20)
#define PATH_BYTES 64
#define NESTING_MAX 32	// more than any key needs; libyaml takes quadratic time in the depth,
#define ANCHORS_MAX 256 // and in the number of anchors

// A mapping or list that is being read, and what contains it.
struct level {
	const yaml_node_t *node;
	const struct level *above;
};

// ---------------------------------------------------------------- text

// Length of the UTF-8 character at `at`, 0 when it is none (RFC 3629: no surrogates, no overlong
// forms).
static size_t utf8_length(const uint8_t *at, size_t left)
{
	uint8_t first = at[0];
	size_t length = first < 0x80 ? 1
		: first < 0xc2	     ? 0
		: first < 0xe0	     ? 2
		: first < 0xf0	     ? 3
		: first < 0xf5	     ? 4
				     : 0;
	if (length == 0 || length > left)
		return 0;
	for (size_t i = 1; i < length; i++)
		if ((at[i] & 0xc0) != 0x80)
			return 0;
	if ((first == 0xe0 && at[1] < 0xa0) || (first == 0xed && at[1] > 0x9f) ||
	    (first == 0xf0 && at[1] < 0x90) || (first == 0xf4 && at[1] > 0x8f))
		return 0;
	return length;
}

static int refuse_byte(struct reader *reader, struct mark mark, uint8_t byte, bool is_utf8)
{
	if (!is_utf8)
		return reader_refuse(reader, mark, "byte 0x%02x is not UTF-8; a %s is UTF-8 text",
				     byte, reader->table->noun);
	return reader_refuse(reader, mark, "byte 0x%02x is a control character; a %s is text", byte,
			     reader->table->noun);
}

int document_check_text(struct reader *reader, const char *text, size_t bytes, struct mark mark)
{
	if (bytes > TEXT_BYTES_MAX)
		return reader_refuse(reader, mark, "the text has %llu bytes; a %s has at most %u",
				     (unsigned long long)bytes, reader->table->noun,
				     TEXT_BYTES_MAX);
	for (size_t at = 0; at < bytes;) {
		const uint8_t *byte = (const uint8_t *)text + at;
		size_t length = utf8_length(byte, bytes - at);
		bool is_text = *byte >= 0x20 || *byte == '\n' || *byte == '\r' || *byte == '\t';
		if (length == 0 || !is_text || *byte == 0x7f)
			return refuse_byte(reader, mark, *byte, length != 0);
		mark.column++;
		if (*byte == '\n') {
			mark.line++;
			mark.column = 1;
		}
		at += length;
	}
	return 0;
}

// ---------------------------------------------------------------- loading

// Blanks that a line begins with; -1: there is nothing else in it. `at` is behind it then.
static int indentation(const char **at, const char *end, bool *ret_has_colon)
{
	const char *from = *at, *text = from, *line_end;
	while (text < end && *text == ' ')
		text++;
	*ret_has_colon = false;
	for (line_end = text; line_end < end && *line_end != '\n'; line_end++)
		*ret_has_colon |= *line_end == ':';
	*at = line_end < end ? line_end + 1 : end;
	return text == line_end || *text == '#' ? -1 : (int)(text - from);
}

// A key without its colon goes on in the next line, and is found wrong there. True where the line
// above `line`, counted from 0, is one.
static bool lacks_colon(const yaml_parser_t *parser, size_t line, struct mark *ret)
{
	const char *at = (const char *)parser->input.string.start;
	const char *end = (const char *)parser->input.string.end;
	int above = -1;
	bool has_colon, has_one_above = true;
	for (size_t i = 0; i <= line && at < end; i++) {
		int own = indentation(&at, end, &has_colon);
		if (i == line)
			return own >= 0 && own == above && !has_one_above;
		if (own < 0)
			continue;
		above = own;
		has_one_above = has_colon;
		*ret = (struct mark){(uint32_t)i + 1, (uint32_t)own + 1, false};
	}
	return false;
}

static bool is_word(const char *text, const char *word)
{
	return text != NULL && strcmp(text, word) == 0;
}

// Some faults are found a line late: a key that has no colon, and a first line that stands further
// to the right than the others. What is open at the end of the text was opened at the place that is
// wrong, which may be far above.
static struct mark syntax_mark(const struct reader *reader, const yaml_parser_t *parser)
{
	struct mark above = reader->root;
	size_t characters = 0;
	if (above.column > 1 && is_word(parser->problem, "did not find expected <document start>"))
		return above;
	bool may_lack = is_word(parser->problem,
				"mapping values are not allowed in this context") ||
		is_word(parser->problem, "did not find expected key");
	if (may_lack && lacks_colon(parser, parser->problem_mark.line, &above))
		return above;
	for (const uint8_t *at = parser->input.string.start; at < parser->input.string.end; at++)
		characters += (*at & 0xc0) != 0x80;
	bool is_end = parser->context != NULL && parser->problem_mark.index >= characters;
	is_end = is_end || is_word(parser->context, "while scanning a simple key");
	const yaml_mark_t *mark = is_end ? &parser->context_mark : &parser->problem_mark;
	return (struct mark){(uint32_t)mark->line + 1, (uint32_t)mark->column + 1, false};
}

static int refuse_memory(struct reader *reader)
{
	reader_refuse(reader, (struct mark){0}, "not enough memory for YAML");
	return -ENODEV;
}

static int refuse_syntax(struct reader *reader, const yaml_parser_t *parser)
{
	struct mark mark = syntax_mark(reader, parser);
	if (parser->error == YAML_MEMORY_ERROR)
		return refuse_memory(reader);
	if (parser->context != NULL)
		return reader_refuse(reader, mark, "not YAML: %s (%s from line %llu)",
				     parser->problem == NULL ? "unreadable" : parser->problem,
				     parser->context,
				     (unsigned long long)parser->context_mark.line + 1);
	return reader_refuse(reader, mark, "not YAML: %s",
			     parser->problem == NULL ? "unreadable" : parser->problem);
}

// Whether the event names its node, and what it adds to the nesting.
static bool event_has_anchor(const yaml_event_t *event)
{
	switch (event->type) {
	case YAML_SCALAR_EVENT:
		return event->data.scalar.anchor != NULL;
	case YAML_SEQUENCE_START_EVENT:
		return event->data.sequence_start.anchor != NULL;
	case YAML_MAPPING_START_EVENT:
		return event->data.mapping_start.anchor != NULL;
	default:
		return false;
	}
}

static int event_depth(const yaml_event_t *event)
{
	if (event->type == YAML_SEQUENCE_START_EVENT || event->type == YAML_MAPPING_START_EVENT)
		return 1;
	return event->type == YAML_SEQUENCE_END_EVENT || event->type == YAML_MAPPING_END_EVENT ? -1
											       : 0;
}

// Goes through the events of the text once: finds its syntax errors and what nests too deep, before
// a document is made of it.
static int check_events(struct reader *reader, yaml_parser_t *parser)
{
	int depth = 0, anchors = 0, rc = 0;
	bool is_end = false;
	while (!is_end && rc == 0) {
		yaml_event_t event;
		if (!yaml_parser_parse(parser, &event))
			return refuse_syntax(reader, parser);
		struct mark mark = {(uint32_t)event.start_mark.line + 1,
				    (uint32_t)event.start_mark.column + 1, false};
		if (depth == 0 && event_depth(&event) > 0)
			reader->root = mark;
		depth += event_depth(&event);
		anchors += event_has_anchor(&event);
		is_end = event.type == YAML_STREAM_END_EVENT;
		yaml_event_delete(&event);
		if (depth > NESTING_MAX)
			rc = reader_refuse(reader, mark, "this is nested deeper than %d",
					   NESTING_MAX);
		if (anchors > ANCHORS_MAX)
			rc = reader_refuse(reader, mark, "there are more than %d anchors",
					   ANCHORS_MAX);
	}
	return rc;
}

static int document_check_events(struct reader *reader, const char *text, size_t bytes)
{
	yaml_parser_t parser;
	if (!yaml_parser_initialize(&parser))
		return refuse_memory(reader);
	yaml_parser_set_encoding(&parser, YAML_UTF8_ENCODING);
	yaml_parser_set_input_string(&parser, (const unsigned char *)text, bytes);
	int rc = check_events(reader, &parser);
	yaml_parser_delete(&parser);
	return rc;
}

// That nothing follows the first document.
static int check_last(struct reader *reader, yaml_parser_t *parser)
{
	yaml_document_t next;
	if (!yaml_parser_load(parser, &next))
		return refuse_syntax(reader, parser);
	struct mark mark = {(uint32_t)next.start_mark.line + 1,
			    (uint32_t)next.start_mark.column + 1, false};
	int rc = 0;
	if (yaml_document_get_root_node(&next) != NULL)
		rc = reader_refuse(reader, mark, "a second document begins here; a %s is one",
				   reader->table->noun);
	yaml_document_delete(&next);
	return rc;
}

static int check_root(struct reader *reader, yaml_document_t *document)
{
	const yaml_node_t *root = yaml_document_get_root_node(document);
	const struct mark start = {1, 1, false};
	if (root == NULL)
		return reader_refuse(reader, start, "the file is empty; a %s has at least %s",
				     reader->table->noun, reader->table->least);
	reader->root = document_mark(root);
	if (root->type != YAML_MAPPING_NODE)
		return reader_refuse(reader, reader->root,
				     "a %s is a mapping of keys such as `%s:`, not a %s",
				     reader->table->noun, reader->table->sections[0],
				     root->type == YAML_SEQUENCE_NODE ? "list" : "single value");
	return 0;
}

int document_load(struct reader *reader, yaml_document_t *ret, const char *text, size_t bytes)
{
	yaml_parser_t parser;
	int rc = document_check_events(reader, text, bytes);
	if (rc != 0)
		return rc;
	if (!yaml_parser_initialize(&parser))
		return refuse_memory(reader);
	yaml_parser_set_encoding(&parser, YAML_UTF8_ENCODING);
	yaml_parser_set_input_string(&parser, (const unsigned char *)text, bytes);
	if (!yaml_parser_load(&parser, ret)) {
		rc = refuse_syntax(reader, &parser);
	} else {
		rc = check_root(reader, ret);
		if (rc == 0)
			rc = check_last(reader, &parser);
		if (rc != 0)
			yaml_document_delete(ret);
	}
	yaml_parser_delete(&parser);
	return rc;
}

// ---------------------------------------------------------------- walking

static const char *node_noun(const yaml_node_t *node)
{
	return node->type == YAML_MAPPING_NODE	   ? "a mapping"
		: node->type == YAML_SEQUENCE_NODE ? "a list"
						   : "a single value";
}

static struct scalar node_scalar(const yaml_node_t *node)
{
	return (struct scalar){(const char *)node->data.scalar.value, node->data.scalar.length,
			       node->data.scalar.style == YAML_PLAIN_SCALAR_STYLE};
}

// That `node` has no tag of its own and is not one of those that contain it. An alias has no place
// of its own in a document: `at` is that of its key.
static int check_node(struct reader *reader, const yaml_node_t *node, const struct level *above,
		      const char *path, struct mark at)
{
	const char *plain = node->type == YAML_MAPPING_NODE ? YAML_DEFAULT_MAPPING_TAG
		: node->type == YAML_SEQUENCE_NODE	    ? YAML_DEFAULT_SEQUENCE_TAG
							    : YAML_DEFAULT_SCALAR_TAG;
	for (; above != NULL; above = above->above)
		if (above->node == node)
			return reader_refuse(reader, at,
					     "%s: an alias leads back to what contains it", path);
	if (node->tag != NULL && strcmp((const char *)node->tag, plain) != 0)
		return reader_refuse(reader, document_mark(node),
				     "%s: a tag has no meaning in a %s; leave it out", path,
				     reader->table->noun);
	return 0;
}

// A key as --set takes it: says how the same stands in a file.
static int refuse_dotted(struct reader *reader, struct mark mark, const char *prefix,
			 const char *path)
{
	const char *point = strchr(path, '.');
	if (strcmp(prefix, "variants[]") == 0)
		return reader_refuse(reader, mark, "`%s` is not a key here: write set: %s=...",
				     path, path);
	return reader_refuse(reader, mark, "`%s` is not a key in a file: write %.*s: {%s: ...}",
			     path, (int)(point - path), path, point + 1);
}

// Builds the path of a key below `prefix`, and refuses what cannot be a key.
static int key_path(struct reader *reader, char ret[PATH_BYTES], const char *prefix,
		    const yaml_node_t *key)
{
	char quoted[SCALAR_QUOTE_BYTES];
	struct mark mark = document_mark(key);
	if (key->type != YAML_SCALAR_NODE)
		return reader_refuse(reader, mark, "a key is a word, not %s", node_noun(key));
	const struct scalar scalar = node_scalar(key);
	scalar_quote(quoted, &scalar);
	if (strcmp(quoted, "<<") == 0)
		return reader_refuse(
			reader, mark,
			"merge keys are not read; write the keys out, or use an alias");
	size_t above = strlen(prefix);
	bool is_word = scalar.length > 0 && strlen(quoted) == scalar.length &&
		strpbrk(quoted, ".[]?") == NULL;
	if (!is_word && strchr(quoted, '[') == NULL && key_find(reader->table, quoted) >= 0)
		return refuse_dotted(reader, mark, prefix, quoted);
	if (!is_word || above + 1 + scalar.length >= PATH_BYTES)
		return reader_refuse(reader, mark, "`%s` is not a key", quoted);
	memcpy(ret, prefix, above);
	if (above > 0)
		ret[above++] = '.';
	memcpy(ret + above, scalar.text, scalar.length);
	ret[above + scalar.length] = '\0';
	return 0;
}

// What a file begins with that is no scenario, but can become one: containerlab's, a
// config_db.json.
static bool is_of_other_tool(const char *path)
{
	static const char capitals[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ_";
	return strcmp(path, "topology") == 0 || path[strspn(path, capitals)] == '\0';
}

static int refuse_unknown(struct reader *reader, struct mark mark, const char *path)
{
	const char *nearest = key_nearest(reader->table, path);
	if (is_of_other_tool(path))
		return reader_refuse(reader, mark,
				     "there is no key %s; a topology of containerlab or a "
				     "config_db.json of SONiC becomes a scenario by weft topology "
				     "--import FILE",
				     path);
	if (nearest == NULL)
		return reader_refuse(reader, mark, "there is no key %s", path);
	return reader_refuse(reader, mark, "there is no key %s; did you mean %s?", path, nearest);
}

// That no earlier pair of the mapping has the same key as pair `at`.
static int check_double(struct reader *reader, yaml_document_t *document, const yaml_node_t *node,
			const yaml_node_pair_t *at)
{
	const yaml_node_t *key = yaml_document_get_node(document, at->key);
	const yaml_node_pair_t *pair = node->data.mapping.pairs.start;
	for (; pair < at; pair++) {
		const yaml_node_t *other = yaml_document_get_node(document, pair->key);
		if (other->data.scalar.length == key->data.scalar.length &&
		    memcmp(other->data.scalar.value, key->data.scalar.value,
			   key->data.scalar.length) == 0)
			return reader_refuse(reader, document_mark(key),
					     "the key %s appears twice; it was first on line %u",
					     (const char *)key->data.scalar.value,
					     document_mark(other).line);
	}
	return 0;
}

// A text that people write as the mapping that it stands for.
static const char *as_in(const struct scenario_key *key)
{
	return strcmp(key->path, "variants[].set") == 0
		? ": assignments with spaces between, as in set: preset=mrc queue.pfc=false"
		: "";
}

// Takes the value of key number `index`, which is named so.
static int read_value(struct reader *reader, int index, const struct scenario_key *key,
		      const yaml_node_t *node, void *base)
{
	struct mark mark = document_mark(node);
	bool is_list = strcmp(key->unit, "list") == 0;
	bool is_count = key->max > 0 && node->type == YAML_SCALAR_NODE; // or a count in its place
	reader->value_marks[index] = mark;
	reader->is_given[index] = true;
	if (is_list && !is_count && node->type != YAML_SEQUENCE_NODE)
		return reader_refuse(reader, mark, "%s: a list %sis expected, not %s", key->path,
				     key->max > 0 ? "or a count " : "", node_noun(node));
	if (is_list) {
		reader->lists[index] = node;
		return 0;
	}
	if (node->type != YAML_SCALAR_NODE)
		return reader_refuse(reader, mark, "%s: a %s is expected, not %s%s", key->path,
				     key->unit, node_noun(node), as_in(key));
	const struct scalar scalar = node_scalar(node);
	return reader_store(reader, base, key, &scalar, mark);
}

static int read_mapping(struct reader *reader, yaml_document_t *document, const struct level *level,
			const char *prefix, void *base);

static int read_pair(struct reader *reader, yaml_document_t *document, const struct level *level,
		     const char *prefix, const yaml_node_pair_t *pair, void *base)
{
	const yaml_node_t *key = yaml_document_get_node(document, pair->key);
	const yaml_node_t *value = yaml_document_get_node(document, pair->value);
	char path[PATH_BYTES];
	int rc = key_path(reader, path, prefix, key);
	if (rc == 0)
		rc = check_double(reader, document, level->node, pair);
	if (rc == 0)
		rc = check_node(reader, value, level, path, document_mark(key));
	if (rc != 0)
		return rc;
	int index = key_find(reader->table, path);
	bool is_mapping = value->type == YAML_MAPPING_NODE;
	bool is_section = (is_mapping || index < 0) && key_section_exists(reader->table, path);
	if (is_section && is_mapping) {
		const struct level below = {value, level};
		return read_mapping(reader, document, &below, path, base);
	}
	if (index < 0 && is_section)
		return reader_refuse(reader, document_mark(value),
				     "%s: a mapping of keys is expected, not %s", path,
				     node_noun(value));
	if (index < 0)
		return refuse_unknown(reader, document_mark(key), path);
	const struct scenario_key named = key_named(reader->table, index, path);
	if (reader->is_given[index] && !scenario_key_is_element(&named))
		return reader_refuse(reader, document_mark(key),
				     "%s is here under two names; it was first on line %u", path,
				     reader->key_marks[index].line);
	reader->key_marks[index] = document_mark(key);
	return read_value(reader, index, &named, value, base);
}

// Recursion ends with the table: no section lies deeper than two.
static int read_mapping(struct reader *reader, yaml_document_t *document, const struct level *level,
			const char *prefix, void *base)
{
	const yaml_node_t *node = level->node;
	const yaml_node_pair_t *pair = node->data.mapping.pairs.start;
	for (; pair < node->data.mapping.pairs.top; pair++) {
		int rc = read_pair(reader, document, level, prefix, pair, base);
		if (rc != 0)
			return rc;
	}
	return 0;
}

int document_read(struct reader *reader, yaml_document_t *document, void *base)
{
	const struct level root = {yaml_document_get_root_node(document), NULL};
	int rc = check_node(reader, root.node, NULL, reader->table->the_noun, reader->root);
	if (rc != 0)
		return rc;
	return read_mapping(reader, document, &root, "", base);
}

int document_read_element(struct reader *reader, yaml_document_t *document, const yaml_node_t *node,
			  const char *prefix, void *base)
{
	const struct scenario_key *keys = reader->table->keys;
	const struct level root = {yaml_document_get_root_node(document), NULL};
	const struct level *above = node == root.node ? NULL : &root; // a document of its own
	const struct level level = {node, above};
	size_t length = strlen(prefix);
	for (int i = 0; keys[i].path != NULL; i++)
		if (strncmp(keys[i].path, prefix, length) == 0)
			reader->is_given[i] = false;
	int rc = check_node(reader, node, above, prefix, document_mark(node));
	if (rc != 0)
		return rc;
	if (node->type != YAML_MAPPING_NODE)
		return reader_refuse(reader, document_mark(node),
				     "%s: a mapping of keys is expected, not %s", prefix,
				     node_noun(node));
	rc = read_mapping(reader, document, &level, prefix, base);
	// a place may be a word or a section: settle_place() looks for either
	for (int i = 0; keys[i].path != NULL && rc == 0; i++)
		if (strncmp(keys[i].path, prefix, length) == 0 && !reader->is_given[i] &&
		    scenario_key_is_required(&keys[i]) &&
		    !key_section_exists(reader->table, keys[i].path))
			return reader_refuse(reader, document_mark(node), "%s is missing",
					     keys[i].path);
	return rc;
}

int document_read_single(struct reader *reader, yaml_document_t *document, const yaml_node_t *node,
			 const struct scenario_key *key, void *base)
{
	const struct level root = {yaml_document_get_root_node(document), NULL};
	int rc = check_node(reader, node, &root, key->path, document_mark(node));
	if (rc != 0)
		return rc;
	if (node->type != YAML_SCALAR_NODE)
		return reader_refuse(reader, document_mark(node), "%s: a %s is expected, not %s",
				     key->path, key->unit, node_noun(node));
	const struct scalar scalar = node_scalar(node);
	return reader_store(reader, base, key, &scalar, document_mark(node));
}
