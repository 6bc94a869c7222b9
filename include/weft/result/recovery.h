// SPDX-License-Identifier: Apache-2.0
// How soon goodput is back after a link went down, for each QP that lost packets there.
#pragma once

#include <weft/result/bypass.h>

#define RECOVERY_SHARE 0.99	// of the goodput that the planes which are left can carry
#define RECOVERY_MEAN 5		// base round trips that must have it together
#define RECOVERY_ROUND_TRIPS 10 // base round trips for which it must stay

// Whether the run kept what this needs.
bool recovery_is_watched(const struct world *world);

// For each link of `list` the time from the first packet lost there to the beginning of the bins
// from which on the goodput is there and stays; 0 when it never was below. In order, to be freed
// with free(ret->at). Not whole when there is a link after which that was never so, or more than
// one flow leads to a NIC.
void recovery_gather(struct bypass_times *ret, const struct bypass_list *list,
		     const struct world *world);
