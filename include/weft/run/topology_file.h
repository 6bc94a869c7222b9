// SPDX-License-Identifier: Apache-2.0
// The file that a scenario's topology stands in: a .topo file of htsim.
#pragma once

#include <weft/world/world.h>

// Reads the file that fabric.file names, if the scenario has one, into its fabric. -errno with the
// file, the line and the reason in `refusal`.
int topology_file_read(struct scenario *scenario, struct refusal *refusal);
