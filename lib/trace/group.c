// SPDX-License-Identifier: Apache-2.0
// Which ranks a collective is over. Where each rank has a file of its own, the members of a group
// are those whose files name it, and the first collective of one is the first of each. Where one
// file stands for all ranks, a group is a size and a distance, and there are as many of its kind
// side by side as the ranks make.

#include "expand.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

const struct trace_rank *expand_rank(const struct expand *expand, uint32_t rank)
{
	return &expand->set->ranks[expand->set->rank_count == 1 ? 0 : rank];
}

int expand_refuse(const struct expand *expand, uint32_t rank, uint32_t node, const char *text,
		  int64_t first, int64_t second)
{
	const struct trace_rank *file = expand_rank(expand, rank);
	memcpy(expand->refusal->file, file->path, sizeof(expand->refusal->file));
	return refuse(expand->refusal, -EINVAL, text, file->nodes[node].place, first, second);
}

static bool is_of(const struct trace_node *node, uint32_t group)
{
	return node->kind == TRACE_KIND_COLLECTIVE && node->group == group;
}

// ---------------------------------------------------------------- a file for each rank

// The next collective of `group` from node *at on.
static bool find_next(const struct trace_rank *rank, uint32_t group, uint32_t *at)
{
	while (*at < rank->node_count && !is_of(&rank->nodes[*at], group))
		++*at;
	return *at < rank->node_count;
}

// All members must have one more, of the same kind and size.
static int check_members(const struct expand *expand, uint32_t group,
			 const struct instance *instance)
{
	const struct trace_node *first =
		&expand_rank(expand, instance->ranks[0])->nodes[instance->nodes[0]];
	for (uint32_t m = 1; m < instance->count; m++) {
		const struct trace_rank *rank = expand_rank(expand, instance->ranks[m]);
		if (!find_next(rank, group, &instance->nodes[m]))
			return expand_refuse(expand, instance->ranks[0], instance->nodes[0],
					     "record %: rank % has no such collective: its file "
					     "names the group less often",
					     instance->ranks[m], 0);
		const struct trace_node *node = &rank->nodes[instance->nodes[m]];
		if (node->collective != first->collective || node->bytes != first->bytes)
			return expand_refuse(expand, instance->ranks[m], instance->nodes[m],
					     "record %: rank % of the group runs another "
					     "collective, or one of other bytes, at this place",
					     instance->ranks[0], 0);
	}
	return 0;
}

static int instances_of(const struct expand *expand, uint32_t group, struct instance *instance,
			instance_fn *take, void *context)
{
	int rc = 0;
	instance->count = 0;
	for (uint32_t rank = 0; rank < expand->ranks; rank++) {
		uint32_t at = 0;
		if (!find_next(expand_rank(expand, rank), group, &at))
			continue;
		instance->nodes[instance->count] = at;
		instance->ranks[instance->count++] = rank;
	}
	while (rc == 0 && instance->count > 0 &&
	       find_next(expand_rank(expand, instance->ranks[0]), group, &instance->nodes[0])) {
		if ((rc = check_members(expand, group, instance)) == 0)
			rc = take(context, instance);
		for (uint32_t m = 0; m < instance->count; m++)
			instance->nodes[m]++;
	}
	for (uint32_t m = 1; rc == 0 && m < instance->count; m++)
		if (find_next(expand_rank(expand, instance->ranks[m]), group, &instance->nodes[m]))
			return expand_refuse(expand, instance->ranks[m], instance->nodes[m],
					     "record %: rank % has no such collective: its file "
					     "names the group less often",
					     instance->ranks[0], 0);
	return rc;
}

// ---------------------------------------------------------------- one file for all ranks

// The tensor parallel size that AICB's file has: the size of its tp_group. 0: it does not say.
static uint32_t tensor_ranks(const struct trace_set *set)
{
	for (uint32_t i = 0; i < set->group_count; i++)
		if (strcmp(set->groups[i].name, "tp_group") == 0)
			return set->groups[i].ranks;
	return 1;
}

// Size and distance of a group. AICB numbers ranks tensor first, then data. -EINVAL when there is
// no telling, or the ranks cannot be parted so.
static int shape_of(const struct expand *expand, uint32_t node, uint32_t *ret_ranks,
		    uint32_t *ret_stride)
{
	const struct trace_set *set = expand->set;
	const struct trace_process_group *group = &set->groups[set->ranks[0].nodes[node].group];
	uint32_t ranks = group->ranks, stride = group->stride;
	bool is_data = set->format == TRACE_FORMAT_AICB_CSV && strcmp(group->name, "dp_group") == 0;
	uint32_t tensor = tensor_ranks(set);
	if (ranks == 0 && is_data && tensor > 0 && expand->ranks % tensor == 0)
		ranks = expand->ranks / tensor;
	if (ranks == 0)
		ranks = expand->ranks;
	if (ranks == expand->ranks || ranks == 1 || strcmp(group->name, "tp_group") == 0)
		stride = 1;
	else if (is_data)
		stride = tensor;
	if (stride == 0)
		return expand_refuse(
			expand, 0, node,
			"record %: a group of % ranks of % whose members the file does "
			"not name: give the files of all ranks",
			ranks, expand->ranks);
	if (expand->ranks % ((uint64_t)ranks * stride) != 0)
		return expand_refuse(expand, 0, node,
				     "record %: groups of % ranks, % apart, do not part the ranks",
				     ranks, stride);
	*ret_ranks = ranks;
	*ret_stride = stride;
	return 0;
}

static int instances_at(const struct expand *expand, uint32_t node, struct instance *instance,
			instance_fn *take, void *context)
{
	uint32_t ranks = 0, stride = 0;
	int rc = shape_of(expand, node, &ranks, &stride);
	if (rc < 0)
		return rc;
	instance->count = ranks;
	for (uint32_t i = 0; rc == 0 && i < expand->ranks / ranks; i++) {
		uint32_t first = i / stride * (ranks * stride) + i % stride;
		for (uint32_t m = 0; m < ranks; m++) {
			instance->ranks[m] = first + m * stride;
			instance->nodes[m] = node;
		}
		rc = take(context, instance);
	}
	return rc;
}

int group_instances(const struct expand *expand, instance_fn *take, void *context)
{
	const struct trace_set *set = expand->set;
	struct instance instance = {0, calloc(expand->ranks, sizeof(uint32_t)),
				    calloc(expand->ranks, sizeof(uint32_t))};
	int rc = 0;
	if (instance.ranks == NULL || instance.nodes == NULL)
		rc = refuse(expand->refusal, -ENOMEM, "no memory for a group", 0, 0, 0);
	for (uint32_t i = 0; set->rank_count == 1 && rc == 0 && i < set->ranks[0].node_count; i++)
		if (set->ranks[0].nodes[i].kind == TRACE_KIND_COLLECTIVE)
			rc = instances_at(expand, i, &instance, take, context);
	for (uint32_t group = 0; set->rank_count > 1 && rc == 0 && group < set->group_count;
	     group++)
		rc = instances_of(expand, group, &instance, take, context);
	free(instance.ranks);
	free(instance.nodes);
	return rc;
}
