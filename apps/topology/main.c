// SPDX-License-Identifier: Apache-2.0
// weft topology: builds the fabric of a scenario and shows it. No hosts, no traffic, no run.

#include <errno.h>
#include <getopt.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include <weft/engine/engine.h>

#include "figures.h"
#include "help.h"
#include "import.h"
#include "svg.h"
#include "table.h"
#include "weft_version.h"
#include <weft/run/outcome.h>
#include <weft/run/plan_files.h>
#include <weft/run/topology_file.h>

#define SETS_MAX 64
#define SCENARIO_BYTES_MAX ((size_t)1 << 20)

// Everything one call of the program holds.
struct call {
	const char *scenario_name, *svg, *import;
	const char *sets[SETS_MAX];
	uint32_t set_count;
	bool wants_help, wants_version;
	struct scenario scenario;
	struct topology topology;
	struct figures figures;
	void *memory;
	struct refusal refusal;
};

static int take(struct call *call, int option, const char *word)
{
	if (option == 'h') {
		call->wants_help = true;
	} else if (option == 'v') {
		call->wants_version = true;
	} else if (option == 's') {
		if (call->set_count == SETS_MAX)
			return outcome_bad_word(&call->refusal, "too many --set, at", word);
		call->sets[call->set_count++] = word;
	} else if (option == 'f') {
		files_force();
	} else if (option == 'i') {
		return outcome_once(&call->refusal, &call->import, "--import", word);
	} else {
		return outcome_once(&call->refusal, &call->svg, "--svg", word);
	}
	return 0;
}

static int parse(struct call *call, int argc, char **argv)
{
	static const struct option longs[] = {
		{"svg", required_argument, NULL, 'o'},
		{"force", no_argument, NULL, 'f'},
		{"set", required_argument, NULL, 's'},
		{"help", no_argument, NULL, 'h'},
		{"version", no_argument, NULL, 'v'},
		{"import", required_argument, NULL, 'i'},
		{NULL, 0, NULL, 0},
	};
	int option;
	opterr = 0;
	while ((option = getopt_long(argc, argv, "h", longs, NULL)) != -1) {
		if (option == '?')
			return outcome_bad_word(&call->refusal, "unknown option or missing value:",
						argv[optind - 1]);
		int rc = take(call, option, optarg);
		if (rc < 0)
			return rc;
	}
	if (optind < argc)
		call->scenario_name = argv[optind++];
	if (optind < argc)
		return outcome_bad_word(&call->refusal, "one scenario at a time; what is",
					argv[optind]);
	if (call->import != NULL &&
	    (call->scenario_name != NULL || call->svg != NULL || call->set_count > 0))
		return outcome_bad_line(
			&call->refusal,
			"--import writes a scenario from FILE alone: it goes with no "
			"SCENARIO, --svg or --set");
	if (call->scenario_name == NULL && call->import == NULL && !call->wants_help &&
	    !call->wants_version)
		return outcome_bad_line(&call->refusal, "no scenario given");
	if (files_are_forced() && call->svg == NULL)
		return outcome_bad_word(&call->refusal, "needs --svg:", "--force");
	return 0;
}

static int read_scenario(struct call *call)
{
	char path[SCENARIO_PATH_BYTES];
	char *text;
	size_t bytes;
	struct refusal *refusal = &call->refusal;
	int rc = data_path_find(DATA_PATH_SCENARIOS, call->scenario_name, path, sizeof(path),
				refusal);
	if (rc == 0)
		rc = file_read(path, SCENARIO_BYTES_MAX, &text, &bytes, refusal);
	if (rc < 0)
		return rc;
	rc = scenario_parse(&call->scenario, path, text, bytes, call->sets, call->set_count,
			    refusal);
	free(text);
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
		return refuse(&call->refusal, -ENODEV, "the system gives no memory", 0, 0, 0);
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
	struct draft draft;
	int rc = draft_begin(&draft, call->svg, &call->refusal);
	if (rc < 0)
		return rc;
	return draft_end(&draft, svg_draw(draft.to, &call->scenario, &call->topology),
			 &call->refusal);
}

static int show(struct call *call)
{
	int rc = read_scenario(call);
	if (rc == 0)
		rc = build(call);
	if (rc == 0 && figures_find(&call->figures, &call->topology, &call->scenario.fabric) != 0)
		rc = refuse(&call->refusal, -ENODEV, "the system gives no memory", 0, 0, 0);
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
	FILE *to = rc == 0 ? open_memstream(&text, &bytes) : NULL;
	if (rc == 0 && to == NULL)
		rc = refuse(&call->refusal, -ENODEV, "the system gives no memory", 0, 0, 0);
	if (rc == 0)
		rc = import_write(&read, to, &call->refusal);
	if (to != NULL)
		fclose(to);
	if (rc == 0)
		fwrite(text, 1, bytes, stdout);
	free(text);
	import_release(&read);
	return rc < 0 ? outcome_refused("topology", &call->refusal, rc) : EXIT_SUCCESS;
}

int main(int argc, char **argv)
{
	static struct call call; // large: kept off the stack
	int rc = parse(&call, argc, argv);
	if (rc < 0)
		return outcome_refused("topology", &call.refusal, rc);
	int status = EXIT_SUCCESS;
	if (call.wants_help)
		fputs(help_text, stdout);
	else if (call.wants_version)
		puts(WEFT_VERSION_TEXT);
	else
		status = call.import != NULL ? import(&call) : show(&call);
	if (call.memory != NULL)
		memory_release(call.memory, call.scenario.memory_bytes_max);
	return outcome_end("topology", status);
}
