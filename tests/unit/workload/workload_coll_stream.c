// SPDX-License-Identifier: Apache-2.0
// Courses against programs: both are played side by side, each message sent and arriving in an
// order that dice choose, and after each event both must want to send the same messages, in the
// same order.

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <weft/core/check.h>
#include <weft/core/rng.h>
#include <weft/workload/coll_stream.h>

#define ARENA_BYTES ((size_t)64 << 20)
#define MESSAGES_MAX 65536u

static _Alignas(64) uint8_t memory[ARENA_BYTES];

// A message that is under way.
struct way {
	uint32_t from, send; // operation of the program
	struct coll_stream_message message;
	bool is_sent, is_there;
};

static struct {
	struct program *program;
	struct program_run *run;
	struct coll_stream *coll_stream;
	struct way ways[MESSAGES_MAX];
	uint32_t count;				       // under way
	struct coll_stream_message told[MESSAGES_MAX]; // by the course, since the last event
	uint32_t told_count;
	uint64_t messages, bytes;
} play;

static void tell(void *context, const struct coll_stream_message *message)
{
	(void)context;
	assert_true(play.told_count < MESSAGES_MAX);
	play.told[play.told_count++] = *message;
}

// What the program wants of `rank` now is what the course told.
static void compare(uint32_t rank)
{
	uint32_t index, count = 0;
	while ((index = program_run_next(play.run, rank)) != OP_NONE) {
		const struct op *op = &play.program->ops[index];
		const struct op *twin = &play.program->ops[op->twin];
		assert_int_equal(op->kind, OP_SEND);
		assert_true(count < play.told_count);
		struct coll_stream_message message = play.told[count++];
		assert_int_equal(message.to, op->peer);
		assert_int_equal(message.bytes, op->bytes);
		assert_int_equal(message.offset, twin->offset);
		struct coll_stream_message again = coll_stream_message(play.coll_stream, rank,
								       message.to, message.number);
		assert_true(again.to == message.to && again.number == message.number &&
			    again.bytes == message.bytes && again.offset == message.offset);
		assert_true(play.count < MESSAGES_MAX);
		play.ways[play.count++] = (struct way){rank, index, message, false, false};
		play.messages++;
		play.bytes += message.bytes;
	}
	assert_int_equal(count, play.told_count);
	play.told_count = 0;
}

static void arrive(struct way *way)
{
	const struct coll_stream_message *message = &way->message;
	way->is_there = true;
	program_run_arrived(play.run, play.program->ops[way->send].twin);
	coll_stream_arrived(play.coll_stream, message->to, way->from, message->number,
			    message->bytes, tell, NULL);
	compare(message->to);
}

static void leave(struct way *way)
{
	struct way was = *way;
	way->is_sent = true;
	program_run_ended(play.run, was.send);
	coll_stream_sent(play.coll_stream, was.from, was.message.to, was.message.number, tell,
			 NULL);
	compare(was.from);
}

static void play_on(struct rng *rng)
{
	while (play.count > 0) {
		struct way *way = &play.ways[rng_below(rng, play.count)];
		if (way->is_sent || (!way->is_there && rng_below(rng, 2) == 0))
			arrive(way);
		else
			leave(way);
		if (way->is_sent && way->is_there)
			*way = play.ways[--play.count];
	}
}

static void build(const struct coll_config *config)
{
	static struct arena arena;
	struct refusal refusal;
	memset(memory, 0, arena.used); // what is drawn is zero
	arena_init(&arena, memory, sizeof(memory));
	int rc = coll_program(&play.program, &arena, config, &refusal);
	if (rc < 0)
		print_message("%s\n", refusal.text);
	assert_int_equal(rc, 0);
	assert_int_equal(program_run_create(&play.run, &arena, play.program), 0);
	assert_int_equal(coll_stream_create(&play.coll_stream, &arena, config, &refusal), 0);
	play.count = play.told_count = 0;
	play.messages = play.bytes = 0;
}

static void play_both(const struct coll_config *config, uint64_t seed)
{
	struct rng rng = rng_of(seed, RNG_WORKLOAD, config->ranks);
	build(config);
	for (uint32_t rank = 0; rank < config->ranks; rank++) {
		coll_stream_begin(play.coll_stream, rank, tell, NULL);
		compare(rank);
	}
	assert_true(play.count <= coll_stream_ready_max(play.coll_stream));
	play_on(&rng);
	for (uint32_t rank = 0; rank < config->ranks; rank++)
		assert_int_equal(program_run_left(play.run, rank), 0);
	assert_int_equal(play.messages, coll_stream_messages(play.coll_stream));
	assert_int_equal(play.bytes, coll_stream_bytes(play.coll_stream));
	assert_int_equal(2 * play.messages, play.program->op_count);
}

// Whom a rank sends to, in the order in which the program first does.
static void compare_peers(const struct coll_config *config)
{
	uint32_t listed[64], found[64];
	for (uint32_t rank = 0; coll_stream_has_peers(play.coll_stream) && rank < config->ranks;
	     rank++) {
		uint32_t count = 0;
		for (uint32_t i = 0; i < play.program->op_count; i++) {
			const struct op *op = &play.program->ops[i];
			uint32_t at = 0;
			if (op->kind != OP_SEND || op->rank != rank)
				continue;
			while (at < count && found[at] != op->peer)
				at++;
			found[at] = op->peer;
			count += at == count;
		}
		assert_int_equal(coll_stream_peers(play.coll_stream, rank, listed), count);
		assert_memory_equal(listed, found, count * sizeof(*found));
	}
}

static void play_form(enum coll_kind kind, enum coll_algorithm algorithm)
{
	static const uint32_t ranks[] = {2, 3, 4, 7, 8, 13, 16};
	for (uint32_t i = 0; i < 7 * 12; i++) {
		struct refusal refusal;
		struct coll_config config = {.kind = kind,
					     .algorithm = algorithm,
					     .ranks = ranks[i % 7],
					     .bytes = 4 * (17 + 101 * (uint64_t)(i / 7)),
					     .element_bytes = 4,
					     .channels = 1 + i % 3,
					     .chunk_bytes = i % 2 ? 64 : 1 << 20,
					     .domain = 1};
		if (algorithm == COLL_DIRECT) {
			config.bytes = 4ull * config.ranks * config.channels * (1 + i % 5) + 8;
			config.peers = i % config.ranks;
		}
		config.root = coll_has_root(kind) ? i % config.ranks : 0;
		if (coll_check(&config, &refusal) < 0)
			continue; // other numbers than powers of two
		play_both(&config, i);
		compare_peers(&config);
	}
}

static void rings(void **state)
{
	(void)state;
	play_form(COLL_ALL_REDUCE, COLL_RING);
	play_form(COLL_REDUCE_SCATTER, COLL_RING);
	play_form(COLL_ALL_GATHER, COLL_RING);
}

static void trees(void **state)
{
	(void)state;
	play_form(COLL_ALL_REDUCE, COLL_TREE);
	play_form(COLL_BROADCAST, COLL_TREE);
	play_form(COLL_REDUCE, COLL_TREE);
	play_form(COLL_ALL_REDUCE, COLL_DOUBLE_TREE);
}

static void steps(void **state)
{
	(void)state;
	play_form(COLL_ALL_REDUCE, COLL_HALVING_DOUBLING);
	play_form(COLL_REDUCE_SCATTER, COLL_HALVING_DOUBLING);
	play_form(COLL_ALL_GATHER, COLL_HALVING_DOUBLING);
	play_form(COLL_REDUCE_SCATTER, COLL_PAT);
	play_form(COLL_ALL_GATHER, COLL_PAT);
}

static void everyone(void **state)
{
	(void)state;
	play_form(COLL_ALL_TO_ALL, COLL_DIRECT);
	play_form(COLL_REDUCE_SCATTER, COLL_DIRECT);
	play_form(COLL_ALL_GATHER, COLL_DIRECT);
}

static void refused(const struct coll_config *config, const char *why)
{
	struct arena arena;
	struct coll_stream *coll_stream;
	struct refusal refusal = {0};
	arena_init(&arena, memory, sizeof(memory));
	assert_int_equal(coll_check(config, &refusal), 0);
	assert_int_equal(coll_stream_create(&coll_stream, &arena, config, &refusal), -EINVAL);
	assert_non_null(strstr(refusal.text, why));
}

static void what_has_no_course_is_refused(void **state)
{
	(void)state;
	struct coll_config config = {.kind = COLL_ALL_REDUCE,
				     .algorithm = COLL_RING,
				     .ranks = 8,
				     .bytes = 1 << 20,
				     .element_bytes = 4,
				     .channels = 1,
				     .chunk_bytes = 1 << 20,
				     .domain = 2};
	refused(&config, "of one rank a scale-up domain, not 2");
	config.algorithm = COLL_HIERARCHICAL;
	refused(&config, "choose another algorithm");
	config = (struct coll_config){.kind = COLL_ALL_TO_ALL,
				      .algorithm = COLL_DIRECT,
				      .ranks = 8,
				      .bytes = 28,
				      .element_bytes = 4,
				      .channels = 1,
				      .chunk_bytes = 1 << 20,
				      .domain = 1};
	refused(&config, "7 elements do not give each of 8 ranks one");
	config = (struct coll_config){.kind = COLL_ALL_REDUCE,
				      .algorithm = COLL_RING,
				      .ranks = 65536,
				      .bytes = UINT64_C(1) << 40,
				      .element_bytes = 4,
				      .channels = 64,
				      .chunk_bytes = 64,
				      .domain = 1};
	refused(&config, "take larger chunks");
}
