// SPDX-License-Identifier: Apache-2.0
// weft topology: builds the fabric of a scenario and shows it. No hosts, no traffic, no run.

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include <weft/engine/engine.h>

#include "figures.h"
#include "help.h"
#include "import.h"
#include "weft-topology_options.h"
#include <weft/run/input_files.h>
#include <weft/run/outcome.h>

#define SETS_MAX 64
#define CONFIGS_MAX 1024

// Everything one call of the program holds.
struct call {
	const char *scenario_name, *svg, *import;
	const char *sets[SETS_MAX], *configs[CONFIGS_MAX];
	uint32_t set_count, config_count;
	struct scenario scenario;
	struct topology topology;
	struct figures figures;
	void *memory;
	struct refusal refusal;
};

static const struct option_row option_rows[] = {TOPOLOGY_OPTIONS(struct call), {NULL}};
static const struct command_line arguments = {
	.help = help_text, .rows = option_rows, .noun = "scenario", .most = 1};

// Of --import the scenario is what is written.
static int check_scenario(struct call *call)
{
	if (call->import != NULL && call->scenario_name != NULL)
		return outcome_bad_word(&call->refusal,
					"--import writes a scenario from FILE alone, not from",
					call->scenario_name);
	return call->import != NULL || call->scenario_name != NULL
		? 0
		: outcome_bad_line(&call->refusal, "no scenario given");
}

static int read_scenario(struct call *call)
{
	struct data_file file;
	struct refusal *refusal = &call->refusal;
	int rc = data_file_read(&file, DATA_PATH_SCENARIOS, call->scenario_name, refusal);
	if (rc < 0)
		return rc;
	const struct scenario_source source = {.path = file.path,
					       .text = file.text,
					       .bytes = file.bytes,
					       .sets = call->sets,
					       .set_count = call->set_count,
					       .is_fabric_alone = true};
	rc = scenario_read(&call->scenario, &source, refusal);
	free(file.text);
	if (rc == 0)
		rc = plan_files_read(&call->scenario, refusal);
	return rc < 0 ? rc : topology_file_read(&call->scenario, refusal);
}

static int build(struct call *call)
{
	const struct scenario *scenario = &call->scenario;
	struct arena arena;
	size_t bytes = scenario->memory_bytes_max;
	call->memory = memory_reserve(bytes);
	if (call->memory == NULL)
		return refuse(&call->refusal, -ENODEV, "not enough memory");
	arena_init(&arena, call->memory, bytes);
	int rc = topology_build(&call->topology, &arena, &scenario->fabric, scenario->seed,
				&call->refusal);
	for (uint32_t i = 0; rc == 0 && i < scenario->fault_count; i++) {
		rc = fault_check(&scenario->faults[i], &call->topology, &call->refusal);
		call->refusal.line = rc < 0 ? scenario->fault_lines[i] : 0;
	}
	if (rc < 0 && call->refusal.file[0] == '\0')
		snprintf(call->refusal.file, sizeof(call->refusal.file), "%s", scenario->path);
	return rc;
}

// Draws into the file that --svg names.
static int draw(struct call *call)
{
	struct atomic_file atomic_file;
	int rc = atomic_file_begin(&atomic_file, call->svg, &call->refusal);
	if (rc < 0)
		return rc;
	return atomic_file_end(&atomic_file,
			       svg_draw(atomic_file.to, &call->scenario, &call->topology),
			       &call->refusal);
}

static int show(struct call *call)
{
	int rc = read_scenario(call);
	if (rc == 0)
		rc = build(call);
	if (rc == 0 && figures_find(&call->figures, &call->topology, &call->scenario.fabric) != 0)
		rc = refuse(&call->refusal, -ENODEV, "not enough memory");
	if (rc == 0 && call->svg != NULL)
		rc = files_check_output(call->svg, &call->refusal);
	if (rc < 0)
		return outcome_refused("topology", &call->refusal, rc);
	table_print(stdout, &call->scenario, &call->topology, &call->figures);
	if (call->svg != NULL)
		rc = draw(call);
	return rc < 0 ? outcome_refused("topology", &call->refusal, rc) : EXIT_SUCCESS;
}

// The scenario of another tool's file, whole or not at all.
static int import(struct call *call)
{
	struct import read;
	char *text = NULL;
	size_t bytes = 0;
	int rc = import_read(&read, call->import, &call->refusal);
	if (rc == 0 && call->config_count > 0)
		rc = import_merge(&read, call->configs, call->config_count, &call->refusal);
	FILE *to = rc == 0 ? open_memstream(&text, &bytes) : NULL;
	if (rc == 0 && to == NULL)
		rc = refuse(&call->refusal, -ENODEV, "not enough memory");
	if (rc == 0)
		rc = import_write(&read, to, &call->refusal);
	if (to != NULL && fclose(to) != 0 && rc == 0)
		rc = refuse(&call->refusal, -ENODEV, "not enough memory");
	if (rc == 0)
		fwrite(text, 1, bytes, stdout);
	free(text);
	import_release(&read);
	return rc < 0 ? outcome_refused("topology", &call->refusal, rc) : EXIT_SUCCESS;
}

int main(int argc, char **argv)
{
	static struct call call; // large: kept off the stack
	int rc = command_line_read(&arguments, &call, argc, argv, &call.refusal),
	    status = EXIT_SUCCESS;
	call.scenario_name = argv[optind];
	if (rc == 0)
		rc = check_scenario(&call);
	if (rc < 0)
		return outcome_refused("topology", &call.refusal, rc);
	if (rc == 0)
		status = call.import != NULL ? import(&call) : show(&call);
	if (call.memory != NULL)
		memory_release(call.memory, call.scenario.memory_bytes_max);
	return outcome_end("topology", status);
}
