// SPDX-License-Identifier: Apache-2.0
// Everyone with everyone, all at once, each beginning with the rank behind it: all_to_all, gather
// and scatter as NCCL does them of sends and receives; reduce_scatter and all_gather as inside a
// scale-up domain. Where a rank is to be at it with few others at once, it goes on with the one
// that is `peers` places further when it has sent all to one.

#include "coll_put.h"

// Sends a part, behind what `from` sent on this channel `peers` places before.
static void put_part(struct coll_writer *writer, struct coll_hop hop, struct coll_part part,
		     uint64_t to_offset)
{
	const struct coll_config *config = writer->config;
	uint32_t ranks = config->ranks, distance = (hop.to + ranks - hop.from) % ranks;
	if (config->peers == 0) {
		coll_send_to(writer, hop, part, to_offset, OP_NONE, OP_NONE);
		return;
	}
	size_t lane = (size_t)(distance - 1) % config->peers * config->channels + hop.channel;
	uint32_t *turn = &writer->turns[lane * ranks + hop.from];
	coll_send_to(writer, hop, part, to_offset, *turn, OP_NONE);
	if (part.bytes > 0)
		*turn = writer->sent_last;
}

// The block of `owner` goes from one rank to another, to the same place.
static void put_block(struct coll_writer *writer, uint32_t from, uint32_t to, uint32_t owner,
		      bool is_sum)
{
	for (uint32_t channel = 0; channel < writer->config->channels; channel++) {
		struct coll_hop hop = {from, to, channel, is_sum};
		struct coll_part part = coll_block(writer->config, channel, owner);
		put_part(writer, hop, part, part.offset);
	}
}

// The block for `to` goes to where `from` has its place among the results.
static void put_result(struct coll_writer *writer, uint32_t from, uint32_t to)
{
	const struct coll_config *config = writer->config;
	uint64_t results = coll_out(config) + from * coll_block_bytes(config, to);
	for (uint32_t channel = 0; channel < config->channels; channel++) {
		struct coll_hop hop = {from, to, channel, false};
		struct coll_part part = coll_block(config, channel, to);
		uint64_t at = results + part.offset - coll_block_offset(config, to);
		put_part(writer, hop, part, at);
	}
}

static void put_pair(struct coll_writer *writer, uint32_t from, uint32_t to)
{
	const struct coll_config *config = writer->config;
	if (config->kind == COLL_ALL_TO_ALL)
		put_result(writer, from, to);
	else if (config->kind == COLL_REDUCE_SCATTER)
		put_block(writer, from, to, to, true);
	else if (config->kind == COLL_ALL_GATHER ||
		 (config->kind == COLL_GATHER && to == config->root))
		put_block(writer, from, to, from, false);
	else if (config->kind == COLL_SCATTER && from == config->root)
		put_block(writer, from, to, to, false);
}

// All of the buffer, to the results of the next rank.
static void put_next(struct coll_writer *writer, uint32_t from)
{
	const struct coll_config *config = writer->config;
	for (uint32_t channel = 0; channel < config->channels; channel++) {
		struct coll_hop hop = {from, (from + 1) % config->ranks, channel, false};
		struct coll_part share = coll_share(config, channel);
		coll_send_to(writer, hop, share, coll_out(config) + share.offset, OP_NONE, OP_NONE);
	}
}

void coll_put_direct(struct coll_writer *writer)
{
	const struct coll_config *config = writer->config;
	uint32_t ranks = config->ranks;
	if (config->kind == COLL_SEND_RECEIVE) {
		for (uint32_t rank = 0; rank < ranks; rank++)
			put_next(writer, rank);
		return;
	}
	for (size_t i = 0; i < coll_turns(config); i++)
		writer->turns[i] = OP_NONE;
	for (uint32_t distance = 1; distance < ranks; distance++)
		for (uint32_t rank = 0; rank < ranks; rank++)
			put_pair(writer, rank, (rank + distance) % ranks);
}
