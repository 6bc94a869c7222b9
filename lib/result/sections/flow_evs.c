// SPDX-License-Identifier: Apache-2.0
// See sections.h.

#include "sections.h"

#include <inttypes.h>
#include <stdlib.h>

#include <weft/core/check.h>
#include <weft/measure/measure_evs.h>

#include <weft/result/number.h>
#include <weft/result/put.h>

#define ROWS_SHOWN 8u
#define NUMBERS_SHOWN 16u // of a row of the table
#define NO_SETS "all flows use all entropy values"
#define NOT_COUNTED "not counted: watch.evs is false"

// What flows sent, and by how many EVs: of one, or of all.
struct sent {
	uint64_t used, packets, bytes;
};

bool flow_evs_are_counted(const struct world *world)
{
	return world->ev_counts != NULL;
}

static const struct ev_count *counts_of(const struct world *world, uint32_t flow)
{
	return world->ev_counts + (size_t)flow * ev_universe(&world->transport);
}

static void add_flow(struct sent *sent, const struct world *world, uint32_t flow)
{
	const struct ev_count *counts = counts_of(world, flow);
	for (uint32_t i = 0; i < ev_universe(&world->transport); i++) {
		sent->used += counts[i].packets > 0;
		sent->packets += counts[i].packets;
		sent->bytes += counts[i].bytes;
	}
}

// `flow` of them alone, or UINT32_MAX.
static void put_sent(json_t *to, const struct world *world, uint32_t flow)
{
	struct sent sent = {0};
	if (!flow_evs_are_counted(world)) {
		put_reason(to, "used", NOT_COUNTED);
		put_reason(to, "data_packets", NOT_COUNTED);
		put_reason(to, "data_bytes", NOT_COUNTED);
		return;
	}
	for (uint32_t i = 0; i < world->flow_count; i++)
		if (flow == UINT32_MAX || flow == i)
			add_flow(&sent, world, i);
	put_count(to, "used", sent.used);
	put_count(to, "data_packets", sent.packets);
	put_count(to, "data_bytes", sent.bytes);
}

// The numbers as the scenario has them, `most` of a list: "3 7 12", "0-15".
static void write_numbers(FILE *to, const struct scenario *scenario, const struct flow_evs *evs,
			  uint32_t most)
{
	if (!evs->is_list && evs->count > 1) {
		fprintf(to, "0-%" PRIu32, evs->count - 1);
		return;
	}
	uint32_t shown = evs->count < most ? evs->count : most;
	for (uint32_t i = 0; i < shown; i++)
		fprintf(to, "%s%" PRIu32, i == 0 ? "" : " ",
			evs->is_list ? (uint32_t)scenario->flow_ev_numbers[evs->first + i] : i);
	if (shown < evs->count)
		fprintf(to, " ...");
}

static void put_numbers(json_t *row, const struct scenario *scenario, const struct flow_evs *evs)
{
	char *text = NULL;
	size_t bytes = 0;
	FILE *to = open_memstream(&text, &bytes);
	check(to != NULL);
	write_numbers(to, scenario, evs, UINT32_MAX);
	check(fclose(to) == 0 && text != NULL);
	put_text(row, "evs", text);
	free(text);
}

static void put_set(json_t *array, const struct world *world, uint32_t flow)
{
	const struct flow_evs *evs = &world->scenario->flow_evs[flow];
	json_t *row = row_in(array);
	put_count(row, "flow", flow);
	put_count(row, "from", world->flows[flow].from);
	put_count(row, "to", world->flows[flow].to);
	put_count(row, "count", evs->count);
	put_numbers(row, world->scenario, evs);
	put_sent(row, world, flow);
}

void flow_evs_json(json_t *root, const struct world *world)
{
	if (world->scenario->flow_evs_count == 0 && !flow_evs_are_counted(world)) {
		put_reason(root, "flow_evs", NO_SETS);
		return;
	}
	json_t *to = object_in(root, "flow_evs");
	put_count(to, "evs", ev_universe(&world->transport));
	put_sent(to, world, UINT32_MAX);
	json_t *sets = array_in(to, "sets");
	for (uint32_t i = 0; i < world->scenario->traffic.flow_count; i++)
		if (world->scenario->flow_evs[i].count > 0)
			put_set(sets, world, i);
}

static void show_sent(FILE *to, const struct world *world, uint32_t flow)
{
	struct sent sent = {0};
	struct text text[2];
	add_flow(&sent, world, flow);
	fprintf(to, "; sent %s in %s packets by %" PRIu64 " of them",
		number_bytes(&text[0], sent.bytes), number_count(&text[1], sent.packets),
		sent.used);
}

static void show_sets(FILE *to, const struct world *world)
{
	const struct scenario *scenario = world->scenario;
	uint32_t left = ROWS_SHOWN;
	for (uint32_t i = 0; left > 0 && i < scenario->traffic.flow_count; i++) {
		const struct flow_evs *evs = &scenario->flow_evs[i];
		if (evs->count == 0)
			continue;
		fprintf(to, "  flow %" PRIu32 ", nic %" PRIu32 " to nic %" PRIu32 ": ", i,
			world->flows[i].from, world->flows[i].to);
		write_numbers(to, scenario, evs, NUMBERS_SHOWN);
		if (flow_evs_are_counted(world))
			show_sent(to, world, i);
		fprintf(to, "\n");
		left--;
	}
	if (scenario->flow_evs_count > ROWS_SHOWN)
		fprintf(to, "  and %" PRIu32 " more: flow_evs of result.json\n",
			scenario->flow_evs_count - ROWS_SHOWN);
}

void flow_evs_table(FILE *to, const struct world *world)
{
	uint32_t sets = world->scenario->flow_evs_count;
	struct sent sent = {0};
	struct text text[3];
	if (sets == 0 && !flow_evs_are_counted(world))
		return;
	fprintf(to,
		"\nEntropy values of flows: %" PRIu32 " of %" PRIu32 " have sets of their own\n",
		sets, world->flow_count);
	for (uint32_t i = 0; flow_evs_are_counted(world) && i < world->flow_count; i++)
		add_flow(&sent, world, i);
	if (flow_evs_are_counted(world))
		fprintf(to, "  all flows: %s in %s packets by %s entropy values: flow_evs.csv\n",
			number_bytes(&text[0], sent.bytes), number_count(&text[1], sent.packets),
			number_count(&text[2], sent.used));
	show_sets(to, world);
}

void flow_evs_write(FILE *to, const struct world *world)
{
	uint32_t evs = ev_universe(&world->transport);
	fprintf(to, "flow,from,to,ev,plane,packets,bytes\n");
	for (uint32_t flow = 0; flow < world->flow_count; flow++) {
		const struct ev_count *counts = counts_of(world, flow);
		for (uint32_t i = 0; i < evs; i++)
			if (counts[i].packets > 0)
				fprintf(to,
					"%" PRIu32 ",%" PRIu32 ",%" PRIu32 ",%" PRIu32 ",%" PRIu32
					",%" PRIu64 ",%" PRIu64 "\n",
					flow, world->flows[flow].from, world->flows[flow].to, i,
					i % world->transport.planes, counts[i].packets,
					counts[i].bytes);
	}
}
