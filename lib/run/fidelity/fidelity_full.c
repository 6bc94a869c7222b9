// SPDX-License-Identifier: Apache-2.0
// A step whose every packet is sent. The schedule is compiled into a program (step_program.h), and
// the world runs it: what is exposed comes from messages that were late.

#include "fidelity_full.h"

#include <errno.h>
#include <string.h>

#include <weft/files/files.h>
#include <weft/workload/step_program.h>

#include <weft/run/schedule.h>

static void take_run(struct fidelity_full *fidelity, const struct world *world,
		     const struct run *ran)
{
	const struct outcome *outcome = world->outcome;
	struct step_times *times = &fidelity->times.with;
	*times = (struct step_times){.step_ps = outcome->end_ps,
				     .backward_ps = outcome->stream_end_ps[STEP_STREAM_COMPUTE],
				     .reduce_ps = outcome->stream_end_ps[STEP_STREAM_REDUCE]};
	fidelity->packets = ran->data_packets;
	fidelity->marks = outcome->fabric.marked;
	fidelity->trims = outcome->fabric.trimmed;
	fidelity->resent = 0;
	for (int i = 0; i < RTX_REASON_COUNT; i++)
		fidelity->resent += outcome->transport.rtx[i];
	fidelity->operations = world->program->op_count;
	fidelity->fabric_messages = outcome->program.fabric_messages;
	fidelity->fabric_bytes = outcome->program.fabric_bytes;
	fidelity->scaleup_messages = outcome->program.scaleup_messages;
	fidelity->scaleup_bytes = outcome->program.scaleup_bytes;
	fidelity->digest = ran->digest;
	fidelity->wall_s = ran->wall_s;
}

// A step that did not end has no time.
int fidelity_check_end(const struct run *ran, struct refusal *refusal)
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

int fidelity_full_build(struct call *call)
{
	static struct fidelity_full fidelity; // the scenario keeps its step
	int rc = fidelity_prepare(call, &fidelity.world);
	if (rc < 0)
		return rc;
	world_step_own_sends(&fidelity.world, &call->scenario);
	take_step(&call->scenario, &fidelity.world);
	return call_build(call);
}

int fidelity_full_packets(struct call *call, struct fidelity_full *fidelity)
{
	struct run ran;
	const struct sample sample = call->scenario.sample;
	const uint32_t qps = call->scenario.qps_per_connection;
	take_step(&call->scenario, &fidelity->world);
	int rc = call_build(call);
	if (rc == 0) {
		call->progress.instead = "; --fidelity sample runs a part";
		rc = call_run(call, &ran);
		call->progress.instead = NULL;
		if (rc == 0)
			rc = fidelity_check_end(&ran, &call->refusal);
		if (rc == 0)
			take_run(fidelity, &call->world_instance.world, &ran);
		world_instance_free(&call->world_instance);
	}
	call->scenario.step = NULL;
	call->scenario.sample = sample;
	call->scenario.qps_per_connection = qps;
	return rc;
}

// What the step would not take if a dimension stayed in its domain: by the schedule, for packets do
// not say for whose sake others were late.
static int find_culprits(struct fidelity_full *fidelity, struct refusal *refusal)
{
	int rc = 0;
	for (uint32_t i = 0; rc == 0 && i < DIMENSION_COUNT; i++) {
		struct step_setup inside;
		struct step_exposed times;
		if (!world_step_inside(&fidelity->world, (enum dimension)i, &inside))
			continue;
		rc = schedule_expose(&times, &fidelity->world.plan, &inside, NULL, refusal);
		if (rc == 0)
			fidelity->longer_ps[i] = fidelity->own.with.step_ps - times.with.step_ps;
	}
	return rc;
}

static int work_out(struct call *call, struct fidelity_full *fidelity)
{
	int rc = fidelity_prepare(call, &fidelity->world);
	if (rc < 0)
		return rc;
	rc = schedule_expose(&fidelity->model, &fidelity->world.plan, &fidelity->world.setup, NULL,
			     &call->refusal);
	if (rc == 0)
		rc = fidelity_find_bounds(&fidelity->bounds, call, &fidelity->world,
					  &call->refusal);
	world_step_own_sends(&fidelity->world, &call->scenario);
	if (rc == 0)
		rc = schedule_expose(&fidelity->own, &fidelity->world.plan, &fidelity->world.setup,
				     NULL, &call->refusal);
	if (rc == 0)
		rc = find_culprits(fidelity, &call->refusal);
	if (rc == 0)
		rc = fidelity_full_packets(call, fidelity);
	if (rc < 0)
		return rc;
	struct step_exposed *times = &fidelity->times;
	times->without = fidelity->own.without;
	times->head_ps = times->with.backward_ps - times->without.backward_ps;
	times->tail_ps = ps_max(0, times->with.reduce_ps - times->with.backward_ps);
	return 0;
}

static void write_fidelity_full(FILE *to, const struct call *call, const void *fidelity)
{
	fidelity_full_json(to, call, fidelity);
}

int fidelity_full_run(struct call *call)
{
	static struct fidelity_full fidelity;
	int rc = work_out(call, &fidelity);
	if (rc < 0)
		return fidelity_say_refusal(call, rc);
	int kept = fidelity_keep(call, write_fidelity_full, &fidelity);
	if (call->options.is_json)
		fidelity_full_json(stdout, call, &fidelity);
	else
		fidelity_full_table(call, &fidelity);
	return fidelity_end(call, kept);
}

static void write_fidelity_all(FILE *to, const struct call *call, const void *fidelity)
{
	fidelity_all_json(to, call, fidelity);
}

int fidelity_all_run(struct call *call)
{
	static struct fidelity_all fidelity; // large: kept off the stack
	int rc = work_out(call, &fidelity.full);
	if (rc == 0)
		rc = fidelity_sample_work(call, &fidelity.sample);
	if (rc < 0)
		return fidelity_say_refusal(call, rc);
	int kept = fidelity_keep(call, write_fidelity_all, &fidelity);
	if (call->options.is_json)
		fidelity_all_json(stdout, call, &fidelity);
	else
		fidelity_all_table(call, &fidelity);
	return fidelity_end(call, kept);
}
