// SPDX-License-Identifier: Apache-2.0
// Runs of one size, in virtual time; with --check through frames that carry data.

#include <errno.h>

#include <weft/files/signals.h>
#include <weft/result/report.h>

#include "coll.h"

static double time_us(const struct world *world, double *ret_error_us)
{
	const struct outcome *outcome = world->outcome;
	*ret_error_us = 0;
	if (outcome->collective_count == 0)
		return (double)outcome->end_ps / PS_PER_US;
	const struct outcome_collective *of = &outcome->collectives[0];
	*ret_error_us = (double)of->whole_error_ps / PS_PER_US;
	return (double)of->whole_ps / PS_PER_US;
}

// Whether time was added for steps that were not run.
static bool is_sampled(const struct world *world)
{
	return (world->plan.sample.is_on && world->plan.sample.steps > 0) ||
		(world->skipped != NULL && world->skipped->jumps > 0);
}

static void count_wrong(struct payload_store *payload_store, struct measured *ret)
{
	ret->is_checked = true;
	ret->wrong = 0;
	for (uint32_t rank = 0; rank < ret->config.ranks; rank++)
		ret->wrong += coll_wrong(&ret->config, rank,
					 payload_store_buffer(payload_store, rank));
}

static int fill(struct call *call, struct payload_store *payload_store, const struct world *world,
		struct measured *ret)
{
	if (!ret->is_credit_ring)
		scenario_collective(&ret->config, &call->scenario);
	ret->config.bytes = ret->bytes_run;
	ret->config.element_bytes = call->type->bytes;
	int rc = payload_store_attach(payload_store, world, ret->config.element_bytes,
				      &call->refusal);
	for (uint32_t rank = 0; rc == 0 && rank < ret->config.ranks; rank++)
		coll_fill(&ret->config, rank, payload_store_buffer(payload_store, rank));
	return rc;
}

// Builds and runs what call->scenario says; with a payload store through frames that carry data.
static int run_stage(struct call *call, struct payload_store *payload_store, struct measured *ret)
{
	static struct world_instance world_instance; // large
	struct bar bar = {.call = call};
	struct sim_options options = {
		.lanes = 1, .stop = signals_stop(), .progress = bar_show, .progress_context = &bar};
	struct run run;
	double error_us;
	if (payload_store != NULL) {
		options.ports.kind = PORTS_MEMORY;
		payload_store_hook(payload_store, &options.ports);
	}
	int rc = world_instance_build(&world_instance, &call->scenario, NULL, 0, &options,
				      &call->refusal);
	if (rc < 0)
		return rc;
	if (!call->has_warned)
		report_warnings(stderr, "weft coll: ", &world_instance.world);
	call->has_warned = true;
	if (payload_store != NULL &&
	    (rc = fill(call, payload_store, &world_instance.world, ret)) < 0) {
		world_instance_free(&world_instance);
		return rc;
	}
	progress_start(&bar.progress, &world_instance.world, false);
	sim_run(world_instance.sim, &run);
	progress_end(&bar.progress);
	ret->end = run.end;
	ret->limit_option = run.limit_option;
	ret->digest = run.digest;
	ret->time_us += time_us(&world_instance.world, &error_us) / call->iterations;
	ret->error_us += error_us / call->iterations;
	ret->is_extrapolated = ret->is_extrapolated || is_sampled(&world_instance.world);
	if (world_instance.world.outcome->collective_count > 0 && ret->fault_left_out == 0)
		ret->fault_left_out = world_instance.world.outcome->collectives[0].fault_left_out;
	if (payload_store != NULL && run.end == RUN_DONE)
		count_wrong(payload_store, ret);
	world_instance_free(&world_instance);
	return 0;
}

// Runs the data of a ring with credits, whose time is known.
static int check_ring(struct call *call, struct payload_store *payload_store, struct measured *ret)
{
	struct measured apart = *ret;
	struct data data;
	int rc = data_scenario(call, ret, &data);
	if (rc == 0)
		rc = run_stage(call, payload_store, &apart);
	data_free(&data);
	ret->end = rc == 0 ? apart.end : ret->end;
	ret->is_checked = apart.is_checked;
	ret->wrong = apart.wrong;
	return rc;
}

// Runs `bytes` once and adds what it took.
static int run_once(struct call *call, uint64_t bytes, uint32_t iteration, struct measured *ret)
{
	int rc = call_scenario(call, bytes, ret->is_credit_ring, call->seed + iteration);
	ret->bytes_run = bytes;
	if (rc == 0 && (ret->is_credit_ring || !call->is_checked))
		rc = run_stage(call, NULL, ret);
	if (rc < 0 || !call->is_checked || ret->end != RUN_DONE)
		return rc;
	struct payload_store *payload_store = payload_store_create();
	if (payload_store == NULL)
		return refuse(&call->refusal, -ENODEV, "no memory for data");
	uint64_t wrong = ret->wrong;
	rc = ret->is_credit_ring ? check_ring(call, payload_store, ret)
				 : run_stage(call, payload_store, ret);
	ret->wrong += wrong;
	payload_store_free(payload_store);
	return rc;
}

int run_whole(struct call *call, uint64_t bytes, struct measured *ret)
{
	int rc = 0;
	ret->time_us = ret->error_us = 0;
	ret->wrong = 0;
	for (uint32_t i = 0; rc == 0 && i < call->iterations; i++) {
		rc = run_once(call, bytes, i, ret);
		if (rc == 0 && ret->end != RUN_DONE)
			return 0;
	}
	return rc;
}
