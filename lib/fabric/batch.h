// SPDX-License-Identifier: Apache-2.0
// The order of arrivals at one out-port. Routing reads no queue, so only arrivals that leave by the
// same port need to be in time order, and sorting those few is cheaper than merging all in-ports.
#pragma once

#include <weft/machine.h>

// Sorts `count` arrivals by time. Stable: what was in (in-port, FIFO) order comes out in (time,
// in-port, FIFO) order. `spare` is a place of `count` that is overwritten.
void batch_sort(struct arrival *arrivals, uint32_t count, struct arrival *spare);
