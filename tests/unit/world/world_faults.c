// SPDX-License-Identifier: Apache-2.0
// Faults as scenarios and the command line name them: what is read, what is refused, and where.

// clang-format off
#include <stddef.h>
#include <cmocka.h>
// clang-format on

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <weft/world/world.h>

#define FABRIC "fabric: {nics: 8, planes: 2, nics_per_t0: 4, t1_count: 2}\n"
#define TRAFFIC "traffic: {kind: permutation, bytes: 100kB}\n"

static struct scenario scenario;
static struct refusal refusal;

// Reads a scenario with faults of the command line.
static int read_with(const char *text, const char *const *faults, uint32_t count)
{
	const struct scenario_source source = {.path = "test.yaml",
					       .text = text,
					       .bytes = strlen(text),
					       .faults = faults,
					       .fault_count = count};
	refusal = (struct refusal){0};
	return scenario_read(&scenario, &source, &refusal);
}

static void assert_refused(const char *file, uint32_t line, uint32_t column, const char *reason)
{
	assert_string_equal(refusal.file, file);
	assert_int_equal(refusal.line, line);
	assert_int_equal(refusal.column, column);
	if (strstr(refusal.text, reason) == NULL)
		fail_msg("`%s` lacks `%s`", refusal.text, reason);
}

static void words_of_the_command_line_come_behind_the_file(void **)
{
	const char *const words[] = {
		"{kind: link_down, at: {nic: 3, plane: 0}, from: 5us, until: 80us}",
		"{kind: loss, at: all, probability: 1%}",
	};
	assert_int_equal(read_with(FABRIC TRAFFIC "faults: [{kind: loss, at: {plane: 1}, "
						  "probability: 2%}]\n",
				   words, 2),
			 0);
	assert_int_equal(scenario.fault_count, 3);
	assert_int_equal(scenario.file_fault_count, 1);
	assert_int_equal(scenario.faults[0].share_ppb, 20000000);
	assert_int_equal(scenario.faults[1].kind, FAULT_LINK_DOWN);
	assert_int_equal(scenario.faults[1].at.index, 3);
	assert_int_equal(scenario.faults[1].from_ps, 5 * PS_PER_US);
	assert_int_equal(scenario.faults[2].share_ppb, 10000000);
	scenario_fault_location(&scenario, 0, &refusal);
	assert_string_equal(refusal.file, "");
	assert_int_equal(refusal.line, 3);
	scenario_fault_location(&scenario, 2, &refusal);
	assert_string_equal(refusal.file, "--fault");
	assert_int_equal(refusal.line, 2);
}

static void a_wrong_word_is_refused_at_its_place(void **)
{
	static const struct {
		const char *word;
		uint32_t column;
		const char *reason;
	} wrong[] = {
		{"{kind: lots, at: all}", 8, "it may be: link_down, loss, flap"},
		{"{kind: loss, at: all}", 1, "probability is missing"},
		{"{kind: loss, at: {nic: 8}, probability: 1%}", 24, "it may be 0 to 7"},
		{"{kind: loss, at: {nic: 1}, odds: 1%}", 28, "odds"},
		{"{kind: link_down, at: all, until: 0ns}", 35, "write never, or 1ps"},
		{"kind=loss", 1, "one line"},
		{"- {kind: link_down, at: all}", 1, "one line"},
		{"{kind: link_down, at: all", 1, "not YAML"},
		{"{kind: link_down, at: all}}", 27, "not YAML"},
		{"{kind: link_down, at: all, seed: 3}", 28, "seed"},
		{"", 1, "one line"},
		{"{kind: link_down,\n at: all}", 1, "one line"},
		{"{kind: straggler, at: all, rate: 5%}", 1, "a straggler has no effect here"},
		{"{kind: burst, at: all, probability: 1%, enter: 1%}", 37, "no effect here"},
		{"{kind: burst, at: all, enter: 1%}", 1, "faults[].leave is missing"},
		{"{kind: burst, at: all, probability: 1%, burst: 0}", 48, "is too small"},
		{"{kind: stall, at: all, until: 9us, queue: 70000}", 43, "is too large"},
		{"{kind: stall, at: {nic: 1}, until: 9us}", 1, "write {host} or all"},
		{"{kind: stall, at: all, until: 9us, way: up}", 41, "hit as a whole"},
		{"{kind: loss, at: {host: 8}, probability: 1%}", 25, "it may be 0 to 7"},
		{"{kind: evs, at: {host: 1}}", 1, "faults[].evs is missing"},
		{"{kind: evs, at: {host: 1}, evs: 3}", 33, "a power of two"},
		{"{kind: evs, at: {nic: 1}, evs: 2}", 1, "write {host} or all"},
		{"{kind: evs, at: {host: 1}, evs: 2, from: 1us}", 42, "no effect here"},
		{"{kind: ecn, at: {t0: 0, plane: 0}, low: 1kB}", 1, "faults[].high is missing"},
		{"{kind: ecn, at: {plane: 0}, low: 1kB, high: 2kB}", 1,
		 "marking is set for a switch"},
		{"{kind: ecn, at: {t0: 0, plane: 0}, low: 3kB, high: 2kB}", 41, "at most"},
		{"{kind: loss, at: all, probability: 1%, low: 3kB}", 45, "no effect here"},
	};
	const char *const good = "{kind: link_down, at: all}";
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		const char *const words[] = {good, wrong[i].word};
		assert_int_equal(read_with(FABRIC TRAFFIC, words, 2), -EINVAL);
		assert_string_equal(refusal.file, "--fault");
		assert_refused("--fault", 2, wrong[i].column, wrong[i].reason);
	}
}

static void there_is_an_end_to_faults(void **)
{
	const char *words[SCENARIO_FAULTS_MAX + 1];
	for (uint32_t i = 0; i <= SCENARIO_FAULTS_MAX; i++)
		words[i] = "{kind: link_down, at: all}";
	assert_int_equal(read_with(FABRIC TRAFFIC, words, SCENARIO_FAULTS_MAX), 0);
	assert_int_equal(read_with(FABRIC TRAFFIC, words, SCENARIO_FAULTS_MAX + 1), -EINVAL);
	assert_refused("--fault", SCENARIO_FAULTS_MAX + 1, 1, "more than 1024");
}
