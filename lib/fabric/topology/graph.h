// SPDX-License-Identifier: Apache-2.0
// One plane of a fabric that is no plain tree: switches, the links between them, and where each NIC
// hangs. A kind (torus.c, rail.c, ...) fills it in; graph.c makes switches, ports and links of it
// for all planes; shortest_paths.c finds the ways.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <weft/fabric/fabric.h>

#include "route.h"
#include "topology.h"

struct graph_edge {
	uint32_t a, b; // switches; a is the lower one, or comes first
	uint64_t rate_bps;
	ps_t delay_ps;		 // of the cable alone
	uint32_t port_a, port_b; // derived by graph.c
};

struct graph_nic {
	uint32_t node; // the switch that it hangs at
	ps_t delay_ps; // of the cable alone
};

// One end of an edge, as the switch sees it.
struct graph_end {
	uint32_t edge, peer;
};

// Room that a kind asks for.
struct graph_size {
	uint64_t nodes, edges;
};

struct graph {
	uint32_t node_count, edge_count, nic_count;
	struct graph_edge *edges; // in the order of their ports at every switch
	struct graph_nic *nics;
	ps_t *switch_delay_ps;		// [node_count]
	uint8_t *tier;			// [node_count]
	uint32_t *index;		// [node_count] within the tier, or the node itself
	char (*names)[NODE_NAME_BYTES]; // [node_count], or NULL
	// derived by graph.c
	uint32_t *nic_ports;		 // [node_count] NICs at it: its first ports
	uint32_t *end_first;		 // [node_count + 1] in ends
	struct graph_end *ends;		 // the ports behind the NICs, in order
	uint16_t *nic_switch, *nic_port; // [nic_count]
};

// Adds `count` links between two switches, with the trunks' rate and delay.
void graph_join(struct graph *graph, const struct fabric_config *config, uint32_t a, uint32_t b,
		uint32_t count);

// The size of each kind's plane, or -EINVAL with the reason; and its nodes, edges and NICs. Room
// for them is there; rates, delays and what is the same for all were filled in by graph.c.
int dumbbell_size(const struct fabric_config *config, struct refusal *refusal,
		  struct graph_size *ret);
int dumbbell_fill(struct graph *graph, const struct fabric_config *config, struct refusal *refusal);
int rail_size(const struct fabric_config *config, struct refusal *refusal, struct graph_size *ret);
int rail_fill(struct graph *graph, const struct fabric_config *config, struct refusal *refusal);
int torus_size(const struct fabric_config *config, struct refusal *refusal, struct graph_size *ret);
int torus_fill(struct graph *graph, const struct fabric_config *config, struct refusal *refusal);
int tree_size(const struct fabric_config *config, struct refusal *refusal, struct graph_size *ret);
int tree_fill(struct graph *graph, const struct fabric_config *config, struct refusal *refusal);
int listed_size(const struct fabric_config *config, struct refusal *refusal,
		struct graph_size *ret);
int listed_fill(struct graph *graph, const struct fabric_config *config, struct refusal *refusal);

// Builds nodes, ports and links of all planes into `topology`, whose counts of NICs, hosts and
// planes are set, and its tables, longest way and base round trip.
int graph_build(struct topology *topology, struct arena *arena, const struct fabric_config *config,
		uint64_t seed, struct refusal *refusal);

// The ports of dimension-order routing from one router to another: at most two directions.
uint32_t torus_ports(const struct graph *graph, const struct fabric_config *config, uint32_t from,
		     uint32_t to, uint16_t *ret);

// The tables of all switches of a plane. -EINVAL when a switch cannot be reached (unless rails are
// not joined) or a way is too long.
int shortest_paths_find(struct route_table **ret, struct arena *arena, const struct graph *graph,
			const struct fabric_config *config, struct refusal *refusal);

// The longest way in links, and the round trip over the slowest of the ways.
struct shortest_paths_length {
	uint32_t links_max;
	ps_t base_rtt_ps;
};
int shortest_paths_measure(struct shortest_paths_length *ret, struct arena *arena,
			   const struct graph *graph, const struct route_table *tables,
			   const struct fabric_config *config);
