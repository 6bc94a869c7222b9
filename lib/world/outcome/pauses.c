// SPDX-License-Identifier: Apache-2.0
// PFC in a world: NICs that may be paused, and what came of it at the end.

#include <string.h>

#include "build/build.h"
#include <weft/host/host.h>

int pauses_build(struct world *world, struct refusal *refusal)
{
	if (!world->fabric.pfc.is_on)
		return 0;
	world->pauses = arena_draw(world->arena, ARENA_WORLD, 1, sizeof(*world->pauses));
	if (world->pauses == NULL ||
	    deadlock_room_init(&world->pauses->room, world->arena, &world->topology) < 0)
		return build_no_memory(world, refusal);
	for (uint32_t h = 0; h < world->topology.hosts; h++) {
		struct world_host *host = world->hosts[h];
		for (uint32_t i = 0; i < host->nic_count; i++) {
			struct nic *nic = &host->nics[i];
			nic->pauses = arena_draw(world->arena, ARENA_WORLD, nic->planes,
						 sizeof(*nic->pauses));
			if (nic->pauses == NULL)
				return build_no_memory(world, refusal);
		}
	}
	return 0;
}

// The pauses that the sender of a cable received.
static const struct pause *pause_of(const struct world *world, const struct cable_plan *plan)
{
	uint32_t hosts = world->topology.hosts;
	if (plan->from_machine >= hosts)
		return switch_pause(world->switches[plan->from_machine - hosts], plan->from_port);
	const struct world_host *host = world->hosts[plan->from_machine];
	const struct nic *nic = &host->nics[host->nic_of_port[plan->from_port]];
	return &nic->pauses[plan->from_port - nic->first_port];
}

// Keeps it among those that were paused longest; of equal ones the first cable.
static void list(struct world_pauses *pauses, const struct pause_cable *more)
{
	uint32_t at = pauses->listed_count;
	while (at > 0 && pauses->listed[at - 1].paused_ps < more->paused_ps)
		at--;
	if (at == PAUSE_CABLES_MAX)
		return;
	uint32_t last = pauses->listed_count < PAUSE_CABLES_MAX ? pauses->listed_count++
								: PAUSE_CABLES_MAX - 1;
	memmove(&pauses->listed[at + 1], &pauses->listed[at],
		(last - at) * sizeof(*pauses->listed));
	pauses->listed[at] = *more;
}

static void collect_cable(struct world *world, uint32_t cable)
{
	struct world_pauses *pauses = world->pauses;
	const struct cable_plan *plan = &world->cables[cable];
	const struct pause *pause = pause_of(world, plan);
	struct pause_cable more = {cable, pause_total_ps(pause, world->reached_ps), pause->pauses};
	if (plan->from_machine < world->topology.hosts) {
		pauses->nic_pauses += pause->pauses;
		pauses->nic_resumes += pause->resumes;
		pauses->nic_paused_ps += more.paused_ps;
	} else {
		world->outcome->fabric.pause.paused_ps += (uint64_t)more.paused_ps;
	}
	if (more.pauses == 0)
		return;
	pauses->cable_count++;
	list(pauses, &more);
}

// The cable that leads away from a port.
static uint32_t cable_at(const struct world *world, struct switch_port port)
{
	const struct topology *topology = &world->topology;
	uint32_t link = topology->port_links[topology->switches[port.at].port_first + port.port];
	const struct link_plan *plan = &topology->links[link];
	bool is_a = plan->node_a == topology->hosts + port.at && plan->port_a == port.port;
	return 2 * link + !is_a;
}

void pauses_collect(struct world *world)
{
	struct world_pauses *pauses = world->pauses;
	struct switch_port cycle[DEADLOCK_CABLES_MAX];
	if (pauses == NULL)
		return;
	*pauses = (struct world_pauses){.room = pauses->room};
	for (uint32_t cable = 0; cable < world->cable_count; cable++)
		collect_cable(world, cable);
	pauses->deadlock_count = deadlock_find(&world->topology, world->switches, &world->chunks,
					       &pauses->room, cycle, DEADLOCK_CABLES_MAX);
	for (uint32_t i = 0; i < pauses->deadlock_count && i < DEADLOCK_CABLES_MAX; i++)
		pauses->deadlock[i] = cable_at(world, cycle[i]);
}
