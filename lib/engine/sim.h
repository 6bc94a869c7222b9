// SPDX-License-Identifier: Apache-2.0
// A run as its parts see it: the lanes, and what they agree on between windows.
#pragma once

#include <weft/engine/engine.h>

#include "lane.h"
#include "processes/boundary.h"

struct sim {
	struct world *world;
	struct sim_options options;
	struct lane *lanes; // [lane_count]
	uint32_t lane_count;
	struct ports *ports; // or NULL
	struct codec codec;
	struct seen seen;     // with frames
	struct tap_set *taps; // or NULL
	struct pace pace;
	struct run run;
	double next_report_s;
	double waited_cpu_s; // of the ranks, before this run
	// What lane 0 decides between two meetings, and all read after it.
	struct boundary_news news;
	int64_t window;
	ps_t window_end;
	bool is_in_window;
	bool has_ended;
	bool is_gathered; // what other ranks counted is added: nothing may run on
	enum run_end end;
	// The meeting of the lanes.
	uint32_t here;
	uint32_t round;
};

// gather.c: brings what the ranks measured to rank 0, whose run and world are the whole run's then.
void sim_gather(struct sim *sim);

// sim.c: adds the counts of a lane or a rank.
void sim_add(struct run *run, const struct run *more);

// Computations of a program that end outside, while a run goes on: see weft/engine/engine.h.

// Between two windows: asks outside until the next window is due, or all is done. False when who
// computes there is lost. lanes[0].next_window is up to date then.
bool external_compute_wait(struct sim *sim);
