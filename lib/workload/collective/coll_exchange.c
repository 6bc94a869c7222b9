// SPDX-License-Identifier: Apache-2.0
// The hierarchical all_to_all: inside its domain a rank hands what is for place j of any other
// domain to member j, and member j sends on, in one stretch for each rank outside, what all of its
// domain have for that one. NCCL's PXN (2.12) and DeepEP's dispatch across nodes do so: each NIC
// talks to one NIC of a domain, with messages m times as long.

#include "coll_put.h"

// Member `place` of domain `home` and rank `to` of another domain, at the same place there.
struct pair {
	struct coll_writer *writer;
	uint32_t home, place, to;
	uint32_t members;
	uint64_t block_bytes; // of what each rank has for `to`
	uint64_t waiting; // where the blocks of the home's members lie meanwhile, in their order
	uint32_t last;	  // the last receive of them
};

// Behind the results: a stretch of m blocks for each domain.
static uint64_t waiting_at(const struct coll_config *config, uint32_t to)
{
	uint64_t elements = (config->bytes / config->element_bytes + config->ranks - 1) /
		config->ranks;
	uint64_t block_bytes_max = elements * config->element_bytes;
	return coll_out(config) + config->ranks * block_bytes_max +
		to / config->domain * (uint64_t)config->domain * block_bytes_max;
}

static void hand_over(struct pair *pair, uint32_t member)
{
	const struct coll_config *config = pair->writer->config;
	uint32_t first = pair->home * pair->members;
	for (uint32_t channel = 0; channel < config->channels; channel++) {
		struct coll_hop hop = {first + member, first + pair->place, channel, false};
		struct coll_part part = coll_block(config, channel, pair->to);
		uint64_t at = pair->waiting + member * pair->block_bytes +
			(part.offset - coll_block_offset(config, pair->to));
		uint32_t *last = &pair->writer->last[hop.to];
		*last = coll_send_in_turn(pair->writer, hop, part, at, *last);
	}
}

// Blocks of members first .. first + count - 1 lie at `from`.
static void send_on(struct pair *pair, uint64_t from, uint32_t first, uint32_t count,
		    uint32_t after)
{
	const struct coll_config *config = pair->writer->config;
	uint32_t rank = pair->home * pair->members;
	struct coll_part all = {from, count * pair->block_bytes};
	uint64_t results = coll_out(config) + (rank + first) * pair->block_bytes;
	for (uint32_t channel = 0; channel < config->channels; channel++) {
		struct coll_hop hop = {rank + pair->place, pair->to, channel, false};
		struct coll_part part = coll_cut(config, all, channel, config->channels);
		coll_send_to(pair->writer, hop, part, results + (part.offset - from), after,
			     OP_NONE);
	}
}

static void send_all_on(struct pair *pair)
{
	uint32_t behind = pair->place + 1;
	uint32_t last = pair->writer->last[pair->home * pair->members + pair->place];
	send_on(pair, coll_block_offset(pair->writer->config, pair->to), pair->place, 1, OP_NONE);
	send_on(pair, pair->waiting, 0, pair->place, last);
	send_on(pair, pair->waiting + behind * pair->block_bytes, behind, pair->members - behind,
		last);
}

// Rank `rank` and the one at its place `distance` domains on.
static struct pair pair_of(struct coll_writer *writer, uint32_t rank, uint32_t distance)
{
	const struct coll_config *config = writer->config;
	uint32_t to = (rank + distance * config->domain) % config->ranks;
	return (struct pair){.writer = writer,
			     .home = rank / config->domain,
			     .place = rank % config->domain,
			     .to = to,
			     .members = config->domain,
			     .block_bytes = coll_block_bytes(config, to),
			     .waiting = waiting_at(config, to)};
}

// In each of m - 1 steps everyone hands over to one and gets from one.
static void put_distance(struct coll_writer *writer, uint32_t distance)
{
	const struct coll_config *config = writer->config;
	coll_forget(writer);
	for (uint32_t step = 1; step < config->domain; step++)
		for (uint32_t rank = 0; rank < config->ranks; rank++) {
			struct pair pair = pair_of(writer, rank, distance);
			hand_over(&pair, (pair.place + step) % pair.members);
		}
	for (uint32_t rank = 0; rank < config->ranks; rank++) {
		struct pair pair = pair_of(writer, rank, distance);
		send_all_on(&pair);
	}
}

// Inside a domain there is no step between.
static void put_inside(struct coll_writer *writer, uint32_t from, uint32_t to)
{
	const struct coll_config *config = writer->config;
	uint64_t results = coll_out(config) + from * coll_block_bytes(config, to);
	for (uint32_t channel = 0; channel < config->channels; channel++) {
		struct coll_hop hop = {from, to, channel, false};
		struct coll_part part = coll_block(config, channel, to);
		coll_send_to(writer, hop, part,
			     results + part.offset - coll_block_offset(config, to), OP_NONE,
			     OP_NONE);
	}
}

void coll_put_exchange(struct coll_writer *writer)
{
	const struct coll_config *config = writer->config;
	uint32_t members = config->domain, domains = config->ranks / members;
	coll_forget_turns(writer);
	for (uint32_t distance = 1; distance < domains; distance++)
		put_distance(writer, distance);
	for (uint32_t distance = 1; distance < members; distance++)
		for (uint32_t rank = 0; rank < config->ranks; rank++)
			put_inside(writer, rank,
				   rank / members * members + (rank + distance) % members);
}
