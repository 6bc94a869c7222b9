// SPDX-License-Identifier: Apache-2.0
// weft bench: how fast is weft here. Absolute times are for people; tests compare only within one
// run. Arguments and dispatch.

#include <stdlib.h>
#include <string.h>

#include <weft/engine/engine.h>

#include "bench.h"
#include "help.h"
#include "weft-bench_options.h"

static const struct option_row option_rows[] = {BENCH_OPTIONS(struct bench_options), {NULL}};
static const struct command_line arguments = {
	.help = help_text, .rows = option_rows, .noun = "benchmark", .least = 1, .most = 1};

// Options that would have no effect are errors.
static int check_dpdk(const struct bench_options *options)
{
	if (options->scenario_name != NULL)
		return bad_word("bench dpdk takes no scenario:", options->scenario_name);
	if (options->only != NULL)
		return bad_word("bench dpdk has no cases:", options->only);
	if (options->wants_list || options->show != NULL)
		return bad_word("--list and --show have no effect with", "dpdk");
	if (options->compare != NULL)
		return bad_word("bench dpdk cannot compare with a file:", options->compare);
	if (options->has_instructions)
		return bad_word("--instructions has no effect with", "dpdk");
	if (options->repeat > RING_SLICES_MAX)
		return bad_word("--repeat is at most 200 with", "dpdk");
	return 0;
}

static int refuse_thing(const char *what)
{
	struct near_word near_word = near_word_of(what);
	near_word_see(&near_word, "sim");
	near_word_see(&near_word, "dpdk");
	return bad_name("weft bench measures sim or dpdk, not", &near_word);
}

static int measure(const char *what, const struct bench_options *options)
{
	bool is_sim = strcmp(what, "sim") == 0;
	if (!is_sim && strcmp(what, "dpdk") != 0)
		return refuse_thing(what);
	int status = is_sim ? 0 : check_dpdk(options);
	if (status != 0)
		return status;
	if (options->wants_list)
		return bench_list();
	if (options->show != NULL)
		return bench_show(options->show);
	return is_sim ? bench_sim(options) : bench_dpdk(options);
}

int main(int argc, char **argv)
{
	struct bench_options options = {0};
	struct refusal refusal = {0};
	int rc = command_line_read(&arguments, &options, argc, argv, &refusal);
	if (rc < 0)
		return outcome_refused("bench", &refusal, rc);
	return outcome_end("bench", rc == 0 ? measure(argv[optind], &options) : EXIT_SUCCESS);
}
