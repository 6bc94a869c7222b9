// SPDX-License-Identifier: Apache-2.0
// The last step of building a program: sends find their receives, dependencies are sorted, and that
// every operation can end is shown by letting them all end once, without time. See program.h.

#include <errno.h>
#include <string.h>

#include <weft/core/check.h>
#include <weft/core/rng.h>
#include <weft/workload/program.h>
#include <weft/workload/workload.h>

// Messages from one rank to another with one tag that have no partner yet: all sends or all
// receives, oldest first, linked by `twin`.
struct channel {
	uint32_t from, to, tag;
	uint32_t head, tail; // OP_NONE: none
	bool is_used;
};

struct sealing {
	struct program *program;
	struct refusal *refusal;
	struct channel *channels; // [channel_mask + 1], a hash table
	uint64_t channel_mask;
	uint32_t nics;	   // so many ranks, one after the other, are one end of a channel
	uint32_t *first;   // [ops + 1] of sorting; then what an operation still waits for
	uint32_t *order;   // [ops] operations in an order in which they can end
	uint32_t *sorted;  // [edges] dependencies by the one that waits
	uint32_t *members; // [buckets of the job] ranks that cannot begin it yet
};

static uint32_t nics_each(const struct program *program)
{
	return program->nics_each > 1 ? program->nics_each : 1;
}

// Refuses because of operation `index`. `text` begins with its rank and its number.
static int refuse_op(const struct sealing *sealing, uint32_t index, const char *text, int64_t third)
{
	sealing->program->refused_op = index;
	return refuse(sealing->refusal, -EINVAL, text,
		      sealing->program->ops[index].rank / nics_each(sealing->program), index,
		      third);
}

static bool is_message(const struct op *op)
{
	return op->kind == OP_SEND || op->kind == OP_RECEIVE;
}

// ---------------------------------------------------------------- partners

static struct channel *channel_of(const struct sealing *sealing, uint32_t from, uint32_t to,
				  uint32_t tag)
{
	uint64_t hash = rng_mix(rng_mix((uint64_t)from << 32 | to) ^ tag);
	for (;; hash++) {
		struct channel *channel = &sealing->channels[hash & sealing->channel_mask];
		if (!channel->is_used)
			*channel = (struct channel){from, to, tag, OP_NONE, OP_NONE, true};
		if (channel->from == from && channel->to == to && channel->tag == tag)
			return channel;
	}
}

static void append(const struct program *program, struct channel *channel, uint32_t index)
{
	if (channel->head == OP_NONE)
		channel->head = index;
	else
		program->ops[channel->tail].twin = index;
	channel->tail = index;
}

// Joins operation `index` with the oldest of its channel that goes the other way, or puts it there.
static int join(const struct sealing *sealing, uint32_t index)
{
	const struct program *program = sealing->program;
	struct op *op = &program->ops[index];
	bool is_send = op->kind == OP_SEND;
	uint32_t from = is_send ? op->rank : op->peer, to = is_send ? op->peer : op->rank;
	struct channel *channel = channel_of(sealing, from / sealing->nics, to / sealing->nics,
					     op->tag);
	uint32_t other = channel->head;
	if (other == OP_NONE || program->ops[other].kind == op->kind) {
		append(program, channel, index);
		return 0;
	}
	channel->head = program->ops[other].twin;
	program->ops[other].twin = index;
	op->twin = other;
	op->peer = program->ops[other].rank;
	program->ops[other].peer = op->rank;
	if (op->bytes == program->ops[other].bytes)
		return 0;
	return is_send ? refuse_op(sealing, index,
				   "rank %, operation %: what it sends is not as long as what the "
				   "receive expects, % bytes",
				   program->ops[other].bytes)
		       : refuse_op(sealing, index,
				   "rank %, operation %: what it receives is not as long as what "
				   "was sent, % bytes",
				   program->ops[other].bytes);
}

static int refuse_single(const struct sealing *sealing, uint32_t index)
{
	const struct op *op = &sealing->program->ops[index];
	uint32_t peer = op->peer / nics_each(sealing->program);
	return op->kind == OP_SEND
		? refuse_op(sealing, index,
			    "rank %, operation %: rank % never receives what it sends (same tag)",
			    peer)
		: refuse_op(sealing, index,
			    "rank %, operation %: rank % never sends what it waits for (same tag)",
			    peer);
}

static bool is_joined(const struct program *program, uint32_t index)
{
	uint32_t twin = program->ops[index].twin;
	return twin != OP_NONE && program->ops[twin].twin == index;
}

// Joins what is not joined yet, where ends of a channel are so many NICs.
static int join_over(struct sealing *sealing, uint32_t nics)
{
	const struct program *program = sealing->program;
	int rc = 0;
	memset(sealing->channels, 0, (sealing->channel_mask + 1) * sizeof(struct channel));
	sealing->nics = nics;
	for (uint32_t i = 0; rc == 0 && i < program->op_count; i++) {
		if (!is_message(&program->ops[i]) || is_joined(program, i))
			continue;
		program->ops[i].twin = OP_NONE;
		rc = join(sealing, i);
	}
	return rc;
}

// Messages stay on NICs of one number where they can; the others go to any NIC of the rank.
static int join_all(struct sealing *sealing)
{
	const struct program *program = sealing->program;
	uint32_t single = OP_NONE;
	int rc = join_over(sealing, 1);
	if (rc == 0 && nics_each(program) > 1)
		rc = join_over(sealing, program->nics_each);
	if (rc < 0)
		return rc;
	for (uint64_t i = 0; i <= sealing->channel_mask; i++)
		if (sealing->channels[i].is_used && sealing->channels[i].head < single)
			single = sealing->channels[i].head;
	return single == OP_NONE ? 0 : refuse_single(sealing, single);
}

// ---------------------------------------------------------------- dependencies

// Sorts the dependencies by the one that waits, then by the one that it waits for: of those that
// one operation releases the first comes first.
static void sort_edges(const struct sealing *sealing)
{
	struct program *program = sealing->program;
	uint32_t *at = sealing->first, count = 0;
	for (uint32_t i = 0; i < program->op_count; i++) {
		at[i] = count;
		count += program->ops[i].waits_for;
	}
	for (uint32_t i = 0; i < program->edge_count; i++)
		sealing->sorted[at[program->edge_to[i]]++] = i;
	count = 0;
	for (uint32_t i = 0; i < program->op_count; i++) {
		program->ops[i].next_first = at[i] = count;
		count += program->ops[i].next_count;
	}
	for (uint32_t i = 0; i < program->edge_count; i++) {
		uint32_t edge = sealing->sorted[i];
		program->next[at[program->edge_from[edge]]++] = program->edge_to[edge];
	}
}

// ---------------------------------------------------------------- collectives

static uint64_t collective_cell(const struct program *program, uint32_t group, uint32_t at,
				uint32_t bucket)
{
	uint64_t buckets = program->job->groups[group].bucket_count;
	return program->collective_first[group] + at * buckets + bucket;
}

uint32_t program_collective_of(const struct program *program, uint32_t group, uint32_t at,
			       uint32_t bucket)
{
	return program->collectives[collective_cell(program, group, at, bucket)];
}

// The operation that runs the next bucket of the same rank and group, or OP_NONE.
static uint32_t collective_next(const struct program *program, const struct op *op)
{
	if (op->bucket + 1 == program->job->groups[op->group].bucket_count)
		return OP_NONE;
	return program_collective_of(program, op->group, op->at, op->bucket + 1);
}

// Every rank of a group runs every bucket.
static int check_group(const struct sealing *sealing, uint32_t group)
{
	const struct program *program = sealing->program;
	const struct group *of = &program->job->groups[group];
	for (uint32_t at = 0; at < of->ranks; at++)
		for (uint32_t bucket = 0; bucket < of->bucket_count; bucket++)
			if (program_collective_of(program, group, at, bucket) == OP_NONE)
				return refuse(sealing->refusal, -EINVAL,
					      "NIC % of group % does not run the group's bucket %",
					      of->gpus[at], group, bucket);
	return 0;
}

static int list_collectives(const struct sealing *sealing)
{
	const struct program *program = sealing->program;
	uint32_t groups = program->job == NULL ? 0 : program->job->group_count;
	for (uint64_t i = 0; i < program->collective_first[groups]; i++)
		program->collectives[i] = OP_NONE;
	for (uint32_t i = 0; i < program->op_count; i++) {
		const struct op *op = &program->ops[i];
		if (op->kind != OP_COLLECTIVE)
			continue;
		uint64_t cell = collective_cell(program, op->group, op->at, op->bucket);
		if (program->collectives[cell] != OP_NONE)
			return refuse_op(sealing, i,
					 "rank %, operation %: bucket % is run a second time",
					 op->bucket);
		program->collectives[cell] = i;
	}
	int rc = 0;
	for (uint32_t group = 0; rc == 0 && group < groups; group++)
		rc = check_group(sealing, group);
	return rc;
}

// Room for the list, and for what each bucket waits for.
static int draw_collectives(struct sealing *sealing, struct arena *arena)
{
	struct program *program = sealing->program;
	const struct job *job = program->job;
	uint32_t groups = job == NULL ? 0 : job->group_count;
	uint32_t buckets = job == NULL ? 0 : job->bucket_count;
	uint64_t cells = 0;
	program->collective_first = arena_draw(arena, ARENA_WORKLOAD, groups + 1ull,
					       sizeof(uint64_t));
	sealing->members = arena_draw(arena, ARENA_WORKLOAD, buckets, sizeof(uint32_t));
	if (arena_has_failed(arena))
		return -ENOMEM;
	for (uint32_t i = 0; i < groups; i++) {
		program->collective_first[i] = cells;
		cells += (uint64_t)job->groups[i].ranks * job->groups[i].bucket_count;
		for (uint32_t b = 0; b < job->groups[i].bucket_count; b++)
			sealing->members[job->groups[i].bucket_first + b] = job->groups[i].ranks;
	}
	program->collective_first[groups] = cells;
	program->collectives = arena_draw(arena, ARENA_WORKLOAD, cells, sizeof(uint32_t));
	return program->collectives == NULL ? -ENOMEM : 0;
}

// ---------------------------------------------------------------- circles

#define ENDED UINT32_MAX // in place of what an operation still waits for

// Nothing is left that operation `index` waits for: it ends. A part of a collective ends when
// the last of the others may.
static uint32_t ready(const struct sealing *sealing, uint32_t index, uint32_t count)
{
	const struct program *program = sealing->program;
	const struct op *op = &program->ops[index];
	if (op->kind != OP_COLLECTIVE) {
		sealing->order[count++] = index;
		return count;
	}
	const struct group *group = &program->job->groups[op->group];
	if (--sealing->members[group->bucket_first + op->bucket] > 0)
		return count;
	for (uint32_t at = 0; at < group->ranks; at++)
		sealing->order[count++] = program_collective_of(program, op->group, at, op->bucket);
	return count;
}

// Operation `index` waits for one thing less.
static uint32_t release(const struct sealing *sealing, uint32_t index, uint32_t count)
{
	return --sealing->first[index] == 0 ? ready(sealing, index, count) : count;
}

static uint32_t end_one(const struct sealing *sealing, uint32_t index, uint32_t count)
{
	const struct program *program = sealing->program;
	const struct op *op = &program->ops[index];
	sealing->first[index] = ENDED;
	for (uint32_t i = 0; i < op->next_count; i++)
		count = release(sealing, program->next[op->next_first + i], count);
	if (op->kind == OP_SEND)
		return release(sealing, op->twin, count);
	uint32_t next = op->kind == OP_COLLECTIVE ? collective_next(program, op) : OP_NONE;
	return next == OP_NONE ? count : release(sealing, next, count);
}

// Besides the dependencies, what an operation that cannot end waits for.
static uint32_t beyond_edges(const struct sealing *sealing, uint32_t index)
{
	const struct program *program = sealing->program;
	const struct op *op = &program->ops[index];
	if (op->kind == OP_RECEIVE)
		return op->twin;
	if (op->kind != OP_COLLECTIVE)
		return OP_NONE;
	if (sealing->first[index] > 0)
		return op->bucket == 0
			? OP_NONE
			: program_collective_of(program, op->group, op->at, op->bucket - 1);
	uint32_t other, at = 0; // it is ready itself: another of its bucket is not
	do
		other = program_collective_of(program, op->group, at++, op->bucket);
	while (sealing->first[other] == 0);
	return other;
}

// Finds an operation of a circle: from one that cannot end each step leads to one that it waits for
// and that cannot end either.
static int refuse_circle(const struct sealing *sealing)
{
	const struct program *program = sealing->program;
	const uint32_t *left = sealing->first;
	uint32_t *before = sealing->order, index = 0;
	for (uint32_t i = 0; i < program->op_count; i++)
		before[i] = left[i] == ENDED ? OP_NONE : beyond_edges(sealing, i);
	for (uint32_t i = 0; i < program->edge_count; i++)
		if (left[program->edge_from[i]] != ENDED)
			before[program->edge_to[i]] = program->edge_from[i];
	while (left[index] == ENDED)
		index++;
	for (uint32_t i = 0; i < program->op_count; i++)
		index = before[index];
	return refuse_op(sealing, index,
			 "rank %, operation %: it waits for itself, by way of dependencies and "
			 "messages",
			 0);
}

// Things that an operation waits for: dependencies, its message, the bucket before.
static uint32_t waits_of(const struct op *op)
{
	return op->waits_for + (op->kind == OP_RECEIVE) +
		(op->kind == OP_COLLECTIVE && op->bucket > 0);
}

static int end_all(const struct sealing *sealing)
{
	const struct program *program = sealing->program;
	uint32_t count = 0;
	for (uint32_t i = 0; i < program->op_count; i++)
		sealing->first[i] = waits_of(&program->ops[i]);
	for (uint32_t i = 0; i < program->op_count; i++)
		if (waits_of(&program->ops[i]) == 0)
			count = ready(sealing, i, count);
	for (uint32_t i = 0; i < count; i++)
		count = end_one(sealing, sealing->order[i], count);
	return count == program->op_count ? 0 : refuse_circle(sealing);
}

// ---------------------------------------------------------------- streams

// How many streams each rank has: numbers run from 0 on.
static void count_streams(const struct sealing *sealing)
{
	struct program *program = sealing->program;
	uint64_t first = 0;
	for (uint32_t i = 0; i < program->op_count; i++) {
		const struct op *op = &program->ops[i];
		if (op->kind == OP_COMPUTE && op->stream + 1u > program->stream_first[op->rank])
			program->stream_first[op->rank] = op->stream + 1u;
	}
	for (uint32_t i = 0; i <= program->ranks; i++) {
		uint64_t count = program->stream_first[i];
		program->stream_first[i] = first;
		first += count;
	}
}

// ---------------------------------------------------------------- all of it

// Cells of the table of channels: twice as many as there can be, a power of two.
static uint64_t channel_cells(uint32_t ops)
{
	uint64_t cells = 16;
	while (cells < ops)
		cells *= 2;
	return cells * 2;
}

static int draw(struct sealing *sealing, struct arena *arena)
{
	struct program *program = sealing->program;
	uint32_t messages = 0;
	for (uint32_t i = 0; i < program->op_count; i++)
		messages += is_message(&program->ops[i]);
	uint64_t cells = channel_cells(messages);
	sealing->channel_mask = cells - 1;
	sealing->channels = arena_draw(arena, ARENA_WORKLOAD, cells, sizeof(struct channel));
	sealing->first = arena_draw(arena, ARENA_WORKLOAD, program->op_count, sizeof(uint32_t));
	sealing->order = arena_draw(arena, ARENA_WORKLOAD, program->op_count, sizeof(uint32_t));
	sealing->sorted = arena_draw(arena, ARENA_WORKLOAD, program->edge_count, sizeof(uint32_t));
	program->next = arena_draw(arena, ARENA_WORKLOAD, program->edge_count, sizeof(uint32_t));
	program->stream_first = arena_draw(arena, ARENA_WORKLOAD, program->ranks + 1ull,
					   sizeof(uint64_t));
	return sealing->channels == NULL || sealing->first == NULL || sealing->order == NULL ||
			sealing->sorted == NULL || program->next == NULL ||
			program->stream_first == NULL || draw_collectives(sealing, arena) < 0
		? refuse(sealing->refusal, -ENOMEM,
			 "no memory for the order of % operations and % dependencies",
			 program->op_count, program->edge_count)
		: 0;
}

uint64_t program_bytes(uint32_t ranks, uint32_t op_max, uint32_t edge_max)
{
	uint64_t drawn = sizeof(struct program) + (uint64_t)op_max * (sizeof(struct op) + 8) +
		16ull * edge_max + 12ull * ranks + 8;
	return drawn + channel_cells(op_max) * sizeof(struct channel) + 14 * 128;
}

int program_seal(struct program *program, struct arena *arena, struct refusal *refusal)
{
	struct sealing sealing = {.program = program, .refusal = refusal};
	check(!program->is_sealed);
	int rc = draw(&sealing, arena);
	if (rc == 0)
		rc = join_all(&sealing);
	if (rc == 0)
		rc = list_collectives(&sealing);
	if (rc < 0)
		return rc;
	sort_edges(&sealing);
	count_streams(&sealing);
	rc = end_all(&sealing);
	program->is_sealed = rc == 0;
	return rc;
}
