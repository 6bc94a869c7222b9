// SPDX-License-Identifier: Apache-2.0
// What a sample leaves out, held against the timeline of faults.
#pragma once

#include <weft/world/world.h>

// Fills fault_left_out of every collective; all else of them is there.
void left_out_find(struct world *world);
