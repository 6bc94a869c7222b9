// SPDX-License-Identifier: Apache-2.0
// result.json, in base units, keys as in docs/result.md. No figure: null, and its reason beside it.

#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include <weft/core/check.h>
#include <weft/result/report.h>

#include "sections/sections.h"
#include <weft/result/delays.h>
#include <weft/result/expect.h>
#include <weft/result/figure_table.h>
#include <weft/result/figures.h>
#include <weft/result/jobs.h>
#include <weft/result/latency_table.h>
#include <weft/result/put.h>
#include <weft/result/warnings.h>

#define RESULT_SCHEMA 2 // raised when a field changes its meaning or goes away

// ---------------------------------------------------------------- what ran

static void put_run(json_t *root, const struct report_input *input)
{
	char digest[24];
	json_t *run = object_in(root, "run");
	snprintf(digest, sizeof(digest), "%016" PRIx64, input->run.digest);
	put_text(run, "end", input->end);
	put(run, "partial", json_boolean(input->is_partial));
	put_text(run, "limit_option", input->limit_option);
	put_text(run, "digest", digest);
	put_time(run, "virtual_time_ps", input->run.now_ps);
	put_time(run, "last_completion_ps", input->world->outcome->end_ps);
}

static void put_scenario(json_t *root, const struct report_input *input)
{
	const struct scenario *scenario = input->world->scenario;
	const struct transport_config *transport = &input->world->transport;
	json_t *to = object_in(root, "scenario");
	put_text(to, "name", scenario->name);
	put_text(to, "description", scenario->description);
	put_text(to, "file", scenario->path);
	// As text: JSON readers that keep numbers as doubles would change a seed of 64 bits.
	put(to, "seed", json_sprintf("%" PRIu64, scenario->seed));
	put_text(to, "traffic", traffic_name(scenario->traffic.kind));
	put_text(to, "model",
		 scenario->traffic.kind == TRAFFIC_MODEL ? scenario->traffic.model : NULL);
	bool has_jobs = input->world->jobs.bytes != NULL;
	put_count(to, "jobs", has_jobs ? scenario->job_count : 0);
	put_text(to, "only_job", has_jobs && scenario->job_only > 0 ? scenario->only : NULL);
	put_text(to, "transport", transport_name(transport->kind));
	put_count(to, "qps_per_connection", scenario->qps_per_connection);
	put_text(to, "cc", transport->cc.name);
	put_text(to, "cc_asked", scenario->transport.cc.name);
	put_text(to, "path", scenario_word("transport.path", transport->path_policy));
	put_text(to, "spray", scenario_word("fabric.spray", input->world->fabric.spray));
	put_count(to, "payload_bytes", transport->payload_bytes);
	put_count(to, "entropy_values", transport->ev_count);
}

static void put_plan(json_t *root, const struct report_input *input)
{
	const struct world *world = input->world;
	if (world->job.group_count == 0 || world->jobs.bytes != NULL) { // of several: "jobs"
		put(root, "plan", json_null());
		return;
	}
	figures_json(root, "plan", input);
}

// ---------------------------------------------------------------- what came out

static void put_collective(json_t *array, const struct collective *one)
{
	const struct outcome_collective *outcome = one->outcome;
	json_t *to = row_in(array);
	put_count(to, "group", one->group->index);
	put_count(to, "stage", one->group->stage);
	put_count(to, "ranks", one->group->ranks);
	put_text(to, "label", one->bucket->label);
	put_text(to, "kind", collective_kind_name(one->bucket->kind));
	put_count(to, "bytes", one->bucket->bytes);
	put_count(to, "stands_for", one->bucket->siblings);
	put_time(to, "release_ps", one->bucket->release_ps);
	put_count(to, "steps_run", one->steps_run);
	put_count(to, "steps_all", one->steps_all);
	put(to, "extrapolated", json_boolean(one->is_extrapolated));
	if (one->is_finished) {
		put_time(to, "start_ps", outcome->start_ps);
		put_time(to, "end_ps", outcome->end_ps);
		put_time(to, "time_error_ps", outcome->whole_error_ps);
	}
	const char *const keys[] = {"time_ps", "busbw_bytes_per_s", "busbw_share", "start_ps",
				    "end_ps",  "time_error_ps"};
	for (size_t i = 0; one->reason != NULL && i < (one->is_finished ? 3 : 6); i++)
		put_reason(to, keys[i], one->reason);
	if (one->reason != NULL)
		return;
	put_time(to, "time_ps", outcome->whole_ps);
	put_count(to, "busbw_bytes_per_s", outcome->busbw_bytes_per_s);
	put_real(to, "busbw_share", (double)outcome->lines_ps / (double)outcome->whole_ps);
}

static void put_collectives(json_t *root, const struct report_input *input)
{
	json_t *array = array_in(root, "collectives");
	for (uint32_t i = 0; i < input->world->outcome->collective_count; i++) {
		struct collective one;
		collective_of(&one, input->world, i);
		put_collective(array, &one);
	}
}

static void put_latencies(json_t *root, const struct report_input *input)
{
	json_t *array = array_in(root, "messages");
	struct latency latency;
	for (enum pair_class pair = 0; pair < PAIR_CLASS_COUNT; pair++) {
		json_t *row = row_in(array);
		put_text(row, "pair", pair_class_name(pair));
		message_latency(&latency, input, pair);
		latency_json(row, &latency, true);
	}
	latencies_json(root, "flows", input);
}

static void put_congestion(json_t *root, const struct report_input *input)
{
	json_t *to = object_in(root, "congestion");
	put_text(to, "share_quality", is_sampled(input) ? "indication" : "measured");
	figures_json(root, "congestion", input);
	figures_json(root, "congestion.retransmitted_by", input);
}

static void put_planes(json_t *root, const struct report_input *input)
{
	const struct outcome *outcome = input->world->outcome;
	json_t *to = object_in(root, "planes");
	figures_json(root, "planes", input);
	json_t *array = array_in(to, "each");
	for (uint32_t i = 0; i < input->world->topology.planes; i++) {
		json_t *row = row_in(array);
		put_count(row, "plane", i);
		put_count(row, "bytes", outcome->transport.plane_bytes[i]);
		if (is_sampled(input))
			put_reason(row, "bytes_nic_max", NOT_IN_SAMPLE);
		else
			put_count(row, "bytes_nic_max", outcome->plane_bytes_nic_max[i]);
	}
}

// ---------------------------------------------------------------- runs with a clock or frames

static void put_pace(json_t *root, const struct report_input *input)
{
	const struct report_pace *pace = &input->pace;
	json_t *to = object_in(root, "pace");
	put(to, "dilation",
	    pace->dilation_milli == 0 ? json_null()
				      : json_real((double)pace->dilation_milli / 1000));
	put(to, "by_trial", json_boolean(pace->is_auto));
	put_count(to, "lanes", pace->lanes);
	latencies_json(root, "pace.lateness", input);
	latencies_json(root, "pace.gap", input);
}

static void put_ports(json_t *root, const struct report_input *input)
{
	const struct report_ports *ports = &input->ports;
	figures_json(root, "ports", input);
	json_t *array = array_in(json_object_get(root, "ports"), "damaged");
	for (uint32_t i = 0; i < ports->bad_count; i++) {
		json_t *row = row_in(array);
		put_text(row, "reason", ports->bad_names[i]);
		put_count(row, "frames", ports->bad[i]);
	}
}

// Not there at all when the run had none of it.
static void put_emulation(json_t *root, const struct report_input *input)
{
	if (emulation_has_pace(input))
		put_pace(root, input);
	if (emulation_has_frames(input))
		put_ports(root, input);
	if (emulation_has_taps(input))
		figures_json(root, "capture", input);
	fidelity_json(root, input);
}

json_t *report_document(const struct report_input *input)
{
	json_t *root = json_object();
	check(root != NULL);
	put_count(root, "schema", RESULT_SCHEMA);
	put_text(root, "weft", input->version);
	put_text(root, "command", input->command);
	put_run(root, input);
	put_scenario(root, input);
	figures_json(root, "network", input);
	cc_settings_json(root, input);
	faults_json(root, input);
	put_plan(root, input);
	figures_json(root, "headline", input);
	brief_what_json(root, input);
	figures_json(root, "goodput", input);
	put_collectives(root, input);
	jobs_json(root, input);
	program_json(root, input);
	put_latencies(root, input);
	put_congestion(root, input);
	racks_json(root, input);
	drops_json(root, input);
	put_planes(root, input);
	figures_json(root, "transport", input);
	figures_json(root, "transport.refused", input);
	figures_json(root, "switches", input);
	figures_json(root, "conservation", input);
	buffer_json(root, input);
	pauses_json(root, input);
	fast_forward_json(root, input);
	watch_json(root, input);
	figures_json(root, "speed", input);
	put_emulation(root, input);
	gpu_json(root, input);
	if (input->world->scenario->expectation_count > 0)
		put(root, "expect", expect_json(input));
	inputs_json(root, input);
	warnings_json(root, input);
	withheld_json(root, input);
	return root;
}

int report_json(FILE *to, const struct report_input *input)
{
	return document_print(to, report_document(input),
			      JSON_ENSURE_ASCII | JSON_REAL_PRECISION(12));
}
