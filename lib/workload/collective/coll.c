// SPDX-License-Identifier: Apache-2.0
// Collectives as programs: what there is, what is refused, how many operations it takes.

#include <weft/workload/coll.h>

#include <errno.h>
#include <string.h>

#include <weft/core/check.h>
#include <weft/workload/workload.h>

#include "coll_put.h"

#define BIT(kind) (1u << COLL_##kind)
#define BUFFER_BYTES_MAX (UINT64_C(1) << 46)

_Static_assert((int)COLL_REDUCE_SCATTER == (int)COLLECTIVE_REDUCE_SCATTER &&
		       (int)COLL_ALL_GATHER == (int)COLLECTIVE_ALL_GATHER &&
		       (int)COLL_ALL_REDUCE == (int)COLLECTIVE_ALL_REDUCE,
	       "a scenario names both kinds with one word");

static const char *const kind_names[] = {
	[COLL_ALL_REDUCE] = "all_reduce",
	[COLL_REDUCE_SCATTER] = "reduce_scatter",
	[COLL_ALL_GATHER] = "all_gather",
	[COLL_ALL_TO_ALL] = "all_to_all",
	[COLL_BROADCAST] = "broadcast",
	[COLL_REDUCE] = "reduce",
	[COLL_GATHER] = "gather",
	[COLL_SCATTER] = "scatter",
	[COLL_SEND_RECEIVE] = "send_receive",
};

// An algorithm, the kinds that it has, and what puts them.
static const struct {
	const char *name;
	uint32_t kinds;
	void (*put)(struct coll_writer *writer);
} algorithms[] = {
	[COLL_RING] = {"ring",
		       BIT(ALL_REDUCE) | BIT(REDUCE_SCATTER) | BIT(ALL_GATHER) | BIT(BROADCAST) |
			       BIT(REDUCE),
		       coll_put_ring},
	[COLL_TREE] = {"tree", BIT(ALL_REDUCE) | BIT(BROADCAST) | BIT(REDUCE), coll_put_tree},
	[COLL_DOUBLE_TREE] = {"double_tree", BIT(ALL_REDUCE), coll_put_tree},
	[COLL_HALVING_DOUBLING] = {"halving_doubling",
				   BIT(ALL_REDUCE) | BIT(REDUCE_SCATTER) | BIT(ALL_GATHER),
				   coll_put_halving},
	[COLL_PAT] = {"pat", BIT(REDUCE_SCATTER) | BIT(ALL_GATHER), coll_put_pat},
	[COLL_DIRECT] = {"direct",
			 BIT(ALL_TO_ALL) | BIT(REDUCE_SCATTER) | BIT(ALL_GATHER) | BIT(GATHER) |
				 BIT(SCATTER) | BIT(SEND_RECEIVE),
			 coll_put_direct},
	[COLL_HIERARCHICAL] = {"hierarchical",
			       BIT(ALL_REDUCE) | BIT(REDUCE_SCATTER) | BIT(ALL_GATHER) |
				       BIT(ALL_TO_ALL),
			       coll_put_levels},
};

const char *coll_kind_name(enum coll_kind kind)
{
	return kind_names[kind];
}

const char *coll_algorithm_name(enum coll_algorithm algorithm)
{
	return algorithms[algorithm].name;
}

bool coll_is_known(enum coll_kind kind, enum coll_algorithm algorithm)
{
	return (algorithms[algorithm].kinds & 1u << kind) != 0;
}

bool coll_has_root(enum coll_kind kind)
{
	return kind == COLL_BROADCAST || kind == COLL_REDUCE || kind == COLL_GATHER ||
		kind == COLL_SCATTER;
}

static bool is_power(uint32_t number)
{
	return (number & (number - 1)) == 0;
}

// ---------------------------------------------------------------- checks

static int check_ranks(const struct coll_config *config, struct refusal *refusal)
{
	if (config->ranks < 2 || config->ranks > COLL_RANKS_MAX)
		return refuse(refusal, -EINVAL, "a collective has 2 .. % ranks, not %",
			      COLL_RANKS_MAX, config->ranks);
	if (config->domain == 0 || config->ranks % config->domain != 0)
		return refuse(refusal, -EINVAL,
			      "% ranks must fill whole scale-up domains of % ranks", config->ranks,
			      config->domain);
	if (coll_has_root(config->kind) ? config->root >= config->ranks : config->root != 0)
		return refuse(refusal, -EINVAL,
			      "rank % cannot be the root: of % ranks, and only broadcast, reduce, "
			      "gather and scatter have one",
			      config->root, config->ranks);
	bool has_blocks = config->kind == COLL_ALL_TO_ALL || config->kind == COLL_ALL_GATHER ||
		config->kind == COLL_REDUCE_SCATTER;
	if (config->peers >= config->ranks ||
	    (config->peers > 0 && (config->algorithm != COLL_DIRECT || !has_blocks)))
		return refuse(refusal, -EINVAL,
			      "% peers at once of % ranks: less than all, where everyone sends to "
			      "everyone",
			      config->peers, config->ranks);
	return 0;
}

static int check_bytes(const struct coll_config *config, struct refusal *refusal)
{
	uint32_t element_bytes = config->element_bytes;
	if (element_bytes == 0 || element_bytes > 8 || !is_power(element_bytes))
		return refuse(refusal, -EINVAL, "an element has 1, 2, 4 or 8 bytes, not %",
			      element_bytes);
	if (config->bytes == 0 || config->bytes % element_bytes != 0 ||
	    config->bytes > BUFFER_BYTES_MAX)
		return refuse(refusal, -EINVAL,
			      "a collective's bytes are whole elements of %, at least one, at most "
			      "% bytes, not %",
			      element_bytes, (int64_t)BUFFER_BYTES_MAX, (int64_t)config->bytes);
	if (config->channels == 0 || config->channels > COLL_CHANNELS_MAX)
		return refuse(refusal, -EINVAL, "a collective has 1 .. % channels, not %",
			      COLL_CHANNELS_MAX, config->channels);
	if (config->chunk_bytes < element_bytes || config->chunk_bytes > COLL_CHUNK_BYTES_MAX)
		return refuse(refusal, -EINVAL, "a chunk has % .. % bytes, not %", element_bytes,
			      COLL_CHUNK_BYTES_MAX, config->chunk_bytes);
	return 0;
}

static int check_algorithm(const struct coll_config *config, struct refusal *refusal)
{
	if (config->kind >= COLL_KIND_COUNT || config->algorithm >= COLL_ALGORITHM_COUNT ||
	    !coll_is_known(config->kind, config->algorithm))
		return refuse(refusal, -EINVAL, "this collective has no such algorithm");
	if (config->algorithm == COLL_HALVING_DOUBLING && config->kind != COLL_ALL_REDUCE &&
	    !is_power(config->ranks))
		return refuse(refusal, -EINVAL,
			      "halving and doubling alone needs a power of two of ranks, not %: "
			      "only all_reduce can fold the rest",
			      config->ranks);
	if (config->algorithm == COLL_PAT && config->domain != 1)
		return refuse(refusal, -EINVAL,
			      "PAT needs one rank a scale-up domain, as in NCCL, not %",
			      config->domain);
	return 0;
}

int coll_check(const struct coll_config *config, struct refusal *refusal)
{
	int rc = check_algorithm(config, refusal);
	if (rc == 0)
		rc = check_ranks(config, refusal);
	return rc < 0 ? rc : check_bytes(config, refusal);
}

// ---------------------------------------------------------------- blocks

uint64_t coll_block_offset(const struct coll_config *config, uint32_t rank)
{
	return coll_cut(config, coll_whole(config), rank, config->ranks).offset;
}

uint64_t coll_block_bytes(const struct coll_config *config, uint32_t rank)
{
	return coll_cut(config, coll_whole(config), rank, config->ranks).bytes;
}

uint64_t coll_out(const struct coll_config *config)
{
	return config->bytes;
}

uint64_t coll_buffer_bytes(const struct coll_config *config)
{
	uint64_t block_bytes_max = coll_block_bytes(config, config->ranks - 1);
	if (config->kind == COLL_SEND_RECEIVE)
		return coll_out(config) + config->bytes;
	if (config->kind == COLL_ALL_TO_ALL)
		return coll_out(config) + config->ranks * block_bytes_max;
	return config->bytes;
}

// ---------------------------------------------------------------- putting

static int draw_lists(struct coll_writer *writer, struct arena *arena, struct refusal *refusal)
{
	uint32_t ranks = writer->config->ranks;
	uint32_t *lists = arena_draw(arena, ARENA_WORKLOAD,
				     (size_t)ranks * 6 + coll_turns(writer->config),
				     sizeof(*lists));
	if (lists == NULL)
		return refuse(refusal, -ENOMEM, "no memory to plan a collective of % ranks", ranks);
	writer->after = lists;
	writer->last = lists + ranks;
	writer->parent = lists + (size_t)ranks * 2;
	writer->rank_at = lists + (size_t)ranks * 3;
	writer->sent = lists + (size_t)ranks * 5;
	writer->turns = lists + (size_t)ranks * 6;
	writer->join = writer->join == NULL ? NULL : lists + (size_t)ranks * 4;
	return 0;
}

uint64_t coll_bytes(const struct coll_config *config)
{
	return ((uint64_t)config->ranks * 6 + coll_turns(config)) * sizeof(uint32_t) + 64;
}

static void put(struct coll_writer *writer)
{
	const struct coll_config *config = writer->config;
	bool is_chain = config->algorithm == COLL_RING && coll_has_root(config->kind);
	bool is_exchange = config->algorithm == COLL_HIERARCHICAL &&
		config->kind == COLL_ALL_TO_ALL;
	if (is_chain)
		coll_put_chain(writer);
	else if (is_exchange)
		coll_put_exchange(writer);
	else
		algorithms[config->algorithm].put(writer);
}

// The operations of no time that end with each member's part.
static void put_joins(struct coll_writer *writer)
{
	const struct coll_place *place = writer->place;
	for (uint32_t i = 0; writer->join != NULL && i < writer->config->ranks; i++) {
		uint32_t rank = place->ranks == NULL ? i : place->ranks[i];
		writer->join[i] = (uint32_t)writer->ops++;
		if (writer->program == NULL) {
			writer->edges++;
			continue;
		}
		writer->join[i] = program_compute(writer->program, rank, place->stream, 0);
		program_wait(writer->program, writer->join[i], writer->after[i]);
		writer->edges += writer->after[i] != OP_NONE;
	}
}

static int refuse_many(uint64_t ops, struct refusal *refusal)
{
	return refuse(refusal, -EOVERFLOW,
		      "this collective would take % operations or more, beyond what a program can "
		      "have: take larger chunks",
		      (int64_t)ops);
}

// Operations that no algorithm gets by without, as each of the others has to hear of all bytes, or
// in a gather or scatter one of its block: to count them all would take as long as there are many.
static uint64_t ops_least(const struct coll_config *config)
{
	bool is_once = config->kind == COLL_GATHER || config->kind == COLL_SCATTER;
	uint64_t times = is_once ? 1 : 2 * (uint64_t)(config->ranks - 1);
	return (coll_pieces(config, config->bytes) - 1) * times;
}

int coll_count(const struct coll_config *config, struct arena *arena, bool is_joined,
	       uint32_t *ret_ops, uint32_t *ret_edges, struct refusal *refusal)
{
	static const struct coll_place nowhere;
	uint32_t join;
	struct coll_writer writer = {
		.config = config, .place = &nowhere, .join = is_joined ? &join : NULL};
	if (ops_least(config) >= OP_NONE)
		return refuse_many(ops_least(config), refusal);
	int rc = draw_lists(&writer, arena, refusal);
	if (rc < 0)
		return rc;
	for (uint32_t i = 0; i < config->ranks; i++) // a joined one may have to wait
		writer.after[i] = is_joined ? 0 : OP_NONE;
	put_joins(&writer);
	put(&writer);
	if (writer.ops >= OP_NONE || writer.edges >= OP_NONE)
		return refuse_many(writer.ops, refusal);
	*ret_ops = (uint32_t)writer.ops;
	*ret_edges = (uint32_t)writer.edges;
	return 0;
}

int coll_put(struct program *program, struct arena *arena, const struct coll_config *config,
	     const struct coll_place *place, struct refusal *refusal)
{
	uint32_t join;
	struct coll_writer writer = {.config = config,
				     .program = program,
				     .place = place,
				     .join = place->after != NULL ? &join : NULL};
	int rc = draw_lists(&writer, arena, refusal);
	if (rc < 0)
		return rc;
	for (uint32_t i = 0; i < config->ranks; i++)
		writer.after[i] = place->after == NULL ? OP_NONE : place->after[i];
	put_joins(&writer);
	put(&writer);
	uint64_t end = place->offset + coll_buffer_bytes(config); // also what no message touches
	program->buffer_bytes = end > program->buffer_bytes ? end : program->buffer_bytes;
	if (place->after != NULL)
		memcpy(place->after, writer.join, config->ranks * sizeof(*writer.join));
	return 0;
}

int coll_walk(const struct coll_config *config, struct arena *arena, coll_walk_fn *tell,
	      void *context, struct refusal *refusal)
{
	static const struct coll_place nowhere;
	struct coll_writer writer = {
		.config = config, .place = &nowhere, .tell = tell, .context = context};
	int rc = draw_lists(&writer, arena, refusal);
	if (rc < 0)
		return rc;
	put(&writer);
	return 0;
}

// Before anything is put: pages of a program that does not fit would be filled for seconds.
static int check_room(const struct coll_config *config, const struct arena *arena, uint32_t ops,
		      uint32_t edges, struct refusal *refusal)
{
	uint64_t bytes = program_bytes(config->ranks, ops, edges);
	if (bytes <= arena->size - arena->used)
		return 0;
	return refuse(refusal, -ENOMEM,
		      "this collective takes % operations, which are % MiB: take larger chunks, or "
		      "raise limits.memory, here % MiB",
		      ops, (int64_t)(bytes >> 20), (int64_t)(arena->size >> 20));
}

int coll_program(struct program **ret, struct arena *arena, const struct coll_config *config,
		 struct refusal *refusal)
{
	static const struct coll_place whole;
	uint32_t ops, edges;
	int rc = coll_check(config, refusal);
	if (rc < 0 || (rc = coll_count(config, arena, false, &ops, &edges, refusal)) < 0 ||
	    (rc = check_room(config, arena, ops, edges, refusal)) < 0 ||
	    (rc = program_create(ret, arena, config->ranks, ops, edges, refusal)) < 0 ||
	    (rc = coll_put(*ret, arena, config, &whole, refusal)) < 0)
		return rc;
	return program_seal(*ret, arena, refusal);
}

// ---------------------------------------------------------------- figures

double coll_bus_factor(enum coll_kind kind, uint32_t ranks)
{
	double others = (double)(ranks - 1) / ranks;
	if (kind == COLL_ALL_REDUCE)
		return 2 * others;
	bool is_whole = kind == COLL_BROADCAST || kind == COLL_REDUCE || kind == COLL_SEND_RECEIVE;
	return is_whole ? 1 : others;
}
