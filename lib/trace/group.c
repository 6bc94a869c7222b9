// SPDX-License-Identifier: Apache-2.0
// Which ranks a collective is over. Where each rank has a file of its own, a group is its list of
// members: each of them must call it, and nobody else; the first collective of one is the first of
// each. Where one file stands for all ranks, a group is a size and a distance, and there are as
// many of its kind side by side as the ranks make.

#include "expand.h"
#include "set.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "chakra.h"

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

// "1, 2, 3, ...": of a long list its beginning.
static void put_members(char *to, size_t size, const uint32_t *members, uint32_t count)
{
	size_t used = 0;
	to[0] = '\0';
	for (uint32_t i = 0; i < count && used < size; i++) {
		if (i == 16) {
			snprintf(to + used, size - used, ", ...");
			return;
		}
		used += (size_t)snprintf(to + used, size - used, i == 0 ? "%u" : ", %u",
					 members[i]);
	}
}

static const char *call_of(const struct expand *expand, uint32_t rank, uint32_t node)
{
	return trace_collective_name(expand_rank(expand, rank)->nodes[node].collective);
}

static int members_refuse(const struct expand *expand, uint32_t rank, uint32_t node,
			  const struct trace_process_group *group, const char *text)
{
	char list[160], whole[REFUSAL_TEXT_BYTES];
	put_members(list, sizeof(list), group->members, group->member_count);
	snprintf(whole, sizeof(whole), "record %%: %s of group \"%s\": %s; its members are %s",
		 call_of(expand, rank, node), group->name, text, list);
	return expand_refuse(expand, rank, node, whole, 0, 0);
}

static bool is_split(const struct trace_node *node)
{
	return node->split_count > 0 || node->bytes == 0;
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
		if (node->collective != first->collective)
			return expand_refuse(expand, instance->ranks[m], instance->nodes[m],
					     "record %: rank % of the group runs another "
					     "collective at this place",
					     instance->ranks[0], 0);
		if (node->bytes != first->bytes && !(is_split(node) && is_split(first)))
			return expand_refuse(
				expand, instance->ranks[m], instance->nodes[m],
				node->collective == TRACE_COLLECTIVE_ALL_TO_ALL
					? "record %: an all-to-all of % bytes, where rank "
					  "% has others, and no split sizes that say who "
					  "gets what"
					: "record %: % bytes, where rank % of the group "
					  "has others at this place",
				(int64_t)node->bytes, instance->ranks[0]);
	}
	return 0;
}

static int count_refuse(const struct expand *expand, const struct instance *callers,
			const struct trace_process_group *group)
{
	uint32_t rank = callers->ranks[0], node = callers->nodes[0];
	char text[REFUSAL_TEXT_BYTES];
	if (group->ranks == 0)
		snprintf(
			text, sizeof(text),
			"record %%: %s of group \"%s\", whose members the trace does not list: put "
			"comm_group.json beside it",
			call_of(expand, rank, node), group->name);
	else
		snprintf(text, sizeof(text),
			 "record %%: %s of group \"%s\", which has %u ranks: %u files call it, and "
			 "its members are not listed",
			 call_of(expand, rank, node), group->name, group->ranks, callers->count);
	return expand_refuse(expand, rank, node, text, 0, 0);
}

// Of a group with a list, callers and members must be the same ranks.
static int check_callers(const struct expand *expand, const struct instance *callers,
			 const struct trace_process_group *group)
{
	uint32_t rank = callers->ranks[0], node = callers->nodes[0], at = 0;
	char text[96];
	for (uint32_t i = 0; i < callers->count; i++) {
		while (at < group->member_count && group->members[at] < callers->ranks[i])
			at++;
		if (at == group->member_count || group->members[at] != callers->ranks[i]) {
			snprintf(text, sizeof(text), "rank %u calls it and is not a member",
				 callers->ranks[i]);
			return members_refuse(expand, callers->ranks[i], callers->nodes[i], group,
					      text);
		}
	}
	for (uint32_t i = 0; i < group->member_count; i++) {
		if (i < callers->count && callers->ranks[i] == group->members[i])
			continue;
		snprintf(text, sizeof(text), "rank %u %s", group->members[i],
			 group->members[i] < expand->ranks ? "never calls it" : "has no file");
		return members_refuse(expand, rank, node, group, text);
	}
	return 0;
}

// The members of a group that is called: what its list says; without one, who calls it, when they
// are as many as it has. A group that Chakra gives no name is all ranks.
static int check_group(const struct expand *expand, const struct instance *callers, uint32_t index)
{
	const struct trace_process_group *group = &expand->set->groups[index];
	uint32_t ranks = group->ranks, missing = 0;
	if (group->member_count > 0)
		return check_callers(expand, callers, group);
	if (ranks == 0 && strcmp(group->name, CHAKRA_GROUP_ALL) == 0)
		ranks = expand->ranks;
	else if (callers->count != ranks)
		return count_refuse(expand, callers, group);
	while (missing < callers->count && callers->ranks[missing] == missing)
		missing++;
	if (callers->count < ranks) {
		char text[REFUSAL_TEXT_BYTES];
		snprintf(text, sizeof(text), "record %%: %s of all ranks: rank %u never calls it",
			 call_of(expand, callers->ranks[0], callers->nodes[0]), missing);
		return expand_refuse(expand, callers->ranks[0], callers->nodes[0], text, 0, 0);
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
	if (instance->count > 0)
		rc = check_group(expand, instance, group);
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

static bool is_tensor(const struct trace_process_group *group)
{
	return strcmp(group->name, "tp_group") == 0 || strcmp(group->name, "tp") == 0;
}

// The tensor parallel size that AICB's file has: the size of its tp_group. 0: it does not say.
static uint32_t tensor_ranks(const struct trace_set *set)
{
	for (uint32_t i = 0; i < set->group_count; i++)
		if (is_tensor(&set->groups[i]))
			return set->groups[i].ranks;
	return 1;
}

// Data groups of which AICB does not say how many ranks they have: all beside the tensor ranks.
static bool is_data(const struct trace_set *set, const struct trace_process_group *group)
{
	if (set->format == TRACE_FORMAT_AICB_CSV)
		return strcmp(group->name, "dp_group") == 0;
	return (set->format == TRACE_FORMAT_AICB || set->format == TRACE_FORMAT_MICRO) &&
		group->ranks == 0 && strcmp(group->name, "dp") == 0;
}

// Whether a list of members is one of the groups that lie side by side from rank 0 on.
static bool is_side_by_side(const struct trace_process_group *group)
{
	return group->member_count == 0 ||
		group->members[0] % (group->ranks * group->stride) < group->stride;
}

// Size and distance of a group. AICB numbers ranks tensor first, then data. -EINVAL when there is
// no telling, or the ranks cannot be parted so.
static int shape_of(const struct expand *expand, uint32_t node, uint32_t *ret_ranks,
		    uint32_t *ret_stride)
{
	const struct trace_set *set = expand->set;
	const struct trace_process_group *group = &set->groups[set->ranks[0].nodes[node].group];
	uint32_t ranks = group->ranks, stride = group->stride;
	bool has_tensor = is_data(set, group);
	uint32_t tensor = set->format == TRACE_FORMAT_AICB_CSV ? tensor_ranks(set) : stride;
	if (ranks == 0 && has_tensor && tensor > 0 && expand->ranks % tensor == 0)
		ranks = expand->ranks / tensor;
	else if (ranks == 0 && set->format >= TRACE_FORMAT_SIMAI &&
		 set->format <= TRACE_FORMAT_MICRO)
		return expand_refuse(
			expand, 0, node,
			"record %: the text does not say how many ranks its expert groups "
			"have",
			0, 0);
	if (ranks == 0)
		ranks = expand->ranks;
	if (ranks == expand->ranks || ranks == 1 || is_tensor(group))
		stride = 1;
	else if (has_tensor)
		stride = tensor;
	if (set->ranks[0].has_number && !group_has(group, set->ranks[0].number)) {
		char text[96];
		snprintf(text, sizeof(text), "rank %u calls it and is not a member",
			 set->ranks[0].number);
		return members_refuse(expand, 0, node, group, text);
	}
	if (stride == 0)
		return expand_refuse(
			expand, 0, node,
			"record %: a group of % ranks of % whose members the file does "
			"not name: give the files of all ranks",
			ranks, expand->ranks);
	if (expand->ranks % ((uint64_t)ranks * stride) != 0 || !is_side_by_side(group))
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
		rc = refuse(expand->refusal, -ENOMEM, "no memory for a group");
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
