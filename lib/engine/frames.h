// SPDX-License-Identifier: Apache-2.0
// Cables whose packets travel as frames through ports. A packet becomes bytes when it leaves its
// NIC; a switch gets a descriptor made from these bytes, and changes in them what it changed in it;
// the NIC that gets it checks ICRC and payload. No descriptor passes a port.
#pragma once

#include "lane.h"

// Draws what a lane needs for frames, packets of its own included when its index is not 0. -ENOMEM.
int frames_init(struct lane *lane, const struct world *world, struct arena *arena);

// Gathers, runs and scatters machine `m`; leaves the count of departures in the outbox. Returns
// what the machine says.
ps_t frames_run_machine(struct lane *lane, uint32_t machine);

// Takes what has come for this lane off its ports, and marks the machines that it is for. Not while
// a lane sends.
void frames_poll(struct lane *lane);
