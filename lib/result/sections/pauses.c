// SPDX-License-Identifier: Apache-2.0
// See sections.h.

#include "sections.h"

#include <inttypes.h>

#include <weft/result/figure_table.h>
#include <weft/result/figures.h>
#include <weft/result/number.h>
#include <weft/result/put.h>

static void put_limits(json_t *to, const struct world *world)
{
	const struct topology *topology = &world->topology;
	if (world->fabric.buffer.bytes > 0) { // they move with what is free
		put(to, "xoff_bytes", json_null());
		put(to, "xon_bytes", json_null());
	} else {
		put_count(to, "xoff_bytes", topology->pfc_xoff_bytes);
		put_count(to, "xon_bytes", topology->pfc_xon_bytes);
	}
	put_count(to, "headroom_low_bytes", topology->pfc_headroom_low_bytes);
	put_count(to, "headroom_high_bytes", topology->pfc_headroom_high_bytes);
	put_count(to, "switch_room_bytes", topology->pfc_room_bytes);
}

static void put_cables(json_t *to, const struct world *world)
{
	json_t *array = array_in(to, "cables");
	for (uint32_t i = 0; i < world->pauses->listed_count; i++) {
		const struct pause_cable *cable = &world->pauses->listed[i];
		char name[WORLD_CABLE_NAME_BYTES];
		json_t *row = row_in(array);
		world_cable_name(world, cable->cable, name, sizeof(name));
		put_text(row, "name", name);
		put_count(row, "pauses", cable->pauses);
		put_time(row, "paused_ps", cable->paused_ps);
	}
}

// At most `max` names are listed.
static uint32_t listed(uint32_t count, uint32_t max)
{
	return count < max ? count : max;
}

static void put_deadlock(json_t *to, const struct world *world)
{
	const struct world_pauses *pauses = world->pauses;
	json_t *object = object_in(to, "deadlock");
	put_count(object, "ports", pauses->deadlock_count);
	json_t *array = array_in(object, "cables");
	for (uint32_t i = 0; i < listed(pauses->deadlock_count, DEADLOCK_CABLES_MAX); i++) {
		char name[WORLD_CABLE_NAME_BYTES];
		world_cable_name(world, pauses->deadlock[i], name, sizeof(name));
		json_array_append_new(array, json_string(name));
	}
}

void pauses_json(json_t *root, const struct report_input *input)
{
	const struct world *world = input->world;
	if (world->pauses == NULL)
		return;
	json_t *to = object_in(root, "pfc");
	put_limits(to, world);
	figures_json(root, "pfc", input);
	put_cables(to, world);
	put_deadlock(to, world);
}

static void table_limits(FILE *to, const struct world *world)
{
	const struct topology *topology = &world->topology;
	struct text text[2];
	if (world->fabric.buffer.bytes > 0)
		fprintf(to, "  %-28s %17s\n", "xoff", "alpha x free");
	else
		fprintf(to, "  %-28s %17s   xon %s\n", "xoff",
			number_bytes(&text[0], topology->pfc_xoff_bytes),
			number_bytes(&text[1], topology->pfc_xon_bytes));
	fprintf(to, "  %-28s %17s   to %s\n", "headroom of an in-port",
		number_bytes(&text[0], topology->pfc_headroom_low_bytes),
		number_bytes(&text[1], topology->pfc_headroom_high_bytes));
	fprintf(to, "  %-28s %17s\n", "room of a switch, at most",
		number_bytes(&text[0], topology->pfc_room_bytes));
}

static void table_deadlock(FILE *to, const struct world *world)
{
	const struct world_pauses *pauses = world->pauses;
	char name[WORLD_CABLE_NAME_BYTES];
	if (pauses->deadlock_count == 0)
		return;
	fprintf(to, "  DEADLOCK: %" PRIu32 " ports wait for each other for good\n",
		pauses->deadlock_count);
	for (uint32_t i = 0; i < listed(pauses->deadlock_count, DEADLOCK_CABLES_MAX); i++) {
		world_cable_name(world, pauses->deadlock[i], name, sizeof(name));
		fprintf(to, "    %s %s\n", name,
			i + 1 < pauses->deadlock_count ? "waits for" : "waits for the first");
	}
}

void pauses_table(FILE *to, const struct report_input *input)
{
	const struct world *world = input->world;
	const struct pause_counters *counters = &world->outcome->fabric.pause;
	const struct world_pauses *pauses = world->pauses;
	struct text text[2];
	char name[WORLD_CABLE_NAME_BYTES];
	if (pauses == NULL)
		return;
	fprintf(to, "\nPriority flow control\n");
	table_limits(to, world);
	fprintf(to, "  %-28s %17s\n", "pauses sent",
		number_grouped(&text[0], counters->pauses_sent));
	fprintf(to, "  %-28s %17s\n", "NIC ports paused, in all",
		number_time(&text[0], pauses->nic_paused_ps));
	fprintf(to, "  %-28s %17s\n", "switch ports paused, in all",
		number_time(&text[0], (ps_t)counters->paused_ps));
	fprintf(to, "  %-28s %17s\n", "most headroom used",
		is_sampled(input) ? NOT_IN_SAMPLE
				  : number_bytes(&text[0], counters->headroom_bytes_max));
	if (world->fabric.pfc.watch_ps > 0)
		fprintf(to, "  %-28s %17s\n", "paused for too long",
			number_grouped(&text[0], counters->watch_fired));
	for (uint32_t i = 0; i < pauses->listed_count; i++) {
		const struct pause_cable *cable = &pauses->listed[i];
		world_cable_name(world, cable->cable, name, sizeof(name));
		fprintf(to, "    %-36s %7s pauses, %s\n", name,
			number_grouped(&text[0], cable->pauses),
			number_time(&text[1], cable->paused_ps));
	}
	if (pauses->cable_count > pauses->listed_count)
		fprintf(to, "    and %" PRIu32 " more\n",
			pauses->cable_count - pauses->listed_count);
	table_deadlock(to, world);
}
