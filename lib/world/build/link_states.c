// SPDX-License-Identifier: Apache-2.0
// What hosts need to follow the light on the cables of their NICs. See link_state.h.
#include <errno.h>

#include <weft/host/host.h>

#include "build.h"

// A NIC that follows faster changes would do nothing else.
#define FLAP_MIN_PS PS_PER_US

static bool hits_port(const struct fault *fault, const struct topology *topology)
{
	for (uint32_t link = 0; link < topology->link_count; link++)
		if (topology->links[link].tier == 0 &&
		    link_location_hits(&fault->at, topology, link))
			return true;
	return false;
}

static int check_flaps(const struct world *world, struct refusal *refusal)
{
	const struct scenario *scenario = world->scenario;
	for (uint32_t i = 0; i < scenario->fault_count; i++) {
		const struct fault *fault = &scenario->faults[i];
		if (fault->kind != FAULT_FLAP || fault->direction == FAULT_UP ||
		    fault->down_ps >= FLAP_MIN_PS - fault->up_ps ||
		    !hits_port(fault, &world->topology))
			continue;
		int rc = refuse(
			refusal, -EINVAL,
			"a port that flaps every % ps: its NIC can follow % ps and more, or "
			"set transport.port_status to false",
			fault->down_ps + fault->up_ps, FLAP_MIN_PS);
		scenario_fault_location(scenario, i, refusal);
		return rc;
	}
	return 0;
}

static bool has_dark(const struct port_watch *watch)
{
	return !link_state_is_up(watch, 0) || link_state_next(watch, 0) != PS_NEVER;
}

static int draw_watches(const struct world *world, struct world_host *host)
{
	uint32_t ports = host->nic_count * host->planes;
	host->watches = arena_draw(world->arena, ARENA_WORLD, ports, sizeof(struct port_watch));
	if (host->watches == NULL)
		return -ENOMEM;
	return heap_init(&host->link_states, world->arena, ARENA_WORLD, ports);
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
	if (link_state_is_up(&watch, 0))
		first = link_state_next(&watch, 0) + host->detect_ps;
	heap_push(&host->link_states, first, cable->to_port);
	return 0;
}

int link_state_build(struct world *world, struct refusal *refusal)
{
	if (!world->transport.port_status)
		return 0;
	int rc = check_flaps(world, refusal);
	for (uint32_t i = 1; i < world->cable_count && rc == 0; i += 2) // the way down to a NIC
		if (world->cables[i].tier == 0 && world->cables[i].fault_count > 0)
			rc = watch_cable(world, &world->cables[i]);
	return rc == -ENOMEM ? build_no_memory(world, refusal) : rc;
}
