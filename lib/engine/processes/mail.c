// SPDX-License-Identifier: Apache-2.0
// Signals between hosts of one lane, of several, and of several processes. See mail.h.

#include "mail.h"

#include <weft/world/world_signal.h>

#include "border.h"
#include "sim.h"

static void wake(void *context, uint32_t machine, ps_t at)
{
	struct lane *lane = context;
	window_mark(&lane->windows, machine, at);
}

void mail_hear(struct lane *lane, const struct signal *signal)
{
	world_hear(lane->world, lane->hears, signal, wake, lane);
}

void mail_take(struct lane *lane)
{
	for (uint32_t i = 0; i < lane->mail_count; i++)
		mail_hear(lane, &lane->mail[i]);
	lane->mail_count = 0;
}

void mail_pass(struct lane *lane)
{
	const struct sim *sim = lane->sim;
	for (uint32_t i = 0; i < lane->out.signal_count; i++) {
		const struct signal *signal = &lane->out.signals[i];
		check(signal->at >= lane->window_end); // lookahead
		mail_hear(lane, signal);
		if (lane->border != NULL)
			border_signal(lane->border, signal);
		for (uint32_t k = 0; k < sim->lane_count; k++) {
			struct lane *other = &sim->lanes[k];
			if (other != lane)
				other->mail[__atomic_fetch_add(&other->mail_count, 1,
							       __ATOMIC_RELAXED)] = *signal;
		}
	}
	lane->out.signal_count = 0;
}
