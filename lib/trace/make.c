// SPDX-License-Identifier: Apache-2.0
// Sets that are made here, not read: what weft itself would run.

#include <weft/trace/trace_run.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <weft/core/check.h>

#include "set.h"

int trace_make_ranks(struct trace_set *set, uint32_t count)
{
	void *ranks = realloc(set->ranks, (set->rank_count + (size_t)count) * sizeof(*set->ranks));
	if (ranks == NULL)
		return -ENOMEM;
	set->ranks = ranks;
	for (uint32_t i = 0; i < count; i++)
		set->ranks[set->rank_count++] = (struct trace_rank){0};
	set->rank_max = set->world = set->rank_count;
	return 0;
}

static struct trace_input input_of(struct trace_set *set, uint32_t rank, struct refusal *refusal)
{
	return (struct trace_input){.set = set, .rank = &set->ranks[rank], .refusal = refusal};
}

struct trace_node *trace_make_node(struct trace_set *set, uint32_t rank)
{
	struct refusal refusal;
	struct trace_input input = input_of(set, rank, &refusal);
	return input_node(&input, set->ranks[rank].node_count, set->ranks[rank].node_count + 1);
}

int trace_make_wait(struct trace_set *set, uint32_t rank, uint32_t before)
{
	struct refusal refusal;
	struct trace_input input = input_of(set, rank, &refusal);
	return input_wait(&input, before);
}

int trace_make_group(struct trace_set *set, const char *name, const uint32_t *members,
		     uint32_t ranks, uint32_t *ret)
{
	struct refusal refusal;
	struct trace_input input = {.set = set, .refusal = &refusal};
	if (members == NULL)
		return input_group(&input, name, ranks, 0, ret);
	uint32_t *copy = malloc(ranks * sizeof(*copy));
	if (copy == NULL)
		return -ENOMEM;
	memcpy(copy, members, ranks * sizeof(*copy));
	int rc = input_members(&input, name, copy, ranks, ret);
	free(copy);
	return rc;
}

int trace_make_end(struct trace_set *set)
{
	struct refusal refusal;
	for (uint32_t i = 0; i < set->rank_count; i++) {
		struct trace_input input = input_of(set, i, &refusal);
		int rc = trace_wait_resolve(&input);
		check(rc == 0 || rc == -ENOMEM);
		if (rc < 0)
			return rc;
		check(set->ranks[i].missing == 0);
	}
	return 0;
}
