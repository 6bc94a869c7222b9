// SPDX-License-Identifier: Apache-2.0
// Hierarchical: inside the domains, across them, inside again. A rank talks outside only with those
// that have its place in their domains, and member j of each domain carries what goes to place j.
//   reduce_scatter  inside: everyone's part to member j; across: ring
//   all_gather      across: ring; inside: member j tells everyone
//   all_reduce      all three
// Each piece goes through the stages on its own. all_to_all: coll_exchange.c.
// Cho, Finkler, Kung, Hunter: BlueConnect, MLSys 2019.

#include "coll_put.h"

// Piece `index` of what one domain's members end with (or begin with), each its part. Members take
// turns: in each of m - 1 steps inside a domain everyone sends to one and receives from one.
struct journey {
	struct coll_writer *writer;
	uint32_t channel, home;
	uint32_t members, domains;
	uint64_t index;
};

static uint32_t seat(const struct journey *journey, uint32_t domain, uint32_t place)
{
	return domain % journey->domains * journey->members + place % journey->members;
}

static struct coll_part portion(const struct journey *journey, uint32_t place)
{
	const struct coll_config *config = journey->writer->config;
	if (config->kind != COLL_ALL_REDUCE)
		return coll_block(config, journey->channel, seat(journey, journey->home, place));
	struct coll_part share = coll_share(config, journey->channel);
	share = coll_cut(config, share, place, journey->members);
	return coll_cut(config, share, journey->home, journey->domains);
}

static struct coll_part piece(const struct journey *journey, uint32_t place)
{
	return coll_piece(journey->writer->config, portion(journey, place), journey->index);
}

// All others of each domain to the member of the place; writer->last of that one is the last.
static void gather_inside(struct journey *journey, uint32_t step)
{
	uint32_t *last = journey->writer->last;
	for (uint32_t domain = 0; domain < journey->domains; domain++)
		for (uint32_t place = 0; place < journey->members; place++) {
			uint32_t from = seat(journey, domain, place + journey->members - step);
			uint32_t to = seat(journey, domain, place);
			struct coll_hop hop = {from, to, journey->channel, true};
			struct coll_part part = piece(journey, place);
			last[to] = coll_send_in_turn(journey->writer, hop, part, part.offset,
						     last[to]);
		}
}

static void tell_inside(struct journey *journey, uint32_t step)
{
	for (uint32_t domain = 0; domain < journey->domains; domain++)
		for (uint32_t place = 0; place < journey->members; place++) {
			uint32_t from = seat(journey, domain, place);
			uint32_t to = seat(journey, domain, place + step);
			struct coll_hop hop = {from, to, journey->channel, false};
			coll_send(journey->writer, hop, piece(journey, place),
				  journey->writer->last[from], OP_NONE);
		}
}

// Once around, beginning at domain `at`. A sum waits for what was gathered inside, too.
static void go_across(struct journey *journey, uint32_t at, uint32_t place, bool is_sum)
{
	uint32_t *last = journey->writer->last;
	for (uint32_t i = 1; i < journey->domains; i++, at++) {
		uint32_t from = seat(journey, at, place), to = seat(journey, at + 1, place);
		struct coll_hop hop = {from, to, journey->channel, is_sum};
		last[to] = coll_send(journey->writer, hop, piece(journey, place), last[from],
				     is_sum ? last[to] : OP_NONE);
	}
}

static void put_journey(struct journey *journey)
{
	enum coll_kind kind = journey->writer->config->kind;
	bool is_summed = kind != COLL_ALL_GATHER, is_told = kind != COLL_REDUCE_SCATTER;
	coll_forget(journey->writer);
	for (uint32_t step = 1; is_summed && step < journey->members; step++)
		gather_inside(journey, step);
	for (uint32_t place = 0; place < journey->members; place++) {
		if (is_summed)
			go_across(journey, journey->home + 1, place, true);
		if (is_told)
			go_across(journey, journey->home, place, false);
	}
	for (uint32_t step = 1; is_told && step < journey->members; step++)
		tell_inside(journey, step);
}

static uint64_t pieces_most(const struct journey *journey)
{
	uint64_t most = 0;
	for (uint32_t place = 0; place < journey->members; place++) {
		uint64_t pieces = coll_pieces(journey->writer->config,
					      portion(journey, place).bytes);
		most = pieces > most ? pieces : most;
	}
	return most;
}

void coll_put_levels(struct coll_writer *writer)
{
	const struct coll_config *config = writer->config;
	struct journey journey = {.writer = writer,
				  .members = config->domain,
				  .domains = config->ranks / config->domain};
	coll_forget_turns(writer);
	for (journey.channel = 0; journey.channel < config->channels; journey.channel++)
		for (journey.home = 0; journey.home < journey.domains; journey.home++)
			for (journey.index = 0; journey.index < pieces_most(&journey);
			     journey.index++)
				put_journey(&journey);
}
