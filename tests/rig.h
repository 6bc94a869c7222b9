// SPDX-License-Identifier: Apache-2.0
// What tests of whole worlds share: a scenario from text or from a shipped file, built, run, and
// its figures at hand.
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <weft/engine/engine.h>
#include <weft/run/input_files.h>
#include <weft/world/world_ideal.h>

#include "rig_goal.h"
#include "rig_matrix.h"

#define RIG_SETS_MAX 24

struct rig {
	struct scenario scenario;
	struct world_instance world_instance;
	struct run run;
	const struct outcome *outcome;
	struct refusal refusal;
};

// The file that a scenario's traffic stands in, where there is one.
static const char *rig_workload(const struct scenario *scenario)
{
	if (scenario->traffic.kind == TRAFFIC_MATRIX)
		return rig_matrix(20000);
	return scenario->traffic.kind == TRAFFIC_GOAL ? rig_goal(60000) : NULL;
}

// Builds the world of a YAML text with assignments ended by NULL. Negative errno with rig->refusal.
__attribute__((unused)) static int rig_build_with(struct rig *rig, const char *yaml,
						  const char *const *sets,
						  const struct sim_options *options)
{
	uint32_t count = 0;
	while (sets != NULL && sets[count] != NULL)
		count++;
	memset(rig, 0, sizeof(*rig));
	int rc = scenario_parse(&rig->scenario, "test", yaml, strlen(yaml), sets, count,
				&rig->refusal);
	if (rc == 0)
		rc = plan_files_read(&rig->scenario, &rig->refusal);
	if (rc < 0)
		return rc;
	const char *text = rig_workload(&rig->scenario);
	return world_instance_build(&rig->world_instance, &rig->scenario, text,
				    text ? strlen(text) : 0, options, &rig->refusal);
}

// The same for a run in virtual time, without frames.
__attribute__((unused)) static int rig_build(struct rig *rig, const char *yaml,
					     const char *const *sets)
{
	static const struct sim_options options;
	return rig_build_with(rig, yaml, sets, &options);
}

// Text of a shipped scenario; the caller frees it.
__attribute__((unused)) static char *rig_text(const char *name)
{
	char path[1024], *text;
	size_t bytes;
	struct refusal refusal = {0};
	snprintf(path, sizeof(path), "%s/apps/scenarios/%s.yaml", getenv("WEFT_SOURCE"), name);
	if (file_read(path, 1 << 20, &text, &bytes, &refusal) < 0)
		fail_msg("%s: %s", refusal.file, refusal.text);
	return text;
}

// Builds and runs; a refusal fails the test. The caller frees the stage with stage_free().
__attribute__((unused)) static void rig_run_with(struct rig *rig, const char *yaml,
						 const char *const *sets,
						 const struct sim_options *options)
{
	if (rig_build_with(rig, yaml, sets, options) < 0)
		fail_msg("refused: %s:%u:%u: %s", rig->refusal.file, rig->refusal.line,
			 rig->refusal.column, rig->refusal.text);
	sim_run(rig->world_instance.sim, &rig->run);
	rig->outcome = rig->world_instance.world.outcome;
}

__attribute__((unused)) static void rig_run(struct rig *rig, const char *yaml,
					    const char *const *sets)
{
	static const struct sim_options options;
	rig_run_with(rig, yaml, sets, &options);
}

// The same with a shipped scenario.
__attribute__((unused)) static void rig_run_shipped(struct rig *rig, const char *name,
						    const char *const *sets)
{
	char *text = rig_text(name);
	rig_run(rig, text, sets);
	free(text);
}

// When the first flow of a run that is done ended; frees its world.
__attribute__((unused)) static ps_t rig_flow_ps(struct rig *rig)
{
	assert_int_equal(rig->run.end, RUN_DONE);
	ps_t end = rig->outcome->flow_end_ps[0];
	world_instance_free(&rig->world_instance);
	return end;
}

// Within 1 ns.
__attribute__((unused)) static void assert_time(ps_t measured, ps_t expected)
{
	if (llabs(measured - expected) > PS_PER_NS)
		fail_msg("%lld ps, but the closed form is %lld", (long long)measured,
			 (long long)expected);
}

// The least time in which the lines can carry the scenario's traffic.
__attribute__((unused)) static ps_t rig_ideal_ps(const struct rig *rig)
{
	static const size_t bytes = (size_t)16 << 20;
	struct refusal refusal = {0};
	struct ideal_time ideal;
	struct arena arena;
	void *memory = memory_reserve(bytes);
	assert_non_null(memory);
	arena_init(&arena, memory, bytes);
	if (ideal_scenario(&ideal, &arena, rig->world_instance.world.scenario, &refusal) < 0)
		fail_msg("%s", refusal.text);
	memory_release(memory, bytes);
	return ideal.ps;
}
