// SPDX-License-Identifier: Apache-2.0
// PAT, parallel aggregated trees (NCCL 2.23): each block has a binomial tree of its own, the
// same for all but for where it begins, so that in each of log2(n) steps every rank sends to one
// rank and receives from one. Far ranks come first in a gather and last in a scatter: what goes far
// is small. Jeaugey: PAT: a new algorithm for all-gather and reduce-scatter operations at scale,
// arXiv 2506.20252.
// Blocks of a step leave together and the next step waits for all of them: NCCL's full aggregation,
// for sizes that fit its buffers.

#include "coll_put.h"

// In a gather with distance d, a block goes from relative place x to x + d where x is a multiple of
// 2 d: the block's rank is x places before. In a scatter it goes the other way.
static void put_step(struct coll_writer *writer, uint32_t channel, uint32_t rank, uint32_t distance,
		     bool is_sum)
{
	const struct coll_config *config = writer->config;
	uint32_t ranks = config->ranks, other = (rank + distance) % ranks;
	struct coll_hop hop = {rank, other, channel, is_sum};
	if (is_sum)
		hop = (struct coll_hop){other, rank, channel, is_sum};
	uint32_t before = writer->last[hop.to];
	for (uint32_t x = 0; x + distance < ranks; x += 2 * distance) {
		struct coll_part block = coll_block(config, channel, (rank + ranks - x) % ranks);
		before = coll_send_all(writer, hop, block, writer->last[hop.from], before);
	}
	writer->parent[hop.to] = before;
}

// All ranks of a step send what they had before it.
static void step(struct coll_writer *writer, uint32_t channel, uint32_t distance, bool is_sum)
{
	uint32_t ranks = writer->config->ranks;
	for (uint32_t rank = 0; rank < ranks; rank++)
		put_step(writer, channel, rank, distance, is_sum);
	for (uint32_t rank = 0; rank < ranks; rank++)
		writer->last[rank] = writer->parent[rank];
}

void coll_put_pat(struct coll_writer *writer)
{
	const struct coll_config *config = writer->config;
	uint32_t far = 1;
	while (far * 2 < config->ranks)
		far *= 2;
	for (uint32_t channel = 0; channel < config->channels; channel++) {
		coll_forget(writer);
		for (uint32_t distance = far; distance > 0 && config->kind == COLL_ALL_GATHER;
		     distance /= 2)
			step(writer, channel, distance, false);
		for (uint32_t distance = 1; distance <= far && config->kind == COLL_REDUCE_SCATTER;
		     distance *= 2)
			step(writer, channel, distance, true);
	}
}
