// SPDX-License-Identifier: Apache-2.0
// The steps of building a world, in order. Each draws from the arena and refuses with a reason.
#pragma once

#include <weft/world.h>

// hosts.c: host machines, their NICs, endpoints, QPs, ranks and flows.
int hosts_build(struct world *world, struct refusal *refusal);

// cables.c: the cables of every link with the faults that hit them, and the lookahead.
int cables_build(struct world *world, struct refusal *refusal);

// outcome.c: histograms and clocks that hosts write into.
int outcome_build(struct world *world, struct refusal *refusal);

// What every step says when the arena is too small.
int build_no_memory(const struct world *world, struct refusal *refusal);
