// SPDX-License-Identifier: Apache-2.0
// What the readers of this room share: building a set, and the readers themselves.
#pragma once

#include <weft/trace/trace.h>

// One file under the reader's finger.
struct trace_input {
	struct trace_set *set;
	struct trace_rank *rank; // that is filled
	const char *text;
	size_t bytes;
	struct refusal *refusal;
};

typedef int trace_reader(struct trace_input *input);
trace_reader trace_read_chakra, trace_read_chakra_json, trace_read_pytorch, trace_read_kineto,
	trace_read_simai, trace_read_aicb, trace_read_goal;

// A new node, zero but for `id` and `place`; NULL without memory. Valid until the next.
struct trace_node *input_node(struct trace_input *input, uint64_t id, uint32_t place);

// The node that was added last waits for `id`. -ENOMEM.
int input_wait(struct trace_input *input, uint64_t id);

// Sets a node's name: cut, what is not printable replaced.
void node_name(struct trace_node *node, const char *text, size_t length);

// The group of that name, stride and size, added when it is new. -EINVAL when there are too many,
// -ENOMEM.
int input_group(struct trace_input *input, const char *name, uint32_t ranks, uint32_t stride,
		uint32_t *ret);

// Microseconds as picoseconds. -ERANGE when they are no time of a trace: negative, or over 106
// days.
int micros_ps(double micros, ps_t *ret);

// The collective that NCCL or PyTorch calls `name` (with or without "_", "base", "coalesced"), or
// TRACE_COLLECTIVE_COUNT.
enum trace_collective collective_find(const char *name);

// Fills the refusal with place and reason; -EINVAL. Each '%' of the text is a value.
int input_refuse(const struct trace_input *input, uint32_t line, const char *text, int64_t first,
		 int64_t second);

int input_no_memory(const struct trace_input *input);

// wait.c: turns the ids that nodes wait for into indices, counts what is missing or in a circle.
// -EINVAL when two nodes have one id; -ENOMEM.
int trace_wait_resolve(struct trace_input *input);
