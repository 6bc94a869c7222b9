// SPDX-License-Identifier: Apache-2.0
// A graph as it was listed: switches, links between them, and links to NICs. Each NIC hangs at one
// switch of a plane; NICs that no link names were given to switches by whoever made the list.

#include <errno.h>

#include <weft/core/refusal.h>
#include <weft/fabric/fabric_capacity.h>

#include "graph.h"

// Links between switches; each NIC has one link.
static int count_links(const struct fabric_config *config, struct refusal *refusal,
		       uint64_t *ret_edges)
{
	const struct graph_plan *plan = &config->graph;
	uint64_t edges = 0, nics = 0;
	for (uint32_t i = 0; i < plan->link_count; i++) {
		const struct graph_link *link = &plan->links[i];
		uint64_t ends = link->is_nic ? config->nics : plan->node_count;
		uint64_t last = (uint64_t)link->b + (link->is_nic ? link->count : 1);
		if (link->a >= plan->node_count || last > ends || link->count == 0 ||
		    (!link->is_nic && link->a == link->b))
			return refuse(refusal, -EINVAL, "link % leads from switch % to nothing", i,
				      link->a);
		*(link->is_nic ? &nics : &edges) += link->count;
	}
	if (nics != config->nics)
		return refuse(refusal, -EINVAL, "% cables for % NICs: each has one per plane",
			      (int64_t)nics, config->nics);
	*ret_edges = edges;
	return 0;
}

int listed_size(const struct fabric_config *config, struct refusal *refusal, struct graph_size *ret)
{
	uint64_t edges = 0;
	int error = count_links(config, refusal, &edges);
	if (error == 0)
		*ret = (struct graph_size){config->graph.node_count, edges};
	return error;
}

static void place_nics(struct graph *graph, const struct graph_link *link)
{
	for (uint32_t i = 0; i < link->count; i++) {
		struct graph_nic *nic = &graph->nics[link->b + i];
		nic->node = link->a;
		if (link->delay_ps >= 0)
			nic->delay_ps = link->delay_ps;
	}
}

static void place_edges(struct graph *graph, const struct fabric_config *config,
			const struct graph_link *link)
{
	uint32_t first = graph->edge_count;
	graph_join(graph, config, link->a, link->b, link->count);
	for (uint32_t i = first; i < graph->edge_count; i++) {
		if (link->rate_bps > 0)
			graph->edges[i].rate_bps = link->rate_bps;
		if (link->delay_ps >= 0)
			graph->edges[i].delay_ps = link->delay_ps;
	}
}

int listed_fill(struct graph *graph, const struct fabric_config *config, struct refusal *refusal)
{
	const struct graph_plan *plan = &config->graph;
	for (uint32_t nic = 0; nic < config->nics; nic++)
		graph->nics[nic].node = UINT32_MAX;
	for (uint32_t i = 0; i < plan->link_count; i++) {
		if (plan->links[i].is_nic)
			place_nics(graph, &plan->links[i]);
		else
			place_edges(graph, config, &plan->links[i]);
	}
	for (uint32_t nic = 0; nic < config->nics; nic++)
		if (graph->nics[nic].node == UINT32_MAX)
			return refuse(refusal, -EINVAL, "NIC % hangs at no switch", nic);
	graph->names = plan->names;
	return 0;
}

uint64_t fabric_nic_rate(const struct fabric_config *config, uint32_t nic)
{
	const struct graph_plan *plan = &config->graph;
	for (uint32_t i = 0; config->kind == TOPOLOGY_GRAPH && i < plan->link_count; i++) {
		const struct graph_link *link = &plan->links[i];
		if (link->is_nic && link->rate_bps > 0 && nic - link->b < link->count)
			return link->rate_bps;
	}
	return config->link_rate_bps;
}

uint64_t fabric_nic_rate_least(const struct fabric_config *config)
{
	const struct graph_plan *plan = &config->graph;
	uint64_t least = config->link_rate_bps;
	for (uint32_t i = 0; config->kind == TOPOLOGY_GRAPH && i < plan->link_count; i++) {
		const struct graph_link *link = &plan->links[i];
		if (link->is_nic && link->rate_bps > 0 && link->rate_bps < least)
			least = link->rate_bps;
	}
	return least;
}
