// SPDX-License-Identifier: Apache-2.0
// Jobs: which ranks form a group, and the collectives a group works through. Each group owns its
// own range of job.buckets, in the order of the groups.

#include <errno.h>
#include <string.h>

#include <weft/core/check.h>

#include "collective/ring.h"
#include "job.h"

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
	if (arena_has_failed(arena))
		return refuse(refusal, -ENOMEM, "no memory for % groups with % collectives", groups,
			      buckets);
	return 0;
}

int group_draw(struct group *group, struct arena *arena, uint32_t ranks, struct refusal *refusal)
{
	group->gpus = arena_draw(arena, ARENA_WORKLOAD, ranks, sizeof(uint32_t));
	if (group->gpus == NULL)
		return refuse(refusal, -ENOMEM, "no memory for a group of % ranks", ranks);
	group->ranks = ranks;
	return 0;
}

int group_layout(struct group *group, uint32_t gpus_per_host, struct refusal *refusal)
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

// ---------------------------------------------------------------- one ring

int job_from_ring(struct job *ret, struct arena *arena, enum collective_kind kind, uint64_t bytes,
		  uint32_t gpus_per_host, const struct ring_config *ring, struct refusal *refusal)
{
	struct job job = {.ring = *ring, .group_count = 1, .bucket_count = 1};
	int rc = ring_config_check(ring, refusal);
	if (rc < 0 || (rc = ring_bytes_check(ring, bytes, refusal)) < 0)
		return rc;
	if (gpus_per_host == 0)
		return refuse(refusal, -EINVAL, "a host needs a GPU");
	if ((rc = job_draw(&job, arena, 1, 1, refusal)) < 0 ||
	    (rc = group_draw(&job.groups[0], arena, ring->ranks, refusal)) < 0)
		return rc;
	for (uint32_t at = 0; at < ring->ranks; at++)
		job.groups[0].gpus[at] = at;
	if ((rc = group_layout(&job.groups[0], gpus_per_host, refusal)) < 0)
		return rc;
	job.groups[0].bucket_count = 1;
	job.buckets[0] = (struct bucket){.kind = kind, .bytes = bytes, .siblings = 1};
	const char *name = collective_kind_name(kind);
	memcpy(job.buckets[0].label, name, strlen(name) + 1);
	*ret = job;
	return 0;
}
