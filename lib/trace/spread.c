// SPDX-License-Identifier: Apache-2.0
// One file that stands for all ranks as a file of each: nodes are copied, and each group becomes as
// many as the ranks make, with a number each.

#include "expand.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <weft/core/check.h>

struct spread {
	struct trace_set *to;
	uint32_t group_max;
};

static void *copy_of(const void *from, size_t bytes)
{
	void *to = malloc(bytes + 1);
	if (to != NULL && bytes > 0)
		memcpy(to, from, bytes);
	return to;
}

static int copy_rank(struct trace_rank *to, const struct trace_rank *from)
{
	*to = *from;
	to->nodes = copy_of(from->nodes, from->node_count * sizeof(*from->nodes));
	to->wait_ids = copy_of(from->wait_ids, from->wait_count * sizeof(*from->wait_ids));
	to->waits = copy_of(from->waits, from->wait_count * sizeof(*from->waits));
	to->splits = copy_of(from->splits, from->split_count * sizeof(*from->splits));
	to->node_max = to->node_count;
	to->wait_max = to->wait_count;
	return to->nodes == NULL || to->wait_ids == NULL || to->waits == NULL || to->splits == NULL
		? -ENOMEM
		: 0;
}

// The group over these ranks: members differ from group to group in their first one alone, once
// size and distance are the same.
static int group_of(struct spread *spread, const struct instance *instance, uint32_t all,
		    uint32_t *ret)
{
	struct trace_set *set = spread->to;
	uint32_t stride = instance->count > 1 ? instance->ranks[1] - instance->ranks[0] : 1;
	char name[TRACE_NAME_BYTES] = "all";
	if (instance->count < all)
		snprintf(name, sizeof(name), "%u.%u.%u", instance->count, stride,
			 instance->ranks[0]);
	for (*ret = 0; *ret < set->group_count; ++*ret)
		if (strcmp(set->groups[*ret].name, name) == 0)
			return 0;
	if (set->group_count == spread->group_max) {
		uint32_t more = spread->group_max == 0 ? 64 : spread->group_max * 2;
		void *groups = realloc(set->groups, more * sizeof(*set->groups));
		if (groups == NULL)
			return -ENOMEM;
		set->groups = groups;
		spread->group_max = more;
	}
	uint32_t *members = copy_of(instance->ranks, instance->count * sizeof(*members));
	if (members == NULL)
		return -ENOMEM;
	struct trace_process_group *group = &set->groups[set->group_count++];
	*group = (struct trace_process_group){.ranks = instance->count,
					      .stride = stride,
					      .member_count = instance->count,
					      .members = members};
	memcpy(group->name, name, sizeof(name));
	return 0;
}

static int take(void *context, const struct instance *instance)
{
	struct spread *spread = context;
	uint32_t group;
	int rc = group_of(spread, instance, spread->to->rank_count, &group);
	for (uint32_t m = 0; rc == 0 && m < instance->count; m++)
		spread->to->ranks[instance->ranks[m]].nodes[instance->nodes[m]].group = group;
	return rc;
}

// ---------------------------------------------------------------- messages

// A message between two ranks of which the file is one: so it goes in each pair that lies like
// theirs, from the rank at the file's place to the other, who does the reverse. One rank of more
// does not say what the others send each other.
static int spread_message(struct spread *spread, const struct expand *expand, uint32_t index)
{
	const struct trace_node *node = &expand->set->ranks[0].nodes[index];
	const struct trace_process_group *group = &expand->set->groups[node->group];
	uint32_t ranks = spread->to->rank_count, stride = group->stride;
	if (expand->set->format != TRACE_FORMAT_KINETO || group->member_count != 2)
		return expand_refuse(expand, 0, index,
				     "record %: a send or receive in a file that stands for all "
				     "ranks: give the files of all ranks",
				     0, 0);
	if (ranks % (2 * stride) != 0 || group->members[0] % (2 * stride) >= stride)
		return expand_refuse(expand, 0, index,
				     "record %: groups of % ranks, % apart, do not part the ranks",
				     2, stride);
	bool is_own_second = node->peer == group->members[0];
	for (uint32_t rank = 0; rank < ranks; rank++) {
		struct trace_node *to = &spread->to->ranks[rank].nodes[index];
		bool is_second = rank / stride % 2 == 1;
		to->peer = is_second ? rank - stride : rank + stride;
		if (is_second != is_own_second)
			to->kind = node->kind == TRACE_KIND_SEND ? TRACE_KIND_RECEIVE
								 : TRACE_KIND_SEND;
	}
	return 0;
}

static int spread_messages(struct spread *spread, const struct expand *expand)
{
	const struct trace_rank *rank = &expand->set->ranks[0];
	int rc = 0;
	for (uint32_t i = 0; rc == 0 && i < rank->node_count; i++)
		if (rank->nodes[i].kind == TRACE_KIND_SEND ||
		    rank->nodes[i].kind == TRACE_KIND_RECEIVE)
			rc = spread_message(spread, expand, i);
	return rc;
}

static int spread_to(struct spread *spread, struct trace_set *set, uint32_t ranks,
		     struct refusal *refusal)
{
	const struct expand expand = {.set = set, .refusal = refusal, .ranks = ranks};
	struct trace_set *to = spread->to;
	int rc = 0;
	to->ranks = calloc(ranks, sizeof(*to->ranks));
	if (to->ranks == NULL)
		rc = -ENOMEM;
	for (; rc == 0 && to->rank_count < ranks; to->rank_count++)
		rc = copy_rank(&to->ranks[to->rank_count], &set->ranks[0]);
	if (rc == 0)
		rc = group_instances(&expand, take, spread);
	if (rc == 0)
		rc = spread_messages(spread, &expand);
	if (rc == -ENOMEM)
		return refuse(refusal, rc, "no memory for % ranks", ranks);
	uint32_t number = 0;
	for (uint32_t i = 0; i < to->group_count; i++)
		if (strcmp(to->groups[i].name, "all") != 0)
			snprintf(to->groups[i].name, sizeof(to->groups[i].name), "%u", number++);
	return rc;
}

// Whether one of groups `first` .. `end` - 1 has this name.
static bool is_taken(const struct trace_set *set, const char *name, uint32_t first, uint32_t end)
{
	for (uint32_t i = first; i < end; i++)
		if (strcmp(set->groups[i].name, name) == 0)
			return true;
	return false;
}

// Names that several groups have become numbers that none has: files tell groups apart by names.
static void name_apart(struct trace_set *set)
{
	uint32_t number = 0;
	for (uint32_t i = 1; i < set->group_count; i++) {
		struct trace_process_group *group = &set->groups[i];
		if (!is_taken(set, group->name, 0, i))
			continue;
		do
			snprintf(group->name, sizeof(group->name), "%u", number++);
		while (is_taken(set, group->name, 0, i) ||
		       is_taken(set, group->name, i + 1, set->group_count));
	}
}

int trace_spread(struct trace_set *set, uint32_t ranks, struct refusal *refusal)
{
	int rc = trace_line_up(set, refusal);
	struct trace_set to = *set;
	struct spread spread = {.to = &to};
	if (rc < 0)
		return rc;
	ranks = trace_ranks(set) > 0 ? trace_ranks(set) : ranks;
	if (set->rank_count != 1) {
		name_apart(set);
		return 0;
	}
	if (ranks == 0)
		return refuse(refusal, -EINVAL, "the trace does not say of how many ranks it is");
	to.rank_count = to.rank_max = to.group_count = to.group_max = to.listed_count = 0;
	to.ranks = NULL;
	to.groups = NULL;
	rc = spread_to(&spread, set, ranks, refusal);
	if (rc < 0) {
		trace_set_free(&to);
		return rc;
	}
	trace_set_free(set);
	*set = to;
	set->world = ranks;
	return 0;
}
