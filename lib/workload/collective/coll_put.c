// SPDX-License-Identifier: Apache-2.0
// Adding the messages of a collective to a program, or counting them.

#include "coll_put.h"

#include <weft/core/check.h>

// ---------------------------------------------------------------- stretches

struct coll_part coll_cut(const struct coll_config *config, struct coll_part whole, uint64_t index,
			  uint64_t count)
{
	uint64_t elements = whole.bytes / config->element_bytes;
	uint64_t first = (uint64_t)((unsigned __int128)elements * index / count);
	uint64_t end = (uint64_t)((unsigned __int128)elements * (index + 1) / count);
	return (struct coll_part){whole.offset + first * config->element_bytes,
				  (end - first) * config->element_bytes};
}

struct coll_part coll_whole(const struct coll_config *config)
{
	return (struct coll_part){0, config->bytes};
}

struct coll_part coll_share(const struct coll_config *config, uint32_t channel)
{
	return coll_cut(config, coll_whole(config), channel, config->channels);
}

// Where a rank's block is its input or its result, blocks come first and channels are parts of
// them; else nobody sees the blocks, and a channel's are those of its share.
struct coll_part coll_block(const struct coll_config *config, uint32_t channel, uint32_t rank)
{
	if (config->kind == COLL_ALL_REDUCE)
		return coll_cut(config, coll_share(config, channel), rank, config->ranks);
	struct coll_part block = coll_cut(config, coll_whole(config), rank, config->ranks);
	return coll_cut(config, block, channel, config->channels);
}

static uint32_t piece_bytes(const struct coll_config *config)
{
	return config->chunk_bytes - config->chunk_bytes % config->element_bytes;
}

uint64_t coll_pieces(const struct coll_config *config, uint64_t bytes)
{
	return (bytes + piece_bytes(config) - 1) / piece_bytes(config);
}

struct coll_part coll_piece(const struct coll_config *config, struct coll_part part, uint64_t index)
{
	uint64_t at = index * piece_bytes(config);
	uint64_t left = at < part.bytes ? part.bytes - at : 0;
	return (struct coll_part){part.offset + at,
				  left < piece_bytes(config) ? left : piece_bytes(config)};
}

// ---------------------------------------------------------------- messages

static uint32_t rank_of(const struct coll_writer *writer, uint32_t member)
{
	const uint32_t *ranks = writer->place->ranks;
	return ranks == NULL ? member : ranks[member];
}

// `op` waits for `before`.
static void put_wait(struct coll_writer *writer, uint32_t op, uint32_t before)
{
	if (before == OP_NONE)
		return;
	writer->edges++;
	if (writer->program != NULL)
		program_wait(writer->program, op, before);
}

// Passes one message on, where operations are marks of who gets it.
static uint32_t tell_message(struct coll_writer *writer, struct coll_hop hop, uint64_t bytes,
			     uint32_t after, uint32_t before)
{
	const struct coll_message message = {hop.from, hop.to, bytes, after, before};
	struct coll_marks marks = writer->tell(writer->context, &message);
	writer->sent_last = marks.sent;
	return marks.received;
}

// Puts one message; part.bytes is at most a chunk.
static uint32_t put_message(struct coll_writer *writer, struct coll_hop hop, struct coll_part part,
			    uint64_t to_offset, uint32_t after, uint32_t before)
{
	if (writer->tell != NULL)
		return tell_message(writer, hop, part.bytes, after, before);
	uint32_t from = rank_of(writer, hop.from), to = rank_of(writer, hop.to);
	uint32_t tag = writer->place->tag + hop.channel, bytes = (uint32_t)part.bytes;
	uint64_t base = writer->place->offset;
	// A count may pass what an index can hold; then nothing is put.
	uint32_t send = (uint32_t)writer->ops, receive = send + 1;
	if (writer->program != NULL) {
		send = program_send(writer->program, from, to, tag, bytes, base + part.offset);
		receive = program_receive(writer->program, to, from, tag, bytes, base + to_offset,
					  hop.is_sum);
	}
	writer->ops += 2;
	writer->sent_last = send;
	put_wait(writer, send, after == OP_NONE ? writer->after[hop.from] : after);
	put_wait(writer, receive, before);
	if (writer->join != NULL) {
		put_wait(writer, writer->join[hop.from], send);
		put_wait(writer, writer->join[hop.to], receive);
	}
	return receive;
}

uint32_t coll_send(struct coll_writer *writer, struct coll_hop hop, struct coll_part part,
		   uint32_t after, uint32_t before)
{
	if (part.bytes == 0)
		return before;
	check(part.bytes <= writer->config->chunk_bytes);
	return put_message(writer, hop, part, part.offset, after, before);
}

uint32_t coll_send_to(struct coll_writer *writer, struct coll_hop hop, struct coll_part part,
		      uint64_t to_offset, uint32_t after, uint32_t before)
{
	uint64_t pieces = coll_pieces(writer->config, part.bytes);
	for (uint64_t i = 0; i < pieces; i++) {
		struct coll_part piece = coll_piece(writer->config, part, i);
		before = put_message(writer, hop, piece, to_offset + (piece.offset - part.offset),
				     after, before);
	}
	return before;
}

uint32_t coll_send_all(struct coll_writer *writer, struct coll_hop hop, struct coll_part part,
		       uint32_t after, uint32_t before)
{
	return coll_send_to(writer, hop, part, part.offset, after, before);
}

void coll_forget(struct coll_writer *writer)
{
	for (uint32_t i = 0; i < writer->config->ranks; i++)
		writer->last[i] = OP_NONE;
}

void coll_forget_turns(struct coll_writer *writer)
{
	for (uint32_t i = 0; i < writer->config->ranks; i++)
		writer->sent[i] = OP_NONE;
}

uint32_t coll_send_in_turn(struct coll_writer *writer, struct coll_hop hop, struct coll_part part,
			   uint64_t to_offset, uint32_t before)
{
	uint32_t *sent = &writer->sent[hop.from];
	uint32_t receive = coll_send_to(writer, hop, part, to_offset, *sent, before);
	if (part.bytes > 0)
		*sent = writer->sent_last;
	return receive;
}
