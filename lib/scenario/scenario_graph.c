// SPDX-License-Identifier: Apache-2.0
// The nodes and links of a graph in a scenario: names to places, and the errors of a list, each
// where it stands. The fabric checks what it gets once more, but knows no names. Also the places of
// faults and taps that are named.

#include <stdio.h>
#include <string.h>

#include <weft/core/near_word.h>

#include "scenario_reader.h"

// ---------------------------------------------------------------- nodes

static uint32_t node_find(const struct graph_plan *graph, const char *name)
{
	uint32_t node = 0;
	while (node < graph->node_count && strcmp(graph->names[node], name) != 0)
		node++;
	return node;
}

static bool is_name(const char *name)
{
	return strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.") ==
		strlen(name);
}

// Adds a link to the list; `count` of them.
static int add_link(struct reader *reader, const yaml_node_t *node, const struct graph_link *link)
{
	struct graph_plan *graph = &reader->scenario->fabric.graph;
	if (graph->link_count == SCENARIO_LINKS_MAX)
		return reader_refuse(reader, document_mark(node),
				     "fabric.links: there are more than %u", SCENARIO_LINKS_MAX);
	graph->links[graph->link_count++] = *link;
	return 0;
}

// NICs that a node brings with it follow those of the nodes before.
static int add_node_nics(struct reader *reader, const yaml_node_t *node, uint32_t count)
{
	struct graph_plan *graph = &reader->scenario->fabric.graph;
	struct graph_link link = {.a = graph->node_count - 1, .count = count, .is_nic = true};
	link.delay_ps = -1;
	for (uint32_t i = 0; i < graph->link_count; i++)
		link.b += graph->links[i].count;
	if (link.b + count > reader->scenario->fabric.nics)
		return reader_refuse(
			reader, reader_mark(reader, "fabric.nodes[].nics"),
			"fabric.nodes[].nics: NICs %u to %u are more than fabric.nics, "
			"%u",
			link.b, link.b + count - 1, reader->scenario->fabric.nics);
	return add_link(reader, node, &link);
}

int reader_read_node(struct reader *reader, yaml_document_t *document, const yaml_node_t *node,
		     uint32_t)
{
	struct graph_plan *graph = &reader->scenario->fabric.graph;
	struct scenario_node read = {0};
	int rc = document_read_element(reader, document, node, "fabric.nodes[]", &read);
	if (rc != 0)
		return rc;
	struct mark mark = reader_mark(reader, "fabric.nodes[].name");
	if (!is_name(read.name))
		return reader_refuse(reader, mark,
				     "fabric.nodes[].name: `%s` may have letters, digits, points "
				     "and underscores only",
				     read.name);
	if (node_find(graph, read.name) < graph->node_count)
		return reader_refuse(reader, mark, "fabric.nodes[].name: there are two called `%s`",
				     read.name);
	memcpy(graph->names[graph->node_count++], read.name, sizeof(read.name));
	return read.nics > 0 ? add_node_nics(reader, node, read.nics) : 0;
}

// ---------------------------------------------------------------- links

// `behind`: what such names look like.
static int refuse_name(struct reader *reader, const char *path, const char *noun, const char *name,
		       const char *behind)
{
	const struct graph_plan *graph = &reader->scenario->fabric.graph;
	char meant[NEAR_WORD_BYTES + 24] = "";
	struct near_word near_word = near_word_of(name);
	for (uint32_t i = 0; i < graph->node_count; i++)
		near_word_see(&near_word, graph->names[i]);
	near_word_append(&near_word, meant, sizeof(meant));
	return reader_refuse(reader, reader_mark(reader, path),
			     "%s: there is no %s called `%s`%s%s", path, noun, name, behind, meant);
}

static int find_node(struct reader *reader, const char *path, const char *name, uint32_t *ret)
{
	const struct graph_plan *graph = &reader->scenario->fabric.graph;
	uint32_t node = node_find(graph, name);
	if (node == graph->node_count)
		return refuse_name(reader, path, "node", name, "");
	*ret = node;
	return 0;
}

// A link between two switches, which no line above joined already.
static int check_edge(struct reader *reader, struct scenario_link *read)
{
	const struct graph_plan *graph = &reader->scenario->fabric.graph;
	const char *to = "fabric.links[].to";
	struct graph_link *link = &read->link;
	int rc = find_node(reader, to, read->to, &link->b);
	if (rc != 0)
		return rc;
	if (link->a == link->b)
		return reader_refuse(reader, reader_mark(reader, to),
				     "%s: a link of `%s` to itself leads nowhere", to, read->to);
	for (uint32_t i = 0; i < graph->link_count; i++) {
		const struct graph_link *old = &graph->links[i];
		if (!old->is_nic &&
		    ((old->a == link->a && old->b == link->b) ||
		     (old->a == link->b && old->b == link->a)))
			return reader_refuse(
				reader, reader_mark(reader, "fabric.links[].from"),
				"fabric.links[].from: `%s` and `%s` are joined already; "
				"count says how many links",
				read->from, read->to);
	}
	return 0;
}

// A link from a node says more of NICs that the node brought: takes them out of its own.
static int take_out(struct reader *reader, const yaml_node_t *node, const struct graph_link *link)
{
	struct graph_plan *graph = &reader->scenario->fabric.graph;
	for (uint32_t i = 0; i < graph->link_count; i++) {
		struct graph_link *old = &graph->links[i];
		uint32_t end = old->b + old->count, rest = end - (link->b + link->count);
		if (!old->is_nic || old->a != link->a || old->rate_bps > 0 || old->delay_ps >= 0 ||
		    link->b < old->b || link->b + link->count > end)
			continue;
		struct graph_link behind = *old;
		old->count = link->b - old->b;
		behind.b = end - rest;
		behind.count = rest;
		if (old->count == 0)
			*old = graph->links[--graph->link_count];
		return rest > 0 ? add_link(reader, node, &behind) : 0;
	}
	return 0;
}

// A link to NICs: that they exist and hang nowhere else.
static int check_nics(struct reader *reader, const struct graph_link *link)
{
	const struct graph_plan *graph = &reader->scenario->fabric.graph;
	uint32_t nics = reader->scenario->fabric.nics, last = link->b + link->count - 1;
	struct mark mark = reader_mark(reader, "fabric.links[].nic");
	if (last >= nics)
		return reader_refuse(reader, mark,
				     "fabric.links[].nic: %u does not exist; it may be 0 to %u",
				     last, nics - 1);
	if (link->rate_bps > reader->scenario->fabric.link_rate_bps)
		return reader_refuse(reader, reader_mark(reader, "fabric.links[].rate"),
				     "fabric.links[].rate: no NIC is faster than fabric.link_rate, "
				     "that of the fastest");
	for (uint32_t i = 0; i < graph->link_count; i++) {
		const struct graph_link *old = &graph->links[i];
		uint32_t both = old->b > link->b ? old->b : link->b;
		if (old->is_nic && both <= last && both < old->b + old->count)
			return reader_refuse(reader, mark,
					     "fabric.links[].nic: NIC %u hangs at `%s` already",
					     both, graph->names[old->a]);
	}
	return 0;
}

int reader_read_link(struct reader *reader, yaml_document_t *document, const yaml_node_t *node,
		     uint32_t)
{
	struct scenario_link read = {0};
	int rc = document_read_element(reader, document, node, "fabric.links[]", &read);
	if (rc != 0)
		return rc;
	bool has_to = reader_is_given(reader, "fabric.links[].to");
	if (has_to == reader_is_given(reader, "fabric.links[].nic"))
		return reader_refuse(reader, document_mark(node),
				     "fabric.links[]: a link leads `to` a switch, or to a `nic`");
	if (!reader_is_given(reader, "fabric.links[].count"))
		read.link.count = 1;
	if (read.link.delay_ps == 0)
		read.link.delay_ps = -1;
	read.link.is_nic = !has_to;
	rc = find_node(reader, "fabric.links[].from", read.from, &read.link.a);
	if (rc == 0)
		rc = has_to ? check_edge(reader, &read) : take_out(reader, node, &read.link);
	if (rc == 0 && !has_to)
		rc = check_nics(reader, &read.link);
	return rc == 0 ? add_link(reader, node, &read.link) : rc;
}

// ---------------------------------------------------------------- the whole

// Spreads the mark of the first switch over all that can be reached from it.
static uint32_t reach(const struct graph_plan *graph, bool *is_reached)
{
	uint32_t count = 1;
	bool is_new = true;
	is_reached[0] = true;
	while (is_new) {
		is_new = false;
		for (uint32_t i = 0; i < graph->link_count; i++) {
			const struct graph_link *link = &graph->links[i];
			if (link->is_nic || is_reached[link->a] == is_reached[link->b])
				continue;
			is_reached[link->a] = is_reached[link->b] = is_new = true;
			count++;
		}
	}
	return count;
}

int reader_check_graph(struct reader *reader)
{
	const struct graph_plan *graph = &reader->scenario->fabric.graph;
	bool is_reached[SCENARIO_NODES_MAX] = {false};
	struct mark mark = reader_mark(reader, "fabric.nodes");
	uint32_t nics = 0, first = 0;
	if (graph->node_count == 0)
		return reader_refuse(reader, mark, "fabric.nodes: at least one is needed");
	for (uint32_t i = 0; i < graph->link_count; i++)
		nics += graph->links[i].is_nic ? graph->links[i].count : 0;
	if (nics < reader->scenario->fabric.nics)
		return reader_refuse(reader, mark,
				     "fabric.nodes: %u of %u NICs hang at no switch: `nics` of a "
				     "node or `nic` of a link places them",
				     reader->scenario->fabric.nics - nics,
				     reader->scenario->fabric.nics);
	if (reach(graph, is_reached) == graph->node_count)
		return 0;
	while (is_reached[first])
		first++;
	return reader_refuse(reader, mark, "fabric.nodes: no links lead from `%s` to `%s`",
			     graph->names[0], graph->names[first]);
}

// ---------------------------------------------------------------- places

// The place of the switch that people call `name`; UINT32_MAX when there is none.
static uint32_t switch_called(const struct fabric_config *fabric, const char *name)
{
	uint32_t count = fabric->kind == TOPOLOGY_TORUS
		? fabric->torus[0] * fabric->torus[1] * fabric->torus[2]
		: 2;
	char own[NODE_NAME_BYTES];
	if (fabric->kind == TOPOLOGY_GRAPH) {
		uint32_t node = node_find(&fabric->graph, name);
		return node < fabric->graph.node_count ? node : UINT32_MAX;
	}
	for (uint32_t node = 0; node < count; node++) {
		topology_name(fabric, node, own);
		if (strcmp(own, name) == 0)
			return node;
	}
	return UINT32_MAX;
}

static int find_switch(struct reader *reader, const char *path, const char *name, uint32_t *ret)
{
	const struct fabric_config *fabric = &reader->scenario->fabric;
	*ret = switch_called(fabric, name);
	if (*ret != UINT32_MAX)
		return 0;
	return refuse_name(reader, path, "switch", name,
			   fabric->kind == TOPOLOGY_DUMBBELL ? "; there are left and right"
				   : fabric->kind == TOPOLOGY_TORUS
				   ? "; they are called by x.y, or "
				     "x.y.z, from 0"
				   : "");
}

int reader_find_place(struct reader *reader, const char *path, struct link_location *place)
{
	char name[sizeof(place->name)];
	memcpy(name, place->name, sizeof(name));
	if (!topology_has_names(reader->scenario->fabric.kind))
		return reader_refuse(reader, reader_mark(reader, path),
				     "%s: switches have names in a dumbbell, a torus and a graph "
				     "only; here they are t0 and t1",
				     path);
	char *point = strchr(name, '-');
	if (place->where == LINK_AT_NODE)
		return find_switch(reader, path, name, &place->index);
	if (point == NULL)
		return reader_refuse(reader, reader_mark(reader, path),
				     "%s: a link is written as a-b, by the switches at its ends",
				     path);
	*point = '\0';
	int rc = find_switch(reader, path, name, &place->index);
	return rc == 0 ? find_switch(reader, path, point + 1, &place->port) : rc;
}
