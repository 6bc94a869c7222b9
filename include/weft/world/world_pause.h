// SPDX-License-Identifier: Apache-2.0
// What PFC came to in a world: which cables were paused, and whether ports wait for each other for
// good.
#pragma once

#include <weft/fabric/fabric_pause.h>

#define PAUSE_CABLES_MAX 16    // listed of those that were paused
#define DEADLOCK_CABLES_MAX 64 // listed of a cycle

// A cable whose sender was paused.
struct pause_cable {
	uint32_t cable; // of the world
	ps_t paused_ps;
	uint64_t pauses; // frames that came to its sender
};

struct world_pauses {
	struct deadlock_room room;
	uint64_t nic_pauses, nic_resumes; // frames that came to NICs
	ps_t nic_paused_ps;		  // of all their ports, added up
	uint32_t cable_count;		  // cables whose sender was paused
	uint32_t listed_count;
	struct pause_cable listed[PAUSE_CABLES_MAX]; // the longest paused first
	uint32_t deadlock_count; // ports in a cycle; 0 = no deadlock at the end of the run
	uint32_t deadlock[DEADLOCK_CABLES_MAX]; // their cables, each waits for the next
};
