// SPDX-License-Identifier: Apache-2.0
// What the short form says in words, in result.json.

#include "sections/sections.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include <weft/result/figure_table.h>
#include <weft/result/figures.h>
#include <weft/result/number.h>
#include <weft/result/put.h>
#include <weft/result/report_stall.h>

#define SENTENCE_BYTES 512

// ---------------------------------------------------------------- traffic

static void collective_words(char *ret, size_t bytes, const struct scenario *scenario)
{
	bool has_algorithm = scenario->traffic.kind == TRAFFIC_COLLECTIVE;
	struct coll_config config;
	struct text text;
	scenario_collective(&config, scenario);
	snprintf(ret, bytes, "%s %s%s%s", coll_kind_name(config.kind),
		 number_bytes(&text, config.bytes), has_algorithm ? ", " : "",
		 has_algorithm ? coll_algorithm_name(config.algorithm) : "");
}

// "64 flows of 2.00 MB": from the smallest to the largest.
static void flows_words(char *ret, size_t bytes, const struct world *world)
{
	uint64_t least = UINT64_MAX, most = 0;
	struct text text[4];
	for (uint32_t i = 0; i < world->flow_count; i++) {
		uint64_t own = world->flows[i].bytes;
		least = own < least ? own : least;
		most = own > most ? own : most;
	}
	const char *first = number_bytes(&text[1], least), *last = number_bytes(&text[2], most);
	bool is_one = strcmp(first, last) == 0;
	const char *kind = traffic_name(world->scenario->traffic.kind);
	bool is_said = strcmp(kind, world->scenario->name) == 0 || strcmp(kind, "flows") == 0;
	snprintf(ret, bytes, "%s%s%s flow%s of %s%s%s%s%s", is_said ? "" : kind,
		 is_said ? "" : ", ", number_grouped(&text[0], world->flow_count),
		 world->flow_count == 1 ? "" : "s", first, is_one ? "" : " to ", is_one ? "" : last,
		 world->has_starts ? ", starts in units of " : "",
		 world->has_starts ? number_time(&text[3], world->scenario->traffic.start_unit_ps)
				   : "");
}

static void traffic_words(char *ret, size_t bytes, const struct world *world)
{
	const struct traffic_config *traffic = &world->scenario->traffic;
	bool is_ring = traffic->kind == TRAFFIC_RING && traffic->jobs <= 1 && traffic->axes == 0;
	const char *kind = traffic_name(traffic->kind);
	struct text text;
	ret[0] = '\0';
	if (world->jobs.bytes != NULL)
		snprintf(ret, bytes, "%" PRIu32 " jobs", world->scenario->job_count);
	else if (is_ring || traffic->kind == TRAFFIC_COLLECTIVE)
		collective_words(ret, bytes, world->scenario);
	else if (world->job.group_count > 0)
		snprintf(ret, bytes, "%s%s%s: %s collective%s", kind,
			 traffic->model[0] == '\0' ? "" : " ", traffic->model,
			 number_grouped(&text, world->outcome->collective_count),
			 world->outcome->collective_count == 1 ? "" : "s");
	else if (world->flow_count > 0)
		flows_words(ret, bytes, world);
	else if (strcmp(kind, world->scenario->name) != 0)
		snprintf(ret, bytes, "%s", kind);
}

// ---------------------------------------------------------------- notes

static bool has_deadlock(const struct world *world)
{
	return world->pauses != NULL && world->pauses->deadlock_count > 0;
}

static void why_partial(const struct report_input *input, char *ret, size_t bytes)
{
	int used = snprintf(ret, bytes, "PARTIAL RESULT: ");
	if (report_trying(input, ret + used, bytes - (size_t)used))
		return;
	if (input->limit_option != NULL)
		snprintf(ret + used, bytes - (size_t)used,
			 "a limit was reached, %.0f %% done: raise %s", report_done_percent(input),
			 input->limit_option);
	else if (strcmp(input->end, "stalled") == 0 || has_deadlock(input->world))
		report_stall(input, ret, bytes);
	else
		snprintf(ret + used, bytes - (size_t)used, "%s; figures are of what was done",
			 input->end);
}

// Rings leave a host over one NIC a channel.
static bool idle_nics(const struct report_input *input, char *ret, size_t bytes)
{
	const struct world *world = input->world;
	const struct traffic_config *traffic = &world->scenario->traffic;
	uint32_t each = world->fabric.nics_per_host, channels = traffic->ring.channels;
	double receiving = figure_real(figure_find("goodput.nics_receiving"), input);
	uint32_t ranks = traffic->ring.ranks;
	bool is_collective = traffic->kind == TRAFFIC_RING || traffic->kind == TRAFFIC_COLLECTIVE;
	if (!is_collective || channels >= each || isnan(receiving) || receiving >= ranks)
		return false;
	snprintf(ret, bytes,
		 "%.0f of %" PRIu32 " NICs received nothing: %" PRIu32 " channels, %" PRIu32
		 " NICs per host; traffic.channels=%" PRIu32 " would use all",
		 ranks - receiving, ranks, channels, each, each);
	return true;
}

void brief_what_json(json_t *root, const struct report_input *input)
{
	char text[SENTENCE_BYTES], step[PROGRAM_STEP_BYTES];
	json_t *to = json_object_get(root, "headline"), *notes = array_in(to, "notes");
	traffic_words(text, sizeof(text), input->world);
	put_text(to, "traffic", text);
	put_text(to, "step", program_step_text(input, step) ? step : NULL);
	if (input->is_partial) {
		why_partial(input, text, sizeof(text));
		json_array_append_new(notes, json_string(text));
	}
	if (faults_without_effect(input, text, sizeof(text)))
		json_array_append_new(notes, json_string(text));
	if (idle_nics(input, text, sizeof(text)))
		json_array_append_new(notes, json_string(text));
}
