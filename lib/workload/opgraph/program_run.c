// SPDX-License-Identifier: Apache-2.0
// A program while it runs: pure counting, no clock. Every list here belongs to one rank and is
// linked through `link`, in which an operation stands at most once. See program.h.

#include <errno.h>

#include <weft/core/check.h>
#include <weft/workload/program.h>

enum op_state {
	OP_WAITS,
	OP_READY, // may begin; a computation may still wait for its stream
	OP_BEGUN, // was returned
	OP_ENDED,
};

#define OP_STATE 3u
#define OP_ARRIVED 4u // a receive: its message is here

// First in, first out.
struct op_list {
	uint32_t head, tail; // OP_NONE: empty
};

struct run_rank {
	struct op_list ready; // may be returned
	uint32_t left;
};

struct run_stream {
	struct op_list waiting; // computations that are ready
	bool is_busy;
};

struct program_run {
	const struct program *program;
	uint8_t *state;	 // [ops]
	uint32_t *waits; // [ops] operations, and of a receive its message, that it waits for
	uint32_t *link;	 // [ops]
	struct run_rank *ranks;
	struct run_stream *streams; // from program.stream_first of a rank on
};

static void push(struct program_run *run, struct op_list *list, uint32_t index)
{
	run->link[index] = OP_NONE;
	if (list->head == OP_NONE)
		list->head = index;
	else
		run->link[list->tail] = index;
	list->tail = index;
}

static uint32_t pop(const struct program_run *run, struct op_list *list)
{
	uint32_t index = list->head;
	if (index != OP_NONE)
		list->head = run->link[index];
	return index;
}

static void set_state(struct program_run *run, uint32_t index, enum op_state from, enum op_state to)
{
	check((run->state[index] & OP_STATE) == from);
	run->state[index] = (uint8_t)((run->state[index] & ~OP_STATE) | to);
}

static struct run_stream *stream_of(const struct program_run *run, const struct op *op)
{
	return &run->streams[run->program->stream_first[op->rank] + op->stream];
}

static bool has_stream(const struct op *op)
{
	return op->kind == OP_COMPUTE && op->compute_ps != OP_EXTERNAL_COMPUTE_PS;
}

// Nothing is left that operation `index` waits for. Receives end at once: they go to `ended`.
static void begin(struct program_run *run, uint32_t index, struct op_list *ended)
{
	const struct op *op = &run->program->ops[index];
	set_state(run, index, OP_WAITS, OP_READY);
	if (op->kind == OP_RECEIVE) {
		set_state(run, index, OP_READY, OP_BEGUN);
		push(run, ended, index);
		return;
	}
	if (has_stream(op)) {
		struct run_stream *stream = stream_of(run, op);
		if (stream->is_busy) {
			push(run, &stream->waiting, index);
			return;
		}
		stream->is_busy = true;
	}
	push(run, &run->ranks[op->rank].ready, index);
}

static void release(struct program_run *run, uint32_t index, struct op_list *ended)
{
	check(run->waits[index] > 0);
	if (--run->waits[index] == 0)
		begin(run, index, ended);
}

// The stream of a computation that ended takes the next one.
static void free_stream(struct program_run *run, const struct op *op)
{
	struct run_stream *stream = stream_of(run, op);
	uint32_t next = pop(run, &stream->waiting);
	stream->is_busy = next != OP_NONE;
	if (next != OP_NONE)
		push(run, &run->ranks[op->rank].ready, next);
}

// Ends the operations of `ended`, and all receives that end with them.
static void end_all(struct program_run *run, struct op_list *ended)
{
	const struct program *program = run->program;
	for (uint32_t index; (index = pop(run, ended)) != OP_NONE;) {
		const struct op *op = &program->ops[index];
		set_state(run, index, OP_BEGUN, OP_ENDED);
		run->ranks[op->rank].left--;
		if (has_stream(op))
			free_stream(run, op);
		for (uint32_t i = 0; i < op->next_count; i++)
			release(run, program->next[op->next_first + i], ended);
	}
}

// ---------------------------------------------------------------- building

int program_run_create(struct program_run **ret, struct arena *arena, const struct program *program)
{
	check(program->is_sealed);
	uint64_t streams = program->stream_first[program->ranks];
	struct program_run *run = arena_draw(arena, ARENA_WORKLOAD, 1, sizeof(*run));
	if (run == NULL)
		return -ENOMEM;
	run->program = program;
	run->state = arena_draw(arena, ARENA_WORKLOAD, program->op_count, sizeof(uint8_t));
	run->waits = arena_draw(arena, ARENA_WORKLOAD, program->op_count, sizeof(uint32_t));
	run->link = arena_draw(arena, ARENA_WORKLOAD, program->op_count, sizeof(uint32_t));
	run->ranks = arena_draw(arena, ARENA_WORKLOAD, program->ranks, sizeof(struct run_rank));
	run->streams = arena_draw(arena, ARENA_WORKLOAD, streams, sizeof(struct run_stream));
	if (arena_has_failed(arena))
		return -ENOMEM;
	for (uint32_t i = 0; i < program->ranks; i++)
		run->ranks[i].ready.head = OP_NONE;
	for (uint64_t i = 0; i < streams; i++)
		run->streams[i].waiting.head = OP_NONE;
	for (uint32_t i = 0; i < program->op_count; i++) {
		const struct op *op = &program->ops[i];
		run->waits[i] = op->waits_for + (op->kind == OP_RECEIVE);
		run->ranks[op->rank].left++;
	}
	for (uint32_t i = 0; i < program->op_count; i++)
		if (run->waits[i] == 0)
			begin(run, i, NULL); // no receive: that waits for its message
	*ret = run;
	return 0;
}

// ---------------------------------------------------------------- questions and events

bool program_run_has_begun(const struct program_run *run, uint32_t op)
{
	return (run->state[op] & OP_STATE) >= OP_BEGUN;
}

uint32_t program_run_next(struct program_run *run, uint32_t rank)
{
	uint32_t index = pop(run, &run->ranks[rank].ready);
	if (index != OP_NONE)
		set_state(run, index, OP_READY, OP_BEGUN);
	return index;
}

void program_run_ended(struct program_run *run, uint32_t op)
{
	struct op_list ended = {OP_NONE, OP_NONE};
	check(run->program->ops[op].kind != OP_RECEIVE && "receives end by themselves");
	push(run, &ended, op);
	end_all(run, &ended);
}

void program_run_arrived(struct program_run *run, uint32_t receive)
{
	struct op_list ended = {OP_NONE, OP_NONE};
	check(run->program->ops[receive].kind == OP_RECEIVE);
	check(!(run->state[receive] & OP_ARRIVED) && "a message arrives once");
	run->state[receive] |= OP_ARRIVED;
	release(run, receive, &ended);
	end_all(run, &ended);
}

bool program_run_has_arrived(const struct program_run *run, uint32_t receive)
{
	return run->state[receive] & OP_ARRIVED;
}

uint32_t program_run_left(const struct program_run *run, uint32_t rank)
{
	return run->ranks[rank].left;
}
