// SPDX-License-Identifier: Apache-2.0
// An acceptance profile: YAML to checks. Uses libyaml's documents, whose nodes keep line and
// column.

#include <errno.h>
#include <stddef.h>
#include <string.h>

#include <yaml.h>

#include <weft/verdict/report_verdict.h>

// A profile that is being read.
struct reader {
	yaml_document_t document;
	const char *path;
	struct refusal *refusal;
	yaml_mark_t name, bound; // of the check that is being read
};

static const struct {
	const char *name;
	size_t offset, bytes;
	bool is_needed;
} texts[] = {
	{"name", offsetof(struct profile_check, name), PROFILE_NAME_BYTES, true},
	{"metric", offsetof(struct profile_check, metric), PROFILE_PATH_BYTES, true},
	{"scope", offsetof(struct profile_check, scope), PROFILE_PATH_BYTES, false},
	{"statistic", offsetof(struct profile_check, statistic), 16, false},
	{"bound", offsetof(struct profile_check, bound_text), PROFILE_PATH_BYTES, true},
	{"source", offsetof(struct profile_check, source), PROFILE_TEXT_BYTES, true},
};

static void refuse_place(struct reader *reader, const yaml_mark_t *mark)
{
	struct refusal *refusal = reader->refusal;
	refusal_name(refusal, reader->path);
	refusal->line = (uint32_t)mark->line + 1;
	refusal->column = (uint32_t)mark->column + 1;
}

static int refuse_at(struct reader *reader, const yaml_mark_t *mark, const char *what,
		     const char *word)
{
	struct refusal *refusal = reader->refusal;
	refuse_place(reader, mark);
	snprintf(refusal->text, sizeof(refusal->text), "%s `%.80s`", what, word);
	return -EINVAL;
}

// The text of a scalar; NULL when the node is none, or holds what is no text.
static const char *text_of(const yaml_node_t *node)
{
	if (node->type != YAML_SCALAR_NODE ||
	    strlen((const char *)node->data.scalar.value) != node->data.scalar.length)
		return NULL;
	return (const char *)node->data.scalar.value;
}

static int read_text(struct reader *reader, char *to, size_t bytes, const char *key,
		     const yaml_node_t *node)
{
	const char *text = text_of(node);
	if (text == NULL || *text == '\0')
		return refuse_at(reader, &node->start_mark, "a text is needed as", key);
	if (strlen(text) >= bytes)
		return refuse_at(reader, &node->start_mark, "too long a text:", text);
	strcpy(to, text);
	return 0;
}

static int read_flag(struct reader *reader, bool *to, const char *key, const yaml_node_t *node)
{
	const char *text = text_of(node);
	bool is_true = text != NULL && strcmp(text, "true") == 0;
	if (!is_true && (text == NULL || strcmp(text, "false") != 0))
		return refuse_at(reader, &node->start_mark, "true or false is needed as", key);
	*to = is_true;
	return 0;
}

// That no pair before `at` has the same key.
static int check_double(struct reader *reader, const yaml_node_t *node, const yaml_node_pair_t *at)
{
	const yaml_node_t *key = yaml_document_get_node(&reader->document, at->key);
	const char *name = text_of(key);
	for (const yaml_node_pair_t *pair = node->data.mapping.pairs.start; pair < at; pair++) {
		const char *other = text_of(yaml_document_get_node(&reader->document, pair->key));
		if (name != NULL && other != NULL && strcmp(other, name) == 0)
			return refuse_at(reader, &key->start_mark, "given twice:", name);
	}
	return 0;
}

static int read_field(struct reader *reader, struct profile_check *check, const yaml_node_t *key,
		      const yaml_node_t *value)
{
	const char *name = text_of(key);
	if (name == NULL)
		return refuse_at(reader, &key->start_mark, "a key is a text, not", "this");
	if (strcmp(name, "name") == 0)
		reader->name = value->start_mark;
	if (strcmp(name, "bound") == 0)
		reader->bound = value->start_mark;
	if (strcmp(name, "required") == 0)
		return read_flag(reader, &check->is_required, name, value);
	if (strcmp(name, "indicative") == 0)
		return read_flag(reader, &check->is_indicative, name, value);
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		if (strcmp(name, texts[i].name) == 0)
			return read_text(reader, (char *)check + texts[i].offset, texts[i].bytes,
					 name, value);
	return refuse_at(reader, &key->start_mark,
			 "a check has name, metric, scope, statistic, bound, source, required and "
			 "indicative, not",
			 name);
}

static int check_whole(struct reader *reader, const struct profile *profile,
		       struct profile_check *check, const yaml_node_t *node)
{
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		if (texts[i].is_needed && *((char *)check + texts[i].offset) == '\0')
			return refuse_at(reader, &node->start_mark, "this check has no",
					 texts[i].name);
	for (uint32_t i = 0; i < profile->check_count; i++)
		if (strcmp(profile->checks[i].name, check->name) == 0)
			return refuse_at(reader, &reader->name, "two checks have the name",
					 check->name);
	if (bound_parse(&check->bound, check->bound_text, reader->refusal) == 0)
		return 0;
	refuse_place(reader, &reader->bound);
	return -EINVAL;
}

static int read_check(struct reader *reader, struct profile *profile, yaml_node_t *node)
{
	if (node->type != YAML_MAPPING_NODE)
		return refuse_at(reader, &node->start_mark, "a check is keys and values, not",
				 "this");
	if (profile->check_count == PROFILE_CHECKS_MAX)
		return refuse_at(reader, &node->start_mark, "a profile has at most 64", "checks");
	struct profile_check *check = &profile->checks[profile->check_count];
	*check = (struct profile_check){.is_required = true,
					.line = (uint32_t)node->start_mark.line + 1};
	for (yaml_node_pair_t *pair = node->data.mapping.pairs.start;
	     pair < node->data.mapping.pairs.top; pair++) {
		int rc = check_double(reader, node, pair);
		if (rc == 0)
			rc = read_field(reader, check,
					yaml_document_get_node(&reader->document, pair->key),
					yaml_document_get_node(&reader->document, pair->value));
		if (rc < 0)
			return rc;
	}
	int rc = check_whole(reader, profile, check, node);
	profile->check_count += rc == 0;
	return rc;
}

static int read_checks(struct reader *reader, struct profile *profile, const yaml_node_t *node)
{
	if (node->type != YAML_SEQUENCE_NODE)
		return refuse_at(reader, &node->start_mark, "a list is needed as", "checks");
	int rc = 0;
	for (yaml_node_item_t *item = node->data.sequence.items.start;
	     rc == 0 && item < node->data.sequence.items.top; item++)
		rc = read_check(reader, profile, yaml_document_get_node(&reader->document, *item));
	return rc;
}

static int read_key(struct reader *reader, struct profile *profile, const yaml_node_t *key,
		    const yaml_node_t *value)
{
	const char *name = text_of(key);
	if (name != NULL && strcmp(name, "name") == 0)
		return read_text(reader, profile->name, sizeof(profile->name), name, value);
	if (name != NULL && strcmp(name, "description") == 0)
		return read_text(reader, profile->description, sizeof(profile->description), name,
				 value);
	if (name != NULL && strcmp(name, "checks") == 0)
		return read_checks(reader, profile, value);
	return refuse_at(reader, &key->start_mark,
			 "a profile has name, description and checks, not",
			 name == NULL ? "this" : name);
}

static int read_document(struct reader *reader, struct profile *profile)
{
	static const yaml_mark_t start;
	const yaml_node_t *root = yaml_document_get_root_node(&reader->document);
	int rc = 0;
	if (root == NULL || root->type != YAML_MAPPING_NODE)
		return refuse_at(reader, &start, "a profile is keys and values; there is",
				 root == NULL ? "nothing" : "something else");
	for (yaml_node_pair_t *pair = root->data.mapping.pairs.start;
	     rc == 0 && pair < root->data.mapping.pairs.top; pair++) {
		rc = check_double(reader, root, pair);
		if (rc == 0)
			rc = read_key(reader, profile,
				      yaml_document_get_node(&reader->document, pair->key),
				      yaml_document_get_node(&reader->document, pair->value));
	}
	if (rc == 0 && profile->name[0] == '\0')
		rc = refuse_at(reader, &root->start_mark, "the profile has no", "name");
	if (rc == 0 && profile->check_count == 0)
		rc = refuse_at(reader, &root->start_mark, "the profile has no", "checks");
	return rc;
}

// Where the text is no YAML. libyaml says of a byte that is no text how many are before it; what is
// open at the end was opened at the place that is wrong.
static yaml_mark_t syntax_mark(const yaml_parser_t *parser, const char *text, size_t bytes)
{
	bool is_byte = parser->error == YAML_READER_ERROR;
	size_t before = is_byte ? parser->problem_offset : bytes;
	yaml_mark_t mark = {0};
	for (size_t i = 0; i < before && i < bytes; i++) {
		mark.index += (text[i] & 0xc0) != 0x80;
		mark.column += (text[i] & 0xc0) != 0x80;
		mark.line += text[i] == '\n';
		mark.column = text[i] == '\n' ? 0 : mark.column;
	}
	if (is_byte)
		return mark;
	bool is_end = parser->context != NULL && parser->problem_mark.index >= mark.index;
	return is_end ? parser->context_mark : parser->problem_mark;
}

static int refuse_syntax(struct reader *reader, const yaml_parser_t *parser, const char *text,
			 size_t bytes)
{
	yaml_mark_t mark = syntax_mark(parser, text, bytes);
	char why[128];
	snprintf(why, sizeof(why), "%s%s%s",
		 parser->problem == NULL ? "unreadable" : parser->problem,
		 parser->context == NULL ? "" : " ",
		 parser->context == NULL ? "" : parser->context);
	return refuse_at(reader, &mark, "not YAML:", why);
}

// That nothing follows the first document.
static int check_last(struct reader *reader, yaml_parser_t *parser, const char *text, size_t bytes)
{
	yaml_document_t next;
	if (!yaml_parser_load(parser, &next))
		return refuse_syntax(reader, parser, text, bytes);
	bool is_one = yaml_document_get_root_node(&next) != NULL;
	yaml_mark_t mark = next.start_mark;
	yaml_document_delete(&next);
	return is_one
		? refuse_at(reader, &mark, "a profile is one document, and here begins a", "second")
		: 0;
}

int profile_parse(struct profile *ret, const char *path, const char *text, size_t bytes,
		  struct refusal *refusal)
{
	struct reader reader = {.path = path, .refusal = refusal};
	yaml_parser_t parser;
	memset(ret, 0, sizeof(*ret));
	if (!yaml_parser_initialize(&parser))
		return refuse(refusal, -ENODEV, "not enough memory");
	yaml_parser_set_input_string(&parser, (const unsigned char *)text, bytes);
	int rc;
	if (yaml_parser_load(&parser, &reader.document)) {
		rc = read_document(&reader, ret);
		yaml_document_delete(&reader.document);
		if (rc == 0)
			rc = check_last(&reader, &parser, text, bytes);
	} else {
		rc = refuse_syntax(&reader, &parser, text, bytes);
	}
	yaml_parser_delete(&parser);
	return rc;
}
