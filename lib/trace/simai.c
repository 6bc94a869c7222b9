// SPDX-License-Identifier: Apache-2.0
// The text of SimAI, and what AICB writes in its form, through the reader of room workload: each
// communication a node, each time of computation another, in the order in which SimAI runs them.

#include "set.h"

#include <stdlib.h>
#include <string.h>

#include <weft/workload/trace_simai.h>

// A communication takes 96 bytes and a line of 24 or more has up to three.
#define ARENA_BYTES(text_bytes) ((text_bytes)*16 + 4096)

static const enum trace_collective collectives[TRACE_COMM_COUNT] = {
	[TRACE_ALLREDUCE] = TRACE_COLLECTIVE_ALL_REDUCE,
	[TRACE_ALLGATHER] = TRACE_COLLECTIVE_ALL_GATHER,
	[TRACE_REDUCESCATTER] = TRACE_COLLECTIVE_REDUCE_SCATTER,
	[TRACE_ALLTOALL] = TRACE_COLLECTIVE_ALL_TO_ALL,
	[TRACE_BROADCAST] = TRACE_COLLECTIVE_BROADCAST,
};

// Ranks of a group and the distance between them: ranks are numbered tensor first, then data, then
// pipeline, and expert groups are data ranks in a row. 0 where the text does not say how many GPUs
// there are.
static uint32_t ranks_of(const struct trace *trace, enum trace_group group, uint32_t *ret_stride)
{
	uint32_t data = trace->gpus / (trace->tp * trace->pp);
	*ret_stride = trace->tp;
	switch (group) {
	case TRACE_GROUP_TP:
		*ret_stride = 1;
		return trace->tp;
	case TRACE_GROUP_EP:
		return trace->gpus == 0 ? 0 : trace->ep;
	case TRACE_GROUP_DP_EP:
		*ret_stride = trace->tp * trace->ep;
		return data / trace->ep;
	default:
		return data;
	}
}

// What a text becomes: a line of nodes that wait for each other, and beside it what nothing waits
// for.
struct line {
	struct trace_input *input;
	const struct trace *trace;
	uint64_t next; // id
	uint64_t last; // of the line; UINT64_MAX: none yet
};

// A node behind `after`. Its id is in line->next - 1.
static struct trace_node *put(struct line *line, uint64_t after, uint32_t place, int *rc)
{
	struct trace_node *node = input_node(line->input, line->next, place);
	*rc = node == NULL ? input_no_memory(line->input) : 0;
	if (node != NULL && after != UINT64_MAX)
		*rc = input_wait(line->input, after);
	line->next++;
	return node;
}

static int put_compute(struct line *line, const char *name, uint64_t ns, uint64_t *after)
{
	int rc;
	if (ns == 0)
		return 0;
	struct trace_node *node = put(line, *after, 0, &rc);
	if (rc < 0)
		return rc;
	node_name(node, name, strlen(name));
	node->kind = TRACE_KIND_COMPUTE;
	node->duration_ps = (ps_t)ns * PS_PER_NS;
	*after = line->next - 1;
	return 0;
}

static int put_entry(struct line *line, const struct trace_entry *entry, uint64_t *after)
{
	uint32_t stride, ranks = ranks_of(line->trace, entry->group, &stride);
	int rc;
	struct trace_node *node = put(line, *after, entry->line, &rc);
	if (rc < 0)
		return rc;
	node_name(node, entry->layer, strlen(entry->layer));
	node->kind = TRACE_KIND_COLLECTIVE;
	node->collective = (uint8_t)collectives[entry->comm];
	node->bytes = entry->bytes;
	*after = line->next - 1;
	return input_group(line->input, trace_group_name(entry->group), ranks, stride,
			   &node->group);
}

// One column of a layer. `entry` is the first of the layer.
static int put_column(struct line *line, uint32_t layer, unsigned column,
		      const struct trace_entry *entry, uint64_t *after)
{
	const struct trace *trace = line->trace;
	const struct trace_entry *end = trace->entries + trace->entry_count;
	int rc = put_compute(line, "compute", trace->layer_ns[layer][column], after);
	for (; rc == 0 && entry < end && entry->at == layer; entry++)
		if (entry->column == column)
			rc = put_entry(line, entry, after);
	return rc;
}

// Forward through the layers; then back, where the gradients of weights go beside the line: nothing
// waits for them but the layer's update (Workload.cc of SimAI, HYBRID_TRANSFORMER_FWD_IN_BCKWD).
// A list of single collectives goes line after line.
static int put_layers(struct line *line, const uint32_t *first)
{
	const struct trace *trace = line->trace;
	int rc = 0;
	for (uint32_t i = 0; rc == 0 && i < trace->layer_count; i++) {
		for (unsigned column = 0; rc == 0 && column < (trace->is_micro ? 3 : 1); column++)
			rc = put_column(line, i, column, trace->entries + first[i], &line->last);
		if (rc == 0 && trace->is_micro)
			rc = put_compute(line, "update", trace->layer_ns[i][3], &line->last);
	}
	for (uint32_t i = trace->layer_count; rc == 0 && !trace->is_micro && i-- > 0;) {
		const struct trace_entry *entry = trace->entries + first[i];
		rc = put_compute(line, "compute", trace->layer_ns[i][2], &line->last);
		uint64_t beside = line->last;
		for (const struct trace_entry *at = entry;
		     rc == 0 && at < trace->entries + trace->entry_count && at->at == i; at++)
			if (at->column == 2)
				rc = put_entry(line, at, &beside);
		if (rc == 0)
			rc = put_compute(line, "update", trace->layer_ns[i][3], &beside);
		if (rc == 0)
			rc = put_column(line, i, 1, entry, &line->last);
	}
	return rc;
}

static int take_all(struct trace_input *input, const struct trace *trace)
{
	struct line line = {.input = input, .trace = trace, .last = UINT64_MAX};
	uint32_t *first = calloc((size_t)trace->layer_count + 1, sizeof(*first)), entry = 0;
	if (first == NULL)
		return input_no_memory(input);
	for (uint32_t i = 0; i < trace->layer_count; i++) {
		first[i] = entry;
		while (entry < trace->entry_count && trace->entries[entry].at == i)
			entry++;
	}
	input->set->world = trace->gpus;
	input->set->gathers_whole = input->set->has_times = true;
	input->set->left_bytes = trace->pp > 1 ? trace->pp_bytes : 0;
	input->rank->records = trace->line_count;
	int rc = put_layers(&line, first);
	free(first);
	return rc;
}

int trace_read_simai(struct trace_input *input)
{
	struct trace trace;
	struct arena arena;
	size_t room = (ARENA_BYTES(input->bytes) + 63) & ~(size_t)63;
	void *memory = aligned_alloc(64, room);
	if (memory == NULL)
		return input_no_memory(input);
	memset(memory, 0, room);
	arena_init(&arena, memory, room);
	int rc = trace_simai_parse(&trace, &arena, input->text, input->bytes, input->refusal);
	if (rc == 0)
		rc = take_all(input, &trace);
	free(memory);
	return rc;
}
