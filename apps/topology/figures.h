// SPDX-License-Identifier: Apache-2.0
// What follows from a built fabric, for people: counts of each tier, capacities, paths.
#pragma once

#include <stdint.h>
#include <stdio.h>

#include <weft/fabric/fabric.h>
#include <weft/world/world.h>

// The switches of one tier in one plane. Capacities are sums over the tier, in one direction.
struct tier_figures {
	uint32_t switches, ports_min, ports_max;
	uint64_t below_bps, above_bps; // below: NICs and lower tiers; above: the rest
};

struct figures {
	uint32_t tiers;
	struct tier_figures tier[TOPOLOGY_TIERS_MAX];
	uint32_t links[TOPOLOGY_TIERS_MAX]; // of a plane; 0: NICs
	uint64_t bisection_bps;		    // of a plane
	uint32_t from, to;		    // two NICs with the longest way between them
	uint64_t paths;			    // shortest ways from one to the other in a plane
};

// -ENOMEM without memory.
int figures_find(struct figures *ret, const struct topology *topology,
		 const struct fabric_config *config);

// The figures of a fabric as a table.

// The word of the scenario for a kind of topology.
const char *kind_name(enum topology_kind kind);

void table_print(FILE *to, const struct scenario *scenario, const struct topology *topology,
		 const struct figures *figures);

// A fabric as a picture.

// Draws the fabric into `to`. -ENOMEM, or -EIO when it could not be written.
int svg_draw(FILE *to, const struct scenario *scenario, const struct topology *topology);
