// SPDX-License-Identifier: Apache-2.0
// flows.csv: each flow with its times. Histograms round, this does not.
#pragma once

#include <stdbool.h>
#include <stdio.h>

#include <weft/result/report.h>

// Whether the traffic was flows, so that there is something to write.
bool flows_are_there(const struct world *world);

// A line for each flow, in the order of the traffic: NICs, bytes, and in picoseconds of virtual
// time when it started, when its sender held the last acknowledgement, and what lies between, its
// FCT. Cells are empty for what had not come when the run ended.
void flows_write(FILE *to, const struct world *world);
