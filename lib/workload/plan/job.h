// SPDX-License-Identifier: Apache-2.0
// The pieces every job is built of. Groups and buckets are drawn once; a group's members follow
// from its list of GPUs.
#pragma once

#include <weft/workload/workload.h>

// Draws room for so many groups and buckets. -ENOMEM.
int job_draw(struct job *job, struct arena *arena, uint32_t groups, uint32_t buckets,
	     struct refusal *refusal);

// Draws the list of a group's GPUs and sets `ranks`. -ENOMEM.
int group_draw(struct group *group, struct arena *arena, uint32_t ranks, struct refusal *refusal);

// Sets ranks_per_host from the list of GPUs (ascending). -EINVAL when hosts differ.
int group_layout(struct group *group, uint32_t gpus_per_host, struct refusal *refusal);

// What replicas that hold the same shard reduce among each other in a step; as bucket_list().
uint32_t bucket_list_across(const struct plan *plan, uint32_t stage, struct bucket *ret,
			    uint32_t max);
