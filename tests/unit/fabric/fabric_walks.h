// SPDX-License-Identifier: Apache-2.0
// Walks through a built topology, port by port, as a packet goes; shared by the tests of all kinds.
#pragma once

#include "fabric_rig.h"
#include "topology/route.h"

static inline struct topology built(struct rig *rig, const struct fabric_config *config)
{
	struct topology topology;
	int error = topology_build(&topology, &rig->arena, config, 42, &rig->refusal);
	if (error != 0)
		fail_msg("refused: %s", rig->refusal.text);
	return topology;
}

// Every port of every switch and host has exactly one link, and the link knows that port.
static inline void assert_wired(const struct topology *topology)
{
	uint32_t host_ports = topology->nics_per_host * topology->planes;
	uint32_t nodes = topology->hosts + topology->switch_count;
	uint32_t *used = calloc((size_t)nodes * 256, sizeof *used);
	for (uint32_t i = 0; i < topology->link_count; i++) {
		const struct link_plan *link = &topology->links[i];
		assert_in_range(link->node_a, 0, nodes - 1);
		assert_in_range(link->node_b, 0, nodes - 1);
		used[link->node_a * 256 + link->port_a]++;
		used[link->node_b * 256 + link->port_b]++;
	}
	for (uint32_t node = 0; node < nodes; node++) {
		uint32_t ports = node < topology->hosts
			? host_ports
			: topology->switches[node - topology->hosts].port_count;
		assert_in_range(ports, 1, 255);
		for (uint32_t port = 0; port < 256; port++)
			assert_int_equal(used[node * 256 + port], port < ports);
	}
	free(used);
}

// The link at a switch's port; the end behind it in ret_node and ret_port.
static inline const struct link_plan *link_at(const struct topology *topology, uint32_t node,
					      uint32_t port, uint32_t *ret_node, uint32_t *ret_port)
{
	const struct switch_plan *plan = &topology->switches[node - topology->hosts];
	const struct link_plan *link =
		&topology->links[topology->port_links[plan->port_first + port]];
	bool is_a = link->node_a == node && link->port_a == port;
	assert_true(is_a || (link->node_b == node && link->port_b == port));
	*ret_node = is_a ? link->node_b : link->node_a;
	*ret_port = is_a ? link->port_b : link->port_a;
	return link;
}

// Walks from a NIC to the target; returns links used.
static inline uint32_t walk(const struct topology *topology, const struct packet *packet,
			    uint32_t plane)
{
	uint32_t host = packet->source / topology->nics_per_host;
	uint32_t port = packet->source % topology->nics_per_host * topology->planes + plane;
	uint32_t node = 0, links = 1;
	for (uint32_t i = 0; i < topology->link_count; i++)
		if (topology->links[i].node_a == host && topology->links[i].port_a == port)
			node = topology->links[i].node_b;
	while (node >= topology->hosts && links < 70) {
		const struct switch_plan *plan = &topology->switches[node - topology->hosts];
		assert_int_equal(plan->plane, plane);
		uint32_t out = route_port(&plan->route, packet);
		assert_in_range(out, 0, plan->port_count - 1);
		link_at(topology, node, out, &node, &port);
		links++;
	}
	assert_int_equal(node, packet->target / topology->nics_per_host);
	assert_int_equal(port, packet->target % topology->nics_per_host * topology->planes + plane);
	return links;
}

static inline void assert_all_reach_all(const struct topology *topology,
					const struct fabric_config *config)
{
	struct rng rng = rng_of(1, RNG_TEST, 1);
	for (uint32_t plane = 0; plane < topology->planes; plane++) {
		for (uint32_t from = 0; from < topology->nics; from++) {
			for (uint32_t to = 0; to < topology->nics; to++) {
				struct packet packet = {.source = from,
							.target = to,
							.ev = (uint32_t)rng_next(&rng)};
				assert_int_equal(walk(topology, &packet, plane),
						 topology_links(topology, config, from, to));
			}
		}
	}
}

// A fabric of a kind: one NIC a host, two planes.
static inline struct fabric_config config_of(enum topology_kind kind, uint32_t nics)
{
	struct fabric_config config = rig_clos();
	config.kind = kind;
	config.nics = nics;
	config.nics_per_host = 1;
	config.planes = 2;
	config.bundle = 1;
	return config;
}

// Two links or more of NICs, plus those between switches, found by a search over the bare links.
static inline uint32_t shortest(const struct topology *topology, uint32_t from, uint32_t to)
{
	uint32_t nodes = topology->hosts + topology->switch_count, links = UINT32_MAX;
	uint32_t *away = malloc(nodes * sizeof *away);
	memset(away, 0xff, nodes * sizeof *away);
	uint32_t start = UINT32_MAX, end = UINT32_MAX;
	for (uint32_t i = 0; i < topology->link_count; i++) {
		const struct link_plan *link = &topology->links[i];
		if (link->plane != 0 || link->tier != 0)
			continue;
		uint32_t nic = link->node_a * topology->nics_per_host +
			link->port_a / topology->planes;
		start = nic == from ? link->node_b : start;
		end = nic == to ? link->node_b : end;
	}
	away[start] = 0;
	for (bool is_new = true; is_new;) {
		is_new = false;
		for (uint32_t i = 0; i < topology->link_count; i++) {
			const struct link_plan *link = &topology->links[i];
			uint32_t a = link->node_a, b = link->node_b;
			if (link->tier == 0 || link->plane != 0)
				continue;
			if (away[a] != UINT32_MAX && away[b] > away[a] + 1) {
				away[b] = away[a] + 1;
				is_new = true;
			}
			if (away[b] != UINT32_MAX && away[a] > away[b] + 1) {
				away[a] = away[b] + 1;
				is_new = true;
			}
		}
	}
	links = away[end];
	free(away);
	return links + 2;
}

// That ports are wired, all reach all, and by shortest ways.
static inline void assert_sound(const struct topology *topology, const struct fabric_config *config)
{
	uint32_t longest = 0;
	assert_wired(topology);
	assert_all_reach_all(topology, config);
	for (uint32_t from = 0; from < topology->nics; from++) {
		for (uint32_t to = 0; to < topology->nics; to++) {
			uint32_t links = topology_links(topology, config, from, to);
			assert_int_equal(links, shortest(topology, from, to));
			longest = from != to && links > longest ? links : longest;
		}
	}
	assert_int_equal(topology->links_max, longest);
}
