// SPDX-License-Identifier: Apache-2.0
// The step on each number of racks.

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <weft/study/report_scaling.h>
#include <weft/world/world_step.h>

#include "packets.h"
#include "scaling.h"
#include <weft/run/input_files.h>
#include <weft/run/schedule.h>

static double s(ps_t time)
{
	return (double)time / PS_PER_S;
}

// ---------------------------------------------------------------- the scenario

static int read_scenario(struct call *call, uint32_t set_count)
{
	return scenario_file_read(&call->scenario, call->scenario_name, call->sets, set_count,
				  &call->refusal);
}

// A refusal that comes of a number of racks says so.
static int name_racks(struct call *call, const struct point *point, int rc)
{
	struct refusal *refusal = &call->refusal;
	char text[sizeof(refusal->text)];
	if (strcmp(refusal->file, "--set") == 0 && refusal->line > call->set_count) {
		snprintf(refusal->file, sizeof(refusal->file), "--racks");
		refusal->line = refusal->column = 0;
	} else if (refusal->file[0] == '\0') {
		refusal_name(refusal, call->scenario.path);
	}
	snprintf(text, sizeof(text), "with %u rack%s: %.400s", point->racks,
		 point->racks == 1 ? "" : "s", refusal->text);
	memcpy(refusal->text, text, sizeof(text));
	return rc;
}

// ---------------------------------------------------------------- the schedule

static double exposed_s(const struct step_exposed *times)
{
	return s(times->with.step_ps - times->without.step_ps);
}

static int run_schedules(struct call *call, struct point *point, const struct world_step *world)
{
	struct step_setup setup = world->setup;
	struct schedule schedule;
	int rc = jitter_take(&setup, &call->jitter, &call->refusal);
	if (rc < 0)
		return rc;
	rc = schedule_make(&schedule, &world->plan, &call->refusal);
	if (rc < 0)
		return rc;
	point->exposed_s = 0;
	for (uint32_t i = 0; i < call->seed_count; i++) {
		struct step_exposed times;
		setup.replicas = world->plan.parallel.dp;
		setup.seed = world->setup.seed + i;
		step_expose(schedule.step, &setup, &times, NULL);
		point->steps_s[i] = s(times.with.step_ps);
		point->exposed_s += exposed_s(&times) / call->seed_count;
	}
	schedule_free(&schedule);
	return 0;
}

// ---------------------------------------------------------------- packets

// One sample with the seed that is `number` behind the first.
static int run_packets(struct call *call, struct packets_step *ret, uint32_t number)
{
	char word[64];
	uint32_t count = call->set_count + 1; // the last is the number of NICs
	snprintf(word, sizeof(word), "seed=%llu",
		 (unsigned long long)(call->scenario.seed + number));
	call->sets[count] = word;
	return packets_run(ret, call->scenario_name, call->sample_text, call->sets, count + 1,
			   &call->refusal);
}

static void take_packets(struct point *point, const struct packets_step *from)
{
	point->times = from->times;
	point->error_s = s(from->error_ps);
	point->groups = from->groups;
	point->groups_all = from->groups_all;
}

static int run_samples(struct call *call, struct point *point)
{
	uint32_t count = call->seed_count > 0 ? call->seed_count : 1;
	double exposed = 0;
	int rc = 0;
	for (uint32_t i = 0; rc == 0 && i < count; i++) {
		struct packets_step step;
		rc = run_packets(call, &step, i);
		if (i == 0)
			take_packets(point, &step);
		point->packets += step.packets;
		exposed += exposed_s(&step.times) / count;
		if (call->seed_count > 0)
			point->steps_s[i] = s(step.times.with.step_ps);
	}
	point->step_s = s(point->times.with.step_ps);
	point->exposed_s = exposed;
	return rc;
}

// ---------------------------------------------------------------- one number of racks

static int run_step(struct call *call, struct point *point)
{
	struct world_step world;
	int rc = world_step(&world, &call->scenario, NULL, &call->refusal);
	if (rc == 0)
		rc = schedule_expose(&point->times, &world.plan, &world.setup, NULL,
				     &call->refusal);
	if (rc < 0)
		return rc;
	const struct parallel *cut = &world.plan.parallel;
	point->gpus = plan_ranks(&world.plan);
	call->timing = world.plan.timing;
	call->is_other_site = exposure_other_site(&world, call->site, sizeof(call->site));
	point->replicas = cut->dp;
	point->ring_ranks = world.setup.dense.ranks;
	point->batch = (uint64_t)cut->dp * cut->micro_batches * cut->samples;
	point->step_s = s(point->times.with.step_ps);
	point->exposed_s = exposed_s(&point->times);
	point->steps_s = calloc(call->seed_count + 1, sizeof(*point->steps_s));
	if (point->steps_s == NULL)
		return refuse(&call->refusal, -ENODEV, "not enough memory");
	if (call->is_sample)
		rc = run_samples(call, point);
	else if (call->seed_count > 0)
		rc = run_schedules(call, point, &world);
	if (rc < 0 || call->seed_count == 0)
		return rc;
	spread_of(&point->spread, point->steps_s, call->seed_count);
	point->step_s = point->spread.mean;
	return 0;
}

static int run_point(struct call *call, struct point *point)
{
	char word[64];
	uint64_t nics = (uint64_t)point->racks * call->gpus_per_rack;
	snprintf(word, sizeof(word), "fabric.nics=%llu", (unsigned long long)nics);
	call->sets[call->set_count] = word;
	int rc = read_scenario(call, call->set_count + 1);
	if (rc == 0)
		rc = run_step(call, point);
	return rc < 0 ? name_racks(call, point, rc) : 0;
}

// ---------------------------------------------------------------- all of them

static void hold_against_reference(struct call *call)
{
	const struct point *reference = call->reference;
	for (uint32_t i = 0; i < call->point_count; i++) {
		struct point *point = &call->points[i];
		point->efficiency = scaling_efficiency(reference->step_s, point->step_s);
		point->consistency = scaling_consistency(reference->step_s, point->step_s);
		if (call->seed_count > 0 && call->point_count > 1)
			spread_difference_of(&point->against, reference->steps_s, point->steps_s,
					     call->seed_count, call->point_count - 1);
	}
}

int points_run(struct call *call)
{
	if (call->seed_text != NULL) {
		snprintf(call->seed_set, sizeof(call->seed_set), "seed=%.50s", call->seed_text);
		call->sets[call->set_count++] = call->seed_set;
	}
	struct step_setup unused = {0}; // a list that is none is refused before anything runs
	int rc = jitter_take(&unused, &call->jitter, &call->refusal);
	if (rc == 0)
		rc = read_scenario(call, call->set_count);
	if (rc == 0 && call->svg != NULL)
		rc = files_check_output(call->svg, &call->refusal);
	call->gpus_per_rack = call->scenario.fabric.nics_per_host;
	for (uint32_t i = 0; rc == 0 && i < call->point_count; i++)
		rc = run_point(call, &call->points[i]);
	if (rc < 0)
		return rc;
	snprintf(call->name, sizeof(call->name), "%s", call->scenario.name);
	hold_against_reference(call);
	return 0;
}

void points_free(struct call *call)
{
	for (uint32_t i = 0; i < call->point_count; i++)
		free(call->points[i].steps_s);
}
