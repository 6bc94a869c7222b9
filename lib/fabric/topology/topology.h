// SPDX-License-Identifier: Apache-2.0
// How a topology is built: a kind of tree says its shape (counts of one plane), topology.c draws
// the memory and derives what all kinds share, then the kind fills in switches and links plane by
// plane. Kinds of graph go another way, see graph.h, and meet here again for switches and links.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <weft/fabric/fabric.h>

#define TIERS_MAX TOPOLOGY_TIERS_MAX
#define PORTS_MAX ((uint32_t)MACHINE_PORTS_MAX)
#define LINKS_MAX (UINT64_C(1) << 31)

// The counts of one plane. Links of tier t join switches of tier t-1 (tier 0: NICs) with switches
// of tier t. In 64 bits, so that a count that is too large can be named.
struct shape {
	uint32_t tiers;
	uint64_t switches[TIERS_MAX];
	uint64_t ports[TIERS_MAX]; // of one switch
	uint64_t links[TIERS_MAX];
	uint32_t t0_nics;
};

// Where a plane is being built: the next switch and the next link.
struct topology_builder {
	struct topology *topology;
	const struct fabric_config *config;
	const struct shape *shape;
	uint64_t seed;
	uint32_t plane;
	uint32_t switch_at, link_at, port_at; // next free places
	uint32_t tier_first[TIERS_MAX];	      // first switch of each tier in this plane
};

// One end of a link to be made: a switch, by its place in topology.switches, and a port.
struct topology_builder_end {
	uint32_t place, port;
};

// Adds the next switch, whose counts are set; completes its place and its route.
void topology_builder_place(struct topology_builder *topology_builder,
			    const struct switch_plan *counts);

// Adds the next switch of `tier` of a tree with a route whose counts are set.
void topology_builder_switch(struct topology_builder *topology_builder, uint32_t tier,
			     uint32_t index, const struct route *route);

// Adds a link of `tier` (1 or 2) from a lower to an upper switch.
void topology_builder_trunk(struct topology_builder *topology_builder, uint32_t tier,
			    struct topology_builder_end lower, struct topology_builder_end upper);

// Adds the next link, whose ends, rate and delays are given, and tells its switches.
void topology_builder_link(struct topology_builder *topology_builder, const struct link_plan *ends);

// Adds the cable of a NIC to port `end` of a switch.
void topology_builder_nic(struct topology_builder *topology_builder, uint32_t nic,
			  struct topology_builder_end end, ps_t delay_ps, ps_t switch_delay_ps);

// The shape of each kind, or -EINVAL with the reason, and its switches and trunks in a plane.
int clos_shape(const struct fabric_config *config, struct refusal *refusal, struct shape *ret);
void clos_switches(struct topology_builder *topology_builder);
void clos_trunks(struct topology_builder *topology_builder);
int fattree_shape(const struct fabric_config *config, struct refusal *refusal, struct shape *ret);
void fattree_switches(struct topology_builder *topology_builder);
void fattree_trunks(struct topology_builder *topology_builder);

// T1 switches per plane that a sample keeps: trunk_sample_kept / trunk_sample_of of them, rounded
// up. Rounding up errs towards less load per trunk, by less than one T1 switch's share.
uint32_t clos_t1_kept(const struct fabric_config *config);
// The same for aggregation switches of a pod.
uint32_t fattree_aggs_kept(const struct fabric_config *config);

// Places of named switches, for link_location_hits() and link_location_check().
bool named_place_hits(const struct link_location *place, const struct topology *topology,
		      const struct link_plan *link);
int named_place_check(const struct link_location *place, const struct topology *topology,
		      struct refusal *refusal);

// Rate of the links between switches.
uint64_t trunk_rate(const struct fabric_config *config);

// pfc_plan.c: xoff and xon; that they make sense; the headroom of all links, once these are there.
// -EINVAL.
void pfc_derive(const struct fabric_config *config, struct topology *topology);
int pfc_check(const struct fabric_config *config, const struct topology *topology,
	      struct refusal *refusal);
int pfc_derive_headroom(const struct fabric_config *config, struct topology *topology,
			struct refusal *refusal);

// What of a packet of `bytes` is sent before the next link begins: all of it, or its head.
uint32_t head_of(const struct fabric_config *config, uint32_t bytes);
