// SPDX-License-Identifier: Apache-2.0
// weft scaling: arguments, and who prints.

#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "help.h"
#include "scaling.h"
#include "weft_version.h"
#include <weft/run/outcome.h>

enum {
	OPT_RACKS = 256,
	OPT_REFERENCE,
	OPT_JITTER,
	OPT_SEEDS,
	OPT_SEED,
	OPT_SET,
	OPT_DEPTH,
	OPT_SAMPLE,
	OPT_SVG,
	OPT_FORCE,
	OPT_JSON,
	OPT_CSV,
	OPT_VERSION
};

#define RACKS_MAX 1000000
#define SEEDS_MAX 1000

static const struct option longs[] = {
	{"racks", required_argument, NULL, OPT_RACKS},
	{"reference", required_argument, NULL, OPT_REFERENCE},
	{"jitter", required_argument, NULL, OPT_JITTER},
	{"seeds", required_argument, NULL, OPT_SEEDS},
	{"seed", required_argument, NULL, OPT_SEED},
	{"set", required_argument, NULL, OPT_SET},
	{"depth", required_argument, NULL, OPT_DEPTH},
	{"sample", required_argument, NULL, OPT_SAMPLE},
	{"svg", required_argument, NULL, OPT_SVG},
	{"force", no_argument, NULL, OPT_FORCE},
	{"json", no_argument, NULL, OPT_JSON},
	{"csv", no_argument, NULL, OPT_CSV},
	{"help", no_argument, NULL, 'h'},
	{"version", no_argument, NULL, OPT_VERSION},
	{NULL, 0, NULL, 0},
};

// ---------------------------------------------------------------- words

static int add_set(struct call *call, const char *word)
{
	if (call->set_count == SETS_MAX)
		return outcome_bad_word(&call->refusal, "at most 60 --set, not", word);
	if (strncmp(word, "fabric.nics=", 12) == 0)
		return outcome_bad_word(&call->refusal,
					"--racks says how many NICs there are, not --set", word);
	call->sets[call->set_count++] = word;
	return 0;
}

static int take(struct call *call, int option)
{
	switch (option) {
	case OPT_RACKS:
		return outcome_once(&call->refusal, &call->racks_text, "--racks", optarg);
	case OPT_REFERENCE:
		return outcome_once(&call->refusal, &call->reference_text, "--reference", optarg);
	case OPT_JITTER:
		return outcome_once(&call->refusal, &call->jitter_text, "--jitter", optarg);
	case OPT_SEEDS:
		return outcome_once(&call->refusal, &call->seeds_text, "--seeds", optarg);
	case OPT_SEED:
		return outcome_once(&call->refusal, &call->seed_text, "--seed", optarg);
	case OPT_DEPTH:
		return outcome_once(&call->refusal, &call->depth_text, "--depth", optarg);
	case OPT_SAMPLE:
		return outcome_once(&call->refusal, &call->sample_text, "--sample", optarg);
	case OPT_SVG:
		return outcome_once(&call->refusal, &call->svg, "--svg", optarg);
	case OPT_SET:
		return add_set(call, optarg);
	case OPT_FORCE:
		files_force();
		return 0;
	case OPT_JSON:
		call->is_json = true;
		return 0;
	case OPT_CSV:
		call->is_csv = true;
		return 0;
	case OPT_VERSION:
		call->wants_version = true;
		return 0;
	default:
		call->wants_help = true;
		return 0;
	}
}

// ---------------------------------------------------------------- what they say

// Digits from `word` on; *end is behind them. 0 when there are none, or more than `max`.
static uint32_t count_of(const char *word, const char **end, uint32_t max)
{
	size_t digits = strspn(word, "0123456789");
	unsigned long value = digits > 0 && digits < 10 ? strtoul(word, NULL, 10) : 0;
	*end = word + digits;
	return value <= max ? (uint32_t)value : 0;
}

static struct point *point_of(struct call *call, uint32_t racks)
{
	for (uint32_t i = 0; i < call->point_count; i++)
		if (call->points[i].racks == racks)
			return &call->points[i];
	return NULL;
}

static int take_racks(struct call *call)
{
	const char *at = call->racks_text;
	if (at == NULL)
		return outcome_bad_word(&call->refusal, "no racks given:", "--racks");
	for (;; at++) {
		uint32_t racks = count_of(at, &at, RACKS_MAX);
		if (racks == 0 || (*at != '\0' && *at != ','))
			return outcome_bad_word(
				&call->refusal,
				"--racks is a list of numbers from 1 to 1000000 with "
				"commas between, not",
				call->racks_text);
		if (point_of(call, racks) != NULL)
			return outcome_bad_word(&call->refusal, "a number is given twice: --racks",
						call->racks_text);
		if (call->point_count == POINTS_MAX)
			return outcome_bad_word(&call->refusal, "at most 64 numbers of racks, not",
						call->racks_text);
		call->points[call->point_count++].racks = racks;
		if (*at == '\0')
			return 0;
	}
}

// The smallest when none is named.
static int take_reference(struct call *call)
{
	const char *word = call->reference_text, *end;
	call->reference = &call->points[0];
	for (uint32_t i = 1; i < call->point_count; i++)
		if (call->points[i].racks < call->reference->racks)
			call->reference = &call->points[i];
	if (word == NULL)
		return 0;
	uint32_t racks = count_of(word, &end, RACKS_MAX);
	call->reference = *end == '\0' && racks > 0 ? point_of(call, racks) : NULL;
	return call->reference != NULL
		? 0
		: outcome_bad_word(&call->refusal,
				   "--reference is one of the numbers of --racks, not", word);
}

static int take_seeds(struct call *call)
{
	const char *end = "";
	if (call->seeds_text == NULL)
		return 0;
	call->seed_count = count_of(call->seeds_text, &end, SEEDS_MAX);
	if (*end != '\0' || call->seed_count < 2)
		return outcome_bad_word(&call->refusal, "--seeds is 2 to 1000, not",
					call->seeds_text);
	return 0;
}

// Dice of a schedule are its jitter.
static int check_model_seeds(struct call *call)
{
	if (call->jitter_text == NULL && call->seeds_text != NULL)
		return outcome_bad_word(&call->refusal,
					"steps without --jitter are all alike: --seeds",
					call->seeds_text);
	if (call->jitter_text == NULL && call->seed_text != NULL)
		return outcome_bad_word(&call->refusal,
					"has no effect without --jitter:", "--seed");
	if (call->jitter_text != NULL && call->seeds_text == NULL)
		return outcome_bad_word(&call->refusal,
					"one step says nothing of a spread; --seeds goes with",
					"--jitter");
	return 0;
}

static int take_depth(struct call *call)
{
	const char *word = call->depth_text != NULL ? call->depth_text : "model";
	call->is_sample = strcmp(word, "sample") == 0;
	if (!call->is_sample && strcmp(word, "model") != 0)
		return outcome_bad_word(&call->refusal, "--depth is model or sample, not", word);
	if (call->is_sample && call->jitter_text != NULL)
		return outcome_bad_word(&call->refusal,
					"packets have dice of their own; --depth sample takes no",
					"--jitter");
	if (!call->is_sample && call->sample_text != NULL)
		return outcome_bad_word(&call->refusal, "needs --depth sample:", "--sample");
	int rc = call->is_sample ? 0 : check_model_seeds(call);
	if (rc == 0 && call->jitter_text != NULL)
		rc = jitter_parse(&call->jitter, call->jitter_text, &call->refusal);
	return rc == 0 ? take_seeds(call) : rc;
}

static int parse(struct call *call, int argc, char **argv)
{
	int option, rc;
	opterr = 0;
	while ((option = getopt_long(argc, argv, "h", longs, NULL)) != -1) {
		if (option == '?')
			return outcome_bad_word(&call->refusal, "unknown option or missing value:",
						argv[optind - 1]);
		if ((rc = take(call, option)) < 0)
			return rc;
	}
	if (call->wants_help || call->wants_version)
		return 0;
	if (optind == argc)
		return outcome_bad_line(&call->refusal, "no scenario given");
	call->scenario_name = argv[optind++];
	if (optind < argc)
		return outcome_bad_word(&call->refusal, "one scenario at a time; what is",
					argv[optind]);
	if (call->is_json && call->is_csv)
		return outcome_bad_word(&call->refusal, "--json does not go with", "--csv");
	if (files_are_forced() && call->svg == NULL)
		return outcome_bad_word(&call->refusal, "needs --svg:", "--force");
	rc = take_racks(call);
	if (rc == 0)
		rc = take_reference(call);
	return rc == 0 ? take_depth(call) : rc;
}

// ---------------------------------------------------------------- output

// Draws into the file that --svg names.
static int draw(struct call *call)
{
	struct draft draft;
	int rc = draft_begin(&draft, call->svg, &call->refusal);
	if (rc < 0)
		return rc;
	return draft_end(&draft, svg_draw(draft.to, call), &call->refusal);
}

static int show(struct call *call)
{
	int rc = points_run(call);
	if (rc < 0)
		return outcome_refused("scaling", &call->refusal, rc);
	if (call->is_json)
		json_print(stdout, call);
	else if (call->is_csv)
		csv_print(stdout, call);
	else
		table_print(stdout, call);
	if (call->svg != NULL)
		rc = draw(call);
	return rc < 0 ? outcome_refused("scaling", &call->refusal, rc) : EXIT_SUCCESS;
}

int main(int argc, char **argv)
{
	static struct call call; // large: kept off the stack
	int rc = parse(&call, argc, argv), status = EXIT_SUCCESS;
	if (rc < 0)
		return outcome_refused("scaling", &call.refusal, rc);
	if (call.wants_help)
		fputs(help_text, stdout);
	else if (call.wants_version)
		puts(WEFT_VERSION_TEXT);
	else
		status = show(&call);
	points_free(&call);
	return outcome_end("scaling", status);
}
