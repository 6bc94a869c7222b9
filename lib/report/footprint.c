// SPDX-License-Identifier: Apache-2.0
// The --footprint table: what the arena holds, room by room. Pages are touched as drawn, so that
// drawn bytes are what the world costs.

#include <inttypes.h>

#include <weft/report.h>

#include "number.h"

static void row(FILE *to, const struct world *world, const char *name, uint64_t bytes)
{
	struct text total, host, nic;
	const struct topology *topology = &world->topology;
	fprintf(to, "  %-12s %20s", name, number_grouped(&total, bytes));
	fprintf(to, " %16s",
		topology->hosts > 0 ? number_grouped(&host, bytes / topology->hosts) : "-");
	fprintf(to, " %16s\n",
		topology->nics > 0 ? number_grouped(&nic, bytes / topology->nics) : "-");
}

void report_footprint(FILE *to, const struct world *world)
{
	const struct arena *arena = world->arena;
	struct text text[3];
	fprintf(to, "Footprint of %s: %s hosts, %s NICs, %s switches\n", world->scenario->name,
		number_grouped(&text[0], world->topology.hosts),
		number_grouped(&text[1], world->topology.nics),
		number_grouped(&text[2], world->topology.switch_count));
	fprintf(to, "  %-12s %20s %16s %16s\n", "room", "bytes", "per host", "per NIC");
	for (enum arena_room room = 0; room < ARENA_ROOM_COUNT; room++)
		row(to, world, arena_room_name(room), arena->drawn_bytes[room]);
	row(to, world, "total", arena->used);
	fprintf(to, "  one QP: %s bytes; QPs: %s; packet pool: %s packets\n",
		number_grouped(&text[0], endpoint_qp_bytes(&world->transport)),
		number_grouped(&text[1], world->qp_count),
		number_grouped(&text[2], world->packets.capacity));
	fprintf(to, "  drawn %s of an arena of %s\n", number_memory(&text[0], arena->used),
		number_memory(&text[1], arena->size));
}
