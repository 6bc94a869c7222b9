// SPDX-License-Identifier: Apache-2.0
// A run as its parts see it: the lanes, and what they agree on between windows.
#pragma once

#include <weft/drive.h>

#include "lane.h"

struct sim {
	struct world *world;
	struct sim_options options;
	struct lane *lanes; // [lane_count]
	uint32_t lane_count;
	struct ports *ports; // or NULL
	struct codec codec;
	struct tap_set *taps; // or NULL
	struct pace pace;
	struct run run;
	double next_report_s;
	// What lane 0 decides between two meetings, and all read after it.
	int64_t window;
	ps_t window_end;
	bool is_in_window;
	bool has_ended;
	enum run_end end;
	// The meeting of the lanes.
	uint32_t here;
	uint32_t round;
};

// dpdk.c: runs fn(contexts[i]) on lcore i, all at once, and waits for them.
void dpdk_run(void (*fn)(void *), void *const *contexts, uint32_t count);
