// SPDX-License-Identifier: Apache-2.0
// The collective stream of everyone with everyone, as coll_direct.c puts it: each rank begins with
// those behind it, and goes on with the one `peers` places further when one is served.

#include <weft/core/check.h>

#include "coll_stream_form.h"

// Whose block goes from one rank to another.
static uint32_t owner_of(const struct coll_stream *coll_stream, uint32_t from, uint32_t to)
{
	return coll_stream->config.kind == COLL_ALL_GATHER ? from : to;
}

static struct coll_stream_message message(const struct coll_stream *coll_stream, uint32_t from,
					  uint32_t to, uint32_t number)
{
	const struct coll_config *config = &coll_stream->config;
	uint32_t owner = owner_of(coll_stream, from, to), channel = number / coll_stream->pieces;
	struct coll_part part = coll_block(config, channel, owner);
	struct coll_part piece = coll_piece(config, part, number % coll_stream->pieces);
	uint64_t offset = piece.offset;
	if (config->kind == COLL_ALL_TO_ALL)
		offset += coll_out(config) + from * coll_block_bytes(config, to) -
			coll_block_offset(config, to);
	return (struct coll_stream_message){to, number, (uint32_t)piece.bytes, offset};
}

static uint32_t pieces_of(const struct coll_stream *coll_stream, uint32_t from, uint32_t to,
			  uint32_t channel)
{
	const struct coll_config *config = &coll_stream->config;
	return (uint32_t)coll_pieces(
		config, coll_block(config, channel, owner_of(coll_stream, from, to)).bytes);
}

static void tell_pair(const struct coll_stream *coll_stream, uint32_t rank, uint32_t to,
		      uint32_t channel, const struct coll_stream_listener *listener)
{
	uint32_t pieces = pieces_of(coll_stream, rank, to, channel);
	for (uint32_t i = 0; i < pieces; i++) {
		struct coll_stream_message next = message(coll_stream, rank, to,
							  channel * coll_stream->pieces + i);
		coll_stream_tell(listener, &next);
	}
}

static uint32_t width_of(const struct coll_stream *coll_stream)
{
	uint32_t others = coll_stream->config.ranks - 1, peers = coll_stream->config.peers;
	return peers == 0 || peers > others ? others : peers;
}

static int create(struct coll_stream *coll_stream, struct arena *arena)
{
	const struct coll_config *config = &coll_stream->config;
	(void)arena;
	coll_stream->pieces = coll_stream_block_pieces(coll_stream);
	coll_stream->numbers = (uint64_t)config->channels * coll_stream->pieces;
	coll_stream->ready_max = coll_stream->numbers * config->ranks * width_of(coll_stream);
	for (uint32_t channel = 0; channel < config->channels; channel++)
		for (uint32_t owner = 0; owner < config->ranks; owner++)
			coll_stream_add(coll_stream, coll_block(config, channel, owner),
					config->ranks - 1);
	return 0;
}

static void begin(struct coll_stream *coll_stream, uint32_t rank,
		  const struct coll_stream_listener *to)
{
	const struct coll_config *config = &coll_stream->config;
	for (uint32_t distance = 1; distance <= width_of(coll_stream); distance++)
		for (uint32_t channel = 0; channel < config->channels; channel++)
			tell_pair(coll_stream, rank, (rank + distance) % config->ranks, channel,
				  to);
}

void coll_stream_direct_sent(struct coll_stream *coll_stream, uint32_t rank, uint32_t to,
			     uint32_t number, const struct coll_stream_listener *listener)
{
	uint32_t ranks = coll_stream->config.ranks, channel = number / coll_stream->pieces;
	uint32_t distance = (to + ranks - rank) % ranks, next = distance + width_of(coll_stream);
	if (number % coll_stream->pieces + 1 < pieces_of(coll_stream, rank, to, channel) ||
	    next >= ranks)
		return;
	tell_pair(coll_stream, rank, (rank + next) % ranks, channel, listener);
}

const struct coll_stream_form coll_stream_direct = {create, begin, NULL, message, NULL};

// ---------------------------------------------------------------- pairs

uint32_t coll_stream_pair_messages(const struct coll_stream *coll_stream, uint32_t from,
				   uint32_t to)
{
	uint32_t messages = 0;
	check(coll_stream->form == &coll_stream_direct);
	for (uint32_t channel = 0; channel < coll_stream->config.channels; channel++)
		messages += pieces_of(coll_stream, from, to, channel);
	return messages;
}

uint64_t coll_stream_pair_bytes(const struct coll_stream *coll_stream, uint32_t from, uint32_t to)
{
	check(coll_stream->form == &coll_stream_direct);
	return coll_block_bytes(&coll_stream->config, owner_of(coll_stream, from, to));
}

uint64_t coll_stream_pair_packets(const struct coll_stream *coll_stream, uint32_t from, uint32_t to,
				  uint32_t payload_bytes)
{
	uint64_t packets = 0;
	for (uint32_t channel = 0; channel < coll_stream->config.channels; channel++) {
		uint32_t pieces = pieces_of(coll_stream, from, to, channel);
		for (uint32_t i = 0; i < pieces; i++) {
			uint32_t number = channel * coll_stream->pieces + i;
			uint64_t bytes = message(coll_stream, from, to, number).bytes;
			packets += (bytes + payload_bytes - 1) / payload_bytes;
		}
	}
	return packets;
}

// Blocks are cut so that none is longer than the last: it goes to or from the last rank.
struct pair {
	uint32_t from, to;
};

static struct pair longest_pair(const struct coll_stream *coll_stream)
{
	uint32_t last = coll_stream->config.ranks - 1;
	return coll_stream->config.kind == COLL_ALL_GATHER ? (struct pair){last, 0}
							   : (struct pair){0, last};
}

uint32_t coll_stream_pair_messages_max(const struct coll_stream *coll_stream)
{
	struct pair pair = longest_pair(coll_stream);
	return coll_stream_pair_messages(coll_stream, pair.from, pair.to);
}

uint64_t coll_stream_pair_packets_max(const struct coll_stream *coll_stream, uint32_t payload_bytes)
{
	struct pair pair = longest_pair(coll_stream);
	return coll_stream_pair_packets(coll_stream, pair.from, pair.to, payload_bytes);
}

uint32_t coll_stream_pairs_max(const struct coll_stream *coll_stream)
{
	uint64_t pairs = (uint64_t)width_of(coll_stream) * coll_stream->config.channels;
	uint32_t others = coll_stream->config.ranks - 1;
	return pairs < others ? (uint32_t)pairs : others;
}
