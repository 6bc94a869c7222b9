// SPDX-License-Identifier: Apache-2.0
// The --footprint table: what the arena holds, room by room. Pages are touched as drawn, so that
// drawn bytes are what the world costs.

#include <inttypes.h>

#include <weft/core/check.h>
#include <weft/result/report.h>

#include <weft/result/number.h>
#include <weft/result/put.h>

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
		number_grouped(&text[0], endpoint_qp_bytes()),
		number_grouped(&text[1], world->qp_count),
		number_grouped(&text[2], world->packets.capacity));
	fprintf(to, "  one context: %s bytes, of which %s for each EV; contexts: %s\n",
		number_grouped(&text[0], endpoint_context_bytes(&world->transport)),
		number_grouped(&text[1], endpoint_ev_bytes(&world->transport)),
		number_grouped(&text[2], world->context_count));
	fprintf(to, "  drawn %s of an arena of %s\n", number_memory(&text[0], arena->used),
		number_memory(&text[1], arena->size));
}

void report_footprint_json(FILE *to, const struct world *world)
{
	const struct arena *arena = world->arena;
	json_t *root = json_object();
	check(root != NULL);
	put_text(root, "scenario", world->scenario->name);
	put_count(root, "hosts", world->topology.hosts);
	put_count(root, "nics", world->topology.nics);
	put_count(root, "qps", world->qp_count);
	put_count(root, "contexts", world->context_count);
	put_count(root, "qp_bytes", endpoint_qp_bytes());
	put_count(root, "context_bytes", endpoint_context_bytes(&world->transport));
	put_count(root, "ev_bytes", endpoint_ev_bytes(&world->transport));
	json_t *rooms = object_in(root, "bytes");
	for (enum arena_room room = 0; room < ARENA_ROOM_COUNT; room++)
		put_count(rooms, arena_room_name(room), arena->drawn_bytes[room]);
	put_count(root, "total_bytes", arena->used);
	put_count(root, "arena_bytes", arena->size);
	document_print(to, root, JSON_ENSURE_ASCII);
}
