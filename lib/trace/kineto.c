// SPDX-License-Identifier: Apache-2.0
// The trace of PyTorch's profiler (Kineto): {"traceEvents": [{ph, cat, name, ts, dur, tid, args}]}.
// Nodes are what ran on the GPU: complete events ("X") of the categories kernel, gpu_memcpy and
// gpu_memset. A kernel whose name begins with nccl is a collective, a send or a receive; its args
// say which, over which group, how many elements one rank put in, and of an uneven all-to-all for
// whom. Facts: the traces of HolisticTraceAnalysis; names of fields as PyTorch's profiler writes
// them.

#include "expand.h"
#include "field.h"
#include <weft/core/order.h>

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define RANKS_MAX 1048576

struct file {
	struct trace_input *input;
	const json_t *groups; // distributedInfo.pg_config, or NULL
	uint64_t ranks;	      // of the job; 0: unknown
	bool has_names;	      // a kernel of NCCL says which collective it is
	double first_us;      // start of the first node: times are too large for picoseconds
};

static bool is_of_gpu(const json_t *event)
{
	const char *category = field_text(event, "cat");
	return strcmp(field_text(event, "ph"), "X") == 0 &&
		(strcmp(category, "kernel") == 0 || strcmp(category, "gpu_memcpy") == 0 ||
		 strcmp(category, "gpu_memset") == 0);
}

// Ranks of "[0, 8, 16]". False when there is no list, or it is cut ("...").
static bool take_list(const char *list, uint32_t *members, uint64_t count)
{
	uint64_t taken = 0;
	for (const char *at = list; *at == '[' || *at == ',' || *at == ' ';) {
		char *end;
		at += strspn(at, "[, ");
		long rank = strtol(at, &end, 10);
		if (end == at || rank < 0 || rank > INT32_MAX || taken == count)
			return false;
		members[taken++] = (uint32_t)rank;
		at = end;
		if (*at == ']')
			return taken == count;
	}
	return false;
}

// Whether distributedInfo.pg_config lists the ranks of a group of this name here.
static bool is_config(const json_t *config, const char *name)
{
	return strcmp(field_text(config, "pg_name"), name) == 0 &&
		json_array_size(json_object_get(config, "ranks")) > 0;
}

static bool is_list(const json_t *ranks, const uint32_t *members, size_t count)
{
	const json_t *rank;
	size_t i;
	json_array_foreach(ranks, i, rank)
	{
		uint32_t number = (uint32_t)json_integer_value(rank);
		if (bsearch(&number, members, count, sizeof(number), order_uint32) == NULL)
			return false;
	}
	return json_array_size(ranks) == count;
}

// What a record lists, in ascending order, against the lists of that name that the file begins
// with.
static int check_config(const struct file *file, const struct trace_node *node, const char *name,
			const uint32_t *members, size_t count)
{
	const json_t *config;
	size_t i;
	bool is_named = false;
	json_array_foreach(file->groups, i, config)
	{
		if (!is_config(config, name))
			continue;
		is_named = true;
		if (is_list(json_object_get(config, "ranks"), members, count))
			return 0;
	}
	return is_named ? field_refuse(file->input, node->place, "Process Group Ranks",
				       "lists other ranks than distributedInfo.pg_config does for "
				       "this name")
			: 0;
}

// The same from the list of groups that the file begins with.
static bool take_config(const json_t *configs, const char *name, uint32_t *members, uint64_t count)
{
	const json_t *config, *rank;
	size_t i, k;
	json_array_foreach(configs, i, config)
	{
		const json_t *ranks = json_object_get(config, "ranks");
		if (!is_config(config, name) || json_array_size(ranks) != count)
			continue;
		json_array_foreach(ranks, k, rank)
		{
			json_int_t value = json_is_integer(rank) ? json_integer_value(rank) : -1;
			if (value < 0 || value > INT32_MAX)
				return false;
			members[k] = (uint32_t)value;
		}
		return true;
	}
	return false;
}

// The members of a group are those of the record; those of the file where the record cuts its
// list; all ranks where the group is as large.
static int take_group(struct file *file, struct trace_node *node, const json_t *args)
{
	struct trace_input *input = file->input;
	const char *name = field_text(args, "Process Group Name");
	const char *list = field_text(args, "Process Group Ranks");
	const json_t *told = json_object_get(args, "Process Group Ranks");
	uint64_t ranks;
	if (told != NULL && list[0] != '[' && !(json_is_string(told) && list[0] == '\0'))
		return field_refuse(input, node->place, "Process Group Ranks",
				    "is no list of ranks, as \"[0, 1]\"");
	int rc = field_number(input, node->place, json_object_get(args, "Group size"), "Group size",
			      RANKS_MAX, &ranks);
	uint32_t *members = rc < 0 ? NULL : malloc((ranks + 1) * sizeof(*members));
	if (rc < 0 || members == NULL)
		return rc < 0 ? rc : input_no_memory(input);
	uint32_t known = input->set->group_count;
	if (take_list(list, members, ranks) || take_config(file->groups, name, members, ranks)) {
		rc = input_members(input, name, members, (uint32_t)ranks, &node->group);
		if (rc == 0 && input->set->group_count > known)
			rc = check_config(file, node, name, members, ranks);
	} else if (list[0] == '[' && strstr(list, "...") == NULL && strcmp(list, "[]") != 0)
		rc = field_refuse(input, node->place, "Process Group Ranks",
				  "lists other ranks than Group size says");
	else if (ranks == file->ranks && ranks > 0)
		rc = input_all_members(input, name, (uint32_t)ranks, &node->group);
	else
		rc = input_group(input, name, (uint32_t)ranks, 0, &node->group);
	free(members);
	return rc;
}

// Bytes of the elements `name` says.
static int take_bytes(struct trace_input *input, struct trace_node *node, const json_t *args,
		      const char *name, uint64_t *ret_elements, uint32_t *ret_bytes)
{
	*ret_bytes = field_type_bytes(field_text(args, "dtype"));
	if (*ret_bytes == 0)
		return field_refuse(input, node->place, "dtype",
				    "is not a PyTorch type that weft knows");
	int rc = field_number(input, node->place, json_object_get(args, name), name, INT64_MAX / 16,
			      ret_elements);
	node->bytes = rc == 0 ? *ret_elements * *ret_bytes : 0;
	return rc;
}

// A send or a receive: its other end is Dst Rank or Src Rank, or the other one of two.
static int take_message(struct file *file, struct trace_node *node, const json_t *args)
{
	struct trace_input *input = file->input;
	bool is_send = node->kind == TRACE_KIND_SEND;
	const char *name = is_send ? "Dst Rank" : "Src Rank",
		   *own = is_send ? "Src Rank" : "Dst Rank";
	const json_t *peer = json_object_get(args, name), *self = json_object_get(args, own);
	const struct trace_process_group *group = &input->set->groups[node->group];
	uint64_t number = 0, elements;
	uint32_t bytes, me = input->rank->number;
	int rc = take_bytes(input, node, args, is_send ? "In msg nelems" : "Out msg nelems",
			    &elements, &bytes);
	if (rc == 0 && peer != NULL)
		rc = field_number(input, node->place, peer, name, RANKS_MAX, &number);
	if (rc < 0)
		return rc;
	if (self != NULL && input->rank->has_number && json_integer_value(self) != me)
		return field_refuse(input, node->place, own, "is not the rank that the file is of");
	if (peer == NULL && (group->member_count != 2 || !input->rank->has_number))
		return field_refuse(input, node->place, name, "is not there");
	if (peer != NULL && !group_has(group, (uint32_t)number))
		return field_refuse(input, node->place, name, "is not a member of the group");
	node->peer = peer != NULL ? (uint32_t)number
				  : group->members[group->members[0] == me ? 1 : 0];
	return 0;
}

static int take_collective(struct file *file, struct trace_node *node, const json_t *args)
{
	struct trace_input *input = file->input;
	const char *name = field_text(args, "Collective name");
	const char *splits = json_string_value(json_object_get(args, "In split size"));
	const json_t *out = json_object_get(args, "Out msg nelems");
	uint64_t elements;
	uint32_t bytes;
	if (node->collective == TRACE_COLLECTIVE_BARRIER)
		return 0;
	uint64_t ranks = input->set->groups[node->group].ranks;
	int rc = take_bytes(input, node, args, "In msg nelems", &elements, &bytes);
	if (rc == 0 && !field_has_parts(node, ranks, elements, out))
		return field_refuse(input, node->place, "Out msg nelems",
				    "does not fit In msg nelems and Group size");
	if (rc < 0 || node->collective != TRACE_COLLECTIVE_ALL_TO_ALL)
		return rc;
	bool is_split = splits != NULL && strcmp(splits, "[]") != 0;
	if (!is_split &&
	    (name[strlen(name) - 1] == 'v' ||
	     (out != NULL && (uint64_t)json_integer_value(out) != elements)))
		return field_refuse(input, node->place, "In split size",
				    "is not there: what an uneven all-to-all sends to whom is not "
				    "known");
	rc = split_take(input, splits, ranks, elements, bytes);
	if (rc < 0 || !json_is_integer(out))
		return rc;
	return split_take_received(input,
				   json_string_value(json_object_get(args, "Out split size")),
				   ranks, (uint64_t)json_integer_value(out), bytes);
}

// Why a kernel of NCCL has no name of its collective: the file's PyTorch writes none, or this
// record is damaged.
static int refuse_name(struct file *file, struct trace_node *node, const char *name)
{
	if (name[0] != '\0')
		return field_refuse(file->input, node->place, "Collective name", "cannot be run");
	return field_refuse(file->input, node->place, "Collective name",
			    file->has_names ? "is not there, as it is in other records: damaged; "
					      "--skip-damaged leaves such records out"
					    : "is not there: made by a PyTorch before 2.2");
}

static int take_nccl(struct file *file, struct trace_node *node, const json_t *event)
{
	const json_t *args = json_object_get(event, "args");
	const char *name = field_text(args, "Collective name");
	enum trace_collective collective = collective_find(name);
	bool is_send = strcmp(name, "send") == 0;
	bool is_message = is_send || strcmp(name, "recv") == 0;
	if (collective == TRACE_COLLECTIVE_COUNT && !is_message)
		return refuse_name(file, node, name);
	node->kind = is_send ? TRACE_KIND_SEND
		: is_message ? TRACE_KIND_RECEIVE
			     : TRACE_KIND_COLLECTIVE;
	node->collective = is_message ? 0 : (uint8_t)collective;
	int rc = take_group(file, node, args);
	if (rc < 0)
		return rc;
	return is_message ? take_message(file, node, args) : take_collective(file, node, args);
}

static int take_event(struct file *file, const json_t *event, uint32_t place)
{
	struct trace_input *input = file->input;
	const char *name = field_text(event, "name");
	const json_t *start = json_object_get(event, "ts");
	struct trace_node *node = input_node(input, place, place);
	if (node == NULL)
		return input_no_memory(input);
	node_name(node, name, strlen(name));
	node->kind = TRACE_KIND_COMPUTE;
	node->stream = (uint32_t)json_integer_value(json_object_get(event, "tid"));
	if (!json_is_number(start))
		return field_refuse(input, place, "ts", "must be a number");
	if (micros_ps(json_number_value(start) - file->first_us, &node->start_ps) < 0)
		return field_refuse(input, place, "ts", "is over 106 days after the first");
	int rc = field_micros(input, place, json_object_get(event, "dur"), "dur",
			      &node->duration_ps);
	if (rc == 0 && strncmp(name, "nccl", 4) == 0)
		rc = take_nccl(file, node, event);
	return rc;
}

// The smallest start of a node, and whether collectives have names. -EINVAL when a node has no
// start.
static int find_first(struct file *file, const json_t *list)
{
	const json_t *event;
	size_t i;
	file->first_us = INFINITY;
	json_array_foreach(list, i, event)
	{
		const json_t *start = json_object_get(event, "ts");
		if (!is_of_gpu(event))
			continue;
		if (json_is_number(start))
			file->first_us = fmin(file->first_us, json_number_value(start));
		else if (!file->input->set->skips_damaged)
			return field_refuse(file->input, (uint32_t)i + 1, "ts", "must be a number");
		file->has_names |= field_text(json_object_get(event, "args"),
					      "Collective name")[0] != '\0';
	}
	return 0;
}

static int take_info(struct file *file, const json_t *info)
{
	struct trace_input *input = file->input;
	const json_t *world = json_object_get(info, "world_size");
	const json_t *rank = json_object_get(info, "rank");
	uint64_t number = 0;
	int rc = 0;
	if (world != NULL)
		rc = field_number(input, 0, world, "distributedInfo.world_size", RANKS_MAX,
				  &file->ranks);
	if (rc == 0 && rank != NULL)
		rc = field_number(input, 0, rank, "distributedInfo.rank", RANKS_MAX, &number);
	if (rc == 0 && rank != NULL && world != NULL && number >= file->ranks)
		return input_refuse(input, 0,
				    "distributedInfo.rank is %, and distributedInfo.world_size %",
				    (int64_t)number, (int64_t)file->ranks);
	if (rc == 0 && input->set->rank_count > 1 && file->ranks != input->set->world)
		return input_refuse(input, 0,
				    "distributedInfo.world_size is %, and % in the files before",
				    (int64_t)file->ranks, input->set->world);
	input->rank->number = (uint32_t)number;
	input->rank->has_number = rank != NULL;
	input->set->world = (uint32_t)file->ranks;
	file->groups = json_object_get(info, "pg_config");
	return rc;
}

static int take_events(struct trace_input *input, const json_t *root)
{
	const json_t *list = field_list(input, root, "traceEvents"), *event;
	struct file file = {.input = input};
	size_t i;
	int rc = list == NULL ? -EINVAL : find_first(&file, list);
	if (rc == 0)
		rc = take_info(&file, json_object_get(root, "distributedInfo"));
	json_array_foreach(list, i, event) if (rc == 0 && is_of_gpu(event))
	{
		struct input_mark mark = input_mark(input);
		rc = input_settle(input, mark, take_event(&file, event, (uint32_t)i + 1));
	}
	input->set->has_times = true;
	input->rank->records = json_array_size(list);
	return rc;
}

int trace_read_kineto(struct trace_input *input)
{
	json_t *root = field_root(input);
	int rc = root == NULL ? -EINVAL : take_events(input, root);
	json_decref(root);
	return rc;
}
