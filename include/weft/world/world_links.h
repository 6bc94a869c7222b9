// SPDX-License-Identifier: Apache-2.0
// What a world counts link by link.
#pragma once

#include <weft/measure/measure_link.h>

// Where a cable is: from NICs up, up between switches, down between them, down to NICs. In a graph,
// which knows no up, links between switches are all in the second, both ways.
enum link_group { LINK_NIC_UP, LINK_TRUNK_UP, LINK_TRUNK_DOWN, LINK_NIC_DOWN, LINK_GROUP_COUNT };

// What is counted link by link; all NULL without watch.links.
struct world_links {
	struct link_count *counts; // [cables] written by the cables' shards
	// [ports of NICs, host by host][LINK_SPREAD_CELLS] data packets that left there, by their
	// EV
	uint32_t (*spread)[LINK_SPREAD_CELLS];
	bool *was_down;		 // [ports of NICs, host by host] had no light, as its NIC saw
	struct work_count *work; // [hosts]
	// [shards] depths of the queues of ports that lead to cables of a group, as data that had
	// to wait found them; and over all shards, after world_collect()
	struct hist (*depths)[LINK_GROUP_COUNT];
	struct hist *depth; // [LINK_GROUP_COUNT]
};

struct world;

#ifdef __cplusplus
extern "C" {
#endif

// Of a cable, its index in world->cables.
enum link_group world_link_group(const struct world *world, uint32_t cable);

#ifdef __cplusplus
}
#endif
