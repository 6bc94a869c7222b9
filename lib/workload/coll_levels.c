// SPDX-License-Identifier: Apache-2.0
// Hierarchical: inside the domains, across them, inside again. A rank talks outside only with those
// that have its place in their domains, and member j of each domain carries what goes to place j.
//   reduce_scatter  inside: everyone's part to member j; across: ring
//   all_gather      across: ring; inside: member j tells everyone
//   all_reduce      all three
// Each piece goes through the stages on its own. all_to_all: coll_exchange.c.
// Cho, Finkler, Kung, Hunter: BlueConnect, MLSys 2019.

#include "coll_put.h"

// One piece of what member `place` of domain `home` ends with (or begins with).
struct journey {
	struct coll_writer *writer;
	uint32_t channel, home, place;
	uint32_t members, domains;
	struct coll_part piece;
};

static uint32_t seat(const struct journey *journey, uint32_t domain, uint32_t place)
{
	return domain % journey->domains * journey->members + place;
}

static struct coll_part portion(const struct journey *journey)
{
	const struct coll_config *config = journey->writer->config;
	if (config->kind != COLL_ALL_REDUCE)
		return coll_block(config, journey->channel,
				  seat(journey, journey->home, journey->place));
	struct coll_part share = coll_share(config, journey->channel);
	share = coll_cut(config, share, journey->place, journey->members);
	return coll_cut(config, share, journey->home, journey->domains);
}

// All others of a domain to member `place`; writer->last of that member is the last of them.
static void gather_inside(struct journey *journey, uint32_t domain)
{
	uint32_t *last = journey->writer->last, to = seat(journey, domain, journey->place);
	last[to] = OP_NONE;
	for (uint32_t i = 1; i < journey->members; i++) {
		uint32_t from = seat(journey, domain, (journey->place + i) % journey->members);
		struct coll_hop hop = {from, to, journey->channel, true};
		last[to] = coll_send(journey->writer, hop, journey->piece, OP_NONE, last[to]);
	}
}

static void tell_inside(struct journey *journey, uint32_t domain)
{
	uint32_t from = seat(journey, domain, journey->place);
	for (uint32_t i = 1; i < journey->members; i++) {
		uint32_t to = seat(journey, domain, (journey->place + i) % journey->members);
		struct coll_hop hop = {from, to, journey->channel, false};
		coll_send(journey->writer, hop, journey->piece, journey->writer->last[from],
			  OP_NONE);
	}
}

// Once around, beginning at domain `at`. A sum waits for what was gathered inside, too.
static void go_across(struct journey *journey, uint32_t at, bool is_sum)
{
	uint32_t *last = journey->writer->last;
	for (uint32_t i = 1; i < journey->domains; i++, at++) {
		uint32_t from = seat(journey, at, journey->place);
		uint32_t to = seat(journey, at + 1, journey->place);
		struct coll_hop hop = {from, to, journey->channel, is_sum};
		last[to] = coll_send(journey->writer, hop, journey->piece, last[from],
				     is_sum ? last[to] : OP_NONE);
	}
}

static void put_journey(struct journey *journey)
{
	enum coll_kind kind = journey->writer->config->kind;
	bool is_summed = kind != COLL_ALL_GATHER, is_told = kind != COLL_REDUCE_SCATTER;
	coll_forget(journey->writer);
	for (uint32_t domain = 0; is_summed && domain < journey->domains; domain++)
		gather_inside(journey, domain);
	if (is_summed)
		go_across(journey, journey->home + 1, true);
	if (is_told)
		go_across(journey, journey->home, false);
	for (uint32_t domain = 0; is_told && domain < journey->domains; domain++)
		tell_inside(journey, domain);
}

void coll_put_levels(struct coll_writer *writer)
{
	const struct coll_config *config = writer->config;
	uint32_t members = config->domain, domains = config->ranks / members;
	for (uint32_t channel = 0; channel < config->channels; channel++)
		for (uint32_t rank = 0; rank < config->ranks; rank++) {
			struct journey journey = {writer,  channel, rank / members, rank % members,
						  members, domains, {0, 0}};
			struct coll_part part = portion(&journey);
			for (uint64_t i = 0; i < coll_pieces(config, part.bytes); i++) {
				journey.piece = coll_piece(config, part, i);
				put_journey(&journey);
			}
		}
}
