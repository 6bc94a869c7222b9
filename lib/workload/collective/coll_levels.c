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
struct coll_route {
	struct coll_writer *writer;
	uint32_t channel, home;
	uint32_t members, domains;
	uint64_t index;
};

static uint32_t gpu_location(const struct coll_route *coll_route, uint32_t domain, uint32_t place)
{
	return domain % coll_route->domains * coll_route->members + place % coll_route->members;
}

static struct coll_part portion(const struct coll_route *coll_route, uint32_t place)
{
	const struct coll_config *config = coll_route->writer->config;
	if (config->kind != COLL_ALL_REDUCE)
		return coll_block(config, coll_route->channel,
				  gpu_location(coll_route, coll_route->home, place));
	struct coll_part share = coll_share(config, coll_route->channel);
	share = coll_cut(config, share, place, coll_route->members);
	return coll_cut(config, share, coll_route->home, coll_route->domains);
}

static struct coll_part piece(const struct coll_route *coll_route, uint32_t place)
{
	return coll_piece(coll_route->writer->config, portion(coll_route, place),
			  coll_route->index);
}

// All others of each domain to the member of the place; writer->last of that one is the last.
static void gather_inside(struct coll_route *coll_route, uint32_t step)
{
	uint32_t *last = coll_route->writer->last;
	for (uint32_t domain = 0; domain < coll_route->domains; domain++)
		for (uint32_t place = 0; place < coll_route->members; place++) {
			uint32_t from = gpu_location(coll_route, domain,
						     place + coll_route->members - step);
			uint32_t to = gpu_location(coll_route, domain, place);
			struct coll_hop hop = {from, to, coll_route->channel, true};
			struct coll_part part = piece(coll_route, place);
			last[to] = coll_send_in_turn(coll_route->writer, hop, part, part.offset,
						     last[to]);
		}
}

static void tell_inside(struct coll_route *coll_route, uint32_t step)
{
	for (uint32_t domain = 0; domain < coll_route->domains; domain++)
		for (uint32_t place = 0; place < coll_route->members; place++) {
			uint32_t from = gpu_location(coll_route, domain, place);
			uint32_t to = gpu_location(coll_route, domain, place + step);
			struct coll_hop hop = {from, to, coll_route->channel, false};
			coll_send(coll_route->writer, hop, piece(coll_route, place),
				  coll_route->writer->last[from], OP_NONE);
		}
}

// Once around, beginning at domain `at`. A sum waits for what was gathered inside, too.
static void go_across(struct coll_route *coll_route, uint32_t at, uint32_t place, bool is_sum)
{
	uint32_t *last = coll_route->writer->last;
	for (uint32_t i = 1; i < coll_route->domains; i++, at++) {
		uint32_t from = gpu_location(coll_route, at, place),
			 to = gpu_location(coll_route, at + 1, place);
		struct coll_hop hop = {from, to, coll_route->channel, is_sum};
		last[to] = coll_send(coll_route->writer, hop, piece(coll_route, place), last[from],
				     is_sum ? last[to] : OP_NONE);
	}
}

static void put_coll_route(struct coll_route *coll_route)
{
	enum coll_kind kind = coll_route->writer->config->kind;
	bool is_summed = kind != COLL_ALL_GATHER, is_gather = kind != COLL_REDUCE_SCATTER;
	coll_forget(coll_route->writer);
	for (uint32_t step = 1; is_summed && step < coll_route->members; step++)
		gather_inside(coll_route, step);
	for (uint32_t place = 0; place < coll_route->members; place++) {
		if (is_summed)
			go_across(coll_route, coll_route->home + 1, place, true);
		if (is_gather)
			go_across(coll_route, coll_route->home, place, false);
	}
	for (uint32_t step = 1; is_gather && step < coll_route->members; step++)
		tell_inside(coll_route, step);
}

static uint64_t pieces_most(const struct coll_route *coll_route)
{
	uint64_t most = 0;
	for (uint32_t place = 0; place < coll_route->members; place++) {
		uint64_t pieces = coll_pieces(coll_route->writer->config,
					      portion(coll_route, place).bytes);
		most = pieces > most ? pieces : most;
	}
	return most;
}

void coll_put_levels(struct coll_writer *writer)
{
	const struct coll_config *config = writer->config;
	struct coll_route coll_route = {.writer = writer,
					.members = config->domain,
					.domains = config->ranks / config->domain};
	coll_forget_turns(writer);
	for (coll_route.channel = 0; coll_route.channel < config->channels; coll_route.channel++)
		for (coll_route.home = 0; coll_route.home < coll_route.domains; coll_route.home++)
			for (coll_route.index = 0; coll_route.index < pieces_most(&coll_route);
			     coll_route.index++)
				put_coll_route(&coll_route);
}
