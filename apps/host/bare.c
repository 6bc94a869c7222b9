// SPDX-License-Identifier: Apache-2.0
// The bare loop beside a pair: on the same ports, right before and after.

#include <errno.h>

#include "host.h"

#define LASTS_NS 500000000

static int refuse_end(struct call *call, enum wall_end end)
{
	bool is_stopped = end == WALL_END_STOPPED;
	return refuse(&call->refusal, is_stopped ? -EINTR : -ECONNRESET,
		      is_stopped ? "interrupted in the bare loop"
				 : "the other host went in the bare loop");
}

int bare_measure(struct call *call, struct bare_counts *ret)
{
	const struct bare_options options = {
		.ports = &call->ports,
		.wire = &call->codec.nic,
		.nic = call->index,
		.peer = 1 - call->index,
		.wall_ports = call->wall_ports,
		.wall_port_count = call->ports.queue_count,
		.frame_bytes = call->codec.frame_bytes_max,
		.payload_bytes = call->scenario.transport.payload_bytes,
		.sends = call->index != 0,
		.lasts_ns = LASTS_NS,
		.rate_bps = call->choice.max_rate != NULL ? call->scenario.fabric.link_rate_bps : 0,
		.ramp_ns = call->index != 0 ? call->choice.ramp_ns : 0,
	};
	const struct wall_control control = {.clock = clocks_now_ns,
					     .stop = signals_stop(),
					     .news = &call->meeting.news,
					     .done = meeting_done,
					     .done_context = &call->meeting,
					     .owns_core = call->choice.owns_core};
	int rc = setup_meet(call);
	if (rc == 0)
		rc = meeting_watch(&call->meeting, &call->refusal);
	if (rc < 0)
		return rc;
	enum wall_end end = bare_run(&options, &control, ret);
	meeting_unwatch(&call->meeting, end != WALL_END_DONE);
	return end == WALL_END_DONE ? 0 : refuse_end(call, end);
}

double bare_bps(const struct call *call)
{
	uint64_t frames = 0;
	int64_t took_ns = 0;
	for (int i = 0; i < 2; i++) {
		frames += call->bare[i].frames;
		took_ns += call->bare[i].took_ns;
	}
	double bits = (double)frames * call->scenario.transport.payload_bytes * 8;
	return took_ns > 0 ? bits / ((double)took_ns / 1e9) : 0;
}
