// SPDX-License-Identifier: Apache-2.0
// The collective stream of a ring, as coll_ring.c puts it: a piece of a block is a token that goes
// around, once to be summed and once to be distributed. Who has received it sends it on, so nothing
// is remembered.

#include "coll_stream_form.h"

// What a number says.
struct token {
	uint32_t channel, home, piece;
	bool is_gather; // else it is summed
};

static struct token token_of(const struct coll_stream *coll_stream, uint32_t number)
{
	struct token token = {.is_gather = number & 1,
			      .piece = (number >> 1) % coll_stream->pieces};
	uint32_t block = (number >> 1) / coll_stream->pieces;
	token.home = block % coll_stream->config.ranks;
	token.channel = block / coll_stream->config.ranks;
	return token;
}

static struct coll_stream_message message_of(const struct coll_stream *coll_stream, uint32_t from,
					     struct token token)
{
	const struct coll_config *config = &coll_stream->config;
	struct coll_part block = coll_block(config, token.channel, token.home);
	struct coll_part piece = coll_piece(config, block, token.piece);
	uint32_t at = (token.channel * config->ranks + token.home) * coll_stream->pieces +
		token.piece;
	return (struct coll_stream_message){.to = (from + 1) % config->ranks,
					    .number = at << 1 | token.is_gather,
					    .bytes = (uint32_t)piece.bytes,
					    .offset = piece.offset};
}

static struct coll_stream_message message(const struct coll_stream *coll_stream, uint32_t from,
					  uint32_t to, uint32_t number)
{
	(void)to;
	return message_of(coll_stream, from, token_of(coll_stream, number));
}

static int create(struct coll_stream *coll_stream, struct arena *arena)
{
	const struct coll_config *config = &coll_stream->config;
	uint32_t rounds = config->kind == COLL_ALL_REDUCE ? 2 : 1;
	(void)arena;
	coll_stream->pieces = coll_stream_block_pieces(coll_stream);
	coll_stream->ready_max = (uint64_t)config->channels * config->ranks * coll_stream->pieces;
	coll_stream->numbers = 2 * coll_stream->ready_max;
	for (uint32_t channel = 0; channel < config->channels; channel++)
		for (uint32_t home = 0; home < config->ranks; home++)
			coll_stream_add(coll_stream, coll_block(config, channel, home),
					(uint64_t)rounds * (config->ranks - 1));
	return 0;
}

static void begin(struct coll_stream *coll_stream, uint32_t rank,
		  const struct coll_stream_listener *to)
{
	const struct coll_config *config = &coll_stream->config;
	bool is_gather = config->kind == COLL_ALL_GATHER;
	uint32_t home = is_gather ? rank : (rank + config->ranks - 1) % config->ranks;
	for (uint32_t channel = 0; channel < config->channels; channel++) {
		uint64_t bytes = coll_block(config, channel, home).bytes;
		for (uint32_t i = 0; i < coll_pieces(config, bytes); i++) {
			struct token token = {channel, home, i, is_gather};
			struct coll_stream_message first = message_of(coll_stream, rank, token);
			coll_stream_tell(to, &first);
		}
	}
}

static void arrived(struct coll_stream *coll_stream, uint32_t rank, uint32_t number,
		    const struct coll_stream_listener *to)
{
	const struct coll_config *config = &coll_stream->config;
	struct token token = token_of(coll_stream, number);
	if (token.is_gather && (rank + 1) % config->ranks == token.home)
		return; // all have it
	if (!token.is_gather && rank == token.home) {
		if (config->kind != COLL_ALL_REDUCE)
			return;
		token.is_gather = true;
	}
	struct coll_stream_message next = message_of(coll_stream, rank, token);
	coll_stream_tell(to, &next);
}

static uint32_t peers(const struct coll_stream *coll_stream, uint32_t rank, uint32_t *ret)
{
	if (coll_stream->messages > 0)
		*ret = (rank + 1) % coll_stream->config.ranks;
	return coll_stream->messages > 0;
}

const struct coll_stream_form coll_stream_ring = {create, begin, arrived, message, peers};
