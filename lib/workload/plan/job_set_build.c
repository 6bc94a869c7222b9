// SPDX-License-Identifier: Apache-2.0
// Several jobs on one fabric: rings of one size, each over hosts of its own. Where the hosts lie is
// what a scheduler decides: in a row, dealt out in turns, or by chance. A ring goes through its
// hosts in their order.

#include <errno.h>

#include <weft/core/check.h>

#include "collective/ring.h"
#include "job.h"

// The host that job `index` of `jobs` has at place `at` of `hosts`.
static uint32_t host_at(const struct several *several, uint32_t index, uint32_t hosts, uint32_t at)
{
	if (several->placement == PLACEMENT_SPREAD)
		return at * several->jobs + index;
	return index * hosts + at;
}

// Shuffles the hosts (Fisher-Yates), then puts those of each job in order.
static void shuffle(uint32_t *list, uint32_t count, uint32_t hosts, uint64_t seed)
{
	struct rng rng = rng_of(seed, RNG_WORKLOAD, 0);
	for (uint32_t i = 0; i < count; i++)
		list[i] = i;
	for (uint32_t left = count; left > 1; left--) {
		uint32_t pick = rng_below(&rng, left), host = list[pick];
		list[pick] = list[left - 1];
		list[left - 1] = host;
	}
	for (uint32_t i = 0; i < count; i++)
		for (uint32_t at = i; at % hosts > 0 && list[at - 1] > list[at]; at--) {
			uint32_t host = list[at];
			list[at] = list[at - 1];
			list[at - 1] = host;
		}
}

static void put_label(struct bucket *bucket, uint32_t number)
{
	char *at = bucket->label + sizeof(bucket->label) - 1;
	*at = '\0';
	for (; number > 0; number /= 10)
		*--at = (char)('0' + number % 10);
	*--at = ' ';
	*--at = 'b';
	*--at = 'o';
	*--at = 'j';
	for (uint32_t i = 0; i == 0 || bucket->label[i - 1] != '\0'; i++)
		bucket->label[i] = *at++;
}

static int build_one(struct job *job, struct arena *arena, const struct several *several,
		     const uint32_t *shuffled, struct refusal *refusal)
{
	uint32_t index = job->group_count, per_host = several->gpus_per_host;
	uint32_t hosts = job->ring.ranks / per_host;
	struct group *group = &job->groups[job->group_count++];
	int rc = group_draw(group, arena, job->ring.ranks, refusal);
	if (rc < 0)
		return rc;
	for (uint32_t at = 0; at < job->ring.ranks; at++) {
		uint32_t host = shuffled != NULL ? shuffled[index * hosts + at / per_host]
						 : host_at(several, index, hosts, at / per_host);
		group->gpus[at] = host * per_host + at % per_host;
	}
	group->index = index;
	group->ranks_per_host = per_host;
	group->bucket_first = job->bucket_count++;
	group->bucket_count = 1;
	struct bucket *bucket = &job->buckets[group->bucket_first];
	*bucket = (struct bucket){.kind = several->kind, .bytes = several->bytes, .siblings = 1};
	put_label(bucket, index + 1);
	return 0;
}

int job_from_several(struct job *ret, struct arena *arena, const struct several *several,
		     const struct ring_config *ring, struct refusal *refusal)
{
	struct job job = {.ring = *ring};
	uint32_t per_host = several->gpus_per_host, *shuffled = NULL;
	int rc = ring_config_check(ring, refusal);
	if (rc < 0 || (rc = ring_bytes_check(ring, several->bytes, refusal)) < 0)
		return rc;
	if (per_host == 0 || several->jobs == 0 || ring->ranks % per_host != 0 ||
	    (uint64_t)ring->ranks * several->jobs > several->gpus)
		return refuse(refusal, -EINVAL,
			      "% jobs of % ranks do not go onto % GPUs, whole hosts each",
			      several->jobs, ring->ranks, several->gpus);
	uint32_t hosts = ring->ranks / per_host, count = hosts * several->jobs;
	if ((rc = job_draw(&job, arena, several->jobs, several->jobs, refusal)) < 0)
		return rc;
	if (several->placement == PLACEMENT_RANDOM) {
		shuffled = arena_draw(arena, ARENA_WORKLOAD, count, sizeof(*shuffled));
		if (shuffled == NULL)
			return refuse(refusal, -ENOMEM, "no memory for % hosts", count);
		shuffle(shuffled, count, hosts, several->seed);
	}
	for (uint32_t i = 0; rc == 0 && i < several->jobs; i++)
		rc = build_one(&job, arena, several, shuffled, refusal);
	if (rc == 0)
		*ret = job;
	return rc;
}
