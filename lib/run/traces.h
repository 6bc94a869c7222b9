// SPDX-License-Identifier: Apache-2.0
// What a workload file holds, as a table: each collective found, and what of it is run.
#pragma once

#include <stdio.h>

#include <weft/world/world.h>

// Prints one row per kind of collective (communication, group, phase, bytes).
void traces_table(FILE *to, const struct world *world);
