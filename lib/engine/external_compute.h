// SPDX-License-Identifier: Apache-2.0
// Computations of a program that end outside, while a run goes on: see weft/engine/engine.h.
#pragma once

#include "sim.h"

// Between two windows: asks outside until the next window is due, or all is done. False when who
// computes there is lost. lanes[0].next_window is up to date then.
bool external_compute_wait(struct sim *sim);
