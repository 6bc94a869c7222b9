// SPDX-License-Identifier: Apache-2.0
// The data-parallel collectives of a SimAI trace as a job.
//
// What is taken: ALLGATHER, REDUCESCATTER and ALLREDUCE of the data-parallel groups (DP = gpus /
// (tp pp) ranks) and of the expert data-parallel groups (DP / ep ranks). What is left out: tensor,
// expert and pipeline traffic, all-to-all, broadcast, and all computation but the time before each
// collective.
//
// Assumed, for the file does not say it: `bytes` is the whole buffer of one rank (the input of a
// reduce-scatter, the output of an all-gather), as SimAI's generator writes it: 4 bytes a parameter
// to reduce, 2 to gather. Ranks are numbered tensor first, then data, then pipeline; expert groups
// are consecutive data ranks. A collective is released after the compute times of those before it
// in the file; those of one group run one after the other, the two kinds of group side by side.

#include <errno.h>
#include <string.h>

#include <weft/workload/trace_simai.h>

#include "collective/ring.h"
#include "plan/job.h"

// One kind of group: `ranks` data ranks, `apart` data ranks from one to the next.
struct trace_kind {
	enum trace_group group;
	uint32_t ranks, apart;
	uint32_t groups, buckets;
};

static bool is_carried(const struct trace_entry *entry, enum trace_group group)
{
	return entry->group == group && entry->bytes > 0 &&
		(entry->comm == TRACE_ALLGATHER || entry->comm == TRACE_REDUCESCATTER ||
		 entry->comm == TRACE_ALLREDUCE);
}

static enum collective_kind kind_of(enum trace_comm comm)
{
	if (comm == TRACE_ALLGATHER)
		return COLLECTIVE_ALL_GATHER;
	return comm == TRACE_REDUCESCATTER ? COLLECTIVE_REDUCE_SCATTER : COLLECTIVE_ALL_REDUCE;
}

static int plan_kind(struct trace_kind *kind, const struct trace *trace, struct refusal *refusal)
{
	uint32_t data = trace->gpus / (trace->tp * trace->pp);
	for (uint32_t i = 0; i < trace->entry_count; i++)
		kind->buckets += is_carried(&trace->entries[i], kind->group);
	kind->apart = kind->group == TRACE_GROUP_DP_EP ? trace->ep : 1;
	if (kind->buckets == 0)
		return 0;
	if (data % kind->apart != 0)
		return refuse(refusal, -EINVAL,
			      "% data-parallel ranks do not divide by % expert-parallel ranks",
			      data, kind->apart);
	kind->ranks = data / kind->apart;
	if (kind->ranks > 1) // alone, a rank has nothing to send
		kind->groups = trace->pp * trace->tp * kind->apart;
	return 0;
}

// Member `at` of the group that starts at data rank `offset` of (stage, tensor rank).
static uint32_t gpu_of(const struct trace *trace, const struct trace_kind *kind, uint32_t index,
		       uint32_t at)
{
	uint32_t per_stage = trace->tp * kind->apart, stage = index / per_stage;
	uint32_t offset = index % per_stage / trace->tp, tp = index % trace->tp;
	return stage * (trace->gpus / trace->pp) + (at * kind->apart + offset) * trace->tp + tp;
}

static int trace_buckets(struct job *job, struct group *group, const struct trace *trace,
			 enum trace_group kind, struct refusal *refusal)
{
	ps_t release_ps = 0;
	group->bucket_first = job->bucket_count;
	for (uint32_t i = 0; i < trace->entry_count; i++) {
		const struct trace_entry *entry = &trace->entries[i];
		if (!is_carried(entry, TRACE_GROUP_DP) && !is_carried(entry, TRACE_GROUP_DP_EP))
			continue;
		if (__builtin_add_overflow(release_ps, (ps_t)entry->compute_ns * PS_PER_NS,
					   &release_ps))
			return refuse(refusal, -EINVAL,
				      "the compute times of the trace add up to "
				      "more than 106 days");
		if (!is_carried(entry, kind))
			continue;
		int rc = ring_bytes_check(&job->ring, entry->bytes, refusal);
		if (rc < 0)
			return rc;
		struct bucket *bucket = &job->buckets[job->bucket_count++];
		*bucket = (struct bucket){.kind = kind_of(entry->comm),
					  .bytes = entry->bytes,
					  .release_ps = release_ps,
					  .stage = group->stage,
					  .siblings = 1};
		memcpy(bucket->label, entry->layer, sizeof(bucket->label));
	}
	group->bucket_count = job->bucket_count - group->bucket_first;
	return 0;
}

static int trace_groups(struct job *job, struct arena *arena, const struct trace *trace,
			const struct trace_kind *kind, uint32_t gpus_per_host,
			struct refusal *refusal)
{
	struct job of_kind = *job; // its messages are checked at this kind's size of ring
	of_kind.ring.ranks = kind->ranks;
	int rc = 0;
	for (uint32_t index = 0; rc == 0 && index < kind->groups; index++) {
		struct group *group = &of_kind.groups[of_kind.group_count];
		group->index = of_kind.group_count++;
		group->stage = index / (trace->tp * kind->apart);
		if ((rc = group_draw(group, arena, kind->ranks, refusal)) < 0)
			return rc;
		for (uint32_t at = 0; at < kind->ranks; at++)
			group->gpus[at] = gpu_of(trace, kind, index, at);
		if ((rc = group_layout(group, gpus_per_host, refusal)) < 0)
			return rc;
		rc = trace_buckets(&of_kind, group, trace, kind->group, refusal);
	}
	job->group_count = of_kind.group_count;
	job->bucket_count = of_kind.bucket_count;
	return rc;
}

int job_from_trace(struct job *ret, struct arena *arena, const struct trace *trace,
		   uint32_t gpus_per_host, const struct ring_config *ring, struct refusal *refusal)
{
	struct trace_kind kinds[] = {{.group = TRACE_GROUP_DP}, {.group = TRACE_GROUP_DP_EP}};
	struct job job = {.ring = *ring};
	uint64_t groups = 0, buckets = 0;
	int rc;
	if (gpus_per_host == 0)
		return refuse(refusal, -EINVAL, "a host needs a GPU");
	for (unsigned i = 0; i < 2; i++) {
		if ((rc = plan_kind(&kinds[i], trace, refusal)) < 0)
			return rc;
		groups += kinds[i].groups;
		buckets += (uint64_t)kinds[i].groups * kinds[i].buckets;
	}
	if (groups == 0)
		return refuse(refusal, -EINVAL,
			      "the trace has no data-parallel collective between 2 ranks or more: "
			      "there is nothing to run");
	job.ring.ranks = kinds[kinds[0].groups == 0].ranks;
	if (groups > INT32_MAX || buckets > INT32_MAX)
		return refuse(refusal, -EINVAL, "% groups of % collectives in all are too many",
			      (int64_t)groups, (int64_t)buckets);
	if ((rc = ring_config_check(&job.ring, refusal)) < 0 ||
	    (rc = job_draw(&job, arena, (uint32_t)groups, (uint32_t)buckets, refusal)) < 0)
		return rc;
	for (unsigned i = 0; i < 2; i++)
		if ((rc = trace_groups(&job, arena, trace, &kinds[i], gpus_per_host, refusal)) < 0)
			return rc;
	*ret = job;
	return 0;
}
