// SPDX-License-Identifier: Apache-2.0
// PyTorch's execution trace (ExecutionTraceObserver): {"schema", "nodes": [{id, name, ctrl_deps or
// parent, inputs, attrs: [{name, value}]}]}. Facts: the traces of PARAM's et_replay.
//
// A collective is a node record_param_comms with the attributes collective_name, dtype,
// in_msg_nelems, pg_name, pg_size, global_rank_stride; its bytes are in_msg_nelems elements, what
// one rank puts in. "wait" is the host waiting for one. There are no times in the file, and what a
// node waits for is its caller: so its order alone can be run.

#include "expand.h"
#include "field.h"

#include <stdlib.h>
#include <string.h>

#define COMMS "record_param_comms"
#define RANKS_MAX 1048576

static const json_t *attribute(const json_t *node, const char *name)
{
	const json_t *list = json_object_get(node, "attrs"), *item;
	size_t i;
	json_array_foreach(list, i, item)
	{
		const char *other = json_string_value(json_object_get(item, "name"));
		if (other != NULL && strcmp(other, name) == 0)
			return json_object_get(item, "value");
	}
	return NULL;
}

// A number that need not be there, and then is `none`.
static int take_number(struct trace_input *input, struct trace_node *node, const json_t *from,
		       const char *name, uint64_t none, uint64_t *ret)
{
	const json_t *value = attribute(from, name);
	*ret = none;
	return value == NULL ? 0 : field_number(input, node->place, value, name, RANKS_MAX, ret);
}

// Members of a group are `pg_size` ranks from global_rank_start on, each global_rank_stride after
// the last; a stride of 0 says that they are not so.
static int take_group(struct trace_input *input, struct trace_node *node, const json_t *from)
{
	const char *name = json_string_value(attribute(from, "pg_name"));
	uint64_t ranks, start, stride;
	int rc = field_number(input, node->place, attribute(from, "pg_size"), "pg_size", RANKS_MAX,
			      &ranks);
	if (rc == 0)
		rc = take_number(input, node, from, "global_rank_stride", 0, &stride);
	if (rc == 0)
		rc = take_number(input, node, from, "global_rank_start", RANKS_MAX, &start);
	if (rc < 0)
		return rc;
	name = name == NULL ? "" : name;
	if (ranks > input->set->world)
		input->set->world = (uint32_t)ranks;
	if (stride == 0 || start == RANKS_MAX || ranks * stride > UINT32_MAX / 2)
		return input_group(input, name, (uint32_t)ranks, (uint32_t)stride, &node->group);
	uint32_t *members = malloc((ranks + 1) * sizeof(*members));
	if (members == NULL)
		return input_no_memory(input);
	for (uint64_t i = 0; i < ranks; i++)
		members[i] = (uint32_t)(start + i * stride);
	rc = input_members(input, name, members, (uint32_t)ranks, &node->group);
	free(members);
	return rc;
}

static int take_splits(struct trace_input *input, struct trace_node *node, const json_t *from,
		       uint64_t elements, uint32_t bytes)
{
	const char *splits = json_string_value(attribute(from, "in_split_size"));
	const json_t *out = attribute(from, "out_msg_nelems");
	bool is_split = splits != NULL && strcmp(splits, "[]") != 0;
	if (!is_split && out != NULL && (uint64_t)json_integer_value(out) != elements)
		return field_refuse(input, node->place, "in_split_size",
				    "is not there: what an uneven all-to-all sends to whom is not "
				    "known");
	uint32_t ranks = input->set->groups[node->group].ranks;
	int rc = split_take(input, splits, ranks, elements, bytes);
	if (rc < 0 || !json_is_integer(out))
		return rc;
	return split_take_received(input, json_string_value(attribute(from, "out_split_size")),
				   ranks, (uint64_t)json_integer_value(out), bytes);
}

static int take_bytes(struct trace_input *input, struct trace_node *node, const json_t *from)
{
	const char *type = json_string_value(attribute(from, "dtype"));
	uint64_t elements;
	int rc = field_number(input, node->place, attribute(from, "in_msg_nelems"), "in_msg_nelems",
			      INT64_MAX / 16, &elements);
	if (rc < 0)
		return rc;
	uint32_t bytes = type == NULL ? 0 : field_type_bytes(type);
	if (bytes == 0)
		return field_refuse(input, node->place, "dtype",
				    "is not a PyTorch type that weft knows");
	node->bytes = elements * bytes;
	if (!field_has_parts(node, input->set->groups[node->group].ranks, elements,
			     attribute(from, "out_msg_nelems")))
		return field_refuse(input, node->place, "out_msg_nelems",
				    "does not fit in_msg_nelems and pg_size");
	return node->collective == TRACE_COLLECTIVE_ALL_TO_ALL
		? take_splits(input, node, from, elements, bytes)
		: 0;
}

static int take_comms(struct trace_input *input, struct trace_node *node, const json_t *from)
{
	const char *name = json_string_value(attribute(from, "collective_name"));
	int rc;
	if (name == NULL)
		return field_refuse(input, node->place, "collective_name",
				    "is not there: made by a PyTorch before 2.4; make it anew");
	if (strcmp(name, "wait") == 0 || strcmp(name, "init") == 0)
		return 0;
	node_name(node, name, strlen(name));
	enum trace_collective collective = collective_find(name);
	if (collective == TRACE_COLLECTIVE_COUNT)
		return field_refuse(input, node->place, "collective_name",
				    "cannot be run (send and recv are not)");
	node->kind = TRACE_KIND_COLLECTIVE;
	node->collective = (uint8_t)collective;
	if ((rc = take_group(input, node, from)) < 0 || collective == TRACE_COLLECTIVE_BARRIER)
		return rc;
	return take_bytes(input, node, from);
}

static int take_node(struct trace_input *input, const json_t *from, uint32_t place)
{
	const json_t *name = json_object_get(from, "name"), *caller;
	uint64_t id, before;
	int rc = field_number(input, place, json_object_get(from, "id"), "id", INT64_MAX, &id);
	if (rc < 0)
		return rc;
	if (!json_is_string(name))
		return field_refuse(input, place, "name", "must be a text");
	struct trace_node *node = input_node(input, id, place);
	if (node == NULL)
		return input_no_memory(input);
	node->is_host = true;
	node_name(node, json_string_value(name), json_string_length(name));
	if (strcmp(json_string_value(name), COMMS) == 0 && (rc = take_comms(input, node, from)) < 0)
		return rc;
	caller = json_object_get(from, "ctrl_deps");
	if (caller == NULL)
		caller = json_object_get(from, "parent");
	rc = field_number(input, place, caller, "ctrl_deps or parent", INT64_MAX, &before);
	// the root is its own caller
	return rc < 0 || before == id ? rc : input_wait(input, before);
}

int trace_read_pytorch(struct trace_input *input)
{
	return field_each(input, "nodes", take_node);
}
