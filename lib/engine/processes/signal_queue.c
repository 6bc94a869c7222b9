// SPDX-License-Identifier: Apache-2.0
// Signals between hosts of one lane, of several, and of several processes. See lane.h.

#include "lane.h"

#include <weft/world/world_signal.h>

#include "boundary.h"
#include "sim.h"

void signal_queue_take(struct lane *lane)
{
	for (uint32_t i = 0; i < lane->signal_queue_count; i++)
		lane_hear(lane, &lane->signal_queue[i]);
	lane->signal_queue_count = 0;
}

void signal_queue_pass(struct lane *lane)
{
	const struct sim *sim = lane->sim;
	for (uint32_t i = 0; i < lane->out.signal_count; i++) {
		const struct signal *signal = &lane->out.signals[i];
		check(signal->at >= lane->window_end); // lookahead
		lane_hear(lane, signal);
		if (lane->boundary != NULL)
			boundary_signal(lane->boundary, signal);
		for (uint32_t k = 0; k < sim->lane_count; k++) {
			struct lane *other = &sim->lanes[k];
			if (other != lane)
				other->signal_queue[__atomic_fetch_add(
					&other->signal_queue_count, 1, __ATOMIC_RELAXED)] = *signal;
		}
	}
	lane->out.signal_count = 0;
}
