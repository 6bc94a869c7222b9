// SPDX-License-Identifier: Apache-2.0
// Nodes to operations. Every node has a first operation, which takes over what it waits for, and a
// last one, which the others wait for: one and the same but for collectives. Computations of one
// thread run one after the other, as the program's streams do; operations of no time have a stream
// of their own. The set is gone through twice: to count, and to build.

#include "expand.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <weft/check.h>
#include <weft/coll.h>

#define GATE_STREAM 255u
#define BARRIER_BYTES 4u

struct build {
	struct expand expand;
	bool is_building;
	uint64_t ops, edges;
	uint32_t tag; // of collectives: above those of the file's messages
	struct program *program;
	uint64_t *base;		// [ranks + 1] where a rank's nodes begin in the lists below
	uint32_t *first, *last; // operations of each node of each rank
	uint32_t *after;	// [ranks] of one collective
	void *scratch;		// for one collective
	size_t scratch_bytes;
};

static int no_memory(const struct build *build)
{
	return refuse(build->expand.refusal, -ENOMEM, "no memory for a program of % ranks",
		      build->expand.ranks, 0, 0);
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

// Ranks of a group that share a host, when it is as many on each; 1 else.
static uint32_t domain_of(const struct build *build, const struct instance *instance)
{
	uint32_t size = build->expand.run->rank_host, domain = 0;
	if (size < 2)
		return 1;
	while (domain < instance->count &&
	       instance->ranks[domain] / size == instance->ranks[0] / size)
		domain++;
	for (uint32_t m = 0; m < instance->count; m++)
		if (instance->count % domain != 0 ||
		    instance->ranks[m] / size != instance->ranks[m / domain * domain] / size)
			return 1;
	for (uint32_t m = domain; m < instance->count; m += domain)
		if (instance->ranks[m] / size == instance->ranks[m - 1] / size)
			return 1;
	return domain;
}

static bool kind_of(enum trace_collective collective, enum coll_kind *ret)
{
	static const int8_t kinds[TRACE_COLLECTIVE_COUNT] = {
		COLL_ALL_REDUCE,     COLL_REDUCE,     COLL_ALL_GATHER, COLL_GATHER,
		COLL_SCATTER,	     COLL_BROADCAST,  COLL_ALL_TO_ALL, COLL_REDUCE_SCATTER,
		COLL_REDUCE_SCATTER, COLL_ALL_REDUCE, // a barrier is a small one
	};
	*ret = (enum coll_kind)kinds[collective];
	return collective < TRACE_COLLECTIVE_COUNT;
}

static int config_of(const struct build *build, const struct instance *instance,
		     struct coll_config *ret)
{
	const struct expand *expand = &build->expand;
	const struct trace_node *node =
		&expand_rank(expand, instance->ranks[0])->nodes[instance->nodes[0]];
	bool is_barrier = node->collective == TRACE_COLLECTIVE_BARRIER;
	bool is_part = !expand->set->gathers_whole &&
		(node->collective == TRACE_COLLECTIVE_ALL_GATHER ||
		 node->collective == TRACE_COLLECTIVE_GATHER);
	*ret = (struct coll_config){.ranks = instance->count,
				    .bytes = is_barrier ? BARRIER_BYTES : node->bytes,
				    .element_bytes = 1,
				    .channels = expand->run->channels,
				    .chunk_bytes = expand->run->chunk_bytes,
				    .domain = domain_of(build, instance)};
	if (is_part && __builtin_mul_overflow(ret->bytes, instance->count, &ret->bytes))
		return expand_refuse(expand, instance->ranks[0], instance->nodes[0],
				     "record %: too many bytes", 0, 0);
	check(kind_of(node->collective, &ret->kind));
	ret->algorithm = coll_is_known(ret->kind, COLL_RING) ? COLL_RING : COLL_DIRECT;
	return 0;
}

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

static int take_collective(void *context, const struct instance *instance)
{
	struct build *build = context;
	struct coll_config config;
	int rc = config_of(build, instance, &config);
	if (rc < 0 || instance->count == 1 || config.bytes == 0) // nothing goes anywhere
		return rc;
	return build->is_building ? put_collective(build, instance, &config)
				  : count_collective(build, instance, &config);
}

// ---------------------------------------------------------------- other nodes

static int check_message(struct build *build, uint32_t rank, uint32_t node)
{
	const struct expand *expand = &build->expand;
	const struct trace_node *of = &expand_rank(expand, rank)->nodes[node];
	if (expand->set->rank_count == 1)
		return expand_refuse(expand, rank, node,
				     "record %: a send or receive in a file that stands for all "
				     "ranks: give the files of all ranks",
				     0, 0);
	if (of->peer >= expand->ranks || of->peer == rank)
		return expand_refuse(expand, rank, node,
				     "record %: the other rank is %, of % there are", of->peer,
				     expand->ranks);
	if (of->bytes == 0 || of->bytes > UINT32_MAX)
		return expand_refuse(expand, rank, node,
				     "record %: a message has 1 to 4294967295 bytes, not %",
				     (int64_t)of->bytes, 0);
	if (of->tag > INT32_MAX - COLL_CHANNELS_MAX)
		return expand_refuse(expand, rank, node,
				     "record %: the tag % leaves none for collectives", of->tag, 0);
	build->tag = of->tag + 1 > build->tag ? of->tag + 1 : build->tag;
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
	return build->first == NULL || build->last == NULL || build->after == NULL
		? no_memory(build)
		: 0;
}

static int make(struct build *build, struct trace_program *ret)
{
	struct arena arena;
	struct refusal *refusal = build->expand.refusal;
	if (build->ops > UINT32_MAX / 2 || build->edges > UINT32_MAX / 2)
		return refuse(refusal, -EINVAL,
			      "the trace makes % operations: more than a program can have",
			      (int64_t)build->ops, 0, 0);
	uint32_t ops = (uint32_t)build->ops, edges = (uint32_t)build->edges;
	uint64_t bytes = (program_bytes(build->expand.ranks, ops, edges) + 4096) & ~UINT64_C(63);
	ret->memory = aligned_alloc(64, bytes);
	if (ret->memory == NULL)
		return no_memory(build);
	memset(ret->memory, 0, bytes);
	arena_init(&arena, ret->memory, bytes);
	int rc = program_create(&build->program, &arena, build->expand.ranks, ops, edges, refusal);
	if (rc == 0)
		rc = pass(build, true);
	if (rc == 0)
		rc = program_seal(build->program, &arena, refusal);
	ret->program = build->program;
	if (rc < 0)
		trace_program_free(ret);
	return rc;
}

static int check_set(struct build *build)
{
	const struct trace_set *set = build->expand.set;
	uint64_t communications = 0;
	for (uint32_t i = 0; i < set->rank_count; i++) {
		const struct trace_rank *rank = &set->ranks[i];
		memcpy(build->expand.refusal->file, rank->path, sizeof(rank->path));
		if (rank->circular > 0)
			return refuse(build->expand.refusal, -EINVAL,
				      "% of % nodes wait in a circle: this trace cannot be run as "
				      "it is",
				      rank->circular, rank->node_count, 0);
		for (uint32_t k = 0; k < rank->node_count; k++)
			communications += rank->nodes[k].kind == TRACE_KIND_COLLECTIVE ||
				rank->nodes[k].kind == TRACE_KIND_SEND;
	}
	if (communications == 0)
		return refuse(build->expand.refusal, -EINVAL,
			      "the trace has no communication: there is nothing to run", 0, 0, 0);
	build->expand.refusal->file[0] = '\0';
	return 0;
}

uint32_t trace_ranks(const struct trace_set *set)
{
	return set->rank_count > 1 ? set->rank_count : set->world;
}

int trace_expand(struct trace_program *ret, struct trace_set *set, const struct trace_run *run,
		 struct refusal *refusal)
{
	uint32_t ranks = trace_ranks(set) > 0 ? trace_ranks(set) : run->ranks;
	struct build build = {.expand = {set, run, refusal, ranks}};
	int rc = trace_line_up(set, refusal);
	*ret = (struct trace_program){0};
	if (rc == 0 && ranks == 0)
		rc = refuse(refusal, -EINVAL, "the trace does not say of how many ranks it is", 0,
			    0, 0);
	if (rc == 0)
		rc = check_set(&build);
	if (rc == 0)
		rc = draw_lists(&build);
	if (rc == 0)
		rc = pass(&build, false);
	if (rc == 0)
		rc = make(&build, ret);
	free(build.base);
	free(build.first);
	free(build.last);
	free(build.after);
	free(build.scratch);
	return rc;
}

void trace_program_free(struct trace_program *program)
{
	free(program->memory);
	*program = (struct trace_program){0};
}
