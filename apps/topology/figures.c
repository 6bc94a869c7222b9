// SPDX-License-Identifier: Apache-2.0
// Counts, capacities and paths of a fabric, found by walking through what was built. All planes are
// alike, so the first one is walked.

#include "figures.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "cut.h"

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
