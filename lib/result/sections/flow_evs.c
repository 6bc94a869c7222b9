// SPDX-License-Identifier: Apache-2.0
// See sections.h.

#include "sections.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <weft/core/check_memory.h>
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

// The numbers as the scenario has them: "3 7 12", "0-15".
static void write_numbers(FILE *to, const struct scenario *scenario, const struct flow_evs *evs)
{
	if (!evs->is_list && evs->count > 1) {
		fprintf(to, "0-%" PRIu32, evs->count - 1);
		return;
	}
	for (uint32_t i = 0; i < evs->count; i++)
		fprintf(to, "%s%" PRIu32, i == 0 ? "" : " ",
			evs->is_list ? (uint32_t)scenario->flow_ev_numbers[evs->first + i] : i);
}

static void put_numbers(json_t *row, const struct scenario *scenario, const struct flow_evs *evs)
{
	char *text = NULL;
	size_t bytes = 0;
	FILE *to = open_memstream(&text, &bytes);
	check_memory(to != NULL);
	write_numbers(to, scenario, evs);
	check_memory(fclose(to) == 0 && text != NULL);
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
	put_count(to, "flows", world->flow_count);
	put_sent(to, world, UINT32_MAX);
	json_t *sets = array_in(to, "sets");
	for (uint32_t i = 0; i < world->scenario->traffic.flow_count; i++)
		if (world->scenario->flow_evs[i].count > 0)
			put_set(sets, world, i);
}

// The numbers of a set, the first of a long list.
static void show_numbers(FILE *to, const char *numbers)
{
	const char *end = numbers;
	for (uint32_t i = 0; i < NUMBERS_SHOWN && *end != '\0'; i++)
		end += (i > 0) + strcspn(end + (i > 0), " ");
	fprintf(to, "%.*s%s", (int)(end - numbers), numbers, *end != '\0' ? " ..." : "");
}

void flow_evs_table(FILE *to, const json_t *result)
{
	const json_t *of = json_object_get(result, "flow_evs"), *sets = document_at(of, "sets"),
		     *set;
	size_t i, count = json_array_size(sets);
	if (!json_is_object(of))
		return;
	bool are_counted = json_is_integer(json_object_get(of, "used"));
	fprintf(to, "\nEntropy values of flows: %zu of ", count);
	table_say(to, of, "{flows:plain} have sets of their own\n");
	if (are_counted)
		table_say(
			to, of,
			"  all flows: {data_bytes} in {data_packets:short} packets by {used:short} "
			"entropy values: flow_evs.csv\n");
	json_array_foreach(sets, i, set)
	{
		if (i == ROWS_SHOWN)
			break;
		table_say(to, set, "  flow {flow:plain}, nic {from:plain} to nic {to:plain}: ");
		show_numbers(to, document_text(set, "evs"));
		if (are_counted)
			table_say(to, set,
				  "; sent {data_bytes} in {data_packets:short} packets by "
				  "{used:plain} of them");
		fprintf(to, "\n");
	}
	if (count > ROWS_SHOWN)
		fprintf(to, "  and %zu more: flow_evs of result.json\n", count - ROWS_SHOWN);
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
