// SPDX-License-Identifier: Apache-2.0
// What a plan's groups and messages come to, for the table and for JSON.

#include <inttypes.h>

#include "plan.h"

void plan_print_cut(FILE *to, const struct plan *plan)
{
	const struct parallel *cut = &plan->parallel;
	fprintf(to, "  tp %" PRIu32 ", cp %" PRIu32 ", ep %" PRIu32, cut->tp, cut->cp, cut->ep);
	if (plan_expert_tensor_ranks(plan) > 1)
		fprintf(to, ", etp %" PRIu32, cut->etp);
	fprintf(to,
		", pp %" PRIu32 "%s, vpp %" PRIu32 ", dp %" PRIu32 "; %" PRIu32
		" micro-batches of %" PRIu32 " x %" PRIu32 " tokens",
		cut->pp, plan_schedule(cut), cut->vpp, cut->dp, cut->micro_batches, cut->samples,
		cut->sequence);
}

bool plan_has_group(const struct call *call, enum group_kind kind, struct spread *ret)
{
	bool has_experts = call->edit.architecture.experts > 0;
	if (!has_experts && (kind == GROUP_EP || kind == GROUP_EDP || kind == GROUP_ETP))
		return false;
	bool has_shards = call->edit.plan.parallel.shard_ranks > 0;
	if (!has_shards && (kind == GROUP_SHARD || kind == GROUP_ACROSS))
		return false;
	order_spread(ret, &call->order, &call->edit.plan, kind, &call->gpu_layout);
	return ret->ranks >= 2;
}

bool plan_is_all_reduce(const struct plan *plan, enum message_kind kind)
{
	return kind == MESSAGE_DP_ACROSS ||
		(!plan->parallel.has_distributed_optimizer &&
		 (kind == MESSAGE_DP_REDUCE || kind == MESSAGE_EDP_REDUCE));
}

bool plan_message(const struct call *call, enum message_kind kind, struct message_load *ret)
{
	const struct plan *plan = &call->edit.plan;
	struct spread spread;
	ret->sum = plan_message_most(plan, kind);
	if (ret->sum.count == 0)
		return false;
	order_spread(&spread, &call->order, plan, message_group(plan, kind), &call->gpu_layout);
	ret->nic_bytes = order_nic_bytes(&spread, kind, ret->sum.total_bytes,
					 plan_is_all_reduce(plan, kind));
	return true;
}
