// SPDX-License-Identifier: Apache-2.0
// What a world counts link by link.
#pragma once

#include <weft/measure_link.h>

// What is counted link by link; all NULL without watch.links.
struct world_links {
	struct link_count *counts; // [cables] written by the cables' shards
	// [ports of NICs, host by host][LINK_SPREAD_CELLS] data packets that left there, by their
	// EV
	uint32_t (*spread)[LINK_SPREAD_CELLS];
	struct work_count *work; // [hosts]
};
