// SPDX-License-Identifier: Apache-2.0
// See slowest.h. Steps are counted by hosts and NICs at their ends, packets by the cables of
// their ways: by links, by switches that they come into, and by planes.

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <weft/core/check_memory.h>
#include <weft/core/order.h>
#include <weft/world/world_delays.h>

#include "culprit_tail.h"
#include "slowest.h"
#include <weft/result/number.h>
#include <weft/result/put.h>

// What one place has of the slowest, and of all.
struct count {
	uint64_t its, all;
};

static double excess_of(const struct slowest *slowest)
{
	double share = (double)slowest->its / (double)slowest->of;
	return share - slowest->all_share;
}

static int by_excess(const void *a, const void *b)
{
	double more = excess_of(b) - excess_of(a);
	return ORDER(more, 0);
}

static int by_rank(const void *a, const void *b)
{
	const struct slowest *left = a, *right = b;
	int order = by_excess(a, b);
	if (order == 0)
		order = (int)left->at.place - (int)right->at.place;
	return order != 0 ? order
			  : (left->at.index > right->at.index) - (left->at.index < right->at.index);
}

static bool is_listed(const struct slowest *slowest)
{
	double share = (double)slowest->its / (double)slowest->of;
	return slowest->its >= SLOWEST_LEAST && share >= SLOWEST_TIMES_LEAST * slowest->all_share;
}

// Takes the one of `count` places of a kind that stands out most, if one does, and one like it.
static void take(struct slowest_list *ret, const struct slowest *like, const struct count *counts,
		 uint32_t count, uint64_t all)
{
	struct slowest best = {0}, second = {0};
	for (uint32_t i = 0; i < count; i++) {
		struct slowest one = *like;
		one.at.index = i;
		one.its = counts[i].its;
		one.all_share = all > 0 ? (double)counts[i].all / (double)all : 0;
		if (!is_listed(&one))
			continue;
		int order = best.its == 0 ? -1 : by_excess(&one, &best);
		if (order < 0) {
			best = one;
			second.its = 0;
		} else if (order == 0 && second.its == 0) {
			second = one;
		}
	}
	if (best.its > 0)
		ret->list[ret->count++] = best;
	if (second.its > 0)
		ret->list[ret->count++] = second;
}

// ---------------------------------------------------------------- steps

// `per` NICs are one place.
static void take_steps(struct slowest_list *ret, const struct worst_steps *steps,
		       enum culprit_location place, uint32_t places, uint32_t per)
{
	const struct slowest like = {.at = {.place = place}, .is_steps = true, .of = steps->worst};
	struct count *counts = calloc(places, sizeof(*counts));
	check_memory(counts != NULL);
	for (uint32_t i = 0; i < steps->count; i++) {
		uint32_t from = steps->list[i].from_nic / per, to = steps->list[i].to_nic / per;
		bool is_worst = i < steps->worst;
		counts[from].its += is_worst;
		counts[from].all++;
		if (to == from)
			continue;
		counts[to].its += is_worst;
		counts[to].all++;
	}
	take(ret, &like, counts, places, steps->count);
	free(counts);
}

// ---------------------------------------------------------------- packets

// All places of links, switches and planes.
struct places {
	struct count *links, *lower, *upper; // switches of the first tier, and above
	struct count planes[PLANES_MAX];
	uint64_t sent;
};

static void count_cable(struct places *places, const struct world *world, uint32_t cable,
			uint64_t late)
{
	const struct topology *topology = &world->topology;
	const struct link_plan *link = &topology->links[cable / 2];
	uint64_t bytes = world->links.counts[cable].data_bytes;
	uint32_t node = cable % 2 == 0 ? link->node_b : link->node_a;
	struct count *into[3] = {&places->links[cable / 2], NULL, NULL};
	if (node >= topology->hosts) {
		uint32_t index = node - topology->hosts;
		into[1] = topology->switches[index].tier == 0 ? &places->lower[index]
							      : &places->upper[index];
	}
	if (link->tier == 0 && cable % 2 == 0) {
		into[2] = &places->planes[link->plane];
		places->sent += bytes;
	}
	for (uint32_t i = 0; i < 3; i++) {
		if (into[i] == NULL)
			continue;
		into[i]->its += late;
		into[i]->all += bytes;
	}
}

static void take_packets(struct slowest_list *ret, const struct world *world)
{
	const struct topology *topology = &world->topology;
	struct places places = {.links = calloc(topology->link_count, sizeof(struct count)),
				.lower = calloc(topology->switch_count, sizeof(struct count)),
				.upper = calloc(topology->switch_count, sizeof(struct count))};
	struct slowest like = {0};
	uint32_t first = culprit_tail_level(world->delays, &like.of);
	ret->packets = like.of;
	check_memory(places.links != NULL && places.lower != NULL && places.upper != NULL);
	for (uint32_t i = 0; i < 2 * topology->link_count; i++)
		count_cable(&places, world, i, culprit_tail_on(world->delays->tail, i, first));
	if (like.of > 0) {
		like.at.place = CULPRIT_LINK;
		take(ret, &like, places.links, topology->link_count, places.sent);
		like.at.place = CULPRIT_SWITCH;
		take(ret, &like, places.lower, topology->switch_count, places.sent);
		take(ret, &like, places.upper, topology->switch_count, places.sent);
		like.at.place = CULPRIT_PLANE;
		if (topology->planes > 1)
			take(ret, &like, places.planes, topology->planes, places.sent);
	}
	free(places.links);
	free(places.lower);
	free(places.upper);
}

void slowest_find(struct slowest_list *ret, const struct world *world,
		  const struct worst_steps *steps)
{
	const struct topology *topology = &world->topology;
	*ret = (struct slowest_list){.reason = culprit_tail_reason(world)};
	if (steps->reason == NULL) {
		take_steps(ret, steps, CULPRIT_HOST, topology->hosts, topology->nics_per_host);
		if (topology->nics_per_host > 1)
			take_steps(ret, steps, CULPRIT_NIC, topology->nics, 1);
	}
	if (ret->reason == NULL)
		take_packets(ret, world);
	qsort(ret->list, ret->count, sizeof(*ret->list), by_rank);
}

// ---------------------------------------------------------------- to people and programs

static const char *unit_of(const struct slowest *slowest)
{
	return slowest->is_steps ? "steps" : "packets";
}

void slowest_json(json_t *to, const struct world *world, const struct worst_steps *steps)
{
	struct slowest_list slowest;
	char name[WORLD_CABLE_NAME_BYTES];
	slowest_find(&slowest, world, steps);
	if (slowest.reason != NULL)
		put_reason(to, "slow_packets", slowest.reason);
	else
		put_count(to, "slow_packets", slowest.packets);
	json_t *array = array_in(to, "slowest");
	for (uint32_t i = 0; i < slowest.count; i++) {
		const struct slowest *one = &slowest.list[i];
		json_t *row = row_in(array);
		culprit_name(&one->at, world, name, sizeof(name));
		put_text(row, "place", culprit_location_name(one->at.place));
		put_text(row, "name", name);
		put_text(row, "what", unit_of(one));
		put_count(row, "count", one->its);
		put_count(row, "of", one->of);
		put_real(row, "share", (double)one->its / (double)one->of);
		put_real(row, "all_share", one->all_share);
	}
}
