// SPDX-License-Identifier: Apache-2.0
// What hosts tell each other beside packets, on its way: hosts of this lane hear it at once, those
// of other ranks with what crosses in the window, other lanes take it when all stand still.
#pragma once

#include "lane.h"

// Passes on all signals in the outbox of the lane.
void signal_queue_pass(struct lane *lane);

// Takes the signals that other lanes left in the last window.
void signal_queue_take(struct lane *lane);
