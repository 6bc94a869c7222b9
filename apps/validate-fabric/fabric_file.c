// SPDX-License-Identifier: Apache-2.0
// The fabric's part of a scenario, and a case laid over it.

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <yaml.h>

#include "acceptance.h"

// What a case takes over from the scenario; all else is about its traffic.
static const char *const kept[] = {"seed", "fabric", "queue",  "scaleup", "transport",
				   "cc",   "wire",   "faults", "inputs",  NULL};

// ---------------------------------------------------------------- documents

static int load(yaml_document_t *ret, const char *path, const char *text, size_t bytes,
		struct refusal *refusal)
{
	yaml_parser_t parser;
	yaml_parser_initialize(&parser);
	yaml_parser_set_input_string(&parser, (const unsigned char *)text, bytes);
	int is_read = yaml_parser_load(&parser, ret);
	if (is_read == 0) {
		refusal_name(refusal, path);
		refusal->line = (uint32_t)parser.problem_mark.line + 1;
		refusal->column = (uint32_t)parser.problem_mark.column + 1;
		snprintf(refusal->text, sizeof(refusal->text), "no YAML: %s",
			 parser.problem == NULL ? "it cannot be read" : parser.problem);
	}
	yaml_parser_delete(&parser);
	return is_read == 0 ? -EINVAL : 0;
}

static int copy(yaml_document_t *to, yaml_document_t *from, int index)
{
	yaml_node_t *node = yaml_document_get_node(from, index);
	int made;
	switch (node->type) {
	case YAML_SCALAR_NODE:
		return yaml_document_add_scalar(to, NULL, node->data.scalar.value,
						(int)node->data.scalar.length,
						node->data.scalar.style);
	case YAML_SEQUENCE_NODE:
		made = yaml_document_add_sequence(to, NULL, YAML_FLOW_SEQUENCE_STYLE);
		for (yaml_node_item_t *item = node->data.sequence.items.start;
		     item < node->data.sequence.items.top; item++)
			yaml_document_append_sequence_item(to, made, copy(to, from, *item));
		return made;
	default:
		made = yaml_document_add_mapping(to, NULL, YAML_FLOW_MAPPING_STYLE);
		for (yaml_node_pair_t *pair = node->data.mapping.pairs.start;
		     pair < node->data.mapping.pairs.top; pair++)
			yaml_document_append_mapping_pair(to, made, copy(to, from, pair->key),
							  copy(to, from, pair->value));
		return made;
	}
}

static const char *key_of(yaml_document_t *of, const yaml_node_pair_t *pair)
{
	yaml_node_t *key = yaml_document_get_node(of, pair->key);
	return key->type == YAML_SCALAR_NODE ? (const char *)key->data.scalar.value : "";
}

// The place of the value of `name` in the mapping at `index`; NULL: there is none. Good until a
// node is added.
static int *find(yaml_document_t *in, int index, const char *name)
{
	yaml_node_t *node = yaml_document_get_node(in, index);
	for (yaml_node_pair_t *pair = node->data.mapping.pairs.start;
	     node->type == YAML_MAPPING_NODE && pair < node->data.mapping.pairs.top; pair++)
		if (strcmp(key_of(in, pair), name) == 0)
			return &pair->value;
	return NULL;
}

// A case stands in another folder than the scenario: a file that lies beside that has its whole
// name there.
static void put_file(yaml_document_t *to, int root, const char *fabric_file_path)
{
	int *fabric = find(to, root, "fabric");
	int *at = fabric == NULL ? NULL : find(to, *fabric, "file");
	if (at == NULL || yaml_document_get_node(to, *at)->type != YAML_SCALAR_NODE)
		return;
	const char *file = (const char *)yaml_document_get_node(to, *at)->data.scalar.value;
	char beside[2 * PATH_MAX], whole[PATH_MAX];
	const char *slash = strrchr(fabric_file_path, '/');
	snprintf(beside, sizeof(beside), "%.*s%s",
		 slash == NULL ? 0 : (int)(slash + 1 - fabric_file_path), fabric_file_path, file);
	if (realpath(access(file, F_OK) == 0 ? file : beside, whole) == NULL)
		return;
	int made = yaml_document_add_scalar(to, NULL, (yaml_char_t *)whole, (int)strlen(whole),
					    YAML_DOUBLE_QUOTED_SCALAR_STYLE);
	*find(to, *find(to, root, "fabric"), "file") = made;
}

static bool is_kept(const char *name)
{
	for (const char *const *one = kept; *one != NULL; one++)
		if (strcmp(*one, name) == 0)
			return true;
	return false;
}

static void put(yaml_document_t *to, int mapping, yaml_document_t *from,
		const yaml_node_pair_t *pair)
{
	int value = copy(to, from, pair->value);
	int *there = find(to, mapping, key_of(from, pair));
	if (there != NULL)
		*there = value;
	else
		yaml_document_append_mapping_pair(to, mapping, copy(to, from, pair->key), value);
}

// A key that is in both: lists are joined, mappings key by key; all else is replaced, and so is
// congestion control, whose keys belong to its algorithm.
static void join(yaml_document_t *to, int root, yaml_document_t *from, const yaml_node_pair_t *pair)
{
	int *there = find(to, root, key_of(from, pair));
	int old = there == NULL ? 0 : *there;
	yaml_node_t *more = yaml_document_get_node(from, pair->value);
	if (old == 0 || yaml_document_get_node(to, old)->type != more->type ||
	    strcmp(key_of(from, pair), "cc") == 0) {
		put(to, root, from, pair);
	} else if (more->type == YAML_SEQUENCE_NODE) {
		for (yaml_node_item_t *item = more->data.sequence.items.start;
		     item < more->data.sequence.items.top; item++)
			yaml_document_append_sequence_item(to, old, copy(to, from, *item));
	} else if (more->type == YAML_MAPPING_NODE) {
		for (yaml_node_pair_t *own = more->data.mapping.pairs.start;
		     own < more->data.mapping.pairs.top; own++)
			put(to, old, from, own);
	} else {
		put(to, root, from, pair);
	}
}

static void lay(yaml_document_t *to, int root, yaml_document_t *from, bool is_case)
{
	yaml_node_t *top = yaml_document_get_root_node(from);
	for (yaml_node_pair_t *pair = top->data.mapping.pairs.start;
	     pair < top->data.mapping.pairs.top; pair++)
		if (is_case || is_kept(key_of(from, pair)))
			join(to, root, from, pair);
}

// Of the scenario's limits its memory holds; its time and packets are those of its own traffic.
static void keep_memory(yaml_document_t *to, int root, yaml_document_t *from)
{
	int top = (int)(yaml_document_get_root_node(from) - from->nodes.start) + 1;
	int *limits = find(from, top, "limits");
	int *memory = limits == NULL ? NULL : find(from, *limits, "memory");
	if (memory == NULL)
		return;
	int kept_limits = yaml_document_add_mapping(to, NULL, YAML_FLOW_MAPPING_STYLE);
	int key = yaml_document_add_scalar(to, NULL, (yaml_char_t *)"memory", 6,
					   YAML_PLAIN_SCALAR_STYLE);
	yaml_document_append_mapping_pair(to, kept_limits, key, copy(to, from, *memory));
	key = yaml_document_add_scalar(to, NULL, (yaml_char_t *)"limits", 6,
				       YAML_PLAIN_SCALAR_STYLE);
	yaml_document_append_mapping_pair(to, root, key, kept_limits);
}

// ---------------------------------------------------------------- text

static int print(yaml_document_t *document, char **ret_text)
{
	yaml_emitter_t emitter;
	size_t bytes;
	FILE *to = open_memstream(ret_text, &bytes);
	if (to == NULL)
		return -ENOMEM;
	yaml_emitter_initialize(&emitter);
	yaml_emitter_set_output_file(&emitter, to);
	yaml_emitter_set_width(&emitter, 100);
	yaml_emitter_set_unicode(&emitter, 1);
	int is_written = yaml_emitter_dump(&emitter, document); // frees the document
	yaml_emitter_delete(&emitter);
	return fclose(to) == 0 && is_written != 0 ? 0 : -ENOMEM;
}

static bool is_mapping(yaml_document_t *document)
{
	yaml_node_t *root = yaml_document_get_root_node(document);
	return root != NULL && root->type == YAML_MAPPING_NODE;
}

// Every case measures its links, so that it can say who stands out.
static void watch_links(yaml_document_t *to, int root)
{
	int *there = find(to, root, "watch");
	int watch = there != NULL ? *there
				  : yaml_document_add_mapping(to, NULL, YAML_FLOW_MAPPING_STYLE);
	int value = yaml_document_add_scalar(to, NULL, (yaml_char_t *)"true", 4,
					     YAML_PLAIN_SCALAR_STYLE);
	int key = yaml_document_add_scalar(to, NULL, (yaml_char_t *)"links", 5,
					   YAML_PLAIN_SCALAR_STYLE);
	yaml_document_append_mapping_pair(to, watch, key, value);
	if (there != NULL)
		return;
	key = yaml_document_add_scalar(to, NULL, (yaml_char_t *)"watch", 5,
				       YAML_PLAIN_SCALAR_STYLE);
	yaml_document_append_mapping_pair(to, root, key, watch);
}

int fabric_file_merge(const struct data_file *fabric_file, const char *own, char **ret_text,
		      struct refusal *refusal)
{
	yaml_document_t base, more, merged;
	int rc = load(&base, fabric_file->path, fabric_file->text, fabric_file->bytes, refusal);
	if (rc < 0)
		return rc;
	rc = load(&more, "case", own, strlen(own), refusal);
	if (rc == 0 && !(is_mapping(&base) && is_mapping(&more))) {
		refusal_name(refusal, fabric_file->path);
		rc = refuse(refusal, -EINVAL, "a scenario is a list of keys with values");
	}
	if (rc == 0) {
		yaml_document_initialize(&merged, NULL, NULL, NULL, 1, 1);
		int root = yaml_document_add_mapping(&merged, NULL, YAML_BLOCK_MAPPING_STYLE);
		lay(&merged, root, &base, false);
		keep_memory(&merged, root, &base);
		lay(&merged, root, &more, true);
		put_file(&merged, root, fabric_file->path);
		watch_links(&merged, root);
		rc = print(&merged, ret_text);
	}
	yaml_document_delete(&base);
	yaml_document_delete(&more);
	return rc;
}
