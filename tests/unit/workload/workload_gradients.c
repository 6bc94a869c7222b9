// SPDX-License-Identifier: Apache-2.0
// Gradients as a program: the list of a rank's computations, where bytes lie, and that whatever
// order messages take, the sums are right and nothing is overwritten that is still needed.

#include <errno.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <weft/core/rng.h>
#include <weft/workload/gradients.h>

#define ARENA_BYTES (8u << 20)
#define BUFFER_BYTES 4096u
#define OPS 20000u

static _Alignas(64) uint8_t memory[ARENA_BYTES];
static struct arena arena;
static struct refusal refusal;
static uint8_t buffers[8][BUFFER_BYTES];
static const struct gradients_config small = {.ranks = 3,
					      .buckets = 2,
					      .slices = 2,
					      .steps = 3,
					      .bucket_bytes = 96,
					      .element_bytes = 4,
					      .forward_ps = 7,
					      .backward_ps = 20,
					      .update_ps = 5};

static struct program *program_of(const struct gradients_config *config)
{
	struct program *program;
	memset(memory, 0, sizeof(memory));
	arena_init(&arena, memory, sizeof(memory));
	if (gradients_program(&program, &arena, config, &refusal) < 0)
		fail_msg("%s", refusal.text);
	return program;
}

static void the_list_is_that_of_a_step(void **)
{
	static const char works[] = "gg"
				    "frfrfrfr"
				    "u";
	uint32_t parts = gradients_parts(&small), step_parts = sizeof(works) - 1;
	assert_int_equal(parts, 3 * step_parts + 2);
	for (uint32_t i = 0; i < parts; i++) {
		struct gradients_part part;
		gradients_part(&small, i, &part);
		assert_int_equal(gradients_work_name(part.work)[0], works[i % step_parts]);
		assert_int_equal(part.step, i / step_parts);
		bool is_fill = part.work == GRADIENTS_FILL;
		bool is_first_gate = part.work == GRADIENTS_GATE && part.step == 0;
		assert_int_equal(part.needs_messages, !is_fill && !is_first_gate);
	}
	struct gradients_part part;
	gradients_part(&small, step_parts + 2 + 2 * 3 + 1, &part); // the last sum of a step
	assert_int_equal(part.bucket, 1);
	assert_int_equal(part.slice, 1);
	assert_int_equal(part.offset, 96 + 48);
	assert_int_equal(part.bytes, 48);
	gradients_part(&small, 2, &part);
	assert_int_equal(part.compute_ps, 10);
	gradients_part(&small, parts - 1, &part); // nothing is computed behind the last gates
	assert_int_equal(part.compute_ps, 0);
}

static void what_does_not_divide_is_refused(void **)
{
	struct gradients_config config = small;
	config.bucket_bytes = 92;
	assert_int_equal(gradients_check(&config, &refusal), -EINVAL);
	assert_string_equal(refusal.text,
			    "a bucket of 92 bytes has no whole elements for each of 3 ranks in "
			    "each of its slices; take a multiple of 24 bytes");
	config = small;
	config.ranks = 1;
	assert_int_equal(gradients_check(&config, &refusal), -EINVAL);
	config = small;
	config.element_bytes = 8;
	assert_int_equal(gradients_check(&config, &refusal), -EINVAL);
	config = small;
	config.steps = 100000000;
	assert_int_equal(gradients_check(&config, &refusal), -EINVAL);
}

// ---------------------------------------------------------------- played by chance

struct player {
	const struct program *program;
	struct program_run *run;
	struct rng rng;
	uint32_t pending[OPS]; // begun, and not ended
	uint32_t count;
};

static uint32_t load(const uint8_t *at)
{
	uint32_t value;
	memcpy(&value, at, sizeof(value));
	return value;
}

static void store(uint8_t *at, uint32_t value)
{
	memcpy(at, &value, sizeof(value));
}

static uint32_t value_of(uint32_t rank, uint32_t step, uint64_t at)
{
	return (uint32_t)(rank * 1000003 + step * 10007 + at);
}

static void compute(const struct gradients_config *config, uint32_t op)
{
	uint32_t rank = op / gradients_parts(config);
	struct gradients_part part;
	gradients_part(config, op % gradients_parts(config), &part);
	uint64_t stretch = gradients_stretch_bytes(config), block = gradients_block_bytes(config);
	uint8_t *buffer = buffers[rank];
	if (part.work == GRADIENTS_FILL)
		for (uint64_t at = part.offset; at < part.offset + part.bytes; at += 4)
			store(buffer + at, value_of(rank, part.step, at));
	for (uint64_t at = 0; part.work == GRADIENTS_REDUCE && at < block; at += 4) {
		uint64_t own = part.offset + rank * block + at;
		uint32_t sum = load(buffer + own);
		for (uint32_t from = 0; from < config->ranks; from++)
			if (from != rank)
				sum += load(buffer + stretch + part.offset + from * block + at);
		store(buffer + 2 * stretch + own, sum);
	}
	if (part.work != GRADIENTS_GATE || part.step == 0)
		return;
	for (uint64_t at = part.offset; at < part.offset + part.bytes; at += 4) {
		uint32_t sum = 0;
		for (uint32_t from = 0; from < config->ranks; from++)
			sum += value_of(from, part.step - 1, at);
		assert_int_equal(load(buffer + 2 * stretch + at), sum);
	}
}

static void take_new(struct player *player)
{
	for (uint32_t rank = 0; rank < player->program->ranks; rank++)
		for (uint32_t op; (op = program_run_next(player->run, rank)) != OP_NONE;) {
			assert_true(player->count < OPS);
			player->pending[player->count++] = op;
		}
}

// Bytes leave when the send is taken, are there at once, and the send ends with them.
static void do_one(struct player *player, const struct gradients_config *config)
{
	uint32_t at = rng_below(&player->rng, player->count), op = player->pending[at];
	const struct op *of = &player->program->ops[op];
	player->pending[at] = player->pending[--player->count];
	if (of->kind == OP_SEND) {
		const struct op *twin = &player->program->ops[of->twin];
		memcpy(buffers[twin->rank] + twin->offset, buffers[of->rank] + of->offset,
		       of->bytes);
		program_run_arrived(player->run, of->twin);
	} else {
		compute(config, op);
	}
	program_run_ended(player->run, op);
}

static void sums_are_right_in_any_order(void **)
{
	struct gradients_config config = small;
	static struct player player;
	for (uint64_t seed = 1; seed <= 60; seed++) {
		config.ranks = 2 + (uint32_t)(seed % 3);
		config.bucket_bytes = 48 * config.ranks;
		config.is_external_compute = seed % 2 == 0;
		const struct program *program = program_of(&config);
		player = (struct player){.program = program, .rng = rng_of(seed, RNG_TEST, 0)};
		assert_int_equal(program_run_create(&player.run, &arena, program), 0);
		memset(buffers, 0xee, sizeof(buffers));
		assert_true(program->buffer_bytes <= BUFFER_BYTES);
		for (take_new(&player); player.count > 0; take_new(&player))
			do_one(&player, &config);
		for (uint32_t rank = 0; rank < config.ranks; rank++)
			assert_int_equal(program_run_left(player.run, rank), 0);
	}
}
