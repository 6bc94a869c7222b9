// SPDX-License-Identifier: Apache-2.0
// Data for collectives: values that differ by rank and element, and what they must have become.

#include <weft/workload/coll.h>

#include <string.h>

#include <weft/core/rng.h>

static uint64_t cut_to(const struct coll_config *config, uint64_t value)
{
	uint32_t bits = 8 * config->element_bytes;
	return bits == 64 ? value : value & ((UINT64_C(1) << bits) - 1);
}

// What rank `rank` has at an element of its buffer before.
static uint64_t value_of(const struct coll_config *config, uint32_t rank, uint64_t element)
{
	return cut_to(config, rng_mix((uint64_t)rank << 44 ^ element));
}

static uint64_t load(const struct coll_config *config, const uint8_t *buffer, uint64_t element)
{
	uint64_t value = 0;
	const uint8_t *at = buffer + element * config->element_bytes;
	for (uint32_t i = 0; i < config->element_bytes; i++)
		value |= (uint64_t)at[i] << (8 * i);
	return value;
}

void coll_fill(const struct coll_config *config, uint32_t rank, uint8_t *ret)
{
	uint64_t elements = coll_buffer_bytes(config) / config->element_bytes;
	for (uint64_t element = 0; element < elements; element++) {
		uint64_t value = value_of(config, rank, element);
		for (uint32_t i = 0; i < config->element_bytes; i++)
			*ret++ = (uint8_t)(value >> (8 * i));
	}
}

static uint64_t sum_of(const struct coll_config *config, uint64_t element)
{
	uint64_t sum = 0;
	for (uint32_t rank = 0; rank < config->ranks; rank++)
		sum += value_of(config, rank, element);
	return cut_to(config, sum);
}

// A stretch of a result: elements first .. of a rank's buffer are what `from` had at `source`, or
// the sum of what all had there.
struct stretch {
	uint64_t first, count, source;
	uint32_t from;
	bool is_sum;
};

static uint64_t count_wrong(const struct coll_config *config, const uint8_t *buffer,
			    struct stretch stretch)
{
	uint64_t wrong = 0;
	for (uint64_t i = 0; i < stretch.count; i++) {
		uint64_t should = stretch.is_sum
			? sum_of(config, stretch.source + i)
			: value_of(config, stretch.from, stretch.source + i);
		wrong += load(config, buffer, stretch.first + i) != should;
	}
	return wrong;
}

// Block `owner` of the buffer, where it lies in the rank's own, too.
static struct stretch block_of(const struct coll_config *config, uint32_t owner, uint32_t from)
{
	uint64_t first = coll_block_offset(config, owner) / config->element_bytes;
	return (struct stretch){.first = first,
				.count = coll_block_bytes(config, owner) / config->element_bytes,
				.source = first,
				.from = from};
}

static uint64_t wrong_blocks(const struct coll_config *config, const uint8_t *buffer)
{
	uint64_t wrong = 0;
	for (uint32_t owner = 0; owner < config->ranks; owner++)
		wrong += count_wrong(config, buffer, block_of(config, owner, owner));
	return wrong;
}

static uint64_t wrong_exchange(const struct coll_config *config, uint32_t rank,
			       const uint8_t *buffer)
{
	uint64_t wrong = 0, results = coll_out(config) / config->element_bytes;
	for (uint32_t from = 0; from < config->ranks; from++) {
		struct stretch stretch = block_of(config, rank, from);
		stretch.first = results + from * stretch.count;
		wrong += from == rank ? 0 : count_wrong(config, buffer, stretch);
	}
	return wrong;
}

uint64_t coll_wrong(const struct coll_config *config, uint32_t rank, const uint8_t *buffer)
{
	uint64_t elements = config->bytes / config->element_bytes;
	struct stretch all = {.count = elements, .from = config->root}, own;
	own = block_of(config, rank, config->root);
	bool is_root = rank == config->root;
	switch (config->kind) {
	case COLL_ALL_REDUCE:
		all.is_sum = true;
		return count_wrong(config, buffer, all);
	case COLL_REDUCE:
		all.is_sum = true;
		return is_root ? count_wrong(config, buffer, all) : 0;
	case COLL_BROADCAST:
		return count_wrong(config, buffer, all);
	case COLL_REDUCE_SCATTER:
		own.is_sum = true;
		return count_wrong(config, buffer, own);
	case COLL_SCATTER:
		return count_wrong(config, buffer, own);
	case COLL_ALL_GATHER:
		return wrong_blocks(config, buffer);
	case COLL_GATHER:
		return is_root ? wrong_blocks(config, buffer) : 0;
	case COLL_SEND_RECEIVE:
		all.first = coll_out(config) / config->element_bytes;
		all.from = (rank + config->ranks - 1) % config->ranks;
		return count_wrong(config, buffer, all);
	default:
		return wrong_exchange(config, rank, buffer);
	}
}
