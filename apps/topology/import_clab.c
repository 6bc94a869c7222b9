// SPDX-License-Identifier: Apache-2.0
// A topology of containerlab: `topology.nodes`, whose kind says what each is, and `topology.links`
// with their endpoints, `node:interface`, in the short form or the extended one (type: veth). Nodes
// of kind linux are hosts, all others switches. It says no rate.
#include "import.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>

#include <weft/core/near_word.h>

#include <yaml.h>

struct reader {
	struct import *import;
	yaml_document_t *document;
	struct refusal *refusal;
};

static uint32_t line_of_node(const yaml_node_t *node)
{
	return (uint32_t)node->start_mark.line + 1;
}

static const char *text_of(const yaml_node_t *node)
{
	return node != NULL && node->type == YAML_SCALAR_NODE
		? (const char *)node->data.scalar.value
		: NULL;
}

static yaml_node_t *value_of(const struct reader *reader, const yaml_node_t *map, const char *key)
{
	if (map == NULL || map->type != YAML_MAPPING_NODE)
		return NULL;
	for (const yaml_node_pair_t *pair = map->data.mapping.pairs.start;
	     pair < map->data.mapping.pairs.top; pair++) {
		const char *name = text_of(yaml_document_get_node(reader->document, pair->key));
		if (name != NULL && strcmp(name, key) == 0)
			return yaml_document_get_node(reader->document, pair->value);
	}
	return NULL;
}

void import_plain_name(char *ret, const char *name, size_t bytes)
{
	size_t i = 0;
	for (; i < bytes && i < IMPORT_NAME_BYTES - 1; i++)
		ret[i] = (char)(isalnum((unsigned char)name[i]) || name[i] == '.' ? name[i] : '_');
	ret[i] = '\0';
}

static uint32_t find(const struct import *import, const char *name, size_t bytes)
{
	char plain[IMPORT_NAME_BYTES];
	import_plain_name(plain, name, bytes);
	uint32_t i = 0;
	while (i < import->node_count && strcmp(import->nodes[i].name, plain) != 0)
		i++;
	return i;
}

// The kind of a node: its own, that of its group, or the one of all.
static const char *kind_of(const struct reader *reader, const yaml_node_t *topology,
			   const yaml_node_t *node)
{
	const char *kind = text_of(value_of(reader, node, "kind"));
	const char *group = text_of(value_of(reader, node, "group"));
	if (kind == NULL && group != NULL)
		kind = text_of(value_of(
			reader, value_of(reader, value_of(reader, topology, "groups"), group),
			"kind"));
	if (kind == NULL)
		kind = text_of(value_of(reader, value_of(reader, topology, "defaults"), "kind"));
	return kind;
}

static int read_nodes(struct reader *reader, const yaml_node_t *topology)
{
	const yaml_node_t *nodes = value_of(reader, topology, "nodes");
	if (nodes == NULL || nodes->type != YAML_MAPPING_NODE)
		return import_refuse(
			reader->import, reader->refusal, 1,
			"neither a topology text of ns-3's RDMA models nor a file of "
			"containerlab, which has `topology: {nodes: ..., links: ...}`");
	for (const yaml_node_pair_t *pair = nodes->data.mapping.pairs.start;
	     pair < nodes->data.mapping.pairs.top; pair++) {
		const yaml_node_t *key = yaml_document_get_node(reader->document, pair->key);
		const yaml_node_t *node = yaml_document_get_node(reader->document, pair->value);
		const char *name = text_of(key), *kind = kind_of(reader, topology, node);
		char plain[IMPORT_NAME_BYTES];
		if (name == NULL || kind == NULL)
			return import_refuse(reader->import, reader->refusal, line_of_node(key),
					     "node `%s` has no kind", name == NULL ? "" : name);
		if (find(reader->import, name, strlen(name)) < reader->import->node_count)
			return import_refuse(
				reader->import, reader->refusal, line_of_node(key),
				"there is a node whose name is that of `%s`, as far as "
				"names of %u letters, digits, points and underscores go",
				name, IMPORT_NAME_BYTES - 1);
		import_plain_name(plain, name, strlen(name));
		int rc = import_add_node(reader->import, plain, strcmp(kind, "linux") == 0,
					 reader->refusal);
		if (rc < 0)
			return rc;
	}
	return 0;
}

static int refuse_node(struct reader *reader, const yaml_node_t *end, const char *name,
		       size_t bytes)
{
	char asked[IMPORT_NAME_BYTES], meant[NEAR_WORD_BYTES + 24] = "";
	snprintf(asked, sizeof(asked), "%.*s", (int)bytes, name);
	struct near_word near_word = near_word_of(asked);
	for (uint32_t i = 0; i < reader->import->node_count; i++)
		near_word_see(&near_word, reader->import->nodes[i].name);
	near_word_append(&near_word, meant, sizeof(meant));
	return import_refuse(reader->import, reader->refusal, line_of_node(end),
			     "there is no node called `%s`%s", asked, meant);
}

// One end of a link: `node:interface`, or a map that has `node`.
static int read_end(struct reader *reader, const yaml_node_t *end, uint32_t *ret,
		    char port[IMPORT_PORT_BYTES])
{
	const char *name = text_of(end), *interface = text_of(value_of(reader, end, "interface"));
	if (name != NULL)
		interface = strchr(name, ':');
	else
		name = text_of(value_of(reader, end, "node"));
	if (name == NULL)
		return import_refuse(reader->import, reader->refusal, line_of_node(end),
				     "an end of a link is `node:interface`");
	size_t bytes = strcspn(name, ":");
	if (interface != NULL)
		snprintf(port, IMPORT_PORT_BYTES, "%s", interface + (*interface == ':'));
	*ret = find(reader->import, name, bytes);
	if (*ret == reader->import->node_count)
		return refuse_node(reader, end, name, bytes);
	return 0;
}

// Whether an end of a link is at a port that another link has already.
static int check_port(const struct reader *reader, const struct import_link *link, int end)
{
	const struct import *import = reader->import;
	uint32_t node = end == 0 ? link->a : link->b;
	for (uint32_t i = 0; i < import->link_count; i++)
		for (int other = 0; other < 2; other++) {
			const struct import_link *of = &import->links[i];
			if ((other == 0 ? of->a : of->b) == node &&
			    strcmp(of->ports[other], link->ports[end]) == 0)
				return import_refuse(
					import, reader->refusal, link->line,
					"port `%s` of `%s` has a link already, of line %u",
					link->ports[end], import->nodes[node].name, of->line);
		}
	return 0;
}

static int read_link(struct reader *reader, const yaml_node_t *link)
{
	const yaml_node_t *ends = value_of(reader, link, "endpoints");
	bool has_two = ends != NULL && ends->type == YAML_SEQUENCE_NODE &&
		ends->data.sequence.items.top - ends->data.sequence.items.start == 2;
	if (!has_two)
		return import_refuse(reader->import, reader->refusal, line_of_node(link),
				     "a link has two `endpoints`; others (to the host, a bridge "
				     "outside, a tunnel) are not part of a fabric");
	struct import_link read = {.line = line_of_node(link)};
	const int *items = ends->data.sequence.items.start;
	int rc = read_end(reader, yaml_document_get_node(reader->document, items[0]), &read.a,
			  read.ports[0]);
	if (rc == 0)
		rc = read_end(reader, yaml_document_get_node(reader->document, items[1]), &read.b,
			      read.ports[1]);
	for (int end = 0; rc == 0 && end < 2; end++)
		rc = check_port(reader, &read, end);
	return rc < 0 ? rc : import_add_link(reader->import, &read, reader->refusal);
}

static int read_document(struct reader *reader)
{
	const yaml_node_t *root = yaml_document_get_root_node(reader->document);
	const yaml_node_t *topology = value_of(reader, root, "topology");
	int rc = read_nodes(reader, topology);
	const yaml_node_t *links = value_of(reader, topology, "links");
	if (rc < 0 || links == NULL || links->type != YAML_SEQUENCE_NODE)
		return rc;
	for (const int *item = links->data.sequence.items.start;
	     rc == 0 && item < links->data.sequence.items.top; item++)
		rc = read_link(reader, yaml_document_get_node(reader->document, *item));
	return rc;
}

int import_clab(struct import *ret, const char *text, size_t bytes, struct refusal *refusal)
{
	yaml_parser_t parser;
	yaml_document_t document;
	ret->format = "a topology of containerlab";
	if (yaml_parser_initialize(&parser) == 0)
		return refuse(refusal, -ENODEV, "not enough memory");
	yaml_parser_set_input_string(&parser, (const unsigned char *)text, bytes);
	int rc;
	if (yaml_parser_load(&parser, &document) == 0) {
		rc = import_refuse(ret, refusal, (uint32_t)parser.problem_mark.line + 1, "%s",
				   parser.problem);
	} else {
		struct reader reader = {ret, &document, refusal};
		rc = read_document(&reader);
		yaml_document_delete(&document);
	}
	yaml_parser_delete(&parser);
	return rc;
}
