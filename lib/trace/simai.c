// SPDX-License-Identifier: Apache-2.0
// The text of SimAI, and what AICB writes in its form, through the reader of room workload: each
// communication a node, each time of computation before it another.

#include "set.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <weft/workload/workload.h>

// A communication takes 96 bytes and a line of 24 or more has up to three.
#define ARENA_BYTES(text_bytes) ((text_bytes)*16 + 4096)

static const enum trace_collective collectives[TRACE_COMM_COUNT] = {
	[TRACE_ALLREDUCE] = TRACE_COLLECTIVE_ALL_REDUCE,
	[TRACE_ALLGATHER] = TRACE_COLLECTIVE_ALL_GATHER,
	[TRACE_REDUCESCATTER] = TRACE_COLLECTIVE_REDUCE_SCATTER,
	[TRACE_ALLTOALL] = TRACE_COLLECTIVE_ALL_TO_ALL,
	[TRACE_BROADCAST] = TRACE_COLLECTIVE_BROADCAST,
};

// Ranks of a group; 0 where the text does not say how many GPUs there are.
static uint32_t ranks_of(const struct trace *trace, enum trace_group group)
{
	uint32_t data = trace->gpus / (trace->tp * trace->pp);
	switch (group) {
	case TRACE_GROUP_TP:
		return trace->tp;
	case TRACE_GROUP_EP:
		return trace->ep;
	case TRACE_GROUP_DP_EP:
		return data / trace->ep;
	default:
		return data;
	}
}

static int take_entry(struct trace_input *input, const struct trace *trace,
		      const struct trace_entry *entry, uint64_t id)
{
	struct trace_node *node = input_node(input, id, entry->line);
	if (node == NULL)
		return input_no_memory(input);
	node_name(node, entry->layer, strlen(entry->layer));
	node->kind = TRACE_KIND_COLLECTIVE;
	node->collective = (uint8_t)collectives[entry->comm];
	node->bytes = entry->bytes;
	return input_group(input, trace_group_name(entry->group), ranks_of(trace, entry->group), 0,
			   &node->group);
}

static int take_all(struct trace_input *input, const struct trace *trace)
{
	uint64_t id = 0;
	input->set->world = trace->gpus;
	input->set->gathers_whole = input->set->has_times = true;
	input->rank->records = trace->line_count;
	struct trace_node *compute = input_node(input, id++, 0);
	if (compute == NULL)
		return input_no_memory(input);
	node_name(compute, "all layers", strlen("all layers"));
	compute->kind = TRACE_KIND_COMPUTE;
	compute->duration_ps = (ps_t)trace->compute_ns * PS_PER_NS;
	for (uint32_t i = 0; i < trace->entry_count; i++) {
		int rc = take_entry(input, trace, &trace->entries[i], id++);
		if (rc < 0)
			return rc;
	}
	return 0;
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
