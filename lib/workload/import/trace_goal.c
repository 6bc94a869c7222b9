// SPDX-License-Identifier: Apache-2.0
// GOAL text to a program: once over the text to count, once to build. See workload_goal.h.
//
// `a irequires b` says that a begins when b may begin. If anybody says that of b, a computation
// of no length goes before b, on a stream of its own: it takes over what b waits for.

#include "trace_goal.h"

#include <errno.h>
#include <string.h>

#include <weft/core/bitmap.h>
#include <weft/core/check.h>
#include <weft/core/rng.h>

#define RANK_BYTES 8u // a block is longer: a count of ranks beyond that cannot be true
#define COMPUTE_MAX_PS (INT64_C(1) << 60)

struct goal_label {
	const char *at;
	uint32_t length;
	uint32_t rank; // + 1; 0: unused
	uint32_t op;
};

struct goal_wait {
	uint32_t op, before;
	bool is_start;
};

struct goal {
	struct goal_words words;
	struct refusal *refusal;
	struct arena *arena;
	ps_t unit_ps;
	bool is_building;
	uint32_t ranks, rank; // the block in hand; `ranks`: none
	uint32_t nics;	      // of a rank, each a rank of the program
	uint32_t blocks, ops, waits, starts;
	uint16_t gate_stream; // no core has this number
	struct program *program;
	uint32_t *lines; // [ops] line of each operation
	uint64_t *seen;	 // bit per rank: has had its block
	struct goal_label *labels;
	uint64_t label_mask;
	struct goal_wait *list; // [waits]
	uint32_t *gates;	// [ops] the computation that goes before it
};

static int refuse_here(const struct goal *goal, const struct lines_word *word, const char *text,
		       int64_t first, int64_t second)
{
	return lines_refuse(&goal->words.lines, word->column, text, first, second);
}

// ---------------------------------------------------------------- labels

static struct goal_label *find_label(const struct goal *goal, const struct lines_word *word)
{
	uint64_t hash = goal->rank;
	for (size_t i = 0; i < word->length; i++)
		hash = rng_mix(hash ^ (uint8_t)word->at[i]);
	for (;; hash++) {
		struct goal_label *label = &goal->labels[hash & goal->label_mask];
		if (label->rank == 0 ||
		    (label->rank == goal->rank + 1 && label->length == word->length &&
		     memcmp(label->at, word->at, word->length) == 0))
			return label;
	}
}

static int add_label(const struct goal *goal, const struct lines_word *word, uint32_t op)
{
	if (word->length == 0)
		return 0;
	struct goal_label *label = find_label(goal, word);
	if (label->rank != 0)
		return refuse_here(goal, word, "this label appears twice, first in line %",
				   goal->lines[label->op], 0);
	*label = (struct goal_label){word->at, (uint32_t)word->length, goal->rank + 1, op};
	return 0;
}

// ---------------------------------------------------------------- statements

static int take_ranks(struct goal *goal, const struct goal_statement *statement, size_t bytes)
{
	if (goal->ranks > 0)
		return refuse_here(goal, &statement->word, "num_ranks appears twice", 0, 0);
	if (statement->number == 0)
		return refuse_here(goal, &statement->word, "there is 1 rank or more", 0, 0);
	if (statement->number > bytes / RANK_BYTES)
		return refuse_here(goal, &statement->word,
				   "% ranks do not fit into a file of % bytes",
				   (int64_t)statement->number, (int64_t)bytes);
	goal->rank = goal->ranks = (uint32_t)statement->number;
	return 0;
}

static int open_rank(struct goal *goal, const struct goal_statement *statement)
{
	if (goal->rank < goal->ranks)
		return refuse_here(goal, &statement->word, "rank % is not closed yet: } is missing",
				   goal->rank, 0);
	if (statement->number >= goal->ranks)
		return refuse_here(goal, &statement->word, "rank % is not below num_ranks, %",
				   (int64_t)statement->number, goal->ranks);
	goal->rank = (uint32_t)statement->number;
	goal->blocks++;
	if (!goal->is_building)
		return 0;
	if (bitmap_get(goal->seen, goal->rank))
		return refuse_here(goal, &statement->word, "rank % appears twice", goal->rank, 0);
	bitmap_set(goal->seen, goal->rank);
	return 0;
}

// Checks what an operation says.
static int check_op(const struct goal *goal, const struct goal_statement *statement)
{
	if (statement->op == OP_COMPUTE &&
	    statement->size > (uint64_t)(COMPUTE_MAX_PS / goal->unit_ps))
		return refuse_here(goal, &statement->word, "this computation is too long", 0, 0);
	if (statement->op == OP_COMPUTE)
		return 0;
	if (statement->peer >= goal->ranks)
		return refuse_here(goal, &statement->word, "rank % is not below num_ranks, %",
				   (int64_t)statement->peer, goal->ranks);
	if (statement->peer == goal->rank)
		return refuse_here(goal, &statement->word,
				   "rank % has no message for itself: what stays there is a calc",
				   goal->rank, 0);
	return 0;
}

static uint32_t add_op(const struct goal *goal, const struct goal_statement *statement)
{
	uint32_t nic = (uint32_t)statement->nic, rank = goal->rank * goal->nics + nic;
	uint32_t peer = (uint32_t)statement->peer * goal->nics + nic;
	uint32_t tag = (uint32_t)statement->tag;
	uint32_t bytes = (uint32_t)statement->size;
	switch (statement->op) {
	case OP_SEND:
		return program_send(goal->program, rank, peer, tag, bytes, 0);
	case OP_RECEIVE:
		return program_receive(goal->program, rank, peer, tag, bytes, 0, false);
	default:
		return program_compute(goal->program, rank, (uint16_t)statement->cpu,
				       (ps_t)statement->size * goal->unit_ps);
	}
}

static int take_op(struct goal *goal, const struct goal_statement *statement)
{
	int rc = check_op(goal, statement);
	if (rc < 0)
		return rc;
	if (statement->cpu >= goal->gate_stream)
		goal->gate_stream = (uint16_t)(statement->cpu + 1);
	if (!goal->is_building) {
		goal->ops++;
		if (statement->nic >= goal->nics)
			goal->nics = (uint32_t)statement->nic + 1;
		return 0;
	}
	uint32_t op = add_op(goal, statement);
	goal->lines[op] = goal->words.lines.line;
	return add_label(goal, &statement->label, op);
}

static int take_wait(struct goal *goal, const struct goal_statement *statement)
{
	if (!goal->is_building) {
		goal->waits++;
		goal->starts += statement->is_start;
		return 0;
	}
	const struct goal_label *op = find_label(goal, &statement->label);
	const struct goal_label *before = find_label(goal, &statement->other);
	bool is_known = op->rank != 0;
	if (!is_known || before->rank == 0)
		return refuse_here(goal, is_known ? &statement->other : &statement->label,
				   "no operation of rank % above has this label", goal->rank, 0);
	if (goal->program->ops[op->op].rank != goal->program->ops[before->op].rank)
		return refuse_here(
			goal, &statement->label,
			"this waits for an operation of another NIC of its rank, line %: "
			"only what goes over one NIC can wait for each other",
			goal->lines[before->op], 0);
	goal->list[goal->waits++] = (struct goal_wait){op->op, before->op, statement->is_start};
	return 0;
}

static int take(struct goal *goal, const struct goal_statement *statement, size_t bytes)
{
	if (statement->kind == GOAL_RANKS)
		return take_ranks(goal, statement, bytes);
	if (goal->ranks == 0)
		return refuse_here(goal, &statement->word, "the file begins with num_ranks", 0, 0);
	if (statement->kind == GOAL_RANK)
		return open_rank(goal, statement);
	if (goal->rank == goal->ranks)
		return refuse_here(goal, &statement->word, "this stands in no rank's block", 0, 0);
	if (statement->kind == GOAL_CLOSE) {
		goal->rank = goal->ranks;
		return 0;
	}
	return statement->kind == GOAL_OP ? take_op(goal, statement) : take_wait(goal, statement);
}

// Once over the text.
static int read_all(struct goal *goal, const char *text, size_t bytes)
{
	struct goal_statement statement;
	int rc;
	goal->words = (struct goal_words){
		.lines = {.at = text, .end = text + bytes, .refusal = goal->refusal}};
	goal->ranks = goal->rank = goal->blocks = goal->waits = 0;
	while ((rc = goal_next(&goal->words, &statement)) > 0) {
		rc = take(goal, &statement, bytes);
		if (rc < 0)
			return rc;
	}
	if (rc < 0)
		return rc;
	if (goal->ranks == 0)
		return lines_refuse(&goal->words.lines, 0, "the file has no num_ranks", 0, 0);
	if (goal->rank < goal->ranks)
		return lines_refuse(&goal->words.lines, 0,
				    "the file ends within rank %: } is missing", goal->rank, 0);
	if (goal->blocks < goal->ranks)
		return lines_refuse(&goal->words.lines, 0, "the file ends after % of % ranks",
				    goal->blocks, goal->ranks);
	return 0;
}

// ---------------------------------------------------------------- building

static int draw(struct goal *goal)
{
	struct arena *arena = goal->arena;
	uint64_t cells = 16;
	while (cells < 2ull * goal->ops)
		cells *= 2;
	goal->label_mask = cells - 1;
	goal->labels = arena_draw(arena, ARENA_WORKLOAD, cells, sizeof(*goal->labels));
	goal->lines = arena_draw(arena, ARENA_WORKLOAD, (size_t)goal->ops + goal->starts,
				 sizeof(uint32_t));
	goal->seen = arena_draw(arena, ARENA_WORKLOAD, BITMAP_WORDS(goal->ranks), sizeof(uint64_t));
	goal->list = arena_draw(arena, ARENA_WORKLOAD, goal->waits, sizeof(*goal->list));
	goal->gates = arena_draw(arena, ARENA_WORKLOAD, goal->ops, sizeof(uint32_t));
	if (arena_has_failed(arena))
		return refuse(goal->refusal, -ENOMEM, "no memory for % operations", goal->ops);
	int rc = program_create(&goal->program, arena, goal->ranks * goal->nics,
				goal->ops + goal->starts, goal->waits + goal->starts,
				goal->refusal);
	if (rc == 0)
		goal->program->nics_each = goal->nics;
	return rc;
}

static void add_gates(const struct goal *goal)
{
	struct program *program = goal->program;
	for (uint32_t op = 0; op < goal->ops; op++)
		goal->gates[op] = OP_NONE;
	for (uint32_t i = 0; i < goal->waits; i++) {
		uint32_t op = goal->list[i].before;
		if (!goal->list[i].is_start || goal->gates[op] != OP_NONE)
			continue;
		uint32_t gate = program_compute(program, program->ops[op].rank, goal->gate_stream,
						0);
		goal->gates[op] = gate;
		goal->lines[gate] = goal->lines[op];
		program_wait(program, op, gate);
	}
}

static void add_waits(const struct goal *goal)
{
	for (uint32_t i = 0; i < goal->waits; i++) {
		const struct goal_wait *wait = &goal->list[i];
		uint32_t gate = goal->gates[wait->op];
		program_wait(goal->program, gate == OP_NONE ? wait->op : gate,
			     wait->is_start ? goal->gates[wait->before] : wait->before);
	}
}

int goal_read(struct goal_file *ret, struct arena *arena, const char *text, size_t bytes,
	      ps_t unit_ps, struct refusal *refusal)
{
	struct goal goal = {.refusal = refusal, .arena = arena, .unit_ps = unit_ps, .nics = 1};
	check(unit_ps > 0);
	int rc = read_all(&goal, text, bytes);
	if (rc == 0)
		rc = draw(&goal);
	goal.is_building = true;
	if (rc == 0)
		rc = read_all(&goal, text, bytes);
	if (rc < 0)
		return rc;
	add_gates(&goal);
	add_waits(&goal);
	*ret = (struct goal_file){goal.program, goal.lines, goal.ops, goal.words.lines.line};
	return 0;
}

int goal_parse(struct program **ret, struct arena *arena, const char *text, size_t bytes,
	       ps_t unit_ps, struct refusal *refusal)
{
	struct goal_file file;
	int rc = goal_read(&file, arena, text, bytes, unit_ps, refusal);
	if (rc < 0)
		return rc;
	rc = program_seal(file.program, arena, refusal);
	if (rc == -EINVAL && refusal != NULL)
		refusal->line = file.lines[file.program->refused_op];
	if (rc == 0)
		*ret = file.program;
	return rc;
}
