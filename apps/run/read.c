// SPDX-License-Identifier: Apache-2.0
// What a run is made of: the scenario and its variants, traces, matrices, the sample.

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "call.h"
#include "topology_file.h"

#define SCENARIO_BYTES_MAX ((size_t)1 << 20)
#define TRACE_SCENARIO "trace-default"

// --trace FILE: the fabric gets as many NICs as the file has GPUs.
static int take_trace(struct call *call)
{
	struct options *options = &call->options;
	uint32_t gpus;
	int rc = workload_read(&call->workload, TRAFFIC_TRACE, options->trace, &gpus,
			       &call->refusal);
	if (rc < 0)
		return rc;
	if (options->set_count + 2 > OPTION_SETS_MAX)
		return refuse(&call->refusal, -EINVAL, "too many --set beside --trace", 0, 0, 0);
	snprintf(call->gpus_set, sizeof(call->gpus_set), "fabric.nics=%u", gpus);
	snprintf(call->trace_set, sizeof(call->trace_set), "traffic.trace=%s", options->trace);
	options->sets[options->set_count++] = call->gpus_set;
	options->sets[options->set_count++] = call->trace_set;
	if (options->scenario == NULL)
		options->scenario = TRACE_SCENARIO;
	return 0;
}

// --sample SPEC, in place of the scenario's sample.
static int take_sample(struct call *call)
{
	struct refusal *refusal = &call->refusal;
	enum traffic_kind kind = call->scenario.traffic.kind;
	int rc = sample_parse(&call->scenario.sample, call->options.sample, refusal);
	if (rc < 0) {
		snprintf(refusal->file, sizeof(refusal->file), "--sample");
		refusal->line = 1;
		return rc;
	}
	if (kind == TRAFFIC_RING || kind == TRAFFIC_MODEL || kind == TRAFFIC_TRACE)
		return 0;
	return refuse(refusal, -EINVAL,
		      "--sample has no effect here; it needs traffic.kind ring, model or trace", 0,
		      0, 0);
}

// The file that the traffic stands in, where it does.
static int read_workload(struct call *call)
{
	const struct traffic_config *traffic = &call->scenario.traffic;
	uint32_t nics;
	if (traffic->kind == TRAFFIC_MATRIX)
		return workload_read(&call->workload, TRAFFIC_MATRIX, traffic->matrix, &nics,
				     &call->refusal);
	if (traffic->kind != TRAFFIC_TRACE || call->workload.text != NULL)
		return 0;
	if (traffic->trace[0] != '\0')
		return workload_read(&call->workload, TRAFFIC_TRACE, traffic->trace, &nics,
				     &call->refusal);
	snprintf(call->refusal.file, sizeof(call->refusal.file), "%s", call->scenario.path);
	return refuse(&call->refusal, -EINVAL,
		      "this scenario runs a workload file: name it with --trace FILE", 0, 0, 0);
}

// Parses the scenario with these assignments.
static int parse(struct call *call, const char *const *sets, uint32_t set_count)
{
	char path[SCENARIO_PATH_BYTES];
	char *text;
	size_t bytes;
	int rc = shelf_find(call->options.scenario, path, sizeof(path), &call->refusal);
	if (rc < 0)
		return rc;
	rc = file_read(path, SCENARIO_BYTES_MAX, &text, &bytes, &call->refusal);
	if (rc < 0)
		return rc;
	const struct scenario_source source = {
		.path = path,
		.text = text,
		.bytes = bytes,
		.sets = sets,
		.set_count = set_count,
		.faults = call->options.faults,
		.fault_count = call->options.fault_count,
	};
	rc = scenario_read(&call->scenario, &source, &call->refusal);
	free(text);
	return rc;
}

// What belongs to a scenario that was parsed.
static int read_rest(struct call *call)
{
	int rc = topology_file_read(&call->scenario, &call->refusal);
	if (rc == 0)
		rc = read_workload(call);
	if (rc < 0)
		return rc;
	return call->options.sample != NULL ? take_sample(call) : 0;
}

// ---------------------------------------------------------------- variants

// A variant's own assignments are refused at its place in the file, not as words of the command
// line.
static void place_refusal(struct call *call, const struct scenario_variant *variant)
{
	struct refusal *refusal = &call->refusal;
	char text[sizeof(refusal->text)];
	if (strcmp(refusal->file, "--set") != 0 || refusal->line <= call->options.set_count)
		return;
	snprintf(text, sizeof(text), "variants[].set: %.*s", (int)sizeof(text) - 20, refusal->text);
	memcpy(refusal->text, text, sizeof(text));
	snprintf(refusal->file, sizeof(refusal->file), "%s", call->options.scenario);
	refusal->line = variant->line;
	refusal->column = 0;
}

int call_read_variant(struct call *call, uint32_t number)
{
	const struct scenario_variant variant = call->scenario.variants[number - 1];
	const char *sets[OPTION_SETS_MAX + VARIANT_BYTES / 2];
	uint32_t count = call->options.set_count;
	char *rest;
	memcpy(sets, call->options.sets, count * sizeof(*sets));
	snprintf(call->variant_words, sizeof(call->variant_words), "%s", variant.set);
	for (char *word = strtok_r(call->variant_words, " ", &rest); word != NULL;
	     word = strtok_r(NULL, " ", &rest))
		sets[count++] = word;
	int rc = parse(call, sets, count);
	if (rc < 0) {
		place_refusal(call, &variant);
		return rc;
	}
	call->scenario.variant = number;
	return read_rest(call);
}

static int read_named_variant(struct call *call, const char *name)
{
	for (uint32_t i = 0; i < call->scenario.variant_count; i++)
		if (strcmp(call->scenario.variants[i].name, name) == 0)
			return call_read_variant(call, i + 1);
	snprintf(call->refusal.file, sizeof(call->refusal.file), "--variant");
	snprintf(call->refusal.text, sizeof(call->refusal.text), "there is no variant %.100s",
		 name);
	return -EINVAL;
}

// ---------------------------------------------------------------- all of it

int call_read(struct call *call)
{
	const struct options *options = &call->options;
	int rc = options->trace != NULL ? take_trace(call) : 0;
	if (rc == 0)
		rc = parse(call, options->sets, options->set_count);
	if (rc < 0)
		return rc;
	if (options->variant != NULL)
		return read_named_variant(call, options->variant);
	call->is_comparison = call->scenario.variant_count > 0;
	return call->is_comparison ? compare_check(call) : read_rest(call);
}
