// SPDX-License-Identifier: Apache-2.0
// From the steps of a collective that were run to the time of the whole collective.
#pragma once

#include <weft/host/record.h>
#include <weft/world/world.h>

// Fills whole_ps and whole_error_ps of `of` from its clock; start_ps and end_ps are set. A channel
// is a ring of its own: the slowest one ends the collective, so each is extrapolated apart and the
// latest end counts.
void estimate_whole(const struct world *world, const struct collective_clock *clock,
		    struct outcome_collective *of);
