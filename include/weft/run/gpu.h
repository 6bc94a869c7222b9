// SPDX-License-Identifier: Apache-2.0
// A run whose gradients are made by generators (weft gpu): the link to them, and what passes over
// it. A scenario without --gpu computes them by its own times.
#pragma once

#include <weft/engine/engine.h>

#include <weft/run/gpu_pass.h>

struct call;

// Before the world is built: refuses what cannot be, runs the scenario by its own times once, makes
// the link, and has the world wait for it. -errno with a reason.
int gpu_open(struct call *call, struct sim_options *options);

// The world is built: its data lie in the link. Waits for generators. -errno with a reason.
int gpu_attach(struct call *call);

// The run has ended: takes leave of the generators and what they measured.
void gpu_finish(struct call *call, enum run_end end);

// Whether a generator was lost, in the run or before it reported what it measured; says who.
bool gpu_say_lost(const struct call *call);

void gpu_close(struct call *call);
