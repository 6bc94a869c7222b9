// SPDX-License-Identifier: Apache-2.0
// Places that contain links, and which of them has those that stand out.
#pragma once

#include "culprit.h"

#define DIRECTIONS 2u // of a link: up, down

// One link as a finding sees it: whether it was judged, and whether it stands out on either way.
struct culprit_mark {
	bool is_used, is_bad[DIRECTIONS]; // up, down
	bool is_down;			  // its NIC has seen no light on it
};

#define NO_LOCATION UINT32_MAX

struct culprit_search {
	const struct world *world;
	struct culprit_mark *marks; // [links]
	uint32_t *bad, *used;	    // [places], links of each
	uint32_t bundles_first, nics_first, hosts_first, switches_first, planes_first, places;
	uint32_t *bundle;      // [links], of the cables of two switches: its number, or NO_LOCATION
	uint32_t *bundle_link; // [bundles], its first link
	bool prefers_host;     // where a host has one NIC it is the host
	double *values;	       // scratch: as many as NICs or hosts, the more
};

static inline bool mark_is_bad(const struct culprit_mark *mark)
{
	return mark->is_bad[0] || mark->is_bad[1];
}

// -ENOMEM. To be freed, also then.
int culprit_search_init(struct culprit_search *search, const struct world *world);
void culprit_search_free(struct culprit_search *search);

// Counts the links of each place. Returns how many stand out.
uint32_t culprit_search_count(struct culprit_search *search);

// After a count: the place that has most of the links that stand out and least others.
uint32_t culprit_search_best(const struct culprit_search *search);

// Tells `ret` what place it is, and of how many links; and whether it contains a link.
void culprit_search_name(const struct culprit_search *search, uint32_t place, struct culprit *ret);
bool culprit_search_holds(const struct culprit_search *search, uint32_t place, uint32_t link);

// The NIC at the lower end of a link of tier 0.
uint32_t culprit_nic_of(const struct world *world, const struct link_plan *link);
