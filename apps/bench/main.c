// SPDX-License-Identifier: Apache-2.0
// weft bench: how fast is weft here. Absolute times are for people; tests compare only within one
// run. Arguments and dispatch.

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <weft/engine/engine.h>

#include "bench.h"
#include "help.h"
#include "weft_version.h"

enum { ASKED_NOTHING, ASKED_HELP, ASKED_VERSION, ASKED_LIST, ASKED_SHOW };

// What the command line says.
struct words {
	struct bench_options options;
	int asked;
	const char *show; // a case
};

// 0 when `text` is no number from 1 to REPEAT_MAX.
static long repeat_of(const char *text)
{
	char *end;
	long repeat = strtol(text, &end, 10);
	return *text == '\0' || *end != '\0' || repeat > REPEAT_MAX || repeat < 1 ? 0 : repeat;
}

static int read_option(struct words *words, int option, const char *word)
{
	struct bench_options *options = &words->options;
	switch (option) {
	case 'r':
		options->repeat = repeat_of(optarg);
		return options->repeat > 0 ? 0 : bad_word("--repeat wants 1 to 1000, not", optarg);
	case 's':
		options->scenario_name = optarg;
		return 0;
	case 'o':
		options->only = optarg;
		return 0;
	case 'j':
		options->json = optarg;
		return 0;
	case 'f':
		files_force();
		return 0;
	case 'c':
		options->compare = optarg;
		return 0;
	case 'i':
		options->has_instructions = true;
		return 0;
	case 'w':
		words->show = optarg;
		words->asked = ASKED_SHOW;
		return 0;
	case 'l':
		words->asked = ASKED_LIST;
		return 0;
	case 'h':
		words->asked = ASKED_HELP;
		return 0;
	case 'v':
		words->asked = ASKED_VERSION;
		return 0;
	default:
		return bad_word("unknown option or missing value:", word);
	}
}

// Returns 0 to go on, or an exit status.
static int read_words(struct words *words, int argc, char **argv)
{
	static const struct option longs[] = {{"repeat", required_argument, NULL, 'r'},
					      {"scenario", required_argument, NULL, 's'},
					      {"only", required_argument, NULL, 'o'},
					      {"json", required_argument, NULL, 'j'},
					      {"force", no_argument, NULL, 'f'},
					      {"compare", required_argument, NULL, 'c'},
					      {"instructions", no_argument, NULL, 'i'},
					      {"list", no_argument, NULL, 'l'},
					      {"show", required_argument, NULL, 'w'},
					      {"help", no_argument, NULL, 'h'},
					      {"version", no_argument, NULL, 'v'},
					      {NULL, 0, NULL, 0}};
	bool seen[OUTCOME_OPTIONS_MAX] = {false};
	struct refusal refusal = {0};
	opterr = 0;
	for (int option; (option = getopt_long(argc, argv, "h", longs, NULL)) != -1;) {
		if (option != '?' && outcome_first(&refusal, seen, longs, option) < 0)
			return outcome_refused("bench", &refusal, -EINVAL);
		int status = read_option(words, option, argv[optind - 1]);
		if (status != 0)
			return status;
		if (words->asked == ASKED_HELP || words->asked == ASKED_VERSION)
			return 0;
	}
	return 0;
}

// Options that would have no effect are errors.
static int check_sim(const struct words *words)
{
	const struct bench_options *options = &words->options;
	static const struct bench_options nothing;
	if (words->asked != ASKED_NOTHING && memcmp(options, &nothing, sizeof(nothing)) != 0)
		return bad_word("takes no other option:",
				words->asked == ASKED_LIST ? "--list" : "--show");
	if (options->scenario_name != NULL && options->only != NULL)
		return bad_word("--only chooses among the cases, --scenario runs none of them:",
				options->only);
	if (options->compare != NULL && options->json != NULL && strcmp(options->json, "-") == 0)
		return bad_word("--compare shows its lines below the table, which this leaves out:",
				"--json -");
	return 0;
}

static int check_dpdk(const struct bench_options *options)
{
	if (options->scenario_name != NULL)
		return bad_word("dpdk runs no scenario:", options->scenario_name);
	if (options->only != NULL)
		return bad_word("dpdk has no cases:", options->only);
	if (options->compare != NULL)
		return bad_word("dpdk compares with no file:", options->compare);
	if (options->has_instructions)
		return bad_word("dpdk counts none:", "--instructions");
	if (options->repeat > RING_SLICES_MAX)
		return bad_word("dpdk repeats at most 200 times:", "--repeat");
	return 0;
}

static int measure(const char *what, const struct words *words)
{
	const struct bench_options *options = &words->options;
	bool is_sim = strcmp(what, "sim") == 0;
	if (files_are_forced() && (options->json == NULL || strcmp(options->json, "-") == 0))
		return bad_word("needs --json FILE:", "--force");
	if (!is_sim && strcmp(what, "dpdk") != 0)
		return bad_word("cannot measure", what);
	if (!is_sim && words->asked != ASKED_NOTHING)
		return bad_word("has no cases:", what);
	int status = is_sim ? check_sim(words) : check_dpdk(options);
	if (status != 0)
		return status;
	if (words->asked == ASKED_LIST)
		return bench_list();
	if (words->asked == ASKED_SHOW)
		return bench_show(words->show);
	return is_sim ? bench_sim(options) : bench_dpdk(options);
}

int main(int argc, char **argv)
{
	struct words words = {0};
	int status = read_words(&words, argc, argv);
	if (status != 0)
		return status;
	if (words.asked == ASKED_HELP)
		fputs(help_text, stdout);
	else if (words.asked == ASKED_VERSION)
		puts(WEFT_VERSION_TEXT);
	else if (optind != argc - 1)
		return bad_word("wants one thing to measure:", "weft bench sim");
	else
		status = measure(argv[optind], &words);
	return outcome_end("bench", status);
}
