// SPDX-License-Identifier: Apache-2.0
// The collectives of a plan as a job: a group for each set of ranks that share parameters; or for
// each set of tensor ranks.
// Facts: Megatron-LM reduces dense parameters over replicas and context ranks together, and those
// of experts in groups of their own. The two kinds of a stage share its NICs and may run at the
// same time.

#include <errno.h>
#include <string.h>

#include <weft/core/check.h>
#include <weft/workload/order.h>

#include "collective/ring.h"
#include "job.h"

// What is being built, and where its ranks sit.
struct plan_job {
	struct job *job;
	struct arena *arena;
	const struct plan *plan;
	struct order order;
	struct gpu_layout gpu_layout;
	struct refusal *refusal;
};

static bool is_expert(enum group_kind kind)
{
	return kind == GROUP_EDP;
}

static bool has_work(const struct plan *plan, enum group_kind kind)
{
	if (kind == GROUP_TP)
		return plan->parallel.tp > 1;
	uint32_t ranks = is_expert(kind) ? plan_expert_ranks(plan) : plan_shard_ranks(plan);
	if (kind == GROUP_ACROSS)
		ranks = plan_dense_ranks(plan) / ranks;
	return ranks > 1 && (!is_expert(kind) || plan->architecture->experts > 0);
}

static uint32_t group_stage(const struct plan_job *to, enum group_kind kind, uint32_t group)
{
	return order_stage(&to->order, to->plan, order_rank(&to->order, to->plan, kind, group, 0));
}

// The largest message of tensor ranks; with sequence parallelism as many gathers as scatters.
static uint32_t list_tensors(const struct plan *plan, struct bucket *ret)
{
	struct bucket bucket = {.kind = COLLECTIVE_ALL_GATHER, .siblings = 1};
	for (uint32_t stage = 0; stage < plan->parallel.pp; stage++) {
		struct message_sum sums[MESSAGE_COUNT];
		plan_messages(plan, stage, sums);
		if (sums[MESSAGE_TP].bytes > bucket.bytes)
			bucket.bytes = sums[MESSAGE_TP].bytes;
	}
	memcpy(bucket.label, "tensors", sizeof("tensors"));
	if (ret != NULL)
		*ret = bucket;
	return 1;
}

// The collectives of one of its groups. Returns how many.
static uint32_t list_buckets(const struct plan *plan, enum group_kind kind, uint32_t stage,
			     struct bucket *ret)
{
	if (kind == GROUP_TP)
		return list_tensors(plan, ret);
	if (kind == GROUP_ACROSS)
		return bucket_list_across(plan, stage, ret, ret != NULL ? UINT32_MAX : 0);
	return bucket_list(plan, stage, is_expert(kind), ret, ret != NULL ? UINT32_MAX : 0);
}

// Groups of a kind, and the buckets of all of them.
static void count_kind(const struct plan_job *to, enum group_kind kind, uint64_t *groups,
		       uint64_t *buckets)
{
	struct spread spread;
	if (!has_work(to->plan, kind))
		return;
	order_spread(&spread, &to->order, to->plan, kind, &to->gpu_layout);
	uint32_t stages = to->plan->parallel.pp, each = spread.groups / stages;
	*groups += spread.groups;
	for (uint32_t stage = 0; stage < stages; stage++)
		*buckets += (uint64_t)each * list_buckets(to->plan, kind, stage, NULL);
}

static int build_group(const struct plan_job *to, enum group_kind kind, uint32_t number,
		       uint32_t ranks)
{
	struct job *job = to->job;
	struct group *group = &job->groups[job->group_count];
	struct bucket *buckets = &job->buckets[job->bucket_count];
	int rc = group_draw(group, to->arena, ranks, to->refusal);
	if (rc < 0)
		return rc;
	group->stage = group_stage(to, kind, number);
	group->index = job->group_count++;
	group->bucket_first = job->bucket_count;
	for (uint32_t at = 0; at < ranks; at++)
		group->gpus[at] = order_rank(&to->order, to->plan, kind, number, at);
	rc = group_layout(group, to->gpu_layout.gpus_per_domain, to->refusal);
	if (rc < 0)
		return rc;
	group->bucket_count = list_buckets(to->plan, kind, group->stage, buckets);
	job->bucket_count += group->bucket_count;
	struct ring_config ring = job->ring;
	ring.ranks = ranks;
	for (uint32_t i = 0; rc == 0 && i < group->bucket_count; i++)
		rc = ring_bytes_check(&ring, buckets[i].bytes, to->refusal);
	return rc;
}

static int build_kind(const struct plan_job *to, enum group_kind kind)
{
	struct spread spread;
	int rc = 0;
	if (!has_work(to->plan, kind))
		return 0;
	order_spread(&spread, &to->order, to->plan, kind, &to->gpu_layout);
	for (uint32_t i = 0; rc == 0 && i < spread.groups; i++)
		rc = build_group(to, kind, i, spread.ranks);
	return rc;
}

// The other messages of the plan that would be traffic of the fabric.
static void find_leaving(const struct plan_job *to)
{
	struct message_sum sums[MESSAGE_COUNT];
	for (uint32_t stage = 0; stage < to->plan->parallel.pp; stage++) {
		plan_messages(to->plan, stage, sums);
		for (uint32_t i = 0; i < MESSAGE_COUNT; i++) {
			struct spread spread;
			if (sums[i].count == 0 || (i >= MESSAGE_DP_REDUCE && i != MESSAGE_ETP))
				continue;
			order_spread(&spread, &to->order, to->plan,
				     message_group(to->plan, (enum message_kind)i),
				     &to->gpu_layout);
			to->job->leaves |= (uint32_t)(spread.domains_max > 1) << i;
		}
	}
}

const char *job_leaving(const struct job *job, uint32_t *at)
{
	while (*at < MESSAGE_COUNT && (job->leaves >> *at & 1) == 0)
		++*at;
	return *at < MESSAGE_COUNT ? message_name((enum message_kind)(*at)++) : NULL;
}

static int draw(struct plan_job *to, const enum group_kind kinds[2], const char *none)
{
	uint64_t groups = 0, buckets = 0;
	for (int i = 0; i < 2; i++)
		if (i == 0 || kinds[i] != kinds[0])
			count_kind(to, kinds[i], &groups, &buckets);
	if (groups == 0)
		return refuse(to->refusal, -EINVAL, none);
	if (groups > INT32_MAX || buckets > INT32_MAX)
		return refuse(to->refusal, -EINVAL, "% groups of % collectives in all are too many",
			      (int64_t)groups, (int64_t)buckets);
	return job_draw(to->job, to->arena, (uint32_t)groups, (uint32_t)buckets, to->refusal);
}

static uint32_t widest(const struct plan *plan, enum group_kind kind)
{
	if (kind == GROUP_TP)
		return plan->parallel.tp;
	if (kind == GROUP_SHARD && !has_work(plan, GROUP_SHARD))
		return plan_dense_ranks(plan);
	return has_work(plan, GROUP_DP) ? plan_shard_ranks(plan) : plan_expert_ranks(plan);
}

// `kinds` are two, or the same twice; `none` says why when no group has work.
static int build(struct plan_job *to, const enum group_kind kinds[2], const char *none)
{
	int rc = plan_check(to->plan, to->refusal);
	if (to->gpu_layout.gpus_per_domain == 0)
		return refuse(to->refusal, -EINVAL, "a host needs a GPU");
	if (rc == 0)
		rc = order_parse(&to->order, to->plan->parallel.order, to->plan, to->refusal);
	if (rc < 0)
		return rc;
	to->job->ring.ranks = widest(to->plan, kinds[0]);
	if ((rc = draw(to, kinds, none)) < 0 ||
	    (rc = ring_config_check(&to->job->ring, to->refusal)) < 0 ||
	    (rc = build_kind(to, kinds[0])) < 0)
		return rc;
	return kinds[1] != kinds[0] ? build_kind(to, kinds[1]) : 0;
}

int job_from_plan(struct job *ret, struct arena *arena, const struct plan *plan,
		  uint32_t gpus_per_host, const struct ring_config *ring, struct refusal *refusal)
{
	static const enum group_kind wholes[] = {GROUP_DP, GROUP_EDP};
	static const enum group_kind shards[] = {GROUP_SHARD, GROUP_ACROSS};
	const enum group_kind *kinds = plan->parallel.shard_ranks > 0 ? shards : wholes;
	struct job job = {.ring = *ring};
	struct plan_job to = {&job, arena, plan, {0}, {gpus_per_host, 1}, refusal};
	int rc = build(&to, kinds,
		       "no two ranks of this job share parameters: there is nothing to run");
	if (rc < 0)
		return rc;
	find_leaving(&to);
	*ret = job;
	return 0;
}

int job_from_tensors(struct job *ret, struct arena *arena, const struct plan *plan,
		     uint32_t gpus_per_host, const struct ring_config *ring,
		     struct refusal *refusal)
{
	static const enum group_kind kinds[] = {GROUP_TP, GROUP_TP};
	struct job job = {.ring = *ring};
	struct plan_job to = {&job, arena, plan, {0}, {gpus_per_host, 1}, refusal};
	int rc = build(&to, kinds, "no layer of this job is cut among tensor ranks");
	if (rc == 0)
		*ret = job;
	return rc;
}
