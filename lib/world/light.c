// SPDX-License-Identifier: Apache-2.0
// The light on the cables of NICs over time, from the timeline of faults, and the building of what
// hosts need to follow it. See light.h.
#include "light.h"

#include <errno.h>

#include "build.h"
#include "host.h"

// A NIC that follows faster changes would do nothing else.
#define FLAP_MIN_PS PS_PER_US

// Flaps that together never change the light have edges without end: after so many of them somebody
// may look again.
#define EDGES_MAX 4096u

static bool is_dark(const struct cable_fault *fault, ps_t at)
{
	if (at < fault->from_ps || at >= fault->until_ps)
		return false;
	if (fault->kind == FAULT_FLAP)
		return (at - fault->from_ps) % (fault->down_ps + fault->up_ps) < fault->down_ps;
	return fault->kind == FAULT_LINK_DOWN;
}

bool light_is_on(const struct port_watch *watch, ps_t at)
{
	at = ps_max(at, 0);
	for (uint32_t i = 0; i < watch->fault_count; i++)
		if (is_dark(&watch->faults[i], at))
			return false;
	return true;
}

// When a fault begins or ends after `at`, or a flap turns.
static ps_t next_edge(const struct cable_fault *fault, ps_t at)
{
	bool is_of_light = fault->kind == FAULT_LINK_DOWN || fault->kind == FAULT_FLAP;
	if (!is_of_light || at >= fault->until_ps)
		return PS_NEVER;
	if (at < fault->from_ps)
		return fault->from_ps;
	if (fault->kind == FAULT_LINK_DOWN)
		return fault->until_ps;
	ps_t period = fault->down_ps + fault->up_ps;
	ps_t into = (at - fault->from_ps) % period;
	ps_t edge = at - into + (into < fault->down_ps ? fault->down_ps : period);
	return ps_min(edge, fault->until_ps);
}

// Until when a cable is down for certain, whatever else flaps meanwhile; `at` when it is not.
static ps_t down_until(const struct port_watch *watch, ps_t at)
{
	ps_t until = at;
	for (uint32_t i = 0; i < watch->fault_count; i++) {
		const struct cable_fault *fault = &watch->faults[i];
		if (fault->kind == FAULT_LINK_DOWN && is_dark(fault, at))
			until = ps_max(until, fault->until_ps);
	}
	return until;
}

ps_t light_next(const struct port_watch *watch, ps_t at)
{
	at = ps_max(at, 0);
	bool is_on = light_is_on(watch, at);
	uint32_t left = EDGES_MAX;
	do {
		ps_t next = down_until(watch, at);
		if (next == at) {
			next = PS_NEVER;
			for (uint32_t i = 0; i < watch->fault_count; i++)
				next = ps_min(next, next_edge(&watch->faults[i], at));
		}
		at = next;
	} while (at != PS_NEVER && --left > 0 && light_is_on(watch, at) == is_on);
	return at;
}

// ---------------------------------------------------------------- building

static bool hits_port(const struct fault *fault, const struct topology *topology)
{
	for (uint32_t link = 0; link < topology->link_count; link++)
		if (topology->links[link].tier == 0 && link_place_hits(&fault->at, topology, link))
			return true;
	return false;
}

static int check_flaps(const struct world *world, struct refusal *refusal)
{
	const struct scenario *scenario = world->scenario;
	for (uint32_t i = 0; i < scenario->fault_count; i++) {
		const struct fault *fault = &scenario->faults[i];
		if (fault->kind != FAULT_FLAP || fault->way == FAULT_UP ||
		    fault->down_ps >= FLAP_MIN_PS - fault->up_ps ||
		    !hits_port(fault, &world->topology))
			continue;
		int rc = refuse(
			refusal, -EINVAL,
			"a port that flaps every % ps: its NIC can follow % ps and more, or "
			"set transport.port_status to false",
			fault->down_ps + fault->up_ps, FLAP_MIN_PS, 0);
		scenario_fault_place(scenario, i, refusal);
		return rc;
	}
	return 0;
}

static bool has_dark(const struct port_watch *watch)
{
	return !light_is_on(watch, 0) || light_next(watch, 0) != PS_NEVER;
}

static int draw_watches(const struct world *world, struct world_host *host)
{
	uint32_t ports = host->nic_count * host->planes;
	host->watches = arena_draw(world->arena, ARENA_WORLD, ports, sizeof(struct port_watch));
	if (host->watches == NULL)
		return -ENOMEM;
	return heap_init(&host->lights, world->arena, ARENA_WORLD, ports);
}

// Lets the NIC at the end of a cable follow the light that comes to it.
static int watch_cable(struct world *world, const struct cable_plan *cable)
{
	struct world_host *host = world->hosts[cable->to_machine];
	struct port_watch watch = {.faults = world->cable_faults + cable->fault_first,
				   .fault_count = cable->fault_count};
	if (host->nics[host->nic_of_port[cable->to_port]].endpoint == NULL || !has_dark(&watch))
		return 0;
	if (host->watches == NULL && draw_watches(world, host) < 0)
		return -ENOMEM;
	host->watches[cable->to_port] = watch;
	host->detect_ps = world->scenario->port_detect_ps;
	ps_t first = 0; // a port that never had light is known to be down from the start
	if (light_is_on(&watch, 0))
		first = light_next(&watch, 0) + host->detect_ps;
	heap_push(&host->lights, first, cable->to_port);
	return 0;
}

int light_build(struct world *world, struct refusal *refusal)
{
	if (!world->transport.port_status)
		return 0;
	int rc = check_flaps(world, refusal);
	for (uint32_t i = 1; i < world->cable_count && rc == 0; i += 2) // the way down to a NIC
		if (world->cables[i].tier == 0 && world->cables[i].fault_count > 0)
			rc = watch_cable(world, &world->cables[i]);
	return rc == -ENOMEM ? build_no_memory(world, refusal) : rc;
}
