// SPDX-License-Identifier: Apache-2.0
// A world with its loop, run once together with the other hosts.

#include <string.h>
#include <time.h>

#include <weft/files/files.h>

#include "host.h"

static int build_loop(struct call *call, struct host_run *host_run, const struct tap_options *taps)
{
	struct wall_options options = {.host = call->index,
				       .ports = &call->ports,
				       .wall_ports = call->wall_ports,
				       .wall_port_count = call->ports.queue_count,
				       .lag_ps = call->before_traffic.lag_ps,
				       .stall_ps = STALL_PS,
				       .dead_ps = DEAD_PS};
	if (taps != NULL)
		options.taps = *taps;
	int rc = call->has_generators ? generator_attach(call, host_run, &options.payload) : 0;
	return rc < 0 ? rc
		      : wall_create(&host_run->wall, &host_run->world, &options, &call->refusal);
}

static void run(struct call *call, struct host_run *host_run, int64_t start_at_ns)
{
	struct wall_control control = {.clock = clocks_now_ns,
				       .stop = signals_stop(),
				       .news = &call->meeting.news,
				       .done = meeting_done,
				       .done_context = &call->meeting,
				       .viewer = live_begin(call),
				       .start_ns = start_at_ns,
				       .external_compute = call->has_generators ? generator_poll
										: NULL,
				       .external_compute_context = call,
				       .owns_core = call->choice.owns_core};
	if (host_run->on_start != NULL)
		host_run->on_start(call);
	int64_t start_ns = clocks_now_ns(NULL);
	host_run->end = wall_run(host_run->wall, &control);
	for (uint32_t i = 0; i < call->ports.queue_count; i++) // while the others are there
		host_run->ports_down |= (uint32_t)!port_device_is_up(&call->ports, i) << i;
	live_end();
	host_run->wall_s = (double)(clocks_now_ns(NULL) - start_ns) / 1e9;
	meeting_unwatch(&call->meeting, host_run->end != WALL_END_DONE);
	world_collect(&host_run->world);
}

int host_run_run(struct call *call, struct host_run *host_run, const struct tap_options *taps)
{
	int64_t start_ns = 0;
	int rc = setup_world(call, host_run);
	if (rc == 0)
		rc = wall_check(&host_run->world, &call->refusal);
	if (rc == 0)
		rc = setup_ports(call, &host_run->world);
	if (rc == 0)
		rc = build_loop(call, host_run, taps);
	if (rc == 0)
		rc = setup_meet(call); // nobody sends any more what belongs to an earlier run
	if (rc == 0)
		host_run->drained = wall_drain(host_run->wall);
	if (rc == 0)
		rc = setup_meet(call); // and nobody has begun
	if (rc == 0)
		rc = clocks_agree(call, &start_ns);
	if (rc == 0) {
		call->meeting.fired = wall_fired(host_run->wall);
		rc = meeting_watch(&call->meeting, &call->refusal);
	}
	if (rc == 0) {
		run(call, host_run, start_ns);
		host_run->taps_rc = wall_close(host_run->wall, &host_run->taps,
					       &host_run->taps_refusal);
	}
	if (rc < 0)
		setup_world_free(host_run);
	return rc;
}
