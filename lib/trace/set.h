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

// The group of that name, stride and size without members, added when it is new; where a list has
// named it (trace_set_groups()), the one of the list. -EINVAL when there are too many, -ENOMEM.
int input_group(struct trace_input *input, const char *name, uint32_t ranks, uint32_t stride,
		uint32_t *ret);

// The group of that name with these members, which are sorted in place. -EINVAL when one is there
// twice or there are too many groups, -ENOMEM.
int input_members(struct trace_input *input, const char *name, uint32_t *members, uint32_t count,
		  uint32_t *ret);

// Whether the group may have this member: it has no list, or lists it.
bool group_has(const struct trace_process_group *group, uint32_t rank);

// Groups of one list, none of which all its members call, become the first of them: each rank has a
// name of its own for it. -ENODEV without memory.
int trace_join_names(struct trace_set *set, struct refusal *refusal);

// The ranks 0 to `count` - 1. -ENOMEM.
int input_all_members(struct trace_input *input, const char *name, uint32_t count, uint32_t *ret);

// Makes room for one more of `count` elements of `bytes` each. False without memory.
bool input_grow(void **at, uint32_t count, uint32_t *max, size_t bytes);

// Copies at most `size` - 1 letters; what is not printable is replaced.
void input_copy(char *to, size_t size, const char *text, size_t length);

// Where records end in the lists of a rank, before one is read.
struct input_mark {
	uint32_t nodes, waits, splits;
};
struct input_mark input_mark(const struct trace_input *input);

// What becomes of a record that was read from `mark` on with `rc`: a damaged one is taken back and
// counted where the set skips them, which makes it 0.
int input_settle(struct trace_input *input, struct input_mark mark, int rc);

// file_rank.c: the number that the name of a file of Chakra ends with ("x.12.et"). False: there is
// none.
bool trace_file_rank_number(const char *path, uint32_t *ret);

// file_rank.c: whether a file's message, whose end here is rank `own`, can be of this file: of its
// number, and of the messages before.
bool trace_file_rank_takes(struct trace_rank *rank, uint32_t own);

// file_rank.c: puts the files of a set in the order of the ranks that they say they are of. -EINVAL
// when one is missing or there twice.
int trace_file_rank(struct trace_set *set, struct refusal *refusal);

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
