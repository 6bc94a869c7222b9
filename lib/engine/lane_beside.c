// SPDX-License-Identifier: Apache-2.0
// What comes to a lane beside the order of its cables: what faults do to a packet, what is held
// back or waits for a host that stalls, and signals.

#include "lane.h"

#include <weft/world/world_signal.h>

bool lane_stalls(struct lane *lane, uint32_t index, ps_t at, uint64_t what, bool *ret_is_lost)
{
	struct stalled *stalled = lane->cables.stalled[index];
	enum stalled_answer answer = stalled_put(stalled, lane->out.chunks, at, what);
	*ret_is_lost = answer == STALLED_FULL;
	lane->run.dropped[DROP_HOST_FULL] += answer == STALLED_FULL;
	if (answer != STALLED_NOT)
		lane_count_waiting(lane, index, at);
	return answer != STALLED_NOT;
}

struct cable_fate lane_fate(struct lane *lane, uint32_t index, const struct departure *departure,
			    ps_t at)
{
	struct reorder_queue *reorder_queue = lane->cables.reorder_queue[index];
	struct run *run = &lane->run;
	ps_t start = departure->start;
	struct cable_fate fate = cable_fate(&lane->cables.cables[index], lane->world->cable_faults,
					    lane->cables.is_bad, &lane->cables.rng[index], start,
					    at);
	if (fate.drop != DROP_REASON_COUNT) {
		run->dropped[fate.drop]++;
		lane_count_loss(lane, index, departure, at, fate.drop);
		return fate;
	}
	if (fate.is_doubled && !reorder_queue_send(reorder_queue, start, at)) {
		fate.is_doubled = false;
		run->reorder_queue_full++;
	}
	if (fate.held_ps > 0 && !reorder_queue_send(reorder_queue, start, at + fate.held_ps)) {
		fate.held_ps = 0;
		run->reorder_queue_full++;
	}
	if (lane->world->links.counts != NULL)
		lane_count_odd(lane, index, start, &fate);
	run->damaged += fate.is_damaged;
	run->doubled += fate.is_doubled;
	run->held_back += fate.held_ps > 0;
	return fate;
}

void lane_push_reorder_queue(struct lane *lane, uint32_t index, ps_t at, uint64_t what)
{
	const struct cable *cable = &lane->cables.cables[index];
	reorder_queue_push(lane->cables.reorder_queue[index], at, what);
	bitmap_set(lane->cables.waiting[cable->to_machine], cable->to_port);
	window_mark(&lane->windows, cable->to_machine, at);
}

bool lane_awaits_reorder_queue(struct lane *lane, uint32_t index)
{
	const struct stalled *stalled = lane->cables.stalled[index];
	bool is_stalled = stalled != NULL && stalled->fifo.count > 0;
	ps_t at = reorder_queue_first_at(lane->cables.reorder_queue[index]);
	if (is_stalled)
		at = ps_min(at, stalled->until);
	if (at == PS_NEVER)
		return is_stalled;
	// Of far times the active set keeps only one: each is set again. The last window may end
	// early, before what still belongs to it.
	at = ps_max(at, lane->window_start + lane->windows.length_ps);
	window_mark(&lane->windows, lane->cables.cables[index].to_machine, at);
	return true;
}

static void wake(void *context, uint32_t machine, ps_t at)
{
	struct lane *lane = context;
	window_mark(&lane->windows, machine, at);
}

void lane_hear(struct lane *lane, const struct signal *signal)
{
	world_hear(lane->world, lane->hears, signal, wake, lane);
}
