// SPDX-License-Identifier: Apache-2.0
// See sections.h.

#include "sections.h"

#include <weft/result/figure_table.h>
#include <weft/result/figures.h>
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

static void table_limits(FILE *to, const json_t *of)
{
	bool is_fixed = json_is_integer(json_object_get(of, "xoff_bytes"));
	fprintf(to, "  %-28s ", "xoff");
	if (is_fixed)
		table_say(to, of, "{xoff_bytes:,17}   xon {xon_bytes}\n");
	else
		fprintf(to, "%17s\n", "alpha x free");
	fprintf(to, "  %-28s ", "headroom of an in-port");
	table_say(to, of, "{headroom_low_bytes:,17}   to {headroom_high_bytes}\n");
	table_put_row(to, "room of a switch, at most", of, "switch_room_bytes", TABLE_BYTES);
}

static void table_cables(FILE *to, const json_t *of)
{
	const json_t *list = json_object_get(of, "cables"), *cable;
	double more = document_number(of, "paused_cables") - (double)json_array_size(list);
	size_t i;
	json_array_foreach(list, i, cable)
	{
		fprintf(to, "    %-36s ", document_text(cable, "name"));
		table_say(to, cable, "{pauses:,7} pauses, {paused_ps}\n");
	}
	if (more > 0)
		fprintf(to, "    and %.0f more\n", more);
}

static void table_deadlock(FILE *to, const json_t *of)
{
	double ports = document_number(of, "ports");
	const json_t *name;
	size_t i;
	if (ports == 0)
		return;
	fprintf(to, "  DEADLOCK: %.0f ports wait for each other for good\n", ports);
	json_array_foreach(json_object_get(of, "cables"), i, name)
		fprintf(to, "    %s %s\n", json_string_value(name),
			(double)i + 1 < ports ? "waits for" : "waits for the first");
}

void pauses_table(FILE *to, const json_t *result)
{
	const json_t *of = json_object_get(result, "pfc");
	if (of == NULL)
		return;
	fprintf(to, "\nPriority flow control\n");
	table_limits(to, of);
	table_put_row(to, "pauses sent", of, "pauses_sent", TABLE_GROUPED);
	table_put_row(to, "NIC ports paused, in all", of, "nic_paused_ps", TABLE_TIME);
	table_put_row(to, "switch ports paused, in all", of, "switch_paused_ps", TABLE_TIME);
	table_put_row(to, "most headroom used", of, "headroom_used_max_bytes", TABLE_BYTES);
	if (document_number(of, "watch_ps") > 0)
		table_put_row(to, "paused for too long", of, "watch_fired", TABLE_GROUPED);
	table_cables(to, of);
	table_deadlock(to, json_object_get(of, "deadlock"));
}
