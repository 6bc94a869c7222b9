// SPDX-License-Identifier: Apache-2.0
// One world, built, run to its end and given back. See validate.h.

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "validate.h"
#include <weft/core/order.h>

static int run(struct single_run *single, const char *text, const char *const *sets,
	       const char *workload, struct refusal *refusal)
{
	static const struct sim_options options;
	uint32_t count = 0;
	while (sets[count] != NULL)
		count++;
	int rc = scenario_parse(&single->scenario, "validate", text, strlen(text), sets, count,
				refusal);
	if (rc < 0)
		return rc;
	size_t bytes = workload == NULL ? 0 : strlen(workload);
	rc = world_instance_build(&single->world_instance, &single->scenario, workload, bytes,
				  &options, refusal);
	if (rc < 0)
		return rc;
	if (single->before != NULL)
		single->before(single);
	sim_run(single->world_instance.sim, &single->run);
	single->outcome = single->world_instance.world.outcome;
	return 0;
}

int single_run_whole(struct single_run *single, const char *text, const char *const *sets,
		     const char *workload, struct refusal *refusal)
{
	int rc = run(single, text, sets, workload, refusal);
	if (rc < 0 || single->run.end == RUN_DONE)
		return rc;
	single_run_end(single);
	return refuse(refusal, -EIO, "a run did not complete within limits.time");
}

int single_run_until(struct single_run *single, const char *text, const char *const *sets,
		     struct refusal *refusal)
{
	int rc = run(single, text, sets, NULL, refusal);
	if (rc < 0 || single->run.end == RUN_TIME)
		return rc;
	single_run_end(single);
	return refuse(refusal, -EIO, "a run that was to be cut off ended by itself");
}

int trial_counts_until(const char *text, const char *time, struct trial_counts *ret,
		       struct refusal *refusal)
{
	static struct single_run single;
	const char *const sets[] = {time, NULL};
	int rc = single_run_until(&single, text, sets, refusal);
	if (rc < 0)
		return rc;
	*ret = (struct trial_counts){
		.received = (double)single.outcome->transport.data_received,
		.marked = (double)single.outcome->transport.marks_received,
		.trimmed = (double)single.outcome->fabric.trimmed,
	};
	single_run_end(&single);
	return 0;
}

void single_run_end(struct single_run *single)
{
	world_instance_free(&single->world_instance);
}

void single_run_flow_times(const struct single_run *single, ps_t *ret)
{
	const struct world *world = &single->world_instance.world;
	for (uint32_t i = 0; i < world->flow_count; i++)
		ret[i] = single->outcome->flow_end_ps[i] - world->flows[i].start_ps;
	qsort(ret, world->flow_count, sizeof(*ret), order_int64);
}

int trial_longest_us(const char *text, const char *const *sets, const char *workload, double *ret,
		     struct refusal *refusal)
{
	static struct single_run single;
	int rc = single_run_whole(&single, text, sets, workload, refusal);
	if (rc < 0)
		return rc;
	ps_t longest = 0;
	const struct world *world = &single.world_instance.world;
	for (uint32_t i = 0; i < world->flow_count; i++)
		longest = ps_max(longest,
				 single.outcome->flow_end_ps[i] - world->flows[i].start_ps);
	*ret = (double)longest / PS_PER_US;
	single_run_end(&single);
	return 0;
}
