// SPDX-License-Identifier: Apache-2.0
// Jobs: which ranks form a group, and the collectives a group works through. Each group owns its
// own range of job.buckets, in the order of the groups.
// Facts: Azure's rank order puts tensor ranks inside context ranks inside pipeline stages inside
// replicas, and one replica is one rack: rank = ((dp * PP + pp) * CP + cp) * TP + tp. The
// data-parallel group of (tp, pp) is joined over the context ranks too (Megatron's dp_cp group).

#include <errno.h>
#include <string.h>

#include <weft/check.h>

#include "job.h"
#include "model.h"
#include "ring.h"

#define PAD_PARAMS UINT64_C(128)

// ---------------------------------------------------------------- neighbours

uint32_t group_next(const struct group *group, uint32_t channel, uint32_t at)
{
	uint32_t members = group->ranks_per_host, first = channel % members;
	uint32_t host = at / members, after = (at % members + 1) % members;
	if (after == first) // was the last of its host on this channel
		host = (host + 1) % (group->ranks / members);
	return host * members + after;
}

uint32_t group_previous(const struct group *group, uint32_t channel, uint32_t at)
{
	uint32_t members = group->ranks_per_host, first = channel % members;
	uint32_t hosts = group->ranks / members, host = at / members;
	if (at % members == first)
		host = (host + hosts - 1) % hosts;
	return host * members + (at % members + members - 1) % members;
}

// ---------------------------------------------------------------- drawing

int job_draw(struct job *job, struct arena *arena, uint32_t groups, uint32_t buckets,
	     struct refusal *refusal)
{
	job->groups = arena_draw(arena, ARENA_WORKLOAD, groups, sizeof(*job->groups));
	job->buckets = arena_draw(arena, ARENA_WORKLOAD, buckets, sizeof(*job->buckets));
	if (job->groups == NULL || job->buckets == NULL)
		return refuse(refusal, -ENOMEM, "no memory for % groups with % collectives", groups,
			      buckets, 0);
	return 0;
}

int group_draw(struct group *group, struct arena *arena, uint32_t ranks, struct refusal *refusal)
{
	group->gpus = arena_draw(arena, ARENA_WORKLOAD, ranks, sizeof(uint32_t));
	if (group->gpus == NULL)
		return refuse(refusal, -ENOMEM, "no memory for a group of % ranks", ranks, 0, 0);
	group->ranks = ranks;
	return 0;
}

int group_seat(struct group *group, uint32_t gpus_per_host, struct refusal *refusal)
{
	uint32_t run = 1, members = 0;
	for (uint32_t at = 1; at <= group->ranks; at++, run++) {
		if (at < group->ranks &&
		    group->gpus[at] / gpus_per_host == group->gpus[at - 1] / gpus_per_host)
			continue;
		if (members != 0 && run != members)
			return refuse(refusal, -EINVAL,
				      "a group of % ranks has % of them on one host and % on "
				      "another: the mapping does not fit the hosts",
				      group->ranks, members, run);
		members = run;
		run = 0;
	}
	group->ranks_per_host = members;
	return 0;
}

// ---------------------------------------------------------------- from a model

static int model_check(const struct model *model, uint32_t hosts, uint32_t gpus_per_host,
		       struct refusal *refusal)
{
	uint32_t replica = model->tp * model->cp * model->pp, cells = model->pp * model->vpp;
	if (gpus_per_host < replica)
		return refuse(refusal, -EINVAL,
			      "one replica of the model is % GPUs of one host, but a host has %",
			      replica, gpus_per_host, 0);
	if (model->micro_batches % model->pp != 0 || (model->layers + 2) % cells != 0)
		return refuse(refusal, -EINVAL,
			      "% layers and two more slots must divide by % cells, and % "
			      "micro-batches by the stages",
			      model->layers, cells, model->micro_batches);
	if (hosts == 0 || (uint64_t)hosts * model->cp < 2)
		return refuse(refusal, -EINVAL, "a data-parallel group needs 2 ranks: % hosts",
			      hosts, 0, 0);
	if ((uint64_t)hosts * gpus_per_host > UINT32_MAX)
		return refuse(refusal, -EINVAL, "% hosts of % GPUs are too many", hosts,
			      gpus_per_host, 0);
	return 0;
}

static uint64_t greatest_common(uint64_t a, uint64_t b)
{
	while (b != 0) {
		uint64_t rest = a % b;
		a = b;
		b = rest;
	}
	return a;
}

// Megatron pads each bucket to a multiple of lcm(ranks, 128) parameters.
static void pad(struct bucket *bucket, const struct model *model, uint32_t ranks)
{
	bool is_gather = bucket->kind == COLLECTIVE_ALL_GATHER;
	uint64_t grain = ranks / greatest_common(ranks, PAD_PARAMS) * PAD_PARAMS *
		(is_gather ? model->param_bytes : model->grad_bytes);
	bucket->bytes = (bucket->bytes + grain - 1) / grain * grain;
}

static void model_members(struct group *group, const struct model *model, uint32_t tp,
			  uint32_t gpus_per_host)
{
	for (uint32_t at = 0; at < group->ranks; at++) {
		uint32_t host = at / model->cp, cp = at % model->cp;
		group->gpus[at] = host * gpus_per_host +
			(group->stage * model->cp + cp) * model->tp + tp;
	}
}

static int model_buckets(struct job *job, struct group *group, const struct model *model,
			 struct refusal *refusal)
{
	group->bucket_first = job->bucket_count;
	struct bucket *buckets = job->buckets + group->bucket_first;
	group->bucket_count = bucket_list(model, group->stage, buckets, UINT32_MAX);
	job->bucket_count += group->bucket_count;
	for (uint32_t i = 0; i < group->bucket_count; i++) {
		pad(&buckets[i], model, group->ranks);
		int rc = ring_bytes_check(&job->ring, buckets[i].bytes, refusal);
		if (rc < 0)
			return rc;
	}
	return 0;
}

static uint32_t count_buckets(const struct model *model)
{
	uint32_t count = 0;
	for (uint32_t stage = 0; stage < model->pp; stage++)
		count += bucket_list(model, stage, NULL, 0) * model->tp;
	return count;
}

int job_from_model(struct job *ret, struct arena *arena, const struct model *model, uint32_t hosts,
		   uint32_t gpus_per_host, const struct ring_config *ring, struct refusal *refusal)
{
	int rc = model_check(model, hosts, gpus_per_host, refusal);
	if (rc < 0)
		return rc;
	struct job job = {.ring = *ring};
	job.ring.ranks = hosts * model->cp;
	if ((rc = ring_config_check(&job.ring, refusal)) < 0 ||
	    (rc = job_draw(&job, arena, model->pp * model->tp, count_buckets(model), refusal)) < 0)
		return rc;
	for (uint32_t stage = 0; stage < model->pp; stage++) {
		for (uint32_t tp = 0; tp < model->tp; tp++) {
			struct group *group = &job.groups[job.group_count];
			group->stage = stage;
			group->index = job.group_count++;
			if ((rc = group_draw(group, arena, job.ring.ranks, refusal)) < 0)
				return rc;
			model_members(group, model, tp, gpus_per_host);
			if ((rc = group_seat(group, gpus_per_host, refusal)) < 0 ||
			    (rc = model_buckets(&job, group, model, refusal)) < 0)
				return rc;
		}
	}
	*ret = job;
	return 0;
}

// ---------------------------------------------------------------- one ring

int job_from_ring(struct job *ret, struct arena *arena, enum collective_kind kind, uint64_t bytes,
		  uint32_t gpus_per_host, const struct ring_config *ring, struct refusal *refusal)
{
	struct job job = {.ring = *ring, .group_count = 1, .bucket_count = 1};
	int rc = ring_config_check(ring, refusal);
	if (rc < 0 || (rc = ring_bytes_check(ring, bytes, refusal)) < 0)
		return rc;
	if (gpus_per_host == 0)
		return refuse(refusal, -EINVAL, "a host needs a GPU", 0, 0, 0);
	if ((rc = job_draw(&job, arena, 1, 1, refusal)) < 0 ||
	    (rc = group_draw(&job.groups[0], arena, ring->ranks, refusal)) < 0)
		return rc;
	for (uint32_t at = 0; at < ring->ranks; at++)
		job.groups[0].gpus[at] = at;
	if ((rc = group_seat(&job.groups[0], gpus_per_host, refusal)) < 0)
		return rc;
	job.groups[0].bucket_count = 1;
	job.buckets[0] = (struct bucket){.kind = kind, .bytes = bytes, .siblings = 1};
	const char *name = collective_kind_name(kind);
	memcpy(job.buckets[0].label, name, strlen(name) + 1);
	*ret = job;
	return 0;
}
