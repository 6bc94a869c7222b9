// SPDX-License-Identifier: Apache-2.0
// Nodes to operations. Every node has a first operation, which takes over what it waits for, and a
// last one, which the others wait for: one and the same but for collectives. Computations of one
// thread run one after the other, as the program's streams do; operations of no time have a stream
// of their own. The set is gone through twice: to count, and to build.

#include "expand.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <weft/core/check.h>
#include <weft/workload/coll.h>
#include <weft/workload/workload_ring.h>

#include "rings.h"

#define GATE_STREAM 255u

struct build {
	struct expand expand;
	bool is_building;
	uint64_t ops, edges;
	uint64_t moves; // messages and collectives that send something
	uint32_t tag;	// of collectives: above those of the file's messages
	struct program *program;
	uint64_t *base;		// [ranks + 1] where a rank's nodes begin in the lists below
	uint32_t *first, *last; // operations of each node of each rank
	uint32_t *after;	// [ranks] of one collective
	struct rings rings;
	struct job *job; // of the rings
	void *scratch;	 // for one collective
	size_t scratch_bytes;
};

static int no_memory(const struct build *build)
{
	return refuse(build->expand.refusal, -ENOMEM,
		      "the system does not give the memory for a program of % ranks: fewer ranks "
		      "take less",
		      build->expand.ranks);
}

// ---------------------------------------------------------------- streams

// Threads of a file in order of appearance; more than there are numbers share the last.
static uint16_t stream_of(const struct trace_rank *rank, uint32_t node, uint32_t *threads,
			  uint32_t *count)
{
	uint32_t thread = rank->nodes[node].stream, i = 0;
	while (i < *count && threads[i] != thread)
		i++;
	if (i == *count && i < GATE_STREAM)
		threads[(*count)++] = thread;
	return (uint16_t)(i < GATE_STREAM ? i : GATE_STREAM - 1);
}

// ---------------------------------------------------------------- collectives

// An arena for one call of a room below; its memory is used again for the next.
static int scratch_arena(struct build *build, struct arena *ret, uint64_t bytes)
{
	bytes = (bytes + 4096) & ~UINT64_C(63);
	if (bytes > build->scratch_bytes) {
		free(build->scratch);
		build->scratch = aligned_alloc(64, bytes);
		build->scratch_bytes = build->scratch == NULL ? 0 : bytes;
	}
	if (build->scratch == NULL)
		return no_memory(build);
	memset(build->scratch, 0, bytes);
	arena_init(ret, build->scratch, bytes);
	return 0;
}

// Where and why a collective cannot be had.
static int place_refusal(const struct build *build, const struct instance *instance, int rc)
{
	char text[REFUSAL_TEXT_BYTES];
	memcpy(text, build->expand.refusal->text, sizeof(text));
	expand_refuse(&build->expand, instance->ranks[0], instance->nodes[0], "record %: ", 0, 0);
	strncat(build->expand.refusal->text, text,
		REFUSAL_TEXT_BYTES - 1 - strlen(build->expand.refusal->text));
	return rc;
}

static int count_collective(struct build *build, const struct instance *instance,
			    const struct coll_config *config)
{
	struct arena arena;
	uint32_t ops, edges;
	int rc = coll_check(config, build->expand.refusal);
	if (rc == 0)
		rc = scratch_arena(build, &arena, coll_bytes(config));
	if (rc == 0)
		rc = coll_count(config, &arena, true, &ops, &edges, build->expand.refusal);
	if (rc < 0)
		return place_refusal(build, instance, rc);
	build->ops += ops;
	build->edges += edges;
	return 0;
}

static int put_collective(struct build *build, const struct instance *instance,
			  const struct coll_config *config)
{
	const struct coll_place place = {.ranks = instance->ranks,
					 .after = build->after,
					 .tag = build->tag,
					 .stream = GATE_STREAM};
	struct arena arena;
	for (uint32_t m = 0; m < instance->count; m++)
		build->after[m] =
			build->first[build->base[instance->ranks[m]] + instance->nodes[m]];
	int rc = scratch_arena(build, &arena, coll_bytes(config));
	if (rc == 0)
		rc = coll_put(build->program, &arena, config, &place, build->expand.refusal);
	if (rc < 0)
		return place_refusal(build, instance, rc);
	for (uint32_t m = 0; m < instance->count; m++)
		build->last[build->base[instance->ranks[m]] + instance->nodes[m]] = build->after[m];
	return 0;
}

// ---------------------------------------------------------------- rings

static uint32_t *first_of(struct build *build, const struct instance *instance, uint32_t member)
{
	return &build->first[build->base[instance->ranks[member]] + instance->nodes[member]];
}

static uint32_t *last_of(struct build *build, const struct instance *instance, uint32_t member)
{
	return &build->last[build->base[instance->ranks[member]] + instance->nodes[member]];
}

// Slices and credits, where nobody has a machine for rings.
static int take_messages(struct build *build, const struct instance *instance,
			 const struct coll_config *config)
{
	struct ring_config ring = build->expand.run->ring;
	const struct group group = {.ranks = instance->count,
				    .gpus = instance->ranks,
				    .ranks_per_host = instance_domain(&build->expand, instance)};
	const struct ring_messages of = {.config = &ring,
					 .group = &group,
					 .kind = (enum collective_kind)config->kind,
					 .bytes = config->bytes,
					 .tag = build->tag,
					 .stream = GATE_STREAM};
	struct program *program = build->is_building ? build->program : NULL;
	struct arena arena;
	uint64_t ops = 0, edges = 0;
	for (uint32_t m = 0; m < instance->count; m++)
		build->after[m] = build->is_building ? *first_of(build, instance, m) : 0;
	int rc = scratch_arena(build, &arena, ring_messages_bytes(&of));
	if (rc == 0)
		rc = ring_messages_put(program, &arena, &of, build->after, &ops, &edges,
				       build->expand.refusal);
	if (rc < 0)
		return place_refusal(build, instance, rc);
	build->ops += ops;
	build->edges += edges;
	for (uint32_t m = 0; build->is_building && m < instance->count; m++)
		*last_of(build, instance, m) = build->after[m];
	return 0;
}

static int count_ring(struct build *build, const struct instance *instance,
		      const struct coll_config *config)
{
	const struct trace_node *node =
		&expand_rank(&build->expand, instance->ranks[0])->nodes[instance->nodes[0]];
	struct ring_config ring = build->expand.run->ring;
	ring.ranks = instance->count;
	if (ring_check(&ring, config->bytes, build->expand.refusal) < 0)
		return place_refusal(build, instance, -EINVAL);
	build->ops += instance->count;
	build->edges += instance->count;
	return rings_count(&build->rings, node->group, instance,
			   instance_domain(&build->expand, instance)) < 0
		? no_memory(build)
		: 0;
}

static int put_ring(struct build *build, const struct instance *instance,
		    const struct coll_config *config)
{
	const struct trace_node *node =
		&expand_rank(&build->expand, instance->ranks[0])->nodes[instance->nodes[0]];
	uint32_t number, group;
	group = rings_take(&build->rings, node->group, instance->ranks[0], &number);
	struct bucket *bucket =
		&build->job->buckets[build->job->groups[group].bucket_first + number];
	*bucket = (struct bucket){
		.kind = (enum collective_kind)config->kind, .bytes = config->bytes, .siblings = 1};
	snprintf(bucket->label, sizeof(bucket->label), "%.31s", node->name);
	for (uint32_t m = 0; m < instance->count; m++) {
		uint32_t op = program_collective(build->program, instance->ranks[m], group, m,
						 number);
		program_wait(build->program, op, *first_of(build, instance, m));
		*last_of(build, instance, m) = op;
	}
	return 0;
}

// An all-to-all whose ranks send each other what they like.
static int take_uneven(struct build *build, const struct instance *instance,
		       const struct coll_config *config)
{
	const struct split_place place = {.program = build->is_building ? build->program : NULL,
					  .after = build->after,
					  .tag = build->tag,
					  .stream = GATE_STREAM};
	for (uint32_t m = 0; m < instance->count; m++)
		build->after[m] = build->is_building ? *first_of(build, instance, m) : 0;
	int rc = split_put(&build->expand, instance, config, &place, &build->ops, &build->edges);
	for (uint32_t m = 0; rc == 0 && build->is_building && m < instance->count; m++)
		*last_of(build, instance, m) = build->after[m];
	return rc;
}

static int take_collective(void *context, const struct instance *instance)
{
	struct build *build = context;
	struct coll_config config;
	int rc = instance_config(&build->expand, instance, &config);
	if (rc < 0 || instance->count == 1) // nothing goes anywhere
		return rc;
	if (config.kind == COLL_ALL_TO_ALL && (rc = split_check(&build->expand, instance)) < 0)
		return rc;
	bool is_uneven = config.kind == COLL_ALL_TO_ALL &&
		split_is_uneven(&build->expand, instance);
	if (config.bytes == 0 && !is_uneven)
		return 0;
	build->moves++;
	if (is_uneven)
		return take_uneven(build, instance, &config);
	bool is_ring = config.kind <= COLL_ALL_REDUCE &&
		instance_domain(&build->expand, instance) > 0;
	if (is_ring && build->expand.run->has_messages_only)
		return take_messages(build, instance, &config);
	if (is_ring)
		return build->is_building ? put_ring(build, instance, &config)
					  : count_ring(build, instance, &config);
	return build->is_building ? put_collective(build, instance, &config)
				  : count_collective(build, instance, &config);
}

// ---------------------------------------------------------------- other nodes

static int check_message(struct build *build, uint32_t rank, uint32_t node)
{
	const struct expand *expand = &build->expand;
	const struct trace_node *of = &expand_rank(expand, rank)->nodes[node];
	if (of->peer >= expand->ranks || of->peer == rank)
		return expand_refuse(expand, rank, node,
				     "record %: the other rank is %, of % there are", of->peer,
				     expand->ranks);
	if (of->bytes == 0 || of->bytes > UINT32_MAX)
		return expand_refuse(expand, rank, node,
				     "record %: a message has 1 to 4294967295 bytes, not %",
				     (int64_t)of->bytes, 0);
	if (of->tag > INT32_MAX - RING_TAGS)
		return expand_refuse(expand, rank, node,
				     "record %: the tag % leaves none for collectives", of->tag, 0);
	build->tag = of->tag + 1 > build->tag ? of->tag + 1 : build->tag;
	build->moves++;
	return 0;
}

static uint32_t put_node(struct build *build, uint32_t rank, const struct trace_node *node,
			 uint16_t stream)
{
	switch (node->kind) {
	case TRACE_KIND_SEND:
		return program_send(build->program, rank, node->peer, node->tag,
				    (uint32_t)node->bytes, 0);
	case TRACE_KIND_RECEIVE:
		return program_receive(build->program, rank, node->peer, node->tag,
				       (uint32_t)node->bytes, 0, false);
	case TRACE_KIND_COLLECTIVE: // what it waits for; its messages follow
		return program_compute(build->program, rank, GATE_STREAM, 0);
	default:
		return program_compute(build->program, rank,
				       node->duration_ps == 0 ? GATE_STREAM : stream,
				       node->duration_ps);
	}
}

static int take_rank(struct build *build, uint32_t rank)
{
	const struct trace_rank *file = expand_rank(&build->expand, rank);
	uint32_t threads[GATE_STREAM], thread_count = 0;
	int rc = 0;
	build->ops += file->node_count;
	build->edges += file->wait_count - file->missing;
	for (uint32_t i = 0; rc == 0 && i < file->node_count; i++) {
		const struct trace_node *node = &file->nodes[i];
		if (!build->is_building) {
			if (node->kind == TRACE_KIND_SEND || node->kind == TRACE_KIND_RECEIVE)
				rc = check_message(build, rank, i);
			continue;
		}
		uint32_t op = put_node(build, rank, node,
				       stream_of(file, i, threads, &thread_count));
		build->first[build->base[rank] + i] = build->last[build->base[rank] + i] = op;
	}
	return rc;
}

static void put_waits(struct build *build, uint32_t rank)
{
	const struct trace_rank *file = expand_rank(&build->expand, rank);
	for (uint32_t i = 0; i < file->node_count; i++)
		for (uint32_t k = 0; k < file->nodes[i].wait_count; k++) {
			uint32_t before = file->waits[file->nodes[i].wait_first + k];
			if (before != TRACE_NONE_WAITED)
				program_wait(build->program, build->first[build->base[rank] + i],
					     build->last[build->base[rank] + before]);
		}
}

// ---------------------------------------------------------------- the whole

static int pass(struct build *build, bool is_building)
{
	int rc = 0;
	build->is_building = is_building;
	for (uint32_t rank = 0; rc == 0 && rank < build->expand.ranks; rank++)
		rc = take_rank(build, rank);
	if (rc == 0)
		rc = group_instances(&build->expand, take_collective, build);
	for (uint32_t rank = 0; is_building && rc == 0 && rank < build->expand.ranks; rank++)
		put_waits(build, rank);
	return rc;
}

static int draw_lists(struct build *build)
{
	uint32_t ranks = build->expand.ranks;
	build->base = calloc((size_t)ranks + 1, sizeof(*build->base));
	if (build->base == NULL)
		return no_memory(build);
	for (uint32_t rank = 0; rank < ranks; rank++)
		build->base[rank + 1] = build->base[rank] +
			expand_rank(&build->expand, rank)->node_count;
	build->first = calloc(build->base[ranks] + 1, sizeof(*build->first));
	build->last = calloc(build->base[ranks] + 1, sizeof(*build->last));
	build->after = calloc(ranks, sizeof(*build->after));
	return build->first == NULL || build->last == NULL || build->after == NULL ||
			rings_init(&build->rings, ranks) < 0
		? no_memory(build)
		: 0;
}

// The job lies where the program does.
static int make_job(struct build *build, struct arena *arena)
{
	if (build->rings.group_count == 0)
		return 0;
	build->job = arena_draw(arena, ARENA_WORKLOAD, 1, sizeof(*build->job));
	if (build->job == NULL ||
	    rings_job(build->job, &build->rings, arena, &build->expand.run->ring) < 0)
		return no_memory(build);
	program_use_job(build->program, build->job);
	return 0;
}

// Of what program_seal() refuses the file and the record are those of the operation's rank and
// node: its own operation is the node's first. Where another is refused, only the rank's file is
// known.
static void name_record(const struct build *build)
{
	struct refusal *refusal = build->expand.refusal;
	uint32_t op = build->program->refused_op,
		 rank = op == OP_NONE ? 0 : build->program->ops[op].rank;
	const struct trace_rank *file = expand_rank(&build->expand, rank);
	char record[32];
	if (op == OP_NONE || refusal->file[0] != '\0')
		return;
	refusal_name(refusal, file->path);
	for (uint32_t i = 0; i < file->node_count; i++)
		if (build->first[build->base[rank] + i] == op) {
			snprintf(record, sizeof(record), " (record %u)", file->nodes[i].place);
			strncat(refusal->text, record,
				sizeof(refusal->text) - 1 - strlen(refusal->text));
			return;
		}
}

static int make(struct build *build, struct trace_program *ret)
{
	struct arena arena;
	struct refusal *refusal = build->expand.refusal;
	if (build->ops > UINT32_MAX / 2 || build->edges > UINT32_MAX / 2 ||
	    build->rings.bucket_count > UINT32_MAX / 2)
		return refuse(refusal, -EINVAL,
			      "the trace makes % operations: more than a program can have",
			      (int64_t)build->ops);
	uint32_t ops = (uint32_t)build->ops, edges = (uint32_t)build->edges;
	uint64_t bytes = program_bytes(build->expand.ranks, ops, edges) +
		rings_bytes(&build->rings) + sizeof(struct job);
	bytes = (bytes + 4096) & ~UINT64_C(63);
	int rc = expand_check_memory(&build->expand, build->ops, bytes);
	if (rc < 0)
		return rc;
	ret->memory = aligned_alloc(64, bytes);
	if (ret->memory == NULL)
		return no_memory(build);
	memset(ret->memory, 0, bytes);
	arena_init(&arena, ret->memory, bytes);
	rc = program_create(&build->program, &arena, build->expand.ranks, ops, edges, refusal);
	if (rc == 0) {
		build->program->nics_each = build->expand.set->nics_each;
		rc = make_job(build, &arena);
	}
	if (rc == 0)
		rc = pass(build, true);
	if (rc == 0)
		rc = program_seal(build->program, &arena, refusal);
	if (rc == -EINVAL && build->program != NULL)
		name_record(build);
	ret->program = build->program;
	if (rc < 0)
		trace_program_free(ret);
	return rc;
}

static bool has_messages(const struct trace_set *set)
{
	for (uint32_t i = 0; i < set->ranks[0].node_count; i++)
		if (set->ranks[0].nodes[i].kind == TRACE_KIND_SEND ||
		    set->ranks[0].nodes[i].kind == TRACE_KIND_RECEIVE)
			return true;
	return false;
}

int trace_expand(struct trace_program *ret, struct trace_set *set, const struct trace_run *run,
		 struct refusal *refusal)
{
	uint32_t ranks = trace_ranks(set) > 0 ? trace_ranks(set) : run->ranks;
	struct build build = {.expand = {set, run, refusal, ranks}};
	int rc = trace_line_up(set, refusal);
	*ret = (struct trace_program){0};
	if (rc == 0 && ranks == 0)
		rc = refuse(refusal, -EINVAL, "the trace does not say of how many ranks it is");
	if (rc == 0)
		rc = trace_join_names(set, refusal);
	if (rc == 0)
		rc = expand_check(&build.expand);
	if (rc == 0 && set->rank_count == 1 && has_messages(set))
		rc = trace_spread(set, ranks, refusal);
	if (rc == 0)
		rc = draw_lists(&build);
	if (rc == 0)
		rc = pass(&build, false);
	if (rc == 0 && build.moves == 0)
		rc = refuse(refusal, -EINVAL,
			    "every collective is of one rank or of no bytes: there is nothing to "
			    "run");
	if (rc == 0)
		rc = make(&build, ret);
	free(build.base);
	free(build.first);
	free(build.last);
	free(build.after);
	free(build.scratch);
	rings_free(&build.rings);
	return rc;
}

void trace_program_free(struct trace_program *program)
{
	free(program->memory);
	*program = (struct trace_program){0};
}
