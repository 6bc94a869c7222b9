// SPDX-License-Identifier: Apache-2.0
// See culprit_tail.h.

#include "culprit_tail.h"

#include <inttypes.h>

#include <weft/world/world_delays.h>

#include "culprit_location.h"
#include <weft/result/delays.h>
#include <weft/result/number.h>
#include <weft/result/put.h>

#define NOT_TIMED "not measured: watch.delays is false"
#define TAIL_PACKETS_LEAST 1000 // of which ten are the slowest hundredth
#define TOO_FEW "fewer than 1,000 packets were timed"
#define NO_PAIRS "there are no figures by pair of NICs"
#define NONE_LATE "no packet took one and a quarter base round trips"
#define SPREAD "messages of all pairs are spread over it"
#define LINE_BYTES 192

// A row of NICs: below a switch, of a host, one.
struct nics {
	uint32_t first, count;
};

// The NICs whose messages begin or end at the culprit; none where all messages may pass it.
static struct nics nics_of(const struct culprit *culprit, const struct world *world)
{
	const struct topology *topology = &world->topology;
	const struct link_plan *link;
	switch (culprit->place) {
	case CULPRIT_LINK:
		link = &topology->links[culprit->index];
		if (link->tier == 0)
			return (struct nics){culprit_nic_of(world, link), 1};
		return (struct nics){0, 0};
	case CULPRIT_NIC:
		return (struct nics){culprit->index, 1};
	case CULPRIT_HOST:
		return (struct nics){culprit->index * topology->nics_per_host,
				     topology->nics_per_host};
	case CULPRIT_SWITCH:
		if (topology->names == NULL && topology->switches[culprit->index].tier == 0)
			return (struct nics){topology->switches[culprit->index].nics_first,
					     topology->switches[culprit->index].nics_count};
		return (struct nics){0, 0};
	default:
		return (struct nics){0, 0};
	}
}

static bool is_at(const struct pair_delay *pair, struct nics nics)
{
	return pair->from_nic - nics.first < nics.count || pair->to_nic - nics.first < nics.count;
}

// The slowest hundredth of the packets of all planes, in whole cells of their histograms, which are
// of one shape: how many of them took the plane, and how many of all.
static void tail_of_plane(struct culprit_tail *ret, const struct delays *delays, uint32_t plane)
{
	const struct hist *planes = delays->one_way_plane_ns;
	uint64_t all = 0;
	for (uint32_t i = 0; i < delays->planes; i++)
		all += planes[i].total;
	ret->is_packets = true;
	if (all < TAIL_PACKETS_LEAST) {
		ret->reason = TOO_FEW;
		return;
	}
	for (uint32_t cell = planes[0].cells; cell-- > 0 && ret->of < (all + 99) / 100;) {
		for (uint32_t i = 0; i < delays->planes; i++)
			ret->of += planes[i].counts[cell];
		ret->at += planes[plane].counts[cell];
	}
	ret->all_share = (double)planes[plane].total / (double)all;
}

// ---------------------------------------------------------------- packets by cable

uint64_t culprit_tail_on(const struct tail *tail, uint32_t cable, uint32_t first)
{
	uint64_t sum = 0;
	for (uint32_t level = first; level < TAIL_LEVELS; level++)
		sum += tail->counts[(size_t)level * tail->cables + cable];
	return sum;
}

static uint64_t timed(const struct world_delays *delays)
{
	uint64_t all = 0;
	for (int pair = 0; pair < PAIR_CLASS_COUNT; pair++)
		all += delays->whole->one_way_ns[pair].total;
	return all;
}

uint32_t culprit_tail_level(const struct world_delays *delays, uint64_t *ret_packets)
{
	uint32_t first = TAIL_LEVELS;
	uint64_t least = (timed(delays) + 99) / 100;
	*ret_packets = 0;
	while (first > 0 && *ret_packets < least)
		*ret_packets += delays->tail->packets[--first];
	return first;
}

const char *culprit_tail_reason(const struct world *world)
{
	const struct world_delays *delays = world->delays;
	uint64_t packets;
	if (delays == NULL)
		return NOT_TIMED;
	if (delays->tail == NULL)
		return delays->tail_reason;
	if (timed(delays) < TAIL_PACKETS_LEAST)
		return TOO_FEW;
	culprit_tail_level(delays, &packets);
	return packets == 0 ? NONE_LATE : NULL;
}

// Whether a link is the culprit, or one of its bundle.
static bool is_link_of(const struct culprit *culprit, const struct world *world, uint32_t link)
{
	const struct link_plan *first = &world->topology.links[culprit->index];
	const struct link_plan *plan = &world->topology.links[link];
	return culprit->index == link ||
		(culprit->place == CULPRIT_BUNDLE && first->node_a == plan->node_a &&
		 first->node_b == plan->node_b);
}

// Whether packets on this way of a link are the culprit's: of a link on ways on which it stands
// out, if any; of a switch those that come in.
static bool is_direction_of(const struct culprit *culprit, const struct world *world, uint32_t link,
			    uint32_t direction)
{
	const struct link_plan *plan = &world->topology.links[link];
	bool stands_out = culprit->up || culprit->down;
	if (culprit->place == CULPRIT_LINK || culprit->place == CULPRIT_BUNDLE)
		return is_link_of(culprit, world, link) &&
			(!stands_out || (direction == 0 ? culprit->up : culprit->down));
	return (direction == 0 ? plan->node_b : plan->node_a) ==
		world->topology.hosts + culprit->index;
}

// Of all packets by their bytes, which links count.
static void tail_of_cables(struct culprit_tail *ret, const struct culprit *culprit,
			   const struct world *world)
{
	const struct world_delays *delays = world->delays;
	const struct tail *tail = delays->tail;
	uint64_t sent = 0, its = 0;
	uint32_t first = tail == NULL ? 0 : culprit_tail_level(delays, &ret->of);
	ret->is_packets = true;
	ret->reason = culprit_tail_reason(world);
	for (uint32_t i = 0; ret->reason == NULL && i < 2 * world->topology.link_count; i++) {
		uint64_t bytes = world->links.counts[i].data_bytes;
		sent += world->topology.links[i / 2].tier == 0 && i % 2 == 0 ? bytes : 0;
		if (!is_direction_of(culprit, world, i / 2, i % 2))
			continue;
		ret->at += culprit_tail_on(tail, i, first);
		its += bytes;
	}
	ret->all_share = sent > 0 ? (double)its / (double)sent : 0;
}

// ---------------------------------------------------------------- all of it

void culprit_tail(struct culprit_tail *ret, const struct culprit *culprit,
		  const struct world *world)
{
	const struct world_delays *delays = world->delays;
	struct nics nics = nics_of(culprit, world);
	struct worst_pairs worst = {0};
	uint64_t at = 0;
	*ret = (struct culprit_tail){.reason = delays == NULL ? NOT_TIMED : NULL};
	if (delays != NULL && culprit->place == CULPRIT_PLANE) {
		tail_of_plane(ret, delays->whole, culprit->index);
		return;
	}
	if (delays != NULL && nics.count == 0) {
		tail_of_cables(ret, culprit, world);
		return;
	}
	if (delays != NULL)
		worst_pairs_find(&worst, delays);
	if (delays != NULL && worst.count == 0)
		ret->reason = NO_PAIRS;
	if (ret->reason != NULL)
		return;
	for (uint32_t i = 0; i < delays->pair_count; i++)
		at += delays->pairs[i].message_ns.total > 0 && is_at(&delays->pairs[i], nics);
	uint64_t eighth = (worst.talked + 7) / 8; // else most pairs would be their own tail
	ret->of = eighth < worst.count ? (uint32_t)eighth : worst.count;
	for (uint32_t i = 0; i < ret->of; i++)
		ret->at += is_at(worst.list[i], nics);
	ret->all_share = (double)at / (double)worst.talked;
}

// Whether packets of a step go over NICs: inside a host they have lines of their own, if any.
static bool has_packets(const struct worst_step *step, const struct world *world)
{
	uint32_t per_host = world->topology.nics_per_host;
	return world->scenario->scaleup.rate_bps == 0 ||
		step->from_nic / per_host != step->to_nic / per_host;
}

static bool is_step_at(const struct worst_step *step, struct nics nics)
{
	return step->from_nic - nics.first < nics.count || step->to_nic - nics.first < nics.count;
}

void culprit_steps(struct culprit_steps *ret, const struct culprit *culprit,
		   const struct world *world, const struct worst_steps *steps)
{
	struct nics nics = nics_of(culprit, world);
	*ret = (struct culprit_steps){.reason = steps->reason};
	if (ret->reason == NULL && nics.count == 0)
		ret->reason = SPREAD;
	for (uint32_t i = 0; ret->reason == NULL && i < steps->count; i++) {
		const struct worst_step *step = &steps->list[i];
		bool is_its = is_step_at(step, nics) &&
			(culprit->place == CULPRIT_HOST || has_packets(step, world));
		ret->at += is_its;
		ret->worst_at += is_its && i < steps->worst;
	}
}

static void put_steps(json_t *row, const struct culprit *culprit, const struct world *world,
		      const struct worst_steps *steps)
{
	char line[LINE_BYTES];
	struct culprit_steps of;
	struct text text;
	bool is_watched = world->op_times != NULL || world->slices != NULL;
	culprit_steps(&of, culprit, world, steps);
	if (of.reason != NULL) {
		put_reason(row, "worst_steps_share", of.reason);
		put_reason(row, "steps_share", of.reason);
		snprintf(line, sizeof(line), "share of the worst steps: unavailable, %s",
			 of.reason);
	} else {
		double share = (double)of.at / (double)steps->count;
		put_real(row, "worst_steps_share", (double)of.worst_at / (double)steps->worst);
		put_real(row, "steps_share", share);
		snprintf(line, sizeof(line),
			 "%" PRIu64 " of the %" PRIu32
			 " worst steps begin or end here (%s of all steps do)",
			 of.worst_at, steps->worst, number_share(&text, share));
	}
	put_text(row, "steps_text", is_watched ? line : NULL);
}

void culprit_tail_json(json_t *row, const struct culprit *culprit, const struct world *world,
		       const struct worst_steps *steps)
{
	char line[LINE_BYTES];
	struct culprit_tail tail;
	struct text text;
	culprit_tail(&tail, culprit, world);
	if (tail.reason != NULL) {
		put_reason(row, "tail_share", tail.reason);
		put_reason(row, "pairs_share", tail.reason);
		snprintf(line, sizeof(line), "share of the tail: unavailable, %s", tail.reason);
	} else {
		put_real(row, "tail_share", (double)tail.at / (double)tail.of);
		put_real(row, "pairs_share", tail.all_share);
		snprintf(line, sizeof(line), "%" PRIu64 " of the %" PRIu64 " %s (%s of all %s)",
			 tail.at, tail.of,
			 tail.is_packets ? "slowest packets came by it"
					 : "pairs of NICs with the slowest messages end here",
			 number_share(&text, tail.all_share),
			 tail.is_packets ? "packets did" : "pairs do");
	}
	put_text(row, "tail_text", world->delays != NULL ? line : NULL);
	put_steps(row, culprit, world, steps);
}
