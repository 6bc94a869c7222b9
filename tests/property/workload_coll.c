// SPDX-License-Identifier: Apache-2.0
// Collectives played on real numbers: random kinds, algorithms, groups and cuts, and for each of
// them operations and messages in random legal orders. A message's bytes are read at any moment
// after its send began, and lie at the receiver at any moment after that, whatever the receive
// waits for. At the end every rank has what the collective promises, and as many bytes were sent
// as the algorithm is known to need. A failing seed is run again by
//   WEFT_COLL_FIRST=<seed> WEFT_COLL_COUNT=1 <this program>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <weft/core/rng.h>
#include <weft/workload/coll.h>
#include <weft/workload/workload_ring.h>

#include "../seeds.h"

#define ARENA_BYTES ((size_t)64 << 20)

enum stage { STAGE_BEGUN, STAGE_READ, STAGE_THERE };

struct message {
	uint32_t send;
	enum stage stage;
	uint32_t *bytes;
};

struct play {
	struct coll_config config;
	struct program *program;
	struct program_run *run;
	struct rng rng;
	uint32_t **buffers; // [ranks]
	struct message *flying;
	uint32_t flying_count;
	uint64_t sent_bytes;
	uint64_t credits_at; // from this offset on nothing is data
};

static uint32_t pick(struct rng *rng, uint32_t from, uint32_t to)
{
	return from + rng_below(rng, to - from + 1);
}

// What lies at a place of a rank's buffer before the collective.
static uint32_t value(uint32_t rank, uint64_t element)
{
	return (uint32_t)rng_mix((uint64_t)rank << 40 ^ element);
}

// ---------------------------------------------------------------- playing

static uint32_t *bytes_at(struct play *play, const struct op *op)
{
	assert_true(op->offset % 4 == 0 && op->bytes % 4 == 0);
	assert_true(op->offset + op->bytes <= play->program->buffer_bytes);
	return play->buffers[op->rank] + op->offset / 4;
}

static void begin_all(struct play *play, uint32_t rank)
{
	uint32_t index;
	while ((index = program_run_next(play->run, rank)) != OP_NONE) {
		const struct op *op = &play->program->ops[index];
		if (op->kind == OP_COMPUTE) {
			program_run_ended(play->run, index);
			continue;
		}
		play->flying[play->flying_count++] = (struct message){index, STAGE_BEGUN, NULL};
		play->sent_bytes += op->offset < play->credits_at ? op->bytes : 0;
	}
}

static void place(struct play *play, struct message *message)
{
	const struct op *send = &play->program->ops[message->send];
	const struct op *receive = &play->program->ops[send->twin];
	uint32_t *at = bytes_at(play, receive);
	for (uint32_t i = 0; i < receive->bytes / 4; i++)
		at[i] = message->bytes[i] + (receive->is_sum ? at[i] : 0);
	free(message->bytes);
	program_run_arrived(play->run, send->twin);
	begin_all(play, receive->rank);
}

// One of the flying messages gets one stage further.
static void advance(struct play *play)
{
	uint32_t index = rng_below(&play->rng, play->flying_count);
	struct message *message = &play->flying[index];
	const struct op *send = &play->program->ops[message->send];
	if (message->stage == STAGE_BEGUN) {
		message->bytes = malloc(send->bytes);
		memcpy(message->bytes, bytes_at(play, send), send->bytes);
		message->stage = STAGE_READ;
	} else if (message->stage == STAGE_READ) {
		message->stage = STAGE_THERE;
		place(play, message);
	} else {
		uint32_t ended = message->send;
		*message = play->flying[--play->flying_count];
		program_run_ended(play->run, ended);
		begin_all(play, send->rank);
	}
}

static void fill(struct play *play)
{
	uint64_t elements = play->program->buffer_bytes / 4;
	for (uint32_t rank = 0; rank < play->program->ranks; rank++) {
		play->buffers[rank] = malloc(elements * 4 + 4);
		for (uint64_t i = 0; i < elements; i++)
			play->buffers[rank][i] = value(rank, i);
	}
}

static void run(struct play *play)
{
	for (uint32_t rank = 0; rank < play->program->ranks; rank++)
		begin_all(play, rank);
	while (play->flying_count > 0)
		advance(play);
	for (uint32_t rank = 0; rank < play->program->ranks; rank++)
		assert_int_equal(program_run_left(play->run, rank), 0);
}

// ---------------------------------------------------------------- what it promises

static uint32_t sum_of(const struct play *play, uint64_t element)
{
	uint32_t sum = 0;
	for (uint32_t rank = 0; rank < play->config.ranks; rank++)
		sum += value(rank, element);
	return sum;
}

static void expect(const struct play *play, uint32_t rank, uint64_t element, uint32_t should)
{
	if (play->buffers[rank][element] == should)
		return;
	fail_msg("%s, %s: rank %u of %u has a wrong value at element %llu of %llu",
		 coll_kind_name(play->config.kind), coll_algorithm_name(play->config.algorithm),
		 rank, play->config.ranks, (unsigned long long)element,
		 (unsigned long long)(play->config.bytes / 4));
}

// Whose block an element belongs to.
static uint32_t owner_of(const struct play *play, uint64_t element)
{
	uint32_t rank = 0;
	while (coll_block_offset(&play->config, rank) + coll_block_bytes(&play->config, rank) <=
	       element * 4)
		rank++;
	return rank;
}

static void check_element(const struct play *play, uint32_t rank, uint64_t i)
{
	const struct coll_config *config = &play->config;
	uint32_t owner = owner_of(play, i), root = config->root;
	bool is_root = rank == root;
	if (config->kind == COLL_ALL_REDUCE || (config->kind == COLL_REDUCE && is_root) ||
	    (config->kind == COLL_REDUCE_SCATTER && owner == rank))
		expect(play, rank, i, sum_of(play, i));
	else if (config->kind == COLL_ALL_GATHER || (config->kind == COLL_GATHER && is_root))
		expect(play, rank, i, value(owner, i));
	else if (config->kind == COLL_BROADCAST || (config->kind == COLL_SCATTER && owner == rank))
		expect(play, rank, i, value(root, i));
	else if (config->kind == COLL_SEND_RECEIVE)
		expect(play, rank, coll_out(config) / 4 + i,
		       value((rank + config->ranks - 1) % config->ranks, i));
}

static void check_exchange(const struct play *play, uint32_t rank)
{
	const struct coll_config *config = &play->config;
	uint64_t block = coll_block_bytes(config, rank) / 4;
	uint64_t from = coll_block_offset(config, rank) / 4;
	for (uint32_t other = 0; other < config->ranks; other++)
		for (uint64_t i = 0; i < block && other != rank; i++)
			expect(play, rank, coll_out(config) / 4 + other * block + i,
			       value(other, from + i));
}

// Bytes that all ranks together send: every algorithm here sends each byte of a sum once for each
// rank but one, and each byte of a result once for each rank but one; all_to_all in two steps sends
// what leaves the domain twice, but for what the second rank has itself.
static uint64_t bytes_known(const struct play *play)
{
	const struct coll_config *config = &play->config;
	uint64_t others = config->ranks - 1, all = config->bytes;
	uint64_t domain = config->domain, outside = config->ranks - domain;
	switch (config->kind) {
	case COLL_ALL_REDUCE:
		return 2 * others * all;
	case COLL_GATHER:
	case COLL_SCATTER:
		return all - coll_block_bytes(config, config->root);
	case COLL_SEND_RECEIVE:
		return config->ranks * all;
	case COLL_ALL_TO_ALL:
		if (config->algorithm == COLL_HIERARCHICAL)
			return others * all + outside * (domain - 1) * all / domain;
		return others * all;
	default:
		return others * all;
	}
}

static void check_play(const struct play *play)
{
	for (uint32_t rank = 0; rank < play->config.ranks; rank++) {
		for (uint64_t i = 0; i < play->config.bytes / 4; i++)
			check_element(play, rank, i);
		if (play->config.kind == COLL_ALL_TO_ALL)
			check_exchange(play, rank);
	}
	assert_int_equal(play->sent_bytes, bytes_known(play));
}

// ---------------------------------------------------------------- random collectives

static bool draw(struct coll_config *config, struct rng *rng, struct refusal *refusal)
{
	uint32_t domain = pick(rng, 1, 4), domains = pick(rng, 1, 7);
	config->kind = (enum coll_kind)pick(rng, 0, COLL_KIND_COUNT - 1);
	config->algorithm = (enum coll_algorithm)pick(rng, 0, COLL_ALGORITHM_COUNT - 1);
	config->domain = config->algorithm == COLL_PAT ? 1 : domain;
	config->ranks = config->domain * domains;
	config->element_bytes = 4;
	uint32_t elements_max = pick(rng, 0, 1) ? 2000 : 40;
	config->bytes = 4ull * pick(rng, 1, elements_max);
	config->channels = pick(rng, 1, 3);
	config->chunk_bytes = 4 + pick(rng, 0, 600);
	config->root = pick(rng, 0, 1) ? pick(rng, 0, config->ranks - 1) : 0;
	return coll_check(config, refusal) == 0;
}

static void play_program(const struct coll_config *config, struct program *program, uint64_t seed,
			 uint64_t credits_at, struct arena *arena)
{
	struct play play = {.config = *config,
			    .program = program,
			    .rng = rng_of(seed, RNG_TEST, 2),
			    .credits_at = credits_at};
	assert_int_equal(play.program->op_count, play.program->op_max);
	assert_int_equal(play.program->edge_count, play.program->edge_max);
	assert_int_equal(program_run_create(&play.run, arena, play.program), 0);
	play.buffers = calloc(config->ranks, sizeof(*play.buffers));
	play.flying = calloc(play.program->op_count + 1, sizeof(*play.flying));
	fill(&play);
	run(&play);
	check_play(&play);
	for (uint32_t rank = 0; rank < config->ranks; rank++)
		free(play.buffers[rank]);
	free(play.buffers);
	free(play.flying);
}

static void play_one(const struct coll_config *config, uint64_t seed, struct arena *arena)
{
	struct refusal refusal = {0};
	struct program *program;
	if (coll_program(&program, arena, config, &refusal) < 0)
		fail_msg("%s", refusal.text);
	play_program(config, program, seed, UINT64_MAX, arena);
}

static void every_rank_ends_with_its_result(void **state)
{
	uint64_t first = number("WEFT_COLL_FIRST", 1), count = number("WEFT_COLL_COUNT", 10000);
	uint32_t seen[COLL_KIND_COUNT][COLL_ALGORITHM_COUNT] = {0};
	void *memory = aligned_alloc(64, ARENA_BYTES);
	(void)state;
	memset(memory, 0, ARENA_BYTES);
	for (uint64_t seed = first; seed < first + count; seed++) {
		struct rng rng = rng_of(seed, RNG_TEST, 1);
		struct coll_config config = {0};
		struct refusal refusal = {0};
		if (!draw(&config, &rng, &refusal))
			continue;
		struct arena arena;
		seed_begin("WEFT_COLL", seed);
		arena_init(&arena, memory, ARENA_BYTES);
		play_one(&config, seed, &arena);
		memset(memory, 0, arena.used);
		seen[config.kind][config.algorithm]++;
	}
	seeds_end();
	free(memory);
	for (uint32_t kind = 0; kind < COLL_KIND_COUNT && count >= 10000; kind++)
		for (uint32_t algorithm = 0; algorithm < COLL_ALGORITHM_COUNT; algorithm++)
			if (coll_is_known(kind, algorithm))
				assert_true(seen[kind][algorithm] >= 10);
}

// ---------------------------------------------------------------- rings with credits

static void draw_ring(struct coll_config *ret, struct ring_config *ring, struct rng *rng)
{
	uint32_t domain = pick(rng, 1, 3), domains = pick(rng, 1, 5);
	*ret = (struct coll_config){.element_bytes = 4, .algorithm = COLL_RING, .domain = domain};
	ret->kind = (enum coll_kind)pick(rng, 0, COLL_ALL_REDUCE);
	ret->ranks = domain * (domain == 1 ? domains + 1 : domains);
	ret->channels = ring->channels = pick(rng, 1, 3);
	ret->bytes = 4ull * ret->ranks * ret->channels * pick(rng, 1, 400);
	ring->ranks = ret->ranks;
	ring->chunk_bytes_max = 4 * pick(rng, 30, 300);
	ring->slices = pick(rng, 1, 3);
	ring->credits = ring->slices + pick(rng, 1, 3);
	ring->form = pick(rng, 0, 3) == 0 ? RING_BARRIER : RING_PIPELINED;
}

// The machine of rings, alone with neighbours that are always in time, says what the messages of a
// rank are: each slice it sends is the channel's next.
static void follow_the_machine(const struct program *program, const struct ring_config *config,
			       const struct coll_config *coll, struct arena *arena)
{
	struct ring *ring;
	uint32_t at[3] = {0};
	uint64_t sent = 0, slices = 0;
	assert_int_equal(ring_create(&ring, arena, config, NULL), 0);
	ring_start(ring, (enum collective_kind)coll->kind, coll->bytes);
	for (struct ring_action action; (action = ring_next(ring)).kind != RING_DONE;) {
		assert_int_not_equal(action.kind, RING_NOTHING);
		if (action.kind != RING_SEND)
			continue;
		uint32_t *index = &at[action.channel];
		const struct op *op = &program->ops[*index];
		while (op->rank != 0 || op->kind != OP_SEND || op->tag != action.channel)
			op = &program->ops[++*index];
		++*index;
		assert_int_equal(op->bytes, action.bytes);
		sent++;
		ring_on_sent(ring, action.channel);
		ring_on_received(ring, action.channel);
		ring_on_credit(ring, action.channel);
	}
	for (uint32_t i = 0; i < program->op_count; i++)
		slices += program->ops[i].rank == 0 && program->ops[i].kind == OP_SEND &&
			program->ops[i].tag < RING_TAGS / 2;
	assert_int_equal(slices, sent);
}

static void rings_with_credits_do_too(void **state)
{
	void *memory = aligned_alloc(64, ARENA_BYTES);
	(void)state;
	memset(memory, 0, ARENA_BYTES);
	for (uint64_t seed = 1; seed <= 600; seed++) {
		struct rng rng = rng_of(seed, RNG_TEST, 3);
		struct coll_config config;
		struct ring_config ring = {0};
		struct program *program;
		struct job job;
		struct arena arena;
		draw_ring(&config, &ring, &rng);
		arena_init(&arena, memory, ARENA_BYTES);
		assert_int_equal(job_from_ring(&job, &arena, (enum collective_kind)config.kind,
					       config.bytes, config.domain, &ring, NULL),
				 0);
		const struct ring_messages of = {.config = &ring,
						 .group = &job.groups[0],
						 .kind = (enum collective_kind)config.kind,
						 .bytes = config.bytes,
						 .has_data = true};
		assert_true(ring_has_whole_elements(&ring, config.bytes, 4));
		size_t before = arena.used;
		assert_int_equal(ring_program(&program, &arena, &of, NULL), 0);
		assert_true(arena.used - before <= ring_program_bytes(&of));
		follow_the_machine(program, &ring, &config, &arena);
		play_program(&config, program, seed, config.bytes, &arena);
		memset(memory, 0, arena.used);
	}
	free(memory);
}
