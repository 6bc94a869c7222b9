// SPDX-License-Identifier: Apache-2.0
// See import.h.
#include "import.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <weft/files/files.h>
#include <weft/scenario/scenario.h>

#define FILE_BYTES_MAX ((size_t)64 << 20)

int import_read(struct import *ret, const char *path, struct refusal *refusal)
{
	char *text;
	size_t bytes;
	*ret = (struct import){.path = path};
	int rc = file_read(path, FILE_BYTES_MAX, &text, &bytes, refusal);
	if (rc < 0)
		return rc;
	size_t at = strspn(text, " \t\r\n");
	bool is_ns3 = at < bytes && strchr("0123456789", text[at]) != NULL;
	bool is_sonic = at < bytes && text[at] == '{' &&
		memmem(text, bytes, "\"topology\"", 10) == NULL;
	rc = (is_ns3		 ? import_ns3
		      : is_sonic ? import_sonic
				 : import_clab)(ret, text, bytes, refusal);
	free(text);
	if (rc == 0 && !is_sonic && ret->link_count == 0)
		return import_refuse(ret, refusal, 0, "there is no link in it");
	return rc;
}

void import_release(struct import *import)
{
	free(import->nodes);
	free(import->links);
	*import = (struct import){0};
}

// ---------------------------------------------------------------- the scenario

// A graph in the making: what is counted before anything is written.
struct graph {
	uint32_t switches, hosts, nics, per_host; // per_host: 0 where hosts differ
	double rate_bps, delay_ns;		  // of the fastest NIC, of the first one
	const struct import_link **links;	  // of NICs
};

static const struct import_node *host_of(const struct import *import,
					 const struct import_link *link)
{
	const struct import_node *a = &import->nodes[link->a], *b = &import->nodes[link->b];
	return a->is_host ? a : b->is_host ? b : NULL;
}

static const struct import_node *switch_of(const struct import *import,
					   const struct import_link *link)
{
	const struct import_node *a = &import->nodes[link->a];
	return a->is_host ? &import->nodes[link->b] : a;
}

static int count_nodes(const struct import *import, struct graph *ret, struct refusal *refusal)
{
	for (uint32_t i = 0; i < import->node_count; i++) {
		const struct import_node *node = &import->nodes[i];
		if (node->is_host && node->nics == 0)
			return import_refuse(import, refusal, 0, "host `%s` has no link",
					     node->name);
		if (node->is_host) {
			ret->per_host = ret->hosts == 0 || ret->per_host == node->nics ? node->nics
										       : 0;
			ret->hosts++;
			ret->nics += node->nics;
		} else {
			ret->switches++;
		}
	}
	if (ret->nics < 2)
		return import_refuse(import, refusal, 0,
				     "%u hosts' links; traffic needs two at least", ret->nics);
	return ret->switches <= SCENARIO_NODES_MAX
		? 0
		: import_refuse(import, refusal, 0, "%u switches are more than %u", ret->switches,
				SCENARIO_NODES_MAX);
}

// NICs in the order of their hosts.
static int place_nics(const struct import *import, struct graph *graph, struct refusal *refusal)
{
	uint32_t *at = calloc(import->node_count + 1, sizeof(*at));
	graph->links = calloc(graph->nics, sizeof(struct import_link *));
	bool is_there = at != NULL && graph->links != NULL;
	for (uint32_t i = 0; is_there && i < import->node_count; i++)
		at[i + 1] = at[i] + import->nodes[i].nics;
	for (uint32_t i = 0; is_there && i < import->link_count; i++) {
		const struct import_node *host = host_of(import, &import->links[i]);
		if (host != NULL)
			graph->links[at[host - import->nodes]++] = &import->links[i];
	}
	free(at);
	return is_there ? 0 : refuse(refusal, -ENODEV, "not enough memory");
}

// The rate of the fastest NIC, and the delay of the first one, which most have.
static void find_nic(struct graph *graph)
{
	graph->delay_ns = graph->links[0]->delay_ns;
	for (uint32_t nic = 0; nic < graph->nics; nic++)
		if (graph->links[nic]->rate_bps > graph->rate_bps)
			graph->rate_bps = graph->links[nic]->rate_bps;
}

static void write_options(const struct import *import, const struct graph *graph,
			  const struct import_link *link, bool is_nic, FILE *to)
{
	if (import->has_rates && !(is_nic && link->rate_bps == graph->rate_bps))
		fprintf(to, ", rate: %.9gGb/s", link->rate_bps / 1e9);
	if (import->has_delays && !(is_nic && link->delay_ns == graph->delay_ns))
		fprintf(to, ", delay: %.9gns", link->delay_ns);
}

static bool is_same_edge(const struct import_link *x, const struct import_link *y)
{
	return ((x->a == y->a && x->b == y->b) || (x->a == y->b && x->b == y->a));
}

// Links between two switches, all of them at the first one's place.
static int write_edge(const struct import *import, const struct graph *graph, uint32_t at, FILE *to,
		      struct refusal *refusal)
{
	const struct import_link *link = &import->links[at];
	uint32_t count = 0;
	for (uint32_t i = 0; i < import->link_count; i++) {
		const struct import_link *other = &import->links[i];
		if (!is_same_edge(link, other))
			continue;
		if (i < at)
			return 0;
		count++;
		if (other->rate_bps != link->rate_bps || other->delay_ns != link->delay_ns)
			return import_refuse(import, refusal, other->line,
					     "links between two switches have one rate and delay; "
					     "line %u says others",
					     link->line);
	}
	fprintf(to, "    - {from: %s, to: %s", import->nodes[link->a].name,
		import->nodes[link->b].name);
	if (count > 1)
		fprintf(to, ", count: %u", count);
	write_options(import, graph, link, false, to);
	fputs("}\n", to);
	return 0;
}

// NICs, numbered on from host to host; those alike in one line.
static void write_nics(const struct import *import, const struct graph *graph, FILE *to)
{
	uint32_t count;
	for (uint32_t nic = 0; nic < graph->nics; nic += count) {
		const struct import_link *link = graph->links[nic];
		for (count = 1; nic + count < graph->nics; count++)
			if (switch_of(import, graph->links[nic + count]) !=
				    switch_of(import, link) ||
			    graph->links[nic + count]->delay_ns != link->delay_ns ||
			    graph->links[nic + count]->rate_bps != link->rate_bps)
				break;
		fprintf(to, "    - {from: %s, nic: %u", switch_of(import, link)->name, nic);
		if (count > 1)
			fprintf(to, ", count: %u", count);
		write_options(import, graph, link, true, to);
		fprintf(to, "} # %s", host_of(import, link)->name);
		if (count > 1)
			fprintf(to, " to %s", host_of(import, graph->links[nic + count - 1])->name);
		fputc('\n', to);
	}
}

static void write_losses(const struct import *import, const struct graph *graph, FILE *to)
{
	const char *head = "faults:\n";
	for (uint32_t nic = 0; nic < graph->nics; nic++) {
		double loss = graph->links[nic]->loss;
		if (loss > 0)
			fprintf(to, "%s  - {kind: loss, at: {nic: %u}, probability: %.9g%%}\n",
				head, nic, loss * 100);
		head = loss > 0 ? "" : head;
	}
	for (uint32_t i = 0; i < import->link_count; i++) {
		const struct import_link *link = &import->links[i];
		if (link->loss == 0 || host_of(import, link) != NULL)
			continue;
		fprintf(to, "%s  - {kind: loss, at: {link: %s-%s}, probability: %.9g%%}\n", head,
			import->nodes[link->a].name, import->nodes[link->b].name, link->loss * 100);
		head = "";
	}
}

static void write_head(const struct import *import, const struct graph *graph, FILE *to)
{
	const char *slash = strrchr(import->path, '/'), *file = slash ? slash + 1 : import->path;
	fprintf(to, "# %s, %s: %u hosts with %u NICs, %u switches, %u links.\n", file,
		import->format, graph->hosts, graph->nics, graph->switches, import->link_count);
	fprintf(to, "# Assumed, as the file does not say it:%s the traffic.\n",
		import->has_rates ? "" : " fabric.link_rate (of all links) and");
	fprintf(to, "name: %.*s\n", (int)strcspn(file, "."), file);
	fprintf(to, "fabric:\n  topology: graph\n  nics: %u\n", graph->nics);
	if (graph->per_host > 1)
		fprintf(to, "  nics_per_host: %u\n", graph->per_host);
	fprintf(to, "  link_rate: %.9gGb/s\n", import->has_rates ? graph->rate_bps / 1e9 : 100.0);
	if (import->has_delays)
		fprintf(to, "  nic_delay: %.9gns\n", graph->delay_ns);
	fputs("  nodes:\n", to);
	for (uint32_t i = 0; i < import->node_count; i++)
		if (!import->nodes[i].is_host)
			fprintf(to, "    - {name: %s}\n", import->nodes[i].name);
}

static int write_links(const struct import *import, const struct graph *graph, FILE *to,
		       struct refusal *refusal)
{
	int rc = 0;
	fputs("  links:\n", to);
	for (uint32_t i = 0; rc == 0 && i < import->link_count; i++)
		if (host_of(import, &import->links[i]) == NULL)
			rc = write_edge(import, graph, i, to, refusal);
	if (rc == 0)
		write_nics(import, graph, to);
	return rc;
}

int import_write(const struct import *import, FILE *to, struct refusal *refusal)
{
	struct graph graph = {0};
	if (import->is_sonic) {
		import_sonic_write(import, to);
		return 0;
	}
	int rc = count_nodes(import, &graph, refusal);
	if (rc == 0)
		rc = place_nics(import, &graph, refusal);
	if (rc == 0) {
		find_nic(&graph);
		write_head(import, &graph, to);
		rc = write_links(import, &graph, to, refusal);
	}
	if (rc == 0) {
		if (import->has_queue)
			import_sonic_queue(&import->sonic, to);
		fputs("traffic: {kind: permutation, bytes: 1MB}\n", to);
		write_losses(import, &graph, to);
		if (import->has_queue)
			fputs("inputs:\n  - {origin: fact, text: \"marks, buffers, pauses and "
			      "rates: config_db.json of each switch\"}\n",
			      to);
	}
	free(graph.links);
	return rc;
}
