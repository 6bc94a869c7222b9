// SPDX-License-Identifier: Apache-2.0
// What a built fabric is made of, whatever its kind: its lowest switches, what they have upwards,
// who is far away, and the names of what a case breaks.

#include <stdio.h>
#include <string.h>

#include "fabric_facts.h"

uint32_t fabric_facts_nic(const struct fabric_facts *fabric_facts, uint32_t t0, uint32_t index)
{
	for (uint32_t nic = 0; nic < fabric_facts->nics; nic++)
		if (topology_switch(fabric_facts->topology, nic) == fabric_facts->t0[t0] &&
		    index-- == 0)
			return nic;
	return NIC_NONE;
}

// T0s in the order of their first NICs.
static void find_t0s(struct fabric_facts *fabric_facts)
{
	const struct topology *topology = fabric_facts->topology;
	uint32_t switches = topology->switch_count / topology->planes;
	for (uint32_t at = 0; at < switches; at++) {
		const struct switch_plan *plan = &topology->switches[at];
		bool has_nics = plan->up_ports < plan->port_count && plan->tier == 0;
		if (has_nics && fabric_facts->t0_count < FABRIC_FACTS_T0_MAX)
			fabric_facts->t0[fabric_facts->t0_count] = at;
		fabric_facts->t0_count += has_nics;
	}
	uint32_t own = topology_switch(topology, 0);
	for (uint32_t nic = 0; nic < fabric_facts->nics; nic++) {
		if (topology_switch(topology, nic) != own)
			continue;
		if (fabric_facts->nics_per_t0++ == 1)
			fabric_facts->near = nic;
	}
}

static uint64_t rate_at(const struct topology *topology, uint32_t at, uint32_t port)
{
	return topology->links[topology->port_links[topology->switches[at].port_first + port]]
		.rate_bps;
}

static void find_links_up(struct fabric_facts *fabric_facts)
{
	const struct topology *topology = fabric_facts->topology;
	uint32_t at = topology_switch(topology, 0);
	const struct switch_plan *plan = &topology->switches[at];
	double below = (double)fabric_facts->nics_per_t0 *
		(double)fabric_facts->fabric->link_rate_bps,
	       above = 0;
	for (uint32_t i = 0; i < plan->up_ports; i++)
		above += (double)rate_at(topology, at, plan->up_first + i);
	fabric_facts->ups = plan->up_ports;
	fabric_facts->up_share = above < below ? above / below : 1;
	if (plan->up_ports > 0)
		fabric_facts->trunk_share = (double)rate_at(topology, at, plan->up_first) /
			(double)fabric_facts->fabric->link_rate_bps;
}

// Whether each tier of a tree has as much above it as below.
static bool is_full(const struct topology *topology)
{
	double below[TOPOLOGY_TIERS_MAX] = {0}, above[TOPOLOGY_TIERS_MAX] = {0};
	uint32_t switches = topology->switch_count / topology->planes;
	if (topology->kind != TOPOLOGY_CLOS && topology->kind != TOPOLOGY_FAT_TREE &&
	    topology->kind != TOPOLOGY_FILE)
		return false;
	for (uint32_t at = 0; at < switches; at++) {
		const struct switch_plan *plan = &topology->switches[at];
		for (uint32_t port = 0; port < plan->port_count; port++) {
			bool is_up = port - plan->up_first < plan->up_ports; // wraps below up_first
			*(is_up ? &above[plan->tier]
				: &below[plan->tier]) += (double)rate_at(topology, at, port);
		}
	}
	for (uint32_t tier = 0; tier < TOPOLOGY_TIERS_MAX; tier++)
		if (above[tier] > 0 && above[tier] < below[tier])
			return false;
	return true;
}

// ---------------------------------------------------------------- who is far away

static bool is_taken(const struct fabric_facts *fabric_facts, uint32_t nic)
{
	for (uint32_t i = 0; i < fabric_facts->drill_count; i++)
		if (fabric_facts->drills[i].to == nic)
			return true;
	return false;
}

// The next NIC from the other half on that no drill goes to and that is `links` away.
static uint32_t partner_of(const struct fabric_facts *fabric_facts, uint32_t from, uint32_t links)
{
	for (uint32_t i = 0; i < fabric_facts->nics; i++) {
		uint32_t to = (uint32_t)(((uint64_t)from + fabric_facts->nics / 2 + i) %
					 fabric_facts->nics);
		if (topology_links(fabric_facts->topology, fabric_facts->fabric, from, to) ==
			    links &&
		    !is_taken(fabric_facts, to))
			return to;
	}
	return NIC_NONE;
}

// Links to who is farthest from NIC 0; 0: all are below its T0.
static uint32_t farthest(const struct fabric_facts *fabric_facts)
{
	uint32_t links = fabric_facts->topology->links_max;
	while (links > 2 && partner_of(fabric_facts, 0, links) == NIC_NONE)
		links--;
	return links > 2 ? links : 0;
}

// As many as the links upwards carry.
static int find_drills(struct fabric_facts *fabric_facts)
{
	uint32_t links = farthest(fabric_facts), own = topology_switch(fabric_facts->topology, 0);
	double carried = fabric_facts->nics_per_t0 * fabric_facts->up_share;
	uint32_t most = carried < 1 ? 1 : carried < DRILL_FLOWS ? (uint32_t)carried : DRILL_FLOWS;
	fabric_facts->far = fabric_facts->nics / 2;
	for (uint32_t nic = 0;
	     links > 0 && nic < fabric_facts->nics && fabric_facts->drill_count < most; nic++) {
		uint32_t to = topology_switch(fabric_facts->topology, nic) == own
			? partner_of(fabric_facts, nic, links)
			: NIC_NONE;
		if (to != NIC_NONE)
			fabric_facts->drills[fabric_facts->drill_count++] = (struct pair){nic, to};
	}
	if (fabric_facts->drill_count == 0)
		return 0;
	fabric_facts->far = fabric_facts->drills[0].to;
	return carry(&fabric_facts->drilled, fabric_facts, fabric_facts->drills,
		     fabric_facts->drill_count, 1);
}

// ---------------------------------------------------------------- what breaks

static void name_switch(const struct fabric_facts *fabric_facts, uint32_t at,
			char ret[NODE_NAME_BYTES])
{
	if (fabric_facts->topology->names != NULL)
		snprintf(ret, NODE_NAME_BYTES, "%s", fabric_facts->topology->names[at]);
	else
		topology_name(fabric_facts->fabric, at, ret);
}

// A switch: by its tier and number, or by its name.
static void place_of(const struct fabric_facts *fabric_facts, uint32_t at,
		     char ret[FABRIC_FACTS_PLACE_BYTES])
{
	const struct switch_plan *plan = &fabric_facts->topology->switches[at];
	char name[NODE_NAME_BYTES];
	if (topology_has_names(fabric_facts->topology->kind)) {
		name_switch(fabric_facts, at, name);
		snprintf(ret, FABRIC_FACTS_PLACE_BYTES, "{node: \"%s\", plane: 0}", name);
	} else {
		snprintf(ret, FABRIC_FACTS_PLACE_BYTES, "{t%u: %u, plane: 0}", plan->tier,
			 plan->index);
	}
}

static void find_places(struct fabric_facts *fabric_facts)
{
	const struct topology *topology = fabric_facts->topology;
	uint16_t ports[MACHINE_PORTS_MAX];
	uint32_t at = topology_switch(topology, 0), same = 0;
	uint32_t count = topology_ports(topology, at, fabric_facts->far, ports);
	uint32_t next = topology_behind(topology, at, ports[0]);
	for (uint32_t i = 0; i < count; i++)
		same += topology_behind(topology, at, ports[i]) == next;
	next -= topology->hosts;
	place_of(fabric_facts, at, fabric_facts->t0_at);
	place_of(fabric_facts, next, fabric_facts->next_at);
	fabric_facts->next_lost = (double)same / count;
	if (!topology_has_names(topology->kind)) {
		fabric_facts->trunk_lost = 1.0 / count;
		snprintf(fabric_facts->trunk_at, sizeof(fabric_facts->trunk_at),
			 "{t0: %u, up: %u, plane: 0}", topology->switches[at].index,
			 ports[0] - topology->switches[at].up_first);
		return;
	}
	char a[NODE_NAME_BYTES], b[NODE_NAME_BYTES];
	name_switch(fabric_facts, at, a);
	name_switch(fabric_facts, next, b);
	fabric_facts->trunk_lost =
		fabric_facts->next_lost; // all links between the two have one name
	snprintf(fabric_facts->trunk_at, sizeof(fabric_facts->trunk_at),
		 "{link: \"%s-%s\", plane: 0}", a, b);
}

int tiers_of(struct fabric_facts *fabric_facts)
{
	fabric_facts->near = NIC_NONE;
	find_t0s(fabric_facts);
	find_links_up(fabric_facts);
	fabric_facts->is_full = is_full(fabric_facts->topology);
	int rc = find_drills(fabric_facts);
	if (rc == 0 && fabric_facts->drill_count > 0)
		find_places(fabric_facts);
	return rc;
}
