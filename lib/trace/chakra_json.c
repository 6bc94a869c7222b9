// SPDX-License-Identifier: Apache-2.0
// Chakra traces as JSON: {"workload_graph": [{Id, Name, NodeType, ctrlDeps, data_deps, runtime,
// is_cpu_op, comm_type, comm_size, comm_src, comm_dst, comm_tag}], ...}. Facts: the JSON feeder of
// MLCommons Chakra and its test data. NodeType is that of the protocol buffers; nodes of type 7
// without comm_size are counted as calls.

#include "field.h"

#include <string.h>

#include "chakra.h"

static int take_waits(struct trace_input *input, const json_t *object, const char *name,
		      uint32_t place)
{
	const json_t *list = json_object_get(object, name), *item;
	size_t i;
	int rc = 0;
	if (list != NULL && !json_is_array(list))
		return field_refuse(input, place, name, "is not a list");
	json_array_foreach(list, i, item)
	{
		uint64_t id;
		rc = field_number(input, place, item, name, INT64_MAX, &id);
		if (rc == 0)
			rc = input_wait(input, id);
		if (rc < 0)
			return rc;
	}
	return 0;
}

// The end of a message that is here, which need not be said.
static int check_own(const struct trace_input *input, const struct trace_node *node,
		     const json_t *object, const char *name)
{
	const json_t *value = json_object_get(object, name);
	uint64_t own;
	if (value == NULL)
		return 0;
	int rc = field_number(input, node->place, value, name, INT32_MAX, &own);
	return rc < 0 || trace_file_rank_takes(input->rank, (uint32_t)own)
		? rc
		: field_refuse(input, node->place, name, "is not the rank that the file is of");
}

static int take_peer(struct trace_input *input, struct trace_node *node, const json_t *object,
		     bool is_send)
{
	const char *name = is_send ? "comm_dst" : "comm_src";
	const json_t *tag = json_object_get(object, "comm_tag");
	uint64_t peer, number = 0;
	int rc = field_number(input, node->place, json_object_get(object, name), name, INT32_MAX,
			      &peer);
	if (rc == 0 && tag != NULL)
		rc = field_number(input, node->place, tag, "comm_tag", INT32_MAX, &number);
	if (rc == 0)
		rc = check_own(input, node, object, is_send ? "comm_src" : "comm_dst");
	node->peer = rc == 0 ? (uint32_t)peer : 0;
	node->tag = (uint32_t)number;
	return rc;
}

static int take_group(struct trace_input *input, struct trace_node *node, const json_t *object)
{
	const json_t *name = json_object_get(object, "pg_name"), *dimension;
	const json_t *dimensions = json_object_get(object, "involved_dim");
	size_t i;
	if (name != NULL && !json_is_string(name))
		return field_refuse(input, node->place, "pg_name", "must be a text");
	if (json_string_length(name) > 0)
		return input_group(input, json_string_value(name), 0, 0, &node->group);
	json_array_foreach(dimensions, i, dimension) if (
		!json_is_true(dimension)) return field_refuse(input, node->place, "involved_dim",
							      "leaves out dimensions, and no trace "
							      "says how many ranks one "
							      "has");
	return input_group(input, CHAKRA_GROUP_ALL, 0, 0, &node->group);
}

static int take_communication(struct trace_input *input, struct trace_node *node,
			      const json_t *object, uint64_t type)
{
	const json_t *bytes = json_object_get(object, "comm_size");
	uint64_t collective;
	int rc;
	if (type == TYPE_COLLECTIVE && bytes == NULL) {
		node->kind = TRACE_KIND_CALL;
		return 0;
	}
	if ((rc = field_number(input, node->place, bytes, "comm_size", INT64_MAX, &node->bytes)) <
	    0)
		return rc;
	if (type == TYPE_SEND || type == TYPE_RECEIVE) {
		node->kind = type == TYPE_SEND ? TRACE_KIND_SEND : TRACE_KIND_RECEIVE;
		return take_peer(input, node, object, type == TYPE_SEND);
	}
	node->kind = TRACE_KIND_COLLECTIVE;
	rc = field_number(input, node->place, json_object_get(object, "comm_type"), "comm_type",
			  TRACE_COLLECTIVE_COUNT - 1, &collective);
	node->collective = rc == 0 ? (uint8_t)collective : 0;
	return rc < 0 ? rc : take_group(input, node, object);
}

static int take_kind(struct trace_input *input, struct trace_node *node, const json_t *object)
{
	const json_t *name = json_object_get(object, "Name");
	uint64_t type;
	int rc = field_number(input, node->place, json_object_get(object, "NodeType"), "NodeType",
			      TYPE_COUNT - 1, &type);
	if (rc < 0)
		return rc;
	if (json_is_string(name))
		node_name(node, json_string_value(name), json_string_length(name));
	node->is_host = json_is_true(json_object_get(object, "is_cpu_op"));
	node->kind = type == TYPE_COMPUTE ? TRACE_KIND_COMPUTE : TRACE_KIND_OTHER;
	rc = field_micros(input, node->place, json_object_get(object, "runtime"), "runtime",
			  &node->duration_ps);
	input->set->has_times |= node->duration_ps > 0;
	if (rc == 0 && type >= TYPE_SEND && type <= TYPE_COLLECTIVE)
		rc = take_communication(input, node, object, type);
	return rc;
}

static int take_node(struct trace_input *input, const json_t *object, uint32_t place)
{
	uint64_t id;
	int rc = field_number(input, place, json_object_get(object, "Id"), "Id", INT64_MAX, &id);
	if (rc < 0)
		return rc;
	struct trace_node *node = input_node(input, id, place);
	if (node == NULL)
		return input_no_memory(input);
	if ((rc = take_kind(input, node, object)) == 0)
		rc = take_waits(input, object, "ctrlDeps", place);
	return rc < 0 ? rc : take_waits(input, object, "data_deps", place);
}

int trace_read_chakra_json(struct trace_input *input)
{
	return field_each(input, "workload_graph", take_node);
}
