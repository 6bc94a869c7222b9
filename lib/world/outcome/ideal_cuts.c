// SPDX-License-Identifier: Apache-2.0
// Cuts of a fabric: sets of NICs and switches, and the links across their borders. Parts of a tree
// or graph are what hangs together over the links below a tier: over NICs' links alone a T0 with
// its NICs (a rail, a router, a listed switch), over those of T0s, too, a pod. A torus has its rows
// and its halves besides. Any set of nodes gives a bound that holds, so none has to be the
// narrowest.

#include <errno.h>

#include <weft/core/check.h>

#include "ideal.h"

// Nodes are NICs, then switches.
struct nodes {
	const struct topology *topology;
	uint32_t count;
	uint32_t *part_of; // [count]; while parts are joined another node of the same part
};

static uint32_t root_of(const struct nodes *nodes, uint32_t node)
{
	while (nodes->part_of[node] != node) {
		nodes->part_of[node] = nodes->part_of[nodes->part_of[node]];
		node = nodes->part_of[node];
	}
	return node;
}

struct ends {
	uint32_t a, b;
};

static struct ends ends_of(const struct topology *topology, const struct link_plan *link)
{
	uint32_t a = topology->nics + link->node_a - topology->hosts;
	if (link->tier == 0)
		a = link->node_a * topology->nics_per_host + link->port_a / topology->planes;
	return (struct ends){a, topology->nics + link->node_b - topology->hosts};
}

static void part_alone(struct nodes *nodes)
{
	for (uint32_t i = 0; i < nodes->count; i++)
		nodes->part_of[i] = i;
}

static void join_below(struct nodes *nodes, uint32_t tier)
{
	part_alone(nodes);
	for (uint32_t i = 0; i < nodes->topology->link_count; i++) {
		const struct link_plan *link = &nodes->topology->links[i];
		struct ends ends = ends_of(nodes->topology, link);
		if (link->tier < tier)
			nodes->part_of[root_of(nodes, ends.a)] = root_of(nodes, ends.b);
	}
	for (uint32_t i = 0; i < nodes->count; i++)
		nodes->part_of[i] = root_of(nodes, i);
}

// Along a dimension of a torus; in `count` stretches of routers.
static void part_rows(struct nodes *nodes, const struct fabric_config *config, uint32_t dimension,
		      uint32_t count)
{
	const struct topology *topology = nodes->topology;
	uint32_t switches = topology->switch_count / topology->planes, stride = 1;
	for (uint32_t i = 0; i < dimension; i++)
		stride *= config->torus[i];
	for (uint32_t i = 0; i < nodes->count; i++) {
		uint32_t router = i < topology->nics ? topology->nic_switch[i]
						     : (i - topology->nics) % switches;
		uint32_t place = router / stride % config->torus[dimension];
		nodes->part_of[i] = (uint32_t)((uint64_t)place * count / config->torus[dimension]);
	}
}

// Keeps the parts as a cut, but where all NICs are in one.
static int keep(struct ideal *ideal, struct nodes *nodes, struct arena *arena)
{
	const struct topology *topology = nodes->topology;
	struct ideal_cut *cut = &ideal->cuts[ideal->cut_count];
	uint32_t parts = nodes->count, nic = 0;
	while (nic < topology->nics && nodes->part_of[nic] == nodes->part_of[0])
		nic++;
	if (nic == topology->nics)
		return 0;
	*cut = (struct ideal_cut){
		.parts = parts,
		.part_of = arena_draw(arena, ARENA_WORLD, topology->nics, sizeof(uint32_t)),
		.rate_bps = arena_draw(arena, ARENA_WORLD, parts, sizeof(uint64_t)),
		.out = arena_draw(arena, ARENA_WORLD, parts, 2 * sizeof(struct ideal_load)),
	};
	if (arena_has_failed(arena))
		return -ENOMEM;
	cut->in = cut->out + parts;
	for (nic = 0; nic < topology->nics; nic++)
		cut->part_of[nic] = nodes->part_of[nic];
	for (uint32_t i = 0; i < topology->link_count; i++) {
		struct ends ends = ends_of(topology, &topology->links[i]);
		uint32_t a = nodes->part_of[ends.a], b = nodes->part_of[ends.b];
		cut->rate_bps[a] += a == b ? 0 : topology->links[i].rate_bps;
		cut->rate_bps[b] += a == b ? 0 : topology->links[i].rate_bps;
	}
	check(++ideal->cut_count <= IDEAL_CUTS_MAX);
	return 0;
}

int ideal_find_cuts(struct ideal *ideal, struct arena *arena)
{
	const struct fabric_config *config = &ideal->scenario->fabric;
	const struct topology *topology = ideal->topology;
	struct nodes nodes = {.topology = topology,
			      .count = topology->nics + topology->switch_count};
	int rc = 0;
	nodes.part_of = arena_draw(arena, ARENA_WORLD, nodes.count, sizeof(uint32_t));
	if (nodes.part_of == NULL)
		return -ENOMEM;
	for (uint32_t tier = 1; rc == 0 && tier < TOPOLOGY_TIERS_MAX; tier++) {
		join_below(&nodes, tier);
		rc = keep(ideal, &nodes, arena);
	}
	for (uint32_t i = 0; rc == 0 && config->kind == TOPOLOGY_TORUS && i < 3; i++) {
		uint32_t length = config->torus[i];
		part_rows(&nodes, config, i, length);
		rc = keep(ideal, &nodes, arena);
		part_rows(&nodes, config, i, 2);
		if (rc == 0 && length > 3)
			rc = keep(ideal, &nodes, arena);
	}
	return rc;
}
