// SPDX-License-Identifier: Apache-2.0
// See flow_evs.h.

#include "flow_evs.h"

#include <inttypes.h>
#include <stdlib.h>

#include <weft/check.h>

#include "put.h"

#define ROWS_SHOWN 8u
#define NUMBERS_SHOWN 16u // of a row of the table
#define NO_SETS "all flows use all entropy values"

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
}

void flow_evs_json(json_t *root, const struct world *world)
{
	if (world->scenario->flow_evs_count == 0) {
		put_reason(root, "flow_evs", NO_SETS);
		return;
	}
	json_t *to = object_in(root, "flow_evs");
	json_t *sets = array_in(to, "sets");
	for (uint32_t i = 0; i < world->flow_count; i++)
		if (world->scenario->flow_evs[i].count > 0)
			put_set(sets, world, i);
}

void flow_evs_table(FILE *to, const struct world *world)
{
	const struct scenario *scenario = world->scenario;
	uint32_t left = ROWS_SHOWN;
	if (scenario->flow_evs_count == 0)
		return;
	fprintf(to,
		"\nEntropy values of flows: %" PRIu32 " of %" PRIu32 " have sets of their own\n",
		scenario->flow_evs_count, world->flow_count);
	for (uint32_t i = 0; left > 0 && i < world->flow_count; i++) {
		const struct flow_evs *evs = &scenario->flow_evs[i];
		if (evs->count == 0)
			continue;
		fprintf(to, "  flow %" PRIu32 ", nic %" PRIu32 " to nic %" PRIu32 ": ", i,
			world->flows[i].from, world->flows[i].to);
		write_numbers(to, scenario, evs, NUMBERS_SHOWN);
		fprintf(to, "\n");
		left--;
	}
	if (scenario->flow_evs_count > ROWS_SHOWN)
		fprintf(to, "  and %" PRIu32 " more: flow_evs of result.json\n",
			scenario->flow_evs_count - ROWS_SHOWN);
}
