// SPDX-License-Identifier: Apache-2.0
// Everyone with everyone, all at once, each beginning with the rank behind it: all_to_all, gather
// and scatter as NCCL does them of sends and receives; reduce_scatter and all_gather as inside a
// scale-up domain.

#include "coll_put.h"

// The block of `owner` goes from one rank to another, to the same place.
static void put_block(struct coll_writer *writer, uint32_t from, uint32_t to, uint32_t owner,
		      bool is_sum)
{
	for (uint32_t channel = 0; channel < writer->config->channels; channel++) {
		struct coll_hop hop = {from, to, channel, is_sum};
		coll_send_all(writer, hop, coll_block(writer->config, channel, owner), OP_NONE,
			      OP_NONE);
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
		coll_send_to(writer, hop, part, at, OP_NONE, OP_NONE);
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
	for (uint32_t distance = 1; distance < ranks; distance++)
		for (uint32_t rank = 0; rank < ranks; rank++)
			put_pair(writer, rank, (rank + distance) % ranks);
}
