// SPDX-License-Identifier: Apache-2.0
// The course of everyone with everyone, as coll_direct.c puts it: each rank begins with those
// behind it, and goes on with the one `peers` places further when one is served.

#include <weft/core/check.h>

#include "course_form.h"

// Whose block goes from one rank to another.
static uint32_t owner_of(const struct course *course, uint32_t from, uint32_t to)
{
	return course->config.kind == COLL_ALL_GATHER ? from : to;
}

static struct course_message message(const struct course *course, uint32_t from, uint32_t to,
				     uint32_t number)
{
	const struct coll_config *config = &course->config;
	uint32_t owner = owner_of(course, from, to), channel = number / course->pieces;
	struct coll_part part = coll_block(config, channel, owner);
	struct coll_part piece = coll_piece(config, part, number % course->pieces);
	uint64_t offset = piece.offset;
	if (config->kind == COLL_ALL_TO_ALL)
		offset += coll_out(config) + from * coll_block_bytes(config, to) -
			coll_block_offset(config, to);
	return (struct course_message){to, number, (uint32_t)piece.bytes, offset};
}

static uint32_t pieces_of(const struct course *course, uint32_t from, uint32_t to, uint32_t channel)
{
	const struct coll_config *config = &course->config;
	return (uint32_t)coll_pieces(config,
				     coll_block(config, channel, owner_of(course, from, to)).bytes);
}

static void tell_pair(const struct course *course, uint32_t rank, uint32_t to, uint32_t channel,
		      const struct course_listener *listener)
{
	uint32_t pieces = pieces_of(course, rank, to, channel);
	for (uint32_t i = 0; i < pieces; i++) {
		struct course_message next = message(course, rank, to,
						     channel * course->pieces + i);
		course_tell(listener, &next);
	}
}

static uint32_t width_of(const struct course *course)
{
	uint32_t others = course->config.ranks - 1, peers = course->config.peers;
	return peers == 0 || peers > others ? others : peers;
}

static int create(struct course *course, struct arena *arena)
{
	const struct coll_config *config = &course->config;
	(void)arena;
	course->pieces = course_block_pieces(course);
	course->numbers = (uint64_t)config->channels * course->pieces;
	course->ready_max = course->numbers * config->ranks * width_of(course);
	for (uint32_t channel = 0; channel < config->channels; channel++)
		for (uint32_t owner = 0; owner < config->ranks; owner++)
			course_add(course, coll_block(config, channel, owner), config->ranks - 1);
	return 0;
}

static void begin(struct course *course, uint32_t rank, const struct course_listener *to)
{
	const struct coll_config *config = &course->config;
	for (uint32_t distance = 1; distance <= width_of(course); distance++)
		for (uint32_t channel = 0; channel < config->channels; channel++)
			tell_pair(course, rank, (rank + distance) % config->ranks, channel, to);
}

void course_direct_sent(struct course *course, uint32_t rank, uint32_t to, uint32_t number,
			const struct course_listener *listener)
{
	uint32_t ranks = course->config.ranks, channel = number / course->pieces;
	uint32_t distance = (to + ranks - rank) % ranks, next = distance + width_of(course);
	if (number % course->pieces + 1 < pieces_of(course, rank, to, channel) || next >= ranks)
		return;
	tell_pair(course, rank, (rank + next) % ranks, channel, listener);
}

const struct course_form course_direct = {create, begin, NULL, message, NULL};

// ---------------------------------------------------------------- pairs

uint32_t course_pair_messages(const struct course *course, uint32_t from, uint32_t to)
{
	uint32_t messages = 0;
	check(course->form == &course_direct);
	for (uint32_t channel = 0; channel < course->config.channels; channel++)
		messages += pieces_of(course, from, to, channel);
	return messages;
}

uint64_t course_pair_bytes(const struct course *course, uint32_t from, uint32_t to)
{
	check(course->form == &course_direct);
	return coll_block_bytes(&course->config, owner_of(course, from, to));
}

uint64_t course_pair_packets(const struct course *course, uint32_t from, uint32_t to,
			     uint32_t payload_bytes)
{
	uint64_t packets = 0;
	for (uint32_t channel = 0; channel < course->config.channels; channel++) {
		uint32_t pieces = pieces_of(course, from, to, channel);
		for (uint32_t i = 0; i < pieces; i++) {
			uint32_t number = channel * course->pieces + i;
			uint64_t bytes = message(course, from, to, number).bytes;
			packets += (bytes + payload_bytes - 1) / payload_bytes;
		}
	}
	return packets;
}

// Blocks are cut so that none is longer than the last: it goes to or from the last rank.
struct pair {
	uint32_t from, to;
};

static struct pair longest_pair(const struct course *course)
{
	uint32_t last = course->config.ranks - 1;
	return course->config.kind == COLL_ALL_GATHER ? (struct pair){last, 0}
						      : (struct pair){0, last};
}

uint32_t course_pair_messages_max(const struct course *course)
{
	struct pair pair = longest_pair(course);
	return course_pair_messages(course, pair.from, pair.to);
}

uint64_t course_pair_packets_max(const struct course *course, uint32_t payload_bytes)
{
	struct pair pair = longest_pair(course);
	return course_pair_packets(course, pair.from, pair.to, payload_bytes);
}

uint32_t course_pairs_max(const struct course *course)
{
	uint64_t pairs = (uint64_t)width_of(course) * course->config.channels;
	uint32_t others = course->config.ranks - 1;
	return pairs < others ? (uint32_t)pairs : others;
}
