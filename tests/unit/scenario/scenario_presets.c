// SPDX-License-Identifier: Apache-2.0
// Presets: each gives the keys that nobody gave its values, a key of the scenario wins, what
// contradicts is refused by name, inputs say what was set, and docs/scenario.md lists the table.

#include <errno.h>

#include "scenario_files.h"
#include "scenario_presets.h"

#include <weft/scenario/scenario_key.h>

#define HEAD "name: p\nfabric: {nics: 16, nics_per_t0: 4, t1_count: 4, link_rate: 400Gb/s}\n"
#define FLOW "traffic: {kind: permutation, bytes: 1MB}\n"

static struct refusal refusal;

static int parse(const char *yaml, const char *const *sets, uint32_t common)
{
	uint32_t count = 0;
	while (sets != NULL && sets[count] != NULL)
		count++;
	const struct scenario_source source = {.path = "p",
					       .text = yaml,
					       .bytes = strlen(yaml),
					       .sets = sets,
					       .set_count = count,
					       .common_count = common};
	refusal = (struct refusal){0};
	return scenario_read(&scenario, &source, &refusal);
}

static void good(const char *yaml, const char *const *sets)
{
	if (parse(yaml, sets, 0) != 0)
		fail_msg("%s:%u:%u: %s", refusal.file, refusal.line, refusal.column, refusal.text);
}

// What the scenario itself is has no preset in it and no inputs.
static void forget_notes(struct scenario *of)
{
	of->preset = 0;
	of->input_count = 0;
	memset(of->inputs, 0, sizeof(of->inputs));
}

static bool has_input(const char *words)
{
	for (uint32_t i = 0; i < scenario.input_count; i++)
		if (strstr(scenario.inputs[i].text, words) != NULL)
			return true;
	return false;
}

static void a_preset_is_what_its_rows_say(void **)
{
	static struct scenario by_preset;
	const char *const preset[] = {"preset=roce-dcqcn", NULL};
	const char *const rows[] = {"transport.kind=rc",
				    "transport.qps_per_connection=4",
				    "queue.pfc=true",
				    "queue.pfc_xoff=4MB",
				    "cc.algorithm=dcqcn",
				    "queue.ecn=true",
				    "queue.ecn_last_hop=true",
				    "queue.ecn_low=1600kB",
				    "queue.ecn_high=6400kB",
				    "queue.ecn_share=20%",
				    "transport.cnp_interval=50us",
				    "cc.alpha_timer=1us",
				    "cc.rate_timer=300us",
				    "cc.rate_bytes=32767B",
				    "cc.recovery_rounds=1",
				    "cc.rate_ai=80Mb/s",
				    "cc.rate_hai=800Mb/s",
				    NULL};
	good(HEAD FLOW, preset);
	assert_int_equal(scenario.input_count, 17);
	assert_true(has_input("queue.ecn_low 1600kB: Kmin"));
	forget_notes(&scenario);
	memcpy(&by_preset, &scenario, sizeof(scenario));
	good(HEAD FLOW, rows);
	assert_memory_equal(&by_preset, &scenario, sizeof(scenario));
	good("preset: roce-dcqcn\n" HEAD FLOW, NULL);
	forget_notes(&scenario);
	assert_memory_equal(&by_preset, &scenario, sizeof(scenario));
}

static void every_preset_is_read_at_every_rate(void **)
{
	for (uint32_t preset = PRESET_NONE; preset <= PRESET_MRC_NCCL_PLUGIN; preset++)
		for (uint32_t rate = 0; rate < 3; rate++) {
			static const char *const rates[] = {"10Gb/s", "100Gb/s", "1600Gb/s"};
			char line[64], name[64];
			snprintf(name, sizeof(name), "preset=%s", preset_name(preset));
			snprintf(line, sizeof(line), "fabric.link_rate=%s", rates[rate]);
			const char *const sets[] = {name, line, NULL};
			good(HEAD FLOW, sets);
			assert_int_equal(scenario.preset, preset);
		}
}

static void the_plugin_waits_a_second_seven_times(void **)
{
	const char *const sets[] = {"preset=mrc-nccl-plugin", NULL};
	good(HEAD FLOW, sets);
	assert_int_equal(scenario.transport.rto_ps, UINT64_C(1073741824000));
	assert_int_equal(scenario.transport.rto_linear, 7);
	assert_true(scenario.has_rto);
}

static void a_key_of_the_scenario_wins(void **)
{
	const char *const sets[] = {"preset=roce-dcqcn", "cc.rate_timer=55us", NULL};
	good(HEAD FLOW "queue: {ecn_low: 1MB, ecn_high: 2MB}\n", sets);
	assert_int_equal(scenario.fabric.ecn_low_bytes, 1000000);
	assert_int_equal(scenario.transport.cc.rate_timer_ps, 55 * PS_PER_US);
	assert_true(has_input("values of its own for queue.ecn_low, queue.ecn_high, "
			      "cc.rate_timer"));
	assert_false(has_input("preset roce-dcqcn: queue.ecn_low 1600kB"));
	// what hangs on a value that the scenario has otherwise goes with it
	const char *const fixed[] = {"preset=roce-dcqcn", "cc.algorithm=fixed", NULL};
	good(HEAD FLOW, fixed);
	assert_int_equal(scenario.transport.cc.rate_bytes, 10000000);
	assert_false(has_input("cc.rate_bytes"));
	const char *const lossless[] = {"preset=mrc", "queue.pfc=true", NULL};
	good(HEAD FLOW, lossless);
	assert_false(scenario.fabric.trim_on);
}

// A variant's preset is in place of the file's, and of its transport.
static void an_assignment_replaces_the_preset(void **)
{
	const char *const sets[] = {"preset=roce-pfc", NULL};
	good("preset: mrc\n" HEAD FLOW "transport: {path_retry: 2ms}\n", sets);
	assert_int_equal(scenario.transport.kind, TRANSPORT_RC);
	assert_true(scenario.fabric.pfc.is_on);
	good(HEAD FLOW "transport: {kind: mrc}\ncc: {algorithm: swift}\n", sets);
	assert_int_equal(scenario.transport.kind, TRANSPORT_RC);
	assert_string_equal(scenario.transport.cc.name, "fixed");
	const char *const none[] = {"preset=none", NULL};
	good("preset: roce-pfc\n" HEAD FLOW, none);
	assert_int_equal(scenario.transport.kind, TRANSPORT_MRC);
	assert_int_equal(scenario.input_count, 0);
}

static void what_contradicts_is_refused_by_name(void **)
{
	static const struct {
		const char *text;
		const char *sets[3];
		const char *reason;
	} wrongs[] = {
		{"preset: mrc\n" HEAD FLOW "transport: {kind: rc}\n",
		 {NULL},
		 "rc contradicts preset mrc"},
		{"preset: roce-pfc\n" HEAD FLOW, {"transport.kind=mrc"}, "set preset none"},
		{HEAD FLOW,
		 {"preset=roce-dcqcn", "queue.ecn_low=7MB"},
		 "6400000 B; preset roce-dcqcn sets queue.ecn_high"},
		{HEAD FLOW, {"preset=uec", "transport.contexts=4"}, "preset uec sets cc.context"},
		{HEAD FLOW, {"preset=tcp"}, "it may be: none, roce-dcqcn"},
		{HEAD FLOW, {"preset=roce-pfc", "cc.rate_ai=1Gb/s"}, "has no effect here"},
	};
	for (size_t i = 0; i < sizeof(wrongs) / sizeof(*wrongs); i++) {
		assert_int_equal(parse(wrongs[i].text, wrongs[i].sets, 0), -EINVAL);
		if (strstr(refusal.text, wrongs[i].reason) == NULL)
			fail_msg("%zu: %s", i, refusal.text);
	}
}

static void check_documented(uint32_t preset, const struct preset_row *row)
{
	static const char *const origins[] = {"fact", "assumed", "calibrated"};
	char line[512];
	snprintf(line, sizeof(line), "\n| %s | `%s` | `%s`%s | %s: %s |\n", preset_name(preset),
		 row->path, row->value, row->is_of_line ? " per 25 Gb/s of `fabric.link_rate`" : "",
		 origins[row->origin], row->source);
	if (strstr(text, line) == NULL)
		fail_msg("docs/scenario.md lacks:%s", line);
}

static void the_documentation_lists_every_value(void **)
{
	source_read("docs/scenario.md");
	for (uint32_t preset = PRESET_NONE + 1; preset <= PRESET_MRC_NCCL_PLUGIN; preset++)
		for (const struct preset_row *row = preset_rows; row->path != NULL; row++)
			if (preset_has(preset, row))
				check_documented(preset, row);
}
