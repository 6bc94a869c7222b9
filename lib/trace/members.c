// SPDX-License-Identifier: Apache-2.0
// Groups of ranks. A name alone makes no group: PyTorch's meshes call the groups of all rows alike,
// so a group is its name, size and list of members together. Nor does another name make another
// one, where each rank has its own for the same list.

#include "field.h"
#include <weft/core/order.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define GROUPS_MAX 65536u

static bool is_same(const struct trace_process_group *a, const struct trace_process_group *b)
{
	return strcmp(a->name, b->name) == 0 && a->ranks == b->ranks && a->stride == b->stride &&
		a->member_count == b->member_count &&
		(a->member_count == 0 ||
		 memcmp(a->members, b->members, a->member_count * sizeof(*a->members)) == 0);
}

// Finds or adds a group; a new one takes its members over.
static int take(struct trace_input *input, struct trace_process_group *group, uint32_t *ret)
{
	struct trace_set *set = input->set;
	for (*ret = 0; *ret < set->group_count; ++*ret)
		if (is_same(&set->groups[*ret], group)) {
			free(group->members);
			return 0;
		}
	void *groups = set->groups;
	int rc = 0;
	if (set->group_count == GROUPS_MAX)
		rc = input_refuse(input, 0, "more than % groups of ranks", GROUPS_MAX, 0);
	else if (!input_grow(&groups, set->group_count, &set->group_max, sizeof(*group)))
		rc = input_no_memory(input);
	if (rc < 0) {
		free(group->members);
		return rc;
	}
	set->groups = groups;
	set->groups[set->group_count++] = *group;
	return 0;
}

// What comm_group.json says of a name.
static bool find_listed(const struct trace_set *set, const char *name, uint32_t *ret)
{
	for (*ret = 0; *ret < set->listed_count; ++*ret)
		if (strcmp(set->groups[*ret].name, name) == 0)
			return true;
	return false;
}

int input_group(struct trace_input *input, const char *name, uint32_t ranks, uint32_t stride,
		uint32_t *ret)
{
	struct trace_process_group group = {.ranks = ranks, .stride = stride};
	input_copy(group.name, sizeof(group.name), name, strlen(name));
	if (ranks == 0 && find_listed(input->set, group.name, ret))
		return 0;
	return take(input, &group, ret);
}

static uint32_t stride_of(const uint32_t *members, uint32_t count)
{
	for (uint32_t i = 2; i < count; i++)
		if (members[i] - members[i - 1] != members[1] - members[0])
			return 0;
	return count < 2 ? 1 : members[1] - members[0];
}

int input_members(struct trace_input *input, const char *name, uint32_t *members, uint32_t count,
		  uint32_t *ret)
{
	struct trace_process_group group = {.ranks = count, .member_count = count};
	input_copy(group.name, sizeof(group.name), name, strlen(name));
	qsort(members, count, sizeof(*members), order_uint32);
	for (uint32_t i = 1; i < count; i++)
		if (members[i] == members[i - 1]) {
			snprintf(input->refusal->text, sizeof(input->refusal->text),
				 "group \"%s\" has rank %u twice", group.name, members[i]);
			return -EINVAL;
		}
	group.stride = stride_of(members, count);
	group.members = malloc((count + 1) * sizeof(*members));
	if (group.members == NULL)
		return input_no_memory(input);
	memcpy(group.members, members, count * sizeof(*members));
	return take(input, &group, ret);
}

bool group_has(const struct trace_process_group *group, uint32_t rank)
{
	return group->member_count == 0 ||
		bsearch(&rank, group->members, group->member_count, sizeof(rank), order_uint32) !=
		NULL;
}

int input_all_members(struct trace_input *input, const char *name, uint32_t count, uint32_t *ret)
{
	uint32_t *members = malloc(((size_t)count + 1) * sizeof(*members));
	if (members == NULL)
		return input_no_memory(input);
	for (uint32_t i = 0; i < count; i++)
		members[i] = i;
	int rc = input_members(input, name, members, count, ret);
	free(members);
	return rc;
}

// ---------------------------------------------------------------- one list, several names

// Of each group: how many ranks call it, and which one did last; then the group that it is.
struct calls {
	uint32_t count, last, is;
};

static void count_calls(const struct trace_set *set, struct calls *calls)
{
	for (uint32_t rank = 0; rank < set->rank_count; rank++)
		for (uint32_t i = 0; i < set->ranks[rank].node_count; i++) {
			const struct trace_node *node = &set->ranks[rank].nodes[i];
			if (node->kind != TRACE_KIND_COLLECTIVE)
				continue;
			struct calls *of = &calls[node->group];
			if (of->count > 0 && of->last == rank)
				continue;
			of->last = rank;
			of->count++;
		}
}

static bool is_partial(const struct trace_process_group *group, const struct calls *calls)
{
	return calls->count > 0 && calls->count < group->member_count;
}

static bool has_same_list(const struct trace_process_group *a, const struct trace_process_group *b)
{
	return a->member_count == b->member_count &&
		memcmp(a->members, b->members, a->member_count * sizeof(*a->members)) == 0;
}

// Finds of each group that not all members call the first one with its list. Returns whether there
// is one with another name.
static bool find_names(const struct trace_set *set, struct calls *calls)
{
	bool ret = false;
	for (uint32_t i = 0; i < set->group_count; i++) {
		calls[i].is = i;
		for (uint32_t j = 0; j < i && is_partial(&set->groups[i], &calls[i]); j++) {
			if (!is_partial(&set->groups[j], &calls[j]) ||
			    !has_same_list(&set->groups[j], &set->groups[i]))
				continue;
			calls[i].is = j;
			ret = true;
			break;
		}
	}
	return ret;
}

int trace_join_names(struct trace_set *set, struct refusal *refusal)
{
	if (set->rank_count < 2 || set->group_count < 2)
		return 0;
	struct calls *calls = calloc(set->group_count, sizeof(*calls));
	if (calls == NULL)
		return refuse(refusal, -ENODEV, "not enough memory for groups of ranks");
	count_calls(set, calls);
	bool is_any = find_names(set, calls);
	for (uint32_t rank = 0; is_any && rank < set->rank_count; rank++)
		for (uint32_t i = 0; i < set->ranks[rank].node_count; i++) {
			struct trace_node *node = &set->ranks[rank].nodes[i];
			if (node->kind == TRACE_KIND_COLLECTIVE)
				node->group = calls[node->group].is;
		}
	free(calls);
	return 0;
}

// ---------------------------------------------------------------- comm_group.json

static int list_refuse(const struct trace_input *input, const char *name, const char *what)
{
	snprintf(input->refusal->text, sizeof(input->refusal->text), "group \"%.48s\": %s", name,
		 what);
	return -EINVAL;
}

static int take_list(struct trace_input *input, const char *name, const json_t *list)
{
	const json_t *item;
	uint32_t ignored, *members;
	size_t i;
	int rc = 0;
	if (!json_is_array(list) || json_array_size(list) == 0)
		return list_refuse(input, name, "its members must be a list of ranks");
	if (strlen(name) >= TRACE_NAME_BYTES)
		return list_refuse(input, name, "the name is too long");
	members = calloc(json_array_size(list), sizeof(*members));
	if (members == NULL)
		return input_no_memory(input);
	json_array_foreach(list, i, item)
	{
		json_int_t rank = json_is_integer(item) ? json_integer_value(item) : -1;
		if (rc == 0 && (rank < 0 || rank > INT32_MAX))
			rc = list_refuse(input, name, "its members must be ranks, 0 and more");
		members[i] = rc == 0 ? (uint32_t)rank : 0;
	}
	if (rc == 0)
		rc = input_members(input, name, members, (uint32_t)json_array_size(list), &ignored);
	free(members);
	return rc;
}

int trace_set_groups(struct trace_set *set, const char *path, const char *text, size_t bytes,
		     struct refusal *refusal)
{
	struct trace_input input = {.set = set, .text = text, .bytes = bytes, .refusal = refusal};
	*refusal = (struct refusal){0};
	json_t *root = field_root_once(&input), *list;
	const char *name;
	int rc = root == NULL ? -EINVAL : 0;
	if (root != NULL && !json_is_object(root))
		rc = input_refuse(&input, 0, "must be groups by name, {\"0\": [0, 1], ...}", 0, 0);
	if (rc == 0 && set->rank_count > 0)
		rc = input_refuse(&input, 0, "must come before the traces", 0, 0);
	json_object_foreach(root, name, list) if (rc == 0) rc = take_list(&input, name, list);
	set->listed_count = set->group_count;
	json_decref(root);
	if (rc < 0)
		refusal_name(refusal, path);
	return rc;
}
