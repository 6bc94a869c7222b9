// SPDX-License-Identifier: Apache-2.0
// See culprit_location.h.

#include "culprit_location.h"
#include <weft/core/order.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

// Places that contain a link, or none.
#define PLACES_OF_LINK 7u

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
	ret[1] = ret[2] = ret[3] = NO_LOCATION;
	if (is_nic && topology->planes > 1 && (has_several || !search->prefers_host))
		ret[1] = search->nics_first + culprit_nic_of(search->world, link);
	if (is_nic && (has_several || search->prefers_host))
		ret[2] = search->hosts_first + link->node_a;
	if (!is_nic)
		ret[3] = search->switches_first + link->node_a - topology->hosts;
	ret[4] = search->switches_first + link->node_b - topology->hosts;
	ret[5] = topology->planes > 1 ? search->planes_first + link->plane : NO_LOCATION;
	ret[6] = search->bundle[index] == NO_LOCATION
		? NO_LOCATION
		: search->bundles_first + search->bundle[index];
}

// ---------------------------------------------------------------- bundles

// A cable between two switches, by its ends.
struct cable {
	uint64_t ends;
	uint32_t link;
};

static int by_ends(const void *left, const void *right)
{
	const struct cable *a = left, *b = right;
	return ORDER(a->ends, b->ends) ?: ORDER(a->link, b->link);
}

static uint32_t gather_cables(const struct topology *topology, struct cable *ret)
{
	uint32_t count = 0;
	for (uint32_t i = 0; i < topology->link_count; i++) {
		const struct link_plan *link = &topology->links[i];
		if (link->tier > 0)
			ret[count++] = (struct cable){(uint64_t)link->node_a << 32 | link->node_b,
						      i};
	}
	qsort(ret, count, sizeof(*ret), by_ends);
	return count;
}

// Numbers the bundles: two cables or more between the same two switches. Returns how many there
// are, or -ENOMEM.
static int find_bundles(struct culprit_search *search)
{
	const struct topology *topology = &search->world->topology;
	uint32_t links = topology->link_count, bundles = 0;
	struct cable *cables = calloc(links, sizeof(*cables));
	search->bundle = calloc(links, sizeof(*search->bundle));
	search->bundle_link = calloc(links, sizeof(*search->bundle_link));
	if (cables == NULL || search->bundle == NULL || search->bundle_link == NULL) {
		free(cables);
		return -ENOMEM;
	}
	memset(search->bundle, 0xff, links * sizeof(*search->bundle));
	uint32_t count = gather_cables(topology, cables);
	for (uint32_t i = 0, end; i < count; i = end) {
		for (end = i + 1; end < count && cables[end].ends == cables[i].ends;)
			end++;
		if (end == i + 1)
			continue;
		for (uint32_t at = i; at < end; at++)
			search->bundle[cables[at].link] = bundles;
		search->bundle_link[bundles++] = cables[i].link;
	}
	free(cables);
	return (int)bundles;
}

// ---------------------------------------------------------------- places

int culprit_search_init(struct culprit_search *search, const struct world *world)
{
	const struct topology *topology = &world->topology;
	search->world = world;
	int bundles = find_bundles(search);
	if (bundles < 0)
		return bundles;
	search->bundles_first = topology->link_count;
	search->nics_first = search->bundles_first + (uint32_t)bundles;
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
	free(search->bundle);
	free(search->bundle_link);
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
			if (places[p] == NO_LOCATION)
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
	uint32_t best = NO_LOCATION;
	double most = 0;
	for (uint32_t i = 0; i < search->places; i++) {
		if (search->bad[i] == 0)
			continue;
		double score = (double)search->bad[i] * search->bad[i] / search->used[i];
		if (score <= most * 1.000001)
			continue;
		best = i;
		most = score;
	}
	return best;
}

void culprit_search_name(const struct culprit_search *search, uint32_t place, struct culprit *ret)
{
	static const enum culprit_location kinds[] = {CULPRIT_LINK, CULPRIT_BUNDLE, CULPRIT_NIC,
						      CULPRIT_HOST, CULPRIT_SWITCH, CULPRIT_PLANE};
	const uint32_t firsts[] = {0,
				   search->bundles_first,
				   search->nics_first,
				   search->hosts_first,
				   search->switches_first,
				   search->planes_first};
	uint32_t kind = 5;
	while (place < firsts[kind])
		kind--;
	ret->place = kinds[kind];
	ret->index = place - firsts[kind];
	if (ret->place == CULPRIT_BUNDLE)
		ret->index = search->bundle_link[ret->index];
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
