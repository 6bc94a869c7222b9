// SPDX-License-Identifier: Apache-2.0
// See outage.h.
#include "outage.h"

#include <errno.h>
#include <string.h>

#include <weft/core/check.h>

#define EDGES_MAX 65536u // of one link, before those that nobody sees are left out
#define TURNS_MAX (4 * EDGES_MAX)

// The faults of one link, and the times at which it goes down, up, down ...
struct search {
	const struct fault **faults;
	uint32_t fault_count;
	ps_t *edges; // [EDGES_MAX]
	uint32_t edge_count;
	ps_t *seen; // [EDGES_MAX]
};

static bool takes_down(const struct fault *fault)
{
	return fault->kind == FAULT_LINK_DOWN || fault->kind == FAULT_FLAP;
}

static bool is_down_by(const struct fault *fault, ps_t at)
{
	if (at < fault->from_ps || at >= fault->until_ps)
		return false;
	return fault->kind == FAULT_LINK_DOWN ||
		(at - fault->from_ps) % (fault->down_ps + fault->up_ps) < fault->down_ps;
}

static bool is_down(const struct search *search, ps_t at)
{
	for (uint32_t i = 0; i < search->fault_count; i++)
		if (is_down_by(search->faults[i], at))
			return true;
	return false;
}

// When the fault begins, ends or turns after `at`, or PS_NEVER.
static ps_t next_turn(const struct fault *fault, ps_t at)
{
	if (at >= fault->until_ps)
		return PS_NEVER;
	if (at < fault->from_ps)
		return fault->from_ps;
	if (fault->kind == FAULT_LINK_DOWN)
		return fault->until_ps;
	ps_t period = fault->down_ps + fault->up_ps, into = (at - fault->from_ps) % period;
	return ps_min(fault->until_ps,
		      at - into + (into < fault->down_ps ? fault->down_ps : period));
}

// Finds the edges of a link; false when there are too many.
static bool find_edges(struct search *search)
{
	bool was_down = false;
	uint32_t turns = 0;
	search->edge_count = 0;
	for (ps_t at = 0; at != PS_NEVER;) {
		bool down = is_down(search, at);
		if (search->edge_count == EDGES_MAX || turns++ == TURNS_MAX)
			return false;
		if (down != was_down)
			search->edges[search->edge_count++] = at;
		was_down = down;
		ps_t next = PS_NEVER;
		for (uint32_t i = 0; i < search->fault_count; i++)
			next = ps_min(next, next_turn(search->faults[i], at));
		at = next;
	}
	return true;
}

// Of the edges, those that somebody sees who waits `delay_ps`: a state that is over by then was
// none, and a link that is down from the start was always known to be.
static uint32_t see_edges(const struct search *search, ps_t delay_ps)
{
	uint32_t count = 0;
	for (uint32_t i = 0; i < search->edge_count && delay_ps > 0; i++) {
		bool goes_down = i % 2 == 0, believes_down = count % 2 == 1;
		ps_t at = search->edges[i];
		ps_t end = i + 1 < search->edge_count ? search->edges[i + 1] : PS_NEVER;
		if (goes_down == believes_down)
			continue;
		if (at == 0)
			search->seen[count++] = 0;
		else if (end - at > delay_ps)
			search->seen[count++] = at + delay_ps;
	}
	return count;
}

static int note_outage(struct outages *ret, struct arena *arena, const struct search *search,
		       const struct reroute_config *config, uint32_t link)
{
	const ps_t delays_ps[OUTAGE_KNOWERS] = {config->local_ps, config->remote_ps};
	struct outage *outage = &ret->all[ret->count];
	outage->link = link;
	for (int i = 0; i < OUTAGE_KNOWERS; i++) {
		uint32_t count = see_edges(search, delays_ps[i]);
		outage->count[i] = count;
		if (count == 0)
			continue;
		outage->at[i] = arena_draw(arena, ARENA_FABRIC, count, sizeof(ps_t));
		if (outage->at[i] == NULL)
			return -ENOMEM;
		memcpy(outage->at[i], search->seen, count * sizeof(ps_t));
	}
	ret->of[link] = ++ret->count;
	return 0;
}

// The faults that take the link down, as the search's.
static void gather(struct search *search, const struct topology *topology,
		   const struct fault *faults, uint32_t fault_count, uint32_t link)
{
	search->fault_count = 0;
	if (topology->links[link].tier == 0) // below it is one NIC, and no other way
		return;
	for (uint32_t i = 0; i < fault_count; i++)
		if (takes_down(&faults[i]) && link_location_hits(&faults[i].at, topology, link))
			search->faults[search->fault_count++] = &faults[i];
}

// The fault of the search that turns most often.
static uint32_t restless(const struct search *search, const struct fault *faults)
{
	const struct fault *worst = search->faults[0];
	for (uint32_t i = 0; i < search->fault_count; i++)
		if (search->faults[i]->kind == FAULT_FLAP)
			worst = search->faults[i];
	return (uint32_t)(worst - faults);
}

static int draw(struct search *search, struct outages *ret, struct arena *arena,
		const struct topology *topology, uint32_t fault_count)
{
	uint32_t links = topology->link_count;
	*search = (struct search){
		.faults = arena_draw(arena, ARENA_FABRIC, fault_count + 1, sizeof(void *)),
		.edges = arena_draw(arena, ARENA_FABRIC, EDGES_MAX, sizeof(ps_t)),
		.seen = arena_draw(arena, ARENA_FABRIC, EDGES_MAX, sizeof(ps_t)),
	};
	*ret = (struct outages){.of = arena_draw(arena, ARENA_FABRIC, links, sizeof(uint32_t))};
	return arena_has_failed(arena) ? -ENOMEM : 0;
}

int outages_find(struct outages *ret, struct arena *arena, const struct topology *topology,
		 const struct reroute_config *config, const struct fault *faults,
		 uint32_t fault_count, uint32_t *ret_fault, struct refusal *refusal)
{
	struct search search;
	uint32_t hit = 0;
	if (draw(&search, ret, arena, topology, fault_count) != 0)
		return -ENOMEM;
	for (uint32_t link = 0; link < topology->link_count; link++) {
		gather(&search, topology, faults, fault_count, link);
		hit += search.fault_count > 0;
	}
	ret->all = arena_draw(arena, ARENA_FABRIC, hit + 1, sizeof(*ret->all));
	if (ret->all == NULL)
		return -ENOMEM;
	for (uint32_t link = 0; link < topology->link_count; link++) {
		gather(&search, topology, faults, fault_count, link);
		if (search.fault_count == 0)
			continue;
		if (!find_edges(&search)) {
			*ret_fault = restless(&search, faults);
			return refuse(refusal, -EINVAL,
				      "a link between switches goes down and up more than % times: "
				      "routes that reconverge need an end of its flaps (until)",
				      EDGES_MAX / 2);
		}
		if (note_outage(ret, arena, &search, config, link) != 0)
			return -ENOMEM;
	}
	return 0;
}

bool outage_is_down(const struct outages *outages, uint32_t link, enum outage_knower knower,
		    ps_t at)
{
	if (outages->of[link] == 0)
		return false;
	const struct outage *outage = &outages->all[outages->of[link] - 1];
	uint32_t low = 0, high = outage->count[knower]; // times up to `at`
	while (low < high) {
		uint32_t middle = (low + high) / 2;
		if (outage->at[knower][middle] <= at)
			low = middle + 1;
		else
			high = middle;
	}
	return low % 2 == 1;
}
