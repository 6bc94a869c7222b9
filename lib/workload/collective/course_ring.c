// SPDX-License-Identifier: Apache-2.0
// The course of a ring, as coll_ring.c puts it: a piece of a block is a token that goes around,
// once to be summed and once to be told. Who has received it sends it on, so nothing is remembered.

#include "course_form.h"

// What a number says.
struct token {
	uint32_t channel, home, piece;
	bool is_told; // else it is summed
};

static struct token token_of(const struct course *course, uint32_t number)
{
	struct token token = {.is_told = number & 1, .piece = (number >> 1) % course->pieces};
	uint32_t block = (number >> 1) / course->pieces;
	token.home = block % course->config.ranks;
	token.channel = block / course->config.ranks;
	return token;
}

static struct course_message message_of(const struct course *course, uint32_t from,
					struct token token)
{
	const struct coll_config *config = &course->config;
	struct coll_part block = coll_block(config, token.channel, token.home);
	struct coll_part piece = coll_piece(config, block, token.piece);
	uint32_t at = (token.channel * config->ranks + token.home) * course->pieces + token.piece;
	return (struct course_message){.to = (from + 1) % config->ranks,
				       .number = at << 1 | token.is_told,
				       .bytes = (uint32_t)piece.bytes,
				       .offset = piece.offset};
}

static struct course_message message(const struct course *course, uint32_t from, uint32_t to,
				     uint32_t number)
{
	(void)to;
	return message_of(course, from, token_of(course, number));
}

static int create(struct course *course, struct arena *arena)
{
	const struct coll_config *config = &course->config;
	uint32_t rounds = config->kind == COLL_ALL_REDUCE ? 2 : 1;
	(void)arena;
	course->pieces = course_block_pieces(course);
	course->ready_max = (uint64_t)config->channels * config->ranks * course->pieces;
	course->numbers = 2 * course->ready_max;
	for (uint32_t channel = 0; channel < config->channels; channel++)
		for (uint32_t home = 0; home < config->ranks; home++)
			course_add(course, coll_block(config, channel, home),
				   (uint64_t)rounds * (config->ranks - 1));
	return 0;
}

static void begin(struct course *course, uint32_t rank, const struct course_listener *to)
{
	const struct coll_config *config = &course->config;
	bool is_told = config->kind == COLL_ALL_GATHER;
	uint32_t home = is_told ? rank : (rank + config->ranks - 1) % config->ranks;
	for (uint32_t channel = 0; channel < config->channels; channel++) {
		uint64_t bytes = coll_block(config, channel, home).bytes;
		for (uint32_t i = 0; i < coll_pieces(config, bytes); i++) {
			struct token token = {channel, home, i, is_told};
			struct course_message first = message_of(course, rank, token);
			course_tell(to, &first);
		}
	}
}

static void arrived(struct course *course, uint32_t rank, uint32_t number,
		    const struct course_listener *to)
{
	const struct coll_config *config = &course->config;
	struct token token = token_of(course, number);
	if (token.is_told && (rank + 1) % config->ranks == token.home)
		return; // all have it
	if (!token.is_told && rank == token.home) {
		if (config->kind != COLL_ALL_REDUCE)
			return;
		token.is_told = true;
	}
	struct course_message next = message_of(course, rank, token);
	course_tell(to, &next);
}

static uint32_t peers(const struct course *course, uint32_t rank, uint32_t *ret)
{
	if (course->messages > 0)
		*ret = (rank + 1) % course->config.ranks;
	return course->messages > 0;
}

const struct course_form course_ring = {create, begin, arrived, message, peers};
