// SPDX-License-Identifier: Apache-2.0
// What a result of a scenario rests on: the figures of its jobs' files, then its own.

#include <weft/scenario/scenario.h>

#include <stdio.h>

#include <weft/scenario/plan_file.h>
#include <weft/workload/plan_memory.h>

// Times of which the file says nothing come first; they are in no row of it.
static bool has_bare_times(const struct plan *plan)
{
	const char *key = plan->timing.has_parts ? "times.measured" : "times.forward";
	return plan->timing.origin != NULL && !plan_has_roofline(plan) &&
		plan_input_of(plan, key) == NULL;
}

static uint32_t rows_of(const struct plan *plan)
{
	return plan == NULL ? 0 : plan->input_count + has_bare_times(plan);
}

static void take_row(const struct plan *plan, uint32_t row, const char *job,
		     struct scenario_input *ret)
{
	bool is_bare = has_bare_times(plan);
	const struct plan_input *input = &plan->inputs[row - (is_bare && row > 0)];
	bool is_times = is_bare && row == 0;
	ret->origin = is_times ? plan->timing.rests_on : input->origin;
	snprintf(ret->text, sizeof(ret->text), "%s%s%s: %s", job, job[0] != '\0' ? ": " : "",
		 is_times ? "times" : input->of, is_times ? plan->timing.origin : input->text);
}

bool scenario_input_at(const struct scenario *scenario, uint32_t index, struct scenario_input *ret)
{
	const struct traffic_config *traffic = &scenario->traffic;
	const struct plan *plan = traffic->kind == TRAFFIC_MODEL ? traffic->plan : NULL;
	if (index < rows_of(plan)) {
		take_row(plan, index, "", ret);
		return true;
	}
	index -= rows_of(plan);
	for (uint32_t i = 0; i < scenario->job_count; i++) {
		const struct scenario_job *job = &scenario->jobs[i];
		plan = job->kind == JOB_MODEL ? job->plan : NULL;
		if (index < rows_of(plan)) {
			take_row(plan, index, job->name, ret);
			return true;
		}
		index -= rows_of(plan);
	}
	if (index >= scenario->input_count)
		return false;
	*ret = scenario->inputs[index];
	return true;
}
