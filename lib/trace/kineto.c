// SPDX-License-Identifier: Apache-2.0
// The trace of PyTorch's profiler (Kineto): {"traceEvents": [{ph, cat, name, ts, dur, tid, args}]}.
// Nodes are what ran on the GPU: complete events ("X") of the categories kernel, gpu_memcpy and
// gpu_memset. A kernel whose name begins with nccl is a collective; its args say which, over which
// group, and how many elements one rank put in. Facts: the traces of HolisticTraceAnalysis.

#include "field.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *text_of(const json_t *object, const char *name)
{
	const char *text = json_string_value(json_object_get(object, name));
	return text == NULL ? "" : text;
}

static bool is_of_gpu(const json_t *event)
{
	const char *category = text_of(event, "cat");
	return strcmp(text_of(event, "ph"), "X") == 0 &&
		(strcmp(category, "kernel") == 0 || strcmp(category, "gpu_memcpy") == 0 ||
		 strcmp(category, "gpu_memset") == 0);
}

// The distance of the ranks in "[0, 8, 16]"; 0 when it is not the same, or the list is cut ("...").
static uint32_t stride_of(const char *list, uint64_t *ret_count)
{
	long previous = 0, stride = 0;
	*ret_count = 0;
	for (const char *at = list; *at == '[' || *at == ',' || *at == ' ';) {
		char *end;
		at += strspn(at, "[, ");
		long rank = strtol(at, &end, 10);
		if (end == at || rank < 0)
			return 0;
		if (++*ret_count == 2)
			stride = rank - previous;
		else if (*ret_count > 2 && rank - previous != stride)
			return 0;
		previous = rank;
		at = end;
	}
	return stride > 0 && stride < INT32_MAX ? (uint32_t)stride : 0;
}

static int take_group(struct trace_input *input, struct trace_node *node, const json_t *args)
{
	uint64_t ranks, listed;
	int rc = field_number(input, node->place, json_object_get(args, "Group size"), "Group size",
			      INT32_MAX, &ranks);
	if (rc < 0)
		return rc;
	uint32_t stride = stride_of(text_of(args, "Process Group Ranks"), &listed);
	return input_group(input, text_of(args, "Process Group Name"), (uint32_t)ranks,
			   listed == ranks ? stride : 0, &node->group);
}

static int take_nccl(struct trace_input *input, struct trace_node *node, const json_t *event)
{
	const json_t *args = json_object_get(event, "args");
	const char *name = text_of(args, "Collective name");
	uint64_t elements;
	uint32_t bytes = field_type_bytes(text_of(args, "dtype"));
	enum trace_collective collective = collective_find(name);
	int rc;
	if (collective == TRACE_COLLECTIVE_COUNT)
		return field_refuse(input, node->place, "Collective name",
				    name[0] == '\0'
					    ? "is not there: made by a PyTorch before 2.2"
					    : "is none that can be run (send and recv are not)");
	node->kind = TRACE_KIND_COLLECTIVE;
	node->collective = (uint8_t)collective;
	if ((rc = take_group(input, node, args)) < 0 || collective == TRACE_COLLECTIVE_BARRIER)
		return rc;
	if (bytes == 0)
		return field_refuse(input, node->place, "dtype", "is no type of PyTorch we know");
	rc = field_number(input, node->place, json_object_get(args, "In msg nelems"),
			  "In msg nelems", INT64_MAX / 16, &elements);
	node->bytes = rc == 0 ? elements * bytes : 0;
	return rc;
}

// `first_us` is the start of the first node: the times of the file are too large for picoseconds.
static int take_event(struct trace_input *input, const json_t *event, uint32_t place,
		      double first_us)
{
	const char *name = text_of(event, "name");
	const json_t *start = json_object_get(event, "ts");
	struct trace_node *node = input_node(input, place, place);
	if (node == NULL)
		return input_no_memory(input);
	node_name(node, name, strlen(name));
	node->kind = TRACE_KIND_COMPUTE;
	node->stream = (uint32_t)json_integer_value(json_object_get(event, "tid"));
	if (micros_ps(json_number_value(start) - first_us, &node->start_ps) < 0)
		return field_refuse(input, place, "ts", "is over 106 days after the first");
	int rc = field_micros(input, place, json_object_get(event, "dur"), "dur",
			      &node->duration_ps);
	if (rc == 0 && strncmp(name, "nccl", 4) == 0)
		rc = take_nccl(input, node, event);
	return rc;
}

// The smallest start of a node. -EINVAL when one has none.
static int find_first(struct trace_input *input, const json_t *list, double *ret_us)
{
	const json_t *event;
	size_t i;
	*ret_us = INFINITY;
	json_array_foreach(list, i, event)
	{
		const json_t *start = json_object_get(event, "ts");
		if (!is_of_gpu(event))
			continue;
		if (!json_is_number(start))
			return field_refuse(input, (uint32_t)i + 1, "ts", "must be a number");
		*ret_us = fmin(*ret_us, json_number_value(start));
	}
	return 0;
}

static int take_events(struct trace_input *input, const json_t *root)
{
	const json_t *list = field_list(input, root, "traceEvents"), *event;
	const json_t *world = json_object_get(json_object_get(root, "distributedInfo"),
					      "world_size");
	uint64_t ranks = 0;
	double first_us = 0;
	size_t i;
	int rc = list == NULL ? -EINVAL : find_first(input, list, &first_us);
	if (rc == 0 && world != NULL)
		rc = field_number(input, 0, world, "distributedInfo.world_size", INT32_MAX, &ranks);
	json_array_foreach(list, i, event) if (rc == 0 && is_of_gpu(event))
		rc = take_event(input, event, (uint32_t)i + 1, first_us);
	input->set->has_times = true;
	input->set->world = (uint32_t)ranks;
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
