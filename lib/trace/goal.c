// SPDX-License-Identifier: Apache-2.0
// GOAL, through the reader of room workload. One file holds all ranks, so it makes as many. Whether
// each message has its other end is not asked here: who runs the trace does.

#include "set.h"

#include <stdlib.h>
#include <string.h>

#include <weft/trace/trace_run.h>
#include <weft/workload/workload_goal.h>

// An operation of some 200 bytes with its label needs a line of 7 or more.
#define ARENA_BYTES(text_bytes) ((text_bytes)*64 + ((size_t)1 << 20))
#define UNIT_PS PS_PER_NS // GOAL has units of time; its users mean nanoseconds

struct taking {
	struct trace_input *input;
	const struct goal_file *file;
	uint32_t *place; // [ops] of each operation its number within its rank
	uint32_t *first; // [ops + 2] of operation i, before[first[i] .. first[i + 1]) is waited for
	uint32_t *before; // [edges]
};

static int take_op(struct taking *taking, uint32_t index)
{
	static const enum trace_kind kinds[OP_KIND_COUNT] = {
		[OP_COMPUTE] = TRACE_KIND_COMPUTE,
		[OP_SEND] = TRACE_KIND_SEND,
		[OP_RECEIVE] = TRACE_KIND_RECEIVE,
	};
	struct trace_input *input = taking->input;
	const struct op *op = &taking->file->program->ops[index];
	input->rank = &input->set->ranks[op->rank];
	struct trace_node *node = input_node(input, taking->place[index],
					     taking->file->lines[index]);
	if (node == NULL)
		return input_no_memory(input);
	bool is_gate = index >= taking->file->ops;
	const char *name = is_gate ? "may begin" : op_kind_name(op->kind);
	node_name(node, name, strlen(name));
	node->kind = (uint8_t)(is_gate ? TRACE_KIND_OTHER : kinds[op->kind]);
	if (op->kind == OP_COMPUTE) {
		node->duration_ps = op->compute_ps;
		node->stream = op->stream;
	} else {
		node->bytes = op->bytes;
		node->peer = op->peer;
		node->tag = op->tag;
	}
	int rc = 0;
	for (uint32_t k = taking->first[index]; rc == 0 && k < taking->first[index + 1]; k++)
		rc = input_wait(input, taking->place[taking->before[k]]);
	return rc;
}

// Edges by the operation that waits.
static void order_waits(struct taking *taking)
{
	const struct program *program = taking->file->program;
	for (uint32_t i = 0; i < program->edge_count; i++)
		taking->first[program->edge_to[i] + 1]++;
	for (uint32_t i = 0; i < program->op_count; i++)
		taking->first[i + 1] += taking->first[i];
	for (uint32_t i = program->edge_count; i-- > 0;)
		taking->before[--taking->first[program->edge_to[i] + 1]] = program->edge_from[i];
	memmove(taking->first, taking->first + 1, program->op_count * sizeof(*taking->first));
	taking->first[program->op_count] = program->edge_count;
}

// The file's first rank is there.
static int take_ranks(struct trace_input *input, uint32_t ranks)
{
	struct trace_set *set = input->set;
	if (trace_make_ranks(set, ranks - 1) < 0)
		return input_no_memory(input);
	for (uint32_t rank = 1; rank < ranks; rank++)
		memcpy(set->ranks[rank].path, set->ranks[0].path, sizeof(set->ranks[0].path));
	return 0;
}

static int take_all(struct trace_input *input, const struct goal_file *file)
{
	const struct program *program = file->program;
	struct taking taking = {
		.input = input,
		.file = file,
		.place = calloc((size_t)program->op_count + 1, sizeof(*taking.place)),
		.first = calloc((size_t)program->op_count + 2, sizeof(*taking.first)),
		.before = calloc((size_t)program->edge_count + 1, sizeof(*taking.before))};
	uint32_t *counts = calloc(program->ranks, sizeof(*counts));
	int rc = take_ranks(input, program->ranks);
	if (counts == NULL || taking.place == NULL || taking.first == NULL || taking.before == NULL)
		rc = input_no_memory(input);
	if (rc == 0) {
		order_waits(&taking);
		for (uint32_t i = 0; i < program->op_count; i++)
			taking.place[i] = counts[program->ops[i].rank]++;
		for (uint32_t i = 0; rc == 0 && i < program->op_count; i++)
			rc = take_op(&taking, i);
		input->set->ranks[0].records = file->line_count;
		input->set->has_times = true;
		input->set->nics_each = program->nics_each;
	}
	free(counts);
	free(taking.place);
	free(taking.first);
	free(taking.before);
	return rc;
}

int trace_read_goal(struct trace_input *input)
{
	if (input->set->rank_count > 1)
		return input_refuse(input, 0, "a file of GOAL holds all ranks: there is no second",
				    0, 0);
	struct goal_file file;
	struct arena arena;
	size_t room = (ARENA_BYTES(input->bytes) + 63) & ~(size_t)63;
	char *memory = calloc(1,
			      room + 64); // of the system: pages that nobody touches cost nothing
	if (memory == NULL)
		return input_no_memory(input);
	arena_init(&arena, memory + (64 - (uintptr_t)memory % 64) % 64, room);
	int rc = goal_read(&file, &arena, input->text, input->bytes, UNIT_PS, input->refusal);
	if (rc == 0)
		rc = take_all(input, &file);
	free(memory);
	return rc;
}
