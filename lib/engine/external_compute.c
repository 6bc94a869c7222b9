// SPDX-License-Identifier: Apache-2.0
// A run that waits for what is computed outside. A computation that ended at some time of the clock
// ends at the virtual time that is due then. No window is run before its end is due, so what ended
// outside in between finds its window still to be run; only what is heard late is late.

#include "sim.h"

#include <weft/core/check.h>
#include <weft/world/world_external_compute.h>

int64_t sim_external_compute_due_ns(const struct sim *sim, ps_t at)
{
	return sim->pace.start_ns + pace_due_ns(sim->pace.options.dilation_milli, at);
}

ps_t sim_external_compute_time(const struct sim *sim, int64_t at_ns)
{
	__int128 since_ns = at_ns - sim->pace.start_ns;
	ps_t at = (ps_t)(since_ns * PS_PER_NS * 1000 / (int64_t)sim->pace.options.dilation_milli);
	return at > 0 ? at : 0;
}

static void wake(void *context, uint32_t machine, ps_t at)
{
	struct lane *lane = context;
	window_mark(&lane->windows, machine, at);
}

ps_t sim_external_compute_end(struct sim *sim, uint32_t op, int64_t at_ns)
{
	struct lane *lane = &sim->lanes[0];
	ps_t begun = 0, wanted = sim_external_compute_time(sim, at_ns);
	check(world_external_compute_has_begun(sim->world, op, &begun));
	ps_t first = sim->run.windows > 0 ? sim->window_end : 0; // what was run is over
	ps_t at = ps_max(wanted, ps_max(begun, first));
	world_external_compute_end(sim->world, op, at, wake, lane);
	return at - wanted;
}

static bool is_done(const struct sim *sim)
{
	return world_work_done(sim->world) == sim->world->work_total;
}

// Whether the next window may be chosen: it is due, or nothing more will come.
static bool may_go_on(struct sim *sim, int64_t now_ns)
{
	struct lane *lane = &sim->lanes[0];
	lane->next_window = window_peek(&lane->windows);
	if (sim_external_compute_time(sim, now_ns) >= sim->world->scenario->time_max_ps)
		return true;
	if (lane->next_window == INT64_MAX)
		return is_done(sim);
	ps_t end = (lane->next_window + 1) * sim->world->window_ps;
	return sim_external_compute_due_ns(sim, end) <= now_ns;
}

bool external_compute_wait(struct sim *sim)
{
	for (;;) {
		if (sim->options.external_compute(sim->options.external_compute_context, sim) ==
		    EXTERNAL_COMPUTE_LOST)
			return false;
		if (may_go_on(sim, sim->pace.options.clock(sim->pace.options.clock_context)))
			return true;
		if (sim->options.stop != NULL && *sim->options.stop != 0)
			return true;
		pace_relax();
	}
}
