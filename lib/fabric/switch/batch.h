// SPDX-License-Identifier: Apache-2.0
// The order of arrivals at one out-port. Routing reads no queue, so only arrivals that leave by the
// same port need to be in time order, and sorting those few is cheaper than merging all in-ports.
#pragma once

#include <weft/core/machine.h>

// Arrivals that go to the same port.
struct batch {
	struct arrival *arrivals;
	struct arrival *spare; // a place as large, free for use
	uint32_t count;
};

// Sorts a batch by time. Stable: what was in (in-port, FIFO) order comes out in (time, in-port,
// FIFO) order. Overwrites the spare place.
void batch_sort(const struct batch *batch);
