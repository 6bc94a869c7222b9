// SPDX-License-Identifier: Apache-2.0
// A step whose every packet is sent. The schedule is compiled into a program (step_program.h), and
// the world runs it: what is exposed comes from messages that were late.

#include "depth_full.h"

#include <errno.h>
#include <string.h>

#include <weft/workload/step_program.h>

#include <weft/run/schedule.h>

static void take_run(struct depth_full *depth, const struct world *world, const struct run *ran)
{
	const struct outcome *outcome = world->outcome;
	struct step_times *times = &depth->times.with;
	*times = (struct step_times){.step_ps = outcome->end_ps,
				     .backward_ps = outcome->stream_end_ps[STEP_STREAM_COMPUTE],
				     .reduce_ps = outcome->stream_end_ps[STEP_STREAM_REDUCE]};
	depth->packets = ran->data_packets;
	depth->marks = outcome->fabric.marked;
	depth->trims = outcome->fabric.trimmed;
	depth->resent = 0;
	for (int i = 0; i < RTX_REASON_COUNT; i++)
		depth->resent += outcome->transport.rtx[i];
	depth->operations = world->program->op_count;
	depth->fabric_messages = outcome->program.fabric_messages;
	depth->fabric_bytes = outcome->program.fabric_bytes;
	depth->scaleup_messages = outcome->program.scaleup_messages;
	depth->scaleup_bytes = outcome->program.scaleup_bytes;
	depth->digest = ran->digest;
	depth->wall_s = ran->wall_s;
}

// A step that did not end has no time.
static int check_end(const struct run *ran, struct refusal *refusal)
{
	static const char *const texts[] = {
		[RUN_DONE] = NULL,
		[RUN_TIME] = "the step did not end in time: raise limits.time",
		[RUN_LIMIT] = "a limit was hit before the step ended",
		[RUN_STALLED] = "the step stands still: something that it waits for never comes",
		[RUN_INTERRUPTED] = "interrupted",
	};
	return ran->end == RUN_DONE ? 0 : refuse(refusal, -EINTR, texts[ran->end]);
}

// Makes the scenario's traffic this step. Two ranks that talk have as many QPs as a ring has
// channels: NCCL has a connection for each.
static void take_step(struct scenario *scenario, const struct world_step *step)
{
	scenario->step = step;
	scenario->sample = (struct sample){.packets_max = scenario->sample.packets_max};
	scenario->qps_per_connection *= scenario->traffic.ring.channels;
}

int depth_full_build(struct call *call)
{
	static struct depth_full depth; // the scenario keeps its step
	int rc = depth_prepare(call, &depth.world);
	if (rc < 0)
		return rc;
	world_step_own_sends(&depth.world, &call->scenario);
	take_step(&call->scenario, &depth.world);
	return call_build(call);
}

static int run_packets(struct call *call, struct depth_full *depth)
{
	struct run ran;
	const struct sample sample = call->scenario.sample;
	const uint32_t qps = call->scenario.qps_per_connection;
	take_step(&call->scenario, &depth->world);
	int rc = call_build(call);
	if (rc == 0) {
		rc = call_run(call, &ran);
		if (rc == 0)
			rc = check_end(&ran, &call->refusal);
		if (rc == 0)
			take_run(depth, &call->stage.world, &ran);
		stage_free(&call->stage);
	}
	call->scenario.step = NULL;
	call->scenario.sample = sample;
	call->scenario.qps_per_connection = qps;
	return rc;
}

// What the step would not take if a dimension stayed in its domain: by the schedule, for packets do
// not say for whose sake others were late.
static int find_culprits(struct depth_full *depth, struct refusal *refusal)
{
	int rc = 0;
	for (uint32_t i = 0; rc == 0 && i < DIMENSION_COUNT; i++) {
		struct step_setup inside;
		struct step_exposed times;
		if (!world_step_inside(&depth->world, (enum dimension)i, &inside))
			continue;
		rc = schedule_expose(&times, &depth->world.plan, &inside, NULL, refusal);
		depth->longer_ps[i] = depth->own.with.step_ps - times.with.step_ps;
	}
	return rc;
}

static int work_out(struct call *call, struct depth_full *depth)
{
	int rc = depth_prepare(call, &depth->world);
	if (rc < 0)
		return rc;
	rc = schedule_expose(&depth->model, &depth->world.plan, &depth->world.setup, NULL,
			     &call->refusal);
	world_step_own_sends(&depth->world, &call->scenario);
	if (rc == 0)
		rc = schedule_expose(&depth->own, &depth->world.plan, &depth->world.setup, NULL,
				     &call->refusal);
	if (rc == 0)
		rc = find_culprits(depth, &call->refusal);
	if (rc == 0)
		rc = run_packets(call, depth);
	if (rc < 0)
		return rc;
	struct step_exposed *times = &depth->times;
	times->without = depth->own.without;
	times->head_ps = times->with.backward_ps - times->without.backward_ps;
	times->tail_ps = ps_max(0, times->with.reduce_ps - times->with.backward_ps);
	return 0;
}

static void write_depth_full(FILE *to, const struct call *call, const void *depth)
{
	depth_full_json(to, call, depth);
}

int depth_full_run(struct call *call)
{
	static struct depth_full depth;
	int rc = work_out(call, &depth);
	if (rc < 0)
		return depth_say_refusal(call, rc);
	int kept = depth_keep(call, write_depth_full, &depth);
	if (call->options.is_json)
		depth_full_json(stdout, call, &depth);
	else
		depth_full_table(call, &depth);
	return depth_end(call, kept);
}

static void write_depth_all(FILE *to, const struct call *call, const void *depth)
{
	depth_all_json(to, call, depth);
}

int depth_all_run(struct call *call)
{
	static struct depth_all depth; // large: kept off the stack
	int rc = work_out(call, &depth.full);
	if (rc == 0)
		rc = depth_sample_work(call, &depth.sample);
	if (rc < 0)
		return depth_say_refusal(call, rc);
	int kept = depth_keep(call, write_depth_all, &depth);
	if (call->options.is_json)
		depth_all_json(stdout, call, &depth);
	else
		depth_all_table(call, &depth);
	return depth_end(call, kept);
}
