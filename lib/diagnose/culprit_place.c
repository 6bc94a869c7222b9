// SPDX-License-Identifier: Apache-2.0
// See culprit_place.h.

#include "culprit_place.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

// Places that contain a link, or none.
#define PLACES_OF_LINK 6u

uint32_t culprit_nic_of(const struct world *world, const struct link_plan *link)
{
	const struct topology *topology = &world->topology;
	return link->node_a * topology->nics_per_host + link->port_a / topology->planes;
}

// The places that `link` is in, the smallest first; the link itself is place `link`.
static void places_of(const struct culprit_search *search, uint32_t index,
		      uint32_t ret[PLACES_OF_LINK])
{
	const struct topology *topology = &search->world->topology;
	const struct link_plan *link = &topology->links[index];
	bool is_nic = link->tier == 0, has_several = topology->nics_per_host > 1;
	ret[0] = index;
	ret[1] = ret[2] = ret[3] = NO_PLACE;
	if (is_nic && topology->planes > 1 && (has_several || !search->prefers_host))
		ret[1] = search->nics_first + culprit_nic_of(search->world, link);
	if (is_nic && (has_several || search->prefers_host))
		ret[2] = search->hosts_first + link->node_a;
	if (!is_nic)
		ret[3] = search->switches_first + link->node_a - topology->hosts;
	ret[4] = search->switches_first + link->node_b - topology->hosts;
	ret[5] = topology->planes > 1 ? search->planes_first + link->plane : NO_PLACE;
}

int culprit_search_init(struct culprit_search *search, const struct world *world)
{
	const struct topology *topology = &world->topology;
	search->world = world;
	search->nics_first = topology->link_count;
	search->hosts_first = search->nics_first + topology->nics;
	search->switches_first = search->hosts_first + topology->hosts;
	search->planes_first = search->switches_first + topology->switch_count;
	search->places = search->planes_first + topology->planes;
	search->marks = calloc(topology->link_count, sizeof(*search->marks));
	search->bad = calloc(search->places, sizeof(*search->bad));
	search->used = calloc(search->places, sizeof(*search->used));
	search->values = calloc((size_t)topology->nics + topology->hosts, sizeof(double));
	return search->marks == NULL || search->bad == NULL || search->used == NULL ||
			search->values == NULL
		? -ENOMEM
		: 0;
}

void culprit_search_free(struct culprit_search *search)
{
	free(search->marks);
	free(search->bad);
	free(search->used);
	free(search->values);
}

// Counts the links of each place. Returns how many stand out.
uint32_t culprit_search_count(struct culprit_search *search)
{
	uint32_t bad = 0;
	memset(search->bad, 0, search->places * sizeof(*search->bad));
	memset(search->used, 0, search->places * sizeof(*search->used));
	for (uint32_t i = 0; i < search->world->topology.link_count; i++) {
		uint32_t places[PLACES_OF_LINK];
		const struct culprit_mark *mark = &search->marks[i];
		if (!mark->is_used)
			continue;
		bad += mark_is_bad(mark);
		places_of(search, i, places);
		for (uint32_t p = 0; p < PLACES_OF_LINK; p++) {
			if (places[p] == NO_PLACE)
				continue;
			search->used[places[p]]++;
			search->bad[places[p]] += mark_is_bad(mark);
		}
	}
	return bad;
}

// The place that has most of the links that stand out and least others: bad x bad / used is the
// largest; of equal ones the smaller.
uint32_t culprit_search_best(const struct culprit_search *search)
{
	uint32_t best = NO_PLACE;
	double most = 0;
	for (uint32_t i = 0; i < search->places; i++) {
		if (search->bad[i] == 0)
			continue;
		double score = (double)search->bad[i] * search->bad[i] / search->used[i];
#ifdef PLANT_LARGEST_PLACE // a bug on purpose: a test must find it
		score = (double)search->bad[i] + i;
#endif
		if (score <= most * 1.000001)
			continue;
		best = i;
		most = score;
	}
	return best;
}

void culprit_search_name(const struct culprit_search *search, uint32_t place, struct culprit *ret)
{
	static const enum culprit_place kinds[] = {CULPRIT_LINK, CULPRIT_NIC, CULPRIT_HOST,
						   CULPRIT_SWITCH, CULPRIT_PLANE};
	const uint32_t firsts[] = {0, search->nics_first, search->hosts_first,
				   search->switches_first, search->planes_first};
	uint32_t kind = 4;
	while (place < firsts[kind])
		kind--;
	ret->place = kinds[kind];
	ret->index = place - firsts[kind];
	ret->links = search->bad[place];
	ret->links_of = search->used[place];
}

bool culprit_search_holds(const struct culprit_search *search, uint32_t place, uint32_t link)
{
	uint32_t places[PLACES_OF_LINK];
	places_of(search, link, places);
	for (uint32_t p = 0; p < PLACES_OF_LINK; p++)
		if (places[p] == place)
			return true;
	return false;
}
