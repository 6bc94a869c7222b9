// SPDX-License-Identifier: Apache-2.0
// The tree of a .topo file as a graph: two tiers, or three with pods. The switches above a ToR's
// pod stand as htsim has them: aggregation switch p of every pod links to cores p, p + aggs, p + 2
// aggs and so on. Each tier has its own rate, delay and bundles, which is why the arithmetic of
// fattree.c does not do. Ports: down first, then up, bundles together.

#include <errno.h>

#include <weft/core/refusal.h>

#include "graph.h"
#include "tree.h"

// Switches of a tree, as its file's figures say; 0 where they do not divide.
struct tree_counts {
	uint32_t tors, pods, pod_tors, pod_aggs, cores;
};

static uint32_t whole(uint64_t value, uint64_t by)
{
	return by > 0 && value % by == 0 && value / by <= UINT32_MAX ? (uint32_t)(value / by) : 0;
}

static struct tree_counts counts_of(const struct tree_plan *tree)
{
	const struct tree_tier *tier = tree->tier;
	struct tree_counts counts = {
		.tors = whole(tree->nics, tier[0].down),
		.pods = whole(tree->nics, tree->pod_nics),
		.pod_tors = whole(tree->pod_nics, tier[0].down),
		.pod_aggs = whole(tier[0].up, tier[1].bundle),
	};
	if (tree->tiers == 3)
		counts.cores = counts.pod_aggs * whole(tier[1].up, tier[2].bundle);
	return counts;
}

int tree_check(const struct tree_plan *tree, struct tree_key *ret, struct refusal *refusal)
{
	const struct tree_counts whole_counts = counts_of(tree), *counts = &whole_counts;
	const struct tree_tier *tier = tree->tier;
	bool is_tall = tree->tiers == 3;
	*ret = (struct tree_key){TREE_PODSIZE, 0};
	if (counts->tors == 0 || counts->pods == 0 || counts->pod_tors == 0)
		return refuse(refusal, -EINVAL,
			      "% nodes do not fill whole pods of % below switches with % each",
			      tree->nics, tree->pod_nics, tier[0].down);
	*ret = (struct tree_key){TREE_UP, counts->pod_aggs == 0 ? 0 : 1};
	if (counts->pod_aggs == 0 || (is_tall && counts->cores == 0))
		return refuse(refusal, -EINVAL, "Radix_Up of % and % is not a multiple of Bundle",
			      tier[0].up, tier[1].up);
	*ret = (struct tree_key){TREE_PODSIZE, 0};
	if (!is_tall && counts->pods != 1)
		return refuse(refusal, -EINVAL, "two tiers are one pod: Podsize must be Nodes, %",
			      tree->nics);
	*ret = (struct tree_key){TREE_DOWN, 1};
	if (tier[1].down != counts->pod_tors * tier[1].bundle)
		return refuse(refusal, -EINVAL,
			      "Radix_Down of tier 1 is %, but % switches below with % links each "
			      "need another",
			      tier[1].down, counts->pod_tors, tier[1].bundle);
	*ret = (struct tree_key){TREE_DOWN, 2};
	if (is_tall && tier[2].down != counts->pods * tier[2].bundle)
		return refuse(
			refusal, -EINVAL,
			"Radix_Down of tier 2 is %, but % pods with % links each need another",
			tier[2].down, counts->pods, tier[2].bundle);
	return 0;
}

int tree_size(const struct fabric_config *config, struct refusal *refusal, struct graph_size *ret)
{
	const struct tree_plan *tree = &config->tree;
	if (tree->tiers == 0)
		return refuse(refusal, -EINVAL, "the file of the topology was not read");
	if (tree->nics != config->nics)
		return refuse(refusal, -EINVAL,
			      "the topology is of % nodes, but fabric.nics is %: set "
			      "fabric.nics=%",
			      tree->nics, config->nics, tree->nics);
	if (tree->tier[0].rate_bps != config->link_rate_bps)
		return refuse(refusal, -EINVAL,
			      "the links of NICs have % b/s in the file, but fabric.link_rate is "
			      "% b/s: set it to the same",
			      (int64_t)tree->tier[0].rate_bps, (int64_t)config->link_rate_bps);
	struct tree_counts counts = counts_of(tree);
	struct tree_key spot;
	int error = tree_check(tree, &spot, refusal);
	if (error != 0)
		return error;
	if (tree->tier[0].down % config->nics_per_host != 0)
		return refuse(refusal, -EINVAL, "hosts of % NICs would straddle switches of % NICs",
			      config->nics_per_host, tree->tier[0].down);
	uint64_t aggs = (uint64_t)counts.pods * counts.pod_aggs;
	*ret = (struct graph_size){
		counts.tors + aggs + counts.cores,
		(uint64_t)counts.tors * tree->tier[0].up +
			(tree->tiers == 3 ? aggs * tree->tier[1].up : 0),
	};
	return 0;
}

// Joins two switches by the links of `tier`.
static void join(struct graph *graph, const struct tree_tier *tier, uint32_t lower, uint32_t upper)
{
	for (uint32_t i = 0; i < tier->bundle; i++)
		graph->edges[graph->edge_count++] = (struct graph_edge){
			.a = lower,
			.b = upper,
			.rate_bps = tier->rate_bps,
			.delay_ps = tier->delay_ps,
		};
}

// Says which tier the `count` switches from `first` on are.
static void set_tier(struct graph *graph, const struct tree_plan *tree, uint32_t tier,
		     uint32_t first, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		graph->tier[first + i] = (uint8_t)tier;
		graph->index[first + i] = i;
		graph->switch_delay_ps[first + i] = tree->tier[tier].switch_delay_ps;
	}
}

int tree_fill(struct graph *graph, const struct fabric_config *config, struct refusal *)
{
	const struct tree_plan *tree = &config->tree;
	const struct tree_counts counts = counts_of(tree);
	uint32_t agg_first = counts.tors, core_first = agg_first + counts.pods * counts.pod_aggs;
	for (uint32_t nic = 0; nic < config->nics; nic++)
		graph->nics[nic] = (struct graph_nic){nic / tree->tier[0].down,
						      tree->tier[0].delay_ps};
	set_tier(graph, tree, 0, 0, counts.tors);
	set_tier(graph, tree, 1, agg_first, core_first - agg_first);
	set_tier(graph, tree, 2, core_first, counts.cores);
	for (uint32_t tor = 0; tor < counts.tors; tor++)
		for (uint32_t i = 0; i < counts.pod_aggs; i++)
			join(graph, &tree->tier[1], tor,
			     agg_first + tor / counts.pod_tors * counts.pod_aggs + i);
	for (uint32_t core = 0; core < counts.cores; core++)
		for (uint32_t pod = 0; pod < counts.pods; pod++)
			join(graph, &tree->tier[2],
			     agg_first + pod * counts.pod_aggs + core % counts.pod_aggs,
			     core_first + core);
	return 0;
}
