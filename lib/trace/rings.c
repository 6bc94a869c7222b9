// SPDX-License-Identifier: Apache-2.0
// Which rings a trace runs. See rings.h.

#include "rings.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <weft/core/check.h>

#define NONE UINT32_MAX

int rings_init(struct rings *rings, uint32_t ranks)
{
	*rings = (struct rings){.heads = malloc(ranks * sizeof(*rings->heads))};
	if (rings->heads == NULL)
		return -ENOMEM;
	memset(rings->heads, 0xff, ranks * sizeof(*rings->heads));
	return 0;
}

void rings_free(struct rings *rings)
{
	free(rings->heads);
	free(rings->groups);
	free(rings->members);
	*rings = (struct rings){0};
}

static uint32_t find(const struct rings *rings, uint32_t trace_group, uint32_t first_rank)
{
	uint32_t at = rings->heads[first_rank];
	while (at != NONE && rings->groups[at].trace_group != trace_group)
		at = rings->groups[at].next;
	return at;
}

static bool grow(void **at, uint64_t count, uint32_t *max, size_t bytes)
{
	if (count <= *max)
		return true;
	uint64_t more = count < 64 ? 64 : 2 * count;
	void *moved = more > UINT32_MAX / 2 ? NULL : realloc(*at, more * bytes);
	if (moved == NULL)
		return false;
	*at = moved;
	*max = (uint32_t)more;
	return true;
}

static int add_group(struct rings *rings, uint32_t trace_group, const struct instance *instance,
		     uint32_t ranks_per_host)
{
	void *groups = rings->groups, *members = rings->members;
	bool has_room = grow(&groups, rings->group_count + 1ull, &rings->group_max,
			     sizeof(*rings->groups));
	rings->groups = groups;
	has_room = has_room &&
		grow(&members, rings->member_count + (uint64_t)instance->count, &rings->member_max,
		     sizeof(*rings->members));
	rings->members = members;
	if (!has_room)
		return -ENOMEM;
	uint32_t *head = &rings->heads[instance->ranks[0]];
	rings->groups[rings->group_count] = (struct rings_group){
		.trace_group = trace_group,
		.next = *head,
		.member_first = rings->member_count,
		.ranks = instance->count,
		.ranks_per_host = ranks_per_host};
	*head = rings->group_count++;
	memcpy(rings->members + rings->member_count, instance->ranks,
	       instance->count * sizeof(*rings->members));
	rings->member_count += instance->count;
	return 0;
}

int rings_count(struct rings *rings, uint32_t trace_group, const struct instance *instance,
		uint32_t ranks_per_host)
{
	uint32_t at = find(rings, trace_group, instance->ranks[0]);
	if (at == NONE) {
		if (add_group(rings, trace_group, instance, ranks_per_host) < 0)
			return -ENOMEM;
		at = rings->group_count - 1;
	}
	check(rings->groups[at].ranks == instance->count);
	rings->groups[at].bucket_count++;
	rings->bucket_count++;
	rings->cells += instance->count;
	return 0;
}

uint64_t rings_bytes(const struct rings *rings)
{
	return rings->group_count * (sizeof(struct group) + 64 + 8) +
		rings->member_count * sizeof(uint32_t) +
		rings->bucket_count * (sizeof(struct bucket) + 4) +
		rings->cells * sizeof(uint32_t) + 8 * 128;
}

int rings_job(struct job *ret, const struct rings *rings, struct arena *arena,
	      const struct ring_config *config)
{
	struct group *groups = arena_draw(arena, ARENA_WORKLOAD, rings->group_count,
					  sizeof(*groups));
	struct bucket *buckets = arena_draw(arena, ARENA_WORKLOAD, rings->bucket_count,
					    sizeof(*buckets));
	uint32_t *members = arena_draw(arena, ARENA_WORKLOAD, rings->member_count,
				       sizeof(*members));
	if (arena_has_failed(arena))
		return -ENOMEM;
	memcpy(members, rings->members, rings->member_count * sizeof(*members));
	*ret = (struct job){.group_count = rings->group_count,
			    .groups = groups,
			    .bucket_count = (uint32_t)rings->bucket_count,
			    .buckets = buckets,
			    .ring = *config};
	uint32_t bucket_first = 0;
	for (uint32_t i = 0; i < rings->group_count; i++) {
		const struct rings_group *of = &rings->groups[i];
		groups[i] = (struct group){.ranks = of->ranks,
					   .gpus = members + of->member_first,
					   .ranks_per_host = of->ranks_per_host,
					   .bucket_first = bucket_first,
					   .bucket_count = of->bucket_count,
					   .index = i};
		bucket_first += of->bucket_count;
	}
	ret->ring.ranks = groups[0].ranks;
	return 0;
}

uint32_t rings_take(struct rings *rings, uint32_t trace_group, uint32_t first_rank,
		    uint32_t *ret_bucket)
{
	uint32_t at = find(rings, trace_group, first_rank);
	check(at != NONE && rings->groups[at].filled < rings->groups[at].bucket_count);
	*ret_bucket = rings->groups[at].filled++;
	return at;
}
