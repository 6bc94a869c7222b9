// SPDX-License-Identifier: Apache-2.0
// Recursive halving (reduce_scatter), doubling (all_gather), both (all_reduce).
// Rabenseifner: Optimization of collective reduction operations, 2004; Thakur, Rabenseifner, Gropp:
// Optimization of collective communication operations in MPICH, 2005.
// In step k a rank exchanges with the one whose number differs in one bit: the half of its range
// that is the other's for the half that is its own. Where the number of ranks is no power of two,
// an all_reduce first folds each rank beyond it onto one below, and tells it the result at the end.

#include "coll_put.h"

#include <weft/core/check.h>

static uint32_t power_below(uint32_t ranks)
{
	uint32_t power = 1;
	while (power <= ranks / 2)
		power *= 2;
	return power;
}

// Blocks first .. first + count - 1 of `power`, in as few stretches as they lie in.
static uint32_t send_blocks(struct coll_writer *writer, struct coll_hop hop, uint32_t first,
			    uint32_t count, uint32_t power)
{
	const struct coll_config *config = writer->config;
	uint32_t after = writer->last[hop.from], before = writer->last[hop.to];
	if (config->kind != COLL_ALL_REDUCE && config->channels > 1) {
		for (uint32_t i = 0; i < count; i++)
			before = coll_send_all(writer, hop,
					       coll_block(config, hop.channel, first + i), after,
					       before);
		return before;
	}
	struct coll_part share = coll_share(config, hop.channel);
	if (config->kind != COLL_ALL_REDUCE)
		check(power == config->ranks);
	struct coll_part part = coll_cut(config, share, first, power);
	struct coll_part end = coll_cut(config, share, first + count - 1, power);
	part.bytes = end.offset + end.bytes - part.offset;
	return coll_send_all(writer, hop, part, after, before);
}

// Both directions of one exchange. A rank sends what was there before, so that both receives are
// put before either counts as the last.
static void exchange(struct coll_writer *writer, uint32_t channel, uint32_t low, uint32_t distance,
		     uint32_t power, bool is_sum)
{
	uint32_t high = low + distance, first = low / distance * distance;
	struct coll_hop up = {low, high, channel, is_sum}, down = {high, low, channel, is_sum};
	// halving: to the high one its half; doubling: what the low one has
	uint32_t to_high = is_sum ? first + distance : first;
	uint32_t to_low = is_sum ? first : first + distance;
	uint32_t at_high = send_blocks(writer, up, to_high, distance, power);
	uint32_t at_low = send_blocks(writer, down, to_low, distance, power);
	writer->last[high] = at_high;
	writer->last[low] = at_low;
}

static void step(struct coll_writer *writer, uint32_t channel, uint32_t distance, uint32_t power,
		 bool is_sum)
{
	for (uint32_t rank = 0; rank < power; rank++)
		if ((rank & distance) == 0)
			exchange(writer, channel, rank, distance, power, is_sum);
}

// Ranks beyond the power of two hand over all they have, or take all there is.
static void fold(struct coll_writer *writer, uint32_t channel, uint32_t power, bool is_back)
{
	struct coll_part share = coll_share(writer->config, channel);
	for (uint32_t rank = power; rank < writer->config->ranks; rank++) {
		uint32_t twin = rank - power;
		struct coll_hop hop = {is_back ? twin : rank, is_back ? rank : twin, channel,
				       !is_back};
		writer->last[hop.to] = coll_send_all(writer, hop, share, writer->last[hop.from],
						     writer->last[hop.to]);
	}
}

void coll_put_halving(struct coll_writer *writer)
{
	const struct coll_config *config = writer->config;
	uint32_t power = power_below(config->ranks);
	for (uint32_t channel = 0; channel < config->channels; channel++) {
		coll_forget(writer);
		fold(writer, channel, power, false);
		for (uint32_t distance = power / 2; distance > 0 && config->kind != COLL_ALL_GATHER;
		     distance /= 2)
			step(writer, channel, distance, power, true);
		for (uint32_t distance = 1; distance < power && config->kind != COLL_REDUCE_SCATTER;
		     distance *= 2)
			step(writer, channel, distance, power, false);
		fold(writer, channel, power, true);
	}
}
