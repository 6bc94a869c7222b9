// SPDX-License-Identifier: Apache-2.0
// Counts, capacities and paths of a fabric, found by walking through what was built. All planes are
// alike, so the first one is walked.

#include "figures.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <weft/fabric/fabric.h>

// Maximum flow, which equals the smallest cut, by Dinic's method: search the levels, send along
// them until nothing goes any more, and begin again. Nodes are the switches of the first plane, a
// source that feeds one half of the NICs and a sink behind the other.

struct arc {
	uint32_t to, next; // next: of the same node, UINT32_MAX ends
	uint64_t left_bps;
};

struct network {
	uint32_t nodes, arc_count, source, sink;
	struct arc *arcs; // arc i and its reverse i ^ 1
	uint32_t *first;  // [nodes]
	uint32_t *level, *current, *queue;
};

static void join(struct network *network, uint32_t a, uint32_t b, uint64_t there_bps,
		 uint64_t back_bps)
{
	uint32_t at = network->arc_count;
	network->arcs[at] = (struct arc){b, network->first[a], there_bps};
	network->arcs[at + 1] = (struct arc){a, network->first[b], back_bps};
	network->first[a] = at;
	network->first[b] = at + 1;
	network->arc_count += 2;
}

// Which half a NIC is in.
static bool is_second(const struct fabric_config *config, uint32_t nic)
{
	uint32_t longest = 0, stride = 1;
	if (config->kind != TOPOLOGY_TORUS)
		return nic >= config->nics / 2;
	for (uint32_t i = 1; i < 3; i++)
		longest = config->torus[i] >= config->torus[longest] ? i : longest;
	for (uint32_t i = 0; i < longest; i++)
		stride *= config->torus[i];
	uint32_t length = config->torus[longest];
	return nic / config->nics_per_t0 / stride % length >= (length + 1) / 2;
}

static void fill(struct network *network, const struct topology *topology,
		 const struct fabric_config *config)
{
	memset(network->first, 0xff, network->nodes * sizeof(*network->first));
	for (uint32_t i = 0; i < topology->link_count; i++) {
		const struct link_plan *link = &topology->links[i];
		uint32_t above = link->node_b - topology->hosts;
		if (link->plane != 0)
			continue;
		if (link->tier > 0) {
			join(network, link->node_a - topology->hosts, above, link->rate_bps,
			     link->rate_bps);
			continue;
		}
		uint32_t nic = link->node_a * topology->nics_per_host +
			link->port_a / topology->planes;
		if (is_second(config, nic))
			join(network, above, network->sink, link->rate_bps, 0);
		else
			join(network, network->source, above, link->rate_bps, 0);
	}
}

// Whether the sink can be reached; sets the levels.
static bool find_levels(struct network *network)
{
	uint32_t count = 1;
	memset(network->level, 0xff, network->nodes * sizeof(*network->level));
	network->queue[0] = network->source;
	network->level[network->source] = 0;
	for (uint32_t i = 0; i < count; i++) {
		uint32_t at = network->queue[i];
		for (uint32_t arc = network->first[at]; arc != UINT32_MAX;
		     arc = network->arcs[arc].next) {
			uint32_t to = network->arcs[arc].to;
			if (network->arcs[arc].left_bps == 0 || network->level[to] != UINT32_MAX)
				continue;
			network->level[to] = network->level[at] + 1;
			network->queue[count++] = to;
		}
	}
	memcpy(network->current, network->first, network->nodes * sizeof(*network->first));
	return network->level[network->sink] != UINT32_MAX;
}

// Sends up to `bps` on from `at` along the levels; returns what went through. As deep as the
// longest way.
static uint64_t send(struct network *network, uint32_t at, uint64_t bps)
{
	uint64_t sent = 0;
	if (at == network->sink)
		return bps;
	for (; network->current[at] != UINT32_MAX;
	     network->current[at] = network->arcs[network->current[at]].next) {
		uint32_t index = network->current[at];
		struct arc *arc = &network->arcs[index];
		if (arc->left_bps == 0 || network->level[arc->to] != network->level[at] + 1)
			continue;
		uint64_t rest = bps - sent;
		uint64_t part = send(network, arc->to, arc->left_bps < rest ? arc->left_bps : rest);
		arc->left_bps -= part;
		network->arcs[index ^ 1].left_bps += part;
		sent += part;
		if (sent == bps)
			return sent;
	}
	return sent;
}

// The most that can flow from the first half of the NICs to the second, in one direction, bits per
// second. The halves are by number; of a torus, they are parted along its longest dimension, where
// the cut is smallest. -ENOMEM.
static int cut_find(uint64_t *ret, const struct topology *topology,
		    const struct fabric_config *config)
{
	uint32_t switches = topology->switch_count / topology->planes, nodes = switches + 2;
	size_t arcs = 2 * ((size_t)topology->link_count / topology->planes);
	struct network network = {
		.nodes = nodes,
		.source = switches,
		.sink = switches + 1,
		.arcs = calloc(arcs, sizeof(*network.arcs)),
		.first = calloc(4 * (size_t)nodes, sizeof(*network.first)),
	};
	int rc = network.arcs == NULL || network.first == NULL ? -ENOMEM : 0;
	if (rc == 0) {
		network.level = network.first + nodes;
		network.current = network.level + nodes;
		network.queue = network.current + nodes;
		fill(&network, topology, config);
		*ret = 0;
		while (find_levels(&network))
			*ret += send(&network, network.source, UINT64_MAX);
	}
	free(network.arcs);
	free(network.first);
	return rc;
}

static void count_tier(struct figures *figures, const struct topology *topology, uint32_t at)
{
	const struct switch_plan *plan = &topology->switches[at];
	struct tier_figures *tier = &figures->tier[plan->tier];
	uint32_t ports = plan->port_count;
	if (tier->switches++ == 0)
		tier->ports_min = ports;
	tier->ports_min = ports < tier->ports_min ? ports : tier->ports_min;
	tier->ports_max = ports > tier->ports_max ? ports : tier->ports_max;
	for (uint32_t port = 0; port < ports; port++) {
		bool is_up = port - plan->up_first < plan->up_ports; // wraps below up_first
		uint32_t link = topology->port_links[plan->port_first + port];
		*(is_up ? &tier->above_bps : &tier->below_bps) += topology->links[link].rate_bps;
	}
	if (figures->tiers < plan->tier + 1u)
		figures->tiers = plan->tier + 1u;
}

static void count_links(struct figures *figures, const struct topology *topology)
{
	for (uint32_t i = 0; i < topology->link_count; i++)
		if (topology->links[i].plane == 0)
			figures->links[topology->links[i].tier]++;
}

// ---------------------------------------------------------------- paths

// Two NICs with the longest way; in a tree the first and the last have it.
static void find_farthest(struct figures *figures, const struct topology *topology,
			  const struct fabric_config *config)
{
	uint32_t last = topology->nics - 1;
	figures->to = last;
	if (topology_links(topology, config, 0, last) == topology->links_max)
		return;
	for (uint32_t from = 0; from < topology->nics; from++) {
		for (uint32_t to = from + 1; to < topology->nics; to++) {
			if (topology_links(topology, config, from, to) != topology->links_max)
				continue;
			figures->from = from;
			figures->to = to;
			return;
		}
	}
}

// Ways from switch `at` on; `known` remembers what was counted already.
static uint64_t count_paths(const struct topology *topology, uint32_t at, uint32_t to,
			    uint64_t *known)
{
	uint16_t ports[MACHINE_PORTS_MAX];
	if (known[at] > 0)
		return known[at];
	if (at == topology_switch(topology, to))
		return 1;
	uint32_t count = topology_ports(topology, at, to, ports);
	for (uint32_t i = 0; i < count; i++) {
		uint32_t next = topology_behind(topology, at, ports[i]) - topology->hosts;
		known[at] += count_paths(topology, next, to, known);
	}
	return known[at];
}

int figures_find(struct figures *ret, const struct topology *topology,
		 const struct fabric_config *config)
{
	uint32_t switches = topology->switch_count / topology->planes;
	uint64_t *known = calloc(switches, sizeof(*known));
	*ret = (struct figures){0};
	if (known == NULL)
		return -ENOMEM;
	for (uint32_t at = 0; at < switches; at++)
		count_tier(ret, topology, at);
	count_links(ret, topology);
	find_farthest(ret, topology, config);
	ret->paths = count_paths(topology, topology_switch(topology, ret->from), ret->to, known);
	free(known);
	return cut_find(&ret->bisection_bps, topology, config);
}
