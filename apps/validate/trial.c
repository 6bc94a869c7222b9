// SPDX-License-Identifier: Apache-2.0
// One world, built, run to its end and given back. See validate.h.

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "validate.h"

static int run(struct trial *trial, const char *text, const char *const *sets, const char *workload,
	       struct refusal *refusal)
{
	static const struct sim_options options;
	uint32_t count = 0;
	while (sets[count] != NULL)
		count++;
	int rc = scenario_parse(&trial->scenario, "validate", text, strlen(text), sets, count,
				refusal);
	if (rc < 0)
		return rc;
	size_t bytes = workload == NULL ? 0 : strlen(workload);
	rc = world_instance_build(&trial->world_instance, &trial->scenario, workload, bytes,
				  &options, refusal);
	if (rc < 0)
		return rc;
	if (trial->before != NULL)
		trial->before(trial);
	sim_run(trial->world_instance.sim, &trial->run);
	trial->outcome = trial->world_instance.world.outcome;
	return 0;
}

int trial_run(struct trial *trial, const char *text, const char *const *sets, const char *workload,
	      struct refusal *refusal)
{
	int rc = run(trial, text, sets, workload, refusal);
	if (rc < 0 || trial->run.end == RUN_DONE)
		return rc;
	trial_end(trial);
	return refuse(refusal, -EIO, "a run did not complete within limits.time");
}

int trial_until(struct trial *trial, const char *text, const char *const *sets,
		struct refusal *refusal)
{
	int rc = run(trial, text, sets, NULL, refusal);
	if (rc < 0 || trial->run.end == RUN_TIME)
		return rc;
	trial_end(trial);
	return refuse(refusal, -EIO, "a run that was to be cut off ended by itself");
}

int trial_counts_until(const char *text, const char *time, struct trial_counts *ret,
		       struct refusal *refusal)
{
	static struct trial trial;
	const char *const sets[] = {time, NULL};
	int rc = trial_until(&trial, text, sets, refusal);
	if (rc < 0)
		return rc;
	*ret = (struct trial_counts){
		.received = (double)trial.outcome->transport.data_received,
		.marked = (double)trial.outcome->transport.marks_received,
		.trimmed = (double)trial.outcome->fabric.trimmed,
	};
	trial_end(&trial);
	return 0;
}

void trial_end(struct trial *trial)
{
	world_instance_free(&trial->world_instance);
}

static int shorter(const void *a, const void *b)
{
	ps_t first = *(const ps_t *)a, second = *(const ps_t *)b;
	return (first > second) - (first < second);
}

void trial_flow_times(const struct trial *trial, ps_t *ret)
{
	const struct world *world = &trial->world_instance.world;
	for (uint32_t i = 0; i < world->flow_count; i++)
		ret[i] = trial->outcome->flow_end_ps[i] - world->flows[i].start_ps;
	qsort(ret, world->flow_count, sizeof(*ret), shorter);
}

int trial_longest_us(const char *text, const char *const *sets, const char *workload, double *ret,
		     struct refusal *refusal)
{
	static struct trial trial;
	int rc = trial_run(&trial, text, sets, workload, refusal);
	if (rc < 0)
		return rc;
	ps_t longest = 0;
	const struct world *world = &trial.world_instance.world;
	for (uint32_t i = 0; i < world->flow_count; i++)
		longest = ps_max(longest, trial.outcome->flow_end_ps[i] - world->flows[i].start_ps);
	*ret = (double)longest / PS_PER_US;
	trial_end(&trial);
	return 0;
}
