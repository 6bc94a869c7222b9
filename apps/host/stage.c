// SPDX-License-Identifier: Apache-2.0
// A world with its loop, run once together with the other hosts.

#include <errno.h>
#include <string.h>
#include <time.h>

#include <weft/files/files.h>

#include "generator.h"

static clockid_t clock_id = CLOCK_MONOTONIC_RAW;

void stage_use_system_clock(void)
{
	clock_id = CLOCK_MONOTONIC;
}

int64_t stage_clock_ns(void *context)
{
	struct timespec now;
	(void)context;
	clock_gettime(clock_id, &now);
	return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

int stage_build(struct call *call, struct stage *stage)
{
	size_t bytes = call->scenario.memory_bytes_max;
	stage->memory = memory_reserve(bytes);
	if (stage->memory == NULL)
		return refuse(&call->refusal, -ENOMEM,
			      "the system does not give % MiB: lower limits.memory",
			      (int64_t)(bytes >> 20));
	stage->memory_bytes = bytes;
	arena_init(&stage->arena, stage->memory, bytes);
	// The result of all is put together from pieces, of which each host is one.
	const struct world_shards hosts = {.count = call->meeting.options.count,
					   .are_processes = true,
					   .index = call->index,
					   .are_hosts = true};
	const struct world_shards one = {.count = 1};
	stage->host = call->index;
	return world_build_shards(&stage->world, &stage->arena, &call->scenario, NULL, 0,
				  stage->is_dealt ? hosts : one, &call->refusal);
}

static int build_loop(struct call *call, struct stage *stage, const struct tap_options *taps)
{
	struct wall_options options = {.host = call->index,
				       .ports = &call->ports,
				       .ways = call->ways,
				       .way_count = call->ports.queue_count,
				       .stall_ps = STALL_PS,
				       .dead_ps = DEAD_PS};
	if (taps != NULL)
		options.taps = *taps;
	int rc = call->has_generators ? generator_attach(call, stage, &options.payload) : 0;
	return rc < 0 ? rc : wall_create(&stage->wall, &stage->world, &options, &call->refusal);
}

static void run(struct call *call, struct stage *stage, int64_t start_at_ns)
{
	struct wall_control control = {.clock = stage_clock_ns,
				       .stop = signals_stop(),
				       .news = &call->meeting.news,
				       .done = meeting_done,
				       .done_context = &call->meeting,
				       .viewer = live_begin(call),
				       .start_ns = start_at_ns,
				       .outside = call->has_generators ? generator_poll : NULL,
				       .outside_context = call,
				       .owns_core = call->choice.owns_core};
	if (stage->on_start != NULL)
		stage->on_start(call);
	int64_t start_ns = stage_clock_ns(NULL);
	stage->end = wall_run(stage->wall, &control);
	for (uint32_t i = 0; i < call->ports.queue_count; i++) // while the others are there
		stage->ports_down |= (uint32_t)!port_device_is_up(&call->ports, i) << i;
	live_end();
	stage->wall_s = (double)(stage_clock_ns(NULL) - start_ns) / 1e9;
	meeting_unwatch(&call->meeting, stage->end != WALL_END_DONE);
	world_collect(&stage->world);
}

int stage_run(struct call *call, struct stage *stage, const struct tap_options *taps)
{
	int64_t start_ns = 0;
	int rc = stage_build(call, stage);
	if (rc == 0)
		rc = wall_check(&stage->world, &call->refusal);
	if (rc == 0)
		rc = setup_ports(call, &stage->world);
	if (rc == 0)
		rc = build_loop(call, stage, taps);
	if (rc == 0)
		rc = setup_meet(call); // nobody sends any more what belongs to an earlier run
	if (rc == 0)
		stage->drained = wall_drain(stage->wall);
	if (rc == 0)
		rc = setup_meet(call); // and nobody has begun
	if (rc == 0)
		rc = clocks_agree(call, &start_ns);
	if (rc == 0)
		rc = meeting_watch(&call->meeting, &call->refusal);
	if (rc == 0) {
		run(call, stage, start_ns);
		rc = wall_close(stage->wall, &stage->taps, &call->refusal);
	}
	if (rc < 0)
		stage_free(stage);
	return rc;
}

void stage_free(struct stage *stage)
{
	if (stage->memory != NULL)
		memory_release(stage->memory, stage->memory_bytes);
	if (stage->program_memory != NULL)
		memory_release(stage->program_memory, stage->program_bytes);
	stage->memory = stage->program_memory = NULL;
}
