// SPDX-License-Identifier: Apache-2.0
// Messages of tensor ranks in an order that puts them into several domains. A world of their own
// carries one, a ring of one tensor group on trunks that are thinned to the load of all the others:
// in a step they come while no gradients are on the way, but for the last few.

#include <errno.h>

#include <weft/core/check.h>

#include <weft/run/fidelity_sample.h>

static int take_message(struct sampled_run *run, const struct world *world, const struct run *ran,
			struct refusal *refusal)
{
	struct sampled_tensor *tensor = &run->tensor;
	check(world->outcome->collective_count == 1);
	const struct outcome_collective *from = &world->outcome->collectives[0];
	const struct bucket *bucket = &world->job.buckets[from->bucket];
	struct ring_config ring = world->job.ring;
	struct ring_plan plan;
	if (from->whole_ps == 0)
		return refuse(refusal, -EINTR,
			      "a message of % bytes of tensor ranks did not end: the step has no "
			      "time",
			      (int64_t)bucket->bytes);
	ring.ranks = world->job.groups[from->group].ranks;
	ring_plan(&plan, &ring, bucket->kind, bucket->bytes);
	*tensor = (struct sampled_tensor){
		.closed_ps = run->world.off_domain[DIMENSION_TP].message_ps,
		.time_ps = from->whole_ps,
		.error_ps = from->whole_error_ps,
		.bytes = bucket->bytes,
		.steps = plan.steps_per_loop,
		.steps_all = plan.steps_per_loop_all,
		.packets = ran->data_packets,
		.groups_all = world->plan.groups_all,
	};
	return 0;
}

static int run_message(struct call *call, struct sampled_run *run)
{
	struct run ran;
	int rc = call_build(call);
	if (rc < 0)
		return rc;
	rc = call_run(call, &ran);
	if (rc == 0 && ran.end == RUN_INTERRUPTED)
		rc = refuse(&call->refusal, -EINTR, "interrupted");
	if (rc == 0)
		rc = take_message(run, &call->world_instance.world, &ran, &call->refusal);
	world_instance_free(&call->world_instance);
	return rc;
}

int fidelity_tensor(struct call *call, struct sampled_run *run)
{
	const struct sample sample = call->scenario.sample;
	if (!run->world.off_domain[DIMENSION_TP].is_off_domain)
		return 0;
	for (uint32_t i = 0; i < call->scenario.fault_count; i++) {
		const struct link_location *at = &call->scenario.faults[i].at;
		if (at->where != LINK_AT_NIC && at->where != LINK_AT_NIC_WHOLE)
			continue;
		scenario_fault_location(&call->scenario, i, &call->refusal);
		return refuse(&call->refusal, -EINVAL,
			      "where tensor ranks leave their domain a sample has no faults of a "
			      "single NIC");
	}
	call->scenario.is_tensor = true;
	call->scenario.sample.groups = 1;
	call->scenario.sample.buckets = call->scenario.sample.pick_count = 0;
	int rc = run_message(call, run);
	call->scenario.is_tensor = false;
	call->scenario.sample = sample;
	if (rc == 0)
		world_step_tensor(&run->world, run->tensor.time_ps);
	return rc;
}
