// SPDX-License-Identifier: Apache-2.0
// The receive queue of a port whose host stalls. See cable.h.

#include "cable.h"

void stalled_init(struct stalled *stalled, const struct cable_fault *faults, uint32_t count)
{
	*stalled = (struct stalled){.faults = faults, .fault_count = count};
	for (uint32_t i = 0; i < count; i++) // of several faults the largest queue
		if (faults[i].kind == FAULT_STALL && faults[i].queue_packets > stalled->packets_max)
			stalled->packets_max = faults[i].queue_packets;
}

enum stalled_answer stalled_put(struct stalled *stalled, struct fifo_pool *chunks, ps_t at,
				uint64_t what)
{
	ps_t until = stall_until(stalled->faults, stalled->fault_count, at);
	if (until <= at)
		return STALLED_NOT;
	if (stalled->fifo.count >= stalled->packets_max)
		return STALLED_FULL;
	check(stalled->fifo.count == 0 || stalled->until == until);
	stalled->until = until;
	fifo_push(&stalled->fifo, chunks, what);
	return STALLED_WAIT;
}
